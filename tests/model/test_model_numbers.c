/* Models: numbers, unit vectors and quaternions; one test per rule, each with the message it must give. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/model/model.h"
#include "support/model_refusal.h"
#include "support/pose.h"

TestSuite(model, .init = setup);

/* ---- helpers ---- */

/* A copy of one array of doubles that can be changed; the caller frees it. */
static double *doubles_of(const SapModelArrays *arrays, const char *name) {
    const SapModelField *field = sap_model_field(name);
    size_t bytes = (size_t)sap_model_rows(arrays, field->rows) * (size_t)field->columns * sizeof(double);
    double *data = malloc(bytes);
    cr_assert_not_null(data);
    return memcpy(data, sap_model_field_get(arrays, field), bytes);
}

/* Puts `value` at place k of an array of doubles that is otherwise as the model fills it in, and expects refusal. */
static void refuse_number(const char *name, int k, double value, const char *allowed) {
    SapModel *good = create(&sample.arrays);
    SapModelArrays arrays = *sap_model_arrays(good);
    const SapModelField *field = sap_model_field(name);
    double *data = doubles_of(&arrays, name);
    data[k] = value;
    sap_model_field_set(&arrays, field, data);
    char place[64], number[64];
    if (field->columns == 1)
        snprintf(place, sizeof place, "%s[%d] of ", name, k);
    else
        snprintf(place, sizeof place, "%s[%d][%d] of ", name, k / field->columns, k % field->columns);
    snprintf(number, sizeof number, " is %.17g; ", value);
    check_refused(&arrays, SAP_ERROR_MODEL, (const char *const[]){place, number, allowed, NULL}, __LINE__);
    free(data);
    sap_model_destroy(good);
}

/* ---- numbers ---- */

/* Where infinity is a value; everything else must be finite. */
static bool infinity_is_allowed(const char *array, double value) {
    static const char *const plus[] = {"joint_effort_limit", "joint_limit_upper", "shape_material_ke"};
    for (int i = 0; i < 3; i++)
        if (value > 0 && strcmp(array, plus[i]) == 0)
            return true;
    return value < 0 && strcmp(array, "joint_limit_lower") == 0;
}

Test(model, refuses_numbers_that_are_not_finite_in_every_array_at_every_place) {
    const double bad[] = {NAN, INFINITY, -INFINITY};
    int tried = 0;
    SapModel *good = create(&sample.arrays);
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++) {
        const SapModelField *field = &sap_model_fields[i];
        if (field->element != SAP_ELEMENT_F64)
            continue;
        int n = sap_model_rows(sap_model_arrays(good), field->rows) * field->columns;
        for (int k = 0; k < n; k += (n > 20 ? 7 : 1)) /* 7 and the 3, 7 and 9 columns reach every column and end */
            for (int b = 0; b < 3; b++)
                if (!infinity_is_allowed(field->name, bad[b])) {
                    refuse_number(field->name, k, bad[b], "it must be");
                    tried++;
                }
    }
    cr_assert_gt(tried, 500);
    sap_model_destroy(good);
}

Test(model, refuses_gravity_that_is_not_finite) {
    sample.arrays.gravity[1] = NAN;
    REFUSED("gravity[1] is", "nan", "finite");
    sample.arrays.gravity[1] = -INFINITY;
    REFUSED("gravity[1] is -inf");
}

Test(model, refuses_negative_values_where_they_make_no_sense) {
    static const char *const arrays[] = {"joint_armature", "joint_damping",     "joint_friction",
                                         "joint_limit_ke", "joint_limit_kd",    "shape_margin",
                                         "shape_gap",      "shape_material_mu", "shape_material_tau"};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        refuse_number(arrays[i], 3, -0.25, "finite and >= 0");
}

