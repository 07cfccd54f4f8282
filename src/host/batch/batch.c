/* A batch: what is the same on every device. What differs is behind batch_backend.h. */
#include <sapwood/batch.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/batch/backend.h"
#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/model/model.h"
#include "host/plan/pairs.h"
#include "host/plan/parameters.h"
#include "host/plan/step_args.h"

/* ---- creation ---- */

static size_t number_bytes(const SapBatch *b) {
    return b->dtype == SAP_F64 ? sizeof(double) : sizeof(float);
}

/* Row `row` of an array of the batch's type. */
static void put_row(const SapBatch *b, void *array, int row, const double *from, int width) {
    for (size_t i = 0, at = (size_t)row * (size_t)width; i < (size_t)width; i++, at++) {
        if (b->dtype == SAP_F64)
            ((double *)array)[at] = from[i];
        else
            ((float *)array)[at] = (float)from[i];
    }
}

/* The states a world can be put back to. */
static SapStatus create_start(SapBatch *b, const SapModel *model) {
    const SapModelArrays *a = sap_model_arrays(model);
    b->num_starts = 1 + a->num_keyframes;
    SAP_TRY(sap_control_create(model, 1, b->dtype, &b->host_start_control));
    SAP_TRY(sap_state_create(model, b->num_starts, b->dtype, &b->host_start));
    for (int k = 0; k < a->num_keyframes; k++) {
        put_row(b, b->host_start->joint_q, k + 1, a->keyframe_joint_q + (size_t)k * (size_t)b->nq, b->nq);
        put_row(b, b->host_start->joint_qd, k + 1, a->keyframe_joint_qd + (size_t)k * (size_t)b->nv, b->nv);
    }
    SapSolver *solver;
    SapOptions options = b->options;
    options.threads = 1;
    options.device = SAP_DEVICE_CPU;
    options.factor_plan = SAP_FACTOR_SPARSE; /* nothing is solved */
    SAP_TRY(sap_solver_create(model, b->num_starts, &options, &solver));
    SapStatus status = sap_forward_kinematics(solver, b->host_start);
    sap_solver_destroy(solver);
    return status;
}

static SapStatus fill_batch(SapBatch *b, const SapModel *model) {
    const SapModelArrays *a = sap_model_arrays(model);
    b->nq = a->num_coords;
    b->nv = a->num_dofs;
    b->nb = a->num_bodies;
    int most;
    SAP_TRY(sap_pairs_most_contacts(a, b->options.max_contacts_per_pair, &most));
    /* slots that can never be used are not made */
    if (most < b->options.max_rigid_contact)
        b->options.max_rigid_contact = most > 0 ? most : 1;
    SAP_TRY(create_start(b, model));
    SAP_TRY(b->backend->create(b, model));
    return sap_batch_reset(b, NULL, 0);
}

static SapStatus create(const SapModel *model, int num_worlds, const SapOptions *options, const SapDtype *dtype,
                        SapBatch *b) {
    b->backend = &sap_batch_cpu;
    if (num_worlds < 1)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_create: num_worlds is %d; it must be at least 1", num_worlds);
    b->num_worlds = num_worlds;
    if (options) {
        SAP_TRY(sap_options_check(options));
        b->options = *options;
    } else {
        SAP_TRY(sap_options_preset(NULL, &b->options));
    }
    b->dtype = dtype ? *dtype : b->options.free_motion_solve_precision == SAP_FP64 ? SAP_F64 : SAP_F32;
    if (b->options.device == SAP_DEVICE_CUDA)
        b->backend = &sap_batch_cuda;
    return fill_batch(b, model);
}

static SapStatus create_or_destroy(const SapModel *model, int num_worlds, const SapOptions *options,
                                   const SapDtype *dtype, SapBatch **out) {
    SapBatch *b = sap_allocate(1, sizeof *b, "batch");
    if (!b)
        return SAP_ERROR_MEMORY;
    SapStatus status = create(model, num_worlds, options, dtype, b);
    if (status == SAP_OK)
        *out = b;
    else
        sap_batch_destroy(b);
    return status;
}

SapStatus sap_batch_create(const SapModel *model, int num_worlds, const SapOptions *options, SapBatch **out) {
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(model);
    return create_or_destroy(model, num_worlds, options, NULL, out);
}

