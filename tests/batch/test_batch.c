/* Batches: stepping, resetting, reading, and the same bits however the worlds are arranged. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/sapwood.h>

#include "support/work.h"

static SapScene *load(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/bench/scenes/%s.yaml", SAPWOOD_SOURCE_DIR, name);
    SapScene *scene = NULL;
    cr_assert_eq(sap_scene_load(path, &scene), SAP_OK, "%s", sap_error_message());
    return scene;
}

static SapBatch *create(const SapScene *scene, int worlds, const SapOptions *options) {
    SapBatch *batch = NULL;
    cr_assert_eq(sap_batch_create(scene->model, worlds, options, &batch), SAP_OK, "%s", sap_error_message());
    return batch;
}

static size_t number_size(const SapBatch *batch) {
    return sap_batch_state(batch)->dtype == SAP_F64 ? sizeof(double) : sizeof(float);
}

/* World w gets the velocities of content `content`: numbers that depend on it alone. */
static void set_content(SapBatch *batch, const SapModelArrays *a, int w, int content) {
    SapState *s = sap_batch_state(batch);
    for (int i = 0; i < a->num_dofs; i++) {
        double change = 0.5 * sin(12.9898 * (content + 1) + 78.233 * i);
        size_t at = (size_t)w * (size_t)a->num_dofs + (size_t)i;
        if (s->dtype == SAP_F64)
            ((double *)s->joint_qd)[at] = a->joint_qd[i] + change;
        else
            ((float *)s->joint_qd)[at] = (float)(a->joint_qd[i] + change);
    }
}

/* Bytes of q, then of qd, of world w. */
static void read_world(const SapBatch *batch, const SapModelArrays *a, int w, char *out) {
    size_t q = (size_t)a->num_coords * number_size(batch), qd = (size_t)a->num_dofs * number_size(batch);
    memcpy(out, (char *)sap_batch_state(batch)->joint_q + (size_t)w * q, q);
    memcpy(out + q, (char *)sap_batch_state(batch)->joint_qd + (size_t)w * qd, qd);
}

enum { MOST_BYTES = 4096 };

/* ---- the same bits ---- */

typedef struct Arrangement {
    int worlds, first, lanes, threads; /* content i sits in world (first + i) modulo worlds */
} Arrangement;

/* The states of `contents` contents after some steps. */
static void run_arrangement(const SapScene *scene, SapOptions options, Arrangement how, int contents, int steps,
                            char (*out)[MOST_BYTES]) {
    const SapModelArrays *a = sap_model_arrays(scene->model);
    options.lanes = how.lanes;
    options.threads = how.threads;
    SapBatch *batch = create(scene, how.worlds, &options);
    for (int i = 0; i < how.worlds; i++)
        set_content(batch, a, (how.first + i) % how.worlds, i);
    cr_assert_eq(sap_batch_step(batch, scene->dt, steps), SAP_OK);
    for (int i = 0; i < contents; i++)
        read_world(batch, a, (how.first + i) % how.worlds, out[i]);
    sap_batch_destroy(batch);
}

static void check_sameness(const char *name, const char *preset) {
    enum { CONTENTS = 3 };
    static const Arrangement how[] = {{3, 0, 1, 1}, {3, 1, 4, 2}, {5, 3, 8, 1}, {19, 7, 8, 2}, {33, 30, 4, 1}};
    static char expected[CONTENTS][MOST_BYTES], got[CONTENTS][MOST_BYTES];
    SapScene *scene = load(name);
    const SapModelArrays *a = sap_model_arrays(scene->model);
    cr_assert_eq(sap_options_set(&scene->options, "contact_preset_variant", preset), SAP_OK);
    size_t bytes = (size_t)(a->num_coords + a->num_dofs) *
                   (scene->options.free_motion_solve_precision == SAP_FP64 ? sizeof(double) : sizeof(float));
    for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
        run_arrangement(scene, scene->options, how[k], CONTENTS, 10 + (int)(50 * work_scale()),
                        k == 0 ? expected : got);
        for (int i = 0; i < CONTENTS && k > 0; i++)
            cr_assert_eq(memcmp(expected[i], got[i], bytes), 0, "%s %s: world %d, %d worlds, lanes %d, threads %d",
                         name, preset, i, how[k].worlds, how[k].lanes, how[k].threads);
    }
    sap_scene_destroy(scene);
}

