/* Results that leave the range of their numbers: an angle too large for sine, a quaternion whose square overflows, a
 * value too large for its storage. None is a result: the world says so and keeps its last good state. */
#include <math.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/model_parts.h"
#include "support/need.h"

static const double H = 0.01;

/* Steps a single world of a pendulum from (angle, rate) and returns its status. */
static uint32_t pendulum_status(SapPrecision precision, double angle, double rate, double *q1) {
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_REVOLUTE, 0, 0);
    SapModel *model = parts_model(&parts);
    SapOptions options;
    need(sap_options_preset("approx32", &options));
    options.free_motion_precision = precision;
    SapSolver *solver;
    need(sap_solver_create(model, 1, &options, &solver));
    SapState state = {.num_worlds = 1, .dtype = SAP_F64, .joint_q = &angle, .joint_qd = &rate};
    need(sap_step(solver, &state, NULL, NULL, 0.125, &state));
    uint32_t status = *sap_solver_world_status(solver);
    *q1 = angle;
    sap_solver_destroy(solver);
    sap_model_destroy(model);
    return status;
}

/* A joint turns by half its angle on each side, so its limit is twice the limit of sine. */
Test(poison, an_angle_beyond_the_limit_of_sine_is_reported_where_it_arises) {
    const double limit[] = {0x1p21, 0x1p41};
    for (int precision = SAP_FP32; precision <= SAP_FP64; precision++) {
        double x = limit[precision], q1;
        cr_assert_eq(pendulum_status((SapPrecision)precision, x, 0, &q1), 0);
        cr_assert_eq(pendulum_status((SapPrecision)precision, 1.001 * x, 0, &q1), SAP_WORLD_NONFINITE_STATE);
        cr_assert_eq(pendulum_status((SapPrecision)precision, 0.75 * x, 4 * x, &q1), SAP_WORLD_NONFINITE_RESULT);
        cr_assert_eq(q1, 0.75 * x, "the state was not kept");
    }
}

/* A single body that a torque makes spin: nothing else in its world could notice. */
static uint32_t spin_status(SapPrecision precision, SapPositionIntegration integration, double torque) {
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    SapModel *model = parts_model(&parts);
    SapOptions options;
    need(sap_options_preset("approx32", &options));
    options.free_motion_precision = precision;
    options.position_integration = integration;
    SapSolver *solver;
    need(sap_solver_create(model, 1, &options, &solver));
    double q[7] = {0, 0, 0, 0, 0, 0, 1}, v[6] = {0}, f[6] = {0, 0, 0, 0, torque, 0};
    SapState state = {.num_worlds = 1, .dtype = SAP_F64, .joint_q = q, .joint_qd = v};
    SapControl control = {.num_worlds = 1, .dtype = SAP_F64, .joint_f = f};
    need(sap_step(solver, &state, &control, NULL, H, &state));
    uint32_t status = *sap_solver_world_status(solver);
    double norm2 = q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6];
    cr_assert(fabs(norm2 - 1) < 1e-5, "torque %g, status %#x: norm^2 is %g", torque, (unsigned)status, norm2);
    sap_solver_destroy(solver);
    sap_model_destroy(model);
    return status;
}

/* The square of such a quaternion overflows, and one over its root is zero, which is finite. */
Test(poison, a_spin_that_overflows_its_quaternion_is_no_result) {
    const double torque[] = {1e30, 1e200};
    for (int integration = SAP_MIDPOINT; integration <= SAP_EULER; integration++) {
        for (int precision = SAP_FP32; precision <= SAP_FP64; precision++) {
            uint32_t ordinary = spin_status((SapPrecision)precision, (SapPositionIntegration)integration, 1);
            cr_assert_eq(ordinary, 0);
            uint32_t status =
                spin_status((SapPrecision)precision, (SapPositionIntegration)integration, torque[precision]);
            cr_assert_eq(status, SAP_WORLD_NONFINITE_RESULT, "status %#x", (unsigned)status);
        }
    }
}

/* A cart of 1 kg whose drive has the gain kp, target 0.5 m and the effort u, bounded by 8 N: its velocity after a
 * step. */
