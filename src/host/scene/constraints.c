/* Constraints of a scene, and what they share with tendons: bodies and coordinates by name. */
#include <math.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/nearest.h"
#include "host/model/constraint_types.h"
#include "host/model/joint_types.h"
#include "host/scene/builder.h"

/* ---- names ---- */

SapStatus sap_scene_read_anchor(const SapSceneBuilder *builder, const SapYamlEntry *entry, int *out) {
    const char *name;
    char quote[SAP_QUOTE_SIZE];
    SAP_TRY(sap_scene_text(entry, &name));
    *out = sap_scene_find_name(&builder->body_names, name);
    if (*out >= 0 || strcmp(name, "world") == 0)
        return SAP_OK;
    SapList allowed = {.length = 0};
    sap_list_add(&allowed, "world");
    for (int i = 0; i < sap_scene_count(builder, SAP_ROWS_BODIES); i++)
        sap_list_add(&allowed, sap_scene_body(builder, i)->id);
    return sap_yaml_fail(entry, SAP_ERROR_PARSE, "%s is not a body%s; allowed: %s", sap_quote(name, quote),
                         sap_hint(name, allowed.text).text, allowed.text);
}

SapStatus sap_scene_read_coordinate(const SapSceneBuilder *builder, const SapYamlEntry *joint, const SapYamlEntry *axis,
                                    const char *what, int *dof) {
    char quote[SAP_QUOTE_SIZE];
    int index, k = 0;
    SAP_TRY(sap_scene_read_joint_name(builder, joint, &index));
    const SapSceneJoint *row = sap_scene_joint(builder, index);
    const SapJointTypeRow *type = sap_joint_type(row->type);
    if (axis != NULL && type->axes != SAP_AXES_LISTED)
        return sap_yaml_fail(axis, SAP_ERROR_PARSE, "%s is a %s joint; only a d6 joint has a choice of axes",
                             sap_quote(row->id, quote), type->names[0]);
    bool is_one = row->num_dofs == 1 && sap_joint_has_plain_coords(type);
    if (!is_one && (axis == NULL || type->axes != SAP_AXES_LISTED))
        return sap_yaml_fail(joint, SAP_ERROR_PARSE,
                             "%s is a %s joint; %s takes joints with one axis, or an axis of a d6 joint",
                             sap_quote(row->id, quote), type->names[0], what);
    if (axis != NULL)
        SAP_TRY(sap_scene_integer(axis, 0, row->num_dofs - 1, &k));
    *dof = row->first_dof + k;
    return SAP_OK;
}

int sap_scene_moving_joint(const SapSceneBuilder *builder, int body) {
    while (body >= 0) {
        int j = sap_scene_body(builder, body)->joint;
        if (sap_scene_joint(builder, j)->num_dofs > 0)
            return j;
        body = sap_scene_joint(builder, j)->parent;
    }
    return -1;
}

/* ---- keys ---- */

typedef struct ConstraintKeys {
    SapSceneConstraint c;
    const SapConstraintTypeRow *type;
    bool active, collision_filter;
    const SapYamlEntry *body_a, *body_b, *placed_b, *length, *side, *kd, *angular_kd;
    const SapYamlEntry *joint, *axis, *tendon, *of, *of_axis, *of_tendon, *ratio_given, *offset_given, *polynomial;
} ConstraintKeys;

