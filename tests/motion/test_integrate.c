/* Integration: the two maps from velocities to coordinates, and the order at which what should be conserved is.
 *
 * The velocity of a step comes from accelerations at its beginning, v1 = v0 + h a(q0, v0), whatever the map. So both
 * maps give first-order trajectories. midpoint is exact where accelerations are constant, in free fall and steady
 * rotation, and adds energy to oscillations. sap_euler adds none to those of forces of the coordinates, and is of second
 * order half a step apart, if velocity forces are those of the mean velocity (docs/joints.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/logging.h>

#include "support/model_parts.h"
#include "support/need.h"
#include "support/oracle.h"
#include "support/random_model.h"
#include "support/worlds.h"

enum { WORLDS = 11 };

static const char *const map_names[] = {"midpoint", "sap_euler"};

static SapOptions options_of(SapPrecision precision, SapPositionIntegration map) {
    SapOptions options = worlds_options(precision);
    options.position_integration = map;
    return options;
}

/* ---- the maps ---- */

/* The largest difference of the coordinates of a step from the map applied to v0 and v*. */
static double map_error(SapModel *model, SapPrecision precision, SapPositionIntegration map, uint64_t seed) {
    const double h = 0.02;
    SapOptions options = options_of(precision, map);
    Worlds *w = worlds_create(model, WORLDS, &options);
    worlds_randomise(w, seed);
    worlds_free_motion(w, h);
    double *expected = malloc((size_t)(w->n * w->nq + 1) * sizeof *expected);
    number *v0 = malloc((size_t)w->nv * sizeof *v0), *v1 = malloc((size_t)w->nv * sizeof *v1);
    for (int world = 0; world < w->n; world++) {
        for (int i = 0; i < w->nv; i++) {
            v0[i] = w->out.joint_qd[world * w->nv + i];
            v1[i] = w->out.v_star[world * w->nv + i];
        }
        oracle_advance(w->m, w->q + world * w->nq, v0, v1, h, map == SAP_EULER ? ORACLE_EULER : ORACLE_MIDPOINT,
                       expected + world * w->nq);
    }
    worlds_step(w, h, 1);
    double error = relative_error(w->q, expected, w->n * w->nq);
    free(expected);
    free(v0);
    free(v1);
    worlds_destroy(w);
    return error;
}

Test(integrate, every_kind_of_joint_advances_by_the_map_that_was_asked_for) {
    for (SapPositionIntegration map = SAP_MIDPOINT; map <= SAP_EULER; map++)
        for (int kind = 0; kind < NUM_JOINT_KINDS; kind++) {
            JointKind kinds[2] = {joint_kinds[kind], {SAP_JOINT_REVOLUTE, 0, 0}};
            double f64 = map_error(random_chain(1, kinds, 2), SAP_FP64, map, 2);
            double f32 = map_error(random_chain(1, kinds, 2), SAP_FP32, map, 2);
            cr_expect(f64 < 1e-15, "%s, %s: %.3g", map_names[map], joint_kind_name(joint_kinds[kind]), f64);
            cr_expect(f32 < 1e-6, "%s, %s, f32: %.3g", map_names[map], joint_kind_name(joint_kinds[kind]), f32);
        }
}

/* ---- steady rotation ---- */

/* A ball in one of two ways, turning at a constant rate about an axis that is no coordinate axis. */
static SapModel *steady_top(SapJointType type, const double *omega) {
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, type, 0, 0);
    memset(parts.gravity, 0, sizeof parts.gravity);
    memcpy(parts.qd + (type == SAP_JOINT_FREE ? 3 : 0), omega, 3 * sizeof *omega);
    return parts_model(&parts);
}

/* The angle that a quaternion (with axis n) has turned, in (-pi, pi]. */
static double angle_of(const double *quaternion, const double *n) {
    double sine = quaternion[0] * n[0] + quaternion[1] * n[1] + quaternion[2] * n[2];
    return remainder(2 * atan2(sine, quaternion[3]), 2 * M_PI);
}

