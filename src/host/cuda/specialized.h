/* Kernels made for one batch: the sources of the library, compiled by NVRTC with the numbers of the batch as constants,
 * and kept in a folder of files for the next batch of the same kind. If something is missing or fails, the batch has
 * the kernels that were compiled with the library, and a line of text gives the reason. docs/gpu.md. */
#ifndef SAPWOOD_HOST_CUDA_SPECIALIZED_H
#define SAPWOOD_HOST_CUDA_SPECIALIZED_H

#include <stdbool.h>

#include "host/batch/backend.h"
#include "host/cuda/device.h"
#include "kernels/data/args.h"

typedef struct SapCudaSpecialized {
    CuModule module[2]; /* of each SapKernelKind; NULL = none */
    SapStepArgs args;   /* the constants of the kernels */
    char text[320];     /* which kernels the batch has, and why */
} SapCudaSpecialized;

/* Makes the kernels that the option `specialize` requests: fills `specialized` of the phases of the batch. Needs all arguments
 * of the batch, their plan with host addresses, and a current context. */
void sap_cuda_make_kernels(const SapBatch *batch, const SapPlan *plan);
void sap_cuda_specialized_unload(SapCudaSpecialized *specialized, const SapCuda *cuda);

/* Which kernels the batch has, and why. */
const char *sap_cuda_specialized_text(const SapCudaSpecialized *specialized, const SapStepArgs *args);

/* Whether the arguments still have the constants of the kernels; parameters of worlds may change them. */
bool sap_cuda_specialized_is_valid(const SapCudaSpecialized *specialized, const SapStepArgs *args);

#endif
