/* The CUDA driver library, loaded at run time: one build runs on machines with and without a driver, and compiles
 * without the headers of the toolkit. Only the functions in use are declared here, with the names and the binary
 * interface of <cuda.h>.
 *
 * The library is libcuda.so.1 as found by the dynamic linker, or the file named by the environment variable
 * SAPWOOD_CUDA_DRIVER. */
#ifndef SAPWOOD_HOST_CUDA_DRIVER_H
#define SAPWOOD_HOST_CUDA_DRIVER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

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
typedef struct CUgraph_st *CuGraph;
typedef struct CUgraphExec_st *CuGraphExec;
typedef struct CUgraphNode_st *CuGraphNode;
typedef unsigned long long CuGraphHandle; /* CUgraphConditionalHandle */

enum { CU_SUCCESS = 0, CU_INVALID_VALUE = 1, CU_OUT_OF_MEMORY = 2, CU_NO_DEVICE = 100, CU_NOT_FOUND = 500 };

enum {
    CU_MULTIPROCESSOR_COUNT = 16,
    CU_CAPABILITY_MAJOR = 75,
    CU_CAPABILITY_MINOR = 76,
    CU_SHARED_PER_MULTIPROCESSOR = 81,
    CU_SHARED_PER_BLOCK_OPTIN = 97
}; /* device attributes */

enum { CU_FUNC_MAX_DYNAMIC_SHARED = 8, CU_FUNC_SHARED_CARVEOUT = 9 };
enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DISABLE_TIMING = 2 };
enum { CU_POINTER_MEMORY_TYPE = 2, CU_MEMORY_HOST = 1 };

/* ---- nodes of graphs ---- */

enum { CU_NODE_KERNEL = 0, CU_NODE_GRAPH = 4, CU_NODE_CONDITIONAL = 13 };
enum { CU_CONDITION_IF = 0, CU_CONDITION_WHILE = 1, CU_CONDITION_ASSIGN_DEFAULT = 1 };
enum { CU_CAPTURE_THREAD_LOCAL = 1, CU_CAPTURE_ACTIVE = 1, CU_SET_DEPENDENCIES = 1 };

/* CUgraphNodeParams, with the kinds in use: 256 bytes, those without a meaning 0. */
typedef struct CuNodeParams {
    int type, reserved[3];
    union {
        long long words[29];
        struct {
            CuFunction function;
            unsigned grid[3], block[3], shared;
            void **parameters, **extra;
            void *kernel;
            CuContext context;
        } kernel;
        struct {
            CuGraph graph; /* copied */
            int ownership;
        } child;
        struct {
            CuGraphHandle handle;
            int type;
            unsigned size;   /* 1 */
            CuGraph *bodies; /* out: [size], owned by the node */
            CuContext context;
        } conditional;
    };
    long long reserved_end;
} CuNodeParams;
static_assert(sizeof(CuNodeParams) == 256, "CUgraphNodeParams of <cuda.h> has 256 bytes");

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
    X(event_create, cuEventCreate, (CuEvent * event, unsigned flags))                                                  \
    X(event_destroy, cuEventDestroy_v2, (CuEvent event))                                                               \
    X(event_record, cuEventRecord, (CuEvent event, CuStream stream))                                                   \
    X(launch, cuLaunchKernel,                                                                                          \
      (CuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,     \
       unsigned block_z, unsigned shared, CuStream stream, void **parameters, void **extra))

/* Graphs with conditional nodes, which drivers for CUDA 12.4 and later have. */
#define SAP_CU_GRAPH_FUNCTIONS(X)                                                                                      \
    X(graph_create, cuGraphCreate, (CuGraph * graph, unsigned flags))                                                  \
    X(graph_destroy, cuGraphDestroy, (CuGraph graph))                                                                  \
    X(graph_add, cuGraphAddNode_v2,                                                                                    \
      (CuGraphNode * node, CuGraph graph, const CuGraphNode *dependencies, const void *edges, size_t count,            \
       CuNodeParams *parameters))                                                                                      \
    X(condition_create, cuGraphConditionalHandleCreate,                                                                \
      (CuGraphHandle * handle, CuGraph graph, CuContext context, unsigned value, unsigned flags))                      \
    X(instantiate, cuGraphInstantiateWithFlags, (CuGraphExec * exec, CuGraph graph, unsigned long long flags))         \
    X(exec_destroy, cuGraphExecDestroy, (CuGraphExec exec))                                                            \
    X(graph_launch, cuGraphLaunch, (CuGraphExec exec, CuStream stream))                                                \
    X(capture_begin, cuStreamBeginCapture_v2, (CuStream stream, int mode))                                             \
    X(capture_end, cuStreamEndCapture, (CuStream stream, CuGraph * graph))                                             \
    X(capture_info, cuStreamGetCaptureInfo_v3,                                                                         \
      (CuStream stream, int *status, unsigned long long *id, CuGraph *graph, const CuGraphNode **dependencies,         \
       const void **edges, size_t *count))                                                                             \
    X(capture_update, cuStreamUpdateCaptureDependencies_v2,                                                            \
      (CuStream stream, CuGraphNode * dependencies, const void *edges, size_t count, unsigned flags))

#define SAP_CU_POINTER(name, symbol, parameters) CuResult(*name) parameters;
typedef struct SapCuda {
    SAP_CU_FUNCTIONS(SAP_CU_POINTER)
    SAP_CU_GRAPH_FUNCTIONS(SAP_CU_POINTER) /* undefined unless has_graphs */
    bool has_graphs;
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

/* Names of the functions in messages: those of the documentation. */
#define SAP_CU_NAME(name, symbol, parameters) extern const char sap_cu_name_##name[];
SAP_CU_FUNCTIONS(SAP_CU_NAME)
SAP_CU_GRAPH_FUNCTIONS(SAP_CU_NAME)

#endif
