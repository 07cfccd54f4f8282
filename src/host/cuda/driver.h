/* The CUDA driver library, loaded at run time: one build runs on machines with and without a driver, and compiles
 * without the headers of the toolkit. Only the functions in use are declared here, with the names and the binary
 * interface of <cuda.h>.
 *
 * The library is libcuda.so.1 as found by the dynamic linker, or the file named by the environment variable
 * SAPWOOD_CUDA_DRIVER. */
#ifndef SAPWOOD_HOST_CUDA_DRIVER_H
#define SAPWOOD_HOST_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sapwood/error.h>

/* ---- types of <cuda.h> ---- */

typedef int CuResult;
typedef int CuDevice;
typedef unsigned long long CuAddress; /* CUdeviceptr */
typedef struct CUctx_st *CuContext;
typedef struct CUmod_st *CuModule;
typedef struct CUfunc_st *CuFunction;
typedef struct CUstream_st *CuStream;
typedef struct CUevent_st *CuEvent;

static inline void *sap_cuda_pointer(CuAddress address) {
    return (void *)(uintptr_t)address;
}

static inline CuAddress sap_cuda_address(const void *pointer) {
    return (CuAddress)(uintptr_t)pointer;
}

enum {
    CU_SUCCESS = 0,
    CU_INVALID_VALUE = 1,
    CU_OUT_OF_MEMORY = 2,
    CU_NO_DEVICE = 100,
    CU_INVALID_IMAGE = 200,
    CU_NO_BINARY_FOR_GPU = 209,
    CU_INVALID_PTX = 218,
    CU_UNSUPPORTED_PTX_VERSION = 222,
    CU_INVALID_SOURCE = 300,
    CU_NOT_FOUND = 500,
    CU_STREAM_CAPTURE_IMPLICIT = 906
};

enum {
    CU_MULTIPROCESSOR_COUNT = 16,
    CU_KERNEL_EXEC_TIMEOUT = 17,
    CU_CAPABILITY_MAJOR = 75,
    CU_CAPABILITY_MINOR = 76,
    CU_SHARED_PER_MULTIPROCESSOR = 81,
    CU_SHARED_PER_BLOCK_OPTIN = 97
}; /* device attributes */

enum { CU_FUNC_MAX_DYNAMIC_SHARED = 8, CU_FUNC_SHARED_CARVEOUT = 9 };
enum { CU_STREAM_DEFAULT = 0, CU_EVENT_DISABLE_TIMING = 2 };
enum { CU_POINTER_MEMORY_TYPE = 2, CU_MEMORY_HOST = 1 };

/* ---- the functions ---- */

/* X(name here, symbol, parameters): the symbol is the version of the function that <cuda.h> of CUDA 12 and 13 selects.
 * */
#define SAP_CU_FUNCTIONS(X)                                                                                            \
    X(init, cuInit, (unsigned flags))                                                                                  \
    X(driver_version, cuDriverGetVersion, (int *version))                                                              \
    X(error_name, cuGetErrorName, (CuResult error, const char **text))                                                 \
    X(error_text, cuGetErrorString, (CuResult error, const char **text))                                               \
    X(device_count, cuDeviceGetCount, (int *count))                                                                    \
    X(device_get, cuDeviceGet, (CuDevice * device, int ordinal))                                                       \
    X(device_name, cuDeviceGetName, (char *name, int size, CuDevice device))                                           \
    X(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, CuDevice device))                                           \
    X(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, CuDevice device))                            \
    X(context_retain, cuDevicePrimaryCtxRetain, (CuContext * context, CuDevice device))                                \
    X(context_release, cuDevicePrimaryCtxRelease_v2, (CuDevice device))                                                \
    X(context_push, cuCtxPushCurrent_v2, (CuContext context))                                                          \
    X(context_pop, cuCtxPopCurrent_v2, (CuContext * context))                                                          \
    X(module_load, cuModuleLoadData, (CuModule * module, const void *image))                                           \
    X(module_unload, cuModuleUnload, (CuModule module))                                                                \
    X(module_function, cuModuleGetFunction, (CuFunction * function, CuModule module, const char *name))                \
    X(function_set, cuFuncSetAttribute, (CuFunction function, int attribute, int value))                               \
    X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                          \
      (int *blocks, CuFunction function, int block_size, size_t shared))                                               \
    X(memory_info, cuMemGetInfo_v2, (size_t * available, size_t * total))                                              \
    X(memory_allocate, cuMemAlloc_v2, (CuAddress * address, size_t bytes))                                             \
    X(memory_free, cuMemFree_v2, (CuAddress address))                                                                  \
    X(host_allocate, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                                    \
    X(host_free, cuMemFreeHost, (void *memory))                                                                        \
    X(pointer_attribute, cuPointerGetAttribute, (void *value, int attribute, CuAddress address))                       \
    X(copy_to_device, cuMemcpyHtoDAsync_v2, (CuAddress to, const void *from, size_t bytes, CuStream stream))           \
    X(copy_to_host, cuMemcpyDtoHAsync_v2, (void *to, CuAddress from, size_t bytes, CuStream stream))                   \
    X(copy_on_device, cuMemcpyDtoDAsync_v2, (CuAddress to, CuAddress from, size_t bytes, CuStream stream))             \
    X(set_bytes, cuMemsetD8Async, (CuAddress to, unsigned char value, size_t bytes, CuStream stream))                  \
    X(stream_create, cuStreamCreate, (CuStream * stream, unsigned flags))                                              \
    X(stream_destroy, cuStreamDestroy_v2, (CuStream stream))                                                           \
    X(stream_synchronize, cuStreamSynchronize, (CuStream stream))                                                      \
    X(stream_wait, cuStreamWaitEvent, (CuStream stream, CuEvent event, unsigned flags))                                \
    X(stream_is_capturing, cuStreamIsCapturing, (CuStream stream, int *status))                                        \
    X(event_create, cuEventCreate, (CuEvent * event, unsigned flags))                                                  \
    X(event_destroy, cuEventDestroy_v2, (CuEvent event))                                                               \
    X(event_record, cuEventRecord, (CuEvent event, CuStream stream))                                                   \
    X(launch, cuLaunchKernel,                                                                                          \
      (CuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,     \
       unsigned block_z, unsigned shared, CuStream stream, void **parameters, void **extra))

#define SAP_CU_POINTER(name, symbol, parameters) CuResult(*name) parameters;
typedef struct SapCuda {
    SAP_CU_FUNCTIONS(SAP_CU_POINTER)
} SapCuda;

/* The functions of the driver. The first successful call loads and initialises it; it is never unloaded. Callable from
 * any thread. */
SapStatus sap_cuda_driver(const SapCuda **out);

/* Converts the result of a driver call to a status with a message: the caller, the name of the function, and the
 * driver's error text. */
SapStatus sap_cuda_status(const SapCuda *cuda, CuResult result, const char *function, const char *what);

/* SAP_CU_TRY(cuda, launch, "sap_batch_step", (function, ...)): calls cuda->launch and returns its error, if any. */
#define SAP_CU_TRY(cuda, name, what, arguments)                                                                        \
    do {                                                                                                               \
        CuResult sap_cu_result_ = (cuda)->name arguments;                                                              \
        if (sap_cu_result_ != CU_SUCCESS)                                                                              \
            return sap_cuda_status((cuda), sap_cu_result_, sap_cu_name_##name, (what));                                \
    } while (0)

/* Names of the functions in messages, as in the documentation. */
#define SAP_CU_NAME(name, symbol, parameters) extern const char sap_cu_name_##name[];
SAP_CU_FUNCTIONS(SAP_CU_NAME)

#endif
