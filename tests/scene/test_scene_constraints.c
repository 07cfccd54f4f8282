/* Sections `constraints` and `tendons` of scenes: what they become in the model, what they take from the initial state,
 * and the messages where they are refused. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/scene_text.h"

/* Lines 1 to 18: a crank and a slider ("rocker") on the world, a coupler on the crank, a plate fixed to the rocker, a
 * base fixed to the world, a ball joint, a d6 joint. What a test adds is line 19. */
#define LINKAGE                                                                                                        \
    "schema_version: 1\n"                                                                                              \
    "bodies:\n"                                                                                                        \
    "- {id: crank, mass: 1, inertia: [1, 1, 1]}\n"                                                                     \
    "- {id: coupler, mass: 1, inertia: [1, 1, 1]}\n"                                                                   \
    "- {id: rocker, mass: 1, inertia: [1, 1, 1]}\n"                                                                    \
    "- {id: plate, mass: 1, inertia: [1, 1, 1]}\n"                                                                     \
    "- {id: base, mass: 1, inertia: [1, 1, 1]}\n"                                                                      \
    "- {id: eye, mass: 1, inertia: [1, 1, 1]}\n"                                                                       \
    "- {id: table, mass: 1, inertia: [1, 1, 1]}\n"                                                                     \
    "joints:\n"                                                                                                        \
    "- {id: first, type: revolute, parent: world, child: crank, axis: y}\n"                                            \
    "- {id: second, type: revolute, parent: crank, child: coupler, axis: y, parent_xform: {p: [0.3, 0, 0]}}\n"         \
    "- {id: third, type: prismatic, parent: world, child: rocker, axis: x, parent_xform: {p: [1, 0, 0]}}\n"            \
    "- {id: bolt, type: fixed, parent: rocker, child: plate}\n"                                                        \
    "- {id: rivet, type: fixed, parent: world, child: base}\n"                                                         \
    "- {id: hip, type: ball, parent: world, child: eye}\n"                                                             \
    "- {id: slide, type: d6, parent: world, child: table, linear_axes: [x, y]}\n"                                      \
    "initial_joint_q: [{joint: first, value: pi/2}, {joint: third, value: 0.25}]\n"

#define AT               "scene.yaml:19: "
#define CONSTRAINT(text) LINKAGE "constraints: [" text "]\n"
#define TENDON(text)     LINKAGE "tendons: [" text "]\n"

#define LISTS                                                                                                          \
    LINKAGE                                                                                                            \
    "tendons:\n"                                                                                                       \
    "- {id: cable, joints: [second, {joint: slide, axis: 1}], coefficients: [1, -0.5], limit_upper: 0.1}\n"            \
    "- {id: strap, label: long strap, path: [{body: world, point: [0, 0, 1]}, {body: rocker}, {pulley: 2}, "           \
    "{body: rocker}, {body: crank, point: [0.1, 0, 0]}], spring_ke: 3, spring_upper: 9}\n"                             \
    "constraints:\n"                                                                                                   \
    "- {id: loop, type: connect, body_a: coupler, point_a: [0.4, 0, 0], body_b: rocker, active: no}\n"                 \
    "- {id: glue, type: weld, body_a: crank, frame_a: {p: [1, 0, 0]}, body_b: world, angular_ke: 5, "                  \
    "angular_kd: 1}\n"                                                                                                 \
    "- {id: rod, type: distance, body_a: crank, body_b: rocker, ke: 300, kd: 1.5, side: upper, "                       \
    "collision_filter: true}\n"                                                                                        \
    "- {id: mirror, type: mimic, joint: second, of: first, ratio: -1, offset: 0.004}\n"                                \
    "- {id: cam, type: coupler, tendon: cable, of_tendon: long strap, polynomial: [1, 2, 3], reference: 0.5}\n"        \
    "- {id: hold, type: coupler, joint: slide, axis: 0}\n"

static void expect_row(const char *what, const double *values, int n, const double *expected) {
    for (int i = 0; i < n; i++)
        cr_expect_float_eq(values[i], expected[i], 1e-14, "%s[%d] is %.17g, not %.17g", what, i, values[i],
                           expected[i]);
}

