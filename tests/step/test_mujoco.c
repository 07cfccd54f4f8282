/* Steps of MuJoCo's law: golden numbers of MuJoCo 4.0 for single rows, the start and the end of a solve, the same bits
 * however a world is run, bad input, and bouncing balls. cli_compare has the comparison with MuJoCo on 30 models. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/mujoco.h>
#include <sapwood/sapwood.h>

#include "support/near.h"

/* ---- models ---- */

/* A body of 2 kg on three slides x, y, z, with MuJoCo's weights. */
typedef struct Point {
    SapModelArrays m;
    SapMujocoArrays law;
    int32_t type, parent, child, dim[2];
    double axis[9], mass, inertia[9], friction[3], damping[3], lower[3], upper[3];
    double body_weight[2], dof_weight[3];
} Point;

static void point_fill(Point *p) {
    *p = (Point){.type = SAP_JOINT_D6,
                 .parent = -1,
                 .dim = {3, 0},
                 .axis = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                 .mass = 2,
                 .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                 .lower = {-INFINITY, -INFINITY, -INFINITY},
                 .upper = {INFINITY, INFINITY, INFINITY},
                 .body_weight = {0.5, 0},
                 .dof_weight = {0.5, 0.5, 0.5}};
    sap_model_arrays_default(&p->m);
    sap_mujoco_arrays_default(&p->law);
    p->m.num_bodies = p->m.num_joints = 1;
    p->m.num_dofs = p->m.num_coords = 3;
    p->m.joint_type = &p->type;
    p->m.joint_parent = &p->parent;
    p->m.joint_child = &p->child;
    p->m.joint_dof_dim = p->dim;
    p->m.joint_axis = p->axis;
    p->m.joint_friction = p->friction;
    p->m.joint_damping = p->damping;
    p->m.joint_limit_lower = p->lower;
    p->m.joint_limit_upper = p->upper;
    p->m.body_mass = &p->mass;
    p->m.body_inertia = p->inertia;
    p->law.body_invweight = p->body_weight;
    p->law.dof_invweight = p->dof_weight;
}

static SapModel *model_of(const Point *p) {
    SapModel *model = NULL;
    cr_assert_eq(sap_model_create_mujoco(&p->m, &p->law, &model), SAP_OK, "%s", sap_error_message());
    return model;
}

/* ---- solvers ---- */

enum { MAX_ROWS = 16, MAX_WORLDS = 11 };

/* A solver with all that a step of some worlds needs. */
typedef struct Rig {
    SapModel *model;
    SapSolver *solver;
    SapState *in, *out;
    SapControl *control;
    SapContacts *contacts;
    SapMujocoContact record[MAX_WORLDS];
    double guess[MAX_WORLDS * 6];
    SapMujocoRows rows;
    int32_t count[MAX_WORLDS], type[MAX_WORLDS * MAX_ROWS], state[MAX_WORLDS * MAX_ROWS];
    double J[MAX_WORLDS * MAX_ROWS * 6], pos[MAX_WORLDS * MAX_ROWS], R[MAX_WORLDS * MAX_ROWS],
        aref[MAX_WORLDS * MAX_ROWS], force[MAX_WORLDS * MAX_ROWS], qacc[MAX_WORLDS * 6];
} Rig;

static SapOptions options_of(void) {
    SapOptions o;
    cr_assert_eq(sap_options_preset("approx64", &o), SAP_OK);
    o.contact_solver = SAP_SOLVER_MUJOCO;
    o.max_rigid_contact = 4;
    o.threads = 1;
    return o;
}

/* With the lanes of an instruction set: 1, 4 or 8. False if this machine does not have it. */
static bool rig_open_isa(Rig *r, SapModel *model, int worlds, SapIsa isa) {
    SapOptions o = options_of();
    o.isa = isa;
    memset(r, 0, sizeof *r);
    r->model = model;
    SapStatus status = sap_solver_create(model, worlds, &o, &r->solver);
    if (status == SAP_ERROR_DEVICE) {
        sap_model_destroy(model);
        return false;
    }
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_state_create(model, worlds, SAP_F64, &r->in), SAP_OK);
    cr_assert_eq(sap_state_create(model, worlds, SAP_F64, &r->out), SAP_OK);
    cr_assert_eq(sap_control_create(model, worlds, SAP_F64, &r->control), SAP_OK);
    cr_assert_eq(sap_contacts_create(worlds, 1, SAP_F64, &r->contacts), SAP_OK);
    r->control->guess = r->guess;
    r->contacts->mujoco = r->record;
    r->rows = (SapMujocoRows){.capacity = MAX_ROWS,
                              .count = r->count,
                              .type = r->type,
                              .state = r->state,
                              .jacobian = r->J,
                              .pos = r->pos,
                              .R = r->R,
                              .aref = r->aref,
                              .force = r->force,
                              .qacc = r->qacc};
    cr_assert_eq(sap_solver_record_rows(r->solver, &r->rows), SAP_OK, "%s", sap_error_message());
    return true;
}

static void rig_open(Rig *r, SapModel *model, int worlds) {
    cr_assert(rig_open_isa(r, model, worlds, SAP_ISA_AUTO));
}

