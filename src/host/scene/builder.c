/* The tables of a scene, the names in it, and the conversion to a model. */
#include "host/scene/builder.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/nearest.h"
#include "host/model/hull_reduce.h"

void sap_scene_builder_init(SapSceneBuilder *builder, const char *file, const char *asset_root) {
    *builder = (SapSceneBuilder){
        .file = file,
        .asset_root = asset_root,
        .gravity = {0, 0, -9.81},
        .max_hull_vertices = SAP_DEFAULT_HULL_VERTICES,
        .material = sap_scene_default_material,
        .dof = sap_scene_default_dof,
        .rows = {[SAP_ROWS_BODIES] = {.size = sizeof(SapSceneBody)},
                 [SAP_ROWS_JOINTS] = {.size = sizeof(SapSceneJoint)},
                 [SAP_ROWS_DOFS] = {.size = sizeof(SapSceneDof)},
                 [SAP_ROWS_COORDS] = {.size = sizeof(SapSceneCoord)},
                 [SAP_ROWS_SHAPES] = {.size = sizeof(SapSceneShape)},
                 [SAP_ROWS_ARTICULATIONS] = {.size = sizeof(SapSceneArticulation)},
                 [SAP_ROWS_FILTER_PAIRS] = {.size = sizeof(SapScenePair)},
                 [SAP_ROWS_SHAPE_FILTER_PAIRS] = {.size = sizeof(SapScenePair)},
                 [SAP_ROWS_MESH_STARTS] = {.size = sizeof(SapSceneStart)},
                 [SAP_ROWS_MESH_VERTICES] = {.size = sizeof(SapSceneVertex)},
                 [SAP_ROWS_HEIGHT_FIELDS] = {.size = sizeof(SapSceneGrid)},
                 [SAP_ROWS_HEIGHTS] = {.size = sizeof(SapSceneNumber)},
                 [SAP_ROWS_CONSTRAINTS] = {.size = sizeof(SapSceneConstraint)},
                 [SAP_ROWS_TENDONS] = {.size = sizeof(SapSceneTendon)},
                 [SAP_ROWS_TENDON_STARTS] = {.size = sizeof(SapSceneStart)},
                 [SAP_ROWS_TENDON_TERMS] = {.size = sizeof(SapSceneTerm)},
                 [SAP_ROWS_KEYFRAMES] = {.size = sizeof(SapSceneKeyframe)},
                 [SAP_ROWS_KEYFRAME_COORDS] = {.size = sizeof(SapSceneNumber)},
                 [SAP_ROWS_KEYFRAME_DOFS] = {.size = sizeof(SapSceneNumber)}},
        .hulls = {.size = sizeof(SapHullShape)},
    };
}

void sap_scene_builder_free(SapSceneBuilder *builder) {
    for (size_t i = 0; i < sizeof builder->rows / sizeof *builder->rows; i++)
        free(builder->rows[i].items);
    for (int i = 0; i < builder->hulls.count; i++)
        sap_hull_free(sap_scene_hull(builder, i));
    free(builder->hulls.items);
    free(builder->body_names.slots);
    free(builder->joint_names.slots);
    free(builder->constraint_names.slots);
    free(builder->tendon_names.slots);
    free(builder->mesh_files.slots);
}

SapStatus sap_scene_out_of_memory(const SapSceneBuilder *builder) {
    return sap_fail_at(builder->file, 0, SAP_ERROR_MEMORY, "out of memory while building the scene");
}

/* Counts stay far below INT_MAX: a document has at most SAP_YAML_MAX_NODES values, a joint at most 7 coordinates, and
 * the numbers of vertices and heights are limited where they are read. */
static SapStatus make_room(const SapSceneBuilder *builder, SapSceneRows *rows, int count) {
    int capacity = rows->capacity == 0 ? 16 : rows->capacity;
    while (capacity < rows->count + count)
        capacity *= 2;
    if (capacity == rows->capacity)
        return SAP_OK;
    void *larger = realloc(rows->items, (size_t)capacity * rows->size);
    if (larger == NULL)
        return sap_scene_out_of_memory(builder);
    rows->items = larger;
    rows->capacity = capacity;
    return SAP_OK;
}

