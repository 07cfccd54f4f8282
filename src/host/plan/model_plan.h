/* The plan of a model and its constants, created once and shared by all users of the model: solvers, batches on either
 * device, per-world parameters. Of the options only law and broad phase matter, so a model has at most six plans. */
#ifndef SAPWOOD_HOST_PLAN_MODEL_PLAN_H
#define SAPWOOD_HOST_PLAN_MODEL_PLAN_H

#include "host/model/model.h"
#include "host/plan/mujoco.h"
#include "host/plan/plan.h"

typedef struct SapModelPlan {
    SapModelCache part;
    SapPlanOwner plan;
    SapConstantsOwner constants[2]; /* f32, f64 */
    SapMujocoOwner mujoco;          /* of a plan of MuJoCo's law, else empty */
} SapModelPlan;

/* The model owns *out: a caller that keeps it must hold the model (sap_model_hold). Callable from any thread. */
SapStatus sap_model_plan(const SapModel *model, SapBroadPhase broad_phase, const SapModelPlan **out);
/* The same for MuJoCo's law. */
SapStatus sap_model_plan_mujoco(const SapModel *model, SapBroadPhase broad_phase, const SapModelPlan **out);

#endif
