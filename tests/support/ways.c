/* Ways to run worlds: see ways.h. */
#include "support/ways.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

/* World POISONED gets a NaN before one call and a reset before another. */
enum { POISONED = 3, POISON_CALL = 1, RESET_CALL = 3, RAYS = 3 };

/* The properties of a way as numbers, to set them one by one. */
enum { NUM_PROPERTIES = sizeof(Way) / sizeof(int) };
static const char *const property_names[NUM_PROPERTIES] = {"lanes",  "threads", "isa",    "factor_plan", "broad_phase",
                                                           "f64",    "device",  "worlds", "multiplier",  "offset",
                                                           "resume", "split",   "given",  "bare"};

void way_text(const Way *way, char *text, size_t size) {
    size_t at = 0;
    text[0] = 0;
    for (int i = 0; i < NUM_PROPERTIES && at < size; i++)
        if (((const int *)way)[i])
            at += (size_t)snprintf(text + at, size - at, "%s%s %d", at ? ", " : "", property_names[i],
                                   ((const int *)way)[i]);
}

/* A batch and the worlds of its places. */
typedef struct Batch {
    const Subject *subject;
    const Way *way;
    SapBatch *batch;
    int places, *world;
} Batch;

static bool is_mujoco(const Subject *s) {
    return s->scene->options.contact_solver == SAP_SOLVER_MUJOCO;
}

/* ---- arrays ---- */

/* The shape of an array; without data if the batch does not have it. */
static SapArray view_of(const Batch *b, int field) {
    SapArray view = {0};
    if (sap_batch_array(b->batch, (SapBatchField)field, &view) != SAP_OK)
        view = (SapArray){0};
    return view;
}

static size_t bytes_of(const SapArray *a) {
    return a->data ? (size_t)(a->shape[0] * a->strides[0]) : 0;
}

static int row_length(const SapArray *a) {
    int n = 1;
    for (int d = 1; d < a->ndim; d++)
        n *= (int)a->shape[d];
    return a->data ? n : 0;
}

static double number_at(SapElementType type, const void *row, int i) {
    switch (type) {
    case SAP_TYPE_F32: return (double)((const float *)row)[i];
    case SAP_TYPE_F64: return ((const double *)row)[i];
    default: return ((const int32_t *)row)[i];
    }
}

/* Numbers are those of f32, so that both types of storage hold them. */
static void put(const SapArray *a, void *data, int at, double value) {
    if (a->type == SAP_TYPE_F64)
        ((double *)data)[at] = (double)(float)value;
    else if (a->type == SAP_TYPE_F32)
        ((float *)data)[at] = (float)value;
    else
        ((int32_t *)data)[at] = (int32_t)value;
}

/* Arrays that a caller writes and steps only read are not logged, nor are sensors that a subject does not have. */
static bool is_logged(const Batch *b, int field) {
    bool given = field >= SAP_BATCH_CONTACT_STIFFNESS && field <= SAP_BATCH_CONTACT_MUJOCO;
    bool sensed = field < SAP_BATCH_SITE_Q || b->subject->sensors;
    return !given && sensed && !(b->way->bare && field >= SAP_BATCH_CONTACT_BODY0);
}

/* ---- the batch ---- */

/* Sites and contact sensors on the first and the last body, and rays from the last one. */
static SapStatus set_sensors(const Batch *b) {
    static const float origin[3 * RAYS] = {0}, direction[3 * RAYS] = {0, 0, -1, 1, 0, -0.5f, 0, -1, 1};
    const int32_t body[2] = {0, sap_model_arrays(b->subject->scene->model)->num_bodies - 1};
    SapRays rays;
    if (!b->subject->sensors || b->way->bare)
        return SAP_OK;
    sap_rays_default(&rays);
    rays.num_rays = RAYS;
    rays.dtype = SAP_F32;
    rays.origin = origin;
    rays.direction = direction;
    rays.shared = 1;
    rays.body = rays.exclude_body = body[1];
    return sap_batch_set_sensors(b->batch, &(SapSensors){.num_sites = 2,
                                                         .site_body = body,
                                                         .num_touch = 2,
                                                         .touch_body = body,
                                                         .num_ray_sensors = 1,
                                                         .ray_sensor = &rays});
}

static SapOptions options_of(const Batch *b) {
    SapOptions o = b->subject->scene->options;
    o.lanes = b->way->lanes ? b->way->lanes : 1;
    o.threads = b->way->threads ? b->way->threads : 1;
    o.isa = (SapIsa)b->way->isa;
    o.factor_plan = (SapFactorPlan)b->way->plan;
    o.broad_phase = (SapBroadPhase)b->way->broad_phase;
    o.device = (SapDevice)b->way->device;
    return o;
}

