/* Steps of large worlds in stages over the whole batch, so that a library can solve the Newton systems of all worlds between two of
 * them (solve_staged.h). This is the CPU's way, with LAPACK; a GPU does the same with cuSOLVER. */
#ifndef SAPWOOD_HOST_CPU_LOCKSTEP_H
#define SAPWOOD_HOST_CPU_LOCKSTEP_H

#include <stddef.h>

#include "host/cpu/pool.h"
#include "host/cpu/programs.h"

typedef struct SapStaged SapStaged;

/* *args: those of every call. Free with sap_staged_destroy, which accepts NULL. Without LAPACK SAP_ERROR_UNSUPPORTED. */
SapStatus sap_staged_create(const SapStepArgs *args, const SapKernelSet *kernels, SapStaged **out);
void sap_staged_destroy(SapStaged *staged);

/* args->num_steps steps of all worlds. */
void sap_staged_step(SapStaged *staged, SapPool *pool, const SapStepArgs *args);

size_t sap_staged_bytes(const SapStaged *staged);

#endif
