/* Runs: see run.h. */
#include "generate/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

/* World POISONED gets a NaN before one call and a reset before another. */
enum { POISONED = 3, POISON_CALL = 1, RESET_CALL = 3 };

const char *const property_names[NUM_PROPERTIES] = {"lanes",    "threads", "isa",    "factor_plan", "broad_phase",
                                                    "position", "subset",  "resume", "split calls", "no records"};

/* Places of a batch and the worlds that they have. */
typedef struct Places {
    int count, world[WORLDS];
} Places;

static Places places_of(const Variant *v) {
    Places p = {0};
    for (int i = 0; i < WORLDS; i++) {
        int world = (i + WORLDS - v->rotation % WORLDS) % WORLDS;
        if (!v->subset || world & v->subset)
            p.world[p.count++] = world;
    }
    return p;
}

/* ---- the batch ---- */

static bool is_mujoco(const Job *job) {
    return job->scene->options.contact_solver == SAP_SOLVER_MUJOCO;
}

/* A view of an array, without data if the batch does not have it. */
static SapArray view_of(SapBatch *batch, SapBatchField field) {
    SapArray view = {0};
    if (sap_batch_array(batch, field, &view) != SAP_OK)
        view = (SapArray){0};
    return view;
}

/* Arrays that a caller writes and steps only read, or that sensors fill, are not logged. */
static bool is_logged(SapBatchField field, const Variant *v) {
    bool given = field >= SAP_BATCH_CONTACT_STIFFNESS && field <= SAP_BATCH_CONTACT_MUJOCO;
    return !given && field < SAP_BATCH_SITE_Q && !(v->bare && field >= SAP_BATCH_CONTACT_BODY0);
}

/* The lanes of MuJoCo's law follow from the instruction set. Only some processors and builds have 16 lanes. */
static SapStatus create(const Job *job, const Variant *v, int num_worlds, SapBatch **out) {
    SapOptions o = job->scene->options;
    o.lanes = is_mujoco(job) ? 0 : v->lanes ? v->lanes : 1;
    o.threads = v->threads ? v->threads : 1;
    o.isa = v->isa ? (SapIsa)v->isa : is_mujoco(job) ? SAP_ISA_GENERIC : SAP_ISA_AUTO;
    o.factor_plan = (SapFactorPlan)v->plan;
    o.broad_phase = (SapBroadPhase)v->broad_phase;
    SapDtype dtype = case_has(&job->c, FACTOR_DTYPE, "f32") ? SAP_F32 : SAP_F64;
    bool preset = case_has(&job->c, FACTOR_DTYPE, "preset");
    SapStatus status = preset ? sap_batch_create(job->scene->model, num_worlds, &o, out)
                              : sap_batch_create_as(job->scene->model, num_worlds, &o, dtype, out);
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS && status == SAP_OK; f++)
        if (is_logged((SapBatchField)f, v))
            view_of(*out, (SapBatchField)f); /* recorded from now on */
    if (status == SAP_OK || (v->lanes != 16 && !v->isa))
        return status;
    Variant usual = *v;
    usual.lanes = v->lanes == 16 ? 8 : v->lanes;
    usual.isa = 0;
    return create(job, &usual, num_worlds, out);
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

static void put(const SapArray *a, int place, int i, double value) {
    int at = place * row_length(a) + i;
    if (a->type == SAP_TYPE_F64)
        ((double *)a->data)[at] = value;
    else if (a->type == SAP_TYPE_F32)
        ((float *)a->data)[at] = (float)value;
    else
        ((int32_t *)a->data)[at] = (int32_t)value;
}

/* ---- what worlds get ---- */

/* The numbers that world `world` gets before `call`: independent of where it is. */
static Random random_of(const Job *job, int world, int call) {
    Random random = random_seed(job->seed * 1000003u + (uint64_t)(WORLDS * (call + 1) + world));
    random_bits(&random);
    return random;
}

