#include "model_check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eigen3.h"
#include "fail.h"
#include "hull.h"
#include "model.h"
#include "parameters.h"

/* How far from unit length a vector may be to be taken for a unit vector; single-precision data are well inside. */
static const double unit_tolerance = 1e-6;

/* ---- naming things in messages ---- */

typedef struct Label {
    char text[128];
} Label;

/* "joint 3 ('knee')"; long names are cut so that the rest of the message survives. */
static Label label(const char *kind, const char *const *names, int i) {
    Label out;
    if (names != NULL && names[i] != NULL)
        snprintf(out.text, sizeof out.text, "%s %d ('%.64s')", kind, i, names[i]);
    else
        snprintf(out.text, sizeof out.text, "%s %d", kind, i);
    return out;
}

static Label body_label(const SapModelArrays *a, int i) {
    return label("body", a->body_name, i);
}

static Label joint_label(const SapModelArrays *a, int j) {
    return label("joint", a->joint_name, j);
}

static Label shape_label(const SapModelArrays *a, int s) {
    return label("shape", a->shape_name, s);
}

/* The joint that owns entry i of an array with those starts. */
static Label owner_label(const SapModelArrays *a, const int32_t *start, int i) {
    int j = 0;
    while (j + 1 < a->num_joints && start[j + 1] <= i)
        j++;
    return joint_label(a, j);
}

static Label keyframe_label(const SapModelArrays *a, int k) {
    return label("keyframe", a->keyframe_name, k);
}

/* The mesh of a vertex. */
static int mesh_of(const SapModelArrays *a, int vertex) {
    int mesh = 0;
    while (mesh + 1 < a->num_meshes && a->mesh_start[mesh + 1] <= vertex)
        mesh++;
    return mesh;
}

/* The grid of a height. */
static int height_field_of(const SapModelArrays *a, int height) {
    int grid = 0;
    for (; grid + 1 < a->num_height_fields; grid++) {
        int count = a->height_field_size[2 * grid] * a->height_field_size[2 * grid + 1];
        if (height < count)
            break;
        height -= count;
    }
    return grid;
}

/* What row i of such an array belongs to. */
static Label row_label(const SapModelArrays *a, SapModelRows rows, int i) {
    switch (rows) {
    case SAP_ROWS_BODIES: return body_label(a, i);
    case SAP_ROWS_JOINTS: return joint_label(a, i);
    case SAP_ROWS_DOFS: return owner_label(a, a->joint_qd_start, i);
    case SAP_ROWS_COORDS: return owner_label(a, a->joint_q_start, i);
    case SAP_ROWS_SHAPES: return shape_label(a, i);
    case SAP_ROWS_ARTICULATIONS: return label("articulation", a->articulation_name, i);
    case SAP_ROWS_FILTER_PAIRS:
    case SAP_ROWS_SHAPE_FILTER_PAIRS: return label("pair", NULL, i);
    case SAP_ROWS_MESH_VERTICES: return label("mesh", NULL, mesh_of(a, i));
    case SAP_ROWS_HEIGHT_FIELDS: return label("height field", NULL, i);
    case SAP_ROWS_HEIGHTS: return label("height field", NULL, height_field_of(a, i));
    case SAP_ROWS_KEYFRAMES: return keyframe_label(a, i);
    case SAP_ROWS_KEYFRAME_COORDS: return keyframe_label(a, i / a->num_coords);
    case SAP_ROWS_KEYFRAME_DOFS: return keyframe_label(a, i / a->num_dofs);
    case SAP_ROWS_JOINT_STARTS:
    case SAP_ROWS_ARTICULATION_STARTS:
    case SAP_ROWS_MESH_STARTS:
    case SAP_NUM_ROWS: break;
    }
    return label("entry", NULL, i);
}

static const char *joint_type_name(int32_t type) {
    switch (type) {
    case SAP_JOINT_PRISMATIC: return "prismatic";
    case SAP_JOINT_REVOLUTE: return "revolute";
    case SAP_JOINT_BALL: return "ball";
    case SAP_JOINT_FIXED: return "fixed";
    case SAP_JOINT_FREE: return "free";
    case SAP_JOINT_D6: return "D6";
    default: return NULL;
    }
}

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

