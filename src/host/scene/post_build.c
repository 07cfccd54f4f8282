/* Edits of a scene after its bodies and joints are read: initial_joint_q and the post_build operations. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/scene/builder.h"
#include "host/scene/selectors.h"

/* ---- values ---- */

/* Reads one number for an array, checked against the range of that array. */
static SapStatus read_element(const SapYamlEntry *entry, const SapModelField *field, double *out) {
    int whole;
    int32_t mode;
    switch (field->range) {
    case SAP_RANGE_TARGET_MODE:
        SAP_TRY(sap_scene_mode(entry, &mode));
        *out = mode;
        return SAP_OK;
    case SAP_RANGE_FLAG:
        SAP_TRY(sap_scene_integer(entry, 0, 1, &whole));
        *out = whole;
        return SAP_OK;
    case SAP_RANGE_SIDE:
        SAP_TRY(sap_scene_integer(entry, -1, 1, &whole));
        *out = whole;
        return SAP_OK;
    case SAP_RANGE_SHAPE_FLAGS:
        /* Bit 4 enables collisions with particles, which are not supported and ignored. */
        SAP_TRY(sap_scene_integer(entry, 0, 7, &whole));
        *out = whole & (SAP_SHAPE_VISIBLE | SAP_SHAPE_COLLIDES);
        return SAP_OK;
    default: break;
    }
    if (field->element != SAP_ELEMENT_I32)
        return sap_scene_number(entry, field->range, out);
    SAP_TRY(sap_scene_integer(entry, INT32_MIN, INT32_MAX, &whole));
    *out = whole;
    return SAP_OK;
}

/* A scalar is assigned to every selected row; a list has one value per row. */
static SapStatus assign(SapSceneBuilder *builder, SapSceneColumn column, const SapSceneSelection *selection,
                        const SapYamlEntry *values) {
    bool is_list = values->node->kind == SAP_YAML_LIST;
    double value = 0;
    if (is_list && values->node->count != selection->count)
        return sap_yaml_fail(values, SAP_ERROR_PARSE, "a list of %d for %d entries of %s", values->node->count,
                             selection->count, column.field->name);
    for (int i = 0; i < selection->count; i++) {
        if (is_list || i == 0)
            SAP_TRY(read_element(is_list ? &values->node->entries[i] : values, column.field, &value));
        sap_scene_set(builder, column, selection->rows[i], value);
    }
    return SAP_OK;
}

static SapStatus read_column(const SapYamlEntry *entry, SapSceneColumn *out) {
    static const char *const missing[] = {"shape_material_restitution", "shape_material_mu_torsional",
                                          "shape_material_mu_rolling", "shape_material_kh"};
    const char *name;
    SAP_TRY(sap_scene_text(entry, &name));
    if (sap_scene_column(name, out))
        return SAP_OK;
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (strcmp(name, missing[i]) == 0)
            return sap_yaml_fail(entry, SAP_ERROR_UNSUPPORTED, "'%s' is not supported in this version", name);
    return sap_scene_refuse(entry, sap_scene_column_names().text);
}

/* ---- operations ---- */

static const SapSceneField op_fields[] = {SAP_SCENE_NO_TARGET("op", ELSEWHERE)};

/* Reads the keys of an operation: op, the keys of `own`, and selectors if there are any. */
static SapStatus read_op(const SapYamlEntry *op, SapSceneTable own, SapSceneSelector *selector) {
    const SapSceneTable tables[] = {
        SAP_SCENE_TABLE(op_fields, NULL),
        own,
        sap_scene_selector_keys(selector),
    };
    return sap_scene_read(op, tables, selector != NULL ? 3 : 2);
}

/* Picks one of two keys, exactly one of which must be given. */
static SapStatus either(const SapYamlEntry *op, const SapYamlEntry *a, const char *a_key, const SapYamlEntry *b,
                        const char *b_key, const SapYamlEntry **out) {
    *out = a != NULL ? a : b;
    if ((a == NULL) == (b == NULL))
        return sap_yaml_fail(op, SAP_ERROR_PARSE, "%s of '%s' and '%s'; give one", a == NULL ? "none" : "both", a_key,
                             b_key);
    return SAP_OK;
}