static SapStatus append_rows(const SapSceneBuilder *builder, SapSceneRows *rows, int count, void **out) {
    SAP_TRY(make_room(builder, rows, count));
    *out = (char *)rows->items + (size_t)rows->count * rows->size;
    memset(*out, 0, (size_t)count * rows->size);
    rows->count += count;
    return SAP_OK;
}

SapStatus sap_scene_append_many(SapSceneBuilder *builder, SapModelRows which, int count, void **out) {
    return append_rows(builder, &builder->rows[which], count, out);
}

SapStatus sap_scene_append_hull(SapSceneBuilder *builder) {
    void *row;
    return append_rows(builder, &builder->hulls, 1, &row);
}

SapStatus sap_scene_append(SapSceneBuilder *builder, SapModelRows which, void **out) {
    return sap_scene_append_many(builder, which, 1, out);
}

/* ---- names: a hash table with linear probing, at most half full ---- */

struct SapSceneName {
    const char *name; /* NULL: free slot */
    int index;
};

static struct SapSceneName *slot_of(const SapSceneNames *names, const char *name) {
    uint64_t hash = 14695981039346656037u;
    for (const char *c = name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    size_t mask = (size_t)names->capacity - 1, i = (size_t)(hash ^ hash >> 32) & mask;
    while (names->slots[i].name != NULL && strcmp(names->slots[i].name, name) != 0)
        i = (i + 1) & mask;
    return &names->slots[i];
}

int sap_scene_find_name(const SapSceneNames *names, const char *name) {
    if (names->capacity == 0)
        return -1;
    const struct SapSceneName *slot = slot_of(names, name);
    return slot->name == NULL ? -1 : slot->index;
}

SapStatus sap_scene_refuse_name(const SapSceneNames *names, const SapYamlEntry *entry, const char *allowed) {
    char quote[SAP_QUOTE_SIZE];
    SapNearest nearest = sap_nearest_begin(entry->node->text);
    for (int i = 0; i < names->capacity; i++)
        if (names->slots[i].name != NULL)
            sap_nearest_try(&nearest, names->slots[i].name, strlen(names->slots[i].name));
    return sap_yaml_fail(entry, SAP_ERROR_PARSE, "%s%s; allowed: %s", sap_yaml_describe(entry->node, quote),
                         sap_nearest_hint(&nearest).text, allowed);
}

static bool grow_names(SapSceneNames *names) {
    SapSceneNames larger = {.count = names->count, .capacity = names->capacity == 0 ? 64 : 2 * names->capacity};
    larger.slots = calloc((size_t)larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL)
        return false;
    for (int i = 0; i < names->capacity; i++)
        if (names->slots[i].name != NULL)
            *slot_of(&larger, names->slots[i].name) = names->slots[i];
    free(names->slots);
    *names = larger;
    return true;
}

static SapStatus add_name(SapSceneBuilder *builder, SapSceneNames *names, const SapYamlEntry *entry, const char *name,
                          int index) {
    char quote[SAP_QUOTE_SIZE];
    if (2 * (names->count + 1) > names->capacity && !grow_names(names))
        return sap_scene_out_of_memory(builder);
    struct SapSceneName *slot = slot_of(names, name);
    if (slot->name != NULL && slot->index != index)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "the name %s is taken by %s[%d]; names must differ",
                             sap_quote(name, quote), entry->key, slot->index);
    if (slot->name == NULL)
        names->count++;
    *slot = (struct SapSceneName){name, index};
    return SAP_OK;
}

SapStatus sap_scene_add_names(SapSceneBuilder *builder, SapSceneNames *names, const SapYamlEntry *entry, const char *id,
                              const char *label, int index) {
    SAP_TRY(add_name(builder, names, entry, id, index));
    return add_name(builder, names, entry, label, index);
}

/* ---- the arrays of the model and their columns in the builder ---- */

typedef struct Column {
    const char *name;
    size_t offset;
    bool editable;
} Column;

