/* Parameters that worlds have of their own: a world with its own values is, bit for bit, a world of a model with those values;
 * what is written is what the next call uses; and a value that no model may have stops its world alone. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/sapwood.h>

#include "host/plan/parameters.h"
#include "support/work.h"

static const double h = 0.002;

/* ---- models ---- */

/* A number in (-1, 1) that depends on world, parameter and index. */
static double noise(int content, int parameter, int i) {
    return sin(12.9898 * (content + 1) + 78.233 * i + 37.719 * parameter);
}

/* Value i of a parameter in the world with that content; `x` is the model's. Every number obeys the rules and does something. */
static double varied(SapParameter p, int content, int i, double x) {
    double s = noise(content, (int)p, i);
    switch (p) {
    case SAP_PARAMETER_GRAVITY: return x + 0.5 * s;
    case SAP_PARAMETER_BODY_COM: return x + 0.01 * s;
    case SAP_PARAMETER_BODY_INERTIA: return x * (1.4 + noise(content, (int)p, i / 9)); /* a body's as a whole */
    case SAP_PARAMETER_JOINT_ARMATURE: return 0.02 * (1 + s);
    case SAP_PARAMETER_JOINT_DAMPING: return 0.1 * (1 + s);
    case SAP_PARAMETER_JOINT_FRICTION: return s > 0 ? 0.3 * s : 0;
    case SAP_PARAMETER_JOINT_EFFORT_LIMIT: return 3 * (1.1 + s);
    case SAP_PARAMETER_JOINT_LIMIT_LOWER: return x - 0.05 * (1 + s);
    case SAP_PARAMETER_JOINT_LIMIT_UPPER: return x + 0.05 * (1 + s);
    case SAP_PARAMETER_SHAPE_MATERIAL_KE: return 2000 * (1.2 + s);
    case SAP_PARAMETER_SHAPE_MARGIN: return 0.002 * (1 + s);
    case SAP_PARAMETER_SHAPE_GAP: return 0.02 * (1 + s);
    default: return x * (1 + 0.4 * s);
    }
}

static SapModel *create_model(const SapModelArrays *a) {
    SapModel *model = NULL;
    cr_assert_eq(sap_model_create(a, &model), SAP_OK, "%s", sap_error_message());
    return model;
}

/* The quadruped with limits that act from the beginning, moving. */
static SapModel *base_model(void) {
    SapScene *scene = NULL;
    cr_assert_eq(sap_scene_load(SAPWOOD_SOURCE_DIR "/bench/scenes/quadruped.yaml", &scene), SAP_OK, "%s",
                 sap_error_message());
    SapModelArrays a = *sap_model_arrays(scene->model);
    double lower[64], upper[64], ke[64], kd[64], qd[64];
    for (int i = 0; i < a.num_dofs; i++) {
        double q = i < 6 ? 0 : a.joint_q[i + 1];
        lower[i] = i % 2 ? q + 0.08 : q - 0.5;
        upper[i] = i % 2 ? q + 0.5 : q - 0.08;
        ke[i] = 200;
        kd[i] = 2;
        qd[i] = 0.1 * noise(0, 51, i);
    }
    a.joint_limit_lower = lower;
    a.joint_limit_upper = upper;
    a.joint_limit_ke = ke;
    a.joint_limit_kd = kd;
    a.joint_qd = qd;
    SapModel *model = create_model(&a);
    sap_scene_destroy(scene);
    return model;
}

static int size_of(const SapModelArrays *a, SapParameter p) {
    return sap_parameter_rows(a, p) * sap_parameter_columns(p);
}

/* The model with the values of a content for the parameters of `which` (bits). */
static SapModel *varied_model(const SapModel *base, uint32_t which, int content) {
    SapModelArrays a = *sap_model_arrays(base);
    double *memory[SAP_NUM_PARAMETERS] = {0};
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++) {
        if (!(which >> p & 1))
            continue;
        int n = size_of(&a, (SapParameter)p);
        memory[p] = calloc((size_t)n, sizeof **memory);
        for (int i = 0; i < n; i++)
            memory[p][i] =
                varied((SapParameter)p, content, i, sap_parameter_get(sap_model_arrays(base), (SapParameter)p)[i]);
        sap_parameter_set(&a, (SapParameter)p, memory[p]);
    }
    SapModel *model = create_model(&a);
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++)
        free(memory[p]);
    return model;
}

