/* The gyroscopic torque. Implicit: a free spin never gains energy, at any rate, and is second order in body axes.
 * Explicit: a spin that gains energy is reported. */
#include <float.h>
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/model_parts.h"
#include "support/need.h"

/* ---- a body that spins ---- */

typedef struct Spin {
    SapJointType type; /* free or ball */
    double moments[3]; /* kg m^2 */
    double com[3];     /* m */
    double omega[3];   /* rad/s */
} Spin;

static const double shapes[][3] = {
    {0.25, 0.25, 0.5}, {1, 2, 2.5}, {0.1, 1, 1.1}, {0.01, 1, 1}}; /* disc, box, plate, rod */
enum { NUM_SHAPES = sizeof shapes / sizeof *shapes };

/* A body of 1 kg without gravity, its centre of mass at rest if it is free. */
static SapModel *spin_model(const Spin *s) {
    ModelParts parts;
    parts_init(&parts);
    memset(parts.gravity, 0, sizeof parts.gravity);
    parts_add(&parts, -1, s->type, 0, 0);
    parts_set_inertia(&parts, 0, s->moments[0], s->moments[1], s->moments[2]);
    parts_set_com(&parts, 0, s->com[0], s->com[1], s->com[2]);
    memcpy(parts.qd + (s->type == SAP_JOINT_FREE ? 3 : 0), s->omega, sizeof s->omega);
    return parts_model(&parts);
}

static SapOptions spin_options(const char *preset, SapPositionIntegration integration, SapGyroscopic gyroscopic) {
    SapOptions o;
    need(sap_options_preset(preset, &o));
    o.position_integration = integration;
    o.gyroscopic = gyroscopic;
    o.threads = 1;
    return o;
}

static SapBatch *spin_batch(const Spin *s, const SapOptions *options) {
    SapModel *model = spin_model(s);
    SapBatch *batch = NULL;
    need(sap_batch_create_as(model, 1, options, SAP_F64, &batch));
    sap_model_destroy(model);
    return batch;
}

static double kinetic_energy(const SapBatch *batch) {
    double energy[2];
    SapFreeMotion out = {.energy = energy};
    need(sap_free_motion(sap_batch_solver(batch), sap_batch_state(batch), NULL, 0.01, &out));
    return energy[0];
}

static uint32_t status_of(const SapBatch *batch) {
    return sap_solver_world_status(sap_batch_solver(batch))[0];
}

/* Every shape and axis at a rate, nearly about a principal axis. */
static Spin spin_of(SapJointType type, int shape, int axis, double rate) {
    Spin s = {.type = type, .com = {0.02, -0.01, 0.03}};
    memcpy(s.moments, shapes[shape], sizeof s.moments);
    for (int i = 0; i < 3; i++)
        s.omega[i] = i == axis ? rate : 0.05 * rate;
    return s;
}

/* ---- energy ---- */

static void check_energy(const Spin *s, const char *preset, SapPositionIntegration integration, double h, double eps) {
    SapOptions o = spin_options(preset, integration, SAP_GYROSCOPIC_IMPLICIT);
    SapBatch *batch = spin_batch(s, &o);
    double turn = h * fmax(fabs(s->omega[0]), fmax(fabs(s->omega[1]), fabs(s->omega[2])));
    double slack = 64 * eps * (1 + turn) * s->moments[2] / s->moments[0], energy = kinetic_energy(batch);
    for (int step = 0; step < 200; step++) {
        need(sap_batch_step(batch, h, 1));
        double next = kinetic_energy(batch);
        cr_assert_eq(status_of(batch), 0u, "status %#x", (unsigned)status_of(batch));
        cr_assert(next <= energy * (1 + slack), "%s, joint type %d, omega (%g, %g, %g), h %g: step %d gains %g", preset,
                  (int)s->type, s->omega[0], s->omega[1], s->omega[2], h, step, next / energy - 1);
        energy = next;
    }
    sap_batch_destroy(batch);
}

/* The slack is the rounding of a step: some ulps of the velocity and of the explicit torque that is replaced, which is
 * h |omega| times as large, times the condition number of the inertia. */
