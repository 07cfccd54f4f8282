/* One build of the kernels, as the host calls it. */
#ifndef SAPWOOD_KERNELS_DATA_TABLE_H
#define SAPWOOD_KERNELS_DATA_TABLE_H

#include "kernels/data/context.h"

/* One pair of shapes of one world, for the narrow phase that works on one world at a time; numbers of either precision, exact in f64. */
typedef struct SapConvexTask {
    const SapStepArgs *args; /* plan and constants */
    int type[2], mesh[2];
    double size[2][3];
    double pose[7];   /* of shape 1 in the frame of shape 0 */
    double reach;     /* points with d <= reach are wanted */
    int max_contacts; /* 1 .. 8 */
    int count;        /* the result: p and n in the frame of shape 0 (manifold.h) */
    double p[8][3], n[8][3], d[8];
} SapConvexTask;

/* One build of the kernels: what the host calls, in the order of a step. */
typedef struct SapKernels {
    int lanes;
    int real_bytes; /* of one real: all lanes */
    void (*free_motion)(const SapContext *ctx);
    void (*place)(const SapContext *ctx); /* body poses only, in place of free motion */
    void (*collide)(const SapContext *ctx);
    int (*fill_slots)(const SapContext *ctx); /* returns how many are in use */
    void (*contact_geometry)(const SapContext *ctx);
    void (*contact_weight)(const SapContext *ctx);
    void (*solve)(const SapContext *ctx);
    int (*kept_slots)(const SapContext *ctx); /* how many fill_slots left in use */
    void (*lockstep_begin)(const SapContext *ctx);
    void (*lockstep_assemble)(const SapContext *ctx);
    void (*lockstep_advance)(const SapContext *ctx);
    void (*lockstep_finish)(const SapContext *ctx);
    void (*linear_solve)(const SapContext *ctx, const SapPattern *pattern);
    void (*finish)(const SapContext *ctx);
    void (*inspect)(const SapContext *ctx);
    void (*kinematics)(const SapContext *ctx);
    void (*convex)(SapConvexTask *task); /* in the build with one lane only */
    /* sine and cosine of n numbers of the kernels' precision; for tests */
    void (*sincos)(const void *x, void *s, void *c, int n);
} SapKernels;

#endif
