/* Steps of worlds with constraints and tendons: the Jacobian against differences of the errors, statics, closed
 * solutions, momentum, the same bits however a world is run, and worlds that differ. cli_compare has the comparison
 * with Drake. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/linkage_batch.h"
#include "support/near.h"

/* ---- derivatives ---- */

/* Scenes of the reference data with one constraint whose coordinates are their dofs. The rate of a weld is exact only
 * where its error is 0; the reference data have its Jacobian. */
static const char *const plain_scenes[] = {"fourbar_ball", "pendulums_rod", "gripper_coupler", "own_coupler_polynomial",
                                           "own_rope"};

static SapScene *reference(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "tests/data/reference/constraints/%s", name);
    return load(path);
}

/* Errors at the initial state with coordinate i off by 0.1 + d; `g` is where a step records them. */
static void errors_at(SapBatch *batch, int i, double d, const double *g, double *out) {
    cr_assert_eq(sap_batch_reset(batch, NULL, 0), SAP_OK);
    ((double *)sap_batch_state(batch)->joint_q)[i] += 0.1 + d;
    step(batch, 1e-4, 1);
    memmove(out, g, 3 * sizeof *out);
}

/* Column i of J is the rate of the errors with coordinate i. */
Test(constraints, jacobians_are_the_rates_of_errors) {
    for (size_t s = 0; s < sizeof plain_scenes / sizeof *plain_scenes; s++) {
        SapScene *scene = reference(plain_scenes[s]);
        const SapModelArrays *m = sap_model_arrays(scene->model);
        int nv = m->num_dofs, rows = m->constraint_type[0] == SAP_CONSTRAINT_BALL ? 3 : 1;
        SapBatch *batch = create(scene, 1, "drake");
        double g[3], J[3 * 8], d = 1e-6;
        const SapConstraintReport report = {.error = g, .jacobian = J};
        cr_assert_eq(sap_solver_record_constraints(sap_batch_solver(batch), &report), SAP_OK);
        for (int i = 0; i < nv; i++) {
            double more[3], less[3];
            errors_at(batch, i, d, g, more);
            errors_at(batch, i, -d, g, less);
            errors_at(batch, i, 0, g, g);
            for (int r = 0; r < rows; r++)
                check_near(J[r * nv + i], (more[r] - less[r]) / (2 * d), 1e-8, plain_scenes[s]);
        }
        sap_batch_destroy(batch);
        sap_scene_destroy(scene);
    }
}

/* The rate of a length is the difference of two lengths over the step, to second order. */
Test(constraints, velocities_of_tendons_are_the_rates_of_their_lengths) {
    static const char *const names[] = {"own_tendon_path", "own_tendon_terms", "own_tendon_drive"};
    for (int s = 0; s < 3; s++) {
        SapScene *scene = reference(names[s]);
        SapBatch *batch = create(scene, 1, "drake");
        double *length = array_of(batch, SAP_BATCH_TENDON_LENGTH),
               *velocity = array_of(batch, SAP_BATCH_TENDON_VELOCITY);
        double h = 1e-5;
        for (int k = 0; k < 20; k++) {
            step(batch, h, 1);
            double before = length[0], rate = velocity[0];
            step(batch, h, 1);
            check_near((length[0] - before) / h, rate, 1e-3, names[s]);
        }
        sap_batch_destroy(batch);
        sap_scene_destroy(scene);
    }
}

/* ---- statics ---- */

#define HEAD "schema_version: 1\nground: false\n"
#define CUBE(name, at)                                                                                                 \
    "- {id: " name ", mass: 2, com: [0.1, 0, 0], inertia: [0.02, 0.03, 0.04], transform: {p: " at "}}\n"
#define FREE_BODY(name) "- {id: " name ", type: free, parent: world, child: " name "}\n"