#define SAMENESS_TEST(scene)                                                                                           \
    Test(batch, scene##_has_the_same_bits_for_any_lanes_threads_batch_size_and_position) {                             \
        check_sameness(#scene, "approx32");                                                                            \
        check_sameness(#scene, "approx64");                                                                            \
        check_sameness(#scene, "drake");                                                                               \
    }

SAMENESS_TEST(cube)
SAMENESS_TEST(stack5)
SAMENESS_TEST(quadruped)
SAMENESS_TEST(gripper)

Test(batch, n_steps_in_one_call_are_n_calls) {
    SapScene *scene = load("quadruped");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *once = create(scene, 11, &scene->options), *often = create(scene, 11, &scene->options);
    for (int w = 0; w < 11; w++) {
        set_content(once, a, w, w);
        set_content(often, a, w, w);
    }
    cr_assert_eq(sap_batch_step(once, scene->dt, 30), SAP_OK);
    for (int i = 0; i < 30; i++)
        cr_assert_eq(sap_batch_step(often, scene->dt, 1), SAP_OK);
    char x[MOST_BYTES] = {0}, y[MOST_BYTES] = {0};
    for (int w = 0; w < 11; w++) {
        read_world(once, a, w, x);
        read_world(often, a, w, y);
        cr_assert_eq(memcmp(x, y, sizeof x), 0, "world %d", w);
        cr_assert_eq(sap_batch_contacts(once)->count[w], sap_batch_contacts(often)->count[w]);
    }
    sap_batch_destroy(once);
    sap_batch_destroy(often);
    sap_scene_destroy(scene);
}

Test(batch, a_fused_step_is_collide_then_step) {
    SapScene *scene = load("stack5");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *batch = create(scene, 9, &scene->options);
    SapSolver *solver = NULL;
    SapState *state = NULL;
    SapContacts *contacts = NULL;
    cr_assert_eq(sap_solver_create(scene->model, 9, &scene->options, &solver), SAP_OK);
    cr_assert_eq(sap_state_create(scene->model, 9, sap_batch_state(batch)->dtype, &state), SAP_OK);
    cr_assert_eq(sap_contacts_create(9, scene->options.max_rigid_contact, sap_batch_contacts(batch)->dtype, &contacts),
                 SAP_OK);
    for (int i = 0; i < 40; i++) {
        cr_assert_eq(sap_batch_step(batch, scene->dt, 1), SAP_OK);
        cr_assert_eq(sap_collide(solver, state, contacts), SAP_OK);
        cr_assert_eq(sap_step(solver, state, NULL, contacts, scene->dt, state), SAP_OK);
    }
    cr_assert_gt(contacts->count[0], 0);
    cr_assert_eq(
        memcmp(state->joint_q, sap_batch_state(batch)->joint_q, 9 * (size_t)a->num_coords * number_size(batch)), 0);
    sap_contacts_destroy(contacts);
    sap_state_destroy(state);
    sap_solver_destroy(solver);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- reset ---- */

Test(batch, reset_puts_chosen_worlds_back_and_leaves_the_others) {
    SapScene *scene = load("quadruped");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *batch = create(scene, 6, &scene->options), *fresh = create(scene, 6, &scene->options);
    for (int w = 0; w < 6; w++)
        set_content(batch, a, w, w);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 50), SAP_OK);
    char before[6][MOST_BYTES] = {{0}}, x[MOST_BYTES] = {0}, start[MOST_BYTES] = {0};
    for (int w = 0; w < 6; w++)
        read_world(batch, a, w, before[w]);
    read_world(fresh, a, 0, start);
    const uint8_t mask[6] = {0, 1, 0, 0, 1, 0};
    int kept = sap_batch_contacts(batch)->count[2];
    cr_assert_eq(sap_batch_reset(batch, mask, 0), SAP_OK);
    for (int w = 0; w < 6; w++) {
        read_world(batch, a, w, x);
        cr_assert_eq(memcmp(x, mask[w] ? start : before[w], sizeof x), 0, "world %d", w);
    }
    cr_assert_eq(sap_batch_contacts(batch)->count[1], 0);
    cr_assert_eq(sap_batch_contacts(batch)->count[2], kept);
    cr_assert_eq(sap_solver_world_status(sap_batch_solver(batch))[1], 0u);
    cr_assert_neq(sap_solver_world_status(sap_batch_solver(batch))[2], 0u);

    /* nothing of the past is left: the world goes on as a new one does */
    cr_assert_eq(sap_batch_step(batch, scene->dt, 50), SAP_OK);
    cr_assert_eq(sap_batch_step(fresh, scene->dt, 50), SAP_OK);
    read_world(batch, a, 1, x);
    read_world(fresh, a, 1, start);
    cr_assert_eq(memcmp(x, start, sizeof x), 0);
    sap_batch_destroy(batch);
    sap_batch_destroy(fresh);
    sap_scene_destroy(scene);
}

Test(batch, after_a_reset_every_array_that_is_read_is_that_of_a_new_batch) {
    enum { WORLDS = 3 };
    SapScene *scene = load("humanoid");
    SapBatch *batch = create(scene, WORLDS, &scene->options), *fresh = create(scene, WORLDS, &scene->options);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 5), SAP_OK);
    for (int f = 0; f <= SAP_BATCH_CONTACT_DROPPED; f++) {
        SapArray view;
        cr_assert_eq(sap_batch_array(batch, (SapBatchField)f, &view), SAP_OK);
        memset(view.data, 0x3f, (size_t)(view.shape[0] * view.strides[0]));
    }
    cr_assert_eq(sap_batch_reset(batch, NULL, 0), SAP_OK);
    for (int f = 0; f <= SAP_BATCH_CONTACT_DROPPED; f++) {
        SapArray got, expected;
        cr_assert_eq(sap_batch_array(batch, (SapBatchField)f, &got), SAP_OK);
        cr_assert_eq(sap_batch_array(fresh, (SapBatchField)f, &expected), SAP_OK);
        cr_expect_eq(memcmp(got.data, expected.data, (size_t)(got.shape[0] * got.strides[0])), 0, "field %d", f);
    }
    sap_batch_destroy(batch);
    sap_batch_destroy(fresh);
    sap_scene_destroy(scene);
}

