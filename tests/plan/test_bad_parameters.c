/* Parameters that worlds have of their own: a value that no model may have stops its world alone, until it is put
 * right. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/own_parameters.h"
#include "support/work.h"

enum { FIELD = 18 }; /* the last shape of the model */

typedef struct Bad {
    SapParameter parameter;
    int index;
    double value;
    const char *message;
} Bad;

static const Bad bad_values[] = {
    {SAP_PARAMETER_BODY_MASS, 2, 0, "body_mass[2] of body 2 ("},
    {SAP_PARAMETER_BODY_MASS, 0, -1, "is -1; it must be finite and > 0"},
    {SAP_PARAMETER_BODY_MASS, 0, NAN, "nan; it must be finite and > 0"},
    {SAP_PARAMETER_BODY_INERTIA, 9, -1, "it must be positive definite"},
    {SAP_PARAMETER_BODY_INERTIA, 1, 1, "it must be symmetric"},
    {SAP_PARAMETER_BODY_INERTIA, 0, 1e3, "triangle inequality"},
    {SAP_PARAMETER_BODY_COM, 4, INFINITY, "body_com[1][1]"},
    {SAP_PARAMETER_BODY_GRAVCOMP, 3, INFINITY, "body_gravcomp[3] of body 3"},
    {SAP_PARAMETER_GRAVITY, 2, NAN, "gravity[2] is"},
    {SAP_PARAMETER_JOINT_ARMATURE, 7, -0.1, "joint_armature[7]"},
    {SAP_PARAMETER_JOINT_DAMPING, 17, -1, "joint_damping[17]"},
    {SAP_PARAMETER_JOINT_FRICTION, 6, INFINITY, "joint_friction[6]"},
    {SAP_PARAMETER_JOINT_TARGET_KE, 9, -1, "joint_target_ke[9]"},
    {SAP_PARAMETER_JOINT_TARGET_KD, 10, NAN, "joint_target_kd[10]"},
    {SAP_PARAMETER_JOINT_LIMIT_KE, 11, -1, "joint_limit_ke[11]"},
    {SAP_PARAMETER_JOINT_LIMIT_KD, 12, -1, "joint_limit_kd[12]"},
    {SAP_PARAMETER_JOINT_LIMIT_LOWER, 7, INFINITY, "finite or -infinity"},
    {SAP_PARAMETER_JOINT_LIMIT_LOWER, 7, 9, "joint_limit_lower[7]"},
    {SAP_PARAMETER_JOINT_LIMIT_UPPER, 8, -9, "it must be <= joint_limit_upper[8]"},
    {SAP_PARAMETER_JOINT_EFFORT_LIMIT, 8, 0, "> 0, infinity allowed"},
    {SAP_PARAMETER_SHAPE_MATERIAL_MU, 1, -0.5, "shape_material_mu[1] of shape 1"},
    {SAP_PARAMETER_SHAPE_MATERIAL_KE, 1, 0, "shape_material_ke[1]"},
    {SAP_PARAMETER_SHAPE_MATERIAL_TAU, 2, -1, "shape_material_tau[2]"},
    {SAP_PARAMETER_SHAPE_MATERIAL_DISSIPATION, 2, -1, "shape_material_dissipation[2]"},
    {SAP_PARAMETER_SHAPE_MARGIN, 1, NAN, "shape_margin[1]"},
    {SAP_PARAMETER_SHAPE_GAP, 1, -0.1, "shape_gap[1]"},
    {SAP_PARAMETER_SHAPE_MESH, FIELD, NUM_GRIDS,
     "shape_mesh[18] of shape 18 ('field') is 3; a world can choose 0 .. 2"},
    {SAP_PARAMETER_SHAPE_MESH, FIELD, -1, "is -1; a world can choose 0 .. 2"},
    {SAP_PARAMETER_SHAPE_MESH, 2, 0, "is 0; a world can choose -1 .. -1"},
    {SAP_PARAMETER_CONSTRAINT_X, 17, 2, "constraint_X[1] of constraint 1"},
    {SAP_PARAMETER_CONSTRAINT_X, 1, NAN, "constraint_X[0][1]"},
    {SAP_PARAMETER_CONSTRAINT_POLYNOMIAL, 15, INFINITY, "constraint_polynomial[3][0]"},
    {SAP_PARAMETER_CONSTRAINT_REFERENCE, 6, NAN, "constraint_reference[3][0]"},
    {SAP_PARAMETER_CONSTRAINT_LENGTH, 2, 0, "constraint_length[2] of constraint 2"},
    {SAP_PARAMETER_CONSTRAINT_KE, 0, 0, "constraint_ke[0][0]"},
    {SAP_PARAMETER_CONSTRAINT_KE, 0, INFINITY, "a rigid constraint has no damping"},
    {SAP_PARAMETER_CONSTRAINT_KD, 1, -1, "constraint_kd[0][1]"},
    {SAP_PARAMETER_TENDON_TERM_VALUE, 3, NAN, "tendon_term_value[1][0] of tendon 0"},
    {SAP_PARAMETER_TENDON_OFFSET, 1, INFINITY, "tendon_offset[1] of tendon 1"},
    {SAP_PARAMETER_TENDON_LIMIT_LOWER, 1, 0.2, "tendon_limit_lower[1] of tendon 1"},
    {SAP_PARAMETER_TENDON_LIMIT_UPPER, 0, 0, "above tendon_limit_upper"},
    {SAP_PARAMETER_TENDON_LIMIT_KE, 0, 0, "tendon_limit_ke[0]"},
    {SAP_PARAMETER_TENDON_LIMIT_KD, 0, -1, "tendon_limit_kd[0]"},
    {SAP_PARAMETER_TENDON_SPRING_KE, 0, -1, "tendon_spring_ke[0]"},
    {SAP_PARAMETER_TENDON_SPRING_LOWER, 0, 2, "above tendon_spring_upper"},
    {SAP_PARAMETER_TENDON_SPRING_UPPER, 0, NAN, "tendon_spring_upper[0]"},
    {SAP_PARAMETER_TENDON_ARMATURE, 0, -1, "tendon_armature[0]"},
    {SAP_PARAMETER_TENDON_DAMPING, 0, -1, "tendon_damping[0]"},
    {SAP_PARAMETER_TENDON_FRICTION, 0, -1, "tendon_friction[0]"},
    {SAP_PARAMETER_TENDON_TARGET_KE, 0, -1, "tendon_target_ke[0]"},
    {SAP_PARAMETER_TENDON_TARGET_KD, 0, NAN, "tendon_target_kd[0]"},
    {SAP_PARAMETER_TENDON_TARGET_KD, 0, 1e-37, "0, or finite and at least 1e-20"},
    {SAP_PARAMETER_TENDON_EFFORT_LIMIT, 1, 0, "tendon_effort_limit[1]"},
};

