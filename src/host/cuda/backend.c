/* A batch on a GPU. One block of device memory holds the model (plan and constants), the states to return to, and all arrays of the
 * worlds; a second one is the workspace, where scratch does not fit shared memory. The arguments of the kernels are made
 * once, with addresses of the device; a step is two launches that copy them, of collision and of the rest. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/batch/backend.h"
#include "host/cuda/launch_shape.h"
#include "host/cuda/device.h"
#include "host/cuda/world_parameters.h"
#include "host/cuda/model.h"
#include "host/cuda/lockstep.h"
#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/model/model.h"
#include "host/plan/step_args.h"

/* Pinned memory through which arrays are copied; larger ones go in parts. */
enum { STAGING_BYTES = 1 << 20 };

/* A kernel of the step, and how its worlds lie on the GPU. */
typedef struct Phase {
    CuFunction kernel;
    SapArenas arenas;
    SapCudaShape shape;
    unsigned blocks;
} Phase;

typedef struct CudaBatch {
    SapModel *model; /* held: the caller may let go of it */
    SapCudaDevice *device;
    CuStream own_stream, stream; /* `stream` is the one in use */
    CuEvent event;               /* orders a new stream after the former */
    void *staging;
    CuAddress memory, workspace;
    size_t memory_bytes, workspace_bytes;
    CuAddress recorded[SAP_BATCH_MAX_RECORDED];
    int num_recorded;
    size_t recorded_bytes;

    SapStepArgs args;
    Phase collide, step;
    bool specialised;
    SapCudaLockstep *lockstep; /* NULL unless a library solves the Newton systems */

    uint8_t *mask; /* [num_worlds] of a call, on the device */

    SapCudaWorldParameters expansion;
} CudaBatch;

static void *pointer_of(CuAddress address) {
    return (void *)(uintptr_t)address;
}

static CuAddress address_of(const void *pointer) {
    return (CuAddress)(uintptr_t)pointer;
}

/* ---- copies ---- */

static size_t part_of(size_t left) {
    return left < STAGING_BYTES ? left : STAGING_BYTES;
}

static SapStatus upload(const CudaBatch *c, const char *what, void *to, const void *from, size_t bytes) {
    const SapCuda *cuda = c->device->cuda;
    for (size_t at = 0, part; at < bytes; at += part) {
        part = part_of(bytes - at);
        memcpy(c->staging, (const char *)from + at, part);
        SAP_CU_TRY(cuda, copy_to_device, what, (address_of(to) + at, c->staging, part, c->stream));
        SAP_CU_TRY(cuda, stream_synchronize, what, (c->stream)); /* before the staging memory is used again */
    }
    return SAP_OK;
}

static SapStatus download(const CudaBatch *c, const char *what, void *to, const void *from, size_t bytes) {
    const SapCuda *cuda = c->device->cuda;
    for (size_t at = 0, part; at < bytes; at += part) {
        part = part_of(bytes - at);
        SAP_CU_TRY(cuda, copy_to_host, what, (c->staging, address_of(from) + at, part, c->stream));
        SAP_CU_TRY(cuda, stream_synchronize, what, (c->stream));
        memcpy((char *)to + at, c->staging, part);
    }
    return SAP_OK;
}

/* ---- memory ---- */

/* All there is, one after the other; an arena without memory only counts. */
static void carve(SapArena *arena, SapBatch *b, SapCudaModel *model) {
    CudaBatch *c = b->own;
    sap_cuda_model_carve(arena, model);
    sap_batch_carve(arena, b);
    SAP_CARVE(arena, c->mask, b->num_worlds);
    if (c->lockstep)
        sap_cuda_lockstep_carve(arena, &c->args, b->num_worlds, c->lockstep);
}

static SapStatus take_memory(CudaBatch *c, const char *what, size_t bytes, CuAddress *out) {
    CuResult result = c->device->cuda->memory_allocate(out, bytes);
    char text[128];
    snprintf(text, sizeof text, "device cuda: %zu bytes for %s", bytes, what);
    return sap_cuda_status(c->device->cuda, result, sap_cu_name_memory_allocate, text);
}

