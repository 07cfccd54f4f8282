#include "host/plan/parameters.h"

#include <stdbool.h>
#include <stddef.h>

#include "host/base/number.h"

typedef struct Parameter {
    size_t constant; /* offset in SapConstants */
    int packed;      /* number of columns there */
} Parameter;

#define PARAMETER(constant_name, num_packed)                                                                           \
    { offsetof(SapConstants, constant_name), num_packed }

static const Parameter parameters[SAP_NUM_MODEL_PARAMETERS] = {
    [SAP_PARAMETER_GRAVITY] = PARAMETER(gravity, 3),
    [SAP_PARAMETER_BODY_MASS] = PARAMETER(mass, 1),
    [SAP_PARAMETER_BODY_COM] = PARAMETER(com, 3),
    [SAP_PARAMETER_BODY_INERTIA] = PARAMETER(inertia, 6),
    [SAP_PARAMETER_BODY_GRAVCOMP] = PARAMETER(gravcomp, 1),
    [SAP_PARAMETER_JOINT_ARMATURE] = PARAMETER(armature, 1),
    [SAP_PARAMETER_JOINT_DAMPING] = PARAMETER(damping, 1),
    [SAP_PARAMETER_JOINT_FRICTION] = PARAMETER(friction, 1),
    [SAP_PARAMETER_JOINT_TARGET_KE] = PARAMETER(target_ke, 1),
    [SAP_PARAMETER_JOINT_TARGET_KD] = PARAMETER(target_kd, 1),
    [SAP_PARAMETER_JOINT_EFFORT_LIMIT] = PARAMETER(effort_limit, 1),
    [SAP_PARAMETER_JOINT_LIMIT_LOWER] = PARAMETER(limit_lower, 1),
    [SAP_PARAMETER_JOINT_LIMIT_UPPER] = PARAMETER(limit_upper, 1),
    [SAP_PARAMETER_JOINT_LIMIT_KE] = PARAMETER(limit_ke, 1),
    [SAP_PARAMETER_JOINT_LIMIT_KD] = PARAMETER(limit_kd, 1),
    [SAP_PARAMETER_SHAPE_MATERIAL_MU] = PARAMETER(shape_mu, 1),
    [SAP_PARAMETER_SHAPE_MATERIAL_KE] = PARAMETER(shape_ke, 1),
    [SAP_PARAMETER_SHAPE_MATERIAL_TAU] = PARAMETER(shape_tau, 1),
    [SAP_PARAMETER_SHAPE_MATERIAL_DISSIPATION] = PARAMETER(shape_dissipation, 1),
    [SAP_PARAMETER_SHAPE_MARGIN] = PARAMETER(shape_margin, 1),
    [SAP_PARAMETER_SHAPE_GAP] = PARAMETER(shape_gap, 1),
    [SAP_PARAMETER_SHAPE_MESH] = PARAMETER(shape_mesh, 1),
    [SAP_PARAMETER_CONSTRAINT_X] = PARAMETER(constraint_X, 14),
    [SAP_PARAMETER_CONSTRAINT_POLYNOMIAL] = PARAMETER(constraint_polynomial, 5),
    [SAP_PARAMETER_CONSTRAINT_REFERENCE] = PARAMETER(constraint_reference, 2),
    [SAP_PARAMETER_CONSTRAINT_LENGTH] = PARAMETER(constraint_length, 1),
    [SAP_PARAMETER_CONSTRAINT_KE] = PARAMETER(constraint_ke, 2),
    [SAP_PARAMETER_CONSTRAINT_KD] = PARAMETER(constraint_kd, 2),
    [SAP_PARAMETER_TENDON_TERM_VALUE] = PARAMETER(tendon_term_value, 3),
    [SAP_PARAMETER_TENDON_OFFSET] = PARAMETER(tendon_offset, 1),
    [SAP_PARAMETER_TENDON_LIMIT_LOWER] = PARAMETER(tendon_limit_lower, 1),
    [SAP_PARAMETER_TENDON_LIMIT_UPPER] = PARAMETER(tendon_limit_upper, 1),
    [SAP_PARAMETER_TENDON_LIMIT_KE] = PARAMETER(tendon_limit_ke, 1),
    [SAP_PARAMETER_TENDON_LIMIT_KD] = PARAMETER(tendon_limit_kd, 1),
    [SAP_PARAMETER_TENDON_SPRING_KE] = PARAMETER(tendon_spring_ke, 1),
    [SAP_PARAMETER_TENDON_SPRING_LOWER] = PARAMETER(tendon_spring_lower, 1),
    [SAP_PARAMETER_TENDON_SPRING_UPPER] = PARAMETER(tendon_spring_upper, 1),
    [SAP_PARAMETER_TENDON_ARMATURE] = PARAMETER(tendon_armature, 1),
    [SAP_PARAMETER_TENDON_DAMPING] = PARAMETER(tendon_damping, 1),
    [SAP_PARAMETER_TENDON_FRICTION] = PARAMETER(tendon_friction, 1),
    [SAP_PARAMETER_TENDON_TARGET_KE] = PARAMETER(tendon_target_ke, 1),
    [SAP_PARAMETER_TENDON_TARGET_KD] = PARAMETER(tendon_target_kd, 1),
    [SAP_PARAMETER_TENDON_EFFORT_LIMIT] = PARAMETER(tendon_effort_limit, 1),
};

