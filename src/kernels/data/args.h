/* The arguments of a call: plan, constants, the caller's arrays, options and layouts of every stage. Plain data, the
 * same on every target. Kernels own no pointer. A GPU launch passes the arguments by value. */
#ifndef SAPWOOD_KERNELS_DATA_ARGS_H
#define SAPWOOD_KERNELS_DATA_ARGS_H

#include <assert.h>

#include <sapwood/dual.h>

#include "kernels/data/buffer.h"
#include "kernels/data/constants.h"
#include "kernels/data/fixed.h"
#include "kernels/data/layouts.h"
#include "kernels/data/plan.h"
#include "kernels/data/reports.h"

typedef struct SAP_SPECIALIZABLE(SapContactArgs) {
    int capacity;            /* records per world in reports: the most that a world can have */
    int num_slots;           /* slots in scratch: enough for all records of a pack if no two of them share a slot */
    int given_capacity;      /* records per world in the arrays below */
    int *count;              /* [num_worlds]; NULL = no contacts */
    int *dropped;            /* [num_worlds]; NULL = none */
    int *shape[2], *body[2]; /* [num_worlds][given_capacity]; NULL = absent */
    SapBuffer point[2], normal, margin[2];     /* [num_worlds][given_capacity][3], [..][3] and [..] */
    SapBuffer stiffness, tau, mu, dissipation; /* [num_worlds][given_capacity]; absent or NaN: from the shapes */
    double fallback_mu, fallback_stiffness, fallback_tau; /* of a side without a shape */
    double *own_fallback_mu, *own_fallback_tau;           /* [num_worlds] if the materials differ between worlds */
    double beta, sigma, diag_shift; /* near_rigid, friction_regularization, diag_shift of the options */
    int midpoint;                   /* 1: contact_midpoint */
    int diag_delassus;              /* 1: diag_delassus */
    int approximation;              /* SapContactApproximation */
    int lagged_passes;              /* solves of a step, 1 unless the law is `lagged` */
    double stiction_tolerance, fallback_dissipation; /* of `similar` and `lagged`; NaN = that of the first shape */
} SAP_SPECIALIZABLE(SapContactArgs);
SAP_SPECIALIZED(SapContactArgs)

/* Constraints and tendons of the model. */
typedef struct SapConstraintArgs {
    const int *active;                        /* [num_worlds or 1][nc] 1: the constraint acts */
    long long active_stride;                  /* nc, or 0: one row for all worlds */
    SapBuffer target_pos, target_vel, act, f; /* [num_worlds][nt] control of tendons; act and f may be absent */
    double speed;                             /* constraint_speed: bound of vhat */
    int mixed;                                /* 1: constraint_weight = mixed */
    int violated;                             /* 1: tendon_limit_window = violated */
} SapConstraintArgs;

/* Pairs of shapes that are deferred to the second pass of collision on a GPU (collide/deferred.h). Reals are in the
 * precision of collision. */
typedef struct SapDeferredArgs {
    int most;     /* pairs of a world that can be deferred; 0 = none, because all pairs have closed forms */
    int *count;   /* [num_worlds] deferred pairs */
    int *listed;  /* number of entries of the list */
    int *list;    /* [num_worlds most] places of the deferred pairs of all worlds, in any order */
    int *ints;    /* [num_worlds][most][SAP_DEFERRED_INTS] */
    void *points; /* [num_worlds][most][max_contacts][SAP_CANDIDATE_SIZE] poses, then candidates */
    void *gap;    /* [num_worlds][given_capacity] gaps of records, of worlds that may have more contacts than records */
} SapDeferredArgs;

typedef struct SAP_SPECIALIZABLE(SapCollideArgs) {
    int enabled;      /* 1: the step finds its contacts and writes them to the arrays of SapContactArgs */
    int max_contacts; /* contact points per pair, 1 .. 8 */
    int chunk;        /* pairs that a pack processes at a time */
    SapCollideLayout layout;
    SapDeferredArgs deferred;
} SAP_SPECIALIZABLE(SapCollideArgs);
SAP_SPECIALIZED(SapCollideArgs)