/* Force and torque about the centre of mass that hold a body of 2 kg; at rest they are the weight and nothing. */
Test(constraints, a_weld_to_the_world_carries_the_weight) {
    SapScene *scene = parse(HEAD "bodies:\n" CUBE("a", "[0, 0, 1]") "joints:\n" FREE_BODY(
        "a") "constraints: [{id: w, type: weld, body_a: world, body_b: a}]\n");
    static const char *const presets[] = {"approx64", "drake"};
    for (int p = 0; p < 2; p++) {
        SapBatch *batch = create(scene, 1, presets[p]);
        double *wrench = array_of(batch, SAP_BATCH_CONSTRAINT_WRENCH),
               *sum = array_of(batch, SAP_BATCH_BODY_CONSTRAINT_WRENCH),
               *residual = array_of(batch, SAP_BATCH_CONSTRAINT_RESIDUAL);
        step(batch, 0.002, 2000);
        for (int i = 0; i < 6; i++) {
            check_near(wrench[i], i == 2 ? 2 * 9.81 : 0, 1e-7, "wrench");
            check_near(sum[i], wrench[i], 0, "the only constraint of the body");
        }
        cr_expect_lt(residual[0], 1e-4);
        cr_expect_gt(residual[0], 0);
        sap_batch_destroy(batch);
    }
    sap_scene_destroy(scene);
}

