/* The contact laws `sap`, `similar` and `lagged` in scenes with closed answers: a sliding box, slopes, a drawn body, a
 * ball that falls. docs/contact_law.md has the formulas. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/near.h"
#include "support/need.h"
#include "support/scene_text.h"

static const double g = 9.81;

static const char *const presets[] = {"fast32", "fast64", "approx32", "approx64", "drake"};
enum { NUM_PRESETS = sizeof presets / sizeof *presets };

static int passes = 1; /* of batches that are made */

/* ---- one body on the ground ---- */

typedef struct Body {
    SapScene *scene;
    SapBatch *batch;
} Body;

/* `shape`: of a free body at the height `z`; all materials are k, tau and d of a pair that are half, twice and the same
 * of the shapes. */
static Body body_create(const char *preset, SapContactApproximation law, const char *shape, double z, double mu,
                        double gap) {
    char text[2048];
    snprintf(text, sizeof text,
             HEAD "builder: {rigid_gap: %.17g, default_body_armature: 0, defaults: {shape: {density: 1000, ke: 100000, "
                  "tau: 0.01, dissipation: 20, mu: %.17g}}}\n"
                  "bodies: [{id: b, transform: {p: [0, 0, %.17g]}, shapes: [%s]}]\n"
                  "joints: [{id: f, type: free, parent: world, child: b}]\n",
             gap, mu, z, shape);
    Body b = {.scene = parse(text)};
    SapOptions o;
    need(sap_options_preset(preset, &o));
    o.contact_approximation = law;
    o.lagged_passes = passes;
    o.threads = 1;
    need(sap_batch_create_as(b.scene->model, 1, &o, SAP_F64, &b.batch));
    return b;
}

static void body_destroy(Body *b) {
    sap_batch_destroy(b->batch);
    sap_scene_destroy(b->scene);
}

static double *q_of(const Body *b) {
    return sap_batch_state(b->batch)->joint_q;
}
static double *qd_of(const Body *b) {
    return sap_batch_state(b->batch)->joint_qd;
}

static void step(const Body *b, double h) {
    need(sap_batch_step(b->batch, h, 1));
    const uint32_t *status = sap_solver_world_status(sap_batch_solver(b->batch));
    cr_assert_eq(status[0] & (SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED), 0, "status %x", status[0]);
}

#define BOX        "{type: box, hx: 0.1, hy: 0.1, hz: 0.05}"
#define BALL_SHAPE "{type: sphere, radius: 0.05}"

/* The depth of the box at rest, 4 kg on four corners, k = 5e4 each. */
static const double box_depth = 4 * 9.81 / (4 * 5e4);

/* Rise of the centre above its rest, largest tilt and distance until rest of a box that starts at 3 m/s, at `depth`. */
typedef struct Slide {
    double rise, tilt, distance, iterations;
} Slide;

static Slide slide(const char *preset, SapContactApproximation law, double h, double gap, double depth) {
    Body b = body_create(preset, law, BOX, 0.05 - depth, 0.8, gap);
    Slide out = {0};
    int steps = (int)(1 / h);
    qd_of(&b)[0] = 3;
    for (int i = 0; i < steps; i++) {
        step(&b, h);
        const double *q = q_of(&b);
        SapWorldReport report;
        need(sap_solver_report(sap_batch_solver(b.batch), &report));
        out.iterations += report.iterations[0] / (double)steps;
        out.rise = fmax(out.rise, q[2] - (0.05 - depth));
        out.tilt = fmax(out.tilt, 2 * hypot(q[3], q[4]));
    }
    out.distance = q_of(&b)[0];
    body_destroy(&b);
    return out;
}

/* A box that begins at rest on the ground has friction from the first step on, and Euler's steps stop it h v/2 early. One
 * that touches the ground without pressing has friction a step later: + h v. Coordinates that advance with the mean
 * velocity add h v/2. */
