/* The table of the arrays of a model: content, range and default of each. */
#include "host/model/model.h"

#include <math.h>
#include <string.h>

#define ROW(...)                                                                                                       \
    (const double[]) {                                                                                                 \
        __VA_ARGS__                                                                                                    \
    }

static const double identity_pose[7] = {0, 0, 0, 0, 0, 0, 1};
static const double two_identity_poses[14] = {[6] = 1, [13] = 1};

#define FIELD(field, rows_of, ncolumns, element_type, range_of, ...)                                                   \
    {                                                                                                                  \
        .name = #field, .offset = offsetof(SapModelArrays, field), .rows = SAP_ROWS_##rows_of, .columns = (ncolumns),  \
        .element = SAP_ELEMENT_##element_type, .range = SAP_RANGE_##range_of, __VA_ARGS__                              \
    }

#define REQUIRED .required = true
#define ZERO     .row = NULL
#define COMPUTED .row = NULL /* computed by model.c from the joint types */

const SapModelField sap_model_fields[] = {
    FIELD(joint_type, JOINTS, 1, I32, ANY, REQUIRED),
    FIELD(joint_parent, JOINTS, 1, I32, BODY_OR_WORLD, REQUIRED),
    FIELD(joint_child, JOINTS, 1, I32, BODY, REQUIRED),
    FIELD(joint_dof_dim, JOINTS, 2, I32, AXIS_COUNT, COMPUTED),
    FIELD(joint_q_start, JOINT_STARTS, 1, I32, ANY, COMPUTED),
    FIELD(joint_qd_start, JOINT_STARTS, 1, I32, ANY, COMPUTED),
    FIELD(joint_X_p, JOINTS, 7, F64, LENGTH, .row = identity_pose),
    FIELD(joint_X_c, JOINTS, 7, F64, LENGTH, .row = identity_pose),
    FIELD(joint_filter_parent, JOINTS, 1, I32, FLAG, .row = ROW(1)),
    FIELD(articulation_start, ARTICULATION_STARTS, 1, I32, ANY, COMPUTED),

    FIELD(joint_axis, DOFS, 3, F64, FINITE, ZERO),
    FIELD(joint_armature, DOFS, 1, F64, NON_NEGATIVE, ZERO),
    FIELD(joint_damping, DOFS, 1, F64, NON_NEGATIVE, ZERO),
    FIELD(joint_friction, DOFS, 1, F64, NON_NEGATIVE, ZERO),
    FIELD(joint_target_mode, DOFS, 1, I32, TARGET_MODE, ZERO),
    FIELD(joint_target_ke, DOFS, 1, F64, GAIN, ZERO),
    FIELD(joint_target_kd, DOFS, 1, F64, GAIN, ZERO),
    FIELD(joint_effort_limit, DOFS, 1, F64, POSITIVE_OR_INF, .row = ROW(INFINITY)),
    FIELD(joint_limit_lower, DOFS, 1, F64, FINITE_OR_NEG_INF, .row = ROW(-INFINITY)),
    FIELD(joint_limit_upper, DOFS, 1, F64, FINITE_OR_INF, .row = ROW(INFINITY)),
    FIELD(joint_limit_ke, DOFS, 1, F64, NON_NEGATIVE, ZERO),
    FIELD(joint_limit_kd, DOFS, 1, F64, NON_NEGATIVE, ZERO),

    FIELD(body_mass, BODIES, 1, F64, POSITIVE, REQUIRED),
    FIELD(body_com, BODIES, 3, F64, LENGTH, ZERO),
    FIELD(body_inertia, BODIES, 9, F64, FINITE, REQUIRED),
    FIELD(body_gravcomp, BODIES, 1, F64, FINITE, ZERO),

    FIELD(shape_type, SHAPES, 1, I32, ANY, REQUIRED),
    FIELD(shape_body, SHAPES, 1, I32, BODY_OR_WORLD, REQUIRED),
    FIELD(shape_transform, SHAPES, 7, F64, LENGTH, .row = identity_pose),
    FIELD(shape_scale, SHAPES, 3, F64, LENGTH, REQUIRED),
    FIELD(shape_margin, SHAPES, 1, F64, LENGTH_FROM_0, ZERO),
    FIELD(shape_gap, SHAPES, 1, F64, LENGTH_FROM_0, ZERO),
    FIELD(shape_material_mu, SHAPES, 1, F64, NON_NEGATIVE, .row = ROW(0.5)),
    FIELD(shape_material_ke, SHAPES, 1, F64, POSITIVE_OR_INF, .row = ROW(1e5)),
    FIELD(shape_material_tau, SHAPES, 1, F64, NON_NEGATIVE, .row = ROW(0.01)),
    FIELD(shape_material_dissipation, SHAPES, 1, F64, NON_NEGATIVE, .row = ROW(50)),
    FIELD(shape_collision_group, SHAPES, 1, I32, ANY, .row = ROW(1)),
    FIELD(shape_flags, SHAPES, 1, I32, SHAPE_FLAGS, .row = ROW(SAP_SHAPE_VISIBLE | SAP_SHAPE_COLLIDES)),

    FIELD(shape_mesh, SHAPES, 1, I32, ANY, .row = ROW(-1)),

    FIELD(body_filter_pairs, FILTER_PAIRS, 2, I32, BODY, REQUIRED),
    FIELD(shape_filter_pairs, SHAPE_FILTER_PAIRS, 2, I32, SHAPE, REQUIRED),

    FIELD(mesh_start, MESH_STARTS, 1, I32, ANY, ZERO),
    FIELD(mesh_vertices, MESH_VERTICES, 3, F64, LENGTH, REQUIRED),
    FIELD(height_field_size, HEIGHT_FIELDS, 2, I32, ANY, REQUIRED),
    FIELD(heights, HEIGHTS, 1, F64, LENGTH, REQUIRED),

    FIELD(constraint_type, CONSTRAINTS, 1, I32, ANY, REQUIRED),
    FIELD(constraint_body, CONSTRAINTS, 2, I32, BODY_OR_WORLD, .row = ROW(-1, -1)),
    FIELD(constraint_X, CONSTRAINTS, 14, F64, FINITE, .row = two_identity_poses),
    FIELD(constraint_coordinate, CONSTRAINTS, 2, I32, ANY, .row = ROW(-1, -1)),
    FIELD(constraint_polynomial, CONSTRAINTS, 5, F64, FINITE, .row = ROW(0, 1, 0, 0, 0)),
    FIELD(constraint_reference, CONSTRAINTS, 2, F64, FINITE, ZERO),
    FIELD(constraint_length, CONSTRAINTS, 1, F64, NON_NEGATIVE, ZERO),
    FIELD(constraint_ke, CONSTRAINTS, 2, F64, POSITIVE_OR_INF, .row = ROW(INFINITY, INFINITY)),
    FIELD(constraint_kd, CONSTRAINTS, 2, F64, NON_NEGATIVE, ZERO),
    FIELD(constraint_side, CONSTRAINTS, 1, I32, SIDE, ZERO),
    FIELD(constraint_active, CONSTRAINTS, 1, I32, FLAG, .row = ROW(1)),

    FIELD(tendon_start, TENDON_STARTS, 1, I32, ANY, ZERO),
    FIELD(tendon_term_type, TENDON_TERMS, 1, I32, ANY, REQUIRED),
    FIELD(tendon_term_index, TENDON_TERMS, 1, I32, ANY, REQUIRED),
    FIELD(tendon_term_value, TENDON_TERMS, 3, F64, FINITE, REQUIRED),
    FIELD(tendon_offset, TENDONS, 1, F64, FINITE, ZERO),
    FIELD(tendon_limit_lower, TENDONS, 1, F64, FINITE_OR_NEG_INF, .row = ROW(-INFINITY)),
    FIELD(tendon_limit_upper, TENDONS, 1, F64, FINITE_OR_INF, .row = ROW(INFINITY)),
    FIELD(tendon_limit_ke, TENDONS, 1, F64, POSITIVE_OR_INF, .row = ROW(INFINITY)),
    FIELD(tendon_limit_kd, TENDONS, 1, F64, NON_NEGATIVE, ZERO),
    FIELD(tendon_spring_ke, TENDONS, 1, F64, NON_NEGATIVE, ZERO),
    FIELD(tendon_spring_lower, TENDONS, 1, F64, FINITE, ZERO),
    FIELD(tendon_spring_upper, TENDONS, 1, F64, FINITE, ZERO),
    FIELD(tendon_armature, TENDONS, 1, F64, NON_NEGATIVE, ZERO),
    FIELD(tendon_damping, TENDONS, 1, F64, NON_NEGATIVE, ZERO),
    FIELD(tendon_friction, TENDONS, 1, F64, NON_NEGATIVE, ZERO),
    FIELD(tendon_target_mode, TENDONS, 1, I32, TARGET_MODE, ZERO),
    FIELD(tendon_target_ke, TENDONS, 1, F64, GAIN, ZERO),
    FIELD(tendon_target_kd, TENDONS, 1, F64, GAIN, ZERO),
    FIELD(tendon_effort_limit, TENDONS, 1, F64, POSITIVE_OR_INF, .row = ROW(INFINITY)),
    FIELD(tendon_target_pos, TENDONS, 1, F64, FINITE, ZERO),
    FIELD(tendon_target_vel, TENDONS, 1, F64, FINITE, ZERO),

    FIELD(joint_q, COORDS, 1, F64, FINITE, COMPUTED),
    FIELD(joint_qd, DOFS, 1, F64, FINITE, ZERO),
    FIELD(joint_f, DOFS, 1, F64, FINITE, ZERO),
    FIELD(joint_target_pos, DOFS, 1, F64, FINITE, ZERO),
    FIELD(joint_target_vel, DOFS, 1, F64, FINITE, ZERO),
    FIELD(joint_act, DOFS, 1, F64, FINITE, ZERO),

    FIELD(keyframe_joint_q, KEYFRAME_COORDS, 1, F64, FINITE, REQUIRED),
    FIELD(keyframe_joint_qd, KEYFRAME_DOFS, 1, F64, FINITE, ZERO),

    FIELD(body_name, BODIES, 1, TEXT, ANY, COMPUTED),
    FIELD(joint_name, JOINTS, 1, TEXT, ANY, COMPUTED),
    FIELD(shape_name, SHAPES, 1, TEXT, ANY, COMPUTED),
    FIELD(articulation_name, ARTICULATIONS, 1, TEXT, ANY, COMPUTED),
    FIELD(keyframe_name, KEYFRAMES, 1, TEXT, ANY, COMPUTED),
    FIELD(constraint_name, CONSTRAINTS, 1, TEXT, ANY, COMPUTED),
    FIELD(tendon_name, TENDONS, 1, TEXT, ANY, COMPUTED),
};

