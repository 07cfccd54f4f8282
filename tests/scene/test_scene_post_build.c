/* Scene files: operations on the finished model. */
#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/scene_text.h"

Test(scene, set_array_takes_every_selector) {
    SapScene *scene = parse(CHAIN "post_build:\n"
                                  "- {op: set_array, array: joint_qd, value: 1}\n"
                                  "- {op: set_array, array: joint_qd, index: 1, value: 2}\n"
                                  "- {op: set_array, array: joint_qd, index: -1, value: 3}\n"
                                  "- {op: set_array, array: joint_f, range: all, value: 1}\n"
                                  "- {op: set_array, array: joint_f, range: head:2, values: [2, 3]}\n"
                                  "- {op: set_array, array: joint_f, range: tail:1, value: 4}\n"
                                  "- {op: set_array, array: joint_act, range: from:5, value: 5}\n"
                                  "- {op: set_array, array: joint_act, range: [2, 4], value: 6}\n"
                                  "- {op: set_array, array: joint_act, range: [-1, null], value: 7}\n"
                                  "- {op: set_array, array: joint_armature, joint: push, value: 8}\n"
                                  "- {op: set_array, array: joint_armature, joint_labels: [turn, fly], value: 9}\n"
                                  "- {op: set_array, array: joint_damping, label_prefix: arm/, values: [1, 2]}\n"
                                  "- {op: set_array, array: joint_damping, match: y, value: 3}\n"
                                  "- {op: set_array, array: joint_q, joint: fly, values: [1, 2, 3, 1, 0, 0, 0]}\n");
    const SapModelArrays *a = arrays_of(scene);
    const double qd[] = {1, 2, 1, 1, 1, 1, 1, 3}, f[] = {2, 3, 1, 1, 1, 1, 1, 4}, act[] = {0, 0, 6, 6, 0, 5, 5, 7};
    const double armature[] = {9, 8, 9, 9, 9, 9, 9, 9}, damping[] = {1, 2, 3, 3, 3, 3, 3, 3};
    const double q[] = {0, 0, 1, 2, 3, 1, 0, 0, 0};
    cr_expect_arr_eq(a->joint_qd, qd, sizeof qd);
    cr_expect_arr_eq(a->joint_f, f, sizeof f);
    cr_expect_arr_eq(a->joint_act, act, sizeof act);
    cr_expect_arr_eq(a->joint_armature, armature, sizeof armature);
    cr_expect_arr_eq(a->joint_damping, damping, sizeof damping);
    cr_expect_arr_eq(a->joint_q, q, sizeof q);
    sap_scene_destroy(scene);
}

