/* The arguments of a call: plan, constants, the arrays of the caller, options and layouts of every stage. Plain data, the same on
 * every target; no pointer is owned by a kernel. A GPU takes them by value with the launch. */
#ifndef SAPWOOD_KERNELS_DATA_ARGS_H
#define SAPWOOD_KERNELS_DATA_ARGS_H

#include <assert.h>

#include "kernels/data/buffer.h"
#include "kernels/data/constants.h"
#include "kernels/data/laws.h"
#include "kernels/data/layouts.h"
#include "kernels/data/methods.h"
#include "kernels/data/plan.h"
#include "kernels/data/reports.h"

typedef struct SapContactArgs {
    int capacity;            /* records of a world in reports: the most it can have */
    int num_slots;           /* slots of scratch: enough for all records of a pack, if no two of them can share one */
    int given_capacity;      /* records of a world in the arrays below */
    int *count;              /* [num_worlds]; NULL = no contacts */
    int *dropped;            /* [num_worlds]; NULL = none */
    int *shape[2], *body[2]; /* [num_worlds][given_capacity]; NULL = absent */
    SapBuffer point[2], normal, margin[2];
    SapBuffer stiffness, tau, mu; /* a record's own; absent or NaN: from its shapes */
    double fallback_mu, fallback_stiffness, fallback_tau;
    SapBuffer own_fallback_mu, own_fallback_tau; /* [num_worlds][1] where worlds have materials of their own */
    double beta, sigma, diag_shift;
    int law;           /* SAP_LAW_... */
    int midpoint;      /* 1: contact_midpoint */
    int diag_delassus; /* 1: diag_delassus */
} SapContactArgs;

typedef struct SapCollideArgs {
    int enabled;      /* contacts are found by the step itself, and written to the arrays of SapContactArgs */
    int max_contacts; /* of a pair, 1 .. 8 */
    int chunk;        /* pairs that are worked on together */
    SapCollideLayout layout;
} SapCollideArgs;

typedef struct SapNewtonArgs {
    int max_iterations, line_search_max_iterations;
    int line_search; /* SapLineSearch */
    int linear_is_f64;
    int dense; /* 1: always the dense pattern */
    double optimality_abs_tol, optimality_rel_tol, cost_abs_tol, cost_rel_tol, alpha_min;
    double armijo_c, rho, relative_slop;
    SapNewtonLayout layout;
} SapNewtonArgs;

/* The Newton systems of all worlds, where a library solves them (solve/lockstep.h). */
typedef struct SapLibraryArgs {
    SapBuffer matrix; /* [num_worlds][nv][nv] H, the lower triangle by rows; the library overwrites it */
    SapBuffer vector; /* [num_worlds][nv] -grad, then d */
    int *active;      /* [num_worlds] 1: the world has a system to solve */
    int *info;        /* [num_worlds] 0, or != 0 where its matrix could not be factored; by place */
    int *place;       /* [num_worlds] where the library has an active world; NULL = by number */
    int iteration;    /* of Newton's method, from 0 */
} SapLibraryArgs;

/* A world's scratch on a GPU: each arena lies in shared memory or, where it is below 0, at ~offset in the workspace. In bytes from
 * the beginning of the world's part of either. */
typedef struct SapArenas {
    int fm, collide, solve, linear[2], ints, pairs;
    int size;                 /* of a world's part of shared memory */
    unsigned char *workspace; /* [teams of the grid][workspace_size], global memory; NULL = all arenas are shared */
    long long workspace_size;
} SapArenas;

typedef struct SapStepArgs {
    SapPlan plan;
    SapConstants constants[2]; /* f32, f64 */
    double h;
    int num_worlds;
    int num_steps;            /* steps of length h to take before returning to the host */
    int first_step, end_step; /* of these, what one launch does on a GPU: first_step .. end_step - 1 */
    int euler;                /* 1: sap_euler, 0: midpoint */
    int compat;               /* 1: joints as SAP Warp computes them (joints_sap_warp.h), witnesses on the core */
    int fm_is_f64, geometry_is_f64, weight_is_f64, solve_is_f64;
    int has_dof_terms; /* some dof has a drive, a limit or friction */

    SapBuffer q_in, qd_in, joint_f, body_f, target_pos, target_vel, act, guess;
    SapBuffer q_out, qd_out, body_q, body_qd;
    unsigned *status;             /* [num_worlds] */
    const unsigned char *skipped; /* [num_worlds] 1: takes no part (leave_out.h); NULL = all do */

    SapCollideArgs collide;
    SapContactArgs contacts;
    int method;     /* SAP_METHOD_... */
    int solve_size; /* reals of the solve's arena: the problem's, the method's and the slots' */
    SapNewtonArgs newton;
    SapLibraryArgs library;
    SapReportArgs report;
    SapProblemLayout problem;
    SapSlotLayout slot;
    SapSlotInts slot_ints;
    SapLinearLayout linear;
    SapArenas arena;

    /* Inspection; f64, each may be NULL. Layouts as in SapFreeMotion. */
    double *v_star, *A, *tau, *v0, *body_pose, *body_velocity, *body_bias;
} SapStepArgs;

/* The driver passes the arguments of a launch in 4 kB of constant memory. */
enum { SAP_MAX_LAUNCH_BYTES = 4096 };
static_assert(sizeof(SapStepArgs) <= SAP_MAX_LAUNCH_BYTES, "the arguments of a launch are too large");

#endif
