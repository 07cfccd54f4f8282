/* A bad number in one world stops that world only. One element of one input of one world among many is made NaN,
 * infinite, huge or denormal, element by element: the world says what is wrong and keeps its last good state, and every
 * other world has the same bits as without it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "support/hash_worlds.h"
#include "support/model_parts.h"
#include "support/need.h"
#include "support/sample_model.h"

enum { WORLDS = 37 }; /* no multiple of any lane count: the last pack repeats its last world */
static const double H = 0.01;
static const double SENTINEL = -77.25;

typedef struct Setup {
    SapPrecision precision;
    SapDtype in_dtype, out_dtype;
    SapPositionIntegration integration;
    int lanes, threads;
    bool in_place; /* needs in_dtype == out_dtype */
} Setup;

/* Input, output, and what the output is without poison. */
typedef struct Fixture {
    Setup setup;
    SapModel *model;
    SapSolver *solver;
    HashBatch clean, in, out, expected;
    uint64_t clean_hash[WORLDS];
} Fixture;

/* ---- arrays of a batch ---- */

enum { Q, QD, JOINT_F, BODY_F, BODY_Q, BODY_QD, NUM_ARRAYS };
static const char *const array_name[] = {"joint_q", "joint_qd", "joint_f", "body_f", "body_q", "body_qd"};

static int array_width(const SapModelArrays *m, int array) {
    const int width[] = {m->num_coords,     m->num_dofs,       m->num_dofs,
                         6 * m->num_bodies, 7 * m->num_bodies, 6 * m->num_bodies};
    return width[array];
}

static void *array_data(const HashBatch *b, int array) {
    void *const data[] = {b->state.joint_q,  b->state.joint_qd, b->control.joint_f,
                          b->control.body_f, b->state.body_q,   b->state.body_qd};
    return data[array];
}

static void *element(const HashBatch *b, int array, int world, int i) {
    return (char *)array_data(b, array) +
           number_width(b->state.dtype) * ((size_t)world * (size_t)array_width(b->m, array) + (size_t)i);
}

static double value_of(const HashBatch *b, int array, int world, int i) {
    return number_get(element(b, array, world, i), b->state.dtype, 0);
}

static void copy_batch(HashBatch *to, const HashBatch *from) {
    for (int array = 0; array < NUM_ARRAYS; array++)
        memcpy(array_data(to, array), array_data(from, array),
               number_width(from->state.dtype) * (size_t)from->n * (size_t)array_width(from->m, array));
}

static void fill_sentinels(HashBatch *b) {
    for (int array = 0; array < NUM_ARRAYS; array++)
        for (int i = 0; i < b->n * array_width(b->m, array); i++)
            number_put(array_data(b, array), b->state.dtype, (size_t)i, SENTINEL);
}

static bool row_is_finite(const HashBatch *b, int array, int world) {
    for (int i = 0; i < array_width(b->m, array); i++)
        if (!isfinite(value_of(b, array, world, i)))
            return false;
    return true;
}

static bool row_is_sentinel(const HashBatch *b, int array, int world) {
    for (int i = 0; i < array_width(b->m, array); i++)
        if (value_of(b, array, world, i) != SENTINEL)
            return false;
    return true;
}

/* Whether `out` is `in` again, rounded to the storage of out if that is narrower. */
static bool row_is_kept(const HashBatch *out, const HashBatch *in, int array, int world) {
    for (int i = 0; i < array_width(in->m, array); i++) {
        double kept = value_of(in, array, world, i);
        if (out->state.dtype == SAP_F32)
            kept = (double)(float)kept;
        if (value_of(out, array, world, i) != kept)
            return false;
    }
    return true;
}

static bool row_is_same(const HashBatch *a, const HashBatch *b, int array, int world) {
    return memcmp(element(a, array, world, 0), element(b, array, world, 0),
                  number_width(a->state.dtype) * (size_t)array_width(a->m, array)) == 0;
}

/* ---- one step of a bench ---- */

static SapState *output(Fixture *b) {
    return b->setup.in_place ? &b->in.state : &b->out.state;
}

static const HashBatch *result(const Fixture *b) {
    return b->setup.in_place ? &b->in : &b->out;
}

