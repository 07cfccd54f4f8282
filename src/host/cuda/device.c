#include "host/cuda/device.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <sapwood/batch.h>

#include "host/base/announce.h"
#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/read_file.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static SapCudaDevice *devices; /* list of the devices in use */

/* ---- contexts ---- */

/* A context does not survive fork, and the driver cannot be initialised again in the child. */
static bool is_of_parent(const SapCudaDevice *d) {
    return d->process != getpid();
}

SapStatus sap_cuda_enter(const SapCudaDevice *d, const char *what) {
    if (is_of_parent(d))
        return sap_fail(SAP_ERROR_UNSUPPORTED,
                        "%s: this process, %d, was forked from process %d after that used the GPU; start processes "
                        "before, or without fork",
                        what, (int)getpid(), (int)d->process);
    SAP_CU_TRY(d->cuda, context_push, what, (d->context));
    return SAP_OK;
}

SapStatus sap_cuda_leave(const SapCudaDevice *d, const char *what, SapStatus status) {
    CuContext popped;
    CuResult result = d->cuda->context_pop(&popped);
    return status != SAP_OK ? status : sap_cuda_status(d->cuda, result, sap_cu_name_context_pop, what);
}

/* ---- kernels ---- */

static SapStatus find_function(const SapCudaDevice *d, SapCudaImage image, const char *name, CuFunction *out) {
    CuResult result = d->cuda->module_function(out, d->module[image], name);
    if (result == CU_NOT_FOUND)
        *out = NULL;
    return result == CU_NOT_FOUND ? SAP_OK : sap_cuda_status(d->cuda, result, sap_cu_name_module_function, name);
}

SapStatus sap_cuda_device_find(const SapCudaDevice *d, const char *name, CuFunction *out) {
    return find_function(d, SAP_CUDA_IMAGE_STEP, name, out);
}

static SapStatus need_kernel(const SapCudaDevice *d, SapCudaImage image, const char *name, CuFunction *out) {
    SAP_TRY(find_function(d, image, name, out));
    return *out ? SAP_OK : sap_fail(SAP_ERROR_DEVICE, "device cuda: the kernels have no '%s'", name);
}