static void rig_step(Rig *r, double h) {
    cr_assert_eq(sap_step(r->solver, r->in, r->control, r->contacts, h, r->out), SAP_OK, "%s", sap_error_message());
}

static void rig_close(Rig *r) {
    sap_solver_destroy(r->solver);
    sap_state_destroy(r->in);
    sap_state_destroy(r->out);
    sap_control_destroy(r->control);
    sap_contacts_destroy(r->contacts);
    sap_model_destroy(r->model);
}

static void set(void *array, int n, const double *values) {
    memcpy(array, values, (size_t)n * sizeof *values);
}

static int iterations_of(const Rig *r, int world) {
    SapWorldReport report;
    cr_assert_eq(sap_solver_report(r->solver, &report), SAP_OK);
    return report.iterations[world];
}

static int evaluations_of(const Rig *r, int world) {
    SapWorldReport report;
    cr_assert_eq(sap_solver_report(r->solver, &report), SAP_OK);
    return report.line_iterations[world];
}

static void check_all(const double *values, const double *expected, int n, double tolerance, const char *what) {
    for (int i = 0; i < n; i++)
        check_near(values[i], expected[i], tolerance, what);
}

/* The sphere of the golden contact: on the plane z = 0, at height 0.099, radius 0.1. */
static const SapMujocoContact on_plane = {.pos = {0, 0, -0.0005},
                                          .frame = {0, 0, 1, 0, 1, 0, -1, 0, 0},
                                          .dist = -0.001,
                                          .friction = {0.4, 0.4, 0.01, 0.001, 0.001},
                                          .solref = {0.02, 1},
                                          .solimp = {0.9, 0.95, 0.001, 0.5, 2},
                                          .dim = 3};

/* A world of the point with the golden contact and this velocity; the warm start is a = 0. */
static void place_on_plane(Rig *r, int world, const double *v) {
    const double q[3] = {0, 0, 0.099};
    set((double *)r->in->joint_q + 3 * world, 3, q);
    set((double *)r->in->joint_qd + 3 * world, 3, v);
    set(r->guess + 3 * world, 3, v);
    r->contacts->count[world] = 1;
    r->contacts->body1[world] = 0;
    r->record[world] = on_plane;
}

/* ---- golden numbers ---- */

Test(mujoco, an_elliptic_contact_that_slides_has_the_numbers_of_mujoco) {
    Point p;
    Rig r;
    point_fill(&p);
    p.law.cone = SAP_CONE_ELLIPTIC;
    p.law.impratio = 4;
    rig_open(&r, model_of(&p), 1);
    place_on_plane(&r, 0, (const double[]){0.8, -0.3, -0.05});
    rig_step(&r, 0.005);
    cr_assert_eq(r.count[0], 3);
    check_all(r.R, (const double[]){0.0263157894737, 0.00657894736842, 0.00657894736842}, 3, 1e-12, "R");
    check_all(r.aref, (const double[]){7.89473684211, 31.5789473684, 84.2105263158}, 3, 1e-9, "aref");
    check_all(r.force, (const double[]){88.3804419086, 12.4129779728, 33.1012745942}, 3, 1e-9, "force");
    check_all(r.qacc, (const double[]){-16.5506372971, 6.20648898641, 34.3802209543}, 3, 1e-9, "qacc");
    cr_assert(r.state[0] == 4 && r.state[1] == 4 && r.state[2] == 4);
    cr_assert_eq(iterations_of(&r, 0), 1);
    cr_assert_eq(evaluations_of(&r, 0), 2);
    check_all(r.out->joint_qd, (const double[]){0.717246813515, -0.268967555068, 0.121901104772}, 3, 1e-11,
              "next velocity");
    rig_close(&r);
}

Test(mujoco, a_contact_at_rest_sideways_is_quadratic) {
    Point p;
    Rig r;
    point_fill(&p);
    p.law.cone = SAP_CONE_ELLIPTIC;
    p.law.impratio = 4;
    rig_open(&r, model_of(&p), 1);
    place_on_plane(&r, 0, (const double[]){0.001, -0.0004, -0.05});
    rig_step(&r, 0.005);
    check_all(r.force, (const double[]){33.639, 0.0831168831169, 0.207792207792}, 3, 1e-9, "force");
    cr_assert(r.state[0] == 1 && r.state[1] == 1 && r.state[2] == 1);
    rig_close(&r);
}

Test(mujoco, a_pyramid_has_the_numbers_of_mujoco) {
    Point p;
    Rig r;
    point_fill(&p);
    p.law.impratio = 4;
    rig_open(&r, model_of(&p), 1);
    place_on_plane(&r, 0, (const double[]){0.8, -0.3, -0.05});
    rig_step(&r, 0.005);
    cr_assert_eq(r.count[0], 4);
    check_all(r.R, (const double[]){0.00244210526316, 0.00244210526316, 0.00244210526316, 0.00244210526316}, 4, 1e-12,
              "R");
    check_all(r.aref, (const double[]){20.5263157895, -4.73684210526, 41.5789473684, -25.7894736842}, 4, 1e-9, "aref");
    check_all(r.force, (const double[]){0, 0, 88.2301380756, 0}, 4, 1e-8, "force");
    cr_assert_eq(iterations_of(&r, 0), 2);
    cr_assert_eq(evaluations_of(&r, 0), 5);
    rig_close(&r);
}

