/* Steps the awake trees of one world whose other trees sleep, as the model without the sleeping trees would: the part
 * of its plan (host/plan/subtree.h), of its constants and of its rows, with the kernels for one lane. One per worker. */
#ifndef SAPWOOD_HOST_CPU_AWAKE_H
#define SAPWOOD_HOST_CPU_AWAKE_H

#include "host/cpu/solver.h"

typedef struct SapAwake SapAwake;

/* Free also after a failure; NULL is allowed. */
SapStatus sap_awake_create(const SapSolver *solver, SapAwake **out);
void sap_awake_destroy(SapAwake *awake);
size_t sap_awake_bytes(const SapAwake *awake);

/* The trees of a world to process. */
typedef struct SapAwakeChoice {
    int world;
    unsigned version;    /* changes with the trees, so that a choice that is still valid costs nothing */
    const int *tree;     /* [nl] tree of each link */
    const bool *in_part; /* [trees] */
} SapAwakeChoice;

/* Chooses what the calls below process. args: of the call. The other trees are where body_q has them. */
void sap_awake_choose(SapAwake *awake, const SapSolver *solver, const SapStepArgs *args, SapAwakeChoice choice);

/* Writes the contact records between the chosen trees and the others, at the state of the world. */
void sap_awake_touch(SapAwake *awake, SapSolver *solver, const SapStepArgs *args, int worker);

/* Steps the chosen trees. */
void sap_awake_step(SapAwake *awake, SapSolver *solver, const SapStepArgs *args, int worker);

#endif