static void check_steady_rotation(SapPrecision precision, SapPositionIntegration map, SapJointType type) {
    const double axis[3] = {0.48, 0.6, 0.64}, rate = 7, h = 0.02, omega[3] = {0.48 * 7, 0.6 * 7, 0.64 * 7};
    const int steps = 200;
    double per_step = map == SAP_MIDPOINT ? h * rate : 2 * atan(h * rate / 2);
    double tolerance = steps * (precision == SAP_FP64 ? 4e-16 : 2e-7);
    SapOptions options = options_of(precision, map);
    Worlds *w = worlds_create(steady_top(type, omega), WORLDS, &options);
    worlds_step(w, h, steps);
    for (int world = 0; world < w->n; world++) {
        double angle = angle_of(w->q + (world + 1) * w->nq - 4, axis);
        double error = remainder(angle - steps * per_step, 2 * M_PI);
        cr_expect(fabs(error) < tolerance, "%s, f%d, joint type %d: off by %.3g after %d steps", map_names[map],
                  precision == SAP_FP64 ? 64 : 32, (int)type, error, steps);
    }
    worlds_destroy(w);
}

Test(integrate, midpoint_turns_at_a_constant_rate_by_exactly_h_w_per_step) {
    for (SapPrecision precision = SAP_FP32; precision <= SAP_FP64; precision++) {
        check_steady_rotation(precision, SAP_MIDPOINT, SAP_JOINT_FREE);
        check_steady_rotation(precision, SAP_MIDPOINT, SAP_JOINT_BALL);
    }
}

Test(integrate, sap_euler_turns_at_a_constant_rate_by_two_atan_of_half_h_w_per_step) {
    for (SapPrecision precision = SAP_FP32; precision <= SAP_FP64; precision++) {
        check_steady_rotation(precision, SAP_EULER, SAP_JOINT_FREE);
        check_steady_rotation(precision, SAP_EULER, SAP_JOINT_BALL);
    }
}

Test(integrate, quaternions_stay_unit) {
    for (SapPrecision precision = SAP_FP32; precision <= SAP_FP64; precision++)
        for (SapPositionIntegration map = SAP_MIDPOINT; map <= SAP_EULER; map++) {
            SapOptions options = options_of(precision, map);
            const JointKind kinds[] = {{SAP_JOINT_FREE, 0, 0}, {SAP_JOINT_BALL, 0, 0}};
            Worlds *w = worlds_create(random_chain(3, kinds, 2), WORLDS, &options);
            worlds_randomise(w, 4);
            memset(w->joint_f, 0, (size_t)(w->n * w->nv) * sizeof(double));
            memset(w->body_f, 0, (size_t)(w->n * 6 * w->nb) * sizeof(double));
            worlds_step(w, 0.005, 500);
            const int at[] = {3, 7}; /* of the free joint, of the ball */
            for (int world = 0; world < w->n; world++)
                for (int k = 0; k < 2; k++) {
                    const double *q = w->q + world * w->nq + at[k];
                    double defect = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1;
                    cr_expect(fabs(defect) < (precision == SAP_FP64 ? 4e-16 : 2e-7), "%s: |q| - 1 = %.3g",
                              map_names[map], defect);
                }
            worlds_destroy(w);
        }
}

Test(integrate, a_body_at_rest_keeps_its_pose) {
    const double zero[3] = {0};
    for (SapPrecision precision = SAP_FP32; precision <= SAP_FP64; precision++)
        for (SapPositionIntegration map = SAP_MIDPOINT; map <= SAP_EULER; map++) {
            SapOptions options = options_of(precision, map);
            Worlds *w = worlds_create(steady_top(SAP_JOINT_FREE, zero), WORLDS, &options);
            const double pose[7] = {0.5, -0.25, 2, 0.5, -0.5, 0.5, 0.5};
            for (int world = 0; world < w->n; world++)
                memcpy(w->q + world * 7, pose, sizeof pose);
            worlds_step(w, 0.01, 100);
            for (int world = 0; world < w->n; world++)
                for (int i = 0; i < 7; i++)
                    cr_expect_eq(w->q[world * 7 + i], pose[i]);
            worlds_destroy(w);
        }
}