#define COLUMN(array, row, member)                                                                                     \
    { #array, offsetof(row, member), false }
#define EDITABLE(array, row, member)                                                                                   \
    { #array, offsetof(row, member), true }

static const Column columns[] = {
    COLUMN(body_name, SapSceneBody, label),
    COLUMN(body_mass, SapSceneBody, mass.mass),
    COLUMN(body_com, SapSceneBody, mass.com),
    COLUMN(body_inertia, SapSceneBody, mass.inertia),
    COLUMN(body_gravcomp, SapSceneBody, gravcomp),
    COLUMN(joint_name, SapSceneJoint, label),
    COLUMN(joint_type, SapSceneJoint, type),
    COLUMN(joint_parent, SapSceneJoint, parent),
    COLUMN(joint_child, SapSceneJoint, child),
    COLUMN(joint_dof_dim, SapSceneJoint, dim),
    COLUMN(joint_filter_parent, SapSceneJoint, filter_parent),
    COLUMN(joint_X_p, SapSceneJoint, X_p),
    COLUMN(joint_X_c, SapSceneJoint, X_c),
    COLUMN(joint_axis, SapSceneDof, axis),
    EDITABLE(joint_armature, SapSceneDof, armature),
    EDITABLE(joint_damping, SapSceneDof, damping),
    EDITABLE(joint_friction, SapSceneDof, friction),
    EDITABLE(joint_effort_limit, SapSceneDof, effort_limit),
    EDITABLE(joint_target_mode, SapSceneDof, target_mode),
    EDITABLE(joint_target_ke, SapSceneDof, target_ke),
    EDITABLE(joint_target_kd, SapSceneDof, target_kd),
    EDITABLE(joint_target_pos, SapSceneDof, target_pos),
    EDITABLE(joint_target_vel, SapSceneDof, target_vel),
    EDITABLE(joint_limit_lower, SapSceneDof, limit_lower),
    EDITABLE(joint_limit_upper, SapSceneDof, limit_upper),
    EDITABLE(joint_limit_ke, SapSceneDof, limit_ke),
    EDITABLE(joint_limit_kd, SapSceneDof, limit_kd),
    EDITABLE(joint_q, SapSceneCoord, q),
    EDITABLE(joint_qd, SapSceneDof, qd),
    EDITABLE(joint_f, SapSceneDof, f),
    EDITABLE(joint_act, SapSceneDof, act),
    COLUMN(shape_name, SapSceneShape, label),
    COLUMN(shape_type, SapSceneShape, type),
    COLUMN(shape_body, SapSceneShape, body),
    COLUMN(shape_transform, SapSceneShape, pose),
    COLUMN(shape_scale, SapSceneShape, scale),
    EDITABLE(shape_margin, SapSceneShape, margin),
    EDITABLE(shape_gap, SapSceneShape, gap),
    EDITABLE(shape_material_mu, SapSceneShape, mu),
    EDITABLE(shape_material_ke, SapSceneShape, ke),
    EDITABLE(shape_material_tau, SapSceneShape, tau),
    EDITABLE(shape_material_dissipation, SapSceneShape, dissipation),
    EDITABLE(shape_collision_group, SapSceneShape, collision_group),
    EDITABLE(shape_flags, SapSceneShape, flags),
    COLUMN(shape_mesh, SapSceneShape, mesh),
    COLUMN(body_filter_pairs, SapScenePair, members),
    COLUMN(shape_filter_pairs, SapScenePair, members),
    COLUMN(mesh_start, SapSceneStart, start),
    COLUMN(mesh_vertices, SapSceneVertex, position),
    COLUMN(height_field_size, SapSceneGrid, size),
    COLUMN(heights, SapSceneNumber, value),
    COLUMN(constraint_name, SapSceneConstraint, label),
    COLUMN(constraint_type, SapSceneConstraint, type),
    COLUMN(constraint_body, SapSceneConstraint, body),
    COLUMN(constraint_X, SapSceneConstraint, X),
    COLUMN(constraint_coordinate, SapSceneConstraint, coordinate),
    COLUMN(constraint_polynomial, SapSceneConstraint, polynomial),
    COLUMN(constraint_reference, SapSceneConstraint, reference),
    COLUMN(constraint_ke, SapSceneConstraint, ke),
    COLUMN(constraint_kd, SapSceneConstraint, kd),
    EDITABLE(constraint_length, SapSceneConstraint, length),
    EDITABLE(constraint_side, SapSceneConstraint, side),
    EDITABLE(constraint_active, SapSceneConstraint, active),
    COLUMN(tendon_name, SapSceneTendon, label),
    COLUMN(tendon_start, SapSceneStart, start),
    COLUMN(tendon_term_type, SapSceneTerm, type),
    COLUMN(tendon_term_index, SapSceneTerm, index),
    COLUMN(tendon_term_value, SapSceneTerm, value),
    EDITABLE(tendon_offset, SapSceneTendon, offset),
    EDITABLE(tendon_limit_lower, SapSceneTendon, limit_lower),
    EDITABLE(tendon_limit_upper, SapSceneTendon, limit_upper),
    EDITABLE(tendon_limit_ke, SapSceneTendon, limit_ke),
    EDITABLE(tendon_limit_kd, SapSceneTendon, limit_kd),
    EDITABLE(tendon_spring_ke, SapSceneTendon, spring_ke),
    EDITABLE(tendon_spring_lower, SapSceneTendon, spring_lower),
    EDITABLE(tendon_spring_upper, SapSceneTendon, spring_upper),
    EDITABLE(tendon_armature, SapSceneTendon, armature),
    EDITABLE(tendon_damping, SapSceneTendon, damping),
    EDITABLE(tendon_friction, SapSceneTendon, friction),
    EDITABLE(tendon_target_ke, SapSceneTendon, target_ke),
    EDITABLE(tendon_target_kd, SapSceneTendon, target_kd),
    EDITABLE(tendon_effort_limit, SapSceneTendon, effort_limit),
    EDITABLE(tendon_target_pos, SapSceneTendon, target_pos),
    EDITABLE(tendon_target_vel, SapSceneTendon, target_vel),
    EDITABLE(tendon_target_mode, SapSceneTendon, target_mode),
    COLUMN(keyframe_name, SapSceneKeyframe, name),
    COLUMN(keyframe_joint_q, SapSceneNumber, value),
    COLUMN(keyframe_joint_qd, SapSceneNumber, value),
    COLUMN(articulation_name, SapSceneArticulation, label),
};

enum { NUM_COLUMNS = sizeof columns / sizeof columns[0] };

bool sap_scene_column(const char *name, SapSceneColumn *out) {
    for (int i = 0; i < NUM_COLUMNS; i++)
        if (columns[i].editable && strcmp(columns[i].name, name) == 0) {
            *out = (SapSceneColumn){sap_model_field(name), columns[i].offset};
            return true;
        }
    return false;
}

SapList sap_scene_column_names(void) {
    SapList list = {.length = 0};
    for (int i = 0; i < NUM_COLUMNS; i++)
        if (columns[i].editable)
            sap_list_add(&list, columns[i].name);
    return list;
}

static void *cell(const SapSceneBuilder *builder, SapModelRows rows, size_t offset, int row) {
    const SapSceneRows *table = &builder->rows[rows];
    return (char *)table->items + (size_t)row * table->size + offset;
}

double sap_scene_get(const SapSceneBuilder *builder, SapSceneColumn column, int row) {
    const void *value = cell(builder, column.field->rows, column.offset, row);
    return column.field->element == SAP_ELEMENT_I32 ? *(const int32_t *)value : *(const double *)value;
}

void sap_scene_set(SapSceneBuilder *builder, SapSceneColumn column, int row, double value) {
    void *target = cell(builder, column.field->rows, column.offset, row);
    if (column.field->element == SAP_ELEMENT_I32)
        *(int32_t *)target = (int32_t)value;
    else
        *(double *)target = value;
}

static size_t element_size(SapElement element) {
    switch (element) {
    case SAP_ELEMENT_I32: return sizeof(int32_t);
    case SAP_ELEMENT_F64: return sizeof(double);
    case SAP_ELEMENT_TEXT: break;
    }
    return sizeof(const char *);
}

/* Copies one column of the rows into a contiguous array. */
static void *gather(const SapSceneBuilder *builder, const SapModelField *field, size_t offset) {
    size_t size = (size_t)field->columns * element_size(field->element);
    int count = builder->rows[field->rows].count;
    char *array = malloc((size_t)count * size + 1);
    for (int i = 0; array != NULL && i < count; i++)
        memcpy(array + (size_t)i * size, cell(builder, field->rows, offset, i), size);
    return array;
}

static int32_t *gather_articulation_starts(const SapSceneBuilder *builder) {
    const SapSceneRows *table = &builder->rows[SAP_ROWS_ARTICULATIONS];
    int32_t *starts = malloc(((size_t)table->count + 1) * sizeof *starts);
    for (int i = 0; starts != NULL && i < table->count; i++)
        starts[i] = ((const SapSceneArticulation *)table->items)[i].start;
    if (starts != NULL)
        starts[table->count] = sap_scene_count(builder, SAP_ROWS_JOINTS);
    return starts;
}

/* sap_model_create; its messages are prefixed with the file name. */
static SapStatus create_model(const SapSceneBuilder *builder, const SapModelArrays *arrays, SapModel **out) {
    SapStatus status = sap_model_create_with(arrays, builder->hulls.items, out);
    if (status == SAP_OK)
        return SAP_OK;
    char text[1024];
    snprintf(text, sizeof text, "%s", sap_error_message());
    return sap_fail_at(builder->file, 0, status, "%s", text);
}

SapStatus sap_scene_finish(const SapSceneBuilder *builder, const char *name, SapModel **out) {
    /* Counts. */
    void *owned[NUM_COLUMNS + 1] = {NULL};
    SapModelArrays arrays;
    bool complete = true;
    sap_model_arrays_default(&arrays);
    arrays.name = name;
    arrays.num_bodies = sap_scene_count(builder, SAP_ROWS_BODIES);
    arrays.num_joints = sap_scene_count(builder, SAP_ROWS_JOINTS);
    arrays.num_dofs = sap_scene_count(builder, SAP_ROWS_DOFS);
    arrays.num_coords = sap_scene_count(builder, SAP_ROWS_COORDS);
    arrays.num_shapes = sap_scene_count(builder, SAP_ROWS_SHAPES);
    arrays.num_articulations = sap_scene_count(builder, SAP_ROWS_ARTICULATIONS);
    arrays.num_filter_pairs = sap_scene_count(builder, SAP_ROWS_FILTER_PAIRS);
    arrays.num_shape_filter_pairs = sap_scene_count(builder, SAP_ROWS_SHAPE_FILTER_PAIRS);
    int mesh_starts = sap_scene_count(builder, SAP_ROWS_MESH_STARTS);
    arrays.num_meshes = mesh_starts > 0 ? mesh_starts - 1 : 0;
    arrays.num_mesh_vertices = sap_scene_count(builder, SAP_ROWS_MESH_VERTICES);
    arrays.num_height_fields = sap_scene_count(builder, SAP_ROWS_HEIGHT_FIELDS);
    arrays.num_heights = sap_scene_count(builder, SAP_ROWS_HEIGHTS);
    arrays.num_constraints = sap_scene_count(builder, SAP_ROWS_CONSTRAINTS);
    arrays.num_tendons = sap_scene_count(builder, SAP_ROWS_TENDONS);
    arrays.num_tendon_terms = sap_scene_count(builder, SAP_ROWS_TENDON_TERMS);
    arrays.num_keyframes = sap_scene_count(builder, SAP_ROWS_KEYFRAMES);
    memcpy(arrays.gravity, builder->gravity, sizeof arrays.gravity);
    /* Columns of the tables. */
    for (int i = 0; i < NUM_COLUMNS; i++) {
        const SapModelField *field = sap_model_field(columns[i].name);
        owned[i] = gather(builder, field, columns[i].offset);
        complete = complete && owned[i] != NULL;
        /* Without meshes or tendons the model creates mesh_start and tendon_start itself. */
        bool empty = builder->rows[field->rows].count == 0;
        sap_model_field_set(&arrays, field, empty ? NULL : owned[i]);
    }
    /* Starts of articulations; without any the model makes one. */
    if (arrays.num_articulations > 0) {
        owned[NUM_COLUMNS] = gather_articulation_starts(builder);
        complete = complete && owned[NUM_COLUMNS] != NULL;
        arrays.articulation_start = owned[NUM_COLUMNS];
    }
    /* The model copies the arrays. */
    SapStatus status = complete ? create_model(builder, &arrays, out) : sap_scene_out_of_memory(builder);
    for (int i = 0; i <= NUM_COLUMNS; i++)
        free(owned[i]);
    return status;
}