/* The status of a world. A huge velocity is a fast spin and may tunnel as well, which is no failure. */
static uint32_t step(Fixture *b, int world) {
    fill_sentinels(&b->out);
    need(sap_step(b->solver, &b->in.state, &b->in.control, NULL, H, output(b)));
    return sap_solver_world_status(b->solver)[world] & ~(uint32_t)(SAP_WORLD_FAST_SPIN | SAP_WORLD_MAY_TUNNEL);
}

static Fixture *bench_create(const Setup *setup, SapModel *model) {
    Fixture *b = calloc(1, sizeof *b);
    const SapModelArrays *m = sap_model_arrays(model);
    SapOptions options;
    need(sap_options_preset("approx32", &options));
    options.free_motion_precision = setup->precision;
    options.position_integration = setup->integration;
    options.lanes = setup->lanes;
    options.threads = setup->threads;
    b->setup = *setup;
    b->model = model;
    need(sap_solver_create(model, WORLDS, &options, &b->solver));
    b->clean = hash_batch_create(m, WORLDS, setup->in_dtype);
    b->in = hash_batch_create(m, WORLDS, setup->in_dtype);
    b->out = hash_batch_create(m, WORLDS, setup->out_dtype);
    b->expected = hash_batch_create(m, WORLDS, setup->out_dtype);
    for (int i = 0; i < WORLDS; i++)
        hash_fill(&b->clean, i, (uint64_t)i);
    return b;
}

static void bench_destroy(Fixture *b) {
    hash_batch_destroy(&b->clean);
    hash_batch_destroy(&b->in);
    hash_batch_destroy(&b->out);
    hash_batch_destroy(&b->expected);
    sap_solver_destroy(b->solver);
    sap_model_destroy(b->model);
    free(b);
}

/* Steps the clean batch and remembers the result. */
static void run_clean(Fixture *b) {
    copy_batch(&b->in, &b->clean);
    step(b, 0);
    for (int i = 0; i < WORLDS; i++) {
        cr_assert_eq(sap_solver_world_status(b->solver)[i], 0);
        b->clean_hash[i] = hash_world(result(b), i, 0);
    }
}

/* ---- what must hold ---- */

static void check_others(const Fixture *b, int world, const char *what) {
    for (int i = 0; i < WORLDS; i++)
        if (i != world)
            cr_assert_eq(hash_world(result(b), i, sap_solver_world_status(b->solver)[i]), b->clean_hash[i],
                         "%s in world %d changed world %d", what, world, i);
}

/* body_q and body_qd belong to the kept state. */
static void check_bodies(Fixture *b, int world, const char *what) {
    const HashBatch *out = result(b);
    SapState copy = b->expected.state;
    copy_batch(&b->expected, out);
    if (!b->setup.in_place) { /* what was read was in the storage of the input */
        copy.joint_q = b->in.state.joint_q;
        copy.joint_qd = b->in.state.joint_qd;
    }
    if (b->setup.in_dtype != b->setup.out_dtype)
        return;
    need(sap_forward_kinematics(b->solver, &copy));
    cr_assert(row_is_same(out, &b->expected, BODY_Q, world) && row_is_same(out, &b->expected, BODY_QD, world),
              "%s: bodies are not at the kept state", what);
}

/* A world that did not fail has a state that the next step can read: finite numbers and unit quaternions. */
static void check_success(Fixture *b, int world, const char *what) {
    const SapModelArrays *m = b->in.m;
    const HashBatch *out = result(b);
    for (int array = Q; array <= QD; array++)
        cr_assert(row_is_finite(out, array, world), "%s: status 0, but %s is not finite", what, array_name[array]);
    for (int j = 0; j < m->num_joints; j++) {
        if (m->joint_type[j] != SAP_JOINT_FREE && m->joint_type[j] != SAP_JOINT_BALL)
            continue;
        double norm2 = 0;
        for (int i = m->joint_q_start[j + 1] - 4; i < m->joint_q_start[j + 1]; i++)
            norm2 += value_of(out, Q, world, i) * value_of(out, Q, world, i);
        cr_assert(fabs(norm2 - 1) < 1e-5, "%s: status 0, but a quaternion has norm^2 %g", what, norm2);
    }
    copy_batch(&b->expected, out);
    need(sap_step(b->solver, &b->expected.state, NULL, NULL, H, &b->expected.state));
    cr_assert(!(sap_solver_world_status(b->solver)[world] & SAP_WORLD_NONFINITE_STATE),
              "%s: status 0, but the next step cannot read the state", what);
}