/* ---- energy of free fall ---- */

Test(integrate, midpoint_keeps_the_energy_of_free_fall_and_sap_euler_loses_half_m_g2_h2_per_step) {
    const double h = 0.01, g = 9.81, mass = 1;
    const int steps = 100;
    for (SapPositionIntegration map = SAP_MIDPOINT; map <= SAP_EULER; map++) {
        ModelParts parts;
        parts_init(&parts);
        parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
        static const double qd[6] = {0.3, 0.2, 4, 1, 1, 1}; /* all axes of the body are principal */
        memcpy(parts.qd, qd, sizeof qd);
        SapOptions options = options_of(SAP_FP64, map);
        Worlds *w = worlds_create(parts_model(&parts), WORLDS, &options);
        worlds_free_motion(w, h);
        double before = w->out.energy[0] + w->out.energy[1];
        worlds_step(w, h, steps);
        worlds_free_motion(w, h);
        double expected = map == SAP_MIDPOINT ? 0 : -mass * g * g * h * h / 2 * steps;
        for (int world = 0; world < w->n; world++) {
            double gained = w->out.energy[2 * world] + w->out.energy[2 * world + 1] - before;
            cr_expect(fabs(gained - expected) < 1e-11, "%s gains %.6g J, not %.6g", map_names[map], gained, expected);
        }
        worlds_destroy(w);
    }
}

/* ---- energy of an oscillation ---- */

/* How high a pendulum of 1 m, released at 1 rad, still swings after 7.5 to 10 s in steps of 5 ms: the largest potential
 * energy above its lowest point, relative to the energy at the release. */
static double swing_left(SapPrecision precision, SapPositionIntegration map) {
    const double h = 0.005, length = 1, start = 1;
    const int steps = 2000;
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_REVOLUTE, 0, 0);
    parts_set_axis(&parts, 0, 0, 1, 0);
    parts_set_com(&parts, 0, 0, 0, -length);
    parts_set_inertia(&parts, 0, 1e-6, 1e-6, 1e-6);
    parts.q[0] = start;
    SapOptions options = options_of(precision, map);
    Worlds *w = worlds_create(parts_model(&parts), 1, &options);
    double height = 0;
    for (int step = 0; step < steps; step++) {
        worlds_step(w, h, 1);
        if (step >= steps * 3 / 4)
            height = fmax(height, 1 - cos(w->q[0]));
    }
    worlds_destroy(w);
    return height / (1 - cos(start));
}

/* The linear map of a step of midpoint has the determinant 1 + h^2 w^2/2, which is the gain of energy; w is the rate of
 * a small swing, 6 % above a swing of 1 rad. The map of sap_euler has the determinant 1. */
Test(integrate, a_pendulum_keeps_its_energy_with_sap_euler_and_gains_a_fifth_with_midpoint) {
    for (SapPrecision precision = SAP_FP32; precision <= SAP_FP64; precision++) {
        double euler = swing_left(precision, SAP_EULER), midpoint = swing_left(precision, SAP_MIDPOINT);
        cr_expect(fabs(euler - 1) < 0.001, "sap_euler: %.5f", euler);
        cr_expect(midpoint > 1.2, "midpoint: %.5f", midpoint);
    }
}

/* ---- orders ---- */

/* Slope of log(error) over log(h), by least squares. */
static double fitted_slope(const double *h, const double *error, int n) {
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < n; i++) {
        double a = log(h[i]), b = log(error[i]);
        x += a;
        y += b;
        xx += a * a;
        xy += a * b;
    }
    return (n * xy - x * y) / (n * xx - x * x);
}

