#include "host/model/parameters.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Each line: X(parameter, array of SapModelArrays, owner of its rows, number of columns). Gravity is no array. */
#define MODEL_PARAMETERS(X)                                                                                            \
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
    X(SHAPE_MATERIAL_DISSIPATION, shape_material_dissipation, SHAPES, 1)                                               \
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

/* The same for SapMujocoParameters; its options are numbers, not arrays. */
#define MUJOCO_OPTIONS(X)                                                                                              \
    X(MUJOCO_IMPRATIO, impratio)                                                                                       \
    X(MUJOCO_TOLERANCE, tolerance)                                                                                     \
    X(MUJOCO_ITERATIONS, iterations)                                                                                   \
    X(MUJOCO_LS_TOLERANCE, ls_tolerance)                                                                               \
    X(MUJOCO_LS_ITERATIONS, ls_iterations)
#define MUJOCO_PARAMETERS(X)                                                                                           \
    X(MUJOCO_BODY_INVWEIGHT, body_invweight, BODIES, 2)                                                                \
    X(MUJOCO_DOF_INVWEIGHT, dof_invweight, DOFS, 1)                                                                    \
    X(MUJOCO_DOF_STIFFNESS, dof_stiffness, DOFS, 1)                                                                    \
    X(MUJOCO_DOF_SPRING_REF, dof_spring_ref, DOFS, 1)                                                                  \
    X(MUJOCO_DOF_DRIVE_RANGE, dof_drive_range, DOFS, 2)                                                                \
    X(MUJOCO_DOF_LIMIT_MARGIN, dof_limit_margin, DOFS, 1)                                                              \
    X(MUJOCO_DOF_LIMIT_SOLREF, dof_limit_solref, DOFS, 2)                                                              \
    X(MUJOCO_DOF_LIMIT_SOLIMP, dof_limit_solimp, DOFS, 5)                                                              \
    X(MUJOCO_DOF_FRICTION_SOLREF, dof_friction_solref, DOFS, 2)                                                        \
    X(MUJOCO_DOF_FRICTION_SOLIMP, dof_friction_solimp, DOFS, 5)                                                        \
    X(MUJOCO_JOINT_BALL_LIMIT, joint_ball_limit, JOINTS, 1)                                                            \
    X(MUJOCO_CONSTRAINT_SOLREF, constraint_solref, CONSTRAINTS, 2)                                                     \
    X(MUJOCO_CONSTRAINT_SOLIMP, constraint_solimp, CONSTRAINTS, 5)                                                     \
    X(MUJOCO_CONSTRAINT_TORQUESCALE, constraint_torquescale, CONSTRAINTS, 1)                                           \
    X(MUJOCO_CONSTRAINT_INVWEIGHT, constraint_invweight, CONSTRAINTS, 2)                                               \
    X(MUJOCO_TENDON_INVWEIGHT, tendon_invweight, TENDONS, 1)                                                           \
    X(MUJOCO_TENDON_LIMIT_MARGIN, tendon_limit_margin, TENDONS, 1)                                                     \
    X(MUJOCO_TENDON_LIMIT_SOLREF, tendon_limit_solref, TENDONS, 2)                                                     \
    X(MUJOCO_TENDON_LIMIT_SOLIMP, tendon_limit_solimp, TENDONS, 5)                                                     \
    X(MUJOCO_TENDON_FRICTION_SOLREF, tendon_friction_solref, TENDONS, 2)                                               \
    X(MUJOCO_TENDON_FRICTION_SOLIMP, tendon_friction_solimp, TENDONS, 5)                                               \
    X(MUJOCO_SHAPE_CONDIM, shape_condim, SHAPES, 1)                                                                    \
    X(MUJOCO_SHAPE_PRIORITY, shape_priority, SHAPES, 1)                                                                \
    X(MUJOCO_SHAPE_SOLMIX, shape_solmix, SHAPES, 1)                                                                    \
    X(MUJOCO_SHAPE_MARGIN, shape_margin, SHAPES, 1)                                                                    \
    X(MUJOCO_SHAPE_INVWEIGHT, shape_invweight, SHAPES, 1)                                                              \
    X(MUJOCO_SHAPE_FRICTION, shape_friction, SHAPES, 3)                                                                \
    X(MUJOCO_SHAPE_SOLREF, shape_solref, SHAPES, 2)                                                                    \
    X(MUJOCO_SHAPE_SOLIMP, shape_solimp, SHAPES, 5)                                                                    \
    X(MUJOCO_PAIR_CONDIM, pair_condim, PAIRS, 1)                                                                       \
    X(MUJOCO_PAIR_MARGIN, pair_margin, PAIRS, 1)                                                                       \
    X(MUJOCO_PAIR_FRICTION, pair_friction, PAIRS, 5)                                                                   \
    X(MUJOCO_PAIR_SOLREF, pair_solref, PAIRS, 2)                                                                       \
    X(MUJOCO_PAIR_SOLREFFRICTION, pair_solreffriction, PAIRS, 2)                                                       \
    X(MUJOCO_PAIR_SOLIMP, pair_solimp, PAIRS, 5)                                                                       \
    X(MUJOCO_ACTUATOR_GAIN, actuator_gain, ACTUATORS, 3)                                                               \
    X(MUJOCO_ACTUATOR_BIAS, actuator_bias, ACTUATORS, 3)                                                               \
    X(MUJOCO_ACTUATOR_CTRL_RANGE, actuator_ctrl_range, ACTUATORS, 2)                                                   \
    X(MUJOCO_ACTUATOR_FORCE_RANGE, actuator_force_range, ACTUATORS, 2)                                                 \
    X(MUJOCO_ACTUATOR_TAU, actuator_tau, ACTUATORS, 1)                                                                 \
    X(MUJOCO_ACTUATOR_ACT_RANGE, actuator_act_range, ACTUATORS, 2)                                                     \
    X(MUJOCO_ACTUATOR_TERM_ARM, actuator_term_arm, ACTUATOR_TERMS, 1)                                                  \
    X(MUJOCO_DOF_ACTUATOR_RANGE, dof_actuator_range, DOFS, 2)

