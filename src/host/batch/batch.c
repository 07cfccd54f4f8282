/* The device-independent part of a batch. Devices implement backend.h. */
#include <sapwood/batch.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/batch/fields.h"
#include "host/batch/given.h"
#include "host/batch/guard.h"
#include "host/batch/probe.h"
#include "host/batch/sensors.h"
#include "host/batch/starts.h"
#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/model/constraint_types.h"
#include "host/plan/factor_plan.h"
#include "host/plan/pairs.h"
#include "host/plan/parameters.h"
#include "host/plan/plan.h"
#include "host/plan/step_args.h"

/* ---- creation ---- */

/* Sets initial bytes that are not zero; the memory is zeroed. */
static SapStatus fill_arrays(SapBatch *b) {
    for (int i = 0; i < sap_batch_num_rows; i++) {
        const SapBatchRow *row = &sap_batch_rows[i];
        if (row->time == SAP_FIELD_ALWAYS && row->fill != 0)
            SAP_TRY(b->backend->fill(b, "sap_batch_create", sap_batch_row_get(&b->arrays, row), row->fill,
                                     (size_t)b->num_worlds * sap_batch_row_bytes(b, row)));
    }
    return SAP_OK;
}

/* The contact cache is a part of the state of a batch with warm_start; a formulation may have one of dofs. */
static SapStatus create_cache(SapBatch *b) {
    SapArray view;
    if (b->formulation->has_memory)
        return sap_batch_array(b, SAP_BATCH_DOF_CACHE, &view);
    if (!b->options.warm_start || b->options.contact_solver == SAP_SOLVER_SAP)
        return SAP_OK;
    SAP_TRY(sap_batch_array(b, SAP_BATCH_CACHE_KEY, &view));
    SAP_TRY(sap_batch_array(b, SAP_BATCH_CACHE, &view));
    return sap_batch_array(b, SAP_BATCH_DOF_CACHE, &view);
}

static int count_trees(const SapModelArrays *a) {
    int count = 0;
    for (int j = 0; j < a->num_joints; j++)
        count += a->joint_parent[j] < 0;
    return count > 0 ? count : 1;
}

static SapStatus fill_batch(SapBatch *b, const char *what, const SapModel *model) {
    const SapModelArrays *a = sap_model_arrays(model);
    b->model = model;
    b->nq = a->num_coords;
    b->nv = a->num_dofs;
    b->nb = a->num_bodies;
    b->num_constraints = a->num_constraints;
    b->num_tendons = a->num_tendons;
    b->formulation = sap_formulation_of(&b->options);
    b->num_actuators = sap_model_num_actuators(model);
    if (b->num_actuators > 0)
        SAP_REQUIRE(&b->options, SAP_CAN_ACTUATORS, "%s: model '%s' has %d actuators", what, a->name, b->num_actuators);
    b->num_trees = count_trees(a);
    for (int i = 0; i < a->num_constraints; i++)
        b->num_rows += sap_constraint_type(a->constraint_type[i])->rows;
    int most;
    SAP_TRY(sap_pairs_most_contacts(a, b->options.max_contacts_per_pair, &most));
    if (b->options.max_contacts == 0)
        SAP_TRY(sap_probe_contacts(model, &b->options, most, &b->options.max_contacts));
    /* do not allocate slots that can never be used */
    if (most < b->options.max_contacts)
        b->options.max_contacts = most > 0 ? most : 1;
    if (b->options.max_contacts < b->options.given_contacts)
        b->options.max_contacts = b->options.given_contacts;
    b->factor = sap_factor_plan_choose(&b->options, b->nv, b->backend->find_library);
    b->num_starts = 1 + a->num_keyframes;
    SAP_TRY(sap_batch_cpu.complete_model(b, model));
    SAP_TRY(b->backend->create(b, what, model));
    if (b->formulation->most_rows)
        b->arrays.extra.rows.capacity = b->formulation->most_rows(model, b->options.max_contacts);
    SAP_TRY(fill_arrays(b));
    SAP_TRY(sap_batch_fill_starts(b, model));
    SAP_TRY(create_cache(b));
    return sap_batch_reset(b, NULL, 0);
}

