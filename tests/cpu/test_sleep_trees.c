/* Sleeping trees: islands at rest drop out of the step of a world that moves. The trees that are awake then step as the
 * model without the others does, bit for bit; contact, force, velocity, reset and the caller wake an island, and its
 * first step is the step of a world that never slept. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/scene_batch.h"

enum { BOXES = 6, BALL = 3, BODIES = BOXES + 1, NQ = 7, NV = 6, STEPS = 10, PARTLY = 2, TEXT = 8192 };

static const char header[] =
    "schema_version: 1\n"
    "name: sleepers\n"
    "simulation: {dt: 0.005, max_contacts: 64, solver: {preset: approx64}}\n"
    "builder: {gravity: -9.81, rigid_gap: 0.005, defaults: {shape: {density: 1000, ke: 1e5, tau: 0.02, mu: 0.6}}}\n"
    "bodies:\n";

/* Bodies 0 .. 6: boxes in a row along y, 4 and 5 a stack, and a ball that is body 3. */
static void body_line(char *text, int body) {
    size_t at = strlen(text);
    double y = body == 5 ? 0.3 * 4 : 0.3 * body, z = body == 5 ? 0.15 : 0.05;
    if (body == BALL)
        snprintf(text + at, TEXT - at,
                 "- {id: b%d, transform: {p: [-1, -1, 0.05]}, shapes: [{type: sphere, radius: 0.05}]}\n", body);
    else
        snprintf(
            text + at, TEXT - at,
            "- {id: b%d, transform: {p: [0, %g, %g]}, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.05, transform: "
            "{p: [0.04, 0, 0]}}]}\n",
            body, y, z);
}

static void joint_line(char *text, int body) {
    size_t at = strlen(text);
    snprintf(text + at, TEXT - at, "- {id: j%d, type: free, parent: world, child: b%d}\n", body, body);
}

static void articulation_line(char *text, int body) {
    size_t at = strlen(text);
    snprintf(text + at, TEXT - at, "- {id: a%d, joints: [j%d]}\n", body, body);
}

/* The bodies first .. end - 1 of the scene above. */
static SapScene *bodies(int first, int end) {
    char text[TEXT];
    SapScene *scene = NULL;
    strcpy(text, header);
    for (int b = first; b < end; b++)
        body_line(text, b);
    strcat(text, "joints:\n");
    for (int b = first; b < end; b++)
        joint_line(text, b);
    strcat(text, "articulations:\n");
    for (int b = first; b < end; b++)
        articulation_line(text, b);
    need(sap_scene_parse(text, strlen(text), "sleepers", &scene));
    return scene;
}

static SapOptions sleepy(const SapScene *scene, int steps) {
    SapOptions o = scene->options;
    o.threads = 2;
    o.sleep_steps = steps;
    return o;
}

static double *position(SapBatch *b, int num_bodies, int w, int body) {
    return (double *)sap_batch_state(b)->joint_q + ((size_t)w * (size_t)num_bodies + (size_t)body) * NQ;
}
static double *velocity(SapBatch *b, int num_bodies, int w, int body) {
    return (double *)sap_batch_state(b)->joint_qd + ((size_t)w * (size_t)num_bodies + (size_t)body) * NV;
}
static int32_t *asleep(SapBatch *b) {
    SapArray view;
    need(sap_batch_array(b, SAP_BATCH_ASLEEP, &view));
    return view.data;
}

static bool sleeps(SapBatch *b, int w, int body) {
    const double *v = velocity(b, BODIES, w, body), none[NV] = {0};
    return asleep(b)[w] != 0 && memcmp(v, none, sizeof none) == 0;
}

/* Rolls the ball along x, away from the boxes or, with y = 0, towards one of them. */
static void roll(SapBatch *b, int w, double speed) {
    velocity(b, BODIES, w, BALL)[0] = speed;
    velocity(b, BODIES, w, BALL)[4] = speed / 0.05;
}

