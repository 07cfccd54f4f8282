/* Tendons of a scene. */
#include <math.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/scene/builder.h"

typedef struct TendonKeys {
    SapSceneTendon t;
    const SapYamlEntry *joints, *coefficients, *path, *limit_kd;
} TendonKeys;

static const SapSceneField tendon_fields[] = {
    SAP_SCENE_REQUIRED("id", TEXT, TendonKeys, t.id),
    SAP_SCENE_FIELD("label", TEXT, TendonKeys, t.label),
    SAP_SCENE_FIELD("joints", ENTRY, TendonKeys, joints),
    SAP_SCENE_FIELD("coefficients", ENTRY, TendonKeys, coefficients),
    SAP_SCENE_FIELD("path", ENTRY, TendonKeys, path),
    SAP_SCENE_IN_RANGE("offset", FINITE, TendonKeys, t.offset),
    SAP_SCENE_IN_RANGE("limit_lower", FINITE_OR_NEG_INF, TendonKeys, t.limit_lower),
    SAP_SCENE_IN_RANGE("limit_upper", FINITE_OR_INF, TendonKeys, t.limit_upper),
    SAP_SCENE_IN_RANGE("limit_ke", POSITIVE_OR_INF, TendonKeys, t.limit_ke),
    SAP_SCENE_FIELD("limit_kd", ENTRY, TendonKeys, limit_kd),
    SAP_SCENE_IN_RANGE("spring_ke", NON_NEGATIVE, TendonKeys, t.spring_ke),
    SAP_SCENE_IN_RANGE("spring_lower", FINITE, TendonKeys, t.spring_lower),
    SAP_SCENE_IN_RANGE("spring_upper", FINITE, TendonKeys, t.spring_upper),
    SAP_SCENE_IN_RANGE("armature", NON_NEGATIVE, TendonKeys, t.armature),
    SAP_SCENE_IN_RANGE("damping", NON_NEGATIVE, TendonKeys, t.damping),
    SAP_SCENE_IN_RANGE("friction", NON_NEGATIVE, TendonKeys, t.friction),
    SAP_SCENE_IN_RANGE("target_pos", FINITE, TendonKeys, t.target_pos),
    SAP_SCENE_IN_RANGE("target_vel", FINITE, TendonKeys, t.target_vel),
    SAP_SCENE_IN_RANGE("target_ke", GAIN, TendonKeys, t.target_ke),
    SAP_SCENE_IN_RANGE("target_kd", GAIN, TendonKeys, t.target_kd),
    SAP_SCENE_IN_RANGE("effort_limit", POSITIVE_OR_INF, TendonKeys, t.effort_limit),
    SAP_SCENE_FIELD("actuator_mode", MODE, TendonKeys, t.target_mode),
};

static SapStatus add_term(SapSceneBuilder *builder, const SapSceneTerm *term) {
    void *row;
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_TENDON_TERMS, &row));
    *(SapSceneTerm *)row = *term;
    return SAP_OK;
}

/* "tendon 'cable': message" at the line of the tendon. */
#define FAIL(t, ...) sap_fail_at(builder->file, (t)->entry->line, SAP_ERROR_PARSE, "tendon %s: " __VA_ARGS__)

/* ---- fixed tendons ---- */

/* A joint by name, or {joint: d6, axis: k}. */
static SapStatus read_joint(const SapSceneBuilder *builder, const SapYamlEntry *item, int *dof,
                            const SapYamlEntry **name) {
    typedef struct Keys {
        const SapYamlEntry *joint, *axis;
    } Keys;
    static const SapSceneField fields[] = {
        SAP_SCENE_REQUIRED("joint", ENTRY, Keys, joint),
        SAP_SCENE_FIELD("axis", ENTRY, Keys, axis),
    };
    Keys keys = {.joint = item};
    if (item->node->kind == SAP_YAML_MAP)
        SAP_TRY(sap_scene_read(item, &(SapSceneTable)SAP_SCENE_TABLE(fields, &keys), 1));
    *name = keys.joint;
    return sap_scene_read_coordinate(builder, keys.joint, keys.axis, "a tendon", dof);
}

