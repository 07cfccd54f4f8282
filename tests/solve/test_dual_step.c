/* The contact solve of a step in impulses: with SAP's compliance it is SAP's solution, on every reference scene; closed
 * solutions of single contacts, limits, drives and joint friction; restitution; contradictory targets; order of
 * contacts; options that do not fit are refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "support/need.h"

static SapScene *load(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/data/reference/%s.yaml", SAPWOOD_SOURCE_DIR, name);
    SapScene *scene = NULL;
    need(sap_scene_load(path, &scene));
    return scene;
}

static SapScene *parse(const char *text) {
    SapScene *scene = NULL;
    need(sap_scene_parse(text, strlen(text), "scene.yaml", &scene));
    return scene;
}

static SapOptions options_of(SapContactSolver solver) {
    SapOptions o;
    need(sap_options_preset("drake", &o));
    o.threads = 1;
    o.contact_solver = solver;
    return o;
}

static SapBatch *create(const SapScene *scene, const SapOptions *options) {
    SapBatch *batch = NULL;
    need(sap_batch_create(scene->model, 1, options, &batch));
    return batch;
}

static double *velocity(const SapBatch *batch) {
    return sap_batch_state(batch)->joint_qd;
}
static double *position(const SapBatch *batch) {
    return sap_batch_state(batch)->joint_q;
}
static uint32_t status_of(const SapBatch *batch) {
    return sap_solver_world_status(sap_batch_solver(batch))[0];
}

/* ---- the dual of SAP ---- */

static const char *const scenes[] = {"scenes/arm3",
                                     "scenes/box_slide",
                                     "scenes/cube_tumble",
                                     "scenes/drake_quadruped",
                                     "scenes/drake_skid",
                                     "scenes/drake_sphere_roll",
                                     "scenes/gripper",
                                     "scenes/quadruped",
                                     "scenes/spheres",
                                     "scenes/stack3",
                                     "constraints/fourbar_ball_ground",
                                     "constraints/fourbar_weld",
                                     "constraints/gripper_coupler",
                                     "constraints/own_coupler_polynomial",
                                     "constraints/own_rope",
                                     "constraints/own_soft_weld_ball",
                                     "constraints/own_tendon_drive",
                                     "constraints/own_tendon_path",
                                     "constraints/own_tendon_terms",
                                     "constraints/pair_weld_ground",
                                     "constraints/pendulums_rod",
                                     "constraints/pendulums_spring_ground",
                                     "constraints/sliders_tendon_pinched",
                                     "constraints/sliders_tendon_soft"};
enum { NUM_SCENES = sizeof scenes / sizeof *scenes, NUM_CONTACT_SCENES = 10 };

ParameterizedTestParameters(dual_step, cone_with_the_compliance_of_sap_gives_the_velocity_of_sap) {
    static int all[NUM_SCENES];
    for (int i = 0; i < NUM_SCENES; i++)
        all[i] = i;
    return cr_make_param_array(int, all, NUM_SCENES);
}

/* SAP softens the norm of tangential impulses by 1e-7 N s, the dual problem does not. */
ParameterizedTest(const int *index, dual_step, cone_with_the_compliance_of_sap_gives_the_velocity_of_sap) {
    SapScene *scene = load(scenes[*index]);
    SapOptions o = options_of(SAP_SOLVER_SAP);
    o.optimality_rel_tol = 1e-10;
    o.line_search = SAP_EXACT_ROOT;
    o.cost_rel_tol = o.cost_abs_tol = 0;
    SapBatch *sap = create(scene, &o);
    o.contact_solver = SAP_SOLVER_CONE;
    o.contact_compliance = SAP_COMPLIANCE_SAP;
    SapBatch *cone = create(scene, &o);
    const SapModelArrays *a = sap_model_arrays(scene->model);
    double worst = 0;
    int contacts = 0;
    for (int step = 0; step < 200; step++) {
        memcpy(position(cone), position(sap), (size_t)a->num_coords * sizeof(double));
        memcpy(velocity(cone), velocity(sap), (size_t)a->num_dofs * sizeof(double));
        need(sap_batch_step(sap, scene->dt, 1));
        need(sap_batch_step(cone, scene->dt, 1));
        for (int i = 0; i < a->num_dofs; i++)
            worst = fmax(worst, fabs(velocity(cone)[i] - velocity(sap)[i]));
        contacts += sap_batch_contacts(cone)->count[0];
        cr_assert_eq(status_of(cone) & (SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED), 0, "step %d: %#x", step,
                     (unsigned)status_of(cone));
    }
    cr_log_info("%s: %.2g m/s or rad/s, %d contacts", scenes[*index], worst, contacts);
    cr_assert(contacts > 0 || *index >= NUM_CONTACT_SCENES);
    cr_assert_leq(worst, 1e-7);
    sap_batch_destroy(sap);
    sap_batch_destroy(cone);
    sap_scene_destroy(scene);
}

