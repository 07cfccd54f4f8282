/* A batch on a GPU. One block of device memory holds the model (plan and constants), the start states, and all arrays
 * of the worlds. A second block is the workspace for scratch that does not fit shared memory. The kernel arguments are
 * created once, with device addresses. A step is launches with a copy of them: collision, then the rest. */
#include "host/cuda/backend.h"

#include <stdlib.h>

#include "host/base/fail.h"
#include "host/cuda/arrays.h"
#include "host/cuda/launch.h"
#include "host/cuda/specialized.h"
#include "host/cuda/sensors.h"
#include "host/model/model.h"
#include "host/plan/step_args.h"

/* ---- creation ---- */

/* The arguments of every step, with device addresses. */
static void fill_args(SapBatch *b, SapCudaModel *model) {
    SapCudaBatch *c = b->own;
    SapStepArgs *args = &c->args;
    sap_cuda_model_translate(model, args);
    args->num_worlds = b->num_worlds;
    sap_step_args_set_input(args, &b->arrays.state);
    sap_step_args_set_output(args, &b->arrays.state);
    sap_step_args_set_control(args, &b->arrays.control, model->arrays);
    sap_step_args_set_contacts(args, &b->arrays.contacts);
    if (model->law)
        model->formulation->set_state(model->law, &b->arrays.state, &b->arrays.control, &b->arrays.state);
    c->law = model->law ? model->block[SAP_CUDA_LAW_ARGS].device : NULL; /* an empty block has an address too */
    c->law_bytes = model->block[SAP_CUDA_LAW_ARGS].bytes;
    args->collide.enabled = 1;
    if (c->lockstep)
        args->library = c->lockstep->systems;
    args->status = b->arrays.status;
    args->report = b->arrays.report;
    args->dual = c->device_dual;
}

/* The stream of the batch is a blocking one: work of the default stream, which is PyTorch's, and that of the batch run in
 * the order in which they were queued. */
static SapStatus create_streams(SapCudaBatch *c) {
    const SapCuda *cuda = c->device->cuda;
    SAP_CU_TRY(cuda, stream_create, "device cuda", (&c->own_stream, CU_STREAM_DEFAULT));
    c->stream = c->own_stream;
    SAP_CU_TRY(cuda, event_create, "device cuda", (&c->event, CU_EVENT_DISABLE_TIMING));
    SAP_CU_TRY(cuda, host_allocate, "device cuda", (&c->staging, SAP_CUDA_STAGING_BYTES, 0));
    return SAP_OK;
}

static SapStatus create_on_device(SapBatch *b, SapCudaModel *model) {
    SapCudaBatch *c = b->own;
    if (b->options.factor_plan == SAP_FACTOR_LIBRARY && c->args.newton.dense)
        SAP_TRY(sap_cuda_lockstep_create(c->device, &c->args, &c->lockstep));
    b->factor = sap_cuda_lockstep_describe(c->lockstep, &c->args, b->factor);
    SAP_TRY(create_streams(c));
    SAP_TRY(sap_cuda_choose_kernels(b));
    SAP_TRY(sap_cuda_create_memory(b, model));
    fill_args(b, model);
    SAP_TRY(sap_cuda_upload_model(c, model)); /* with the addresses that fill_args has put into it */
    SAP_TRY(sap_cuda_choose_grids(b));
    sap_cuda_make_kernels(b, &model->plan->plan.plan);
    return sap_cuda_take_local_memory(b);
}

static SapStatus create_with_model(SapBatch *b, SapCudaModel *model) {
    SapCudaBatch *c = b->own;
    c->formulation = model->formulation;
    sap_cuda_per_world_init(&c->per_world, c->model, &model->plan->plan.plan, &b->options, b->num_worlds);
    SAP_TRY(sap_cuda_enter(c->device, "device cuda"));
    return sap_cuda_leave(c->device, "device cuda", create_on_device(b, model));
}

static SapStatus create(SapBatch *b, const char *what, const SapModel *model) {
    (void)what; /* its messages name the device */
    SapCudaBatch *c = b->own = sap_allocate(1, sizeof *c, "batch");
    SapCudaModel on_device;
    if (!c)
        return SAP_ERROR_MEMORY;
    SAP_TRY(sap_cuda_device_retain(b->options.cuda_device, &c->device));
    c->model = sap_model_hold(model);
    SapStatus status = sap_cuda_model_init(c->model, &b->options, &c->dual, &c->args, &on_device);
    if (status == SAP_OK)
        status = create_with_model(b, &on_device);
    sap_cuda_model_free(&on_device);
    return status;
}