Test(scene_constraints, become_arrays_of_the_model) {
    SapScene *scene = parse(LISTS);
    const SapModelArrays *a = arrays_of(scene);
    cr_assert_eq(a->num_constraints, 6);
    static const int32_t types[] = {0, 1, 2, 3, 3, 3}, bodies[] = {1, 2, 0, -1, 0, 2, -1, -1, -1, -1, -1, -1};
    int nv = a->num_dofs; /* first 0, second 1, third 2, hip 3..5, slide 6 7 */
    const int32_t coordinates[] = {-1, -1, -1, -1, -1, -1, 1, 0, nv, nv + 1, 6, -1};
    for (int c = 0; c < 6; c++) {
        cr_expect_eq(a->constraint_type[c], types[c]);
        for (int k = 0; k < 2; k++) {
            cr_expect_eq(a->constraint_body[2 * c + k], bodies[2 * c + k], "%d", c);
            cr_expect_eq(a->constraint_coordinate[2 * c + k], coordinates[2 * c + k], "%d", c);
        }
        cr_expect_eq(a->constraint_active[c], c != 0);
        cr_expect_eq(a->constraint_side[c], c == 2 ? SAP_SIDE_UPPER : SAP_SIDE_BOTH);
    }
    expect_row("polynomial", a->constraint_polynomial + 15, 10, (double[]){0.004, -1, 0, 0, 0, 1, 2, 3, 0, 0});
    cr_expect_eq(a->constraint_reference[8], 0.5);
    cr_expect(isinf(a->constraint_ke[0]) && a->constraint_ke[3] == 5 && a->constraint_kd[3] == 1);
    cr_expect(a->constraint_ke[4] == 300 && a->constraint_kd[4] == 1.5);
    cr_expect_str_eq(a->tendon_name[1], "long strap");
    cr_expect_eq(sap_model_find_constraint(scene->model, "rod"), 2);
    cr_expect_eq(sap_model_find_tendon(scene->model, "cable"), 0);
    cr_assert_eq(a->num_tendon_terms, 7);
    static const int32_t term_types[] = {0, 0, 1, 1, 2, 1, 1}, term_indices[] = {1, 7, -1, 2, -1, 2, 0};
    for (int k = 0; k < 7; k++)
        cr_expect(a->tendon_term_type[k] == term_types[k] && a->tendon_term_index[k] == term_indices[k], "term %d", k);
    cr_expect(a->tendon_term_value[3] == -0.5 && a->tendon_term_value[12] == 2);
    cr_expect(a->num_filter_pairs == 1 && a->body_filter_pairs[0] == 0 && a->body_filter_pairs[1] == 2);
    sap_scene_destroy(scene);
}

/* The crank is turned by pi/2 about y: its x points down. The rocker is at (1.25, 0, 0). */
Test(scene_constraints, take_what_is_not_given_from_the_initial_state) {
    SapScene *scene = parse(LISTS);
    const SapModelArrays *a = arrays_of(scene);
    expect_row("point_b of the ball", a->constraint_X + 7, 7, (double[]){-1.25, 0, -0.7, 0, 0, 0, 1});
    double s = sqrt(0.5);
    expect_row("frame_b of the weld", a->constraint_X + 21, 7, (double[]){0, 0, -1, 0, s, 0, s});
    expect_row("length", a->constraint_length + 2, 1, (double[]){1.25});
    double strap = sqrt(1.25 * 1.25 + 1) + 0.5 * sqrt(1.25 * 1.25 + 0.01);
    expect_row("spring_lower", a->tendon_spring_lower, 2, (double[]){0, strap});
    expect_row("spring_upper", a->tendon_spring_upper, 2, (double[]){0, 9});
    sap_scene_destroy(scene);
}

