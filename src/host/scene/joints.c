/* Joints and articulations of a scene. */
#include "host/scene/builder.h"

#include <math.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/model/joint_types.h"

/* ---- axes ---- */

/* The defaults of the format for joints written in a scene. */
const SapSceneDof sap_scene_default_dof = {
    .limit_lower = -1e10,
    .limit_upper = 1e10,
    .limit_ke = 1e4,
    .limit_kd = 10,
    .effort_limit = 1e6,
};

/* Keys of every dof. */
#define COMMON_FIELDS                                                                                                  \
    SAP_SCENE_IN_RANGE("armature", NON_NEGATIVE, SapSceneDof, armature),                                               \
        SAP_SCENE_IN_RANGE("damping", NON_NEGATIVE, SapSceneDof, damping),                                             \
        SAP_SCENE_IN_RANGE("friction", NON_NEGATIVE, SapSceneDof, friction),                                           \
        SAP_SCENE_IN_RANGE("effort_limit", POSITIVE_OR_INF, SapSceneDof, effort_limit),                                \
        SAP_SCENE_NO_TARGET("velocity_limit", UNSUPPORTED_VELOCITY),                                                   \
        SAP_SCENE_FIELD("actuator_mode", MODE, SapSceneDof, target_mode),                                              \
        SAP_SCENE_IN_RANGE("target_vel", FINITE, SapSceneDof, target_vel),                                             \
        SAP_SCENE_IN_RANGE("target_kd", GAIN, SapSceneDof, target_kd)

/* Further keys of a dof with its own coordinate. */
#define COORDINATE_FIELDS                                                                                              \
    SAP_SCENE_IN_RANGE("target_pos", FINITE, SapSceneDof, target_pos),                                                 \
        SAP_SCENE_IN_RANGE("target_ke", GAIN, SapSceneDof, target_ke),                                                 \
        SAP_SCENE_IN_RANGE("limit_lower", FINITE_OR_NEG_INF, SapSceneDof, limit_lower),                                \
        SAP_SCENE_IN_RANGE("limit_upper", FINITE_OR_INF, SapSceneDof, limit_upper),                                    \
        SAP_SCENE_IN_RANGE("limit_ke", NON_NEGATIVE, SapSceneDof, limit_ke),                                           \
        SAP_SCENE_IN_RANGE("limit_kd", NON_NEGATIVE, SapSceneDof, limit_kd)

static const SapSceneField axis_fields[] = {SAP_SCENE_FIELD("axis", AXIS, SapSceneDof, axis), COMMON_FIELDS,
                                            COORDINATE_FIELDS};
static const SapSceneField listed_fields[] = {COMMON_FIELDS,
                                              COORDINATE_FIELDS}; /* the axes are given in separate lists */
static const SapSceneField standard_fields[] = {COMMON_FIELDS};

SapStatus sap_scene_read_dof(const SapYamlEntry *entry, SapSceneDof *dof) {
    return sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(axis_fields, dof), 1);
}

/* ---- joint types ---- */

#define KEYS_OF(fields) ((SapSceneTable)SAP_SCENE_TABLE(fields, NULL))

/* The keys shared by all dofs of a joint of that type. */
static SapSceneTable dof_keys(const SapJointTypeRow *type) {
    switch (type->axes) {
    case SAP_AXES_ONE: return KEYS_OF(axis_fields);
    case SAP_AXES_LISTED: return KEYS_OF(listed_fields);
    case SAP_AXES_STANDARD: return KEYS_OF(standard_fields);
    case SAP_AXES_NONE: break;
    }
    return (SapSceneTable){0};
}

static SapStatus read_joint_type(const SapYamlEntry *entry, const SapJointTypeRow **out) {
    const SapYamlEntry *type = sap_yaml_find(entry->node, "type");
    const char *name;
    if (type == NULL)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "the key 'type' is missing");
    SAP_TRY(sap_scene_text(type, &name));
    *out = sap_joint_type_named(name);
    return *out != NULL ? SAP_OK : sap_scene_refuse(type, sap_joint_type_list().text);
}