/* Errors during teardown are ignored; there is no caller to report them to. */
static void free_on_device(SapCudaBatch *c) {
    const SapCuda *cuda = c->device->cuda;
    if (c->own_stream)
        cuda->stream_synchronize(c->stream);
    sap_cuda_lockstep_destroy(c->lockstep);
    sap_cuda_specialized_unload(&c->specialized, cuda);
    for (int i = 0; i < c->num_recorded; i++)
        cuda->memory_free(c->recorded[i]);
    if (c->workspace)
        cuda->memory_free(c->workspace);
    if (c->pool)
        cuda->memory_free(c->pool);
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
    SapCudaBatch *c = b->own;
    if (!c)
        return;
    if (c->device && sap_cuda_enter(c->device, "sap_batch_destroy") == SAP_OK) {
        free_on_device(c);
        sap_cuda_leave(c->device, "sap_batch_destroy", SAP_OK);
    }
    sap_cuda_device_release(c->device);
    sap_cuda_per_world_free(&c->per_world);
    sap_model_destroy(c->model);
    free(c);
}

/* ---- running ---- */

static SapStatus upload_given_law(SapCudaBatch *c, const char *what, const void *law, size_t bytes) {
    void *on_device;
    SAP_TRY(sap_cuda_allocate(c, bytes, "contacts of the caller", &on_device));
    SAP_TRY(sap_cuda_upload(c, what, on_device, law, bytes));
    c->given_law = on_device;
    return SAP_OK;
}

/* The arguments of the dual solver with the caller's identities of contacts. */
static SapStatus create_given_dual(SapBatch *b, const char *what) {
    SapCudaBatch *c = b->own;
    SapDualStepArgs dual = c->dual;
    dual.contact_key = b->arrays.given.key;
    return upload_given_law(c, what, &dual, sizeof dual);
}

/* The arguments of the formulation with the caller's records in its own form. */
static SapStatus create_given_law(SapBatch *b, const char *what) {
    SapCudaBatch *c = b->own;
    void *law = sap_allocate(1, c->law_bytes, "contacts of the caller");
    if (!law)
        return SAP_ERROR_MEMORY;
    SapStatus status = sap_cuda_download(c, what, law, c->law, c->law_bytes);
    c->formulation->set_contacts(law, &b->arrays.given);
    if (status == SAP_OK)
        status = upload_given_law(c, what, law, c->law_bytes);
    free(law);
    return status;
}

/* Steps with the contacts of the caller, which are in the arrays of the batch. */
static SapStatus launch_given(SapBatch *b, const SapBatchSteps *steps) {
    SapCudaBatch *c = b->own;
    SapStepArgs *args = &c->args;
    if (!c->given_law && (steps->has_key || steps->own_form))
        SAP_TRY(steps->has_key ? create_given_dual(b, steps->what) : create_given_law(b, steps->what));
    const SapContacts none = {.capacity = b->arrays.given.capacity};
    args->collide.enabled = 0;
    sap_step_args_set_parameters(args, &b->arrays.given);
    if (steps->has_key)
        args->dual = c->given_law;
    if (steps->own_form)
        c->formulation->set_args(args, c->given_law);
    SapStatus status = sap_cuda_launch_steps(c, steps->what);
    args->collide.enabled = 1;
    sap_step_args_set_parameters(args, &none);
    args->dual = c->device_dual;
    if (c->law)
        c->formulation->set_args(args, c->law);
    return status;
}

static SapStatus take_steps(SapBatch *b, const SapBatchSteps *steps) {
    SapCudaBatch *c = b->own;
    c->args.h = steps->h;
    c->args.num_steps = steps->num_steps;
    SAP_TRY(sap_cuda_enter(c->device, steps->what));
    return sap_cuda_leave(c->device, steps->what,
                          steps->given ? launch_given(b, steps) : sap_cuda_launch_steps(c, steps->what));
}

static SapStatus can_read(SapBatch *b, const char *what, const void *memory, bool *out) {
    const SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, sap_cuda_is_on_device(c, what, memory, out));
}

static SapStatus take_contacts_of(SapBatch *b, const char *what, SapTakeArgs *args) {
    const SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, sap_cuda_launch_take(b, what, args));
}

static SapStatus forward_kinematics(SapBatch *b, const char *what, const uint8_t *mask) {
    const SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, sap_cuda_launch_kinematics(b, what, mask));
}

static SapStatus reset(SapBatch *b, const char *what, const uint8_t *mask, SapResetArgs *args) {
    const SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, sap_cuda_launch_reset(b, what, mask, args));
}

static const SapStepArgs *step_args(const SapBatch *b) {
    return &((SapCudaBatch *)b->own)->args;
}