/* Steps until the boxes of world 0 sleep, while its ball rolls. */
static void settle(SapBatch *b, double h) {
    int count = 0;
    for (int step = 0; step < 400 && count < BOXES; step++) {
        need(sap_batch_step(b, h, 1));
        count = 0;
        for (int body = 0; body < BODIES; body++)
            count += sleeps(b, 0, body);
    }
    cr_assert(count == BOXES && asleep(b)[0] == PARTLY && !sleeps(b, 0, BALL));
}

static SapBatch *rolling(const SapScene *scene, const SapOptions *o, int worlds) {
    SapBatch *b = create(scene, worlds, o);
    for (int w = 0; w < worlds; w++)
        roll(b, w, 0.5);
    return b;
}

Test(sleep_trees, at_rest_stop_and_keep_their_pose_while_another_moves) {
    SapScene *scene = bodies(0, BODIES);
    SapOptions o = sleepy(scene, STEPS);
    SapBatch *b = rolling(scene, &o, 1);
    settle(b, scene->dt);
    double kept[BODIES * NQ], at = position(b, BODIES, 0, BALL)[0];
    memcpy(kept, position(b, BODIES, 0, 0), sizeof kept);
    need(sap_batch_step(b, scene->dt, 100));
    for (int body = 0; body < BODIES; body++)
        if (body != BALL)
            cr_expect_arr_eq(position(b, BODIES, 0, body), kept + NQ * body, NQ * sizeof(double), "body %d", body);
    cr_expect_float_eq(position(b, BODIES, 0, BALL)[0] - at, 0.25, 0.01);
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
}

/* The ball among sleeping boxes, and alone. */
static void expect_ball_as_alone(const char *name, const char *value) {
    SapScene *scene = bodies(0, BODIES), *alone = bodies(BALL, BALL + 1);
    SapOptions o = sleepy(scene, STEPS), plain = sleepy(alone, 0);
    need(sap_options_set(&o, name, value));
    need(sap_options_set(&plain, name, value));
    SapBatch *a = rolling(scene, &o, 1), *b = create(alone, 1, &plain);
    settle(a, scene->dt);
    memcpy(position(b, 1, 0, 0), position(a, BODIES, 0, BALL), NQ * sizeof(double));
    memcpy(velocity(b, 1, 0, 0), velocity(a, BODIES, 0, BALL), NV * sizeof(double));
    for (int step = 0; step < 100; step++) {
        need(sap_batch_step(a, scene->dt, 1));
        need(sap_batch_step(b, scene->dt, 1));
        cr_assert_arr_eq(position(a, BODIES, 0, BALL), position(b, 1, 0, 0), NQ * sizeof(double), "%s, step %d", value,
                         step);
        cr_assert_arr_eq(velocity(a, BODIES, 0, BALL), velocity(b, 1, 0, 0), NV * sizeof(double), "%s, step %d", value,
                         step);
    }
    cr_expect_eq(asleep(a)[0], PARTLY);
    sap_batch_destroy(a);
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
    sap_scene_destroy(alone);
}

Test(sleep_trees, leave_the_others_as_in_the_model_without_them) {
    expect_ball_as_alone("broad_phase", "listed");
    expect_ball_as_alone("broad_phase", "sweep");
    expect_ball_as_alone("broad_phase", "tree");
    expect_ball_as_alone("contact_solver", "cone");
    expect_ball_as_alone("contact_solver", "pgs");
    expect_ball_as_alone("factor_plan", "dense");
}

/* Whatever wakes the trees of a world, its step is the step of the same state without sleeping. */
static void expect_step_as_if_awake(SapBatch *a, SapBatch *plain, double h, const char *how) {
    for (int body = 0; body < BODIES; body++) {
        memcpy(position(plain, BODIES, 0, body), position(a, BODIES, 0, body), NQ * sizeof(double));
        memcpy(velocity(plain, BODIES, 0, body), velocity(a, BODIES, 0, body), NV * sizeof(double));
    }
    need(sap_batch_step(a, h, 1));
    need(sap_batch_step(plain, h, 1));
    cr_expect_eq(asleep(a)[0], 0, "%s", how);
    cr_expect_arr_eq(position(a, BODIES, 0, 0), position(plain, BODIES, 0, 0), BODIES * NQ * sizeof(double), "%s", how);
    cr_expect_arr_eq(velocity(a, BODIES, 0, 0), velocity(plain, BODIES, 0, 0), BODIES * NV * sizeof(double), "%s", how);
}