/* Adds noise to the rows of an array. */
static void disturb(SapBatch *batch, SapBatchField field, int place, Random *random, double size) {
    SapArray a = view_of(batch, field);
    for (int i = 0; i < row_length(&a); i++)
        put(&a, place, i, random_between(random, -size, size));
}

/* Every control, and some constraints off. */
static void control(const Job *job, SapBatch *batch, const Places *p, int call) {
    for (int k = 0; k < p->count; k++) {
        Random random = random_of(job, p->world[k], call);
        disturb(batch, SAP_BATCH_JOINT_TARGET_POS, k, &random, 0.3);
        disturb(batch, SAP_BATCH_JOINT_TARGET_VEL, k, &random, 0.3);
        disturb(batch, SAP_BATCH_JOINT_F, k, &random, 0.5);
        disturb(batch, SAP_BATCH_JOINT_ACT, k, &random, 0.2);
        disturb(batch, SAP_BATCH_BODY_F, k, &random, call % 2);
        disturb(batch, SAP_BATCH_TENDON_TARGET_POS, k, &random, 0.2);
        disturb(batch, SAP_BATCH_TENDON_F, k, &random, 0.5);
        SapArray active = view_of(batch, SAP_BATCH_CONSTRAINT_ACTIVE);
        for (int i = 0; i < row_length(&active); i++)
            put(&active, k, i, random_below(&random, 4) > 0);
    }
}

/* Numbers of the model, each times 0.8 to 1.2. */
static void own_parameters(const Job *job, SapBatch *batch, const Places *p) {
    static const SapParameter scaled[] = {
        SAP_PARAMETER_GRAVITY,       SAP_PARAMETER_BODY_MASS,      SAP_PARAMETER_SHAPE_MATERIAL_MU,
        SAP_PARAMETER_JOINT_DAMPING, SAP_PARAMETER_JOINT_FRICTION, SAP_PARAMETER_SHAPE_MATERIAL_KE,
        SAP_PARAMETER_CONSTRAINT_KE, SAP_PARAMETER_TENDON_DAMPING, SAP_PARAMETER_TENDON_TERM_VALUE};
    for (size_t i = 0; i < sizeof scaled / sizeof *scaled; i++) {
        SapArray a;
        if (sap_batch_expand(batch, scaled[i], &a) != SAP_OK)
            continue; /* the model has none */
        for (int k = 0; k < p->count; k++) {
            Random random = random_of(job, p->world[k], 100 + (int)i);
            for (int j = 0; j < row_length(&a); j++)
                put(&a, k, j, ((double *)a.data)[k * row_length(&a) + j] * random_between(&random, 0.8, 1.2));
        }
    }
}

static SapStatus reset(SapBatch *batch, const Places *p, int keyframe, int world_or_all) {
    uint8_t mask[WORLDS];
    for (int k = 0; k < p->count; k++)
        mask[k] = world_or_all < 0 ? p->world[k] % 3 == keyframe : p->world[k] == world_or_all;
    return sap_batch_reset(batch, mask, keyframe);
}

/* Worlds start in the initial state and at keyframes, with velocities. */
static SapStatus start(const Job *job, SapBatch *batch, const Places *p) {
    SapStatus status = SAP_OK;
    for (int keyframe = 0; keyframe < 3 && status == SAP_OK; keyframe++)
        status = reset(batch, p, keyframe, -1);
    for (int k = 0; k < p->count; k++) {
        Random random = random_of(job, p->world[k], -1);
        disturb(batch, SAP_BATCH_JOINT_QD, k, &random, p->world[k] == 0 ? 0 : 1);
    }
    if (case_has(&job->c, FACTOR_PARAMETERS, "own"))
        own_parameters(job, batch, p);
    return status;
}