static SapStatus check_counts(const SapModelArrays *a) {
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
    SAP_TRY(check_one_joint_per_body(a));
    return check_articulation_count(a);
}

static SapStatus check_required(const SapModelArrays *a, const SapModelField *field) {
    int rows = sap_model_rows(a, field->rows);
    bool required = field->required || (field->rows == SAP_ROWS_MESH_STARTS && a->num_meshes > 0);
    if (!required || rows == 0 || sap_model_field_get(a, field) != NULL)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "%s is NULL; it is required and has %d row%s here", field->name, rows,
                    rows == 1 ? "" : "s");
}

/* ---- layout: joint types ---- */

static SapStatus check_joint_type(const SapModelArrays *a, int j) {
    static const char *allowed = "allowed: 0 prismatic, 1 revolute, 2 ball, 3 fixed, 4 free, 6 D6";
    enum { DISTANCE = 5 };
    int type = a->joint_type[j];
    if (type == DISTANCE)
        return sap_fail(SAP_ERROR_UNSUPPORTED, "joint_type[%d] of %s is 5 (distance), which is not supported; %s", j,
                        joint_label(a, j).text, allowed);
    if (joint_type_name(type) == NULL)
        return sap_fail(SAP_ERROR_MODEL, "joint_type[%d] of %s is %d; %s", j, joint_label(a, j).text, type, allowed);
    return SAP_OK;
}

static SapStatus check_d6_axis_counts(const SapModelArrays *a, int j) {
    if (a->joint_dof_dim == NULL)
        return sap_fail(SAP_ERROR_MODEL, "joint_dof_dim is NULL; %s is a D6 joint and needs it",
                        joint_label(a, j).text);
    const int32_t *dim = &a->joint_dof_dim[2 * j];
    if (dim[0] >= 0 && dim[0] <= 3 && dim[1] >= 0 && dim[1] <= 3 && dim[0] + dim[1] >= 1)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "joint_dof_dim[%d] of %s is (%d, %d); a D6 joint has 0 .. 3 linear and 0 .. 3 angular axes, at "
                    "least one in all",
                    j, joint_label(a, j).text, dim[0], dim[1]);
}

static SapStatus check_axis_counts(const SapModelArrays *a, int j) {
    int32_t type = a->joint_type[j], of_type[2];
    if (!sap_joint_axis_counts(type, of_type))
        return check_d6_axis_counts(a, j);
    if (a->joint_dof_dim == NULL || memcmp(&a->joint_dof_dim[2 * j], of_type, sizeof of_type) == 0)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "joint_dof_dim[%d] of %s is (%d, %d); a %s joint has (%d, %d)", j,
                    joint_label(a, j).text, a->joint_dof_dim[2 * j], a->joint_dof_dim[2 * j + 1], joint_type_name(type),
                    of_type[0], of_type[1]);
}

static SapStatus check_axes_given(const SapModelArrays *a, int j) {
    int32_t type = a->joint_type[j];
    bool needs = type == SAP_JOINT_PRISMATIC || type == SAP_JOINT_REVOLUTE || type == SAP_JOINT_D6;
    if (!needs || a->joint_axis != NULL)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "joint_axis is NULL; %s is a %s joint and needs it", joint_label(a, j).text,
                    joint_type_name(type));
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
    SAP_TRY(check_counts(a));
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

/* ---- starts ---- */