/* Copies the bodies of world 0 from `first` on. */
static void copy_from(SapBatch *from, int first, SapBatch *to, int count) {
    memcpy(position(to, count, 0, 0), position(from, BODIES, 0, first), (size_t)count * NQ * sizeof(double));
    memcpy(velocity(to, count, 0, 0), velocity(from, BODIES, 0, first), (size_t)count * NV * sizeof(double));
}

/* The ball reaches the stack of boxes 4 and 5, and wakes both; the others sleep on. Their first step is that of the
 * model of these three, which never slept, from the same pose at rest. */
Test(sleep_trees, wake_with_their_island_when_touched) {
    enum { TOUCHED = 3 }; /* bodies 3, 4, 5 */
    SapScene *scene = bodies(0, BODIES), *few = bodies(BALL, BALL + TOUCHED);
    SapOptions o = sleepy(scene, STEPS), plain = sleepy(few, 0);
    SapBatch *b = rolling(scene, &o, 1), *awake = create(few, 1, &plain);
    settle(b, scene->dt);
    position(b, BODIES, 0, BALL)[0] = -0.2;
    position(b, BODIES, 0, BALL)[1] = 0.3 * 4;
    int step = 0;
    for (; step < 100 && sleeps(b, 0, 5); step++) {
        cr_assert(sleeps(b, 0, 4), "step %d", step);
        copy_from(b, BALL, awake, TOUCHED);
        need(sap_batch_step(b, scene->dt, 1));
    }
    need(sap_batch_step(awake, scene->dt, 1)); /* the step in which they woke */
    cr_expect_arr_eq(position(b, BODIES, 0, BALL), position(awake, TOUCHED, 0, 0), TOUCHED * NQ * sizeof(double));
    cr_expect_arr_eq(velocity(b, BODIES, 0, BALL), velocity(awake, TOUCHED, 0, 0), TOUCHED * NV * sizeof(double));
    cr_expect(step > 48 && step < 60, "the stack wakes in step %d", step);
    cr_expect_eq(asleep(b)[0], PARTLY);
    for (int body = 0; body < BODIES; body++)
        cr_expect_eq(sleeps(b, 0, body), body != BALL && body != 4 && body != 5, "body %d", body);
    need(sap_batch_step(b, scene->dt, 20));
    cr_expect(position(b, BODIES, 0, 4)[0] > 1e-5, "the ball moves box 4 to %g", position(b, BODIES, 0, 4)[0]);
    sap_batch_destroy(b);
    sap_batch_destroy(awake);
    sap_scene_destroy(scene);
    sap_scene_destroy(few);
}

/* With two thirds of the boxes woken the whole world wakes, with the first step of a world that never slept. */
Test(sleep_trees, step_as_if_they_had_never_slept_when_they_wake) {
    SapScene *scene = bodies(0, BODIES);
    SapOptions o = sleepy(scene, STEPS), none = sleepy(scene, 0);
    SapBatch *b = rolling(scene, &o, 1), *plain = create(scene, 1, &none);
    settle(b, scene->dt);
    for (int body = 0; body < BALL; body++)
        velocity(b, BODIES, 0, body)[2] = 0.1;
    velocity(b, BODIES, 0, 5)[0] = 0.1;
    expect_step_as_if_awake(b, plain, scene->dt, "velocities");
    settle(b, scene->dt);
    asleep(b)[0] = 0;
    expect_step_as_if_awake(b, plain, scene->dt, "asleep");
    sap_batch_destroy(b);
    sap_batch_destroy(plain);
    sap_scene_destroy(scene);
}