static double driven_cart(const char *preset, double kp, double u, uint32_t *status) {
    const int32_t mode = SAP_TARGET_POSITION;
    const double kd = 0, bound = 8, target = 0.5;
    double q = 0, v = 0;
    ModelParts parts;
    parts_init(&parts);
    parts.gravity[2] = 0;
    parts_add(&parts, -1, SAP_JOINT_PRISMATIC, 0, 0);
    parts_set_axis(&parts, 0, 1, 0, 0);
    SapModel *passive = parts_model(&parts), *model;
    SapModelArrays arrays = *sap_model_arrays(passive);
    arrays.joint_target_mode = &mode;
    arrays.joint_target_ke = &kp;
    arrays.joint_target_kd = &kd;
    arrays.joint_effort_limit = &bound;
    SapOptions options;
    SapSolver *solver;
    need(sap_model_create(&arrays, &model));
    sap_model_destroy(passive);
    need(sap_options_preset(preset, &options));
    need(sap_solver_create(model, 1, &options, &solver));
    SapState state = {.num_worlds = 1, .dtype = SAP_F64, .joint_q = &q, .joint_qd = &v};
    SapControl control = {.num_worlds = 1, .dtype = SAP_F64, .joint_target_pos = (void *)&target, .joint_act = &u};
    need(sap_step(solver, &state, &control, NULL, H, &state));
    *status = *sap_solver_world_status(solver);
    sap_solver_destroy(solver);
    sap_model_destroy(model);
    return v;
}

/* The least gain that a model allows: the effort is u, up to its bound, in every precision. Of less a law in f32 would
 * make the bound. An effort for which even this law overflows is beyond the bound, or no result. */
Test(poison, a_drive_of_the_least_gain_has_a_finite_law) {
    const char *const presets[] = {"fast32", "approx32", "drake"};
    uint32_t status;
    for (int i = 0; i < 3; i++) {
        double v = driven_cart(presets[i], 1e-20, 5, &status);
        cr_assert(!(status & SAP_WORLD_FAILED) && fabs(v - H * 5) < 1e-6, "%s: %#x, %g", presets[i], (unsigned)status,
                  v);
        v = driven_cart(presets[i], 1e-20, 1e6, &status);
        cr_assert(!(status & SAP_WORLD_FAILED) && fabs(v - H * 8) < 1e-6, "%s: %#x, %g", presets[i], (unsigned)status,
                  v);
    }
    double v = driven_cart("fast32", 1e-20, 1e30, &status);
    cr_assert(status & SAP_WORLD_FAILED ? v == 0 : fabs(v - H * 8) < 1e-6, "%#x, %g", (unsigned)status, v);
}

/* f64 kernels on f32 storage: a cart of 1 kg at (q, v), pushed by f for h seconds; what they compute is well within
 * f64. */
static uint32_t cart_status(float q, float v, double f, double h) {
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_PRISMATIC, 0, 0);
    parts_set_axis(&parts, 0, 1, 0, 0);
    SapModel *model = parts_model(&parts);
    SapOptions options;
    need(sap_options_preset("approx64", &options));
    SapSolver *solver;
    need(sap_solver_create(model, 1, &options, &solver));
    float q1 = q, v1 = v;
    SapState state = {.num_worlds = 1, .dtype = SAP_F32, .joint_q = &q1, .joint_qd = &v1};
    SapControl control = {.num_worlds = 1, .dtype = SAP_F64, .joint_f = &f};
    need(sap_step(solver, &state, &control, NULL, h, &state));
    uint32_t status = *sap_solver_world_status(solver);
    cr_assert(status == 0 || (q1 == q && v1 == v), "the state was not kept");
    cr_assert(isfinite(q1) && isfinite(v1), "status %#x", (unsigned)status);
    sap_solver_destroy(solver);
    sap_model_destroy(model);
    return status;
}

Test(poison, a_result_too_large_for_its_storage_is_no_result) {
    cr_assert_eq(cart_status(0, 0, 1e40, 0.01), 0);
    cr_assert_eq(cart_status(0, 0, 1e41, 0.01), SAP_WORLD_NONFINITE_RESULT);   /* v = 1e39, q = 5e36 */
    cr_assert_eq(cart_status(3e38f, 3e38f, 0, 1), SAP_WORLD_NONFINITE_RESULT); /* v = 3e38, q = 6e38 */
}