/* A world with a bad state leaves the output as it was; one that failed on a good state puts that state out again. */
static void check_failure(Fixture *b, int world, uint32_t status, const HashBatch *poisoned, const char *what) {
    const HashBatch *out = result(b);
    if (b->setup.in_place) {
        cr_assert(row_is_same(out, poisoned, Q, world) && row_is_same(out, poisoned, QD, world),
                  "%s: the state in place changed", what);
    } else if (status & SAP_WORLD_NONFINITE_STATE) {
        cr_assert(row_is_sentinel(out, Q, world) && row_is_sentinel(out, QD, world), "%s: output was written", what);
    } else {
        cr_assert(row_is_kept(out, poisoned, Q, world) && row_is_kept(out, poisoned, QD, world),
                  "%s: the last good state is not kept", what);
    }
    if (!(status & SAP_WORLD_NONFINITE_STATE))
        check_bodies(b, world, what);
    else if (b->setup.in_place)
        cr_assert(row_is_same(out, poisoned, BODY_Q, world) && row_is_same(out, poisoned, BODY_QD, world), "%s", what);
    else
        cr_assert(row_is_sentinel(out, BODY_Q, world) && row_is_sentinel(out, BODY_QD, world), "%s", what);
}

static void check_step(Fixture *b, int world, uint32_t status, const HashBatch *poisoned, const char *what) {
    cr_assert_eq(status & ~(uint32_t)SAP_WORLD_FAILED, 0, "%s: status %#x", what, (unsigned)status);
    check_others(b, world, what);
    if (status == 0)
        check_success(b, world, what);
    else
        check_failure(b, world, status, poisoned, what);
}

/* ---- poison ---- */

typedef enum Kind { NOT_FINITE, HUGE_VALUE, TINY } Kind;
typedef struct Poison {
    double value;
    Kind kind;
} Poison;

static const Poison poisons[] = {{NAN, NOT_FINITE},  {INFINITY, NOT_FINITE}, {-INFINITY, NOT_FINITE},
                                 {1e30, HUGE_VALUE}, {-1e30, HUGE_VALUE},    {3e38, HUGE_VALUE},
                                 {1e-40, TINY},      {1e-310, TINY}};
enum { NUM_POISONS = sizeof poisons / sizeof *poisons };

static void poison_element(Fixture *b, int array, int i, const Poison *poison, int world) {
    static HashBatch poisoned;
    char what[128];
    snprintf(what, sizeof what, "%s[%d] = %g, %s kernels, %d lanes, %s -> %s, %s, %s", array_name[array], i,
             poison->value, b->setup.precision == SAP_FP32 ? "f32" : "f64", b->setup.lanes,
             b->setup.in_dtype == SAP_F32 ? "f32" : "f64", b->setup.out_dtype == SAP_F32 ? "f32" : "f64",
             b->setup.in_place ? "in place" : "ping-pong", b->setup.integration == SAP_EULER ? "euler" : "midpoint");
    if (!poisoned.m || poisoned.state.dtype != b->setup.in_dtype) {
        if (poisoned.m)
            hash_batch_destroy(&poisoned);
        poisoned = hash_batch_create(b->in.m, WORLDS, b->setup.in_dtype);
    }
    poisoned.m = b->in.m;
    copy_batch(&b->in, &b->clean);
    number_put(element(&b->in, array, world, i), b->in.state.dtype, 0, poison->value);
    copy_batch(&poisoned, &b->in);
    uint32_t status = step(b, world);
    uint32_t bit = array == Q || array == QD ? SAP_WORLD_NONFINITE_STATE : SAP_WORLD_NONFINITE_CONTROL;
    if (poison->kind == NOT_FINITE)
        cr_assert_eq(status, bit, "%s: status %#x", what, (unsigned)status);
    if (poison->kind == TINY)
        cr_assert_eq(status, 0, "%s: status %#x", what, (unsigned)status);
    check_step(b, world, status, &poisoned, what);
}

