/* Launches: which kernels, on which grid, with which scratch, for which worlds. The device's context is current. */
#ifndef SAPWOOD_HOST_CUDA_LAUNCH_H
#define SAPWOOD_HOST_CUDA_LAUNCH_H

#include "host/cuda/backend.h"

/* While the batch is created: the kernels and the shapes of their blocks; then, with the memory of the worlds taken, grids and workspace. */
SapStatus sap_cuda_choose_kernels(const SapBatch *batch);
SapStatus sap_cuda_choose_grids(const SapBatch *batch);

/* Each step is a launch of collision and one of the rest, or some more in stages; if nothing can touch, one launch does all. */
SapStatus sap_cuda_launch_steps(SapCudaBatch *c, const char *what);

/* The mask is the caller's, in memory of the host or of the device. */
SapStatus sap_cuda_launch_kinematics(const SapBatch *batch, const char *what, const uint8_t *mask);
SapStatus sap_cuda_launch_reset(const SapBatch *batch, const char *what, const uint8_t *mask, SapResetArgs *args);

#endif