/* Default of a dof of that type: free and ball joints have no limits, and free joints ignore builder.defaults.joint. */
static SapSceneDof dof_template(const SapSceneBuilder *builder, const SapJointTypeRow *type) {
    SapSceneDof dof = builder->dof;
    if (type->axes != SAP_AXES_STANDARD)
        return dof;
    dof = sap_scene_default_dof;
    dof.limit_ke = dof.limit_kd = 0;
    if (!type->is_pose) {
        dof.armature = builder->dof.armature;
        dof.damping = builder->dof.damping;
        dof.friction = builder->dof.friction;
        dof.effort_limit = builder->dof.effort_limit;
    }
    return dof;
}

/* ---- one joint ---- */

typedef struct JointKeys {
    SapSceneJoint joint;
    SapSceneDof dof; /* values shared by all its dofs */
    const SapJointTypeRow *type;
    bool collision_filter_parent;
    const SapYamlEntry *parent, *child, *parent_xform, *child_xform, *linear_axes, *angular_axes;
} JointKeys;

static const SapSceneField joint_fields[] = {
    SAP_SCENE_REQUIRED("id", TEXT, JointKeys, joint.id),
    SAP_SCENE_FIELD("label", TEXT, JointKeys, joint.label),
    SAP_SCENE_NO_TARGET("type", ELSEWHERE),
    SAP_SCENE_FIELD("parent", ENTRY, JointKeys, parent),
    SAP_SCENE_REQUIRED("child", ENTRY, JointKeys, child),
    SAP_SCENE_FIELD("parent_xform", POSE, JointKeys, joint.X_p),
    SAP_SCENE_FIELD("child_xform", POSE, JointKeys, joint.X_c),
    SAP_SCENE_FIELD("collision_filter_parent", FLAG, JointKeys, collision_filter_parent),
};

static const SapSceneField axes_fields[] = {
    SAP_SCENE_FIELD("linear_axes", ENTRY, JointKeys, linear_axes),
    SAP_SCENE_FIELD("angular_axes", ENTRY, JointKeys, angular_axes),
};

static SapStatus read_joint_keys(const SapSceneBuilder *builder, const SapYamlEntry *entry, JointKeys *keys) {
    if (entry->node->kind != SAP_YAML_MAP)
        return sap_scene_refuse(entry, "a map that describes a joint");
    *keys = (JointKeys){.joint = {.entry = entry, .parent = -1, .X_p = {[6] = 1}, .X_c = {[6] = 1}},
                        .collision_filter_parent = true};
    SAP_TRY(read_joint_type(entry, &keys->type));
    keys->joint.type = (int32_t)keys->type->type;
    keys->dof = dof_template(builder, keys->type);
    SapSceneTable tables[] = {
        SAP_SCENE_TABLE(joint_fields, keys),
        dof_keys(keys->type),
        SAP_SCENE_TABLE(axes_fields, keys),
    };
    tables[1].target = &keys->dof;
    SAP_TRY(sap_scene_read(entry, tables, keys->type->axes == SAP_AXES_LISTED ? 3 : 2));
    if (keys->joint.label == NULL)
        keys->joint.label = keys->joint.id;
    return SAP_OK;
}

/* The parent must be the child of an earlier joint and the child of none, so the joints form a forest with parents
 * first. */
static SapStatus connect(SapSceneBuilder *builder, JointKeys *keys) {
    SapSceneJoint *joint = &keys->joint;
    char quote[SAP_QUOTE_SIZE];
    if (keys->parent == NULL && !keys->type->is_pose)
        return sap_yaml_fail(joint->entry, SAP_ERROR_PARSE, "the key 'parent' is missing");
    if (keys->parent != NULL)
        SAP_TRY(sap_scene_read_body_name(builder, keys->parent, true, &joint->parent));
    SAP_TRY(sap_scene_read_body_name(builder, keys->child, false, &joint->child));
    if (joint->parent >= 0 && keys->type->is_pose)
        return sap_scene_refuse(keys->parent, "world, for a free joint");
    if (joint->parent == joint->child)
        return sap_scene_refuse(keys->child, "another body than the parent");
    if (joint->parent >= 0 && sap_scene_body(builder, joint->parent)->joint < 0)
        return sap_yaml_fail(keys->parent, SAP_ERROR_PARSE,
                             "%s is not the child of an earlier joint; list joints from the world outwards",
                             sap_quote(keys->parent->node->text, quote));
    SapSceneBody *child = sap_scene_body(builder, joint->child);
    if (child->joint >= 0)
        return sap_yaml_fail(keys->child, SAP_ERROR_PARSE,
                             "%s is the child of joints[%d] already; a body has one joint",
                             sap_quote(keys->child->node->text, quote), child->joint);
    child->joint = sap_scene_count(builder, SAP_ROWS_JOINTS);
    return SAP_OK;
}