static SapStatus check_start(const SapModelArrays *a, const char *name, const int32_t *start, int j, int expected,
                             const char *what) {
    if (start[j] == expected)
        return SAP_OK;
    if (j == a->num_joints)
        return sap_fail(SAP_ERROR_MODEL, "%s[%d] is %d; the last entry must be the number of %s, %d", name, j, start[j],
                        what, expected);
    return sap_fail(SAP_ERROR_MODEL, "%s[%d] of %s is %d; the joints before it have %d %s", name, j,
                    joint_label(a, j).text, start[j], expected, what);
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

/* ---- meshes and grids ---- */

static SapStatus check_meshes(const SapModelArrays *a) {
    const int32_t *start = a->mesh_start;
    int nm = a->num_meshes;
    if (start[0] != 0)
        return sap_fail(SAP_ERROR_MODEL, "mesh_start[0] is %d; it must be 0", start[0]);
    for (int i = 0; i < nm; i++)
        if (start[i + 1] < start[i])
            return sap_fail(SAP_ERROR_MODEL, "mesh_start[%d] is %d; it must not be less than the one before, %d", i + 1,
                            start[i + 1], start[i]);
    if (start[nm] != a->num_mesh_vertices)
        return sap_fail(SAP_ERROR_MODEL, "mesh_start[%d] is %d; the last entry must be num_mesh_vertices, %d", nm,
                        start[nm], a->num_mesh_vertices);
    return SAP_OK;
}

/* Each grid ends inside the heights, and the last one at their end. */
static SapStatus check_grids(const SapModelArrays *a) {
    int64_t heights = 0;
    for (int i = 0; i < a->num_height_fields; i++) {
        int64_t rows = a->height_field_size[2 * i], columns = a->height_field_size[2 * i + 1];
        if (rows < 2 || columns < 2)
            return sap_fail(SAP_ERROR_MODEL, "height_field_size[%d] is (%d, %d); rows and columns must be 2 or more", i,
                            (int)rows, (int)columns);
        heights += rows * columns;
        if (heights > a->num_heights)
            return sap_fail(SAP_ERROR_MODEL,
                            "height_field_size[%d] is (%d, %d): grids 0 .. %d need more than num_heights, %d", i,
                            (int)rows, (int)columns, i, a->num_heights);
    }
    if (heights != a->num_heights)
        return sap_fail(SAP_ERROR_MODEL, "num_heights is %d; the height fields have %d", a->num_heights, (int)heights);
    return SAP_OK;
}

/* ---- every number by itself ---- */

static bool in_range(const SapModelArrays *a, SapRange range, double x) {
    switch (range) {
    case SAP_RANGE_ANY: return true;
    case SAP_RANGE_FINITE: return isfinite(x);
    case SAP_RANGE_NON_NEGATIVE: return isfinite(x) && x >= 0;
    case SAP_RANGE_POSITIVE: return isfinite(x) && x > 0;
    case SAP_RANGE_POSITIVE_OR_INF: return x > 0;
    case SAP_RANGE_FINITE_OR_NEG_INF: return x < INFINITY;
    case SAP_RANGE_FINITE_OR_INF: return x > -INFINITY;
    case SAP_RANGE_BODY: return x >= 0 && x < a->num_bodies;
    case SAP_RANGE_BODY_OR_WORLD: return x >= -1 && x < a->num_bodies;
    case SAP_RANGE_AXIS_COUNT: return x >= 0 && x <= 3;
    case SAP_RANGE_TARGET_MODE: return x >= SAP_TARGET_NONE && x <= SAP_TARGET_EFFORT;
    case SAP_RANGE_SHAPE: return x >= 0 && x < a->num_shapes;
    case SAP_RANGE_FLAG: return x == 0 || x == 1;
    case SAP_RANGE_SHAPE_FLAGS: return x >= 0 && x <= (SAP_SHAPE_VISIBLE | SAP_SHAPE_COLLIDES);
    }
    return false;
}

static Label range_text(const SapModelArrays *a, SapRange range) {
    static const char *const texts[] = {
        [SAP_RANGE_ANY] = "any",
        [SAP_RANGE_FINITE] = "finite",
        [SAP_RANGE_NON_NEGATIVE] = "finite and >= 0",
        [SAP_RANGE_POSITIVE] = "finite and > 0",
        [SAP_RANGE_POSITIVE_OR_INF] = "> 0, infinity allowed",
        [SAP_RANGE_FINITE_OR_NEG_INF] = "finite or -infinity",
        [SAP_RANGE_FINITE_OR_INF] = "finite or infinity",
        [SAP_RANGE_BODY] = "a body index, 0",
        [SAP_RANGE_BODY_OR_WORLD] = "-1 (the world) or a body index, -1",
        [SAP_RANGE_AXIS_COUNT] = "0 .. 3",
        [SAP_RANGE_TARGET_MODE] = "0 none, 1 position, 2 velocity, 3 position and velocity, or 4 effort",
        [SAP_RANGE_SHAPE] = "a shape index, 0",
        [SAP_RANGE_FLAG] = "0 or 1",
        [SAP_RANGE_SHAPE_FLAGS] = "a sum of 1 (visible) and 2 (collides)",
    };
    Label out;
    if (range == SAP_RANGE_BODY || range == SAP_RANGE_BODY_OR_WORLD)
        snprintf(out.text, sizeof out.text, "%s .. %d", texts[range], a->num_bodies - 1);
    else if (range == SAP_RANGE_SHAPE)
        snprintf(out.text, sizeof out.text, "%s .. %d", texts[range], a->num_shapes - 1);
    else
        snprintf(out.text, sizeof out.text, "%s", texts[range]);
    return out;
}

static SapStatus fail_range(const SapModelArrays *a, const SapModelField *field, int row, int column, double x) {
    char index[32];
    if (field->columns == 1)
        snprintf(index, sizeof index, "[%d]", row);
    else
        snprintf(index, sizeof index, "[%d][%d]", row, column);
    return sap_fail(SAP_ERROR_MODEL, "%s%s of %s is %.17g; it must be %s", field->name, index,
                    row_label(a, field->rows, row).text, x, range_text(a, field->range).text);
}

static SapStatus check_numbers(const SapModelArrays *a, const SapModelField *field) {
    if (field->element == SAP_ELEMENT_TEXT || field->range == SAP_RANGE_ANY)
        return SAP_OK;
    const void *data = sap_model_field_get(a, field);
    for (int row = 0; row < sap_model_rows(a, field->rows); row++)
        for (int column = 0; column < field->columns; column++) {
            int k = row * field->columns + column;
            double x = field->element == SAP_ELEMENT_I32 ? ((const int32_t *)data)[k] : ((const double *)data)[k];
            if (!in_range(a, field->range, x))
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

/* ---- the tree ---- */

enum { NO_JOINT = -1 };

/* joint_of_body[child of j] = j, while no body is met twice. */
static SapStatus enter_child(const SapModelArrays *a, int j, int *joint_of_body) {
    int child = a->joint_child[j], other = joint_of_body[child];
    if (other != NO_JOINT)
        return sap_fail(SAP_ERROR_MODEL,
                        "joint_child[%d] of %s is %s, which is already the child of %s; a body is the "
                        "child of exactly one joint",
                        j, joint_label(a, j).text, body_label(a, child).text, joint_label(a, other).text);
    joint_of_body[child] = j;
    return SAP_OK;
}

static SapStatus check_not_own_child(const SapModelArrays *a, int j) {
    if (a->joint_parent[j] != a->joint_child[j])
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "joint_parent[%d] of %s is %s, which is also its child; they must differ", j,
                    joint_label(a, j).text, body_label(a, a->joint_child[j]).text);
}

/* With this no chain of parents can come back to where it started. */
static SapStatus check_parent_comes_first(const SapModelArrays *a, int j, const int *joint_of_body) {
    int parent = a->joint_parent[j];
    if (parent < 0 || joint_of_body[parent] != NO_JOINT)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "joint_parent[%d]: %s: its parent %s is not the child of an earlier joint; parents come before "
                    "children, and cycles are not allowed",
                    j, joint_label(a, j).text, body_label(a, parent).text);
}

static SapStatus check_parent_in_articulation(const SapModelArrays *a, int j, int first, const int *joint_of_body) {
    int parent = a->joint_parent[j];
    if (parent < 0 || joint_of_body[parent] >= first)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "joint_parent[%d]: %s: its parent %s belongs to %s, before articulation_start %d; a tree must not "
                    "cross articulations",
                    j, joint_label(a, j).text, body_label(a, parent).text, joint_label(a, joint_of_body[parent]).text,
                    first);
}