/* ---- batches ---- */

static SapOptions options_of(const char *preset, int lanes, int threads) {
    SapOptions o;
    cr_assert_eq(sap_options_preset(preset, &o), SAP_OK);
    o.lanes = lanes;
    o.threads = threads;
    return o;
}

static SapBatch *create(const SapModel *model, int worlds, const SapOptions *options) {
    SapBatch *batch = NULL;
    cr_assert_eq(sap_batch_create(model, worlds, options, &batch), SAP_OK, "%s", sap_error_message());
    return batch;
}

static double *expand(SapBatch *batch, SapParameter p) {
    SapArray view;
    cr_assert_eq(sap_batch_expand(batch, p, &view), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(view.type, SAP_TYPE_F64);
    return view.data;
}

/* Gives world w the values of a content. */
static void write_world(SapBatch *batch, const SapModel *base, uint32_t which, int w, int content) {
    const SapModelArrays *a = sap_model_arrays(base);
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++) {
        if (!(which >> p & 1))
            continue;
        int n = size_of(a, (SapParameter)p);
        double *row = expand(batch, (SapParameter)p) + (size_t)w * (size_t)n;
        for (int i = 0; i < n; i++)
            row[i] = varied((SapParameter)p, content, i, sap_parameter_get(a, (SapParameter)p)[i]);
    }
}

static void put_number(SapBatch *batch, void *array, size_t at, double x) {
    if (sap_batch_state(batch)->dtype == SAP_F64)
        ((double *)array)[at] = x;
    else
        ((float *)array)[at] = (float)x;
}

static void set_velocity(SapBatch *batch, const SapModel *model, int w, int content) {
    int nv = sap_model_arrays(model)->num_dofs;
    for (int i = 0; i < nv; i++)
        put_number(batch, sap_batch_state(batch)->joint_qd, (size_t)(w * nv + i), 0.5 * noise(content, 50, i));
}

enum { MOST_BYTES = 8192 };
typedef struct World {
    char state[MOST_BYTES]; /* coordinates, velocities, bodies */
    uint32_t status;
    int32_t contacts;
    double cost;
} World;

static size_t copy_part(World *out, size_t at, const void *array, int w, int width, size_t number) {
    size_t bytes = (size_t)width * number;
    cr_assert_leq(at + bytes, (size_t)MOST_BYTES);
    memcpy(out->state + at, (const char *)array + (size_t)w * bytes, bytes);
    return at + bytes;
}

static World read_world(const SapBatch *batch, const SapModel *model, int w) {
    const SapModelArrays *a = sap_model_arrays(model);
    const SapState *s = sap_batch_state(batch);
    size_t number = s->dtype == SAP_F64 ? sizeof(double) : sizeof(float), at = 0;
    SapWorldReport report;
    cr_assert_eq(sap_solver_report(sap_batch_solver(batch), &report), SAP_OK);
    World out;
    memset(&out, 0, sizeof out);
    at = copy_part(&out, at, s->joint_q, w, a->num_coords, number);
    at = copy_part(&out, at, s->joint_qd, w, a->num_dofs, number);
    at = copy_part(&out, at, s->body_q, w, 7 * a->num_bodies, number);
    copy_part(&out, at, s->body_qd, w, 6 * a->num_bodies, number);
    out.status = report.status[w];
    out.cost = report.cost[w];
    out.contacts = sap_batch_contacts(batch)->count[w];
    return out;
}

/* A batch of one world of the model with those values. */
static World run_alone(const SapModel *base, uint32_t which, int content, const char *preset, int steps) {
    SapModel *model = varied_model(base, which, content);
    SapOptions o = options_of(preset, 1, 1);
    SapBatch *batch = create(model, 1, &o);
    set_velocity(batch, model, 0, content);
    cr_assert_eq(sap_batch_step(batch, h, steps), SAP_OK);
    World out = read_world(batch, model, 0);
    sap_batch_destroy(batch);
    sap_model_destroy(model);
    return out;
}

#define ALL ((1u << SAP_NUM_PARAMETERS) - 1)

/* ---- the same bits ---- */