/* Options of Newton's method (options.h). */
typedef struct SAP_SPECIALIZABLE(SapNewtonArgs) {
    int max_iterations, line_search_max_iterations;
    int line_search;   /* SapLineSearch */
    int linear_is_f64; /* precision of the linear system */
    int dense;         /* 1: always all tiles */
    int lockstep;      /* 1: a library solves the linear systems (sap/lockstep.h) */
    /* The cost test applies after steps of at least alpha_min; cost_decides: at any residual, as in SAP Warp. */
    int cost_decides;
    double optimality_abs_tol, optimality_rel_tol, cost_abs_tol, cost_rel_tol, alpha_min;
    double armijo_c, rho, relative_slop;
    SapNewtonLayout layout;
} SAP_SPECIALIZABLE(SapNewtonArgs);
SAP_SPECIALIZED(SapNewtonArgs)

/* The solvers in impulses (dual/step.h). */
typedef struct SapDualStepArgs {
    int compliance, moreau; /* SapContactCompliance; 1: restitution_rule = moreau */
    int warm_start;         /* 1: steps read and write the contact cache, if there is one */
    int bounce_guard;       /* 1: restitution adds no energy (dual/bounce.h) */
    double restitution, restitution_threshold, push_factor, max_push; /* as in SapOptions */
    SapDualOptions options;
    SapDualLayout layout;
    const SapDualRecord *record; /* NULL = no copies of the problems */
    const int *contact_key;      /* [num_worlds][given_capacity] the caller's identities of contacts; NULL = none */
} SapDualStepArgs;

/* The Newton systems of all worlds for the library (sap/lockstep.h). */
typedef struct SapLibraryArgs {
    SapBuffer matrix; /* [num_worlds][nv][nv] H, the lower triangle by rows; the library overwrites it */
    SapBuffer vector; /* [num_worlds][nv] -grad, then d */
    SapBuffer J,
        GJ;      /* [num_worlds][3 capacity][nv] of the contacts: the library adds J' (G J) to H; NULL = H has them */
    int *active; /* [num_worlds] 1: the world has a system to solve */
    int *info;   /* [num_worlds] 0, or != 0 if the factorisation failed; indexed by place */
    int *place;  /* [num_worlds] index of an active world in the library's list; NULL = the world's number */
} SapLibraryArgs;

/* The arenas of a world's or a pack's scratch, in order: X(name, member of SapContext and SapArenas, type, 1: always in
 * fast memory of a thread that has a world). SLOT: of the contact slots, which a GPU has twice. */
#define SAP_EACH_ARENA(X, SLOT)                                                                                        \
    X(FM, fm, void, 1) /* free motion, the contact problem without its slots, and the linear system */                 \
    X(BLOCKS, blocks, void, 0)                                                                                         \
    SLOT(SLOTS, slots, void)                                                                                           \
    SLOT(JACOBIANS, jacobians, void)                                                                                   \
    SLOT(SLOT_INTS, slot_ints, int)                                                                                    \
    SLOT(SLOT_SETUP, setup, void)                                                                                      \
    SLOT(SLOT_SETUP_INTS, setup_ints, int)                                                                             \
    X(TILES, tiles, int, 0)                                                                                            \
    X(RETRY, retry, void, 0) /* from here on, second attempts in f64: the problem, its slots, the linear system */     \
    X(RETRY_SLOTS, retry_slots, void, 0)                                                                               \
    X(LINEAR64, linear[1], void, 0)                                                                                    \
    X(COLLIDE, collide, void, 1)                                                                                       \
    X(PAIRS, pairs, int, 1)                                                                                            \
    X(PACK_INTS, ints, int, 1) /* last: in use while collision has the memory of others (host/cuda/launch_shape.c) */

/* The offsets of the arenas of contact slots. */
typedef struct SapSlotArenas {
    int slots, jacobians, slot_ints, setup, setup_ints;
} SapSlotArenas;

/* Local memory of a thread that steps a world alone, in bytes: its part of fast memory. */
enum { SAP_THREAD_SCRATCH = 16384 };

