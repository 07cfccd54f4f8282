#include "host/model/check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/model/check_parts.h"
#include "host/model/joint_types.h"
#include "host/base/unit_vector.h"
#include "host/model/parameters.h"

/* ---- layout: counts ---- */

static SapStatus check_count(const char *name, int value, int low, int high) {
    if (value >= low && value <= high)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "%s is %d; it must be %d .. %d", name, value, low, high);
}

static SapStatus check_one_joint_per_body(const SapModelArrays *a) {
    if (a->num_bodies == a->num_joints)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "num_bodies is %d and num_joints is %d; they must be equal, for every body is the child of exactly "
                    "one joint (a body that moves freely has a free joint, a static one a fixed joint)",
                    a->num_bodies, a->num_joints);
}

static SapStatus check_articulation_count(const SapModelArrays *a) {
    if (a->articulation_start != NULL)
        return check_count("num_articulations", a->num_articulations, 1, a->num_joints);
    if (a->num_articulations == 0 || a->num_articulations == 1)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "num_articulations is %d; without articulation_start it must be 0 or 1",
                    a->num_articulations);
}

SapStatus sap_model_check_counts(const SapModelArrays *a) {
    SAP_TRY(check_count("num_bodies", a->num_bodies, 1, SAP_MAX_JOINTS));
    SAP_TRY(check_count("num_joints", a->num_joints, 1, SAP_MAX_JOINTS));
    SAP_TRY(check_count("num_dofs", a->num_dofs, 1, SAP_MAX_JOINTS));
    SAP_TRY(check_count("num_coords", a->num_coords, 1, 2 * SAP_MAX_JOINTS));
    SAP_TRY(check_count("num_shapes", a->num_shapes, 0, SAP_MAX_SHAPES));
    SAP_TRY(check_count("num_filter_pairs", a->num_filter_pairs, 0, SAP_MAX_FILTER_PAIRS));
    SAP_TRY(check_count("num_shape_filter_pairs", a->num_shape_filter_pairs, 0, SAP_MAX_FILTER_PAIRS));
    SAP_TRY(check_count("num_meshes", a->num_meshes, 0, SAP_MAX_SHAPES));
    SAP_TRY(check_count("num_mesh_vertices", a->num_mesh_vertices, 0, SAP_MAX_MESH_VERTICES));
    SAP_TRY(check_count("num_height_fields", a->num_height_fields, 0, SAP_MAX_SHAPES));
    SAP_TRY(check_count("num_heights", a->num_heights, 0, SAP_MAX_HEIGHTS));
    SAP_TRY(check_count("num_keyframes", a->num_keyframes, 0, SAP_MAX_KEYFRAMES));
    SAP_TRY(check_count("num_constraints", a->num_constraints, 0, SAP_MAX_CONSTRAINTS));
    SAP_TRY(check_count("num_tendons", a->num_tendons, 0, SAP_MAX_CONSTRAINTS));
    SAP_TRY(check_count("num_tendon_terms", a->num_tendon_terms, 0, SAP_MAX_TENDON_TERMS));
    SAP_TRY(check_one_joint_per_body(a));
    return check_articulation_count(a);
}

static SapStatus check_required(const SapModelArrays *a, const SapModelField *field) {
    int rows = sap_model_rows(a, field->rows);
    bool required = field->required || (field->rows == SAP_ROWS_MESH_STARTS && a->num_meshes > 0) ||
                    (field->rows == SAP_ROWS_TENDON_STARTS && a->num_tendons > 0);
    if (!required || rows == 0 || sap_model_field_get(a, field) != NULL)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "%s is NULL; it is required and has %d row%s here", field->name, rows,
                    rows == 1 ? "" : "s");
}

/* ---- layout: joint types ---- */

static SapStatus check_joint_type(const SapModelArrays *a, int j) {
    enum { DISTANCE = 5 };
    int type = a->joint_type[j];
    if (type == DISTANCE)
        return sap_fail(SAP_ERROR_UNSUPPORTED,
                        "joint_type[%d] of %s is 5 (distance), which is not supported; allowed: %s", j,
                        sap_joint_label(a, j).text, sap_joint_type_numbers().text);
    if (sap_joint_type(type) == NULL)
        return sap_fail(SAP_ERROR_MODEL, "joint_type[%d] of %s is %d; allowed: %s", j, sap_joint_label(a, j).text, type,
                        sap_joint_type_numbers().text);
    return SAP_OK;
}