static void check_arrangement(const SapModel *base, const char *preset, int worlds, int first, int lanes, int threads,
                              const World *expected, int contents, int steps) {
    SapOptions o = options_of(preset, lanes, threads);
    SapBatch *batch = create(base, worlds, &o);
    for (int i = 0; i < worlds; i++) {
        write_world(batch, base, ALL, (first + i) % worlds, i);
        set_velocity(batch, base, (first + i) % worlds, i);
    }
    cr_assert_eq(sap_batch_step(batch, h, steps), SAP_OK);
    for (int i = 0; i < contents; i++) {
        World got = read_world(batch, base, (first + i) % worlds);
        cr_assert_eq(memcmp(&got, &expected[i], sizeof got), 0, "%s, %d worlds, lanes %d, threads %d: content %d",
                     preset, worlds, lanes, threads, i);
    }
    sap_batch_destroy(batch);
}

static void check_all_parameters(const char *preset) {
    enum { CONTENTS = 3 };
    int steps = 10 + (int)(50 * work_scale());
    static World expected[CONTENTS];
    SapModel *base = base_model();
    for (int i = 0; i < CONTENTS; i++) {
        expected[i] = run_alone(base, ALL, i, preset, steps);
        cr_assert_eq(expected[i].status & SAP_WORLD_FAILED, 0u);
        cr_assert_gt(expected[i].contacts, 0);
    }
    check_arrangement(base, preset, 3, 0, 1, 1, expected, CONTENTS, steps);
    check_arrangement(base, preset, 3, 1, 4, 2, expected, CONTENTS, steps);
    check_arrangement(base, preset, 5, 3, 8, 1, expected, CONTENTS, steps);
    check_arrangement(base, preset, 19, 7, 8, 2, expected, CONTENTS, steps);
    sap_model_destroy(base);
}

Test(expand, a_world_with_its_own_parameters_has_the_bits_of_a_model_with_them_in_approx32) {
    check_all_parameters("approx32");
}
Test(expand, a_world_with_its_own_parameters_has_the_bits_of_a_model_with_them_in_approx64) {
    check_all_parameters("approx64");
}
Test(expand, a_world_with_its_own_parameters_has_the_bits_of_a_model_with_them_in_drake) {
    check_all_parameters("drake");
}

Test(expand, each_parameter_alone_is_that_of_a_model_and_matters) {
    SapModel *base = base_model();
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++) {
        const char *name = sap_parameter_names()[p];
        SapOptions o = options_of("approx64", 4, 1);
        SapBatch *batch = create(base, 5, &o);
        World plain = run_alone(base, 0, 3, "approx64", 30), expected = run_alone(base, 1u << p, 3, "approx64", 30);
        write_world(batch, base, 1u << p, 2, 3);
        for (int w = 0; w < 5; w++)
            set_velocity(batch, base, w, 3);
        cr_assert_eq(sap_batch_step(batch, h, 30), SAP_OK);
        World own = read_world(batch, base, 2), other = read_world(batch, base, 1);
        cr_expect_eq(memcmp(&own, &expected, sizeof own), 0, "%s: not as in a model", name);
        cr_expect_eq(memcmp(&other, &plain, sizeof own), 0, "%s: a world that was not written has changed", name);
        cr_expect_neq(memcmp(&own, &plain, sizeof own), 0, "%s: has no effect", name);
        sap_batch_destroy(batch);
    }
    sap_model_destroy(base);
}

/* The quadruped without limits, or with those of all its joints in [-0.1, 0.1] about where they are. */
static SapModel *model_with_limits(const SapModel *base, double half_width) {
    SapModelArrays a = *sap_model_arrays(base);
    double lower[64], upper[64];
    for (int i = 0; i < a.num_dofs; i++) {
        double q = i < 6 ? 0 : a.joint_q[i + 1];
        lower[i] = q - half_width;
        upper[i] = q + half_width;
    }
    a.joint_limit_lower = lower;
    a.joint_limit_upper = upper;
    return create_model(&a);
}

