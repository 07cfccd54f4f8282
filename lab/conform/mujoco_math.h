/* Enums of MuJoCo that its reference files use, and small mathematics; quaternions are x y z w. */
#ifndef SAPWOOD_LAB_CONFORM_MUJOCO_MATH_H
#define SAPWOOD_LAB_CONFORM_MUJOCO_MATH_H

#include <string.h>

enum { JOINT_FREE, JOINT_BALL, JOINT_SLIDE, JOINT_HINGE };                 /* mjtJoint */
enum { EQUALITY_CONNECT, EQUALITY_WELD, EQUALITY_JOINT, EQUALITY_TENDON }; /* mjtEq */
enum { OBJECT_SITE = 6, WRAP_JOINT = 1 };                                  /* mjtObj, mjtWrap */
enum { DISABLE_REFSAFE = 1 << 12, DISABLE_EULERDAMP = 1 << 15 };           /* mjtDisableBit */

static inline void quat_of(const double *wxyz, double *q) {
    q[0] = wxyz[1];
    q[1] = wxyz[2];
    q[2] = wxyz[3];
    q[3] = wxyz[0];
}

static inline void quat_product(const double *a, const double *b, double *out) {
    double q[4] = {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1], a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
        a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0], a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
    memcpy(out, q, sizeof q);
}

static inline void matrix_of(const double *q, double R[9]) {
    double x = q[0], y = q[1], z = q[2], w = q[3];
    const double m[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                         2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(R, m, sizeof m);
}

static inline void matrix_vector(const double R[9], const double *v, double *out) {
    double u[3] = {0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            u[i] += R[3 * i + k] * v[k];
    memcpy(out, u, sizeof u);
}

static inline void cross(const double *a, const double *b, double *out) {
    double u[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    memcpy(out, u, sizeof u);
}

/* a b, both position and quaternion */
static inline void pose_product(const double *a, const double *b, double *out) {
    double R[9], p[3];
    matrix_of(a + 3, R);
    matrix_vector(R, b, p);
    for (int i = 0; i < 3; i++)
        p[i] += a[i];
    double q[4];
    quat_product(a + 3, b + 3, q);
    memcpy(out, p, sizeof p);
    memcpy(out + 3, q, sizeof q);
}

static inline void pose_of(const double *position, const double *wxyz, double *out) {
    memcpy(out, position, 3 * sizeof *out);
    quat_of(wxyz, out + 3);
}

#endif