static SapStatus create(const char *what, const SapModel *model, int num_worlds, const SapOptions *options,
                        const SapDtype *dtype, SapBatch *b) {
    b->backend = &sap_batch_cpu;
    if (num_worlds < 1)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: num_worlds is %d; it must be at least 1", what, num_worlds);
    b->num_worlds = num_worlds;
    if (options) {
        SAP_TRY(sap_options_check(options));
        b->options = *options;
    } else {
        SAP_TRY(sap_options_preset(NULL, &b->options));
    }
    if (dtype && *dtype != SAP_F32 && *dtype != SAP_F64)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: dtype is %d; allowed: 0 SAP_F32, 1 SAP_F64", what, (int)*dtype);
    b->dtype = dtype ? *dtype : b->options.free_motion_precision == SAP_FP64 ? SAP_F64 : SAP_F32;
    if (b->options.device == SAP_DEVICE_CUDA)
        b->backend = &sap_batch_cuda;
    return fill_batch(b, what, model);
}

static SapStatus create_or_destroy(const char *what, const SapModel *model, int num_worlds, const SapOptions *options,
                                   const SapDtype *dtype, SapBatch **out) {
    SapBatch *b = sap_allocate(1, sizeof *b, "batch");
    if (!b)
        return SAP_ERROR_MEMORY;
    SapStatus status = create(what, model, num_worlds, options, dtype, b);
    if (status == SAP_OK)
        *out = b;
    else
        sap_batch_destroy(b);
    return status;
}

SapStatus sap_batch_create(const SapModel *model, int num_worlds, const SapOptions *options, SapBatch **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(model);
    return create_or_destroy(__func__, model, num_worlds, options, NULL, out);
}

SapStatus sap_batch_create_as(const SapModel *model, int num_worlds, const SapOptions *options, SapDtype dtype,
                              SapBatch **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(model);
    return create_or_destroy(__func__, model, num_worlds, options, &dtype, out);
}

void sap_batch_destroy(SapBatch *b) {
    if (!b)
        return;
    b->backend->destroy(b);
    sap_guard_free(b->guard);
    free(b);
}

/* ---- views ---- */

/* Whether the arrays can be returned as structs in host memory. */
static bool in_host_memory(const SapBatch *b, const char *function) {
    return b &&
           sap_require(SAP_CAN_HOST_STRUCTS, b->options.contact_solver, b->options.device, "%s", function) == SAP_OK;
}

SapState *sap_batch_state(const SapBatch *b) {
    return in_host_memory(b, __func__) ? (SapState *)&b->arrays.state : NULL;
}
SapControl *sap_batch_control(const SapBatch *b) {
    return in_host_memory(b, __func__) ? (SapControl *)&b->arrays.control : NULL;
}
const SapContacts *sap_batch_contacts(const SapBatch *b) {
    return in_host_memory(b, __func__) ? &b->arrays.contacts : NULL;
}

/* ---- running ---- */

static SapStatus check_steps(const char *what, double h, int num_steps) {
    if (num_steps < 0)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: num_steps is %d; it must not be negative", what, num_steps);
    return sap_check_timestep(what, h);
}

static SapStatus take_steps(SapBatch *b, const SapBatchSteps *steps) {
    return sap_sensors_are_on(b) ? sap_sensors_step(b, steps) : b->backend->step(b, steps);
}

SapStatus sap_batch_step(SapBatch *batch, double h, int num_steps) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    SAP_TRY(check_steps(__func__, h, num_steps));
    if (num_steps == 0)
        return SAP_OK;
    if (batch->guard)
        SAP_TRY(sap_guard_begin(batch, h, num_steps));
    SAP_TRY(take_steps(batch, &(SapBatchSteps){.what = __func__, .h = h, .num_steps = num_steps}));
    return batch->guard ? sap_guard_end(batch) : SAP_OK;
}

SapStatus sap_batch_step_contacts(SapBatch *batch, const SapContacts *contacts, double h, int num_steps) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    SAP_TRY(check_steps(__func__, h, num_steps));
    SapBatchSteps steps = {.what = __func__, .h = h, .num_steps = num_steps, .given = true};
    SAP_TRY(sap_batch_check_given(batch, contacts, &steps));
    if (num_steps == 0)
        return SAP_OK;
    SAP_TRY(sap_batch_take_given(batch, contacts, &steps));
    return take_steps(batch, &steps);
}