static SapStatus create_with(Batch *b, const SapOptions *o) {
    const SapModel *model = b->subject->scene->model;
    bool f64 = b->way->storage && o->free_motion_precision == SAP_FP32;
    if (b->subject->dtype == PRESET_DTYPE && !f64)
        return sap_batch_create(model, b->places, o, &b->batch);
    return sap_batch_create_as(model, b->places, o, f64 ? SAP_F64 : (SapDtype)b->subject->dtype, &b->batch);
}

/* Builds and processors have different instruction sets, and these different lanes. */
static SapStatus create(Batch *b) {
    SapOptions o = options_of(b);
    SapStatus status = create_with(b, &o);
    if (status != SAP_OK && b->way->lanes) {
        o.lanes = 0;
        status = create_with(b, &o);
    }
    if (status != SAP_OK && b->way->isa) {
        o.isa = SAP_ISA_AUTO;
        status = create_with(b, &o);
    }
    if (status == SAP_OK)
        status = set_sensors(b);
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS && status == SAP_OK; f++)
        if (is_logged(b, f))
            view_of(b, f); /* recorded from now on */
    return status;
}

static SapStatus open_batch(Batch *b, const Subject *subject, const Way *way) {
    int multiplier = way->multiplier ? way->multiplier : 1;
    *b = (Batch){.subject = subject, .way = way, .places = way->worlds ? way->worlds : subject->worlds};
    b->world = calloc((size_t)b->places, sizeof *b->world);
    if (!b->world)
        return SAP_ERROR_MEMORY;
    for (int i = 0; i < b->places; i++)
        b->world[i] = (i * multiplier + way->offset) % subject->worlds;
    return create(b);
}

/* ---- what worlds get ---- */

/* The numbers that a world gets before a call, wherever it is. */
static Random random_of(const Subject *s, int world, int call) {
    Random random = random_seed(s->seed * 1000003u + (uint64_t)(1000 * (call + 1) + world));
    random_bits(&random);
    return random;
}

/* Changes the rows of an array: each number gets `of` numbers of its world. */
static SapStatus fill(const Batch *b, int field, int call, double size) {
    SapArray a = view_of(b, field);
    unsigned char *data = malloc(bytes_of(&a) + 1);
    int n = row_length(&a);
    for (int k = 0; k < b->places && data && n > 0; k++) {
        Random random = random_of(b->subject, b->world[k], 50 * call + field);
        for (int i = 0; i < n; i++)
            put(&a, data, k * n + i,
                a.type == SAP_TYPE_I32 ? random_below(&random, 4) > 0 : random_between(&random, -size, size));
    }
    SapStatus status = !data   ? SAP_ERROR_MEMORY
                       : n > 0 ? sap_batch_write(b->batch, (SapBatchField)field, data, bytes_of(&a))
                               : SAP_OK;
    free(data);
    return status;
}

/* Every control, and some constraints off. */
static SapStatus control(const Batch *b, int call) {
    static const struct {
        SapBatchField field;
        double size;
    } controls[] = {{SAP_BATCH_JOINT_TARGET_POS, 0.3},  {SAP_BATCH_JOINT_TARGET_VEL, 0.3}, {SAP_BATCH_JOINT_F, 0.5},
                    {SAP_BATCH_JOINT_ACT, 0.2},         {SAP_BATCH_BODY_F, 0.5},           {SAP_BATCH_TENDON_F, 0.5},
                    {SAP_BATCH_TENDON_TARGET_POS, 0.2}, {SAP_BATCH_CONSTRAINT_ACTIVE, 0}};
    SapStatus status = SAP_OK;
    for (size_t i = 0; i < sizeof controls / sizeof *controls && status == SAP_OK; i++)
        status = fill(b, (int)controls[i].field, call, controls[i].size);
    return status;
}

/* Numbers of the model, each times 0.8 to 1.2. */
static void own_parameters(const Batch *b) {
    static const SapParameter scaled[] = {
        SAP_PARAMETER_GRAVITY,       SAP_PARAMETER_BODY_MASS,      SAP_PARAMETER_SHAPE_MATERIAL_MU,
        SAP_PARAMETER_JOINT_DAMPING, SAP_PARAMETER_JOINT_FRICTION, SAP_PARAMETER_SHAPE_MATERIAL_KE,
        SAP_PARAMETER_CONSTRAINT_KE, SAP_PARAMETER_TENDON_DAMPING, SAP_PARAMETER_TENDON_TERM_VALUE};
    for (size_t i = 0; i < sizeof scaled / sizeof *scaled && b->subject->own; i++) {
        SapArray a;
        if (sap_batch_expand(b->batch, scaled[i], &a) != SAP_OK)
            continue; /* the model has none */
        int n = row_length(&a);
        for (int k = 0; k < b->places; k++) {
            Random random = random_of(b->subject, b->world[k], 1000 + (int)i);
            for (int j = 0; j < n; j++)
                ((double *)a.data)[k * n + j] *= random_between(&random, 0.8, 1.2);
        }
    }
}

