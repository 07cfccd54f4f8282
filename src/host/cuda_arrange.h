/* How the worlds of a batch are laid over a GPU: threads per world, worlds per block, and where each world's scratch lies. */
#ifndef SAPWOOD_HOST_CUDA_ARRANGE_H
#define SAPWOOD_HOST_CUDA_ARRANGE_H

#include <sapwood/options.h>

#include "kernels/args.h"

typedef struct SapCudaShape {
    int team;                 /* threads of a world */
    int worlds_per_block;     /* a block is a warp of teams, or one team */
    int shared_bytes;         /* of a block */
    long long workspace_size; /* bytes of global memory per team; 0 = none */
} SapCudaShape;

/* Fills *out and the offsets and sizes of args->arena. shared_limit: bytes of shared memory that a block may have. An arena too large to
 * be addressed is SAP_ERROR_MEMORY. */
SapStatus sap_cuda_arrange(const SapOptions *options, int shared_limit, SapStepArgs *args, SapCudaShape *out);

#endif