Test(gyroscopic, an_implicit_spin_never_gains_energy) {
    static const double rates[] = {2, 20, 200, 1000, 1e4};
    static const SapJointType types[] = {SAP_JOINT_FREE, SAP_JOINT_BALL};
    for (int i = 0; i < 2 * NUM_SHAPES * 3 * 5; i++) {
        Spin s = spin_of(types[i % 2], i / 2 % NUM_SHAPES, i / 2 / NUM_SHAPES % 3, rates[i / 2 / NUM_SHAPES / 3]);
        for (SapPositionIntegration map = SAP_MIDPOINT; map <= SAP_EULER; map++) {
            check_energy(&s, "approx64", map, 0.01, DBL_EPSILON);
            check_energy(&s, "approx32", map, 0.002, FLT_EPSILON);
        }
    }
}

/* A disc with a wobble at 200 and 1000 rad/s, for ten seconds. */
Test(gyroscopic, an_implicit_disc_keeps_its_energy_where_the_explicit_one_explodes) {
    for (int k = 0; k < 2; k++) {
        Spin s = spin_of(SAP_JOINT_FREE, 0, 2, k ? 1000 : 200);
        double energy[2];
        for (int g = SAP_GYROSCOPIC_EXPLICIT; g <= SAP_GYROSCOPIC_IMPLICIT; g++) {
            SapOptions o = spin_options("approx64", SAP_EULER, (SapGyroscopic)g);
            SapBatch *batch = spin_batch(&s, &o);
            double before = kinetic_energy(batch);
            need(sap_batch_step(batch, 0.002, g ? 5000 : 100));
            energy[g] = kinetic_energy(batch) / before;
            sap_batch_destroy(batch);
        }
        cr_expect(energy[0] > 1.5, "explicit: %g", energy[0]);
        cr_expect(energy[1] > 0.99 && energy[1] < 1 + 1e-10, "implicit: %g", energy[1]);
    }
}

/* A disc and a box with a wobble, ten thousand steps. The roundings of a step are independent, so that their sum grows
 * with the root of the number of steps; four of them are what three components and their axes add up to. A rule that
 * lowers the energy wherever rounding has raised it loses a part of eps in every step, ten times as much. */
Test(gyroscopic, an_implicit_spin_loses_no_more_energy_than_rounding) {
    const int steps = 10000;
    for (int k = 0; k < 8; k++) {
        Spin s = spin_of(k % 2 ? SAP_JOINT_BALL : SAP_JOINT_FREE, k / 4, k / 2 % 2 + 1, 8);
        double eps[] = {DBL_EPSILON, FLT_EPSILON};
        for (int p = 0; p < 2; p++) {
            SapOptions o = spin_options(p ? "approx32" : "approx64", SAP_EULER, SAP_GYROSCOPIC_IMPLICIT);
            SapBatch *batch = spin_batch(&s, &o);
            double before = kinetic_energy(batch);
            need(sap_batch_step(batch, 0.001, steps));
            double gain = kinetic_energy(batch) / before - 1;
            cr_expect(fabs(gain) < 4 * sqrt(steps) * eps[p], "case %d, %s: %.3g", k, p ? "f32" : "f64", gain);
            sap_batch_destroy(batch);
        }
    }
}

/* Its momentum is zero: the centre of mass, beside the origin of the body, stays at rest and where it is. */
Test(gyroscopic, an_implicit_free_spin_leaves_its_centre_of_mass_at_rest) {
    for (SapPositionIntegration map = SAP_MIDPOINT; map <= SAP_EULER; map++) {
        Spin s = spin_of(SAP_JOINT_FREE, 1, 0, 300);
        SapOptions o = spin_options("approx64", map, SAP_GYROSCOPIC_IMPLICIT);
        SapBatch *batch = spin_batch(&s, &o);
        need(sap_batch_step(batch, 0.01, 500));
        const double *v = sap_batch_state(batch)->joint_qd;
        cr_expect(fabs(v[0]) + fabs(v[1]) + fabs(v[2]) < 1e-9, "v_C is (%g, %g, %g)", v[0], v[1], v[2]);
        sap_batch_destroy(batch);
    }
}

/* ---- accuracy ---- */

static void euler_rate(const double *J, const double *w, double *out) {
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        out[i] = (J[a] - J[b]) / J[i] * w[a] * w[b];
    }
}

