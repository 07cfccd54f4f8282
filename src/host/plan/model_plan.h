/* The plan of a model and its constants, made once and shared by all who step the model: solvers, batches on either device,
 * parameters of worlds. Of the options only the broad phase matters, so a model has two at most. */
#ifndef SAPWOOD_HOST_PLAN_MODEL_PLAN_H
#define SAPWOOD_HOST_PLAN_MODEL_PLAN_H

#include "host/model/model.h"
#include "host/plan/plan.h"

typedef struct SapModelPlan {
    SapModelPart part;
    SapPlanOwner plan;
    SapConstantsOwner constants[2]; /* f32, f64 */
} SapModelPlan;

/* Owned by the model: who keeps *out holds the model (sap_model_hold). Any thread. */
SapStatus sap_model_plan(const SapModel *model, SapBroadPhase broad_phase, const SapModelPlan **out);

#endif