/* Copies entry by entry; the two selections may be in tables of different length. */
static SapStatus copy_columns(SapSceneBuilder *builder, const SapYamlEntry *op, SapSceneColumn from,
                              const SapSceneSelector *from_rows, SapSceneColumn to, const SapSceneSelector *to_rows) {
    SapSceneSelection source = {0}, target = {0};
    SapStatus status = sap_scene_select(builder, from_rows, from.field->rows, op, &source);
    if (status == SAP_OK)
        status = sap_scene_select(builder, to_rows, to.field->rows, op, &target);
    if (status == SAP_OK && source.count != target.count)
        status = sap_yaml_fail(op, SAP_ERROR_PARSE, "%d entries of %s for %d entries of %s", source.count,
                               from.field->name, target.count, to.field->name);
    /* The selections may overlap within one array: read all values before writing. */
    double *values = status == SAP_OK ? malloc((size_t)source.count * sizeof *values) : NULL;
    if (status == SAP_OK && values == NULL)
        status = sap_scene_out_of_memory(builder);
    for (int i = 0; status == SAP_OK && i < source.count; i++)
        values[i] = sap_scene_get(builder, from, source.rows[i]);
    for (int i = 0; status == SAP_OK && i < source.count; i++)
        sap_scene_set(builder, to, target.rows[i], values[i]);
    free(values);
    free(source.rows);
    free(target.rows);
    return status;
}

/* The range without the bound of lengths, which the rules of the model check. */
static SapRange without_bound(SapRange range) {
    return range == SAP_RANGE_LENGTH          ? SAP_RANGE_FINITE
           : range == SAP_RANGE_LENGTH_FROM_0 ? SAP_RANGE_NON_NEGATIVE
                                              : range;
}

static SapStatus check_copy(const SapYamlEntry *entry, SapSceneColumn from, SapSceneColumn to) {
    /* Integers are copied to the same kind of integers only, and negative numbers only to arrays that allow them. */
    SapRange source = without_bound(from.field->range), target = without_bound(to.field->range);
    if (source == target || (from.field->element == SAP_ELEMENT_F64 && target == SAP_RANGE_FINITE))
        return SAP_OK;
    return sap_yaml_fail(entry, SAP_ERROR_PARSE, "the values of %s do not fit %s", from.field->name, to.field->name);
}

static SapStatus set_array(SapSceneBuilder *builder, const SapYamlEntry *op) {
    typedef struct Keys {
        const SapYamlEntry *array, *value, *from_array;
    } Keys;
    static const SapSceneField fields[] = {
        SAP_SCENE_REQUIRED("array", ENTRY, Keys, array),
        SAP_SCENE_FIELD("value", ENTRY, Keys, value),
        SAP_SCENE_FIELD("values", ENTRY, Keys, value),
        SAP_SCENE_FIELD("from_array", ENTRY, Keys, from_array),
    };
    /* Keys and the array to edit. */
    Keys keys = {0};
    SapSceneSelector selector = {0};
    SapSceneSelection selection = {0};
    SapSceneColumn column, from;
    const SapYamlEntry *source = NULL;
    SAP_TRY(read_op(op, (SapSceneTable)SAP_SCENE_TABLE(fields, &keys), &selector));
    SAP_TRY(read_column(keys.array, &column));
    SAP_TRY(either(op, keys.value, "value", keys.from_array, "from_array", &source));
    /* Copy from another array, with the same selection. */
    if (source == keys.from_array) {
        SAP_TRY(read_column(source, &from));
        SAP_TRY(check_copy(source, from, column));
        return copy_columns(builder, op, from, &selector, column, &selector);
    }
    /* Assign a value to the selected rows. */
    SapStatus status = sap_scene_select(builder, &selector, column.field->rows, op, &selection);
    if (status == SAP_OK)
        status = assign(builder, column, &selection, source);
    free(selection.rows);
    return status;
}

static SapStatus copy_array(SapSceneBuilder *builder, const SapYamlEntry *op) {
    typedef struct Keys {
        const SapYamlEntry *to, *from, *from_range;
    } Keys;
    static const SapSceneField fields[] = {
        SAP_SCENE_REQUIRED("from_array", ENTRY, Keys, from),
        SAP_SCENE_FIELD("array", ENTRY, Keys, to),
        SAP_SCENE_FIELD("to_array", ENTRY, Keys, to),
        SAP_SCENE_FIELD("from_range", ENTRY, Keys, from_range),
    };
    Keys keys = {0};
    SapSceneSelector target = {0};
    SapSceneColumn from, to;
    SAP_TRY(read_op(op, (SapSceneTable)SAP_SCENE_TABLE(fields, &keys), &target));
    if (keys.to == NULL)
        return sap_yaml_fail(op, SAP_ERROR_PARSE, "the key 'array' is missing");
    SAP_TRY(read_column(keys.from, &from));
    SAP_TRY(read_column(keys.to, &to));
    SAP_TRY(check_copy(keys.from, from, to));
    SapSceneSelector source = target;
    if (keys.from_range != NULL)
        source = (SapSceneSelector){.range = keys.from_range};
    return copy_columns(builder, op, from, &source, to, &target);
}

