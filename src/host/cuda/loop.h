/* Newton's method of large worlds as a conditional node of a CUDA graph: the GPU itself decides whether another iteration
 * follows, and the host queues a step without waiting. Where that is not possible (drivers before CUDA 12.4, libraries that
 * cannot be captured) the host runs the loop, and sap_batch_info says why. docs/gpu.md. */
#ifndef SAPWOOD_HOST_CUDA_LOOP_H
#define SAPWOOD_HOST_CUDA_LOOP_H

#include "host/cuda/backend.h"

/* Makes c->loop, if it is possible, and says in the text of c->lockstep who runs the loop. Needs all of the batch. Destroy
 * accepts batches without one. */
void sap_cuda_loop_create(SapCudaBatch *c);
void sap_cuda_loop_destroy(SapCudaBatch *c);

/* Whether there is a loop for the arguments of the batch. A graph has those that it was made with; it is made again if others,
 * such as the time step, have changed. */
bool sap_cuda_loop_is_ready(SapCudaBatch *c, const char *what);

/* Queues the loop on the stream, or adds it to the graph that the stream captures. */
SapStatus sap_cuda_loop_launch(SapCudaBatch *c, const char *what);

#endif