static SapStatus check_listed_axis_counts(const SapModelArrays *a, int j, const SapJointTypeRow *type) {
    if (a->joint_dof_dim == NULL)
        return sap_fail(SAP_ERROR_MODEL, "joint_dof_dim is NULL; %s is a %s joint and needs it",
                        sap_joint_label(a, j).text, type->names[0]);
    const int32_t *dim = &a->joint_dof_dim[2 * j], *most = type->dim;
    if (dim[0] >= 0 && dim[0] <= most[0] && dim[1] >= 0 && dim[1] <= most[1] && dim[0] + dim[1] >= 1)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "joint_dof_dim[%d] of %s is (%d, %d); a %s joint has 0 .. %d linear and 0 .. %d angular axes, at "
                    "least one in all",
                    j, sap_joint_label(a, j).text, dim[0], dim[1], type->names[0], most[0], most[1]);
}

static SapStatus check_axis_counts(const SapModelArrays *a, int j) {
    const SapJointTypeRow *type = sap_joint_type(a->joint_type[j]);
    if (type->axes == SAP_AXES_LISTED)
        return check_listed_axis_counts(a, j, type);
    if (a->joint_dof_dim == NULL || memcmp(&a->joint_dof_dim[2 * j], type->dim, sizeof type->dim) == 0)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "joint_dof_dim[%d] of %s is (%d, %d); a %s joint has (%d, %d)", j,
                    sap_joint_label(a, j).text, a->joint_dof_dim[2 * j], a->joint_dof_dim[2 * j + 1], type->names[0],
                    type->dim[0], type->dim[1]);
}

static SapStatus check_axes_given(const SapModelArrays *a, int j) {
    const SapJointTypeRow *type = sap_joint_type(a->joint_type[j]);
    if (!sap_joint_needs_axes(type) || a->joint_axis != NULL)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "joint_axis is NULL; %s is a %s joint and needs it", sap_joint_label(a, j).text,
                    type->names[0]);
}

static SapStatus check_total(const char *name, int given, int total, const char *what) {
    if (given == total)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "%s is %d; the joints have %d %s in all", name, given, total, what);
}

static SapStatus check_totals(const SapModelArrays *a) {
    int dofs = 0, coords = 0;
    for (int j = 0; j < a->num_joints; j++) {
        int32_t dim[2];
        if (!sap_joint_axis_counts(a->joint_type[j], dim))
            memcpy(dim, &a->joint_dof_dim[2 * j], sizeof dim);
        dofs += dim[0] + dim[1];
        coords += sap_joint_num_coords(a->joint_type[j], dim);
    }
    SAP_TRY(check_total("num_dofs", a->num_dofs, dofs, "dofs"));
    return check_total("num_coords", a->num_coords, coords, "coordinates");
}

SapStatus sap_model_check_layout(const SapModelArrays *a) {
    SAP_TRY(sap_model_check_counts(a));
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++)
        SAP_TRY(check_required(a, &sap_model_fields[i]));
    for (int j = 0; j < a->num_joints; j++)
        SAP_TRY(check_joint_type(a, j));
    for (int j = 0; j < a->num_joints; j++)
        SAP_TRY(check_axis_counts(a, j));
    for (int j = 0; j < a->num_joints; j++)
        SAP_TRY(check_axes_given(a, j));
    return check_totals(a);
}

/* ---- joint_q_start and joint_qd_start ---- */

static SapStatus check_start(const SapModelArrays *a, const char *name, const int32_t *start, int j, int expected,
                             const char *what) {
    if (start[j] == expected)
        return SAP_OK;
    if (j == a->num_joints)
        return sap_fail(SAP_ERROR_MODEL, "%s[%d] is %d; the last entry must be the number of %s, %d", name, j, start[j],
                        what, expected);
    return sap_fail(SAP_ERROR_MODEL, "%s[%d] of %s is %d; the joints before it have %d %s", name, j,
                    sap_joint_label(a, j).text, start[j], expected, what);
}

SapStatus sap_model_check_starts(const SapModelArrays *a) {
    int dofs = 0, coords = 0;
    for (int j = 0; j <= a->num_joints; j++) {
        SAP_TRY(check_start(a, "joint_q_start", a->joint_q_start, j, coords, "coordinates"));
        SAP_TRY(check_start(a, "joint_qd_start", a->joint_qd_start, j, dofs, "dofs"));
        if (j == a->num_joints)
            break;
        const int32_t *dim = &a->joint_dof_dim[2 * j];
        dofs += dim[0] + dim[1];
        coords += sap_joint_num_coords(a->joint_type[j], dim);
    }
    return SAP_OK;
}

/* ---- range of every number ---- */

