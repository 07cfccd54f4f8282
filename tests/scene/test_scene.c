/* Scene files: the models they give, and the messages when they cannot. */
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/model/model.h"
#include "support/reference.h"

#define SCENES     SAPWOOD_SHARED_DIR "/reference/scenes/"
#define OUR_SCENES SAPWOOD_SOURCE_DIR "/bench/scenes/"

static SapScene *load(const char *path) {
    SapScene *scene;
    SapStatus status = sap_scene_load(path, &scene);
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
    return scene;
}

static SapScene *parse(const char *text) {
    SapScene *scene;
    SapStatus status = sap_scene_parse(text, strlen(text), "scene.yaml", &scene);
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
    return scene;
}

static const SapModelArrays *arrays_of(const SapScene *scene) {
    return sap_model_arrays(scene->model);
}

/* Parts of scenes: a header, one free ball, a revolute and a prismatic joint in a row. */
#define HEAD "schema_version: 1\n"
#define BALL "bodies: [{id: ball, shapes: [{type: sphere, radius: 0.1}]}]\n"
#define FREE "joints: [{id: ball_free, type: free, parent: world, child: ball}]\n"
#define CHAIN                                                                                                          \
    HEAD "bodies:\n"                                                                                                   \
         "- {id: a, shapes: [{type: sphere, radius: 0.1}]}\n"                                                          \
         "- {id: b, shapes: [{type: sphere, radius: 0.1}, {type: box, hx: 0.1, hy: 0.1, hz: 0.1}]}\n"                  \
         "- {id: c, shapes: [{type: sphere, radius: 0.1}], transform: {p: [1, 2, 3]}}\n"                               \
         "joints:\n"                                                                                                   \
         "- {id: turn, label: arm/turn, type: revolute, parent: world, child: a, axis: z}\n"                           \
         "- {id: push, label: arm/push, type: prismatic, parent: a, child: b, axis: x}\n"                              \
         "- {id: fly, type: free, parent: world, child: c}\n"

/* ---- against the reference ---- */

/* Stored quaternions of free joints may lack unit length: SAP Warp normalises them when it reads them, we when we write. */
static void normalise_quaternions(const SapModelArrays *arrays, double *joint_q) {
    for (int j = 0; j < arrays->num_joints; j++) {
        double *q = &joint_q[arrays->joint_q_start[j] + 3];
        if (arrays->joint_type[j] != SAP_JOINT_FREE)
            continue;
        double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int i = 0; i < 4; i++)
            q[i] /= length;
    }
}

static void expect_field(const char *scene, const SapModelArrays *arrays, const SapModelField *field,
                         const json_t *expected) {
    size_t count, own = (size_t)sap_model_rows(arrays, field->rows) * (size_t)field->columns;
    double *values = reference_doubles(expected, &count);
    cr_assert_eq(count, own, "%s: %s has %zu numbers, not %zu", scene, field->name, own, count);
    if (strcmp(field->name, "joint_q") == 0)
        normalise_quaternions(arrays, values);
    const void *data = sap_model_field_get(arrays, field);
    for (size_t i = 0; i < count; i++) {
        double value = field->element == SAP_ELEMENT_I32 ? ((const int32_t *)data)[i] : ((const double *)data)[i];
        /* The reference was stored in single precision. */
        cr_expect_float_eq(value, values[i], 1e-6 * fabs(values[i]) + 1e-9, "%s: %s[%zu] is %.9g, not %.9g", scene,
                           field->name, i, value, values[i]);
    }
    free(values);
}

static void expect_names(const char *scene, const json_t *expected, const char *const *names, int count) {
    cr_assert_eq((int)json_array_size(expected), count);
    for (int i = 0; i < count; i++)
        cr_expect_str_eq(names[i], json_string_value(json_array_get(expected, (size_t)i)), "%s", scene);
}

/* Compares every array that the reference has; returns how many these are. */
static int expect_model(const char *scene, const SapModelArrays *arrays, const json_t *model) {
    int compared = 0;
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++) {
        const json_t *expected = json_object_get(model, sap_model_fields[i].name);
        if (expected == NULL)
            continue;
        expect_field(scene, arrays, &sap_model_fields[i], expected);
        compared++;
    }
    size_t count;
    double *gravity = reference_doubles(json_object_get(model, "gravity"), &count);
    cr_assert_eq(count, 3);
    for (int i = 0; i < 3; i++)
        cr_expect_float_eq(arrays->gravity[i], gravity[i], 1e-6);
    free(gravity);
    return compared;
}

static const char *const reference_scenes[] = {"arm3",      "box_slide", "cube_tumble", "gripper",
                                               "quadruped", "spheres",   "stack3"};
enum { NUM_REFERENCE_SCENES = sizeof reference_scenes / sizeof *reference_scenes };

Test(scene, of_the_reference_gives_the_stored_model) {
    if (!reference_available())
        cr_skip_test("needs ../shared/reference");
    for (int i = 0; i < NUM_REFERENCE_SCENES; i++) {
        const char *name = reference_scenes[i];
        char path[512];
        snprintf(path, sizeof path, SCENES "%s.yaml", name);
        SapScene *scene = load(path);
        const SapModelArrays *arrays = arrays_of(scene);
        cr_expect_str_eq(arrays->name, name);
        snprintf(path, sizeof path, "sap_warp/%s.approx64.monotone_decay.json.gz", name);
        json_t *root = reference_load(path);
        const json_t *model = json_object_get(root, "model");
        cr_expect_geq(expect_model(name, arrays, model), 30);
        expect_names(name, json_object_get(model, "body_label"), arrays->body_name, arrays->num_bodies);
        expect_names(name, json_object_get(model, "joint_label"), arrays->joint_name, arrays->num_joints);
        expect_names(name, json_object_get(model, "shape_label"), arrays->shape_name, arrays->num_shapes);
        cr_expect_float_eq(scene->dt, json_number_value(json_object_get(root, "dt")), 1e-12);
        cr_expect_eq(scene->options.max_rigid_contact, json_integer_value(json_object_get(root, "max_rigid_contact")));
        json_decref(root);
        snprintf(path, sizeof path, "f64/%s.json.gz", name);
        root = reference_load(path);
        cr_expect_geq(expect_model(name, arrays, json_object_get(root, "model")), 20);
        json_decref(root);
        sap_scene_destroy(scene);
    }
}