/* Resets one world, or all that begin at this keyframe if it is -1. */
static SapStatus reset(const Batch *b, int keyframe, int world) {
    int starts = 1 + sap_model_arrays(b->subject->scene->model)->num_keyframes;
    uint8_t *mask = calloc((size_t)b->places, 1);
    for (int k = 0; k < b->places && mask; k++)
        mask[k] = world < 0 ? b->world[k] % starts == keyframe : b->world[k] == world;
    SapStatus status = mask ? sap_batch_reset(b->batch, mask, keyframe) : SAP_ERROR_MEMORY;
    free(mask);
    return status;
}

/* Worlds start in the initial state and at keyframes, with velocities. */
static SapStatus start(const Batch *b) {
    SapStatus status = SAP_OK;
    for (int k = 0; k <= sap_model_arrays(b->subject->scene->model)->num_keyframes && status == SAP_OK; k++)
        status = reset(b, k, -1);
    if (status == SAP_OK)
        status = fill(b, SAP_BATCH_JOINT_QD, -1, 1);
    own_parameters(b);
    return status == SAP_OK ? sap_batch_forward_kinematics(b->batch, NULL) : status;
}

/* One world fails and is reset later. */
static SapStatus poison(const Batch *b, int call) {
    if (!b->subject->poisoned || (call != POISON_CALL && call != RESET_CALL))
        return SAP_OK;
    if (call == RESET_CALL)
        return reset(b, 0, POISONED);
    SapArray a = view_of(b, SAP_BATCH_JOINT_Q);
    void *data = malloc(bytes_of(&a));
    SapStatus status = data ? sap_batch_read(b->batch, SAP_BATCH_JOINT_Q, data, bytes_of(&a)) : SAP_ERROR_MEMORY;
    for (int k = 0; k < b->places && status == SAP_OK; k++)
        if (b->world[k] == POISONED)
            put(&a, data, k * row_length(&a), (double)NAN);
    if (status == SAP_OK)
        status = sap_batch_write(b->batch, SAP_BATCH_JOINT_Q, data, bytes_of(&a));
    free(data);
    return status;
}

/* ---- logs ---- */

static unsigned char *row_at(const Log *log, int call, int place, int field) {
    size_t row = log->offset[SAP_BATCH_NUM_FIELDS];
    return log->bytes + (size_t)(call * log->places + place) * row + log->offset[field];
}

static size_t row_bytes(const Log *log, int field) {
    return log->offset[field + 1] - log->offset[field];
}

const void *log_row(const Log *log, int call, int place, SapBatchField field) {
    return row_at(log, call, place, (int)field);
}

static uint32_t status_at(const Log *log, int call, int place) {
    uint32_t status;
    memcpy(&status, row_at(log, call, place, SAP_BATCH_STATUS), sizeof status);
    return status;
}

static SapStatus log_begin(Log *log, Batch *b) {
    log->places = b->places;
    log->world = b->world;
    b->world = NULL;
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++) {
        SapArray a = is_logged(b, f) ? view_of(b, f) : (SapArray){0};
        log->type[f] = a.type;
        log->length[f] = row_length(&a);
        log->offset[f + 1] = log->offset[f] + (a.data ? ((size_t)a.strides[0] + 7) / 8 * 8 : 0);
    }
    log->bytes = calloc((size_t)(CALLS * log->places), log->offset[SAP_BATCH_NUM_FIELDS]);
    b->world = log->world;
    return log->bytes ? SAP_OK : SAP_ERROR_MEMORY;
}

void log_free(Log *log) {
    free(log->bytes);
    free(log->world);
    *log = (Log){0};
}

/* Entries of arrays per contact past the number of contacts may be old. */
static size_t used_bytes(const Log *log, const SapArray *a, int call, int place, int field) {
    int32_t count;
    memcpy(&count, row_at(log, call, place, SAP_BATCH_CONTACT_COUNT), sizeof count);
    bool contact = field >= SAP_BATCH_CONTACT_SHAPE0 && field <= SAP_BATCH_CONTACT_FORCE;
    return contact && count < a->shape[1] ? (size_t)(count * a->strides[1]) : (size_t)a->strides[0];
}

