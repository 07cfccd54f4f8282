#include "host/plan/model_plan.h"

#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/memory.h"

static void free_plan(SapModelPart *part) {
    SapModelPlan *p = (SapModelPlan *)part;
    for (int f64 = 0; f64 < 2; f64++)
        sap_constants_free(&p->constants[f64]);
    sap_plan_free(&p->plan);
    free(p);
}

static SapStatus fill(const SapModel *model, SapBroadPhase broad_phase, SapModelPlan *p) {
    const SapModelArrays *m = sap_model_arrays(model);
    SAP_TRY(sap_plan_create(model, &p->plan));
    if ((int)broad_phase != p->plan.plan.broad_phase)
        SAP_TRY(sap_plan_set_broad_phase(m, broad_phase, &p->plan));
    for (int f64 = 0; f64 < 2; f64++)
        SAP_TRY(sap_constants_create(m, &p->plan.plan, f64, &p->constants[f64]));
    return SAP_OK;
}

static SapStatus make(const SapModel *model, SapBroadPhase broad_phase, SapModelPart **out) {
    SapModelPlan *p = sap_allocate(1, sizeof *p, "plan");
    if (!p)
        return SAP_ERROR_MEMORY;
    p->part.free = free_plan;
    SapStatus status = fill(model, broad_phase, p);
    if (status == SAP_OK)
        *out = &p->part;
    else
        free_plan(&p->part);
    return status;
}

static SapStatus make_listed(const SapModel *model, SapModelPart **out) {
    return make(model, SAP_BROAD_PHASE_LISTED, out);
}

static SapStatus make_sweep(const SapModel *model, SapModelPart **out) {
    return make(model, SAP_BROAD_PHASE_SWEEP, out);
}

static SapStatus make_tree(const SapModel *model, SapModelPart **out) {
    return make(model, SAP_BROAD_PHASE_TREE, out);
}

SapStatus sap_model_plan(const SapModel *model, SapBroadPhase broad_phase, const SapModelPlan **out) {
    *out = NULL;
    SAP_TRY(sap_plan_broad_phase(&model->arrays, broad_phase, &broad_phase));
    static const struct {
        SapModelPartOf part;
        SapStatus (*make)(const SapModel *model, SapModelPart **out);
    } plans[] = {[SAP_BROAD_PHASE_LISTED] = {SAP_PART_PLAN_LISTED, make_listed},
                 [SAP_BROAD_PHASE_SWEEP] = {SAP_PART_PLAN_SWEEP, make_sweep},
                 [SAP_BROAD_PHASE_TREE] = {SAP_PART_PLAN_TREE, make_tree}};
    const SapModelPart *part;
    SapStatus status = sap_model_part(model, plans[broad_phase].part, plans[broad_phase].make, &part);
    *out = (const SapModelPlan *)part;
    return status;
}
