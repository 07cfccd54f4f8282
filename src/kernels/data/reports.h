/* The report of a step. */
#ifndef SAPWOOD_KERNELS_DATA_REPORTS_H
#define SAPWOOD_KERNELS_DATA_REPORTS_H

/* Numbers of a body at the start of a step: its pose, then [v ; omega] and [a ; alpha] of its centre of mass. */
enum { SAP_START_BODY_SIZE = 19 };

/* Arrays that a step fills, as in SapWorldReport and SapContactReport; each may be NULL. */
typedef struct SapReportArgs {
    int *iterations, *line_iterations, *refactored;           /* [num_worlds] */
    int *safeguards, *active;                                 /* [num_worlds] of the dual methods only */
    double *cost, *residual;                                  /* [num_worlds] */
    double *impulse, *velocity, *frame, *gap, *weight, *pair; /* [num_worlds][capacity][3, 3, 9, 1, 1, 3] */
    double *position;                                         /* [num_worlds][capacity][3] */
    double *jacobian;                                         /* [num_worlds][capacity][3][nv] */
    int *region;                                              /* [num_worlds][capacity] */
    double *force;                                            /* [num_worlds][capacity][3] */
    double *wrench;                                           /* [num_worlds][nb][6] */
    double *drive, *limit, *friction; /* [num_worlds][nv] generalised impulses, internal order */
    int *cache_key;                   /* [num_worlds][capacity][3] the contact cache (solve/contact_cache.h) */
    double *cache, *dof_cache;        /* [num_worlds][capacity][6]; [num_worlds][nv][4] */

    double *step_start; /* [num_worlds][nq + nv + SAP_START_BODY_SIZE nb + actuators] (step/measure.h) */

    /* as in SapConstraintReport */
    double *row_impulse, *row_error, *row_velocity, *row_weight, *row_target, *row_R; /* [num_worlds][num_rows] */
    double *row_jacobian;                                                             /* [num_worlds][num_rows][nv] */
    double *constraint_wrench, *body_constraint_wrench;     /* [num_worlds][nc][6], [num_worlds][nb][6] */
    double *constraint_residual;                            /* [num_worlds] */
    double *tendon_length, *tendon_velocity, *tendon_force; /* [num_worlds][nt] */
    double *tendon_limit, *tendon_spring, *tendon_damper, *tendon_friction, *tendon_drive; /* [num_worlds][nt] */
} SapReportArgs;

#endif