static const SapSceneField common_fields[] = {
    SAP_SCENE_REQUIRED("id", TEXT, ConstraintKeys, c.id),
    SAP_SCENE_FIELD("label", TEXT, ConstraintKeys, c.label),
    SAP_SCENE_NO_TARGET("type", ELSEWHERE),
    SAP_SCENE_IN_RANGE("ke", POSITIVE_OR_INF, ConstraintKeys, c.ke[0]),
    SAP_SCENE_FIELD("kd", ENTRY, ConstraintKeys, kd),
    SAP_SCENE_FIELD("active", FLAG, ConstraintKeys, active),
};
static const SapSceneField body_fields[] = {
    SAP_SCENE_REQUIRED("body_a", ENTRY, ConstraintKeys, body_a),
    SAP_SCENE_REQUIRED("body_b", ENTRY, ConstraintKeys, body_b),
    SAP_SCENE_FIELD("collision_filter", FLAG, ConstraintKeys, collision_filter),
};
static const SapSceneField ball_fields[] = {
    SAP_SCENE_FIELD("point_a", VECTOR, ConstraintKeys, c.X[0]),
    SAP_SCENE_FIELD("point_b", ENTRY, ConstraintKeys, placed_b),
};
static const SapSceneField weld_fields[] = {
    SAP_SCENE_FIELD("frame_a", POSE, ConstraintKeys, c.X[0]),
    SAP_SCENE_FIELD("frame_b", ENTRY, ConstraintKeys, placed_b),
    SAP_SCENE_IN_RANGE("angular_ke", POSITIVE_OR_INF, ConstraintKeys, c.ke[1]),
    SAP_SCENE_FIELD("angular_kd", ENTRY, ConstraintKeys, angular_kd),
};
static const SapSceneField distance_fields[] = {
    SAP_SCENE_FIELD("point_a", VECTOR, ConstraintKeys, c.X[0]),
    SAP_SCENE_FIELD("point_b", VECTOR, ConstraintKeys, c.X[1]),
    SAP_SCENE_FIELD("length", ENTRY, ConstraintKeys, length),
    SAP_SCENE_FIELD("side", ENTRY, ConstraintKeys, side),
};
static const SapSceneField coupler_fields[] = {
    SAP_SCENE_FIELD("joint", ENTRY, ConstraintKeys, joint),
    SAP_SCENE_FIELD("axis", ENTRY, ConstraintKeys, axis),
    SAP_SCENE_FIELD("tendon", ENTRY, ConstraintKeys, tendon),
    SAP_SCENE_FIELD("of", ENTRY, ConstraintKeys, of),
    SAP_SCENE_FIELD("of_axis", ENTRY, ConstraintKeys, of_axis),
    SAP_SCENE_FIELD("of_tendon", ENTRY, ConstraintKeys, of_tendon),
    SAP_SCENE_FIELD("ratio", ENTRY, ConstraintKeys, ratio_given),
    SAP_SCENE_FIELD("offset", ENTRY, ConstraintKeys, offset_given),
    SAP_SCENE_FIELD("polynomial", ENTRY, ConstraintKeys, polynomial),
    SAP_SCENE_IN_RANGE("reference", FINITE, ConstraintKeys, c.reference[0]),
    SAP_SCENE_IN_RANGE("of_reference", FINITE, ConstraintKeys, c.reference[1]),
    SAP_SCENE_FIELD("side", ENTRY, ConstraintKeys, side),
};

static SapStatus read_type(const SapYamlEntry *entry, const SapConstraintTypeRow **out) {
    const SapYamlEntry *type = sap_yaml_find(entry->node, "type");
    const char *name;
    if (type == NULL)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "the key 'type' is missing");
    SAP_TRY(sap_scene_text(type, &name));
    *out = sap_constraint_type_named(name);
    return *out != NULL ? SAP_OK : sap_scene_refuse(type, sap_constraint_type_list().text);
}

/* The keys of the map that a constraint of that type may have. */
static SapStatus read_map(const SapYamlEntry *entry, ConstraintKeys *keys) {
    SapSceneTable tables[] = {SAP_SCENE_TABLE(common_fields, keys), SAP_SCENE_TABLE(body_fields, keys), {0}};
    switch (keys->type->type) {
    case SAP_CONSTRAINT_BALL: tables[2] = (SapSceneTable)SAP_SCENE_TABLE(ball_fields, keys); break;
    case SAP_CONSTRAINT_WELD: tables[2] = (SapSceneTable)SAP_SCENE_TABLE(weld_fields, keys); break;
    case SAP_CONSTRAINT_DISTANCE: tables[2] = (SapSceneTable)SAP_SCENE_TABLE(distance_fields, keys); break;
    case SAP_CONSTRAINT_COUPLER:
        tables[1] = (SapSceneTable)SAP_SCENE_TABLE(coupler_fields, keys);
        return sap_scene_read(entry, tables, 2);
    }
    return sap_scene_read(entry, tables, 3);
}

/* ---- stiffness, side, length ---- */

static SapStatus read_damping(const SapYamlEntry *kd, double ke, const char *key, double *out) {
    if (kd == NULL)
        return SAP_OK;
    SAP_TRY(sap_scene_number(kd, SAP_RANGE_NON_NEGATIVE, out));
    if (!isinf(ke) || *out == 0)
        return SAP_OK;
    return sap_yaml_fail(kd, SAP_ERROR_PARSE,
                         "%g with %s inf; a rigid constraint has no damping of its own: leave %s out, or give %s", *out,
                         key, kd->key, key);
}

static SapStatus read_side(const SapYamlEntry *entry, int32_t *out) {
    static const char *const words[] = {"lower", "both", "upper"};
    const char *text;
    if (entry == NULL)
        return SAP_OK;
    SAP_TRY(sap_scene_text(entry, &text));
    for (int i = 0; i < 3; i++)
        if (strcmp(sap_keyword(text).text, words[i]) == 0) {
            *out = i - 1;
            return SAP_OK;
        }
    return sap_scene_refuse(entry, "both, lower, upper");
}

