/* sap_batch_assemble moves the chosen worlds onto their constraints and leaves the others; sap_batch_attach lets a weld
 * hold the present pose. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/linkage_batch.h"
#include "support/near.h"
#include "support/need.h"

enum { WORLDS = 5 };

/* ---- assemble ---- */

/* Turns every joint with one axis of world w by up to 0.15. */
static void disturb(const SapModelArrays *m, double *q, double *qd, int w) {
    for (int j = 0; j < m->num_joints; j++)
        if (m->joint_type[j] == SAP_JOINT_REVOLUTE || m->joint_type[j] == SAP_JOINT_PRISMATIC)
            q[w * m->num_coords + m->joint_q_start[j]] += 0.15 * sin(12.9898 * (w + 1) + 78.233 * j);
    for (int i = 0; i < m->num_dofs; i++)
        qd[w * m->num_dofs + i] = 0.5;
}

/* The error that the next step measures is what is left, and half of it. */
Test(assemble, closes_the_loops_of_the_chosen_worlds) {
    static const char *const names[] = {"bench/scenes/fivebar_leg", "bench/scenes/linkage_walker",
                                        "bench/scenes/stewart", "bench/scenes/mimic_gripper"};
    static const uint8_t mask[WORLDS] = {1, 0, 1, 1, 0};
    for (int s = 0; s < 4; s++) {
        SapScene *scene = load(names[s]);
        const SapModelArrays *m = sap_model_arrays(scene->model);
        SapBatch *batch = create(scene, WORLDS, "approx64");
        double *q = sap_batch_state(batch)->joint_q, *qd = sap_batch_state(batch)->joint_qd, residual[WORLDS];
        double *error = array_of(batch, SAP_BATCH_CONSTRAINT_RESIDUAL);
        for (int w = 0; w < WORLDS; w++) {
            disturb(m, q, qd, w);
            residual[w] = -1;
        }
        size_t row = (size_t)m->num_coords * sizeof *q;
        double *before = malloc(WORLDS * row);
        memcpy(before, q, WORLDS * row);
        need(sap_batch_assemble(batch, mask, residual));
        for (int w = 0; w < WORLDS; w++) {
            if (!mask[w]) {
                cr_expect_eq(memcmp(q + w * m->num_coords, before + w * m->num_coords, row), 0, "%s", names[s]);
                cr_expect(residual[w] == -1 && qd[w * m->num_dofs] == 0.5, "%s: world %d", names[s], w);
                continue;
            }
            cr_expect(residual[w] >= 0 && residual[w] < 1e-9, "%s: %g is left", names[s], residual[w]);
            for (int i = 0; i < m->num_dofs; i++)
                cr_expect_eq(qd[w * m->num_dofs + i], 0);
        }
        need(sap_batch_step(batch, scene->dt, 1));
        for (int w = 0; w < WORLDS; w++)
            cr_expect(mask[w] ? error[w] <= 1e-9 : error[w] > 1e-3, "%s: world %d: %g", names[s], w, error[w]);
        free(before);
        sap_batch_destroy(batch);
        sap_scene_destroy(scene);
    }
}

#define SLIDERS                                                                                                        \
    "schema_version: 1\nground: false\nbodies: [{id: a, mass: 1, inertia: [1, 1, 1]}, {id: b, mass: 3, inertia: [1, "  \
    "1, "                                                                                                              \
    "1]}]\njoints: [{id: x, type: prismatic, axis: x, parent: world, child: a}, {id: y, type: prismatic, axis: x, "    \
    "parent: world, child: b}]\n"