/* One world fails and is reset later. */
static SapStatus poison(const Job *job, SapBatch *batch, const Places *p, int call) {
    if (job->seed % 2 == 0)
        return SAP_OK;
    SapArray q = view_of(batch, SAP_BATCH_JOINT_Q);
    for (int k = 0; k < p->count && call == POISON_CALL; k++)
        if (p->world[k] == POISONED)
            put(&q, k, 0, (double)NAN);
    return call == RESET_CALL ? reset(batch, p, 1, POISONED) : SAP_OK;
}

/* ---- logs ---- */

const void *log_row(const Log *log, int call, int world, SapBatchField field) {
    const unsigned char *row = log->bytes + (size_t)(call * WORLDS + world) * log->offset[SAP_BATCH_NUM_FIELDS];
    return log->offset[field] < log->offset[field + 1] ? row + log->offset[field] : NULL;
}

static SapStatus log_begin(Log *log, SapBatch *batch, const Variant *v, const Places *p) {
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++) {
        SapArray a = is_logged((SapBatchField)f, v) ? view_of(batch, (SapBatchField)f) : (SapArray){0};
        log->type[f] = a.type;
        log->offset[f + 1] = log->offset[f] + (a.data ? (size_t)a.strides[0] : 0);
    }
    for (int k = 0; k < p->count; k++)
        log->has[p->world[k]] = true;
    log->bytes = calloc((size_t)(CALLS * WORLDS), log->offset[SAP_BATCH_NUM_FIELDS]);
    return log->bytes ? SAP_OK : SAP_ERROR_MEMORY;
}

void log_free(Log *log) {
    free(log->bytes);
    *log = (Log){0};
}

/* Entries of arrays per contact past the number of contacts may be old. */
static size_t used_bytes(const SapArray *a, SapBatchField field, int count) {
    bool contact = field >= SAP_BATCH_CONTACT_SHAPE0 && field <= SAP_BATCH_CONTACT_FORCE;
    return contact && count < a->shape[1] ? (size_t)(count * a->strides[1]) : (size_t)a->strides[0];
}

static void log_call(Log *log, SapBatch *batch, const Places *p, int call) {
    SapArray counts = view_of(batch, SAP_BATCH_CONTACT_COUNT);
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++) {
        if (log->offset[f] == log->offset[f + 1])
            continue;
        SapArray a = view_of(batch, (SapBatchField)f);
        for (int k = 0; k < p->count; k++)
            memcpy((void *)(uintptr_t)log_row(log, call, p->world[k], (SapBatchField)f),
                   (const char *)a.data + k * a.strides[0],
                   used_bytes(&a, (SapBatchField)f, ((const int32_t *)counts.data)[k]));
    }
}

/* ---- a run ---- */

/* The arrays that determine how worlds continue. */
static bool is_state(const Job *job, SapBatchField field) {
    bool control = field >= SAP_BATCH_JOINT_F && field <= SAP_BATCH_ACTUATOR_CTRL;
    bool cache = field >= SAP_BATCH_CACHE_KEY && field <= SAP_BATCH_DOF_CACHE;
    bool warm = is_mujoco(job) ? field == SAP_BATCH_DOF_CACHE
                               : job->scene->options.warm_start && job->scene->options.contact_solver != SAP_SOLVER_SAP;
    return field == SAP_BATCH_JOINT_Q || field == SAP_BATCH_JOINT_QD || field == SAP_BATCH_ACTUATOR_ACT || control ||
           (cache && warm);
}

/* Moves the worlds to a new batch. */
static SapStatus resume(const Job *job, const Variant *v, const Places *p, SapBatch **batch) {
    SapBatch *old = *batch;
    SapStatus status = create(job, v, p->count, batch);
    for (int f = 0; status == SAP_OK && f < SAP_BATCH_NUM_FIELDS; f++) {
        SapArray a = is_state(job, (SapBatchField)f) ? view_of(old, (SapBatchField)f) : (SapArray){0};
        if (a.data)
            status = sap_batch_write(*batch, (SapBatchField)f, a.data, (size_t)(a.shape[0] * a.strides[0]));
    }
    if (status == SAP_OK && case_has(&job->c, FACTOR_PARAMETERS, "own"))
        own_parameters(job, *batch, p);
    sap_batch_destroy(old);
    return status;
}