/* ---- closed solutions ---- */

#define BLOCK                                                                                                          \
    "schema_version: 1\n"                                                                                              \
    "simulation: {dt: 0.01, max_contacts: 8}\n"                                                                        \
    "builder: {gravity: -9.81, rigid_gap: 0.01, defaults: {shape: {density: 1000, mu: 0.5}}}\n"                        \
    "bodies: [{id: block, transform: {p: [0, 0, 0.05]}, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.05}]}]\n"       \
    "joints: [{id: free, type: free, parent: world, child: block}]\n"                                                  \
    "articulations: [{id: block, joints: [free]}]\n"

/* A block of 1 kg that slides with 1 m/s loses mu g h of it. The convex law lifts it by mu times its speed; Coulomb's
 * does not. Without friction it keeps its speed. */
Test(dual_step, a_sliding_block_slows_down_by_mu_g_h) {
    const double h = 0.01, g = 9.81, mu = 0.5;
    const struct {
        SapContactSolver solver;
        SapFrictionLaw law;
        double v_x, v_z;
    } cases[] = {{SAP_SOLVER_CONE, SAP_FRICTION_COULOMB, 1 - mu * g * h, 0},
                 {SAP_SOLVER_ACTIVE_SET, SAP_FRICTION_CONVEX, 1, 0}};
    SapScene *scene = parse(BLOCK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SapOptions o = options_of(cases[i].solver);
        o.friction_law = cases[i].law;
        o.optimality_rel_tol = 1e-10;
        SapBatch *batch = create(scene, &o);
        velocity(batch)[0] = 1;
        need(sap_batch_step(batch, h, 1));
        cr_expect_float_eq(velocity(batch)[0], cases[i].v_x, 1e-8, "%zu: %.12g", i, velocity(batch)[0]);
        cr_expect_float_eq(velocity(batch)[2], cases[i].v_z, 1e-8, "%zu: %.12g", i, velocity(batch)[2]);
        sap_batch_destroy(batch);
    }
    sap_scene_destroy(scene);
}

#define SLIDER(joint)                                                                                                  \
    "schema_version: 1\n"                                                                                              \
    "simulation: {dt: 0.01}\n"                                                                                         \
    "builder: {gravity: 0}\n"                                                                                          \
    "ground: false\n"                                                                                                  \
    "bodies: [{id: a, mass: 2, inertia: [1, 1, 1]}]\n"                                                                 \
    "joints: [{id: push, type: prismatic, parent: world, child: a, axis: x, " joint "}]\n"                             \
    "articulations: [{id: a, joints: [push]}]\n"

