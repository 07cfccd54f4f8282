/* Models: what is copied and filled in. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/model/model.h"
#include "support/model_refusal.h"

TestSuite(model, .init = setup);

Test(model, default_arrays_are_empty_with_gravity_down) {
    SapModelArrays a;
    memset(&a, 0xff, sizeof a);
    sap_model_arrays_default(&a);
    cr_assert_eq(a.num_bodies, 0);
    cr_assert_eq(a.num_filter_pairs, 0);
    cr_assert_null(a.name);
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++)
        cr_assert_null(sap_model_field_get(&a, &sap_model_fields[i]), "%s", sap_model_fields[i].name);
    cr_assert(a.gravity[0] == 0 && a.gravity[1] == 0 && a.gravity[2] == -9.81);
    sap_model_arrays_default(NULL);
}

Test(model, copies_what_is_given_and_keeps_no_pointer_of_the_caller) {
    SapModel *model = create(&sample.arrays);
    const SapModelArrays *a = sap_model_arrays(model);
    SampleModel before = sample;
    memset(&sample, 0xee, sizeof sample);
    cr_assert_str_eq(a->name, "sample");
    cr_assert_eq(memcmp(a->joint_type, before.type, sizeof before.type), 0);
    cr_assert_eq(memcmp(a->joint_child, before.child, sizeof before.child), 0);
    cr_assert_eq(memcmp(a->body_inertia, before.inertia, sizeof before.inertia), 0);
    cr_assert_eq(memcmp(a->joint_axis, before.axis, sizeof before.axis), 0);
    cr_assert_eq(memcmp(a->shape_scale, before.shape_scale, sizeof before.shape_scale), 0);
    cr_assert_eq(memcmp(a->body_filter_pairs, before.filter_pairs, sizeof before.filter_pairs), 0);
    cr_assert_str_eq(a->joint_name[SAMPLE_HIP], "hip");
    cr_assert_eq(a->num_articulations, 2);
    sap_model_destroy(model);
}

Test(model, no_array_of_a_model_is_null) {
    sample.arrays.num_shapes = 0;
    sample.arrays.num_filter_pairs = 0;
    sample.arrays.body_filter_pairs = NULL;
    sample.arrays.shape_type = sample.arrays.shape_body = NULL;
    sample.arrays.shape_scale = NULL;
    sample.arrays.name = NULL;
    SapModel *model = create(&sample.arrays);
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++)
        cr_expect_not_null(sap_model_field_get(sap_model_arrays(model), &sap_model_fields[i]), "%s",
                           sap_model_fields[i].name);
    cr_assert_str_eq(sap_model_arrays(model)->name, "");
    sap_model_destroy(model);
}

Test(model, fills_in_the_documented_defaults) {
    static const struct {
        const char *array;
        double value;
    } defaults[] = {
        {"joint_armature", 0},
        {"joint_damping", 0},
        {"joint_friction", 0},
        {"joint_target_ke", 0},
        {"joint_target_kd", 0},
        {"joint_effort_limit", INFINITY},
        {"joint_limit_lower", -INFINITY},
        {"joint_limit_upper", INFINITY},
        {"joint_limit_ke", 0},
        {"joint_limit_kd", 0},
        {"body_com", 0},
        {"body_gravcomp", 0},
        {"shape_margin", 0},
        {"shape_gap", 0},
        {"shape_material_mu", 0.5},
        {"shape_material_ke", 1e5},
        {"shape_material_tau", 0.01},
        {"shape_material_dissipation", 50},
        {"joint_qd", 0},
        {"joint_f", 0},
        {"joint_target_pos", 0},
        {"joint_target_vel", 0},
        {"joint_act", 0},
    };
    SapModel *model = create(&sample.arrays);
    const SapModelArrays *a = sap_model_arrays(model);
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        const SapModelField *field = sap_model_field(defaults[i].array);
        cr_assert_not_null(field);
        const double *data = sap_model_field_get(a, field);
        for (int k = 0; k < sap_model_rows(a, field->rows) * field->columns; k++)
            cr_expect(data[k] == defaults[i].value, "%s[%d] is %g", field->name, k, data[k]);
    }
    for (int d = 0; d < SAMPLE_NV; d++)
        cr_expect_eq(a->joint_target_mode[d], SAP_TARGET_NONE);
    for (int s = 0; s < SAMPLE_NS; s++) {
        cr_expect_eq(a->shape_collision_group[s], 1);
        cr_expect_eq(a->shape_flags[s], SAP_SHAPE_VISIBLE | SAP_SHAPE_COLLIDES);
    }
    sap_model_destroy(model);
}

static void expect_identity_poses(const char *name, const double *poses, int n) {
    for (int k = 0; k < 7 * n; k++)
        cr_expect(poses[k] == (k % 7 == 6), "%s[%d][%d] is %g", name, k / 7, k % 7, poses[k]);
}

Test(model, default_poses_are_the_identity) {
    SapModel *model = create(&sample.arrays);
    const SapModelArrays *a = sap_model_arrays(model);
    expect_identity_poses("joint_X_p", a->joint_X_p, SAMPLE_NJ);
    expect_identity_poses("joint_X_c", a->joint_X_c, SAMPLE_NJ);
    expect_identity_poses("shape_transform", a->shape_transform, SAMPLE_NS);
    sap_model_destroy(model);
}

Test(model, default_joint_q_is_zero_with_identity_quaternions) {
    SapModel *model = create(&sample.arrays);
    const SapModelArrays *a = sap_model_arrays(model);
    for (int k = 0; k < SAMPLE_NQ; k++) /* base: 0 .. 6, hip: 7, ankle: 8 .. 11 */
        cr_expect(a->joint_q[k] == (k == 6 || k == 11), "joint_q[%d] is %g", k, a->joint_q[k]);
    sap_model_destroy(model);
}