/* Every element of every input; the world's place in its pack varies with it. */
static void poison_all(const Setup *setup) {
    Fixture *b = bench_create(setup, sample_model_create());
    run_clean(b);
    int world = 0;
    for (int array = Q; array <= BODY_F; array++)
        for (int i = 0; i < array_width(b->in.m, array); i++)
            for (int p = 0; p < NUM_POISONS; p++, world = (world + 5) % WORLDS)
                poison_element(b, array, i, &poisons[p], world);
    bench_destroy(b);
}

/* All lane counts in place; all pairs of storage for one lane count each. */
static void poison_all_ways(SapPrecision precision, SapPositionIntegration integration) {
    const int lanes[] = {1, 4, 8};
    Setup setup = {.precision = precision, .integration = integration, .in_place = true};
    for (int l = 0; l < 3; l++) {
        setup.lanes = lanes[l];
        setup.threads = 1 + l % 2;
        setup.in_dtype = setup.out_dtype = l == 1 ? SAP_F32 : SAP_F64;
        poison_all(&setup);
    }
    setup.in_place = false;
    for (int pair = 0; pair < 4; pair++) {
        setup.lanes = lanes[pair % 3];
        setup.in_dtype = pair & 1 ? SAP_F64 : SAP_F32;
        setup.out_dtype = pair & 2 ? SAP_F64 : SAP_F32;
        poison_all(&setup);
    }
}

typedef struct Way {
    SapPrecision precision;
    SapPositionIntegration integration;
} Way;

ParameterizedTestParameters(poison, any_bad_number_stops_its_world_only) {
    static Way ways[] = {
        {SAP_FP32, SAP_MIDPOINT}, {SAP_FP32, SAP_EULER}, {SAP_FP64, SAP_MIDPOINT}, {SAP_FP64, SAP_EULER}};
    return cr_make_param_array(Way, ways, 4);
}

ParameterizedTest(const Way *way, poison, any_bad_number_stops_its_world_only) {
    poison_all_ways(way->precision, way->integration);
}

/* ---- cases with a name ---- */

/* Writes the quaternion of a joint of one world. */
static void put_quaternion(Fixture *b, int world, int joint, const double q[4]) {
    for (int i = 0; i < 4; i++)
        number_put(element(&b->in, Q, world, b->in.m->joint_q_start[joint + 1] - 4 + i), b->in.state.dtype, 0, q[i]);
}

/* The status of world 20 when one of its quaternions is x times a good state's; its velocity after the step in
 * `qd`. */
static uint32_t status_of_scaled_quaternion(SapPrecision precision, int joint, double x, double qd[SAMPLE_NV]) {
    const Setup setup = {.precision = precision, .in_dtype = SAP_F64, .out_dtype = SAP_F64, .lanes = 8, .threads = 1};
    const double q[4] = {0.5 * x, -0.5 * x, 0.1 * x, 0.7 * x};
    Fixture *b = bench_create(&setup, sample_model_create());
    HashBatch poisoned = hash_batch_create(b->in.m, WORLDS, SAP_F64);
    run_clean(b);
    copy_batch(&b->in, &b->clean);
    put_quaternion(b, 20, joint, q);
    copy_batch(&poisoned, &b->in);
    uint32_t status = step(b, 20);
    check_step(b, 20, status, &poisoned, "scaled quaternion");
    memcpy(qd, element(result(b), QD, 20, 0), SAMPLE_NV * sizeof *qd);
    hash_batch_destroy(&poisoned);
    bench_destroy(b);
    return status;
}

Test(poison, a_quaternion_without_a_length_is_a_bad_state) {
    const int joints[] = {SAMPLE_BASE, SAMPLE_ANKLE};
    const double none[] = {0, 1e-300, 1e200};
    double qd[SAMPLE_NV];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++) {
            cr_assert_eq(status_of_scaled_quaternion(SAP_FP64, joints[k], none[i], qd), SAP_WORLD_NONFINITE_STATE);
            cr_assert_eq(status_of_scaled_quaternion(SAP_FP32, joints[k], none[i], qd), SAP_WORLD_NONFINITE_STATE);
        }
    }
}