/* The cube with two keyframes: a metre higher, and turned with a velocity. */
static SapModel *cube_with_keyframes(const SapScene *scene) {
    SapModelArrays a = *sap_model_arrays(scene->model);
    const double q[2][7] = {{0, 0, 1, 0, 0, 0, 1}, {0.5, -0.5, 0.7, 0.6, 0, 0, 0.8}};
    const double qd[2][6] = {{0}, {0.1, 0.2, 0.3, 1, 2, 3}};
    SapModel *model = NULL;
    a.num_keyframes = 2;
    a.keyframe_joint_q = q[0];
    a.keyframe_joint_qd = qd[0];
    a.keyframe_name = NULL;
    cr_assert_eq(sap_model_create(&a, &model), SAP_OK, "%s", sap_error_message());
    return model;
}

Test(batch, reset_puts_worlds_to_keyframes) {
    SapScene *scene = load("cube");
    SapModel *model = cube_with_keyframes(scene);
    const SapModelArrays *a = sap_model_arrays(model);
    SapBatch *batch = NULL;
    cr_assert_eq(sap_batch_create(model, 5, NULL, &batch), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_batch_step(batch, scene->dt, 100), SAP_OK);
    const uint8_t second[5] = {0, 0, 1, 0, 1}, first[5] = {1, 0, 0, 0, 0};
    cr_assert_eq(sap_batch_reset(batch, second, 2), SAP_OK);
    cr_assert_eq(sap_batch_reset(batch, first, 1), SAP_OK);
    cr_assert_eq(sap_batch_reset(batch, (const uint8_t[5]){0, 1, 0, 0, 0}, 0), SAP_OK);
    const SapState *s = sap_batch_state(batch);
    const double *const q[5] = {a->keyframe_joint_q, a->joint_q, a->keyframe_joint_q + 7, NULL,
                                a->keyframe_joint_q + 7};
    const double *const qd[5] = {a->keyframe_joint_qd, a->joint_qd, a->keyframe_joint_qd + 6, NULL,
                                 a->keyframe_joint_qd + 6};
    for (int w = 0; w < 5; w++) {
        for (int i = 0; i < 7 && q[w]; i++)
            cr_expect_eq(((float *)s->joint_q)[7 * w + i], (float)q[w][i], "world %d, coordinate %d", w, i);
        for (int i = 0; i < 6 && q[w]; i++)
            cr_expect_eq(((float *)s->joint_qd)[6 * w + i], (float)qd[w][i], "world %d, dof %d", w, i);
        /* one free body: its pose is the joint's */
        for (int i = 0; i < 7; i++)
            cr_expect_float_eq(((float *)s->body_q)[7 * w + i], ((float *)s->joint_q)[7 * w + i], 1e-6, "world %d", w);
    }
    cr_expect_neq(((float *)s->joint_q)[7 * 3 + 2], (float)a->joint_q[2], "world 3 was not chosen");
    cr_expect_eq(sap_batch_reset(batch, NULL, 3), SAP_ERROR_ARGUMENT);
    cr_expect(strstr(sap_error_message(), "keyframe is 3; it must be in 0 .. 2"), "%s", sap_error_message());
    sap_batch_destroy(batch);
    sap_model_destroy(model);
    sap_scene_destroy(scene);
}

