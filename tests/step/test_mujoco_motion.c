/* MuJoCo's law in motion: servos, mixing of shapes, and batches with our own collision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/mujoco_rig.h"
#include "support/near.h"
#include "support/need.h"
#include "support/pose.h"
#include "support/shape_model.h"

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
    rig_open(&r, point_model(&p), 1);
    r.control->guess = NULL;
    r.contacts->count[0] = 0;
    rig_set(r.in->joint_q, 3, q);
    rig_set(r.in->joint_qd, 3, v);
    rig_set(r.control->joint_target_pos, 3, at);
    rig_step(&r, 0.005);
    double out = ((const double *)r.out->joint_qd)[0];
    *status = sap_solver_world_status(r.solver)[0];
    rig_close(&r);
    return out;
}

Test(mujoco_motion, a_servo_is_explicit_or_implicit_as_its_integrator_says) {
    const double m = 2, kp = 50, kd = 4, h = 0.005, v = 0.2, F = kp * 0.2 - kd * v;
    uint32_t status;
    cr_assert_float_eq(servo_step(SAP_INTEGRATOR_EULER, INFINITY, 0.3, &status), v + h * F / m, 1e-15);
    cr_assert_float_eq(servo_step(SAP_INTEGRATOR_IMPLICITFAST, INFINITY, 0.3, &status), v + h * F / (m + h * kd),
                       1e-15);
    cr_assert_float_eq(servo_step(SAP_INTEGRATOR_DISCRETE, INFINITY, 0.3, &status),
                       v + h * (F - h * kp * v) / (m + h * kd + h * h * kp), 1e-15);
}

Test(mujoco_motion, a_servo_at_its_bound_is_a_constant_force) {
    const SapMujocoIntegrator all[3] = {SAP_INTEGRATOR_EULER, SAP_INTEGRATOR_IMPLICITFAST, SAP_INTEGRATOR_DISCRETE};
    uint32_t status;
    for (int i = 0; i < 3; i++) {
        cr_assert_float_eq(servo_step(all[i], 3, 0.3, &status), 0.2 + 0.005 * 3 / 2, 1e-15, "integrator %d", all[i]);
        cr_assert_float_eq(servo_step(all[i], 3, -0.3, &status), 0.2 - 0.005 * 3 / 2, 1e-15, "integrator %d", all[i]);
    }
}

Test(mujoco_motion, a_target_that_is_not_finite_fails_the_world) {
    uint32_t status;
    cr_assert_eq(servo_step(SAP_INTEGRATOR_EULER, 3, NAN, &status), 0.2);
    cr_assert(status & SAP_WORLD_FAILED, "%x", (unsigned)status);
}

/* ---- actuators ---- */

enum { ACTUATOR_V, ACTUATOR_ACT, ACTUATOR_RESULTS };

/* The velocity of a slide of 2 kg and the activation after one step of 5 ms, from q = 0.2, v = 0.7 and an activation of
 * 0.3, of an actuator with arm 1.5, gain 2 - 3 l - 0.5 w and bias 1 - 4 l - 0.2 w whose filter of 0.1 s gets the
 * control 0.8, which is clamped to 0.6. */
static void actuator_step(SapMujocoIntegrator integrator, double control, double out[ACTUATOR_RESULTS],
                          uint32_t *status) {
    const double gain[3] = {2, -3, -0.5}, bias[3] = {1, -4, -0.2}, range[2] = {-1, 0.6}, tau[1] = {0.1}, arm[1] = {1.5};
    const int32_t filter[1] = {2}, zero[1] = {0};
    Point p;
    Rig r;
    point_fill(&p);
    p.law.integrator = integrator;
    p.law.num_actuators = p.law.num_actuator_terms = 1;
    p.law.actuator_gain = gain;
    p.law.actuator_bias = bias;
    p.law.actuator_ctrl_range = range;
    p.law.actuator_dynamics = filter;
    p.law.actuator_tau = tau;
    p.law.actuator_term_of = p.law.actuator_term_dof = zero;
    p.law.actuator_term_arm = arm;
    memset(p.m.gravity, 0, sizeof p.m.gravity);
    rig_open(&r, point_model(&p), 1);
    r.control->guess = NULL;
    r.contacts->count[0] = 0;
    rig_set(r.in->joint_q, 3, (const double[]){0.2, 0, 0});
    rig_set(r.in->joint_qd, 3, (const double[]){0.7, 0, 0});
    rig_set(r.in->actuator_act, 1, (const double[]){0.3});
    rig_set(r.control->actuator_ctrl, 1, &control);
    rig_step(&r, 0.005);
    out[ACTUATOR_V] = ((const double *)r.out->joint_qd)[0];
    out[ACTUATOR_ACT] = ((const double *)r.out->actuator_act)[0];
    *status = sap_solver_world_status(r.solver)[0];
    rig_close(&r);
}