/* How much of what a system should conserve is lost until end_time in steps of h. */
typedef double Loss(SapPrecision precision, SapPositionIntegration map, double h);

static void check_slope(Loss *loss, const char *what, SapPrecision precision, SapPositionIntegration map,
                        double expected, double tolerance) {
    enum { SIZES = 6 };
    double h[SIZES], error[SIZES];
    int first = precision == SAP_FP64 ? 8 : 5; /* in f32 rounding would show in finer steps */
    for (int i = 0; i < SIZES; i++) {
        h[i] = ldexp(1, -(first + i));
        error[i] = loss(precision, map, h[i]);
    }
    double slope = fitted_slope(h, error, SIZES);
    cr_log_info("%s, %s, f%d: slope %.3f, error %.3g at h = 2^-%d\n", what, map_names[map],
                precision == SAP_FP64 ? 64 : 32, slope, error[SIZES - 1], first + SIZES - 1);
    cr_expect(fabs(slope - expected) < tolerance, "%s, %s, f%d: slope %.3f, not %.2f", what, map_names[map],
              precision == SAP_FP64 ? 64 : 32, slope, expected);
}

static const double end_time = 1;

static SapModel *asymmetric_top(const double *com) {
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    memset(parts.gravity, 0, sizeof parts.gravity);
    parts_set_inertia(&parts, 0, 0.1, 0.2, 0.25);
    parts_set_com(&parts, 0, com[0], com[1], com[2]);
    static const double qd[6] = {0.2, -0.1, 0.3, 1.5, 2, -1};
    memcpy(parts.qd, qd, sizeof qd);
    return parts_model(&parts);
}

/* R I R' omega of the first world */
static void angular_momentum(const Worlds *w, number *L) {
    number R[3][3], in_body[3] = {0};
    oracle_rotation(w->q + 3, R);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            in_body[i] += R[j][i] * w->v[3 + j];
        in_body[i] *= w->m->body_inertia[4 * i];
    }
    for (int i = 0; i < 3; i++) {
        L[i] = 0;
        for (int j = 0; j < 3; j++)
            L[i] += R[i][j] * in_body[j];
    }
}

static double momentum_loss_of(const double *com, SapPrecision precision, SapPositionIntegration map, double h) {
    SapOptions options = options_of(precision, map);
    Worlds *w = worlds_create(asymmetric_top(com), 1, &options);
    number before[3], after[3], square = 0;
    angular_momentum(w, before);
    worlds_step(w, h, (int)(end_time / h));
    angular_momentum(w, after);
    for (int i = 0; i < 3; i++)
        square += (after[i] - before[i]) * (after[i] - before[i]);
    worlds_destroy(w);
    return (double)sqrtl(square);
}

static double momentum_loss(SapPrecision precision, SapPositionIntegration map, double h) {
    return momentum_loss_of((const double[3]){0, 0, 0}, precision, map, h);
}

static double momentum_loss_with_offset(SapPrecision precision, SapPositionIntegration map, double h) {
    return momentum_loss_of((const double[3]){0.1, 0.05, -0.2}, precision, map, h);
}

Test(integrate, an_asymmetric_top_conserves_angular_momentum_at_first_order_with_both_maps) {
    for (SapPositionIntegration map = SAP_MIDPOINT; map <= SAP_EULER; map++) {
        check_slope(momentum_loss, "angular momentum", SAP_FP64, map, 1, 0.05);
        check_slope(momentum_loss, "angular momentum", SAP_FP32, map, 1, 0.1);
        check_slope(momentum_loss_with_offset, "angular momentum, offset centre", SAP_FP64, map, 1, 0.05);
    }
}