/* In f32 the square of these is a denormal with few digits, or none: the rotation is right, or there is none. */
Test(poison, a_quaternion_that_is_nearly_too_short_is_refused_or_made_unit) {
    double unit[SAMPLE_NV], qd[SAMPLE_NV];
    int refused = 0, used = 0;
    cr_assert_eq(status_of_scaled_quaternion(SAP_FP32, SAMPLE_BASE, 1, unit), 0);
    for (double x = 1e-18; x > 1e-24; x *= 0.7) {
        uint32_t status = status_of_scaled_quaternion(SAP_FP32, SAMPLE_BASE, x, qd);
        if (status == SAP_WORLD_NONFINITE_STATE) {
            refused++;
            continue;
        }
        cr_assert_eq(status, 0);
        used++;
        for (int i = 0; i < SAMPLE_NV; i++)
            cr_assert(fabs(qd[i] - unit[i]) < 1e-3 * (1 + fabs(unit[i])), "length %g: qd[%d] is %g, not %g", x, i,
                      qd[i], unit[i]);
    }
    cr_assert(refused > 0 && used > 0);
}

Test(poison, a_quaternion_of_any_ordinary_length_is_made_unit) {
    double qd[SAMPLE_NV];
    for (double x = 1e-15; x < 1e16; x *= 1e5) {
        cr_assert_eq(status_of_scaled_quaternion(SAP_FP32, SAMPLE_BASE, x, qd), 0);
        cr_assert_eq(status_of_scaled_quaternion(SAP_FP64, SAMPLE_BASE, x, qd), 0);
    }
}

/* A light cart on a rail carries a heavy one whose rail turns: where the rails are parallel, the light mass vanishes
 * against the heavy one in f32 and A has two equal rows. */
static SapModel *parallel_rails(void) {
    ModelParts parts;
    parts_init(&parts);
    for (int l = 0; l < 3; l++) {
        const SapJointType types[] = {SAP_JOINT_PRISMATIC, SAP_JOINT_REVOLUTE, SAP_JOINT_PRISMATIC};
        parts_add(&parts, l - 1, types[l], 0, 0);
        parts.mass[l] = l == 2 ? 1 : 1e-12;
        for (int i = 0; i < 9; i += 4)
            parts.inertia[l][i] = 1e-3 * parts.mass[l];
    }
    parts_set_axis(&parts, 0, 1, 0, 0);
    parts_set_axis(&parts, 2, 1, 0, 0);
    return parts_model(&parts);
}

Test(poison, a_mass_matrix_that_loses_its_definiteness_is_reported) {
    for (int lanes = 1; lanes <= 8; lanes = lanes == 1 ? 4 : 2 * lanes) {
        for (int precision = SAP_FP32; precision <= SAP_FP64; precision++) {
            const Setup setup = {.precision = (SapPrecision)precision,
                                 .in_dtype = SAP_F64,
                                 .out_dtype = SAP_F64,
                                 .lanes = lanes,
                                 .threads = 1};
            Fixture *b = bench_create(&setup, parallel_rails());
            for (int i = 0; i < WORLDS; i++) /* rails well apart */
                number_put(element(&b->clean, Q, i, 1), SAP_F64, 0, 0.5 + 0.02 * i);
            run_clean(b);
            copy_batch(&b->in, &b->clean);
            number_put(element(&b->in, Q, 11, 1), SAP_F64, 0, 0);
            HashBatch poisoned = hash_batch_create(b->in.m, WORLDS, SAP_F64);
            copy_batch(&poisoned, &b->in);
            uint32_t status = step(b, 11);
            cr_assert_eq(status, precision == SAP_FP32 ? SAP_WORLD_NOT_SPD : 0, "status %#x", (unsigned)status);
            check_step(b, 11, status, &poisoned, "parallel rails");
            hash_batch_destroy(&poisoned);
            bench_destroy(b);
        }
    }
}