static SapStatus create_memory(SapBatch *b, SapCudaModel *model) {
    CudaBatch *c = b->own;
    SapArena arena = {0};
    carve(&arena, b, model);
    c->memory_bytes = arena.used;
    SAP_TRY(take_memory(c, "the worlds", c->memory_bytes, &c->memory));
    arena = (SapArena){.base = pointer_of(c->memory)};
    carve(&arena, b, model);
    SAP_CU_TRY(c->device->cuda, set_bytes, "device cuda", (c->memory, 0, c->memory_bytes, c->stream));
    return SAP_OK;
}

/* ---- filling ---- */

static SapStatus upload_model(CudaBatch *c, const SapCudaModel *model) {
    for (int i = 0; i < SAP_CUDA_NUM_BLOCKS; i++)
        SAP_TRY(
            upload(c, "device cuda: the model", model->block[i].device, model->block[i].host, model->block[i].bytes));
    return SAP_OK;
}

/* The arguments of every step, with addresses of the device. */
static void fill_args(SapBatch *b, const SapCudaModel *model) {
    CudaBatch *c = b->own;
    SapStepArgs *args = &c->args;
    sap_cuda_model_translate(model, args);
    args->num_worlds = b->num_worlds;
    sap_step_args_set_input(args, &b->arrays.state);
    sap_step_args_set_output(args, &b->arrays.state);
    sap_step_args_set_control(args, &b->arrays.control, model->arrays);
    sap_step_args_set_contacts(args, &b->arrays.contacts);
    args->collide.enabled = 1;
    if (c->lockstep)
        args->library = c->lockstep->systems;
    args->status = b->arrays.status;
    args->report = b->arrays.report;
}

/* ---- launches ---- */

/* What the names of the kernels that are made for these precisions end with: that of a preset, or nothing. */
static const char *kernel_suffix(const SapStepArgs *a) {
    int stages = a->fm_is_f64 + a->geometry_is_f64 + a->weight_is_f64 + a->newton.linear_is_f64;
    if (!a->solve_is_f64 || (stages > 0 && stages < 4))
        return "";
    return stages == 0 ? "_approx32" : "_approx64"; /* drake has the precisions of approx64 */
}

/* The kernel made for the precisions of the batch if there is one, or the one for all. */
static SapStatus choose_kernel(const CudaBatch *c, const char *name, CuFunction general, CuFunction *out) {
    char text[64];
    snprintf(text, sizeof text, "%s%s", name, kernel_suffix(&c->args));
    SAP_TRY(sap_cuda_device_find(c->device, text, out));
    if (!*out)
        *out = general;
    return SAP_OK;
}

static SapStatus choose_kernels(CudaBatch *c) {
    SAP_TRY(choose_kernel(c, "sap_kernel_step", c->device->step, &c->step.kernel));
    SAP_TRY(choose_kernel(c, "sap_kernel_collide", c->device->collide, &c->collide.kernel));
    c->specialised = c->step.kernel != c->device->step;
    return SAP_OK;
}

static SapStatus allow_shared(const CudaBatch *c, CuFunction kernel) {
    const SapCuda *cuda = c->device->cuda;
    enum { ALL_SHARED = 100 }; /* percent: what is not shared memory is cache */
    SAP_CU_TRY(cuda, function_set, "device cuda: shared memory",
               (kernel, CU_FUNC_MAX_DYNAMIC_SHARED, c->device->shared_per_block));
    SAP_CU_TRY(cuda, function_set, "device cuda: shared memory", (kernel, CU_FUNC_SHARED_CARVEOUT, ALL_SHARED));
    return SAP_OK;
}

/* One team per world; where each needs a part of the workspace, only as many as run at the same time, in turns. In stages all
 * worlds are under way at the same time. */
static SapStatus choose_grid(const SapBatch *b, const CudaBatch *c, bool all, Phase *p) {
    int per_block = p->shape.worlds_per_block, resident;
    p->blocks = ((unsigned)b->num_worlds - 1) / (unsigned)per_block + 1;
    if (p->shape.workspace_size == 0 || all)
        return SAP_OK;
    SAP_CU_TRY(c->device->cuda, occupancy, "device cuda",
               (&resident, p->kernel, p->shape.team * per_block, (size_t)p->shape.shared_bytes));
    unsigned most = (unsigned)(resident > 0 ? resident : 1) * (unsigned)c->device->multiprocessors;
    p->blocks = p->blocks < most ? p->blocks : most;
    return SAP_OK;
}