static SapStatus read_length(const SapYamlEntry *entry, double *out) {
    if (entry == NULL)
        return SAP_OK;
    SAP_TRY(sap_scene_number(entry, SAP_RANGE_FINITE, out));
    if (*out > 0)
        return SAP_OK;
    return sap_yaml_fail(entry, SAP_ERROR_PARSE, "%g; allowed: a number > 0. To join two points use type ball", *out);
}

/* ---- bodies ---- */

/* A body in a sentence: quoted, or the word world. */
static const char *body_text(const SapSceneBuilder *builder, int body, char quote[SAP_QUOTE_SIZE]) {
    return body < 0 ? "world" : sap_quote(sap_scene_body(builder, body)->id, quote);
}

static SapStatus check_bodies(const SapSceneBuilder *builder, const SapSceneConstraint *c) {
    char id[SAP_QUOTE_SIZE], a[SAP_QUOTE_SIZE], b[SAP_QUOTE_SIZE];
    int line = c->entry->line;
    if (c->body[0] == c->body[1])
        return sap_fail_at(builder->file, line, SAP_ERROR_PARSE,
                           "constraint %s: body_a and body_b are both %s; a constraint joins two bodies",
                           sap_quote(c->id, id), body_text(builder, c->body[0], a));
    int joint[2] = {sap_scene_moving_joint(builder, c->body[0]), sap_scene_moving_joint(builder, c->body[1])};
    if (joint[0] < 0 && joint[1] < 0)
        return sap_fail_at(
            builder->file, line, SAP_ERROR_PARSE,
            "constraint %s: neither %s nor %s can move; one of the bodies must hang on a joint with dofs",
            sap_quote(c->id, id), body_text(builder, c->body[0], a), body_text(builder, c->body[1], b));
    if (joint[0] == joint[1])
        return sap_fail_at(builder->file, line, SAP_ERROR_PARSE,
                           "constraint %s: %s and %s are joined by fixed joints and cannot move against each other",
                           sap_quote(c->id, id), body_text(builder, c->body[0], a), body_text(builder, c->body[1], b));
    return SAP_OK;
}

/* Reads frame_b or point_b; without it, b's frame is where a's is in the initial state. */
static SapStatus read_placed(const ConstraintKeys *keys, SapSceneConstraint *c) {
    c->placed = keys->placed_b != NULL || c->type == SAP_CONSTRAINT_DISTANCE;
    if (keys->placed_b == NULL)
        return SAP_OK;
    if (c->type == SAP_CONSTRAINT_WELD)
        return sap_scene_pose(keys->placed_b, c->X[1]);
    return sap_scene_numbers(keys->placed_b, 3, c->X[1]);
}

/* Keeps the shapes of the two bodies from colliding. */
static SapStatus add_filter(SapSceneBuilder *builder, const ConstraintKeys *keys) {
    void *row;
    if (!keys->collision_filter || keys->c.body[0] < 0 || keys->c.body[1] < 0)
        return SAP_OK;
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_FILTER_PAIRS, &row));
    *(SapScenePair *)row = (SapScenePair){{keys->c.body[0], keys->c.body[1]}};
    return SAP_OK;
}

static SapStatus read_bodies(SapSceneBuilder *builder, ConstraintKeys *keys) {
    SapSceneConstraint *c = &keys->c;
    SAP_TRY(sap_scene_read_anchor(builder, keys->body_a, &c->body[0]));
    SAP_TRY(sap_scene_read_anchor(builder, keys->body_b, &c->body[1]));
    SAP_TRY(check_bodies(builder, c));
    SAP_TRY(read_placed(keys, c));
    return add_filter(builder, keys);
}

/* ---- coordinates ---- */

/* A joint's coordinate, or a tendon: nv + its index. */
static SapStatus read_coordinate(const SapSceneBuilder *builder, const SapYamlEntry *joint, const SapYamlEntry *axis,
                                 const SapYamlEntry *tendon, int32_t *out) {
    const char *name;
    int dof = 0, index;
    if (joint != NULL && tendon != NULL)
        return sap_yaml_fail(tendon, SAP_ERROR_PARSE, "'%s' is given already; a coupler takes one of the two",
                             joint->key);
    if (joint != NULL) {
        SAP_TRY(sap_scene_read_coordinate(builder, joint, axis, "a coupler", &dof));
        *out = dof;
    } else if (tendon != NULL) {
        SAP_TRY(sap_scene_text(tendon, &name));
        index = sap_scene_find_name(&builder->tendon_names, name);
        if (index < 0)
            return sap_scene_refuse(tendon, "the id or label of a tendon");
        *out = sap_scene_count(builder, SAP_ROWS_DOFS) + index;
    }
    return SAP_OK;
}

