/* The plan of a model and its constants, created once and shared by all users of the model: solvers, batches on either
 * device, per-world parameters. Of the options only formulation and broad phase matter. */
#ifndef SAPWOOD_HOST_PLAN_MODEL_PLAN_H
#define SAPWOOD_HOST_PLAN_MODEL_PLAN_H

#include "host/model/model.h"
#include "host/plan/formulation.h"
#include "host/plan/plan.h"

typedef struct SapModelPlan {
    SapModelCache cache;
    SapPlanOwner plan;
    SapConstantsOwner constants[2]; /* f32, f64 */
    SapFormulationArgs formulation; /* empty for SAP */
} SapModelPlan;

/* The model owns *out: a caller that keeps it must hold the model (sap_model_hold). Callable from any thread. */
SapStatus sap_model_plan(const SapModel *model, SapContactSolver solver, SapBroadPhase broad_phase,
                         const SapModelPlan **out);

#endif
