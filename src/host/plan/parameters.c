#include "host/plan/parameters.h"

#include <stddef.h>
#include <string.h>

/* What a row of an array belongs to: gravity has one row, the world's. */
typedef enum RowsOf { ROWS_WORLD, ROWS_BODIES, ROWS_DOFS, ROWS_SHAPES } RowsOf;

typedef struct Parameter {
    const char *name;       /* in SapModelArrays */
    size_t array, constant; /* where it is in SapModelArrays and in SapConstants */
    RowsOf rows;
    int columns, packed; /* of the model, and of the kernels */
} Parameter;

#define PARAMETER(array_name, constant_name, buffer_of, num_columns, num_packed)                                       \
    {                                                                                                                  \
#array_name, offsetof(SapModelArrays, array_name), offsetof(SapConstants, constant_name), ROWS_##buffer_of,    \
            num_columns, num_packed                                                                                    \
    }

static const Parameter parameters[SAP_NUM_PARAMETERS] = {
    [SAP_PARAMETER_GRAVITY] = PARAMETER(gravity, gravity, WORLD, 3, 3),
    [SAP_PARAMETER_BODY_MASS] = PARAMETER(body_mass, mass, BODIES, 1, 1),
    [SAP_PARAMETER_BODY_COM] = PARAMETER(body_com, com, BODIES, 3, 3),
    [SAP_PARAMETER_BODY_INERTIA] = PARAMETER(body_inertia, inertia, BODIES, 9, 6),
    [SAP_PARAMETER_JOINT_ARMATURE] = PARAMETER(joint_armature, armature, DOFS, 1, 1),
    [SAP_PARAMETER_JOINT_DAMPING] = PARAMETER(joint_damping, damping, DOFS, 1, 1),
    [SAP_PARAMETER_JOINT_FRICTION] = PARAMETER(joint_friction, friction, DOFS, 1, 1),
    [SAP_PARAMETER_JOINT_TARGET_KE] = PARAMETER(joint_target_ke, target_ke, DOFS, 1, 1),
    [SAP_PARAMETER_JOINT_TARGET_KD] = PARAMETER(joint_target_kd, target_kd, DOFS, 1, 1),
    [SAP_PARAMETER_JOINT_EFFORT_LIMIT] = PARAMETER(joint_effort_limit, effort_limit, DOFS, 1, 1),
    [SAP_PARAMETER_JOINT_LIMIT_LOWER] = PARAMETER(joint_limit_lower, limit_lower, DOFS, 1, 1),
    [SAP_PARAMETER_JOINT_LIMIT_UPPER] = PARAMETER(joint_limit_upper, limit_upper, DOFS, 1, 1),
    [SAP_PARAMETER_JOINT_LIMIT_KE] = PARAMETER(joint_limit_ke, limit_ke, DOFS, 1, 1),
    [SAP_PARAMETER_JOINT_LIMIT_KD] = PARAMETER(joint_limit_kd, limit_kd, DOFS, 1, 1),
    [SAP_PARAMETER_SHAPE_MATERIAL_MU] = PARAMETER(shape_material_mu, shape_mu, SHAPES, 1, 1),
    [SAP_PARAMETER_SHAPE_MATERIAL_KE] = PARAMETER(shape_material_ke, shape_ke, SHAPES, 1, 1),
    [SAP_PARAMETER_SHAPE_MATERIAL_TAU] = PARAMETER(shape_material_tau, shape_tau, SHAPES, 1, 1),
    [SAP_PARAMETER_SHAPE_MARGIN] = PARAMETER(shape_margin, shape_margin, SHAPES, 1, 1),
    [SAP_PARAMETER_SHAPE_GAP] = PARAMETER(shape_gap, shape_gap, SHAPES, 1, 1),
};

