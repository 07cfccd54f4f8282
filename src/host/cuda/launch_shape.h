/* How the worlds of a batch are laid over a GPU: threads per world, worlds per block, and where each world's scratch lies. */
#ifndef SAPWOOD_HOST_CUDA_LAUNCH_SHAPE_H
#define SAPWOOD_HOST_CUDA_LAUNCH_SHAPE_H

#include <sapwood/options.h>

#include "kernels/data/args.h"

typedef struct SapCudaShape {
    int team;                 /* threads of a world */
    int worlds_per_block;     /* a block is a warp of teams, or one team */
    int shared_bytes;         /* of a block */
    long long workspace_size; /* bytes of global memory per team; 0 = none */
} SapCudaShape;

/* The kernels of a step: each has the scratch that it uses, no more. */
typedef enum SapCudaPart { SAP_CUDA_COLLIDE, SAP_CUDA_STEP } SapCudaPart;

/* Fills *out and the offsets and sizes of *arenas. shared_limit: bytes of shared memory that a block may have. An arena too large to
 * be addressed is SAP_ERROR_MEMORY. */
SapStatus sap_cuda_launch_shape(const SapOptions *options, int shared_limit, SapCudaPart part, const SapStepArgs *args,
                                SapArenas *arenas, SapCudaShape *out);

#endif
