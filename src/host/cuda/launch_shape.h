/* The mapping of worlds to a GPU: threads per world, worlds per block, and the location of each world's scratch. */
#ifndef SAPWOOD_HOST_CUDA_LAUNCH_SHAPE_H
#define SAPWOOD_HOST_CUDA_LAUNCH_SHAPE_H

#include <sapwood/options.h>

#include "kernels/data/args.h"

typedef struct SapCudaShape {
    int team;                 /* threads per world */
    int worlds_per_block;     /* a block is a warp of teams or threads, or one team */
    int shared_bytes;         /* shared memory per block */
    long long workspace_size; /* bytes of global memory per team; 0 = none */
} SapCudaShape;

/* The kernels of a step; each gets only the scratch that it uses. A fused step also finds its contacts. */
typedef enum SapKernelKind { SAP_CUDA_COLLIDE, SAP_CUDA_STEP, SAP_CUDA_FUSED_STEP } SapKernelKind;

/* Fills *out and the offsets and sizes of *arenas. shared_limit: largest size of shared memory per block, in bytes. An
 * arena that is too large to address is SAP_ERROR_MEMORY. */
SapStatus sap_cuda_launch_shape(const SapOptions *options, int shared_limit, SapKernelKind part,
                                const SapStepArgs *args, SapArenas *arenas, SapCudaShape *out);

/* The same for a step with a thread per world. It is possible if arenas->size <= SAP_THREAD_SCRATCH. */
SapStatus sap_cuda_thread_shape(SapKernelKind part, const SapStepArgs *args, SapArenas *arenas, SapCudaShape *out);

#endif
