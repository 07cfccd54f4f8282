/* The plan of a part of a model: some of its trees, with all static shapes. It is what the plan of a model without the
 * other trees would be, except that bodies and shapes keep their numbers. Links, dofs and coordinates of the part are
 * numbered in their order. Trees with constraints or tendons must be in every part. The memory is allocated once, for
 * the whole model. */
#ifndef SAPWOOD_HOST_PLAN_PART_H
#define SAPWOOD_HOST_PLAN_PART_H

#include <stdbool.h>
#include <stddef.h>

#include <sapwood/error.h>

#include "kernels/data/plan.h"

typedef struct SapSubtreePlan {
    SapPlan plan; /* the part; its arrays are its own, or the whole plan's */
    /* the part with all shapes, those of the other trees as static ones, and the pairs between them and the part's own
     * only */
    SapPlan interface_contacts;
    /* numbers of the part's elements in the model, and the other way round (-1: not in the part) */
    int *link_of, *dof_of, *coord_of; /* [nl], [nv], [nq] of the part */
    int *link, *dof;                  /* [nl], [nv] of the model */
    void *memory;
    size_t bytes;
} SapSubtreePlan;

/* Room for any part of this plan. Free with sap_subtree_free, also after a failure. */
SapStatus sap_subtree_create(const SapPlan *whole, SapSubtreePlan *out);
void sap_subtree_free(SapSubtreePlan *part);

/* The part of the trees t with in_part[t], and its interface_contacts; tree: [nl] tree of each link. */
void sap_subtree_choose(const SapPlan *whole, const int *tree, const bool *in_part, SapSubtreePlan *part);

#endif
