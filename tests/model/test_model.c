/* Models: what is copied and filled in, and one test per rule, each with the message it must give. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/base/eigen3.h"
#include "host/model/model.h"
#include "support/sample_model.h"

static SampleModel sample;

static void setup(void) {
    sample_model_init(&sample);
}

TestSuite(model, .init = setup);

/* ---- helpers ---- */

static SapModel *create(const SapModelArrays *arrays) {
    SapModel *model;
    SapStatus status = sap_model_create(arrays, &model);
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
    cr_assert_not_null(model);
    return model;
}

/* The model is refused with that status, nothing is left behind, and the message has all parts. */
static void check_refused(const SapModelArrays *arrays, SapStatus expected, const char *const *parts, int line) {
    SapModel *model = (SapModel *)&sample;
    SapStatus status = sap_model_create(arrays, &model);
    cr_assert_eq(status, expected, "line %d: %s: %s", line, sap_status_string(status), sap_error_message());
    cr_assert_null(model);
    for (; *parts != NULL; parts++)
        cr_expect(strstr(sap_error_message(), *parts), "line %d: '%s' is not in: %s", line, *parts,
                  sap_error_message());
}

#define REFUSED_AS(status, ...)                                                                                        \
    check_refused(&sample.arrays, (status), (const char *const[]){__VA_ARGS__, NULL}, __LINE__)
#define REFUSED(...) REFUSED_AS(SAP_ERROR_MODEL, __VA_ARGS__)

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

/* ---- creating ---- */

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
        {"shape_margin", 0},
        {"shape_gap", 0},
        {"shape_material_mu", 0.5},
        {"shape_material_ke", 1e5},
        {"shape_material_tau", 0.01},
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

/* ---- counts ---- */

static int *count_at(size_t offset) {
    return (int *)((char *)&sample.arrays + offset);
}

Test(model, refuses_counts_out_of_range) {
    static const struct {
        const char *name;
        size_t offset;
        int low;
    } counts[] = {
        {"num_bodies", offsetof(SapModelArrays, num_bodies), 1},
        {"num_joints", offsetof(SapModelArrays, num_joints), 1},
        {"num_dofs", offsetof(SapModelArrays, num_dofs), 1},
        {"num_coords", offsetof(SapModelArrays, num_coords), 1},
        {"num_shapes", offsetof(SapModelArrays, num_shapes), 0},
        {"num_articulations", offsetof(SapModelArrays, num_articulations), 1},
        {"num_filter_pairs", offsetof(SapModelArrays, num_filter_pairs), 0},
        {"num_shape_filter_pairs", offsetof(SapModelArrays, num_shape_filter_pairs), 0},
        {"num_meshes", offsetof(SapModelArrays, num_meshes), 0},
        {"num_mesh_vertices", offsetof(SapModelArrays, num_mesh_vertices), 0},
        {"num_height_fields", offsetof(SapModelArrays, num_height_fields), 0},
        {"num_keyframes", offsetof(SapModelArrays, num_keyframes), 0},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const int bad[] = {INT_MAX, INT_MIN, -1, counts[i].low - 1, 1 << 25};
        for (int k = 0; k < 5; k++) {
            char value[32], low[32];
            setup();
            *count_at(counts[i].offset) = bad[k];
            snprintf(value, sizeof value, " is %d; ", bad[k]);
            snprintf(low, sizeof low, "it must be %d .. ", counts[i].low);
            REFUSED(counts[i].name, value, low);
        }
    }
}

Test(model, refuses_another_number_of_bodies_than_of_joints) {
    sample.arrays.num_bodies = 6;
    REFUSED("num_bodies is 6", "num_joints is 7", "equal");
}

Test(model, refuses_dofs_and_coordinates_that_the_joints_do_not_have) {
    sample.arrays.num_dofs = 18;
    REFUSED("num_dofs is 18", "17 dofs");
    setup();
    sample.arrays.num_coords = 18;
    REFUSED("num_coords is 18", "19 coordinates");
}