static size_t workspace_of(const Phase *p) {
    return (size_t)p->blocks * (size_t)p->shape.worlds_per_block * (size_t)p->shape.workspace_size;
}

/* The kernels of a step run one after the other and share the workspace. */
static SapStatus create_workspace(CudaBatch *c) {
    size_t collide = workspace_of(&c->collide), step = workspace_of(&c->step);
    c->workspace_bytes = collide > step ? collide : step;
    if (c->workspace_bytes > 0)
        SAP_TRY(take_memory(c, "scratch", c->workspace_bytes, &c->workspace));
    c->collide.arenas.workspace = c->step.arenas.workspace = pointer_of(c->workspace);
    return SAP_OK;
}

/* A team for each world of a block. */
static SapStatus launch(const CudaBatch *c, const char *what, CuFunction kernel, const SapCudaShape *shape,
                        unsigned blocks, int shared, void **parameters) {
    SAP_CU_TRY(c->device->cuda, launch, what,
               (kernel, blocks, 1, 1, (unsigned)shape->team, (unsigned)shape->worlds_per_block, 1, (unsigned)shared,
                c->stream, parameters, NULL));
    return SAP_OK;
}

/* ---- creation ---- */

static SapStatus create_streams(CudaBatch *c) {
    const SapCuda *cuda = c->device->cuda;
    SAP_CU_TRY(cuda, stream_create, "device cuda", (&c->own_stream, CU_STREAM_NON_BLOCKING));
    c->stream = c->own_stream;
    SAP_CU_TRY(cuda, event_create, "device cuda", (&c->event, CU_EVENT_DISABLE_TIMING));
    SAP_CU_TRY(cuda, host_allocate, "device cuda", (&c->staging, STAGING_BYTES, 0));
    return SAP_OK;
}

static SapStatus create_on_device(SapBatch *b, SapCudaModel *model) {
    CudaBatch *c = b->own;
    if (b->options.factor_plan == SAP_FACTOR_LIBRARY && c->args.newton.dense)
        SAP_TRY(sap_cuda_lockstep_create(c->device, &c->lockstep));
    int most = c->device->shared_per_block, of_step = c->lockstep ? 0 : most; /* scratch lasts from stage to stage */
    SAP_TRY(
        sap_cuda_launch_shape(&b->options, most, SAP_CUDA_COLLIDE, &c->args, &c->collide.arenas, &c->collide.shape));
    SAP_TRY(sap_cuda_launch_shape(&b->options, of_step, SAP_CUDA_STEP, &c->args, &c->step.arenas, &c->step.shape));
    SAP_TRY(create_streams(c));
    SAP_TRY(choose_kernels(c));
    SAP_TRY(allow_shared(c, c->step.kernel));
    SAP_TRY(allow_shared(c, c->collide.kernel));
    SAP_TRY(allow_shared(c, c->device->kinematics));
    SAP_TRY(create_memory(b, model));
    SAP_TRY(upload_model(c, model));
    fill_args(b, model);
    SAP_TRY(choose_grid(b, c, false, &c->collide));
    SAP_TRY(choose_grid(b, c, c->lockstep != NULL, &c->step));
    return create_workspace(c);
}

static SapStatus create(SapBatch *b, const SapModel *model) {
    CudaBatch *c = b->own = sap_allocate(1, sizeof *c, "batch");
    SapCudaModel on_device;
    if (!c)
        return SAP_ERROR_MEMORY;
    SAP_TRY(sap_cuda_device_retain(b->options.cuda_device, &c->device));
    c->model = sap_model_hold(model);
    SAP_TRY(sap_cuda_model_init(c->model, &b->options, &c->args, &on_device));
    sap_cuda_world_parameters_init(&c->expansion, on_device.arrays, &on_device.plan->plan.plan, &b->options,
                                   b->num_worlds);
    SAP_TRY(sap_cuda_enter(c->device, "device cuda"));
    return sap_cuda_leave(c->device, "device cuda", create_on_device(b, &on_device));
}