/* By hand; l = 1.5 0.2 and w = 1.5 0.7. */
Test(mujoco_motion, an_actuator_has_its_affine_gain_and_bias_and_follows_its_filter) {
    const double m = 2, h = 0.005, r = 1.5, l = r * 0.2, w = r * 0.7, u = 0.3;
    const double F = (2 - 3 * l - 0.5 * w) * u + 1 - 4 * l - 0.2 * w, kp = r * r * (4 + 3 * u),
                 kd = r * r * (0.2 + 0.5 * u);
    double out[ACTUATOR_RESULTS];
    uint32_t status;
    actuator_step(SAP_INTEGRATOR_EULER, 0.8, out, &status);
    cr_assert_float_eq(out[ACTUATOR_V], 0.7 + h * r * F / m, 1e-15);
    cr_assert_float_eq(out[ACTUATOR_ACT], 0.3 + h * (0.6 - 0.3) / 0.1, 1e-15);
    actuator_step(SAP_INTEGRATOR_IMPLICITFAST, 0.8, out, &status);
    cr_assert_float_eq(out[ACTUATOR_V], 0.7 + h * r * F / (m + h * kd), 1e-15);
    actuator_step(SAP_INTEGRATOR_DISCRETE, 0.8, out, &status);
    cr_assert_float_eq(out[ACTUATOR_V], 0.7 + h * (r * F - h * kp * 0.7) / (m + h * kd + h * h * kp), 1e-15);
}

Test(mujoco_motion, a_control_of_an_actuator_that_is_not_finite_fails_the_world_and_keeps_its_activation) {
    double out[ACTUATOR_RESULTS];
    uint32_t status;
    actuator_step(SAP_INTEGRATOR_RK4, NAN, out, &status);
    cr_assert(status & SAP_WORLD_NONFINITE_CONTROL, "%x", (unsigned)status);
    cr_assert_eq(out[ACTUATOR_V], 0.7);
    cr_assert_eq(out[ACTUATOR_ACT], 0.3);
}

/* The tendon l = x - y/2 of the point with a servo kp = 50 and `kd` of target l_d, with no gravity, from q = (0.1, 0,
 * 0) and v = (0.2, 0.1, -0.3): coordinates and velocities after three steps of 5 ms. */