/* The steps of one call, one by one with checks of their statuses if the variant says so. */
static SapStatus take_steps(const Job *job, const Variant *v, SapBatch *batch, Truth *truth) {
    double h = job->scene->dt;
    SapStatus status = v->split ? SAP_OK : sap_batch_step(batch, h, STEPS_PER_CALL);
    for (int i = 0; v->split && i < STEPS_PER_CALL && status == SAP_OK; i++)
        status = truth_step(batch, job->scene->model, &job->scene->options, h, truth);
    return status;
}

SapStatus run(const Job *job, const Variant *v, Log *log) {
    Places p = places_of(v);
    SapBatch *batch = NULL;
    *log = (Log){0};
    SapStatus status = create(job, v, p.count, &batch);
    if (status == SAP_OK)
        status = start(job, batch, &p);
    if (status == SAP_OK)
        status = log_begin(log, batch, v, &p);
    for (int call = 0; call < CALLS && status == SAP_OK; call++) {
        control(job, batch, &p, call);
        status = poison(job, batch, &p, call);
        if (status == SAP_OK && v->resume == call && call > 0)
            status = resume(job, v, &p, &batch);
        if (status == SAP_OK)
            status = take_steps(job, v, batch, &log->truth);
        if (status == SAP_OK)
            log_call(log, batch, &p, call);
    }
    sap_batch_destroy(batch);
    return status;
}

/* ---- comparison ---- */

static bool failed_before(const Log *log, int call, int world) {
    bool failed = false;
    for (int k = 0; k <= call; k++)
        failed |= (*(const uint32_t *)log_row(log, k, world, SAP_BATCH_STATUS) & SAP_WORLD_FAILED) != 0;
    return failed;
}

/* Whether a variant keeps the bits of a field: the reports of a failed world have no meaning, statuses add up over the
 * steps of a call, a failed world is tried again in the next one, and a new batch begins to count its rest. */
static bool is_kept(const Log *log, const Variant *v, int call, int world, SapBatchField field) {
    bool failed = (*(const uint32_t *)log_row(log, call, world, SAP_BATCH_STATUS) & SAP_WORLD_FAILED) != 0;
    if (failed && field != SAP_BATCH_JOINT_Q && field != SAP_BATCH_JOINT_QD && field != SAP_BATCH_STATUS)
        return false;
    if (v->split && (field == SAP_BATCH_STATUS || failed_before(log, call, world)))
        return false;
    return !(v->resume && field == SAP_BATCH_TREE_REST);
}

static bool rows_differ(const Log *expected, const Log *got, Difference *at) {
    const void *a = log_row(expected, at->call, at->world, (SapBatchField)at->field);
    const void *b = log_row(got, at->call, at->world, (SapBatchField)at->field);
    size_t bytes = expected->offset[at->field + 1] - expected->offset[at->field];
    if (!a || !b || memcmp(a, b, bytes) == 0)
        return false;
    size_t size = expected->type[at->field] == SAP_TYPE_F64 ? 8 : 4;
    at->element = 0;
    while (memcmp((const char *)a + (size_t)at->element * size, (const char *)b + (size_t)at->element * size, size) ==
           0)
        at->element++;
    at->expected = number_at(expected->type[at->field], a, at->element);
    at->got = number_at(expected->type[at->field], b, at->element);
    return true;
}

bool log_differs(const Log *expected, const Log *got, const Variant *v, Difference *at) {
    for (at->call = 0; at->call < CALLS; at->call++)
        for (at->world = 0; at->world < WORLDS; at->world++)
            for (at->field = 0; got->has[at->world] && at->field < SAP_BATCH_NUM_FIELDS; at->field++)
                if (is_kept(expected, v, at->call, at->world, (SapBatchField)at->field) &&
                    rows_differ(expected, got, at))
                    return true;
    return false;
}