Test(mujoco, a_discrete_step_has_the_numbers_of_mujoco) {
    Point p;
    Rig r;
    point_fill(&p);
    p.law.cone = SAP_CONE_ELLIPTIC;
    p.law.impratio = 4;
    p.law.integrator = SAP_INTEGRATOR_DISCRETE;
    rig_open(&r, model_of(&p), 1);
    place_on_plane(&r, 0, (const double[]){0.8, -0.3, -0.05});
    rig_step(&r, 0.005);
    check_all(r.R, (const double[]){0.0165289256198, 0.00413223140496, 0.00413223140496}, 3, 1e-12, "R");
    check_all(r.aref, (const double[]){5.37190082645, 20.6896551724, 55.1724137931}, 3, 1e-9, "aref");
    check_all(r.qacc, (const double[]){-12.1516492944, 4.55686848541, 22.6349178385}, 3, 1e-9, "qacc");
    rig_close(&r);
}

/* Two of the three slides: one sticks, one slides. */
Test(mujoco, friction_loss_sticks_and_slides) {
    Point p;
    Rig r;
    point_fill(&p);
    p.friction[0] = p.friction[1] = 4;
    p.m.gravity[2] = 0;
    rig_open(&r, model_of(&p), 1);
    set(r.in->joint_qd, 3, (const double[]){0.001, 1, 0});
    set(r.guess, 3, (const double[]){0.001, 1, 0});
    rig_step(&r, 0.01);
    cr_assert_eq(r.count[0], 2);
    check_all(r.force, (const double[]){-0.189473684211, -4}, 2, 1e-11, "force");
    cr_assert(r.type[0] == 1 && r.state[0] == 1 && r.state[1] == 3);
    check_all(r.out->joint_qd, (const double[]){5.26315789474e-05, 0.98}, 2, 1e-13, "next velocity");
    rig_close(&r);
}

/* The limit of the slide z, in its impedance ramp, with implicit damping. */
static void check_limit(SapMujocoIntegrator integrator, double next) {
    Point p;
    Rig r;
    point_fill(&p);
    const double solref[6] = {0.02, 1, 0.02, 1, 0.05, 0.8};
    const double solimp[15] = {0.9, 0.95, 0.001, 0.5, 2, 0.9, 0.95, 0.001, 0.5, 2, 0.6, 0.95, 0.01, 0.5, 2};
    p.lower[2] = 0;
    p.upper[2] = 1;
    p.damping[2] = 3;
    p.m.gravity[2] = -10;
    p.law.dof_limit_solref = solref;
    p.law.dof_limit_solimp = solimp;
    p.law.integrator = integrator;
    rig_open(&r, model_of(&p), 1);
    set(r.in->joint_q, 3, (const double[]){0, 0, -0.004});
    set(r.in->joint_qd, 3, (const double[]){0, 0, -0.3});
    set(r.guess, 3, (const double[]){0, 0, -0.3});
    rig_step(&r, 0.01);
    cr_assert(r.count[0] == 1 && r.type[0] == 3);
    check_near(((double *)r.out->joint_q)[2], next, 1e-13, "next position");
    rig_close(&r);
}

Test(mujoco, a_limit_moves_as_in_mujoco_with_every_integrator) {
    check_limit(SAP_INTEGRATOR_EULER, -0.00624654569273);
    check_limit(SAP_INTEGRATOR_IMPLICITFAST, -0.00624654569273);
    check_limit(SAP_INTEGRATOR_DISCRETE, -0.00634516152057);
}

/* ---- the solve ---- */

Test(mujoco, a_start_at_the_solution_takes_no_iterations) {
    Point p;
    Rig r;
    point_fill(&p);
    rig_open(&r, model_of(&p), 1);
    const double v[3] = {0.8, -0.3, -0.05};
    place_on_plane(&r, 0, v);
    rig_step(&r, 0.005);
    cr_assert_gt(iterations_of(&r, 0), 0);
    for (int i = 0; i < 3; i++)
        r.guess[i] = v[i] + 0.005 * r.qacc[i];
    rig_step(&r, 0.005);
    cr_assert_eq(iterations_of(&r, 0), 0);
    cr_assert(sap_solver_world_status(r.solver)[0] & SAP_WORLD_OPTIMAL);
    rig_close(&r);
}

Test(mujoco, a_world_without_rows_moves_freely) {
    Point p;
    Rig r;
    point_fill(&p);
    rig_open(&r, model_of(&p), 1);
    set(r.in->joint_qd, 3, (const double[]){1, 2, 3});
    rig_step(&r, 0.01);
    cr_assert_eq(r.count[0], 0);
    cr_assert_eq(iterations_of(&r, 0), 0);
    check_all(r.out->joint_qd, (const double[]){1, 2, 3 - 0.0981}, 3, 1e-14, "velocity");
    rig_close(&r);
}

Test(mujoco, a_world_that_does_not_converge_reports_it_and_moves) {
    Point p;
    Rig r;
    point_fill(&p);
    p.law.impratio = 4;
    p.law.iterations = 1; /* the pyramid takes two */
    rig_open(&r, model_of(&p), 1);
    place_on_plane(&r, 0, (const double[]){0.8, -0.3, -0.05});
    rig_step(&r, 0.005);
    cr_assert(sap_solver_world_status(r.solver)[0] & SAP_WORLD_ITERATION_LIMIT);
    cr_assert_gt(((double *)r.out->joint_qd)[2], -0.05);
    rig_close(&r);
}