/* What fails here cannot be helped: there is nobody to tell. */
static void free_on_device(CudaBatch *c) {
    const SapCuda *cuda = c->device->cuda;
    if (c->own_stream)
        cuda->stream_synchronize(c->stream);
    sap_cuda_lockstep_destroy(c->lockstep);
    for (int i = 0; i < c->num_recorded; i++)
        cuda->memory_free(c->recorded[i]);
    if (c->workspace)
        cuda->memory_free(c->workspace);
    if (c->memory)
        cuda->memory_free(c->memory);
    if (c->staging)
        cuda->host_free(c->staging);
    if (c->event)
        cuda->event_destroy(c->event);
    if (c->own_stream)
        cuda->stream_destroy(c->own_stream);
}

static void destroy(SapBatch *b) {
    CudaBatch *c = b->own;
    if (!c)
        return;
    if (c->device && sap_cuda_enter(c->device, "sap_batch_destroy") == SAP_OK) {
        free_on_device(c);
        sap_cuda_leave(c->device, "sap_batch_destroy", SAP_OK);
    }
    sap_cuda_device_release(c->device);
    sap_cuda_world_parameters_free(&c->expansion);
    sap_model_destroy(c->model);
    free(c);
}

/* ---- parameters of worlds ---- */

/* Before a launch: what was written since the last one goes to the device. */
static SapStatus refresh(CudaBatch *c, const char *what) {
    SapCudaCopy copies[SAP_CUDA_MAX_COPIES];
    int count = sap_cuda_world_parameters_copies(&c->expansion, copies);
    for (int i = 0; i < count; i++)
        SAP_TRY(upload(c, what, copies[i].to, copies[i].from, copies[i].bytes));
    sap_cuda_world_parameters_copied(&c->expansion);
    return SAP_OK;
}

/* ---- running ---- */

/* A kernel with the scratch of a phase. */
static SapStatus launch_program(CudaBatch *c, const char *what, const Phase *p, CuFunction kernel) {
    void *parameters[] = {&c->args};
    c->args.arena = p->arenas;
    return launch(c, what, kernel, &p->shape, p->blocks, p->shape.shared_bytes, parameters);
}

/* Newton's method on all worlds together; those that are done wait for the others. */
static SapStatus launch_iterations(CudaBatch *c, const char *what) {
    int *iteration = &c->args.library.iteration, *count = c->staging;
    for (*iteration = 0;; ++*iteration) {
        SAP_TRY(launch_program(c, what, &c->step, c->lockstep->assemble));
        SAP_TRY(sap_cuda_lockstep_solve(c->lockstep, c->device, c->stream, what, count));
        if (*count == 0)
            return SAP_OK;
        SAP_TRY(launch_program(c, what, &c->step, c->lockstep->advance));
    }
}

/* One step without its collision. */
static SapStatus launch_stages(CudaBatch *c, const char *what) {
    SAP_TRY(launch_program(c, what, &c->step, c->lockstep->begin));
    SAP_TRY(launch_iterations(c, what)); /* a batch always has contacts */
    return launch_program(c, what, &c->step, c->lockstep->finish);
}

/* Each step is a launch of collision and one of the rest, or some more in stages; if nothing can touch, one launch does all. */
static SapStatus launch_steps(CudaBatch *c, const char *what) {
    SapStepArgs *args = &c->args;
    SAP_TRY(refresh(c, what));
    bool can_touch = args->plan.sweep || args->plan.num_pairs > 0;
    for (args->first_step = 0; args->first_step < args->num_steps; args->first_step = args->end_step) {
        args->end_step = can_touch || c->lockstep ? args->first_step + 1 : args->num_steps;
        if (can_touch)
            SAP_TRY(launch_program(c, what, &c->collide, c->collide.kernel));
        SAP_TRY(c->lockstep ? launch_stages(c, what) : launch_program(c, what, &c->step, c->step.kernel));
    }
    return SAP_OK;
}

static SapStatus step(SapBatch *b, double h, int num_steps) {
    static const char what[] = "sap_batch_step";
    CudaBatch *c = b->own;
    c->args.h = h;
    c->args.num_steps = num_steps;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, launch_steps(c, what));
}

/* Whether an address is the device's. Memory that the driver knows nothing of is the host's. */
static SapStatus is_on_device(const CudaBatch *c, const char *what, const void *pointer, bool *out) {
    unsigned type = CU_MEMORY_HOST;
    CuResult result = c->device->cuda->pointer_attribute(&type, CU_POINTER_MEMORY_TYPE, address_of(pointer));
    *out = result == CU_SUCCESS && type != CU_MEMORY_HOST;
    if (result == CU_INVALID_VALUE)
        return SAP_OK;
    return sap_cuda_status(c->device->cuda, result, sap_cu_name_pointer_attribute, what);
}

