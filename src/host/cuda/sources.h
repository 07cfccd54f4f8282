/* The sources of the kernels, embedded in the library for NVRTC. */
#ifndef SAPWOOD_HOST_CUDA_SOURCES_H
#define SAPWOOD_HOST_CUDA_SOURCES_H

/* Files by the names that includes give them; the last one is {NULL, NULL}. Empty if the library was built without
 * nvcc. */
typedef struct SapCudaSource {
    const char *name, *text;
} SapCudaSource;

extern const SapCudaSource sap_cuda_sources[];

#endif
