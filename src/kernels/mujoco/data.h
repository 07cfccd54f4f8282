/* Arguments of MuJoCo's law (docs/mujoco.md). Plain data, the same on every target; steps of other laws have none. */
#ifndef SAPWOOD_KERNELS_MUJOCO_DATA_H
#define SAPWOOD_KERNELS_MUJOCO_DATA_H

#include "kernels/data/buffer.h"
#include "kernels/data/constants.h"

/* The least tolerance of a solve in f32, as MuJoCo's own port to f32 has it. */
#define SAP_MUJOCO_LEAST_TOLERANCE 1e-6

/* Columns of a contact record (SapMujocoContact). */
enum {
    SAP_MUJOCO_POS = 0,
    SAP_MUJOCO_FRAME = 3, /* n, t1, t2 */
    SAP_MUJOCO_DIST = 12,
    SAP_MUJOCO_MARGIN = 13,
    SAP_MUJOCO_FRICTION = 14, /* slide, slide, spin, roll, roll */
    SAP_MUJOCO_SOLREF = 19,
    SAP_MUJOCO_SOLREFFRICTION = 21,
    SAP_MUJOCO_SOLIMP = 23,
    SAP_MUJOCO_DIM = 28,
    SAP_MUJOCO_CONTACT_SIZE = 29
};

/* Columns of the parameters of a block. An equality has the first impedance only; a coordinate has first its
 * limits', then its friction's. */
enum {
    SAP_MUJOCO_WEIGHT = 0, /* [2] w of the rows; of a weld: of translation, of rotation */
    SAP_MUJOCO_TORQUESCALE = 2,
    SAP_MUJOCO_LOWER = 3,
    SAP_MUJOCO_UPPER = 4,
    SAP_MUJOCO_LIMIT_MARGIN = 5,
    SAP_MUJOCO_IMPEDANCE = 6, /* solref, solimp */
    SAP_MUJOCO_FRICTIONLOSS = 13,
    SAP_MUJOCO_FRICTIONLOSS_IMPEDANCE = 14,
    SAP_MUJOCO_BLOCK_SIZE = 21
};

/* Columns of the parameters of a shape. */
enum {
    SAP_MUJOCO_SHAPE_CONDIM,
    SAP_MUJOCO_SHAPE_PRIORITY, /* a number in the order of the priorities */
    SAP_MUJOCO_SHAPE_SOLMIX,
    SAP_MUJOCO_SHAPE_MARGIN,
    SAP_MUJOCO_SHAPE_WEIGHT,   /* translational invweight0 of its body */
    SAP_MUJOCO_SHAPE_FRICTION, /* slide, spin, roll */
    SAP_MUJOCO_SHAPE_SOLREF = SAP_MUJOCO_SHAPE_FRICTION + 3,
    SAP_MUJOCO_SHAPE_SOLIMP = SAP_MUJOCO_SHAPE_SOLREF + 2,
    SAP_MUJOCO_SHAPE_SIZE = SAP_MUJOCO_SHAPE_SOLIMP + 5
};

/* Columns of the forces of a dof. */
enum {
    SAP_MUJOCO_DAMPING,
    SAP_MUJOCO_STIFFNESS,
    SAP_MUJOCO_SPRING_REF,
    SAP_MUJOCO_DRIVE_KP, /* of a servo: gains, and the bounds of its force */
    SAP_MUJOCO_DRIVE_KD,
    SAP_MUJOCO_DRIVE_LOWER,
    SAP_MUJOCO_DRIVE_UPPER,
    SAP_MUJOCO_DOF_SIZE
};

/* Columns of the parameters of a pair of shapes. */
enum {
    SAP_MUJOCO_PAIR_CONDIM,
    SAP_MUJOCO_PAIR_MARGIN,
    SAP_MUJOCO_PAIR_FRICTION, /* slide, slide, spin, roll, roll */
    SAP_MUJOCO_PAIR_SOLREF = SAP_MUJOCO_PAIR_FRICTION + 5,
    SAP_MUJOCO_PAIR_SOLREFFRICTION = SAP_MUJOCO_PAIR_SOLREF + 2,
    SAP_MUJOCO_PAIR_SOLIMP = SAP_MUJOCO_PAIR_SOLREFFRICTION + 2,
    SAP_MUJOCO_PAIR_SIZE = SAP_MUJOCO_PAIR_SOLIMP + 5
};

/* Columns of the numbers of an actuator. */
enum {
    SAP_MUJOCO_ACTUATOR_GAIN, /* [3] of input, input times length, input times rate */
    SAP_MUJOCO_ACTUATOR_BIAS = SAP_MUJOCO_ACTUATOR_GAIN + 3,
    SAP_MUJOCO_ACTUATOR_CTRL = SAP_MUJOCO_ACTUATOR_BIAS + 3, /* lower, upper */
    SAP_MUJOCO_ACTUATOR_FORCE = SAP_MUJOCO_ACTUATOR_CTRL + 2,
    SAP_MUJOCO_ACTUATOR_ACT = SAP_MUJOCO_ACTUATOR_FORCE + 2,
    SAP_MUJOCO_ACTUATOR_TAU = SAP_MUJOCO_ACTUATOR_ACT + 2,
    SAP_MUJOCO_ACTUATOR_SIZE
};

/* Columns of the options of a solve. */
enum {
    SAP_MUJOCO_OPTION_IMPRATIO,
    SAP_MUJOCO_OPTION_TOLERANCE,
    SAP_MUJOCO_OPTION_ITERATIONS,
    SAP_MUJOCO_OPTION_LS_TOLERANCE,
    SAP_MUJOCO_OPTION_LS_ITERATIONS,
    SAP_MUJOCO_OPTION_SIZE
};

