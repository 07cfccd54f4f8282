/* MuJoCo's law in the plan: its blocks of limits and friction, and the arguments of its kernels. */
#ifndef SAPWOOD_HOST_PLAN_MUJOCO_H
#define SAPWOOD_HOST_PLAN_MUJOCO_H

#include <sapwood/options.h>
#include <sapwood/state.h>

#include "host/model/model.h"
#include "kernels/mujoco/data.h"
#include "kernels/data/plan.h"

/* Whether a model can be stepped with the law: it has the numbers of the law, and only constraints that MuJoCo has. */
SapStatus sap_mujoco_check(const SapModel *model);

/* The most rows that a world with so many contacts can have. */
int sap_mujoco_most_rows(const SapModel *model, int contacts);

/* Rows of a contact slot: 6 if contacts may have condim 4 or 6, else 3. */
int sap_mujoco_contact_rows(const SapModel *model);

/* Whether a step has the four stages of RK4. */
int sap_mujoco_is_rk4(const SapModel *model);

/* The blocks of limits and friction of joints, in MuJoCo's order; returns their number. out NULL = count them only.
 * dof_of: [nv] internal dof of each public dof. */
int sap_mujoco_dof_blocks(const SapModel *model, const SapPlan *plan, const int *dof_of, SapModelConstraint *out);

/* The numbers of the law as kernels read them. */
typedef struct SapMujocoOwner {
    SapMujocoArgs args;
    void *memory;
    size_t bytes;
} SapMujocoOwner;
SapStatus sap_mujoco_args_create(const SapModel *model, const SapPlan *plan, SapMujocoOwner *out);
/* The controls and activations of a call; control and out may be NULL. */
void sap_mujoco_args_set_actuators(SapMujocoArgs *args, const SapState *in, const SapControl *control,
                                   const SapState *out);
void sap_mujoco_args_free(SapMujocoOwner *owner);

#endif