SapStatus sap_batch_forward_kinematics(SapBatch *batch, const uint8_t *mask) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    SAP_TRY(batch->backend->forward_kinematics(batch, __func__, mask));
    return sap_sensors_begin(batch, __func__, mask);
}

SapStatus sap_batch_begin_sensors(SapBatch *batch, const uint8_t *mask) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    return sap_sensors_begin(batch, __func__, mask);
}

SapStatus sap_batch_reset(SapBatch *batch, const uint8_t *mask, int keyframe) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    if (keyframe < 0 || keyframe >= batch->num_starts)
        return sap_fail(SAP_ERROR_ARGUMENT,
                        "sap_batch_reset: keyframe is %d; it must be in 0 .. %d (0 is the initial state)", keyframe,
                        batch->num_starts - 1);
    SapResetArgs args = sap_batch_reset_args(batch, keyframe);
    SAP_TRY(batch->backend->reset(batch, __func__, mask, &args));
    /* body velocities refer to the centre of mass, which may differ from the model's */
    bool own_centres = batch->backend->per_world(batch)->parameter[SAP_PARAMETER_BODY_COM].given;
    if (own_centres)
        SAP_TRY(batch->backend->forward_kinematics(batch, __func__, mask));
    return sap_sensors_begin(batch, __func__, mask);
}

/* ---- arrays ---- */

/* [n] if rows is -1, else [n][rows], or [n][rows][columns] if columns is not 0. */
static SapArray view_of(const SapBatch *b, void *data, SapElementType type, int rows, int columns) {
    const int64_t size = type == SAP_TYPE_F64 ? 8 : 4;
    SapArray view = {.data = data, .type = type, .device = b->backend->device, .ndim = 1, .shape = {b->num_worlds}};
    if (rows >= 0)
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

static bool is_of_rows(SapBatchField field) {
    return field >= SAP_BATCH_ROW_COUNT && field <= SAP_BATCH_ROW_FORCE;
}

static SapStatus view_array(SapBatch *b, const char *what, SapBatchField field, SapArray *view) {
    if ((int)field < 0 || field >= SAP_BATCH_NUM_FIELDS)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: field is %d; it must be in 0 .. %d", what, (int)field,
                        (int)SAP_BATCH_NUM_FIELDS - 1);
    const SapBatchRow *row = sap_batch_row(field);
    SAP_TRY(sap_batch_check_row(b, what, row));
    if (is_of_rows(field)) /* the number of rows says which are of this step */
        SAP_TRY(sap_batch_record_row(b, sap_batch_row(SAP_BATCH_ROW_COUNT)));
    if (row->time == SAP_FIELD_ON_REQUEST)
        SAP_TRY(sap_sensors_take_part(row) ? sap_sensors_request(b, what, row) : sap_batch_record_row(b, row));
    int rows = row->rows == SAP_FIELD_WORLD ? -1 : sap_batch_row_count(b, row);
    *view = view_of(b, sap_batch_row_get(&b->arrays, row), sap_batch_row_type(b, row), rows, row->columns);
    return SAP_OK;
}

SapStatus sap_batch_array(SapBatch *batch, SapBatchField field, SapArray *view) {
    SAP_NEED(batch);
    SAP_NEED(view);
    return view_array(batch, __func__, field, view);
}

/* The address of the array of a field; fails unless `bytes` is its size. */
static SapStatus find_array(SapBatch *b, const char *what, SapBatchField field, size_t bytes, void **data) {
    SapArray view;
    SAP_TRY(view_array(b, what, field, &view));
    size_t size = (size_t)view.shape[0] * (size_t)view.strides[0];
    if (bytes != size)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: bytes is %zu; field %d has %zu", what, bytes, (int)field, size);
    if (!view.data)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: field %d is absent: its array was set to NULL", what, (int)field);
    *data = view.data;
    return SAP_OK;
}

SapStatus sap_batch_read(SapBatch *batch, SapBatchField field, void *host, size_t bytes) {
    void *data = NULL;
    SAP_NEED(batch);
    SAP_NEED(host);
    SAP_TRY(find_array(batch, __func__, field, bytes, &data));
    return batch->backend->read(batch, __func__, data, host, bytes);
}