/* Both assertions fail if an array is added to SapModelArrays but not here: its pointers are the fields and `name`. */
_Static_assert(sizeof sap_model_fields / sizeof sap_model_fields[0] == SAP_MODEL_NUM_FIELDS, "count of fields");
_Static_assert(sizeof(SapModelArrays) == (1 + SAP_MODEL_NUM_FIELDS) * sizeof(void *) + 3 * sizeof(double) +
                                             6 * sizeof(int) + 7 * sizeof(int64_t),
               "every array of SapModelArrays has a field");

#define COUNT(field)                                                                                                   \
    { #field, offsetof(SapModelArrays, field) }
const SapModelCount sap_model_counts[SAP_MODEL_NUM_COUNTS] = {
    COUNT(num_bodies),      COUNT(num_joints),        COUNT(num_dofs),          COUNT(num_coords),
    COUNT(num_shapes),      COUNT(num_articulations), COUNT(num_filter_pairs),  COUNT(num_shape_filter_pairs),
    COUNT(num_meshes),      COUNT(num_mesh_vertices), COUNT(num_height_fields), COUNT(num_heights),
    COUNT(num_constraints), COUNT(num_tendons),       COUNT(num_tendon_terms),  COUNT(num_keyframes)};

int sap_model_count_get(const SapModelArrays *arrays, const SapModelCount *count) {
    int value;
    memcpy(&value, (const char *)arrays + count->offset, sizeof value);
    return value;
}

void sap_model_count_set(SapModelArrays *arrays, const SapModelCount *count, int value) {
    memcpy((char *)arrays + count->offset, &value, sizeof value);
}

const SapModelField *sap_model_field(const char *name) {
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++)
        if (strcmp(sap_model_fields[i].name, name) == 0)
            return &sap_model_fields[i];
    return NULL;
}

