/* Scene files as a whole: the models they give, what they hold when they say nothing, and how they are read. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/model/model.h"
#include "support/reference.h"
#include "support/scene_text.h"

#define SCENES     REFERENCE_FOLDER "/scenes/"
#define OUR_SCENES SAPWOOD_SOURCE_DIR "/bench/scenes/"

/* ---- against the reference ---- */

/* Stored quaternions of free joints may lack unit length: SAP Warp normalises them when it reads them, we when we
 * write. */
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
        cr_expect_eq(scene->options.max_contacts, json_integer_value(json_object_get(root, "max_rigid_contact")));
        json_decref(root);
        snprintf(path, sizeof path, "f64/%s.json.gz", name);
        root = reference_load(path);
        cr_expect_geq(expect_model(name, arrays, json_object_get(root, "model")), 20);
        json_decref(root);
        sap_scene_destroy(scene);
    }
}

Test(scene, of_the_drake_comparison_loads_with_its_preset) {
    const char *const names[] = {"drake_quadruped", "drake_skid", "drake_sphere_roll"};
    for (int i = 0; i < 3; i++) {
        char path[512];
        snprintf(path, sizeof path, SCENES "%s.yaml", names[i]);
        SapScene *scene = load(path);
        cr_expect_eq(scene->options.contact_weight, SAP_DIAG_DELASSUS);
        cr_expect_eq(scene->options.position_integration, SAP_EULER);
        cr_expect_eq(scene->options.line_search, SAP_EXACT_ROOT);
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
    cr_expect_eq(scene->options.max_contacts, 0);
    cr_expect_eq(scene->options.free_motion_precision, SAP_FP32);
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
    SapScene *scene = parse(HEAD BALL FREE "simulation:\n"
                                           "  dt: 1 / 500\n"
                                           "  max_contacts: 8 * 4\n"
                                           "  solver: {rho: 0.5, free_motion_precision: fp64, cost_abs_tol: null,\n"
                                           "           Contact-Preset-Variant: approx32, max_iterations: 1e2}\n"
                                           "replicate: {num_worlds: 64, spacing: [2, 1.5, 0]}\n");
    cr_expect_eq(scene->dt, 0.002);
    cr_expect_eq(scene->num_worlds, 64);
    cr_expect_eq(scene->spacing[1], 1.5);
    cr_expect_eq(scene->options.max_contacts, 32);
    cr_expect_eq(scene->options.armijo_rho, 0.5);
    cr_expect_eq(scene->options.max_iterations, 100);
    cr_expect(isnan(scene->options.cost_abs_tol));
    cr_expect_eq(scene->options.free_motion_precision, SAP_FP64, "the preset must not win over a value before it");
    cr_expect_eq(scene->options.linear_solve_precision, SAP_FP32);
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

Test(scene, the_material_of_the_ground_is_that_of_cfg_then_physics_then_shape) {
    SapScene *scene =
        parse(HEAD BALL FREE "ground: {cfg: {mu: 0.3}, physics: {mu: 0.2, ke: 2}, shape: {mu: 0.1, ke: 1, tau: 4}}\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_expect_eq(a->shape_material_mu[1], 0.3);
    cr_expect_eq(a->shape_material_ke[1], 2);
    cr_expect_eq(a->shape_material_tau[1], 4);
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
    cr_expect_eq(scene->options.armijo_rho, 0.125);
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
    cr_expect_eq(sap_scene_load("/dev/zero", &scene), SAP_ERROR_IO, "a file without end");
    cr_expect_eq(sap_scene_load(NULL, &scene), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_scene_load("x", NULL), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_scene_parse(NULL, 0, "x", &scene), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_scene_parse("", 0, NULL, &scene), SAP_ERROR_ARGUMENT);
    SapModel *model = (SapModel *)&model;
    cr_expect_eq(sap_model_load("/no/such/scene.yaml", &model), SAP_ERROR_IO);
    cr_expect_null(model);
}

/* ---- the page ---- */

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

/* ---- MuJoCo's law ---- */

#define WEIGHTS "body_invweight: [1, 2], dof_invweight: [1, 1, 1, 2, 2, 2]"

Test(scene, parameters_of_mujocos_law_reach_the_model) {
    SapScene *scene = parse(HEAD BALL FREE "mujoco: {" WEIGHTS ", cone: elliptic, integrator: RK4, refsafe: false, "
                                           "impratio: 3, iterations: 7, shape_condim: [4, 6], "
                                           "dof_drive_range: [-inf, 1, -2, inf, 0, 0, 0, 0, 0, 0, 0, 0]}\n");
    const SapMujocoParameters *p = sap_model_mujoco(scene->model);
    cr_assert_not_null(p);
    cr_expect(p->cone == SAP_CONE_ELLIPTIC && p->integrator == SAP_INTEGRATOR_RK4 && !p->refsafe && p->eulerdamp);
    cr_expect(p->impratio == 3 && p->iterations == 7 && p->ls_iterations == 50);
    cr_expect(p->body_invweight[1] == 2 && p->dof_invweight[5] == 2);
    cr_expect(p->shape_condim[0] == 4 && p->shape_condim[1] == 6 && p->shape_solref[0] == 0.02);
    cr_expect(isinf(p->dof_drive_range[0]) && p->dof_drive_range[1] == 1 && isinf(p->dof_drive_range[3]));
    sap_scene_destroy(scene);
    scene = parse(HEAD BALL FREE);
    cr_expect_null(sap_model_mujoco(scene->model));
    sap_scene_destroy(scene);
}

Test(scene, a_rule_of_mujocos_law_that_a_file_breaks_is_reported_with_its_line) {
    const char *text = HEAD BALL FREE "mujoco: {" WEIGHTS ", impratio: -1}\n";
    SapScene *scene = NULL;
    cr_expect_eq(sap_scene_parse(text, strlen(text), "scene.yaml", &scene), SAP_ERROR_MODEL);
    cr_expect(strstr(sap_error_message(), "scene.yaml:4: mujoco: ") && strstr(sap_error_message(), "impratio is -1"),
              "%s", sap_error_message());
    cr_expect_null(scene);
}