/* Only box 1 wakes. */
static void expect_box_1_wakes(SapBatch *b, double h, const char *how) {
    need(sap_batch_step(b, h, 1));
    cr_expect_eq(asleep(b)[0], PARTLY, "%s", how);
    for (int body = 0; body < BODIES; body++)
        cr_expect_eq(sleeps(b, 0, body), body != BALL && body != 1, "%s: body %d", how, body);
    settle(b, h);
}

Test(sleep_trees, wake_when_their_own_numbers_change) {
    SapScene *scene = bodies(0, BODIES);
    SapOptions o = sleepy(scene, STEPS);
    SapBatch *b = rolling(scene, &o, 1);
    double h = scene->dt;
    settle(b, h);
    ((double *)sap_batch_control(b)->joint_f)[1 * NV + 2] = 1e-9;
    expect_box_1_wakes(b, h, "joint_f");
    ((double *)sap_batch_control(b)->body_f)[1 * 6 + 2] = 1e-9;
    expect_box_1_wakes(b, h, "body_f");
    ((double *)sap_batch_control(b)->joint_target_pos)[1 * NV] = 1e-9;
    expect_box_1_wakes(b, h, "target");
    velocity(b, BODIES, 0, 1)[2] = 1e-12;
    expect_box_1_wakes(b, h, "velocity");
    position(b, BODIES, 0, 1)[0] += 0.01;
    expect_box_1_wakes(b, h, "position");
    ((double *)sap_batch_control(b)->joint_f)[BALL * NV] = 1e-3; /* the ball is awake in any case */
    need(sap_batch_step(b, h, 1));
    for (int body = 0; body < BODIES; body++)
        cr_expect_eq(sleeps(b, 0, body), body != BALL, "body %d", body);
    need(sap_batch_reset(b, NULL, 0));
    cr_expect_eq(asleep(b)[0], 0);
    roll(b, 0, 0.5);
    need(sap_batch_step(b, h, 1));
    cr_expect_eq(asleep(b)[0], 0);
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
}

/* A box wakes again and again in each of two worlds that are alike, whose islands have the same numbers. */
Test(sleep_trees, wake_in_their_own_world_only) {
    SapScene *scene = bodies(0, BODIES);
    SapOptions o = sleepy(scene, STEPS);
    SapBatch *b = rolling(scene, &o, 2);
    settle(b, scene->dt);
    cr_assert_eq(asleep(b)[1], PARTLY);
    for (int i = 0; i < 8; i++) {
        int world = i % 2;
        velocity(b, BODIES, world, 0)[2] = 1e-3;
        for (int step = 0; step < 3; step++) {
            need(sap_batch_step(b, scene->dt, 1));
            for (int body = 0; body < BODIES; body++) {
                cr_expect_eq(sleeps(b, world, body), body != BALL && body != 0, "round %d: body %d", i, body);
                cr_expect_eq(sleeps(b, 1 - world, body), body != BALL, "round %d: body %d of the other", i, body);
            }
        }
        for (int step = 0; step < 400 && !sleeps(b, world, 0); step++)
            need(sap_batch_step(b, scene->dt, 1));
    }
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
}

/* ---- reports ---- */

/* What the batch tells of its trees, which are its bodies. */
typedef struct Trees {
    const int32_t *asleep;
    const double *rest;
} Trees;

static Trees trees_of(SapBatch *b) {
    SapArray asleep_view, rest_view;
    need(sap_batch_array(b, SAP_BATCH_TREE_ASLEEP, &asleep_view));
    need(sap_batch_array(b, SAP_BATCH_TREE_REST, &rest_view));
    cr_assert(asleep_view.shape[1] == BODIES && rest_view.shape[1] == BODIES);
    return (Trees){asleep_view.data, rest_view.data};
}