Test(contact_laws, a_box_that_slides_stops_flat_with_lagged_at_every_step_and_in_every_preset) {
    static const double steps[] = {0.002, 0.005, 0.01};
    for (int p = 0; p < NUM_PRESETS; p++)
        for (int i = 0; i < 6; i++) {
            double h = steps[i / 2], late = strncmp(presets[p], "approx", 6) == 0 ? 0 : -0.5;
            bool touches = i % 2;
            double tolerance = touches && late == 0 ? 0.01 : 0.005; /* n0 is then not exactly the last impulse */
            Slide s = slide(presets[p], SAP_APPROXIMATION_LAGGED, h, 0.01, touches ? 0 : box_depth);
            double stop = 9 / (2 * 0.8 * g) + h * 3 * (late + (touches ? 1 : 0));
            cr_expect(s.rise < 5e-5 && s.tilt < 5e-3, "%s, h %g: rises %g m, tilts %g", presets[p], h, s.rise, s.tilt);
            cr_expect(fabs(s.distance / stop - 1) < tolerance, "%s, h %g: stops at %g m, not %g", presets[p], h,
                      s.distance, stop);
        }
}

/* The ideal distance is v^2/(2 mu g). */
Test(contact_laws, a_box_that_slides_stops_within_one_per_cent_of_coulombs_law_with_lagged) {
    for (int p = 0; p < NUM_PRESETS; p++) {
        Slide s = slide(presets[p], SAP_APPROXIMATION_LAGGED, 0.002, 0.01, box_depth);
        double stop = 9 / (2 * 0.8 * g);
        cr_expect(s.rise < 1e-3 && fabs(s.distance / stop - 1) < 0.01, "%s: rises %g m, stops at %g m, not %g",
                  presets[p], s.rise, s.distance, stop);
    }
}

Test(contact_laws, with_two_passes_a_box_that_slides_has_friction_from_the_first_step_on) {
    static const double steps[] = {0.002, 0.005, 0.01};
    passes = 2;
    for (int i = 0; i < 3; i++) {
        double h = steps[i], stop = 9 / (2 * 0.8 * g) - h * 3 / 2;
        Slide s = slide("fast64", SAP_APPROXIMATION_LAGGED, h, 0.05, 0);
        cr_expect(s.rise < 5e-5 && fabs(s.distance / stop - 1) < 0.005, "h %g: rises %g m, stops at %g m, not %g", h,
                  s.rise, s.distance, stop);
    }
    passes = 1;
}

Test(contact_laws, a_box_that_slides_is_thrown_up_with_sap) {
    Slide s = slide("drake", SAP_APPROXIMATION_SAP, 0.005, 0.05, box_depth);
    cr_expect(s.rise > 0.02, "it rises %g m: docs/contact_law.md says how high, and why the default is another",
              s.rise);
}

/* ---- the glide: a body that cannot turn, drawn at constant speed ---- */

static double glide(SapContactApproximation law, double h) {
    static const char text[] = HEAD
        "builder: {rigid_gap: 0.1, default_body_armature: 0, defaults: {shape: {density: 0, ke: 100000, tau: 0.01, "
        "dissipation: 20, mu: 0.5}}}\n"
        "bodies: [{id: b, mass: 4, inertia: [0.01, 0.01, 0.01], transform: {p: [0, 0, 0.02]}, shapes: [{type: "
        "sphere, radius: 0.02}]}]\n"
        "joints: [{id: x, type: d6, parent: world, child: b, linear_axes: [{axis: x, actuator_mode: velocity, "
        "target_kd: 1e7, "
        "target_vel: 3, armature: 0}, {axis: z, armature: 0}], parent_xform: {p: [0, 0, 0.02]}}]\n";
    Body b = {.scene = parse(text)};
    SapOptions o;
    need(sap_options_preset("drake", &o));
    o.contact_approximation = law;
    need(sap_batch_create_as(b.scene->model, 1, &o, SAP_F64, &b.batch));
    qd_of(&b)[0] = 3;
    for (int i = 0; i < (int)(3 / h); i++)
        step(&b, h);
    double height = q_of(&b)[1];
    body_destroy(&b);
    return height;
}

