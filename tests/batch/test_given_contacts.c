/* sap_batch_step_contacts: a batch steps with the contacts of the caller. With those that its own collision found it
 * takes the same step, bit for bit, in every formulation; it equals sap_step; and whatever a world's records are, no
 * other world notices, and none is lost without being counted. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "support/contact_bench.h"
#include "support/mujoco_rig.h"
#include "support/scene_batch.h"

/* ---- comparing ---- */

static SapArray view_of(SapBatch *batch, SapBatchField field) {
    SapArray view;
    need(sap_batch_array(batch, field, &view));
    return view;
}

static void check_field(SapBatch *a, SapBatch *b, SapBatchField field, const char *what) {
    SapArray x = view_of(a, field), y = view_of(b, field);
    cr_assert_eq(memcmp(x.data, y.data, (size_t)(x.shape[0] * x.strides[0])), 0, "%s: %s differs", what,
                 sap_batch_field_names()[field]);
}

static void check_moves(SapBatch *a, SapBatch *b, const char *what) {
    static const SapBatchField fields[] = {SAP_BATCH_JOINT_Q, SAP_BATCH_JOINT_QD,   SAP_BATCH_BODY_Q,
                                           SAP_BATCH_STATUS,  SAP_BATCH_ITERATIONS, SAP_BATCH_COST,
                                           SAP_BATCH_RESIDUAL};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        check_field(a, b, fields[i], what);
}

/* State, status, counters and reports; slots that no contact has had are 0 in both. */
static void check_same(SapBatch *a, SapBatch *b, const char *what) {
    static const SapBatchField fields[] = {SAP_BATCH_JOINT_Q,
                                           SAP_BATCH_JOINT_QD,
                                           SAP_BATCH_BODY_Q,
                                           SAP_BATCH_BODY_QD,
                                           SAP_BATCH_STATUS,
                                           SAP_BATCH_ITERATIONS,
                                           SAP_BATCH_COST,
                                           SAP_BATCH_RESIDUAL,
                                           SAP_BATCH_CONTACT_COUNT,
                                           SAP_BATCH_CONTACT_DROPPED,
                                           SAP_BATCH_CONTACT_IMPULSE,
                                           SAP_BATCH_CONTACT_GAP,
                                           SAP_BATCH_CONTACT_FORCE,
                                           SAP_BATCH_CONTACT_FRAME,
                                           SAP_BATCH_BODY_CONTACT_WRENCH};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        check_field(a, b, fields[i], what);
}

static void request_reports(SapBatch *batch) {
    for (int f = SAP_BATCH_CONTACT_IMPULSE; f <= SAP_BATCH_BODY_CONTACT_WRENCH; f++)
        view_of(batch, (SapBatchField)f);
}

static long long sum_of(SapBatch *batch, SapBatchField field) {
    SapArray view = view_of(batch, field);
    long long sum = 0;
    for (int64_t w = 0; w < view.shape[0]; w++)
        sum += ((int32_t *)view.data)[w];
    return sum;
}

/* ---- contacts that collision found ---- */

static const char *const formulations[][3] = {
    /* preset, option, value */
    {"approx32", "contact_solver", "sap"},    {"approx64", "contact_solver", "sap"},
    {"drake", "contact_solver", "sap"},       {"fast32", "contact_solver", "sap"},
    {"approx64", "contact_solver", "cone"},   {"approx64", "friction_law", "coulomb"},
    {"approx32", "contact_solver", "pgs"},    {"approx64", "contact_solver", "pgs_rows"},
    {"approx64", "warm_start", "true"},       {"approx64", "contact_solver", "active_set"},
    {"mujoco64", "contact_solver", "mujoco"}, {"mujoco32", "contact_solver", "mujoco"},
    {"approx32", "max_contacts", "3"},        {"approx32", "line_search", "wolfe"}};
enum { NUM_FORMULATIONS = sizeof formulations / sizeof *formulations, STEPS = 40 };
static const char *const scenes[] = {"quadruped", "stack5"};

