#include "host/plan/model_plan.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"

static void free_plan(SapModelCache *part) {
    SapModelPlan *p = (SapModelPlan *)part;
    for (int f64 = 0; f64 < 2; f64++)
        sap_constants_free(&p->constants[f64]);
    sap_mujoco_args_free(&p->mujoco);
    sap_plan_free(&p->plan);
    free(p);
}

/* MuJoCo's law has friction of dofs as blocks: its dof terms see none. */
static SapStatus fill_mujoco(const SapModel *model, SapModelPlan *p) {
    size_t nv = (size_t)p->plan.plan.nv;
    for (int f64 = 0; f64 < 2; f64++) {
        size_t bytes = nv * (f64 ? sizeof(double) : sizeof(float));
        memset((void *)p->constants[f64].constants.friction.data, 0, bytes);
    }
    return sap_mujoco_args_create(model, &p->plan.plan, &p->mujoco);
}

static SapStatus fill(const SapModel *model, bool mujoco, SapBroadPhase broad_phase, SapModelPlan *p) {
    const SapModelArrays *m = sap_model_arrays(model);
    SAP_TRY(mujoco ? sap_plan_create_mujoco(model, &p->plan) : sap_plan_create(model, &p->plan));
    if ((int)broad_phase != p->plan.plan.broad_phase)
        SAP_TRY(sap_plan_set_broad_phase(m, broad_phase, &p->plan));
    for (int f64 = 0; f64 < 2; f64++)
        SAP_TRY(sap_constants_create(m, &p->plan.plan, f64, &p->constants[f64]));
    return mujoco ? fill_mujoco(model, p) : SAP_OK;
}

static SapStatus make(const SapModel *model, bool mujoco, SapBroadPhase broad_phase, SapModelCache **out) {
    SapModelPlan *p = sap_allocate(1, sizeof *p, "plan");
    if (!p)
        return SAP_ERROR_MEMORY;
    p->part.free = free_plan;
    SapStatus status = fill(model, mujoco, broad_phase, p);
    if (status == SAP_OK)
        *out = &p->part;
    else
        free_plan(&p->part);
    return status;
}

#define MAKE(name, mujoco, broad_phase)                                                                                \
    static SapStatus name(const SapModel *model, SapModelCache **out) {                                                 \
        return make(model, mujoco, broad_phase, out);                                                                  \
    }
MAKE(make_listed, false, SAP_BROAD_PHASE_LISTED)
MAKE(make_sweep, false, SAP_BROAD_PHASE_SWEEP)
MAKE(make_tree, false, SAP_BROAD_PHASE_TREE)
MAKE(make_mujoco_listed, true, SAP_BROAD_PHASE_LISTED)
MAKE(make_mujoco_sweep, true, SAP_BROAD_PHASE_SWEEP)
MAKE(make_mujoco_tree, true, SAP_BROAD_PHASE_TREE)

/* A plan of the model, and the function that makes it. */
typedef struct Maker {
    SapModelPartOf part;
    SapMakeModelPart *make;
} Maker;

/* The plan of a law by broad phase. */
static SapStatus find(const SapModel *model, SapBroadPhase broad_phase, const Maker makers[],
                      const SapModelPlan **out) {
    *out = NULL;
    SAP_TRY(sap_plan_broad_phase(&model->arrays, broad_phase, &broad_phase));
    const SapModelCache *part;
    SapStatus status = sap_model_part(model, makers[broad_phase].part, makers[broad_phase].make, &part);
    *out = (const SapModelPlan *)part;
    return status;
}

SapStatus sap_model_plan(const SapModel *model, SapBroadPhase broad_phase, const SapModelPlan **out) {
    static const Maker makers[] = {[SAP_BROAD_PHASE_LISTED] = {SAP_PART_PLAN_LISTED, make_listed},
                                   [SAP_BROAD_PHASE_SWEEP] = {SAP_PART_PLAN_SWEEP, make_sweep},
                                   [SAP_BROAD_PHASE_TREE] = {SAP_PART_PLAN_TREE, make_tree}};
    return find(model, broad_phase, makers, out);
}

SapStatus sap_model_plan_mujoco(const SapModel *model, SapBroadPhase broad_phase, const SapModelPlan **out) {
    static const Maker makers[] = {[SAP_BROAD_PHASE_LISTED] = {SAP_PART_MUJOCO_LISTED, make_mujoco_listed},
                                   [SAP_BROAD_PHASE_SWEEP] = {SAP_PART_MUJOCO_SWEEP, make_mujoco_sweep},
                                   [SAP_BROAD_PHASE_TREE] = {SAP_PART_MUJOCO_TREE, make_mujoco_tree}};
    return find(model, broad_phase, makers, out);
}