Test(model, computes_starts_from_the_joint_types) {
    static const int32_t q[] = {0, 7, 8, 12, 17, 17, 18, 19}, qd[] = {0, 6, 7, 10, 15, 15, 16, 17};
    SapModel *model = create(&sample.arrays);
    const SapModelArrays *a = sap_model_arrays(model);
    cr_assert_eq(memcmp(a->joint_q_start, q, sizeof q), 0);
    cr_assert_eq(memcmp(a->joint_qd_start, qd, sizeof qd), 0);
    sap_model_destroy(model);
}

Test(model, computes_the_axis_counts_when_there_is_no_d6_joint) {
    static const int32_t expected[][2] = {{3, 3}, {0, 1}, {0, 3}, {0, 1}, {0, 0}, {1, 0}, {0, 1}};
    sample.type[SAMPLE_SHOULDER] = SAP_JOINT_REVOLUTE;
    sample.arrays.joint_dof_dim = NULL;
    sample.arrays.num_dofs -= 4;
    sample.arrays.num_coords -= 4;
    memmove(sample.axis[11], sample.axis[15], 2 * sizeof sample.axis[0]);
    SapModel *model = create(&sample.arrays);
    cr_assert_eq(memcmp(sap_model_arrays(model)->joint_dof_dim, expected, sizeof expected), 0);
    sap_model_destroy(model);
}

Test(model, without_articulations_there_is_one_over_all_joints) {
    const char *never_read = (const char *)1;
    sample.arrays.articulation_start = NULL;
    sample.arrays.num_articulations = 0;
    sample.arrays.articulation_name = &never_read; /* of no articulations: length 0 */
    SapModel *model = create(&sample.arrays);
    const SapModelArrays *a = sap_model_arrays(model);
    cr_assert_eq(a->num_articulations, 1);
    cr_assert_eq(a->articulation_start[0], 0);
    cr_assert_eq(a->articulation_start[1], SAMPLE_NJ);
    cr_assert_str_eq(a->articulation_name[0], "articulation_0");
    sap_model_destroy(model);
}

Test(model, names_that_are_not_given_are_made) {
    sample.body_name[2] = NULL;
    sample.arrays.joint_name = NULL;
    SapModel *model = create(&sample.arrays);
    const SapModelArrays *a = sap_model_arrays(model);
    cr_assert_str_eq(a->body_name[1], "thigh");
    cr_assert_str_eq(a->body_name[2], "body_2");
    cr_assert_str_eq(a->joint_name[6], "joint_6");
    cr_assert_str_eq(a->shape_name[0], "shape_0");
    cr_assert_str_eq(a->articulation_name[1], "articulation_1");
    sap_model_destroy(model);
}

Test(model, finds_bodies_and_joints_by_name) {
    SapModel *model = create(&sample.arrays);
    cr_assert_eq(sap_model_find_body(model, "cart"), 6);
    cr_assert_eq(sap_model_find_body(model, "torso"), 0);
    cr_assert_eq(sap_model_find_body(model, "rail"), -1);
    cr_assert_eq(sap_model_find_joint(model, "rail"), SAMPLE_RAIL);
    cr_assert_eq(sap_model_find_joint(model, ""), -1);
    cr_assert_eq(sap_model_find_joint(model, NULL), -1);
    cr_assert_eq(sap_model_find_body(NULL, "cart"), -1);
    sap_model_destroy(model);
}

Test(model, the_arrays_of_a_model_make_the_same_model) {
    for (int trial = 0; trial < 200; trial++) {
        double turn = 0.1 * trial, stretch = 1 + 3e-7;
        sample.axis[6][0] = stretch * cos(turn) * sin(3 * turn);
        sample.axis[6][1] = stretch * sin(turn) * sin(3 * turn);
        sample.axis[6][2] = stretch * cos(3 * turn);
        SapModel *first = create(&sample.arrays);
        SapModel *second = create(sap_model_arrays(first));
        cr_assert_null(sap_model_difference(first, second), "%s", sap_model_difference(first, second));
        sap_model_destroy(first);
        sap_model_destroy(second);
    }
}

Test(model, difference_names_what_differs) {
    SapModel *first = create(&sample.arrays);
    sample.mass[3] = 7;
    SapModel *mass = create(&sample.arrays);
    setup();
    sample.joint_name[0] = "root";
    SapModel *name = create(&sample.arrays);
    setup();
    sample.arrays.num_shapes = 6;
    SapModel *shapes = create(&sample.arrays);
    setup();
    sample.arrays.gravity[0] = 1;
    SapModel *gravity = create(&sample.arrays);
    cr_expect_str_eq(sap_model_difference(first, mass), "body_mass");
    cr_expect_str_eq(sap_model_difference(first, name), "joint_name");
    cr_expect_str_eq(sap_model_difference(first, shapes), "shape_type");
    cr_expect_str_eq(sap_model_difference(first, gravity), "gravity");
    SapModel *all[] = {first, mass, name, shapes, gravity};
    for (int i = 0; i < 5; i++)
        sap_model_destroy(all[i]);
}

Test(model, refuses_null_arguments) {
    SapModel *model = (SapModel *)&sample;
    cr_assert_eq(sap_model_create(NULL, &model), SAP_ERROR_ARGUMENT);
    cr_assert_null(model);
    cr_assert(strstr(sap_error_message(), "arrays"));
    cr_assert_eq(sap_model_create(&sample.arrays, NULL), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "out"));
    cr_assert_null(sap_model_arrays(NULL));
    sap_model_destroy(NULL);
}