static void tendon_servo(SapMujocoIntegrator integrator, double kd, double limit, double l_d, double out[6],
                         uint32_t *status) {
    const int32_t mode[1] = {SAP_TARGET_POSITION}, start[2] = {0, 2}, dof[2] = {0, 1};
    const int32_t term[2] = {SAP_TENDON_JOINT, SAP_TENDON_JOINT};
    const double value[6] = {1, 0, 0, -0.5, 0, 0}, weight[1] = {0.625}, kp[1] = {50};
    const double q[3] = {0.1, 0, 0}, v[3] = {0.2, 0.1, -0.3};
    Point p;
    Rig r;
    point_fill(&p);
    p.law.integrator = integrator;
    p.law.tendon_invweight = weight;
    p.m.num_tendons = 1;
    p.m.num_tendon_terms = 2;
    p.m.tendon_start = start;
    p.m.tendon_term_type = term;
    p.m.tendon_term_index = dof;
    p.m.tendon_term_value = value;
    p.m.tendon_target_mode = mode;
    p.m.tendon_target_ke = kp;
    p.m.tendon_target_kd = &kd;
    p.m.tendon_effort_limit = &limit;
    memset(p.m.gravity, 0, sizeof p.m.gravity);
    rig_open(&r, point_model(&p), 1);
    r.control->guess = NULL;
    r.contacts->count[0] = 0;
    rig_set(r.in->joint_q, 3, q);
    rig_set(r.in->joint_qd, 3, v);
    rig_set(r.control->tendon_target_pos, 1, &l_d);
    for (int k = 0; k < 3; k++) {
        rig_step(&r, 0.005);
        memcpy(r.in->joint_q, r.out->joint_q, sizeof q);
        memcpy(r.in->joint_qd, r.out->joint_qd, sizeof v);
    }
    memcpy(out, r.in->joint_q, sizeof q);
    memcpy(out + 3, r.in->joint_qd, sizeof v);
    *status = sap_solver_world_status(r.solver)[0];
    rig_close(&r);
}

/* Numbers of MuJoCo 4.0.0: <position tendon="rope" kp="50" kv=... forcerange=.../> on the same point. */
Test(mujoco_motion, a_servo_of_a_tendon_gives_mujocos_numbers) {
    static const struct {
        SapMujocoIntegrator integrator;
        double kd, limit, expected[6];
    } golden[4] = {
        {SAP_INTEGRATOR_EULER,
         4,
         INFINITY,
         {0.1036968179672241, 0.00115159101638794, -0.0045, 0.2692694528198242, 0.0653652735900879, -0.3}},
        {SAP_INTEGRATOR_RK4,
         4,
         INFINITY,
         {0.1035198079121698, 0.001240096043915107, -0.0045, 0.2686970305242834, 0.06565148473785833, -0.3}},
        {SAP_INTEGRATOR_IMPLICITFAST,
         0,
         INFINITY,
         {0.1037476371612549, 0.001126181419372559, -0.0045, 0.2746407135009766, 0.06267964324951172, -0.3}},
        {SAP_INTEGRATOR_RK4, 4, 3, {0.10316875, 0.001415625, -0.0045, 0.2225, 0.08875, -0.3}},
    };
    for (int i = 0; i < 4; i++) {
        double out[6];
        uint32_t status;
        tendon_servo(golden[i].integrator, golden[i].kd, golden[i].limit, 0.3, out, &status);
        for (int k = 0; k < 6; k++)
            cr_assert_float_eq(out[k], golden[i].expected[k], 2e-16 + 1e-15 * fabs(out[k]), "case %d, %d: %.17g", i, k,
                               out[k]);
    }
}

Test(mujoco_motion, a_target_of_a_tendon_that_is_not_finite_fails_the_world) {
    double out[6];
    uint32_t status;
    tendon_servo(SAP_INTEGRATOR_EULER, 4, 3, NAN, out, &status);
    cr_assert_eq(out[0], 0.1);
    cr_assert(status & SAP_WORLD_NONFINITE_CONTROL, "%x", (unsigned)status);
}

/* ---- batches, with our own collision ---- */

/* One shape of the mixing tests. */
typedef struct Side {
    int32_t condim, priority;
    double solmix, margin, friction[3], solref[2], solimp[5];
} Side;

/* R, aref and force of the rows of a ball on a plane: by our own collision with the materials of two shapes, or by a
 * contact given as `mixed`. */
