/* Scene files: bodies, their shapes and materials, and the pairs that do not collide. */
#include <math.h>
#include <stdio.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/scene_text.h"

Test(scene, applies_materials_from_builder_to_body_to_shape) {
    SapScene *scene = parse(HEAD "builder: {rigid_gap: 0.01, defaults: {shape: {mu: 0.1, ke: 1e3, tau: 0.5}}}\n"
                                 "bodies:\n"
                                 "- id: a\n"
                                 "  physics: {shape_mu: 0.2, contact_margin: 0.001}\n"
                                 "  relaxation_time: 0.25\n"
                                 "  hunt_crossley_dissipation: 7\n"
                                 "  shapes:\n"
                                 "  - {type: sphere, radius: 0.1}\n"
                                 "  - {type: sphere, radius: 0.1, cfg: {mu: 0.3, gap: 0.002, collision_group: -2}}\n"
                                 "  - {type: sphere, radius: 0.1, shape_ke: 2e3, is_visible: false, label: last}\n"
                                 "joints: [{id: j, type: free, child: a}]\n");
    const SapModelArrays *a = arrays_of(scene);
    const double mu[] = {0.2, 0.3, 0.2, 0.1}, ke[] = {1e3, 1e3, 2e3, 1e3}, tau[] = {0.25, 0.25, 0.25, 0.5};
    const double gap[] = {0.01, 0.002, 0.01, 0.01}, margin[] = {0.001, 0.001, 0.001, 0};
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(a->shape_material_mu[i], mu[i], "%d", i);
        cr_expect_eq(a->shape_material_ke[i], ke[i], "%d", i);
        cr_expect_eq(a->shape_material_tau[i], tau[i], "%d", i);
        cr_expect_eq(a->shape_material_dissipation[i], i < 3 ? 7 : 50, "%d", i);
        cr_expect_eq(a->shape_gap[i], gap[i], "%d", i);
        cr_expect_eq(a->shape_margin[i], margin[i], "%d", i);
    }
    cr_expect_eq(a->shape_collision_group[1], -2);
    cr_expect_eq(a->shape_flags[2], SAP_SHAPE_COLLIDES);
    cr_expect_str_eq(a->shape_name[2], "last");
    sap_scene_destroy(scene);
}