/* Rays depend on no other parameter than the choice of height fields. */
static SapStatus refresh_and_cast(SapBatch *b, const char *what, const uint8_t *mask, SapRayArgs *args) {
    SapCudaBatch *c = b->own;
    if (c->per_world.host.parameter[SAP_PARAMETER_SHAPE_MESH].given)
        SAP_TRY(sap_cuda_refresh(c, what));
    return sap_cuda_raycast(b, what, mask, args);
}

static SapStatus raycast(SapBatch *b, const char *what, const uint8_t *mask, SapRayArgs *args) {
    const SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, refresh_and_cast(b, what, mask, args));
}

static SapStatus sense(SapBatch *b, const char *what, const uint8_t *mask, SapSenseArgs *args) {
    const SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, sap_cuda_sense(b, what, mask, args));
}

/* ---- parameters of worlds ---- */

/* Makes the kernels read the parameter; the arguments of the formulation are changed on the device. */
static SapStatus add_to_kernels(SapCudaBatch *c, const char *what, SapParameter parameter) {
    void *law = NULL;
    if (c->law) {
        law = sap_allocate(1, c->law_bytes, what);
        if (!law)
            return SAP_ERROR_MEMORY;
    }
    SapStatus status = c->law ? sap_cuda_download(c, what, law, c->law, c->law_bytes) : SAP_OK;
    if (status == SAP_OK)
        status = sap_cuda_per_world_add(&c->per_world, parameter, &c->args, law);
    if (status == SAP_OK && c->law)
        status = sap_cuda_upload(c, what, c->law, law, c->law_bytes);
    free(law);
    if (c->law)
        c->given_law = NULL; /* it is made of the arguments again */
    return status;
}

static SapStatus add_on_device(SapCudaBatch *c, const char *what, SapParameter parameter) {
    SapCudaPlace places[SAP_CUDA_MAX_PLACES];
    int count = sap_cuda_per_world_places(&c->per_world, parameter, places);
    for (int i = 0; i < count; i++)
        SAP_TRY(sap_cuda_allocate(c, places[i].bytes, "parameters of worlds", places[i].address));
    if (!c->per_world.host.parameter[parameter].given)
        SAP_TRY(add_to_kernels(c, what, parameter));
    return sap_cuda_refresh(c, what);
}

static SapStatus add_per_world(SapBatch *b, SapParameter parameter) {
    static const char what[] = "sap_batch_expand";
    SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, add_on_device(c, what, parameter));
}

static SapStatus upload_parameters(SapBatch *b) {
    static const char what[] = "sap_batch_upload_parameters";
    SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, sap_cuda_refresh(c, what));
}

static SapPerWorld *per_world(const SapBatch *b) {
    return &((SapCudaBatch *)b->own)->per_world.host;
}

/* ---- arrays ---- */

static SapStatus allocate(SapBatch *b, size_t count, size_t size, const char *what, void **out) {
    SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, "sap_batch_array"));
    return sap_cuda_leave(c->device, "sap_batch_array", sap_cuda_allocate(c, count * size, what, out));
}

static void record(SapBatch *b) {
    SapStepArgs *args = &((SapCudaBatch *)b->own)->args;
    args->report = b->arrays.report;
    args->contacts.body[0] = b->arrays.contacts.body0;
    args->contacts.body[1] = b->arrays.contacts.body1;
}

static SapStatus read_array(SapBatch *b, const char *what, const void *from, void *host, size_t bytes) {
    const SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, sap_cuda_download(c, what, host, from, bytes));
}

static SapStatus write_array(SapBatch *b, const char *what, void *to, const void *host, size_t bytes) {
    const SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    return sap_cuda_leave(c->device, what, sap_cuda_upload(c, what, to, host, bytes));
}

static SapStatus copy_array(SapBatch *b, const char *what, void *to, const void *from, size_t bytes) {
    const SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    CuResult result = c->device->cuda->copy_on_device(sap_cuda_address(to), sap_cuda_address(from), bytes, c->stream);
    return sap_cuda_leave(c->device, what, sap_cuda_status(c->device->cuda, result, sap_cu_name_copy_on_device, what));
}

static SapStatus keep_inputs(SapBatch *b, const char *what, const SapSnapshot *kept) {
    for (int i = 0; i < kept->num_rows; i++) {
        const SapSnapshotRow *row = &kept->row[i];
        SAP_TRY(copy_array(b, what, row->to, row->from, (size_t)b->num_worlds * row->bytes));
    }
    return SAP_OK;
}

static SapStatus fill_array(SapBatch *b, const char *what, void *to, uint8_t byte, size_t bytes) {
    const SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    CuResult result = c->device->cuda->set_bytes(sap_cuda_address(to), byte, bytes, c->stream);
    return sap_cuda_leave(c->device, what, sap_cuda_status(c->device->cuda, result, sap_cu_name_set_bytes, what));
}