static bool in_range(const SapModelArrays *a, SapRange range, double x) {
    switch (range) {
    case SAP_RANGE_ANY: return true;
    case SAP_RANGE_BODY: return x >= 0 && x < a->num_bodies;
    case SAP_RANGE_BODY_OR_WORLD: return x >= -1 && x < a->num_bodies;
    case SAP_RANGE_AXIS_COUNT: return x >= 0 && x <= 3;
    case SAP_RANGE_TARGET_MODE: return x >= SAP_TARGET_NONE && x <= SAP_TARGET_EFFORT;
    case SAP_RANGE_SHAPE: return x >= 0 && x < a->num_shapes;
    case SAP_RANGE_FLAG: return x == 0 || x == 1;
    case SAP_RANGE_SIDE: return x == -1 || x == 0 || x == 1;
    case SAP_RANGE_SHAPE_FLAGS: return x >= 0 && x <= (SAP_SHAPE_VISIBLE | SAP_SHAPE_COLLIDES);
    default: return sap_range_holds(range, x);
    }
}

static SapLabel range_text(const SapModelArrays *a, SapRange range) {
    /* Range by kind; an index range ends with its first value. */
    static const char *const texts[] = {
        [SAP_RANGE_ANY] = "any",
        [SAP_RANGE_FINITE] = "finite",
        [SAP_RANGE_NON_NEGATIVE] = "finite and >= 0",
        [SAP_RANGE_POSITIVE] = "finite and > 0",
        [SAP_RANGE_LENGTH] = "finite, at most 1e15 in absolute value",
        [SAP_RANGE_LENGTH_FROM_0] = "finite and >= 0, at most 1e15",
        [SAP_RANGE_GAIN] = "0, or finite and at least 1e-20",
        [SAP_RANGE_POSITIVE_OR_INF] = "> 0, infinity allowed",
        [SAP_RANGE_FINITE_OR_NEG_INF] = "finite or -infinity",
        [SAP_RANGE_FINITE_OR_INF] = "finite or infinity",
        [SAP_RANGE_BODY] = "a body index, 0",
        [SAP_RANGE_BODY_OR_WORLD] = "-1 (the world) or a body index, -1",
        [SAP_RANGE_AXIS_COUNT] = "0 .. 3",
        [SAP_RANGE_TARGET_MODE] = "0 none, 1 position, 2 velocity, 3 position and velocity, or 4 effort",
        [SAP_RANGE_SHAPE] = "a shape index, 0",
        [SAP_RANGE_FLAG] = "0 or 1",
        [SAP_RANGE_SIDE] = "-1 lower, 0 both, or 1 upper",
        [SAP_RANGE_SHAPE_FLAGS] = "a sum of 1 (visible) and 2 (collides)",
    };
    SapLabel out;
    /* Index ranges also name the largest index of this model. */
    if (range == SAP_RANGE_BODY || range == SAP_RANGE_BODY_OR_WORLD)
        snprintf(out.text, sizeof out.text, "%s .. %d", texts[range], a->num_bodies - 1);
    else if (range == SAP_RANGE_SHAPE)
        snprintf(out.text, sizeof out.text, "%s .. %d", texts[range], a->num_shapes - 1);
    else
        snprintf(out.text, sizeof out.text, "%s", texts[range]);
    return out;
}

/* The last four columns of a pose are a quaternion. */
static SapRange range_of(const SapModelField *field, int column) {
    return field->columns == 7 && column >= 3 ? SAP_RANGE_FINITE : field->range;
}

static SapStatus fail_range(const SapModelArrays *a, const SapModelField *field, int row, int column, double x) {
    char index[32];
    if (field->columns == 1)
        snprintf(index, sizeof index, "[%d]", row);
    else
        snprintf(index, sizeof index, "[%d][%d]", row, column);
    return sap_fail(SAP_ERROR_MODEL, "%s%s of %s is %.17g; it must be %s", field->name, index,
                    sap_row_label(a, field->rows, row).text, x, range_text(a, range_of(field, column)).text);
}

static SapStatus check_numbers(const SapModelArrays *a, const SapModelField *field) {
    if (field->element == SAP_ELEMENT_TEXT || field->range == SAP_RANGE_ANY)
        return SAP_OK;
    const void *data = sap_model_field_get(a, field);
    for (int row = 0; row < sap_model_rows(a, field->rows); row++)
        for (int column = 0; column < field->columns; column++) {
            int k = row * field->columns + column;
            double x = field->element == SAP_ELEMENT_I32 ? ((const int32_t *)data)[k] : ((const double *)data)[k];
            if (!in_range(a, range_of(field, column), x))
                return fail_range(a, field, row, column, x);
        }
    return SAP_OK;
}

