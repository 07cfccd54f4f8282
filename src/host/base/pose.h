/* Poses on the host: position, then a unit quaternion x y z w. */
#ifndef SAPWOOD_HOST_BASE_POSE_H
#define SAPWOOD_HOST_BASE_POSE_H

#include <math.h>
#include <string.h>

/* out = R(q) v; out may be v. */
static inline void pose_rotate(const double *q, const double *v, double *out) {
    double t[3] = {2 * (q[1] * v[2] - q[2] * v[1]), 2 * (q[2] * v[0] - q[0] * v[2]), 2 * (q[0] * v[1] - q[1] * v[0])};
    double r[3] = {v[0] + q[3] * t[0] + q[1] * t[2] - q[2] * t[1], v[1] + q[3] * t[1] + q[2] * t[0] - q[0] * t[2],
                   v[2] + q[3] * t[2] + q[0] * t[1] - q[1] * t[0]};
    memcpy(out, r, sizeof r);
}

/* The product of two quaternions, of unit length. */
static inline void pose_turn(const double *a, const double *b, double *out) {
    double q[4] = {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1], a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
        a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0], a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++)
        out[i] = q[i] / length;
}

/* X = X Y */
static inline void pose_compose(double *X, const double *Y) {
    double p[3];
    pose_rotate(X + 3, Y, p);
    for (int i = 0; i < 3; i++)
        X[i] += p[i];
    pose_turn(X + 3, Y + 3, X + 3);
}

/* X = Y^-1 */
static inline void pose_invert(const double *Y, double *X) {
    double q[4] = {-Y[3], -Y[4], -Y[5], Y[6]}, p[3];
    pose_rotate(q, Y, p);
    for (int i = 0; i < 3; i++)
        X[i] = -p[i];
    memcpy(X + 3, q, sizeof q);
}

#endif