static SapBatch *batch_of(const SapScene *scene, int f, int lanes, int threads) {
    SapOptions o = scene->options;
    const char *name = formulations[f][1];
    need(sap_options_set(&o, "preset", formulations[f][0]));
    o.lanes = lanes;
    o.threads = threads;
    if (strcmp(name, "friction_law") == 0 || strcmp(name, "warm_start") == 0)
        need(sap_options_set(&o, "contact_solver", "cone"));
    need(sap_options_set(&o, name, formulations[f][2]));
    SapBatch *batch = NULL;
    need(sap_batch_create(scene->model, 7, &o, &batch));
    for (int w = 0; w < 7; w++)
        set_content(batch, sap_model_arrays(scene->model), w, w);
    request_reports(batch);
    return batch;
}

static void check_formulation(const char *name, int f) {
    char what[256];
    SapScene *scene = load(name);
    int lanes = strcmp(formulations[f][2], "mujoco") == 0 ? 0 : 1;
    SapBatch *own = batch_of(scene, f, 0, 1), *given = batch_of(scene, f, lanes, 2);
    long long contacts = 0, dropped = 0;
    for (int k = 0; k < STEPS; k++) {
        need(sap_batch_step(own, scene->dt, 1));
        need(sap_batch_step_contacts(given, sap_batch_contacts(own), scene->dt, 1));
        snprintf(what, sizeof what, "%s, %s, %s = %s, step %d", name, formulations[f][0], formulations[f][1],
                 formulations[f][2], k);
        check_same(own, given, what);
        contacts += sum_of(own, SAP_BATCH_CONTACT_COUNT);
        dropped += sum_of(own, SAP_BATCH_CONTACT_DROPPED);
    }
    cr_assert(contacts > 100, "%s has %lld contacts", what, contacts);
    cr_assert(strcmp(formulations[f][1], "max_contacts") != 0 || dropped > 100, "%lld dropped", dropped);
    sap_batch_destroy(own);
    sap_batch_destroy(given);
    sap_scene_destroy(scene);
}

ParameterizedTestParameters(given_contacts, of_its_own_collision_give_the_step_of_its_own_collision) {
    static int params[NUM_FORMULATIONS];
    for (int i = 0; i < NUM_FORMULATIONS; i++)
        params[i] = i;
    return cr_make_param_array(int, params, NUM_FORMULATIONS);
}

ParameterizedTest(const int *f, given_contacts, of_its_own_collision_give_the_step_of_its_own_collision) {
    for (int s = 0; s < 2; s++)
        check_formulation(scenes[s], *f);
}

Test(given_contacts, leave_nothing_for_the_steps_after_them) {
    SapScene *scene = load("stack5");
    SapBatch *plain = batch_of(scene, 0, 0, 1), *mixed = batch_of(scene, 0, 0, 1);
    need(sap_batch_step(plain, scene->dt, 30));
    need(sap_batch_step(mixed, scene->dt, 30));
    SapArray q = view_of(plain, SAP_BATCH_JOINT_Q), v = view_of(plain, SAP_BATCH_JOINT_QD);
    /* a step of ice, then back */
    SapContacts ice = *sap_batch_contacts(mixed);
    size_t slots = (size_t)ice.num_worlds * (size_t)ice.capacity;
    ice.mu = calloc(slots, sizeof(double));
    ice.stiffness = malloc(slots * sizeof(float));
    for (size_t i = 0; i < slots; i++)
        ((float *)ice.stiffness)[i] = 1e3f;
    need(sap_batch_step_contacts(mixed, &ice, scene->dt, 1));
    need(sap_batch_write(mixed, SAP_BATCH_JOINT_Q, q.data, (size_t)(q.shape[0] * q.strides[0])));
    need(sap_batch_write(mixed, SAP_BATCH_JOINT_QD, v.data, (size_t)(v.shape[0] * v.strides[0])));
    need(sap_batch_step(plain, scene->dt, 1));
    need(sap_batch_step(mixed, scene->dt, 1));
    check_moves(plain, mixed, "after a step of ice");
    /* nor do parameters stay for given contacts without parameters */
    SapContacts none = *sap_batch_contacts(mixed);
    need(sap_batch_step_contacts(mixed, &none, scene->dt, 1));
    need(sap_batch_step_contacts(plain, sap_batch_contacts(plain), scene->dt, 1));
    check_moves(plain, mixed, "given contacts after contacts of ice");
    free(ice.mu);
    free(ice.stiffness);
    sap_batch_destroy(plain);
    sap_batch_destroy(mixed);
    sap_scene_destroy(scene);
}

