/* Vectors, quaternions (x, y, z, w) and poses (px py pz qx qy qz qw), in double. */
#ifndef SAPWOOD_TESTS_SUPPORT_POSE_H
#define SAPWOOD_TESTS_SUPPORT_POSE_H

#include <math.h>

static inline double dot3(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double length(const double *v, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

static inline void cross(const double *a, const double *b, double *out) {
    double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    for (int i = 0; i < 3; i++)
        out[i] = c[i];
}

/* out may be v. */
static inline void rotate(const double *q, const double *v, double *out) {
    double t[3], u[3];
    cross(q, v, t);
    cross(q, t, u);
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + 2 * (q[3] * t[i] + u[i]);
}

static inline void rotate_back(const double *q, const double *v, double *out) {
    const double inverse[4] = {-q[0], -q[1], -q[2], q[3]};
    rotate(inverse, v, out);
}

/* p + R point */
static inline void pose_point(const double *X, const double *point, double *out) {
    double r[3];
    rotate(X + 3, point, r);
    for (int i = 0; i < 3; i++)
        out[i] = X[i] + r[i];
}

/* B, given in the frame of A, in the frame of A's parent. AB is neither of them. */
static inline void pose_product(const double *A, const double *B, double *AB) {
    const double *a = A + 3, *b = B + 3;
    double u[3];
    cross(a, b, u);
    pose_point(A, B, AB);
    for (int i = 0; i < 3; i++)
        AB[3 + i] = a[3] * b[i] + b[3] * a[i] + u[i];
    AB[6] = a[3] * b[3] - dot3(a, b);
}

static inline void pose_invert(const double *X, double *inverse) {
    double p[3];
    rotate_back(X + 3, X, p);
    for (int i = 0; i < 3; i++) {
        inverse[i] = -p[i];
        inverse[3 + i] = -X[3 + i];
    }
    inverse[6] = X[6];
}

#endif
