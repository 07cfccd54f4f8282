/* Sleeping worlds: a world at rest stops with velocities of 0 and keeps its pose to the bit; the others have the bits
 * that they have without sleeping; force, target, state, parameter, reset and the caller wake a world, which then
 * continues from the state it had. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/scene_batch.h"

enum { WORLDS = 9, STEPS = 10, NQ = 7, NV = 6 };

static SapOptions sleepy(int steps) {
    SapOptions o;
    need(sap_options_preset("approx64", &o));
    o.threads = 2;
    o.lanes = 4;
    o.sleep_steps = steps;
    o.sleep_speed = 1e-3;
    return o;
}

static double *velocity(SapBatch *b, int w) {
    return (double *)sap_batch_state(b)->joint_qd + (size_t)w * NV;
}
static double *position(SapBatch *b, int w) {
    return (double *)sap_batch_state(b)->joint_q + (size_t)w * NQ;
}
static int32_t *asleep(SapBatch *b) {
    SapArray view;
    need(sap_batch_array(b, SAP_BATCH_ASLEEP, &view));
    return view.data;
}

/* A cube lies on the ground; every third world is thrown. */
static SapBatch *throw_some(const SapScene *scene, const SapOptions *o) {
    SapBatch *b = create(scene, WORLDS, o);
    for (int w = 0; w < WORLDS; w++) {
        memset(velocity(b, w), 0, NV * sizeof(double));
        velocity(b, w)[0] = w % 3 == 1 ? 2 : 0;
        velocity(b, w)[2] = w % 3 == 1 ? 4 + 0.3 * w : 0;
        velocity(b, w)[4] = w % 3 == 1 ? 3 : 0;
    }
    return b;
}

/* Steps until every world sleeps. */
static void settle(SapBatch *b, double h) {
    for (int step = 0; step < 4000; step++) {
        int count = 0;
        need(sap_batch_step(b, h, 1));
        for (int w = 0; w < WORLDS; w++)
            count += asleep(b)[w];
        if (count == WORLDS)
            return;
    }
    cr_assert_fail("some world does not sleep");
}

Test(sleep, a_settled_world_stops_and_keeps_its_pose_to_the_bit) {
    SapScene *scene = load("cube");
    SapOptions o = sleepy(STEPS);
    SapBatch *b = throw_some(scene, &o);
    settle(b, scene->dt);
    double kept[WORLDS * NQ];
    memcpy(kept, position(b, 0), sizeof kept);
    need(sap_batch_step(b, scene->dt, 50));
    cr_expect_arr_eq(position(b, 0), kept, sizeof kept);
    for (int i = 0; i < WORLDS * NV; i++)
        cr_expect_eq(velocity(b, 0)[i], 0);
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
}

Test(sleep, is_off_by_default) {
    SapScene *scene = load("cube");
    SapOptions o = sleepy(0);
    SapBatch *b = throw_some(scene, &o);
    need(sap_batch_step(b, scene->dt, 500));
    for (int w = 0; w < WORLDS; w++)
        cr_expect_eq(asleep(b)[w], 0);
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
}

Test(sleep, worlds_that_are_awake_have_the_bits_of_a_batch_without_sleep) {
    SapScene *scene = load("cube");
    SapOptions with = sleepy(STEPS), without = sleepy(0);
    SapBatch *a = throw_some(scene, &with), *b = throw_some(scene, &without);
    int compared = 0, sleeping = 0;
    for (int step = 0; step < 400; step++) {
        need(sap_batch_step(a, scene->dt, 1));
        need(sap_batch_step(b, scene->dt, 1));
        for (int w = 0; w < WORLDS; w++) {
            sleeping += asleep(a)[w];
            if (asleep(a)[w])
                continue;
            compared++;
            cr_assert_arr_eq(position(a, w), position(b, w), NQ * sizeof(double), "world %d, step %d", w, step);
            cr_assert_arr_eq(velocity(a, w), velocity(b, w), NV * sizeof(double), "world %d, step %d", w, step);
        }
    }
    cr_expect(compared > 300 && sleeping > 1000, "%d and %d", compared, sleeping);
    sap_batch_destroy(a);
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
}

/* One call of many steps is many calls of one. */
Test(sleep, does_not_depend_on_the_steps_of_a_call) {
    SapScene *scene = load("cube");
    SapOptions o = sleepy(STEPS);
    SapBatch *a = throw_some(scene, &o), *b = throw_some(scene, &o);
    need(sap_batch_step(a, scene->dt, 300));
    for (int i = 0; i < 300; i++)
        need(sap_batch_step(b, scene->dt, 1));
    cr_expect_arr_eq(position(a, 0), position(b, 0), WORLDS * NQ * sizeof(double));
    cr_expect_arr_eq(asleep(a), asleep(b), WORLDS * sizeof(int32_t));
    sap_batch_destroy(a);
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
}

