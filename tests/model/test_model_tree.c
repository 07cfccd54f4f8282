/* Models: counts, joints, the tree and names; one test per rule, each with the message it must give. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/model/model.h"
#include "support/model_refusal.h"

TestSuite(model, .init = setup);

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

Test(model, refuses_axis_counts_of_the_last_joint_that_do_not_fit_its_type) {
    sample.dof_dim[SAMPLE_HINGE][0] = 1;
    sample.dof_dim[SAMPLE_HINGE][1] = 0;
    REFUSED("joint_dof_dim[6] of joint 6 ('hinge') is (1, 0)", "revolute joint has (0, 1)");
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
