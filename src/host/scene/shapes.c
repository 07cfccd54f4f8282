/* Bodies and shapes of a scene: materials, sizes and the resulting masses. */
#include "host/scene/builder.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "host/base/fail.h"
#include "host/model/shape_types.h"

/* ---- materials ---- */

const SapSceneMaterial sap_scene_default_material = {
    .density = 1000,
    .ke = 1e5,
    .tau = 0.01,
    .dissipation = 50,
    .mu = 0.5,
    .gap = NAN,
    .collision_group = 1,
    .has_shape_collision = true,
    .is_visible = true,
};

static const SapSceneField material_fields[] = {
    SAP_SCENE_IN_RANGE("density", NON_NEGATIVE, SapSceneMaterial, density),
    SAP_SCENE_IN_RANGE("ke", POSITIVE_OR_INF, SapSceneMaterial, ke),
    SAP_SCENE_IN_RANGE("shape_ke", POSITIVE_OR_INF, SapSceneMaterial, ke),
    SAP_SCENE_IN_RANGE("tau", NON_NEGATIVE, SapSceneMaterial, tau),
    SAP_SCENE_IN_RANGE("shape_tau", NON_NEGATIVE, SapSceneMaterial, tau),
    SAP_SCENE_IN_RANGE("relaxation_time", NON_NEGATIVE, SapSceneMaterial, tau),
    SAP_SCENE_IN_RANGE("dissipation", NON_NEGATIVE, SapSceneMaterial, dissipation),
    SAP_SCENE_IN_RANGE("shape_dissipation", NON_NEGATIVE, SapSceneMaterial, dissipation),
    SAP_SCENE_IN_RANGE("hunt_crossley_dissipation", NON_NEGATIVE, SapSceneMaterial, dissipation),
    SAP_SCENE_IN_RANGE("mu", NON_NEGATIVE, SapSceneMaterial, mu),
    SAP_SCENE_IN_RANGE("shape_mu", NON_NEGATIVE, SapSceneMaterial, mu),
    SAP_SCENE_IN_RANGE("margin", NON_NEGATIVE, SapSceneMaterial, margin),
    SAP_SCENE_IN_RANGE("contact_margin", NON_NEGATIVE, SapSceneMaterial, margin),
    SAP_SCENE_IN_RANGE("shape_margin", NON_NEGATIVE, SapSceneMaterial, margin),
    SAP_SCENE_IN_RANGE("gap", NON_NEGATIVE, SapSceneMaterial, gap),
    SAP_SCENE_IN_RANGE("shape_gap", NON_NEGATIVE, SapSceneMaterial, gap),
    SAP_SCENE_FIELD("collision_group", INTEGER, SapSceneMaterial, collision_group),
    SAP_SCENE_FIELD("has_shape_collision", FLAG, SapSceneMaterial, has_shape_collision),
    SAP_SCENE_FIELD("is_visible", FLAG, SapSceneMaterial, is_visible),
    SAP_SCENE_FIELD("is_site", FLAG, SapSceneMaterial, is_site),
    SAP_SCENE_NO_TARGET("has_particle_collision", WITHOUT_EFFECT),
    SAP_SCENE_NO_TARGET("is_hydroelastic", UNSUPPORTED_FLAG),
    SAP_SCENE_NO_TARGET("restitution", UNSUPPORTED_NUMBER),
    SAP_SCENE_NO_TARGET("mu_torsional", UNSUPPORTED_NUMBER),
    SAP_SCENE_NO_TARGET("mu_rolling", UNSUPPORTED_NUMBER),
    SAP_SCENE_NO_TARGET("kh", UNSUPPORTED_NUMBER),
};

SapStatus sap_scene_read_material(const SapYamlEntry *entry, SapSceneMaterial *material) {
    return sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(material_fields, material), 1);
}

/* Reads the material maps under these keys, in this order, if given. */
static SapStatus read_material_maps(const SapYamlEntry *entry, const char *const *keys, SapSceneMaterial *material) {
    for (; *keys != NULL; keys++) {
        const SapYamlEntry *map = sap_yaml_find(entry->node, *keys);
        if (map != NULL)
            SAP_TRY(sap_scene_read_material(map, material));
    }
    return SAP_OK;
}

/* ---- shapes ---- */

