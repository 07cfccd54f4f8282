/* Functions of a module: their attributes, and launches. PTX_LOCAL is a list of kernels and the bytes of local memory that
 * the driver takes at their first launch for all resident threads: sap_kernel_step:1000000,... */
#include "driver.h"

#include <string.h>

enum { DEFAULT_SHARED = 49152, MAX_THREADS = 1024, MAX_GRID_YZ = 65535, MAX_BLOCK_Z = 64 };

static int static_shared(CUfunction f) {
    return (int)module_tables(f->module)->static_shared;
}

static int max_threads(CUfunction f) {
    return f->kernel->max_threads ? (int)f->kernel->max_threads : MAX_THREADS;
}

API cuFuncGetAttribute(int *value, CUfunction_attribute a, CUfunction f) {
    ENTER_CONTEXT();
    REQUIRE(value && f, CUDA_ERROR_INVALID_VALUE);
    switch (a) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = max_threads(f); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_shared(f); break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = f->max_dynamic_shared; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = device_capability(); break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 255; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = 0; break;
    default: complain("function attribute %d is not known to the stand-in", (int)a); return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

API cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int value) {
    ENTER_CONTEXT();
    REQUIRE(f, CUDA_ERROR_INVALID_VALUE);
    if (a == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        return CUDA_SUCCESS;
    REQUIRE(a == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(value >= 0 && value <= device_shared_optin() - static_shared(f), CUDA_ERROR_INVALID_VALUE);
    f->max_dynamic_shared = value;
    return CUDA_SUCCESS;
}

API cuFuncSetCacheConfig(CUfunction f, CUfunc_cache config) {
    ENTER_CONTEXT();
    (void)config;
    REQUIRE(f, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

static int blocks_per_multiprocessor(CUfunction f, int block, size_t dynamic) {
    size_t shared = dynamic + (size_t)static_shared(f) + 1024;
    int by_shared = (int)(((size_t)device_shared_optin() + 1024) / shared), by_threads = 2048 / block;
    int blocks = by_shared < by_threads ? by_shared : by_threads;
    return blocks < 32 ? blocks : 32;
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int block, size_t dynamic) {
    ENTER_CONTEXT();
    REQUIRE(blocks && f && block > 0 && block <= max_threads(f), CUDA_ERROR_INVALID_VALUE);
    *blocks = blocks_per_multiprocessor(f, block, dynamic);
    return CUDA_SUCCESS;
}

/* ---- launches */

static int is_grid(const unsigned grid[3]) {
    return grid[0] && grid[1] && grid[2] && grid[0] <= 2147483647u && grid[1] <= MAX_GRID_YZ && grid[2] <= MAX_GRID_YZ;
}

static int is_block(const unsigned block[3], unsigned limit) {
    if (!block[0] || !block[1] || !block[2] || block[0] > MAX_THREADS || block[1] > MAX_THREADS ||
        block[2] > MAX_BLOCK_Z)
        return 0;
    return block[0] * block[1] * block[2] <= limit;
}

static int is_shared(CUfunction f, unsigned dynamic) {
    if (dynamic > (unsigned)f->max_dynamic_shared)
        return 0;
    return dynamic + (unsigned)static_shared(f) <=
           (unsigned)(f->max_dynamic_shared > DEFAULT_SHARED ? device_shared_optin() : DEFAULT_SHARED);
}

static CUresult check_launch(CUfunction f, const unsigned grid[3], const unsigned block[3], unsigned shared) {
    if (is_grid(grid) && is_block(block, (unsigned)max_threads(f)) && is_shared(f, shared))
        return CUDA_SUCCESS;
    complain("%s: a launch of grid (%u,%u,%u), block (%u,%u,%u) of at most %d threads, %u bytes of dynamic shared "
             "memory of at most %d",
             f->kernel->name, grid[0], grid[1], grid[2], block[0], block[1], block[2], max_threads(f), shared,
             f->max_dynamic_shared);
    return CUDA_ERROR_INVALID_VALUE;
}

static u64 local_taken;

u64 launch_local_bytes(void) {
    return local_taken;
}

/* One pool, as large as any kernel so far has needed. */
static CUresult take_local(const char *kernel) {
    const char *list = getenv("PTX_LOCAL"), *entry = list ? strstr(list, kernel) : NULL;
    size_t length = strlen(kernel);
    while (entry && entry[length] != ':')
        entry = strstr(entry + 1, kernel);
    u64 bytes = entry ? strtoull(entry + length + 1, NULL, 10) : 0;
    REQUIRE(bytes <= ARENA_SIZE - ptx_bytes_allocated(), CUDA_ERROR_OUT_OF_MEMORY);
    local_taken = bytes > local_taken ? bytes : local_taken;
    return CUDA_SUCCESS;
}

static void copy_extra(const Kernel *k, unsigned char *params, void **extra) {
    for (void **e = extra; *e != CU_LAUNCH_PARAM_END; e += 2)
        if (*e == CU_LAUNCH_PARAM_BUFFER_POINTER)
            memcpy(params, e[1], k->params_size);
}

CUresult launch_prepare(Work *work, CUfunction f, const unsigned grid[3], const unsigned block[3], unsigned shared,
                        void **params, void **extra) {
    const Kernel *k = f->kernel;
    TRY(check_launch(f, grid, block, shared));
    REQUIRE(k->num_params == 0 || params || extra, CUDA_ERROR_INVALID_VALUE);
    TRY(take_local(k->name));
    *work = (Work){.kind = WORK_LAUNCH, .function = f};
    work->launch.dynamic_shared = shared;
    memcpy(work->launch.grid, grid, sizeof work->launch.grid);
    memcpy(work->launch.block, block, sizeof work->launch.block);
    work->params = aligned_alloc(64, ((size_t)k->params_size + 64 + 63) / 64 * 64);
    REQUIRE(work->params, CUDA_ERROR_OUT_OF_MEMORY);
    for (u32 i = 0; params && i < k->num_params; i++)
        memcpy(work->params + k->params[2 * i], params[i], k->params[2 * i + 1]);
    if (!params && extra)
        copy_extra(k, work->params, extra);
    return CUDA_SUCCESS;
}

API cuLaunchKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, CUstream stream, void **params, void **extra) {
    ENTER_CONTEXT();
    REQUIRE(f && stream_is_valid(stream), CUDA_ERROR_INVALID_HANDLE);
    Work work;
    unsigned grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    TRY(launch_prepare(&work, f, grid, block, shared, params, extra));
    return work_submit(stream, work);
}

API cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra) {
    ENTER_CONTEXT();
    REQUIRE(c && f && stream_is_valid(c->hStream), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(c->numAttrs == 0, CUDA_ERROR_NOT_SUPPORTED);
    Work work;
    unsigned grid[3] = {c->gridDimX, c->gridDimY, c->gridDimZ}, block[3] = {c->blockDimX, c->blockDimY, c->blockDimZ};
    TRY(launch_prepare(&work, f, grid, block, c->sharedMemBytes, params, extra));
    return work_submit(c->hStream, work);
}
