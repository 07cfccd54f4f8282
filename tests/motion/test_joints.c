/* Joints: velocities are rates of poses, biases are rates of velocities, and the mass matrix and forces built on them
 * are Newton's and Euler's. Every joint type, D6 with every pair of axis counts.
 *
 * Two kinds of check: finite differences of what the kernels themselves give at nearby coordinates, and the oracle
 * (oracle.h), an implementation in another arithmetic that shares no formula with them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <criterion/logging.h>

#include "support/oracle.h"
#include "support/random_model.h"
#include "support/worlds.h"

typedef struct Accuracy {
    SapPrecision precision;
    double tolerance;
} Accuracy;

/* The joint of that kind with one before it, so that its frame F moves, and one after it. A free joint is the first. */
static SapModel *model_around(JointKind kind, uint64_t seed) {
    const JointKind before = {SAP_JOINT_REVOLUTE, 0, 0}, after = {SAP_JOINT_BALL, 0, 0};
    if (kind.type == SAP_JOINT_FREE)
        return random_chain(seed, (JointKind[]){kind, before, after}, 3);
    return random_chain(seed, (JointKind[]){before, kind, after}, 3);
}

static void near_enough(double error, double tolerance, const char *what, JointKind kind) {
    cr_expect(error <= tolerance, "%s of a %s joint: error %.3g, allowed %.3g", what, joint_kind_name(kind), error,
              tolerance);
}

/* ---- finite differences ---- */

/* x'(0) from x(-2e), x(-e), x(e), x(2e), to e^4. States of a batch are put in that order after the one in the
 * middle. */
