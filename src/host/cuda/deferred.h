/* Memory and launches of collision in two passes: pairs of shapes that wait for the general narrow phase
 * (kernels/collide/deferred.h). */
#ifndef SAPWOOD_HOST_CUDA_DEFERRED_H
#define SAPWOOD_HOST_CUDA_DEFERRED_H

#include "host/base/memory.h"
#include "host/cuda/backend.h"

/* Chooses how many pairs of a world can wait, and the launches for them. Before the arguments have device addresses. */
SapStatus sap_cuda_choose_deferred(SapCudaBatch *c, int num_worlds);

/* Allocates the workspace of collision and of the general narrow phase, if pairs can wait; after the grids are
 * chosen. */
SapStatus sap_cuda_create_pool(SapCudaBatch *c);

/* Carves the memory of the deferred pairs; the list is empty if it is 0. */
void sap_cuda_carve_deferred(SapArena *arena, SapStepArgs *args, int num_worlds);

#endif