SapStatus sap_batch_create_as(const SapModel *model, int num_worlds, const SapOptions *options, SapDtype dtype,
                              SapBatch **out) {
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(model);
    return create_or_destroy(model, num_worlds, options, &dtype, out);
}

void sap_batch_destroy(SapBatch *b) {
    if (!b)
        return;
    b->backend->destroy(b);
    sap_state_destroy(b->host_start);
    sap_control_destroy(b->host_start_control);
    free(b);
}

/* ---- what it consists of ---- */

/* Whether its arrays can be handed out as structs of host memory. */
static bool in_host_memory(const SapBatch *b, const char *function) {
    if (b && b->backend->device != SAP_DEVICE_CPU)
        sap_fail(SAP_ERROR_UNSUPPORTED,
                 "%s: the batch is on a GPU; sap_batch_array gives its arrays, sap_batch_read and "
                 "sap_batch_write copy them",
                 function);
    return b && b->backend->device == SAP_DEVICE_CPU;
}

SapState *sap_batch_state(const SapBatch *b) {
    return in_host_memory(b, __func__) ? b->state : NULL;
}
SapControl *sap_batch_control(const SapBatch *b) {
    return in_host_memory(b, __func__) ? b->control : NULL;
}
const SapContacts *sap_batch_contacts(const SapBatch *b) {
    return in_host_memory(b, __func__) ? b->contacts : NULL;
}

/* ---- running ---- */

SapStatus sap_batch_step(SapBatch *batch, double h, int num_steps) {
    SAP_NEED(batch);
    if (num_steps < 0)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_step: num_steps is %d; it must not be negative", num_steps);
    SAP_TRY(sap_check_timestep(h));
    return num_steps == 0 ? SAP_OK : batch->backend->step(batch, h, num_steps);
}

SapStatus sap_batch_forward_kinematics(SapBatch *batch, const uint8_t *mask) {
    SAP_NEED(batch);
    return batch->backend->forward_kinematics(batch, mask);
}

/* Adds an array [num_worlds][bytes] and row `row` of the array that it is reset from; `from` NULL = zeros. */
static void add_row(SapResetArgs *args, const void *to, const void *from, int row, size_t bytes) {
    args->row[args->num_rows++] = (SapResetRow){
        .to = (unsigned *)to,
        .from = from ? (const unsigned *)((const char *)from + (size_t)row * bytes) : NULL,
        .words = (long long)(bytes / sizeof(unsigned)),
    };
}

static SapResetArgs reset_args(const SapBatch *b, int keyframe) {
    SapResetArgs args = {.num_worlds = b->num_worlds};
    const SapState *s = &b->start;
    const SapControl *c = &b->start_control;
    size_t number = number_bytes(b), q = (size_t)b->nq * number, v = (size_t)b->nv * number;
    size_t bodies = (size_t)b->nb * number;
    add_row(&args, b->state->joint_q, s->joint_q, keyframe, q);
    add_row(&args, b->state->joint_qd, s->joint_qd, keyframe, v);
    add_row(&args, b->state->body_q, s->body_q, keyframe, 7 * bodies);
    add_row(&args, b->state->body_qd, s->body_qd, keyframe, 6 * bodies);
    add_row(&args, b->control->joint_f, c->joint_f, 0, v);
    add_row(&args, b->control->body_f, c->body_f, 0, 6 * bodies);
    add_row(&args, b->control->joint_target_pos, c->joint_target_pos, 0, v);
    add_row(&args, b->control->joint_target_vel, c->joint_target_vel, 0, v);
    add_row(&args, b->control->joint_act, c->joint_act, 0, v);
    const void *const counters[] = {b->contacts->count,   b->contacts->dropped,      b->report.status,
                                    b->report.iterations, b->report.line_iterations, b->report.refactored};
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        add_row(&args, counters[i], NULL, 0, sizeof(int32_t));
    add_row(&args, b->report.cost, NULL, 0, sizeof(double));
    add_row(&args, b->report.residual, NULL, 0, sizeof(double));
    add_row(&args, b->record.wrench, NULL, 0, 6 * (size_t)b->nb * sizeof(double));
    return args;
}