static SapStatus set_attr(SapSceneBuilder *builder, const SapYamlEntry *op) {
    typedef struct Keys {
        const SapYamlEntry *attr, *value;
    } Keys;
    static const SapSceneField fields[] = {
        SAP_SCENE_FIELD("attr", ENTRY, Keys, attr),
        SAP_SCENE_FIELD("attribute", ENTRY, Keys, attr),
        SAP_SCENE_FIELD("name", ENTRY, Keys, attr),
        SAP_SCENE_REQUIRED("value", ENTRY, Keys, value),
    };
    Keys keys = {0};
    const char *name;
    SAP_TRY(read_op(op, (SapSceneTable)SAP_SCENE_TABLE(fields, &keys), NULL));
    if (keys.attr == NULL)
        return sap_yaml_fail(op, SAP_ERROR_PARSE, "the key 'attr' is missing");
    SAP_TRY(sap_scene_text(keys.attr, &name));
    if (strcmp(name, "gravity") == 0)
        return sap_scene_gravity(keys.value, builder->gravity);
    if (strcmp(name, "rigid_gap") == 0)
        return sap_scene_number(keys.value, SAP_RANGE_NON_NEGATIVE, &builder->rigid_gap);
    return sap_scene_refuse(keys.attr, "gravity, rigid_gap");
}

/* Assigns to the column of that name. */
static SapStatus assign_to(SapSceneBuilder *builder, const char *array, const SapSceneSelection *selection,
                           const SapYamlEntry *values) {
    SapSceneColumn column;
    if (values == NULL || !sap_scene_column(array, &column))
        return SAP_OK;
    return assign(builder, column, selection, values);
}

typedef struct TargetKeys {
    const SapYamlEntry *mode, *ke, *kd, *pos, *vel;
} TargetKeys;

static SapStatus assign_targets(SapSceneBuilder *builder, const TargetKeys *keys, const SapSceneSelection *selection) {
    SAP_TRY(assign_to(builder, "joint_target_mode", selection, keys->mode));
    SAP_TRY(assign_to(builder, "joint_target_ke", selection, keys->ke));
    SAP_TRY(assign_to(builder, "joint_target_kd", selection, keys->kd));
    SAP_TRY(assign_to(builder, "joint_target_pos", selection, keys->pos));
    return assign_to(builder, "joint_target_vel", selection, keys->vel);
}

static SapStatus set_joint_targets(SapSceneBuilder *builder, const SapYamlEntry *op) {
    static const SapSceneField fields[] = {
        SAP_SCENE_FIELD("mode", ENTRY, TargetKeys, mode),      SAP_SCENE_FIELD("target_mode", ENTRY, TargetKeys, mode),
        SAP_SCENE_FIELD("ke", ENTRY, TargetKeys, ke),          SAP_SCENE_FIELD("target_ke", ENTRY, TargetKeys, ke),
        SAP_SCENE_FIELD("kd", ENTRY, TargetKeys, kd),          SAP_SCENE_FIELD("target_kd", ENTRY, TargetKeys, kd),
        SAP_SCENE_FIELD("target_pos", ENTRY, TargetKeys, pos), SAP_SCENE_FIELD("target_vel", ENTRY, TargetKeys, vel),
    };
    TargetKeys keys = {0};
    SapSceneSelector selector = {0};
    SapSceneSelection selection = {0};
    SAP_TRY(read_op(op, (SapSceneTable)SAP_SCENE_TABLE(fields, &keys), &selector));
    SapStatus status = sap_scene_select(builder, &selector, SAP_ROWS_DOFS, op, &selection);
    if (status == SAP_OK)
        status = assign_targets(builder, &keys, &selection);
    free(selection.rows);
    return status;
}

static SapStatus set_joint_armature(SapSceneBuilder *builder, const SapYamlEntry *op) {
    static const SapSceneField fields[] = {
        {"value", SAP_SCENE_ENTRY, 0, SAP_RANGE_FINITE, false},
        {"values", SAP_SCENE_ENTRY, 0, SAP_RANGE_FINITE, false},
        {"armature", SAP_SCENE_ENTRY, 0, SAP_RANGE_FINITE, false},
    };
    const SapYamlEntry *values = NULL;
    SapSceneSelector selector = {0};
    SapSceneSelection selection = {0};
    SAP_TRY(read_op(op, (SapSceneTable)SAP_SCENE_TABLE(fields, &values), &selector));
    if (values == NULL)
        return sap_yaml_fail(op, SAP_ERROR_PARSE, "the key 'value' is missing");
    SapStatus status = sap_scene_select(builder, &selector, SAP_ROWS_DOFS, op, &selection);
    if (status == SAP_OK)
        status = assign_to(builder, "joint_armature", &selection, values);
    free(selection.rows);
    return status;
}