/* sap: v_n = 0 at phi = mu (h + tau) |v_t| - m g/k. similar: n(-mu s) = m g h. lagged: the rest of a body that does not
 * slide. */
Test(contact_laws, a_drawn_body_glides_as_high_as_the_formulas_say) {
    static const double steps[] = {0.002, 0.005, 0.01};
    const double k = 5e4, m = 4, rest = m * g / k;
    for (int i = 0; i < 3; i++) {
        double h = steps[i];
        check_near(glide(SAP_APPROXIMATION_SAP, h), 0.5 * (h + 0.02) * 3 - rest, 1e-5, "the glide of sap");
        check_near(glide(SAP_APPROXIMATION_LAGGED, h), -rest, 1e-5, "the glide of lagged");
        /* (-phi + h mu s) k (1 + d mu s) = m g, s = 3 */
        double similar = h * 0.5 * 3 - rest / (1 + 20 * 0.5 * 3);
        check_near(glide(SAP_APPROXIMATION_SIMILAR, h), similar, 1e-5, "the glide of similar");
    }
}

/* ---- slopes, by a tilted gravity ---- */

static double speed_on_slope(const char *preset, SapContactApproximation law, double angle, double mu, double time) {
    const double h = 0.005;
    Body b = body_create(preset, law, BOX, 0.05 - box_depth * cos(angle), mu, 0.01);
    SapArray gravity;
    need(sap_batch_expand(b.batch, SAP_PARAMETER_GRAVITY, &gravity));
    double *down = gravity.data;
    down[0] = g * sin(angle);
    down[2] = -g * cos(angle);
    for (int i = 0; i < (int)(time / h + 0.5); i++)
        step(&b, h);
    double speed = qd_of(&b)[0];
    body_destroy(&b);
    return speed;
}

/* The load a = tan(angle)/mu of the ramp: eps a/sqrt(1 - a^2), eps = max(v_s, mu sigma w n0) = v_s here. */
Test(contact_laws, a_box_on_a_slope_creeps_with_the_stiction_tolerance) {
    const double angle = 20 * M_PI / 180, a = tan(angle) / 0.5, creep = 1e-4 * a / sqrt(1 - a * a);
    check_near(creep, 1.062e-4, 1e-7, "the formula");
    for (int p = 0; p < NUM_PRESETS; p++)
        for (int law = SAP_APPROXIMATION_SIMILAR; law <= SAP_APPROXIMATION_LAGGED; law++) {
            double speed = speed_on_slope(presets[p], (SapContactApproximation)law, angle, 0.5, 1);
            cr_expect(fabs(speed / creep - 1) < 0.02, "%s, law %d: %g m/s, not %g", presets[p], law, speed, creep);
        }
}

Test(contact_laws, a_box_on_a_steep_slope_slides_with_coulombs_friction) {
    const double angle = 20 * M_PI / 180, mu = 0.2, speed = g * (sin(angle) - mu * cos(angle));
    for (int p = 0; p < NUM_PRESETS; p++) {
        double found = speed_on_slope(presets[p], SAP_APPROXIMATION_LAGGED, angle, mu, 1);
        cr_expect(fabs(found / speed - 1) < 0.015, "%s: %g m/s, not %g", presets[p], found, speed);
    }
}

/* ---- falling bodies ---- */

/* A ball without friction falls on the ground; the law pushes up to 1/d. */
Test(contact_laws, no_drop_separates_faster_than_one_over_d) {
    static const double heights[] = {0.01, 0.1, 0.5, 2, 8};
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++)
        for (int law = SAP_APPROXIMATION_SIMILAR; law <= SAP_APPROXIMATION_LAGGED; law++) {
            Body b = body_create("fast64", (SapContactApproximation)law, BALL_SHAPE, 0.05 + heights[i], 0.5, 0.01);
            double fastest = 0;
            for (int k = 0; k < 1500; k++) {
                step(&b, 0.002);
                fastest = fmax(fastest, qd_of(&b)[2]);
            }
            cr_expect(fastest < 1.0 / 20 * (1 + 1e-6), "from %g m: %g m/s", heights[i], fastest);
            body_destroy(&b);
        }
}