Test(scene_constraints, are_edited_by_post_build) {
    SapScene *scene =
        parse(LISTS "post_build:\n"
                    "- {op: set_array, array: constraint_length, constraint: rod, value: 2}\n"
                    "- {op: set_array, array: constraint_active, constraints: [loop, rod], values: [1, 0]}\n"
                    "- {op: set_array, array: tendon_damping, tendon: strap, value: 0.7}\n"
                    "- {op: set_array, array: tendon_friction, match: strap, value: 0.1}\n"
                    "- {op: set_array, array: tendon_armature, tendons: [strap, cable], values: [1, 2]}\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_expect(a->constraint_length[2] == 2 && a->constraint_active[0] == 1 && a->constraint_active[2] == 0);
    cr_expect(a->tendon_damping[0] == 0 && a->tendon_damping[1] == 0.7);
    cr_expect(a->tendon_friction[0] == 0 && a->tendon_friction[1] == 0.1);
    cr_expect(a->tendon_armature[0] == 2 && a->tendon_armature[1] == 1);
    sap_scene_destroy(scene);
    EXPECT_FAILURES({LISTS "post_build: [{op: set_array, array: tendon_damping, constraint: rod, value: 1}]\n",
                     "scene.yaml:29: constraint: ",
                     {"one entry per tendon", "tendons, index, range, match"}},
                    {LISTS "post_build: [{op: set_array, array: constraint_length, joint: first, value: 1}]\n",
                     "scene.yaml:29: joint: ",
                     {"one entry per constraint"}},
                    {LISTS "post_build: [{op: set_array, array: joint_damping, tendon: strap, value: 1}]\n",
                     "scene.yaml:29: tendon: ",
                     {"no entries of constraints or tendons"}},
                    {LISTS "post_build: [{op: set_array, array: tendon_damping, tendon: rope, value: 1}]\n",
                     "scene.yaml:29: tendon: 'rope'",
                     {"the id or label of a tendon"}},
                    {LISTS "post_build: [{op: set_array, array: constraint_active, index: 0, value: 2}]\n",
                     "scene.yaml:29: value: '2'",
                     {"from 0 to 1"}});
}

Test(scene_constraints, are_refused_with_line_key_value_and_what_is_allowed) {
    EXPECT_FAILURES(
        {CONSTRAINT("{id: l, type: ball, body_a: crank, body_b: rocker2}"),
         AT "body_b: 'rocker2' is not a body (did you mean 'rocker'?); allowed: world, crank, coupler, rocker, plate, "
            "base, eye, table",
         {NULL}},
        {CONSTRAINT("{id: loop, type: ball, body_a: coupler, body_b: coupler}"),
         AT "constraint 'loop': body_a and body_b are both 'coupler'; a constraint joins two bodies",
         {NULL}},
        {CONSTRAINT("{id: seam, type: weld, body_a: base, body_b: world}"),
         AT "constraint 'seam': neither 'base' nor world can move; one of the bodies must hang on a joint with dofs",
         {NULL}},
        {CONSTRAINT("{id: seam, type: weld, body_a: rocker, body_b: plate}"),
         AT "constraint 'seam': 'rocker' and 'plate' are joined by fixed joints",
         {NULL}},
        {CONSTRAINT("{id: l, type: weld, body_a: crank, body_b: rocker, kd: 3}"),
         AT "kd: 3 with ke inf; a rigid constraint has no damping of its own: leave kd out, or give ke",
         {NULL}},
        {CONSTRAINT("{id: l, type: weld, body_a: crank, body_b: rocker, ke: 1, angular_kd: 3}"),
         AT "angular_kd: 3 with angular_ke inf",
         {NULL}},
        {CONSTRAINT("{id: l, type: ball, body_a: crank, body_b: rocker, ke: -1}"), AT "ke: '-1'", {"> 0"}},
        {CONSTRAINT("{id: l, type: ball, body_a: crank, body_b: rocker, ke: 0}"), AT "ke: '0'", {"> 0, or inf"}},
        {CONSTRAINT("{id: l, type: coupler, joint: hip, of: first}"),
         AT "joint: 'hip' is a ball joint; a coupler takes joints with one axis, or an axis of a d6 joint",
         {NULL}},
        {CONSTRAINT("{id: l, type: coupler, joint: slide, of: first}"), AT "joint: 'slide' is a d6 joint", {NULL}},
        {CONSTRAINT("{id: l, type: coupler, joint: slide, axis: 2}"), AT "axis: '2'", {"from 0 to 1"}},
        {CONSTRAINT("{id: l, type: coupler, joint: first, axis: 0}"), AT "axis: 'first' is a revolute joint", {NULL}},
        {CONSTRAINT("{id: l, type: coupler, joint: second, of: second}"),
         AT "of: 'second' is the joint itself",
         {NULL}},
        {CONSTRAINT("{id: l, type: coupler, of: second}"), AT, {"'joint' and 'tendon'"}},
        {CONSTRAINT("{id: l, type: coupler, tendon: rope}"), AT "tendon: 'rope'", {"a tendon"}},
        {CONSTRAINT("{id: l, type: coupler, joint: first, polynomial: [1, 2, 3, 4, 5, 6]}"),
         AT "polynomial: 6 numbers; allowed: 1 to 5",
         {NULL}},
        {CONSTRAINT("{id: l, type: coupler, joint: first, of: second, ratio: 1, polynomial: [1]}"),
         AT "ratio and polynomial exclude each other",
         {NULL}},
        {CONSTRAINT("{id: l, type: distance, body_a: crank, body_b: rocker, length: 0}"),
         AT "length: 0; allowed: a number > 0. To join two points use type ball",
         {NULL}},
        {CONSTRAINT("{id: l, type: distance, body_a: crank, body_b: world}"),
         AT "constraint 'l': its points are at one place in the initial state",
         {"type ball"}},
        {CONSTRAINT("{id: l, type: ball, body_a: crank, body_b: rocker, side: upper}"),
         AT "unknown key 'side'",
         {NULL}},
        {CONSTRAINT("{id: l, type: distance, body_a: crank, body_b: rocker, side: left}"),
         AT "side: 'left'",
         {"both, lower, upper"}},
        {CONSTRAINT("{id: l, type: screw, body_a: crank, body_b: rocker}"),
         AT "type: 'screw'",
         {"ball (connect), weld, distance, coupler (mimic)"}},
        {CONSTRAINT("{id: l, type: ball, body_a: crank}"), AT, {"'body_b' is missing"}},
        {CONSTRAINT("{id: l, body_a: crank, body_b: rocker}"), AT, {"'type' is missing"}},
        {CONSTRAINT("{id: l, type: ball, body_a: crank, body_b: rocker}, {id: l, type: coupler, joint: first}"),
         AT,
         {"'l'", "taken"}});
}

Test(scene_constraints, tendons_are_refused_likewise) {
    EXPECT_FAILURES(
        {TENDON("{id: t, joints: [first, second], coefficients: [1, 2, 3]}"),
         AT "coefficients: 3 numbers for 2 joints",
         {NULL}},
        {TENDON("{id: t, joints: [first], coefficients: [0]}"), AT "coefficients[0]: '0'", {"other than 0"}},
        {TENDON("{id: cable, joints: [first, first], coefficients: [1, 2]}"),
         AT "tendon 'cable': joint 'first' twice; add its coefficients",
         {NULL}},
        {TENDON("{id: t, joints: [], coefficients: []}"), AT "joints: ", {"1 joint or more"}},
        {TENDON("{id: t, joints: [hip], coefficients: [1]}"), AT, {"'hip' is a ball joint; a tendon takes"}},
        {TENDON("{id: t, joints: [first]}"), AT, {"'coefficients' is missing"}},
        {TENDON("{id: t}"), AT, {"'joints' and 'path'"}},
        {TENDON("{id: t, path: [{body: world}, {body: crank}, {pulley: 2}, {body: rocker}]}"),
         AT "path: branch 2 has one point; a branch has 2 or more",
         {NULL}},
        {TENDON("{id: t, path: [{pulley: 2}]}"), AT "path: branch 1 has no points", {NULL}},
        {TENDON("{id: t, path: [{body: world}, {pulley: 0}]}"), AT "pulley: '0'", {"> 0"}},
        {TENDON("{id: strap, path: [{body: plate}, {body: rocker, point: [1, 0, 0]}]}"),
         AT "tendon 'strap': all points lie on 'rocker'; its length cannot change",
         {NULL}},
        {TENDON("{id: t, path: [{body: arm}, {body: rocker}]}"),
         AT "body: 'arm' is not a body; allowed: world, crank",
         {NULL}},
        {TENDON("{id: t, joints: [first], coefficients: [1], limit_lower: 2, limit_upper: 1}"),
         AT,
         {"limit_lower 2 is above limit_upper 1"}},
        {TENDON("{id: t, joints: [first], coefficients: [1], spring_lower: 2, spring_upper: 1}"),
         AT,
         {"spring_lower 2 is above spring_upper 1"}},
        {TENDON("{id: t, joints: [first], coefficients: [1], limit_kd: 1}"),
         AT "limit_kd: 1 with limit_ke inf",
         {NULL}},
        {TENDON("{id: t, joints: [first], coefficients: [1], friction: -1}"), AT "friction: '-1'", {NULL}},
        {TENDON("{id: t, joints: [first], coefficients: [1], spring_ke: .inf}"), AT "spring_ke: '.inf'", {"finite"}},
        {TENDON("{id: t, joints: [first], coefficients: [1], target_ke: .inf}"), AT "target_ke: '.inf'", {"finite"}},
        {TENDON("{id: t, joints: [first], coefficients: [1], armature: .inf}"), AT "armature: '.inf'", {"finite"}},
        {TENDON("{id: t, joints: [first], coefficients: [1], limit_ke: 0}"), AT "limit_ke: '0'", {"> 0, or inf"}});
}