static int ball_rows(const Side side[2], const SapMujocoContact *mixed, double *out) {
    static const int32_t shape_type[2] = {SAP_SHAPE_PLANE, SAP_SHAPE_SPHERE}, shape_body[2] = {-1, 0};
    static const double size[6] = {1, 1, 1, 0.1, 1, 1}, q[3] = {0, 0, 0.099}, v[3] = {0.3, 0.2, -0.1};
    double column[5][14] = {{0}}, gap[2];
    int32_t condim[2], priority[2];
    for (int s = 0; s < 2; s++) {
        condim[s] = side[s].condim;
        priority[s] = side[s].priority;
        column[0][s] = side[s].solmix;
        column[1][s] = gap[s] = side[s].margin;
        memcpy(&column[2][3 * s], side[s].friction, sizeof side[s].friction);
        memcpy(&column[3][2 * s], side[s].solref, sizeof side[s].solref);
        memcpy(&column[4][5 * s], side[s].solimp, sizeof side[s].solimp);
    }
    Point p;
    Rig r;
    point_fill(&p);
    p.m.num_shapes = 2;
    p.m.shape_type = shape_type;
    p.m.shape_body = shape_body;
    p.m.shape_scale = size;
    p.m.shape_gap = gap;
    p.law.shape_condim = condim;
    p.law.shape_priority = priority;
    p.law.shape_solmix = column[0];
    p.law.shape_margin = column[1];
    p.law.shape_friction = column[2];
    p.law.shape_solref = column[3];
    p.law.shape_solimp = column[4];
    p.law.cone = SAP_CONE_ELLIPTIC;
    rig_open(&r, point_model(&p), 1);
    rig_place(&r, 0, v);
    rig_set(r.in->joint_q, 3, q);
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
    double ours[3 * RIG_ROWS], theirs[3 * RIG_ROWS];
    int n = ball_rows(side, NULL, ours), m = ball_rows(side, mixed, theirs);
    cr_assert_eq(n, m, "%s: %d rows, not %d", what, n, m);
    for (int i = 0; i < 3 * n; i++)
        check_near(ours[i], theirs[i], 1e-11 * (1 + fabs(theirs[i])), what);
}