Test(given_contacts, hold_for_all_steps_of_a_call) {
    SapScene *scene = load("quadruped");
    SapBatch *a = batch_of(scene, 1, 0, 1), *b = batch_of(scene, 1, 4, 2);
    need(sap_batch_step(a, scene->dt, 100));
    need(sap_batch_step(b, scene->dt, 100));
    need(sap_batch_step_contacts(a, sap_batch_contacts(a), scene->dt, 5));
    for (int k = 0; k < 5; k++)
        need(sap_batch_step_contacts(b, sap_batch_contacts(b), scene->dt, 1));
    check_same(a, b, "five steps in one call");
    cr_assert(sum_of(a, SAP_BATCH_CONTACT_COUNT) > 0);
    sap_batch_destroy(a);
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
}

/* ---- sap_step ---- */

enum { H_PARTS = 128 };

/* A batch in the state of the bench, with its control. */
static SapBatch *batch_like(const Fixture *bench, SapOptions o, int slots) {
    SapBatch *batch;
    const Worlds *w = bench->w;
    o.given_contacts = slots;
    need(sap_batch_create_as(w->model, w->n, &o, SAP_F64, &batch));
    const struct {
        SapBatchField field;
        const double *data;
        int width;
    } rows[] = {
        {SAP_BATCH_JOINT_Q, w->q, w->nq}, {SAP_BATCH_JOINT_QD, w->v, w->nv}, {SAP_BATCH_JOINT_F, w->joint_f, w->nv}};
    for (int i = 0; i < 3; i++)
        need(
            sap_batch_write(batch, rows[i].field, rows[i].data, (size_t)w->n * (size_t)rows[i].width * sizeof(double)));
    return batch;
}

static void check_like(const Fixture *bench, SapBatch *batch, const char *what) {
    const Worlds *w = bench->w;
    SapArray q = view_of(batch, SAP_BATCH_JOINT_Q), v = view_of(batch, SAP_BATCH_JOINT_QD),
             status = view_of(batch, SAP_BATCH_STATUS);
    for (int i = 0; i < w->n; i++)
        cr_assert_eq(((uint32_t *)status.data)[i], sap_solver_world_status(w->solver)[i], "%s: status of world %d",
                     what, i);
    cr_assert_eq(memcmp(q.data, w->q, (size_t)(w->n * w->nq) * sizeof(double)), 0, "%s: joint_q", what);
    cr_assert_eq(memcmp(v.data, w->v, (size_t)(w->n * w->nv) * sizeof(double)), 0, "%s: joint_qd", what);
}

Test(given_contacts, of_any_records_give_the_step_of_sap_step) {
    static const char *const presets[] = {"approx32", "approx64", "fast32", "drake"};
    for (uint64_t seed = 1; seed <= 12; seed++) {
        char what[64];
        SapOptions o = options_of(presets[seed % 4], SAP_EXACT_ROOT);
        if (seed % 3 == 0)
            o.contact_solver = SAP_SOLVER_CONE;
        Fixture b = random_bench(seed, 5, 2, &o, 1.0 / H_PARTS, seed % 2);
        Random random = random_seed(seed);
        for (int i = 0; i < b.w->n * SLOTS; i++)
            if (seed % 2) { /* bodies in place of shapes, parameters of some records */
                ((double *)b.c->mu)[i] = random_below(&random, 2) ? 0.1 * random_below(&random, 9) : NAN;
                ((double *)b.c->tau)[i] = random_below(&random, 2) ? 0.01 / 3 : NAN;
            }
        SapBatch *batch = batch_like(&b, o, SLOTS);
        need(sap_batch_step_contacts(batch, b.c, 1.0 / H_PARTS, 1));
        need(sap_step(b.w->solver, b.w->state, b.w->control, b.c, 1.0 / H_PARTS, b.w->state));
        snprintf(what, sizeof what, "seed %d", (int)seed);
        check_like(&b, batch, what);
        cr_assert(sum_of(batch, SAP_BATCH_CONTACT_COUNT) > 0);
        sap_batch_destroy(batch);
        bench_destroy(&b);
    }
}

