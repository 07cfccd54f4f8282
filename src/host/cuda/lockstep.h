/* Large worlds on a GPU: the step in stages over the whole batch (solve/lockstep.h), with cuSOLVER for the Newton systems. */
#ifndef SAPWOOD_HOST_CUDA_LOCKSTEP_H
#define SAPWOOD_HOST_CUDA_LOCKSTEP_H

#include "host/cuda/device.h"
#include "host/cuda/library.h"
#include "host/base/memory.h"
#include "kernels/data/args.h"
#include "kernels/target/compact.h"

typedef struct SapCudaLockstep {
    SapCudaLibrary *library;
    CuFunction begin, assemble, advance, finish, compact;
    SapLibraryArgs systems; /* what the kernels read and write */
    SapCompactArgs list;    /* of the systems that the library gets */
    int *scratch;           /* one int */
} SapCudaLockstep;

/* The kernels and the library; the device's context is current. Destroy accepts NULL. */
SapStatus sap_cuda_lockstep_create(const SapCudaDevice *device, SapCudaLockstep **out);
void sap_cuda_lockstep_destroy(SapCudaLockstep *lockstep);

/* Takes the device memory of the systems. */
void sap_cuda_lockstep_carve(SapArena *arena, const SapStepArgs *args, int num_worlds, SapCudaLockstep *lockstep);

/* Solves the systems of the worlds that are active, and waits to know how many these are; *count is pinned host memory. */
SapStatus sap_cuda_lockstep_solve(const SapCudaLockstep *lockstep, const SapCudaDevice *device, CuStream stream,
                                  const char *what, int *count);

#endif