static SapStatus check_articulation_starts(const SapModelArrays *a) {
    const int32_t *start = a->articulation_start;
    int na = a->num_articulations;
    if (start[0] != 0)
        return sap_fail(SAP_ERROR_MODEL, "articulation_start[0] is %d; it must be 0", start[0]);
    for (int i = 0; i < na; i++)
        if (start[i + 1] <= start[i])
            return sap_fail(SAP_ERROR_MODEL, "articulation_start[%d] is %d; it must be greater than the one before, %d",
                            i + 1, start[i + 1], start[i]);
    if (start[na] != a->num_joints)
        return sap_fail(SAP_ERROR_MODEL,
                        "articulation_start[%d] is %d; the last entry must be the number of joints, %d", na, start[na],
                        a->num_joints);
    return SAP_OK;
}

static SapStatus check_joints_in_order(const SapModelArrays *a, int *joint_of_body) {
    int articulation = 0;
    for (int j = 0; j < a->num_joints; j++) {
        if (j == a->articulation_start[articulation + 1])
            articulation++;
        SAP_TRY(check_not_own_child(a, j));
        SAP_TRY(check_parent_comes_first(a, j, joint_of_body));
        SAP_TRY(check_parent_in_articulation(a, j, a->articulation_start[articulation], joint_of_body));
        SAP_TRY(enter_child(a, j, joint_of_body));
    }
    return SAP_OK;
}