/* ---- failures ---- */

Test(batch, a_world_that_fails_in_one_of_several_steps_says_so_and_touches_no_other) {
    SapScene *scene = load("cube");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *batch = create(scene, 16, &scene->options), *clean = create(scene, 16, &scene->options);
    ((float *)sap_batch_control(batch)->joint_f)[5 * a->num_dofs] = NAN;
    cr_assert_eq(sap_batch_step(batch, scene->dt, 20), SAP_OK);
    cr_assert_eq(sap_batch_step(clean, scene->dt, 20), SAP_OK);
    char x[MOST_BYTES] = {0}, y[MOST_BYTES] = {0};
    for (int w = 0; w < 16; w++) {
        uint32_t status = sap_solver_world_status(sap_batch_solver(batch))[w];
        cr_assert_eq((status & SAP_WORLD_FAILED) != 0, w == 5, "world %d: %#x", w, status);
        read_world(batch, a, w, x);
        read_world(clean, a, w, y);
        cr_assert(w == 5 || memcmp(x, y, sizeof x) == 0, "world %d", w);
    }
    sap_batch_destroy(batch);
    sap_batch_destroy(clean);
    sap_scene_destroy(scene);
}

/* ---- arrays ---- */

Test(batch, every_array_has_its_shape_and_stays_where_it_is) {
    SapScene *scene = load("cube");
    SapBatch *batch = create(scene, 4, &scene->options);
    int capacity = sap_batch_contacts(batch)->capacity;
    void *first[SAP_BATCH_NUM_FIELDS];
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++) {
        SapArray view;
        cr_assert_eq(sap_batch_array(batch, (SapBatchField)f, &view), SAP_OK);
        cr_assert_neq(view.data, NULL, "field %d", f);
        cr_assert_eq(view.shape[0], 4);
        int64_t size = view.type == SAP_TYPE_F64 ? 8 : 4;
        cr_assert_eq(view.strides[view.ndim - 1], size);
        for (int i = 0; i + 1 < view.ndim; i++)
            cr_assert_eq(view.strides[i], view.strides[i + 1] * view.shape[i + 1]);
        if (f >= SAP_BATCH_CONTACT_SHAPE0 && f != SAP_BATCH_BODY_CONTACT_WRENCH)
            cr_assert_eq(view.shape[1], capacity, "field %d", f);
        first[f] = view.data;
    }
    cr_assert_eq(sap_batch_step(batch, scene->dt, 300), SAP_OK);
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++) {
        SapArray view;
        cr_assert_eq(sap_batch_array(batch, (SapBatchField)f, &view), SAP_OK);
        cr_assert_eq(view.data, first[f]);
    }
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(batch, contact_forces_of_a_cube_at_rest_add_up_to_its_weight) {
    SapScene *scene = load("cube");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *batch = create(scene, 3, &scene->options);
    SapArray impulse;
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_CONTACT_IMPULSE, &impulse), SAP_OK);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 1000), SAP_OK);
    const double *gamma = impulse.data;
    for (int w = 0; w < 3; w++) {
        double sum = 0;
        for (int c = 0; c < sap_batch_contacts(batch)->count[w]; c++)
            sum += gamma[((int64_t)w * impulse.shape[1] + c) * 3 + 2];
        cr_assert_float_eq(sum, a->body_mass[0] * 9.81 * scene->dt, 2e-3 * sum, "world %d: %g", w, sum);
    }
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(batch, read_and_write_copy_whole_arrays_of_that_size_only) {
    SapScene *scene = load("cube");
    SapBatch *batch = create(scene, 3, &scene->options);
    SapArray view;
    float q[3][7], qd[3][6] = {{1, 2, 3, 4, 5, 6}};
    double gap[64];
    cr_assert_eq(sap_batch_read(batch, SAP_BATCH_JOINT_Q, q, sizeof q), SAP_OK);
    cr_assert_eq(memcmp(q, sap_batch_state(batch)->joint_q, sizeof q), 0);
    cr_assert_eq(sap_batch_write(batch, SAP_BATCH_JOINT_QD, qd, sizeof qd), SAP_OK);
    cr_assert_eq(memcmp(qd, sap_batch_state(batch)->joint_qd, sizeof qd), 0);
    cr_assert_eq(sap_batch_read(batch, SAP_BATCH_JOINT_Q, q, sizeof q - 4), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "bytes is 80; field 0 has 84"), "%s", sap_error_message());
    cr_assert_eq(sap_batch_write(batch, SAP_BATCH_JOINT_QD, qd, sizeof qd + 1), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_read(batch, SAP_BATCH_NUM_FIELDS, q, 0), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_CONTACT_GAP, &view), SAP_OK);
    size_t bytes = (size_t)(view.shape[0] * view.strides[0]);
    cr_assert_leq(bytes, sizeof gap);
    cr_assert_eq(sap_batch_read(batch, SAP_BATCH_CONTACT_GAP, gap, bytes), SAP_OK);
    sap_batch_state(batch)->body_q = NULL;
    cr_assert_eq(sap_batch_read(batch, SAP_BATCH_BODY_Q, q, sizeof q), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "absent"), "%s", sap_error_message());
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(batch, kinematics_of_chosen_worlds_leave_the_others) {
    SapScene *scene = load("quadruped");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *batch = create(scene, 9, &scene->options);
    const uint8_t mask[9] = {0, 1, 0, 0, 0, 0, 0, 0, 7};
    SapState *s = sap_batch_state(batch);
    size_t row = 7 * (size_t)a->num_bodies;
    float *q = s->joint_q, *body_q = s->body_q;
    for (int w = 0; w < 9; w++)
        q[w * a->num_coords + 2] += 1;
    float before = body_q[2];
    cr_assert_eq(sap_batch_forward_kinematics(batch, mask), SAP_OK);
    for (size_t w = 0; w < 9; w++)
        cr_expect_float_eq(body_q[w * row + 2], before + (mask[w] ? 1 : 0), 1e-5, "world %zu", w);
    cr_assert_eq(sap_batch_forward_kinematics(batch, NULL), SAP_OK);
    for (size_t w = 0; w < 9; w++)
        cr_expect_float_eq(body_q[w * row + 2], before + 1, 1e-5, "world %zu", w);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(batch, kinematics_tells_which_of_the_chosen_worlds_are_not_finite) {
    SapScene *scene = load("quadruped");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *batch = create(scene, 9, &scene->options);
    const uint8_t mask[9] = {0, 1, 1, 1, 1, 1, 1, 1, 1};
    SapArray status;
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_STATUS, &status), SAP_OK);
    float *q = sap_batch_state(batch)->joint_q;
    q[0] = q[4 * a->num_coords] = NAN;
    cr_assert_eq(sap_batch_forward_kinematics(batch, mask), SAP_OK);
    for (int w = 0; w < 9; w++)
        cr_expect_eq(((uint32_t *)status.data)[w], w == 4 ? SAP_WORLD_NONFINITE_STATE : 0u, "world %d", w);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* Adds the force at `position`, times the sign, and its torque about `centre`. */
