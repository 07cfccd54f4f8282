/* Rotation of vectors by quaternions (x, y, z, w), in double. */
#ifndef SAPWOOD_TESTS_SUPPORT_ROTATION_H
#define SAPWOOD_TESTS_SUPPORT_ROTATION_H

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

#endif