static SapStatus read_shape_type(const SapYamlEntry *entry, const SapShapeTypeRow **out) {
    const SapYamlEntry *type = sap_yaml_find(entry->node, "type");
    const char *name;
    if (type == NULL)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "the key 'type' is missing");
    SAP_TRY(sap_scene_text(type, &name));
    *out = sap_shape_type_named(name);
    return *out != NULL ? SAP_OK : sap_scene_refuse(type, sap_shape_type_list().text);
}

/* The keys for the sizes of a shape, stored in `fields`; keys of a mesh or a height field are in meshes.c. */
static SapSceneTable size_keys(const SapShapeTypeRow *type, SapSceneField fields[3], SapSceneShape *shape,
                               SapSceneGeometry *geometry) {
    if (type->data != SAP_SHAPE_DATA_NONE)
        return sap_scene_geometry_keys(type->data, geometry);
    for (int i = 0; i < type->num_sizes + type->num_extents; i++) {
        size_t offset = offsetof(SapSceneShape, scale) + (size_t)i * sizeof(double);
        bool is_extent = i >= type->num_sizes;
        fields[i] = (SapSceneField){type->size_keys[i], SAP_SCENE_NUMBER, offset,
                                    is_extent ? SAP_RANGE_NON_NEGATIVE : SAP_RANGE_POSITIVE, !is_extent};
    }
    return (SapSceneTable){fields, type->num_sizes + type->num_extents, shape};
}

/* Copies the material to the shape; sites have no mass and do not collide. */
static void apply_material(const SapSceneBuilder *builder, const SapSceneMaterial *material, SapSceneShape *shape) {
    bool collides = material->has_shape_collision && !material->is_site;
    shape->margin = material->margin;
    shape->gap = isnan(material->gap) ? builder->rigid_gap : material->gap;
    shape->mu = material->mu;
    shape->ke = material->ke;
    shape->tau = material->tau;
    shape->dissipation = material->dissipation;
    shape->collision_group = material->collision_group;
    shape->flags = (material->is_visible ? SAP_SHAPE_VISIBLE : 0) | (collides ? SAP_SHAPE_COLLIDES : 0);
}

SapStatus sap_scene_read_shape(SapSceneBuilder *builder, const SapYamlEntry *entry, int body,
                               const SapSceneTable *own) {
    static const char *const material_keys[] = {"cfg", NULL};
    static const SapSceneField fields[] = {
        SAP_SCENE_NO_TARGET("type", ELSEWHERE),
        SAP_SCENE_FIELD("label", TEXT, SapSceneShape, label),
        SAP_SCENE_FIELD("transform", POSE, SapSceneShape, pose),
        SAP_SCENE_FIELD("xform", POSE, SapSceneShape, pose),
        SAP_SCENE_NO_TARGET("cfg", ELSEWHERE),
    };
    /* Type. */
    const SapShapeTypeRow *type = NULL;
    SapSceneField sizes[3];
    if (entry->node->kind != SAP_YAML_MAP)
        return sap_scene_refuse(entry, "a map that describes a shape");
    SAP_TRY(read_shape_type(entry, &type));
    /* Material and keys, on top of the defaults. */
    SapSceneShape shape = {.type = (int32_t)type->type, .body = body, .mesh = -1, .pose = {[6] = 1}};
    SapSceneGeometry geometry = {.height_scale = 1};
    SapSceneMaterial material = body < 0 ? builder->material : sap_scene_body(builder, body)->material;
    SAP_TRY(read_material_maps(entry, material_keys, &material));
    SapSceneTable tables[4] = {
        SAP_SCENE_TABLE(fields, &shape),
        size_keys(type, sizes, &shape, &geometry),
        SAP_SCENE_TABLE(material_fields, &material),
    };
    if (own != NULL)
        tables[3] = *own;
    SAP_TRY(sap_scene_read(entry, tables, 4));
    /* Mass of the shape in its own frame. */
    apply_material(builder, &material, &shape);
    double density = material.is_site ? 0 : material.density;
    SapMassProperties mass = sap_shape_mass(type->type, shape.scale, density);
    if (type->data != SAP_SHAPE_DATA_NONE)
        SAP_TRY(sap_scene_read_geometry(builder, entry, &geometry, density, &shape, &mass));
    /* Add it to the body. */
    if (body >= 0) {
        mass = sap_mass_moved(&mass, shape.pose);
        sap_mass_add(&sap_scene_body(builder, body)->mass, &mass);
    }
    /* Append the shape. */
    void *row;
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_SHAPES, &row));
    *(SapSceneShape *)row = shape;
    return SAP_OK;
}

