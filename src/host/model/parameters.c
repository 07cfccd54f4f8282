#include "host/model/parameters.h"

#include <stddef.h>
#include <string.h>

/* Each line: X(parameter, array of SapModelArrays, owner of its rows, number of columns). */
#define PARAMETERS(X)                                                                                                  \
    X(GRAVITY, gravity, WORLD, 3)                                                                                      \
    X(BODY_MASS, body_mass, BODIES, 1)                                                                                 \
    X(BODY_COM, body_com, BODIES, 3)                                                                                   \
    X(BODY_INERTIA, body_inertia, BODIES, 9)                                                                           \
    X(BODY_GRAVCOMP, body_gravcomp, BODIES, 1)                                                                         \
    X(JOINT_ARMATURE, joint_armature, DOFS, 1)                                                                         \
    X(JOINT_DAMPING, joint_damping, DOFS, 1)                                                                           \
    X(JOINT_FRICTION, joint_friction, DOFS, 1)                                                                         \
    X(JOINT_TARGET_KE, joint_target_ke, DOFS, 1)                                                                       \
    X(JOINT_TARGET_KD, joint_target_kd, DOFS, 1)                                                                       \
    X(JOINT_EFFORT_LIMIT, joint_effort_limit, DOFS, 1)                                                                 \
    X(JOINT_LIMIT_LOWER, joint_limit_lower, DOFS, 1)                                                                   \
    X(JOINT_LIMIT_UPPER, joint_limit_upper, DOFS, 1)                                                                   \
    X(JOINT_LIMIT_KE, joint_limit_ke, DOFS, 1)                                                                         \
    X(JOINT_LIMIT_KD, joint_limit_kd, DOFS, 1)                                                                         \
    X(SHAPE_MATERIAL_MU, shape_material_mu, SHAPES, 1)                                                                 \
    X(SHAPE_MATERIAL_KE, shape_material_ke, SHAPES, 1)                                                                 \
    X(SHAPE_MATERIAL_TAU, shape_material_tau, SHAPES, 1)                                                               \
    X(SHAPE_MARGIN, shape_margin, SHAPES, 1)                                                                           \
    X(SHAPE_GAP, shape_gap, SHAPES, 1)                                                                                 \
    X(SHAPE_MESH, shape_mesh, SHAPES, 1)                                                                               \
    X(CONSTRAINT_X, constraint_X, CONSTRAINTS, 14)                                                                     \
    X(CONSTRAINT_POLYNOMIAL, constraint_polynomial, CONSTRAINTS, 5)                                                    \
    X(CONSTRAINT_REFERENCE, constraint_reference, CONSTRAINTS, 2)                                                      \
    X(CONSTRAINT_LENGTH, constraint_length, CONSTRAINTS, 1)                                                            \
    X(CONSTRAINT_KE, constraint_ke, CONSTRAINTS, 2)                                                                    \
    X(CONSTRAINT_KD, constraint_kd, CONSTRAINTS, 2)                                                                    \
    X(TENDON_TERM_VALUE, tendon_term_value, TENDON_TERMS, 3)                                                           \
    X(TENDON_OFFSET, tendon_offset, TENDONS, 1)                                                                        \
    X(TENDON_LIMIT_LOWER, tendon_limit_lower, TENDONS, 1)                                                              \
    X(TENDON_LIMIT_UPPER, tendon_limit_upper, TENDONS, 1)                                                              \
    X(TENDON_LIMIT_KE, tendon_limit_ke, TENDONS, 1)                                                                    \
    X(TENDON_LIMIT_KD, tendon_limit_kd, TENDONS, 1)                                                                    \
    X(TENDON_SPRING_KE, tendon_spring_ke, TENDONS, 1)                                                                  \
    X(TENDON_SPRING_LOWER, tendon_spring_lower, TENDONS, 1)                                                            \
    X(TENDON_SPRING_UPPER, tendon_spring_upper, TENDONS, 1)                                                            \
    X(TENDON_ARMATURE, tendon_armature, TENDONS, 1)                                                                    \
    X(TENDON_DAMPING, tendon_damping, TENDONS, 1)                                                                      \
    X(TENDON_FRICTION, tendon_friction, TENDONS, 1)                                                                    \
    X(TENDON_TARGET_KE, tendon_target_ke, TENDONS, 1)                                                                  \
    X(TENDON_TARGET_KD, tendon_target_kd, TENDONS, 1)                                                                  \
    X(TENDON_EFFORT_LIMIT, tendon_effort_limit, TENDONS, 1)

typedef struct Parameter {
    size_t array; /* offset in SapModelArrays */
    SapParameterOwner owner;
    int columns;
    size_t bytes; /* of an element */
} Parameter;

#define ROW(parameter, name, of, num_columns)                                                                          \
    [SAP_PARAMETER_##parameter] = {offsetof(SapModelArrays, name), SAP_PARAMETER_OF_##of, num_columns,                 \
                                   sizeof *((SapModelArrays *)0)->name},
#define NAME(parameter, name, of, num_columns) [SAP_PARAMETER_##parameter] = #name,

static const Parameter parameters[SAP_NUM_PARAMETERS] = {PARAMETERS(ROW)};
static const char *const names[SAP_NUM_PARAMETERS + 1] = {PARAMETERS(NAME)};

const char *const *sap_parameter_names(void) {
    return names;
}

SapParameterOwner sap_parameter_owner(SapParameter p) {
    return parameters[p].owner;
}

const SapModelField *sap_parameter_field(SapParameter p) {
    return p == SAP_PARAMETER_GRAVITY ? NULL : sap_model_field(names[p]);
}

int sap_parameter_rows(const SapModelArrays *m, SapParameter p) {
    switch (parameters[p].owner) {
    case SAP_PARAMETER_OF_BODIES: return m->num_bodies;
    case SAP_PARAMETER_OF_DOFS: return m->num_dofs;
    case SAP_PARAMETER_OF_SHAPES: return m->num_shapes;
    case SAP_PARAMETER_OF_CONSTRAINTS: return m->num_constraints;
    case SAP_PARAMETER_OF_TENDONS: return m->num_tendons;
    case SAP_PARAMETER_OF_TENDON_TERMS: return m->num_tendon_terms;
    case SAP_PARAMETER_OF_WORLD: break;
    }
    return 1;
}

int sap_parameter_columns(SapParameter p) {
    return parameters[p].columns;
}

size_t sap_parameter_bytes(SapParameter p) {
    return parameters[p].bytes;
}

double sap_parameter_number(SapParameter p, const void *values, int i) {
    return parameters[p].bytes == sizeof(int32_t) ? ((const int32_t *)values)[i] : ((const double *)values)[i];
}

const void *sap_parameter_get(const SapModelArrays *m, SapParameter p) {
    if (p == SAP_PARAMETER_GRAVITY)
        return m->gravity;
    const void *values;
    memcpy(&values, (const char *)m + parameters[p].array, sizeof values);
    return values;
}

void sap_parameter_set(SapModelArrays *m, SapParameter p, const void *values) {
    if (p == SAP_PARAMETER_GRAVITY)
        memcpy(m->gravity, values, sizeof m->gravity);
    else
        memcpy((char *)m + parameters[p].array, &values, sizeof values);
}
