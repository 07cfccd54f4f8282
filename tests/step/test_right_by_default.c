/* What a user gets who sets no option: a body neither sinks into the ground nor is thrown off it, contacts carry the
 * weight, and a solve that counts as solved is solved. In every preset of SAP, with its own line search and
 * tolerances. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/presets.h"
#include "support/random_model.h"
#include "support/scene_text.h"

static SapOptions preset_options(const char *preset) {
    SapOptions o;
    need(sap_options_preset(preset, &o));
    return o;
}

static SapBatch *batch_of(const SapScene *scene, int worlds, const SapOptions *o) {
    SapBatch *batch;
    need(sap_batch_create_as(scene->model, worlds, o, SAP_F64, &batch));
    return batch;
}

static const void *host_array(SapBatch *batch, int which) {
    SapArray view;
    need(sap_batch_array(batch, which, &view));
    return view.data;
}

/* No world has failed or is unsolved, and a solve that counts as solved has a small residual. */
static void check_status(SapBatch *batch, int worlds) {
    SapWorldReport report;
    need(sap_solver_report(sap_batch_solver(batch), &report));
    for (int w = 0; w < worlds; w++) {
        const uint32_t solved = SAP_WORLD_OPTIMAL | SAP_WORLD_COST_SETTLED;
        cr_assert_eq(report.status[w] & (SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED), 0u, "world %d: %#x", w,
                     (unsigned)report.status[w]);
        if (report.status[w] & solved)
            cr_assert_leq(report.residual[w], 1e-2, "world %d: %#x", w, (unsigned)report.status[w]);
    }
}

/* ---- bodies that fall ---- */

enum { BALLS = 1000 };

#define BALL_SCENE                                                                                                     \
    HEAD "simulation: {dt: 0.002, max_contacts: 4}\n"                                                                  \
         "builder: {gravity: -9.81, defaults: {shape: {density: 1000, mu: 1, ke: 1e5}}}\n"

ParameterizedTestParameters(right_by_default, a_thousand_thrown_balls_stay_on_the_ground) {
    return preset_params();
}