static SapStatus log_call(Log *log, const Batch *b, int call) {
    SapStatus status = SAP_OK;
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS && status == SAP_OK; f++) {
        if (row_bytes(log, f) == 0)
            continue;
        SapArray a = view_of(b, f);
        unsigned char *data = malloc(bytes_of(&a));
        status = data ? sap_batch_read(b->batch, (SapBatchField)f, data, bytes_of(&a)) : SAP_ERROR_MEMORY;
        for (int k = 0; k < b->places && status == SAP_OK; k++)
            memcpy(row_at(log, call, k, f), data + k * a.strides[0], used_bytes(log, &a, call, k, f));
        free(data);
    }
    return status;
}

/* ---- a run ---- */

/* The arrays that determine how worlds continue; after a sleeping world all its results, which it does not compute. */
static bool is_state(const Batch *b, int field) {
    const SapOptions *o = &b->subject->scene->options;
    bool control = field >= SAP_BATCH_JOINT_F && field <= SAP_BATCH_ACTUATOR_CTRL;
    bool cache = field >= SAP_BATCH_CACHE_KEY && field <= SAP_BATCH_DOF_CACHE;
    bool warm =
        is_mujoco(b->subject) ? field == SAP_BATCH_DOF_CACHE : o->warm_start && o->contact_solver != SAP_SOLVER_SAP;
    bool result = !cache && o->sleep_steps > 0 && field < SAP_BATCH_SITE_Q && is_logged(b, field);
    return field == SAP_BATCH_JOINT_Q || field == SAP_BATCH_JOINT_QD || field == SAP_BATCH_ACTUATOR_ACT || control ||
           (cache && warm) || result;
}

static SapStatus copy_field(const Batch *from, const Batch *to, int field) {
    SapArray a = is_state(to, field) ? view_of(from, field) : (SapArray){0};
    if (!a.data)
        return SAP_OK;
    void *data = malloc(bytes_of(&a));
    SapStatus status = data ? sap_batch_read(from->batch, (SapBatchField)field, data, bytes_of(&a)) : SAP_ERROR_MEMORY;
    if (status == SAP_OK)
        status = sap_batch_write(to->batch, (SapBatchField)field, data, bytes_of(&a));
    free(data);
    return status;
}

static SapStatus copy_sleep(const Batch *from, const Batch *to) {
    int size = sap_batch_sleep_size(from->batch);
    int32_t *rows = calloc((size_t)(from->places * size + 1), sizeof *rows);
    SapStatus status = !rows ? SAP_ERROR_MEMORY : size ? sap_batch_get_sleep(from->batch, rows) : SAP_OK;
    if (status == SAP_OK && size)
        status = sap_batch_set_sleep(to->batch, NULL, rows);
    free(rows);
    return status;
}

/* Moves the worlds to a new batch. */
static SapStatus resume(Batch *b) {
    Batch old = *b;
    b->batch = NULL;
    SapStatus status = create(b);
    if (status == SAP_OK)
        own_parameters(b);
    for (int f = 0; status == SAP_OK && f < SAP_BATCH_NUM_FIELDS; f++)
        status = copy_field(&old, b, f);
    if (status == SAP_OK)
        status = copy_sleep(&old, b);
    sap_batch_destroy(old.batch);
    return status;
}

/* A step with the contacts that sap_collide finds. */
static SapStatus step_with_contacts(const Batch *b) {
    SapContacts *contacts;
    SapBatchInfo info;
    SapStatus status = sap_batch_info(b->batch, &info);
    if (status == SAP_OK)
        status = sap_contacts_create(b->places, info.capacity, sap_batch_contacts(b->batch)->dtype, &contacts);
    if (status != SAP_OK)
        return status;
    status = sap_collide(sap_batch_solver(b->batch), sap_batch_state(b->batch), contacts);
    if (status == SAP_OK)
        status = sap_batch_step_contacts(b->batch, contacts, b->subject->scene->dt, 1);
    sap_contacts_destroy(contacts);
    return status;
}

static SapStatus take_steps(const Batch *b) {
    const Subject *s = b->subject;
    if (!b->way->split)
        return sap_batch_step(b->batch, s->scene->dt, s->steps);
    bool given = b->way->given && s->scene->options.sleep_steps == 0 && b->way->device == SAP_DEVICE_CPU;
    SapStatus status = SAP_OK;
    for (int i = 0; i < s->steps && status == SAP_OK; i++)
        status = given     ? step_with_contacts(b)
                 : s->step ? s->step(b->batch, s->scene, s->context)
                           : sap_batch_step(b->batch, s->scene->dt, 1);
    return status;
}