/* ---- bodies ---- */

typedef struct BodyKeys {
    SapSceneBody body;
    double armature; /* NaN: builder.default_body_armature */
    const SapYamlEntry *inertia, *shapes;
} BodyKeys;

static const SapSceneField body_fields[] = {
    SAP_SCENE_REQUIRED("id", TEXT, BodyKeys, body.id),
    SAP_SCENE_FIELD("label", TEXT, BodyKeys, body.label),
    SAP_SCENE_FIELD("transform", POSE, BodyKeys, body.pose),
    SAP_SCENE_FIELD("xform", POSE, BodyKeys, body.pose),
    SAP_SCENE_IN_RANGE("mass", NON_NEGATIVE, BodyKeys, body.mass.mass),
    SAP_SCENE_FIELD("com", VECTOR, BodyKeys, body.mass.com),
    SAP_SCENE_FIELD("inertia", ENTRY, BodyKeys, inertia),
    SAP_SCENE_IN_RANGE("armature", NON_NEGATIVE, BodyKeys, armature),
    SAP_SCENE_IN_RANGE("gravcomp", FINITE, BodyKeys, body.gravcomp),
    SAP_SCENE_FIELD("shapes", ENTRY, BodyKeys, shapes),
    SAP_SCENE_NO_TARGET("shape", ELSEWHERE),
    SAP_SCENE_NO_TARGET("physics", ELSEWHERE),
    SAP_SCENE_NO_TARGET("cfg", ELSEWHERE),
};

/* A diagonal, or three rows. */
static SapStatus read_inertia(const SapYamlEntry *entry, double inertia[9]) {
    const SapYamlNode *node = entry->node;
    if (node->kind != SAP_YAML_LIST || node->count != 3)
        return sap_scene_refuse(entry, "a list of 3 moments, or of 3 rows of 3 numbers");
    for (int i = 0; i < 3; i++) {
        if (node->entries[i].node->kind == SAP_YAML_LIST)
            SAP_TRY(sap_scene_numbers(&node->entries[i], 3, &inertia[3 * i]));
        else
            SAP_TRY(sap_scene_number(&node->entries[i], SAP_RANGE_POSITIVE, &inertia[4 * i]));
    }
    return SAP_OK;
}

static SapStatus name_body(SapSceneBuilder *builder, SapSceneBody *body, int index) {
    if (body->label == NULL)
        body->label = body->id;
    if (strcmp(body->id, "world") == 0 || strcmp(body->label, "world") == 0)
        return sap_yaml_fail(body->entry, SAP_ERROR_PARSE, "a body cannot be called 'world'");
    return sap_scene_add_names(builder, &builder->body_names, body->entry, body->id, body->label, index);
}

static SapStatus read_shapes(SapSceneBuilder *builder, const SapYamlEntry *list, int body) {
    if (list == NULL)
        return SAP_OK;
    SAP_TRY(sap_scene_expect_list(list));
    for (int i = 0; i < list->node->count; i++)
        SAP_TRY(sap_scene_read_shape(builder, &list->node->entries[i], body, NULL));
    return SAP_OK;
}

static SapStatus read_body(SapSceneBuilder *builder, const SapYamlEntry *entry) {
    static const char *const material_keys[] = {"shape", "physics", "cfg", NULL};
    BodyKeys keys = {
        .body = {.entry = entry, .pose = {[6] = 1}, .material = builder->material, .joint = -1},
        .armature = NAN,
    };
    const SapSceneTable tables[] = {
        SAP_SCENE_TABLE(body_fields, &keys),
        SAP_SCENE_TABLE(material_fields, &keys.body.material),
    };
    SAP_TRY(read_material_maps(entry, material_keys, &keys.body.material));
    SAP_TRY(sap_scene_read(entry, tables, 2));
    if (keys.inertia != NULL)
        SAP_TRY(read_inertia(keys.inertia, keys.body.mass.inertia));
    for (int i = 0; i < 3; i++)
        keys.body.mass.inertia[4 * i] += isnan(keys.armature) ? builder->default_body_armature : keys.armature;
    int index = sap_scene_count(builder, SAP_ROWS_BODIES);
    SAP_TRY(name_body(builder, &keys.body, index));
    void *row;
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_BODIES, &row));
    *(SapSceneBody *)row = keys.body;
    return read_shapes(builder, keys.shapes, index);
}

