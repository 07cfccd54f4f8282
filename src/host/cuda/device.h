/* A GPU: its context, the kernels, and its limits. Batches on the same GPU share one. */
#ifndef SAPWOOD_HOST_CUDA_DEVICE_H
#define SAPWOOD_HOST_CUDA_DEVICE_H

#include "host/cuda/driver.h"

typedef struct SapCudaDevice {
    const SapCuda *cuda;
    int index;   /* as the driver counts */
    int holders; /* batches */
    CuDevice device;
    CuContext context; /* the primary one, which PyTorch and others use too */
    CuModule module;
    CuFunction collide, step, kinematics, reset, mask;
    int multiprocessors;
    int shared_per_block; /* bytes, with the large part opted in */
    struct SapCudaDevice *next;
} SapCudaDevice;

/* Makes the GPU ready at the first call. Give back with sap_cuda_device_release, which accepts NULL. Any thread. */
SapStatus sap_cuda_device_retain(int index, SapCudaDevice **out);
void sap_cuda_device_release(SapCudaDevice *device);

/* The kernel of that name; *out is NULL where the module has none. The context must be current. */
SapStatus sap_cuda_device_find(const SapCudaDevice *device, const char *name, CuFunction *out);

/* Makes the GPU's context the thread's current one; sap_cuda_leave puts the former back and passes `status` on, or its own
 * failure. */
SapStatus sap_cuda_enter(const SapCudaDevice *device, const char *what);
SapStatus sap_cuda_leave(const SapCudaDevice *device, const char *what, SapStatus status);

/* The kernels of this build, PTX or a fatbin; NULL if it was made without nvcc (cuda_image.c). */
const void *sap_cuda_embedded_image(void);

#endif
