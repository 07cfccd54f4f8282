/* Warnings in the status of a world that is solved: a free body that moves by more than its thickness in a step, and a
 * contact that is deeper than half of a body. In every formulation. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/need.h"

static SapScene *parse(const char *text) {
    SapScene *scene = NULL;
    need(sap_scene_parse(text, strlen(text), "scene.yaml", &scene));
    return scene;
}

static const SapContactSolver solvers[] = {SAP_SOLVER_SAP,      SAP_SOLVER_CONE,       SAP_SOLVER_PGS,
                                           SAP_SOLVER_PGS_ROWS, SAP_SOLVER_ACTIVE_SET, SAP_SOLVER_MUJOCO};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

static SapBatch *create(const SapScene *scene, int worlds, SapContactSolver solver) {
    SapBatch *batch = NULL;
    SapOptions o;
    need(sap_options_preset("fast64", &o));
    o.contact_solver = solver;
    o.threads = 1;
    need(sap_batch_create_as(scene->model, worlds, &o, SAP_F64, &batch));
    return batch;
}

static uint32_t status_of(SapBatch *batch, int world) {
    return sap_solver_world_status(sap_batch_solver(batch))[world];
}

/* ---- tunnelling ---- */

/* A plate of 0.02 m, and a link on a slider, which has no bound. */
#define PLATE                                                                                                          \
    "schema_version: 1\n"                                                                                              \
    "simulation: {dt: 0.01}\n"                                                                                         \
    "builder: {gravity: 0, defaults: {shape: {density: 1000}}}\n"                                                      \
    "ground: false\n"                                                                                                  \
    "bodies:\n"                                                                                                        \
    "- {id: plate, shapes: [{type: box, hx: 0.3, hy: 0.2, hz: 0.01}, {type: sphere, radius: 0.05}]}\n"                 \
    "- {id: slider, shapes: [{type: sphere, radius: 0.01}]}\n"                                                         \
    "joints:\n"                                                                                                        \
    "- {id: free, type: free, parent: world, child: plate}\n"                                                          \
    "- {id: slide, type: prismatic, parent: world, child: slider, axis: z}\n"                                          \
    "articulations: [{id: plate, joints: [free]}, {id: slider, joints: [slide]}]\n"

Test(warnings, a_free_body_that_moves_by_more_than_its_thinnest_shape_in_a_step_may_tunnel) {
    SapScene *scene = parse(PLATE);
    for (int i = 0; i < SOLVERS; i++) {
        SapBatch *batch = create(scene, 3, solvers[i]);
        double *v = sap_batch_state(batch)->joint_qd, *q = sap_batch_state(batch)->joint_q;
        q[7] = q[8 + 7] = q[16 + 7] = 5; /* the slider is far away */
        v[0] = 1.99;                     /* world 0: 0.0199 m per step */
        v[7 + 1] = -2.01;                /* world 1: 0.0201 m */
        v[14 + 6] = 100;                 /* world 2: the slider */
        need(sap_batch_step(batch, 0.01, 1));
        for (int w = 0; w < 3; w++)
            cr_expect_eq(status_of(batch, w) & SAP_WORLD_MAY_TUNNEL, w == 1 ? (uint32_t)SAP_WORLD_MAY_TUNNEL : 0,
                         "solver %d, world %d: %#x", (int)solvers[i], w, (unsigned)status_of(batch, w));
        v[7 + 1] = 0; /* the bit lasts for the steps of a call, and no longer */
        need(sap_batch_step(batch, 0.01, 1));
        cr_expect_eq(status_of(batch, 1) & SAP_WORLD_MAY_TUNNEL, 0);
        sap_batch_destroy(batch);
    }
    sap_scene_destroy(scene);
}

/* ---- heavy on light ---- */

#define STACK                                                                                                          \
    "schema_version: 1\n"                                                                                              \
    "simulation: {dt: 0.005, max_contacts: 16}\n"                                                                      \
    "builder: {rigid_gap: 0.01, defaults: {shape: {density: 1000, mu: 0.5, ke: inf}}}\n"                               \
    "bodies:\n"                                                                                                        \
    "- {id: box, transform: {p: [0, 0, 0.05]}, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.05}]}\n"                 \
    "- {id: block, transform: {p: [0, 0, 0.6]}, shapes: [{type: box, hx: 0.5, hy: 0.5, hz: 0.5, density: %g}]}\n"      \
    "joints:\n"                                                                                                        \
    "- {id: a, type: free, parent: world, child: box}\n"                                                               \
    "- {id: b, type: free, parent: world, child: block}\n"                                                             \
    "articulations: [{id: a, joints: [a]}, {id: b, joints: [b]}]\n"

/* The statuses of 200 steps of a block of that density on a box of 1 kg. */
static uint32_t status_of_stack(double density) {
    char text[2048];
    uint32_t seen = 0;
    snprintf(text, sizeof text, STACK, density);
    SapScene *scene = parse(text);
    SapBatch *batch = create(scene, 1, SAP_SOLVER_SAP);
    for (int step = 0; step < 200; step++) {
        need(sap_batch_step(batch, 0.005, 1));
        seen |= status_of(batch, 0);
    }
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    return seen;
}

Test(warnings, a_contact_deeper_than_half_of_a_body_is_reported) {
    cr_expect(status_of_stack(1e4) & SAP_WORLD_DEEP_CONTACT, "10 t on 1 kg");
    cr_expect_eq(status_of_stack(1e2) & (SAP_WORLD_DEEP_CONTACT | SAP_WORLD_NOT_CONVERGED), 0, "100 kg on 1 kg");
}

/* Bodies that begin in each other, in every formulation. */
Test(warnings, bodies_that_begin_in_each_other_have_deep_contacts) {
    SapScene *scene = parse("schema_version: 1\n"
                            "simulation: {dt: 0.005}\n"
                            "bodies: [{id: ball, shapes: [{type: sphere, radius: 0.1, density: 1000}]}]\n"
                            "joints: [{id: free, type: free, parent: world, child: ball}]\n"
                            "articulations: [{id: ball, joints: [free]}]\n");
    for (int i = 0; i < SOLVERS; i++) {
        SapBatch *batch = create(scene, 2, solvers[i]);
        double *q = sap_batch_state(batch)->joint_q;
        q[2] = 0.01;      /* world 0: 0.09 m deep */
        q[7 + 2] = -0.01; /* world 1: 0.11 m, and its half is 0.1 m */
        need(sap_batch_step(batch, 0.005, 1));
        cr_expect_eq(status_of(batch, 0) & SAP_WORLD_DEEP_CONTACT, 0, "solver %d", (int)solvers[i]);
        cr_expect(status_of(batch, 1) & SAP_WORLD_DEEP_CONTACT, "solver %d: %#x", (int)solvers[i],
                  (unsigned)status_of(batch, 1));
        sap_batch_destroy(batch);
    }
    sap_scene_destroy(scene);
}
