/* Steps of large worlds in stages over the whole batch, so that a library can solve the Newton systems of all worlds
 * between two stages (sap/lockstep.h). The CPU uses LAPACK; the GPU does the same with cuSOLVER. */
#ifndef SAPWOOD_HOST_CPU_LOCKSTEP_H
#define SAPWOOD_HOST_CPU_LOCKSTEP_H

#include <stddef.h>

#include "host/cpu/pool.h"
#include "host/cpu/programs.h"

typedef struct SapLockstep SapLockstep;

/* *args: the arguments common to all calls. Free with sap_lockstep_destroy, which accepts NULL. SAP_ERROR_UNSUPPORTED
 * without LAPACK. */
SapStatus sap_lockstep_create(const SapStepArgs *args, const SapKernelSet *kernels, SapLockstep **out);
void sap_lockstep_destroy(SapLockstep *lockstep);

/* Takes args->num_steps steps of all worlds. */
void sap_lockstep_step(SapLockstep *lockstep, SapPool *pool, const SapStepArgs *args);

size_t sap_lockstep_bytes(const SapLockstep *lockstep);

#endif
