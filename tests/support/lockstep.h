/* Newton's method in lockstep on a CPU, the reference of the GPU: the stages of sap/lockstep.h on one world after the
 * other, and LAPACK in place of cuSOLVER and cuBLAS. */
#ifndef SAPWOOD_TESTS_SUPPORT_LOCKSTEP_H
#define SAPWOOD_TESTS_SUPPORT_LOCKSTEP_H

#include "host/cpu/run.h"

typedef struct Lockstep {
    SapStepArgs args; /* for one lane, with factor_plan = library */
    SapKernelSet kernels;
    SapScratch *scratch; /* [num_worlds]: every world keeps its scratch between stages */
} Lockstep;

/* args: the arguments of steps, with all arrays but the library's. Free with lockstep_destroy. */
Lockstep lockstep_create(const SapStepArgs *args, const SapKernelSet *kernels);
void lockstep_destroy(Lockstep *lockstep);

/* A step of all worlds. victim: a world whose first matrix the library reports as not positive definite; -1 = none. */
void lockstep_step(Lockstep *lockstep, int victim);

#endif