static SapStatus send_mask(const CudaBatch *c, const char *what, const uint8_t *mask, int num_worlds) {
    enum { PER_LAUNCH = 32 * SAP_MASK_WORDS, BLOCK = 128 };
    for (int first = 0; first < num_worlds; first += PER_LAUNCH) {
        int left = num_worlds - first;
        SapMaskArgs args = {.count = left < PER_LAUNCH ? left : PER_LAUNCH, .to = c->mask + first};
        void *parameters[] = {&args};
        for (int i = 0; i < args.count; i++)
            args.bits[i / 32] |= mask[first + i] ? 1u << (i % 32) : 0;
        SAP_CU_TRY(c->device->cuda, launch, what,
                   (c->device->mask, (unsigned)((args.count - 1) / BLOCK + 1), 1, 1, BLOCK, 1, 1, 0, c->stream,
                    parameters, NULL));
    }
    return SAP_OK;
}

/* The same mask in memory of the device; NULL stays NULL. */
static SapStatus find_mask(const SapBatch *b, const char *what, const uint8_t *mask, const uint8_t **out) {
    const CudaBatch *c = b->own;
    bool on_device = false;
    *out = mask;
    if (mask)
        SAP_TRY(is_on_device(c, what, mask, &on_device));
    if (!mask || on_device)
        return SAP_OK;
    *out = c->mask;
    return send_mask(c, what, mask, b->num_worlds);
}

static SapStatus launch_kinematics(const SapBatch *b, const char *what, const uint8_t *mask) {
    CudaBatch *c = b->own;
    const uint8_t *chosen;
    SAP_TRY(refresh(c, what));
    SAP_TRY(find_mask(b, what, mask, &chosen));
    SapStepArgs args = c->args;
    args.num_steps = 0;
    args.collide.enabled = 0; /* contacts stay as they are */
    args.arena = c->step.arenas;
    void *parameters[] = {&args, &chosen};
    return launch(c, what, c->device->kinematics, &c->step.shape, c->step.blocks, c->step.shape.shared_bytes,
                  parameters);
}

static SapStatus forward_kinematics(SapBatch *b, const uint8_t *mask) {
    static const char what[] = "sap_batch_forward_kinematics";
    const CudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, launch_kinematics(b, what, mask));
}

static SapStatus launch_reset(const SapBatch *b, const char *what, const uint8_t *mask, SapResetArgs *args) {
    const CudaBatch *c = b->own;
    void *parameters[] = {args};
    SAP_TRY(find_mask(b, what, mask, &args->mask));
    unsigned blocks = ((unsigned)b->num_worlds - 1) / (unsigned)c->step.shape.worlds_per_block + 1;
    return launch(c, what, c->device->reset, &c->step.shape, blocks, 0, parameters);
}

static SapStatus reset(SapBatch *b, const uint8_t *mask, SapResetArgs *args) {
    static const char what[] = "sap_batch_reset";
    const CudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, launch_reset(b, what, mask, args));
}

/* ---- arrays ---- */

static SapStatus allocate_on_device(CudaBatch *c, size_t bytes, const char *what, void **out) {
    CuAddress address;
    if (c->num_recorded == SAP_BATCH_MAX_RECORDED)
        return sap_fail(SAP_ERROR_MEMORY, "%s: a batch has %d arrays at most", what, (int)SAP_BATCH_MAX_RECORDED);
    SAP_TRY(take_memory(c, what, bytes, &address));
    c->recorded[c->num_recorded++] = address;
    c->recorded_bytes += bytes;
    SAP_CU_TRY(c->device->cuda, set_bytes, "sap_batch_array", (address, 0, bytes, c->stream));
    *out = pointer_of(address);
    return SAP_OK;
}

static SapStatus allocate(SapBatch *b, size_t count, size_t size, const char *what, void **out) {
    CudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, "sap_batch_array"));
    return sap_cuda_leave(c->device, "sap_batch_array", allocate_on_device(c, count * size, what, out));
}

