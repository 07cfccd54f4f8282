/* Linkages against closed solutions: rates of every kind of row against differences, a four-bar against its loop
 * equation, a welded pair against one body, a coupled pair against its reflected inertia, momentum, and the loops of
 * the scenes of bench/scenes, which stay closed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/linkage_batch.h"
#include "support/near.h"
#include "support/need.h"
#include "support/work.h"

/* ---- rates ---- */

/* Coordinates move with the velocity of the step, so the difference of two errors is h J v, to second order. The
 * constraints do not act: the rate of the weld is exact at g = 0 only, where it begins. */
Test(linkages, the_velocity_of_every_row_is_the_rate_of_its_error) {
    SapScene *scene = load("tests/scenes/linkages");
    const SapModelArrays *m = sap_model_arrays(scene->model);
    SapBatch *batch = create(scene, 1, "drake");
    double *error = array_of(batch, SAP_BATCH_CONSTRAINT_ERROR), *rate = array_of(batch, SAP_BATCH_CONSTRAINT_VELOCITY);
    double *length = array_of(batch, SAP_BATCH_TENDON_LENGTH), *speed = array_of(batch, SAP_BATCH_TENDON_VELOCITY);
    enum { ROWS = 14, TENDONS = 3 }; /* ball 3, weld 6, two distances, three couplers */
    double *v = sap_batch_state(batch)->joint_qd, h = 1e-7, g[ROWS + TENDONS], u[ROWS + TENDONS];
    memset(array_of(batch, SAP_BATCH_CONSTRAINT_ACTIVE), 0, (size_t)m->num_constraints * sizeof(int32_t));
    for (int i = 0; i < m->num_dofs; i++)
        v[i] = sin(12.9898 * i + 1);
    step(batch, h, 1);
    memcpy(g, error, ROWS * sizeof *g);
    memcpy(g + ROWS, length, TENDONS * sizeof *g);
    memcpy(u, rate, ROWS * sizeof *u);
    memcpy(u + ROWS, speed, TENDONS * sizeof *u);
    step(batch, h, 1);
    for (int r = 0; r < ROWS + TENDONS; r++) {
        double next = r < ROWS ? error[r] : length[r - ROWS];
        check_near((next - g[r]) / h, u[r], 2e-6, "rate"); /* h v^2/r, and rounding/h */
        cr_expect_gt(fabs(u[r]), 1e-3, "row %d does not move", r);
    }
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- a four-bar ---- */

#define FOUR_BAR(drive)                                                                                                \
    "schema_version: 1\nground: false\nbodies: [{id: crank, mass: 1, com: [0.05, 0, 0], inertia: [0.01, 0.01, "        \
    "0.01]}, {id: bar, mass: 1, com: [0.2, 0, 0], inertia: [0.02, 0.02, 0.02]}, {id: rocker, mass: 1, com: [0.15, 0, " \
    "0], inertia: [0.02, 0.02, 0.02]}]\n"                                                                              \
    "joints: [{id: crank, type: revolute, axis: -y, parent: world, child: crank, " drive                               \
    "}, {id: bar, type: revolute, axis: -y, parent: crank, child: bar, parent_xform: "                                 \
    "{p: [0.1, 0, 0]}}, {id: rocker, type: revolute, axis: -y, parent: world, child: rocker, parent_xform: {p: "       \
    "[0.35, 0, 0]}}]\n"                                                                                                \
    "constraints: [{id: loop, type: ball, body_a: bar, point_a: [0.4, 0, 0], body_b: rocker, point_b: [0.3, 0, 0]}]\n"

/* The angles of bar and rocker from the crank's: the bar's end is where the circles of bar (0.4) and rocker (0.3)
 * meet, above. */
static void loop_equation(double crank, double *bar, double *rocker) {
    double ax = 0.1 * cos(crank), az = 0.1 * sin(crank), dx = 0.35 - ax, dz = -az, d = sqrt(dx * dx + dz * dz);
    double along = (0.16 - 0.09 + d * d) / (2 * d), up = sqrt(0.16 - along * along);
    double x = ax + (along * dx - up * dz) / d, z = az + (along * dz + up * dx) / d;
    *bar = atan2(z - az, x - ax);
    *rocker = atan2(z, x - 0.35);
}

/* The largest distance of the angles from the loop equation in one turn of the crank. */
static double four_bar_error(double h) {
    SapScene *scene = parse(FOUR_BAR("actuator_mode: velocity, target_kd: 50, target_vel: 4"));
    SapBatch *batch = create(scene, 1, "drake");
    double *q = sap_batch_state(batch)->joint_q, worst = 0, bar, rocker;
    loop_equation(0, &bar, &rocker);
    q[1] = bar;
    q[2] = rocker;
    for (int k = 0; k < (int)lround(2 / h); k++) {
        step(batch, h, 1);
        loop_equation(q[0], &bar, &rocker);
        worst =
            fmax(worst, fmax(fabs(remainder(q[0] + q[1] - bar, 2 * M_PI)), fabs(remainder(q[2] - rocker, 2 * M_PI))));
    }
    cr_expect_gt(q[0], 7, "the crank turns");
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    return worst;
}

/* A loop stays open by h^2 v^2/r: a quarter of the error at half the step. */
Test(linkages, a_four_bar_moves_by_its_loop_equation) {
    double coarse = four_bar_error(0.004), fine = four_bar_error(0.002);
    cr_expect_lt(coarse, 1e-3);
    cr_expect(coarse / fine > 3.5 && coarse / fine < 4.5, "%g, %g", coarse, fine);
}

/* F is the force of the bar on the end of the rocker. With the weights of both at their centres, moments about the two
 * pins are zero:
 *
 *   x_r F_z - z_r F_x = m g x_r/2          (x_r, z_r) along the rocker
 *   x_b F_z - z_b F_x = -m g x_b/2         (x_b, z_b) along the bar */
Test(linkages, the_loop_of_a_four_bar_at_rest_carries_the_force_of_statics) {
    SapScene *scene = parse(FOUR_BAR("actuator_mode: position, target_ke: 400, target_kd: 20, target_pos: 0.5"));
    static const char *const presets[] = {"approx64", "drake"};
    for (int p = 0; p < 2; p++) {
        SapBatch *batch = create(scene, 1, presets[p]);
        double *q = sap_batch_state(batch)->joint_q, *force = array_of(batch, SAP_BATCH_CONSTRAINT_WRENCH);
        double *speed = sap_batch_state(batch)->joint_qd, bar, rocker, weight = 9.81;
        loop_equation(0, &bar, &rocker);
        q[1] = bar;
        q[2] = rocker;
        step(batch, 0.002, 4000);
        cr_expect_lt(fabs(speed[0]) + fabs(speed[1]) + fabs(speed[2]), 1e-8, "at rest");
        double x_b = 0.4 * cos(q[0] + q[1]), z_b = 0.4 * sin(q[0] + q[1]), x_r = 0.3 * cos(q[2]), z_r = 0.3 * sin(q[2]);
        double m_r = weight * x_r / 2, m_b = -weight * x_b / 2, determinant = x_r * z_b - x_b * z_r;
        check_near(force[0], (x_b * m_r - x_r * m_b) / determinant, 1e-5, "horizontal force");
        check_near(force[1], 0, 1e-9, "force along the axes");
        check_near(force[2], (z_b * m_r - z_r * m_b) / determinant, 1e-5, "vertical force");
        sap_batch_destroy(batch);
    }
    sap_scene_destroy(scene);
}

/* ---- a welded pair ---- */

/* Two halves with the frames of the whole, 2 kg, centre of mass at the origin: the weld carries what turns them
 * together. Near-rigid rows give way by 5e-4 h^2 f w. */
Test(linkages, a_welded_pair_moves_like_one_body) {
    SapScene *pair =
        parse("schema_version: 1\nground: false\n"
              "bodies: [{id: a, mass: 0.5, com: [0.03, 0, 0], inertia: [0.001, 0.002, 0.002]}, {id: b, mass: 1.5, com: "
              "[-0.01, "
              "0, 0], inertia: [0.003, 0.004, 0.005]}]\n"
              "joints: [{id: a, type: free, parent: world, child: a}, {id: b, type: free, parent: world, child: b}]\n"
              "constraints: [{id: glue, type: weld, body_a: a, body_b: b}]\n");
    /* parallel axes: 0.5 0.03^2 + 1.5 0.01^2 = 0.0006 */
    SapScene *one =
        parse("schema_version: 1\nground: false\nbodies: [{id: a, mass: 2, inertia: [0.004, 0.0066, 0.0076]}]\n"
              "joints: [{id: a, type: free, parent: world, child: a}]\n");
    SapOptions o;
    need(sap_options_preset("drake", &o));
    o.constraint_weight = SAP_WEIGHT_SPLIT;
    SapBatch *two = create_with(pair, 1, o), *whole = create_with(one, 1, o);
    double *q2 = sap_batch_state(two)->joint_q, *v2 = sap_batch_state(two)->joint_qd;
    double *q1 = sap_batch_state(whole)->joint_q, *v1 = sap_batch_state(whole)->joint_qd;
    const double w[3] = {0.2, 0.3, -0.1}, com[2] = {0.03, -0.01};
    for (int i = 0; i < 3; i++) {
        v1[i] = 0.1 * (i + 1);
        v1[3 + i] = w[i];
        for (int b = 0; b < 2; b++) {
            double cross[3] = {0, w[2] * com[b], -w[1] * com[b]}; /* of the centre of mass */
            v2[6 * b + i] = v1[i] + cross[i];
            v2[6 * b + 3 + i] = w[i];
        }
    }
    double h = 2e-4, worst = 0;
    for (int k = 0; k < 1000; k++) {
        need(sap_batch_step(two, h, 1));
        need(sap_batch_step(whole, h, 1));
        for (int b = 0; b < 2; b++)
            for (int i = 0; i < 7; i++)
                worst = fmax(worst, fabs(q2[7 * b + i] - q1[i]));
    }
    cr_expect_lt(worst, 1e-9, "%g", worst);
    sap_batch_destroy(two);
    sap_batch_destroy(whole);
    sap_scene_destroy(pair);
    sap_scene_destroy(one);
}

/* ---- momentum ---- */

/* Three free bodies in a chain of a weld, a rod and a ball, without external force. */
Test(linkages, linear_momentum_is_kept) {
    SapScene *scene = parse(
        "schema_version: 1\nground: false\nbuilder: {gravity: 0}\n"
        "bodies: [{id: a, mass: 1, inertia: [0.1, 0.2, 0.3]}, {id: b, mass: 2, inertia: [0.2, 0.2, 0.3], transform: "
        "{p: "
        "[1, 0, 0]}}, {id: c, mass: 3, inertia: [0.3, 0.2, 0.3], transform: {p: [1, 1, 0]}}, {id: d, mass: 1, inertia: "
        "[0.1, 0.1, 0.1], transform: {p: [1, 1, 1]}}]\n"
        "joints: [{id: a, type: free, parent: world, child: a}, {id: b, type: free, parent: world, child: b}, {id: c, "
        "type: free, parent: world, child: c}, {id: d, type: free, parent: world, child: d}]\n"
        "constraints: [{id: w, type: weld, body_a: a, body_b: b}, {id: r, type: distance, body_a: b, body_b: c}, {id: "
        "s, "
        "type: ball, body_a: c, point_a: [0, 0, 0.5], body_b: d}]\n");
    static const double mass[] = {1, 2, 3, 1};
    SapBatch *batch = create(scene, 1, "approx64");
    double *v = sap_batch_state(batch)->joint_qd, start[3] = {0}, end[3] = {0};
    for (int i = 0; i < 24; i++)
        v[i] = 0.3 * sin(12.9898 * i + 2);
    for (int i = 0; i < 12; i++)
        start[i % 3] += mass[i / 3] * v[6 * (i / 3) + i % 3];
    need(sap_batch_step(batch, 0.005, 1000));
    for (int i = 0; i < 12; i++)
        end[i % 3] += mass[i / 3] * v[6 * (i / 3) + i % 3];
    for (int i = 0; i < 3; i++)
        check_near(end[i], start[i], 1e-11, "momentum"); /* rounding and the tolerance of 1000 solves */
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- a coupled pair ---- */

/* x = 2 y: sliders of 3 and 2 kg move like one of 3 + 2/4 kg, but for the give of the near-rigid row: 5e-4 h^2 f w. */
Test(linkages, a_coupled_pair_has_the_reflected_inertia) {
    SapScene *scene =
        parse("schema_version: 1\nground: false\nbuilder: {gravity: 0}\n"
              "bodies: [{id: a, mass: 3, inertia: [1, 1, 1]}, {id: b, mass: 2, inertia: [1, 1, 1]}]\n"
              "joints: [{id: x, type: prismatic, axis: x, parent: world, child: a}, {id: y, type: prismatic, axis: y, "
              "parent: world, child: b}]\n"
              "constraints: [{id: c, type: coupler, joint: x, of: y, ratio: 2}]\n");
    SapBatch *batch = create(scene, 1, "drake");
    double *q = sap_batch_state(batch)->joint_q, *f = sap_batch_control(batch)->joint_f, h = 1e-4;
    f[0] = 1;
    int n = 1000;
    need(sap_batch_step(batch, h, n));
    double x = 0.5 * n * (n + 1) * h * h / 3.5; /* semi-implicit Euler */
    check_near(q[0], x, 1e-10, "x");
    check_near(q[1], x / 2, 1e-10, "y");
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- correction speed ---- */

/* An error of 0.1 m closes with 10 m/s at 5 ms, or with constraint_speed; near the end it is halved in each step. */
Test(linkages, constraint_speed_bounds_how_fast_an_error_is_corrected) {
    SapScene *scene = parse(
        "schema_version: 1\nground: false\nbuilder: {gravity: 0}\nbodies: [{id: a, mass: 2, inertia: [1, 1, 1]}]\n"
        "joints: [{id: j, type: prismatic, axis: z, parent: world, child: a}]\n"
        "constraints: [{id: c, type: coupler, joint: j, offset: 0.1}]\n");
    static const double speeds[] = {NAN, 0.5}; /* NaN: no bound */
    for (int k = 0; k < 2; k++) {
        SapOptions o;
        SapBatch *batch = NULL;
        need(sap_options_preset("drake", &o));
        o.constraint_speed = speeds[k];
        need(sap_batch_create(scene->model, 1, &o, &batch));
        double *v = sap_batch_state(batch)->joint_qd, *q = sap_batch_state(batch)->joint_q;
        need(sap_batch_step(batch, 0.005, 1));
        check_near(v[0], k == 0 ? 10 : 0.5, k == 0 ? 3e-3 : 2e-4, "speed"); /* R/(R + w) = 2.5e-4 of it */
        need(sap_batch_step(batch, 0.005, 100));
        check_near(q[0], 0.1, 1e-4, "closed");
        sap_batch_destroy(batch);
    }
    sap_scene_destroy(scene);
}

/* ---- redundant rows ---- */

/* x = y, y = z, z = x: one of the three rows is redundant. Two sliders pulled apart share the force of the third. */
Test(linkages, a_cycle_of_couplers_is_solved) {
    SapScene *scene = parse("schema_version: 1\nground: false\nbuilder: {gravity: 0}\n"
                            "bodies: [{id: a, mass: 1, inertia: [1, 1, 1]}, {id: b, mass: 1, inertia: [1, 1, 1]}, {id: "
                            "c, mass: 1, inertia: [1, 1, 1]}]\n"
                            "joints: [{id: x, type: prismatic, axis: x, parent: world, child: a}, {id: y, type: "
                            "prismatic, axis: x, parent: world, "
                            "child: b}, {id: z, type: prismatic, axis: x, parent: world, child: c}]\n"
                            "constraints: [{id: xy, type: coupler, joint: x, of: y}, {id: yz, type: coupler, joint: y, "
                            "of: z}, {id: zx, type: "
                            "coupler, joint: z, of: x}]\n");
    SapBatch *batch = create(scene, 1, "drake");
    double *v = sap_batch_state(batch)->joint_qd, *impulse = array_of(batch, SAP_BATCH_CONSTRAINT_IMPULSE), h = 0.001;
    ((double *)sap_batch_control(batch)->joint_f)[0] = 3;
    need(sap_batch_step(batch, h, 100));
    for (int i = 0; i < 3; i++)
        check_near(v[i], 0.1, 1e-6, "velocity"); /* 3 N on 3 kg for 0.1 s */
    check_near(impulse[0] / h, -1, 1e-4, "x gives half of what y and z need through each of its rows");
    check_near(impulse[2] / h, 1, 1e-4, "likewise");
    check_near(impulse[1] / h, 0, 1e-4, "y and z need nothing from each other");
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- bad numbers ---- */

enum { POISON_WORLDS = 5, POISONED = 2 };
static const double poison[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e-310};

typedef struct Poison {
    SapBatch *batch;
    double *q, *v, *q0, *v0; /* state, and state at the start */
    double *expected;        /* q after a step without poison */
    size_t nq, nv;
} Poison;

/* One step from the start. The world with the bad number is finite; the others have the bits that they have without
 * it. */
static void check_poison(const Poison *p, const char *what, size_t i, double value) {
    memcpy(p->v, p->v0, POISON_WORLDS * p->nv * sizeof *p->v);
    need(sap_batch_step(p->batch, 0.005, 1));
    for (size_t w = 0; w < POISON_WORLDS; w++)
        if (w != POISONED)
            cr_expect_eq(memcmp(p->q + w * p->nq, p->expected + w * p->nq, p->nq * sizeof *p->q), 0,
                         "%s[%zu] = %g changes world %zu", what, i, value, w);
    uint32_t failed = sap_solver_world_status(sap_batch_solver(p->batch))[POISONED] & SAP_WORLD_FAILED;
    for (size_t k = 0; k < p->nq && !failed; k++)
        cr_expect(isfinite(p->q[POISONED * p->nq + k]), "%s[%zu] = %g: coordinate %zu", what, i, value, k);
    memcpy(p->q, p->q0, POISON_WORLDS * p->nq * sizeof *p->q);
    memcpy(p->v, p->v0, POISON_WORLDS * p->nv * sizeof *p->v);
}

static void poison_elements(const Poison *p, const char *what, double *data, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof poison / sizeof *poison; k++) {
            double *at = data + POISONED * n + i, before = *at;
            *at = poison[k];
            check_poison(p, what, i, poison[k]);
            *at = before;
        }
}

/* Every element of every parameter and control of constraints and tendons. */
Test(linkages, a_bad_number_of_a_constraint_stays_in_its_world, .timeout = 120) {
    SapScene *scene = load("tests/scenes/linkages");
    const SapModelArrays *m = sap_model_arrays(scene->model);
    SapOptions o;
    Poison p = {.nq = (size_t)m->num_coords, .nv = (size_t)m->num_dofs};
    need(sap_options_preset("approx64", &o));
    o.threads = 1;
    need(sap_batch_create(scene->model, POISON_WORLDS, &o, &p.batch));
    p.q = sap_batch_state(p.batch)->joint_q;
    p.v = sap_batch_state(p.batch)->joint_qd;
    for (size_t i = 0; i < POISON_WORLDS * p.nv; i++)
        p.v[i] = 0.3 * sin(12.9898 * (double)i);
    size_t q_bytes = POISON_WORLDS * p.nq * sizeof *p.q, v_bytes = POISON_WORLDS * p.nv * sizeof *p.v;
    p.q0 = memcpy(malloc(q_bytes), p.q, q_bytes);
    p.v0 = memcpy(malloc(v_bytes), p.v, v_bytes);
    need(sap_batch_step(p.batch, 0.005, 1));
    p.expected = memcpy(malloc(q_bytes), p.q, q_bytes);
    memcpy(p.q, p.q0, q_bytes);
    static const SapBatchField controls[] = {SAP_BATCH_TENDON_TARGET_POS, SAP_BATCH_TENDON_TARGET_VEL,
                                             SAP_BATCH_TENDON_ACT, SAP_BATCH_TENDON_F};
    for (int f = 0; f < 4; f++)
        poison_elements(&p, sap_batch_field_names()[controls[f]], array_of(p.batch, controls[f]),
                        (size_t)m->num_tendons);
    for (int f = SAP_PARAMETER_CONSTRAINT_X; f <= SAP_PARAMETER_TENDON_EFFORT_LIMIT; f++) {
        SapArray view;
        need(sap_batch_expand(p.batch, (SapParameter)f, &view));
        poison_elements(&p, sap_parameter_names()[f], view.data, (size_t)view.strides[0] / sizeof(double));
    }
    free(p.q0);
    free(p.v0);
    free(p.expected);
    sap_batch_destroy(p.batch);
    sap_scene_destroy(scene);
}

/* ---- scenes ---- */

/* A scene and the largest error of its loops, m or rad, in any step (docs/constraints.md). */
typedef struct Loop {
    const char *name;
    double bound;
} Loop;

/* Returns the largest error. */
static double check_scene(const Loop *loop, const char *preset, int steps) {
    enum { WORLDS = 8 };
    SapScene *scene = load(loop->name);
    const SapModelArrays *m = sap_model_arrays(scene->model);
    SapOptions o;
    SapBatch *batch = NULL;
    need(sap_options_preset(preset, &o));
    o.max_contacts = scene->options.max_contacts;
    o.threads = 2;
    need(sap_batch_create_as(scene->model, WORLDS, &o, SAP_F64, &batch));
    double *v = sap_batch_state(batch)->joint_qd, *error = array_of(batch, SAP_BATCH_CONSTRAINT_RESIDUAL), worst = 0;
    uint32_t status = 0;
    for (int i = 0; i < WORLDS * m->num_dofs; i++)
        v[i] += 0.1 * sin(12.9898 * i + 1);
    for (int k = 0; k < steps; k++) {
        need(sap_batch_step(batch, scene->dt, 1));
        for (int w = 0; w < WORLDS; w++) {
            status |= sap_solver_world_status(sap_batch_solver(batch))[w];
            worst = fmax(worst, error[w]);
        }
    }
    cr_expect_eq(status & (SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED | SAP_WORLD_CONTACTS_TRUNCATED), 0u,
                 "%s, %s: %#x", loop->name, preset, status);
    cr_expect(worst > 0 && worst < loop->bound, "%s, %s: %g", loop->name, preset, worst);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    return worst;
}

/* 1,000 steps, or SAPWOOD_TEST_STEPS, and then the largest errors are printed. */
Test(linkages, scenes_keep_their_loops_closed_and_no_world_fails, .timeout = 600) {
    static const Loop loops[] = {{"bench/scenes/stewart", 1e-3},
                                 {"bench/scenes/fivebar_leg", 3e-4},
                                 {"bench/scenes/mimic_gripper", 1e-3},
                                 {"bench/scenes/tendon_finger", 3e-4},
                                 {"bench/scenes/linkage_walker", 3e-4}};
    static const char *const presets[] = {"approx32", "approx64", "drake", "fast32"};
    const char *text = getenv("SAPWOOD_TEST_STEPS");
    int steps = text ? atoi(text) : (int)(1000 * work_scale());
    for (int s = 0; s < 5; s++)
        for (int p = 0; p < 4; p++) {
            double worst = check_scene(&loops[s], presets[p], steps < 10 ? 10 : steps);
            if (text)
                printf("%-28s %-9s %d steps: largest error %.2e\n", loops[s].name, presets[p], steps, worst);
        }
}