static SapStatus read_joints(SapSceneBuilder *builder, const TendonKeys *keys) {
    const SapYamlNode *joints = keys->joints->node;
    int first = sap_scene_count(builder, SAP_ROWS_TENDON_TERMS);
    char id[SAP_QUOTE_SIZE], quote[SAP_QUOTE_SIZE];
    /* Lists of one length. */
    SAP_TRY(sap_scene_expect_list(keys->joints));
    if (joints->count == 0)
        return sap_yaml_fail(keys->joints, SAP_ERROR_PARSE, "an empty list; a tendon has 1 joint or more");
    if (keys->coefficients == NULL)
        return sap_yaml_fail(keys->t.entry, SAP_ERROR_PARSE, "the key 'coefficients' is missing");
    SAP_TRY(sap_scene_expect_list(keys->coefficients));
    if (keys->coefficients->node->count != joints->count)
        return sap_yaml_fail(keys->coefficients, SAP_ERROR_PARSE, "%d numbers for %d joints",
                             keys->coefficients->node->count, joints->count);
    /* A term per joint. */
    for (int i = 0; i < joints->count; i++) {
        const SapYamlEntry *name, *number = &keys->coefficients->node->entries[i];
        SapSceneTerm term = {.type = SAP_TENDON_JOINT};
        SAP_TRY(read_joint(builder, &joints->entries[i], &term.index, &name));
        SAP_TRY(sap_scene_number(number, SAP_RANGE_FINITE, &term.value[0]));
        if (term.value[0] == 0)
            return sap_scene_refuse(number, "a finite number other than 0");
        for (int k = first; k < first + i; k++)
            if (sap_scene_term(builder, k)->index == term.index)
                return FAIL(&keys->t, "joint %s twice; add its coefficients", sap_quote(keys->t.id, id),
                            sap_quote(name->node->text, quote));
        SAP_TRY(add_term(builder, &term));
    }
    return SAP_OK;
}

/* ---- spatial tendons ---- */

static SapStatus read_path_item(SapSceneBuilder *builder, const SapYamlEntry *item, SapSceneTerm *term) {
    typedef struct Keys {
        const SapYamlEntry *body;
        double point[3], divisor;
    } Keys;
    static const SapSceneField point_fields[] = {
        SAP_SCENE_REQUIRED("body", ENTRY, Keys, body),
        SAP_SCENE_FIELD("point", VECTOR, Keys, point),
    };
    static const SapSceneField pulley_fields[] = {
        SAP_SCENE_IN_RANGE("pulley", POSITIVE, Keys, divisor),
    };
    /* Read the keys of a point or of a pulley. */
    Keys keys = {.divisor = 1};
    if (item->node->kind != SAP_YAML_MAP)
        return sap_scene_refuse(item, "a map of body and point, or of pulley");
    bool pulley = sap_yaml_find(item->node, "pulley") != NULL;
    SapSceneTable points = SAP_SCENE_TABLE(point_fields, &keys), pulleys = SAP_SCENE_TABLE(pulley_fields, &keys);
    SAP_TRY(sap_scene_read(item, pulley ? &pulleys : &points, 1));
    /* The term of the tendon. */
    *term = (SapSceneTerm){.type = pulley ? SAP_TENDON_PULLEY : SAP_TENDON_POINT, .index = -1};
    if (pulley)
        term->value[0] = keys.divisor;
    else
        memcpy(term->value, keys.point, sizeof keys.point);
    int body = -1;
    if (!pulley)
        SAP_TRY(sap_scene_read_anchor(builder, keys.body, &body));
    term->index = body;
    return SAP_OK;
}

static SapStatus check_branch(const SapYamlEntry *path, int branch, int points) {
    if (points >= 2)
        return SAP_OK;
    return sap_yaml_fail(path, SAP_ERROR_PARSE, "branch %d has %s; a branch has 2 or more", branch,
                         points == 1 ? "one point" : "no points");
}

