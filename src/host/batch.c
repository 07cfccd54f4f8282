/* A batch: state, control, contacts and solver of n worlds, kept together. */
#include <sapwood/batch.h>

#include <stdlib.h>
#include <string.h>

#include "contacts.h"
#include "fail.h"
#include "host_memory.h"
#include "model.h"
#include "pairs.h"
#include "parameters.h"
#include "solver.h"

struct SapBatch {
    int num_worlds;
    SapOptions options;
    SapDtype dtype;
    SapSolver *solver;
    SapState *state;
    SapControl *control;
    SapContacts *contacts;
    SapState *start;           /* one world per state to return to: the initial one, then the keyframes */
    SapControl *start_control; /* one world */
    SapContactReport record;   /* arrays that were asked for; NULL the others */
    size_t record_bytes;
    int nq, nv, nb, num_starts;
};

/* ---- creation ---- */

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
    SAP_TRY(sap_control_create(model, 1, b->dtype, &b->start_control));
    SAP_TRY(sap_state_create(model, b->num_starts, b->dtype, &b->start));
    for (int k = 0; k < a->num_keyframes; k++) {
        put_row(b, b->start->joint_q, k + 1, a->keyframe_joint_q + (size_t)k * (size_t)b->nq, b->nq);
        put_row(b, b->start->joint_qd, k + 1, a->keyframe_joint_qd + (size_t)k * (size_t)b->nv, b->nv);
    }
    SapSolver *solver;
    SapOptions options = b->options;
    options.threads = 1;
    SAP_TRY(sap_solver_create(model, b->num_starts, &options, &solver));
    SapStatus status = sap_forward_kinematics(solver, b->start);
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
    SAP_TRY(sap_solver_create(model, b->num_worlds, &b->options, &b->solver));
    SAP_TRY(sap_state_create(model, b->num_worlds, b->dtype, &b->state));
    SAP_TRY(sap_control_create(model, b->num_worlds, b->dtype, &b->control));
    SapDtype geometry = b->options.use_f64_boundary_pose ? SAP_F64 : SAP_F32;
    SAP_TRY(sap_contacts_create_plain(b->num_worlds, b->options.max_rigid_contact, geometry, &b->contacts));
    SAP_TRY(create_start(b, model));
    return sap_batch_reset(b, NULL, 0);
}

static SapStatus create(const SapModel *model, int num_worlds, const SapOptions *options, const SapDtype *dtype,
                        SapBatch *b) {
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
    sap_solver_destroy(b->solver);
    sap_state_destroy(b->state);
    sap_control_destroy(b->control);
    sap_contacts_destroy(b->contacts);
    sap_state_destroy(b->start);
    sap_control_destroy(b->start_control);
    free(b->record.impulse);
    free(b->record.velocity);
    free(b->record.position);
    free(b->record.frame);
    free(b->record.gap);
    free(b->record.region);
    free(b->record.force);
    free(b->record.wrench);
    free(b);
}

SapState *sap_batch_state(const SapBatch *b) {
    return b ? b->state : NULL;
}
SapControl *sap_batch_control(const SapBatch *b) {
    return b ? b->control : NULL;
}
const SapContacts *sap_batch_contacts(const SapBatch *b) {
    return b ? b->contacts : NULL;
}
SapSolver *sap_batch_solver(const SapBatch *b) {
    return b ? b->solver : NULL;
}

/* ---- running ---- */

SapStatus sap_batch_step(SapBatch *batch, double h, int num_steps) {
    SAP_NEED(batch);
    if (num_steps < 0)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_step: num_steps is %d; it must not be negative", num_steps);
    return sap_step_many(batch->solver, batch->state, batch->control, batch->contacts, h, num_steps);
}

/* Copies row `from` of one array over row `to` of another; rows are `width` numbers of the batch's type. An absent one
 * stays absent. */
static void copy_row(const SapBatch *b, void *to, int to_row, const void *from, int from_row, int width) {
    size_t bytes = (size_t)width * (b->dtype == SAP_F64 ? sizeof(double) : sizeof(float));
    if (to)
        memcpy((char *)to + (size_t)to_row * bytes, (const char *)from + (size_t)from_row * bytes, bytes);
}

static void clear_wrench(const SapBatch *b, int w) {
    size_t count = 6 * (size_t)b->nb;
    if (b->record.wrench)
        memset(b->record.wrench + count * (size_t)w, 0, count * sizeof *b->record.wrench);
}

