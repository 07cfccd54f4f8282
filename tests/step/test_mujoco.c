/* Steps of MuJoCo's law: golden numbers of MuJoCo 4.0 for single rows, the start and the end of a solve, projected
 * Gauss-Seidel, and the same bits however a world is run. cli_compare has the comparison with MuJoCo on 30 models. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/mujoco_rig.h"
#include "support/near.h"
#include "support/need.h"

/* ---- golden numbers ---- */

Test(mujoco, an_elliptic_contact_that_slides_has_the_numbers_of_mujoco) {
    Point p;
    Rig r;
    point_fill(&p);
    p.law.cone = SAP_CONE_ELLIPTIC;
    p.law.impratio = 4;
    rig_open(&r, point_model(&p), 1);
    rig_place(&r, 0, (const double[]){0.8, -0.3, -0.05});
    rig_step(&r, 0.005);
    cr_assert_eq(r.count[0], 3);
    rig_check(r.R, (const double[]){0.0263157894737, 0.00657894736842, 0.00657894736842}, 3, 1e-12, "R");
    rig_check(r.aref, (const double[]){7.89473684211, 31.5789473684, 84.2105263158}, 3, 1e-9, "aref");
    rig_check(r.force, (const double[]){88.3804419086, 12.4129779728, 33.1012745942}, 3, 1e-9, "force");
    rig_check(r.qacc, (const double[]){-16.5506372971, 6.20648898641, 34.3802209543}, 3, 1e-9, "qacc");
    cr_assert(r.state[0] == 4 && r.state[1] == 4 && r.state[2] == 4);
    cr_assert_eq(rig_iterations(&r, 0), 1);
    cr_assert_eq(rig_evaluations(&r, 0), 2);
    rig_check(r.out->joint_qd, (const double[]){0.717246813515, -0.268967555068, 0.121901104772}, 3, 1e-11,
              "next velocity");
    rig_close(&r);
}

Test(mujoco, a_contact_at_rest_sideways_is_quadratic) {
    Point p;
    Rig r;
    point_fill(&p);
    p.law.cone = SAP_CONE_ELLIPTIC;
    p.law.impratio = 4;
    rig_open(&r, point_model(&p), 1);
    rig_place(&r, 0, (const double[]){0.001, -0.0004, -0.05});
    rig_step(&r, 0.005);
    rig_check(r.force, (const double[]){33.639, 0.0831168831169, 0.207792207792}, 3, 1e-9, "force");
    cr_assert(r.state[0] == 1 && r.state[1] == 1 && r.state[2] == 1);
    rig_close(&r);
}

Test(mujoco, a_pyramid_has_the_numbers_of_mujoco) {
    Point p;
    Rig r;
    point_fill(&p);
    p.law.impratio = 4;
    rig_open(&r, point_model(&p), 1);
    rig_place(&r, 0, (const double[]){0.8, -0.3, -0.05});
    rig_step(&r, 0.005);
    cr_assert_eq(r.count[0], 4);
    rig_check(r.R, (const double[]){0.00244210526316, 0.00244210526316, 0.00244210526316, 0.00244210526316}, 4, 1e-12,
              "R");
    rig_check(r.aref, (const double[]){20.5263157895, -4.73684210526, 41.5789473684, -25.7894736842}, 4, 1e-9, "aref");
    rig_check(r.force, (const double[]){0, 0, 88.2301380756, 0}, 4, 1e-8, "force");
    cr_assert_eq(rig_iterations(&r, 0), 2);
    cr_assert_eq(rig_evaluations(&r, 0), 5);
    rig_close(&r);
}