Test(scene, of_the_drake_comparison_loads_with_its_preset) {
    if (!reference_available())
        cr_skip_test("needs ../shared/reference");
    const char *const names[] = {"drake_quadruped", "drake_skid", "drake_sphere_roll"};
    for (int i = 0; i < 3; i++) {
        char path[512];
        snprintf(path, sizeof path, SCENES "%s.yaml", names[i]);
        SapScene *scene = load(path);
        cr_expect_eq(scene->options.contact_weight_mode, SAP_DIAG_DELASSUS);
        cr_expect_eq(scene->options.position_integration, SAP_EULER);
        cr_expect_eq(scene->options.line_search_variant, SAP_EXACT_ROOT);
        cr_expect_eq(arrays_of(scene)->shape_gap[0], 0);
        sap_scene_destroy(scene);
    }
}

/* ---- our own scenes ---- */

Test(scene, in_bench_loads_and_has_the_size_it_says) {
    const struct {
        const char *name;
        int bodies, dofs, shapes;
        double mass; /* kg, to a tenth */
    } expected[] = {
        {"cube", 1, 6, 2, 1},           {"stack5", 5, 30, 6, 5},           {"arm3", 3, 3, 5, 4.5},
        {"gripper", 4, 9, 5, 0.8},      {"quadruped", 13, 18, 18, 13.6},   {"cartpole", 2, 2, 2, 3.2},
        {"humanoid", 10, 23, 14, 64.3}, {"double_pendulum", 2, 2, 2, 1.3},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char path[512];
        snprintf(path, sizeof path, OUR_SCENES "%s.yaml", expected[i].name);
        SapScene *scene = load(path);
        const SapModelArrays *arrays = arrays_of(scene);
        double mass = 0;
        for (int b = 0; b < arrays->num_bodies; b++)
            mass += arrays->body_mass[b];
        cr_expect_str_eq(arrays->name, expected[i].name);
        cr_expect_eq(arrays->num_bodies, expected[i].bodies, "%s", path);
        cr_expect_eq(arrays->num_dofs, expected[i].dofs, "%s", path);
        cr_expect_eq(arrays->num_shapes, expected[i].shapes, "%s", path);
        cr_expect_float_eq(mass, expected[i].mass, 0.1, "%s: %g kg", path, mass);
        sap_scene_destroy(scene);
    }
}

/* ---- what a scene says when it says nothing ---- */

Test(scene, has_the_documented_defaults) {
    SapScene *scene = parse(HEAD BALL FREE);
    const SapModelArrays *a = arrays_of(scene);
    cr_expect_eq(scene->dt, 0.005);
    cr_expect_eq(scene->num_worlds, 1);
    cr_expect_eq(scene->options.max_rigid_contact, 128);
    cr_expect_eq(scene->options.free_motion_solve_precision, SAP_FP32);
    cr_expect_eq(a->gravity[2], -9.81);
    cr_expect_eq(a->num_shapes, 2);
    cr_expect_str_eq(a->shape_name[1], "DEFAULT_GROUND");
    cr_expect_eq(a->shape_type[1], SAP_SHAPE_PLANE);
    cr_expect_eq(a->shape_body[1], -1);
    cr_expect_float_eq(a->body_mass[0], 4.18879, 1e-5);
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(a->shape_material_ke[i], 1e5);
        cr_expect_eq(a->shape_material_tau[i], 0.01);
        cr_expect_eq(a->shape_material_mu[i], 0.5);
        cr_expect_eq(a->shape_gap[i], 0);
        cr_expect_eq(a->shape_margin[i], 0);
        cr_expect_eq(a->shape_collision_group[i], 1);
        cr_expect_eq(a->shape_flags[i], SAP_SHAPE_VISIBLE | SAP_SHAPE_COLLIDES);
    }
    cr_expect_eq(a->joint_effort_limit[0], 1e6);
    cr_expect_eq(a->joint_limit_ke[0], 0);
    cr_expect_eq(a->num_articulations, 1);
    sap_scene_destroy(scene);
}

Test(scene, reads_simulation_and_replicate) {
    SapScene *scene =
        parse(HEAD BALL FREE "simulation:\n"
                             "  dt: 1 / 500\n"
                             "  max_rigid_contact: 8 * 4\n"
                             "  solver: {rho: 0.5, free_motion_solve_precision: fp64, cost_abs_tol: null,\n"
                             "           Contact-Preset-Variant: approx32, max_iterations: 1e2}\n"
                             "replicate: {num_worlds: 64, spacing: [2, 1.5, 0]}\n");
    cr_expect_eq(scene->dt, 0.002);
    cr_expect_eq(scene->num_worlds, 64);
    cr_expect_eq(scene->spacing[1], 1.5);
    cr_expect_eq(scene->options.max_rigid_contact, 32);
    cr_expect_eq(scene->options.rho, 0.5);
    cr_expect_eq(scene->options.max_iterations, 100);
    cr_expect(isnan(scene->options.cost_abs_tol));
    cr_expect_eq(scene->options.free_motion_solve_precision, SAP_FP64,
                 "the preset must not win over a value before it");
    cr_expect_eq(scene->options.contact_linear_solve_precision, SAP_FP32);
    sap_scene_destroy(scene);
}

Test(scene, reads_gravity_as_a_number_or_a_vector) {
    SapScene *scene = parse(HEAD BALL FREE "builder: {gravity: [1, -2, 3], up_axis: z}\n");
    cr_expect_eq(arrays_of(scene)->gravity[0], 1);
    cr_expect_eq(arrays_of(scene)->gravity[1], -2);
    sap_scene_destroy(scene);
    scene = parse(HEAD BALL FREE "builder: {gravity: -1.62}\n");
    cr_expect_eq(arrays_of(scene)->gravity[0], 0);
    cr_expect_eq(arrays_of(scene)->gravity[2], -1.62);
    sap_scene_destroy(scene);
}

Test(scene, leaves_the_ground_out_or_gives_it_a_material) {
    SapScene *scene = parse(HEAD BALL FREE "ground: false\n");
    cr_expect_eq(arrays_of(scene)->num_shapes, 1);
    sap_scene_destroy(scene);
    scene = parse(HEAD BALL FREE "ground: {enabled: no}\n");
    cr_expect_eq(arrays_of(scene)->num_shapes, 1);
    sap_scene_destroy(scene);
    scene = parse(HEAD BALL FREE "ground: {label: floor, mu: 0.9, cfg: {ke: inf, mu: 0.1}}\n");
    cr_expect_str_eq(arrays_of(scene)->shape_name[1], "floor");
    cr_expect_eq(arrays_of(scene)->shape_material_mu[1], 0.9, "a direct key wins over cfg");
    cr_expect_eq(arrays_of(scene)->shape_material_ke[1], INFINITY);
    cr_expect_eq(arrays_of(scene)->shape_material_mu[0], 0.5);
    sap_scene_destroy(scene);
}

/* ---- bodies and shapes ---- */