/* n0 of a step is gamma_n of the one before: one free contact, coordinates that advance with the velocity at the end. */
Test(contact_laws, the_lagged_impulse_is_that_of_the_step_before) {
    Body b = body_create("drake", SAP_APPROXIMATION_LAGGED, BALL_SHAPE, 0.06, 0.5, 0.05);
    SapSolver *solver = sap_batch_solver(b.batch);
    enum { CAPACITY = 64 };
    SapArray view;
    need(sap_batch_array(b.batch, SAP_BATCH_CONTACT_SHAPE0, &view));
    int capacity = (int)view.shape[1];
    cr_assert_leq(capacity, CAPACITY);
    double impulse[3 * CAPACITY], lagged[CAPACITY], width[CAPACITY], before = 0;
    need(sap_solver_record(solver,
                           &(SapContactReport){.impulse = impulse, .lagged_impulse = lagged, .slip_width = width}));
    qd_of(&b)[0] = 1;
    int acting = 0;
    for (int i = 0; i < 200; i++) {
        step(&b, 0.005);
        if (i > 0 && before > 0)
            check_near(lagged[0], before, 1e-11 * fmax(before, 1), "n0");
        acting += before > 0;
        before = impulse[2];
        cr_assert(width[0] >= (lagged[0] > 0 ? 1e-4 : 0));
    }
    cr_assert_gt(acting, 50);
    body_destroy(&b);
}

/* The tangential impulse of impacts over mu times the normal one, of a ball that slides throughout. */
static double impact_ratio(double h, int num_passes) {
    passes = num_passes;
    Body b = body_create("fast64", SAP_APPROXIMATION_LAGGED, BALL_SHAPE, 0.05 + 0.15, 0.3, 0.05);
    const double m = 1000 * 4 * M_PI / 3 * pow(0.05, 3);
    const int n = (int)(0.3 / h);
    qd_of(&b)[0] = 20;
    for (int k = 0; k < n; k++)
        step(&b, h);
    const double *v = qd_of(&b), tangential = m * (20 - v[0]), normal = m * (v[2] + g * h * n);
    double ratio = tangential / (0.3 * normal);
    body_destroy(&b);
    passes = 1;
    return ratio;
}

/* Contacts that are found before they close lag by a step, not by the whole impact. */
Test(contact_laws, an_impact_that_is_seen_coming_has_nearly_coulombs_friction) {
    static const double steps[] = {0.001, 0.005, 0.01};
    for (int i = 0; i < 3; i++) {
        double once = impact_ratio(steps[i], 1), twice = impact_ratio(steps[i], 2);
        cr_expect(once > 0.95 && once <= 1.0001, "h %g: %g", steps[i], once);
        check_near(twice, 1, 1e-3, "the ratio with two passes");
    }
}

/* ---- parameters ---- */

static double pair_d(double k0, double d0, double k1, double d1) {
    char text[2048];
    snprintf(text, sizeof text,
             HEAD "bodies: [{id: b, transform: {p: [0, 0, 0.049]}, shapes: [{type: sphere, radius: 0.05, cfg: {ke: "
                  "%.17g, dissipation: %.17g}}]}]\n"
                  "joints: [{id: f, type: free, parent: world, child: b}]\n"
                  "ground: {cfg: {ke: %.17g, dissipation: %.17g}}\n",
             k0, d0, k1, d1);
    SapScene *scene = parse(text);
    SapOptions o;
    need(sap_options_preset("drake", &o));
    o.contact_approximation = SAP_APPROXIMATION_LAGGED;
    o.max_contacts = 4;
    SapBatch *batch;
    need(sap_batch_create(scene->model, 1, &o, &batch));
    double pair[12] = {0};
    need(sap_solver_record(sap_batch_solver(batch), &(SapContactReport){.pair = pair}));
    need(sap_batch_step(batch, 0.001, 1));
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    return pair[2];
}

