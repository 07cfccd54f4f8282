/* The primary context of one device, with a count of its holders, and each thread's stack of current contexts. Where
 * there are several devices, a process uses one of them at a time. */
#include "driver.h"

enum { MAX_DEPTH = 16 };

struct CUctx_st {
    CUdevice device;
    int retained;
};

static struct CUctx_st primary;
static _Thread_local CUcontext stack[MAX_DEPTH]; /* stack[depth] is current */
static _Thread_local int depth;

int context_is_current(void) {
    return stack[depth] == &primary && primary.retained > 0;
}

int context_num_retained(void) {
    return primary.retained;
}

API cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice d) {
    ENTER();
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(device_exists(d), CUDA_ERROR_INVALID_DEVICE);
    if (primary.retained > 0 && primary.device != d)
        complain("device %d is used beside device %d; the stand-in has one context", d, primary.device);
    REQUIRE(primary.retained == 0 || primary.device == d, CUDA_ERROR_NOT_SUPPORTED);
    primary.device = d;
    primary.retained++;
    *out = &primary;
    return CUDA_SUCCESS;
}

/* The last release ends the context, and with it the error of a launch. */
API cuDevicePrimaryCtxRelease(CUdevice d) {
    ENTER();
    REQUIRE(device_exists(d), CUDA_ERROR_INVALID_DEVICE);
    REQUIRE(primary.retained > 0 && primary.device == d, CUDA_ERROR_INVALID_CONTEXT);
    if (primary.retained == 1) {
        work_finish();
        driver_sticky_error = CUDA_SUCCESS;
    }
    primary.retained--;
    return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxGetState(CUdevice d, unsigned *flags, int *active) {
    ENTER();
    REQUIRE(device_exists(d), CUDA_ERROR_INVALID_DEVICE);
    if (flags)
        *flags = 0;
    if (active)
        *active = primary.retained > 0 && primary.device == d;
    return CUDA_SUCCESS;
}

static int is_context(CUcontext c) {
    return !c || (c == &primary && primary.retained > 0);
}

API cuCtxSetCurrent(CUcontext c) {
    ENTER();
    REQUIRE(is_context(c), CUDA_ERROR_INVALID_CONTEXT);
    stack[depth] = c;
    return CUDA_SUCCESS;
}

API cuCtxGetCurrent(CUcontext *out) {
    ENTER();
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    *out = stack[depth];
    return CUDA_SUCCESS;
}

API cuCtxPushCurrent(CUcontext c) {
    ENTER();
    REQUIRE(c && is_context(c) && depth + 1 < MAX_DEPTH, CUDA_ERROR_INVALID_CONTEXT);
    stack[++depth] = c;
    return CUDA_SUCCESS;
}

API cuCtxPopCurrent(CUcontext *out) {
    ENTER();
    REQUIRE(stack[depth], CUDA_ERROR_INVALID_CONTEXT);
    if (out)
        *out = stack[depth];
    stack[depth] = NULL;
    if (depth > 0)
        depth--;
    return CUDA_SUCCESS;
}

API cuCtxGetDevice(CUdevice *out) {
    ENTER_CONTEXT();
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    *out = primary.device;
    return CUDA_SUCCESS;
}

API cuCtxSynchronize(void) {
    ENTER_CONTEXT();
    REQUIRE(!stream_any_capturing(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return work_finish();
}
