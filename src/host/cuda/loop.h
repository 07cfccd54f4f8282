/* Newton's method of large worlds as a conditional node of a CUDA graph: the GPU itself decides whether another
 * iteration follows, and the host queues a step without waiting. Where that is not possible (drivers before CUDA 12.4,
 * libraries that cannot be captured) the host runs the loop, and sap_batch_info gives the reason. docs/gpu.md. */
#ifndef SAPWOOD_HOST_CUDA_LOOP_H
#define SAPWOOD_HOST_CUDA_LOOP_H

#include "host/cuda/backend.h"

/* Makes c->loop if possible, and adds to the text of c->lockstep whether it or the host runs the loop. The batch must
 * be complete otherwise. Destroy accepts batches without a loop. */
void sap_cuda_loop_create(SapCudaBatch *c);
void sap_cuda_loop_destroy(SapCudaBatch *c);

/* Whether there is a loop for the arguments of the batch. A graph contains the arguments that it was made with; it is
 * made again if they have changed, such as the time step. */
bool sap_cuda_loop_is_ready(SapCudaBatch *c, const char *what);

/* Queues the loop on the stream, or adds it to the graph that the stream captures. */
SapStatus sap_cuda_loop_launch(SapCudaBatch *c, const char *what);

#endif