/* The coordinates of a free joint are the pose of its body, so it has no joint frames. */
static SapStatus check_free(const JointKeys *keys) {
    static const double identity[7] = {[6] = 1};
    bool plain_parent = memcmp(keys->joint.X_p, identity, sizeof identity) == 0;
    bool plain_child = memcmp(keys->joint.X_c, identity, sizeof identity) == 0;
    if (!keys->type->is_pose || (plain_parent && plain_child))
        return SAP_OK;
    return sap_yaml_fail(sap_yaml_find(keys->joint.entry->node, plain_parent ? "child_xform" : "parent_xform"),
                         SAP_ERROR_PARSE,
                         "not the identity; allowed for a free joint: identity (the transform of the "
                         "body is its initial pose)");
}

/* ---- dofs and coordinates of a joint ---- */

static SapStatus add_dof(SapSceneBuilder *builder, JointKeys *keys, const SapSceneDof *dof) {
    void *row;
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_DOFS, &row));
    *(SapSceneDof *)row = *dof;
    keys->joint.num_dofs++;
    return SAP_OK;
}

static SapStatus check_dof(const SapYamlEntry *entry, const SapSceneDof *dof) {
    if (dof->axis[0] == 0 && dof->axis[1] == 0 && dof->axis[2] == 0)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "the key 'axis' is missing");
    if (!(dof->limit_lower <= dof->limit_upper))
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "limit_lower %g is above limit_upper %g", dof->limit_lower,
                             dof->limit_upper);
    return SAP_OK;
}

/* The axes of F, for the linear and again for the angular dofs. */
static SapStatus add_standard_dofs(SapSceneBuilder *builder, JointKeys *keys) {
    const int32_t *dim = keys->joint.dim;
    for (int i = 0; i < dim[0] + dim[1]; i++) {
        for (int k = 0; k < 3; k++)
            keys->dof.axis[k] = k == i % 3;
        SAP_TRY(add_dof(builder, keys, &keys->dof));
    }
    return SAP_OK;
}

static SapStatus add_list(SapSceneBuilder *builder, JointKeys *keys, const SapYamlEntry *list, int32_t most,
                          int32_t *count) {
    if (list == NULL)
        return SAP_OK;
    SAP_TRY(sap_scene_expect_list(list));
    *count = list->node->count;
    if (*count > most)
        return sap_yaml_fail(list, SAP_ERROR_PARSE, "a list of %d; allowed: up to %d axes", *count, most);
    for (int i = 0; i < *count; i++) {
        const SapYamlEntry *item = &list->node->entries[i];
        SapSceneDof dof = keys->dof;
        memset(dof.axis, 0, sizeof dof.axis);
        SAP_TRY(item->node->kind == SAP_YAML_MAP ? sap_scene_read_dof(item, &dof) : sap_scene_axis(item, dof.axis));
        SAP_TRY(check_dof(item, &dof));
        SAP_TRY(add_dof(builder, keys, &dof));
    }
    return SAP_OK;
}

static SapStatus add_listed_dofs(SapSceneBuilder *builder, JointKeys *keys) {
    SapSceneJoint *joint = &keys->joint;
    const int32_t *most = keys->type->dim;
    SAP_TRY(add_list(builder, keys, keys->linear_axes, most[0], &joint->dim[0]));
    SAP_TRY(add_list(builder, keys, keys->angular_axes, most[1], &joint->dim[1]));
    if (joint->num_dofs > 0)
        return SAP_OK;
    return sap_yaml_fail(joint->entry, SAP_ERROR_PARSE,
                         "a %s joint without axes; give linear_axes or angular_axes, or use a fixed joint",
                         keys->type->names[0]);
}