SapStatus sap_scene_read_bodies(SapSceneBuilder *builder, const SapYamlEntry *list) {
    SAP_TRY(sap_scene_expect_list(list));
    for (int i = 0; i < list->node->count; i++)
        SAP_TRY(read_body(builder, &list->node->entries[i]));
    return SAP_OK;
}

SapStatus sap_scene_read_body_name(const SapSceneBuilder *builder, const SapYamlEntry *entry, bool world, int *out) {
    const char *name;
    SAP_TRY(sap_scene_text(entry, &name));
    *out = sap_scene_find_name(&builder->body_names, name);
    if (*out >= 0 || (world && strcmp(name, "world") == 0))
        return SAP_OK;
    return sap_scene_refuse_name(&builder->body_names, entry,
                                 world ? "the id or label of a body, or world" : "the id or label of a body");
}

SapStatus sap_scene_check_masses(const SapSceneBuilder *builder) {
    char quote[SAP_QUOTE_SIZE];
    for (int i = 0; i < sap_scene_count(builder, SAP_ROWS_BODIES); i++) {
        const SapSceneBody *body = sap_scene_body(builder, i);
        const double *inertia = body->mass.inertia;
        if (!(body->mass.mass > 0))
            return sap_yaml_fail(body->entry, SAP_ERROR_PARSE,
                                 "body %s has no mass; give it a mass > 0 or a shape with density > 0",
                                 sap_quote(body->id, quote));
        if (!(inertia[0] > 0 && inertia[4] > 0 && inertia[8] > 0))
            return sap_yaml_fail(body->entry, SAP_ERROR_PARSE,
                                 "body %s has mass %g but no inertia; give it inertia, or a shape with density > 0",
                                 sap_quote(body->id, quote), body->mass.mass);
    }
    return SAP_OK;
}

/* ---- ground ---- */

typedef struct GroundKeys {
    bool enabled;
    const char *label;
} GroundKeys;

static SapStatus read_ground_keys(const SapYamlEntry *entry, GroundKeys *keys, SapSceneMaterial *material) {
    static const char *const material_keys[] = {"shape", "physics", "cfg", NULL};
    static const SapSceneField fields[] = {
        SAP_SCENE_FIELD("enabled", FLAG, GroundKeys, enabled),
        SAP_SCENE_FIELD("label", TEXT, GroundKeys, label),
        SAP_SCENE_NO_TARGET("shape", ELSEWHERE),
        SAP_SCENE_NO_TARGET("physics", ELSEWHERE),
        SAP_SCENE_NO_TARGET("cfg", ELSEWHERE),
    };
    const SapSceneTable tables[] = {
        SAP_SCENE_TABLE(fields, keys),
        SAP_SCENE_TABLE(material_fields, material),
    };
    if (entry->node->kind != SAP_YAML_MAP)
        return sap_scene_flag(entry, &keys->enabled) == SAP_OK ? SAP_OK
                                                               : sap_scene_refuse(entry, "true, false or a map");
    SAP_TRY(read_material_maps(entry, material_keys, material));
    return sap_scene_read(entry, tables, 2);
}

SapStatus sap_scene_read_ground(SapSceneBuilder *builder, const SapYamlEntry *entry) {
    GroundKeys keys = {.enabled = true, .label = "DEFAULT_GROUND"};
    SapSceneMaterial material = builder->material;
    if (entry != NULL)
        SAP_TRY(read_ground_keys(entry, &keys, &material));
    if (!keys.enabled)
        return SAP_OK;
    void *row;
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_SHAPES, &row));
    SapSceneShape *shape = row;
    *shape = (SapSceneShape){.label = keys.label, .type = SAP_SHAPE_PLANE, .body = -1, .mesh = -1, .pose = {[6] = 1}};
    apply_material(builder, &material, shape);
    return SAP_OK;
}