Test(model, refuses_zero_where_a_value_must_be_positive) {
    for (double value = 0; value > -2; value -= 1) {
        refuse_number("body_mass", 4, value, "finite and > 0");
        refuse_number("joint_effort_limit", 16, value, "> 0, infinity allowed");
        refuse_number("shape_material_ke", 2, value, "> 0, infinity allowed");
    }
}

Test(model, a_message_about_a_dof_names_its_joint) {
    double armature[SAMPLE_NV] = {0};
    armature[12] = -1;
    sample.arrays.joint_armature = armature;
    REFUSED("joint_armature[12] of joint 3 ('shoulder') is -1");
    armature[12] = 0;
    armature[15] = -2; /* the fixed joint before it has no dofs */
    REFUSED("joint_armature[15] of joint 5 ('rail') is -2");
    armature[15] = 0;
    armature[16] = -3;
    REFUSED("joint_armature[16] of joint 6 ('hinge') is -3");
}

Test(model, accepts_infinity_where_it_means_none_or_rigid) {
    double infinite[SAMPLE_NV], lower[SAMPLE_NV];
    for (int i = 0; i < SAMPLE_NV; i++)
        lower[i] = -(infinite[i] = INFINITY);
    sample.arrays.joint_effort_limit = sample.arrays.joint_limit_upper = sample.arrays.shape_material_ke = infinite;
    sample.arrays.joint_limit_lower = lower;
    sap_model_destroy(create(&sample.arrays));
}

Test(model, refuses_a_lower_limit_above_the_upper) {
    double lower[SAMPLE_NV] = {0}, upper[SAMPLE_NV] = {0};
    sample.arrays.joint_limit_lower = lower;
    sample.arrays.joint_limit_upper = upper;
    sap_model_destroy(create(&sample.arrays)); /* equal: allowed */
    lower[6] = 0.5;
    upper[6] = 0.25;
    REFUSED("joint_limit_lower[6] of joint 1 ('hip') is 0.5", "joint_limit_upper[6], 0.25");
}

Test(model, refuses_unknown_target_modes_and_flags) {
    int32_t mode[SAMPLE_NV] = {0}, flags[SAMPLE_NS] = {0};
    sample.arrays.joint_target_mode = mode;
    sample.arrays.shape_flags = flags;
    mode[6] = 4;
    flags[1] = 3;
    sap_model_destroy(create(&sample.arrays));
    mode[6] = 5;
    REFUSED("joint_target_mode[6] of joint 1 ('hip') is 5", "4 effort");
    mode[6] = -1;
    REFUSED("joint_target_mode[6]", "is -1");
    mode[6] = 0;
    flags[1] = 4;
    REFUSED("shape_flags[1] of shape 1 ('shape_1') is 4", "2 (collides)");
}

/* ---- lengths ---- */

Test(model, refuses_lengths_above_1e15_which_f32_cannot_square) {
    static const char *const poses[] = {"joint_X_p", "joint_X_c", "shape_transform"};
    static const char *const sizes[] = {"body_com", "shape_scale", "shape_margin", "shape_gap"};
    for (size_t i = 0; i < sizeof poses / sizeof *poses; i++)
        refuse_number(poses[i], 7 * 2 + 1, -1.0001e15, "at most 1e15");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        refuse_number(sizes[i], 2, 1.0001e15, "at most 1e15");
}

/* ---- gains ---- */

Test(model, refuses_gains_so_small_that_their_law_overflows_in_f32) {
    static const char *const gains[] = {"joint_target_ke", "joint_target_kd"};
    for (size_t i = 0; i < sizeof gains / sizeof *gains; i++) {
        refuse_number(gains[i], 3, -0.25, "0, or finite and at least 1e-20");
        refuse_number(gains[i], 1, 1e-37, "0, or finite and at least 1e-20");
        refuse_number(gains[i], 1, 0.999e-20, "at least 1e-20");
    }
}

/* ---- unit vectors and quaternions ---- */