bool sap_range_holds(SapRange range, double x) {
    switch (range) {
    case SAP_RANGE_NON_NEGATIVE: return isfinite(x) && x >= 0;
    case SAP_RANGE_POSITIVE: return isfinite(x) && x > 0;
    case SAP_RANGE_LENGTH: return fabs(x) <= SAP_MAX_LENGTH;
    case SAP_RANGE_LENGTH_FROM_0: return x >= 0 && x <= SAP_MAX_LENGTH;
    case SAP_RANGE_GAIN: return x == 0 || (isfinite(x) && x >= SAP_LEAST_GAIN);
    case SAP_RANGE_POSITIVE_OR_INF: return x > 0;
    case SAP_RANGE_FINITE_OR_NEG_INF: return x < INFINITY;
    case SAP_RANGE_FINITE_OR_INF: return x > -INFINITY;
    default: return isfinite(x);
    }
}

int sap_model_rows(const SapModelArrays *arrays, SapModelRows rows) {
    switch (rows) {
    case SAP_ROWS_BODIES: return arrays->num_bodies;
    case SAP_ROWS_JOINTS: return arrays->num_joints;
    case SAP_ROWS_JOINT_STARTS: return arrays->num_joints + 1;
    case SAP_ROWS_DOFS: return arrays->num_dofs;
    case SAP_ROWS_COORDS: return arrays->num_coords;
    case SAP_ROWS_SHAPES: return arrays->num_shapes;
    case SAP_ROWS_ARTICULATIONS: return arrays->num_articulations;
    case SAP_ROWS_ARTICULATION_STARTS: return arrays->num_articulations + 1;
    case SAP_ROWS_FILTER_PAIRS: return arrays->num_filter_pairs;
    case SAP_ROWS_SHAPE_FILTER_PAIRS: return arrays->num_shape_filter_pairs;
    case SAP_ROWS_MESH_STARTS: return arrays->num_meshes + 1;
    case SAP_ROWS_MESH_VERTICES: return arrays->num_mesh_vertices;
    case SAP_ROWS_HEIGHT_FIELDS: return arrays->num_height_fields;
    case SAP_ROWS_HEIGHTS: return arrays->num_heights;
    case SAP_ROWS_CONSTRAINTS: return arrays->num_constraints;
    case SAP_ROWS_TENDONS: return arrays->num_tendons;
    case SAP_ROWS_TENDON_STARTS: return arrays->num_tendons + 1;
    case SAP_ROWS_TENDON_TERMS: return arrays->num_tendon_terms;
    case SAP_ROWS_KEYFRAMES: return arrays->num_keyframes;
    case SAP_ROWS_KEYFRAME_COORDS: return arrays->num_keyframes * arrays->num_coords;
    case SAP_ROWS_KEYFRAME_DOFS: return arrays->num_keyframes * arrays->num_dofs;
    case SAP_NUM_ROWS: break;
    }
    return 0;
}

/* The pointers have many types and are copied as bytes, which avoids access through a wrong pointer type. */
const void *sap_model_field_get(const SapModelArrays *arrays, const SapModelField *field) {
    const void *data;
    memcpy(&data, (const char *)arrays + field->offset, sizeof data);
    return data;
}

void sap_model_field_set(SapModelArrays *arrays, const SapModelField *field, const void *data) {
    memcpy((char *)arrays + field->offset, &data, sizeof data);
}