static void reset_world(SapBatch *b, int w, int keyframe) {
    const SapState *s = b->start;
    const SapControl *c = b->start_control;
    copy_row(b, b->state->joint_q, w, s->joint_q, keyframe, b->nq);
    copy_row(b, b->state->joint_qd, w, s->joint_qd, keyframe, b->nv);
    copy_row(b, b->state->body_q, w, s->body_q, keyframe, 7 * b->nb);
    copy_row(b, b->state->body_qd, w, s->body_qd, keyframe, 6 * b->nb);
    copy_row(b, b->control->joint_f, w, c->joint_f, 0, b->nv);
    copy_row(b, b->control->body_f, w, c->body_f, 0, 6 * b->nb);
    copy_row(b, b->control->joint_target_pos, w, c->joint_target_pos, 0, b->nv);
    copy_row(b, b->control->joint_target_vel, w, c->joint_target_vel, 0, b->nv);
    copy_row(b, b->control->joint_act, w, c->joint_act, 0, b->nv);
    b->contacts->count[w] = b->contacts->dropped[w] = 0;
    clear_wrench(b, w);
    sap_solver_clear_world(b->solver, w);
}

SapStatus sap_batch_reset(SapBatch *batch, const uint8_t *mask, int keyframe) {
    SAP_NEED(batch);
    if (keyframe < 0 || keyframe >= batch->num_starts)
        return sap_fail(SAP_ERROR_ARGUMENT,
                        "sap_batch_reset: keyframe is %d; it must be in 0 .. %d (0 is the initial state)", keyframe,
                        batch->num_starts - 1);
    for (int w = 0; w < batch->num_worlds; w++)
        if (!mask || mask[w])
            reset_world(batch, w, keyframe);
    /* the velocity of a body is that of its centre of mass, which may be the world's own */
    if (sap_solver_has_expanded(batch->solver, SAP_PARAMETER_BODY_COM))
        SAP_TRY(sap_forward_kinematics_of(batch->solver, batch->state, mask));
    return SAP_OK;
}

SapStatus sap_batch_forward_kinematics(SapBatch *batch, const uint8_t *mask) {
    SAP_NEED(batch);
    return sap_forward_kinematics_of(batch->solver, batch->state, mask);
}

/* ---- arrays ---- */

static SapArray view_of(const SapBatch *b, void *data, SapElementType type, int rows, int columns) {
    const int64_t size = type == SAP_TYPE_F64 ? 8 : 4;
    SapArray view = {.data = data, .type = type, .device = SAP_DEVICE_CPU, .ndim = 1, .shape = {b->num_worlds}};
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
    *array = sap_allocate((size_t)b->num_worlds * (size_t)count, size, "recorded contacts");
    if (!*array)
        return SAP_ERROR_MEMORY;
    b->record_bytes += (size_t)b->num_worlds * (size_t)count * size;
    return sap_solver_record(b->solver, &b->record);
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
    SapWorldReport report;
    SAP_TRY(sap_solver_report(b->solver, &report));
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
        [SAP_BATCH_STATUS] = {report.status, SAP_TYPE_U32, 0, 0},
        [SAP_BATCH_ITERATIONS] = {report.iterations, SAP_TYPE_I32, 0, 0},
        [SAP_BATCH_LINE_ITERATIONS] = {report.line_iterations, SAP_TYPE_I32, 0, 0},
        [SAP_BATCH_COST] = {report.cost, SAP_TYPE_F64, 0, 0},
        [SAP_BATCH_RESIDUAL] = {report.residual, SAP_TYPE_F64, 0, 0},
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

SapStatus sap_batch_expand(SapBatch *batch, SapParameter parameter, SapArray *view) {
    SAP_NEED(batch);
    SAP_NEED(view);
    if ((int)parameter < 0 || parameter >= SAP_NUM_PARAMETERS)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_expand: parameter is %d; it must be in 0 .. %d", (int)parameter,
                        (int)SAP_NUM_PARAMETERS - 1);
    double *values;
    int rows, columns = sap_parameter_columns(parameter);
    SAP_TRY(sap_solver_expand(batch->solver, parameter, &values, &rows));
    if (parameter == SAP_PARAMETER_GRAVITY) /* [n][3] */
        *view = view_of(batch, values, SAP_TYPE_F64, columns, 0);
    else
        *view = view_of(batch, values, SAP_TYPE_F64, rows, columns > 1 ? columns : 0);
    return SAP_OK;
}

SapStatus sap_batch_check_parameters(SapBatch *batch) {
    SAP_NEED(batch);
    return sap_solver_check_parameters(batch->solver);
}

size_t sap_batch_bytes(const SapBatch *b) {
    if (!b)
        return 0;
    SapSolverInfo info;
    if (sap_solver_info(b->solver, &info) != SAP_OK)
        return 0;
    size_t number = b->dtype == SAP_F64 ? sizeof(double) : sizeof(float), n = (size_t)b->num_worlds;
    size_t state = (size_t)b->nq + (size_t)b->nv + 13 * (size_t)b->nb, control = 4 * (size_t)b->nv + 6 * (size_t)b->nb;
    size_t contact = 11 * (b->contacts->dtype == SAP_F64 ? sizeof(double) : sizeof(float)) + 2 * sizeof(int32_t);
    return info.total_bytes + n * (state + control) * number + n * (size_t)b->contacts->capacity * contact +
           2 * n * sizeof(int32_t) + b->record_bytes;
}