static SapStatus check_tree(const SapModelArrays *a) {
    SAP_TRY(check_articulation_starts(a));
    int *joint_of_body = malloc((size_t)a->num_bodies * sizeof *joint_of_body);
    if (joint_of_body == NULL)
        return sap_fail(SAP_ERROR_MEMORY, "no memory to check %d joints", a->num_joints);
    for (int i = 0; i < a->num_bodies; i++)
        joint_of_body[i] = NO_JOINT;
    SapStatus status = check_joints_in_order(a, joint_of_body);
    free(joint_of_body);
    return status;
}

/* ---- unit vectors and quaternions ---- */

static double length_of(const double *v, int n) {
    double squares = 0;
    for (int i = 0; i < n; i++)
        squares += v[i] * v[i];
    return sqrt(squares);
}

static bool is_unit(const double *v, int n) {
    return fabs(length_of(v, n) - 1) <= unit_tolerance;
}

static SapStatus check_unit_quaternion(const char *array, int i, Label owner, const double *q) {
    if (is_unit(q, 4))
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "%s[%d] of %s has the quaternion (%.9g, %.9g, %.9g, %.9g) of length %.9g; it must be 1 to %g",
                    array, i, owner.text, q[0], q[1], q[2], q[3], length_of(q, 4), unit_tolerance);
}

static SapStatus check_unit_axis(const SapModelArrays *a, int j, int dof) {
    const double *axis = &a->joint_axis[3 * dof];
    if (is_unit(axis, 3))
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "joint_axis[%d] of %s is (%.9g, %.9g, %.9g) of length %.9g; it must be 1 to %g",
                    dof, joint_label(a, j).text, axis[0], axis[1], axis[2], length_of(axis, 3), unit_tolerance);
}

static SapStatus check_joint_poses(const SapModelArrays *a, int j) {
    SAP_TRY(check_unit_quaternion("joint_X_p", j, joint_label(a, j), &a->joint_X_p[7 * j + 3]));
    return check_unit_quaternion("joint_X_c", j, joint_label(a, j), &a->joint_X_c[7 * j + 3]);
}

static SapStatus check_joint_q(const SapModelArrays *a, int j) {
    int at = sap_joint_quaternion_at(a->joint_type[j]);
    if (at < 0)
        return SAP_OK;
    int q = a->joint_q_start[j] + at;
    for (int k = 0; k < a->num_keyframes; k++) {
        int in_keyframe = k * a->num_coords + q;
        SAP_TRY(check_unit_quaternion("keyframe_joint_q", in_keyframe, keyframe_label(a, k),
                                      &a->keyframe_joint_q[in_keyframe]));
    }
    return check_unit_quaternion("joint_q", q, joint_label(a, j), &a->joint_q[q]);
}

/* ---- joints of one type ---- */

static double dot(const double *u, const double *v) {
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

/* u . (v x w) */
static double triple(const double *u, const double *v, const double *w) {
    double cross[3] = {v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0]};
    return dot(u, cross);
}