/* A ball of 4.2 kg that lands at 3.9 m/s on 1e5 N/m is stopped after less than 25 mm. */
ParameterizedTest(int *preset, right_by_default, a_thousand_thrown_balls_stay_on_the_ground) {
    SapScene *scene = parse(BALL_SCENE BALL FREE);
    SapOptions o = preset_options(preset_names[*preset]);
    SapBatch *batch = batch_of(scene, BALLS, &o);
    double *q = sap_batch_state(batch)->joint_q, *v = sap_batch_state(batch)->joint_qd, deepest = 0;
    Random random = random_seed(5);
    for (int w = 0; w < BALLS; w++) {
        q[7 * w + 2] = random_between(&random, 0.1, 0.6);
        for (int k = 0; k < 6; k++)
            v[6 * w + k] = random_between(&random, k < 3 ? -2 : -20, k < 3 ? 2 : 20);
    }
    for (int i = 0; i < 500; i++) {
        need(sap_batch_step(batch, scene->dt, 1));
        check_status(batch, BALLS);
        for (int w = 0; w < BALLS; w++)
            deepest = fmax(deepest, 0.1 - q[7 * w + 2]);
    }
    printf("%s: deepest %.1f mm\n", preset_names[*preset], 1e3 * deepest);
    cr_expect_lt(deepest, 0.03, "%s: %g m", preset_names[*preset], deepest);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* How deep a ball that is dropped from 1 m sinks into a slope; gravity leans instead of the ground. */
static double depth_on_a_slope(const SapOptions *o, double degrees) {
    char text[512];
    double angle = degrees * M_PI / 180;
    snprintf(text, sizeof text,
             HEAD "simulation: {dt: 0.002, max_contacts: 4}\n"
                  "builder: {gravity: -%.15g, defaults: {shape: {density: 1000, mu: 1, ke: 1e5}}}\n" BALL FREE,
             9.81 * cos(angle));
    SapScene *scene = parse(text);
    SapModelArrays a = *sap_model_arrays(scene->model);
    double gravity[3] = {9.81 * sin(angle), 0, -9.81 * cos(angle)}, deepest = 0;
    memcpy(a.gravity, gravity, sizeof gravity);
    SapModel *leaning;
    SapBatch *batch;
    need(sap_model_create(&a, &leaning));
    need(sap_batch_create_as(leaning, 1, o, SAP_F64, &batch));
    double *q = sap_batch_state(batch)->joint_q;
    q[2] = 0.1 + 1;
    for (int i = 0; i < 500; i++) {
        need(sap_batch_step(batch, scene->dt, 1));
        check_status(batch, 1);
        deepest = fmax(deepest, 0.1 - q[2]);
    }
    sap_batch_destroy(batch);
    sap_model_destroy(leaning);
    sap_scene_destroy(scene);
    return deepest;
}

ParameterizedTestParameters(right_by_default, a_ball_dropped_on_a_slope_sinks_as_deep_as_with_tight_solves) {
    return preset_params();
}

ParameterizedTest(int *preset, right_by_default, a_ball_dropped_on_a_slope_sinks_as_deep_as_with_tight_solves) {
    for (int degrees = 10; degrees <= 20; degrees += 10) {
        SapOptions own = preset_options(preset_names[*preset]), tight = own;
        tight.line_search = SAP_EXACT_ROOT;
        tight.optimality_rel_tol = 1e-10;
        double depth = depth_on_a_slope(&own, degrees), expected = depth_on_a_slope(&tight, degrees);
        printf("%s, %d degrees: %.2f mm, tight %.2f mm\n", preset_names[*preset], degrees, 1e3 * depth, 1e3 * expected);
        cr_expect_float_eq(depth, expected, 1e-5, "%s, %d degrees: %g m, not %g m", preset_names[*preset], degrees,
                           depth, expected);
    }
}

/* ---- robots ---- */

enum { ROBOTS = 128 };

/* Moves the targets of all drives by random steps of this size; new ones every fourth step. */
static void move_targets(SapBatch *batch, const double *home, int nv, Random *random, double size) {
    double *target = sap_batch_control(batch)->joint_target_pos;
    for (int w = 0; w < ROBOTS; w++)
        for (int i = 6; i < nv; i++)
            target[w * nv + i] = home[i] + random_between(random, -size, size);
}

/* The mean vertical force of all contacts over the weight, over the last three of four seconds. */
static double mean_support(const SapScene *scene, const SapOptions *o, double size) {
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *batch = batch_of(scene, ROBOTS, o);
    const double *force = host_array(batch, SAP_BATCH_CONTACT_FORCE);
    const int32_t *count = host_array(batch, SAP_BATCH_CONTACT_COUNT);
    double weight = 0, sum = 0, h = scene->dt;
    int steps = (int)(4 / h), from = (int)(1 / h), capacity = sap_batch_contacts(batch)->capacity;
    Random random = random_seed(3);
    for (int b = 0; b < a->num_bodies; b++)
        weight += 9.81 * a->body_mass[b];
    for (int i = 0; i < steps; i++) {
        if (i % 4 == 0)
            move_targets(batch, a->joint_target_pos, a->num_dofs, &random, size);
        need(sap_batch_step(batch, h, 1));
        check_status(batch, ROBOTS);
        /* On body 1; the ground is body 0 of a contact or body 1, and the force on the robot points up. */
        for (int w = 0; w < ROBOTS && i >= from; w++)
            for (int c = 0; c < count[w]; c++) {
                const int32_t *shape = sap_batch_contacts(batch)->shape0 + w * capacity + c;
                double z = force[3 * (w * capacity + c) + 2];
                bool ground0 = a->shape_body[*shape] < 0;
                bool ground1 = a->shape_body[sap_batch_contacts(batch)->shape1[w * capacity + c]] < 0;
                sum += ground0 ? z : ground1 ? -z : 0;
            }
    }
    sap_batch_destroy(batch);
    return sum / ((double)ROBOTS * (steps - from) * weight);
}

ParameterizedTestParameters(right_by_default, contacts_carry_the_weight_of_a_robot_that_moves) {
    return preset_params();
}

/* The mean force is the weight, but for what the robots are faster at the end: 0.1 m/s over 3 s is 0.3 %. */
ParameterizedTest(int *preset, right_by_default, contacts_carry_the_weight_of_a_robot_that_moves) {
    SapScene *scene = load(SAPWOOD_SOURCE_DIR "/bench/scenes/quadruped.yaml");
    static const double sizes[] = {0.05, 0.25};
    for (int i = 0; i < 2; i++) {
        SapOptions o = preset_options(preset_names[*preset]);
        o.max_contacts = 32;
        double support = mean_support(scene, &o, sizes[i]);
        printf("%s, targets moving by %g rad: %.4f of the weight\n", preset_names[*preset], sizes[i], support);
        cr_expect_float_eq(support, 1, 5e-3, "%s, %g rad: %g", preset_names[*preset], sizes[i], support);
    }
    sap_scene_destroy(scene);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

ParameterizedTestParameters(right_by_default, a_step_from_a_moving_state_has_the_velocity_of_a_tight_solve) {
    return preset_params();
}

/* The largest difference of a dof in a step from the same states, in rad/s or m/s. */
ParameterizedTest(int *preset, right_by_default, a_step_from_a_moving_state_has_the_velocity_of_a_tight_solve) {
    enum { STEPS = 200, FROM = 100 };
    static double error[ROBOTS * (STEPS - FROM)];
    SapScene *scene = load(SAPWOOD_SOURCE_DIR "/bench/scenes/quadruped.yaml");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapOptions own = preset_options(preset_names[*preset]);
    own.max_contacts = 32;
    SapOptions tight = own;
    tight.line_search = SAP_EXACT_ROOT;
    tight.optimality_rel_tol = 1e-10;
    tight.contact_solve_precision = tight.linear_solve_precision = SAP_FP64;
    SapBatch *batch = batch_of(scene, ROBOTS, &own), *exact = batch_of(scene, ROBOTS, &tight);
    SapState *x = sap_batch_state(batch), *y = sap_batch_state(exact);
    Random random = random_seed(8);
    int n = 0, nv = a->num_dofs;
    for (int i = 0; i < STEPS; i++) {
        if (i % 4 == 0)
            move_targets(batch, a->joint_target_pos, nv, &random, 0.25);
        memcpy(y->joint_q, x->joint_q, sizeof(double) * (size_t)(ROBOTS * a->num_coords));
        memcpy(y->joint_qd, x->joint_qd, sizeof(double) * (size_t)(ROBOTS * nv));
        memcpy(sap_batch_control(exact)->joint_target_pos, sap_batch_control(batch)->joint_target_pos,
               sizeof(double) * (size_t)(ROBOTS * nv));
        need(sap_batch_step(batch, scene->dt, 1));
        need(sap_batch_step(exact, scene->dt, 1));
        check_status(batch, ROBOTS);
        for (int w = 0; w < ROBOTS && i >= FROM; w++) {
            double worst = 0;
            for (int k = w * nv; k < (w + 1) * nv; k++)
                worst = fmax(worst, fabs(((double *)x->joint_qd)[k] - ((double *)y->joint_qd)[k]));
            error[n++] = worst;
        }
    }
    qsort(error, (size_t)n, sizeof *error, by_size);
    double p99 = error[(int)(0.99 * n)], most = error[n - 1];
    printf("%s: p50 %.2g, p90 %.2g, p99 %.2g, max %.2g\n", preset_names[*preset], error[n / 2], error[(int)(0.9 * n)],
           p99, most);
    cr_expect_lt(p99, 1e-4, "%s: %g", preset_names[*preset], p99);
    cr_expect_lt(most, 1e-2, "%s: %g", preset_names[*preset], most);
    sap_batch_destroy(batch);
    sap_batch_destroy(exact);
    sap_scene_destroy(scene);
}
