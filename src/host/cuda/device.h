/* A GPU: its context, the kernels, and its limits. Batches on the same GPU share one object. */
#ifndef SAPWOOD_HOST_CUDA_DEVICE_H
#define SAPWOOD_HOST_CUDA_DEVICE_H

#include <stdbool.h>
#include <sys/types.h>

#include "host/cuda/driver.h"

/* The modules of kernels: target/cuda.cu, loaded with the device; those of the dual solvers, of the formulation with
 * its own kernels, of a thread per world and of the contact laws `similar` and `lagged`, loaded when a batch needs them. */
typedef enum SapCudaImage {
    SAP_CUDA_IMAGE_STEP,
    SAP_CUDA_IMAGE_DUAL,
    SAP_CUDA_IMAGE_FORMULATION,
    SAP_CUDA_IMAGE_THREAD,
    SAP_CUDA_IMAGE_LAW,
    SAP_CUDA_NUM_IMAGES
} SapCudaImage;

typedef struct SapCudaDevice {
    const SapCuda *cuda;
    int index;   /* index in the driver's order */
    int holders; /* number of batches that use it */
    pid_t process;
    CuDevice device;
    CuContext context;                    /* the primary context, which PyTorch and others also use */
    CuModule module[SAP_CUDA_NUM_IMAGES]; /* NULL: not loaded */
    CuFunction collide, step, kinematics, reset, take_contacts, mask, place_shapes, cast_rays, sense;
    CuFunction convex[2], merge; /* f32, f64 */
    int multiprocessors;
    int shared_per_block; /* bytes, including the opt-in part */
    bool has_watchdog;    /* the driver ends kernels that run for seconds, as on a GPU with a display */
    size_t memory_bytes;
    struct SapCudaDevice *next;
} SapCudaDevice;

/* Initialises the GPU at the first call. Release with sap_cuda_device_release, which accepts NULL. Callable from any
 * thread. */
SapStatus sap_cuda_device_retain(int index, SapCudaDevice **out);
void sap_cuda_device_release(SapCudaDevice *device);

/* The kernel of that name; *out is NULL if the module has none. The context must be current. */
SapStatus sap_cuda_device_find(const SapCudaDevice *device, const char *name, CuFunction *out);
/* The same in a module that is loaded at the first call; a kernel that is missing is an error. Callable from any
 * thread. */
SapStatus sap_cuda_device_find_in(SapCudaDevice *device, SapCudaImage image, const char *name, CuFunction *out);

/* Makes the GPU's context current on this thread. sap_cuda_leave restores the previous context and returns `status`, or
 * its own error. */
SapStatus sap_cuda_enter(const SapCudaDevice *device, const char *what);
SapStatus sap_cuda_leave(const SapCudaDevice *device, const char *what, SapStatus status);

/* The kernels of this build as PTX, in a fatbin; NULL if it was built without nvcc (cuda/image.c). */
const void *sap_cuda_embedded_ptx(SapCudaImage image);
/* The same as machine code of some architectures; NULL if this module has none. */
const void *sap_cuda_embedded_code(SapCudaImage image);

/* The environment variable that names a file to use instead. */
const char *sap_cuda_image_variable(SapCudaImage image);

#endif