static void add_wrench(double *wrench, const double *force, double sign, const double *position, const double *centre) {
    double r[3];
    for (int i = 0; i < 3; i++)
        r[i] = position[i] - centre[i];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        wrench[i] += sign * force[i];
        wrench[3 + i] += sign * (r[j] * force[k] - r[k] * force[j]);
    }
}

/* x + R(q) c of a pose. */
static void centre_of(const double *pose, const double *c, double *out) {
    const double *u = pose + 3;
    double t[3];
    for (int i = 0; i < 3; i++)
        t[i] = 2 * (u[(i + 1) % 3] * c[(i + 2) % 3] - u[(i + 2) % 3] * c[(i + 1) % 3]);
    for (int i = 0; i < 3; i++)
        out[i] = pose[i] + c[i] + pose[6] * t[i] + u[(i + 1) % 3] * t[(i + 2) % 3] - u[(i + 2) % 3] * t[(i + 1) % 3];
}

static const double *doubles(SapBatch *batch, SapBatchField field) {
    SapArray view;
    cr_assert_eq(sap_batch_array(batch, field, &view), SAP_OK);
    cr_assert_eq(view.type, SAP_TYPE_F64);
    return view.data;
}

/* Force from impulse and frame, wrench from force and position, as batch.h says; bodies are where the step began. */
static void check_forces(SapBatch *batch, const SapModelArrays *a, double h, const double *start, double tolerance) {
    const SapContacts *c = sap_batch_contacts(batch);
    const double *impulse = doubles(batch, SAP_BATCH_CONTACT_IMPULSE), *frame = doubles(batch, SAP_BATCH_CONTACT_FRAME);
    const double *force = doubles(batch, SAP_BATCH_CONTACT_FORCE), *x = doubles(batch, SAP_BATCH_CONTACT_POSITION);
    const double *wrench = doubles(batch, SAP_BATCH_BODY_CONTACT_WRENCH);
    for (int w = 0; w < c->num_worlds; w++) {
        double sum[64][6] = {{0}};
        for (int k = w * c->capacity; k < w * c->capacity + c->count[w]; k++) {
            for (int i = 0; i < 3; i++) {
                double f = 0;
                for (int j = 0; j < 3; j++)
                    f += impulse[3 * k + j] * frame[9 * k + 3 * j + i] / h;
                cr_assert_float_eq(force[3 * k + i], f, tolerance, "force %d of world %d", k, w);
            }
            const int32_t shape[2] = {c->shape0[k], c->shape1[k]};
            for (int side = 0; side < 2; side++) {
                int body = a->shape_body[shape[side]];
                double centre[3];
                if (body < 0)
                    continue;
                centre_of(start + 7 * (w * a->num_bodies + body), a->body_com + 3 * body, centre);
                add_wrench(sum[body], force + 3 * k, side ? 1 : -1, x + 3 * k, centre);
            }
        }
        for (int i = 0; i < 6 * a->num_bodies; i++) {
            double got = wrench[6 * w * a->num_bodies + i], expected = sum[i / 6][i % 6];
            cr_assert_float_eq(got, expected, tolerance, "world %d, number %d: %g, %g", w, i, got, expected);
        }
    }
}