Test(scene, makes_sites_weightless_and_lets_shapes_pass) {
    SapScene *scene = parse(HEAD "bodies:\n"
                                 "- id: a\n"
                                 "  shapes:\n"
                                 "  - {type: box, hx: 0.5, hy: 0.5, hz: 0.5}\n"
                                 "  - {type: sphere, radius: 0.1, is_site: true, transform: {p: [1, 0, 0]}}\n"
                                 "  - {type: sphere, radius: 0.1, density: 0, has_shape_collision: false,\n"
                                 "     has_particle_collision: true, is_hydroelastic: false, restitution: 0}\n"
                                 "joints: [{id: j, type: free, child: a}]\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_expect_float_eq(a->body_mass[0], 1000, 1e-9);
    cr_expect_eq(a->body_com[0], 0);
    cr_expect_eq(a->shape_flags[0], SAP_SHAPE_VISIBLE | SAP_SHAPE_COLLIDES);
    cr_expect_eq(a->shape_flags[1], SAP_SHAPE_VISIBLE);
    cr_expect_eq(a->shape_flags[2], SAP_SHAPE_VISIBLE);
    sap_scene_destroy(scene);
}

Test(scene, compensates_gravity_of_a_body) {
    SapScene *scene = parse(HEAD "bodies:\n"
                                 "- {id: a, mass: 1, inertia: [1, 1, 1]}\n"
                                 "- {id: b, mass: 1, inertia: [1, 1, 1], gravcomp: 0.75}\n"
                                 "joints: [{id: ja, type: free, child: a}, {id: jb, type: free, child: b}]\n");
    cr_expect_eq(arrays_of(scene)->body_gravcomp[0], 0);
    cr_expect_eq(arrays_of(scene)->body_gravcomp[1], 0.75);
    sap_scene_destroy(scene);
}

Test(scene, turns_by_axis_and_angle) {
    SapScene *scene =
        parse(HEAD "bodies:\n"
                   "- {id: a, mass: 1, inertia: [1, 1, 1], transform: {q: {axis_angle: {axis: [0, 0.6, 0.8],"
                   " angle: pi / 3}}}}\n"
                   "- {id: b, mass: 1, inertia: [1, 1, 1], transform: {q: {axis_angle: {axis: [1, 1, 0],"
                   " angle: 0.4}}}}\n"
                   "joints: [{id: ja, type: free, child: a}, {id: jb, type: free, child: b}]\n");
    const double *q = arrays_of(scene)->joint_q;
    cr_expect_float_eq(q[3], 0, 1e-15);
    cr_expect_float_eq(q[4], 0.3, 1e-15);
    cr_expect_float_eq(q[5], 0.4, 1e-15);
    cr_expect_float_eq(q[6], sqrt(0.75), 1e-15);
    /* Not a unit axis: the quaternion is normalised, not the axis. */
    double length = sqrt(2 * sin(0.2) * sin(0.2) + cos(0.2) * cos(0.2));
    cr_expect_float_eq(q[10], sin(0.2) / length, 1e-15);
    cr_expect_float_eq(q[11], sin(0.2) / length, 1e-15);
    cr_expect_float_eq(q[13], cos(0.2) / length, 1e-15);
    sap_scene_destroy(scene);
}

Test(scene, adds_mass_of_body_and_shapes) {
    SapScene *scene = parse(HEAD "builder: {default_body_armature: 0.5}\n"
                                 "bodies:\n"
                                 "- {id: a, mass: 2, com: [1, 0, 0], inertia: [1, 2, 2.5], armature: 0}\n"
                                 "- {id: b, mass: 3, inertia: [[2, 0.1, 0], [0.1, 2, 0], [0, 0, 2]]}\n"
                                 "- {id: c, mass: 1000, com: [1, 0, 0], armature: 0,\n"
                                 "   shapes: [{type: box, hx: 0.5, hy: 0.5, hz: 0.5}]}\n"
                                 "joints:\n"
                                 "- {id: ja, type: free, child: a}\n"
                                 "- {id: jb, type: free, child: b}\n"
                                 "- {id: jc, type: free, child: c}\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_expect_eq(a->body_mass[0], 2);
    cr_expect_eq(a->body_com[0], 1);
    cr_expect_eq(a->body_inertia[4], 2);
    cr_expect_eq(a->body_inertia[9], 2.5, "armature is added to the diagonal");
    cr_expect_eq(a->body_inertia[10], 0.1);
    /* A point of 1000 kg one metre from the centre of a cube of 1000 kg: the reduced mass is 500 kg. */
    cr_expect_float_eq(a->body_mass[2], 2000, 1e-9);
    cr_expect_float_eq(a->body_com[6], 0.5, 1e-12);
    cr_expect_float_eq(a->body_inertia[18], 1000 / 6.0, 1e-9);
    cr_expect_float_eq(a->body_inertia[22], 1000 / 6.0 + 500, 1e-9);
    sap_scene_destroy(scene);
}

Test(scene, knows_every_shape_and_its_sizes) {
    SapScene *scene = parse(HEAD "bodies:\n"
                                 "- id: a\n"
                                 "  shapes:\n"
                                 "  - {type: box, hx: 1, hy: 2, hz: 3}\n"
                                 "  - {type: sphere, radius: 1}\n"
                                 "  - {type: capsule, radius: 1, half_height: 2}\n"
                                 "  - {type: cylinder, radius: 1, half_height: 2}\n"
                                 "  - {type: cone, radius: 1, half_height: 2}\n"
                                 "  - {type: ellipsoid, a: 1, b: 2, c: 3, xform: {p: [1, 2, 3], q: [0, 0, 0.6, 0.8]}}\n"
                                 "joints: [{id: j, type: free, child: a}]\n");
    const SapModelArrays *a = arrays_of(scene);
    const int32_t types[] = {SAP_SHAPE_BOX,      SAP_SHAPE_SPHERE, SAP_SHAPE_CAPSULE,
                             SAP_SHAPE_CYLINDER, SAP_SHAPE_CONE,   SAP_SHAPE_ELLIPSOID};
    const double scales[][3] = {{1, 2, 3}, {1, 0, 0}, {1, 2, 0}, {1, 2, 0}, {1, 2, 0}, {1, 2, 3}};
    for (int i = 0; i < 6; i++) {
        cr_expect_eq(a->shape_type[i], types[i]);
        cr_expect_arr_eq(&a->shape_scale[3 * i], scales[i], sizeof scales[i]);
    }
    cr_expect_float_eq(a->shape_transform[5 * 7 + 5], 0.6, 1e-15);
    cr_expect_eq(a->shape_transform[5 * 7 + 1], 2);
    sap_scene_destroy(scene);
}

Test(scene, puts_planes_where_they_are_told) {
    SapScene *scene =
        parse(HEAD BALL FREE "ground: false\n"
                             "post_build: [{op: add_shape, type: plane, transform: {p: [0, 0, -0.1]}, mu: 0.3},\n"
                             "             {op: add_shape, type: plane, hx: 2, hy: 0}]\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_expect_eq(a->num_shapes, 3);
    cr_expect(a->shape_scale[3] == 0 && a->shape_scale[6] == 2 && a->shape_scale[7] == 0, "its extents, 0 = endless");
    cr_expect_eq(a->shape_type[1], SAP_SHAPE_PLANE);
    cr_expect_eq(a->shape_body[1], -1);
    cr_expect_eq(a->shape_transform[7 + 2], -0.1);
    cr_expect_eq(a->shape_material_mu[1], 0.3);
    sap_scene_destroy(scene);
}

/* ---- names ---- */

/* The table of names grows several times. */
Test(scene, finds_each_of_many_bodies_by_its_name) {
    enum { BODIES = 300, LINE = 64 };
    static char text[2 * BODIES * LINE];
    int length = snprintf(text, sizeof text, HEAD "bodies:\n");
    for (int i = 0; i < BODIES; i++)
        length += snprintf(text + length, LINE, "- {id: b%d, mass: 1, inertia: [1, 1, 1]}\n", i);
    length += snprintf(text + length, LINE, "joints:\n");
    for (int i = 0; i < BODIES; i++)
        length += snprintf(text + length, LINE, "- {id: j%d, type: free, parent: world, child: b%d}\n", i, i);
    SapScene *scene = parse(text);
    for (int i = 0; i < BODIES; i++)
        cr_expect_eq(arrays_of(scene)->joint_child[i], i);
    sap_scene_destroy(scene);
}

/* ---- collision filters ---- */

Test(scene, collision_filters_name_bodies_or_shapes) {
    SapScene *scene =
        parse(HEAD "ground: {label: floor}\nbodies:\n"
                   "- {id: a, shapes: [{type: sphere, radius: 1, label: one}]}\n"
                   "- {id: b, shapes: [{type: sphere, radius: 1, label: two}]}\n"
                   "joints: [{id: j, type: free, child: a}, {id: k, type: free, child: b}]\n"
                   "collision_filters: [{bodies: [b, a]}, {shapes: [floor, two]}, {shapes: [one, two]}]\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_assert(a->num_filter_pairs == 1 && a->num_shape_filter_pairs == 2);
    cr_expect(a->body_filter_pairs[0] == 1 && a->body_filter_pairs[1] == 0);
    cr_expect(a->shape_filter_pairs[0] == 2 && a->shape_filter_pairs[1] == 1);
    cr_expect(a->shape_filter_pairs[2] == 0 && a->shape_filter_pairs[3] == 1);
    sap_scene_destroy(scene);
}

Test(scene, refuses_wrong_collision_filters) {
    EXPECT_FAILURES(
        {CHAIN "collision_filters: [a]\n", "scene.yaml:10: collision_filters[0]: ", {"'a'", "bodies or shapes"}},
        {CHAIN "collision_filters: [{}]\n", "scene.yaml:10: collision_filters[0]: ", {"'bodies' and 'shapes'"}},
        {CHAIN "collision_filters: [{bodies: [a, b], shapes: [a, b]}]\n",
         "scene.yaml:10: collision_filters[0]: ",
         {"not both"}},
        {CHAIN "collision_filters: [{bodies: [a]}]\n", "scene.yaml:10: bodies: ", {"2 bodies"}},
        {CHAIN "collision_filters: [{bodies: [a, moon]}]\n", "scene.yaml:10: bodies[1]: ", {"'moon'"}},
        {CHAIN "collision_filters: [{bodies: [a, world]}]\n", "scene.yaml:10: bodies[1]: ", {"'world'"}},
        {CHAIN "collision_filters: [{shapes: [a, b, c]}]\n", "scene.yaml:10: shapes: ", {"2 shapes"}},
        {CHAIN "collision_filters: [{shapes: [moon, DEFAULT_GROUND]}]\n",
         "scene.yaml:10: shapes[0]: ",
         {"'moon'", "label of a shape"}},
        {HEAD "bodies: [{id: ball, shapes: [{type: sphere, radius: 0.1, label: x}, {type: sphere, radius: 1, label: "
              "x}]}]\n" FREE "collision_filters: [{shapes: [x, DEFAULT_GROUND]}]\n",
         "scene.yaml:4: shapes[0]: ",
         {"'x'", "only one shape"}}, );
}