Test(mujoco, a_contact_within_its_gap_does_not_act) {
    Point p;
    Rig r;
    point_fill(&p);
    rig_open(&r, model_of(&p), 1);
    place_on_plane(&r, 0, (const double[]){0, 0, 0});
    r.record[0].dist = 0.01;
    r.record[0].includemargin = 0.01;
    rig_step(&r, 0.005);
    cr_assert_eq(r.count[0], 0);
    rig_close(&r);
}

/* ---- worlds ---- */

/* Eleven worlds of different contacts, some without one, in packs of 1, 4 or 8 lanes. False without the isa. */
static bool step_many(SapIsa isa, SapMujocoCone cone, double *q, double *v) {
    Point p;
    Rig r;
    point_fill(&p);
    p.law.cone = cone;
    p.friction[0] = 0.5;
    if (!rig_open_isa(&r, model_of(&p), MAX_WORLDS, isa))
        return false;
    for (int w = 0; w < MAX_WORLDS; w++) {
        place_on_plane(&r, w, (const double[]){0.1 * w - 0.4, 0.3 - 0.07 * w, -0.02 * w});
        r.record[w].dim = (const int[]){3, 1, 4, 6}[w % 4];
        r.record[w].solimp[4] = 1 + 0.5 * (w % 3);
        r.contacts->count[w] = w % 5 != 4;
    }
    rig_step(&r, 0.005);
    memcpy(q, r.out->joint_q, 3 * MAX_WORLDS * sizeof *q);
    memcpy(v, r.out->joint_qd, 3 * MAX_WORLDS * sizeof *v);
    rig_close(&r);
    return true;
}

Test(mujoco, worlds_have_the_same_bits_in_every_pack) {
    for (int cone = 0; cone < 2; cone++) {
        double q[2][3 * MAX_WORLDS], v[2][3 * MAX_WORLDS];
        cr_assert(step_many(SAP_ISA_GENERIC, (SapMujocoCone)cone, q[0], v[0]));
        for (int isa = SAP_ISA_AVX2; isa <= SAP_ISA_AVX512; isa++) {
            if (!step_many((SapIsa)isa, (SapMujocoCone)cone, q[1], v[1]))
                continue;
            cr_assert_eq(memcmp(q[0], q[1], sizeof q[0]), 0, "positions with isa %d", isa);
            cr_assert_eq(memcmp(v[0], v[1], sizeof v[0]), 0, "velocities with isa %d", isa);
        }
    }
}

/* Every number of one world's contact in turn; the other worlds keep their bits. */
Test(mujoco, a_bad_contact_stops_its_world_only) {
    const double bad[] = {NAN, INFINITY, 1e300};
    for (int k = 0; k < 3 * (int)(sizeof(SapMujocoContact) / sizeof(double)); k++) {
        Point p;
        Rig r;
        point_fill(&p);
        p.law.cone = k % 2 ? SAP_CONE_ELLIPTIC : SAP_CONE_PYRAMIDAL;
        rig_open(&r, model_of(&p), 3);
        for (int w = 0; w < 3; w++)
            place_on_plane(&r, w, (const double[]){0.8, -0.3, -0.05});
        ((double *)&r.record[1])[k / 3] = bad[k % 3];
        rig_step(&r, 0.005);
        const double *v = r.out->joint_qd;
        cr_assert_eq(memcmp(v, v + 6, 3 * sizeof *v), 0, "number %d", k / 3);
        cr_assert_eq(sap_solver_world_status(r.solver)[0] & SAP_WORLD_FAILED, 0);
        bool kept = memcmp(v + 3, (double *)r.in->joint_qd + 3, 3 * sizeof *v) == 0;
        bool failed = sap_solver_world_status(r.solver)[1] & SAP_WORLD_FAILED;
        cr_assert(failed ? kept : isfinite(v[3]) && isfinite(v[4]) && isfinite(v[5]), "number %d is %g: status %x",
                  k / 3, bad[k % 3], (unsigned)sap_solver_world_status(r.solver)[1]);
        rig_close(&r);
    }
}

/* ---- servos ---- */

/* The velocity of a slide of 2 kg after one step of 5 ms with a servo kp = 50, kd = 4 of target 0.3, from q = 0.1 and
 * v = 0.2, whose force 50 0.2 - 4 0.2 = 9.2 N is bounded by `limit`. */