SapStatus sap_batch_write(SapBatch *batch, SapBatchField field, const void *host, size_t bytes) {
    void *data = NULL;
    SAP_NEED(batch);
    SAP_NEED(host);
    SAP_TRY(find_array(batch, __func__, field, bytes, &data));
    return batch->backend->write(batch, __func__, data, host, bytes);
}

/* ---- parameters of worlds ---- */

SapStatus sap_batch_expand(SapBatch *batch, SapParameter parameter, SapArray *view) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    SAP_NEED(view);
    /* Reject parameters that the batch cannot have per world. */
    if ((int)parameter < 0 || parameter >= SAP_NUM_PARAMETERS)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_expand: parameter is %d; it must be in 0 .. %d", (int)parameter,
                        (int)SAP_NUM_PARAMETERS - 1);
    if (batch->options.factor_plan == SAP_FACTOR_LIBRARY)
        SAP_REQUIRE(&batch->options, SAP_CAN_PARAMETERS_LIBRARY, "sap_batch_expand");
    SAP_REQUIRE(&batch->options, sap_can_of_parameter(parameter), "sap_batch_expand: %s",
                sap_parameter_names()[parameter]);
    const SapPerWorld *e = batch->backend->per_world(batch);
    if (sap_parameter_rows(&e->numbers, parameter) == 0)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_expand: %s has no rows in this model",
                        sap_parameter_names()[parameter]);
    /* Expand it, and describe the array. */
    SAP_TRY(batch->backend->add_per_world(batch, parameter));
    int columns = sap_parameter_columns(parameter), rows = e->parameter[parameter].size / columns;
    bool is_row = sap_parameter_owner(parameter) == SAP_PARAMETER_OF_WORLD; /* [n][3], or [n] */
    SapElementType type = sap_parameter_bytes(parameter) == sizeof(int32_t) ? SAP_TYPE_I32 : SAP_TYPE_F64;
    *view = view_of(batch, e->parameter[parameter].given, type, is_row ? (columns == 1 ? -1 : columns) : rows,
                    is_row || columns == 1 ? 0 : columns);
    view->device = SAP_DEVICE_CPU;
    if (parameter == SAP_PARAMETER_CONSTRAINT_X) { /* [n][nc][2][7] */
        view->ndim = 4;
        view->shape[2] = 2;
        view->shape[3] = columns / 2;
        view->strides[2] = view->shape[3] * (int64_t)sizeof(double);
        view->strides[3] = sizeof(double);
    }
    return SAP_OK;
}

SapStatus sap_batch_check_world(SapBatch *b, int world) {
    if (sap_per_world_check(b->backend->per_world(b), world) == SAP_OK)
        return SAP_OK;
    char rule[768];
    snprintf(rule, sizeof rule, "%s", sap_error_message());
    return sap_fail(SAP_ERROR_MODEL, "world %d: %s", world, rule);
}

SapStatus sap_batch_check_parameters(SapBatch *batch) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    for (int w = 0; w < batch->num_worlds && batch->backend->per_world(batch)->count > 0; w++)
        SAP_TRY(sap_batch_check_world(batch, w));
    return SAP_OK;
}

SapStatus sap_batch_upload_parameters(SapBatch *batch) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    return batch->backend->upload_parameters(batch);
}

/* ---- device ---- */

SapStatus sap_batch_set_stream(SapBatch *batch, void *stream) {
    SAP_NEED(batch);
    return batch->backend->set_stream(batch, stream);
}

SapStatus sap_batch_order_stream(SapBatch *batch, void *stream) {
    SAP_NEED(batch);
    return batch->backend->order_stream(batch, stream);
}

SapStatus sap_batch_synchronize(SapBatch *batch) {
    SAP_NEED(batch);
    return batch->backend->synchronize(batch);
}

SapStatus sap_batch_info(const SapBatch *batch, SapBatchInfo *out) {
    SAP_NEED(batch);
    SAP_NEED(out);
    *out = (SapBatchInfo){.device = batch->backend->device,
                          .num_worlds = batch->num_worlds,
                          .capacity = batch->arrays.contacts.capacity,
                          .factor = batch->factor};
    batch->backend->info(batch, out);
    return SAP_OK;
}

size_t sap_batch_bytes(const SapBatch *batch) {
    return batch ? batch->backend->bytes(batch) : 0;
}