static SapStatus expand_on_device(CudaBatch *c, const char *what, SapParameter parameter) {
    SapCudaPlace places[SAP_CUDA_MAX_PLACES];
    int count = sap_cuda_world_parameters_places(&c->expansion, parameter, places);
    for (int i = 0; i < count; i++)
        SAP_TRY(allocate_on_device(c, places[i].bytes, "parameters of worlds", places[i].address));
    if (!c->expansion.host.parameter[parameter].given)
        SAP_TRY(sap_cuda_world_parameters_add(&c->expansion, parameter, &c->args));
    return refresh(c, what);
}

static SapStatus expand(SapBatch *b, SapParameter parameter) {
    static const char what[] = "sap_batch_expand";
    CudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, expand_on_device(c, what, parameter));
}

static SapWorldParameters *expansion(const SapBatch *b) {
    return &((CudaBatch *)b->own)->expansion.host;
}

static SapStatus record(SapBatch *b) {
    ((CudaBatch *)b->own)->args.report = b->arrays.report;
    return SAP_OK;
}

static SapStatus read_array(SapBatch *b, const char *what, const void *from, void *host, size_t bytes) {
    const CudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, download(c, what, host, from, bytes));
}

static SapStatus write_array(SapBatch *b, const char *what, void *to, const void *host, size_t bytes) {
    const CudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, upload(c, what, to, host, bytes));
}

static SapStatus fill(SapBatch *b, const char *what, void *to, uint8_t byte, size_t bytes) {
    const CudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    CuResult result = c->device->cuda->set_bytes(address_of(to), byte, bytes, c->stream);
    return sap_cuda_leave(c->device, what, sap_cuda_status(c->device->cuda, result, sap_cu_name_set_bytes, what));
}

/* ---- streams ---- */

static SapStatus switch_stream(CudaBatch *c, CuStream stream) {
    const SapCuda *cuda = c->device->cuda;
    SAP_CU_TRY(cuda, event_record, "sap_batch_set_stream", (c->event, c->stream));
    SAP_CU_TRY(cuda, stream_wait, "sap_batch_set_stream", (stream, c->event, 0));
    c->stream = stream;
    return SAP_OK;
}

static SapStatus set_stream(SapBatch *b, void *stream) {
    CudaBatch *c = b->own;
    CuStream wanted = stream ? stream : c->own_stream;
    if (wanted == c->stream)
        return SAP_OK;
    SAP_TRY(sap_cuda_enter(c->device, "sap_batch_set_stream"));
    return sap_cuda_leave(c->device, "sap_batch_set_stream", switch_stream(c, wanted));
}

static SapStatus synchronize(SapBatch *b) {
    static const char what[] = "sap_batch_synchronize";
    const CudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    CuResult result = c->device->cuda->stream_synchronize(c->stream);
    return sap_cuda_leave(c->device, what,
                          sap_cuda_status(c->device->cuda, result, sap_cu_name_stream_synchronize, what));
}

/* ---- what it costs ---- */

static void info(const SapBatch *b, SapBatchInfo *out) {
    const CudaBatch *c = b->own;
    out->cuda_device = c->device->index;
    out->team_size = c->step.shape.team;
    out->worlds_per_block = c->step.shape.worlds_per_block;
    out->blocks = (int)c->step.blocks;
    out->shared_bytes = c->step.shape.shared_bytes;
    out->specialised = c->specialised;
    out->workspace_bytes = c->workspace_bytes;
    out->stream = c->stream;
    out->device_bytes = c->memory_bytes + c->workspace_bytes + c->recorded_bytes;
}

static size_t bytes(const SapBatch *b) {
    const CudaBatch *c = b->own;
    return c->memory_bytes + c->workspace_bytes + c->recorded_bytes + STAGING_BYTES + sizeof *b + sizeof *c +
           c->expansion.host.bytes;
}

const SapBatchBackend sap_batch_cuda = {.device = SAP_DEVICE_CUDA,
                                        .create = create,
                                        .destroy = destroy,
                                        .step = step,
                                        .reset = reset,
                                        .forward_kinematics = forward_kinematics,
                                        .allocate = allocate,
                                        .expand = expand,
                                        .expansion = expansion,
                                        .record = record,
                                        .read = read_array,
                                        .write = write_array,
                                        .fill = fill,
                                        .set_stream = set_stream,
                                        .synchronize = synchronize,
                                        .info = info,
                                        .bytes = bytes};
