/* Arrays of a batch on a GPU: their memory, and copies from and to the host. The device's context is current. */
#ifndef SAPWOOD_HOST_CUDA_ARRAYS_H
#define SAPWOOD_HOST_CUDA_ARRAYS_H

#include "host/cuda/backend.h"
#include "host/cuda/model.h"

/* Copies through the staging memory, and waits for them. */
SapStatus sap_cuda_upload(const SapCudaBatch *c, const char *what, void *to, const void *from, size_t bytes);
SapStatus sap_cuda_download(const SapCudaBatch *c, const char *what, void *to, const void *from, size_t bytes);

SapStatus sap_cuda_take_memory(SapCudaBatch *c, const char *what, size_t bytes, CuAddress *out);

/* The block of the model, the arrays of the batch and the rest, zeroed; then what the model holds. */
SapStatus sap_cuda_create_memory(SapBatch *batch, SapCudaModel *model);
SapStatus sap_cuda_upload_model(SapCudaBatch *c, const SapCudaModel *model);

/* One more array, zeroed; it lives as long as the batch. */
SapStatus sap_cuda_allocate(SapCudaBatch *c, size_t bytes, const char *what, void **out);

/* Before a launch: parameters of worlds that were written since the last one go to the device. */
SapStatus sap_cuda_refresh(SapCudaBatch *c, const char *what);

#endif