static SapStatus check_axes_orthogonal(const SapModelArrays *a, int j, int dof, int other) {
    double cosine = dot(&a->joint_axis[3 * dof], &a->joint_axis[3 * other]);
    if (fabs(cosine) <= unit_tolerance)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "joint_axis[%d] and joint_axis[%d] of %s have the cosine %.9g; the angular axes of a D6 joint must "
                    "be orthogonal to %g",
                    dof, other, joint_label(a, j).text, cosine, unit_tolerance);
}

static SapStatus check_axes_right_handed(const SapModelArrays *a, int j, int first) {
    const double *axis = &a->joint_axis[3 * first];
    double volume = triple(axis, axis + 3, axis + 6);
    if (volume > 0)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "joint_axis[%d] .. joint_axis[%d] of %s have the triple product %.9g; three angular axes of a D6 "
                    "joint must be right-handed",
                    first, first + 2, joint_label(a, j).text, volume);
}

static SapStatus check_angular_axes(const SapModelArrays *a, int j) {
    int first = a->joint_qd_start[j] + a->joint_dof_dim[2 * j], end = a->joint_qd_start[j + 1];
    for (int dof = first; dof < end; dof++)
        for (int other = dof + 1; other < end; other++)
            SAP_TRY(check_axes_orthogonal(a, j, dof, other));
    return end - first == 3 ? check_axes_right_handed(a, j, first) : SAP_OK;
}

static SapStatus check_axes(const SapModelArrays *a, int j) {
    for (int dof = a->joint_qd_start[j]; dof < a->joint_qd_start[j + 1]; dof++)
        SAP_TRY(check_unit_axis(a, j, dof));
    return a->joint_type[j] == SAP_JOINT_D6 ? check_angular_axes(a, j) : SAP_OK;
}

static SapStatus check_identity(const SapModelArrays *a, int j, const char *array, const double *pose) {
    static const double identity[7] = {0, 0, 0, 0, 0, 0, 1};
    for (int k = 0; k < 7; k++)
        if (fabs(pose[k] - identity[k]) > 1e-12)
            return sap_fail(SAP_ERROR_MODEL,
                            "%s[%d][%d] of %s is %.17g; a free joint has the identity there, (0, 0, 0, 0, 0, 0, 1) to "
                            "1e-12",
                            array, j, k, joint_label(a, j).text, pose[k]);
    return SAP_OK;
}

static SapStatus check_free_joint(const SapModelArrays *a, int j) {
    int parent = a->joint_parent[j];
    if (parent >= 0)
        return sap_fail(SAP_ERROR_MODEL, "joint_parent[%d] of %s is %s; the parent of a free joint is the world, -1", j,
                        joint_label(a, j).text, body_label(a, parent).text);
    SAP_TRY(check_identity(a, j, "joint_X_p", &a->joint_X_p[7 * j]));
    return check_identity(a, j, "joint_X_c", &a->joint_X_c[7 * j]);
}

static SapStatus check_joint(const SapModelArrays *a, int j) {
    SAP_TRY(check_joint_poses(a, j));
    SAP_TRY(check_joint_q(a, j));
    switch (a->joint_type[j]) {
    case SAP_JOINT_FREE: return check_free_joint(a, j);
    case SAP_JOINT_PRISMATIC:
    case SAP_JOINT_REVOLUTE:
    case SAP_JOINT_D6: return check_axes(a, j);
    default: return SAP_OK;
    }
}

static SapStatus check_limits(const SapModelArrays *a, int dof) {
    double lower = a->joint_limit_lower[dof], upper = a->joint_limit_upper[dof];
    if (lower <= upper)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "joint_limit_lower[%d] of %s is %.9g; it must be <= joint_limit_upper[%d], %.9g",
                    dof, row_label(a, SAP_ROWS_DOFS, dof).text, lower, dof, upper);
}

/* ---- inertia ---- */

static double largest(const double *m, int n) {
    double size = 0;
    for (int k = 0; k < n; k++)
        size = fmax(size, fabs(m[k]));
    return size;
}