Test(given_contacts, of_a_model_without_shapes_have_the_slots_of_the_option) {
    SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
    SapBatchInfo info;
    Fixture b = golden_bench("approx64", SAP_EXACT_ROOT);
    SapBatch *none = batch_like(&b, o, 0), *some = batch_like(&b, o, 40);
    need(sap_batch_info(none, &info));
    int own = info.capacity;
    need(sap_batch_info(some, &info));
    cr_assert(own < 40 && info.capacity == 40, "%d and %d slots", own, info.capacity);
    sap_batch_destroy(none);
    sap_batch_destroy(some);
    bench_destroy(&b);
}

/* ---- worlds apart ---- */

enum { MANY = 9 };

/* Bodies on a plane, each with one contact: the fault of world 4 must not be seen in another. */
static Fixture apart_bench(SapOptions *o) {
    *o = options_of("approx64", SAP_EXACT_ROOT);
    Fixture b = bench_create(golden_body(), MANY, o);
    for (int w = 0; w < MANY; w++) {
        b.c->count[w] = 2;
        b.w->v[6 * w + 2] = -0.1 * (w + 1);
        for (int c = 0; c < 2; c++) {
            int slot = w * SLOTS + c;
            b.c->shape0[slot] = b.c->shape1[slot] = -1;
            b.c->body0[slot] = -1;
            b.c->body1[slot] = 0;
            set3(vector3(b.c->point0, slot), 0.1 * c, 0, 0);
            set3(vector3(b.c->point1, slot), 0.1 * c, 0, -0.5);
            set3(vector3(b.c->normal, slot), 0, 0, 1);
        }
    }
    return b;
}

Test(given_contacts, that_are_bad_stop_their_world_alone) {
    enum { BAD = 4, AT = BAD * SLOTS + 1 };
    for (int fault = 0; fault < 11; fault++) {
        SapOptions o;
        Fixture b = apart_bench(&o);
        SapBatch *good = batch_like(&b, o, SLOTS), *bad = batch_like(&b, o, SLOTS);
        need(sap_batch_step_contacts(good, b.c, 0.01, 2));
        switch (fault) {
        case 0: b.c->shape0[AT] = 2; break;
        case 1: b.c->shape1[AT] = -2; break;
        case 2: b.c->body1[AT] = 1; break;
        case 3: b.c->body0[AT] = -5; break;
        case 4: b.c->shape1[AT] = 1 << 30; break;
        case 5: b.c->count[BAD] = -1; break;
        case 6: set3(vector3(b.c->normal, AT), 0, 0, 0); break;
        case 7: set3(vector3(b.c->point0, AT), NAN, 0, 0); break;
        case 8: ((double *)b.c->mu)[AT] = -1; break;
        case 9: ((double *)b.c->stiffness)[AT] = 0; break;
        case 10: b.c->count[BAD] = INT32_MIN; break;
        }
        need(sap_batch_step_contacts(bad, b.c, 0.01, 2));
        SapArray x = view_of(good, SAP_BATCH_JOINT_Q), y = view_of(bad, SAP_BATCH_JOINT_Q);
        SapArray status = view_of(bad, SAP_BATCH_STATUS), ok = view_of(good, SAP_BATCH_STATUS);
        for (int w = 0; w < MANY; w++) {
            const double *expected = w == BAD ? b.w->q + 7 * w : (double *)x.data + 7 * w;
            uint32_t code = w == BAD ? SAP_WORLD_BAD_CONTACT : ((uint32_t *)ok.data)[w];
            cr_assert_eq(((uint32_t *)status.data)[w], code, "fault %d: world %d has %#x", fault, w,
                         (unsigned)((uint32_t *)status.data)[w]);
            cr_assert_eq(memcmp((double *)y.data + 7 * w, expected, 7 * sizeof(double)), 0, "fault %d: world %d", fault,
                         w);
        }
        sap_batch_destroy(good);
        sap_batch_destroy(bad);
        bench_destroy(&b);
    }
}