Test(expand, a_world_may_have_limits_where_the_model_has_none) {
    SapModel *base = base_model(), *without = model_with_limits(base, INFINITY), *with = model_with_limits(base, 0.001);
    SapOptions o = options_of("approx64", 4, 1);
    SapBatch *batch = create(without, 3, &o), *alone = create(with, 1, &o);
    int nv = sap_model_arrays(base)->num_dofs;
    double *lower = expand(batch, SAP_PARAMETER_JOINT_LIMIT_LOWER),
           *upper = expand(batch, SAP_PARAMETER_JOINT_LIMIT_UPPER);
    memcpy(lower + nv, sap_model_arrays(with)->joint_limit_lower, (size_t)nv * sizeof *lower);
    memcpy(upper + nv, sap_model_arrays(with)->joint_limit_upper, (size_t)nv * sizeof *upper);
    cr_assert_eq(sap_batch_step(batch, h, 20), SAP_OK);
    cr_assert_eq(sap_batch_step(alone, h, 20), SAP_OK);
    World own = read_world(batch, without, 1), expected = read_world(alone, with, 0),
          other = read_world(batch, without, 0);
    cr_expect_eq(memcmp(&own, &expected, sizeof own), 0, "not as in a model with these limits");
    cr_expect_neq(memcmp(&own, &other, sizeof own), 0, "limits have no effect");
    sap_batch_destroy(batch);
    sap_batch_destroy(alone);
    sap_model_destroy(base);
    sap_model_destroy(without);
    sap_model_destroy(with);
}

Test(expand, arrays_hold_the_models_values_and_stay_where_they_are) {
    SapModel *base = base_model();
    const SapModelArrays *a = sap_model_arrays(base);
    SapOptions o = options_of("approx32", 0, 1);
    SapBatch *batch = create(base, 9, &o), *plain = create(base, 9, &o);
    size_t before = sap_batch_bytes(batch);
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++) {
        SapArray view;
        cr_assert_eq(sap_batch_expand(batch, (SapParameter)p, &view), SAP_OK, "%s", sap_error_message());
        int n = size_of(a, (SapParameter)p);
        int64_t count = 1;
        for (int i = 1; i < view.ndim; i++)
            count *= view.shape[i];
        cr_assert_eq(view.shape[0], 9);
        cr_assert_eq(count, n, "%s", sap_parameter_names()[p]);
        for (int w = 0; w < 9; w++)
            cr_assert_eq(memcmp((double *)view.data + w * n, sap_parameter_get(a, (SapParameter)p), (size_t)n * 8), 0);
        cr_assert_eq(expand(batch, (SapParameter)p), view.data);
    }
    cr_assert_gt(sap_batch_bytes(batch), before);
    cr_assert_eq(sap_batch_step(batch, h, 40), SAP_OK);
    cr_assert_eq(sap_batch_step(plain, h, 40), SAP_OK);
    for (int w = 0; w < 9; w++) {
        World x = read_world(batch, base, w), y = read_world(plain, base, w);
        cr_assert_eq(memcmp(&x, &y, sizeof x), 0, "world %d", w);
    }
    sap_batch_destroy(batch);
    sap_batch_destroy(plain);
    sap_model_destroy(base);
}

/* ---- what is written is what the next call uses ---- */

/* A batch of the model with those values that goes on from the state of another. */
static SapBatch *take_over(const SapModel *model, const SapBatch *from, int worlds, const SapOptions *o) {
    const SapModelArrays *a = sap_model_arrays(model);
    SapBatch *batch = create(model, worlds, o);
    size_t number = sap_batch_state(from)->dtype == SAP_F64 ? 8 : 4, n = (size_t)worlds * number;
    memcpy(sap_batch_state(batch)->joint_q, sap_batch_state(from)->joint_q, n * (size_t)a->num_coords);
    memcpy(sap_batch_state(batch)->joint_qd, sap_batch_state(from)->joint_qd, n * (size_t)a->num_dofs);
    return batch;
}

Test(expand, a_write_between_calls_is_noticed_by_the_next_and_so_is_taking_it_back) {
    SapModel *base = base_model();
    SapOptions o = options_of("approx64", 8, 2);
    SapBatch *batch = create(base, 11, &o);
    for (int w = 0; w < 11; w++)
        set_velocity(batch, base, w, w);
    expand(batch, SAP_PARAMETER_BODY_MASS);
    for (int round = 0; round < 6; round++) {
        /* rounds 0, 2, 4: other values; 1, 3, 5: the model's again */
        uint32_t which = round % 2 ? 0 : ALL;
        SapModel *model = varied_model(base, which, round);
        SapBatch *expected = take_over(model, batch, 11, &o);
        for (int w = 0; w < 11 && which; w++)
            write_world(batch, base, ALL, w, round);
        for (int p = 0; p < SAP_NUM_PARAMETERS && !which; p++)
            for (int w = 0, n = size_of(sap_model_arrays(base), (SapParameter)p); w < 11; w++)
                memcpy(expand(batch, (SapParameter)p) + w * n,
                       sap_parameter_get(sap_model_arrays(base), (SapParameter)p), (size_t)n * sizeof(double));
        cr_assert_eq(sap_batch_step(batch, h, 7), SAP_OK);
        cr_assert_eq(sap_batch_step(expected, h, 7), SAP_OK);
        for (int w = 0; w < 11; w++) {
            World x = read_world(batch, base, w), y = read_world(expected, model, w);
            cr_assert_eq(memcmp(&x, &y, sizeof x), 0, "round %d, world %d", round, w);
        }
        sap_batch_destroy(expected);
        sap_model_destroy(model);
    }
    sap_batch_destroy(batch);
    sap_model_destroy(base);
}

