/* The criteria of MuJoCo's law, each by its number: golden numbers of small worlds (docs/mujoco.md, Criteria). MuJoCo's
 * own numbers of whole models, for 2 to 5 and 15, are in lab/conform/test_mujoco_files.py, and number 7 in
 * python/tests/test_mujoco_law.py: they need MuJoCo's compiler. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/mujoco_rig.h"
#include "support/near.h"
#include "support/run_program.h"

TestSuite(mujoco_criteria, .init = make_folder, .fini = remove_folder, .timeout = 300);

/* The numbers of a step of the point on the plane. */
typedef struct Outcome {
    int rows, iterations;
    uint32_t status;
    double R[RIG_ROWS], aref[RIG_ROWS], force[RIG_ROWS], v[3];
    int state[RIG_ROWS], type[RIG_ROWS];
} Outcome;

static Outcome outcome_of(const Rig *r) {
    Outcome o = {
        .rows = r->count[0], .iterations = rig_iterations(r, 0), .status = sap_solver_world_status(r->solver)[0]};
    memcpy(o.R, r->R, sizeof o.R);
    memcpy(o.aref, r->aref, sizeof o.aref);
    memcpy(o.force, r->force, sizeof o.force);
    memcpy(o.state, r->state, sizeof o.state);
    memcpy(o.type, r->type, sizeof o.type);
    memcpy(o.v, r->out->joint_qd, sizeof o.v);
    return o;
}

/* One step from velocity v with the contact and the guess; options NULL = a rig's. */
static Outcome step_point(const Point *p, const SapOptions *options, const SapMujocoContact *contact, const double *v,
                          const double *guess) {
    Rig r;
    SapOptions o = options ? *options : rig_options();
    cr_assert(rig_open_with(&r, point_model(p), 1, &o));
    rig_place(&r, 0, v);
    r.contacts->count[0] = contact != NULL;
    if (contact)
        r.record[0] = *contact;
    rig_set(r.guess, 3, guess);
    rig_step(&r, 0.005);
    Outcome found = outcome_of(&r);
    rig_close(&r);
    return found;
}

static const double sliding[3] = {0.8, -0.3, -0.05};

Test(mujoco_criteria, criterion_3_a_stiff_solref_does_not_diverge) {
    SapBatch *batch = rig_ball("approx64", 0.002, 1, 0.3, 1);
    cr_assert_eq(sap_batch_step(batch, 0.002, 3000), SAP_OK);
    check_near(rig_height(batch, 0), 0.1, 1e-3, "height at rest");
    sap_batch_destroy(batch);
}

Test(mujoco_criteria, criterion_6_a_world_that_does_not_converge_says_so_and_moves) {
    Point p;
    point_fill(&p);
    p.law.impratio = 4;
    p.law.iterations = 1; /* it takes two */
    Outcome o = step_point(&p, NULL, &rig_on_plane, sliding, sliding);
    cr_assert(o.status & SAP_WORLD_ITERATION_LIMIT, "%x", (unsigned)o.status);
    cr_assert_gt(o.v[2], sliding[2]);
}

Test(mujoco_criteria, criterion_8_apexes_of_a_bouncing_ball_never_grow) {
    SapBatch *batch = rig_ball("approx64", 0.02, 0.2, 0.6, 1);
    double apex = 0.6, highest = 0, last = 0.6;
    int bounces = 0;
    for (int k = 0; k < 10000; k++) {
        cr_assert_eq(sap_batch_step(batch, 0.001, 1), SAP_OK);
        double z = rig_height(batch, 0);
        if (z < 0.1 && last >= 0.1) { /* it lands */
            cr_assert_leq(highest, apex + 1e-6, "bounce %d: %g after %g", bounces, highest, apex);
            apex = highest;
            highest = 0;
            bounces++;
        }
        highest = fmax(highest, z);
        last = z;
    }
    cr_assert_geq(bounces, 4);
    sap_batch_destroy(batch);
}

/* The guess is the start unless v* has the smaller cost; at the solution nothing is left to do. */
Test(mujoco_criteria, criterion_9_the_start_is_the_better_of_warm_start_and_free_motion) {
    Point p;
    point_fill(&p);
    const double far_away[3] = {50, -60, -70}, freely[3] = {0.8, -0.3, -0.05 - 0.005 * 9.81};
    Outcome cold = step_point(&p, NULL, &rig_on_plane, sliding, freely);
    Outcome bad = step_point(&p, NULL, &rig_on_plane, sliding, far_away);
    cr_assert_eq(memcmp(cold.v, bad.v, sizeof cold.v), 0);
    cr_assert_eq(cold.iterations, bad.iterations);
    Outcome warm = step_point(&p, NULL, &rig_on_plane, sliding, cold.v);
    cr_assert_eq(warm.iterations, 0);
}

Test(mujoco_criteria, criterion_10_sap_is_as_before) {
    cr_assert_eq(sapwood("conform --compat " SAPWOOD_SOURCE_DIR "/tests/data/reference/f64/arm3.json.gz"), 0, "%s%s",
                 out, err);
    cr_assert(strstr(out, ", 0 failed"), "%s", out);
}

Test(mujoco_criteria, criterion_11_a_world_without_rows_moves_freely) {
    Point p;
    point_fill(&p);
    Outcome o = step_point(&p, NULL, NULL, sliding, sliding);
    cr_assert(o.rows == 0 && o.iterations == 0);
    rig_check(o.v, (const double[]){0.8, -0.3, -0.05 - 0.005 * 9.81}, 3, 1e-15, "velocity");
}

/* (-k, -b) is (c, z) with c = 2/b, z = b/(2 sqrt(k)). */
Test(mujoco_criteria, criterion_12_a_direct_solref_is_its_standard_form) {
    Point p;
    point_fill(&p);
    SapMujocoContact direct = rig_on_plane, standard = rig_on_plane;
    memcpy(direct.solref, (const double[]){-500, -10}, sizeof direct.solref);
    memcpy(standard.solref, (const double[]){0.2, 10 / (2 * sqrt(500))}, sizeof standard.solref);
    Outcome a = step_point(&p, NULL, &direct, sliding, sliding), b = step_point(&p, NULL, &standard, sliding, sliding);
    cr_assert_eq(a.rows, b.rows);
    rig_check(a.R, b.R, a.rows, 1e-15, "R");
    rig_check(a.aref, b.aref, a.rows, 1e-11, "aref");
}

Test(mujoco_criteria, criterion_13_friction_loss_sticks_and_slides_both_ways) {
    Point p;
    point_fill(&p);
    p.m.gravity[2] = 0;
    p.friction[0] = p.friction[1] = p.friction[2] = 4;
    const double v[3] = {0.001, 1, -1};
    Outcome o = step_point(&p, NULL, NULL, v, v);
    cr_assert(o.rows == 3 && o.state[0] == 1 && o.state[1] == 3 && o.state[2] == 2);
    rig_check(o.force + 1, (const double[]){-4, 4}, 2, 1e-11, "force");
}

Test(mujoco_criteria, criterion_14_condim_1_has_one_row) {
    for (int cone = 0; cone < 2; cone++) {
        Point p;
        point_fill(&p);
        p.law.cone = (SapMujocoCone)cone;
        SapMujocoContact smooth = rig_on_plane;
        smooth.dim = 1;
        Outcome o = step_point(&p, NULL, &smooth, sliding, sliding);
        cr_assert(o.rows == 1 && o.type[0] == 5, "%d rows", o.rows);
        check_near(o.v[0], sliding[0], 1e-15, "velocity along the plane");
    }
}