Test(given_contacts, without_a_slot_are_counted) {
    SapOptions o;
    Fixture b = apart_bench(&o);
    SapContacts *wide;
    need(sap_contacts_create(MANY, 3 * SLOTS, SAP_F32, &wide));
    SapBatch *batch = batch_like(&b, o, SLOTS);
    SapBatchInfo info;
    need(sap_batch_info(batch, &info));
    cr_assert_eq(info.capacity, SLOTS);
    /* world w finds this many; 3 SLOTS + 7 is above the arrays, and world 8 had lost 2 before */
    const int found[MANY] = {0, 1, SLOTS, SLOTS + 1, 3 * SLOTS, 3 * SLOTS + 7, 2, 0, 3};
    for (int w = 0; w < MANY; w++) {
        wide->count[w] = found[w];
        for (int c = 0; c < wide->capacity; c++) {
            int slot = w * wide->capacity + c;
            wide->body1[slot] = 0;
            ((float *)wide->point1)[3 * slot + 2] = -0.5f - 0.001f * (float)c;
            ((float *)wide->normal)[3 * slot + 2] = 1;
        }
    }
    wide->dropped[8] = 2;
    need(sap_batch_step_contacts(batch, wide, 0.01, 1));
    SapArray count = view_of(batch, SAP_BATCH_CONTACT_COUNT), dropped = view_of(batch, SAP_BATCH_CONTACT_DROPPED),
             status = view_of(batch, SAP_BATCH_STATUS), body = view_of(batch, SAP_BATCH_CONTACT_BODY1),
             point = view_of(batch, SAP_BATCH_CONTACT_POINT1);
    for (int w = 0; w < MANY; w++) {
        int kept = found[w] < SLOTS ? found[w] : SLOTS, lost = found[w] - kept + (w == 8 ? 2 : 0);
        cr_assert_eq(((int32_t *)count.data)[w], kept, "world %d keeps %d", w, ((int32_t *)count.data)[w]);
        cr_assert_eq(((int32_t *)dropped.data)[w], lost, "world %d drops %d", w, ((int32_t *)dropped.data)[w]);
        cr_assert_eq((((uint32_t *)status.data)[w] & SAP_WORLD_CONTACTS_TRUNCATED) != 0, lost > 0, "world %d has %#x",
                     w, (unsigned)((uint32_t *)status.data)[w]);
        for (int c = 0; c < kept; c++) {
            cr_assert_eq(((int32_t *)body.data)[w * SLOTS + c], 0);
            cr_assert_eq(vector3(point.data, w * SLOTS + c)[2], (double)(-0.5f - 0.001f * (float)c), "the first stay");
        }
    }
    /* none: free fall */
    need(sap_batch_step_contacts(batch, NULL, 0.01, 1));
    cr_assert_eq(sum_of(batch, SAP_BATCH_CONTACT_COUNT) + sum_of(batch, SAP_BATCH_CONTACT_DROPPED), 0);
    sap_contacts_destroy(wide);
    sap_batch_destroy(batch);
    bench_destroy(&b);
}

/* ---- what the formulations read of their own ---- */