Test(scene, applies_materials_from_builder_to_body_to_shape) {
    SapScene *scene = parse(HEAD "builder: {rigid_gap: 0.01, defaults: {shape: {mu: 0.1, ke: 1e3, tau: 0.5}}}\n"
                                 "bodies:\n"
                                 "- id: a\n"
                                 "  physics: {shape_mu: 0.2, contact_margin: 0.001}\n"
                                 "  relaxation_time: 0.25\n"
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
                             "post_build: [{op: add_shape, type: plane, transform: {p: [0, 0, -0.1]}, mu: 0.3}]\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_expect_eq(a->num_shapes, 2);
    cr_expect_eq(a->shape_type[1], SAP_SHAPE_PLANE);
    cr_expect_eq(a->shape_body[1], -1);
    cr_expect_eq(a->shape_transform[7 + 2], -0.1);
    cr_expect_eq(a->shape_material_mu[1], 0.3);
    sap_scene_destroy(scene);
}

/* ---- joints ---- */

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

/* ---- post_build ---- */

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

/* ---- YAML, JSON, files ---- */

Test(scene, in_json_is_the_same_as_in_yaml) {
    SapScene *yaml = parse("schema_version: 1\n"
                           "name: twin\n"
                           "builder:\n"
                           "  gravity: -9.81\n"
                           "bodies:\n"
                           "- id: a\n"
                           "  transform:\n"
                           "    p: [0, 0, 1]\n"
                           "    q: identity\n"
                           "  shapes:\n"
                           "  - type: box\n"
                           "    hx: 0.1\n"
                           "    hy: 0.2\n"
                           "    hz: 0.3\n"
                           "    cfg:\n"
                           "      has_shape_collision: false\n"
                           "joints:\n"
                           "- id: j\n"
                           "  type: revolute\n"
                           "  parent: world\n"
                           "  child: a\n"
                           "  axis: [0, 1, 0]\n"
                           "  limit_lower: -1.5e+0\n");
    SapScene *json = parse("{\n"
                           "\t\"schema_version\": 1, \"name\": \"twin\",\n"
                           "\t\"builder\": {\"gravity\": -9.81},\n"
                           "\t\"bodies\": [{\"id\": \"a\", \"transform\": {\"p\": [0, 0, 1], \"q\": \"identity\"},\n"
                           "\t\t\"shapes\":[{\"type\":\"box\",\"hx\":0.1,\"hy\":0.2,\"hz\":0.3,\n"
                           "\t\t\t\"cfg\": {\"has_shape_collision\": false}}]}],\n"
                           "\t\"joints\": [{\"id\": \"j\", \"type\": \"revolute\", \"parent\": \"world\",\n"
                           "\t\t\"child\": \"a\", \"axis\": [0, 1, 0], \"limit_lower\": -1.5e+0}]\n"
                           "}\n");
    const char *difference = sap_model_difference(yaml->model, json->model);
    cr_expect_null(difference, "they differ in %s", difference);
    sap_scene_destroy(yaml);
    sap_scene_destroy(json);
}

Test(scene, does_not_depend_on_the_locale) {
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL && setlocale(LC_ALL, "fr_FR.UTF-8") == NULL)
        cr_skip_test("needs a locale with a decimal comma");
    SapScene *scene = parse(HEAD BALL FREE "simulation: {dt: 0.25, solver: {rho: 0.125}}\n");
    cr_expect_eq(scene->dt, 0.25);
    cr_expect_eq(scene->options.rho, 0.125);
    sap_scene_destroy(scene);
}

Test(scene, gives_its_model_alone) {
    SapModel *model;
    cr_assert_eq(sap_model_load(OUR_SCENES "cube.yaml", &model), SAP_OK, "%s", sap_error_message());
    cr_expect_eq(sap_model_arrays(model)->num_bodies, 1);
    sap_model_destroy(model);
    sap_scene_destroy(NULL);
}

Test(scene, that_cannot_be_read_is_an_error_with_its_name) {
    SapScene *scene = (SapScene *)&scene;
    cr_expect_eq(sap_scene_load("/no/such/scene.yaml", &scene), SAP_ERROR_IO);
    cr_expect_null(scene);
    cr_expect(strncmp(sap_error_message(), "/no/such/scene.yaml: cannot be opened", 37) == 0, "%s",
              sap_error_message());
    cr_expect_eq(sap_scene_load(OUR_SCENES, &scene), SAP_ERROR_IO);
    cr_expect_eq(sap_scene_load("/dev/zero", &scene), SAP_ERROR_PARSE, "a file without end");
    cr_expect_eq(sap_scene_load(NULL, &scene), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_scene_load("x", NULL), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_scene_parse(NULL, 0, "x", &scene), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_scene_parse("", 0, NULL, &scene), SAP_ERROR_ARGUMENT);
    SapModel *model = (SapModel *)&model;
    cr_expect_eq(sap_model_load("/no/such/scene.yaml", &model), SAP_ERROR_IO);
    cr_expect_null(model);
}

/* ---- errors ---- */

typedef struct Failure {
    const char *text;
    const char *start;    /* of the message, with the line */
    const char *parts[3]; /* found in it: the key, the value, what is allowed */
} Failure;

static void expect_failures_with(SapStatus expected, const Failure *failures, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const Failure *failure = &failures[i];
        SapScene *scene = (SapScene *)&scene;
        SapStatus status = sap_scene_parse(failure->text, strlen(failure->text), "scene.yaml", &scene);
        const char *message = sap_error_message();
        cr_expect_eq(status, expected, "%s\n%s: %s", failure->text, sap_status_string(status), message);
        cr_expect_null(scene);
        if (status == SAP_OK) {
            sap_scene_destroy(scene);
            continue;
        }
        cr_expect(strncmp(message, failure->start, strlen(failure->start)) == 0, "%s\n'%s' does not begin with '%s'",
                  failure->text, message, failure->start);
        for (int k = 0; k < 3 && failure->parts[k] != NULL; k++)
            cr_expect(strstr(message, failure->parts[k]) != NULL, "%s\n'%s' does not have '%s'", failure->text, message,
                      failure->parts[k]);
    }
}

#define EXPECT_FAILURES(...)                                                                                           \
    expect_failures_with(SAP_ERROR_PARSE, (const Failure[]){__VA_ARGS__},                                              \
                         sizeof((const Failure[]){__VA_ARGS__}) / sizeof(Failure))
#define EXPECT_UNSUPPORTED(...)                                                                                        \
    expect_failures_with(SAP_ERROR_UNSUPPORTED, (const Failure[]){__VA_ARGS__},                                        \
                         sizeof((const Failure[]){__VA_ARGS__}) / sizeof(Failure))

