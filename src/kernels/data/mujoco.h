/* Arguments of MuJoCo's law (docs/mujoco.md). Plain data, the same on every target; steps of other laws have none. */
#ifndef SAPWOOD_KERNELS_DATA_MUJOCO_H
#define SAPWOOD_KERNELS_DATA_MUJOCO_H

#include "kernels/data/buffer.h"
#include "kernels/data/constants.h"

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

/* Columns of the parameters of a block. An equality has the first softness only; a coordinate has that of its limits,
 * then that of its friction. */
enum {
    SAP_MUJOCO_WEIGHT = 0, /* [2] w of the rows; of a weld: of translation, of rotation */
    SAP_MUJOCO_TORQUESCALE = 2,
    SAP_MUJOCO_LOWER = 3,
    SAP_MUJOCO_UPPER = 4,
    SAP_MUJOCO_LIMIT_MARGIN = 5,
    SAP_MUJOCO_SOFT = 6, /* solref, solimp */
    SAP_MUJOCO_LOSS = 13,
    SAP_MUJOCO_LOSS_SOFT = 14,
    SAP_MUJOCO_BLOCK_SIZE = 21
};

/* Columns of the parameters of a shape. */
enum {
    SAP_MUJOCO_SHAPE_CONDIM,
    SAP_MUJOCO_SHAPE_PRIORITY,
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

/* The laws of the row of a coordinate; the row of an equality has one law. */
enum { SAP_MUJOCO_LAW_LOWER, SAP_MUJOCO_LAW_UPPER, SAP_MUJOCO_LAW_LOSS, SAP_MUJOCO_LAWS };

/* The numbers of enum mjtConstraint, for reports. */
enum {
    SAP_MUJOCO_ROW_EQUALITY,
    SAP_MUJOCO_ROW_DOF_LOSS,
    SAP_MUJOCO_ROW_TENDON_LOSS,
    SAP_MUJOCO_ROW_LIMIT,
    SAP_MUJOCO_ROW_TENDON_LIMIT,
    SAP_MUJOCO_ROW_FRICTIONLESS,
    SAP_MUJOCO_ROW_PYRAMID,
    SAP_MUJOCO_ROW_ELLIPTIC
};

/* Rows of the problem in MuJoCo's order, as in SapMujocoRows. */
typedef struct SapMujocoRowReport {
    int capacity;                   /* rows per world */
    int *count;                     /* [num_worlds]; NULL = no report */
    int *type, *state;              /* [num_worlds][capacity] */
    double *jacobian;               /* [num_worlds][capacity][nv] internal order */
    double *pos, *R, *aref, *force; /* [num_worlds][capacity] */
    double *qacc;                   /* [num_worlds][nv] internal order; may be NULL */
} SapMujocoRowReport;

/* Columns of a dof in the cache of a batch (SAP_BATCH_DOF_CACHE). This law uses the first: qacc of the last solve, angular
 * parts in axes of the body. Without a cache the guess is v0. */
enum { SAP_MUJOCO_WARM_SIZE = 4 };

typedef struct SapMujocoArgs {
    /* options of the model */
    int elliptic;     /* 1: elliptic cones, 0: pyramids */
    int discrete;     /* 1: integrator discrete: rows and metric are those of the end of the step */
    int damped;       /* 1: damping is implicit after the solve (Euler, implicitfast) */
    int implicitfast; /* 1: and so is the gyroscopic force of free bodies */
    int refsafe;      /* 1: time constants are at least 2 h */
    int driven;       /* 1: some dof has a servo */
    int tendons_pull; /* 1: some tendon has a spring, a damper or a servo */
    int pgs;          /* 1: on_failure = pgs */
    int iterations, ls_iterations;
    double tolerance, ls_tolerance, impratio;
    /* numbers of the model, f32 and f64 */
    SapField block[2]; /* [num_blocks][SAP_MUJOCO_BLOCK_SIZE] */
    SapField link[2];  /* [nl] translational body_invweight0 */
    SapField dof[2];   /* [nv][SAP_MUJOCO_DOF_SIZE], internal order */
    SapField shape[2]; /* [ns][SAP_MUJOCO_SHAPE_SIZE] */
    /* of a call */
    SapBuffer contact; /* [num_worlds][given_capacity][SAP_MUJOCO_CONTACT_SIZE]; absent: contacts of collision */
    void
        *rk; /* [num_worlds][8][nv] reals of free motion: FM(rk) where the stages of RK4 are launches; NULL = scratch */
    SapMujocoRowReport rows;
} SapMujocoArgs;

/* Rows of a contact in scratch: velocities along t1, t2, n and, with condim 4 or 6, about t1, t2, n. */
enum { SAP_MUJOCO_CONTACT_ROWS = 6 };

/* Reals of the data of a contact's law (law/mujoco_contact.h). */
enum { SAP_LAW_SIZE_mujoco = 18 };

#endif
