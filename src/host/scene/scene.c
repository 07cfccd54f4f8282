/* Scene files: from text to a model, number of worlds and options. docs/scene.md lists every key. */
#include <sapwood/scene.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/base/expression.h"
#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/number_text.h"
#include "host/base/read_file.h"
#include "host/base/stack.h"
#include "host/model/hull_reduce.h"
#include "host/base/keyword.h"
#include "host/options/options.h"
#include "host/scene/builder.h"
#include "host/scene/mujoco.h"

enum { SCHEMA_VERSION = 1, MAX_WORLDS = 1 << 24 };

/* The sections of a file; NULL if not given. */
typedef struct Sections {
    const SapYamlEntry *schema_version, *simulation, *builder, *ground, *bodies, *joints, *articulations;
    const SapYamlEntry *tendons, *constraints;
    const SapYamlEntry *initial_joint_q, *post_build, *replicate, *keyframes, *collision_filters, *mujoco;
    const char *name;
} Sections;

static const SapSceneField section_fields[] = {
    SAP_SCENE_REQUIRED("schema_version", ENTRY, Sections, schema_version),
    SAP_SCENE_FIELD("name", TEXT, Sections, name),
    SAP_SCENE_FIELD("simulation", ENTRY, Sections, simulation),
    SAP_SCENE_FIELD("builder", ENTRY, Sections, builder),
    SAP_SCENE_FIELD("ground", ENTRY, Sections, ground),
    SAP_SCENE_NO_TARGET("assets", UNSUPPORTED),
    SAP_SCENE_FIELD("bodies", ENTRY, Sections, bodies),
    SAP_SCENE_FIELD("joints", ENTRY, Sections, joints),
    SAP_SCENE_FIELD("articulations", ENTRY, Sections, articulations),
    SAP_SCENE_FIELD("tendons", ENTRY, Sections, tendons),
    SAP_SCENE_FIELD("constraints", ENTRY, Sections, constraints),
    SAP_SCENE_FIELD("initial_joint_q", ENTRY, Sections, initial_joint_q),
    SAP_SCENE_FIELD("post_build", ENTRY, Sections, post_build),
    SAP_SCENE_FIELD("replicate", ENTRY, Sections, replicate),
    SAP_SCENE_FIELD("keyframes", ENTRY, Sections, keyframes),
    SAP_SCENE_FIELD("collision_filters", ENTRY, Sections, collision_filters),
    SAP_SCENE_FIELD("mujoco", ENTRY, Sections, mujoco),
};

/* ---- simulation and replicate ---- */

typedef struct SimulationKeys {
    double dt;
    const SapYamlEntry *num_worlds, *max_contacts, *max_rigid_contact, *solver; /* max_rigid_contact: SAP Warp's name */
} SimulationKeys;

/* The value of an option as text for sap_options_set: a plain number, or the word itself. null becomes "none". */
static const char *option_text(const SapYamlNode *node, char number[SAP_NUMBER_TEXT_SIZE]) {
    SapExpressionError error;
    double value;
    if (sap_yaml_is_null(node))
        return "none";
    if (!sap_expression_evaluate(node->text, &value, &error))
        return node->text;
    if (value == floor(value) && fabs(value) < 1e15)
        snprintf(number, SAP_NUMBER_TEXT_SIZE, "%.0f", value);
    else
        sap_double_to_text(value, number);
    return number;
}

static SapStatus set_option(SapOptions *options, const SapYamlEntry *entry) {
    char number[SAP_NUMBER_TEXT_SIZE], message[1024];
    if (entry->node->kind != SAP_YAML_SCALAR)
        return sap_scene_refuse(entry, "a single value");
    SapStatus status = sap_options_set(options, entry->key, option_text(entry->node, number));
    if (status == SAP_OK)
        return SAP_OK;
    snprintf(message, sizeof message, "%s", sap_error_message());
    return sap_yaml_fail(entry, status == SAP_ERROR_ARGUMENT ? SAP_ERROR_PARSE : status, "%s", message);
}

/* Option names are compared as keywords: "-" equals "_", case is ignored, and SAP Warp's name is the plain one. */
static bool same_option(const SapYamlEntry *a, const char *name) {
    return strcmp(sap_option_word(a->key).text, sap_option_word(name).text) == 0;
}

static SapStatus refuse_second_option(const SapYamlEntry *entry, const SapYamlEntry *first) {
    return sap_yaml_fail(entry, SAP_ERROR_PARSE, "given a second time; the first is in line %d", first->line);
}