static void check_forces_of(const char *name, const char *preset, double tolerance) {
    enum { WORLDS = 5 };
    SapScene *scene = load(name);
    const SapModelArrays *a = sap_model_arrays(scene->model);
    cr_assert_eq(sap_options_set(&scene->options, "contact_preset_variant", preset), SAP_OK);
    SapBatch *batch = NULL;
    cr_assert_eq(sap_batch_create_as(scene->model, WORLDS, &scene->options, SAP_F64, &batch), SAP_OK);
    for (int w = 0; w < WORLDS; w++)
        set_content(batch, a, w, w);
    const double *wrench = doubles(batch, SAP_BATCH_BODY_CONTACT_WRENCH);
    for (int f = SAP_BATCH_CONTACT_IMPULSE; f < SAP_BATCH_NUM_FIELDS; f++) { /* recorded from now on */
        SapArray view;
        cr_assert_eq(sap_batch_array(batch, (SapBatchField)f, &view), SAP_OK);
    }
    double *start = calloc((size_t)WORLDS * 7 * (size_t)a->num_bodies, sizeof *start), most = 0;
    for (int step = 0; step < 60; step++) {
        cr_assert_eq(sap_batch_forward_kinematics(batch, NULL), SAP_OK);
        memcpy(start, sap_batch_state(batch)->body_q, (size_t)WORLDS * 7 * (size_t)a->num_bodies * sizeof *start);
        cr_assert_eq(sap_batch_step(batch, scene->dt, 1), SAP_OK);
        check_forces(batch, a, scene->dt, start, tolerance);
        for (int i = 0; i < WORLDS * 6 * a->num_bodies; i++)
            most = fmax(most, fabs(wrench[i]));
    }
    cr_assert_gt(most, 1.0, "nothing was touched");
    const uint8_t first[WORLDS] = {1};
    cr_assert_eq(sap_batch_reset(batch, first, 0), SAP_OK);
    for (int i = 0; i < 6 * a->num_bodies; i++)
        cr_assert_eq(wrench[i], 0, "a world that was put back is touched by nothing");
    free(start);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(batch, forces_and_wrenches_are_sums_of_impulses_by_hand) {
    check_forces_of("quadruped", "approx64", 1e-9);
    check_forces_of("quadruped", "drake", 1e-9);
    check_forces_of("stack5", "approx64", 1e-9);
    check_forces_of("gripper", "approx64", 1e-9);
    check_forces_of("quadruped", "approx32", 0.02);
}

Test(batch, wrenches_on_a_robot_at_rest_add_up_to_its_weight) {
    SapScene *scene = load("quadruped");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    cr_assert_eq(sap_options_set(&scene->options, "contact_preset_variant", "approx64"), SAP_OK);
    SapBatch *batch = create(scene, 2, &scene->options);
    const double *wrench = doubles(batch, SAP_BATCH_BODY_CONTACT_WRENCH);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 1500), SAP_OK);
    double mass = 0, force[3] = {0};
    for (int b = 0; b < a->num_bodies; b++) {
        mass += a->body_mass[b];
        for (int i = 0; i < 3; i++)
            force[i] += wrench[6 * b + i];
    }
    double weight = -mass * a->gravity[2];
    cr_assert_float_eq(force[2], weight, 1e-3 * weight, "%g, %g", force[2], weight);
    cr_assert_float_eq(force[0], 0, 1e-3 * weight);
    cr_assert_float_eq(force[1], 0, 1e-3 * weight);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- devices ---- */