/* One step, computed in f64, stored in f32 with its bodies or without. What is not finite must not be stored. */
static uint32_t f32_status(const ModelParts *parts, double force, double h, bool bodies) {
    SapModel *model = parts_model(parts);
    const SapModelArrays *m = sap_model_arrays(model);
    SapOptions options;
    SapSolver *solver;
    SapState *state;
    SapControl *control;
    need(sap_options_preset("approx64", &options));
    options.threads = 1;
    need(sap_solver_create(model, 1, &options, &solver));
    need(sap_state_create(model, 1, SAP_F32, &state));
    need(sap_control_create(model, 1, SAP_F64, &control));
    *(double *)control->joint_f = force;
    const float *velocity = state->joint_qd, *body = state->body_qd;
    float first = velocity[0];
    if (!bodies)
        state->body_q = state->body_qd = NULL;
    need(sap_step(solver, state, control, NULL, h, state));
    uint32_t status = *sap_solver_world_status(solver);
    for (int i = 0; i < m->num_dofs; i++)
        cr_assert(isfinite(velocity[i]), "status %#x: velocity %d is %g", (unsigned)status, i, (double)velocity[i]);
    cr_assert(status == 0 || velocity[0] == first, "the state was not kept");
    if (status == 0 && bodies)
        for (int i = 0; i < 6; i++)
            cr_assert(isfinite(body[i]), "body_qd[%d] is %g", i, (double)body[i]);
    sap_control_destroy(control);
    sap_state_destroy(state);
    sap_solver_destroy(solver);
    sap_model_destroy(model);
    return status;
}

/* v_C = 3.3e38 and v_O = 1.3e38 both fit in f32. A force that adds 2e37 to both makes v_C, which is stored, too large.
 * The step is so short that the spin of 2e38 rad/s does nothing else. */
Test(poison, a_free_bodys_velocity_too_large_where_it_is_stored_is_no_result) {
    const double h = 1e-200;
    ModelParts parts;
    parts_init(&parts);
    parts.gravity[2] = 0;
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    parts_set_com(&parts, 0, 0, 1, 0);
    parts.qd[0] = 3.3e38;
    parts.qd[5] = -2e38;
    cr_assert_eq(f32_status(&parts, 0, h, false), 0);
    cr_assert_eq(f32_status(&parts, 2e37 / h, h, false), SAP_WORLD_NONFINITE_RESULT);
    cr_assert_eq(f32_status(&parts, -2e38 / h, h, false), 0);
}

/* Two bodies that slide along x, the second on the first. */
static void two_sliders(ModelParts *parts) {
    parts_init(parts);
    parts->gravity[2] = 0;
    for (int i = 0; i < 2; i++) {
        parts_add(parts, i - 1, SAP_JOINT_PRISMATIC, 0, 0);
        parts_set_axis(parts, i, 1, 0, 0);
    }
}

/* Two sliders in a row: the velocities of both fit in f32; the velocity of the second body, their sum, does not. */
Test(poison, a_body_velocity_too_large_where_it_is_stored_is_no_result) {
    ModelParts parts;
    two_sliders(&parts);
    parts.qd[0] = parts.qd[1] = 1e38;
    cr_assert_eq(f32_status(&parts, 0, 1e-3, true), 0);
    parts.qd[0] = parts.qd[1] = 2e38;
    cr_assert_eq(f32_status(&parts, 0, 1e-3, true), SAP_WORLD_NONFINITE_RESULT);
    cr_assert_eq(f32_status(&parts, 0, 1e-3, false), 0); /* not asked for */
}

/* The same for coordinates and the position. */
Test(poison, a_body_position_too_large_where_it_is_stored_is_no_result) {
    ModelParts parts;
    two_sliders(&parts);
    parts.q[0] = parts.q[1] = 1e38;
    cr_assert_eq(f32_status(&parts, 0, 1e-3, true), 0);
    parts.q[0] = parts.q[1] = 2e38;
    cr_assert_eq(f32_status(&parts, 0, 1e-3, true), SAP_WORLD_NONFINITE_RESULT);
    cr_assert_eq(f32_status(&parts, 0, 1e-3, false), 0); /* not asked for */
}
