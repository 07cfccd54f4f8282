#include "host/model/parameters.h"

#include <stddef.h>
#include <string.h>

/* Each line: X(parameter, array of SapModelArrays, owner of its rows, number of columns). */
#define PARAMETERS(X)                                                                                                  \
    X(GRAVITY, gravity, WORLD, 3)                                                                                      \
    X(BODY_MASS, body_mass, BODIES, 1)                                                                                 \
    X(BODY_COM, body_com, BODIES, 3)                                                                                   \
    X(BODY_INERTIA, body_inertia, BODIES, 9)                                                                           \
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
    X(SHAPE_GAP, shape_gap, SHAPES, 1)

typedef struct Parameter {
    size_t array; /* offset in SapModelArrays */
    SapParameterOwner owner;
    int columns;
} Parameter;

#define ROW(parameter, name, of, num_columns)                                                                          \
    [SAP_PARAMETER_##parameter] = {offsetof(SapModelArrays, name), SAP_PARAMETER_OF_##of, num_columns},
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
    case SAP_PARAMETER_OF_WORLD: break;
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