/* A parameter that gets a good value together with the bad one. */
static uint64_t companion(const Bad *bad) {
    return UINT64_C(1) << (bad->parameter == SAP_PARAMETER_JOINT_DAMPING ? SAP_PARAMETER_JOINT_ARMATURE
                                                                         : SAP_PARAMETER_JOINT_DAMPING);
}

static void check_bad(const SapModel *base, const Bad *bad) {
    int steps = work_scale() < 1 ? 1 : 3;
    SapOptions o = options_of("approx32", 4, 1);
    SapBatch *batch = create(base, 7, &o), *clean = create(base, 7, &o);
    void *row = expand_row(batch, base, bad->parameter, 5);
    size_t at = (size_t)bad->index;
    double good = element(bad->parameter, row, at);
    cr_assert_eq(sap_batch_step(batch, h, steps), SAP_OK);
    cr_assert_eq(sap_batch_step(clean, h, steps), SAP_OK);
    cr_assert_eq(sap_batch_check_parameters(batch), SAP_OK);
    World before = read_world(batch, base, 5);
    set_element(bad->parameter, row, at, bad->value);
    write_world(batch, base, companion(bad), 5, 2);
    cr_expect_eq(sap_batch_check_parameters(batch), SAP_ERROR_MODEL);
    cr_expect(strncmp(sap_error_message(), "world 5: ", 9) == 0, "%s", sap_error_message());
    cr_expect(strstr(sap_error_message(), bad->message), "'%s' is not in: %s", bad->message, sap_error_message());
    for (int call = 0; call < 2; call++) { /* in the second, nothing is new */
        cr_assert_eq(sap_batch_step(batch, h, steps), SAP_OK);
        cr_assert_eq(sap_batch_step(clean, h, steps), SAP_OK);
        for (int w = 0; w < 7; w++) {
            World x = read_world(batch, base, w), y = read_world(clean, base, w);
            cr_expect(w == 5 || memcmp(&x, &y, sizeof x) == 0, "%s: world %d", bad->message, w);
            cr_expect(w != 5 || memcmp(x.state, before.state, sizeof x.state) == 0, "%s: moved", bad->message);
            cr_expect(w != 5 || (x.status == SAP_WORLD_BAD_PARAMETERS && x.contacts == 0), "status %#x", x.status);
        }
    }
    set_element(bad->parameter, row, at, good);
    SapModel *changed = varied_model(base, companion(bad), 2);
    SapBatch *on = take_over(changed, batch, 7, &o);
    cr_assert_eq(sap_batch_step(batch, h, steps), SAP_OK);
    cr_assert_eq(sap_batch_step(on, h, steps), SAP_OK);
    World x = read_world(batch, base, 5), y = read_world(on, base, 5);
    cr_expect_eq(memcmp(&x, &y, sizeof x), 0, "%s: put right, it does not go on", bad->message);
    sap_batch_destroy(on);
    sap_model_destroy(changed);
    sap_batch_destroy(batch);
    sap_batch_destroy(clean);
}