static SapStatus take_call(Batch *b, Log *log, int call) {
    SapStatus status = control(b, call);
    if (status == SAP_OK)
        status = poison(b, call);
    if (status == SAP_OK && b->way->resume == call && call > 0)
        status = resume(b);
    if (status == SAP_OK)
        status = take_steps(b);
    return status == SAP_OK ? log_call(log, b, call) : status;
}

SapStatus way_run(const Subject *subject, const Way *way, Log *log) {
    Batch b;
    *log = (Log){0};
    SapStatus status = open_batch(&b, subject, way);
    if (status == SAP_OK)
        status = start(&b);
    if (status == SAP_OK)
        status = log_begin(log, &b);
    for (int call = 0; call < CALLS && status == SAP_OK; call++)
        status = take_call(&b, log, call);
    if (b.world != log->world)
        free(b.world);
    sap_batch_destroy(b.batch);
    return status;
}

/* ---- comparison ---- */

static bool failed_before(const Log *log, int call, int place) {
    bool failed = false;
    for (int k = 0; k <= call; k++)
        failed |= (status_at(log, k, place) & SAP_WORLD_FAILED) != 0;
    return failed;
}

/* Arrays that sum up over a call, or since the first request. */
static bool is_of_history(int field) {
    return field >= SAP_BATCH_SITE_Q || field == SAP_BATCH_TREE_REST;
}

/* Whether a way keeps the bits of a field of a world: reports of a failed one have no meaning, statuses add up over the
 * steps of a call, and a failed world is tried again in the next one. */
static bool is_kept(const Log *expected, const Way *way, int call, int world, int field) {
    bool failed = (status_at(expected, call, world) & SAP_WORLD_FAILED) != 0;
    if (failed && field != SAP_BATCH_JOINT_Q && field != SAP_BATCH_JOINT_QD && field != SAP_BATCH_STATUS)
        return false;
    if (way->split && (field == SAP_BATCH_STATUS || failed_before(expected, call, world)))
        return false;
    return !((way->split || way->resume) && is_of_history(field));
}

/* The first element of a row that differs; -1 if none does. Storage in f64 holds the numbers of f32, and readings of
 * sensors before they are rounded. */
static int first_difference(const Log *expected, const Log *got, Difference *at) {
    int f = at->field;
    const unsigned char *a = row_at(expected, at->call, got->world[at->place], f),
                        *b = row_at(got, at->call, at->place, f);
    if (row_bytes(expected, f) == 0 || row_bytes(got, f) == 0)
        return -1;
    if (expected->type[f] == got->type[f] && memcmp(a, b, row_bytes(expected, f)) == 0)
        return -1;
    int size = expected->type[f] == SAP_TYPE_F64 ? 8 : 4;
    for (int i = 0; i < expected->length[f]; i++) {
        at->expected = number_at(expected->type[f], a, i);
        at->got = number_at(got->type[f], b, i);
        if (expected->type[f] == got->type[f]
                ? memcmp(a + i * size, b + i * size, (size_t)size) != 0
                : !((float)at->expected == (float)at->got || (isnan(at->expected) && isnan(at->got))))
            return i;
    }
    return -1;
}

bool log_differs(const Log *expected, const Log *got, const Way *way, Difference *at) {
    for (at->call = 0; at->call < CALLS; at->call++)
        for (at->place = 0; at->place < got->places; at->place++)
            for (at->field = 0; at->field < SAP_BATCH_NUM_FIELDS; at->field++)
                if (is_kept(expected, way, at->call, got->world[at->place], at->field)) {
                    at->element = first_difference(expected, got, at);
                    if (at->element >= 0)
                        return true;
                }
    return false;
}

void way_blame(const Subject *subject, const Way *way, const Log *expected, char *text, size_t size) {
    size_t at = 0;
    text[0] = 0;
    for (int i = 0; i < NUM_PROPERTIES && at < size; i++) {
        Way one = {.split = way->split && i == offsetof(Way, given) / sizeof(int)};
        ((int *)&one)[i] = ((const int *)way)[i];
        Log log = {0};
        Difference found;
        if (((const int *)way)[i] && way_run(subject, &one, &log) == SAP_OK &&
            log_differs(expected, &log, &one, &found))
            at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", property_names[i]);
        log_free(&log);
    }
    if (at == 0)
        snprintf(text, size, "no property alone");
}
