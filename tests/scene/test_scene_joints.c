/* Scene files: joints, articulations, initial coordinates and keyframes. */
#include <math.h>
#include <stdio.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/scene_text.h"

/* Lengths that are off by one rounding error: dividing by them would change digits. */
Test(scene, leaves_axes_and_quaternions_that_are_unit_to_rounding_as_they_are) {
    const double axis[3] = {0.46388802360389386, -0.8806121940743733, -0.09659226265282127};
    const double q[4] = {-0.5717086733723353, -0.6639276213579521, 0.4726439819226916, -0.09464128454896593};
    char text[512];
    snprintf(text, sizeof text,
             HEAD BALL "joints: [{id: j, type: revolute, parent: world, child: ball, axis: [%.17g, %.17g, %.17g], "
                       "parent_xform: {q: [%.17g, %.17g, %.17g, %.17g]}}]\n",
             axis[0], axis[1], axis[2], q[0], q[1], q[2], q[3]);
    SapScene *scene = parse(text);
    cr_expect_arr_eq(arrays_of(scene)->joint_axis, axis, sizeof axis);
    cr_expect_arr_eq(&arrays_of(scene)->joint_X_p[3], q, sizeof q);
    sap_scene_destroy(scene);
}

Test(scene, reads_axes_as_vectors_letters_and_numbers) {
    const char *const axes[] = {"x", "-y", "+Z", "0", "1", "2", "[0, 0, 5]", "[3, 0, 4]", "[1e-300, 0, 0]", "'-x'"};
    const double expected[][3] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1},     {1, 0, 0}, {0, 1, 0},
                                  {0, 0, 1}, {0, 0, 1},  {0.6, 0, 0.8}, {1, 0, 0}, {-1, 0, 0}};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 HEAD BALL "joints: [{id: j, type: revolute, parent: world, child: ball, axis: %s}]\n", axes[i]);
        SapScene *scene = parse(text);
        for (int k = 0; k < 3; k++)
            cr_expect_float_eq(arrays_of(scene)->joint_axis[k], expected[i][k], 1e-15, "axis %s", axes[i]);
        sap_scene_destroy(scene);
    }
}

