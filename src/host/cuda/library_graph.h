/* The calls of cuBLAS and cuSOLVER that solve the Newton systems, captured as graphs: one for each of a few numbers of
 * systems, since a captured call has a fixed number of them. NVIDIA does not document whether the calls of cuSOLVER can
 * be captured. They are used only if they can, and if they then give the bits of the same calls made directly, also
 * after other calls, which might have replaced a buffer that a graph refers to. docs/gpu.md. */
#ifndef SAPWOOD_HOST_CUDA_CAPTURED_H
#define SAPWOOD_HOST_CUDA_CAPTURED_H

#include "host/cuda/backend.h"
#include "kernels/target/loop.h"

typedef struct SapCudaCaptured {
    int num_sizes;
    int size[SAP_LOOP_SIZES]; /* systems, the largest number first */
    CuGraph graph[SAP_LOOP_SIZES];
} SapCudaCaptured;

/* Captures on a separate stream and tests the graphs with systems whose solutions are known; overwrites the systems of
 * the batch. On failure the message names what is not possible; free in any case. */
SapStatus sap_cuda_capture(const SapCudaBatch *c, CuStream stream, SapCudaCaptured *out);
void sap_cuda_captured_free(const SapCuda *cuda, SapCudaCaptured *captured);

#endif