Test(sleep_trees, are_reported_with_the_time_that_they_have_rested) {
    SapScene *scene = bodies(0, BODIES);
    SapOptions o = sleepy(scene, STEPS);
    SapBatch *b = rolling(scene, &o, 2);
    Trees trees = trees_of(b);
    double h = scene->dt, before[2 * BODIES];
    for (int step = 0; step < 200; step++) {
        memcpy(before, trees.rest, sizeof before);
        need(sap_batch_step(b, h, 1));
        for (int t = 0; t < 2 * BODIES; t++) {
            bool sleeping = trees.asleep[t] != 0;
            cr_expect_eq(sleeping, sleeps(b, t / BODIES, t % BODIES), "step %d, tree %d", step, t);
            cr_expect(trees.rest[t] == 0 || trees.rest[t] == before[t] + h, "step %d, tree %d", step, t);
            cr_expect(!sleeping || trees.rest[t] >= (STEPS - 0.5) * h, "step %d, tree %d: %g", step, t, trees.rest[t]);
        }
    }
    cr_assert_eq(asleep(b)[0], PARTLY);
    cr_expect(trees.rest[BALL] == 0 && trees.asleep[BALL] == 0);
    /* a tree that is pushed begins again; the others go on, whatever the number of steps of a call */
    memcpy(before, trees.rest, sizeof before);
    velocity(b, BODIES, 0, 1)[2] = 1e-5;
    need(sap_batch_step(b, h, 5));
    cr_expect(trees.asleep[1] == 0 && fabs(trees.rest[1] - 5 * h) < 1e-12, "%g", trees.rest[1]);
    cr_expect(trees.asleep[2] == 1 && fabs(trees.rest[2] - before[2] - 5 * h) < 1e-12, "%g", trees.rest[2]);
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
}

Test(sleep_trees, of_a_sleeping_world_all_sleep_until_it_wakes) {
    SapScene *scene = bodies(0, BODIES);
    SapOptions o = sleepy(scene, STEPS);
    SapBatch *b = create(scene, 1, &o);
    need(sap_batch_step(b, scene->dt, 300));
    cr_assert_eq(asleep(b)[0], 1);
    Trees trees = trees_of(b); /* counted from here on */
    need(sap_batch_step(b, scene->dt, 40));
    for (int t = 0; t < BODIES; t++)
        cr_expect(trees.asleep[t] == 1 && fabs(trees.rest[t] - 40 * scene->dt) < 1e-12, "tree %d: %g", t,
                  trees.rest[t]);
    roll(b, 0, 0.5);
    for (int body = 0; body < BODIES; body++)
        velocity(b, BODIES, 0, body)[2] = 0.1;
    need(sap_batch_step(b, scene->dt, 1));
    for (int t = 0; t < BODIES; t++)
        cr_expect(trees.asleep[t] == 0 && trees.rest[t] == 0, "tree %d: %g", t, trees.rest[t]);
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
}

/* ---- beside trees of every kind ---- */

enum { EXTRA = 6 };

/* tests/scenes/linkages.yaml, with boxes before its own bodies if asked for. */
static SapScene *linkages(bool with_boxes) {
    static char text[1 << 15], line[1 << 12];
    SapScene *scene = NULL;
    FILE *file = fopen(SAPWOOD_SOURCE_DIR "/tests/scenes/linkages.yaml", "r");
    size_t n = 0;
    cr_assert(file);
    while (fgets(line, sizeof line, file)) {
        char *driven = strstr(line, "type: revolute");
        if (driven) /* a drive has results of its dof */
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "%.*sactuator_mode: position, target_ke: 5, target_kd: 0.5, target_pos: 0.3, %s",
                                  (int)(driven - line), line, driven);
        else
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", line);
        bool of_bodies = strcmp(line, "bodies:\n") == 0, of_joints = strcmp(line, "joints:\n") == 0;
        for (int i = 0; with_boxes && i < EXTRA; i++) {
            if (of_bodies)
                n += (size_t)snprintf(text + n, sizeof text - n,
                                      "- {id: box%d, mass: 1, inertia: [0.002, 0.002, 0.002], transform: {p: [%g, -2, "
                                      "0.05]}, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.05}]}\n",
                                      i, 0.3 * i);
            if (of_joints)
                n += (size_t)snprintf(text + n, sizeof text - n,
                                      "- {id: box%d, type: free, parent: world, child: box%d}\n", i, i);
        }
    }
    fclose(file);
    need(sap_scene_parse(text, n, "linkages", &scene));
    return scene;
}