enum { STENCIL = 5, STATES = 3 };
static const double stencil_time[STENCIL] = {0, -2, -1, 1, 2};
static const double stencil_weight[STENCIL] = {0, 1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
static const double stencil_step = 1e-3;

/* World s * STENCIL + k is state s moved by stencil_time[k], exactly and with constant internal velocity. */
static void spread_along_motion(Worlds *w) {
    number *v = malloc((size_t)w->nv * sizeof *v);
    for (int s = 0; s < STATES; s++) {
        const double *q = w->q + s * STENCIL * w->nq, *given = w->v + s * STENCIL * w->nv;
        oracle_internal_velocity(w->m, q, given, v);
        for (int k = 1; k < STENCIL; k++) {
            int world = s * STENCIL + k;
            double *there = w->q + world * w->nq;
            oracle_advance(w->m, q, v, v, stencil_time[k] * stencil_step, ORACLE_EXACT, there);
            oracle_public_velocity(w->m, there, v, w->v + world * w->nv);
        }
    }
    free(v);
}

/* The rate of number i of an array [n][width] along the motion of state s. */
static double rate_of(const double *array, int width, int s, int i) {
    double rate = 0;
    for (int k = 0; k < STENCIL; k++)
        rate += stencil_weight[k] * array[(s * STENCIL + k) * width + i];
    return rate / stencil_step;
}

/* [omega ; v] of body b by differences of its pose: [omega]x = R' R^T */
static void velocity_by_differences(const Worlds *w, int s, int b, double *velocity) {
    number R0[3][3], rate[3][3] = {{0}}, W[3][3] = {{0}};
    for (int k = 0; k < STENCIL; k++) {
        number R[3][3];
        oracle_rotation(w->out.body_pose + ((s * STENCIL + k) * w->nb + b) * 7 + 3, R);
        if (k == 0)
            memcpy(R0, R, sizeof R);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                rate[i][j] += stencil_weight[k] / stencil_step * R[i][j];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                W[i][j] += rate[i][k] * R0[j][k];
    for (int i = 0; i < 3; i++) {
        velocity[i] = (double)(W[(i + 2) % 3][(i + 1) % 3] - W[(i + 1) % 3][(i + 2) % 3]) / 2;
        velocity[3 + i] = rate_of(w->out.body_pose, 7 * w->nb, s, 7 * b + i);
    }
}

static Worlds *batch_along_motion(JointKind kind, const SapOptions *options) {
    Worlds *w = worlds_create(model_around(kind, 11), STATES * STENCIL, options);
    worlds_randomise(w, 12);
    spread_along_motion(w);
    worlds_free_motion(w, 0.01);
    return w;
}

Test(joints, body_velocity_is_the_rate_of_the_pose_for_every_kind_of_joint) {
    SapOptions options = worlds_options(SAP_FP64);
    double worst = 0;
    for (int kind = 0; kind < NUM_JOINT_KINDS; kind++) {
        Worlds *w = batch_along_motion(joint_kinds[kind], &options);
        for (int s = 0; s < STATES; s++)
            for (int b = 0; b < w->nb; b++) {
                double expected[6];
                velocity_by_differences(w, s, b, expected);
                double error = relative_error(w->out.body_velocity + (s * STENCIL * w->nb + b) * 6, expected, 6);
                near_enough(error, 1e-8, "velocity", joint_kinds[kind]);
                worst = fmax(worst, error);
            }
        worlds_destroy(w);
    }
    cr_log_info("body velocity against differences of poses: %.2g\n", worst);
}

/* How far the biases of a model around that joint are from differences of velocities. */
static double bias_error(JointKind kind, const SapOptions *options) {
    Worlds *w = batch_along_motion(kind, options);
    double worst = 0;
    for (int s = 0; s < STATES; s++) {
        double *expected = malloc(6 * (size_t)w->nb * sizeof *expected);
        for (int i = 0; i < 6 * w->nb; i++)
            expected[i] = rate_of(w->out.body_velocity, 6 * w->nb, s, i);
        worst = fmax(worst, relative_error(w->out.body_bias + s * STENCIL * 6 * w->nb, expected, 6 * w->nb));
        free(expected);
    }
    worlds_destroy(w);
    return worst;
}

Test(joints, bias_is_the_rate_of_velocity_at_constant_joint_velocity_for_every_kind_of_joint) {
    SapOptions options = worlds_options(SAP_FP64);
    double worst = 0;
    for (int kind = 0; kind < NUM_JOINT_KINDS; kind++) {
        double error = bias_error(joint_kinds[kind], &options);
        near_enough(error, 1e-8, "bias", joint_kinds[kind]);
        worst = fmax(worst, error);
    }
    cr_log_info("body bias against differences of velocities: %.2g\n", worst);
}

Test(joints, compat_sap_warp_leaves_the_bias_out_for_d6_with_two_or_three_angular_axes_only) {
    SapOptions options = worlds_options(SAP_FP64);
    options.compat = SAP_COMPAT_SAP_WARP;
    for (int kind = 0; kind < NUM_JOINT_KINDS; kind++) {
        double error = bias_error(joint_kinds[kind], &options);
        if (joint_kinds[kind].type == SAP_JOINT_D6 && joint_kinds[kind].nang >= 2)
            cr_expect(error > 1e-2, "%s: the bias is right to %.3g", joint_kind_name(joint_kinds[kind]), error);
        else
            near_enough(error, 1e-8, "bias", joint_kinds[kind]);
    }
}

/* Free motion of the model around that joint, with or without compat. */
static Worlds *moved_with(JointKind kind, SapCompat compat) {
    SapOptions options = worlds_options(SAP_FP64);
    options.compat = compat;
    Worlds *w = worlds_create(model_around(kind, 13), 9, &options);
    worlds_randomise(w, 14);
    worlds_free_motion(w, 0.01);
    return w;
}

Test(joints, compat_sap_warp_changes_nothing_else_where_axes_and_quaternions_are_unit) {
    for (int kind = 0; kind < NUM_JOINT_KINDS; kind++) {
        JointKind joint = joint_kinds[kind];
        Worlds *plain = moved_with(joint, SAP_COMPAT_NONE), *compat = moved_with(joint, SAP_COMPAT_SAP_WARP);
        const SapFreeMotion *a = &compat->out, *b = &plain->out;
        int n = plain->n, nb = plain->nb, nv = plain->nv;
        near_enough(relative_error(a->body_pose, b->body_pose, 7 * n * nb), 1e-14, "pose", joint);
        near_enough(relative_error(a->body_velocity, b->body_velocity, 6 * n * nb), 1e-14, "velocity", joint);
        near_enough(relative_error(a->A, b->A, n * nv * nv), 1e-13, "A", joint);
        if (joint.type != SAP_JOINT_D6 || joint.nang < 2) {
            near_enough(relative_error(a->tau, b->tau, n * nv), 1e-13, "tau", joint);
            near_enough(relative_error(a->v_star, b->v_star, n * nv), 1e-13, "v*", joint);
        }
        worlds_destroy(plain);
        worlds_destroy(compat);
    }
}

/* ---- linearity ---- */

/* World 0 has the velocity v, world 1 + i has velocity 1 in internal dof i alone; all have the coordinates of world
 * 0. */
static void set_unit_velocities(Worlds *w) {
    number *unit = calloc((size_t)w->nv, sizeof *unit);
    for (int i = 0; i < w->nv; i++) {
        memcpy(w->q + (1 + i) * w->nq, w->q, (size_t)w->nq * sizeof *w->q);
        unit[i] = 1;
        oracle_public_velocity(w->m, w->q, unit, w->v + (1 + i) * w->nv);
        unit[i] = 0;
    }
    free(unit);
}

Test(joints, body_velocity_is_J_v_with_columns_from_unit_velocities) {
    const Accuracy accuracy[] = {{SAP_FP64, 1e-13}, {SAP_FP32, 1e-5}};
    for (int a = 0; a < 2; a++)
        for (int kind = 0; kind < NUM_JOINT_KINDS; kind++) {
            SapOptions options = worlds_options(accuracy[a].precision);
            SapModel *model = model_around(joint_kinds[kind], 21);
            Worlds *w = worlds_create(model, 1 + sap_model_arrays(model)->num_dofs, &options);
            worlds_randomise(w, 22);
            set_unit_velocities(w);
            worlds_free_motion(w, 0.01);
            int width = 6 * w->nb;
            double *J_v = calloc((size_t)width, sizeof *J_v);
            for (int i = 0; i < w->nv; i++)
                for (int k = 0; k < width; k++)
                    J_v[k] += w->out.body_velocity[(1 + i) * width + k] * w->out.joint_qd[i];
            near_enough(relative_error(w->out.body_velocity, J_v, width), accuracy[a].tolerance, "J v",
                        joint_kinds[kind]);
            free(J_v);
            worlds_destroy(w);
        }
}

/* ---- the oracle ---- */

/* One world's numbers by the oracle, and as doubles for comparison. */
typedef struct Expected {
    number *v, *joint_f, *A, *tau;
    double *A_f64, *tau_f64, *v_star, *pose, *velocity, *bias, *body_qd;
    number kinetic, potential;
} Expected;

static void expect_bodies(const Worlds *w, const double *q, Expected *e) {
    OracleBody *bodies = malloc((size_t)w->nb * sizeof *bodies);
    oracle_bodies(w->m, q, e->v, bodies);
    for (int b = 0; b < w->nb; b++)
        for (int i = 0; i < 3; i++) {
            e->velocity[6 * b + i] = e->body_qd[6 * b + 3 + i] = (double)bodies[b].omega[i];
            e->velocity[6 * b + 3 + i] = (double)bodies[b].v[i];
            e->body_qd[6 * b + i] = (double)bodies[b].v_C[i];
            e->bias[6 * b + i] = (double)bodies[b].alpha[i];
            e->bias[6 * b + 3 + i] = (double)bodies[b].a[i];
            e->pose[12 * b + i] = (double)bodies[b].x[i];
            for (int j = 0; j < 3; j++)
                e->pose[12 * b + 3 + 3 * i + j] = (double)bodies[b].R[i][j];
        }
    free(bodies);
}

static void *numbers(int n, size_t size) {
    return calloc((size_t)n, size);
}

/* What the bodies of a world do. */
static Expected expect_motion(const Worlds *w, int world) {
    int nv = w->nv, nb = w->nb;
    const double *q = w->q + world * w->nq;
    Expected e = {.v = numbers(nv, sizeof(number)),
                  .pose = numbers(12 * nb, sizeof(double)),
                  .velocity = numbers(6 * nb, sizeof(double)),
                  .bias = numbers(6 * nb, sizeof(double)),
                  .body_qd = numbers(6 * nb, sizeof(double))};
    oracle_internal_velocity(w->m, q, w->v + world * nv, e.v);
    expect_bodies(w, q, &e);
    oracle_energy(w->m, q, e.v, &e.kinetic, &e.potential);
    return e;
}

/* And its A, tau and v*. */
static Expected expect_all(const Worlds *w, int world, double h) {
    int nv = w->nv;
    const double *q = w->q + world * w->nq;
    Expected e = expect_motion(w, world);
    e.joint_f = numbers(nv, sizeof(number));
    e.A = numbers(nv * nv, sizeof(number));
    e.tau = numbers(nv, sizeof(number));
    e.A_f64 = numbers(nv * nv, sizeof(double));
    e.tau_f64 = numbers(nv, sizeof(double));
    e.v_star = numbers(nv, sizeof(double));
    oracle_internal_force(w->m, q, w->joint_f + world * nv, e.joint_f);
    oracle_dynamics(w->m, q, e.v, e.joint_f, w->body_f + world * 6 * w->nb, h, e.A, e.tau);
    for (int i = 0; i < nv * nv; i++)
        e.A_f64[i] = (double)e.A[i];
    for (int i = 0; i < nv; i++)
        e.tau_f64[i] = (double)e.tau[i];
    oracle_solve(e.A, e.tau, nv);
    for (int i = 0; i < nv; i++)
        e.v_star[i] = (double)(e.v[i] + h * e.tau[i]);
    return e;
}

static void expected_free(Expected *e) {
    free(e->v);
    free(e->joint_f);
    free(e->A);
    free(e->tau);
    free(e->A_f64);
    free(e->tau_f64);
    free(e->v_star);
    free(e->pose);
    free(e->velocity);
    free(e->bias);
    free(e->body_qd);
}

/* Poses as position and rotation matrix, so that the sign of a quaternion does not matter. */
static double pose_error(const double *poses, const Expected *e, int nb) {
    double *flat = malloc(12 * (size_t)nb * sizeof *flat);
    for (int b = 0; b < nb; b++) {
        number R[3][3];
        oracle_rotation(poses + 7 * b + 3, R);
        for (int i = 0; i < 3; i++) {
            flat[12 * b + i] = poses[7 * b + i];
            for (int j = 0; j < 3; j++)
                flat[12 * b + 3 + 3 * i + j] = (double)R[i][j];
        }
    }
    double error = relative_error(flat, e->pose, 12 * nb);
    free(flat);
    return error;
}

/* The largest errors seen. Biases are sums of squares of velocities of size 1, so that is their least scale. */
typedef struct Errors {
    double pose, velocity, bias, A, tau, v_star, energy;
} Errors;

static void collect(const Worlds *w, double h, Errors *errors) {
    for (int i = 0; i < w->n; i++) {
        Expected e = expect_all(w, i, h);
        int nv = w->nv, nb = w->nb;
        const SapFreeMotion *o = &w->out;
        errors->pose = fmax(errors->pose, pose_error(o->body_pose + i * 7 * nb, &e, nb));
        errors->velocity = fmax(errors->velocity, relative_error(o->body_velocity + i * 6 * nb, e.velocity, 6 * nb));
        errors->bias = fmax(errors->bias, scaled_error(o->body_bias + i * 6 * nb, e.bias, 6 * nb, 1));
        errors->A = fmax(errors->A, relative_error(o->A + i * nv * nv, e.A_f64, nv * nv));
        errors->tau = fmax(errors->tau, relative_error(o->tau + i * nv, e.tau_f64, nv));
        errors->v_star = fmax(errors->v_star, relative_error(o->v_star + i * nv, e.v_star, nv));
        double energy[2] = {(double)e.kinetic, (double)e.potential};
        errors->energy = fmax(errors->energy, relative_error(o->energy + 2 * i, energy, 2));
        expected_free(&e);
    }
}

static void errors_below(const Errors *errors, double kinematics, double dynamics, double solved) {
    cr_expect(errors->pose <= kinematics, "poses: %.3g", errors->pose);
    cr_expect(errors->velocity <= kinematics, "velocities: %.3g", errors->velocity);
    cr_expect(errors->bias <= kinematics, "biases: %.3g", errors->bias);
    cr_expect(errors->A <= dynamics, "A: %.3g", errors->A);
    cr_expect(errors->tau <= dynamics, "tau: %.3g", errors->tau);
    cr_expect(errors->energy <= dynamics, "energy: %.3g", errors->energy);
    cr_expect(errors->v_star <= solved, "v*: %.3g", errors->v_star);
}

static void log_errors(const char *what, const Errors *e) {
    cr_log_info("%s: pose %.2g velocity %.2g bias %.2g A %.2g tau %.2g energy %.2g v* %.2g\n", what, e->pose,
                e->velocity, e->bias, e->A, e->tau, e->energy, e->v_star);
}

Test(joints, every_kind_of_joint_has_the_motion_and_the_dynamics_of_the_oracle) {
    const double h = 0.01;
    for (int kind = 0; kind < NUM_JOINT_KINDS; kind++) {
        Errors f64 = {0}, f32 = {0};
        SapOptions options = worlds_options(SAP_FP64);
        Worlds *w = worlds_create(model_around(joint_kinds[kind], 31 + (uint64_t)kind), 11, &options);
        worlds_randomise(w, 32);
        worlds_free_motion(w, h);
        collect(w, h, &f64);
        worlds_destroy(w);
        options = worlds_options(SAP_FP32);
        w = worlds_create(model_around(joint_kinds[kind], 31 + (uint64_t)kind), 11, &options);
        worlds_randomise(w, 32);
        worlds_free_motion(w, h);
        collect(w, h, &f32);
        worlds_destroy(w);
        errors_below(&f64, 1e-13, 1e-12, 1e-12);
        errors_below(&f32, 1e-5, 1e-4, 1e-3);
        log_errors(joint_kind_name(joint_kinds[kind]), &f64);
        log_errors("  in f32", &f32);
    }
}

static Errors errors_of_forests(SapPrecision precision) {
    const double h = 0.01;
    Errors errors = {0};
    for (uint64_t seed = 1; seed <= 30; seed++) {
        SapOptions options = worlds_options(precision);
        Worlds *w = worlds_create(random_forest(seed, 1 + (int)(seed % 15)), 3, &options);
        worlds_randomise(w, 100 + seed);
        worlds_free_motion(w, h);
        collect(w, h, &errors);
        worlds_destroy(w);
    }
    return errors;
}

typedef struct ForestAccuracy {
    SapPrecision precision;
    double allowed[3]; /* as of errors_below */
} ForestAccuracy;

ParameterizedTestParameters(joints, random_forests_have_the_motion_and_the_dynamics_of_the_oracle) {
    static ForestAccuracy forests[] = {{SAP_FP64, {1e-13, 1e-12, 1e-11}}, {SAP_FP32, {1e-5, 1e-4, 1e-3}}};
    return cr_make_param_array(ForestAccuracy, forests, 2);
}

ParameterizedTest(const ForestAccuracy *of, joints, random_forests_have_the_motion_and_the_dynamics_of_the_oracle) {
    Errors errors = errors_of_forests(of->precision);
    errors_below(&errors, of->allowed[0], of->allowed[1], of->allowed[2]);
    log_errors(of->precision == SAP_FP64 ? "forests in f64" : "forests in f32", &errors);
}

/* ---- identities ---- */

/* v'(A - armature - h damping) v / 2, everything in internal order. */
static double kinetic_energy_by_A(const Worlds *w, int world, double h) {
    const double *A = w->out.A + world * w->nv * w->nv, *v = w->out.joint_qd + world * w->nv;
    double *armature = malloc((size_t)w->nv * sizeof *armature), twice = 0;
    for (int j = 0; j < w->m->num_joints; j++)
        for (int first = w->m->joint_qd_start[j], i = first; i < w->m->joint_qd_start[j + 1]; i++) {
            int given = w->m->joint_type[j] == SAP_JOINT_FREE ? first + (i - first + 3) % 6 : i;
            armature[i] = w->m->joint_armature[given] + h * w->m->joint_damping[given];
        }
    for (int i = 0; i < w->nv; i++)
        for (int j = 0; j < w->nv; j++)
            twice += v[i] * (A[i * w->nv + j] - (i == j ? armature[i] : 0)) * v[j];
    free(armature);
    return twice / 2;
}

Test(joints, kinetic_energy_is_half_v_H_v_and_A_is_symmetric) {
    const Accuracy accuracy[] = {{SAP_FP64, 1e-12}, {SAP_FP32, 1e-4}};
    const double h = 0.02;
    for (int a = 0; a < 2; a++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            SapOptions options = worlds_options(accuracy[a].precision);
            Worlds *w = worlds_create(random_forest(seed, 10), 9, &options);
            worlds_randomise(w, 200 + seed);
            worlds_free_motion(w, h);
            for (int world = 0; world < w->n; world++) {
                double by_A = kinetic_energy_by_A(w, world, h), by_bodies = w->out.energy[2 * world];
                cr_expect(fabs(by_A - by_bodies) <= accuracy[a].tolerance * by_bodies, "seed %d: %.17g and %.17g",
                          (int)seed, by_A, by_bodies);
                const double *A = w->out.A + world * w->nv * w->nv;
                for (int i = 0; i < w->nv * w->nv; i++)
                    cr_expect_eq(A[i], A[i % w->nv * w->nv + i / w->nv], "seed %d: A[%d] is not symmetric", (int)seed,
                                 i);
            }
            worlds_destroy(w);
        }
}

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* What the forces in a control add to tau: world 0 has all, 1 joint_f only, 2 body_f only, 3 none. */
enum { WITH_BOTH, WITH_JOINT_F, WITH_BODY_F, WITH_NONE, NUM_WITH };

Test(joints, forces_have_the_same_power_in_public_and_in_internal_order) {
    const Accuracy accuracy[] = {{SAP_FP64, 1e-12}, {SAP_FP32, 1e-4}};
    for (int a = 0; a < 2; a++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            SapOptions options = worlds_options(accuracy[a].precision);
            Worlds *w = worlds_create(random_forest(seed, 8), NUM_WITH, &options);
            worlds_randomise(w, 300 + seed);
            int nv = w->nv, nb = w->nb;
            for (int i = 1; i < w->n; i++) {
                memcpy(w->q + i * w->nq, w->q, (size_t)w->nq * sizeof(double));
                memcpy(w->v + i * nv, w->v, (size_t)nv * sizeof(double));
            }
            for (int i = WITH_BODY_F; i < NUM_WITH; i++)
                memset(w->joint_f + i * nv, 0, (size_t)nv * sizeof(double));
            memset(w->body_f + WITH_JOINT_F * 6 * nb, 0, 6 * (size_t)nb * sizeof(double));
            memset(w->body_f + WITH_NONE * 6 * nb, 0, 6 * (size_t)nb * sizeof(double));
            worlds_free_motion(w, 0.01);
            cr_assert_eq(sap_forward_kinematics(w->solver, w->state), SAP_OK);

            double power[NUM_WITH];
            for (int i = 0; i < NUM_WITH; i++)
                power[i] = dot(w->out.tau + i * nv, w->out.joint_qd, nv);
            double joint_power = dot(w->joint_f + WITH_JOINT_F * nv, w->v, nv);
            double body_power = dot(w->body_f + WITH_BODY_F * 6 * nb, w->body_qd, 6 * nb);
            double scale = fabs(power[WITH_NONE]) + 10;
            cr_expect(fabs(power[WITH_JOINT_F] - power[WITH_NONE] - joint_power) <= accuracy[a].tolerance * scale,
                      "seed %d: joint_f", (int)seed);
            cr_expect(fabs(power[WITH_BODY_F] - power[WITH_NONE] - body_power) <= accuracy[a].tolerance * scale,
                      "seed %d: body_f", (int)seed);
            worlds_destroy(w);
        }
}

/* ---- public outputs ---- */

static double body_outputs_error(const Worlds *w) {
    double worst = 0;
    for (int i = 0; i < w->n; i++) {
        Expected e = expect_motion(w, i);
        worst = fmax(worst, pose_error(w->body_q + i * 7 * w->nb, &e, w->nb));
        worst = fmax(worst, relative_error(w->body_qd + i * 6 * w->nb, e.body_qd, 6 * w->nb));
        expected_free(&e);
    }
    return worst;
}

Test(joints, body_q_and_body_qd_are_pose_and_centre_of_mass_velocity_of_every_link) {
    const Accuracy accuracy[] = {{SAP_FP64, 1e-13}, {SAP_FP32, 1e-5}};
    for (int a = 0; a < 2; a++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            SapOptions options = worlds_options(accuracy[a].precision);
            Worlds *w = worlds_create(random_forest(seed, 12), 9, &options);
            worlds_randomise(w, 400 + seed);
            cr_assert_eq(sap_forward_kinematics(w->solver, w->state), SAP_OK);
            double error = body_outputs_error(w);
            cr_expect(error <= accuracy[a].tolerance, "forward kinematics, seed %d: %.3g", (int)seed, error);
            worlds_step(w, 0.01, 1); /* the bodies belong to the new state, as stored */
            error = body_outputs_error(w);
            cr_expect(error <= accuracy[a].tolerance, "step, seed %d: %.3g", (int)seed, error);
            worlds_destroy(w);
        }
}