/* Euler's equations in body axes for `time` seconds, by the classical Runge-Kutta method. */
static void solve_euler(const double *J, double time, double *w) {
    int steps = (int)fmax(1, 20000 * time);
    double h = time / steps;
    for (int step = 0; step < steps; step++) {
        static const double weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}, reach[4] = {0.5, 0.5, 1, 0};
        double at[3], rate[3], sum[3] = {0};
        memcpy(at, w, sizeof at);
        for (int k = 0; k < 4; k++) {
            euler_rate(J, at, rate);
            for (int i = 0; i < 3; i++) {
                sum[i] += h * weight[k] * rate[i];
                at[i] = w[i] + h * reach[k] * rate[i];
            }
        }
        for (int i = 0; i < 3; i++)
            w[i] += sum[i];
    }
}

/* omega in body axes: R' omega. */
static void to_body(const double *q, const double *v, double *out) {
    double t[3];
    for (int i = 0; i < 3; i++)
        t[i] = 2 * (v[(i + 1) % 3] * q[(i + 2) % 3] - v[(i + 2) % 3] * q[(i + 1) % 3]);
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + q[3] * t[i] + (t[(i + 1) % 3] * q[(i + 2) % 3] - t[(i + 2) % 3] * q[(i + 1) % 3]);
}

/* The times at which the body's rate about its second axis changes sign, until `time` seconds; returns their number. */
static int flips_of(const Spin *s, const char *preset, SapPositionIntegration integration, SapGyroscopic gyroscopic,
                    double h, double time, double *out, int capacity) {
    SapOptions o = spin_options(preset, integration, gyroscopic);
    SapBatch *batch = spin_batch(s, &o);
    const double *q = sap_batch_state(batch)->joint_q, *v = sap_batch_state(batch)->joint_qd;
    double rate = s->omega[1];
    int count = 0;
    for (int step = 0; step < (int)(time / h + 0.5); step++) {
        need(sap_batch_step(batch, h, 1));
        double w[3];
        to_body(q + 3, v + 3, w);
        if (w[1] * rate < 0 && count < capacity)
            out[count++] = h * (step + rate / (rate - w[1]));
        rate = w[1];
    }
    sap_batch_destroy(batch);
    return count;
}

/* The same by Euler's equations. */
static int exact_flips(const Spin *s, double time, double *out, int capacity) {
    const double h = 1e-3;
    double w[3], before;
    int count = 0;
    memcpy(w, s->omega, sizeof w);
    for (int step = 0; step < (int)(time / h + 0.5); step++) {
        before = w[1];
        solve_euler(s->moments, h, w);
        if (w[1] * before < 0 && count < capacity)
            out[count++] = h * (step + before / (before - w[1]));
    }
    return count;
}

/* A body with moments 1 : 2 : 3 that spins about its middle axis at 8 rad/s, 0.07 rad off: it turns over and back.
 * Near that axis errors grow by exp(4.6 t) between flips, and a flip takes part of the growth back. */
Test(gyroscopic, an_implicit_spin_about_the_middle_axis_flips_when_eulers_equations_do) {
    enum { MOST = 8 };
    const double h = 1e-3, time = 9;
    Spin s = {.type = SAP_JOINT_FREE, .moments = {1, 2, 3}, .omega = {0.4, 8, 0.4}};
    double exact[MOST], found[MOST];
    int flips = exact_flips(&s, time, exact, MOST);
    cr_assert_eq(flips, 5);
    for (SapPositionIntegration map = SAP_MIDPOINT; map <= SAP_EULER; map++)
        for (int f32 = 0; f32 < 2; f32++) {
            const char *preset = f32 ? "approx32" : "approx64";
            double tolerance = f32 ? 2 * h : h / 100;
            cr_assert_eq(flips_of(&s, preset, map, SAP_GYROSCOPIC_IMPLICIT, h, time, found, MOST), flips);
            for (int i = 0; i < flips; i++)
                cr_expect(fabs(found[i] - exact[i]) < tolerance, "%s, map %d: flip %d at %.6f, not %.6f s", preset,
                          (int)map, i, found[i], exact[i]);
        }
}