Test(expand, kinematics_and_resets_use_a_worlds_own_centre_of_mass) {
    SapModel *base = base_model(), *model = varied_model(base, 1u << SAP_PARAMETER_BODY_COM, 4);
    SapOptions o = options_of("approx64", 4, 1);
    SapBatch *batch = create(base, 6, &o), *expected = create(model, 6, &o);
    for (int w = 0; w < 6; w++)
        set_velocity(batch, base, w, w), set_velocity(expected, base, w, w);
    for (int w = 0; w < 6; w++)
        write_world(batch, base, 1u << SAP_PARAMETER_BODY_COM, w, 4);
    const uint8_t some[6] = {0, 1, 0, 0, 1, 1};
    World before = read_world(batch, base, 0);
    cr_assert_eq(sap_batch_forward_kinematics(batch, some), SAP_OK);
    cr_assert_eq(sap_batch_forward_kinematics(expected, NULL), SAP_OK);
    for (int w = 0; w < 6; w++) {
        World x = read_world(batch, base, w), y = read_world(expected, model, w);
        cr_assert_eq(memcmp(&x, &y, sizeof x) == 0, some[w], "kinematics of world %d", w);
    }
    World after = read_world(batch, base, 0);
    cr_assert_eq(memcmp(&before, &after, sizeof before), 0, "world 0 was not asked for");
    cr_assert_eq(sap_batch_reset(batch, NULL, 0), SAP_OK);
    cr_assert_eq(sap_batch_reset(expected, NULL, 0), SAP_OK);
    for (int w = 0; w < 6; w++) {
        World x = read_world(batch, base, w), y = read_world(expected, model, w);
        cr_assert_eq(memcmp(&x, &y, sizeof x), 0, "reset of world %d", w);
    }
    sap_batch_destroy(batch);
    sap_batch_destroy(expected);
    sap_model_destroy(model);
    sap_model_destroy(base);
}

Test(expand, inspection_and_contacts_without_shapes_use_a_worlds_own_values) {
    SapModel *base = base_model();
    const SapModelArrays *a = sap_model_arrays(base);
    SapOptions o = options_of("approx64", 4, 1);
    SapBatch *batch = create(base, 3, &o);
    SapContacts *contacts = NULL;
    int capacity = sap_batch_contacts(batch)->capacity;
    cr_assert_eq(sap_contacts_create(3, capacity, SAP_F64, &contacts), SAP_OK);
    for (int w = 0; w < 3; w++) { /* the trunk on a static thing, sliding; neither has a shape */
        const double n[3] = {0, 0, 1}, trunk[3] = {0, 0, -0.05};
        size_t at = (size_t)w * (size_t)capacity;
        write_world(batch, base, ALL, w, w);
        contacts->count[w] = 1;
        contacts->body1[at] = 0;
        for (int i = 0; i < 3; i++) {
            ((double *)contacts->point0)[3 * at + (size_t)i] = a->joint_q[i] + trunk[i];
            ((double *)contacts->point1)[3 * at + (size_t)i] = trunk[i];
            ((double *)contacts->normal)[3 * at + (size_t)i] = n[i];
        }
    }
    double energy[3][2], expected_energy[2];
    for (int w = 0; w < 3; w++)
        set_velocity(batch, base, w, 1);
    SapFreeMotion out = {.energy = energy[0]}, expected_out = {.energy = expected_energy};
    cr_assert_eq(sap_free_motion(sap_batch_solver(batch), sap_batch_state(batch), NULL, h, &out), SAP_OK);
    cr_assert_eq(sap_step(sap_batch_solver(batch), sap_batch_state(batch), NULL, contacts, h, sap_batch_state(batch)),
                 SAP_OK);
    for (int w = 0; w < 3; w++) {
        SapModel *model = varied_model(base, ALL, w);
        SapOptions one = options_of("approx64", 1, 1);
        SapBatch *alone = create(model, 1, &one);
        set_velocity(alone, base, 0, 1);
        SapContacts mine = *contacts;
        size_t at = (size_t)w * (size_t)capacity;
        mine.num_worlds = 1;
        mine.count += w;
        mine.shape0 += at, mine.shape1 += at, mine.body0 += at, mine.body1 += at;
        mine.point0 = (double *)mine.point0 + 3 * at, mine.point1 = (double *)mine.point1 + 3 * at;
        mine.normal = (double *)mine.normal + 3 * at;
        SapSolver *solver = sap_batch_solver(alone);
        SapState *state = sap_batch_state(alone);
        cr_assert_eq(sap_free_motion(solver, state, NULL, h, &expected_out), SAP_OK);
        cr_assert_eq(memcmp(energy[w], expected_energy, sizeof expected_energy), 0, "energy of world %d", w);
        cr_assert_eq(sap_step(solver, state, NULL, &mine, h, state), SAP_OK);
        World x = read_world(batch, base, w), y = read_world(alone, model, 0);
        cr_assert_eq(memcmp(x.state, y.state, sizeof x.state), 0, "world %d with a contact without shapes", w);
        cr_assert_eq(x.status, y.status);
        sap_batch_destroy(alone);
        sap_model_destroy(model);
    }
    sap_contacts_destroy(contacts);
    sap_batch_destroy(batch);
    sap_model_destroy(base);
}

