/* Parameters: the model arrays of which each world of a batch can have its own values (batch.h, sap_batch_expand). */
#ifndef SAPWOOD_PARAMETERS_H
#define SAPWOOD_PARAMETERS_H

#include <sapwood/error.h>

SAP_BEGIN_DECLS

/* Arrays of SapModelArrays, and those of SapMujocoParameters, which only MuJoCo's law reads; one row per world, n =
 * num_worlds. model.h and mujoco.h give their meaning, unit and range. Arrays per dof are in public order. Numbers are
 * f64 where no other type is given. */
typedef enum SapParameter {
    SAP_PARAMETER_GRAVITY,                       /* [n][3] */
    SAP_PARAMETER_BODY_MASS,                     /* [n][nb] */
    SAP_PARAMETER_BODY_COM,                      /* [n][nb][3] */
    SAP_PARAMETER_BODY_INERTIA,                  /* [n][nb][9] */
    SAP_PARAMETER_BODY_GRAVCOMP,                 /* [n][nb] */
    SAP_PARAMETER_JOINT_ARMATURE,                /* [n][nv] */
    SAP_PARAMETER_JOINT_DAMPING,                 /* [n][nv] */
    SAP_PARAMETER_JOINT_FRICTION,                /* [n][nv] */
    SAP_PARAMETER_JOINT_TARGET_KE,               /* [n][nv] */
    SAP_PARAMETER_JOINT_TARGET_KD,               /* [n][nv] */
    SAP_PARAMETER_JOINT_EFFORT_LIMIT,            /* [n][nv] */
    SAP_PARAMETER_JOINT_LIMIT_LOWER,             /* [n][nv] */
    SAP_PARAMETER_JOINT_LIMIT_UPPER,             /* [n][nv] */
    SAP_PARAMETER_JOINT_LIMIT_KE,                /* [n][nv] */
    SAP_PARAMETER_JOINT_LIMIT_KD,                /* [n][nv] */
    SAP_PARAMETER_SHAPE_MATERIAL_MU,             /* [n][ns] */
    SAP_PARAMETER_SHAPE_MATERIAL_KE,             /* [n][ns] */
    SAP_PARAMETER_SHAPE_MATERIAL_TAU,            /* [n][ns] */
    SAP_PARAMETER_SHAPE_MATERIAL_DISSIPATION,    /* [n][ns] */
    SAP_PARAMETER_SHAPE_MARGIN,                  /* [n][ns] */
    SAP_PARAMETER_SHAPE_GAP,                     /* [n][ns] */
    SAP_PARAMETER_SHAPE_MESH,                    /* [n][ns] int32: the grid of a height field is the model's or
                                            another one that no shape has; other shapes keep theirs */
    SAP_PARAMETER_CONSTRAINT_X,                  /* [n][nc][2][7] */
    SAP_PARAMETER_CONSTRAINT_POLYNOMIAL,         /* [n][nc][5] */
    SAP_PARAMETER_CONSTRAINT_REFERENCE,          /* [n][nc][2] */
    SAP_PARAMETER_CONSTRAINT_LENGTH,             /* [n][nc] */
    SAP_PARAMETER_CONSTRAINT_KE,                 /* [n][nc][2] */
    SAP_PARAMETER_CONSTRAINT_KD,                 /* [n][nc][2] */
    SAP_PARAMETER_TENDON_TERM_VALUE,             /* [n][num_tendon_terms][3] */
    SAP_PARAMETER_TENDON_OFFSET,                 /* [n][nt] */
    SAP_PARAMETER_TENDON_LIMIT_LOWER,            /* [n][nt] */
    SAP_PARAMETER_TENDON_LIMIT_UPPER,            /* [n][nt] */
    SAP_PARAMETER_TENDON_LIMIT_KE,               /* [n][nt] */
    SAP_PARAMETER_TENDON_LIMIT_KD,               /* [n][nt] */
    SAP_PARAMETER_TENDON_SPRING_KE,              /* [n][nt] */
    SAP_PARAMETER_TENDON_SPRING_LOWER,           /* [n][nt] */
    SAP_PARAMETER_TENDON_SPRING_UPPER,           /* [n][nt] */
    SAP_PARAMETER_TENDON_ARMATURE,               /* [n][nt] */
    SAP_PARAMETER_TENDON_DAMPING,                /* [n][nt] */
    SAP_PARAMETER_TENDON_FRICTION,               /* [n][nt] */
    SAP_PARAMETER_TENDON_TARGET_KE,              /* [n][nt] */
    SAP_PARAMETER_TENDON_TARGET_KD,              /* [n][nt] */
    SAP_PARAMETER_TENDON_EFFORT_LIMIT,           /* [n][nt] */
    SAP_PARAMETER_MUJOCO_IMPRATIO,               /* [n] */
    SAP_PARAMETER_MUJOCO_TOLERANCE,              /* [n] */
    SAP_PARAMETER_MUJOCO_ITERATIONS,             /* [n] int32 */
    SAP_PARAMETER_MUJOCO_LS_TOLERANCE,           /* [n] */
    SAP_PARAMETER_MUJOCO_LS_ITERATIONS,          /* [n] int32 */
    SAP_PARAMETER_MUJOCO_BODY_INVWEIGHT,         /* [n][nb][2] */
    SAP_PARAMETER_MUJOCO_DOF_INVWEIGHT,          /* [n][nv] */
    SAP_PARAMETER_MUJOCO_DOF_STIFFNESS,          /* [n][nv] */
    SAP_PARAMETER_MUJOCO_DOF_SPRING_REF,         /* [n][nv] */
    SAP_PARAMETER_MUJOCO_DOF_DRIVE_RANGE,        /* [n][nv][2] */
    SAP_PARAMETER_MUJOCO_DOF_LIMIT_MARGIN,       /* [n][nv] */
    SAP_PARAMETER_MUJOCO_DOF_LIMIT_SOLREF,       /* [n][nv][2] */
    SAP_PARAMETER_MUJOCO_DOF_LIMIT_SOLIMP,       /* [n][nv][5] */
    SAP_PARAMETER_MUJOCO_DOF_FRICTION_SOLREF,    /* [n][nv][2] */
    SAP_PARAMETER_MUJOCO_DOF_FRICTION_SOLIMP,    /* [n][nv][5] */
    SAP_PARAMETER_MUJOCO_JOINT_BALL_LIMIT,       /* [n][nj] */
    SAP_PARAMETER_MUJOCO_CONSTRAINT_SOLREF,      /* [n][nc][2] */
    SAP_PARAMETER_MUJOCO_CONSTRAINT_SOLIMP,      /* [n][nc][5] */
    SAP_PARAMETER_MUJOCO_CONSTRAINT_TORQUESCALE, /* [n][nc] */
    SAP_PARAMETER_MUJOCO_CONSTRAINT_INVWEIGHT,   /* [n][nc][2] */
    SAP_PARAMETER_MUJOCO_TENDON_INVWEIGHT,       /* [n][nt] */
    SAP_PARAMETER_MUJOCO_TENDON_LIMIT_MARGIN,    /* [n][nt] */
    SAP_PARAMETER_MUJOCO_TENDON_LIMIT_SOLREF,    /* [n][nt][2] */
    SAP_PARAMETER_MUJOCO_TENDON_LIMIT_SOLIMP,    /* [n][nt][5] */
    SAP_PARAMETER_MUJOCO_TENDON_FRICTION_SOLREF, /* [n][nt][2] */
    SAP_PARAMETER_MUJOCO_TENDON_FRICTION_SOLIMP, /* [n][nt][5] */
    SAP_PARAMETER_MUJOCO_SHAPE_CONDIM,           /* [n][ns] int32 */
    SAP_PARAMETER_MUJOCO_SHAPE_PRIORITY,         /* [n][ns] int32 */
    SAP_PARAMETER_MUJOCO_SHAPE_SOLMIX,           /* [n][ns] */
    SAP_PARAMETER_MUJOCO_SHAPE_MARGIN,           /* [n][ns] */
    SAP_PARAMETER_MUJOCO_SHAPE_INVWEIGHT,        /* [n][ns] */
    SAP_PARAMETER_MUJOCO_SHAPE_FRICTION,         /* [n][ns][3] */
    SAP_PARAMETER_MUJOCO_SHAPE_SOLREF,           /* [n][ns][2] */
    SAP_PARAMETER_MUJOCO_SHAPE_SOLIMP,           /* [n][ns][5] */
    SAP_PARAMETER_MUJOCO_PAIR_CONDIM,            /* [n][np] int32 */
    SAP_PARAMETER_MUJOCO_PAIR_MARGIN,            /* [n][np] */
    SAP_PARAMETER_MUJOCO_PAIR_FRICTION,          /* [n][np][5] */
    SAP_PARAMETER_MUJOCO_PAIR_SOLREF,            /* [n][np][2] */
    SAP_PARAMETER_MUJOCO_PAIR_SOLREFFRICTION,    /* [n][np][2] */
    SAP_PARAMETER_MUJOCO_PAIR_SOLIMP,            /* [n][np][5] */
    SAP_PARAMETER_MUJOCO_ACTUATOR_GAIN,          /* [n][nu][3] */
    SAP_PARAMETER_MUJOCO_ACTUATOR_BIAS,          /* [n][nu][3] */
    SAP_PARAMETER_MUJOCO_ACTUATOR_CTRL_RANGE,    /* [n][nu][2] */
    SAP_PARAMETER_MUJOCO_ACTUATOR_FORCE_RANGE,   /* [n][nu][2] */
    SAP_PARAMETER_MUJOCO_ACTUATOR_TAU,           /* [n][nu] */
    SAP_PARAMETER_MUJOCO_ACTUATOR_ACT_RANGE,     /* [n][nu][2] */
    SAP_PARAMETER_MUJOCO_ACTUATOR_TERM_ARM,      /* [n][nr] */
    SAP_PARAMETER_MUJOCO_DOF_ACTUATOR_RANGE,     /* [n][nv][2] */
    SAP_NUM_PARAMETERS
} SapParameter;

/* "gravity", "body_mass", ..., "mujoco_impratio", ... in the order of SapParameter; NULL-terminated, static. */
SAP_API const char *const *sap_parameter_names(void);

SAP_END_DECLS

#endif