static SapStatus read_path(SapSceneBuilder *builder, const TendonKeys *keys) {
    char id[SAP_QUOTE_SIZE], quote[SAP_QUOTE_SIZE];
    int points = 0, branch = 1, last = -1;
    bool moves = false;
    SAP_TRY(sap_scene_expect_list(keys->path));
    for (int i = 0; i < keys->path->node->count; i++) {
        SapSceneTerm term;
        SAP_TRY(read_path_item(builder, &keys->path->node->entries[i], &term));
        if (term.type == SAP_TENDON_PULLEY) {
            if (i > 0)
                SAP_TRY(check_branch(keys->path, branch++, points));
            points = 0;
        } else {
            if (points++ > 0)
                moves |= sap_scene_moving_joint(builder, term.index) != sap_scene_moving_joint(builder, last);
            last = term.index;
        }
        SAP_TRY(add_term(builder, &term));
    }
    SAP_TRY(check_branch(keys->path, branch, points));
    if (moves)
        return SAP_OK;
    return FAIL(&keys->t, "all points lie on %s; its length cannot change", sap_quote(keys->t.id, id),
                last < 0 ? "world" : sap_quote(sap_scene_body(builder, last)->id, quote));
}

/* ---- all tendons ---- */

static SapStatus check_numbers(const TendonKeys *keys) {
    const SapSceneTendon *t = &keys->t;
    if (!(t->limit_lower <= t->limit_upper))
        return sap_yaml_fail(t->entry, SAP_ERROR_PARSE, "limit_lower %g is above limit_upper %g", t->limit_lower,
                             t->limit_upper);
    if (t->spring_lower > t->spring_upper)
        return sap_yaml_fail(t->entry, SAP_ERROR_PARSE, "spring_lower %g is above spring_upper %g", t->spring_lower,
                             t->spring_upper);
    if (isinf(t->limit_ke) && t->limit_kd > 0)
        return sap_yaml_fail(
            keys->limit_kd, SAP_ERROR_PARSE,
            "%g with limit_ke inf; a rigid limit has no damping of its own: leave limit_kd out, or give "
            "limit_ke",
            t->limit_kd);
    return SAP_OK;
}

/* The start of the next tendon: the number of terms so far. */
static SapStatus add_start(SapSceneBuilder *builder) {
    void *row;
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_TENDON_STARTS, &row));
    ((SapSceneStart *)row)->start = sap_scene_count(builder, SAP_ROWS_TENDON_TERMS);
    return SAP_OK;
}

static SapStatus read_tendon(SapSceneBuilder *builder, const SapYamlEntry *entry) {
    TendonKeys keys = {.t = {.entry = entry,
                             .limit_lower = -INFINITY,
                             .limit_upper = INFINITY,
                             .limit_ke = INFINITY,
                             .spring_lower = NAN,
                             .spring_upper = NAN,
                             .effort_limit = INFINITY}};
    SapSceneTendon *t = &keys.t;
    void *row;
    if (entry->node->kind != SAP_YAML_MAP)
        return sap_scene_refuse(entry, "a map that describes a tendon");
    SAP_TRY(sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(tendon_fields, &keys), 1));
    if (keys.limit_kd != NULL)
        SAP_TRY(sap_scene_number(keys.limit_kd, SAP_RANGE_NON_NEGATIVE, &t->limit_kd));
    t->label = t->label != NULL ? t->label : t->id;
    SAP_TRY(sap_scene_add_names(builder, &builder->tendon_names, entry, t->id, t->label,
                                sap_scene_count(builder, SAP_ROWS_TENDONS)));
    SAP_TRY(check_numbers(&keys));
    if ((keys.joints == NULL) == (keys.path == NULL))
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "one of the keys 'joints' and 'path' is needed, and not both");
    SAP_TRY(keys.joints != NULL ? read_joints(builder, &keys) : read_path(builder, &keys));
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_TENDONS, &row));
    *(SapSceneTendon *)row = *t;
    return add_start(builder);
}

SapStatus sap_scene_read_tendons(SapSceneBuilder *builder, const SapYamlEntry *list) {
    SAP_TRY(sap_scene_expect_list(list));
    if (list->node->count > 0)
        SAP_TRY(add_start(builder));
    for (int i = 0; i < list->node->count; i++)
        SAP_TRY(read_tendon(builder, &list->node->entries[i]));
    return SAP_OK;
}
