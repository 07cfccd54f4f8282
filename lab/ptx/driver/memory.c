/* Memory of the device and pinned memory of the host; copies and fills. */
#include "driver.h"

#include <string.h>

static int is_device(const void *pointer) {
    return (u64)pointer - ARENA_BASE < ARENA_SIZE;
}

/* A pointer of the host is taken on trust; one of the device must lie in an allocation. */
static CUresult check_range(const void *pointer, size_t size, const char *what) {
    if (!is_device(pointer) || ptx_is_allocated((u64)pointer, size))
        return CUDA_SUCCESS;
    char where[128];
    ptx_describe_address((u64)pointer + size, where, sizeof where);
    complain("%s of %zu bytes leaves its allocation: its end lies %s", what, size, where);
    return CUDA_ERROR_INVALID_VALUE;
}

API cuMemAlloc(CUdeviceptr *out, size_t size) {
    ENTER_CONTEXT();
    REQUIRE(out && size > 0, CUDA_ERROR_INVALID_VALUE);
    TRY(stream_forbid_in_capture());
    u64 address = ptx_allocate(size);
    REQUIRE(address, CUDA_ERROR_OUT_OF_MEMORY);
    *out = address;
    return CUDA_SUCCESS;
}

API cuMemFree(CUdeviceptr address) {
    ENTER_CONTEXT();
    CUresult result = work_finish(); /* a real driver waits too */
    if (address && ptx_free(address)) {
        complain("cuMemFree of 0x%llx, where no allocation begins", (unsigned long long)address);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return result;
}

/* In the order of a stream: all streams have one order here. */
API cuMemAllocAsync(CUdeviceptr *out, size_t size, CUstream stream) {
    ENTER_CONTEXT();
    REQUIRE(out && size > 0 && stream_is_valid(stream), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!stream_any_capturing(), CUDA_ERROR_NOT_SUPPORTED);
    *out = ptx_allocate(size);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    ENTER_CONTEXT();
    REQUIRE(stream_is_valid(stream), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(!stream_any_capturing(), CUDA_ERROR_NOT_SUPPORTED);
    CUresult result = work_finish();
    return ptx_free(address) ? CUDA_ERROR_INVALID_VALUE : result;
}

API cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer) {
    ENTER_CONTEXT();
    REQUIRE(data, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(ptx_is_allocated(pointer, 1), CUDA_ERROR_INVALID_VALUE); /* not of the device, as for memory from malloc */
    if (attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
        *(unsigned *)data = CU_MEMORYTYPE_DEVICE;
    else if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        *(int *)data = 0;
    else
        return CUDA_ERROR_NOT_SUPPORTED;
    return CUDA_SUCCESS;
}

API cuMemGetInfo(size_t *available, size_t *total) {
    ENTER_CONTEXT();
    REQUIRE(available && total, CUDA_ERROR_INVALID_VALUE);
    *total = ARENA_SIZE;
    *available = ARENA_SIZE - ptx_bytes_allocated() - launch_local_bytes();
    return CUDA_SUCCESS;
}

static CUresult allocate_pinned(void **out, size_t size) {
    REQUIRE(out && size > 0, CUDA_ERROR_INVALID_VALUE);
    *out = object_create(OBJECT_PINNED, size);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API cuMemAllocHost(void **out, size_t size) {
    ENTER_CONTEXT();
    return allocate_pinned(out, size);
}

API cuMemHostAlloc(void **out, size_t size, unsigned flags) {
    ENTER_CONTEXT();
    (void)flags;
    return allocate_pinned(out, size);
}

API cuMemFreeHost(void *pointer) {
    ENTER_CONTEXT();
    REQUIRE(object_is_live(OBJECT_PINNED, pointer), CUDA_ERROR_INVALID_VALUE);
    CUresult result = work_finish();
    object_destroy(OBJECT_PINNED, pointer);
    return result;
}

/* ---- copies */

static CUresult copy(CUstream stream, void *to, const void *from, size_t size) {
    REQUIRE(stream_is_valid(stream), CUDA_ERROR_INVALID_HANDLE);
    TRY(check_range(to, size, "a copy to memory"));
    TRY(check_range(from, size, "a copy from memory"));
    return work_submit(stream, (Work){.kind = WORK_COPY, .to = to, .from = from, .size = size});
}

static CUresult copy_now(void *to, const void *from, size_t size) {
    REQUIRE(!stream_any_capturing(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    TRY(copy(NULL, to, from, size));
    return stream_wait(NULL);
}

API cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size) {
    ENTER_CONTEXT();
    return copy_now((void *)to, from, size);
}
API cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size) {
    ENTER_CONTEXT();
    return copy_now(to, (const void *)from, size);
}
API cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t size) {
    ENTER_CONTEXT();
    return copy_now((void *)to, (const void *)from, size);
}
API cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
    ENTER_CONTEXT();
    return copy_now((void *)to, (const void *)from, size);
}
API cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
    ENTER_CONTEXT();
    return copy(stream, (void *)to, from, size);
}
API cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    ENTER_CONTEXT();
    return copy(stream, to, (const void *)from, size);
}
API cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    ENTER_CONTEXT();
    return copy(stream, (void *)to, (const void *)from, size);
}
API cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    ENTER_CONTEXT();
    return copy(stream, (void *)to, (const void *)from, size);
}

/* ---- fills */

static CUresult fill_memory(CUstream stream, CUdeviceptr to, unsigned value, unsigned value_bytes, size_t count) {
    REQUIRE(stream_is_valid(stream), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(to % value_bytes == 0 && is_device((void *)to), CUDA_ERROR_INVALID_VALUE);
    TRY(check_range((void *)to, count * value_bytes, "a fill"));
    return work_submit(stream, (Work){.kind = WORK_SET,
                                      .to = (void *)to,
                                      .value = value,
                                      .value_bytes = value_bytes,
                                      .size = count * value_bytes});
}

API cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
    ENTER_CONTEXT();
    return fill_memory(NULL, to, value, 1, count);
}
API cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
    ENTER_CONTEXT();
    return fill_memory(NULL, to, value, 4, count);
}
API cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    ENTER_CONTEXT();
    return fill_memory(stream, to, value, 1, count);
}
API cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    ENTER_CONTEXT();
    return fill_memory(stream, to, value, 4, count);
}