Test(scene, refuses_unknown_keys_and_lists_the_known_ones) {
    EXPECT_FAILURES({HEAD "bodys: []\n", "scene.yaml:2: ", {"'bodys'", "allowed: ", "bodies"}},
                    {HEAD "simulation: {dt: 1,\n  step: 2}\n", "scene.yaml:3: ", {"'step'", "num_worlds"}},
                    {HEAD "builder:\n  defaults:\n    shape: {nu: 1}\n", "scene.yaml:4: ", {"'nu'", "relaxation_time"}},
                    {HEAD "builder: {defaults: {joint: {damp: 1}}}\n", "scene.yaml:2: ", {"'damp'", "damping"}},
                    {HEAD "bodies:\n- id: a\n  weight: 2\n", "scene.yaml:4: ", {"'weight'", "mass"}},
                    {HEAD "bodies:\n- {id: a, shapes: [{type: box, hx: 1, hy: 1, hz: 1,\n  radius: 2}]}\n",
                     "scene.yaml:4: ",
                     {"'radius'", "hx, hy, hz"}},
                    {HEAD BALL "joints: [{id: j, type: fixed, parent: world, child: ball, axis: x}]\n",
                     "scene.yaml:3: ",
                     {"'axis'", "parent_xform"}},
                    {HEAD BALL "joints: [{id: j, type: free, child: ball, limit_ke: 1}]\n",
                     "scene.yaml:3: ",
                     {"'limit_ke'", "armature"}},
                    {HEAD BALL FREE "ground: {height: 1}\n", "scene.yaml:4: ", {"'height'", "enabled"}},
                    {HEAD BALL FREE "replicate: {count: 2}\n", "scene.yaml:4: ", {"'count'", "spacing"}},
                    {HEAD BALL FREE "initial_joint_q: [{joint: j, q: 1}]\n", "scene.yaml:4: ", {"'q'", "offset"}},
                    {HEAD BALL FREE "post_build:\n- {op: set_attr, key: x}\n", "scene.yaml:5: ", {"'key'", "attr"}},
                    {HEAD BALL FREE "simulation: {solver: {speed: 1}}\n", "scene.yaml:4: ", {"speed", "rho"}},
                    {HEAD BALL FREE "simulation: {solver: {speed: null}}\n", "scene.yaml:4: ", {"speed"}},
                    {HEAD BALL FREE "<<: {a: 1}\n", "scene.yaml:4: ", {"'<<'"}}, );
}

/* All of a file, to be freed. */
static char *read_all(const char *path) {
    enum { SIZE = 1 << 16 };
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    char *text = malloc(SIZE);
    size_t length = fread(text, 1, SIZE - 1, file);
    cr_assert_lt(length, SIZE - 1);
    text[length] = '\0';
    fclose(file);
    return text;
}

/* Every key that is listed as allowed when a wrong one is met stands in the page as `key`. */
static void expect_documented(const char *page, const char *text) {
    SapScene *scene;
    cr_expect_eq(sap_scene_parse(text, strlen(text), "scene.yaml", &scene), SAP_ERROR_PARSE);
    char *list = strdup(sap_error_message());
    char *key = strstr(list, "allowed: ");
    cr_assert_not_null(key, "%s", list);
    int count = 0;
    for (key = strtok(key + strlen("allowed: "), ", "); key != NULL; key = strtok(NULL, ", "), count++) {
        char quoted[128];
        snprintf(quoted, sizeof quoted, "`%s`", key);
        cr_expect_not_null(strstr(page, quoted), "docs/scene.md does not mention %s", quoted);
    }
    cr_expect_geq(count, 2);
    free(list);
}

