/* Steps the awake trees of one world whose other trees sleep, as the model without the sleeping trees would: the part
 * of its plan (host/plan/subtree.h), of its constants and of its rows, with the kernels for one lane. One per worker. */
#ifndef SAPWOOD_HOST_CPU_AWAKE_H
#define SAPWOOD_HOST_CPU_AWAKE_H

#include "host/cpu/solver.h"

typedef struct SapActiveSubtree SapActiveSubtree;

/* Free also after a failure; NULL is allowed. */
SapStatus sap_active_subtree_create(const SapSolver *solver, SapActiveSubtree **out);
void sap_active_subtree_destroy(SapActiveSubtree *awake);
size_t sap_active_subtree_bytes(const SapActiveSubtree *awake);

/* The trees of a world to process. */
typedef struct SapSubtreeChoice {
    int world;
    unsigned version;    /* changes with the trees, so that a choice that is still valid costs nothing */
    const int *tree;     /* [nl] tree of each link */
    const bool *in_part; /* [trees] */
} SapSubtreeChoice;

/* Chooses what the calls below process. args: of the call. The other trees are where body_q has them. */
void sap_active_subtree_choose(SapActiveSubtree *awake, const SapSolver *solver, const SapStepArgs *args,
                               SapSubtreeChoice choice);

/* Writes the contact records between the chosen trees and the others, at the state of the world. */
void sap_active_subtree_touch(SapActiveSubtree *awake, SapSolver *solver, const SapStepArgs *args, int worker);

/* Steps the chosen trees. */
void sap_active_subtree_step(SapActiveSubtree *awake, SapSolver *solver, const SapStepArgs *args, int worker);

#endif