static double servo_step(SapMujocoIntegrator integrator, double limit, double target, uint32_t *status) {
    const int32_t mode[3] = {SAP_TARGET_POSITION, 0, 0};
    const double kp[3] = {50, 0, 0}, kd[3] = {4, 0, 0}, bound[3] = {limit, INFINITY, INFINITY};
    const double at[3] = {target, 0, 0}, q[3] = {0.1, 0, 0}, v[3] = {0.2, 0, 0};
    Point p;
    Rig r;
    point_fill(&p);
    p.law.integrator = integrator;
    p.m.joint_target_mode = mode;
    p.m.joint_target_ke = kp;
    p.m.joint_target_kd = kd;
    p.m.joint_effort_limit = bound;
    memset(p.m.gravity, 0, sizeof p.m.gravity);
    rig_open(&r, model_of(&p), 1);
    r.control->guess = NULL;
    r.contacts->count[0] = 0;
    set(r.in->joint_q, 3, q);
    set(r.in->joint_qd, 3, v);
    set(r.control->joint_target_pos, 3, at);
    rig_step(&r, 0.005);
    double out = ((const double *)r.out->joint_qd)[0];
    *status = sap_solver_world_status(r.solver)[0];
    rig_close(&r);
    return out;
}

Test(mujoco, a_servo_is_explicit_or_implicit_as_its_integrator_says) {
    const double m = 2, kp = 50, kd = 4, h = 0.005, v = 0.2, F = kp * 0.2 - kd * v;
    uint32_t status;
    cr_assert_float_eq(servo_step(SAP_INTEGRATOR_EULER, INFINITY, 0.3, &status), v + h * F / m, 1e-15);
    cr_assert_float_eq(servo_step(SAP_INTEGRATOR_IMPLICITFAST, INFINITY, 0.3, &status), v + h * F / (m + h * kd),
                       1e-15);
    cr_assert_float_eq(servo_step(SAP_INTEGRATOR_DISCRETE, INFINITY, 0.3, &status),
                       v + h * (F - h * kp * v) / (m + h * kd + h * h * kp), 1e-15);
}

Test(mujoco, a_servo_at_its_bound_is_a_constant_force) {
    const SapMujocoIntegrator all[3] = {SAP_INTEGRATOR_EULER, SAP_INTEGRATOR_IMPLICITFAST, SAP_INTEGRATOR_DISCRETE};
    uint32_t status;
    for (int i = 0; i < 3; i++) {
        cr_assert_float_eq(servo_step(all[i], 3, 0.3, &status), 0.2 + 0.005 * 3 / 2, 1e-15, "integrator %d", all[i]);
        cr_assert_float_eq(servo_step(all[i], 3, -0.3, &status), 0.2 - 0.005 * 3 / 2, 1e-15, "integrator %d", all[i]);
    }
}

Test(mujoco, a_target_that_is_not_finite_fails_the_world) {
    uint32_t status;
    cr_assert_eq(servo_step(SAP_INTEGRATOR_EULER, 3, NAN, &status), 0.2);
    cr_assert(status & SAP_WORLD_FAILED, "%x", (unsigned)status);
}

/* ---- bad input ---- */

Test(mujoco, a_model_without_its_numbers_is_refused_by_name) {
    Point p;
    point_fill(&p);
    p.m.name = "plain";
    SapModel *model = NULL;
    SapSolver *solver = NULL;
    SapOptions o = options_of();
    cr_assert_eq(sap_model_create(&p.m, &model), SAP_OK);
    cr_assert_eq(sap_solver_create(model, 1, &o, &solver), SAP_ERROR_MODEL);
    cr_assert(strstr(sap_error_message(), "plain"), "%s", sap_error_message());
    sap_model_destroy(model);
}

static void refuse(const Point *p, const char *word) {
    SapModel *model = NULL;
    cr_assert_eq(sap_model_create_mujoco(&p->m, &p->law, &model), SAP_ERROR_MODEL, "%s", word);
    cr_assert(strstr(sap_error_message(), word), "%s", sap_error_message());
}