/* Arrays with quaternions: the name, and the index of the first number of one. */
static const struct {
    const char *array;
    int at;
    const char *place;
} quaternions[] = {
    {"joint_X_p", 7 * SAMPLE_HIP + 3, "joint_X_p[1] of joint 1 ('hip')"},
    {"joint_X_c", 7 * SAMPLE_WRIST + 3, "joint_X_c[4] of joint 4 ('wrist')"},
    {"shape_transform", 7 * 2 + 3, "shape_transform[2] of shape 2 ('shape_2')"},
    {"joint_q", 3, "joint_q[3] of joint 0 ('base')"},
    {"joint_q", 8, "joint_q[8] of joint 2 ('ankle')"},
};

static void with_quaternion(int i, double scale, void (*check)(const SapModelArrays *, int)) {
    static const double q[4] = {0.1, -0.5, 0.7, 0.5};
    SapModel *good = create(&sample.arrays);
    SapModelArrays arrays = *sap_model_arrays(good);
    double *data = doubles_of(&arrays, quaternions[i].array);
    for (int k = 0; k < 4; k++)
        data[quaternions[i].at + k] = q[k] * scale;
    sap_model_field_set(&arrays, sap_model_field(quaternions[i].array), data);
    check(&arrays, i);
    free(data);
    sap_model_destroy(good);
}

static void expect_normalised(const SapModelArrays *arrays, int i) {
    SapModel *model = create(arrays);
    const double *data = sap_model_field_get(sap_model_arrays(model), sap_model_field(quaternions[i].array));
    const double *q = &data[quaternions[i].at];
    cr_expect(fabs(length(q, 4) - 1) < 4 * DBL_EPSILON, "%s: %.17g", quaternions[i].place, length(q, 4));
    cr_expect(fabs(q[1] + 0.5) < 1e-15 && fabs(q[2] - 0.7) < 1e-15);
    sap_model_destroy(model);
}

static void expect_bad_length(const SapModelArrays *arrays, int i) {
    check_refused(arrays, SAP_ERROR_MODEL,
                  (const char *const[]){quaternions[i].place, "quaternion (", "of length ", "must be 1 to 1e-06", NULL},
                  __LINE__);
}

Test(model, normalises_quaternions_within_1e_6_and_refuses_others) {
    for (int i = 0; i < 5; i++) {
        with_quaternion(i, 1 + 0.9e-6, expect_normalised);
        with_quaternion(i, 1 - 0.9e-6, expect_normalised);
        with_quaternion(i, 1 + 1.1e-6, expect_bad_length);
        with_quaternion(i, 1 - 1.1e-6, expect_bad_length);
        with_quaternion(i, 0, expect_bad_length);
        with_quaternion(i, 1e200, expect_bad_length);
    }
}

Test(model, normalises_axes_within_1e_6_and_refuses_others) {
    static const int dofs[] = {6, 10, 14, 15};
    for (int i = 0; i < 4; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double *axis = sample.axis[dofs[i]];
            char place[64];
            setup();
            for (int k = 0; k < 3; k++)
                axis[k] *= 1 + sign * 0.9e-6;
            SapModel *model = create(&sample.arrays);
            double size = length(&sap_model_arrays(model)->joint_axis[3 * dofs[i]], 3);
            cr_expect(fabs(size - 1) < 4 * DBL_EPSILON, "joint_axis[%d]: %.17g", dofs[i], size);
            sap_model_destroy(model);
            setup();
            for (int k = 0; k < 3; k++)
                axis[k] *= 1 + sign * 1.1e-6;
            snprintf(place, sizeof place, "joint_axis[%d] of joint", dofs[i]);
            REFUSED(place, "of length ", "must be 1 to 1e-06");
        }
}

Test(model, does_not_look_at_the_axes_of_free_and_ball_joints) {
    sample.axis[1][2] = 5;
    sample.axis[8][0] = -3;
    SapModel *model = create(&sample.arrays);
    cr_assert_eq(sap_model_arrays(model)->joint_axis[3 * 1 + 2], 5);
    cr_assert_eq(sap_model_arrays(model)->joint_axis[3 * 8], -3);
    sap_model_destroy(model);
}