static char *field(SapBatch *b, SapBatchField f, size_t *bytes) {
    SapArray view;
    need(sap_batch_array(b, f, &view));
    *bytes = (size_t)(view.shape[0] * view.strides[0]);
    return view.data;
}

/* The numbers of the last world of `a`, without its boxes, are the numbers of the only world of `b`. */
static void expect_same_end(SapBatch *a, SapBatch *b, SapBatchField f, const char *what) {
    size_t a_bytes, b_bytes;
    const char *x = field(a, f, &a_bytes), *y = field(b, f, &b_bytes);
    cr_assert(memcmp(x + a_bytes - b_bytes, y, b_bytes) == 0, "%s: %s", what, sap_batch_field_names()[f]);
}

static void copy_end(SapBatch *a, SapBatch *b, SapBatchField f) {
    size_t a_bytes, b_bytes;
    const char *x = field(a, f, &a_bytes);
    char *y = field(b, f, &b_bytes);
    memcpy(y, x + a_bytes - b_bytes, b_bytes);
}

static void pull_tendons(SapBatch *b) {
    SapArray f;
    need(sap_batch_array(b, SAP_BATCH_TENDON_F, &f));
    for (int i = 0; i < f.shape[0] * f.shape[1]; i++)
        number_put(f.data, sap_batch_control(b)->dtype, (size_t)i, 0.1 * (double)(1 + i % f.shape[1]));
}

static void expect_linkages_as_alone(const char *solver) {
    static const SapBatchField results[] = {
        SAP_BATCH_JOINT_Q,      SAP_BATCH_JOINT_QD,           SAP_BATCH_BODY_Q,
        SAP_BATCH_BODY_QD,      SAP_BATCH_CONSTRAINT_IMPULSE, SAP_BATCH_TENDON_FORCE,
        SAP_BATCH_JOINT_TORQUE, SAP_BATCH_JOINT_DRIVE_FORCE,  SAP_BATCH_JOINT_LIMIT_FORCE,
        SAP_BATCH_STATUS,       SAP_BATCH_ITERATIONS,         SAP_BATCH_CONTACT_COUNT};
    SapScene *scene = linkages(true), *alone = linkages(false);
    SapOptions o = sleepy(scene, STEPS), plain = sleepy(alone, 0);
    need(sap_options_set(&o, "contact_solver", solver));
    need(sap_options_set(&plain, "contact_solver", solver));
    SapBatch *a = create(scene, 2, &o), *b = create(alone, 1, &plain);
    size_t bytes;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) { /* recorded from the first step on */
        field(a, results[i], &bytes);
        field(b, results[i], &bytes);
    }
    pull_tendons(a);
    pull_tendons(b);
    SapArray mass[2];
    need(sap_batch_expand(a, SAP_PARAMETER_BODY_MASS, &mass[0]));
    need(sap_batch_expand(b, SAP_PARAMETER_BODY_MASS, &mass[1]));
    ((double *)mass[0].data)[mass[0].shape[1] + EXTRA] = ((double *)mass[1].data)[0] = 3.5;
    for (int step = 0; step < 100 && asleep(a)[1] != PARTLY; step++)
        need(sap_batch_step(a, scene->dt, 1));
    cr_assert_eq(asleep(a)[1], PARTLY, "%s", solver);
    copy_end(a, b, SAP_BATCH_JOINT_Q);
    copy_end(a, b, SAP_BATCH_JOINT_QD);
    for (int step = 0; step < 20; step++) {
        need(sap_batch_step(a, scene->dt, 1));
        need(sap_batch_step(b, scene->dt, 1));
        for (size_t i = 0; i < sizeof results / sizeof *results; i++)
            expect_same_end(a, b, results[i], solver);
    }
    cr_expect_eq(asleep(a)[1], PARTLY, "%s", solver);
    sap_batch_destroy(a);
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
    sap_scene_destroy(alone);
}