Test(contact_laws, the_dissipation_of_a_pair_is_that_of_the_softer_side_most) {
    check_near(pair_d(1e5, 10, 3e5, 50), (3e5 * 10 + 1e5 * 50) / 4e5, 1e-12, "d");
    check_near(pair_d(1e5, 10, INFINITY, 50), 10, 1e-12, "d against a rigid side");
    check_near(pair_d(INFINITY, 10, 1e5, 50), 50, 1e-12, "d of a rigid side");
    check_near(pair_d(INFINITY, 10, INFINITY, 50), 30, 1e-12, "d of two rigid sides");
}

/* Worlds with a dissipation of their own, and records of the caller. */
Test(contact_laws, worlds_have_their_own_dissipation) {
    SapScene *scene =
        parse(HEAD "bodies: [{id: b, transform: {p: [0, 0, 0.3]}, shapes: [{type: sphere, radius: 0.05}]}]\n"
                   "joints: [{id: f, type: free, parent: world, child: b}]\n");
    SapOptions o;
    need(sap_options_preset("fast64", &o));
    o.contact_approximation = SAP_APPROXIMATION_LAGGED;
    SapBatch *batch;
    need(sap_batch_create(scene->model, 3, &o, &batch));
    SapArray rows;
    need(sap_batch_expand(batch, SAP_PARAMETER_SHAPE_MATERIAL_DISSIPATION, &rows));
    const double d[3] = {50, 5, 2};
    for (int w = 0; w < 3; w++)
        for (int s = 0; s < 2; s++)
            ((double *)rows.data)[2 * w + s] = d[w];
    double fastest[3] = {0};
    for (int i = 0; i < 500; i++) {
        need(sap_batch_step(batch, 0.001, 1));
        for (int w = 0; w < 3; w++)
            fastest[w] = fmax(fastest[w], ((double *)sap_batch_state(batch)->joint_qd)[6 * w + 2]);
    }
    for (int w = 0; w < 3; w++)
        cr_expect(fastest[w] > 0.3 / d[w] && fastest[w] < 1.001 / d[w], "d %g: %g m/s", d[w], fastest[w]);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- refusals ---- */

Test(contact_laws, solvers_with_another_law_refuse_them_and_name_both_options) {
    static const struct {
        SapContactSolver solver;
        const char *name;
    } solvers[] = {{SAP_SOLVER_CONE, "cone"},
                   {SAP_SOLVER_PGS, "pgs"},
                   {SAP_SOLVER_PGS_ROWS, "pgs_rows"},
                   {SAP_SOLVER_ACTIVE_SET, "active_set"},
                   {SAP_SOLVER_MUJOCO, "mujoco"}};
    SapScene *scene = parse(HEAD BALL FREE);
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        SapOptions o;
        SapBatch *batch = NULL;
        need(sap_options_preset("fast64", &o));
        o.contact_solver = solvers[i].solver;
        o.contact_approximation = SAP_APPROXIMATION_LAGGED;
        cr_expect_eq(sap_batch_create(scene->model, 1, &o, &batch), SAP_ERROR_UNSUPPORTED);
        cr_expect(strstr(sap_error_message(), "contact_approximation is lagged") &&
                      strstr(sap_error_message(), solvers[i].name),
                  "%s", sap_error_message());
        cr_expect_null(batch);
    }
    SapOptions o;
    SapBatch *batch = NULL;
    need(sap_options_preset("drake", &o));
    o.compat = SAP_COMPAT_SAP_WARP;
    o.contact_approximation = SAP_APPROXIMATION_SIMILAR;
    cr_expect_eq(sap_batch_create(scene->model, 1, &o, &batch), SAP_ERROR_UNSUPPORTED);
    cr_expect(strstr(sap_error_message(), "similar") && strstr(sap_error_message(), "compat"), "%s",
              sap_error_message());
    sap_scene_destroy(scene);
}
