/* The arrays of a batch on a GPU: their memory, and copies from and to the host. The device's context must be current.
 * */
#ifndef SAPWOOD_HOST_CUDA_ARRAYS_H
#define SAPWOOD_HOST_CUDA_ARRAYS_H

#include "host/cuda/backend.h"
#include "host/cuda/model.h"

/* Copies through the staging memory and waits until the copy is complete. */
SapStatus sap_cuda_upload(const SapCudaBatch *c, const char *what, void *to, const void *from, size_t bytes);
SapStatus sap_cuda_download(const SapCudaBatch *c, const char *what, void *to, const void *from, size_t bytes);

SapStatus sap_cuda_take_memory(SapCudaBatch *c, const char *what, size_t bytes, CuAddress *out);

/* Allocates the blocks of the model, the arrays of the batch and all other device memory, zeroed; then uploads the
 * model. */
SapStatus sap_cuda_create_memory(SapBatch *batch, SapCudaModel *model);
SapStatus sap_cuda_upload_model(SapCudaBatch *c, const SapCudaModel *model);

/* One more zeroed array that lives as long as the batch. */
SapStatus sap_cuda_allocate(SapCudaBatch *c, size_t bytes, const char *what, void **out);

/* Whether the stream captures a graph. */
SapStatus sap_cuda_is_capturing(const SapCudaBatch *c, const char *what, CuStream stream, bool *out);

/* To be called before a launch: uploads the per-world parameters that were written since the last one. */
SapStatus sap_cuda_refresh(SapCudaBatch *c, const char *what);

#endif