Test(mujoco, a_discrete_step_has_the_numbers_of_mujoco) {
    Point p;
    Rig r;
    point_fill(&p);
    p.law.cone = SAP_CONE_ELLIPTIC;
    p.law.impratio = 4;
    p.law.integrator = SAP_INTEGRATOR_DISCRETE;
    rig_open(&r, point_model(&p), 1);
    rig_place(&r, 0, (const double[]){0.8, -0.3, -0.05});
    rig_step(&r, 0.005);
    rig_check(r.R, (const double[]){0.0165289256198, 0.00413223140496, 0.00413223140496}, 3, 1e-12, "R");
    rig_check(r.aref, (const double[]){5.37190082645, 20.6896551724, 55.1724137931}, 3, 1e-9, "aref");
    rig_check(r.qacc, (const double[]){-12.1516492944, 4.55686848541, 22.6349178385}, 3, 1e-9, "qacc");
    rig_close(&r);
}

/* Two of the three slides: one sticks, one slides. */
Test(mujoco, friction_loss_sticks_and_slides) {
    Point p;
    Rig r;
    point_fill(&p);
    p.friction[0] = p.friction[1] = 4;
    p.m.gravity[2] = 0;
    rig_open(&r, point_model(&p), 1);
    rig_set(r.in->joint_qd, 3, (const double[]){0.001, 1, 0});
    rig_set(r.guess, 3, (const double[]){0.001, 1, 0});
    rig_step(&r, 0.01);
    cr_assert_eq(r.count[0], 2);
    rig_check(r.force, (const double[]){-0.189473684211, -4}, 2, 1e-11, "force");
    cr_assert(r.type[0] == 1 && r.state[0] == 1 && r.state[1] == 3);
    rig_check(r.out->joint_qd, (const double[]){5.26315789474e-05, 0.98}, 2, 1e-13, "next velocity");
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
    rig_open(&r, point_model(&p), 1);
    rig_set(r.in->joint_q, 3, (const double[]){0, 0, -0.004});
    rig_set(r.in->joint_qd, 3, (const double[]){0, 0, -0.3});
    rig_set(r.guess, 3, (const double[]){0, 0, -0.3});
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

/* The row of an upper limit is the mirror image of a lower one's: pos = -0.004 m, and by MuJoCo's formula
 * aref = -b v - k d pos, b = 2/(dmax c), k = 1/(dmax c z)^2, d the impedance at pos. */
Test(mujoco, limits_on_either_side_have_the_same_row) {
    const double c = 0.05, z = 0.8, dmax = 0.95, d = 0.6 + 2 * 0.4 * 0.4 * (dmax - 0.6), b = 2 / (dmax * c),
                 k = 1 / (dmax * c * z * dmax * c * z);
    const double solref[6] = {0.02, 1, 0.02, 1, c, z};
    const double solimp[15] = {0.9, 0.95, 0.001, 0.5, 2, 0.9, 0.95, 0.001, 0.5, 2, 0.6, dmax, 0.01, 0.5, 2};
    double force[2];
    for (int upper = 0; upper < 2; upper++) {
        Point p;
        Rig r;
        double sign = upper ? -1 : 1;
        point_fill(&p);
        p.lower[2] = upper ? -1 : 0;
        p.upper[2] = upper ? 0 : 1;
        p.m.gravity[2] = 0;
        p.law.dof_limit_solref = solref;
        p.law.dof_limit_solimp = solimp;
        rig_open(&r, point_model(&p), 1);
        rig_set(r.in->joint_q, 3, (const double[]){0, 0, sign * -0.004});
        rig_set(r.in->joint_qd, 3, (const double[]){0, 0, sign * -0.3});
        rig_step(&r, 0.01);
        cr_assert(r.count[0] == 1 && r.type[0] == 3);
        check_near(r.J[2], sign, 0, "J");
        check_near(r.pos[0], -0.004, 1e-17, "pos");
        check_near(r.aref[0], b * 0.3 + k * d * 0.004, 1e-11, "aref");
        force[upper] = r.force[0];
        rig_close(&r);
    }
    cr_assert_gt(force[0], 1);
    check_near(force[1], force[0], 1e-12, "force");
}

/* ---- free bodies ---- */

/* A body of 2 kg on a free joint with its centre of mass at `centre`. */
static SapModel *free_body(SapMujocoCone cone, SapMujocoIntegrator integrator, const double *armature,
                           const double *inertia, const double *centre) {
    static const double body_weight[2] = {0.5, 50}, dof_weight[6] = {0.5, 0.5, 0.5, 50, 50, 50};
    Point p;
    point_fill(&p);
    p.type = SAP_JOINT_FREE;
    p.m.num_dofs = 6;
    p.m.num_coords = 7;
    p.m.joint_dof_dim = NULL;
    p.m.joint_axis = p.m.joint_friction = p.m.joint_damping = p.m.joint_limit_lower = p.m.joint_limit_upper = NULL;
    p.m.joint_armature = armature;
    p.m.body_inertia = inertia;
    p.m.body_com = centre;
    p.law.body_invweight = body_weight;
    p.law.dof_invweight = dof_weight;
    p.law.cone = cone;
    p.law.integrator = integrator;
    p.law.tolerance = 0; /* as far as Newton gets */
    return point_model(&p);
}

/* Newton and Euler for a ball on the plane: m dv/h = force + m g, I dw/h = torque about the centre. */
Test(mujoco, the_wrench_of_contacts_is_what_changes_the_momentum) {
    const double h = 0.005, I = 0.02, inertia[9] = {I, 0, 0, 0, I, 0, 0, 0, I};
    const double start[6] = {0.2, -0.1, -0.05, 3, -2, 5}; /* [v ; w] */
    static const int condims[3] = {3, 4, 6};
    for (int k = 0; k < 6; k++) {
        double wrench[6];
        Rig r;
        rig_open(&r, free_body((SapMujocoCone)(k % 2), SAP_INTEGRATOR_EULER, NULL, inertia, NULL), 1);
        need(sap_solver_record(r.solver, &(SapContactReport){.wrench = wrench}));
        rig_place(&r, 0, start);
        rig_set(r.in->joint_q, 7, (const double[]){0, 0, 0.099, 0, 0, 0, 1});
        rig_set(r.in->joint_qd, 6, start);
        r.control->guess = NULL;
        r.record[0].dim = condims[k / 2];
        r.record[0].friction[2] = r.record[0].friction[3] = r.record[0].friction[4] = 0.03;
        rig_step(&r, h);
        const double *v = r.out->joint_qd;
        for (int i = 0; i < 3; i++) {
            double g = i == 2 ? -9.81 : 0;
            check_near(2 * (v[i] - start[i]) / h, wrench[i] + 2 * g, 1e-9, "force");
            check_near(I * (v[3 + i] - start[3 + i]) / h, wrench[3 + i], 1e-9, "torque");
        }
        cr_assert(condims[k / 2] == 3 || fabs(wrench[5]) > 1e-3, "%g", wrench[5]); /* about the normal */
        rig_close(&r);
    }
}

/* The velocity of a spinning body without rows after a step. */
static void spin(SapMujocoIntegrator integrator, SapGyroscopic gyroscopic, const double *armature, double *v) {
    const double inertia[9] = {0.02, 0.002, 0, 0.002, 0.03, 0.001, 0, 0.001, 0.04}, centre[3] = {0.03, -0.02, 0.05};
    Rig r;
    SapOptions o = rig_options();
    o.gyroscopic = gyroscopic;
    cr_assert(rig_open_with(&r, free_body(SAP_CONE_ELLIPTIC, integrator, armature, inertia, centre), 1, &o));
    rig_set(r.in->joint_q, 7, (const double[]){0, 0, 1, 0.5, -0.1, 0.7, 0.5});
    rig_set(r.in->joint_qd, 6, (const double[]){0.5, -1, 0.2, 8, -5, 12});
    r.control->guess = NULL;
    rig_step(&r, 0.005);
    memcpy(v, r.out->joint_qd, 6 * sizeof *v);
    rig_close(&r);
}

/* Both integrators have the gyroscopic force implicit, one in the solve and one after it. */
Test(mujoco, a_spinning_body_with_armature_moves_alike_with_both_implicit_integrators) {
    const double armature[6] = {0.3, 0.5, 0.7, 0.01, 0.02, 0.03};
    double v[3][6];
    spin(SAP_INTEGRATOR_IMPLICITFAST, SAP_GYROSCOPIC_EXPLICIT, armature, v[0]);
    spin(SAP_INTEGRATOR_DISCRETE, SAP_GYROSCOPIC_EXPLICIT, armature, v[1]);
    spin(SAP_INTEGRATOR_DISCRETE, SAP_GYROSCOPIC_EXPLICIT, NULL, v[2]);
    rig_check(v[1], v[0], 6, 1e-13, "velocity");
    for (int i = 0; i < 6; i++)
        cr_assert_gt(fabs(v[2][i] - v[0][i]), 1e-4, "armature %d has no effect", i);
}

/* fast32, the default preset, sets gyroscopic = implicit; the law has its own integrators. */
Test(mujoco, the_law_does_not_read_the_option_gyroscopic) {
    double v[2][6];
    spin(SAP_INTEGRATOR_EULER, SAP_GYROSCOPIC_EXPLICIT, NULL, v[0]);
    spin(SAP_INTEGRATOR_EULER, SAP_GYROSCOPIC_IMPLICIT, NULL, v[1]);
    cr_expect_eq(memcmp(v[0], v[1], sizeof v[0]), 0, "omega_x %.17g, then %.17g", v[0][3], v[1][3]);
}

/* ---- the solve ---- */

Test(mujoco, a_start_at_the_solution_takes_no_iterations) {
    Point p;
    Rig r;
    point_fill(&p);
    rig_open(&r, point_model(&p), 1);
    const double v[3] = {0.8, -0.3, -0.05};
    rig_place(&r, 0, v);
    rig_step(&r, 0.005);
    cr_assert_gt(rig_iterations(&r, 0), 0);
    for (int i = 0; i < 3; i++)
        r.guess[i] = v[i] + 0.005 * r.qacc[i];
    rig_step(&r, 0.005);
    cr_assert_eq(rig_iterations(&r, 0), 0);
    cr_assert(sap_solver_world_status(r.solver)[0] & SAP_WORLD_OPTIMAL);
    rig_close(&r);
}

Test(mujoco, a_world_without_rows_moves_freely) {
    Point p;
    Rig r;
    point_fill(&p);
    rig_open(&r, point_model(&p), 1);
    rig_set(r.in->joint_qd, 3, (const double[]){1, 2, 3});
    rig_step(&r, 0.01);
    cr_assert_eq(r.count[0], 0);
    cr_assert_eq(rig_iterations(&r, 0), 0);
    rig_check(r.out->joint_qd, (const double[]){1, 2, 3 - 0.0981}, 3, 1e-14, "velocity");
    rig_close(&r);
}

Test(mujoco, a_world_that_does_not_converge_reports_it_and_moves) {
    Point p;
    Rig r;
    point_fill(&p);
    p.law.impratio = 4;
    p.law.iterations = 1; /* the pyramid takes two */
    rig_open(&r, point_model(&p), 1);
    rig_place(&r, 0, (const double[]){0.8, -0.3, -0.05});
    rig_step(&r, 0.005);
    cr_assert(sap_solver_world_status(r.solver)[0] & SAP_WORLD_ITERATION_LIMIT);
    cr_assert_gt(((double *)r.out->joint_qd)[2], -0.05);
    rig_close(&r);
}

/* ---- contacts within their gap ---- */

Test(mujoco, a_contact_within_its_gap_does_not_act) {
    Point p;
    Rig r;
    point_fill(&p);
    rig_open(&r, point_model(&p), 1);
    rig_place(&r, 0, (const double[]){0, 0, 0});
    r.record[0].dist = 0.01;
    r.record[0].includemargin = 0.01;
    rig_step(&r, 0.005);
    cr_assert_eq(r.count[0], 0);
    rig_close(&r);
}

/* ---- worlds ---- */

/* Eleven worlds of different contacts, some without one, in packs of 1, 4, 8 or 16 lanes. False without the isa or the
 * lanes. */
static bool step_many(SapIsa isa, int lanes, SapMujocoCone cone, double *q, double *v) {
    Point p;
    Rig r;
    point_fill(&p);
    p.law.cone = cone;
    p.friction[0] = 0.5;
    if (!rig_open_isa(&r, point_model(&p), RIG_WORLDS, isa, lanes))
        return false;
    for (int w = 0; w < RIG_WORLDS; w++) {
        rig_place(&r, w, (const double[]){0.1 * w - 0.4, 0.3 - 0.07 * w, -0.02 * w});
        r.record[w].dim = (const int[]){3, 1, 4, 6}[w % 4];
        r.record[w].solimp[4] = 1 + 0.5 * (w % 3);
        r.contacts->count[w] = w % 5 != 4;
    }
    rig_step(&r, 0.005);
    memcpy(q, r.out->joint_q, 3 * RIG_WORLDS * sizeof *q);
    memcpy(v, r.out->joint_qd, 3 * RIG_WORLDS * sizeof *v);
    rig_close(&r);
    return true;
}

Test(mujoco, worlds_have_the_same_bits_in_every_pack) {
    for (int cone = 0; cone < 2; cone++) {
        double q[2][3 * RIG_WORLDS], v[2][3 * RIG_WORLDS];
        static const struct {
            SapIsa isa;
            int lanes;
        } pack[] = {{SAP_ISA_GENERIC, 4}, {SAP_ISA_AVX2, 1},   {SAP_ISA_AVX2, 4},   {SAP_ISA_AVX2, 8},
                    {SAP_ISA_AVX512, 4},  {SAP_ISA_AVX512, 8}, {SAP_ISA_AVX512, 16}};
        cr_assert(step_many(SAP_ISA_GENERIC, 1, (SapMujocoCone)cone, q[0], v[0]));
        for (int i = 0; i < (int)(sizeof pack / sizeof pack[0]); i++) {
            if (!step_many(pack[i].isa, pack[i].lanes, (SapMujocoCone)cone, q[1], v[1]))
                continue;
            cr_assert_eq(memcmp(q[0], q[1], sizeof q[0]), 0, "positions with isa %d, %d lanes", pack[i].isa,
                         pack[i].lanes);
            cr_assert_eq(memcmp(v[0], v[1], sizeof v[0]), 0, "velocities with isa %d, %d lanes", pack[i].isa,
                         pack[i].lanes);
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
        rig_open(&r, point_model(&p), 3);
        for (int w = 0; w < 3; w++)
            rig_place(&r, w, (const double[]){0.8, -0.3, -0.05});
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

/* ---- line search ---- */

/* Evaluations of the searches of 300 contacts with friction and a limit of dofs, whose brackets shrink at both ends. */
Test(mujoco, line_searches_take_as_few_evaluations_as_stated) {
    int sum = 0;
    for (int k = 0; k < 300; k++) {
        Point p;
        Rig r;
        point_fill(&p);
        p.law.cone = k % 2 ? SAP_CONE_ELLIPTIC : SAP_CONE_PYRAMIDAL;
        p.law.impratio = 3;
        p.friction[0] = p.friction[1] = 0.5 + 0.1 * (k % 7);
        p.upper[0] = -1e-4 * (k % 5);
        rig_open(&r, point_model(&p), 1);
        rig_place(&r, 0, (const double[]){0.02 * (k % 31), -0.05 * (k % 13), -0.01 * (k % 17)});
        rig_step(&r, 0.005);
        sum += rig_evaluations(&r, 0);
        rig_close(&r);
    }
    cr_expect_leq(sum, 2748, "%d evaluations", sum);
}
