#include "host/cuda/arrays.h"

#include <stdio.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/cuda/deferred.h"

/* ---- copies ---- */

static size_t part_of(size_t left) {
    return left < SAP_CUDA_STAGING_BYTES ? left : SAP_CUDA_STAGING_BYTES;
}

SapStatus sap_cuda_upload(const SapCudaBatch *c, const char *what, void *to, const void *from, size_t bytes) {
    const SapCuda *cuda = c->device->cuda;
    for (size_t at = 0, part; at < bytes; at += part) {
        part = part_of(bytes - at);
        memcpy(c->staging, (const char *)from + at, part);
        SAP_CU_TRY(cuda, copy_to_device, what, (sap_cuda_address(to) + at, c->staging, part, c->stream));
        SAP_CU_TRY(cuda, stream_synchronize, what, (c->stream)); /* before the staging memory is reused */
    }
    return SAP_OK;
}

SapStatus sap_cuda_download(const SapCudaBatch *c, const char *what, void *to, const void *from, size_t bytes) {
    const SapCuda *cuda = c->device->cuda;
    for (size_t at = 0, part; at < bytes; at += part) {
        part = part_of(bytes - at);
        SAP_CU_TRY(cuda, copy_to_host, what, (c->staging, sap_cuda_address(from) + at, part, c->stream));
        SAP_CU_TRY(cuda, stream_synchronize, what, (c->stream));
        memcpy((char *)to + at, c->staging, part);
    }
    return SAP_OK;
}

/* ---- memory ---- */

SapStatus sap_cuda_take_memory(SapCudaBatch *c, const char *what, size_t bytes, CuAddress *out) {
    CuResult result = c->device->cuda->memory_allocate(out, bytes);
    char text[128];
    snprintf(text, sizeof text, "device cuda: %zu bytes for %s", bytes, what);
    return sap_cuda_status(c->device->cuda, result, sap_cu_name_memory_allocate, text);
}

/* Carves all device memory; an arena without memory only counts. */
static void carve(SapArena *arena, SapBatch *b, SapCudaModel *model) {
    SapCudaBatch *c = b->own;
    sap_cuda_model_carve(arena, &c->args, b->num_worlds, model);
    sap_batch_carve(arena, b);
    SAP_CARVE(arena, c->mask, b->num_worlds);
    if (c->args.dual)
        SAP_CARVE(arena, c->device_dual, 1);
    sap_cuda_carve_deferred(arena, &c->args, b->num_worlds);
    if (c->lockstep)
        sap_cuda_lockstep_carve(arena, &c->args, b->num_worlds, c->lockstep);
}

SapStatus sap_cuda_create_memory(SapBatch *b, SapCudaModel *model) {
    SapCudaBatch *c = b->own;
    SapArena arena = {0};
    carve(&arena, b, model);
    c->memory_bytes = arena.used;
    SAP_TRY(sap_cuda_take_memory(c, "the worlds", c->memory_bytes, &c->memory));
    arena = (SapArena){.base = sap_cuda_pointer(c->memory)};
    carve(&arena, b, model);
    SAP_CU_TRY(c->device->cuda, set_bytes, "device cuda", (c->memory, 0, c->memory_bytes, c->stream));
    return SAP_OK;
}

SapStatus sap_cuda_upload_model(SapCudaBatch *c, const SapCudaModel *model) {
    for (int i = 0; i < SAP_CUDA_NUM_BLOCKS; i++)
        SAP_TRY(sap_cuda_upload(c, "device cuda: the model", model->block[i].device, model->block[i].host,
                                model->block[i].bytes));
    if (c->device_dual)
        SAP_TRY(sap_cuda_upload(c, "device cuda: the model", c->device_dual, &c->dual, sizeof c->dual));
    return SAP_OK;
}

SapStatus sap_cuda_allocate(SapCudaBatch *c, size_t bytes, const char *what, void **out) {
    CuAddress address;
    bytes = bytes ? bytes : 1; /* an array without elements has an address too */
    if (c->num_recorded == SAP_BATCH_MAX_RECORDED)
        return sap_fail(SAP_ERROR_MEMORY, "%s: a batch has %d arrays at most", what, (int)SAP_BATCH_MAX_RECORDED);
    SAP_TRY(sap_cuda_take_memory(c, what, bytes, &address));
    CuResult result = c->device->cuda->set_bytes(address, 0, bytes, c->stream);
    if (result != CU_SUCCESS) {
        c->device->cuda->memory_free(address);
        return sap_cuda_status(c->device->cuda, result, sap_cu_name_set_bytes, what);
    }
    c->recorded[c->num_recorded++] = address;
    c->recorded_bytes += bytes;
    *out = sap_cuda_pointer(address);
    return SAP_OK;
}

/* ---- streams ---- */

SapStatus sap_cuda_is_capturing(const SapCudaBatch *c, const char *what, CuStream stream, bool *out) {
    int status = 0;
    CuResult result = c->device->cuda->stream_is_capturing(stream, &status);
    *out = result == CU_SUCCESS && status != 0;
    if (result == CU_STREAM_CAPTURE_IMPLICIT) /* another one does, and this is the default stream */
        return SAP_OK;
    return sap_cuda_status(c->device->cuda, result, sap_cu_name_stream_is_capturing, what);
}

/* ---- parameters of worlds ---- */

SapStatus sap_cuda_refresh(SapCudaBatch *c, const char *what) {
    SapCudaCopy copies[SAP_CUDA_MAX_COPIES];
    int count = sap_cuda_per_world_copies(&c->per_world, copies);
    bool captures = false;
    if (count > 0)
        SAP_TRY(sap_cuda_is_capturing(c, what, c->stream, &captures));
    if (captures)
        return sap_fail(SAP_ERROR_UNSUPPORTED,
                        "%s: parameters of worlds have changed, and a graph that is captured cannot copy them; call "
                        "sap_batch_upload_parameters before the capture",
                        what);
    for (int i = 0; i < count; i++)
        SAP_TRY(sap_cuda_upload(c, what, copies[i].to, copies[i].from, copies[i].bytes));
    sap_cuda_per_world_copied(&c->per_world);
    return SAP_OK;
}