typedef struct Parameter {
    size_t at; /* offset in SapNumbers: of the pointer of the array, or of the numbers themselves */
    SapParameterOwner owner;
    int columns;
    size_t bytes; /* of an element */
    bool inside;  /* the numbers are in the struct */
} Parameter;

#define ARRAY(number, part, name, of, num_columns)                                                                     \
    [number] = {offsetof(SapNumbers, part.name), SAP_PARAMETER_OF_##of, num_columns,                                   \
                sizeof *((SapNumbers *)0)->part.name, false},
#define MODEL_ROW(parameter, name, of, columns)  ARRAY(SAP_PARAMETER_##parameter, arrays, name, of, columns)
#define MUJOCO_ROW(parameter, name, of, columns) ARRAY(SAP_PARAMETER_##parameter, mujoco, name, of, columns)
#define OPTION_ROW(parameter, name)                                                                                    \
    [SAP_PARAMETER_##parameter] = {offsetof(SapNumbers, mujoco.name), SAP_PARAMETER_OF_WORLD, 1,                       \
                                   sizeof((SapNumbers *)0)->mujoco.name, true},
#define MODEL_NAME(parameter, name, of, columns)  [SAP_PARAMETER_##parameter] = #name,
#define MUJOCO_NAME(parameter, name, of, columns) [SAP_PARAMETER_##parameter] = "mujoco_" #name,
#define OPTION_NAME(parameter, name)              [SAP_PARAMETER_##parameter] = "mujoco_" #name,

static const Parameter parameters[SAP_NUM_PARAMETERS] = {
    [SAP_PARAMETER_GRAVITY] = {offsetof(SapNumbers, arrays.gravity), SAP_PARAMETER_OF_WORLD, 3, sizeof(double), true},
    MODEL_PARAMETERS(MODEL_ROW) MUJOCO_OPTIONS(OPTION_ROW) MUJOCO_PARAMETERS(MUJOCO_ROW)};
static const char *const names[SAP_NUM_PARAMETERS + 1] = {[SAP_PARAMETER_GRAVITY] = "gravity",
                                                          MODEL_PARAMETERS(MODEL_NAME) MUJOCO_OPTIONS(OPTION_NAME)
                                                              MUJOCO_PARAMETERS(MUJOCO_NAME)};

const char *const *sap_parameter_names(void) {
    return names;
}

SapParameterOwner sap_parameter_owner(SapParameter p) {
    return parameters[p].owner;
}

const SapModelField *sap_parameter_field(SapParameter p) {
    return p == SAP_PARAMETER_GRAVITY ? NULL : sap_model_field(names[p]);
}

int sap_parameter_rows(const SapNumbers *numbers, SapParameter p) {
    const SapModelArrays *m = &numbers->arrays;
    switch (parameters[p].owner) {
    case SAP_PARAMETER_OF_BODIES: return m->num_bodies;
    case SAP_PARAMETER_OF_JOINTS: return m->num_joints;
    case SAP_PARAMETER_OF_DOFS: return m->num_dofs;
    case SAP_PARAMETER_OF_SHAPES: return m->num_shapes;
    case SAP_PARAMETER_OF_CONSTRAINTS: return m->num_constraints;
    case SAP_PARAMETER_OF_TENDONS: return m->num_tendons;
    case SAP_PARAMETER_OF_TENDON_TERMS: return m->num_tendon_terms;
    case SAP_PARAMETER_OF_PAIRS: return numbers->mujoco.num_pairs;
    case SAP_PARAMETER_OF_ACTUATORS: return numbers->mujoco.num_actuators;
    case SAP_PARAMETER_OF_ACTUATOR_TERMS: return numbers->mujoco.num_actuator_terms;
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

const void *sap_parameter_get(const SapNumbers *numbers, SapParameter p) {
    const char *at = (const char *)numbers + parameters[p].at;
    if (parameters[p].inside)
        return at;
    const void *values;
    memcpy(&values, at, sizeof values);
    return values;
}

void sap_parameter_set(SapNumbers *numbers, SapParameter p, const void *values) {
    char *at = (char *)numbers + parameters[p].at;
    if (parameters[p].inside)
        memcpy(at, values, (size_t)parameters[p].columns * parameters[p].bytes);
    else
        memcpy(at, &values, sizeof values);
}
