/* The report of a step. */
#ifndef SAPWOOD_KERNELS_DATA_REPORTS_H
#define SAPWOOD_KERNELS_DATA_REPORTS_H

/* Arrays that a step fills, as in SapWorldReport and SapContactReport; each may be NULL. */
typedef struct SapReportArgs {
    int *iterations, *line_iterations, *refactored;           /* [num_worlds] */
    double *cost, *residual;                                  /* [num_worlds] */
    double *impulse, *velocity, *frame, *gap, *weight, *pair; /* [num_worlds][capacity][3, 3, 9, 1, 1, 3] */
    double *position;                                         /* [num_worlds][capacity][3] */
    double *jacobian;                                         /* [num_worlds][capacity][3][nv] */
    int *region;                                              /* [num_worlds][capacity] */
    double *force;                                            /* [num_worlds][capacity][3] */
    double *wrench;                                           /* [num_worlds][nb][6] */
    double *drive, *limit, *friction; /* [num_worlds][nv] generalised impulses, internal order */
} SapReportArgs;

#endif