Test(batch, what_a_cpu_batch_runs_on_is_told) {
    SapScene *scene = load("cube");
    SapBatch *batch = create(scene, 3, &scene->options);
    SapBatchInfo info;
    cr_assert_eq(sap_batch_info(batch, &info), SAP_OK);
    cr_expect(info.device == SAP_DEVICE_CPU && info.num_worlds == 3 && info.team_size == 0 && info.device_bytes == 0);
    cr_expect_eq(info.capacity, sap_batch_contacts(batch)->capacity);
    cr_expect_eq(sap_batch_synchronize(batch), SAP_OK);
    cr_expect_eq(sap_batch_set_stream(batch, NULL), SAP_ERROR_UNSUPPORTED);
    cr_expect(strstr(sap_error_message(), "no streams"), "%s", sap_error_message());
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* Whatever this build and machine have: without kernels or a driver there is a message, and the CPU goes on. */
Test(batch, a_gpu_that_is_not_there_is_an_error_in_words) {
    SapScene *scene = load("cube");
    SapOptions options = scene->options;
    SapBatch *batch = (SapBatch *)1;
    SapDeviceInfo gpu;
    setenv("SAPWOOD_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
    options.device = SAP_DEVICE_CUDA;
    cr_assert_eq(sap_batch_create(scene->model, 2, &options, &batch), SAP_ERROR_DEVICE);
    cr_assert_eq(batch, NULL);
    cr_expect(strstr(sap_error_message(), "device cuda: ") && strstr(sap_error_message(), "allowed here: cpu"), "%s",
              sap_error_message());
    cr_expect_eq(sap_device_info(0, &gpu), SAP_ERROR_DEVICE);
    cr_expect(strstr(sap_error_message(), "no driver: /nowhere/libcuda.so.1"), "%s", sap_error_message());
    cr_expect_eq(sap_device_info(-1, &gpu), SAP_ERROR_ARGUMENT);
    options.device = SAP_DEVICE_CPU;
    batch = create(scene, 2, &options);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 3), SAP_OK);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(batch, a_solver_on_a_gpu_is_refused_and_the_way_out_is_named) {
    SapScene *scene = load("cube");
    SapOptions options = scene->options;
    SapSolver *solver = (SapSolver *)1;
    options.device = SAP_DEVICE_CUDA;
    cr_assert_eq(sap_solver_create(scene->model, 2, &options, &solver), SAP_ERROR_UNSUPPORTED);
    cr_assert_eq(solver, NULL);
    cr_expect(strstr(sap_error_message(), "SapBatch"), "%s", sap_error_message());
    sap_scene_destroy(scene);
}

/* ---- arguments ---- */

Test(batch, wrong_arguments_are_refused_with_the_value_and_what_is_allowed) {
    SapScene *scene = load("cube");
    SapBatch *batch = (SapBatch *)1;
    cr_assert_eq(sap_batch_create(NULL, 1, NULL, &batch), SAP_ERROR_ARGUMENT);
    cr_assert_eq(batch, NULL);
    cr_assert_eq(sap_batch_create(scene->model, 0, NULL, &batch), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "num_worlds is 0"), "%s", sap_error_message());
    cr_assert_eq(sap_batch_create(scene->model, 1, NULL, NULL), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_create_as(scene->model, 1, NULL, (SapDtype)7, &batch), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "7"), "%s", sap_error_message());
    batch = create(scene, 2, NULL);
    SapArray view;
    cr_assert_eq(sap_batch_step(NULL, 0.01, 1), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_step(batch, 0, 1), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_step(batch, NAN, 1), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_step(batch, 0.01, -1), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "-1"), "%s", sap_error_message());
    cr_assert_eq(sap_batch_step(batch, 0.01, 0), SAP_OK);
    cr_assert_eq(sap_batch_reset(batch, NULL, -1), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_reset(batch, NULL, 1), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "keyframe is 1"), "%s", sap_error_message());
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_NUM_FIELDS, &view), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_JOINT_Q, NULL), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_state(NULL), NULL);
    cr_assert_eq(sap_batch_bytes(NULL), 0u);
    sap_batch_destroy(NULL);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}