Test(mujoco, numbers_out_of_range_are_refused_by_name) {
    Point p;
    const double nan3[15] = {NAN};
#define REFUSE(field, value)                                                                                           \
    do {                                                                                                               \
        point_fill(&p);                                                                                                \
        p.law.field = value;                                                                                           \
        refuse(&p, #field);                                                                                            \
    } while (0)
    REFUSE(impratio, 0);
    REFUSE(tolerance, -1);
    REFUSE(ls_tolerance, NAN);
    REFUSE(iterations, 0);
    REFUSE(ls_iterations, -3);
    REFUSE(max_condim, 5);
    REFUSE(refsafe, 2);
    REFUSE(cone, (SapMujocoCone)7);
    REFUSE(integrator, (SapMujocoIntegrator)2);
    REFUSE(body_invweight, NULL);
    REFUSE(dof_invweight, NULL);
    REFUSE(dof_limit_solimp, nan3);
#undef REFUSE
}

/* A solver of the model is refused with a message that has `word`. */
static void refuse_solver(const Point *p, const SapOptions *o, const char *word) {
    SapModel *model = model_of(p);
    SapSolver *solver = NULL;
    cr_assert_neq(sap_solver_create(model, 1, o, &solver), SAP_OK, "%s", word);
    cr_assert(strstr(sap_error_message(), word), "%s", sap_error_message());
    sap_model_destroy(model);
}

Test(mujoco, forces_of_tendons_that_the_law_does_not_have_are_refused_by_name) {
    const int32_t mode[1] = {SAP_TARGET_POSITION}, start[2] = {0, 1}, term[1] = {SAP_TENDON_JOINT}, dof[1] = {1};
    const double value[3] = {1, 0, 0}, one[1] = {1}, weight[1] = {0.5};
    const char *const tendon[1] = {"rope"};
    const SapOptions o = options_of();
    Point p, plain;
    point_fill(&plain);
    plain.m.num_tendons = plain.m.num_tendon_terms = 1;
    plain.m.tendon_start = start;
    plain.m.tendon_term_type = term;
    plain.m.tendon_term_index = dof;
    plain.m.tendon_term_value = value;
    plain.m.tendon_name = tendon;
    plain.law.tendon_invweight = weight;
    p = plain;
    p.m.tendon_armature = one;
    refuse_solver(&p, &o, "tendon 'rope' has armature");
    p = plain;
    p.m.tendon_target_mode = mode;
    refuse_solver(&p, &o, "tendon 'rope' has a drive");
    p = plain;
    p.law.integrator = SAP_INTEGRATOR_DISCRETE;
    p.m.tendon_spring_ke = one;
    refuse_solver(&p, &o, "tendon 'rope' has a spring and integrator discrete");
    p = plain;
    p.law.integrator = SAP_INTEGRATOR_IMPLICITFAST;
    p.m.tendon_damping = one;
    refuse_solver(&p, &o, "tendon 'rope' has damping and integrator implicitfast");
}

Test(mujoco, options_that_the_law_does_not_have_are_refused_by_name) {
    Point p;
    point_fill(&p);
    SapOptions o = options_of();
    o.isa = SAP_ISA_GENERIC;
    o.lanes = 8;
    refuse_solver(&p, &o, "lanes is 8; contact_solver mujoco with isa generic allows 0 and 1");
    o = options_of();
    o.factor_plan = SAP_FACTOR_LIBRARY;
    refuse_solver(&p, &o, "factor_plan");
    o = options_of();
    o.sleep_steps = 5;
    refuse_solver(&p, &o, "sleep_steps");
    o = options_of();
    o.gyroscopic = SAP_GYROSCOPIC_IMPLICIT;
    refuse_solver(&p, &o, "gyroscopic");
}

Test(mujoco, a_gpu_is_refused_by_name) {
    Point p;
    point_fill(&p);
    SapModel *model = model_of(&p);
    SapBatch *batch = NULL;
    SapOptions o = options_of();
    o.device = SAP_DEVICE_CUDA;
    cr_assert_eq(sap_batch_create(model, 1, &o, &batch), SAP_ERROR_UNSUPPORTED);
    cr_assert(strstr(sap_error_message(), "contact_solver mujoco has kernels for the cpu only"), "%s",
              sap_error_message());
    sap_model_destroy(model);
}

Test(mujoco, rows_are_refused_for_another_law) {
    Point p;
    Rig r;
    point_fill(&p);
    rig_open(&r, model_of(&p), 1);
    SapMujocoRows incomplete = r.rows;
    incomplete.R = NULL;
    cr_assert_eq(sap_solver_record_rows(r.solver, &incomplete), SAP_ERROR_ARGUMENT);
    const SapContactReport limits = {.limit = r.R};
    const SapConstraintReport lengths = {.tendon_length = r.R};
    cr_assert_eq(sap_solver_record(r.solver, &limits), SAP_ERROR_UNSUPPORTED);
    cr_assert(strstr(sap_error_message(), "does not record limit"), "%s", sap_error_message());
    cr_assert_eq(sap_solver_record_constraints(r.solver, &lengths), SAP_ERROR_UNSUPPORTED);
    SapOptions o = options_of();
    o.contact_solver = SAP_SOLVER_SAP;
    SapSolver *other = NULL;
    cr_assert_eq(sap_solver_create(r.model, 1, &o, &other), SAP_OK);
    cr_assert_eq(sap_solver_record_rows(other, &r.rows), SAP_ERROR_UNSUPPORTED);
    sap_solver_destroy(other);
    rig_close(&r);
}

/* ---- batches, with our own collision ---- */

/* A ball of 0.1 m above a plane, with solref as given. */
static SapBatch *ball_batch_of(const char *preset, double c, double z, double height, int worlds) {
    static const int32_t shape_type[2] = {SAP_SHAPE_PLANE, SAP_SHAPE_SPHERE}, shape_body[2] = {-1, 0};
    static const double size[6] = {1, 1, 1, 0.1, 1, 1};
    const double solref[4] = {c, z, c, z}, q[3] = {0, 0, height};
    Point p;
    SapBatch *batch = NULL;
    SapOptions o;
    cr_assert_eq(sap_options_preset(preset, &o), SAP_OK);
    o.contact_solver = SAP_SOLVER_MUJOCO;
    o.threads = 1;
    point_fill(&p);
    p.m.joint_q = q;
    p.m.num_shapes = 2;
    p.m.shape_type = shape_type;
    p.m.shape_body = shape_body;
    p.m.shape_scale = size;
    p.law.shape_solref = solref;
    SapModel *model = model_of(&p);
    cr_assert_eq(sap_batch_create(model, worlds, &o, &batch), SAP_OK, "%s", sap_error_message());
    sap_model_destroy(model);
    return batch;
}

static SapBatch *ball_batch(double c, double z, double height, int worlds) {
    return ball_batch_of("approx64", c, z, height, worlds);
}

static double height_of(const SapBatch *batch, int world) {
    return ((const double *)sap_batch_state(batch)->joint_q)[3 * world + 2];
}

Test(mujoco, arrays_that_the_law_does_not_record_are_refused_by_name) {
    const SapBatchField fields[] = {SAP_BATCH_TENDON_LENGTH, SAP_BATCH_CACHE, SAP_BATCH_JOINT_TORQUE};
    SapBatch *batch = ball_batch(0.02, 1, 0.2, 1);
    SapArray view;
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(sap_batch_array(batch, fields[i], &view), SAP_ERROR_UNSUPPORTED, "field %d", (int)fields[i]);
        cr_assert(strstr(sap_error_message(), "contact_solver is mujoco, which does not record"), "%s",
                  sap_error_message());
    }
    sap_batch_destroy(batch);
}