SapStatus sap_batch_reset(SapBatch *batch, const uint8_t *mask, int keyframe) {
    SAP_NEED(batch);
    if (keyframe < 0 || keyframe >= batch->num_starts)
        return sap_fail(SAP_ERROR_ARGUMENT,
                        "sap_batch_reset: keyframe is %d; it must be in 0 .. %d (0 is the initial state)", keyframe,
                        batch->num_starts - 1);
    SapResetArgs args = reset_args(batch, keyframe);
    SAP_TRY(batch->backend->reset(batch, mask, &args));
    /* the velocity of a body is that of its centre of mass, which may be the world's own */
    bool own_centres = batch->backend->expansion(batch)->parameter[SAP_PARAMETER_BODY_COM].given;
    return own_centres ? batch->backend->forward_kinematics(batch, mask) : SAP_OK;
}

/* ---- arrays ---- */

static SapArray view_of(const SapBatch *b, void *data, SapElementType type, int rows, int columns) {
    const int64_t size = type == SAP_TYPE_F64 ? 8 : 4;
    SapArray view = {.data = data, .type = type, .device = b->backend->device, .ndim = 1, .shape = {b->num_worlds}};
    if (rows > 0)
        view.shape[view.ndim++] = rows;
    if (columns > 0)
        view.shape[view.ndim++] = columns;
    int64_t stride = size;
    for (int i = view.ndim - 1; i >= 0; i--) {
        view.strides[i] = stride;
        stride *= view.shape[i];
    }
    return view;
}

/* Memory of a recorded array, `count` elements for each world, taken when it is first asked for. */
static SapStatus record_array(SapBatch *b, void *pointer, size_t size, int count) {
    void **array = pointer;
    if (*array)
        return SAP_OK;
    SAP_TRY(b->backend->allocate(b, (size_t)b->num_worlds * (size_t)count, size, "recorded contacts", array));
    return b->backend->record(b);
}

static SapStatus recorded_view(SapBatch *b, double **array, int rows, int columns, SapArray *view) {
    SAP_TRY(record_array(b, array, sizeof **array, rows * columns));
    *view = view_of(b, *array, SAP_TYPE_F64, rows, columns > 1 ? columns : 0);
    return SAP_OK;
}

static SapStatus recorded_field(SapBatch *b, SapBatchField field, SapArray *view) {
    SapContactReport *r = &b->record;
    int capacity = b->contacts->capacity;
    switch (field) {
    case SAP_BATCH_CONTACT_IMPULSE: return recorded_view(b, &r->impulse, capacity, 3, view);
    case SAP_BATCH_CONTACT_VELOCITY: return recorded_view(b, &r->velocity, capacity, 3, view);
    case SAP_BATCH_CONTACT_POSITION: return recorded_view(b, &r->position, capacity, 3, view);
    case SAP_BATCH_CONTACT_FRAME: return recorded_view(b, &r->frame, capacity, 9, view);
    case SAP_BATCH_CONTACT_GAP: return recorded_view(b, &r->gap, capacity, 1, view);
    case SAP_BATCH_CONTACT_FORCE: return recorded_view(b, &r->force, capacity, 3, view);
    case SAP_BATCH_BODY_CONTACT_WRENCH: return recorded_view(b, &r->wrench, b->nb, 6, view);
    default: break;
    }
    SAP_TRY(record_array(b, &r->region, sizeof *r->region, capacity));
    *view = view_of(b, r->region, SAP_TYPE_I32, capacity, 0);
    return SAP_OK;
}