Test(model, refuses_articulations_without_their_starts) {
    sample.arrays.articulation_start = NULL;
    REFUSED("num_articulations is 2", "articulation_start", "0 or 1");
}

Test(model, refuses_a_missing_required_array_and_names_it) {
    static const char *const required[] = {"joint_type",   "joint_parent",  "joint_child",      "body_mass",
                                           "body_inertia", "shape_type",    "shape_body",       "shape_scale",
                                           "joint_axis",   "joint_dof_dim", "body_filter_pairs"};
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        char message[64];
        setup();
        sap_model_field_set(&sample.arrays, sap_model_field(required[i]), NULL);
        snprintf(message, sizeof message, "%s is NULL; ", required[i]);
        REFUSED(message);
    }
}

/* One body on a joint of that type, without joint_axis. */
static SapModelArrays one_joint(int32_t type, int dofs, int coords) {
    sample.type[0] = type;
    sample.dof_dim[0][0] = type == SAP_JOINT_FREE ? 3 : type == SAP_JOINT_PRISMATIC || type == SAP_JOINT_D6;
    sample.dof_dim[0][1] = dofs - sample.dof_dim[0][0];
    sample.articulation_start[1] = 1;
    SapModelArrays a = sample.arrays;
    a.num_bodies = a.num_joints = a.num_articulations = 1;
    a.num_dofs = dofs;
    a.num_coords = coords;
    a.num_shapes = a.num_filter_pairs = 0;
    a.joint_axis = NULL;
    return a;
}

Test(model, joint_axis_is_required_only_by_joints_that_have_axes) {
    static const int32_t with_axes[] = {SAP_JOINT_PRISMATIC, SAP_JOINT_REVOLUTE, SAP_JOINT_D6};
    for (int i = 0; i < 3; i++) {
        SapModelArrays a = one_joint(with_axes[i], 1, 1);
        check_refused(&a, SAP_ERROR_MODEL, (const char *const[]){"joint_axis is NULL", "joint 0 ('base')", NULL},
                      __LINE__);
    }
    SapModelArrays ball = one_joint(SAP_JOINT_BALL, 3, 4);
    sap_model_destroy(create(&ball));
    SapModelArrays free_body = one_joint(SAP_JOINT_FREE, 6, 7);
    sap_model_destroy(create(&free_body));
}

Test(model, a_model_without_dofs_is_refused) {
    SapModelArrays a = one_joint(SAP_JOINT_FIXED, 0, 0);
    check_refused(&a, SAP_ERROR_MODEL, (const char *const[]){"num_dofs is 0", "1 .. ", NULL}, __LINE__);
}

/* ---- joint types ---- */

Test(model, refuses_an_unknown_joint_type_and_lists_the_known) {
    sample.type[SAMPLE_ANKLE] = 7;
    REFUSED("joint_type[2] of joint 2 ('ankle') is 7", "1 revolute", "6 d6");
    sample.type[SAMPLE_ANKLE] = -1;
    REFUSED("joint_type[2]", "is -1");
}

Test(model, does_not_support_distance_joints) {
    sample.type[SAMPLE_BASE] = 5;
    REFUSED_AS(SAP_ERROR_UNSUPPORTED, "joint_type[0] of joint 0 ('base') is 5 (distance)", "4 free");
}

Test(model, refuses_axis_counts_that_do_not_fit_the_type) {
    sample.dof_dim[SAMPLE_HIP][0] = 1;
    REFUSED("joint_dof_dim[1] of joint 1 ('hip') is (1, 1)", "revolute joint has (0, 1)");
}