/* One shape of the mixing tests. */
typedef struct Side {
    double condim, priority, solmix, margin, friction[3], solref[2], solimp[5];
} Side;

/* R, aref and force of the rows of a ball on a plane: by our own collision with the materials of two shapes, or by a
 * contact given as `mixed`. */
static int ball_rows(const Side side[2], const SapMujocoContact *mixed, double *out) {
    static const int32_t shape_type[2] = {SAP_SHAPE_PLANE, SAP_SHAPE_SPHERE}, shape_body[2] = {-1, 0};
    static const double size[6] = {1, 1, 1, 0.1, 1, 1}, q[3] = {0, 0, 0.099}, v[3] = {0.3, 0.2, -0.1};
    double column[7][14] = {{0}}, gap[2];
    for (int s = 0; s < 2; s++) {
        column[0][s] = side[s].condim;
        column[1][s] = side[s].priority;
        column[2][s] = side[s].solmix;
        column[3][s] = gap[s] = side[s].margin;
        memcpy(&column[4][3 * s], side[s].friction, sizeof side[s].friction);
        memcpy(&column[5][2 * s], side[s].solref, sizeof side[s].solref);
        memcpy(&column[6][5 * s], side[s].solimp, sizeof side[s].solimp);
    }
    Point p;
    Rig r;
    point_fill(&p);
    p.m.num_shapes = 2;
    p.m.shape_type = shape_type;
    p.m.shape_body = shape_body;
    p.m.shape_scale = size;
    p.m.shape_gap = gap;
    p.law.shape_condim = column[0];
    p.law.shape_priority = column[1];
    p.law.shape_solmix = column[2];
    p.law.shape_margin = column[3];
    p.law.shape_friction = column[4];
    p.law.shape_solref = column[5];
    p.law.shape_solimp = column[6];
    p.law.cone = SAP_CONE_ELLIPTIC;
    rig_open(&r, model_of(&p), 1);
    place_on_plane(&r, 0, v);
    set(r.in->joint_q, 3, q);
    if (mixed) {
        r.record[0] = *mixed;
    } else {
        r.contacts->mujoco = NULL;
        r.contacts->shape1[0] = 0; /* collision writes the contact */
        cr_assert_eq(sap_collide(r.solver, r.in, r.contacts), SAP_OK, "%s", sap_error_message());
        cr_assert_eq(r.contacts->count[0], 1);
    }
    rig_step(&r, 0.005);
    int n = r.count[0];
    for (int i = 0; i < n; i++) {
        out[3 * i] = r.R[i];
        out[3 * i + 1] = r.aref[i];
        out[3 * i + 2] = r.force[i];
    }
    rig_close(&r);
    return n;
}

static void check_mix(const Side side[2], const SapMujocoContact *mixed, const char *what) {
    double ours[3 * MAX_ROWS], theirs[3 * MAX_ROWS];
    int n = ball_rows(side, NULL, ours), m = ball_rows(side, mixed, theirs);
    cr_assert_eq(n, m, "%s: %d rows, not %d", what, n, m);
    for (int i = 0; i < 3 * n; i++)
        check_near(ours[i], theirs[i], 1e-11 * (1 + fabs(theirs[i])), what);
}

Test(mujoco, shapes_are_mixed_as_mujoco_mixes_geoms) {
    const Side plane = {3, 0, 1, 0.001, {0.4, 0.01, 0.002}, {0.02, 1}, {0.9, 0.95, 0.001, 0.5, 2}};
    const Side ball = {4, 0, 3, 0.002, {0.3, 0.02, 0.001}, {0.04, 0.5}, {0.6, 0.8, 0.005, 0.3, 1}};
    SapMujocoContact mixed = on_plane;
    mixed.includemargin = 0.003;
    /* equal priorities: the larger condim and friction, means by solmix */
    mixed.dim = 4;
    memcpy(mixed.friction, (const double[]){0.4, 0.4, 0.02, 0.002, 0.002}, sizeof mixed.friction);
    memcpy(mixed.solref, (const double[]){0.035, 0.625}, sizeof mixed.solref);
    for (int i = 0; i < 5; i++)
        mixed.solimp[i] = 0.25 * plane.solimp[i] + 0.75 * ball.solimp[i];
    check_mix((const Side[]){plane, ball}, &mixed, "equal priorities");
    /* a direct solref: the smaller numbers */
    Side direct = ball;
    direct.solref[0] = -500;
    direct.solref[1] = -10;
    memcpy(mixed.solref, (const double[]){-500, -10}, sizeof mixed.solref);
    check_mix((const Side[]){plane, direct}, &mixed, "a direct solref");
    /* a higher priority decides alone, but for the margin */
    Side first = plane;
    first.priority = 1;
    mixed.dim = 3;
    memcpy(mixed.friction, (const double[]){0.4, 0.4, 0.01, 0.002, 0.002}, sizeof mixed.friction);
    memcpy(mixed.solref, plane.solref, sizeof mixed.solref);
    memcpy(mixed.solimp, plane.solimp, sizeof mixed.solimp);
    check_mix((const Side[]){first, ball}, &mixed, "the priority of the first");
    Side second = ball;
    second.priority = 2;
    mixed.dim = 4;
    memcpy(mixed.friction, (const double[]){0.3, 0.3, 0.02, 0.001, 0.001}, sizeof mixed.friction);
    memcpy(mixed.solref, ball.solref, sizeof mixed.solref);
    memcpy(mixed.solimp, ball.solimp, sizeof mixed.solimp);
    check_mix((const Side[]){first, second}, &mixed, "the priority of the second");
}