static SapModel *double_pendulum(void) {
    ModelParts parts;
    parts_init(&parts);
    for (int l = 0; l < 2; l++) {
        parts_add(&parts, l - 1, SAP_JOINT_REVOLUTE, 0, 0);
        parts_set_axis(&parts, l, 0, 1, 0);
        parts_set_com(&parts, l, 0, 0, -0.25);
        parts_set_inertia(&parts, l, 0.02, 0.02, 0.001 * (l + 20));
    }
    parts.X_p[1][2] = -0.5;
    parts.q[0] = 1;
    parts.q[1] = 0.5;
    return parts_model(&parts);
}

/* The largest departure of the energy on the way: at one instant it may be small by chance. */
static double energy_loss(SapPrecision precision, SapPositionIntegration map, double h) {
    SapOptions options = options_of(precision, map);
    Worlds *w = worlds_create(double_pendulum(), 1, &options);
    worlds_free_motion(w, h);
    double before = w->out.energy[0] + w->out.energy[1], worst = 0;
    for (int step = 0; step < (int)(end_time / h); step++) {
        worlds_step(w, h, 1);
        worlds_free_motion(w, h);
        worst = fmax(worst, fabs(w->out.energy[0] + w->out.energy[1] - before));
    }
    worlds_destroy(w);
    return worst;
}

Test(integrate, the_energy_of_a_double_pendulum_drifts_at_first_order_with_both_maps) {
    for (SapPositionIntegration map = SAP_MIDPOINT; map <= SAP_EULER; map++) {
        check_slope(energy_loss, "energy", SAP_FP64, map, 1, 0.05);
        check_slope(energy_loss, "energy", SAP_FP32, map, 1, 0.2);
    }
}

/* ---- velocity forces of the mean velocity ---- */

/* sap_euler is the splitting of a step into a kick at constant coordinates and a drift at constant velocity. Between two
 * half drifts it is symmetric, and second order if the kick is: with velocity_forces = mean. Such a run is one of
 * sap_euler that begins half a drift late and goes half a drift back at its end. */

/* Without damping, which is implicit and of first order; and with the origins of free bodies in their centres of mass:
 * the implicit gyroscopic torque moves the latter at constant velocity, not the former. */
static SapModel *ideal_copy(const SapModel *model) {
    SapModelArrays arrays = *sap_model_arrays(model);
    double *zero = calloc((size_t)arrays.num_dofs + 1, sizeof *zero);
    arrays.joint_damping = zero;
    double *com = malloc(3 * (size_t)arrays.num_bodies * sizeof *com);
    memcpy(com, arrays.body_com, 3 * (size_t)arrays.num_bodies * sizeof *com);
    for (int j = 0; j < arrays.num_joints; j++)
        if (arrays.joint_type[j] == SAP_JOINT_FREE)
            memset(com + 3 * arrays.joint_child[j], 0, 3 * sizeof *com);
    arrays.body_com = com;
    SapModel *out = NULL;
    need(sap_model_create(&arrays, &out));
    free(zero);
    free(com);
    return out;
}

/* Moves all coordinates for time at constant velocity, in internal order. */
static void drift(Worlds *w, double time) {
    double *q1 = malloc((size_t)w->nq * sizeof *q1);
    number *u = malloc((size_t)w->nv * sizeof *u);
    for (int world = 0; world < w->n; world++) {
        double *q = w->q + world * w->nq, *v = w->v + world * w->nv;
        oracle_internal_velocity(w->m, q, v, u);
        oracle_advance(w->m, q, u, u, time, ORACLE_EULER, q1);
        oracle_public_velocity(w->m, q1, u, v);
        memcpy(q, q1, (size_t)w->nq * sizeof *q);
    }
    free(q1);
    free(u);
}