bool sap_parameter_has_constant(SapParameter p) {
    return p < SAP_NUM_MODEL_PARAMETERS;
}

SapField *sap_parameter_constant(SapConstants *constants, SapParameter p) {
    return (SapField *)((char *)constants + parameters[p].constant);
}

/* Every link is the child body of a joint, so there are as many links as bodies. */
static int num_rows(const SapPlan *plan, SapParameterOwner owner) {
    switch (owner) {
    case SAP_PARAMETER_OF_BODIES: return plan->nl;
    case SAP_PARAMETER_OF_DOFS: return plan->nv;
    case SAP_PARAMETER_OF_SHAPES: return plan->ns;
    case SAP_PARAMETER_OF_CONSTRAINTS: return plan->num_constraints;
    case SAP_PARAMETER_OF_TENDONS: return plan->num_tendons;
    case SAP_PARAMETER_OF_TENDON_TERMS: return plan->num_tendon_terms;
    default: return 1; /* the world */
    }
}

int sap_parameter_width(const SapPlan *plan, SapParameter p) {
    return sap_parameter_has_constant(p) ? num_rows(plan, sap_parameter_owner(p)) * parameters[p].packed : 0;
}

/* The row of the model array that corresponds to row i of the kernel array. */
static int model_row(const SapPlan *plan, SapParameterOwner owner, int i) {
    return owner == SAP_PARAMETER_OF_BODIES ? plan->link[i].body
           : owner == SAP_PARAMETER_OF_DOFS ? plan->dof_public[i]
                                            : i;
}

void sap_parameter_put(const SapNumbers *numbers, const SapPlan *plan, SapParameter p, int f64, void *row) {
    static const int of_inertia[6] = {0, 4, 8, 1, 2, 5};
    SapParameterOwner owner = sap_parameter_owner(p);
    int columns = sap_parameter_columns(p), packed = parameters[p].packed;
    bool is_inertia = p == SAP_PARAMETER_BODY_INERTIA;
    const void *values = sap_parameter_get(numbers, p);
    for (int i = 0, n = num_rows(plan, owner); i < n; i++) {
        int from = columns * model_row(plan, owner, i);
        for (int k = 0; k < packed; k++)
            sap_put_number(row, f64, (size_t)(packed * i + k),
                           sap_parameter_number(p, values, from + (is_inertia ? of_inertia[k] : k)));
    }
}