/* Contacts store energy, but a ball never bounces higher than before. */
Test(mujoco, a_bouncing_ball_never_gains_height) {
    SapBatch *batch = ball_batch(0.02, 0.2, 1, 1);
    double apex = 1, highest = 0, last = 1;
    int bounces = 0;
    for (int k = 0; k < 10000; k++) {
        cr_assert_eq(sap_batch_step(batch, 0.001, 1), SAP_OK, "%s", sap_error_message());
        double z = height_of(batch, 0);
        if (z < 0.1 && last >= 0.1) { /* it lands */
            cr_assert_leq(highest, apex + 1e-6, "bounce %d: %g after %g", bounces, highest, apex);
            apex = highest;
            highest = 0;
            bounces++;
        }
        highest = fmax(highest, z);
        last = z;
    }
    cr_assert_gt(bounces, 2);
    sap_batch_destroy(batch);
}

/* A time constant below the step does not diverge: refsafe. */
Test(mujoco, a_stiff_contact_comes_to_rest) {
    SapBatch *batch = ball_batch(0.0002, 1, 0.3, 1);
    cr_assert_eq(sap_batch_step(batch, 0.002, 3000), SAP_OK);
    check_near(height_of(batch, 0), 0.1, 1e-3, "height at rest");
    check_near(((double *)sap_batch_state(batch)->joint_qd)[2], 0, 1e-6, "velocity at rest");
    sap_batch_destroy(batch);
}

/* Presets with stages in f32 give the same motion to their precision, and no world fails to converge. */
Test(mujoco, single_precision_follows_double_precision) {
    const char *const presets[] = {"approx32", "fast32"};
    SapBatch *exact = ball_batch(0.02, 0.5, 0.15, 1);
    cr_assert_eq(sap_batch_step(exact, 0.002, 400), SAP_OK);
    for (int i = 0; i < 2; i++) {
        SapBatch *batch = ball_batch_of(presets[i], 0.02, 0.5, 0.15, 1);
        SapArray status;
        cr_assert_eq(sap_batch_step(batch, 0.002, 400), SAP_OK, "%s", sap_error_message());
        cr_assert_eq(sap_batch_array(batch, SAP_BATCH_STATUS, &status), SAP_OK);
        cr_assert_eq(*(uint32_t *)status.data & (SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED), 0, "%s: status %x",
                     presets[i], *(uint32_t *)status.data);
        check_near(((const float *)sap_batch_state(batch)->joint_q)[2], height_of(exact, 0), 2e-5, presets[i]);
        sap_batch_destroy(batch);
    }
    sap_batch_destroy(exact);
}

/* The acceleration of the last step is state: a reset world repeats its run bit for bit. */
Test(mujoco, a_reset_world_repeats_its_run) {
    SapBatch *batch = ball_batch(0.02, 1, 0.11, 3);
    const uint8_t second[3] = {0, 1, 0};
    cr_assert_eq(sap_batch_step(batch, 0.002, 200), SAP_OK);
    double after = height_of(batch, 1);
    cr_assert_eq(sap_batch_reset(batch, second, 0), SAP_OK);
    cr_assert_eq(height_of(batch, 1), 0.11);
    cr_assert_eq(sap_batch_step(batch, 0.002, 200), SAP_OK);
    cr_assert_eq(height_of(batch, 1), after);
    sap_batch_destroy(batch);
}

Test(mujoco, arrays_that_the_law_does_not_record_are_refused) {
    SapBatch *batch = ball_batch(0.02, 1, 0.11, 1);
    SapArray view;
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_CONSTRAINT_IMPULSE, &view), SAP_ERROR_UNSUPPORTED);
    cr_assert(strstr(sap_error_message(), "constraint_impulse"), "%s", sap_error_message());
    cr_assert_eq(sap_batch_expand(batch, SAP_PARAMETER_GRAVITY, &view), SAP_ERROR_UNSUPPORTED);
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_CONTACT_FORCE, &view), SAP_OK);
    cr_assert_eq(sap_batch_step(batch, 0.002, 500), SAP_OK);
    check_near(((double *)view.data)[2], 2 * 9.81, 1e-3, "the force of the plane");
    sap_batch_destroy(batch);
}