Test(model, refuses_d6_joints_with_no_or_too_many_axes) {
    static const int32_t bad[][2] = {{4, 0}, {0, 4}, {-1, 3}, {3, -1}, {0, 0}, {INT32_MAX, INT32_MAX}};
    for (int i = 0; i < 6; i++) {
        char value[64];
        memcpy(sample.dof_dim[SAMPLE_SHOULDER], bad[i], sizeof bad[i]);
        snprintf(value, sizeof value, "joint_dof_dim[3] of joint 3 ('shoulder') is (%d, %d)", bad[i][0], bad[i][1]);
        REFUSED(value, "0 .. 3 linear");
    }
}

Test(model, accepts_d6_joints_of_one_to_six_axes) {
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int linear = 0; linear <= 3; linear++)
        for (int angular = 0; angular <= 3; angular++) {
            int n = linear + angular;
            SapModelArrays a = one_joint(SAP_JOINT_D6, n, n);
            sample.dof_dim[0][0] = linear;
            sample.dof_dim[0][1] = angular;
            memcpy(sample.axis[0], axes, sizeof axes);
            memcpy(sample.axis[linear], axes, sizeof axes);
            a.joint_axis = sample.axis[0];
            if (n > 0)
                sap_model_destroy(create(&a));
        }
}

Test(model, refuses_starts_that_do_not_fit_the_joints) {
    int32_t q[] = {0, 7, 8, 12, 17, 17, 18, 19}, qd[] = {0, 6, 7, 10, 15, 15, 16, 17};
    sample.arrays.joint_q_start = q;
    sample.arrays.joint_qd_start = qd;
    sap_model_destroy(create(&sample.arrays));
    q[2] = 9;
    REFUSED("joint_q_start[2] of joint 2 ('ankle') is 9", "8 coordinates");
    q[2] = 8;
    qd[0] = -1;
    REFUSED("joint_qd_start[0] of joint 0 ('base') is -1", "0 dofs");
    qd[0] = 0;
    qd[7] = INT32_MAX;
    REFUSED("joint_qd_start[7] is 2147483647", "number of dofs, 17");
}

/* ---- the tree ---- */

Test(model, refuses_body_indices_out_of_range) {
    sample.parent[SAMPLE_HIP] = 7;
    REFUSED("joint_parent[1] of joint 1 ('hip') is 7", "-1 .. 6");
    sample.parent[SAMPLE_HIP] = -2;
    REFUSED("joint_parent[1]", "is -2", "-1 .. 6");
    setup();
    sample.child[SAMPLE_HIP] = -1;
    REFUSED("joint_child[1] of joint 1 ('hip') is -1", "0 .. 6");
    sample.child[SAMPLE_HIP] = 7;
    REFUSED("joint_child[1]", "is 7", "0 .. 6");
    setup();
    sample.shape_body[4] = 7;
    REFUSED("shape_body[4] of shape 4 ('shape_4') is 7", "-1 .. 6");
    setup();
    sample.filter_pairs[0][1] = 7;
    REFUSED("body_filter_pairs[0][1]", "is 7", "0 .. 6");
    sample.filter_pairs[0][1] = -1;
    REFUSED("body_filter_pairs[0][1]", "is -1", "0 .. 6");
}

Test(model, refuses_a_body_that_is_the_child_of_two_joints) {
    sample.child[SAMPLE_WRIST] = 1;
    REFUSED("joint_child[4] of joint 4 ('wrist')", "body 1 ('thigh')", "joint 1 ('hip')", "exactly one joint");
}

Test(model, refuses_a_parent_that_comes_later_and_names_the_joint) {
    sample.parent[SAMPLE_ANKLE] = 4;
    REFUSED("joint_parent[2]", "joint 2 ('ankle'): its parent body 4 ('hand') is not the child of an earlier joint");
}

Test(model, body_0_too_must_come_before_its_children) {
    sample.child[SAMPLE_BASE] = 1;
    sample.child[SAMPLE_HIP] = 0;
    sample.parent[SAMPLE_HIP] = 1;
    sample.parent[SAMPLE_ANKLE] = 0;
    sap_model_destroy(create(&sample.arrays));
    sample.parent[SAMPLE_HIP] = -1;
    sample.child[SAMPLE_ANKLE] = 0;
    sample.child[SAMPLE_HIP] = 2;
    sample.parent[SAMPLE_HIP] = 0;
    REFUSED("joint 1 ('hip'): its parent body 0 ('torso') is not the child of an earlier joint");
}