/* Two branches: 1.42 to the body and 0.2 along it, and half of 1.41 behind a pulley. */
Test(constraints, the_length_of_a_tendon_is_that_of_its_path) {
    SapScene *scene = parse(HEAD "bodies:\n" CUBE("a", "[0, 0, 1]") "joints:\n" FREE_BODY(
        "a") "tendons: [{id: t, path: [{body: world, point: [1, 0, 0]}, {body: a, point: [0, 0.1, 0]}, {body: a, "
             "point: "
             "[0, -0.1, 0]}, {pulley: 2}, {body: a}, {body: world, point: [0, 1, 0]}]}]\n");
    SapBatch *batch = create(scene, 1, "drake");
    double *length = array_of(batch, SAP_BATCH_TENDON_LENGTH);
    step(batch, 1e-4, 1);
    check_near(length[0], sqrt(2.01) + 0.2 + sqrt(2) / 2, 1e-12, "length");
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* Worlds that spin differently, so that there are torques, different in each. */
Test(constraints, the_only_constraint_of_a_body_gives_its_wrench_in_each_world) {
    SapScene *scene = parse(HEAD "bodies:\n" CUBE("a", "[0, 0, 1]") "joints:\n" FREE_BODY(
        "a") "constraints: [{id: w, type: weld, body_a: world, body_b: a}]\n");
    SapBatch *batch = create(scene, 3, "approx64");
    double *wrench = array_of(batch, SAP_BATCH_CONSTRAINT_WRENCH),
           *sum = array_of(batch, SAP_BATCH_BODY_CONSTRAINT_WRENCH);
    for (int i = 0; i < 18; i++)
        ((double *)sap_batch_state(batch)->joint_qd)[i] = 0.1 * (i + 1);
    step(batch, 0.002, 2);
    for (int i = 0; i < 18; i++) {
        cr_expect_eq(sum[i], wrench[i], "world %d, number %d: %g and %g", i / 6, i % 6, sum[i], wrench[i]);
        cr_expect_gt(fabs(wrench[i]), 1e-3, "world %d, number %d", i / 6, i % 6);
    }
    for (int i = 0; i < 6; i++)
        cr_expect_neq(wrench[i], wrench[6 + i], "worlds 0 and 1, number %d", i);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(constraints, a_compliant_distance_sags_by_load_over_stiffness) {
    SapScene *scene = parse(HEAD "bodies: [{id: a, mass: 2, inertia: [1, 1, 1]}]\n"
                                 "joints: [{id: j, type: prismatic, axis: z, parent: world, child: a}]\n"
                                 "constraints: [{id: d, type: distance, body_a: world, point_a: [0, 0, 1], body_b: a, "
                                 "ke: 500, kd: 50}]\n");
    SapBatch *batch = create(scene, 1, "approx64");
    double *impulse = array_of(batch, SAP_BATCH_CONSTRAINT_IMPULSE), h = 0.01;
    step(batch, h, 3000);
    check_near(((double *)sap_batch_state(batch)->joint_q)[0], -2 * 9.81 / 500, 1e-10, "sag");
    check_near(impulse[0] / h, -2 * 9.81, 1e-9, "pull"); /* negative: pulls together */
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* A near-rigid row halves an error in each step. */
Test(constraints, an_error_is_halved_in_each_step) {
    SapScene *scene = parse(HEAD "builder: {gravity: 0}\nbodies: [{id: a, mass: 2, inertia: [1, 1, 1]}]\n"
                                 "joints: [{id: j, type: prismatic, axis: z, parent: world, child: a}]\n"
                                 "constraints: [{id: c, type: coupler, joint: j, offset: 0.1}]\n");
    SapBatch *batch = create(scene, 1, "drake");
    double *q = sap_batch_state(batch)->joint_q, error = 0.1;
    for (int k = 0; k < 10; k++) {
        double *v = sap_batch_state(batch)->joint_qd;
        v[0] = 0;
        step(batch, 0.005, 1);
        double left = 0.1 - q[0];
        check_near(left / error, 0.5, 2e-4, "R_nr leaves the error a little larger"); /* R/(R + 1/m) = 2.5e-4 */
        error = left;
    }
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- closed solutions ---- */

/* q0 = 2 q1: both sliders move like one of mass m0 + m1/4. */
Test(constraints, coupled_sliders_move_like_one_of_reflected_mass) {
    SapScene *scene =
        parse(HEAD "bodies: [{id: a, mass: 3, inertia: [1, 1, 1]}, {id: b, mass: 2, inertia: [1, 1, 1]}]\n"
                   "joints: [{id: x, type: prismatic, axis: x, parent: world, child: a}, {id: y, type: "
                   "prismatic, axis: y, parent: world, child: b}]\n"
                   "constraints: [{id: c, type: coupler, joint: x, of: y, ratio: 2}]\n");
    SapBatch *batch = create(scene, 1, "drake");
    double *f = sap_batch_control(batch)->joint_f, *q = sap_batch_state(batch)->joint_q, t = 0;
    f[0] = 1;
    for (int k = 0; k < 200; k++, t += 0.005)
        step(batch, 0.005, 1);
    check_near(q[0], 0.5 * t * (t + 0.005) / (3 + 2 / 4.0), 1e-6, "x"); /* semi-implicit Euler: n (n + 1)/2 h^2 a */
    check_near(q[1], q[0] / 2, 1e-6, "y");
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* Tendon armature on q0 + q1 adds I [1 1; 1 1] to the mass matrix. */
Test(constraints, armature_of_a_tendon_is_an_inertia) {
    SapScene *scene =
        parse(HEAD "bodies: [{id: a, mass: 3, inertia: [1, 1, 1]}, {id: b, mass: 2, inertia: [1, 1, 1]}]\n"
                   "joints: [{id: x, type: prismatic, axis: x, parent: world, child: a}, {id: y, type: "
                   "prismatic, axis: y, parent: world, child: b}]\n"
                   "tendons: [{id: t, joints: [x, y], coefficients: [1, 1], armature: 0.7}]\n");
    SapBatch *batch = create(scene, 1, "approx64");
    double *v = sap_batch_state(batch)->joint_qd, *f = sap_batch_control(batch)->joint_f, h = 0.01;
    v[0] = 0.3;
    v[1] = -0.8;
    f[0] = 5;
    step(batch, h, 1);
    double a = 3.7, b = 2.7, c = 0.7, det = a * b - c * c; /* (a c; c b) dv = h (5, 0) */
    check_near(v[0], 0.3 + h * b * 5 / det, 1e-14, "v0");
    check_near(v[1], -0.8 - h * c * 5 / det, 1e-14, "v1");
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* Spring and damper of a tendon are implicit Euler; a force along it is added to the joint forces. */
Test(constraints, springs_dampers_and_forces_of_tendons_are_those_of_one_slider) {
    SapScene *scene = parse(HEAD "builder: {gravity: 0}\nbodies: [{id: a, mass: 3, inertia: [1, 1, 1]}]\n"
                                 "joints: [{id: x, type: prismatic, axis: x, parent: world, child: a}]\n"
                                 "tendons: [{id: t, joints: [x], coefficients: [2], spring_ke: 40, spring_lower: 0.1, "
                                 "spring_upper: 0.1, damping: 3}]\n");
    SapBatch *batch = create(scene, 1, "drake");
    double *q = sap_batch_state(batch)->joint_q, *v = sap_batch_state(batch)->joint_qd, h = 0.01, x = 0.2, u = 0.5;
    double *force = array_of(batch, SAP_BATCH_TENDON_FORCE), *spring = array_of(batch, SAP_BATCH_TENDON_SPRING_FORCE);
    double *along = array_of(batch, SAP_BATCH_TENDON_F);
    q[0] = x;
    v[0] = u;
    along[0] = 0.9;
    for (int k = 0; k < 100; k++) {
        step(batch, h, 1);
        /* m (u1 - u) = h (2 0.9 - 2 (40 (2 (x + h u1) - 0.1) + 3 2 u1)) */
        double u1 = (3 * u + h * (1.8 - 80 * (2 * x - 0.1))) / (3 + h * (160 * h + 12));
        x += h * u1;
        u = u1;
        check_near(v[0], u, 1e-12, "velocity");
        check_near(force[0], spring[0], 1e-12, "the whole force");
    }
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

#define SLIDER_TERMS                                                                                                   \
    "friction: 0.5, target_pos: 0.3, target_ke: 200, target_kd: 5, effort_limit: 12, actuator_mode: position, "        \
    "limit_lower: -0.2, limit_upper: 0.25, limit_ke: 5000, limit_kd: 50"
#define SLIDER(joint, rest)                                                                                            \
    HEAD "builder: {gravity: [4, 0, 0]}\nbodies: [{id: a, mass: 2, inertia: [1, 1, 1]}]\n"                             \
         "joints: [{id: x, type: prismatic, axis: x, parent: world, child: a" joint "}]\n" rest

/* Drive, limits and friction of a joint and of a tendon over this joint are the same rows, with and without a Jacobian.
 * The slider starts with its drive at its bound, passes its target and ends at its limit. */
Test(constraints, a_tendon_over_one_joint_moves_it_as_the_terms_of_the_joint_do) {
    SapScene *with_joint = parse(SLIDER(", " SLIDER_TERMS, "")),
             *with_tendon = parse(SLIDER("", "tendons: [{id: t, joints: [x], coefficients: [1], " SLIDER_TERMS "}]\n"));
    SapBatch *joint = create(with_joint, 1, "approx64"), *tendon = create(with_tendon, 1, "approx64");
    const double *q = sap_batch_state(joint)->joint_q, *v = sap_batch_state(joint)->joint_qd;
    double farthest = 0;
    for (int k = 0; k < 500; k++) {
        step(joint, 0.002, 1);
        step(tendon, 0.002, 1);
        check_near(*(double *)sap_batch_state(tendon)->joint_q, q[0], 1e-12, "coordinate");
        check_near(*(double *)sap_batch_state(tendon)->joint_qd, v[0], 1e-12, "velocity");
        farthest = fmax(farthest, q[0]);
    }
    cr_expect_gt(farthest, 0.25, "the limit acts");
    cr_expect_lt(fabs(v[0]), 1e-3, "friction and damping bring it to rest");
    sap_batch_destroy(joint);
    sap_batch_destroy(tendon);
    sap_scene_destroy(with_joint);
    sap_scene_destroy(with_tendon);
}

/* Two free bodies that are welded keep momentum and angular momentum. */
static void momentum(const SapModelArrays *m, SapBatch *batch, double out[6]) {
    const double *X = sap_batch_state(batch)->body_q, *V = sap_batch_state(batch)->body_qd;
    memset(out, 0, 6 * sizeof *out);
    for (int b = 0; b < m->num_bodies; b++) {
        const double *q = X + 7 * b + 3, *c = m->body_com + 3 * b, *v = V + 6 * b, *w = v + 3;
        double R[3][3] = {
            {1 - 2 * (q[1] * q[1] + q[2] * q[2]), 2 * (q[0] * q[1] - q[3] * q[2]), 2 * (q[0] * q[2] + q[3] * q[1])},
            {2 * (q[0] * q[1] + q[3] * q[2]), 1 - 2 * (q[0] * q[0] + q[2] * q[2]), 2 * (q[1] * q[2] - q[3] * q[0])},
            {2 * (q[0] * q[2] - q[3] * q[1]), 2 * (q[1] * q[2] + q[3] * q[0]), 1 - 2 * (q[0] * q[0] + q[1] * q[1])}};
        double r[3], L[3] = {0}, local[3] = {0};
        for (int i = 0; i < 3; i++) {
            r[i] = X[7 * b + i] + R[i][0] * c[0] + R[i][1] * c[1] + R[i][2] * c[2];
            local[i] = R[0][i] * w[0] + R[1][i] * w[1] + R[2][i] * w[2];
        }
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                L[i] += R[i][k] *
                        (m->body_inertia[9 * b + 3 * k] * local[0] + m->body_inertia[9 * b + 3 * k + 1] * local[1] +
                         m->body_inertia[9 * b + 3 * k + 2] * local[2]);
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            out[i] += m->body_mass[b] * v[i];
            out[3 + i] += L[i] + m->body_mass[b] * (r[j] * v[k] - r[k] * v[j]);
        }
    }
}

/* The impulses of one step have no net force and no net moment: compared with free motion of the same step, the sums of
 * momenta agree to rounding. */
Test(constraints, welds_and_distances_keep_momentum) {
    static const char *const texts[] = {
        "{id: w, type: weld, body_a: a, frame_a: {p: [0.1, 0.2, 0]}, body_b: b, frame_b: "
        "{p: [-0.1, 0, 0.1]}, ke: 1000, kd: 1e9, angular_ke: 1000, angular_kd: 1e9}",
        "{id: w, type: distance, body_a: a, point_a: [0.1, 0.2, 0], body_b: b, length: 0.7, "
        "ke: 1000, kd: 1e9}"};
    for (int k = 0; k < 2; k++) {
        char text[4096];
        snprintf(text, sizeof text, "%sconstraints: [%s]\n",
                 HEAD "builder: {gravity: 0}\nbodies:\n" CUBE("a", "[0, 0, 1]")
                     CUBE("b", "[0.5, 0.2, 1.3]") "joints:\n" FREE_BODY("a") FREE_BODY("b"),
                 texts[k]);
        SapScene *scene = parse(text);
        const SapModelArrays *m = sap_model_arrays(scene->model);
        SapBatch *batch = create(scene, 2, "drake");
        double *v = sap_batch_state(batch)->joint_qd, p[6], free_p[6];
        int32_t *active = array_of(batch, SAP_BATCH_CONSTRAINT_ACTIVE);
        active[1] = 0; /* world 1 moves freely */
        for (int w = 0; w < 2; w++)
            for (int i = 0; i < 12; i++)
                v[12 * w + i] = 0.3 * sin(3 * i + 1);
        step(batch, 1e-9, 1); /* the bodies do not move, but strong dampers change their velocities */
        cr_assert_gt(fabs(v[0] - v[12]) + fabs(v[3] - v[15]), 0.01);
        momentum(m, batch, p);
        SapState *s = sap_batch_state(batch);
        double *body_q = s->body_q, *body_qd = s->body_qd;
        memmove(body_q, body_q + 14, 14 * sizeof *body_q);
        memmove(body_qd, body_qd + 12, 12 * sizeof *body_qd);
        momentum(m, batch, free_p);
        for (int i = 0; i < 6; i++)
            check_near(p[i], free_p[i], 1e-8, "momentum"); /* positions differ by h v */
        sap_batch_destroy(batch);
        sap_scene_destroy(scene);
    }
}

/* ---- ropes ---- */

Test(constraints, a_rope_pulls_and_does_not_push) {
    SapScene *scene = parse(HEAD "bodies: [{id: a, mass: 2, inertia: [1, 1, 1]}]\n"
                                 "joints: [{id: j, type: prismatic, axis: z, parent: world, child: a}]\n"
                                 "constraints: [{id: d, type: distance, body_a: world, point_a: [0, 0, 1], body_b: a, "
                                 "length: 1.2, side: upper}]\n");
    SapBatch *batch = create(scene, 1, "approx64");
    double *impulse = array_of(batch, SAP_BATCH_CONSTRAINT_IMPULSE), *q = sap_batch_state(batch)->joint_q;
    step(batch, 0.005, 10);
    cr_expect_eq(impulse[0], 0, "slack");
    step(batch, 0.005, 1000);
    check_near(q[0], -0.2, 1e-3, "taut");
    cr_expect_lt(impulse[0], 0);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- the same bits ---- */

/* Two four-legged robots: one has constraints and tendons that do not act. */
Test(constraints, that_do_not_act_leave_the_bits_of_a_model_without_them) {
    SapScene *plain = NULL, *more = NULL;
    char path[4096], text[1 << 15];
    snprintf(path, sizeof path, "%s/bench/scenes/quadruped.yaml", SAPWOOD_SOURCE_DIR);
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file);
    size_t n = fread(text, 1, sizeof text - 1024, file);
    fclose(file);
    text[n] = '\0';
    cr_assert_eq(sap_scene_parse(text, n, "plain.yaml", &plain), SAP_OK, "%s", sap_error_message());
    strcat(text, "\ntendons: [{id: t, joints: [fl_knee, hr_knee], coefficients: [1, 1]}]\n"
                 "constraints: [{id: w, type: weld, body_a: fl_shank, body_b: hr_shank, active: false}, {id: c, type: "
                 "coupler, joint: fr_hip, of: hl_hip, active: false}]\n");
    cr_assert_eq(sap_scene_parse(text, strlen(text), "more.yaml", &more), SAP_OK, "%s", sap_error_message());
    for (int p = 0; p < 3; p++) {
        static const char *const presets[] = {"approx32", "approx64", "drake"};
        SapBatch *a = create(plain, 3, presets[p]), *b = create(more, 3, presets[p]);
        size_t bytes = (size_t)sap_model_arrays(plain->model)->num_dofs * 3 * (p == 0 ? 4 : 8);
        step(a, 0.002, 100);
        step(b, 0.002, 100);
        cr_expect_eq(memcmp(sap_batch_state(a)->joint_qd, sap_batch_state(b)->joint_qd, bytes), 0, "%s", presets[p]);
        sap_batch_destroy(a);
        sap_batch_destroy(b);
    }
    sap_scene_destroy(plain);
    sap_scene_destroy(more);
}

/* ---- worlds that fail ---- */

Test(constraints, a_distance_without_direction_fails_its_world_alone) {
    SapScene *scene = parse(HEAD "bodies: [{id: a, mass: 2, inertia: [1, 1, 1]}]\n"
                                 "joints: [{id: j, type: prismatic, axis: z, parent: world, child: a}]\n"
                                 "constraints: [{id: d, type: distance, body_a: world, point_a: [0, 0, 1], body_b: a, "
                                 "length: 1}]\n");
    SapBatch *batch = create(scene, 5, "approx64");
    double *q = sap_batch_state(batch)->joint_q;
    q[2] = q[3] = 1;
    int32_t *active = array_of(batch, SAP_BATCH_CONSTRAINT_ACTIVE);
    active[3] = 0; /* the other world at that place lets go */
    step(batch, 0.005, 1);
    const uint32_t *status = sap_solver_world_status(sap_batch_solver(batch));
    for (int w = 0; w < 5; w++)
        cr_expect_eq(status[w] & SAP_WORLD_FAILED, w == 2 ? (uint32_t)SAP_WORLD_BAD_CONSTRAINT : 0u, "world %d: %#x", w,
                     status[w]);
    cr_expect_eq(q[2], 1, "keeps its state");
    cr_expect_lt(q[3], 1, "falls");
    cr_expect(q[0] == q[1] && q[1] == q[4]);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* A NaN or an infinity in the control of a tendon stops its world; one that nothing reads does not. */
Test(constraints, bad_control_of_a_tendon_stops_its_world_alone) {
    SapScene *scene = reference("own_tendon_drive");
    const SapModelArrays *m = sap_model_arrays(scene->model);
    static const SapBatchField fields[] = {SAP_BATCH_TENDON_TARGET_POS, SAP_BATCH_TENDON_TARGET_VEL,
                                           SAP_BATCH_TENDON_ACT, SAP_BATCH_TENDON_F};
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int f = 0; f < 4; f++)
        for (int k = 0; k < 3; k++) {
            SapBatch *batch = create(scene, 5, "approx64"), *clean = create(scene, 5, "approx64");
            ((double *)array_of(batch, fields[f]))[2 * m->num_tendons] = bad[k];
            step(batch, 0.005, 3);
            step(clean, 0.005, 3);
            for (int w = 0; w < 5; w++) {
                uint32_t failed = sap_solver_world_status(sap_batch_solver(batch))[w] & SAP_WORLD_FAILED;
                cr_expect_eq(failed, w == 2 ? (uint32_t)SAP_WORLD_NONFINITE_CONTROL : 0u, "field %d: %#x", f, failed);
                size_t bytes = (size_t)m->num_coords * sizeof(double);
                cr_expect_eq(w != 2 && memcmp((char *)sap_batch_state(batch)->joint_q + (size_t)w * bytes,
                                              (char *)sap_batch_state(clean)->joint_q + (size_t)w * bytes, bytes) != 0,
                             0, "world %d has changed", w);
            }
            sap_batch_destroy(batch);
            sap_batch_destroy(clean);
        }
    sap_scene_destroy(scene);
}
