/* Parameters: the model arrays of which each world of a batch can have its own values (batch.h, sap_batch_expand). */
#ifndef SAPWOOD_PARAMETERS_H
#define SAPWOOD_PARAMETERS_H

#include <sapwood/error.h>

SAP_BEGIN_DECLS

/* Arrays of SapModelArrays, one row per world; n = num_worlds. model.h gives their meaning, unit and range. Arrays per
 * dof are in public order. Numbers are f64 where no other type is given. */
typedef enum SapParameter {
    SAP_PARAMETER_GRAVITY,               /* [n][3] */
    SAP_PARAMETER_BODY_MASS,             /* [n][nb] */
    SAP_PARAMETER_BODY_COM,              /* [n][nb][3] */
    SAP_PARAMETER_BODY_INERTIA,          /* [n][nb][9] */
    SAP_PARAMETER_BODY_GRAVCOMP,         /* [n][nb] */
    SAP_PARAMETER_JOINT_ARMATURE,        /* [n][nv] */
    SAP_PARAMETER_JOINT_DAMPING,         /* [n][nv] */
    SAP_PARAMETER_JOINT_FRICTION,        /* [n][nv] */
    SAP_PARAMETER_JOINT_TARGET_KE,       /* [n][nv] */
    SAP_PARAMETER_JOINT_TARGET_KD,       /* [n][nv] */
    SAP_PARAMETER_JOINT_EFFORT_LIMIT,    /* [n][nv] */
    SAP_PARAMETER_JOINT_LIMIT_LOWER,     /* [n][nv] */
    SAP_PARAMETER_JOINT_LIMIT_UPPER,     /* [n][nv] */
    SAP_PARAMETER_JOINT_LIMIT_KE,        /* [n][nv] */
    SAP_PARAMETER_JOINT_LIMIT_KD,        /* [n][nv] */
    SAP_PARAMETER_SHAPE_MATERIAL_MU,     /* [n][ns] */
    SAP_PARAMETER_SHAPE_MATERIAL_KE,     /* [n][ns] */
    SAP_PARAMETER_SHAPE_MATERIAL_TAU,    /* [n][ns] */
    SAP_PARAMETER_SHAPE_MARGIN,          /* [n][ns] */
    SAP_PARAMETER_SHAPE_GAP,             /* [n][ns] */
    SAP_PARAMETER_SHAPE_MESH,            /* [n][ns] int32: the grid of a height field is the model's or
                                            another one that no shape has; other shapes keep theirs */
    SAP_PARAMETER_CONSTRAINT_X,          /* [n][nc][2][7] */
    SAP_PARAMETER_CONSTRAINT_POLYNOMIAL, /* [n][nc][5] */
    SAP_PARAMETER_CONSTRAINT_REFERENCE,  /* [n][nc][2] */
    SAP_PARAMETER_CONSTRAINT_LENGTH,     /* [n][nc] */
    SAP_PARAMETER_CONSTRAINT_KE,         /* [n][nc][2] */
    SAP_PARAMETER_CONSTRAINT_KD,         /* [n][nc][2] */
    SAP_PARAMETER_TENDON_TERM_VALUE,     /* [n][num_tendon_terms][3] */
    SAP_PARAMETER_TENDON_OFFSET,         /* [n][nt] */
    SAP_PARAMETER_TENDON_LIMIT_LOWER,    /* [n][nt] */
    SAP_PARAMETER_TENDON_LIMIT_UPPER,    /* [n][nt] */
    SAP_PARAMETER_TENDON_LIMIT_KE,       /* [n][nt] */
    SAP_PARAMETER_TENDON_LIMIT_KD,       /* [n][nt] */
    SAP_PARAMETER_TENDON_SPRING_KE,      /* [n][nt] */
    SAP_PARAMETER_TENDON_SPRING_LOWER,   /* [n][nt] */
    SAP_PARAMETER_TENDON_SPRING_UPPER,   /* [n][nt] */
    SAP_PARAMETER_TENDON_ARMATURE,       /* [n][nt] */
    SAP_PARAMETER_TENDON_DAMPING,        /* [n][nt] */
    SAP_PARAMETER_TENDON_FRICTION,       /* [n][nt] */
    SAP_PARAMETER_TENDON_TARGET_KE,      /* [n][nt] */
    SAP_PARAMETER_TENDON_TARGET_KD,      /* [n][nt] */
    SAP_PARAMETER_TENDON_EFFORT_LIMIT,   /* [n][nt] */
    SAP_NUM_PARAMETERS
} SapParameter;

/* "gravity", "body_mass", ... in the order of SapParameter; NULL-terminated, static. */
SAP_API const char *const *sap_parameter_names(void);

SAP_END_DECLS

#endif