Test(model, a_copy_keeps_the_digits_of_near_unit_axes) {
    sample.axis[6][0] *= 1 + 3e-7;
    SapModel *model;
    cr_assert_eq(sap_model_copy(&sample.arrays, &model), SAP_OK);
    cr_assert_eq(sap_model_arrays(model)->joint_axis[3 * 6], sample.axis[6][0]);
    sap_model_destroy(model);
    sample.axis[6][0] = 0;
    cr_assert_eq(sap_model_copy(&sample.arrays, &model), SAP_ERROR_MODEL);
    cr_assert_null(model);
}

Test(model, refuses_d6_angular_axes_that_are_not_orthogonal) {
    double tilt = 0.9e-6;
    sample.axis[13][0] = tilt; /* against axis 14, x */
    sap_model_destroy(create(&sample.arrays));
    tilt = 1e-3;
    sample.axis[13][0] = sin(tilt);
    sample.axis[13][2] = cos(tilt);
    REFUSED("joint_axis[13] and joint_axis[14] of joint 3 ('shoulder')", "0.000999999833", "orthogonal to 1e-06");
    setup();
    double turned[] = {0, 0.6, 0.8};
    memcpy(sample.axis[12], turned, sizeof turned);
    REFUSED("joint_axis[12] and joint_axis[13] of joint 3 ('shoulder') have the cosine 0.8");
    memcpy(sample.axis[13], turned, sizeof turned);
    REFUSED("joint_axis[12] and joint_axis[13] of joint 3 ('shoulder') have the cosine 1;");
}

Test(model, refuses_three_left_handed_d6_angular_axes) {
    sample.axis[14][0] = -1;
    REFUSED("joint_axis[12] .. joint_axis[14] of joint 3 ('shoulder')", "triple product -1", "right-handed");
}

Test(model, two_d6_angular_axes_have_no_handedness_and_linear_axes_may_be_oblique) {
    static const int32_t dim[] = {3, 2};
    memcpy(sample.dof_dim[SAMPLE_SHOULDER], dim, sizeof dim);
    static const double axes[5][3] = {{1, 0, 0}, {0.6, 0.8, 0}, {0, 0.6, 0.8}, {0, 1, 0}, {-1, 0, 0}};
    memcpy(sample.axis[10], axes, sizeof axes);
    sap_model_destroy(create(&sample.arrays));
}

Test(model, refuses_free_joints_that_do_not_stand_in_the_world) {
    double pose[SAMPLE_NJ][7] = {{0}};
    for (int j = 0; j < SAMPLE_NJ; j++)
        pose[j][6] = 1;
    sample.type[SAMPLE_HIP] = SAP_JOINT_FREE;
    sample.dof_dim[SAMPLE_HIP][0] = sample.dof_dim[SAMPLE_HIP][1] = 3;
    sample.type[SAMPLE_SHOULDER] = SAP_JOINT_FIXED;
    sample.dof_dim[SAMPLE_SHOULDER][0] = sample.dof_dim[SAMPLE_SHOULDER][1] = 0;
    sample.arrays.num_coords++;
    REFUSED("joint_parent[1] of joint 1 ('hip') is body 0 ('torso')", "the world, -1");
    setup();
    sample.arrays.joint_X_p = pose[0];
    pose[0][2] = 1e-13;
    sap_model_destroy(create(&sample.arrays));
    pose[0][2] = 1e-11;
    REFUSED("joint_X_p[0][2] of joint 0 ('base') is 9.99", "identity");
    setup();
    sample.arrays.joint_X_c = pose[0];
    pose[0][2] = 0;
    pose[0][6] = -1;
    REFUSED("joint_X_c[0][6] of joint 0 ('base') is -1", "identity");
}
