#include "host/cuda/sensors.h"

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/number.h"
#include "host/cuda/arrays.h"
#include "host/cuda/launch.h"

/* ---- launches ---- */

/* One thread per item. */
static SapStatus launch_items(const SapCudaBatch *c, const char *what, CuFunction kernel, void *args, long long items) {
    enum { BLOCK = 128, MOST_BLOCKS = 0x7fffffff };
    void *parameters[] = {args};
    long long blocks = (items + BLOCK - 1) / BLOCK;
    if (blocks > MOST_BLOCKS)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: %lld rays, shapes or sensors of all worlds; a GPU takes at most %lld",
                        what, items, (long long)MOST_BLOCKS * BLOCK);
    if (blocks > 0)
        SAP_CU_TRY(c->device->cuda, launch, what,
                   (kernel, (unsigned)blocks, 1, 1, BLOCK, 1, 1, 0, c->stream, parameters, NULL));
    return SAP_OK;
}

/* All arrays are in device memory. */
static SapStatus cast(const SapCudaBatch *c, const char *what, SapRayArgs *args) {
    long long n = args->num_worlds, moving = args->sees_moving ? args->shapes.num_moving : 0;
    SAP_TRY(launch_items(c, what, c->device->place_shapes, args, n * moving));
    return launch_items(c, what, c->device->cast_rays, args, n * args->num_rays);
}

/* ---- arrays in host memory ---- */

enum { ORIGIN, DIRECTION, DISTANCE, NORMAL, SHAPE, NUM_ARRAYS };

/* The arrays of a call: where they are in the arguments, and their size. */
typedef struct Array {
    void **data;
    size_t bytes;
} Array;

static void list_arrays(SapRayArgs *a, Array *out) {
    size_t m = (size_t)a->num_rays, all = (size_t)a->num_worlds * m, number = sap_real_bytes(a->distance.is_f64);
    size_t given = a->origin.stride ? all : m;
    out[ORIGIN] = (Array){&a->origin.data, 3 * given * number};
    out[DIRECTION] = (Array){&a->direction.data, 3 * given * number};
    out[DISTANCE] = (Array){&a->distance.data, all * number};
    out[NORMAL] = (Array){&a->normal.data, a->normal.data ? 3 * all * number : 0};
    out[SHAPE] = (Array){(void **)&a->shape, a->shape ? all * sizeof *a->shape : 0};
}

/* Copies the arrays to the device, casts, and copies the results back. *memory is the block of the copies. */
static SapStatus cast_copied(SapCudaBatch *c, const char *what, SapRayArgs *args, CuAddress *memory) {
    Array array[NUM_ARRAYS];
    void *host[NUM_ARRAYS];
    SapArena arena = {0};
    list_arrays(args, array);
    for (int i = 0; i < NUM_ARRAYS; i++)
        sap_arena_carve(&arena, 1, array[i].bytes);
    SAP_TRY(sap_cuda_take_memory(c, "rays", arena.used, memory));
    arena = (SapArena){.base = sap_cuda_pointer(*memory)};
    for (int i = 0; i < NUM_ARRAYS; i++) {
        host[i] = *array[i].data;
        void *device = sap_arena_carve(&arena, 1, array[i].bytes);
        *array[i].data = array[i].bytes ? device : NULL;
    }
    for (int i = ORIGIN; i <= DIRECTION; i++)
        SAP_TRY(sap_cuda_upload(c, what, *array[i].data, host[i], array[i].bytes));
    SAP_TRY(cast(c, what, args));
    for (int i = DISTANCE; i < NUM_ARRAYS; i++)
        SAP_TRY(sap_cuda_download(c, what, host[i], *array[i].data, array[i].bytes));
    return SAP_OK;
}

/* Whether the arrays are in device memory: all of them, or none. */
static SapStatus are_on_device(const SapCudaBatch *c, const char *what, SapRayArgs *args, bool *out) {
    static const char *const names[NUM_ARRAYS] = {"origin", "direction", "distance", "normal", "shape"};
    Array array[NUM_ARRAYS];
    list_arrays(args, array);
    SAP_TRY(sap_cuda_is_on_device(c, what, args->origin.data, out));
    for (int i = DIRECTION; i < NUM_ARRAYS; i++) {
        bool there = *out;
        if (*array[i].data)
            SAP_TRY(sap_cuda_is_on_device(c, what, *array[i].data, &there));
        if (there != *out)
            return sap_fail(SAP_ERROR_ARGUMENT,
                            "%s: %s is in %s memory, but origin is not; all arrays must be in the same memory", what,
                            names[i], there ? "device" : "host");
    }
    return SAP_OK;
}

SapStatus sap_cuda_raycast(const SapBatch *b, const char *what, const uint8_t *mask, const SapRayArgs *given) {
    SapCudaBatch *c = b->own;
    SapRayArgs args = *given;
    CuAddress memory = 0;
    bool on_device;
    SAP_TRY(sap_cuda_find_mask(b, what, mask, &args.mask));
    SAP_TRY(are_on_device(c, what, &args, &on_device));
    if (on_device)
        return cast(c, what, &args);
    SapStatus status = cast_copied(c, what, &args, &memory);
    if (memory) {
        c->device->cuda->stream_synchronize(c->stream); /* after an error kernels may still run */
        c->device->cuda->memory_free(memory);
    }
    return status;
}

/* ---- sensors ---- */

SapStatus sap_cuda_sense(const SapBatch *b, const char *what, const uint8_t *mask, SapSenseArgs *args) {
    const SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_find_mask(b, what, mask, &args->mask));
    return launch_items(c, what, c->device->sense, args, (long long)args->num_worlds * args->items);
}
