/* The function table of one build of the kernels. */
#ifndef SAPWOOD_KERNELS_DATA_TABLE_H
#define SAPWOOD_KERNELS_DATA_TABLE_H

#include "kernels/data/context.h"

/* One pair of shapes of one world, for the narrow phase that processes one world at a time. f64 holds the numbers of
 * either precision exactly. */
typedef struct SapConvexTask {
    const SapStepArgs *args; /* plan and constants */
    int type[2], mesh[2];    /* SapShapeType; index of the hull or height field, or -1 */
    double size[2][3];       /* shape_scale */
    double pose[7];          /* pose of shape 1 in the frame of shape 0 */
    double reach;            /* m, points with d <= reach are contacts */
    int max_contacts;        /* 1 .. 8 */
    void *work;              /* on a GPU: SAP_CONVEX_BYTES_..., see WORKSPACE in dialect/lane.h */

    /* The result: points p on shape 0, normals n, distances d in the frame of shape 0 (collide/manifold.h). */
    int count;
    double p[8][3], n[8][3], d[8];
} SapConvexTask;

/* The functions that the host calls, in the order of a step. */
typedef struct SapKernels {
    int lanes;      /* worlds per pack */
    int real_bytes; /* size of one real, all lanes */
    int lanes_pay;  /* whether packs of this many lanes are faster than smaller ones (dialect/lane.h) */
    void (*free_motion)(const SapContext *ctx);
    void (*poses)(const SapContext *ctx); /* body poses only, for collision without free motion */
    void (*collide)(const SapContext *ctx);
    int (*fill_slots)(const SapContext *ctx); /* returns the number of slots in use */
    void (*contact_geometry)(const SapContext *ctx);
    void (*contact_weight)(const SapContext *ctx);
    void (*constraint_geometry)(const SapContext *ctx);
    void (*constraint_weight)(const SapContext *ctx);
    int (*solve)(const SapContext *ctx);        /* returns the lanes to repeat in f64, as bits */
    int (*stored_slots)(const SapContext *ctx); /* the number that fill_slots returned */
    void (*lockstep_begin)(const SapContext *ctx);
    void (*lockstep_assemble)(const SapContext *ctx);
    void (*lockstep_advance)(const SapContext *ctx);
    void (*lockstep_finish)(const SapContext *ctx);
    void (*linear_assemble)(const SapContext *ctx);
    void (*linear_solve)(const SapContext *ctx, const SapPattern *pattern);
    void (*velocity)(const SapContext *ctx); /* ends a Runge-Kutta stage, or the only one (step/step_list.h) */
    void (*measure)(const SapContext *ctx);
    void (*finish)(const SapContext *ctx);
    void (*inspect)(const SapContext *ctx);
    void (*kinematics)(const SapContext *ctx);
    void (*convex)(SapConvexTask *task); /* NULL unless lanes is 1 */
    /* sine and cosine of n numbers in the precision of the kernels, for tests; x, s and c have n elements */
    void (*sincos)(const void *x, void *s, void *c, int n);
} SapKernels;

/* What the contact laws `similar` and `lagged` replace (target/law_cpu.c). */
typedef struct SapLawKernels {
    int (*solve)(const SapContext *ctx);
} SapLawKernels;

#endif
