/* The report of a step. */
#ifndef SAPWOOD_KERNELS_DATA_REPORTS_H
#define SAPWOOD_KERNELS_DATA_REPORTS_H

/* Numbers of a body at the start of a step: its pose, then [v ; omega] and [a ; alpha] of its centre of mass. */
enum { SAP_START_BODY_SIZE = 19 };

/* All rows of the problem (sap_solver_record_rows); each array but the count may be NULL. */
typedef struct SapRowReport {
    int capacity;                          /* rows per world */
    int *count, *active;                   /* [num_worlds] rows, and those that push; count NULL: no report */
    int *type, *id, *state;                /* [num_worlds][capacity] */
    double *pos, *margin, *velocity, *imp; /* [num_worlds][capacity] */
    double *R, *aref, *cost, *force;       /* [num_worlds][capacity] */
    double *jacobian, *qacc;               /* [num_worlds][capacity][nv], [num_worlds][nv] internal order */
} SapRowReport;

/* Arrays that few callers ask for, behind a pointer: the arguments of a launch have no room for them. */
typedef struct SapExtraReport {
    /* [num_worlds][nv] N or N m, public order: forces on dofs, and of all constraints together */
    double *joint_drive, *joint_limit, *joint_friction, *joint_constraint;
    SapRowReport rows;                   /* if the formulation reports them */
    double *lagged_impulse, *slip_width; /* [num_worlds][capacity] of the laws `similar` and `lagged` */
} SapExtraReport;

/* Arrays that a step fills, as in SapWorldReport and SapContactReport; each may be NULL. */
typedef struct SapReportArgs {
    int *iterations, *line_iterations, *f64_retries;          /* [num_worlds] */
    int *safeguards, *active;                                 /* [num_worlds] of the dual methods only */
    double *cost, *residual;                                  /* [num_worlds] */
    double *impulse, *velocity, *frame, *gap, *weight, *pair; /* [num_worlds][capacity][3, 3, 9, 1, 1, 3] */
    double *position;                                         /* [num_worlds][capacity][3] */
    double *jacobian;                                         /* [num_worlds][capacity][3][nv] */
    int *region;                                              /* [num_worlds][capacity] */
    double *force;                                            /* [num_worlds][capacity][3] */
    double *wrench;                                           /* [num_worlds][nb][6] */
    double *drive, *limit, *friction; /* [num_worlds][nv] generalised impulses, internal order */
    int *cache_key;                   /* [num_worlds][capacity][3] the contact cache (dual/cache.h) */
    double *cache, *dof_cache;        /* [num_worlds][capacity][6]; [num_worlds][nv][4] */

    double *step_start; /* [num_worlds][nq + nv + SAP_START_BODY_SIZE nb + actuators] (step/measure.h) */

    /* as in SapConstraintReport */
    double *row_impulse, *row_error, *row_velocity, *row_weight, *row_target, *row_R; /* [num_worlds][num_rows] */
    double *row_jacobian;                                                             /* [num_worlds][num_rows][nv] */
    double *constraint_wrench, *body_constraint_wrench;     /* [num_worlds][nc][6], [num_worlds][nb][6] */
    double *constraint_residual;                            /* [num_worlds] */
    double *tendon_length, *tendon_velocity, *tendon_force; /* [num_worlds][nt] */
    double *tendon_limit, *tendon_spring, *tendon_damper, *tendon_friction, *tendon_drive; /* [num_worlds][nt] */

    SapExtraReport *extra; /* in memory of the device; NULL: not requested */
} SapReportArgs;

#endif
