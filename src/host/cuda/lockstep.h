/* Large worlds on a GPU: steps in stages over the whole batch (sap/lockstep.h), with cuSOLVER for the Newton systems
 * and cuBLAS for their contacts. */
#ifndef SAPWOOD_HOST_CUDA_LOCKSTEP_H
#define SAPWOOD_HOST_CUDA_LOCKSTEP_H

#include "host/cuda/device.h"
#include "host/cuda/library.h"
#include "host/base/memory.h"
#include "kernels/data/args.h"
#include "kernels/target/compact.h"

typedef struct SapCudaLockstep {
    SapCudaLibrary *library;
    bool adds_contacts; /* cuBLAS adds them to H */
    CuFunction begin, assemble, advance, finish, compact;
    SapLibraryArgs systems; /* arrays that the kernels read and write */
    SapCompactArgs list;    /* list of the systems passed to the library */
    int *scratch;           /* one int */
    char factor[256];       /* sap_cuda_lockstep_describe */
} SapCudaLockstep;

/* Finds the kernels and the libraries; the device's context must be current. Destroy accepts NULL. */
SapStatus sap_cuda_lockstep_create(const SapCudaDevice *device, const SapStepArgs *args, SapCudaLockstep **out);
void sap_cuda_lockstep_destroy(SapCudaLockstep *lockstep);

/* The text of SapBatchInfo.factor: `choice` and, with a lockstep, where the contacts are added. */
const char *sap_cuda_lockstep_describe(SapCudaLockstep *lockstep, const SapStepArgs *args, const char *choice);

/* Carves the device memory of the systems. */
void sap_cuda_lockstep_carve(SapArena *arena, const SapStepArgs *args, int num_worlds, SapCudaLockstep *lockstep);

/* Solves the systems of the active worlds, and waits for their number; *count is pinned host memory. */
SapStatus sap_cuda_lockstep_solve(const SapCudaLockstep *lockstep, const SapCudaDevice *device, CuStream stream,
                                  const char *what, int *count);

#endif