Test(scene, reads_all_fields_of_a_joint_over_the_defaults) {
    SapScene *scene =
        parse(HEAD "builder: {defaults: {joint: {axis: y, armature: 0.1, friction: 0.2, target_ke: 5}}}\n"
                   "bodies:\n"
                   "- {id: a, shapes: &s [{type: sphere, radius: 0.1}]}\n"
                   "- {id: b, shapes: *s}\n"
                   "joints:\n"
                   "- {id: ja, type: hinge, parent: world, child: a}\n"
                   "- {id: jb, type: slide, parent: a, child: b, axis: x, armature: 1, damping: 2, friction: 3,\n"
                   "   target_pos: 4, target_vel: 5, target_ke: 6, target_kd: 7, limit_lower: -.inf,\n"
                   "   limit_upper: inf, limit_ke: 10, limit_kd: 11, effort_limit: inf, velocity_limit: 1e6,\n"
                   "   actuator_mode: position, collision_filter_parent: false, parent_xform: {p: [1, 2, 3]},\n"
                   "   child_xform: {q: {axis_angle: {axis: [0, 0, 2], angle: pi}}}}\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_expect_eq(a->joint_type[0], SAP_JOINT_REVOLUTE);
    cr_expect_eq(a->joint_type[1], SAP_JOINT_PRISMATIC);
    cr_expect_eq(a->joint_axis[1], 1);
    cr_expect_eq(a->joint_armature[0], 0.1);
    cr_expect_eq(a->joint_friction[0], 0.2);
    cr_expect_eq(a->joint_target_ke[0], 5);
    cr_expect_eq(a->joint_target_mode[0], SAP_TARGET_NONE, "gains alone switch no drive on");
    cr_expect_eq(a->joint_limit_lower[0], -1e10);
    cr_expect_eq(a->joint_limit_ke[0], 1e4);
    cr_expect_eq(a->joint_limit_kd[0], 10);
    cr_expect_eq(a->joint_effort_limit[0], 1e6);
    cr_expect_eq(a->joint_armature[1], 1);
    cr_expect_eq(a->joint_damping[1], 2);
    cr_expect_eq(a->joint_friction[1], 3);
    cr_expect_eq(a->joint_target_pos[1], 4);
    cr_expect_eq(a->joint_target_vel[1], 5);
    cr_expect_eq(a->joint_target_ke[1], 6);
    cr_expect_eq(a->joint_target_kd[1], 7);
    cr_expect_eq(a->joint_limit_lower[1], -INFINITY);
    cr_expect_eq(a->joint_limit_upper[1], INFINITY);
    cr_expect_eq(a->joint_limit_ke[1], 10);
    cr_expect_eq(a->joint_limit_kd[1], 11);
    cr_expect_eq(a->joint_effort_limit[1], INFINITY);
    cr_expect_eq(a->joint_target_mode[1], SAP_TARGET_POSITION);
    cr_expect_eq(a->joint_filter_parent[1], 0);
    cr_expect_eq(a->joint_X_p[7 + 2], 3);
    cr_expect_float_eq(a->joint_X_c[7 + 5], 1, 1e-15);
    sap_scene_destroy(scene);
}

Test(scene, has_ball_d6_and_fixed_joints) {
    SapScene *scene = parse(HEAD "builder: {defaults: {joint: {armature: 0.1, target_ke: 3, limit_ke: 7}}}\n"
                                 "bodies:\n"
                                 "- {id: a, shapes: &s [{type: sphere, radius: 0.1}]}\n"
                                 "- {id: b, shapes: *s}\n"
                                 "- {id: c, shapes: *s}\n"
                                 "- {id: d, shapes: *s, xform: {p: [7, 8, 9], q: [0, 0, 1, 0]}}\n"
                                 "joints:\n"
                                 "- {id: ja, type: ball, parent: world, child: a, damping: 2}\n"
                                 "- {id: jb, type: d6, parent: a, child: b, damping: 4, linear_axes: [z],\n"
                                 "   angular_axes: [{axis: x, damping: 5, limit_lower: -1}, [0, 1, 0]]}\n"
                                 "- {id: jc, type: fixed, parent: b, child: c}\n"
                                 "- {id: jd, type: free, parent: world, child: d}\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_expect_eq(a->num_dofs, 3 + 3 + 0 + 6);
    cr_expect_eq(a->num_coords, 4 + 3 + 0 + 7);
    cr_expect_eq(a->joint_q[3], 1, "a ball joint starts at the identity");
    cr_expect_eq(a->joint_armature[0], 0.1);
    cr_expect_eq(a->joint_target_ke[0], 0);
    cr_expect_eq(a->joint_limit_ke[0], 0);
    cr_expect_eq(a->joint_damping[2], 2);
    cr_expect_eq(a->joint_dof_dim[2], 1);
    cr_expect_eq(a->joint_dof_dim[3], 2);
    cr_expect_eq(a->joint_axis[3 * 3 + 2], 1);
    cr_expect_eq(a->joint_axis[4 * 3 + 0], 1);
    cr_expect_eq(a->joint_damping[3], 4);
    cr_expect_eq(a->joint_damping[4], 5);
    cr_expect_eq(a->joint_damping[5], 4);
    cr_expect_eq(a->joint_limit_lower[4], -1);
    cr_expect_eq(a->joint_limit_lower[5], -1e10);
    cr_expect_eq(a->joint_limit_ke[5], 7);
    cr_expect_eq(a->joint_armature[6], 0, "free joints take nothing from the defaults");
    cr_expect_eq(a->joint_q[7], 7, "a free joint starts at the transform of its body");
    cr_expect_eq(a->joint_q[12], 1);
    cr_expect_eq(a->num_filter_pairs, 0);
    cr_expect_eq(a->joint_filter_parent[2], 1);
    sap_scene_destroy(scene);
}

Test(scene, splits_joints_into_articulations) {
    SapScene *scene =
        parse(CHAIN "articulations: [{id: arm, joints: [turn, push]}, {id: x, label: bird, joints: [fly]}]\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_expect_eq(a->num_articulations, 2);
    cr_expect_eq(a->articulation_start[1], 2);
    cr_expect_eq(a->articulation_start[2], 3);
    cr_expect_str_eq(a->articulation_name[0], "arm");
    cr_expect_str_eq(a->articulation_name[1], "bird");
    sap_scene_destroy(scene);
}

Test(scene, sets_initial_coordinates_by_joint_label_and_index) {
    SapScene *scene = parse(CHAIN "initial_joint_q:\n"
                                  "- {joint: turn, value: pi / 2}\n"
                                  "- {joint_label: arm/push, value: 0.1}\n"
                                  "- {joint: fly, offset: 2, value: 1.25}\n"
                                  "- {joint: fly, offset: 3, values: [0, 1, 0, 0]}\n"
                                  "- {index: -7, value: 9}\n");
    const double expected[] = {1.5707963267948966, 0.1, 9, 2, 1.25, 0, 1, 0, 0};
    cr_expect_arr_eq(arrays_of(scene)->joint_q, expected, sizeof expected);
    sap_scene_destroy(scene);
}

/* ---- keyframes ---- */

Test(scene, keyframes_are_states_by_name) {
    SapScene *scene = parse(CHAIN "initial_joint_q: [{joint: turn, value: 0.5}]\n"
                                  "keyframes:\n- {name: home}\n"
                                  "- {joint_q: [1, 2, 0, 0, 0, 0, 0, 1, 0], joint_qd: [1, 2, 3, 4, 5, 6, 7, 8]}\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_assert_eq(a->num_keyframes, 2);
    for (int i = 0; i < a->num_coords; i++)
        cr_expect_eq(a->keyframe_joint_q[i], a->joint_q[i]);
    cr_expect(a->keyframe_joint_q[0] == 0.5 && a->keyframe_joint_q[2] == 1 && a->keyframe_joint_qd[0] == 0);
    cr_expect(a->keyframe_joint_q[9 + 1] == 2 && a->keyframe_joint_qd[8 + 7] == 8);
    cr_expect_str_eq(a->keyframe_name[1], "keyframe_1");
    cr_expect_eq(sap_model_find_keyframe(scene->model, "home"), 0);
    cr_expect_eq(sap_model_find_keyframe(scene->model, "away"), -1);
    sap_scene_destroy(scene);
}

Test(scene, refuses_wrong_keyframes) {
    EXPECT_FAILURES(
        {CHAIN "keyframes: [home]\n", "scene.yaml:10: keyframes[0]: ", {"'home'", "joint_q"}},
        {CHAIN "keyframes: [{q: 1}]\n", "scene.yaml:10: ", {"'q'", "joint_q"}},
        {CHAIN "keyframes: [{joint_q: [1]}]\n", "scene.yaml:10: joint_q: ", {"a list of 1", "9 numbers"}},
        {CHAIN "keyframes: [{joint_qd: [1, 2, 3, 4, 5, 6, 7]}]\n", "scene.yaml:10: joint_qd: ", {"8 numbers"}}, );
}