Test(sleep_trees, leave_constraints_tendons_drives_and_own_parameters_as_they_are) {
    expect_linkages_as_alone("sap");
    expect_linkages_as_alone("cone");
}

/* ---- many trees ---- */

/* 64 balls without gravity, of which one moves. Flags of so many trees fill a line of memory: one more would be in the
 * next array. */
Test(sleep_trees, may_be_64) {
    enum { TREES = 64 };
    static char text[1 << 14];
    SapScene *scene = NULL;
    size_t n =
        (size_t)snprintf(text, sizeof text, "schema_version: 1\nbuilder: {gravity: 0}\nground: false\nbodies:\n");
    for (int i = 0; i < TREES; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "- {id: b%d, transform: {p: [0, %d, 0]}, shapes: [{type: sphere, radius: 0.1}]}\n", i, i);
    n += (size_t)snprintf(text + n, sizeof text - n, "joints:\n");
    for (int i = 0; i < TREES; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "- {id: j%d, type: free, parent: world, child: b%d}\n", i, i);
    need(sap_scene_parse(text, n, "balls", &scene));
    SapOptions o = sleepy(scene, STEPS);
    SapBatch *b;
    need(sap_batch_create_as(scene->model, 2, &o, SAP_F64, &b));
    for (int w = 0; w < 2; w++)
        velocity(b, TREES, w, 5)[0] = 1;
    need(sap_batch_step(b, 0.01, 2 * STEPS));
    for (int w = 0; w < 2; w++) {
        cr_expect_eq(asleep(b)[w], PARTLY);
        cr_expect_float_eq(position(b, TREES, w, 5)[0], 0.01 * 2 * STEPS, 1e-5);
    }
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
}

/* ---- many worlds ---- */

/* World w of a batch of n: what it does depends on its content alone. */
static SapBatch *run_many(const SapScene *scene, SapOptions o, int n, int lanes, int threads, int per_call) {
    o.lanes = lanes;
    o.threads = threads;
    SapBatch *b = create(scene, n, &o);
    for (int w = 0; w < n; w++) {
        position(b, BODIES, w, BALL)[1] = 0.1 * (w % 13);
        roll(b, w, 0.4 + 0.2 * (w % 5));
        velocity(b, BODIES, w, w % 3)[2] = w % 2 ? 0.5 : 0;
    }
    for (int step = 0; step < 300; step += per_call)
        need(sap_batch_step(b, scene->dt, per_call));
    return b;
}

Test(sleep_trees, have_the_same_bits_for_lanes_threads_and_steps_of_a_call) {
    enum { MANY = 26, FEW = 9 };
    SapScene *scene = bodies(0, BODIES);
    SapOptions o = sleepy(scene, STEPS);
    SapBatch *a = run_many(scene, o, MANY, 1, 1, 1), *b = run_many(scene, o, MANY, 4, 2, 300),
             *c = run_many(scene, o, FEW, 8, 1, 10);
    int partly = 0;
    for (int w = 0; w < MANY; w++)
        partly += asleep(a)[w] == PARTLY;
    cr_expect(partly > 3, "%d", partly);
    size_t world = BODIES * NQ * sizeof(double);
    cr_expect_arr_eq(position(a, BODIES, 0, 0), position(b, BODIES, 0, 0), MANY * world);
    cr_expect_arr_eq(velocity(a, BODIES, 0, 0), velocity(b, BODIES, 0, 0), MANY * BODIES * NV * sizeof(double));
    cr_expect_arr_eq(asleep(a), asleep(b), MANY * sizeof(int32_t));
    cr_expect_arr_eq(position(a, BODIES, 0, 0), position(c, BODIES, 0, 0), FEW * world);
    sap_batch_destroy(a);
    sap_batch_destroy(b);
    sap_batch_destroy(c);
    sap_scene_destroy(scene);
}