/* The preset is applied first, regardless of its position in the file, so that explicit values override it. */
static SapStatus read_solver(const SapYamlEntry *solver, const SapYamlEntry *max_contacts, SapOptions *options) {
    const SapYamlNode *node = solver != NULL ? solver->node : NULL;
    const SapYamlEntry *preset = NULL;
    /* simulation.max_contacts. */
    if (max_contacts != NULL)
        SAP_TRY(set_option(options, max_contacts));
    if (node == NULL || sap_yaml_is_null(node))
        return SAP_OK;
    if (node->kind != SAP_YAML_MAP)
        return sap_scene_refuse(solver, "a map");
    /* The preset. */
    for (int i = 0; i < node->count && preset == NULL; i++)
        if (same_option(&node->entries[i], "preset"))
            preset = &node->entries[i];
    if (preset != NULL)
        SAP_TRY(set_option(options, preset));
    /* All other options; giving one twice is an error. */
    for (int i = 0; i < node->count; i++) {
        const SapYamlEntry *entry = &node->entries[i];
        if (max_contacts != NULL && same_option(entry, max_contacts->key))
            return refuse_second_option(entry, max_contacts);
        /* An unknown name ends the loop, so this compares at most as many keys as there are options. */
        for (int k = 0; k < i; k++)
            if (same_option(entry, node->entries[k].key))
                return refuse_second_option(entry, &node->entries[k]);
        if (entry != preset)
            SAP_TRY(set_option(options, entry));
    }
    return SAP_OK;
}

static SapStatus read_simulation(const SapYamlEntry *entry, SapScene *scene, const SapYamlEntry **num_worlds) {
    static const SapSceneField fields[] = {
        SAP_SCENE_IN_RANGE("dt", POSITIVE, SimulationKeys, dt),
        SAP_SCENE_FIELD("num_worlds", ENTRY, SimulationKeys, num_worlds),
        SAP_SCENE_FIELD("max_contacts", ENTRY, SimulationKeys, max_contacts),
        SAP_SCENE_FIELD("max_rigid_contact", ENTRY, SimulationKeys, max_rigid_contact),
        SAP_SCENE_FIELD("solver", ENTRY, SimulationKeys, solver),
    };
    SimulationKeys keys = {.dt = scene->dt};
    if (entry == NULL)
        return SAP_OK;
    SAP_TRY(sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(fields, &keys), 1));
    if (keys.num_worlds != NULL)
        SAP_TRY(sap_scene_integer(keys.num_worlds, 1, MAX_WORLDS, &scene->num_worlds));
    scene->dt = keys.dt;
    *num_worlds = keys.num_worlds;
    if (keys.max_contacts != NULL && keys.max_rigid_contact != NULL)
        return refuse_second_option(keys.max_rigid_contact, keys.max_contacts);
    return read_solver(keys.solver, keys.max_contacts ? keys.max_contacts : keys.max_rigid_contact, &scene->options);
}

static SapStatus read_replicate(const SapYamlEntry *entry, SapScene *scene, const SapYamlEntry *first) {
    typedef struct Keys {
        const SapYamlEntry *num_worlds, *spacing;
    } Keys;
    static const SapSceneField fields[] = {
        SAP_SCENE_FIELD("num_worlds", ENTRY, Keys, num_worlds),
        SAP_SCENE_FIELD("spacing", ENTRY, Keys, spacing),
    };
    Keys keys = {0};
    int num_worlds;
    if (entry == NULL)
        return SAP_OK;
    SAP_TRY(sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(fields, &keys), 1));
    if (keys.spacing != NULL)
        SAP_TRY(sap_scene_numbers(keys.spacing, 3, scene->spacing));
    if (keys.num_worlds == NULL)
        return SAP_OK;
    SAP_TRY(sap_scene_integer(keys.num_worlds, 1, MAX_WORLDS, &num_worlds));
    if (first != NULL && num_worlds != scene->num_worlds)
        return sap_yaml_fail(keys.num_worlds, SAP_ERROR_PARSE, "%d, but simulation.num_worlds in line %d is %d",
                             num_worlds, first->line, scene->num_worlds);
    scene->num_worlds = num_worlds;
    return SAP_OK;
}

/* ---- builder ---- */

typedef struct BuilderKeys {
    double rigid_gap, default_body_armature;
    const SapYamlEntry *gravity, *up_axis, *max_hull_vertices, *defaults;
} BuilderKeys;