/* The mass matrix overflows in f32 for a link that is very far out: that is not a question of definiteness. */
Test(poison, a_mass_matrix_that_overflows_is_a_result_that_is_not_finite) {
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_REVOLUTE, 0, 0);
    parts_add(&parts, 0, SAP_JOINT_PRISMATIC, 0, 0);
    parts_set_axis(&parts, 1, 1, 0, 0);
    const Setup setup = {.precision = SAP_FP32, .in_dtype = SAP_F32, .out_dtype = SAP_F32, .lanes = 4, .threads = 1};
    Fixture *b = bench_create(&setup, parts_model(&parts));
    run_clean(b);
    copy_batch(&b->in, &b->clean);
    number_put(element(&b->in, Q, 36, 1), SAP_F32, 0, 1e25);
    HashBatch poisoned = hash_batch_create(b->in.m, WORLDS, SAP_F32);
    copy_batch(&poisoned, &b->in);
    uint32_t status = step(b, 36);
    cr_assert_eq(status, SAP_WORLD_NONFINITE_RESULT, "status %#x", (unsigned)status);
    check_step(b, 36, status, &poisoned, "overflow");
    hash_batch_destroy(&poisoned);
    bench_destroy(b);
}

/* A state in f64 that the f32 kernels could not use is given back with all its digits. */
Test(poison, the_kept_state_has_the_bits_of_the_input) {
    const Setup setup = {.precision = SAP_FP32, .in_dtype = SAP_F64, .out_dtype = SAP_F64, .lanes = 8, .threads = 1};
    Fixture *b = bench_create(&setup, sample_model_create());
    run_clean(b);
    copy_batch(&b->in, &b->clean);
    for (int i = 0; i < b->in.m->num_dofs; i++)
        number_put(element(&b->in, QD, 9, i), SAP_F64, 0, 0.1 * (i + 1));
    number_put(element(&b->in, JOINT_F, 9, 2), SAP_F64, 0, NAN);
    cr_assert_eq(step(b, 9), SAP_WORLD_NONFINITE_CONTROL);
    cr_assert(row_is_same(&b->out, &b->in, Q, 9) && row_is_same(&b->out, &b->in, QD, 9));
    bench_destroy(b);
}

/* Several worlds fail in different ways while the batch goes on; a world that is given a good state again goes on
 * too. */
Test(poison, a_repaired_world_goes_on) {
    const Setup setup = {
        .precision = SAP_FP64, .in_dtype = SAP_F64, .out_dtype = SAP_F64, .lanes = 4, .threads = 2, .in_place = true};
    Fixture *b = bench_create(&setup, sample_model_create());
    const uint32_t *status = sap_solver_world_status(b->solver);
    run_clean(b);
    copy_batch(&b->in, &b->clean);
    number_put(element(&b->in, QD, 3, 1), SAP_F64, 0, NAN);
    number_put(element(&b->in, JOINT_F, 4, 0), SAP_F64, 0, INFINITY);
    for (int i = 0; i < 3; i++) {
        step(b, 3);
        for (int w = 0; w < WORLDS; w++)
            cr_assert_eq(status[w], w == 3 ? SAP_WORLD_NONFINITE_STATE : w == 4 ? SAP_WORLD_NONFINITE_CONTROL : 0);
    }
    for (int array = Q; array <= BODY_F; array++)
        for (int w = 3; w <= 4; w++)
            memcpy(element(&b->in, array, w, 0), element(&b->clean, array, w, 0),
                   sizeof(double) * (size_t)array_width(b->in.m, array));
    step(b, 3);
    cr_assert_eq(hash_world(&b->in, 3, status[3]), b->clean_hash[3]);
    cr_assert_eq(hash_world(&b->in, 4, status[4]), b->clean_hash[4]);
    bench_destroy(b);
}

/* One array of a state may be in place and the other apart. */
Test(poison, a_failed_world_keeps_both_arrays_when_only_one_is_in_place) {
    const Setup setup = {.precision = SAP_FP64, .in_dtype = SAP_F64, .out_dtype = SAP_F64, .lanes = 4, .threads = 1};
    Fixture *b = bench_create(&setup, sample_model_create());
    copy_batch(&b->in, &b->clean);
    number_put(element(&b->in, JOINT_F, 7, 3), SAP_F64, 0, NAN);
    fill_sentinels(&b->out);
    SapState out = b->out.state;
    out.joint_q = b->in.state.joint_q;
    need(sap_step(b->solver, &b->in.state, &b->in.control, NULL, H, &out));
    cr_assert(row_is_same(&b->in, &b->clean, Q, 7) && row_is_same(&b->out, &b->clean, QD, 7));
    bench_destroy(b);
}