static SapStatus read_polynomial(const SapSceneBuilder *builder, const ConstraintKeys *keys, double *polynomial) {
    const SapYamlEntry *given = keys->polynomial, *linear = keys->ratio_given ? keys->ratio_given : keys->offset_given;
    if (given != NULL && linear != NULL)
        return sap_fail_at(builder->file, given->line, SAP_ERROR_PARSE, "%s and polynomial exclude each other",
                           linear->key);
    if (keys->offset_given != NULL)
        SAP_TRY(sap_scene_number(keys->offset_given, SAP_RANGE_FINITE, &polynomial[0]));
    if (keys->ratio_given != NULL)
        SAP_TRY(sap_scene_number(keys->ratio_given, SAP_RANGE_FINITE, &polynomial[1]));
    if (given == NULL)
        return SAP_OK;
    SAP_TRY(sap_scene_expect_list(given));
    if (given->node->count < 1 || given->node->count > 5)
        return sap_yaml_fail(given, SAP_ERROR_PARSE, "%d numbers; allowed: 1 to 5", given->node->count);
    polynomial[1] = 0;
    return sap_scene_numbers(given, given->node->count, polynomial);
}

static SapStatus read_coupler(const SapSceneBuilder *builder, ConstraintKeys *keys) {
    SapSceneConstraint *c = &keys->c;
    char quote[SAP_QUOTE_SIZE];
    SAP_TRY(read_coordinate(builder, keys->joint, keys->axis, keys->tendon, &c->coordinate[0]));
    if (c->coordinate[0] < 0)
        return sap_yaml_fail(c->entry, SAP_ERROR_PARSE, "one of the keys 'joint' and 'tendon' is needed");
    SAP_TRY(read_coordinate(builder, keys->of, keys->of_axis, keys->of_tendon, &c->coordinate[1]));
    const SapYamlEntry *of = keys->of != NULL ? keys->of : keys->of_tendon;
    if (c->coordinate[0] == c->coordinate[1])
        return sap_yaml_fail(of, SAP_ERROR_PARSE, "%s is the %s itself", sap_quote(of->node->text, quote),
                             of == keys->of ? "joint" : "tendon");
    return read_polynomial(builder, keys, c->polynomial);
}

/* ---- all constraints ---- */

static SapStatus read_constraint(SapSceneBuilder *builder, const SapYamlEntry *entry) {
    ConstraintKeys keys = {.c = {.entry = entry,
                                 .body = {-1, -1},
                                 .coordinate = {-1, -1},
                                 .X = {{[6] = 1}, {[6] = 1}},
                                 .polynomial = {0, 1},
                                 .length = NAN,
                                 .ke = {INFINITY, INFINITY}},
                           .active = true};
    SapSceneConstraint *c = &keys.c;
    void *row;
    /* Keys that all types share. */
    if (entry->node->kind != SAP_YAML_MAP)
        return sap_scene_refuse(entry, "a map that describes a constraint");
    SAP_TRY(read_type(entry, &keys.type));
    SAP_TRY(read_map(entry, &keys));
    c->type = (int32_t)keys.type->type;
    c->label = c->label != NULL ? c->label : c->id;
    c->active = keys.active;
    SAP_TRY(sap_scene_add_names(builder, &builder->constraint_names, entry, c->id, c->label,
                                sap_scene_count(builder, SAP_ROWS_CONSTRAINTS)));
    SAP_TRY(read_damping(keys.kd, c->ke[0], "ke", &c->kd[0]));
    SAP_TRY(read_damping(keys.angular_kd, c->ke[1], "angular_ke", &c->kd[1]));
    SAP_TRY(read_side(keys.side, &c->side));
    SAP_TRY(read_length(keys.length, &c->length));
    /* What it joins. */
    SAP_TRY(keys.type->joins_bodies ? read_bodies(builder, &keys) : read_coupler(builder, &keys));
    if (c->type != SAP_CONSTRAINT_DISTANCE)
        c->length = 0;
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_CONSTRAINTS, &row));
    *(SapSceneConstraint *)row = *c;
    return SAP_OK;
}

SapStatus sap_scene_read_constraints(SapSceneBuilder *builder, const SapYamlEntry *list) {
    SAP_TRY(sap_scene_expect_list(list));
    for (int i = 0; i < list->node->count; i++)
        SAP_TRY(read_constraint(builder, &list->node->entries[i]));
    return SAP_OK;
}