Test(given_contacts, of_mujocos_form_give_the_step_of_sap_step) {
    Point p;
    Rig r;
    SapOptions o = rig_options();
    static double cache[RIG_WORLDS * 3 * 4];
    point_fill(&p);
    rig_open(&r, point_model(&p), RIG_WORLDS);
    r.control->guess = NULL;
    need(sap_solver_record(r.solver, &(SapContactReport){.dof_cache = cache}));
    for (int w = 0; w < RIG_WORLDS; w++) {
        rig_place(&r, w, (const double[]){0.01 * w, 0.02, -0.03 * w});
        r.record[w].friction[0] = 0.1 * w;
    }
    SapBatch *batch;
    need(sap_batch_create_as(r.model, RIG_WORLDS, &o, SAP_F64, &batch));
    need(sap_batch_write(batch, SAP_BATCH_JOINT_Q, r.in->joint_q, RIG_WORLDS * 3 * sizeof(double)));
    need(sap_batch_write(batch, SAP_BATCH_JOINT_QD, r.in->joint_qd, RIG_WORLDS * 3 * sizeof(double)));
    r.contacts->point0 = r.contacts->point1 = r.contacts->normal = NULL; /* the law reads its own */
    for (int k = 0; k < 3; k++) {
        need(sap_step(r.solver, r.in, r.control, r.contacts, 0.002, r.in));
        need(sap_batch_step_contacts(batch, r.contacts, 0.002, 1));
        SapArray v = view_of(batch, SAP_BATCH_JOINT_QD);
        cr_assert_eq(memcmp(v.data, r.in->joint_qd, RIG_WORLDS * 3 * sizeof(double)), 0, "step %d", k);
    }
    cr_assert(((double *)r.in->joint_qd)[3 * 3 + 2] > -0.08, "the contact holds it");
    /* without records of this form it has points, which are required then */
    r.contacts->mujoco = NULL;
    cr_assert_eq(sap_batch_step_contacts(batch, r.contacts, 0.002, 1), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "point0 is NULL"), "%s", sap_error_message());
    sap_batch_destroy(batch);
    rig_close(&r);
}

/* Batches find contacts at each of the four stages. */
Test(given_contacts, are_refused_by_the_integrator_rk4) {
    Point p;
    SapBatch *batch;
    SapContacts *c;
    SapOptions o = rig_options();
    point_fill(&p);
    p.law.integrator = SAP_INTEGRATOR_RK4;
    SapModel *model = point_model(&p);
    need(sap_batch_create(model, 1, &o, &batch));
    need(sap_contacts_create(1, 1, SAP_F64, &c));
    cr_assert_eq(sap_batch_step_contacts(batch, c, 0.002, 1), SAP_ERROR_UNSUPPORTED);
    cr_assert(strstr(sap_error_message(), "the integrator is RK4"), "%s", sap_error_message());
    need(sap_batch_step_contacts(batch, NULL, 0.002, 1)); /* none at any stage */
    sap_contacts_destroy(c);
    sap_batch_destroy(batch);
    sap_model_destroy(model);
}