/* ---- streams ---- */

/* Makes a stream wait for the work of the batch. */
static SapStatus make_wait(const SapCudaBatch *c, const char *what, CuStream stream) {
    const SapCuda *cuda = c->device->cuda;
    SAP_CU_TRY(cuda, event_record, what, (c->event, c->stream));
    SAP_CU_TRY(cuda, stream_wait, what, (stream, c->event, 0));
    return SAP_OK;
}

/* A stream that captures cannot wait for work outside of its graph, nor can other work wait for that of the graph: the
 * driver would spoil the capture. */
static SapStatus switch_stream(SapCudaBatch *c, CuStream stream) {
    static const char what[] = "sap_batch_set_stream";
    bool before, after;
    SAP_TRY(sap_cuda_is_capturing(c, what, c->stream, &before));
    SAP_TRY(sap_cuda_is_capturing(c, what, stream, &after));
    if (before == after)
        SAP_TRY(make_wait(c, what, stream));
    c->stream = stream;
    return SAP_OK;
}

static SapStatus order_unless_capturing(const SapCudaBatch *c, CuStream stream) {
    static const char what[] = "sap_batch_order_stream";
    bool own, other;
    SAP_TRY(sap_cuda_is_capturing(c, what, c->stream, &own));
    SAP_TRY(sap_cuda_is_capturing(c, what, stream, &other));
    if (own != other)
        return sap_fail(
            SAP_ERROR_UNSUPPORTED,
            "%s: the %s stream captures a graph and the %s does not, and a graph cannot be ordered with work "
            "outside of it; set the stream of the batch to the one that captures",
            what, own ? "batch's" : "given", own ? "given one" : "batch's");
    return make_wait(c, what, stream);
}

static SapStatus order_stream(SapBatch *b, void *stream) {
    const SapCudaBatch *c = b->own;
    if (stream == c->stream)
        return SAP_OK;
    SAP_TRY(sap_cuda_enter(c->device, "sap_batch_order_stream"));
    return sap_cuda_leave(c->device, "sap_batch_order_stream", order_unless_capturing(c, stream));
}

static SapStatus set_stream(SapBatch *b, void *stream) {
    SapCudaBatch *c = b->own;
    CuStream wanted = stream ? stream : c->own_stream;
    if (wanted == c->stream)
        return SAP_OK;
    SAP_TRY(sap_cuda_enter(c->device, "sap_batch_set_stream"));
    return sap_cuda_leave(c->device, "sap_batch_set_stream", switch_stream(c, wanted));
}

static SapStatus synchronize(SapBatch *b) {
    static const char what[] = "sap_batch_synchronize";
    const SapCudaBatch *c = b->own;
    SAP_TRY(sap_cuda_enter(c->device, what));
    CuResult result = c->device->cuda->stream_synchronize(c->stream);
    return sap_cuda_leave(c->device, what,
                          sap_cuda_status(c->device->cuda, result, sap_cu_name_stream_synchronize, what));
}

/* ---- info ---- */

static size_t device_bytes(const SapCudaBatch *c) {
    return c->memory_bytes + c->workspace_bytes + c->pool_bytes + c->recorded_bytes + c->local_bytes;
}

static void info(const SapBatch *b, SapBatchInfo *out) {
    const SapCudaBatch *c = b->own;
    const SapCudaPhase *step = c->program.has_threads ? &c->thread : &c->step;
    out->cuda_device = c->device->index;
    out->team_size = step->shape.team;
    out->mapping = c->program.mapping;
    out->kernels = sap_cuda_specialized_text(&c->specialized, &c->args);
    out->worlds_per_block = step->shape.worlds_per_block;
    out->blocks = (int)step->blocks;
    out->shared_bytes = step->shape.shared_bytes;
    out->waiting_pairs = c->args.collide.deferred.most;
    out->preset_kernel = c->program.is_preset;
    out->step_kernel = c->program.has_threads ? c->program.thread : c->program.step;
    out->step_reason = c->program.step_reason;
    out->workspace_bytes = c->workspace_bytes + c->pool_bytes;
    out->stream = c->stream;
    out->local_bytes = c->local_bytes;
    out->device_bytes = device_bytes(c);
}

static size_t bytes(const SapBatch *b) {
    const SapCudaBatch *c = b->own;
    return device_bytes(c) + SAP_CUDA_STAGING_BYTES + sizeof *b + sizeof *c + c->per_world.host.bytes;
}

const SapBatchBackend sap_batch_cuda = {
    .device = SAP_DEVICE_CUDA, .find_library = sap_cuda_library_find, SAP_BATCH_FUNCTIONS};
