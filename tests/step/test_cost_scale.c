/* The relative cost test of Newton's method: a constant of the cost must not end a solve. A drive with a small gain g
 * and an effort a has the cost h (a - g v)^2/(2 g), whose constant h a^2/(2 g) grows without bound as g falls, while
 * the drive becomes the constant effort a. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/presets.h"
#include "support/scene_text.h"

enum { STEPS = 40 };

/* Three boxes that fall on each other, and a wheel beside them which a torque of 0.1 N m turns. */
static SapScene *scene_with(const char *wheel) {
    static char text[2048];
    snprintf(text, sizeof text,
             HEAD "simulation: {dt: 0.01, max_contacts: 32}\n"
                  "builder: {gravity: -9.81, rigid_gap: 0.005, defaults: {shape: {density: 1000, mu: 0.6}}}\n"
                  "bodies:\n"
                  "- {id: a, transform: {p: [0, 0, 0.06]}, shapes: &box [{type: box, hx: 0.05, hy: 0.04, hz: 0.05}]}\n"
                  "- {id: b, transform: {p: [0.03, 0.01, 0.17]}, shapes: *box}\n"
                  "- {id: c, transform: {p: [-0.01, 0.03, 0.29]}, shapes: *box}\n"
                  "- {id: wheel, shapes: [{type: sphere, radius: 0.1}]}\n"
                  "joints:\n"
                  "- {id: free_a, type: free, parent: world, child: a}\n"
                  "- {id: free_b, type: free, parent: world, child: b}\n"
                  "- {id: free_c, type: free, parent: world, child: c}\n"
                  "- {id: turn, type: revolute, axis: z, parent: world, child: wheel, limit_ke: 0, armature: 1,\n"
                  "   parent_xform: {p: [5, 0, 2]}%s}\n"
                  "articulations:\n"
                  "- {joints: [free_a]}\n- {joints: [free_b]}\n- {joints: [free_c]}\n- {joints: [turn]}\n",
             wheel);
    return parse(text);
}

/* The largest residual and the mean number of iterations of a run. */
typedef struct Run {
    double residual, iterations;
} Run;

static Run run(const char *wheel, const char *preset, SapLineSearch search, double f, double act) {
    SapScene *scene = scene_with(wheel);
    SapOptions o;
    SapBatch *batch;
    Run out = {0, 0};
    need(sap_options_preset(preset, &o));
    o.line_search = search;
    o.max_contacts = 32;
    need(sap_batch_create_as(scene->model, 1, &o, SAP_F64, &batch));
    SapControl *control = sap_batch_control(batch);
    ((double *)control->joint_f)[18] = f;
    ((double *)control->joint_act)[18] = act;
    for (int i = 0; i < STEPS; i++) {
        SapWorldReport report = {0};
        need(sap_batch_step(batch, 0.01, 1));
        need(sap_solver_report(sap_batch_solver(batch), &report));
        out.residual = fmax(out.residual, report.residual[0]);
        out.iterations += report.iterations[0] / (double)STEPS;
    }
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    return out;
}

ParameterizedTestParameters(cost_scale, a_drive_of_small_gain_ends_no_solve_early) {
    return preset_params();
}

/* The same torque by joint_f gives the residual and the iterations to expect. Where the cost had the constant, the
 * largest residual of approx32 with its line search was 1 from a gain of 1e-5 on, and a step took one iteration from
 * 1e-8 on. */
ParameterizedTest(int *preset, cost_scale, a_drive_of_small_gain_ends_no_solve_early) {
    for (int search = SAP_MONOTONE_DECAY; search <= SAP_WOLFE; search++) {
        Run plain = run("", preset_names[*preset], (SapLineSearch)search, 0.1, 0);
        for (double gain = 5e-4; gain > 1e-20; gain *= 0.1) { /* target speeds from 200 rad/s on */
            char wheel[128];
            snprintf(wheel, sizeof wheel, ", actuator_mode: effort, target_kd: %g", gain);
            Run driven = run(wheel, preset_names[*preset], (SapLineSearch)search, 0, 0.1);
            cr_expect(driven.residual < 3 * plain.residual + 1e-6 && fabs(driven.iterations - plain.iterations) < 0.3,
                      "%s, search %d, gain %g: residual %g, not %g; iterations %g, not %g", preset_names[*preset],
                      search, gain, driven.residual, plain.residual, driven.iterations, plain.iterations);
        }
    }
}