Test(given_contacts, find_their_forces_by_their_keys) {
    enum { RECORDS = 32, NV = 18 };
    SapScene *scene = load("stack5");
    SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
    o.contact_solver = SAP_SOLVER_CONE;
    o.warm_start = true;
    o.max_contacts = RECORDS;
    static int32_t cache_key[3 * RECORDS], key[RECORDS];
    static double cache[6 * RECORDS], dof_cache[4 * 64];
    SapSolver *solver;
    SapContacts *contacts;
    SapState *state;
    need(sap_solver_create(scene->model, 1, &o, &solver));
    need(sap_contacts_create(1, RECORDS, SAP_F64, &contacts));
    need(sap_state_create(scene->model, 1, SAP_F64, &state));
    need(
        sap_solver_record(solver, &(SapContactReport){.cache_key = cache_key, .cache = cache, .dof_cache = dof_cache}));
    SapBatch *batch;
    need(sap_batch_create_as(scene->model, 1, &o, SAP_F64, &batch));
    contacts->key = key;
    for (int k = 0; k < 60; k++) {
        need(sap_collide(solver, state, contacts));
        for (int i = 0; i < RECORDS; i++)
            key[i] = 1000 + 7 * (RECORDS - i);
        need(sap_step(solver, state, NULL, contacts, scene->dt, state));
        need(sap_batch_step_contacts(batch, contacts, scene->dt, 1));
        SapArray keys = view_of(batch, SAP_BATCH_CACHE_KEY), forces = view_of(batch, SAP_BATCH_CACHE);
        size_t of_batch = (size_t)keys.shape[1];
        cr_assert_eq(memcmp(keys.data, cache_key, 3 * of_batch * sizeof *cache_key), 0, "keys of step %d", k);
        cr_assert_eq(memcmp(forces.data, cache, 6 * of_batch * sizeof *cache), 0, "forces of step %d", k);
    }
    cr_assert(contacts->count[0] > 0 && cache_key[2] >= 1000, "key %d", cache_key[2]);
    sap_state_destroy(state);
    sap_contacts_destroy(contacts);
    sap_solver_destroy(solver);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- reports and sensors ---- */

Test(given_contacts, are_those_that_reports_and_contact_sensors_read) {
    SapScene *scene = load("quadruped");
    SapBatch *own = batch_of(scene, 1, 0, 1), *given = batch_of(scene, 1, 0, 1);
    const int32_t body = 0;
    const SapSensors sensors = {.num_touch = 1, .touch_body = &body};
    SapBatch *const both[2] = {own, given};
    for (int i = 0; i < 2; i++) {
        need(sap_batch_set_sensors(both[i], &sensors));
        view_of(both[i], SAP_BATCH_TOUCH_PRESSURE);
    }
    for (int k = 0; k < STEPS; k++) {
        need(sap_batch_step(own, scene->dt, 1));
        need(sap_batch_step_contacts(given, sap_batch_contacts(own), scene->dt, 1));
        for (int f = SAP_BATCH_TOUCH_FOUND; f <= SAP_BATCH_TOUCH_LAST_AIR_TIME; f++)
            check_field(own, given, (SapBatchField)f, "touch");
        check_field(own, given, SAP_BATCH_CONTACT_POINT1, "contacts");
        check_field(own, given, SAP_BATCH_CONTACT_MARGIN1, "contacts");
    }
    sap_batch_destroy(own);
    sap_batch_destroy(given);
    sap_scene_destroy(scene);
}

/* ---- arguments ---- */

static void check_refused(SapStatus status, SapStatus expected, const char *part) {
    cr_assert_eq(status, expected, "%s: %d", part, (int)status);
    cr_assert(strstr(sap_error_message(), part), "\"%s\" does not say \"%s\"", sap_error_message(), part);
}

Test(given_contacts, that_cannot_be_read_are_refused_by_name) {
    const SapStatus bad = SAP_ERROR_ARGUMENT;
    SapOptions o;
    Fixture b = apart_bench(&o);
    SapBatch *batch = batch_like(&b, o, SLOTS);
    SapContacts c = *b.c;
    check_refused(sap_batch_step_contacts(NULL, b.c, 0.01, 1), bad, "NULL");
    check_refused(sap_batch_step_contacts(batch, b.c, 0, 1), bad, "sap_batch_step_contacts: h is 0");
    check_refused(sap_batch_step_contacts(batch, b.c, 0.01, -1), bad, "num_steps is -1");
    c.num_worlds = 2;
    check_refused(sap_batch_step_contacts(batch, &c, 0.01, 1), bad, "num_worlds is 2; the batch has 9");
    c = *b.c;
    c.capacity = 0;
    check_refused(sap_batch_step_contacts(batch, &c, 0.01, 1), bad, "capacity is 0");
    c.capacity = 65536;
    check_refused(sap_batch_step_contacts(batch, &c, 0.01, 1), bad, "capacity is 65536");
    c = *b.c;
    c.dtype = (SapDtype)5;
    check_refused(sap_batch_step_contacts(batch, &c, 0.01, 1), bad, "dtype is 5");
    c = *b.c;
    c.count = NULL;
    check_refused(sap_batch_step_contacts(batch, &c, 0.01, 1), bad, "count is NULL");
    c = *b.c;
    c.normal = NULL;
    check_refused(sap_batch_step_contacts(batch, &c, 0.01, 0), bad, "normal is NULL");
    need(sap_batch_guard(batch, 2));
    check_refused(sap_batch_step_contacts(batch, b.c, 0.01, 1), SAP_ERROR_UNSUPPORTED, "guard");
    sap_batch_destroy(batch);
    o.sleep_steps = 10;
    batch = batch_like(&b, o, SLOTS);
    check_refused(sap_batch_step_contacts(batch, b.c, 0.01, 1), SAP_ERROR_UNSUPPORTED, "sleep_steps is 10");
    sap_batch_destroy(batch);
    bench_destroy(&b);
}