SapStatus sap_batch_array(SapBatch *batch, SapBatchField field, SapArray *view) {
    SAP_NEED(batch);
    SAP_NEED(view);
    if ((int)field < 0 || field >= SAP_BATCH_NUM_FIELDS)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_array: field is %d; it must be in 0 .. %d", (int)field,
                        (int)SAP_BATCH_NUM_FIELDS - 1);
    if (field >= SAP_BATCH_CONTACT_IMPULSE)
        return recorded_field(batch, field, view);
    const SapBatch *b = batch;
    SapElementType real = b->dtype == SAP_F64 ? SAP_TYPE_F64 : SAP_TYPE_F32;
    SapElementType contact = b->contacts->dtype == SAP_F64 ? SAP_TYPE_F64 : SAP_TYPE_F32;
    int capacity = b->contacts->capacity;
    const struct {
        const void *data;
        SapElementType type;
        int rows, columns;
    } fields[] = {
        [SAP_BATCH_JOINT_Q] = {b->state->joint_q, real, b->nq, 0},
        [SAP_BATCH_JOINT_QD] = {b->state->joint_qd, real, b->nv, 0},
        [SAP_BATCH_BODY_Q] = {b->state->body_q, real, b->nb, 7},
        [SAP_BATCH_BODY_QD] = {b->state->body_qd, real, b->nb, 6},
        [SAP_BATCH_JOINT_F] = {b->control->joint_f, real, b->nv, 0},
        [SAP_BATCH_BODY_F] = {b->control->body_f, real, b->nb, 6},
        [SAP_BATCH_JOINT_TARGET_POS] = {b->control->joint_target_pos, real, b->nv, 0},
        [SAP_BATCH_JOINT_TARGET_VEL] = {b->control->joint_target_vel, real, b->nv, 0},
        [SAP_BATCH_JOINT_ACT] = {b->control->joint_act, real, b->nv, 0},
        [SAP_BATCH_STATUS] = {b->report.status, SAP_TYPE_U32, 0, 0},
        [SAP_BATCH_ITERATIONS] = {b->report.iterations, SAP_TYPE_I32, 0, 0},
        [SAP_BATCH_LINE_ITERATIONS] = {b->report.line_iterations, SAP_TYPE_I32, 0, 0},
        [SAP_BATCH_COST] = {b->report.cost, SAP_TYPE_F64, 0, 0},
        [SAP_BATCH_RESIDUAL] = {b->report.residual, SAP_TYPE_F64, 0, 0},
        [SAP_BATCH_CONTACT_COUNT] = {b->contacts->count, SAP_TYPE_I32, 0, 0},
        [SAP_BATCH_CONTACT_DROPPED] = {b->contacts->dropped, SAP_TYPE_I32, 0, 0},
        [SAP_BATCH_CONTACT_SHAPE0] = {b->contacts->shape0, SAP_TYPE_I32, capacity, 0},
        [SAP_BATCH_CONTACT_SHAPE1] = {b->contacts->shape1, SAP_TYPE_I32, capacity, 0},
        [SAP_BATCH_CONTACT_POINT0] = {b->contacts->point0, contact, capacity, 3},
        [SAP_BATCH_CONTACT_POINT1] = {b->contacts->point1, contact, capacity, 3},
        [SAP_BATCH_CONTACT_NORMAL] = {b->contacts->normal, contact, capacity, 3},
    };
    *view = view_of(b, (void *)fields[field].data, fields[field].type, fields[field].rows, fields[field].columns);
    return SAP_OK;
}

const char *const *sap_batch_field_names(void) {
    static const char *const names[SAP_BATCH_NUM_FIELDS + 1] = {
        [SAP_BATCH_JOINT_Q] = "joint_q",
        [SAP_BATCH_JOINT_QD] = "joint_qd",
        [SAP_BATCH_BODY_Q] = "body_q",
        [SAP_BATCH_BODY_QD] = "body_qd",
        [SAP_BATCH_JOINT_F] = "joint_f",
        [SAP_BATCH_BODY_F] = "body_f",
        [SAP_BATCH_JOINT_TARGET_POS] = "joint_target_pos",
        [SAP_BATCH_JOINT_TARGET_VEL] = "joint_target_vel",
        [SAP_BATCH_JOINT_ACT] = "joint_act",
        [SAP_BATCH_STATUS] = "status",
        [SAP_BATCH_ITERATIONS] = "iterations",
        [SAP_BATCH_LINE_ITERATIONS] = "line_iterations",
        [SAP_BATCH_COST] = "cost",
        [SAP_BATCH_RESIDUAL] = "residual",
        [SAP_BATCH_CONTACT_COUNT] = "contact_count",
        [SAP_BATCH_CONTACT_DROPPED] = "contact_dropped",
        [SAP_BATCH_CONTACT_SHAPE0] = "contact_shape0",
        [SAP_BATCH_CONTACT_SHAPE1] = "contact_shape1",
        [SAP_BATCH_CONTACT_POINT0] = "contact_point0",
        [SAP_BATCH_CONTACT_POINT1] = "contact_point1",
        [SAP_BATCH_CONTACT_NORMAL] = "contact_normal",
        [SAP_BATCH_CONTACT_IMPULSE] = "contact_impulse",
        [SAP_BATCH_CONTACT_VELOCITY] = "contact_velocity",
        [SAP_BATCH_CONTACT_POSITION] = "contact_position",
        [SAP_BATCH_CONTACT_FRAME] = "contact_frame",
        [SAP_BATCH_CONTACT_GAP] = "contact_gap",
        [SAP_BATCH_CONTACT_REGION] = "contact_region",
        [SAP_BATCH_CONTACT_FORCE] = "contact_force",
        [SAP_BATCH_BODY_CONTACT_WRENCH] = "body_contact_wrench",
    };
    return names;
}

