/* Launches: kernels, grids, scratch and masks. The device's context must be current. */
#ifndef SAPWOOD_HOST_CUDA_LAUNCH_H
#define SAPWOOD_HOST_CUDA_LAUNCH_H

#include "host/cuda/backend.h"

/* Called during creation: first the kernels and the shapes of their blocks; then, after the memory of the worlds is
 * allocated, the grids and the workspace. */
SapStatus sap_cuda_choose_kernels(const SapBatch *batch);
SapStatus sap_cuda_choose_grids(const SapBatch *batch);

/* Called last during creation: makes the driver take the local memory of the kernels that steps launch, so that a lack of
 * memory shows now; with a thread per world a team is then chosen. */
SapStatus sap_cuda_take_local_memory(const SapBatch *batch);

/* Shared memory and cache as a phase of this shape needs them. */
SapStatus sap_cuda_set_cache(const SapCudaBatch *c, const SapCudaShape *shape, CuFunction kernel);

/* One launch does all steps (on a GPU with a watchdog: up to 64 of them) if no shapes can touch or the step finds its contacts itself, and there is no lockstep.
 * Otherwise each step is one launch for collision (three if pairs of shapes can need the general narrow phase) and one
 * for the rest, or several with lockstep. */
SapStatus sap_cuda_launch_steps(SapCudaBatch *c, const char *what);

/* Whether an address is in device memory. Memory unknown to the driver is host memory. */
SapStatus sap_cuda_is_on_device(const SapCudaBatch *c, const char *what, const void *pointer, bool *out);

/* The mask in device memory: the caller's, or a copy of it; NULL stays NULL. */
SapStatus sap_cuda_find_mask(const SapBatch *batch, const char *what, const uint8_t *mask, const uint8_t **out);

/* The mask is the caller's, in host or device memory. */
SapStatus sap_cuda_launch_kinematics(const SapBatch *batch, const char *what, const uint8_t *mask);
SapStatus sap_cuda_launch_reset(const SapBatch *batch, const char *what, const uint8_t *mask, SapResetArgs *args);

/* Takes the contacts of the caller into the arrays of the batch. */
SapStatus sap_cuda_launch_take(const SapBatch *batch, const char *what, SapTakeArgs *args);

#endif