Test(model, refuses_a_cycle_and_names_the_joint) {
    sample.parent[SAMPLE_HIP] = 2;
    sample.parent[SAMPLE_ANKLE] = 1;
    REFUSED("joint 1 ('hip'): its parent body 2 ('foot')", "cycles");
}

Test(model, refuses_a_joint_whose_parent_is_its_child) {
    sample.parent[SAMPLE_WRIST] = 4;
    REFUSED("joint_parent[4] of joint 4 ('wrist') is body 4 ('hand')", "differ");
}

Test(model, refuses_articulations_that_do_not_cover_the_joints) {
    sample.articulation_start[0] = 1;
    REFUSED("articulation_start[0] is 1", "must be 0");
    setup();
    sample.articulation_start[2] = 6;
    REFUSED("articulation_start[2] is 6", "number of joints, 7");
    sample.articulation_start[2] = 8;
    REFUSED("articulation_start[2] is 8", "number of joints, 7");
    setup();
    sample.articulation_start[1] = 7;
    REFUSED("articulation_start[2] is 7", "greater than the one before, 7");
    sample.articulation_start[1] = INT32_MIN;
    REFUSED("articulation_start[1] is -2147483648", "greater than the one before, 0");
}

Test(model, refuses_a_tree_that_crosses_articulations) {
    sample.articulation_start[1] = SAMPLE_SHOULDER;
    REFUSED("joint_parent[3]: joint 3 ('shoulder'): its parent body 0 ('torso') belongs to joint 0 ('base')",
            "must not cross articulations");
}

/* ---- names ---- */

Test(model, refuses_two_bodies_or_joints_of_one_name) {
    sample.body_name[5] = "torso";
    REFUSED("body_name[0] and body_name[5] are both 'torso'");
    setup();
    sample.joint_name[2] = "rail";
    REFUSED("joint_name[2] and joint_name[5] are both 'rail'");
    sample.joint_name[2] = NULL;
    sample.joint_name[5] = "joint_2";
    REFUSED("joint_name[2] and joint_name[5] are both 'joint_2'");
}