static SapStatus add_dofs(SapSceneBuilder *builder, JointKeys *keys) {
    SapSceneJoint *joint = &keys->joint;
    joint->first_dof = sap_scene_count(builder, SAP_ROWS_DOFS);
    sap_joint_axis_counts(joint->type, joint->dim);
    switch (keys->type->axes) {
    case SAP_AXES_NONE: break;
    case SAP_AXES_LISTED: return add_listed_dofs(builder, keys);
    case SAP_AXES_STANDARD: return add_standard_dofs(builder, keys);
    case SAP_AXES_ONE: SAP_TRY(check_dof(joint->entry, &keys->dof)); return add_dof(builder, keys, &keys->dof);
    }
    return SAP_OK;
}

/* Initial coordinates: zero, the identity quaternion, or the pose of the body. */
static SapStatus add_coords(SapSceneBuilder *builder, JointKeys *keys) {
    SapSceneJoint *joint = &keys->joint;
    int quaternion = keys->type->quaternion_at;
    joint->first_coord = sap_scene_count(builder, SAP_ROWS_COORDS);
    joint->num_coords = sap_joint_num_coords(joint->type, joint->dim);
    for (int i = 0; i < joint->num_coords; i++) {
        void *row;
        SAP_TRY(sap_scene_append(builder, SAP_ROWS_COORDS, &row));
        SapSceneCoord *coord = row;
        coord->q = quaternion >= 0 && i == quaternion + 3;
        if (keys->type->is_pose)
            coord->q = sap_scene_body(builder, joint->child)->pose[i];
    }
    return SAP_OK;
}

/* ---- all joints ---- */

static SapStatus read_joint(SapSceneBuilder *builder, const SapYamlEntry *entry) {
    JointKeys keys;
    SAP_TRY(read_joint_keys(builder, entry, &keys));
    int index = sap_scene_count(builder, SAP_ROWS_JOINTS);
    SAP_TRY(sap_scene_add_names(builder, &builder->joint_names, entry, keys.joint.id, keys.joint.label, index));
    SAP_TRY(connect(builder, &keys));
    SAP_TRY(check_free(&keys));
    SAP_TRY(add_dofs(builder, &keys));
    SAP_TRY(add_coords(builder, &keys));
    keys.joint.filter_parent = keys.collision_filter_parent;
    void *row;
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_JOINTS, &row));
    *(SapSceneJoint *)row = keys.joint;
    return SAP_OK;
}

SapStatus sap_scene_read_joints(SapSceneBuilder *builder, const SapYamlEntry *list) {
    SAP_TRY(sap_scene_expect_list(list));
    for (int i = 0; i < list->node->count; i++)
        SAP_TRY(read_joint(builder, &list->node->entries[i]));
    return SAP_OK;
}

SapStatus sap_scene_check_joints(const SapSceneBuilder *builder, const SapYamlEntry *root) {
    char quote[SAP_QUOTE_SIZE];
    for (int i = 0; i < sap_scene_count(builder, SAP_ROWS_BODIES); i++) {
        const SapSceneBody *body = sap_scene_body(builder, i);
        if (body->joint < 0)
            return sap_yaml_fail(body->entry, SAP_ERROR_PARSE,
                                 "body %s is the child of no joint; give it one (free, to let it move freely)",
                                 sap_quote(body->id, quote));
    }
    if (sap_scene_count(builder, SAP_ROWS_DOFS) == 0)
        return sap_yaml_fail(root, SAP_ERROR_PARSE, "nothing can move: the scene needs a joint that is not fixed");
    return SAP_OK;
}

/* Whether `label` ends in a slash and `name`. */
static bool ends_in(const char *label, const char *name) {
    size_t whole = strlen(label), part = strlen(name);
    return whole > part && label[whole - part - 1] == '/' && strcmp(label + whole - part, name) == 0;
}