/* The slope of the change of q over h when h is halved: q of steps of h, h/2 and h/4, after an eighth of a second. */
static double order_of(const SapModel *model, SapVelocityForces forces, SapGyroscopic gyroscopic) {
    double change[2] = {0}, *last = NULL;
    for (int k = 0; k < 3; k++) {
        int steps = 64 << k;
        double h = 0.125 / steps;
        SapOptions options = options_of(SAP_FP64, SAP_EULER);
        options.velocity_forces = forces;
        options.gyroscopic = gyroscopic;
        Worlds *w = worlds_create(ideal_copy(model), 3, &options);
        worlds_randomise(w, 6);
        drift(w, h / 2);
        worlds_step(w, h, steps);
        drift(w, -h / 2);
        if (k == 0)
            last = malloc((size_t)(w->n * w->nq) * sizeof *last);
        for (int i = 0; i < w->n * w->nq; i++) {
            if (k > 0)
                change[k - 1] += fabs(w->q[i] - last[i]);
            last[i] = w->q[i];
        }
        worlds_destroy(w);
    }
    free(last);
    return log2(change[0] / change[1]);
}

Test(integrate, sap_euler_with_forces_of_the_mean_velocity_is_second_order_half_a_step_apart_for_every_joint) {
    for (int kind = 0; kind < NUM_JOINT_KINDS; kind++)
        for (int first = 0; first < 2; first++) {
            JointKind other = {SAP_JOINT_REVOLUTE, 0, 0}, ball = {SAP_JOINT_BALL, 0, 0};
            if (!first && joint_kinds[kind].type == SAP_JOINT_FREE)
                continue; /* only the first joint may be free */
            JointKind kinds[3] = {first ? joint_kinds[kind] : other, first ? other : joint_kinds[kind], ball};
            SapModel *model = random_chain(5, kinds, 3);
            for (int g = SAP_GYROSCOPIC_EXPLICIT; g <= SAP_GYROSCOPIC_IMPLICIT; g++) {
                double start = order_of(model, SAP_VELOCITY_OF_START, (SapGyroscopic)g);
                double mean = order_of(model, SAP_VELOCITY_MEAN, (SapGyroscopic)g);
                cr_expect(fabs(mean - 2) < 0.15, "%s, gyroscopic %d: order %.3f", joint_kind_name(joint_kinds[kind]), g,
                          mean);
                cr_expect(start < 1.5, "%s, gyroscopic %d, forces of the start: order %.3f",
                          joint_kind_name(joint_kinds[kind]), g, start);
            }
            sap_model_destroy(model);
        }
}

/* Ten seconds of 5 ms of a double pendulum that swings over the top. */
Test(integrate, forces_of_the_mean_velocity_keep_the_energy_of_a_double_pendulum) {
    double gain[2];
    for (int forces = SAP_VELOCITY_OF_START; forces <= SAP_VELOCITY_MEAN; forces++) {
        SapOptions options = options_of(SAP_FP64, SAP_EULER);
        options.velocity_forces = (SapVelocityForces)forces;
        Worlds *w = worlds_create(double_pendulum(), 1, &options);
        w->q[0] = 2.5;
        double resting[2] = {0}, start[2] = {w->q[0], w->q[1]};
        memcpy(w->q, resting, sizeof resting);
        worlds_free_motion(w, 0.005);
        double lowest = w->out.energy[1];
        memcpy(w->q, start, sizeof start);
        worlds_free_motion(w, 0.005);
        double before = w->out.energy[0] + w->out.energy[1] - lowest;
        worlds_step(w, 0.005, 2000);
        worlds_free_motion(w, 0.005);
        gain[forces] = (w->out.energy[0] + w->out.energy[1] - lowest) / before - 1;
        worlds_destroy(w);
    }
    cr_expect(fabs(gain[SAP_VELOCITY_MEAN]) < 0.02, "mean: %.4f", gain[SAP_VELOCITY_MEAN]);
    cr_expect(fabs(gain[SAP_VELOCITY_OF_START]) > 0.2, "start: %.4f", gain[SAP_VELOCITY_OF_START]);
}