static SapStatus read_defaults(const SapYamlEntry *entry, SapSceneBuilder *builder) {
    typedef struct Keys {
        const SapYamlEntry *joint, *shape;
    } Keys;
    static const SapSceneField fields[] = {
        SAP_SCENE_FIELD("joint", ENTRY, Keys, joint),
        SAP_SCENE_FIELD("shape", ENTRY, Keys, shape),
    };
    Keys keys = {0};
    SAP_TRY(sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(fields, &keys), 1));
    if (keys.joint != NULL)
        SAP_TRY(sap_scene_read_dof(keys.joint, &builder->dof));
    if (keys.shape != NULL)
        SAP_TRY(sap_scene_read_material(keys.shape, &builder->material));
    return SAP_OK;
}

static SapStatus check_up_axis(const SapYamlEntry *entry) {
    double axis[3];
    SAP_TRY(sap_scene_axis(entry, axis));
    if (axis[2] == 1)
        return SAP_OK;
    return sap_yaml_fail(entry, SAP_ERROR_UNSUPPORTED, "only z is supported in this version");
}

static SapStatus read_hull_vertices(const SapYamlEntry *entry, int *out) {
    SAP_TRY(sap_scene_integer(entry, 0, SAP_MAX_MESH_VERTICES, out));
    if (*out > 0 && *out < SAP_LEAST_HULL_VERTICES)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "is %d; allowed: 0 (exact hulls), or %d or more", *out,
                             SAP_LEAST_HULL_VERTICES);
    return SAP_OK;
}

static SapStatus read_builder(const SapYamlEntry *entry, SapSceneBuilder *builder) {
    static const SapSceneField fields[] = {
        SAP_SCENE_FIELD("gravity", ENTRY, BuilderKeys, gravity),
        SAP_SCENE_FIELD("up_axis", ENTRY, BuilderKeys, up_axis),
        SAP_SCENE_IN_RANGE("rigid_gap", NON_NEGATIVE, BuilderKeys, rigid_gap),
        SAP_SCENE_IN_RANGE("default_body_armature", NON_NEGATIVE, BuilderKeys, default_body_armature),
        SAP_SCENE_FIELD("max_hull_vertices", ENTRY, BuilderKeys, max_hull_vertices),
        SAP_SCENE_FIELD("defaults", ENTRY, BuilderKeys, defaults),
    };
    BuilderKeys keys = {0};
    if (entry == NULL)
        return SAP_OK;
    SAP_TRY(sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(fields, &keys), 1));
    builder->rigid_gap = keys.rigid_gap;
    builder->default_body_armature = keys.default_body_armature;
    if (keys.up_axis != NULL)
        SAP_TRY(check_up_axis(keys.up_axis));
    if (keys.max_hull_vertices != NULL)
        SAP_TRY(read_hull_vertices(keys.max_hull_vertices, &builder->max_hull_vertices));
    if (keys.gravity != NULL)
        SAP_TRY(sap_scene_gravity(keys.gravity, builder->gravity));
    return keys.defaults != NULL ? read_defaults(keys.defaults, builder) : SAP_OK;
}

/* ---- the whole file ---- */

static SapStatus read_sections(const SapYamlEntry *root, Sections *sections) {
    int version;
    if (root->node->kind != SAP_YAML_MAP)
        return sap_scene_refuse(root, "a map with schema_version and the sections of a scene");
    SAP_TRY(sap_scene_read(root, &(SapSceneTable)SAP_SCENE_TABLE(section_fields, sections), 1));
    SAP_TRY(sap_scene_integer(sections->schema_version, INT32_MIN, INT32_MAX, &version));
    if (version != SCHEMA_VERSION)
        return sap_yaml_fail(sections->schema_version, SAP_ERROR_UNSUPPORTED, "%d; allowed: %d", version,
                             SCHEMA_VERSION);
    return SAP_OK;
}

typedef SapStatus (*ReadList)(SapSceneBuilder *builder, const SapYamlEntry *list);

static SapStatus read_optional(SapSceneBuilder *builder, const SapYamlEntry *list, ReadList read) {
    return list != NULL ? read(builder, list) : SAP_OK;
}