SapStatus sap_scene_read_joint_name(const SapSceneBuilder *builder, const SapYamlEntry *entry, int *out) {
    const char *name;
    SAP_TRY(sap_scene_text(entry, &name));
    *out = sap_scene_find_name(&builder->joint_names, name);
    if (*out >= 0)
        return SAP_OK;
    for (int i = 0; i < sap_scene_count(builder, SAP_ROWS_JOINTS); i++) {
        const char *label = sap_scene_joint(builder, i)->label;
        if (!ends_in(label, name))
            continue;
        char mine[SAP_QUOTE_SIZE], first[SAP_QUOTE_SIZE], second[SAP_QUOTE_SIZE];
        if (*out >= 0)
            return sap_yaml_fail(entry, SAP_ERROR_PARSE, "%s may be %s or %s", sap_quote(name, mine),
                                 sap_quote(sap_scene_joint(builder, *out)->label, first), sap_quote(label, second));
        *out = i;
    }
    return *out >= 0 ? SAP_OK : sap_scene_refuse_name(&builder->joint_names, entry, "the id or label of a joint");
}

/* ---- articulations ---- */

typedef struct ArticulationKeys {
    const char *id, *label;
    const SapYamlEntry *joints;
} ArticulationKeys;

/* Articulations are contiguous ranges of joints and list all joints in order. */
static SapStatus read_articulation(SapSceneBuilder *builder, const SapYamlEntry *entry, int *next) {
    static const SapSceneField fields[] = {
        SAP_SCENE_FIELD("id", TEXT, ArticulationKeys, id),
        SAP_SCENE_FIELD("label", TEXT, ArticulationKeys, label),
        SAP_SCENE_REQUIRED("joints", ENTRY, ArticulationKeys, joints),
    };
    /* Keys. */
    ArticulationKeys keys = {0};
    SAP_TRY(sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(fields, &keys), 1));
    SAP_TRY(sap_scene_expect_list(keys.joints));
    if (keys.joints->node->count == 0)
        return sap_yaml_fail(keys.joints, SAP_ERROR_PARSE, "an articulation without joints");
    /* A row that starts at the next joint. */
    void *row;
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_ARTICULATIONS, &row));
    *(SapSceneArticulation *)row = (SapSceneArticulation){keys.label != NULL ? keys.label : keys.id, *next};
    /* Its joints must continue the order of joints. */
    for (int i = 0; i < keys.joints->node->count; i++, ++*next) {
        const SapYamlEntry *item = &keys.joints->node->entries[i];
        char quote[SAP_QUOTE_SIZE], expected[SAP_QUOTE_SIZE];
        int joint;
        SAP_TRY(sap_scene_read_joint_name(builder, item, &joint));
        if (*next == sap_scene_count(builder, SAP_ROWS_JOINTS))
            return sap_yaml_fail(item, SAP_ERROR_PARSE, "%s is in an articulation already",
                                 sap_quote(item->node->text, quote));
        if (joint != *next)
            return sap_yaml_fail(item, SAP_ERROR_PARSE,
                                 "%s; expected %s: articulations list every joint once, in the "
                                 "order of joints",
                                 sap_quote(item->node->text, quote),
                                 sap_quote(sap_scene_joint(builder, *next)->id, expected));
    }
    return SAP_OK;
}

/* Parent and child of a joint are in the same articulation. */
static SapStatus check_parents(const SapSceneBuilder *builder, const SapYamlEntry *entry, int start, int end) {
    char quote[SAP_QUOTE_SIZE];
    for (int i = start; i < end; i++) {
        const SapSceneJoint *joint = sap_scene_joint(builder, i);
        if (joint->parent >= 0 && sap_scene_body(builder, joint->parent)->joint < start)
            return sap_yaml_fail(entry, SAP_ERROR_PARSE, "joint %s hangs on a body of another articulation",
                                 sap_quote(joint->id, quote));
    }
    return SAP_OK;
}

SapStatus sap_scene_read_articulations(SapSceneBuilder *builder, const SapYamlEntry *list) {
    SAP_TRY(sap_scene_expect_list(list));
    int next = 0;
    for (int i = 0; i < list->node->count; i++) {
        int start = next;
        SAP_TRY(read_articulation(builder, &list->node->entries[i], &next));
        SAP_TRY(check_parents(builder, &list->node->entries[i], start, next));
    }
    char quote[SAP_QUOTE_SIZE];
    if (list->node->count > 0 && next < sap_scene_count(builder, SAP_ROWS_JOINTS))
        return sap_yaml_fail(list, SAP_ERROR_PARSE, "joint %s is in no articulation",
                             sap_quote(sap_scene_joint(builder, next)->id, quote));
    return SAP_OK;
}