Test(scene, set_array_reaches_shapes_but_not_the_ground) {
    SapScene *scene = parse(CHAIN "post_build:\n"
                                  "- {op: set_array, array: shape_material_mu, value: 0.9}\n"
                                  "- {op: set_array, array: shape_flags, index: 0, value: 5}\n"
                                  "- {op: set_array, array: shape_collision_group, range: [1, 3], values: [-1, 2]}\n"
                                  "- {op: set_array, array: joint_target_mode, range: head:2, values: [velocity, 1]}\n"
                                  "- {op: set_array, array: shape_gap, from_array: shape_material_mu}\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_expect_eq(a->num_shapes, 5);
    cr_expect_eq(a->shape_material_mu[3], 0.9);
    cr_expect_eq(a->shape_material_mu[4], 0.5);
    cr_expect_eq(a->shape_gap[3], 0.9);
    cr_expect_eq(a->shape_flags[0], SAP_SHAPE_VISIBLE);
    cr_expect_eq(a->shape_collision_group[1], -1);
    cr_expect_eq(a->shape_collision_group[2], 2);
    cr_expect_eq(a->joint_target_mode[0], SAP_TARGET_VELOCITY);
    cr_expect_eq(a->joint_target_mode[1], SAP_TARGET_POSITION);
    sap_scene_destroy(scene);
}

Test(scene, copy_array_copies_between_arrays_and_within_one) {
    SapScene *scene = parse(CHAIN "post_build:\n"
                                  "- {op: set_array, array: joint_q, range: head:2, values: [0.5, 0.25]}\n"
                                  "- {op: copy_array, from_array: joint_q, to_array: joint_target_pos, range: head:2}\n"
                                  "- {op: set_array, array: joint_qd, values: [1, 2, 3, 4, 5, 6, 7, 8]}\n"
                                  "- {op: copy_array, from_array: joint_qd, array: joint_qd, range: [1, 8],\n"
                                  "   from_range: [0, 7]}\n"
                                  "- {op: copy_array, from_array: joint_armature, array: joint_f, joint: fly}\n");
    const double qd[] = {1, 1, 2, 3, 4, 5, 6, 7};
    cr_expect_eq(arrays_of(scene)->joint_target_pos[0], 0.5);
    cr_expect_eq(arrays_of(scene)->joint_target_pos[1], 0.25);
    cr_expect_arr_eq(arrays_of(scene)->joint_qd, qd, sizeof qd, "spans that overlap");
    sap_scene_destroy(scene);
}

Test(scene, set_attr_sets_gravity_and_gap) {
    SapScene *scene = parse(CHAIN "post_build:\n"
                                  "- {op: set_attr, attr: gravity, value: [0, 0, -1]}\n"
                                  "- {op: set_attr, name: rigid_gap, value: 0.125}\n");
    cr_expect_eq(arrays_of(scene)->gravity[2], -1);
    cr_expect_eq(arrays_of(scene)->shape_gap[0], 0);
    cr_expect_eq(arrays_of(scene)->shape_gap[4], 0.125, "the ground comes after the operations");
    sap_scene_destroy(scene);
}

Test(scene, set_joint_targets_sets_what_it_is_given) {
    SapScene *scene = parse(CHAIN "post_build:\n"
                                  "- {op: set_joint_targets, range: head:2, mode: position, ke: [10, 20], kd: 3}\n"
                                  "- {op: set_joint_targets, joint: turn, target_pos: 0.5, target_vel: 0.25}\n"
                                  "- {op: set_joint_targets, joint: fly, mode: 2, target_kd: 1}\n");
    const SapModelArrays *a = arrays_of(scene);
    const int32_t mode[] = {1, 1, 2, 2, 2, 2, 2, 2};
    cr_expect_arr_eq(a->joint_target_mode, mode, sizeof mode);
    cr_expect_eq(a->joint_target_ke[0], 10);
    cr_expect_eq(a->joint_target_ke[1], 20);
    cr_expect_eq(a->joint_target_kd[0], 3);
    cr_expect_eq(a->joint_target_pos[0], 0.5);
    cr_expect_eq(a->joint_target_vel[0], 0.25);
    cr_expect_eq(a->joint_target_pos[1], 0);
    cr_expect_eq(a->joint_target_kd[7], 1);
    sap_scene_destroy(scene);
}

Test(scene, copies_coordinates_to_targets_where_dofs_have_them) {
    SapScene *scene = parse(CHAIN "initial_joint_q: [{joint: turn, value: 0.5}, {joint: push, value: 0.25}]\n"
                                  "post_build: [{op: copy_joint_q_to_joint_targets}]\n");
    const double expected[] = {0.5, 0.25, 0, 0, 0, 0, 0, 0};
    cr_expect_arr_eq(arrays_of(scene)->joint_target_pos, expected, sizeof expected);
    sap_scene_destroy(scene);
    scene = parse(CHAIN "initial_joint_q: [{joint: turn, value: 0.5}, {joint: push, value: 0.25}]\n"
                        "post_build: [{op: copy_joint_q_to_joint_targets, joints: [push]}]\n");
    cr_expect_eq(arrays_of(scene)->joint_target_pos[0], 0);
    cr_expect_eq(arrays_of(scene)->joint_target_pos[1], 0.25);
    sap_scene_destroy(scene);
}

Test(scene, set_joint_q_and_set_joint_armature_edit_their_arrays) {
    SapScene *scene = parse(CHAIN "post_build:\n"
                                  "- {op: set_joint_q, joint: push, value: 0.75}\n"
                                  "- {op: set_joint_q, index: 0, value: 0.5}\n"
                                  "- {op: set_joint_armature, range: from:2, value: 0.125}\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_expect_eq(a->joint_q[0], 0.5);
    cr_expect_eq(a->joint_q[1], 0.75);
    cr_expect_eq(a->joint_armature[1], 0);
    cr_expect_eq(a->joint_armature[2], 0.125);
    sap_scene_destroy(scene);
}

Test(scene, scale_sphere_shapes_changes_radii_and_not_masses) {
    SapScene *scene = parse(CHAIN "post_build: [{op: scale_sphere_shapes, factor: 1.5}]\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_expect_float_eq(a->shape_scale[0], 0.15, 1e-15);
    cr_expect_eq(a->shape_scale[6], 0.1, "boxes stay");
    cr_expect_float_eq(a->body_mass[0], 4.18879, 1e-5);
    sap_scene_destroy(scene);
}

Test(scene, add_shape_adds_to_bodies_and_to_the_world) {
    SapScene *scene = parse(CHAIN "post_build:\n"
                                  "- {op: add_shape, body: a, type: sphere, radius: 0.1, label: extra}\n"
                                  "- {op: add_shape, body: world, type: box, hx: 1, hy: 1, hz: 1, mu: 0.75}\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_expect_eq(a->num_shapes, 7);
    cr_expect_str_eq(a->shape_name[4], "extra");
    cr_expect_eq(a->shape_body[4], 0);
    cr_expect_float_eq(a->body_mass[0], 2 * 4.18879, 1e-5);
    cr_expect_eq(a->shape_body[5], -1);
    cr_expect_eq(a->shape_material_mu[5], 0.75);
    cr_expect_eq(a->shape_type[6], SAP_SHAPE_PLANE);
    sap_scene_destroy(scene);
}

/* ---- errors ---- */

Test(scene, refuses_operations_that_do_not_fit) {
    EXPECT_FAILURES(
        {CHAIN "post_build: [{array: joint_q}]\n", "scene.yaml:10: post_build[0]: ", {"'op' is missing"}},
        {CHAIN "post_build: [{op: dance}]\n", "scene.yaml:10: op: ", {"'dance'", "set_array"}},
        {CHAIN "post_build: [set_array]\n", "scene.yaml:10: post_build[0]: ", {"'set_array'", "a map"}},
        {CHAIN "post_build: [{op: set_array, array: body_mass, value: 1}]\n",
         "scene.yaml:10: array: ",
         {"'body_mass'", "joint_qd"}},
        {CHAIN "post_build: [{op: set_array, array: joint_qd}]\n",
         "scene.yaml:10: post_build[0]: ",
         {"'value'", "'from_array'"}},
        {CHAIN "post_build: [{op: set_array, array: joint_qd, value: 1, from_array: joint_f}]\n",
         "scene.yaml:10: post_build[0]: ",
         {"both", "'from_array'"}},
        {CHAIN "post_build: [{op: set_array, array: joint_qd, values: [1, 2]}]\n",
         "scene.yaml:10: values: ",
         {"a list of 2", "8 entries", "joint_qd"}},
        {CHAIN "post_build: [{op: set_array, array: joint_qd, range: head:1, values: [1, 2]}]\n",
         "scene.yaml:10: values: ",
         {"a list of 2", "1 entries", "joint_qd"}},
        {CHAIN "post_build: [{op: set_array, array: joint_qd, index: 8, value: 1}]\n",
         "scene.yaml:10: index: ",
         {"'8'", "-8 to 7"}},
        {CHAIN "post_build: [{op: set_array, array: joint_qd, range: head:9, value: 1}]\n",
         "scene.yaml:10: range: ",
         {"'head:9'", "0 to 8"}},
        {CHAIN "post_build: [{op: set_array, array: joint_qd, range: head:99999999999, value: 1}]\n",
         "scene.yaml:10: range: ",
         {"'head:99999999999'"}},
        {CHAIN "post_build: [{op: set_array, array: joint_qd, range: [3, 2], value: 1}]\n",
         "scene.yaml:10: range: ",
         {"from 3 to 2"}},
        {CHAIN "post_build: [{op: set_array, array: joint_qd, range: [0, 9], value: 1}]\n",
         "scene.yaml:10: range[1]: ",
         {"'9'"}},
        {CHAIN "post_build: [{op: set_array, array: joint_qd, range: middle, value: 1}]\n",
         "scene.yaml:10: range: ",
         {"'middle'", "tail:N"}},
        {CHAIN "post_build: [{op: set_array, array: joint_qd, range: all, index: 1, value: 1}]\n",
         "scene.yaml:10: range: ",
         {"second selector", "'index'"}},
        {CHAIN "post_build: [{op: set_array, array: shape_gap, joint: fly, value: 1}]\n",
         "scene.yaml:10: joint: ",
         {"shape", "index, range"}},
        {CHAIN "post_build: [{op: set_array, array: shape_gap, value: -1}]\n",
         "scene.yaml:10: value: ",
         {"'-1'", ">= 0"}},
        {CHAIN "post_build: [{op: set_array, array: shape_flags, value: 16}]\n", "scene.yaml:10: value: ", {"'16'"}},
        {CHAIN "post_build: [{op: set_array, array: joint_target_mode, value: 7}]\n",
         "scene.yaml:10: value: ",
         {"'7'", "effort (4)"}},
        {CHAIN "post_build: [{op: set_array, array: shape_gap, from_array: joint_qd}]\n",
         "scene.yaml:10: from_array: ",
         {"joint_qd", "shape_gap"}},
        {CHAIN "post_build: [{op: copy_array, from_array: joint_q, array: joint_qd}]\n",
         "scene.yaml:10: post_build[0]: ",
         {"9 entries of joint_q", "8 entries of joint_qd"}},
        {CHAIN "post_build: [{op: copy_array, from_array: joint_q}]\n",
         "scene.yaml:10: post_build[0]: ",
         {"'array' is missing"}},
        {CHAIN "post_build: [{op: set_attr, attr: sky, value: 1}]\n", "scene.yaml:10: attr: ", {"'sky'", "gravity"}},
        {CHAIN "post_build: [{op: set_joint_targets, match: wing, ke: 1}]\n",
         "scene.yaml:10: match: ",
         {"'wing'", "nothing"}},
        {CHAIN "post_build: [{op: set_joint_targets, range: all, ke: -1}]\n",
         "scene.yaml:10: ke: ",
         {"'-1'", "0, or", ">= 1e-20"}},
        {CHAIN "post_build: [{op: set_joint_q, value: 1}]\n", "scene.yaml:10: post_build[0]: ", {"'index'", "'joint'"}},
        {CHAIN "post_build: [{op: set_joint_q, joint: turn, offset: 1, value: 1}]\n",
         "scene.yaml:10: offset: ",
         {"'1'", "from 0 to 0"}},
        {CHAIN "post_build: [{op: set_joint_q, index: 0, offset: 1, value: 1}]\n",
         "scene.yaml:10: offset: ",
         {"joint"}},
        {CHAIN "post_build: [{op: set_joint_q, joint: turn, values: [1, 2]}]\n",
         "scene.yaml:10: values: ",
         {"a list of 2", "1 coordinates"}},
        {CHAIN "post_build: [{op: set_joint_armature, range: all}]\n",
         "scene.yaml:10: post_build[0]: ",
         {"'value' is missing"}},
        {CHAIN "post_build: [{op: scale_sphere_shapes, factor: 0}]\n", "scene.yaml:10: factor: ", {"'0'", "> 0"}},
        {CHAIN "post_build: [{op: add_shape, body: moon, type: sphere, radius: 1}]\n",
         "scene.yaml:10: body: ",
         {"'moon'", "world"}}, );
}