/* The coordinate of a dof, or -1 if a quaternion replaces the three angles. */
static int coord_of_dof(const SapSceneBuilder *builder, int joint, int dof) {
    const SapSceneJoint *j = sap_scene_joint(builder, joint);
    return j->num_coords == j->num_dofs ? j->first_coord + dof - j->first_dof : -1;
}

static SapStatus copy_joint_q_to_joint_targets(SapSceneBuilder *builder, const SapYamlEntry *op) {
    SapSceneSelector selector = {0};
    SapSceneSelection selection = {0};
    SAP_TRY(read_op(op, (SapSceneTable){0}, &selector));
    SapStatus status = sap_scene_select(builder, &selector, SAP_ROWS_DOFS, op, &selection);
    int joint = 0;
    for (int i = 0; status == SAP_OK && i < selection.count; i++) {
        int dof = selection.rows[i];
        /* Selections are mostly ascending, so the search for the joint starts at the last one found. */
        if (dof < sap_scene_joint(builder, joint)->first_dof)
            joint = 0;
        while (dof >= sap_scene_joint(builder, joint)->first_dof + sap_scene_joint(builder, joint)->num_dofs)
            joint++;
        int coord = coord_of_dof(builder, joint, dof);
        if (coord >= 0)
            sap_scene_dof(builder, dof)->target_pos = sap_scene_coord(builder, coord)->q;
    }
    free(selection.rows);
    return status;
}

static SapStatus scale_sphere_shapes(SapSceneBuilder *builder, const SapYamlEntry *op) {
    static const SapSceneField fields[] = {{"factor", SAP_SCENE_NUMBER, 0, SAP_RANGE_POSITIVE, true}};
    double factor;
    SAP_TRY(read_op(op, (SapSceneTable)SAP_SCENE_TABLE(fields, &factor), NULL));
    for (int i = 0; i < sap_scene_count(builder, SAP_ROWS_SHAPES); i++)
        if (sap_scene_shape(builder, i)->type == SAP_SHAPE_SPHERE)
            sap_scene_shape(builder, i)->scale[0] *= factor;
    return SAP_OK;
}

static SapStatus add_shape(SapSceneBuilder *builder, const SapYamlEntry *op) {
    static const SapSceneField fields[] = {SAP_SCENE_NO_TARGET("op", ELSEWHERE),
                                           SAP_SCENE_NO_TARGET("body", ELSEWHERE)};
    const SapYamlEntry *name = sap_yaml_find(op->node, "body");
    int body = -1;
    if (name != NULL)
        SAP_TRY(sap_scene_read_body_name(builder, name, true, &body));
    return sap_scene_read_shape(builder, op, body, &(SapSceneTable)SAP_SCENE_TABLE(fields, NULL));
}

static SapStatus approximate_meshes(SapSceneBuilder *builder, const SapYamlEntry *op) {
    (void)builder;
    return sap_yaml_fail(sap_yaml_find(op->node, "op"), SAP_ERROR_UNSUPPORTED,
                         "'approximate_meshes' is not supported in this version");
}

/* ---- single coordinates: initial_joint_q and set_joint_q ---- */

typedef struct CoordKeys {
    const SapYamlEntry *index, *joint, *offset, *value;
} CoordKeys;

static const SapSceneField coord_fields[] = {
    SAP_SCENE_FIELD("index", ENTRY, CoordKeys, index),       SAP_SCENE_FIELD("joint", ENTRY, CoordKeys, joint),
    SAP_SCENE_FIELD("joint_label", ENTRY, CoordKeys, joint), SAP_SCENE_FIELD("offset", ENTRY, CoordKeys, offset),
    SAP_SCENE_FIELD("value", ENTRY, CoordKeys, value),       SAP_SCENE_FIELD("values", ENTRY, CoordKeys, value),
};