Test(scene, has_a_page_that_mentions_every_key) {
    char *page = read_all(SAPWOOD_SOURCE_DIR "/docs/scene.md");
    const char *const texts[] = {
        "zzz: 1",
        HEAD "simulation: {zzz: 1}",
        HEAD "replicate: {zzz: 1}",
        HEAD "builder: {zzz: 1}",
        HEAD BALL FREE "ground: {zzz: 1}",
        HEAD "bodies: [{zzz: 1}]",
        HEAD "bodies: [{id: a, transform: {zzz: 1}}]",
        HEAD "bodies: [{id: a, transform: {q: {axis_angle: {zzz: 1}}}}]",
        HEAD "bodies: [{id: a, shapes: [{type: box, zzz: 1}]}]",
        HEAD "bodies: [{id: a, shapes: [{type: capsule, zzz: 1}]}]",
        HEAD "bodies: [{id: a, shapes: [{type: ellipsoid, zzz: 1}]}]",
        HEAD BALL "joints: [{type: revolute, zzz: 1}]",
        HEAD BALL "joints: [{type: d6, zzz: 1}]",
        HEAD BALL FREE "articulations: [{zzz: 1}]",
        HEAD BALL FREE "initial_joint_q: [{zzz: 1}]",
        HEAD BALL FREE "post_build: [{op: zzz}]",
        HEAD BALL FREE "post_build: [{op: set_array, zzz: 1}]",
        HEAD BALL FREE "post_build: [{op: set_array, array: zzz}]",
        HEAD BALL FREE "post_build: [{op: copy_array, zzz: 1}]",
        HEAD BALL FREE "post_build: [{op: set_attr, zzz: 1}]",
        HEAD BALL FREE "post_build: [{op: set_joint_targets, zzz: 1}]",
        HEAD BALL FREE "post_build: [{op: set_joint_armature, zzz: 1}]",
        HEAD BALL FREE "post_build: [{op: add_shape, type: box, zzz: 1}]",
        HEAD BALL FREE "post_build: [{op: scale_sphere_shapes, zzz: 1}]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_documented(page, texts[i]);
    const char *start = strstr(page, "```yaml\n");
    cr_assert_not_null(start);
    char *example = strdup(start + strlen("```yaml\n"));
    *strstr(example, "```") = '\0';
    sap_scene_destroy(parse(example));
    free(example);
    free(page);
}

Test(scene, refuses_a_wrong_schema_version) {
    EXPECT_FAILURES({"name: x\n", "scene.yaml:1: ", {"'schema_version' is missing"}},
                    {"schema_version: one\n", "scene.yaml:1: schema_version: ", {"'one'"}}, );
    EXPECT_UNSUPPORTED({"name: x\nschema_version: 2\n", "scene.yaml:2: schema_version: 2", {"allowed: 1"}}, );
}

Test(scene, refuses_what_is_not_a_map_or_list) {
    EXPECT_FAILURES({"[1, 2]\n", "scene.yaml:1: ", {"a list", "allowed: a map"}},
                    {"just text\n", "scene.yaml:1: ", {"'just text'"}}, {"", "scene.yaml:1: ", {"empty"}},
                    {HEAD "bodies: {id: a}\n", "scene.yaml:2: bodies: ", {"a map", "allowed: a list"}},
                    {HEAD "bodies: [3]\n", "scene.yaml:2: bodies[0]: ", {"'3'", "a map"}},
                    {HEAD "joints: 3\n", "scene.yaml:2: joints: ", {"'3'", "a list"}},
                    {HEAD "builder: [1]\n", "scene.yaml:2: builder: ", {"a list", "a map"}},
                    {HEAD "simulation: fast\n", "scene.yaml:2: simulation: ", {"'fast'", "a map"}},
                    {HEAD BALL FREE "simulation: {solver: 3}\n", "scene.yaml:4: solver: ", {"'3'", "a map"}},
                    {HEAD BALL FREE "simulation: {solver: {rho: [1]}}\n", "scene.yaml:4: rho: ", {"a list"}},
                    {HEAD BALL FREE "ground: 7\n", "scene.yaml:4: ground: ", {"'7'", "true, false or a map"}},
                    {HEAD "name: [x]\n", "scene.yaml:2: name: ", {"a list", "a text"}}, );
}

Test(scene, refuses_numbers_that_are_none_or_out_of_range) {
    EXPECT_FAILURES(
        {HEAD "simulation:\n  dt: soon\n", "scene.yaml:3: dt: ", {"'soon'", "column 1", "> 0"}},
        {HEAD "simulation:\n  dt: 1 / 0\n", "scene.yaml:3: dt: ", {"'1 / 0'", "column 5", "division by zero"}},
        {HEAD "simulation:\n  dt: -1\n", "scene.yaml:3: dt: ", {"'-1'", "a finite number > 0"}},
        {HEAD "simulation:\n  dt: .inf\n", "scene.yaml:3: dt: ", {"'.inf'", "finite"}},
        {HEAD "simulation:\n  dt: .nan\n", "scene.yaml:3: dt: ", {"'.nan'", "finite"}},
        {HEAD "simulation:\n  dt:\n", "scene.yaml:3: dt: ", {"null"}},
        {HEAD "simulation: {num_worlds: 0}\n", "scene.yaml:2: num_worlds: ", {"'0'", "from 1 to 16777216"}},
        {HEAD "simulation: {num_worlds: 1e30}\n", "scene.yaml:2: num_worlds: ", {"'1e30'"}},
        {HEAD "simulation: {num_worlds: 1.5}\n", "scene.yaml:2: num_worlds: ", {"'1.5'", "whole number"}},
        {HEAD BALL FREE "simulation: {max_rigid_contact: 0}\n", "scene.yaml:4: max_rigid_contact: ", {"65535"}},
        {HEAD BALL FREE "simulation: {solver: {rho: 2}}\n", "scene.yaml:4: rho: ", {"2"}},
        {HEAD BALL FREE "simulation: {solver: {contact_preset_variant: best}}\n",
         "scene.yaml:4: contact_preset_variant: ",
         {"best", "approx32"}},
        {HEAD "builder: {rigid_gap: -1}\n", "scene.yaml:2: rigid_gap: ", {"'-1'", ">= 0"}},
        {HEAD "builder: {gravity: [0, 0]}\n", "scene.yaml:2: gravity: ", {"a list of 2", "3 numbers"}},
        {HEAD "builder: {gravity: [0, 0, inf]}\n", "scene.yaml:2: gravity[2]: ", {"'inf'", "finite"}},
        {HEAD "bodies: [{id: a, shapes: [{type: sphere, radius: 0}]}]\n", "scene.yaml:2: radius: ", {"'0'", "> 0"}},
        {HEAD "bodies: [{id: a, mass: -2}]\n", "scene.yaml:2: mass: ", {"'-2'", ">= 0"}},
        {HEAD "bodies: [{id: a, mu: -1}]\n", "scene.yaml:2: mu: ", {"'-1'", ">= 0"}},
        {HEAD "bodies: [{id: a, ke: 0}]\n", "scene.yaml:2: ke: ", {"'0'", "> 0"}},
        {HEAD "bodies: [{id: a, collision_group: 0.5}]\n", "scene.yaml:2: collision_group: ", {"'0.5'", "whole"}},
        {HEAD "bodies: [{id: a, is_site: 1}]\n", "scene.yaml:2: is_site: ", {"'1'", "true or false"}},
        {HEAD BALL FREE "replicate: {spacing: 2}\n", "scene.yaml:4: spacing: ", {"'2'", "3 numbers"}}, );
}

Test(scene, refuses_wrong_poses_and_axes) {
    EXPECT_FAILURES(
        {HEAD "bodies: [{id: a, transform: up}]\n", "scene.yaml:2: transform: ", {"'up'", "identity"}},
        {HEAD "bodies: [{id: a, transform: {p: [0, 0, 0],\n  r: 1}}]\n", "scene.yaml:3: ", {"'r'", "p, q"}},
        {HEAD "bodies: [{id: a, transform: {p: [0, x, 0]}}]\n", "scene.yaml:2: p[1]: ", {"'x'"}},
        {HEAD "bodies: [{id: a, transform: {q: [0, 0, 0, 2]}}]\n", "scene.yaml:2: q: ", {"length 2", "1e-06"}},
        {HEAD "bodies: [{id: a, transform: {q: [0, 0, 0, 0]}}]\n", "scene.yaml:2: q: ", {"length 0"}},
        {HEAD "bodies: [{id: a, transform: {q: [0, 0, 1]}}]\n", "scene.yaml:2: q: ", {"a list of 3", "4 numbers"}},
        {HEAD "bodies: [{id: a, transform: {q: {axis_angle: {axis: x}}}}]\n",
         "scene.yaml:2: axis_angle: ",
         {"'angle' is missing"}},
        {HEAD "bodies: [{id: a, transform: {q: {axis_angle: {axis: [0, 0, 0], angle: 1}}}}]\n",
         "scene.yaml:2: axis: ",
         {"zero vector"}},
        {HEAD "bodies: [{id: a, transform: {}, xform: {}}]\n", "scene.yaml:2: xform: ", {"second time", "'transform'"}},
        {HEAD BALL "joints: [{id: j, type: revolute, parent: world, child: ball, axis: w}]\n",
         "scene.yaml:3: axis: ",
         {"'w'", "x, y, z"}},
        {HEAD BALL "joints: [{id: j, type: revolute, parent: world, child: ball}]\n",
         "scene.yaml:3: joints[0]: ",
         {"'axis' is missing"}}, );
}

Test(scene, refuses_wrong_types_and_names) {
    EXPECT_FAILURES(
        {HEAD "bodies: [{shapes: []}]\n", "scene.yaml:2: bodies[0]: ", {"'id' is missing"}},
        {HEAD "bodies: [{id: world}]\n", "scene.yaml:2: bodies[0]: ", {"'world'"}},
        {HEAD "bodies: [{id: a, shapes: [{radius: 1}]}]\n", "scene.yaml:2: shapes[0]: ", {"'type' is missing"}},
        {HEAD "bodies: [{id: a, shapes: [{type: ball}]}]\n", "scene.yaml:2: type: ", {"'ball'", "sphere"}},
        {HEAD "bodies: [{id: a, shapes: [{type: box, hx: 1, hy: 1}]}]\n",
         "scene.yaml:2: shapes[0]: ",
         {"'hz' is missing"}},
        {HEAD BALL "joints: [{id: j, type: weld, parent: world, child: ball}]\n",
         "scene.yaml:3: type: ",
         {"'weld'", "revolute (hinge)"}},
        {HEAD BALL "joints: [{id: j, type: ball, parent: world, child: moon}]\n",
         "scene.yaml:3: child: ",
         {"'moon'", "id or label of a body"}},
        {HEAD BALL "joints: [{id: j, type: ball, parent: mars, child: ball}]\n", "scene.yaml:3: parent: ", {"'mars'"}},
        {HEAD BALL "joints: [{id: j, type: ball, child: ball}]\n",
         "scene.yaml:3: joints[0]: ",
         {"'parent' is missing"}},
        {HEAD BALL "joints: [{id: j, type: ball, parent: ball, child: ball}]\n", "scene.yaml:3: child: ", {"'ball'"}},
        {HEAD BALL "joints: [{id: j, type: free, parent: world, child: ball, parent_xform: {p: [1, 0, 0]}}]\n",
         "scene.yaml:3: parent_xform: ",
         {"identity"}},
        {HEAD BALL "joints: [{id: j, type: d6, parent: world, child: ball}]\n",
         "scene.yaml:3: joints[0]: ",
         {"linear_axes"}},
        {HEAD BALL "joints: [{id: j, type: d6, parent: world, child: ball, linear_axes: [x, y, z, x]}]\n",
         "scene.yaml:3: linear_axes: ",
         {"a list of 4", "3 axes"}},
        {HEAD "builder: {defaults: {joint: {axis: x}}}\n" BALL
              "joints: [{id: j, type: d6, parent: world, child: ball, angular_axes: [{armature: 1}]}]\n",
         "scene.yaml:4: angular_axes[0]: ",
         {"'axis' is missing"}},
        {HEAD BALL "joints: [{id: j, type: d6, parent: world, child: ball, angular_axes: [{armature: 1}]}]\n",
         "scene.yaml:3: angular_axes[0]: ",
         {"'axis' is missing"}},
        {HEAD BALL "joints: [{id: j, type: revolute, axis: x, parent: world, child: ball, actuator_mode: fast}]\n",
         "scene.yaml:3: actuator_mode: ",
         {"'fast'", "position (1)"}},
        {HEAD BALL
         "joints: [{id: j, type: revolute, axis: x, parent: world, child: ball, limit_lower: 2, limit_upper: 1}]\n",
         "scene.yaml:3: joints[0]: ",
         {"limit_lower 2", "limit_upper 1"}},
        {HEAD BALL FREE "articulations: [{id: a, joints: [wing]}]\n", "scene.yaml:4: joints[0]: ", {"'wing'"}},
        {HEAD BALL FREE "initial_joint_q: [{joint: wing, value: 1}]\n", "scene.yaml:4: joint: ", {"'wing'"}}, );
}

Test(scene, refuses_names_that_are_taken) {
    EXPECT_FAILURES(
        {HEAD "bodies:\n- {id: a, mass: 1}\n- {id: a, mass: 1}\n", "scene.yaml:4: bodies[1]: ", {"'a'", "bodies[0]"}},
        {HEAD "bodies:\n- {id: a, mass: 1}\n- {id: b, label: a}\n", "scene.yaml:4: bodies[1]: ", {"'a'", "bodies[0]"}},
        {CHAIN "- {id: x, label: turn, type: free, child: c}\n", "scene.yaml:10: joints[3]: ", {"'turn'", "joints[0]"}},
        {HEAD "bodies: [{id: a, mu: 1, shape_mu: 2}]\n", "scene.yaml:2: shape_mu: ", {"second time", "'mu'"}},
        {HEAD "name: a\nname: b\n", "scene.yaml:3: ", {"'name'", "line 2"}},
        {HEAD BALL FREE "simulation: {max_rigid_contact: 1, solver: {max_rigid_contact: 1}}\n",
         "scene.yaml:4: max_rigid_contact: ",
         {"second time"}},
        {HEAD BALL FREE "simulation:\n  solver:\n    rho: 0.5\n    RHO: 0.5\n",
         "scene.yaml:7: RHO: ",
         {"second time", "line 6"}},
        {HEAD BALL FREE "simulation: {num_worlds: 2}\nreplicate: {num_worlds: 3}\n",
         "scene.yaml:5: num_worlds: ",
         {"3", "line 4", "2"}}, );
}

Test(scene, refuses_broken_trees) {
    EXPECT_FAILURES({HEAD BALL, "scene.yaml:2: bodies[0]: ", {"'ball'", "no joint"}},
                    {HEAD, "scene.yaml:1: ", {"nothing can move"}},
                    {HEAD BALL "joints: [{id: j, type: fixed, parent: world, child: ball}]\n",
                     "scene.yaml:1: ",
                     {"nothing can move"}},
                    {CHAIN "- {id: again, type: free, child: a}\n", "scene.yaml:10: child: ", {"'a'", "joints[0]"}},
                    {HEAD "bodies: [{id: a, mass: 1}, {id: b, mass: 1}]\n"
                          "joints:\n- {id: j, type: ball, parent: b, child: a}\n- {id: k, type: free, child: b}\n",
                     "scene.yaml:4: parent: ",
                     {"'b'", "earlier joint"}},
                    {CHAIN "articulations: [{joints: [push, turn]}, {joints: [fly]}]\n",
                     "scene.yaml:10: joints[0]: ",
                     {"'push'", "expected 'turn'"}},
                    {CHAIN "articulations: [{joints: [turn]}, {joints: [push, fly]}]\n",
                     "scene.yaml:10: articulations[1]: ",
                     {"'push'", "another articulation"}},
                    {CHAIN "articulations: [{joints: [turn, push]}]\n",
                     "scene.yaml:10: articulations: ",
                     {"'fly'", "no articulation"}},
                    {CHAIN "articulations: [{joints: [turn, push, fly, fly]}]\n",
                     "scene.yaml:10: joints[3]: ",
                     {"'fly'", "already"}},
                    {CHAIN "articulations: [{joints: []}]\n", "scene.yaml:10: joints: ", {"without joints"}}, );
}

Test(scene, refuses_bodies_that_cannot_be_moved) {
    EXPECT_FAILURES(
        {HEAD "bodies:\n- id: a\njoints: [{id: j, type: free, child: a}]\n",
         "scene.yaml:3: bodies[0]: ",
         {"'a'", "no mass", "density"}},
        {HEAD "bodies:\n- {id: a, mass: 2}\njoints: [{id: j, type: free, child: a}]\n",
         "scene.yaml:3: bodies[0]: ",
         {"'a'", "mass 2", "inertia"}},
        {HEAD "bodies:\n- {id: a, mass: 2, inertia: [1, 2]}\n", "scene.yaml:3: inertia: ", {"3 moments"}},
        {HEAD "bodies:\n- {id: a, mass: 2, inertia: [1, 2, -1]}\n", "scene.yaml:3: inertia[2]: ", {"'-1'", "> 0"}}, );
}

Test(scene, refused_by_the_model_names_file_and_body) {
    const char *text =
        HEAD "bodies: [{id: lump, mass: 1, inertia: [1, 1, 5]}]\njoints: [{id: j, type: free, child: lump}]\n";
    SapScene *scene;
    cr_expect_eq(sap_scene_parse(text, strlen(text), "scene.yaml", &scene), SAP_ERROR_MODEL);
    cr_expect(strncmp(sap_error_message(), "scene.yaml: ", 12) == 0, "%s", sap_error_message());
    cr_expect_not_null(strstr(sap_error_message(), "lump"), "%s", sap_error_message());
}

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
        {CHAIN "post_build: [{op: set_joint_targets, range: all, ke: -1}]\n", "scene.yaml:10: ke: ", {"'-1'", ">= 0"}},
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

/* ---- meshes, height fields, keyframes and filters ---- */

#define CUBE                                                                                                           \
    "[[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1], [-1, -1, 1], [1, -1, 1], [-1, 1, 1], [1, 1, 1], [0, 0, 0]]"
#define GROUND_SHAPE(keys) HEAD BALL FREE "post_build: [{op: add_shape, " keys "}]\n"

/* Writes a file beside the scene; the caller removes it. */
static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

Test(scene, meshes_are_their_convex_hulls_and_weigh_so) {
    SapScene *scene =
        parse(HEAD "bodies:\n"
                   "- {id: a, shapes: [{type: mesh, vertices: " CUBE ", scale: [1, 2, 3], density: 10}]}\n"
                   "- {id: b, shapes: [{type: hull, vertices: " CUBE ", scale: 0.5, transform: {p: [1, 0, 0]}}]}\n"
                   "- {id: c, shapes: [{type: convex_hull, vertices: " CUBE ", is_site: true},\n"
                   "   {type: sphere, radius: 1}]}\n"
                   "joints: [{id: j, type: free, child: a}, {id: k, type: free, child: b}, {id: l, type: "
                   "free, child: c}]\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_assert_eq(a->num_meshes, 3);
    cr_assert_eq(a->num_mesh_vertices, 24, "the point inside is no vertex");
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(a->shape_type[i], SAP_SHAPE_HULL);
        cr_expect_eq(a->shape_mesh[i], i);
        cr_expect_eq(a->mesh_start[i], 8 * i);
    }
    cr_expect(a->shape_scale[0] == 1 && a->shape_scale[1] == 2 && a->shape_scale[2] == 3 && a->shape_scale[5] == 0.5);
    cr_expect(a->shape_scale[6] == 1 && a->shape_mesh[3] == -1);
    cr_expect_float_eq(a->body_mass[0], 10 * 48, 1e-10);
    cr_expect_float_eq(a->body_inertia[0], 10 * 48 * (4 + 9) / 3.0, 1e-9);
    cr_expect_float_eq(a->body_mass[1], 1000, 1e-10);
    cr_expect_float_eq(a->body_com[3], 1, 1e-14);
    cr_expect_float_eq(a->body_mass[2], 1000 * 4 / 3.0 * 3.14159265358979323846, 1e-9, "sites do not weigh");
    sap_scene_destroy(scene);
}

Test(scene, mesh_files_are_found_beside_the_scene_and_read_once) {
    char folder[] = "/tmp/sapwood_scene_XXXXXX", scene_path[64], mesh_path[64], grid_path[64];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(scene_path, sizeof scene_path, "%s/scene.yaml", folder);
    snprintf(mesh_path, sizeof mesh_path, "%s/part.obj", folder);
    snprintf(grid_path, sizeof grid_path, "%s/hills.txt", folder);
    write_text(mesh_path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.1 0.1 0.1\n");
    write_text(grid_path, "0 1 2\n3 4 5\n");
    write_text(scene_path,
               HEAD "bodies: [{id: a, shapes: [{type: mesh, file: part.obj}, {type: mesh, file: part.obj, scale: "
                    "2}]}]\njoints: [{id: j, type: free, child: a}]\n"
                    "post_build: [{op: add_shape, type: height_field, hx: 3, hy: 2, file: hills.txt}]\n");
    SapScene *scene = load(scene_path);
    const SapModelArrays *a = arrays_of(scene);
    cr_expect(a->num_meshes == 1 && a->num_mesh_vertices == 4 && a->shape_mesh[0] == 0 && a->shape_mesh[1] == 0);
    cr_expect_float_eq(a->body_mass[0], 1000 / 6.0 * 9, 1e-10);
    cr_expect(a->num_height_fields == 1 && a->height_field_size[0] == 2 && a->height_field_size[1] == 3);
    cr_expect(a->num_heights == 6 && a->heights[5] == 5);
    sap_scene_destroy(scene);
    write_text(mesh_path, "v 0 0 0\nv 1 0 x\n");
    cr_expect_eq(sap_scene_load(scene_path, &scene), SAP_ERROR_PARSE);
    cr_expect_not_null(strstr(sap_error_message(), "/scene.yaml:2: file: "), "%s", sap_error_message());
    cr_expect_not_null(strstr(sap_error_message(), "/part.obj:2: 'x'"), "%s", sap_error_message());
    remove(mesh_path);
    cr_expect_eq(sap_scene_load(scene_path, &scene), SAP_ERROR_IO);
    cr_expect_not_null(strstr(sap_error_message(), "cannot be opened"), "%s", sap_error_message());
    remove(grid_path);
    remove(scene_path);
    remove(folder);
}

Test(scene, height_fields_have_their_sizes_and_heights) {
    SapScene *scene = parse(GROUND_SHAPE("type: height_field, hx: 4, hy: 3, heights: [[1, 2, 3], [4, 5, 6]], base: 10, "
                                         "height_scale: 2"));
    const SapModelArrays *a = arrays_of(scene);
    cr_assert(a->shape_type[1] == SAP_SHAPE_HEIGHT_FIELD && a->shape_body[1] == -1 && a->shape_mesh[1] == 0);
    cr_expect(a->shape_scale[3] == 4 && a->shape_scale[4] == 3);
    cr_expect(a->height_field_size[0] == 2 && a->height_field_size[1] == 3);
    for (int i = 0; i < 6; i++)
        cr_expect_eq(a->heights[i], 10 + 2 * (i + 1));
    sap_scene_destroy(scene);
}

Test(scene, refuses_wrong_meshes) {
    EXPECT_FAILURES(
        {GROUND_SHAPE("type: mesh"), "scene.yaml:4: post_build[0]: ", {"'file' or 'vertices' is missing"}},
        {GROUND_SHAPE("type: mesh, file: a.obj, vertices: " CUBE), "scene.yaml:4: vertices: ", {"'file' in line 4"}},
        {GROUND_SHAPE("type: mesh, vertices: 3"), "scene.yaml:4: vertices: ", {"'3'", "a list of vectors"}},
        {GROUND_SHAPE("type: mesh, vertices: []"), "scene.yaml:4: vertices: ", {"a list of vectors"}},
        {GROUND_SHAPE("type: mesh, vertices: [[1, 2]]"), "scene.yaml:4: vertices[0]: ", {"3 numbers"}},
        {GROUND_SHAPE("type: mesh, vertices: [[1, 2, 3]]"), "scene.yaml:4: post_build[0]: ", {"1 vertex", "4 or more"}},
        {GROUND_SHAPE("type: mesh, vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]"),
         "scene.yaml:4: post_build[0]: ",
         {"in a plane"}},
        {GROUND_SHAPE("type: mesh, vertices: " CUBE ", scale: 0"), "scene.yaml:4: scale: ", {"of x is 0", "> 0"}},
        {GROUND_SHAPE("type: mesh, vertices: " CUBE ", scale: [1, 2, -3]"), "scene.yaml:4: scale: ", {"of z is -3"}},
        {GROUND_SHAPE("type: mesh, vertices: " CUBE ", scale: [1, 2]"), "scene.yaml:4: scale: ", {"3 numbers"}}, );
}

Test(scene, refuses_unknown_mesh_formats) {
    EXPECT_UNSUPPORTED(
        {GROUND_SHAPE("type: mesh, file: /dev/null"), "scene.yaml:4: file: ", {"/dev/null", ".obj, .stl"}}, );
}

Test(scene, refuses_wrong_height_fields) {
    EXPECT_FAILURES(
        {GROUND_SHAPE("type: hfield, hy: 1, heights: [[1, 2], [3, 4]]"),
         "scene.yaml:4: post_build[0]: ",
         {"'hx' is missing"}},
        {GROUND_SHAPE("type: hfield, hx: 0, hy: 1, heights: [[1, 2], [3, 4]]"), "scene.yaml:4: hx: ", {"'0'", "> 0"}},
        {GROUND_SHAPE("type: hfield, hx: 1, hy: 1"), "scene.yaml:4: post_build[0]: ", {"'file' or 'heights'"}},
        {GROUND_SHAPE("type: hfield, hx: 1, hy: 1, heights: [[1, 2]]"), "scene.yaml:4: heights: ", {"2 or more rows"}},
        {GROUND_SHAPE("type: hfield, hx: 1, hy: 1, heights: [[1], [2]]"),
         "scene.yaml:4: heights[0]: ",
         {"2 or more numbers"}},
        {GROUND_SHAPE("type: hfield, hx: 1, hy: 1, heights: [[1, 2], [3]]"),
         "scene.yaml:4: heights[1]: ",
         {"as many numbers as the first"}},
        {GROUND_SHAPE("type: hfield, hx: 1, hy: 1, heights: [[1, 2], [3, inf]]"), "scene.yaml:4: ", {"'inf'"}},
        {GROUND_SHAPE("type: hfield, hx: 1, hy: 1, file: /dev/null"),
         "scene.yaml:4: file: ",
         {"/dev/null", "0 rows"}}, );
}

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

Test(scene, refuses_joint_names_that_could_be_two) {
    EXPECT_FAILURES({HEAD "bodies: [{id: a, mass: 1, inertia: [1, 1, 1]}, {id: b, mass: 1, inertia: [1, 1, 1]}]\n"
                          "joints:\n- {id: j, label: left/hip, type: free, child: a}\n"
                          "- {id: k, label: right/hip, type: free, child: b}\n"
                          "initial_joint_q:\n- {joint: hip, value: 1}\n",
                     "scene.yaml:7: joint: ",
                     {"'hip'", "'left/hip'", "'right/hip'"}}, );
}

Test(scene, says_what_this_version_lacks) {
    EXPECT_UNSUPPORTED(
        {HEAD "assets:\n- {id: robot, type: usd, source: robot.usda}\n", "scene.yaml:2: assets: ", {"not supported"}},
        {HEAD "bodies: [{id: a, is_hydroelastic: true}]\n", "scene.yaml:2: is_hydroelastic: ", {"not supported"}},
        {HEAD "bodies: [{id: a, restitution: 0.5}]\n", "scene.yaml:2: restitution: ", {"only 0"}},
        {HEAD "builder: {up_axis: y}\n", "scene.yaml:2: up_axis: ", {"only z"}},
        {HEAD BALL "joints: [{id: j, type: revolute, axis: x, parent: world, child: ball, velocity_limit: 20}]\n",
         "scene.yaml:3: velocity_limit: ",
         {"1e6"}},
        {CHAIN "post_build: [{op: approximate_meshes, method: bounding_box}]\n",
         "scene.yaml:10: op: ",
         {"'approximate_meshes'"}},
        {CHAIN "post_build: [{op: set_array, array: shape_material_kh, value: 1}]\n",
         "scene.yaml:10: array: ",
         {"'shape_material_kh'", "not supported"}}, );
}

Test(scene, accepts_an_empty_list_of_assets) {
    sap_scene_destroy(parse(HEAD BALL FREE "assets: []\n"));
}

Test(scene, quotes_no_control_characters) {
    const char *text = HEAD "\"na\\e[31mme\": \"\\a\"\n";
    SapScene *scene;
    cr_expect_eq(sap_scene_parse(text, strlen(text), "scene.yaml", &scene), SAP_ERROR_PARSE);
    cr_expect(strchr(sap_error_message(), '\033') == NULL && strchr(sap_error_message(), '\a') == NULL);
}
