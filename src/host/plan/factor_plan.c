#include "host/plan/factor_plan.h"

#include <limits.h>

/* From so many dofs on, a library is chosen on a GPU. It executes half the instructions for a pile of 126 dofs, and as
 * many for a chain of 128, but its steps wait for the host (docs/gpu.md, Large worlds). */
enum { LIBRARY_DOFS = 128 };

const char *sap_factor_plan_choose(SapOptions *o, int nv, SapStatus (*find)(void)) {
    static const char *const given[] = {[SAP_FACTOR_SPARSE] = "sparse, by the option factor_plan",
                                        [SAP_FACTOR_DENSE] = "dense, by the option factor_plan",
                                        [SAP_FACTOR_LIBRARY] = "library, by the option factor_plan"};
    if (o->factor_plan != SAP_FACTOR_AUTO)
        return given[o->factor_plan];
    o->factor_plan = SAP_FACTOR_SPARSE;
    if (o->contact_solver != SAP_SOLVER_SAP)
        return "sparse: a library is for the solver sap only";
    if (o->contact_approximation != SAP_APPROXIMATION_SAP)
        return "sparse: a library is for the contact law sap only";
    if (o->sleep_steps > 0)
        return "sparse: worlds that may sleep have no library";
    if (o->device == SAP_DEVICE_CPU)
        return "sparse: on a CPU a library gains nothing";
    if (nv < LIBRARY_DOFS)
        return "sparse: worlds of so few dofs gain nothing from a library";
    if (find() != SAP_OK)
        return "sparse: the worlds are large, but the library for them cannot be loaded";
    o->factor_plan = SAP_FACTOR_LIBRARY;
    return "library: the worlds are large";
}

bool sap_library_adds_contacts(const SapStepArgs *args) {
    const SapPlan *plan = &args->plan;
    int deepest = 0; /* the most dofs on a path to the root: those that a contact with the ground touches */
    for (int i = 0; i < plan->nv; i++)
        deepest = plan->tree.row[i].depth + 1 > deepest ? plan->tree.row[i].depth + 1 : deepest;
    return 10LL * deepest >= 6LL * plan->nv && sap_library_rows(args) <= INT_MAX; /* the stride of a buffer is an int */
}

size_t sap_library_rows(const SapStepArgs *args) {
    return 3 * (size_t)args->contacts.capacity * (size_t)args->plan.nv;
}