/* Reads the sections in order of dependence. The ground comes last, so that operations do not edit it. */
static SapStatus build(SapSceneBuilder *builder, const SapYamlEntry *root, const Sections *sections) {
    SAP_TRY(read_builder(sections->builder, builder));
    SAP_TRY(read_optional(builder, sections->bodies, sap_scene_read_bodies));
    SAP_TRY(read_optional(builder, sections->joints, sap_scene_read_joints));
    SAP_TRY(sap_scene_check_joints(builder, root));
    SAP_TRY(read_optional(builder, sections->articulations, sap_scene_read_articulations));
    SAP_TRY(read_optional(builder, sections->tendons, sap_scene_read_tendons));
    SAP_TRY(read_optional(builder, sections->constraints, sap_scene_read_constraints));
    SAP_TRY(read_optional(builder, sections->initial_joint_q, sap_scene_read_initial_joint_q));
    SAP_TRY(read_optional(builder, sections->post_build, sap_scene_read_post_build));
    SAP_TRY(sap_scene_place_constraints(builder));
    SAP_TRY(sap_scene_check_masses(builder));
    SAP_TRY(read_optional(builder, sections->keyframes, sap_scene_read_keyframes));
    SAP_TRY(sap_scene_read_ground(builder, sections->ground));
    return read_optional(builder, sections->collision_filters, sap_scene_read_collision_filters);
}

static SapStatus build_model(const SapYamlEntry *root, const Sections *sections, const char *asset_root,
                             SapModel **out) {
    SapSceneBuilder builder;
    sap_scene_builder_init(&builder, sap_yaml_name(root->node->tree), asset_root);
    SapStatus status = build(&builder, root, sections);
    if (status == SAP_OK)
        status = sap_scene_finish(&builder, sections->name != NULL ? sections->name : "", out);
    sap_scene_builder_free(&builder);
    return status;
}

static SapStatus read_scene(const SapYamlEntry *root, const char *asset_root, SapScene *scene) {
    Sections sections = {0};
    const SapYamlEntry *num_worlds = NULL;
    SAP_TRY(sap_options_preset(NULL, &scene->options));
    SAP_TRY(read_sections(root, &sections));
    SAP_TRY(read_simulation(sections.simulation, scene, &num_worlds));
    SAP_TRY(read_replicate(sections.replicate, scene, num_worlds));
    SAP_TRY(build_model(root, &sections, asset_root, &scene->model));
    return sections.mujoco != NULL ? sap_scene_read_mujoco(sections.mujoco, scene->model) : SAP_OK;
}

static SapStatus out_of_memory(const char *name) {
    return sap_fail_at(name, 0, SAP_ERROR_MEMORY, "out of memory while reading the file");
}

static SapStatus parse(const char *text, size_t length, const char *name, const char *asset_root, SapScene **out) {
    SapYamlTree *tree;
    SAP_TRY(sap_stack_check(name));
    SAP_TRY(sap_yaml_parse(text, length, name, &tree));
    SapScene *scene = malloc(sizeof *scene);
    SapStatus status = SAP_ERROR_MEMORY;
    if (scene != NULL) {
        *scene = (SapScene){.dt = 0.005, .num_worlds = 1};
        status = read_scene(sap_yaml_root(tree), asset_root, scene);
    } else {
        out_of_memory(name);
    }
    sap_yaml_destroy(tree);
    if (status != SAP_OK) {
        sap_scene_destroy(scene);
        return status;
    }
    *out = scene;
    return SAP_OK;
}

SapStatus sap_scene_parse(const char *text, size_t length, const char *name, SapScene **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(text);
    SAP_NEED(name);
    return parse(text, length, name, NULL, out);
}

void sap_scene_destroy(SapScene *scene) {
    if (scene == NULL)
        return;
    sap_model_destroy(scene->model);
    free(scene);
}

/* ---- files ---- */

static SapStatus load_scene(const char *path, const char *asset_root, SapScene **out) {
    char *text;
    size_t length;
    SAP_TRY(sap_read_file(path, SAP_YAML_MAX_BYTES, &text, &length));
    SapStatus status = parse(text, length, path, asset_root, out);
    free(text);
    return status;
}

SapStatus sap_scene_load(const char *path, SapScene **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(path);
    return load_scene(path, NULL, out);
}

SapStatus sap_scene_load_with_root(const char *path, const char *asset_root, SapScene **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(path);
    struct stat info;
    if (asset_root != NULL && (stat(asset_root, &info) != 0 || !S_ISDIR(info.st_mode)))
        return sap_fail(SAP_ERROR_IO, "%s: asset_root is '%.512s'; it must be a folder", __func__, asset_root);
    return load_scene(path, asset_root, out);
}

SapStatus sap_model_load(const char *path, SapModel **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(path);
    SapScene *scene;
    SAP_TRY(load_scene(path, NULL, &scene));
    *out = scene->model;
    scene->model = NULL;
    sap_scene_destroy(scene);
    return SAP_OK;
}