/* Where the array of a field is, if `bytes` is its size. */
static SapStatus find_array(SapBatch *b, const char *function, SapBatchField field, size_t bytes, void **data) {
    SapArray view;
    SAP_TRY(sap_batch_array(b, field, &view));
    size_t size = (size_t)view.shape[0] * (size_t)view.strides[0];
    if (bytes != size)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: bytes is %zu; field %d has %zu", function, bytes, (int)field, size);
    if (!view.data)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: field %d is absent: its array was set to NULL", function, (int)field);
    *data = view.data;
    return SAP_OK;
}

SapStatus sap_batch_read(SapBatch *batch, SapBatchField field, void *host, size_t bytes) {
    void *data = NULL;
    SAP_NEED(batch);
    SAP_NEED(host);
    SAP_TRY(find_array(batch, __func__, field, bytes, &data));
    return batch->backend->read(batch, data, host, bytes);
}

SapStatus sap_batch_write(SapBatch *batch, SapBatchField field, const void *host, size_t bytes) {
    void *data = NULL;
    SAP_NEED(batch);
    SAP_NEED(host);
    SAP_TRY(find_array(batch, __func__, field, bytes, &data));
    return batch->backend->write(batch, data, host, bytes);
}

/* ---- parameters of worlds ---- */

SapStatus sap_batch_expand(SapBatch *batch, SapParameter parameter, SapArray *view) {
    SAP_NEED(batch);
    SAP_NEED(view);
    if ((int)parameter < 0 || parameter >= SAP_NUM_PARAMETERS)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_expand: parameter is %d; it must be in 0 .. %d", (int)parameter,
                        (int)SAP_NUM_PARAMETERS - 1);
    if (batch->options.factor_plan == SAP_FACTOR_LIBRARY)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_expand: factor_plan is library, whose worlds share the model's "
                                            "parameters; it must be sparse or dense");
    const SapWorldParameters *e = batch->backend->expansion(batch);
    if (sap_parameter_rows(e->model, parameter) == 0)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_expand: %s has no rows in this model",
                        sap_parameter_names()[parameter]);
    SAP_TRY(batch->backend->expand(batch, parameter));
    int columns = sap_parameter_columns(parameter), rows = e->parameter[parameter].size / columns;
    bool is_row = parameter == SAP_PARAMETER_GRAVITY; /* [n][3] */
    *view = view_of(batch, e->parameter[parameter].given, SAP_TYPE_F64, is_row ? columns : rows,
                    is_row || columns == 1 ? 0 : columns);
    view->device = SAP_DEVICE_CPU;
    return SAP_OK;
}

SapStatus sap_batch_check_parameters(SapBatch *batch) {
    SAP_NEED(batch);
    const SapWorldParameters *e = batch->backend->expansion(batch);
    for (int w = 0; w < batch->num_worlds && e->count > 0; w++) {
        if (sap_world_parameters_check(e, w) == SAP_OK)
            continue;
        char rule[768];
        snprintf(rule, sizeof rule, "%s", sap_error_message());
        return sap_fail(SAP_ERROR_MODEL, "world %d: %s", w, rule);
    }
    return SAP_OK;
}

/* ---- the device ---- */

SapStatus sap_batch_set_stream(SapBatch *batch, void *stream) {
    SAP_NEED(batch);
    return batch->backend->set_stream(batch, stream);
}

SapStatus sap_batch_synchronize(SapBatch *batch) {
    SAP_NEED(batch);
    return batch->backend->synchronize(batch);
}

SapStatus sap_batch_info(const SapBatch *batch, SapBatchInfo *out) {
    SAP_NEED(batch);
    SAP_NEED(out);
    *out = (SapBatchInfo){
        .device = batch->backend->device, .num_worlds = batch->num_worlds, .capacity = batch->contacts->capacity};
    batch->backend->info(batch, out);
    return SAP_OK;
}

size_t sap_batch_bytes(const SapBatch *batch) {
    return batch ? batch->backend->bytes(batch) : 0;
}
