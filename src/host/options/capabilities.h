/* The table of capabilities (sapwood/capabilities.h), and the refusals that follow from it. */
#ifndef SAPWOOD_HOST_OPTIONS_CAPABILITIES_H
#define SAPWOOD_HOST_OPTIONS_CAPABILITIES_H

#include <sapwood/capabilities.h>

/* A row of the table. docs/capabilities.md lists them in this order. */
typedef enum SapCan {
    /* options */
    SAP_CAN_CONTACT_SOLVE_FP32,
    SAP_CAN_FREE_MOTION_FP32,
    SAP_CAN_MIDPOINT,
    SAP_CAN_GYROSCOPIC_IMPLICIT,
    SAP_CAN_VELOCITY_FORCES_MEAN,
    SAP_CAN_MAX_JOINT_SPEED,
    SAP_CAN_LINE_SEARCH,
    SAP_CAN_APPROXIMATION,
    SAP_CAN_FACTOR_DENSE,
    SAP_CAN_FACTOR_LIBRARY,
    SAP_CAN_COMPAT_SAP_WARP,
    SAP_CAN_FRICTION_COULOMB,
    SAP_CAN_PGS_OMEGA,
    SAP_CAN_COMPLIANCE_MATERIAL,
    SAP_CAN_COMPLIANCE_SAP,
    SAP_CAN_RESTITUTION,
    SAP_CAN_WARM_START,
    SAP_CAN_SLEEP,
    SAP_CAN_SLEEP_TREES,
    SAP_CAN_LANES,
    SAP_CAN_LANES_16,
    SAP_CAN_THREAD_PER_WORLD,
    SAP_CAN_SPECIALIZE,
    /* integrators that a model may choose */
    SAP_CAN_INTEGRATOR_EULER,
    SAP_CAN_INTEGRATOR_RK4,
    SAP_CAN_INTEGRATOR_IMPLICITFAST,
    SAP_CAN_INTEGRATOR_DISCRETE,
    /* models */
    SAP_CAN_CONSTRAINT_BALL,
    SAP_CAN_CONSTRAINT_WELD,
    SAP_CAN_CONSTRAINT_COUPLER,
    SAP_CAN_CONSTRAINT_DISTANCE,
    SAP_CAN_CONSTRAINT_ONE_SIDED,
    SAP_CAN_DRIVE,
    SAP_CAN_DRIVE_BALL,
    SAP_CAN_FRICTION,
    SAP_CAN_SPIN_FRICTION,
    SAP_CAN_TENDON_JOINTS,
    SAP_CAN_TENDON_PATH,
    SAP_CAN_TENDON_LIMIT,
    SAP_CAN_TENDON_FRICTION,
    SAP_CAN_TENDON_ARMATURE,
    SAP_CAN_TENDON_SPRING,
    SAP_CAN_TENDON_SPRING_DISCRETE,
    SAP_CAN_TENDON_DAMPING,
    SAP_CAN_TENDON_DAMPING_DISCRETE,
    SAP_CAN_TENDON_DAMPING_IMPLICITFAST,
    SAP_CAN_TENDON_DRIVE,
    SAP_CAN_TENDON_DRIVE_DISCRETE,
    SAP_CAN_TENDON_DRIVE_KD_IMPLICITFAST,
    SAP_CAN_ACTUATORS,
    SAP_CAN_ACTUATOR_COUPLED_DISCRETE,
    /* calls of a batch */
    SAP_CAN_RESET,
    SAP_CAN_CONTACTS_OF_CALLER,
    SAP_CAN_CONTACTS_OF_CALLER_GUARD,
    SAP_CAN_CONTACTS_OF_CALLER_SLEEP,
    SAP_CAN_CONTACTS_OF_CALLER_RK4,
    SAP_CAN_GUARD,
    SAP_CAN_GUARD_WARM_START,
    SAP_CAN_GUARD_SLEEP,
    SAP_CAN_ASSEMBLE,
    SAP_CAN_ATTACH,
    SAP_CAN_PARAMETERS_LIBRARY,
    SAP_CAN_RAYCAST,
    SAP_CAN_SET_SENSORS,
    SAP_CAN_SET_STREAM,
    SAP_CAN_HOST_STRUCTS,
    SAP_CAN_GRADIENTS,
    SAP_CAN_GRADIENTS_ALL_PARAMETERS,
    SAP_CAN_GRADIENTS_SLEEP,
    SAP_CAN_GRADIENTS_MEAN,
    SAP_CAN_GRADIENTS_COMPAT,
    SAP_CAN_GRADIENTS_APPROXIMATION,
    /* a SapSolver and what it records */
    SAP_CAN_SOLVER,
    SAP_CAN_SOLVER_OF_BATCH,
    SAP_CAN_RECORD_PAIR,
    SAP_CAN_RECORD_CACHE_KEY,
    SAP_CAN_RECORD_CONSTRAINTS,
    SAP_CAN_RECORD_PROBLEM,
    SAP_CAN_RECORD_ROWS,
    /* the Python package */
    SAP_CAN_GET_STATE,
    SAP_CAN_LINEARIZE,
    SAP_CAN_DECOMPOSE,
    SAP_CAN_NUMPY,
    SAP_CAN_CONTACTS_ON_GPU,
    /* groups of rows with the names of parameters and of arrays (host/batch/capabilities.c) */
    SAP_CAN_PARAMETER,
    SAP_CAN_PARAMETER_SAP,
    SAP_CAN_PARAMETER_TENDON_ARMATURE,
    SAP_CAN_PARAMETER_MUJOCO,
    SAP_CAN_ARRAY,
    SAP_CAN_ARRAY_CONTACT_CACHE,
    SAP_CAN_ARRAY_JOINT_CONSTRAINT_FORCE,
    SAP_CAN_ARRAY_TREES,
    SAP_CAN_ARRAY_ROWS,
    SAP_CAN_ARRAY_ACTUATORS,
    SAP_CAN_SENSOR,
    SAP_CAN_NUM_ROWS
} SapCan;

/* The cell of a row. Its name is NULL if the row stands for parameters or arrays. */
SapCapability sap_can(SapCan row, SapContactSolver solver, SapDevice device);

/* Why the formulation or the device refuses; NULL if it does not. */
const char *sap_refusal(SapCan row, SapContactSolver solver, SapDevice device);

/* SAP_ERROR_UNSUPPORTED if the table says no. The message is the formatted text, which formulations or devices do not
 * have it, and the reason. */
SapStatus sap_require(SapCan row, SapContactSolver solver, SapDevice device, const char *format, ...) SAP_PRINTF(4, 5);

/* Returns to the caller unless the formulation and the device of these options have the capability. */
#define SAP_REQUIRE(options, row, ...)                                                                                 \
    SAP_TRY(sap_require(row, (options)->contact_solver, (options)->device, __VA_ARGS__))

/* Checks the options of which the table has a row. */
SapStatus sap_require_options(const SapOptions *options);

#endif