/* A world's scratch on a GPU. An arena with offset >= 0 is in fast memory, which is shared, or local if a thread has a
 * world; one with offset < 0 is at ~offset in the workspace. Offsets are in bytes from the beginning of the world's
 * part of either. */
typedef struct SAP_SPECIALIZABLE(SapArenas) {
    int fm, solve, linear[2], ints, collide, pairs;
    int tiles, retry, retry_slots, blocks;
    int convex;         /* of the general narrow phase, always in the workspace */
    SapSlotArenas few;  /* for worlds of up to few_slots contacts */
    SapSlotArenas more; /* for the others */
    int few_slots;
    int in_step;              /* 1: the step also finds the contacts; 0: a separate kernel does */
    int size;                 /* bytes of a world's part of fast memory */
    unsigned char *workspace; /* [teams of the grid][workspace_size], global memory; NULL = all is in fast memory */
    long long workspace_size; /* bytes of a world's part of the workspace */
} SAP_SPECIALIZABLE(SapArenas);
SAP_SPECIALIZED(SapArenas)

/* Outputs of inspection: f64, layouts as in SapFreeMotion; each may be NULL. */
typedef struct SapInspectArgs {
    double *v_star, *A, *tau, *v0, *body_pose, *body_velocity, *body_bias;
} SapInspectArgs;

typedef struct SAP_SPECIALIZABLE(SapStepArgs) {
    SapPlan plan;
    SapConstants constants[2]; /* f32, f64 */
    double h;                  /* s, time step */
    int num_worlds;            /* n */
    int num_steps;             /* steps of length h to take before returning to the host; 0 = no step */
    int first_step, end_step;  /* the steps of one launch on a GPU: first_step .. end_step - 1 */
    int euler;                 /* 1: sap_euler, 0: midpoint */
    int implicit_gyroscopic;   /* 1: motion/gyroscopic.h, and rotations of free and ball joints advance with v */
    int mean_velocity_forces;  /* 1: velocity forces of (v0 + v*)/2 (motion/free_motion.h) */
    int compat;                /* 1: joints as SAP Warp computes them (joints_sap_warp.h), witnesses on the core */
    int fm_is_f64, geometry_is_f64, weight_is_f64, solve_is_f64; /* precision of each stage */
    int has_dof_terms;                                           /* 1: some dof has a drive, a limit or friction */
    int has_gravcomp;                                            /* 1: some body has a gravcomp other than 0 */
    double max_joint_speed; /* m/s or rad/s: a world with a faster dof fails; 0 = no limit */

    /* State and control of the caller, in public order except guess; layouts as in SapState and SapControl. */
    SapBuffer q_in, qd_in, joint_f, body_f, target_pos, target_vel, act, guess;
    SapBuffer q_out, qd_out, body_q, body_qd;
    unsigned *status;             /* [num_worlds] SAP_WORLD_... */
    const unsigned char *skipped; /* [num_worlds] 1: the call skips this world (step/skip_world.h); NULL = none */

    SapCollideArgs collide;
    SapContactArgs contacts;
    SapConstraintArgs constraints;
    SapNewtonArgs newton;
    const SapDualStepArgs *dual; /* NULL: the solve of a step is in velocities */
    SapLibraryArgs library;
    SapReportArgs report;
    SapProblemLayout problem;
    SapSlotLayout slot;
    SapSlotInts slot_ints;
    SapPackInts pack_ints;
    SapLinearLayout linear;
    SapArenas arena;

    const SapInspectArgs *inspect; /* outputs of inspection, on a CPU */

    const struct SapMujocoArgs *mujoco; /* MuJoCo's law; NULL = the law of SAP */
} SAP_SPECIALIZABLE(SapStepArgs);
SAP_SPECIALIZED(SapStepArgs)

/* The CUDA driver passes the arguments of a launch in 4 kB of constant memory. */
enum { SAP_MAX_LAUNCH_BYTES = 4096 };
static_assert(sizeof(SapStepArgs) <= SAP_MAX_LAUNCH_BYTES, "the arguments of a launch are too large");

#endif