const char *const *sap_parameter_names(void) {
    static const char *const names[SAP_NUM_PARAMETERS + 1] = {
        [SAP_PARAMETER_GRAVITY] = "gravity",
        [SAP_PARAMETER_BODY_MASS] = "body_mass",
        [SAP_PARAMETER_BODY_COM] = "body_com",
        [SAP_PARAMETER_BODY_INERTIA] = "body_inertia",
        [SAP_PARAMETER_JOINT_ARMATURE] = "joint_armature",
        [SAP_PARAMETER_JOINT_DAMPING] = "joint_damping",
        [SAP_PARAMETER_JOINT_FRICTION] = "joint_friction",
        [SAP_PARAMETER_JOINT_TARGET_KE] = "joint_target_ke",
        [SAP_PARAMETER_JOINT_TARGET_KD] = "joint_target_kd",
        [SAP_PARAMETER_JOINT_EFFORT_LIMIT] = "joint_effort_limit",
        [SAP_PARAMETER_JOINT_LIMIT_LOWER] = "joint_limit_lower",
        [SAP_PARAMETER_JOINT_LIMIT_UPPER] = "joint_limit_upper",
        [SAP_PARAMETER_JOINT_LIMIT_KE] = "joint_limit_ke",
        [SAP_PARAMETER_JOINT_LIMIT_KD] = "joint_limit_kd",
        [SAP_PARAMETER_SHAPE_MATERIAL_MU] = "shape_material_mu",
        [SAP_PARAMETER_SHAPE_MATERIAL_KE] = "shape_material_ke",
        [SAP_PARAMETER_SHAPE_MATERIAL_TAU] = "shape_material_tau",
        [SAP_PARAMETER_SHAPE_MARGIN] = "shape_margin",
        [SAP_PARAMETER_SHAPE_GAP] = "shape_gap",
    };
    return names;
}

/* ---- in the model ---- */

const SapModelField *sap_parameter_field(SapParameter p) {
    return p == SAP_PARAMETER_GRAVITY ? NULL : sap_model_field(parameters[p].name);
}

int sap_parameter_rows(const SapModelArrays *m, SapParameter p) {
    switch (parameters[p].rows) {
    case ROWS_BODIES: return m->num_bodies;
    case ROWS_DOFS: return m->num_dofs;
    case ROWS_SHAPES: return m->num_shapes;
    case ROWS_WORLD: break;
    }
    return 1;
}

int sap_parameter_columns(SapParameter p) {
    return parameters[p].columns;
}

const double *sap_parameter_get(const SapModelArrays *m, SapParameter p) {
    if (p == SAP_PARAMETER_GRAVITY)
        return m->gravity;
    const double *values;
    memcpy(&values, (const char *)m + parameters[p].array, sizeof values);
    return values;
}

void sap_parameter_set(SapModelArrays *m, SapParameter p, const double *values) {
    if (p == SAP_PARAMETER_GRAVITY)
        memcpy(m->gravity, values, sizeof m->gravity);
    else
        memcpy((char *)m + parameters[p].array, &values, sizeof values);
}

/* ---- in the kernels' constants ---- */

SapField *sap_parameter_constant(SapConstants *constants, SapParameter p) {
    return (SapField *)((char *)constants + parameters[p].constant);
}

/* Every link is the child body of a joint, so there are as many as bodies. */
static int num_rows(const SapPlan *plan, RowsOf rows) {
    return rows == ROWS_WORLD ? 1 : rows == ROWS_BODIES ? plan->nl : rows == ROWS_DOFS ? plan->nv : plan->ns;
}

int sap_parameter_packed(SapParameter p) {
    return parameters[p].packed;
}

int sap_parameter_width(const SapPlan *plan, SapParameter p) {
    return num_rows(plan, parameters[p].rows) * parameters[p].packed;
}

/* The row of the model's array that is row i of the kernels'. */
static int model_row(const SapPlan *plan, RowsOf rows, int i) {
    return rows == ROWS_BODIES ? plan->link[i].body : rows == ROWS_DOFS ? plan->dof_public[i] : i;
}

static void put(void *row, int f64, int i, double value) {
    if (f64)
        ((double *)row)[i] = value;
    else
        ((float *)row)[i] = (float)value;
}

void sap_parameter_put(const SapModelArrays *m, const SapPlan *plan, SapParameter p, int f64, void *row) {
    static const int as_it_is[3] = {0, 1, 2}, of_inertia[6] = {0, 4, 8, 1, 2, 5};
    const Parameter *of = &parameters[p];
    const int *column = p == SAP_PARAMETER_BODY_INERTIA ? of_inertia : as_it_is;
    const double *values = sap_parameter_get(m, p);
    for (int i = 0, n = num_rows(plan, of->rows); i < n; i++) {
        const double *from = values + of->columns * model_row(plan, of->rows, i);
        for (int k = 0; k < of->packed; k++)
            put(row, f64, of->packed * i + k, from[column[k]]);
    }
}
