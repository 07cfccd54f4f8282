/* The devices: PTX_DEVICES (default 1) equal ones of the compute capability PTX_DEVICE (75, 80, 86, 89, 90, 100, 120;
 * default 80); PTX_DEVICE=none is a machine without one. PTX_MULTIPROCESSORS (default 4) of each. With PTX_WATCHDOG=1 the
 * driver would end long kernels. PTX_DRIVER is the CUDA version of the driver, such as 12020 (default: that of <cuda.h>). */
#include "driver.h"

#include <string.h>

typedef struct DeviceLimits {
    int capability;
    int shared_optin, shared_per_multiprocessor; /* bytes, CUDA C++ Programming Guide, Compute Capabilities */
    int max_blocks, max_threads;                 /* of a multiprocessor */
} DeviceLimits;

static const DeviceLimits limits[] = {
    {75, 65536, 65536, 16, 1024},    {80, 166912, 167936, 32, 2048}, {86, 101376, 102400, 16, 1536},
    {89, 101376, 102400, 24, 1536},  {90, 232448, 233472, 32, 2048}, {100, 232448, 233472, 32, 2048},
    {120, 101376, 102400, 24, 1536},
};

static int has_device(void) {
    const char *text = getenv("PTX_DEVICE");
    return !text || strcmp(text, "none") != 0;
}

static const DeviceLimits *device(void) {
    const char *text = getenv("PTX_DEVICE");
    int capability = text ? atoi(text) : 80;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].capability == capability)
            return &limits[i];
    complain("PTX_DEVICE is %s: it must be none, 75, 80, 86, 89, 90, 100 or 120", text);
    return &limits[0];
}

static int number_of(const char *setting, int otherwise) {
    const char *text = getenv(setting);
    return text ? atoi(text) : otherwise;
}

int driver_version(void) {
    return number_of("PTX_DRIVER", CUDA_VERSION);
}

static int num_devices(void) {
    return number_of("PTX_DEVICES", 1);
}

int device_exists(CUdevice d) {
    return d >= 0 && d < num_devices();
}

int device_capability(void) {
    return device()->capability;
}

int device_shared_optin(void) {
    return device()->shared_optin;
}

API cuInit(unsigned flags) {
    ENTER();
    REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(has_device(), CUDA_ERROR_NO_DEVICE);
    driver_initialised = 1;
    return CUDA_SUCCESS;
}

API cuDriverGetVersion(int *version) {
    REQUIRE(version, CUDA_ERROR_INVALID_VALUE);
    *version = driver_version();
    return CUDA_SUCCESS;
}

API cuDeviceGetCount(int *count) {
    ENTER();
    REQUIRE(count, CUDA_ERROR_INVALID_VALUE);
    *count = num_devices();
    return CUDA_SUCCESS;
}

API cuDeviceGet(CUdevice *out, int ordinal) {
    ENTER();
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(device_exists(ordinal), CUDA_ERROR_INVALID_DEVICE);
    *out = ordinal;
    return CUDA_SUCCESS;
}

API cuDeviceGetName(char *name, int size, CUdevice d) {
    ENTER();
    REQUIRE(name && size > 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(device_exists(d), CUDA_ERROR_INVALID_DEVICE);
    snprintf(name, (size_t)size, "PTX executor (sm_%d)", device_capability());
    return CUDA_SUCCESS;
}

API cuDeviceTotalMem(size_t *bytes, CUdevice d) {
    ENTER();
    REQUIRE(bytes, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(device_exists(d), CUDA_ERROR_INVALID_DEVICE);
    *bytes = ARENA_SIZE;
    return CUDA_SUCCESS;
}

API cuDeviceGetUuid(CUuuid *uuid, CUdevice d) {
    ENTER();
    REQUIRE(uuid, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(device_exists(d), CUDA_ERROR_INVALID_DEVICE);
    memset(uuid, 0x50 + d, sizeof *uuid);
    return CUDA_SUCCESS;
}

/* -1 for an attribute that is not known here. */
static int attribute(CUdevice_attribute a) {
    switch (a) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return device_capability() / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return device_capability() % 10;
    case CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT: return number_of("PTX_WATCHDOG", 0);
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return number_of("PTX_MULTIPROCESSORS", 4);
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return device()->max_threads;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: return device()->max_blocks;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 49152;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return device()->shared_optin;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return device()->shared_per_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: return 65536;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 4 << 20;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 1000000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return 256;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: return 0;
    default: return -1;
    }
}

API cuDeviceGetAttribute(int *value, CUdevice_attribute a, CUdevice d) {
    ENTER();
    REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(device_exists(d), CUDA_ERROR_INVALID_DEVICE);
    int found = attribute(a);
    if (found < 0)
        complain("device attribute %d is not known to the stand-in", (int)a);
    REQUIRE(found >= 0, CUDA_ERROR_INVALID_VALUE);
    *value = found;
    return CUDA_SUCCESS;
}
