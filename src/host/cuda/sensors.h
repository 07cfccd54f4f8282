/* Ray casts and sensors on a GPU. The device's context must be current. */
#ifndef SAPWOOD_HOST_CUDA_SENSORS_H
#define SAPWOOD_HOST_CUDA_SENSORS_H

#include "host/cuda/backend.h"
#include "kernels/data/rays.h"

/* The arrays of the rays and the mask are the caller's, in host or device memory. */
SapStatus sap_cuda_raycast(const SapBatch *batch, const char *what, const uint8_t *mask, const SapRayArgs *args);

/* The mask is the caller's, in host or device memory. */
SapStatus sap_cuda_sense(const SapBatch *batch, const char *what, const uint8_t *mask, SapSenseArgs *args);

#endif