/* x = y from 0 and 1: in the metric of the masses, 1 and 3, the nearest place is 3/4. */
Test(assemble, moves_least_in_the_metric_of_the_mass_matrix) {
    SapScene *scene = parse(SLIDERS "constraints: [{id: c, type: coupler, joint: x, of: y}]\n");
    SapBatch *batch = create(scene, WORLDS, "drake");
    double *q = sap_batch_state(batch)->joint_q, *body_q = sap_batch_state(batch)->body_q;
    q[1] = 1;
    need(sap_batch_assemble(batch, NULL, NULL));
    check_near(q[0], 0.75, 2e-9, "x");
    check_near(q[1], 0.75, 2e-9, "y");
    cr_expect_eq(body_q[0], q[0], "poses of bodies follow");
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* Masses, ratios and activity differ by world; springs, limits and gravity do not matter. */
Test(assemble, takes_the_parameters_and_the_activity_of_each_world) {
    SapScene *scene = parse(
        SLIDERS
        "tendons: [{id: t, joints: [x], coefficients: [1], spring_ke: 1000, spring_lower: 5, spring_upper: 5, "
        "limit_upper: 0.1}]\n"
        "constraints: [{id: c, type: coupler, joint: x, of: y, ke: 10}, {id: d, type: coupler, joint: x, offset: 9, "
        "side: upper}]\n");
    SapBatch *batch = create(scene, WORLDS, "drake");
    double *q = sap_batch_state(batch)->joint_q, residual[WORLDS];
    int32_t *active = array_of(batch, SAP_BATCH_CONSTRAINT_ACTIVE);
    SapArray mass, polynomial;
    need(sap_batch_expand(batch, SAP_PARAMETER_BODY_MASS, &mass));
    need(sap_batch_expand(batch, SAP_PARAMETER_CONSTRAINT_POLYNOMIAL, &polynomial));
    for (int w = 0; w < WORLDS; w++)
        q[2 * w + 1] = 1;
    ((double *)mass.data)[2 * 1 + 0] = 9;              /* world 1: masses 9 and 3 */
    ((double *)polynomial.data)[2 * (2 * 5) + 1] = -1; /* world 2: x = -y */
    active[2 * 3] = 0;                                 /* world 3 is free */
    ((double *)mass.data)[2 * 4 + 0] = -1;             /* world 4 is not valid */
    need(sap_batch_assemble(batch, NULL, residual));
    static const double expected[WORLDS][2] = {{0.75, 0.75}, {0.25, 0.25}, {-0.75, 0.75}, {0, 1}, {0, 1}};
    for (int w = 0; w < WORLDS; w++)
        for (int i = 0; i < 2; i++)
            check_near(q[2 * w + i], expected[w][i], 2e-9, "coordinate");
    cr_expect(residual[3] == 0 && isnan(residual[4]));
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(assemble, a_world_that_cannot_be_assembled_keeps_its_state) {
    SapScene *scene =
        parse("schema_version: 1\nground: false\nbodies: [{id: a, mass: 1, inertia: [1, 1, 1]}]\n"
              "joints: [{id: x, type: prismatic, axis: x, parent: world, child: a}]\n"
              "constraints: [{id: d, type: distance, body_a: world, point_a: [1, 0, 0], body_b: a, length: 2}]\n");
    SapOptions o;
    SapBatch *batch = NULL;
    need(sap_options_preset("approx32", &o));
    need(sap_batch_create(scene->model, WORLDS, &o, &batch)); /* f32 */
    float *q = sap_batch_state(batch)->joint_q;
    double residual[WORLDS];
    q[1] = 1; /* the points coincide */
    q[2] = NAN;
    need(sap_batch_assemble(batch, NULL, residual));
    for (int w = 0; w < WORLDS; w++)
        cr_expect(w == 1 || w == 2 ? isnan(residual[w]) : residual[w] < 1e-9 && q[w] == -1, "world %d: %g, %g", w,
                  residual[w], (double)q[w]);
    cr_expect(q[1] == 1 && isnan(q[2]));
    cr_expect_eq(sap_batch_assemble(NULL, NULL, NULL), SAP_ERROR_ARGUMENT);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- attach ---- */

/* A weld that is switched on pulls its frames together; attached, it holds the bodies where they are. */
Test(attach, lets_a_weld_hold_the_present_pose) {
    SapScene *scene =
        parse("schema_version: 1\nground: false\nbuilder: {gravity: 0}\n"
              "bodies: [{id: a, mass: 1, inertia: [1, 1, 1]}, {id: b, mass: 1, inertia: [1, 1, 1]}]\n"
              "joints: [{id: a, type: free, parent: world, child: a}, {id: b, type: free, parent: world, child: b}]\n"
              "constraints: [{id: glue, type: weld, body_a: a, body_b: b, active: false}]\n");
    SapBatch *batch = create(scene, WORLDS, "approx64");
    double *q = sap_batch_state(batch)->joint_q, *qd = sap_batch_state(batch)->joint_qd;
    int32_t *active = array_of(batch, SAP_BATCH_CONSTRAINT_ACTIVE);
    double *error = array_of(batch, SAP_BATCH_CONSTRAINT_RESIDUAL);
    static const uint8_t mask[WORLDS] = {0, 1, 0, 0, 1};
    for (int w = 0; w < WORLDS; w++)
        for (int i = 0; i < 12; i++)
            qd[12 * w + i] = sin(3 * w + i);
    need(sap_batch_step(batch, 0.005, 100)); /* apart, and turned */
    need(sap_batch_attach(batch, 0, mask));
    active[0] = 1; /* without attaching */
    double before = q[14 * 4];
    need(sap_batch_step(batch, 0.005, 1));
    for (int w = 0; w < WORLDS; w++)
        cr_expect(active[w] == (w == 0 || mask[w]) && (w == 0 ? error[w] > 0.1 : error[w] < 1e-14), "world %d: %g", w,
                  error[w]);
    check_near(q[14 * 4], before, 0.02, "no jump");
    need(sap_batch_step(batch, 0.005, 100));
    cr_expect(error[1] < 1e-3 && error[4] < 1e-3);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(attach, refuses_what_is_no_weld) {
    SapScene *scene = parse(SLIDERS "constraints: [{id: c, type: coupler, joint: x, of: y}]\n");
    SapBatch *batch = create(scene, WORLDS, "drake");
    cr_expect_eq(sap_batch_attach(batch, 0, NULL), SAP_ERROR_ARGUMENT);
    cr_expect_str_eq(sap_error_message(), "sap_batch_attach: constraint 0 ('c') is a coupler; it must be a weld");
    cr_expect_eq(sap_batch_attach(batch, 1, NULL), SAP_ERROR_ARGUMENT);
    cr_expect_str_eq(sap_error_message(), "sap_batch_attach: constraint is 1; the model has 1 constraints");
    cr_expect_eq(sap_batch_attach(batch, -1, NULL), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_batch_attach(NULL, 0, NULL), SAP_ERROR_ARGUMENT);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}