Test(expand, a_value_that_breaks_a_rule_stops_its_world_alone_until_it_is_put_right) {
    SapModel *base = base_model();
    uint64_t seen = 0;
    for (size_t i = 0; i < sizeof bad_values / sizeof *bad_values; i++) {
        check_bad(base, &bad_values[i]);
        seen |= UINT64_C(1) << bad_values[i].parameter;
    }
    cr_expect_eq(seen, (UINT64_C(1) << SAP_NUM_MODEL_PARAMETERS) - 1, "every parameter has a rule");
    sap_model_destroy(base);
}

Test(expand, a_world_that_is_left_out_gets_its_state_in_another_array_too) {
    SapModel *base = base_model();
    const SapModelArrays *a = sap_model_arrays(base);
    SapOptions o = options_of("approx32", 4, 1);
    SapBatch *batch = create(base, 4, &o);
    SapState *out = NULL;
    cr_assert_eq(sap_state_create(base, 4, SAP_F64, &out), SAP_OK);
    ((double *)expand(batch, SAP_PARAMETER_BODY_MASS))[2 * a->num_bodies] = -1;
    set_velocity(batch, base, 2, 9);
    memset(out->joint_qd, 0x55, 4 * (size_t)a->num_dofs * sizeof(double));
    cr_assert_eq(sap_step(sap_batch_solver(batch), sap_batch_state(batch), NULL, NULL, h, out), SAP_OK);
    for (int i = 0; i < a->num_dofs; i++)
        cr_assert_eq(((double *)out->joint_qd)[2 * a->num_dofs + i],
                     (double)((float *)sap_batch_state(batch)->joint_qd)[2 * a->num_dofs + i]);
    sap_state_destroy(out);
    sap_batch_destroy(batch);
    sap_model_destroy(base);
}