/* The numbers of a model: groups of rows, which all worlds share, or of which every world has its own. */
enum {
    SAP_MUJOCO_BLOCKS,          /* [num_blocks][SAP_MUJOCO_BLOCK_SIZE] */
    SAP_MUJOCO_LINKS,           /* [nl] translational body_invweight0 */
    SAP_MUJOCO_DOFS,            /* [nv][SAP_MUJOCO_DOF_SIZE], internal order */
    SAP_MUJOCO_SHAPES,          /* [ns][SAP_MUJOCO_SHAPE_SIZE] */
    SAP_MUJOCO_PAIRS,           /* [num_pairs][SAP_MUJOCO_PAIR_SIZE] */
    SAP_MUJOCO_ACTUATORS,       /* [num_actuators][SAP_MUJOCO_ACTUATOR_SIZE] */
    SAP_MUJOCO_ARMS,            /* [terms] moment arms */
    SAP_MUJOCO_ACTUATOR_RANGES, /* [nv][2] bounds of the sum of the actuators' forces, internal order */
    SAP_MUJOCO_OPTIONS,         /* [SAP_MUJOCO_OPTION_SIZE] */
    SAP_MUJOCO_NUM_GROUPS
};

/* How an activation follows the control: the numbers of enum mjtDyn. */
enum {
    SAP_MUJOCO_DYNAMICS_NONE,
    SAP_MUJOCO_DYNAMICS_INTEGRATOR,
    SAP_MUJOCO_DYNAMICS_FILTER,
    SAP_MUJOCO_DYNAMICS_FILTEREXACT
};

typedef struct SapMujocoActuator {
    int dynamics;
    int early;      /* 1: its force has the activation of the end of the step */
    int first, end; /* its terms: first .. end - 1 */
} SapMujocoActuator;

/* A dof that an actuator moves, and the coordinate of the dof. */
typedef struct SapMujocoTerm {
    int actuator, dof, coord;
} SapMujocoTerm;

/* What drives dofs (SapMujocoArgs.driven). */
enum { SAP_MUJOCO_HAS_SERVOS = 1, SAP_MUJOCO_HAS_ACTUATORS = 2 };

/* The laws of the row of a coordinate; the row of an equality has one law. */
enum { SAP_MUJOCO_LAW_LOWER, SAP_MUJOCO_LAW_UPPER, SAP_MUJOCO_LAW_FRICTIONLOSS, SAP_MUJOCO_LAWS };

/* The numbers of enum mjtConstraint, for reports. */
enum {
    SAP_MUJOCO_ROW_EQUALITY,
    SAP_MUJOCO_ROW_DOF_FRICTIONLOSS,
    SAP_MUJOCO_ROW_TENDON_FRICTIONLOSS,
    SAP_MUJOCO_ROW_LIMIT,
    SAP_MUJOCO_ROW_TENDON_LIMIT,
    SAP_MUJOCO_ROW_FRICTIONLESS,
    SAP_MUJOCO_ROW_PYRAMID,
    SAP_MUJOCO_ROW_ELLIPTIC
};

/* Columns of a dof in the cache of a batch (SAP_BATCH_DOF_CACHE). This law uses the first: qacc of the last solve,
 * angular parts in axes of the body. Without a cache the guess is v0. */
enum { SAP_MUJOCO_WARM_SIZE = 4 };

typedef struct SapMujocoArgs {
    /* options of the model */
    int elliptic;     /* 1: elliptic cones, 0: pyramids */
    int discrete;     /* 1: integrator discrete: rows and metric refer to the end of the step */
    int damped;       /* 1: damping is implicit after the solve (Euler, implicitfast) */
    int implicitfast; /* 1: and so is the gyroscopic force of free bodies */
    int refsafe;      /* 1: time constants are at least 2 h */
    int warmstart;    /* 1: a solve starts from the guess if that has no larger cost than v* */
    int driven;       /* SAP_MUJOCO_HAS_SERVOS: of some dof, SAP_MUJOCO_HAS_ACTUATORS */
    int couples;      /* 1: after the solve, damping of actuators couples the dofs of their terms (implicitfast) */
    int tendons_pull; /* 1: some tendon has a spring, a damper or a servo */
    /* numbers of the model, f32 and f64 */
    SapField number[SAP_MUJOCO_NUM_GROUPS][2];
    int num_pairs;
    const int *pair_shape; /* [num_pairs][2] */
    int num_actuators;
    const SapMujocoActuator *actuator;    /* [num_actuators] */
    const SapMujocoTerm *term;            /* [terms of all actuators] actuator after actuator */
    const int *dof_term_start, *dof_term; /* [nv + 1] first entry of each dof in the list of its terms */
    /* of a call */
    SapBuffer contact; /* [num_worlds][given_capacity][SAP_MUJOCO_CONTACT_SIZE]; absent: contacts of collision */
    SapBuffer ctrl, act_in, act_out; /* [num_worlds][num_actuators]; may be absent */
    void
        *rk; /* [num_worlds][8][nv] reals of free motion: FM(rk) where the stages of RK4 are launches; NULL = scratch */
} SapMujocoArgs;

/* Rows of a contact in scratch: velocities along t1, t2, n and, with condim 4 or 6, about t1, t2, n. */
enum { SAP_MUJOCO_CONTACT_ROWS = 6 };

/* Reals of the data of a contact's law (mujoco/contact_law.h). */
enum { SAP_LAW_SIZE_mujoco = 18 };

#endif
