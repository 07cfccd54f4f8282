/* The narrow phase (src/kernels/narrow_*.h) on arrays of cases, for tests: one build per lane count and precision. */
#ifndef SAPWOOD_TESTS_SUPPORT_NARROW_KERNELS_H
#define SAPWOOD_TESTS_SUPPORT_NARROW_KERNELS_H

enum { NARROW_MAX = 8 };

/* Sizes as at SapShapeType; the pose is shape 1's in the frame of shape 0. */
typedef struct NarrowCase {
    double size[2][3];
    double pose[7];
} NarrowCase;

/* What all cases of a call have in common. vertex: [num_vertices][3] of a hull. */
typedef struct NarrowPair {
    int type[2]; /* SapShapeType, the first not larger */
    int max_contacts;
    const double *vertex;
    int num_vertices;
} NarrowPair;

/* Valid points only, in the manifold's order. */
typedef struct NarrowResult {
    int count;
    int redo; /* of two boxes */
    double p[NARROW_MAX][3], n[NARROW_MAX][3], d[NARROW_MAX];
} NarrowResult;

typedef void NarrowFn(const NarrowPair *pair, const NarrowCase *cases, int n, NarrowResult *results);

NarrowFn narrow_x1_f32, narrow_x4_f32, narrow_x8_f32, narrow_x1_f64, narrow_x4_f64, narrow_x8_f64;

#endif