/* ---- values that no model may have ---- */

typedef struct Bad {
    SapParameter parameter;
    int index;
    double value;
    const char *message;
} Bad;

static const Bad bad_values[] = {
    {SAP_PARAMETER_BODY_MASS, 2, 0, "body_mass[2] of body 2 ("},
    {SAP_PARAMETER_BODY_MASS, 0, -1, "is -1; it must be finite and > 0"},
    {SAP_PARAMETER_BODY_MASS, 0, NAN, "nan; it must be finite and > 0"},
    {SAP_PARAMETER_BODY_INERTIA, 9, -1, "it must be positive definite"},
    {SAP_PARAMETER_BODY_INERTIA, 1, 1, "it must be symmetric"},
    {SAP_PARAMETER_BODY_INERTIA, 0, 1e3, "triangle inequality"},
    {SAP_PARAMETER_BODY_COM, 4, INFINITY, "body_com[1][1]"},
    {SAP_PARAMETER_GRAVITY, 2, NAN, "gravity[2] is"},
    {SAP_PARAMETER_JOINT_ARMATURE, 7, -0.1, "joint_armature[7]"},
    {SAP_PARAMETER_JOINT_LIMIT_UPPER, 8, -9, "it must be <= joint_limit_upper[8]"},
    {SAP_PARAMETER_JOINT_EFFORT_LIMIT, 8, 0, "> 0, infinity allowed"},
    {SAP_PARAMETER_SHAPE_MATERIAL_MU, 1, -0.5, "shape_material_mu[1] of shape 1"},
    {SAP_PARAMETER_SHAPE_MATERIAL_KE, 1, 0, "shape_material_ke[1]"},
};

