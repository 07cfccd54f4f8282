/* Rules of constraints. */
#include <math.h>

#include "host/base/fail.h"
#include "host/model/check_parts.h"
#include "host/model/constraint_types.h"
#include "host/model/joint_types.h"

#define LABEL sap_constraint_label(a, i).text

/* ---- bodies ---- */

static const char *body_text(const SapModelArrays *a, int body) {
    return body < 0 ? "world" : a->body_name[body];
}

static SapStatus check_bodies(const SapModelArrays *a, int i) {
    const int32_t *body = a->constraint_body + 2 * i;
    if (body[0] == body[1])
        return sap_fail(SAP_ERROR_MODEL,
                        "constraint_body[%d] of %s: both bodies are '%.64s'; a constraint joins two bodies", i, LABEL,
                        body_text(a, body[0]));
    int joint[2] = {sap_moving_joint(a, body[0]), sap_moving_joint(a, body[1])};
    if (joint[0] < 0 && joint[1] < 0)
        return sap_fail(SAP_ERROR_MODEL,
                        "constraint_body[%d] of %s: neither '%.64s' nor '%.64s' can move; one of the bodies must hang "
                        "on a joint with dofs",
                        i, LABEL, body_text(a, body[0]), body_text(a, body[1]));
    if (joint[0] == joint[1])
        return sap_fail(SAP_ERROR_MODEL,
                        "constraint_body[%d] of %s: '%.64s' and '%.64s' are joined by fixed joints and cannot move "
                        "against each other",
                        i, LABEL, body_text(a, body[0]), body_text(a, body[1]));
    return SAP_OK;
}

/* ---- coordinates ---- */

static SapStatus check_coordinate(const SapModelArrays *a, int i, int k) {
    int x = a->constraint_coordinate[2 * i + k], least = k == 0 ? 0 : -1, end = a->num_dofs + a->num_tendons;
    if (x < least || x >= end)
        return sap_fail(SAP_ERROR_MODEL,
                        "constraint_coordinate[%d][%d] of %s is %d; it must be a dof, or num_dofs + the index of a "
                        "tendon: %d .. %d",
                        i, k, LABEL, x, least, end - 1);
    if (x >= 0 && x < a->num_dofs && sap_coordinate_of_dof(a, x) < 0) {
        int j = sap_joint_of_dof(a, x);
        return sap_fail(SAP_ERROR_MODEL,
                        "constraint_coordinate[%d][%d] of %s is dof %d of %s, a %s joint; a coupler takes joints with "
                        "one axis, or an axis of a d6 joint",
                        i, k, LABEL, x, sap_joint_label(a, j).text, sap_joint_type(a->joint_type[j])->names[0]);
    }
    return SAP_OK;
}

static SapStatus check_coupler(const SapModelArrays *a, int i) {
    const int32_t *body = a->constraint_body + 2 * i, *x = a->constraint_coordinate + 2 * i;
    if (body[0] != -1 || body[1] != -1)
        return sap_fail(SAP_ERROR_MODEL, "constraint_body[%d] of %s is (%d, %d); a coupler has (-1, -1)", i, LABEL,
                        body[0], body[1]);
    SAP_TRY(check_coordinate(a, i, 0));
    SAP_TRY(check_coordinate(a, i, 1));
    if (x[0] == x[1])
        return sap_fail(SAP_ERROR_MODEL, "constraint_coordinate[%d] of %s is (%d, %d); the two must differ", i, LABEL,
                        x[0], x[1]);
    return SAP_OK;
}

/* ---- one constraint ---- */

static SapStatus check_side(const SapModelArrays *a, int i, const SapConstraintTypeRow *type) {
    if (type->rows == 1 || a->constraint_side[i] == SAP_SIDE_BOTH)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "constraint_side[%d] of %s is %d; a %s has both sides: 0", i, LABEL,
                    a->constraint_side[i], type->names[0]);
}

static SapStatus check_stiffness(const SapModelArrays *a, int i) {
    for (int k = 0; k < 2; k++)
        if (isinf(a->constraint_ke[2 * i + k]) && a->constraint_kd[2 * i + k] > 0)
            return sap_fail(SAP_ERROR_MODEL,
                            "constraint_kd[%d][%d] of %s is %g with an infinite constraint_ke; a rigid constraint has "
                            "no damping of its own: it must be 0",
                            i, k, LABEL, a->constraint_kd[2 * i + k]);
    return SAP_OK;
}

static SapStatus check_length(const SapModelArrays *a, int i) {
    if (a->constraint_type[i] != SAP_CONSTRAINT_DISTANCE || a->constraint_length[i] > 0)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "constraint_length[%d] of %s is %g; it must be > 0. To join two points use type %d (ball)", i,
                    LABEL, a->constraint_length[i], SAP_CONSTRAINT_BALL);
}

static SapStatus check_type(const SapModelArrays *a, int i) {
    const SapConstraintTypeRow *type = sap_constraint_type(a->constraint_type[i]);
    if (type == NULL)
        return sap_fail(SAP_ERROR_MODEL,
                        "constraint_type[%d] of %s is %d; allowed: 0 ball, 1 weld, 2 distance, 3 coupler", i, LABEL,
                        a->constraint_type[i]);
    SAP_TRY(check_side(a, i, type));
    return type->joins_bodies ? check_bodies(a, i) : check_coupler(a, i);
}

SapStatus sap_model_check_constraint_values(const SapModelArrays *a) {
    for (int i = 0; i < a->num_constraints; i++) {
        for (int k = 0; k < 2; k++)
            SAP_TRY(sap_check_unit_quaternion("constraint_X", i, sap_constraint_label(a, i),
                                              a->constraint_X + 7 * (2 * i + k) + 3));
        SAP_TRY(check_stiffness(a, i));
        SAP_TRY(check_length(a, i));
    }
    return SAP_OK;
}

SapStatus sap_model_check_constraints(const SapModelArrays *a) {
    for (int i = 0; i < a->num_constraints; i++)
        SAP_TRY(check_type(a, i));
    return sap_model_check_constraint_values(a);
}
