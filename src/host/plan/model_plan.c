#include "host/plan/model_plan.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/number.h"

static void free_plan(SapModelCache *cache) {
    SapModelPlan *p = (SapModelPlan *)cache;
    for (int f64 = 0; f64 < 2; f64++)
        sap_constants_free(&p->constants[f64]);
    free(p->formulation.args);
    free(p->formulation.memory);
    sap_plan_free(&p->plan);
    free(p);
}

static SapStatus fill_plan(const SapModel *model, int formulation, SapBroadPhase broad_phase, SapModelPlan *p) {
    const SapModelArrays *m = sap_model_arrays(model);
    const SapFormulation *f = sap_formulation(formulation);
    SAP_TRY(sap_plan_create(model, formulation, &p->plan));
    if ((int)broad_phase != p->plan.plan.broad_phase)
        SAP_TRY(sap_plan_set_broad_phase(m, broad_phase, &p->plan));
    for (int f64 = 0; f64 < 2; f64++) {
        SAP_TRY(sap_constants_create(m, &p->plan.plan, f64, &p->constants[f64]));
        if (!f->dof_terms) /* friction of dofs is in blocks */
            memset((void *)p->constants[f64].constants.friction.data, 0, (size_t)p->plan.plan.nv * sap_real_bytes(f64));
    }
    return f->create_args ? f->create_args(model, &p->plan.plan, &p->formulation) : SAP_OK;
}

/* Plans have numbers by formulation, then broad phase. */
enum { BROAD_PHASES = SAP_BROAD_PHASE_TREE + 1 };
_Static_assert(SAP_NUM_FORMULATIONS *BROAD_PHASES <= SAP_MODEL_NUM_CACHES, "a model has room for all its plans");

static SapStatus make_plan(const SapModel *model, int number, SapModelCache **out) {
    SapModelPlan *p = sap_allocate(1, sizeof *p, "plan");
    if (!p)
        return SAP_ERROR_MEMORY;
    p->cache.free = free_plan;
    SapStatus status = fill_plan(model, number / BROAD_PHASES, (SapBroadPhase)(number % BROAD_PHASES), p);
    if (status == SAP_OK)
        *out = &p->cache;
    else
        free_plan(&p->cache);
    return status;
}

SapStatus sap_model_plan(const SapModel *model, SapContactSolver solver, SapBroadPhase broad_phase,
                         const SapModelPlan **out) {
    *out = NULL;
    SAP_TRY(sap_plan_broad_phase(&model->arrays, broad_phase, &broad_phase));
    const SapModelCache *cache;
    int number = sap_contact_solver(solver)->formulation * BROAD_PHASES + (int)broad_phase;
    SapStatus status = sap_model_cache(model, number, make_plan, &cache);
    *out = (const SapModelPlan *)cache;
    return status;
}