/* A mass of 2 kg on a rail, with one row: the velocity of each follows by hand. */
Test(dual_step, rows_of_dofs_have_their_closed_solutions) {
    const double h = 0.01;
    const struct {
        const char *text;
        double q, v, after; /* before the step; velocity after it */
    } cases[] = {
        /* a limit at 0.5 that the joint would pass: it closes the gap, and not more */
        {SLIDER("limit_lower: -0.5, limit_upper: 0.5, limit_ke: 1e4"), 0.499, 1, 0.1},
        {SLIDER("limit_lower: -0.5, limit_upper: 0.5, limit_ke: 1e4"), -0.499, -1, -0.1},
        /* past the limit by 0.01: pushed out with 0.2 * 0.01/h */
        {SLIDER("limit_lower: -0.5, limit_upper: 0.5, limit_ke: 1e4"), 0.51, 1, -0.2},
        /* friction of 3 N takes 3 h/m, or all of a smaller velocity */
        {SLIDER("friction: 3"), 0, 1, 1 - 3 * 0.01 / 2},
        {SLIDER("friction: 3"), 0, 0.01, 0},
        /* a drive without limit of effort: m (v - v0) = -h (kp (q + h v) + kd v); the same within a limit; at one
         * of 4 N: 4 h/m */
        {SLIDER("target_ke: 100, target_kd: 5, actuator_mode: position_velocity, effort_limit: inf"), 0.3, 0.2,
         (2 * 0.2 - 0.01 * 100 * 0.3) / (2 + 0.01 * (0.01 * 100 + 5))},
        {SLIDER("target_ke: 100, target_kd: 5, actuator_mode: position_velocity, effort_limit: 400"), 0.3, 0.2,
         (2 * 0.2 - 0.01 * 100 * 0.3) / (2 + 0.01 * (0.01 * 100 + 5))},
        {SLIDER("target_ke: 100, target_kd: 5, actuator_mode: position_velocity, effort_limit: 4"), 0.3, 0.2,
         0.2 - 4 * 0.01 / 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int solver = SAP_SOLVER_CONE; solver <= SAP_SOLVER_ACTIVE_SET; solver++) {
            SapScene *scene = parse(cases[i].text);
            SapOptions o = options_of((SapContactSolver)solver);
            o.optimality_rel_tol = 1e-12;
            SapBatch *batch = create(scene, &o);
            position(batch)[0] = cases[i].q;
            velocity(batch)[0] = cases[i].v;
            need(sap_batch_step(batch, h, 1));
            cr_expect_float_eq(velocity(batch)[0], cases[i].after, 1e-10, "case %zu, solver %d: %.12g, not %.12g", i,
                               solver, velocity(batch)[0], cases[i].after);
            sap_batch_destroy(batch);
            sap_scene_destroy(scene);
        }
}

/* ---- towers ---- */

/* Twenty boxes 1 mm above each other fall, land and stay: what the tolerance of a solve leaves of an overlap is small,
 * and pushing it out moves nothing visibly. The bound is a thousandth of the speed of landing. */
Test(dual_step, a_tower_of_twenty_boxes_lands_and_does_not_jump) {
    enum { BOXES = 20, STEPS = 60 };
    static char text[16384];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "schema_version: 1\n"
                                   "simulation: {dt: 0.005, max_contacts: %d}\n"
                                   "builder: {gravity: -9.81, rigid_gap: 0.01, defaults: {shape: {density: 1000, mu: "
                                   "0.5}}}\n"
                                   "bodies:\n",
                                   4 * BOXES);
    for (int i = 0; i < BOXES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "- {id: b%d, transform: {p: [0, 0, %g]}, shapes: [{type: box, hx: 0.1, hy: 0.1, hz: "
                                 "0.1}]}\n",
                                 i, 0.1 + 0.201 * i + 0.001);
    used += (size_t)snprintf(text + used, sizeof text - used, "joints:\n");
    for (int i = 0; i < BOXES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "- {id: j%d, type: free, parent: world, child: b%d}\n", i, i);
    used += (size_t)snprintf(text + used, sizeof text - used, "articulations:\n");
    for (int i = 0; i < BOXES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "- {id: a%d, joints: [j%d]}\n", i, i);
    SapScene *scene = parse(text);
    SapOptions o = options_of(SAP_SOLVER_CONE);
    SapBatch *batch = create(scene, &o);
    double up = 0, down = 0;
    for (int step = 0; step < STEPS; step++) {
        need(sap_batch_step(batch, 0.005, 1));
        cr_assert_eq(status_of(batch) & (SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED), 0);
        for (int i = 0; i < BOXES; i++) {
            up = fmax(up, velocity(batch)[6 * i + 2]);
            down = fmax(down, -velocity(batch)[6 * i + 2]);
        }
    }
    cr_expect(down > 0.3 && up < 1e-3 * down, "%g m/s up, %g m/s down", up, down);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- restitution ---- */

#define SPHERE                                                                                                         \
    "schema_version: 1\n"                                                                                              \
    "simulation: {dt: 0.001, max_contacts: 4}\n"                                                                       \
    "builder: {gravity: -10, rigid_gap: %s}\n"                                                                         \
    "bodies: [{id: ball, transform: {p: [0, 0, 1.1]}, shapes: [{type: sphere, radius: 0.1, density: 1000}]}]\n"        \
    "joints: [{id: free, type: free, parent: world, child: ball}]\n"                                                   \
    "articulations: [{id: ball, joints: [free]}]\n"

/* A sphere from 1 m with e = 0.5 rises to 1/4 m, then to 1/16 m: e^2 of the height before, to the distance of one step.
 * The speed after each impact is e times the speed before it exactly. */
static void bounce(const char *gap) {
    char text[1024];
    snprintf(text, sizeof text, SPHERE, gap);
    SapScene *scene = parse(text);
    SapOptions o = options_of(SAP_SOLVER_CONE);
    o.restitution = 0.5;
    o.optimality_rel_tol = 1e-12;
    SapBatch *batch = create(scene, &o);
    int impacts = 0;
    double top = 0, tops[3] = {0};
    for (int step = 0; step < 1400 && impacts < 3; step++) {
        double before = velocity(batch)[2];
        need(sap_batch_step(batch, 0.001, 1));
        double after = velocity(batch)[2];
        if (before < 0 && after > 0) {
            cr_expect_float_eq(after, -0.5 * before, 1e-10, "impact %d: %.12g after %.12g", impacts, after, before);
            tops[impacts++] = top;
            top = 0;
        }
        if (after > 0 || impacts > 0)
            top = fmax(top, position(batch)[2] - 0.1);
    }
    cr_assert_eq(impacts, 3);
    cr_expect_float_eq(tops[1], 0.25, 0.006, "%g", tops[1]);
    cr_expect_float_eq(tops[2], 0.0625, 0.004, "%g", tops[2]);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(dual_step, a_sphere_with_restitution_one_half_rises_to_a_quarter) {
    bounce("0");
    bounce("0.02"); /* contacts ahead of the impact do not brake it */
}

#define TUMBLE                                                                                                         \
    "schema_version: 1\n"                                                                                              \
    "simulation: {dt: 0.002, max_contacts: 16}\n"                                                                      \
    "builder: {gravity: 0, rigid_gap: 0, defaults: {shape: {density: 1000, mu: 0.8}}}\n"                               \
    "bodies: [{id: box, transform: {p: [0, 0, 1]}, shapes: [{type: box, hx: 0.2, hy: 0.1, hz: 0.05}]}]\n"              \
    "joints: [{id: free, type: free, parent: world, child: box}]\n"                                                    \
    "articulations: [{id: box, joints: [free]}]\n"                                                                     \
    "post_build:\n"                                                                                                    \
    "- {op: add_shape, body: world, type: box, hx: 2, hy: 2, hz: 0.5, transform: {p: [0, 0, 2.5]}}\n"                  \
    "- {op: add_shape, body: world, type: box, hx: 0.5, hy: 3, hz: 3, transform: {p: [1.5, 0, 1]}}\n"                  \
    "- {op: add_shape, body: world, type: box, hx: 0.5, hy: 3, hz: 3, transform: {p: [-1.5, 0, 1]}}\n"                 \
    "- {op: add_shape, body: world, type: box, hx: 3, hy: 0.5, hz: 3, transform: {p: [0, 1.5, 1]}}\n"                  \
    "- {op: add_shape, body: world, type: box, hx: 3, hy: 0.5, hz: 3, transform: {p: [0, -1.5, 1]}}\n"

/* Kinetic energy of the box of 8 kg. */
static double tumble_energy(const SapBatch *batch) {
    const double *v = velocity(batch), *q = position(batch) + 3, m = 8, half[3] = {0.2, 0.1, 0.05};
    double energy = 0, w[3], t[3];
    for (int i = 0; i < 3; i++) /* omega in body axes: w - 2 q4 (q x w) + 2 q x (q x w) */
        t[i] = 2 * (q[(i + 1) % 3] * v[3 + (i + 2) % 3] - q[(i + 2) % 3] * v[3 + (i + 1) % 3]);
    for (int i = 0; i < 3; i++)
        w[i] = v[3 + i] - q[3] * t[i] + q[(i + 1) % 3] * t[(i + 2) % 3] - q[(i + 2) % 3] * t[(i + 1) % 3];
    for (int i = 0; i < 3; i++) {
        double a = half[(i + 1) % 3], b = half[(i + 2) % 3];
        energy += m * v[i] * v[i] / 2 + m * (a * a + b * b) / 6 * w[i] * w[i];
    }
    return energy;
}

/* The largest gain of energy in a step, relative to all of it, of a box that tumbles between walls. Nothing is pushed
 * out, and the spin keeps its energy. *reduced counts steps whose bounce was reduced. */
static double tumble_gain(SapContactSolver solver, SapFrictionLaw law, SapRestitutionRule rule, int guard,
                          int *reduced) {
    SapScene *scene = parse(TUMBLE);
    SapOptions o = options_of(solver);
    o.restitution = 1;
    o.friction_law = law;
    o.restitution_rule = rule;
    o.restitution_guard = guard;
    o.push_factor = 0;
    o.gyroscopic = SAP_GYROSCOPIC_IMPLICIT;
    SapBatch *batch = create(scene, &o);
    static const double start[6] = {3, -2, 1.5, 4, 7, -5};
    memcpy(velocity(batch), start, sizeof start);
    double before = tumble_energy(batch), most = 0;
    *reduced = 0;
    for (int step = 0; step < 1500; step++) {
        need(sap_batch_step(batch, 0.002, 1));
        double after = tumble_energy(batch);
        most = fmax(most, after / before - 1);
        before = after;
        *reduced += (status_of(batch) & SAP_WORLD_BOUNCE_REDUCED) != 0;
    }
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    return most;
}

/* The tolerance is ten times that of the guard, which is ten times that of the solve. */
Test(dual_step, restitution_adds_no_energy) {
    static const struct {
        SapContactSolver solver;
        SapFrictionLaw law;
        SapRestitutionRule rule;
    } cases[] = {{SAP_SOLVER_CONE, SAP_FRICTION_CONVEX, SAP_RESTITUTION_MOREAU},
                 {SAP_SOLVER_CONE, SAP_FRICTION_COULOMB, SAP_RESTITUTION_MOREAU},
                 {SAP_SOLVER_CONE, SAP_FRICTION_CONVEX, SAP_RESTITUTION_CLAMPED},
                 {SAP_SOLVER_PGS, SAP_FRICTION_CONVEX, SAP_RESTITUTION_MOREAU},
                 {SAP_SOLVER_PGS_ROWS, SAP_FRICTION_CONVEX, SAP_RESTITUTION_MOREAU}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int reduced, none;
        double gain = tumble_gain(cases[i].solver, cases[i].law, cases[i].rule, 1, &reduced);
        double without = tumble_gain(cases[i].solver, cases[i].law, cases[i].rule, 0, &none);
        cr_log_info("case %zu: %.3g with the guard (%d steps), %.3g without", i, gain, reduced, without);
        cr_expect_leq(gain, 1e-4, "case %zu: %g", i, gain);
        cr_expect(without > 0.01 && reduced > 0 && none == 0, "case %zu: %g, %d, %d", i, without, reduced, none);
    }
}

/* ---- truthful ---- */

/* A sphere between two planes that are closer than its diameter: no velocity pushes it out of both. */
Test(dual_step, contradictory_targets_are_told_and_the_world_moves_on) {
    SapScene *scene =
        parse("schema_version: 1\n"
              "simulation: {dt: 0.01, max_contacts: 4}\n"
              "builder: {gravity: 0}\n"
              "ground: false\n"
              "bodies: [{id: ball, shapes: [{type: sphere, radius: 0.1}]}]\n"
              "joints: [{id: free, type: free, parent: world, child: ball}]\n"
              "articulations: [{id: ball, joints: [free]}]\n"
              "post_build:\n"
              "- {op: add_shape, body: world, type: box, hx: 1, hy: 1, hz: 0.1, transform: {p: [0, 0, -0.19]}}\n"
              "- {op: add_shape, body: world, type: box, hx: 1, hy: 1, hz: 0.1, transform: {p: [0, 0, 0.19]}}\n");
    const SapContactSolver solvers[] = {SAP_SOLVER_CONE, SAP_SOLVER_ACTIVE_SET};
    for (int i = 0; i < 2; i++) {
        SapOptions o = options_of(solvers[i]);
        SapBatch *batch = create(scene, &o);
        need(sap_batch_step(batch, 0.01, 3));
        cr_expect_eq(status_of(batch), SAP_WORLD_OPTIMAL | SAP_WORLD_UNBOUNDED, "%d: %#x", (int)solvers[i],
                     (unsigned)status_of(batch));
        cr_expect_lt(fabs(velocity(batch)[2]), 1e-6);
        sap_batch_destroy(batch);
    }
    sap_scene_destroy(scene);
}

/* The velocity does not depend on the order of contacts: the same records, backwards. */
Test(dual_step, the_order_of_contacts_does_not_matter) {
    SapScene *scene = load("scenes/stack3");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapOptions o = options_of(SAP_SOLVER_CONE);
    o.optimality_rel_tol = 1e-10;
    SapSolver *solver;
    SapContacts *contacts, *backwards;
    SapState *state, *other;
    need(sap_solver_create(scene->model, 1, &o, &solver));
    need(sap_contacts_create(1, 64, SAP_F64, &contacts));
    need(sap_contacts_create(1, 64, SAP_F64, &backwards));
    need(sap_state_create(scene->model, 1, SAP_F64, &state));
    need(sap_state_create(scene->model, 1, SAP_F64, &other));
    for (int i = 0; i < a->num_dofs; i++)
        ((double *)state->joint_qd)[i] = 0.2 * sin(7.0 * i);
    for (int step = 0; step < 20; step++) {
        need(sap_collide(solver, state, contacts));
        int n = backwards->count[0] = contacts->count[0];
        for (int k = 0; k < n; k++) {
            size_t to = (size_t)(n - 1 - k), from = (size_t)k;
            backwards->shape0[to] = contacts->shape0[from];
            backwards->shape1[to] = contacts->shape1[from];
            memcpy((double *)backwards->point0 + 3 * to, (double *)contacts->point0 + 3 * from, 3 * sizeof(double));
            memcpy((double *)backwards->point1 + 3 * to, (double *)contacts->point1 + 3 * from, 3 * sizeof(double));
            memcpy((double *)backwards->normal + 3 * to, (double *)contacts->normal + 3 * from, 3 * sizeof(double));
            ((double *)backwards->margin0)[to] = ((double *)contacts->margin0)[from];
            ((double *)backwards->margin1)[to] = ((double *)contacts->margin1)[from];
        }
        need(sap_step(solver, state, NULL, backwards, scene->dt, other));
        need(sap_step(solver, state, NULL, contacts, scene->dt, state));
        for (int i = 0; i < a->num_dofs; i++)
            cr_assert_float_eq(((double *)other->joint_qd)[i], ((double *)state->joint_qd)[i], 1e-6, "step %d, dof %d",
                               step, i);
    }
    sap_state_destroy(state);
    sap_state_destroy(other);
    sap_contacts_destroy(contacts);
    sap_contacts_destroy(backwards);
    sap_solver_destroy(solver);
    sap_scene_destroy(scene);
}

/* ---- keys of contacts ---- */

typedef struct Caches {
    int32_t key[3 * 64];
    double cache[6 * 64], dof_cache[4 * 18];
} Caches;

static void reverse(const SapContacts *from, SapContacts *to) {
    int n = to->count[0] = from->count[0];
    for (int k = 0; k < n; k++) {
        size_t a = (size_t)k, b = (size_t)(n - 1 - k);
        to->shape0[b] = from->shape0[a];
        to->shape1[b] = from->shape1[a];
        memcpy((double *)to->point0 + 3 * b, (double *)from->point0 + 3 * a, 3 * sizeof(double));
        memcpy((double *)to->point1 + 3 * b, (double *)from->point1 + 3 * a, 3 * sizeof(double));
        memcpy((double *)to->normal + 3 * b, (double *)from->normal + 3 * a, 3 * sizeof(double));
        ((double *)to->margin0)[b] = ((double *)from->margin0)[a];
        ((double *)to->margin1)[b] = ((double *)from->margin1)[a];
    }
}

/* The iterations of a step from a state and its caches, which stay as they are. */
static int iterations_of(SapSolver *solver, Caches *caches, const SapState *state, SapState *out,
                         const SapContacts *contacts, double h) {
    Caches before = *caches;
    SapWorldReport report;
    need(sap_step(solver, state, NULL, contacts, h, out));
    need(sap_solver_report(solver, &report));
    *caches = before;
    return report.iterations[0];
}

/* A stack at rest whose boxes stand off centre: the four contacts of a pair carry different loads. */
Test(dual_step, a_contact_finds_its_force_by_the_key_of_the_caller_in_any_order) {
    enum { RECORDS = 64 };
    SapScene *scene = load("scenes/stack3");
    SapOptions o = options_of(SAP_SOLVER_CONE);
    o.warm_start = true;
    o.optimality_rel_tol = 1e-8;
    o.push_factor = 0;
    o.max_contacts = RECORDS;
    static Caches caches;
    SapContactReport record = {.cache_key = caches.key, .cache = caches.cache, .dof_cache = caches.dof_cache};
    int32_t forwards[RECORDS], backwards[RECORDS];
    SapSolver *solver;
    SapContacts *contacts, *other;
    SapState *state, *out;
    need(sap_solver_create(scene->model, 1, &o, &solver));
    need(sap_contacts_create(1, RECORDS, SAP_F64, &contacts));
    need(sap_contacts_create(1, RECORDS, SAP_F64, &other));
    need(sap_state_create(scene->model, 1, SAP_F64, &state));
    need(sap_state_create(scene->model, 1, SAP_F64, &out));
    need(sap_solver_record(solver, &record));
    contacts->key = forwards;
    for (int step = 0; step < 200; step++) {
        need(sap_collide(solver, state, contacts));
        for (int k = 0; k < RECORDS; k++) {
            forwards[k] = 1000 + 7 * k;
            backwards[k] = 1000 + 7 * (contacts->count[0] - 1 - k);
        }
        if (step < 199)
            need(sap_step(solver, state, NULL, contacts, scene->dt, state));
    }
    cr_assert_eq(contacts->count[0], 12);
    reverse(contacts, other);
    int in_order = iterations_of(solver, &caches, state, out, contacts, scene->dt);
    other->key = backwards;
    int by_key = iterations_of(solver, &caches, state, out, other, scene->dt);
    other->key = NULL;
    int by_index = iterations_of(solver, &caches, state, out, other, scene->dt);
    cr_expect(by_key <= in_order + 1 && by_key < by_index, "%d in order, %d by key, %d by index", in_order, by_key,
              by_index);
    cr_log_info("%d iterations in order, %d by key, %d by index", in_order, by_key, by_index);
    sap_state_destroy(state);
    sap_state_destroy(out);
    sap_contacts_destroy(contacts);
    sap_contacts_destroy(other);
    sap_solver_destroy(solver);
    sap_scene_destroy(scene);
}

/* A contact of the same two shapes and normal with their sides exchanged pushes each of them the other way: it has no
 * force of the last step to start from. */
Test(dual_step, a_contact_with_exchanged_sides_is_another_contact) {
    const double h = 0.001;
    char text[1024];
    snprintf(text, sizeof text, SPHERE, "0.01");
    SapScene *scene = parse(text);
    SapOptions o = options_of(SAP_SOLVER_CONE);
    o.warm_start = true;
    static Caches caches, none, found;
    SapContactReport record = {.cache_key = caches.key, .cache = caches.cache, .dof_cache = caches.dof_cache};
    SapSolver *solver;
    SapContacts *contacts;
    SapState *state, *out;
    need(sap_solver_create(scene->model, 1, &o, &solver));
    need(sap_contacts_create(1, 4, SAP_F64, &contacts));
    need(sap_state_create(scene->model, 1, SAP_F64, &state));
    need(sap_state_create(scene->model, 1, SAP_F64, &out));
    need(sap_solver_record(solver, &record));
    ((double *)state->joint_q)[2] = 0.1;
    for (int step = 0; step < 20; step++) {
        need(sap_collide(solver, state, contacts));
        need(sap_step(solver, state, NULL, contacts, h, state));
    }
    need(sap_collide(solver, state, contacts));
    cr_assert_eq(contacts->count[0], 1);
    double *v = state->joint_qd, *point0 = contacts->point0, *point1 = contacts->point1;
    found = caches;
    cr_assert_eq(iterations_of(solver, &caches, state, out, contacts, h), 0, "a warm start at rest takes no iteration");
    int32_t shape = contacts->shape0[0];
    contacts->shape0[0] = contacts->shape1[0];
    contacts->shape1[0] = shape;
    for (int i = 0; i < 3; i++) {
        double x = point0[i];
        point0[i] = point1[i];
        point1[i] = x;
    }
    /* it rises, so that the contact has a force with its sides exchanged too */
    v[2] = 2;
    int with = iterations_of(solver, &caches, state, out, contacts, h);
    double velocity_with = ((double *)out->joint_qd)[2];
    caches = none;
    int without = iterations_of(solver, &caches, state, out, contacts, h);
    cr_expect_eq(with, without, "%d iterations, %d from an empty cache", with, without);
    cr_expect_eq(velocity_with, ((double *)out->joint_qd)[2]);
    cr_expect_gt(without, 0);
    cr_expect_neq(found.key[0], found.key[1]);
    sap_state_destroy(state);
    sap_state_destroy(out);
    sap_contacts_destroy(contacts);
    sap_solver_destroy(solver);
    sap_scene_destroy(scene);
}

/* A ball at rest on the ground, and three masses on rails: one with friction, one past its limit, one with a drive at
 * its bound. */
static const char terms_text[] =
    "schema_version: 1\n"
    "simulation: {dt: 0.01, max_contacts: 4}\n"
    "bodies:\n"
    "- {id: ball, transform: {p: [0, 0, 0.1]}, shapes: [{type: sphere, radius: 0.1, density: 1000}]}\n"
    "- {id: a, mass: 2, inertia: [1, 1, 1]}\n"
    "- {id: b, mass: 2, inertia: [1, 1, 1]}\n"
    "- {id: c, mass: 2, inertia: [1, 1, 1]}\n"
    "joints:\n"
    "- {id: free, type: free, parent: world, child: ball}\n"
    "- {id: rub, type: prismatic, parent: world, child: a, axis: x, friction: 3}\n"
    "- {id: stop, type: prismatic, parent: world, child: b, axis: x, limit_lower: -1, limit_upper: 0, limit_ke: 1e4}\n"
    "- {id: push, type: prismatic, parent: world, child: c, axis: x, target_ke: 100, target_kd: 5, "
    "actuator_mode: position_velocity, effort_limit: 4}\n"
    "articulations: [{id: ball, joints: [free]}, {id: a, joints: [rub]}, {id: b, joints: [stop]}, {id: c, joints: "
    "[push]}]\n";

/* The cache of dofs behind a contact: forces of drive, lower and upper limit and friction equal the report. */
Test(dual_step, the_cache_of_dofs_has_the_forces_of_the_report) {
    enum { NV = 9, RUB = 6, STOP, PUSH };
    const double h = 0.01;
    SapScene *scene = parse(terms_text);
    SapOptions o = options_of(SAP_SOLVER_CONE);
    o.warm_start = true;
    static Caches caches;
    double drive[NV], limit[NV], friction[NV];
    SapContactReport record = {.cache_key = caches.key,
                               .cache = caches.cache,
                               .dof_cache = caches.dof_cache,
                               .drive = drive,
                               .limit = limit,
                               .friction = friction};
    SapSolver *solver;
    SapContacts *contacts;
    SapState *state;
    need(sap_solver_create(scene->model, 1, &o, &solver));
    need(sap_contacts_create(1, 4, SAP_F64, &contacts));
    need(sap_state_create(scene->model, 1, SAP_F64, &state));
    need(sap_solver_record(solver, &record));
    double *q = state->joint_q, *v = state->joint_qd;
    v[RUB] = 1, v[STOP] = 1, q[8] = 0.01, q[9] = 0.3; /* coordinates of stop and push */
    need(sap_collide(solver, state, contacts));
    cr_assert_eq(contacts->count[0], 1);
    need(sap_step(solver, state, NULL, contacts, h, state));
    for (int i = 0; i < NV; i++) {
        const double *row = caches.dof_cache + 4 * i;
        cr_expect_float_eq(row[0] * h, drive[i], 1e-12, "drive of dof %d: %g, %g", i, row[0] * h, drive[i]);
        cr_expect_float_eq((row[1] - row[2]) * h, limit[i], 1e-12, "limit of dof %d: %g", i, limit[i]);
        cr_expect_float_eq(row[3] * h, friction[i], 1e-12, "friction of dof %d: %g", i, friction[i]);
    }
    cr_expect_float_eq(friction[RUB], -3 * h, 1e-6, "%g", friction[RUB]);
    cr_expect_lt(limit[STOP], -1);
    cr_expect_float_eq(drive[PUSH], -4 * h, 1e-6, "%g", drive[PUSH]);
    sap_state_destroy(state);
    sap_contacts_destroy(contacts);
    sap_solver_destroy(solver);
    sap_scene_destroy(scene);
}

/* ---- refusals ---- */

static void refused(const SapScene *scene, SapStatus expected, const SapOptions *o, const char *part) {
    SapBatch *batch = NULL;
    cr_expect_eq(sap_batch_create(scene->model, 1, o, &batch), expected, "%s", sap_error_message());
    cr_expect(strstr(sap_error_message(), part), "'%s' does not have '%s'", sap_error_message(), part);
    sap_batch_destroy(batch);
}

/* Two worlds of a pack press a slider against its limit; then one is moved far from it. Its row of the limit is there
 * for the other world only, and the force of the last step is not its own any more. */
Test(dual_step, a_limit_out_of_reach_has_no_force_from_the_cache) {
    SapScene *scene = parse("schema_version: 1\n"
                            "ground: false\n"
                            "bodies: [{id: b, shapes: [{type: box, hx: 0.1, hy: 0.1, hz: 0.1, density: 1000}]}]\n"
                            "joints: [{id: j, type: prismatic, axis: x, parent: world, child: b, limit_lower: -1, "
                            "limit_upper: 0, friction: 8}]\n");
    static const SapContactSolver solvers[] = {SAP_SOLVER_CONE, SAP_SOLVER_PGS, SAP_SOLVER_PGS_ROWS,
                                               SAP_SOLVER_ACTIVE_SET};
    for (int k = 0; k < 4; k++) {
        SapOptions o = options_of(solvers[k]);
        SapBatch *batch = NULL;
        o.warm_start = true;
        o.lanes = 4;
        need(sap_batch_create(scene->model, 2, &o, &batch));
        double *force = sap_batch_control(batch)->joint_f;
        force[0] = force[1] = 80;
        need(sap_batch_step(batch, 0.01, 2));
        cr_expect_float_eq(velocity(batch)[0], 0, 1e-6, "solver %d", k); /* the tolerance of the solve */
        position(batch)[0] = -0.5;
        need(sap_batch_step(batch, 0.01, 1));
        cr_expect_float_eq(velocity(batch)[0], 0.09, 1e-6, "solver %d: h (F - friction)/m with m = 8 kg, not %g", k,
                           velocity(batch)[0]);
        cr_expect_float_eq(velocity(batch)[1], 0, 1e-6, "solver %d", k);
        sap_batch_destroy(batch);
    }
    sap_scene_destroy(scene);
}

Test(dual_step, refuses_options_that_do_not_fit) {
    SapScene *scene = load("scenes/stack3");
    SapOptions o = options_of(SAP_SOLVER_ACTIVE_SET);
    o.friction_law = SAP_FRICTION_COULOMB;
    refused(scene, SAP_ERROR_UNSUPPORTED, &o, "friction_law is coulomb");
    o = options_of(SAP_SOLVER_CONE);
    o.factor_plan = SAP_FACTOR_LIBRARY;
    refused(scene, SAP_ERROR_UNSUPPORTED, &o, "contact_solver cone");
    SapSolver *solver = NULL;
    o = options_of(SAP_SOLVER_PGS);
    o.max_contacts = 2000;
    cr_expect_eq(sap_solver_create(scene->model, 1, &o, &solver), SAP_ERROR_ARGUMENT);
    cr_expect(strstr(sap_error_message(), "max_contacts is 2000"), "%s", sap_error_message());
    sap_scene_destroy(scene);
}