static SapStatus check_inertia_symmetric(const SapModelArrays *a, int body, const double *m) {
    double slack = 1e-9 * largest(m, 9);
    for (int i = 0; i < 3; i++)
        for (int k = i + 1; k < 3; k++)
            if (!(fabs(m[3 * i + k] - m[3 * k + i]) <= slack))
                return sap_fail(SAP_ERROR_MODEL,
                                "body_inertia[%d] of %s has %.17g at row %d, column %d and %.17g at row %d, column %d; "
                                "it must be symmetric to 1e-9 of its largest entry",
                                body, body_label(a, body).text, m[3 * i + k], i, k, m[3 * k + i], k, i);
    return SAP_OK;
}

/* A moment below the rounding error of the largest one cannot be told from zero. */
static SapStatus check_inertia_positive(const SapModelArrays *a, int body, const double moments[3]) {
    if (moments[0] > 16 * DBL_EPSILON * moments[2])
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "body_inertia[%d] of %s has the principal moments %.9g, %.9g, %.9g; it must be positive definite",
                    body, body_label(a, body).text, moments[0], moments[1], moments[2]);
}

/* No distribution of mass has a moment larger than the sum of the other two. */
static SapStatus check_inertia_triangle(const SapModelArrays *a, int body, const double moments[3]) {
    if (moments[2] - moments[1] - moments[0] <= 1e-9 * moments[2])
        return SAP_OK;
    return sap_fail(
        SAP_ERROR_MODEL,
        "body_inertia[%d] of %s has the principal moments %.9g, %.9g, %.9g; the largest must not exceed the "
        "sum of the other two (triangle inequality, to 1e-9)",
        body, body_label(a, body).text, moments[0], moments[1], moments[2]);
}

static SapStatus check_inertia(const SapModelArrays *a, int body) {
    const double *m = &a->body_inertia[9 * body];
    double moments[3];
    SAP_TRY(check_inertia_symmetric(a, body, m));
    sap_eigen3_symmetric(m, moments);
    SAP_TRY(check_inertia_positive(a, body, moments));
    return check_inertia_triangle(a, body, moments);
}

/* ---- shapes ---- */

/* How many entries of shape_scale a type uses; -1 for an unknown type. */
static int num_sizes(int32_t type) {
    switch (type) {
    case SAP_SHAPE_PLANE: return 0;
    case SAP_SHAPE_SPHERE: return 1;
    case SAP_SHAPE_HEIGHT_FIELD:
    case SAP_SHAPE_CAPSULE:
    case SAP_SHAPE_CYLINDER:
    case SAP_SHAPE_CONE: return 2;
    case SAP_SHAPE_ELLIPSOID:
    case SAP_SHAPE_BOX:
    case SAP_SHAPE_HULL: return 3;
    default: return -1;
    }
}

static SapStatus check_shape_type(const SapModelArrays *a, int s) {
    if (num_sizes(a->shape_type[s]) >= 0)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "shape_type[%d] of %s is %d; allowed: 1 plane, 2 height field, 3 sphere, 4 capsule, 5 ellipsoid, 6 "
                    "cylinder, 7 box, "
                    "9 cone, 10 hull",
                    s, shape_label(a, s).text, a->shape_type[s]);
}

static SapStatus check_shape_sizes(const SapModelArrays *a, int s) {
    for (int k = 0; k < num_sizes(a->shape_type[s]); k++)
        if (!(a->shape_scale[3 * s + k] > 0))
            return sap_fail(SAP_ERROR_MODEL, "shape_scale[%d][%d] of %s is %.9g; it must be > 0", s, k,
                            shape_label(a, s).text, a->shape_scale[3 * s + k]);
    return SAP_OK;
}

static SapStatus check_shape_mesh(const SapModelArrays *a, int s) {
    int mesh = a->shape_mesh[s];
    bool hull = a->shape_type[s] == SAP_SHAPE_HULL, grid = a->shape_type[s] == SAP_SHAPE_HEIGHT_FIELD;
    if (!hull && !grid && mesh != -1)
        return sap_fail(SAP_ERROR_MODEL, "shape_mesh[%d] of %s is %d; it must be -1, for its type %d has none", s,
                        shape_label(a, s).text, mesh, a->shape_type[s]);
    int count = hull ? a->num_meshes : a->num_height_fields;
    if ((hull || grid) && (mesh < 0 || mesh >= count))
        return sap_fail(SAP_ERROR_MODEL, "shape_mesh[%d] of %s is %d; a %s needs the index of its %s, and there %s %d",
                        s, shape_label(a, s).text, mesh, hull ? "hull" : "height field", hull ? "mesh" : "grid",
                        count == 1 ? "is" : "are", count);
    return SAP_OK;
}