Test(mujoco_motion, shapes_are_mixed_as_mujoco_mixes_geoms) {
    const Side plane = {3, 0, 1, 0.001, {0.4, 0.01, 0.002}, {0.02, 1}, {0.9, 0.95, 0.001, 0.5, 2}};
    const Side ball = {4, 0, 3, 0.002, {0.3, 0.02, 0.001}, {0.04, 0.5}, {0.6, 0.8, 0.005, 0.3, 1}};
    SapMujocoContact mixed = rig_on_plane;
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

/* A time constant below the step does not diverge: refsafe. */
Test(mujoco_motion, a_stiff_contact_comes_to_rest) {
    SapBatch *batch = rig_ball("approx64", 0.0002, 1, 0.3, 1);
    cr_assert_eq(sap_batch_step(batch, 0.002, 3000), SAP_OK);
    check_near(rig_height(batch, 0), 0.1, 1e-3, "height at rest");
    check_near(((double *)sap_batch_state(batch)->joint_qd)[2], 0, 1e-6, "velocity at rest");
    sap_batch_destroy(batch);
}

/* Presets with stages in f32 give the same motion to their precision, and no world fails to converge. */
Test(mujoco_motion, single_precision_follows_double_precision) {
    const char *const presets[] = {"mujoco32", "fast32"};
    SapBatch *exact = rig_ball("approx64", 0.02, 0.5, 0.15, 1);
    cr_assert_eq(sap_batch_step(exact, 0.002, 400), SAP_OK);
    for (int i = 0; i < 2; i++) {
        SapBatch *batch = rig_ball(presets[i], 0.02, 0.5, 0.15, 1);
        SapArray status;
        cr_assert_eq(sap_batch_step(batch, 0.002, 400), SAP_OK, "%s", sap_error_message());
        cr_assert_eq(sap_batch_array(batch, SAP_BATCH_STATUS, &status), SAP_OK);
        cr_assert_eq(*(uint32_t *)status.data & (SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED), 0, "%s: status %x",
                     presets[i], *(uint32_t *)status.data);
        check_near(((const float *)sap_batch_state(batch)->joint_q)[2], rig_height(exact, 0), 2e-5, presets[i]);
        sap_batch_destroy(batch);
    }
    sap_batch_destroy(exact);
}

/* The acceleration of the last step is state: a reset world repeats its run bit for bit. */
Test(mujoco_motion, a_reset_world_repeats_its_run) {
    SapBatch *batch = rig_ball("approx64", 0.02, 1, 0.11, 3);
    const uint8_t second[3] = {0, 1, 0};
    cr_assert_eq(sap_batch_step(batch, 0.002, 200), SAP_OK);
    double after = rig_height(batch, 1);
    cr_assert_eq(sap_batch_reset(batch, second, 0), SAP_OK);
    cr_assert_eq(rig_height(batch, 1), 0.11);
    cr_assert_eq(sap_batch_step(batch, 0.002, 200), SAP_OK);
    cr_assert_eq(rig_height(batch, 1), after);
    sap_batch_destroy(batch);
}

/* The kept acceleration of a turned body that is pushed: angular parts in the axes of the body, linear ones in those of
 * the world. */
Test(mujoco_motion, the_warm_start_of_a_free_body_turns_with_it) {
    const double turn[4] = {0.5, -0.1, 0.7, 0.5}, f[6] = {3, -1, 2, 0.4, -0.7, 0.2},
                 h = 0.002; /* f: [force ; torque] */
    ShapeModel m;
    SapBatch *batch = NULL;
    SapArray view;
    SapOptions o = rig_options();
    shape_model_init(&m);
    memcpy(&m.q[shape_model_body(&m, 0, 0, 1)][3], turn, sizeof turn);
    SapModel *model = shape_model_create(&m);
    need(sap_batch_create(model, 1, &o, &batch));
    need(sap_batch_array(batch, SAP_BATCH_JOINT_F, &view));
    rig_set(view.data, 6, f);
    need(sap_batch_step(batch, h, 1));
    need(sap_batch_array(batch, SAP_BATCH_DOF_CACHE, &view));
    const double *kept = view.data, *v = sap_batch_state(batch)->joint_qd;
    double alpha[3] = {v[3] / h, v[4] / h, v[5] / h}, own[3];
    rotate_back(turn, alpha, own);
    for (int i = 0; i < 3; i++) {
        cr_assert_gt(fabs(own[i]), 1);
        check_near(kept[4 * i], own[i], 1e-11, "angular acceleration");
        check_near(kept[4 * (3 + i)], v[i] / h, 1e-11, "linear acceleration");
    }
    sap_batch_destroy(batch);
    sap_model_destroy(model);
}

Test(mujoco_motion, a_ball_at_rest_is_held_by_its_weight_in_the_gravity_of_its_world) {
    SapBatch *batch = rig_ball("approx64", 0.02, 1, 0.11, 1);
    SapArray force, gravity;
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_CONTACT_FORCE, &force), SAP_OK);
    cr_assert_eq(sap_batch_step(batch, 0.002, 500), SAP_OK);
    check_near(((double *)force.data)[2], 2 * 9.81, 1e-3, "the force of the plane");
    cr_assert_eq(sap_batch_expand(batch, SAP_PARAMETER_GRAVITY, &gravity), SAP_OK, "%s", sap_error_message());
    ((double *)gravity.data)[2] = -5;
    cr_assert_eq(sap_batch_step(batch, 0.002, 500), SAP_OK);
    check_near(((double *)force.data)[2], 2 * 5, 1e-3, "the force in another gravity");
    sap_batch_destroy(batch);
}

/* ---- poison ---- */

enum { HERD = 11, SICK = 5 };

/* Quadrupeds on the ground, all different. */
static SapBatch *herd(const SapScene *scene) {
    SapOptions o = scene->options;
    SapBatch *batch = NULL;
    cr_assert_eq(sap_options_set(&o, "preset", "mujoco64"), SAP_OK);
    o.threads = 1;
    cr_assert_eq(sap_batch_create(scene->model, HERD, &o, &batch), SAP_OK, "%s", sap_error_message());
    double *v = sap_batch_state(batch)->joint_qd;
    int nv = sap_model_arrays(scene->model)->num_dofs;
    for (int i = 0; i < HERD * nv; i++)
        v[i] = 0.3 * sin(1.7 * i);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 60), SAP_OK);
    return batch;
}

