/* The work of the stand-ins for NVIDIA's libraries. */
#include "library.h"

#include <string.h>

#include "driver.h"

#define EXPORT __attribute__((visibility("default")))

static CUresult library_work(CUstream stream, void (*function)(void *), const void *data, size_t size) {
    ENTER_CONTEXT();
    REQUIRE(stream_is_valid(stream), CUDA_ERROR_INVALID_HANDLE);
    void *copy = malloc(size);
    REQUIRE(copy, CUDA_ERROR_OUT_OF_MEMORY);
    memcpy(copy, data, size);
    return work_submit(stream,
                       (Work){.kind = WORK_LIBRARY, .host_function = function, .host_data = copy, .size = size});
}

EXPORT int ptx_library_work(void *stream, void (*function)(void *), const void *data, size_t size) {
    return (int)library_work(stream, function, data, size);
}