static SapStatus find_kernels(SapCudaDevice *d) {
    const struct {
        const char *name;
        CuFunction *out;
    } kernels[] = {{"sap_kernel_step", &d->step},
                   {"sap_kernel_kinematics", &d->kinematics},
                   {"sap_kernel_collide", &d->collide},
                   {"sap_kernel_reset", &d->reset},
                   {"sap_kernel_take_contacts", &d->take_contacts},
                   {"sap_kernel_mask", &d->mask},
                   {"sap_kernel_place_shapes", &d->place_shapes},
                   {"sap_kernel_cast_rays", &d->cast_rays},
                   {"sap_kernel_sense", &d->sense},
                   {"sap_kernel_convex_f32", &d->convex[0]},
                   {"sap_kernel_convex_f64", &d->convex[1]},
                   {"sap_kernel_merge", &d->merge}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        SAP_TRY(need_kernel(d, SAP_CUDA_IMAGE_STEP, kernels[i].name, kernels[i].out));
    return SAP_OK;
}

static SapStatus load_module(SapCudaDevice *d, SapCudaImage which, const void *image) {
    SAP_CU_TRY(d->cuda, module_load, "device cuda: the kernels", (&d->module[which], image));
    return SAP_OK;
}

static SapStatus load_file(SapCudaDevice *d, SapCudaImage which, const char *path) {
    char *image;
    size_t size;
    SAP_TRY(sap_read_file(path, SIZE_MAX / 4, &image, &size));
    image[size] = 0; /* PTX is text; the buffer is larger than the file */
    SapStatus status = load_module(d, which, image);
    free(image);
    return status;
}

/* Whether an error of loading machine code is a reason to try PTX: there is none for this GPU, or the driver is older than
 * the compiler, and says so in one of several ways. */
static bool is_refusal(CuResult result) {
    static const CuResult refusals[] = {CU_INVALID_IMAGE, CU_NO_BINARY_FOR_GPU, CU_INVALID_PTX,
                                        CU_UNSUPPORTED_PTX_VERSION, CU_INVALID_SOURCE};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (result == refusals[i])
            return true;
    return false;
}

/* The driver compiles PTX, and keeps the result in a folder of its own for the next time. */
static SapStatus load_ptx(SapCudaDevice *d, SapCudaImage which, const void *ptx) {
    static const char *const names[] = {"of the step", "of the dual solvers", "of MuJoCo's law",
                                        "with a thread per world"};
    char gpu[128] = "";
    SAP_CU_TRY(d->cuda, device_name, "device cuda", (gpu, (int)sizeof gpu, d->device));
    sap_announce("the driver compiles the kernels %s for '%s'; this can take minutes, the first time only",
                 names[which], gpu);
    return load_module(d, which, ptx);
}

/* The file named by the environment variable of an image; NULL: the kernels of this build. */
static SapStatus find_file(SapCudaImage which, const char **path) {
    *path = secure_getenv(sap_cuda_image_variable(which));
    if (*path && **path)
        return SAP_OK;
    *path = NULL;
    if (sap_cuda_embedded_ptx(which))
        return SAP_OK;
    return sap_fail(SAP_ERROR_DEVICE,
                    "device cuda: this build has no GPU kernels, for it was made without nvcc or with "
                    "SAPWOOD_CUDA=OFF; allowed here: cpu");
}

static SapStatus find_and_load(SapCudaDevice *d, SapCudaImage which) {
    const char *path;
    SAP_TRY(find_file(which, &path));
    if (path)
        return load_file(d, which, path);
    const void *code = sap_cuda_embedded_code(which), *ptx = sap_cuda_embedded_ptx(which);
    if (code) {
        CuResult result = d->cuda->module_load(&d->module[which], code);
        if (!is_refusal(result))
            return sap_cuda_status(d->cuda, result, sap_cu_name_module_load, "device cuda: the kernels");
    }
    return load_ptx(d, which, ptx);
}

SapStatus sap_cuda_device_find_in(SapCudaDevice *d, SapCudaImage image, const char *name, CuFunction *out) {
    pthread_mutex_lock(&lock);
    SapStatus status = d->module[image] ? SAP_OK : find_and_load(d, image);
    if (status == SAP_OK)
        status = need_kernel(d, image, name, out);
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- creation ---- */

static SapStatus attribute(const SapCudaDevice *d, int which, int *out) {
    SAP_CU_TRY(d->cuda, device_attribute, "device cuda", (out, which, d->device));
    return SAP_OK;
}

static SapStatus find_device(SapCudaDevice *d) {
    int count;
    SAP_TRY(sap_cuda_driver(&d->cuda));
    SAP_CU_TRY(d->cuda, device_count, "device cuda", (&count));
    if (d->index >= count)
        return sap_fail(SAP_ERROR_DEVICE,
                        "option cuda_device is '%d'; allowed: an integer 0 .. %d, as the driver finds %d", d->index,
                        count - 1, count);
    SAP_CU_TRY(d->cuda, device_get, "device cuda", (&d->device, d->index));
    return SAP_OK;
}

static SapStatus load_kernels(SapCudaDevice *d) {
    SAP_TRY(find_and_load(d, SAP_CUDA_IMAGE_STEP));
    return find_kernels(d);
}

static SapStatus open_device(SapCudaDevice *d) {
    const char *path;
    SAP_TRY(find_file(SAP_CUDA_IMAGE_STEP, &path)); /* before the driver is initialised */
    SAP_TRY(find_device(d));
    SAP_TRY(attribute(d, CU_MULTIPROCESSOR_COUNT, &d->multiprocessors));
    SAP_TRY(attribute(d, CU_SHARED_PER_BLOCK_OPTIN, &d->shared_per_block));
    int watchdog;
    SAP_TRY(attribute(d, CU_KERNEL_EXEC_TIMEOUT, &watchdog));
    d->has_watchdog = watchdog != 0;
    SAP_CU_TRY(d->cuda, device_memory, "device cuda", (&d->memory_bytes, d->device));
    SAP_CU_TRY(d->cuda, context_retain, "device cuda", (&d->context, d->device));
    SAP_TRY(sap_cuda_enter(d, "device cuda"));
    return sap_cuda_leave(d, "device cuda", load_kernels(d));
}

static void destroy(SapCudaDevice *d) {
    if (d->module[SAP_CUDA_IMAGE_STEP] && sap_cuda_enter(d, "device cuda") == SAP_OK) {
        for (int i = 0; i < SAP_CUDA_NUM_IMAGES; i++)
            if (d->module[i])
                d->cuda->module_unload(d->module[i]);
        sap_cuda_leave(d, "device cuda", SAP_OK);
    }
    if (d->context && !is_of_parent(d))
        d->cuda->context_release(d->device);
    free(d);
}

static SapStatus create(int index, SapCudaDevice **out) {
    SapCudaDevice *d = sap_allocate(1, sizeof *d, "device cuda");
    if (!d)
        return SAP_ERROR_MEMORY;
    d->index = index;
    d->process = getpid();
    SapStatus status = open_device(d);
    if (status == SAP_OK)
        *out = d;
    else
        destroy(d);
    return status;
}

static SapStatus retain(int index, SapCudaDevice **out) {
    for (SapCudaDevice *d = devices; d; d = d->next)
        if (d->index == index) {
            d->holders++;
            *out = d;
            return SAP_OK;
        }
    SAP_TRY(create(index, out));
    (*out)->holders = 1;
    (*out)->next = devices;
    devices = *out;
    return SAP_OK;
}

SapStatus sap_cuda_device_retain(int index, SapCudaDevice **out) {
    pthread_mutex_lock(&lock);
    SapStatus status = retain(index, out);
    pthread_mutex_unlock(&lock);
    return status;
}

void sap_cuda_device_release(SapCudaDevice *d) {
    if (!d)
        return;
    pthread_mutex_lock(&lock);
    if (--d->holders == 0) {
        SapCudaDevice **place = &devices;
        while (*place != d)
            place = &(*place)->next;
        *place = d->next;
        destroy(d);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- info ---- */

SapStatus sap_device_count(int *out) {
    const SapCuda *cuda;
    SAP_NEED(out);
    SAP_TRY(sap_cuda_driver(&cuda));
    SAP_CU_TRY(cuda, device_count, __func__, (out));
    return SAP_OK;
}

static SapStatus describe(const SapCudaDevice *d, SapDeviceInfo *info) {
    int major, minor;
    SAP_TRY(attribute(d, CU_CAPABILITY_MAJOR, &major));
    SAP_TRY(attribute(d, CU_CAPABILITY_MINOR, &minor));
    SAP_TRY(attribute(d, CU_MULTIPROCESSOR_COUNT, &info->multiprocessors));
    SAP_TRY(attribute(d, CU_SHARED_PER_BLOCK_OPTIN, &info->shared_bytes));
    SAP_CU_TRY(d->cuda, driver_version, "sap_device_info", (&info->driver_version));
    SAP_CU_TRY(d->cuda, device_name, "sap_device_info", (info->name, (int)sizeof info->name, d->device));
    SAP_CU_TRY(d->cuda, device_memory, "sap_device_info", (&info->memory_bytes, d->device));
    info->capability = 10 * major + minor;
    return SAP_OK;
}

SapStatus sap_device_info(int cuda_device, SapDeviceInfo *out) {
    SAP_NEED(out);
    if (cuda_device < 0)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_device_info: cuda_device is %d; it must not be negative", cuda_device);
    SapCudaDevice d = {.index = cuda_device};
    SapDeviceInfo info = {.multiprocessors = 0};
    SAP_TRY(find_device(&d));
    SAP_TRY(describe(&d, &info));
    *out = info;
    return SAP_OK;
}