/* Wakes world 4 in one way; only it wakes. */
static void expect_woken(SapBatch *b, double h, const char *how) {
    need(sap_batch_step(b, h, 1));
    for (int w = 0; w < WORLDS; w++)
        cr_expect_eq(asleep(b)[w], w != 4, "%s: world %d", how, w);
    settle(b, h);
}

Test(sleep, changes_wake_their_world_only) {
    SapScene *scene = load("cube");
    SapOptions o = sleepy(STEPS);
    SapBatch *b = throw_some(scene, &o);
    double h = scene->dt;
    settle(b, h);
    ((double *)sap_batch_control(b)->joint_f)[4 * NV] = 1e-9;
    expect_woken(b, h, "joint_f");
    ((double *)sap_batch_control(b)->body_f)[4 * 6 + 2] = 1e-9;
    expect_woken(b, h, "body_f");
    velocity(b, 4)[2] = 1e-12;
    expect_woken(b, h, "velocity");
    position(b, 4)[2] += 0.01;
    expect_woken(b, h, "position");
    asleep(b)[4] = 0;
    expect_woken(b, h, "asleep");
    uint8_t mask[WORLDS] = {[4] = 1};
    need(sap_batch_reset(b, mask, 0));
    expect_woken(b, h, "reset");
    SapArray mass;
    need(sap_batch_expand(b, SAP_PARAMETER_BODY_MASS, &mass));
    settle(b, h);
    ((double *)mass.data)[4] *= 1.5;
    expect_woken(b, h, "mass");
    ((double *)mass.data)[4] *= 1.5;
    need(sap_batch_forward_kinematics(b, NULL)); /* reads the mass too */
    expect_woken(b, h, "mass that kinematics has read");
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
}

Test(sleep, a_woken_world_continues_from_the_state_it_had) {
    SapScene *scene = load("cube");
    SapOptions o = sleepy(STEPS), plain = sleepy(0);
    SapBatch *a = throw_some(scene, &o), *b = create(scene, WORLDS, &plain);
    settle(a, scene->dt);
    velocity(a, 4)[2] = 3;
    memcpy(position(b, 4), position(a, 4), NQ * sizeof(double));
    memcpy(velocity(b, 4), velocity(a, 4), NV * sizeof(double));
    need(sap_batch_step(a, scene->dt, 60));
    need(sap_batch_step(b, scene->dt, 60));
    cr_expect_eq(asleep(a)[4], 0);
    cr_expect_arr_eq(position(a, 4), position(b, 4), NQ * sizeof(double));
    cr_expect_arr_eq(velocity(a, 4), velocity(b, 4), NV * sizeof(double));
    sap_batch_destroy(a);
    sap_batch_destroy(b);
    sap_scene_destroy(scene);
}

/* A carriage of 1 kg that carries 3 kg, and a pendulum of 1 kg at 0.5 m that carries 3 kg at 1 m; no forces. A dof
 * rests below sleep_speed/L, L = sqrt(A_ii/m): 1 for the rail, sqrt((1 0.5^2 + 3 1^2)/4) = 0.90 m for the hinge. */
Test(sleep, a_dof_rests_below_the_speed_of_the_mass_that_it_moves) {
    static const char text[] = "schema_version: 1\n"
                               "simulation: {dt: 0.001}\n"
                               "builder: {gravity: 0}\n"
                               "ground: false\n"
                               "bodies:\n"
                               "- {id: a, mass: 1, com: [%s], inertia: [1e-6, 1e-6, 1e-6]}\n"
                               "- {id: b, mass: 3, com: [%s], inertia: [1e-6, 1e-6, 1e-6]}\n"
                               "joints:\n"
                               "- {id: root, type: %s, parent: world, child: a, axis: z}\n"
                               "- {id: load, type: prismatic, parent: a, child: b, axis: x}\n"
                               "articulations: [{id: a, joints: [root, load]}]\n";
    const struct {
        const char *type, *com_a, *com_b;
        double length;
    } cases[2] = {{"prismatic", "0, 0, 0", "0, 0, 0", 1}, {"revolute", "0, 0.5, 0", "0, 1, 0", sqrt(3.25 / 4)}};
    SapOptions o = sleepy(STEPS);
    for (int i = 0; i < 4; i++) {
        char scene_text[1024];
        double speed = (i % 2 ? 1.01 : 0.99) * o.sleep_speed / cases[i / 2].length;
        SapScene *scene = NULL;
        snprintf(scene_text, sizeof scene_text, text, cases[i / 2].com_a, cases[i / 2].com_b, cases[i / 2].type);
        need(sap_scene_parse(scene_text, strlen(scene_text), "carriage", &scene));
        SapBatch *b = create(scene, 1, &o);
        ((double *)sap_batch_state(b)->joint_qd)[0] = speed;
        need(sap_batch_step(b, 1e-3, STEPS + 1));
        cr_expect_eq(asleep(b)[0], i % 2 == 0, "%s at %g", cases[i / 2].type, speed);
        sap_batch_destroy(b);
        sap_scene_destroy(scene);
    }
}
