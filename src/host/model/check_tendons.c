/* Rules of tendons. */
#include <math.h>
#include <stdbool.h>

#include "host/base/fail.h"
#include "host/model/check_parts.h"
#include "host/model/constraint_types.h"
#include "host/model/joint_types.h"

#define LABEL sap_tendon_label(a, t).text

SapStatus sap_model_check_tendon_starts(const SapModelArrays *a) {
    const int32_t *start = a->tendon_start;
    int nt = a->num_tendons;
    if (start[0] != 0)
        return sap_fail(SAP_ERROR_MODEL, "tendon_start[0] is %d; it must be 0", start[0]);
    for (int t = 0; t < nt; t++)
        if (start[t + 1] <= start[t])
            return sap_fail(SAP_ERROR_MODEL,
                            "tendon_start[%d] is %d; it must be greater than the one before, %d: %s has no terms",
                            t + 1, start[t + 1], start[t], LABEL);
    if (start[nt] != a->num_tendon_terms)
        return sap_fail(SAP_ERROR_MODEL, "tendon_start[%d] is %d; the last entry must be num_tendon_terms, %d", nt,
                        start[nt], a->num_tendon_terms);
    return SAP_OK;
}

/* ---- fixed tendons ---- */

static SapStatus check_joint_term(const SapModelArrays *a, int t, int k) {
    int dof = a->tendon_term_index[k];
    if (dof < 0 || dof >= a->num_dofs)
        return sap_fail(SAP_ERROR_MODEL, "tendon_term_index[%d] of %s is %d; it must be a dof, 0 .. %d", k, LABEL, dof,
                        a->num_dofs - 1);
    int j = sap_joint_of_dof(a, dof);
    if (sap_coordinate_of_dof(a, dof) < 0)
        return sap_fail(SAP_ERROR_MODEL,
                        "tendon_term_index[%d] of %s is dof %d of %s, a %s joint; a tendon takes joints with one axis, "
                        "or an axis of a d6 joint",
                        k, LABEL, dof, sap_joint_label(a, j).text, sap_joint_type(a->joint_type[j])->names[0]);
    for (int other = a->tendon_start[t]; other < k; other++)
        if (a->tendon_term_index[other] == dof)
            return sap_fail(SAP_ERROR_MODEL,
                            "tendon_term_index[%d] of %s is dof %d of %s a second time; add its "
                            "coefficients",
                            k, LABEL, dof, sap_joint_label(a, j).text);
    return SAP_OK;
}

static SapStatus check_fixed(const SapModelArrays *a, int t) {
    for (int k = a->tendon_start[t]; k < a->tendon_start[t + 1]; k++) {
        if (a->tendon_term_type[k] != SAP_TENDON_JOINT)
            return sap_fail(SAP_ERROR_MODEL,
                            "tendon_term_type[%d] of %s is %d after a joint; a tendon has joints only (0), or points "
                            "(1) and pulleys (2)",
                            k, LABEL, a->tendon_term_type[k]);
        SAP_TRY(check_joint_term(a, t, k));
    }
    return SAP_OK;
}

/* ---- spatial tendons ---- */

static SapStatus check_branch(const SapModelArrays *a, int t, int branch, int points) {
    if (points >= 2)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "%s: branch %d has %d point%s; a branch has 2 or more", LABEL, branch, points,
                    points == 1 ? "" : "s");
}

static SapStatus check_point(const SapModelArrays *a, int t, int k) {
    int body = a->tendon_term_index[k];
    if (body >= -1 && body < a->num_bodies)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "tendon_term_index[%d] of %s is %d; it must be -1 (the world) or a body index, -1 .. %d", k, LABEL,
                    body, a->num_bodies - 1);
}

static SapStatus check_path(const SapModelArrays *a, int t) {
    int first = a->tendon_start[t], points = 0, branch = 1;
    bool moves = false;
    for (int k = first; k < a->tendon_start[t + 1]; k++) {
        int type = a->tendon_term_type[k];
        if (type != SAP_TENDON_POINT && type != SAP_TENDON_PULLEY)
            return sap_fail(SAP_ERROR_MODEL,
                            "tendon_term_type[%d] of %s is %d; allowed after a point or pulley: 1 point, 2 pulley", k,
                            LABEL, type);
        if (type == SAP_TENDON_PULLEY) {
            if (k > first)
                SAP_TRY(check_branch(a, t, branch++, points));
            points = 0;
            continue;
        }
        SAP_TRY(check_point(a, t, k));
        if (points++ > 0)
            moves |= sap_moving_joint(a, a->tendon_term_index[k]) != sap_moving_joint(a, a->tendon_term_index[k - 1]);
    }
    SAP_TRY(check_branch(a, t, branch, points));
    if (moves)
        return SAP_OK;
    int body = a->tendon_term_index[a->tendon_start[t + 1] - 1];
    return sap_fail(SAP_ERROR_MODEL, "%s: all points of a branch lie on '%.64s'; its length cannot change", LABEL,
                    body < 0 ? "world" : a->body_name[body]);
}

/* ---- numbers ---- */

static SapStatus check_divisors(const SapModelArrays *a, int t) {
    for (int k = a->tendon_start[t]; k < a->tendon_start[t + 1]; k++)
        if (a->tendon_term_type[k] == SAP_TENDON_PULLEY && !(a->tendon_term_value[3 * k] > 0))
            return sap_fail(SAP_ERROR_MODEL,
                            "tendon_term_value[%d][0] of %s is %g; the divisor of a pulley must be > 0", k, LABEL,
                            a->tendon_term_value[3 * k]);
    return SAP_OK;
}

static SapStatus check_order(const SapModelArrays *a, int t, const char *what, double lower, double upper) {
    if (lower <= upper)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "tendon_%s_lower[%d] of %s is %g, above tendon_%s_upper, %g", what, t, LABEL,
                    lower, what, upper);
}

static SapStatus check_limit_damping(const SapModelArrays *a, int t) {
    if (!isinf(a->tendon_limit_ke[t]) || a->tendon_limit_kd[t] == 0)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "tendon_limit_kd[%d] of %s is %g with an infinite tendon_limit_ke; a rigid limit has no damping of "
                    "its own: it must be 0",
                    t, LABEL, a->tendon_limit_kd[t]);
}

SapStatus sap_model_check_tendon_values(const SapModelArrays *a) {
    for (int t = 0; t < a->num_tendons; t++) {
        SAP_TRY(check_divisors(a, t));
        SAP_TRY(check_order(a, t, "limit", a->tendon_limit_lower[t], a->tendon_limit_upper[t]));
        SAP_TRY(check_order(a, t, "spring", a->tendon_spring_lower[t], a->tendon_spring_upper[t]));
        SAP_TRY(check_limit_damping(a, t));
    }
    return SAP_OK;
}

SapStatus sap_model_check_tendons(const SapModelArrays *a) {
    for (int t = 0; t < a->num_tendons; t++)
        SAP_TRY(a->tendon_term_type[a->tendon_start[t]] == SAP_TENDON_JOINT ? check_fixed(a, t) : check_path(a, t));
    return sap_model_check_tendon_values(a);
}
