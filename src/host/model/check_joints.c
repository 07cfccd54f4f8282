/* Rules of the kinematic tree and of joints. */
#include <math.h>
#include <stdlib.h>

#include "host/base/fail.h"
#include "host/model/check_parts.h"
#include "host/model/joint_types.h"
#include "host/base/unit_vector.h"

/* ---- the tree ---- */

enum { NO_JOINT = -1 };

/* Sets joint_of_body[child of j] = j; fails if a body is the child of two joints. */
static SapStatus enter_child(const SapModelArrays *a, int j, int *joint_of_body) {
    int child = a->joint_child[j], other = joint_of_body[child];
    if (other != NO_JOINT)
        return sap_fail(SAP_ERROR_MODEL,
                        "joint_child[%d] of %s is %s, which is already the child of %s; a body is the "
                        "child of exactly one joint",
                        j, sap_joint_label(a, j).text, sap_body_label(a, child).text, sap_joint_label(a, other).text);
    joint_of_body[child] = j;
    return SAP_OK;
}

static SapStatus check_not_own_child(const SapModelArrays *a, int j) {
    if (a->joint_parent[j] != a->joint_child[j])
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "joint_parent[%d] of %s is %s, which is also its child; they must differ", j,
                    sap_joint_label(a, j).text, sap_body_label(a, a->joint_child[j]).text);
}

/* This rule excludes cycles of parents. */
static SapStatus check_parent_comes_first(const SapModelArrays *a, int j, const int *joint_of_body) {
    int parent = a->joint_parent[j];
    if (parent < 0 || joint_of_body[parent] != NO_JOINT)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "joint_parent[%d]: %s: its parent %s is not the child of an earlier joint; parents come before "
                    "children, and cycles are not allowed",
                    j, sap_joint_label(a, j).text, sap_body_label(a, parent).text);
}

static SapStatus check_parent_in_articulation(const SapModelArrays *a, int j, int first, const int *joint_of_body) {
    int parent = a->joint_parent[j];
    if (parent < 0 || joint_of_body[parent] >= first)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "joint_parent[%d]: %s: its parent %s belongs to %s, before articulation_start %d; a tree must not "
                    "cross articulations",
                    j, sap_joint_label(a, j).text, sap_body_label(a, parent).text,
                    sap_joint_label(a, joint_of_body[parent]).text, first);
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

static SapStatus check_unit_axis(const SapModelArrays *a, int j, int dof) {
    const double *axis = &a->joint_axis[3 * dof];
    if (sap_has_length_one(axis, 3, SAP_UNIT_TOLERANCE))
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "joint_axis[%d] of %s is (%.9g, %.9g, %.9g) of length %.9g; it must be 1 to %g",
                    dof, sap_joint_label(a, j).text, axis[0], axis[1], axis[2], sap_length_of(axis, 3),
                    SAP_UNIT_TOLERANCE);
}

static SapStatus check_joint_poses(const SapModelArrays *a, int j) {
    SAP_TRY(sap_check_unit_quaternion("joint_X_p", j, sap_joint_label(a, j), &a->joint_X_p[7 * j + 3]));
    return sap_check_unit_quaternion("joint_X_c", j, sap_joint_label(a, j), &a->joint_X_c[7 * j + 3]);
}

static SapStatus check_joint_q(const SapModelArrays *a, int j) {
    int at = sap_joint_quaternion_at(a->joint_type[j]);
    if (at < 0)
        return SAP_OK;
    int q = a->joint_q_start[j] + at;
    for (int k = 0; k < a->num_keyframes; k++) {
        int in_keyframe = k * a->num_coords + q;
        SAP_TRY(sap_check_unit_quaternion("keyframe_joint_q", in_keyframe, sap_keyframe_label(a, k),
                                          &a->keyframe_joint_q[in_keyframe]));
    }
    return sap_check_unit_quaternion("joint_q", q, sap_joint_label(a, j), &a->joint_q[q]);
}

/* ---- rules by joint type ---- */

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
    if (fabs(cosine) <= SAP_UNIT_TOLERANCE)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "joint_axis[%d] and joint_axis[%d] of %s have the cosine %.9g; the angular axes of a joint must be "
                    "orthogonal to %g",
                    dof, other, sap_joint_label(a, j).text, cosine, SAP_UNIT_TOLERANCE);
}

static SapStatus check_axes_right_handed(const SapModelArrays *a, int j, int first) {
    const double *axis = &a->joint_axis[3 * first];
    double volume = triple(axis, axis + 3, axis + 6);
    if (volume > 0)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "joint_axis[%d] .. joint_axis[%d] of %s have the triple product %.9g; three angular axes of a "
                    "joint must be right-handed",
                    first, first + 2, sap_joint_label(a, j).text, volume);
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
    return check_angular_axes(a, j);
}

static SapStatus check_identity(const SapModelArrays *a, int j, const char *array, const double *pose) {
    static const double identity[7] = {0, 0, 0, 0, 0, 0, 1};
    for (int k = 0; k < 7; k++)
        if (fabs(pose[k] - identity[k]) > 1e-12)
            return sap_fail(SAP_ERROR_MODEL,
                            "%s[%d][%d] of %s is %.17g; a %s joint has the identity there, (0, 0, 0, 0, 0, 0, 1) to "
                            "1e-12",
                            array, j, k, sap_joint_label(a, j).text, pose[k], sap_joint_type_name(a->joint_type[j]));
    return SAP_OK;
}

/* A joint whose coordinates are the pose of the body. */
static SapStatus check_pose_joint(const SapModelArrays *a, int j) {
    int parent = a->joint_parent[j];
    if (parent >= 0)
        return sap_fail(SAP_ERROR_MODEL, "joint_parent[%d] of %s is %s; the parent of a %s joint is the world, -1", j,
                        sap_joint_label(a, j).text, sap_body_label(a, parent).text,
                        sap_joint_type_name(a->joint_type[j]));
    SAP_TRY(check_identity(a, j, "joint_X_p", &a->joint_X_p[7 * j]));
    return check_identity(a, j, "joint_X_c", &a->joint_X_c[7 * j]);
}

static SapStatus check_joint(const SapModelArrays *a, int j) {
    SAP_TRY(check_joint_poses(a, j));
    SAP_TRY(check_joint_q(a, j));
    const SapJointTypeRow *type = sap_joint_type(a->joint_type[j]);
    if (type->is_pose)
        SAP_TRY(check_pose_joint(a, j));
    return sap_joint_needs_axes(type) ? check_axes(a, j) : SAP_OK;
}

static SapStatus check_limits(const SapModelArrays *a, int dof) {
    double lower = a->joint_limit_lower[dof], upper = a->joint_limit_upper[dof];
    if (lower <= upper)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "joint_limit_lower[%d] of %s is %.9g; it must be <= joint_limit_upper[%d], %.9g",
                    dof, sap_row_label(a, SAP_ROWS_DOFS, dof).text, lower, dof, upper);
}

SapStatus sap_model_check_limits(const SapModelArrays *a) {
    for (int dof = 0; dof < a->num_dofs; dof++)
        SAP_TRY(check_limits(a, dof));
    return SAP_OK;
}

SapStatus sap_model_check_joints(const SapModelArrays *a) {
    SAP_TRY(check_tree(a));
    for (int j = 0; j < a->num_joints; j++)
        SAP_TRY(check_joint(a, j));
    return sap_model_check_limits(a);
}