/* A copy of a field of all worlds, to free, or back into the batch. */
static void *copy_field(SapBatch *batch, SapBatchField field, size_t *bytes) {
    SapArray view;
    cr_assert_eq(sap_batch_array(batch, field, &view), SAP_OK);
    *bytes = (size_t)(view.shape[0] * view.strides[0]);
    void *copy = malloc(*bytes);
    memcpy(copy, view.data, *bytes);
    return copy;
}

static const SapBatchField poisoned[] = {SAP_BATCH_JOINT_Q,          SAP_BATCH_JOINT_QD, SAP_BATCH_JOINT_F,
                                         SAP_BATCH_JOINT_TARGET_POS, SAP_BATCH_BODY_F,   SAP_BATCH_DOF_CACHE};
enum { NUM_POISONED = sizeof poisoned / sizeof *poisoned };

/* Every element of every input of one world in turn is NaN, infinite, huge or denormal; the other worlds keep their
 * bits, and the world fails and keeps its state, or is finite. */
Test(mujoco_motion, a_bad_number_stops_its_world_only, .timeout = 120) {
    static const double bad[] = {NAN, -INFINITY, 1e300, 5e-324};
    SapScene *scene = NULL;
    cr_assert_eq(sap_scene_load(SAPWOOD_SOURCE_DIR "/bench/scenes/quadruped.yaml", &scene), SAP_OK);
    SapBatch *batch = herd(scene);
    size_t bytes[NUM_POISONED], q_bytes, v_bytes;
    void *start[NUM_POISONED];
    for (int f = 0; f < NUM_POISONED; f++)
        start[f] = copy_field(batch, poisoned[f], &bytes[f]);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 1), SAP_OK);
    double *q = copy_field(batch, SAP_BATCH_JOINT_Q, &q_bytes), *v = copy_field(batch, SAP_BATCH_JOINT_QD, &v_bytes);
    int failures = 0;
    for (int f = 0; f < NUM_POISONED; f++)
        for (size_t k = 0; k < 4 * (bytes[f] / sizeof(double) / HERD); k++) {
            size_t row = bytes[f] / sizeof(double) / HERD, at = SICK * row + k / 4;
            for (int g = 0; g < NUM_POISONED; g++)
                cr_assert_eq(sap_batch_write(batch, poisoned[g], start[g], bytes[g]), SAP_OK);
            SapArray view;
            cr_assert_eq(sap_batch_array(batch, poisoned[f], &view), SAP_OK);
            ((double *)view.data)[at] = bad[k % 4];
            cr_assert_eq(sap_batch_step(batch, scene->dt, 1), SAP_OK);
            /* the other worlds */
            const double *q1 = sap_batch_state(batch)->joint_q, *v1 = sap_batch_state(batch)->joint_qd;
            size_t nq = q_bytes / sizeof *q / HERD, nv = v_bytes / sizeof *v / HERD;
            for (size_t w = 0; w < HERD; w++)
                if (w != SICK)
                    cr_assert(memcmp(q + w * nq, q1 + w * nq, nq * sizeof *q) == 0 &&
                                  memcmp(v + w * nv, v1 + w * nv, nv * sizeof *v) == 0,
                              "field %d, element %zu, %g: world %zu differs", (int)poisoned[f], k / 4, bad[k % 4], w);
            /* the world itself */
            cr_assert_eq(sap_batch_array(batch, SAP_BATCH_STATUS, &view), SAP_OK);
            bool failed = ((uint32_t *)view.data)[SICK] & SAP_WORLD_FAILED, finite = true;
            for (size_t i = 0; i < nv; i++)
                finite &= isfinite(v1[SICK * nv + i]) != 0;
            cr_assert(failed || finite, "field %d, element %zu is %g", (int)poisoned[f], k / 4, bad[k % 4]);
            failures += failed;
        }
    cr_assert_gt(failures, 100);
    for (int f = 0; f < NUM_POISONED; f++)
        free(start[f]);
    free(q);
    free(v);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}