static SapStatus check_gravity(const SapModelArrays *a) {
    for (int i = 0; i < 3; i++)
        if (!isfinite(a->gravity[i]))
            return sap_fail(SAP_ERROR_MODEL, "gravity[%d] is %g; it must be finite", i, a->gravity[i]);
    return SAP_OK;
}

/* ---- names ---- */

typedef struct NamedIndex {
    const char *name;
    int index;
} NamedIndex;

static int compare_names(const void *a, const void *b) {
    const NamedIndex *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static SapStatus check_sorted_names(const char *array, const NamedIndex *sorted, int n) {
    for (int i = 0; i + 1 < n; i++)
        if (strcmp(sorted[i].name, sorted[i + 1].name) == 0)
            return sap_fail(SAP_ERROR_MODEL, "%s[%d] and %s[%d] are both '%.64s'; names must differ", array,
                            sorted[i].index, array, sorted[i + 1].index, sorted[i].name);
    return SAP_OK;
}

static SapStatus check_names_differ(const char *array, const char *const *names, int n) {
    NamedIndex *sorted = malloc((size_t)n * sizeof *sorted + 1);
    if (sorted == NULL)
        return sap_fail(SAP_ERROR_MEMORY, "no memory to compare %d names", n);
    for (int i = 0; i < n; i++)
        sorted[i] = (NamedIndex){names[i], i};
    qsort(sorted, (size_t)n, sizeof *sorted, compare_names);
    SapStatus status = check_sorted_names(array, sorted, n);
    free(sorted);
    return status;
}

/* ---- quaternions ---- */

SapStatus sap_check_unit_quaternion(const char *array, int i, SapLabel owner, const double *q) {
    if (sap_has_length_one(q, 4, SAP_UNIT_TOLERANCE))
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "%s[%d] of %s has the quaternion (%.9g, %.9g, %.9g, %.9g) of length %.9g; it must be 1 to %g",
                    array, i, owner.text, q[0], q[1], q[2], q[3], sap_length_of(q, 4), SAP_UNIT_TOLERANCE);
}

/* ---- the whole model ---- */

SapStatus sap_model_check_parameter(const SapModelArrays *a, SapParameter parameter) {
    if (parameter == SAP_PARAMETER_GRAVITY)
        return check_gravity(a);
    SAP_TRY(check_numbers(a, sap_parameter_field(parameter)));
    switch (parameter) {
    case SAP_PARAMETER_BODY_INERTIA: return sap_model_check_bodies(a);
    case SAP_PARAMETER_JOINT_LIMIT_LOWER:
    case SAP_PARAMETER_JOINT_LIMIT_UPPER: return sap_model_check_limits(a);
    case SAP_PARAMETER_CONSTRAINT_X:
    case SAP_PARAMETER_CONSTRAINT_LENGTH:
    case SAP_PARAMETER_CONSTRAINT_KE:
    case SAP_PARAMETER_CONSTRAINT_KD: return sap_model_check_constraint_values(a);
    case SAP_PARAMETER_TENDON_TERM_VALUE:
    case SAP_PARAMETER_TENDON_LIMIT_LOWER:
    case SAP_PARAMETER_TENDON_LIMIT_UPPER:
    case SAP_PARAMETER_TENDON_LIMIT_KE:
    case SAP_PARAMETER_TENDON_LIMIT_KD:
    case SAP_PARAMETER_TENDON_SPRING_LOWER:
    case SAP_PARAMETER_TENDON_SPRING_UPPER: return sap_model_check_tendon_values(a);
    default: return SAP_OK;
    }
}

SapStatus sap_model_check_values(const SapModelArrays *a) {
    SAP_TRY(check_gravity(a));
    SAP_TRY(sap_model_check_meshes(a));
    SAP_TRY(sap_model_check_tendon_starts(a));
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++)
        SAP_TRY(check_numbers(a, &sap_model_fields[i]));
    SAP_TRY(check_names_differ("body_name", a->body_name, a->num_bodies));
    SAP_TRY(check_names_differ("joint_name", a->joint_name, a->num_joints));
    SAP_TRY(check_names_differ("keyframe_name", a->keyframe_name, a->num_keyframes));
    SAP_TRY(check_names_differ("constraint_name", a->constraint_name, a->num_constraints));
    SAP_TRY(check_names_differ("tendon_name", a->tendon_name, a->num_tendons));
    SAP_TRY(sap_model_check_joints(a));
    SAP_TRY(sap_model_check_bodies(a));
    SAP_TRY(sap_model_check_shapes(a));
    SAP_TRY(sap_model_check_constraints(a));
    return sap_model_check_tendons(a);
}