/* The coordinates that an entry refers to: from `first` up to at most `end`. */
static SapStatus read_coord_span(const SapSceneBuilder *builder, const SapYamlEntry *entry, const CoordKeys *keys,
                                 int *first, int *end) {
    const SapYamlEntry *which = NULL;
    char quote[SAP_QUOTE_SIZE];
    int joint, offset = 0, count = sap_scene_count(builder, SAP_ROWS_COORDS);
    SAP_TRY(either(entry, keys->index, "index", keys->joint, "joint", &which));
    *end = count;
    if (which == keys->index) {
        if (keys->offset != NULL)
            return sap_yaml_fail(keys->offset, SAP_ERROR_PARSE, "an offset goes with 'joint', not with 'index'");
        return sap_scene_read_index(keys->index, count, count - 1, first);
    }
    SAP_TRY(sap_scene_read_joint_name(builder, keys->joint, &joint));
    const SapSceneJoint *row = sap_scene_joint(builder, joint);
    if (row->num_coords == 0)
        return sap_yaml_fail(keys->joint, SAP_ERROR_PARSE, "%s is fixed and has no coordinates",
                             sap_quote(row->id, quote));
    if (keys->offset != NULL)
        SAP_TRY(sap_scene_integer(keys->offset, 0, row->num_coords - 1, &offset));
    *first = row->first_coord + offset;
    *end = row->first_coord + row->num_coords;
    return SAP_OK;
}

static SapStatus set_coords(SapSceneBuilder *builder, const SapYamlEntry *entry, const CoordKeys *keys) {
    int first, end;
    if (keys->value == NULL)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "the key 'value' is missing");
    SAP_TRY(read_coord_span(builder, entry, keys, &first, &end));
    const SapYamlNode *node = keys->value->node;
    if (node->kind != SAP_YAML_LIST)
        return sap_scene_number(keys->value, SAP_RANGE_FINITE, &sap_scene_coord(builder, first)->q);
    if (node->count > end - first)
        return sap_yaml_fail(keys->value, SAP_ERROR_PARSE, "a list of %d for %d coordinates", node->count, end - first);
    for (int i = 0; i < node->count; i++)
        SAP_TRY(sap_scene_number(&node->entries[i], SAP_RANGE_FINITE, &sap_scene_coord(builder, first + i)->q));
    return SAP_OK;
}

static SapStatus set_joint_q(SapSceneBuilder *builder, const SapYamlEntry *op) {
    CoordKeys keys = {0};
    SAP_TRY(read_op(op, (SapSceneTable)SAP_SCENE_TABLE(coord_fields, &keys), NULL));
    return set_coords(builder, op, &keys);
}

SapStatus sap_scene_read_initial_joint_q(SapSceneBuilder *builder, const SapYamlEntry *list) {
    SAP_TRY(sap_scene_expect_list(list));
    for (int i = 0; i < list->node->count; i++) {
        CoordKeys keys = {0};
        const SapYamlEntry *entry = &list->node->entries[i];
        SAP_TRY(sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(coord_fields, &keys), 1));
        SAP_TRY(set_coords(builder, entry, &keys));
    }
    return SAP_OK;
}

/* ---- the list of operations ---- */

typedef struct Operation {
    const char *name;
    SapStatus (*apply)(SapSceneBuilder *builder, const SapYamlEntry *op);
} Operation;

#define OPERATION(name)                                                                                                \
    { #name, name }

static const Operation operations[] = {
    OPERATION(set_array),          OPERATION(copy_array),  OPERATION(set_attr),
    OPERATION(set_joint_targets),  OPERATION(set_joint_q), OPERATION(copy_joint_q_to_joint_targets),
    OPERATION(set_joint_armature), OPERATION(add_shape),   OPERATION(scale_sphere_shapes),
    OPERATION(approximate_meshes),
};

static SapStatus apply_operation(SapSceneBuilder *builder, const SapYamlEntry *entry) {
    const SapYamlEntry *op = sap_yaml_find(entry->node, "op");
    const char *name;
    if (op == NULL)
        return entry->node->kind == SAP_YAML_MAP ? sap_yaml_fail(entry, SAP_ERROR_PARSE, "the key 'op' is missing")
                                                 : sap_scene_refuse(entry, "a map with the key op");
    SAP_TRY(sap_scene_text(op, &name));
    SapList allowed = {.length = 0};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strcmp(operations[i].name, name) == 0)
            return operations[i].apply(builder, entry);
        sap_list_add(&allowed, operations[i].name);
    }
    return sap_scene_refuse(op, allowed.text);
}

SapStatus sap_scene_read_post_build(SapSceneBuilder *builder, const SapYamlEntry *list) {
    SAP_TRY(sap_scene_expect_list(list));
    for (int i = 0; i < list->node->count; i++)
        SAP_TRY(apply_operation(builder, &list->node->entries[i]));
    return SAP_OK;
}