static void check_bad(const SapModel *base, const Bad *bad) {
    SapOptions o = options_of("approx32", 4, 1);
    SapBatch *batch = create(base, 7, &o), *clean = create(base, 7, &o);
    int n = size_of(sap_model_arrays(base), bad->parameter);
    double *cell = expand(batch, bad->parameter) + 5 * n + bad->index, good = *cell;
    cr_assert_eq(sap_batch_step(batch, h, 3), SAP_OK);
    cr_assert_eq(sap_batch_step(clean, h, 3), SAP_OK);
    cr_assert_eq(sap_batch_check_parameters(batch), SAP_OK);
    World before = read_world(batch, base, 5);
    *cell = bad->value;
    write_world(batch, base, 1u << SAP_PARAMETER_JOINT_DAMPING, 5, 2); /* a good value that comes with the bad one */
    cr_expect_eq(sap_batch_check_parameters(batch), SAP_ERROR_MODEL);
    cr_expect(strncmp(sap_error_message(), "world 5: ", 9) == 0, "%s", sap_error_message());
    cr_expect(strstr(sap_error_message(), bad->message), "'%s' is not in: %s", bad->message, sap_error_message());
    for (int call = 0; call < 2; call++) { /* in the second, nothing is new */
        cr_assert_eq(sap_batch_step(batch, h, 3), SAP_OK);
        cr_assert_eq(sap_batch_step(clean, h, 3), SAP_OK);
        for (int w = 0; w < 7; w++) {
            World x = read_world(batch, base, w), y = read_world(clean, base, w);
            cr_expect(w == 5 || memcmp(&x, &y, sizeof x) == 0, "%s: world %d", bad->message, w);
            cr_expect(w != 5 || memcmp(x.state, before.state, sizeof x.state) == 0, "%s: moved", bad->message);
            cr_expect(w != 5 || (x.status == SAP_WORLD_BAD_PARAMETERS && x.contacts == 0), "status %#x", x.status);
        }
    }
    *cell = good;
    SapModel *damped = varied_model(base, 1u << SAP_PARAMETER_JOINT_DAMPING, 2);
    SapBatch *on = take_over(damped, batch, 7, &o);
    cr_assert_eq(sap_batch_step(batch, h, 3), SAP_OK);
    cr_assert_eq(sap_batch_step(on, h, 3), SAP_OK);
    World x = read_world(batch, base, 5), y = read_world(on, base, 5);
    cr_expect_eq(memcmp(&x, &y, sizeof x), 0, "%s: put right, it does not go on", bad->message);
    sap_batch_destroy(on);
    sap_model_destroy(damped);
    sap_batch_destroy(batch);
    sap_batch_destroy(clean);
}

Test(expand, a_value_that_breaks_a_rule_stops_its_world_alone_until_it_is_put_right) {
    SapModel *base = base_model();
    for (size_t i = 0; i < sizeof bad_values / sizeof *bad_values; i++)
        check_bad(base, &bad_values[i]);
    sap_model_destroy(base);
}

Test(expand, a_world_that_is_left_out_gets_its_state_in_another_array_too) {
    SapModel *base = base_model();
    const SapModelArrays *a = sap_model_arrays(base);
    SapOptions o = options_of("approx32", 4, 1);
    SapBatch *batch = create(base, 4, &o);
    SapState *out = NULL;
    cr_assert_eq(sap_state_create(base, 4, SAP_F64, &out), SAP_OK);
    expand(batch, SAP_PARAMETER_BODY_MASS)[2 * a->num_bodies] = -1;
    set_velocity(batch, base, 2, 9);
    memset(out->joint_qd, 0x55, 4 * (size_t)a->num_dofs * sizeof(double));
    cr_assert_eq(sap_step(sap_batch_solver(batch), sap_batch_state(batch), NULL, NULL, h, out), SAP_OK);
    for (int i = 0; i < a->num_dofs; i++)
        cr_assert_eq(((double *)out->joint_qd)[2 * a->num_dofs + i],
                     (double)((float *)sap_batch_state(batch)->joint_qd)[2 * a->num_dofs + i]);
    sap_state_destroy(out);
    sap_batch_destroy(batch);
    sap_model_destroy(base);
}

/* ---- arguments ---- */

Test(expand, wrong_arguments_are_refused) {
    SapModel *base = base_model();
    SapBatch *batch = create(base, 2, NULL);
    SapArray view;
    cr_assert_eq(sap_batch_expand(NULL, SAP_PARAMETER_BODY_MASS, &view), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_expand(batch, SAP_PARAMETER_BODY_MASS, NULL), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_expand(batch, SAP_NUM_PARAMETERS, &view), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "it must be in 0 .. 18"), "%s", sap_error_message());
    SapModelArrays a = *sap_model_arrays(base);
    a.num_shapes = 0;
    SapModel *bare = create_model(&a);
    SapBatch *without = create(bare, 2, NULL);
    cr_assert_eq(sap_batch_expand(without, SAP_PARAMETER_SHAPE_MATERIAL_MU, &view), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "shape_material_mu has no rows"), "%s", sap_error_message());
    sap_batch_destroy(without);
    sap_model_destroy(bare);
    sap_batch_destroy(batch);
    sap_model_destroy(base);
}

Test(expand, names_are_those_of_the_models_arrays) {
    const char *const *names = sap_parameter_names();
    for (int p = 1; p < SAP_NUM_PARAMETERS; p++)
        cr_assert_neq(sap_model_field(names[p]), NULL, "%s", names[p]);
    cr_assert_eq(names[SAP_NUM_PARAMETERS], NULL);
}