/* The error of omega in body axes after a second. */
static double omega_error(const Spin *s, SapPositionIntegration integration, int steps) {
    SapOptions o = spin_options("approx64", integration, SAP_GYROSCOPIC_IMPLICIT);
    SapBatch *batch = spin_batch(s, &o);
    need(sap_batch_step(batch, 1.0 / steps, steps));
    const double *q = sap_batch_state(batch)->joint_q, *v = sap_batch_state(batch)->joint_qd;
    double exact[3], w[3], error = 0;
    memcpy(exact, s->omega, sizeof exact);
    solve_euler(s->moments, 1, exact);
    to_body(s->type == SAP_JOINT_FREE ? q + 3 : q, s->type == SAP_JOINT_FREE ? v + 3 : v, w);
    for (int i = 0; i < 3; i++)
        error = fmax(error, fabs(w[i] - exact[i]));
    sap_batch_destroy(batch);
    return error;
}

Test(gyroscopic, the_implicit_spin_is_second_order_in_body_axes) {
    static const SapJointType types[] = {SAP_JOINT_FREE, SAP_JOINT_BALL};
    for (int i = 0; i < 4; i++) {
        Spin s = {.type = types[i % 2], .moments = {1, 2, 2.5}, .omega = {3, 0.5, 1}};
        SapPositionIntegration map = i / 2 ? SAP_EULER : SAP_MIDPOINT;
        double coarse = omega_error(&s, map, 400), fine = omega_error(&s, map, 800);
        cr_expect(fine < 1e-4 && coarse / fine > 3.5 && coarse / fine < 4.5, "joint type %d: %g, then %g", (int)s.type,
                  coarse, fine);
    }
}

/* Both torques are the same but for terms of order h: a step differs by order h^2. */
Test(gyroscopic, one_implicit_step_differs_from_an_explicit_one_by_order_h_squared) {
    for (int type = 0; type < 2; type++) {
        double difference[2];
        for (int k = 0; k < 2; k++) {
            Spin s = spin_of(type ? SAP_JOINT_BALL : SAP_JOINT_FREE, 1, 1, 5);
            double v[2][3];
            for (int g = 0; g < 2; g++) {
                SapOptions o = spin_options("approx64", SAP_EULER, (SapGyroscopic)g);
                SapBatch *batch = spin_batch(&s, &o);
                need(sap_batch_step(batch, k ? 5e-4 : 1e-3, 1));
                memcpy(v[g], (double *)sap_batch_state(batch)->joint_qd + (type ? 0 : 3), sizeof v[g]);
                sap_batch_destroy(batch);
            }
            difference[k] = fabs(v[0][0] - v[1][0]) + fabs(v[0][1] - v[1][1]) + fabs(v[0][2] - v[1][2]);
        }
        cr_expect(difference[0] > 0 && fabs(difference[0] / difference[1] - 4) < 0.1, "joint type %d: %g", type,
                  difference[0] / difference[1]);
    }
}

/* ---- the status ---- */

static uint32_t status_after(const double *moments, double rate, SapGyroscopic gyroscopic) {
    Spin s = {.type = SAP_JOINT_FREE, .omega = {0, 0, rate}};
    memcpy(s.moments, moments, sizeof s.moments);
    SapOptions o = spin_options("approx32", SAP_MIDPOINT, gyroscopic);
    SapBatch *batch = spin_batch(&s, &o);
    need(sap_batch_step(batch, 0.01, 2));
    uint32_t status = status_of(batch);
    sap_batch_destroy(batch);
    return status;
}

/* A disc has rho = 1: the bound is 0.1 rad per step. */
Test(gyroscopic, a_spin_too_fast_for_the_explicit_torque_is_reported) {
    static const double sphere[3] = {1, 1, 1};
    cr_expect_eq(status_after(shapes[0], 9.9, SAP_GYROSCOPIC_EXPLICIT), 0u);
    cr_expect_eq(status_after(shapes[0], 10.1, SAP_GYROSCOPIC_EXPLICIT), (uint32_t)SAP_WORLD_FAST_SPIN);
    cr_expect_eq(status_after(shapes[0], -10.1, SAP_GYROSCOPIC_EXPLICIT), (uint32_t)SAP_WORLD_FAST_SPIN);
    cr_expect_eq(status_after(shapes[0], 200, SAP_GYROSCOPIC_IMPLICIT), 0u);
    cr_expect_eq(status_after(sphere, 200, SAP_GYROSCOPIC_EXPLICIT), 0u);
}