Test(model, a_very_long_name_does_not_hide_the_message) {
    static char name[100000];
    memset(name, 'x', sizeof name - 1);
    sample.joint_name[SAMPLE_ANKLE] = name;
    SapModel *model = create(&sample.arrays);
    cr_assert_eq(sap_model_find_joint(model, name), SAMPLE_ANKLE);
    sap_model_destroy(model);
    sample.parent[SAMPLE_ANKLE] = 4;
    REFUSED("body 4 ('hand') is not the child of an earlier joint");
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
    static const char *const arrays[] = {"joint_armature",  "joint_damping",     "joint_friction",    "joint_target_ke",
                                         "joint_target_kd", "joint_limit_ke",    "joint_limit_kd",    "shape_margin",
                                         "shape_gap",       "shape_material_mu", "shape_material_tau"};
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

/* ---- unit vectors and quaternions ---- */

static double length(const double *v, int n) {
    double squares = 0;
    for (int i = 0; i < n; i++)
        squares += v[i] * v[i];
    return sqrt(squares);
}

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

/* ---- inertia ---- */

Test(model, refuses_inertia_that_is_not_symmetric) {
    sample.inertia[3][1] += 0.24e-9; /* the largest entry is 0.25 */
    sap_model_destroy(create(&sample.arrays));
    sample.inertia[3][1] += 0.02e-9;
    REFUSED("body_inertia[3] of body 3 ('arm')", "row 0, column 1", "symmetric to 1e-9");
    setup();
    sample.inertia[3][2] = 0.01;
    REFUSED("has 0.01 at row 0, column 2 and 0 at row 2, column 0");
    setup();
    sample.inertia[3][7] = 0.01;
    REFUSED("has 0 at row 1, column 2 and 0.01 at row 2, column 1");
}

static void set_diagonal(int body, double xx, double yy, double zz) {
    memset(sample.inertia[body], 0, sizeof sample.inertia[body]);
    sample.inertia[body][0] = xx;
    sample.inertia[body][4] = yy;
    sample.inertia[body][8] = zz;
}

Test(model, refuses_inertia_that_is_not_positive_definite) {
    set_diagonal(2, 1, 0, 1);
    REFUSED("body_inertia[2] of body 2 ('foot')", "0, 1, 1", "positive definite");
    set_diagonal(2, -1, 1, 1);
    REFUSED("body_inertia[2]", "-1, 1, 1", "positive definite");
    set_diagonal(2, 0, 0, 0);
    REFUSED("body_inertia[2]", "0, 0, 0", "positive definite");
    set_diagonal(2, 1, 1, 1);
    sample.inertia[2][1] = sample.inertia[2][3] = 1; /* singular, though its diagonal is not */
    REFUSED("body_inertia[2]", "positive definite");
}

Test(model, refuses_inertia_that_no_mass_can_have) {
    set_diagonal(5, 3.1, 1, 2);
    REFUSED("body_inertia[5] of body 5 ('pole')", "1, 2, 3.1", "triangle inequality");
    set_diagonal(5, 3 * (1 + 2e-9), 1, 2);
    REFUSED("triangle inequality");
}

Test(model, accepts_flat_thin_small_and_large_bodies) {
    set_diagonal(0, 1, 2, 3);                /* a plate: the bound itself */
    set_diagonal(1, 3 * (1 + 0.5e-9), 2, 1); /* a plate with rounding */
    set_diagonal(2, 1e-9, 1, 1);             /* a rod */
    set_diagonal(3, 1e-200, 2e-200, 2e-200); /* no scale is built in */
    set_diagonal(4, 1e200, 2e200, 2e200);
    sap_model_destroy(create(&sample.arrays));
}

Test(model, the_principal_moments_decide_not_the_diagonal) {
    /* Moments 1, 1, 2.5 turned by 45 degrees about y: the diagonal (1.75, 1, 1.75) alone would pass. */
    set_diagonal(5, 1.75, 1, 1.75);
    sample.inertia[5][2] = sample.inertia[5][6] = 0.75;
    REFUSED("body_inertia[5]", "1, 1, 2.5", "triangle inequality");
}

/* ---- shapes ---- */

Test(model, refuses_unknown_shape_types) {
    static const int32_t bad[] = {-1, 0, 8, 11, INT32_MIN, INT32_MAX};
    for (int i = 0; i < 6; i++) {
        char value[64];
        sample.shape_type[3] = bad[i];
        snprintf(value, sizeof value, "shape_type[3] of shape 3 ('shape_3') is %d", bad[i]);
        REFUSED(value, "5 ellipsoid");
    }
}

Test(model, refuses_sizes_that_are_not_positive_where_they_are_used) {
    static const int used[SAMPLE_NS] = {0, 1, 2, 3, 2, 3, 2}; /* plane .. cone */
    for (int s = 0; s < SAMPLE_NS; s++)
        for (int k = 0; k < 3; k++) {
            char place[64];
            setup();
            sample.shape_scale[s][k] = -0.5;
            if (k >= used[s]) {
                sap_model_destroy(create(&sample.arrays));
                continue;
            }
            snprintf(place, sizeof place, "shape_scale[%d][%d] of shape %d ('shape_%d') is ", s, k, s, s);
            REFUSED(place, " -0.5; ", "> 0");
            sample.shape_scale[s][k] = 0;
            REFUSED(place, " 0; ", "> 0");
        }
}

/* ---- eigenvalues ---- */

/* R diag(values) R' for the rotation of a quaternion. */
static void rotated(const double values[3], const double q[4], double m[9]) {
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                      {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                      {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            m[3 * i + j] = 0;
            for (int k = 0; k < 3; k++)
                m[3 * i + j] += r[i][k] * values[k] * r[j][k];
        }
}

static double random_unit(void) {
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return state / 4294967296.0 * 2 - 1;
}

Test(eigen3, finds_the_values_of_rotated_diagonal_matrices) {
    static const double sets[][3] = {{1, 2, 3},     {1, 1, 2}, {1, 2, 2}, {5, 5, 5},        {-3, 0, 4},
                                     {1e-12, 1, 1}, {0, 0, 1}, {0, 0, 0}, {1, 1 + 1e-9, 2}, {-2, -1, 0}};
    for (int i = 0; i < 10; i++)
        for (int trial = 0; trial < 200; trial++) {
            double q[4], m[9], found[3], scale = pow(10, 100 * random_unit());
            for (int k = 0; k < 4; k++)
                q[k] = random_unit();
            double size = length(q, 4);
            for (int k = 0; k < 4; k++)
                q[k] /= size;
            rotated(sets[i], q, m);
            for (int k = 0; k < 9; k++)
                m[k] *= scale;
            sap_eigen3_symmetric(m, found);
            double bound = 2e-15 * fmax(fabs(sets[i][0]), fabs(sets[i][2]));
            for (int k = 0; k < 3; k++)
                cr_assert(fabs(found[k] / scale - sets[i][k]) <= bound, "set %d: value %d is %.17g", i, k,
                          found[k] / scale);
        }
}

Test(eigen3, sorts_diagonal_matrices_exactly) {
    double values[3];
    sap_eigen3_symmetric((const double[]){3, 0, 0, 0, 1, 0, 0, 0, 2}, values);
    cr_assert(values[0] == 1 && values[1] == 2 && values[2] == 3);
}

/* ---- meshes, height fields, keyframes ---- */

static const int32_t mesh_starts[] = {0, 4, 8};
static const int32_t grid_sizes[][2] = {{2, 2}, {2, 3}};
static double mesh_vertices[8][3], grid_heights[10], keyframe_q[2][SAMPLE_NQ];
static int32_t shape_meshes[SAMPLE_NS], some_starts[3], some_sizes[2][2];

/* Shape 3 is a hull of the second tetrahedron, shape 4 the second height field; two keyframes are the initial state. */
static void add_meshes(void) {
    static const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    setup();
    SapModelArrays *a = &sample.arrays;
    memcpy(mesh_vertices, corner, sizeof corner);
    memcpy(mesh_vertices[4], corner, sizeof corner);
    memcpy(some_starts, mesh_starts, sizeof mesh_starts);
    memcpy(some_sizes, grid_sizes, sizeof grid_sizes);
    memset(grid_heights, 0, sizeof grid_heights);
    memset(keyframe_q, 0, sizeof keyframe_q);
    for (int k = 0; k < 2; k++)
        keyframe_q[k][6] = keyframe_q[k][11] = 1;
    for (int s = 0; s < SAMPLE_NS; s++)
        shape_meshes[s] = s == 3 || s == 4 ? 1 : -1;
    sample.shape_type[3] = SAP_SHAPE_HULL;
    sample.shape_type[4] = SAP_SHAPE_HEIGHT_FIELD;
    a->shape_mesh = shape_meshes;
    a->num_meshes = a->num_height_fields = a->num_keyframes = 2;
    a->num_mesh_vertices = 8;
    a->num_heights = 10;
    a->mesh_start = some_starts;
    a->mesh_vertices = mesh_vertices[0];
    a->height_field_size = some_sizes[0];
    a->heights = grid_heights;
    a->keyframe_joint_q = keyframe_q[0];
}

Test(model, meshes_grids_and_keyframes_are_copied) {
    add_meshes();
    grid_heights[9] = 7;
    SapModel *model = create(&sample.arrays), *again;
    const SapModelArrays *a = sap_model_arrays(model);
    cr_assert(a->num_meshes == 2 && a->num_mesh_vertices == 8 && a->num_height_fields == 2 && a->num_heights == 10);
    cr_assert_eq(memcmp(a->mesh_start, mesh_starts, sizeof mesh_starts), 0);
    cr_assert_eq(memcmp(a->mesh_vertices, mesh_vertices, sizeof mesh_vertices), 0);
    cr_assert_eq(memcmp(a->height_field_size, grid_sizes, sizeof grid_sizes), 0);
    cr_assert(a->heights[9] == 7 && a->keyframe_joint_qd[2 * SAMPLE_NV - 1] == 0);
    cr_assert_str_eq(a->keyframe_name[1], "keyframe_1");
    again = create(a);
    cr_assert_null(sap_model_difference(model, again));
    ((double *)sap_model_arrays(again)->heights)[9] = 8;
    cr_assert_str_eq(sap_model_difference(model, again), "heights");
    sap_model_destroy(model);
    sap_model_destroy(again);
}

Test(model, without_meshes_their_arrays_are_empty) {
    SapModel *model = create(&sample.arrays);
    const SapModelArrays *a = sap_model_arrays(model);
    cr_assert(a->num_meshes == 0 && a->mesh_start[0] == 0 && a->num_keyframes == 0);
    for (int s = 0; s < SAMPLE_NS; s++)
        cr_assert_eq(a->shape_mesh[s], -1);
    for (int j = 0; j < SAMPLE_NJ; j++)
        cr_assert_eq(a->joint_filter_parent[j], 1);
    sap_model_destroy(model);
}

Test(model, refuses_missing_arrays_of_meshes_grids_and_keyframes) {
    static const char *const required[] = {"mesh_start", "mesh_vertices", "height_field_size", "heights",
                                           "keyframe_joint_q"};
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        char message[64];
        add_meshes();
        sap_model_field_set(&sample.arrays, sap_model_field(required[i]), NULL);
        snprintf(message, sizeof message, "%s is NULL; ", required[i]);
        REFUSED(message);
    }
    setup();
    sample.arrays.num_shape_filter_pairs = 1;
    REFUSED("shape_filter_pairs is NULL");
}

Test(model, refuses_wrong_mesh_starts) {
    add_meshes();
    some_starts[0] = 1;
    REFUSED("mesh_start[0] is 1", "must be 0");
    add_meshes();
    some_starts[1] = 9;
    REFUSED("mesh_start[2] is 8", "less than the one before, 9");
    add_meshes();
    some_starts[1] = INT_MIN;
    REFUSED("mesh_start[1] is -2147483648");
    add_meshes();
    some_starts[2] = 7;
    REFUSED("mesh_start[2] is 7", "num_mesh_vertices, 8");
}

Test(model, refuses_wrong_grids) {
    add_meshes();
    some_sizes[1][0] = 1;
    REFUSED("height_field_size[1] is (1, 3)", "2 or more");
    add_meshes();
    some_sizes[0][1] = -5;
    REFUSED("height_field_size[0] is (2, -5)", "2 or more");
    add_meshes();
    some_sizes[1][0] = some_sizes[1][1] = INT_MAX;
    REFUSED("height_field_size[1]", "more than num_heights, 10");
    add_meshes();
    some_sizes[1][1] = 2;
    REFUSED("num_heights is 10", "have 8");
    add_meshes();
    sample.arrays.num_heights = SAP_MAX_HEIGHTS + 1;
    REFUSED("num_heights is 67108865", "0 .. 67108864");
    add_meshes();
    grid_heights[7] = NAN;
    REFUSED("heights[7] of height field 1 is nan", "finite");
}

Test(model, refuses_wrong_meshes_and_names_the_shape) {
    add_meshes();
    mesh_vertices[6][1] = INFINITY;
    REFUSED("mesh_vertices[6][1] of mesh 1 is inf", "finite");
    add_meshes();
    some_starts[1] = 5;
    REFUSED("shape 3 ('shape_3'): mesh 1 has 3 vertices", "4 or more");
    add_meshes();
    mesh_vertices[7][2] = 0;
    REFUSED("shape 3 ('shape_3'): mesh 1: its 4 vertices lie in a plane");
    add_meshes();
    mesh_vertices[6][0] = mesh_vertices[7][0] = 2;
    mesh_vertices[6][1] = mesh_vertices[7][2] = 0;
    REFUSED("shape 3 ('shape_3'): mesh 1: its 4 vertices lie on a line");
}

Test(model, a_mesh_that_no_shape_uses_may_be_anything) {
    add_meshes();
    memset(mesh_vertices[0], 0, 4 * sizeof mesh_vertices[0]);
    sap_model_destroy(create(&sample.arrays));
}

Test(model, refuses_factors_of_a_hull_that_are_not_positive) {
    for (int k = 0; k < 3; k++) {
        char message[64];
        add_meshes();
        sample.shape_scale[3][k] = k == 0 ? 0 : -1;
        snprintf(message, sizeof message, "shape_scale[3][%d] of shape 3 ('shape_3') is ", k);
        REFUSED(message, "must be > 0");
    }
}

Test(model, refuses_shapes_without_their_mesh_and_meshes_without_their_shape) {
    add_meshes();
    shape_meshes[3] = -1;
    REFUSED("shape_mesh[3] of shape 3 ('shape_3') is -1", "a hull needs the index of its mesh", "there are 2");
    add_meshes();
    shape_meshes[3] = 2;
    REFUSED("shape_mesh[3]", "is 2");
    add_meshes();
    shape_meshes[4] = -1;
    REFUSED("shape_mesh[4] of shape 4 ('shape_4') is -1", "a height_field needs the index of its grid");
    add_meshes();
    sample.arrays.shape_mesh = NULL;
    REFUSED("shape_mesh[3] of shape 3 ('shape_3') is -1");
    add_meshes();
    shape_meshes[1] = 0;
    REFUSED("shape_mesh[1] of shape 1 ('shape_1') is 0", "must be -1");
}

Test(model, refuses_wrong_keyframes) {
    static const char *const names[] = {"home", "home"};
    add_meshes();
    sample.arrays.keyframe_name = names;
    REFUSED("keyframe_name[0] and keyframe_name[1] are both 'home'");
    add_meshes();
    keyframe_q[1][2] = NAN;
    REFUSED("keyframe_joint_q[21] of keyframe 1 ('keyframe_1') is nan");
    add_meshes();
    keyframe_q[1][6] = 2;
    REFUSED("keyframe_joint_q[22] of keyframe 1 ('keyframe_1') has the quaternion", "length 2");
}

Test(model, quaternions_of_keyframes_are_normalised) {
    add_meshes();
    keyframe_q[1][6] = 1 + 5e-7;
    SapModel *model = create(&sample.arrays);
    cr_assert_eq(sap_model_arrays(model)->keyframe_joint_q[SAMPLE_NQ + 6], 1);
    sap_model_destroy(model);
}

Test(model, refuses_filters_out_of_range) {
    static int32_t pairs[1][2] = {{0, SAMPLE_NS}}, flags[SAMPLE_NJ] = {[2] = 2};
    sample.arrays.num_shape_filter_pairs = 1;
    sample.arrays.shape_filter_pairs = pairs[0];
    REFUSED("shape_filter_pairs[0][1] of pair 0 is 7", "a shape index, 0 .. 6");
    setup();
    sample.arrays.joint_filter_parent = flags;
    REFUSED("joint_filter_parent[2] of joint 2 ('ankle') is 2", "0 or 1");
}
