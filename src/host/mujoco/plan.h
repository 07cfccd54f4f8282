/* The arguments of the kernels of MuJoCo's law, as its formulation (host/plan/formulation.h) makes and changes them. */
#ifndef SAPWOOD_HOST_MUJOCO_PLAN_H
#define SAPWOOD_HOST_MUJOCO_PLAN_H

#include <sapwood/mujoco.h>

#include "host/model/model.h"
#include "host/plan/formulation.h"

SapStatus sap_mujoco_create_args(const SapModel *model, const SapPlan *plan, SapFormulationArgs *out);
void sap_mujoco_write_records(SapRecordWriter *writer, const SapModel *model);
SapStatus sap_mujoco_read_records(SapRecords *records, const SapModel *model);
void sap_mujoco_visit_pointers(void *args, SapVisitPointer *visit, void *context);
int sap_mujoco_group_width(const SapNumbers *numbers, const SapPlan *plan, int group);
void sap_mujoco_fill_group(const SapNumbers *numbers, const SapPlan *plan, int group, int f64, void *row);
SapField *sap_mujoco_group_field(void *args, int group, int f64);
unsigned sap_mujoco_groups_of(SapParameter parameter);
void sap_mujoco_allow(const SapNumbers *numbers, SapParameter parameter, void *args);
void sap_mujoco_set_args(SapStepArgs *step, const void *args);
void sap_mujoco_set_state(void *args, const SapState *in, const SapControl *control, const SapState *out);
void sap_mujoco_set_contacts(void *args, const SapContacts *contacts);
void sap_mujoco_set_stages(void *args, void *rk);
void sap_mujoco_acting_range(const SapStepArgs *step, int block, double range[2]);

/* Whether the force of actuator i depends on its rate. */
static inline bool sap_mujoco_has_rate(const SapMujocoParameters *a, int i) {
    return a->actuator_gain[3 * i + 2] != 0 || a->actuator_bias[3 * i + 2] != 0;
}

static inline bool sap_mujoco_tendon_has_drive(const SapModelArrays *m, int t) {
    return m->tendon_target_mode[t] != SAP_TARGET_NONE;
}

#endif
