/* Large worlds on a GPU: the step in stages over the whole batch (solve_staged.h), with cuSOLVER for the Newton systems. */
#ifndef SAPWOOD_HOST_CUDA_LOCKSTEP_H
#define SAPWOOD_HOST_CUDA_LOCKSTEP_H

#include "host/cuda/device.h"
#include "host/cuda/library.h"
#include "host/base/memory.h"
#include "kernels/data/args.h"
#include "kernels/target/compact.h"

typedef struct SapCudaStaged {
    SapCudaLibrary *library;
    CuFunction begin, assemble, advance, finish, compact;
    SapLibraryArgs systems; /* what the kernels read and write */
    SapCompactArgs list;    /* of the systems that the library gets */
    int *scratch;           /* one int */
} SapCudaStaged;

/* The kernels and the library; the device's context is current. Destroy accepts NULL. */
SapStatus sap_cuda_staged_create(const SapCudaDevice *device, SapCudaStaged **out);
void sap_cuda_staged_destroy(SapCudaStaged *staged);

/* Takes the device memory of the systems. */
void sap_cuda_staged_carve(SapArena *arena, const SapStepArgs *args, int num_worlds, SapCudaStaged *staged);

/* Solves the systems of the worlds that are active, and waits to know how many these are; *count is pinned host memory. */
SapStatus sap_cuda_staged_solve(const SapCudaStaged *staged, const SapCudaDevice *device, CuStream stream,
                                const char *what, int *count);

#endif