static SapStatus check_shape(const SapModelArrays *a, int s) {
    SAP_TRY(check_shape_type(a, s));
    SAP_TRY(check_shape_sizes(a, s));
    SAP_TRY(check_shape_mesh(a, s));
    return check_unit_quaternion("shape_transform", s, shape_label(a, s), &a->shape_transform[7 * s + 3]);
}

/* The name of a shape that uses the mesh stands in the message. */
static SapStatus check_hull(const SapModelArrays *a, int s) {
    int mesh = a->shape_mesh[s], first = a->mesh_start[mesh];
    char what[192];
    snprintf(what, sizeof what, "%s: mesh %d", shape_label(a, s).text, mesh);
    SapHullShape hull;
    SAP_TRY(sap_hull_create(&a->mesh_vertices[3 * first], a->mesh_start[mesh + 1] - first, what, &hull));
    sap_hull_free(&hull);
    return SAP_OK;
}

static SapStatus check_hulls_once(const SapModelArrays *a, bool *checked) {
    for (int s = 0; s < a->num_shapes; s++)
        if (a->shape_type[s] == SAP_SHAPE_HULL && !checked[a->shape_mesh[s]]) {
            SAP_TRY(check_hull(a, s));
            checked[a->shape_mesh[s]] = true;
        }
    return SAP_OK;
}

static SapStatus check_hulls(const SapModelArrays *a) {
    bool *checked = calloc((size_t)a->num_meshes + 1, sizeof *checked);
    if (checked == NULL)
        return sap_fail(SAP_ERROR_MEMORY, "no memory to check %d meshes", a->num_meshes);
    SapStatus status = check_hulls_once(a, checked);
    free(checked);
    return status;
}

/* ---- all ---- */

static SapStatus check_all_limits(const SapModelArrays *a) {
    for (int dof = 0; dof < a->num_dofs; dof++)
        SAP_TRY(check_limits(a, dof));
    return SAP_OK;
}

static SapStatus check_all_inertias(const SapModelArrays *a) {
    for (int body = 0; body < a->num_bodies; body++)
        SAP_TRY(check_inertia(a, body));
    return SAP_OK;
}

SapStatus sap_model_check_parameter(const SapModelArrays *a, SapParameter parameter) {
    if (parameter == SAP_PARAMETER_GRAVITY)
        return check_gravity(a);
    SAP_TRY(check_numbers(a, sap_parameter_field(parameter)));
    switch (parameter) {
    case SAP_PARAMETER_BODY_INERTIA: return check_all_inertias(a);
    case SAP_PARAMETER_JOINT_LIMIT_LOWER:
    case SAP_PARAMETER_JOINT_LIMIT_UPPER: return check_all_limits(a);
    default: return SAP_OK;
    }
}

SapStatus sap_model_check_values(const SapModelArrays *a) {
    SAP_TRY(check_gravity(a));
    SAP_TRY(check_meshes(a));
    SAP_TRY(check_grids(a));
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++)
        SAP_TRY(check_numbers(a, &sap_model_fields[i]));
    SAP_TRY(check_names_differ("body_name", a->body_name, a->num_bodies));
    SAP_TRY(check_names_differ("joint_name", a->joint_name, a->num_joints));
    SAP_TRY(check_names_differ("keyframe_name", a->keyframe_name, a->num_keyframes));
    SAP_TRY(check_tree(a));
    for (int j = 0; j < a->num_joints; j++)
        SAP_TRY(check_joint(a, j));
    SAP_TRY(check_all_limits(a));
    SAP_TRY(check_all_inertias(a));
    for (int s = 0; s < a->num_shapes; s++)
        SAP_TRY(check_shape(a, s));
    return check_hulls(a);
}
