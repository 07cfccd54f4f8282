/* Vectors, quaternions (x, y, z, w; Hamilton) and poses, one per world of the pack. */

typedef struct Vec3 {
    real x, y, z;
} Vec3;

typedef struct Quat {
    real x, y, z, w;
} Quat;

typedef struct Mat3 { /* columns: images of the axes */
    Vec3 x, y, z;
} Mat3;

typedef struct Pose {
    Vec3 p;
    Quat q;
} Pose;

KERNEL_FN Vec3 vec3(real x, real y, real z) {
    Vec3 v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}
KERNEL_FN Vec3 vec3_zero(void) {
    return vec3(real_of(0), real_of(0), real_of(0));
}
KERNEL_FN Vec3 vec3_load(const real *p) {
    return vec3(p[0], p[1], p[2]);
}
KERNEL_FN void vec3_store(real *p, Vec3 a) {
    p[0] = a.x;
    p[1] = a.y;
    p[2] = a.z;
}
KERNEL_FN Vec3 vec3_add(Vec3 a, Vec3 b) {
    return vec3(a.x + b.x, a.y + b.y, a.z + b.z);
}
KERNEL_FN Vec3 vec3_sub(Vec3 a, Vec3 b) {
    return vec3(a.x - b.x, a.y - b.y, a.z - b.z);
}
KERNEL_FN Vec3 vec3_scale(real s, Vec3 a) {
    return vec3(s * a.x, s * a.y, s * a.z);
}
/* s a + b */
KERNEL_FN Vec3 vec3_fma(real s, Vec3 a, Vec3 b) {
    return vec3(real_fma(s, a.x, b.x), real_fma(s, a.y, b.y), real_fma(s, a.z, b.z));
}
KERNEL_FN real vec3_dot(Vec3 a, Vec3 b) {
    return real_fma(a.z, b.z, real_fma(a.y, b.y, a.x * b.x));
}
/* a x b */
KERNEL_FN Vec3 vec3_cross(Vec3 a, Vec3 b) {
    return vec3(real_fma(a.y, b.z, -(a.z * b.y)), real_fma(a.z, b.x, -(a.x * b.z)), real_fma(a.x, b.y, -(a.y * b.x)));
}
/* a x b + c */
KERNEL_FN Vec3 vec3_cross_add(Vec3 a, Vec3 b, Vec3 c) {
    return vec3(real_fma(a.y, b.z, real_fma(-a.z, b.y, c.x)), real_fma(a.z, b.x, real_fma(-a.x, b.z, c.y)),
                real_fma(a.x, b.y, real_fma(-a.y, b.x, c.z)));
}

KERNEL_FN Vec3 vec3_select(mask m, Vec3 a, Vec3 b) {
    return vec3(real_select(m, a.x, b.x), real_select(m, a.y, b.y), real_select(m, a.z, b.z));
}

KERNEL_FN Quat quat(real x, real y, real z, real w) {
    Quat q;
    q.x = x;
    q.y = y;
    q.z = z;
    q.w = w;
    return q;
}
KERNEL_FN Quat quat_select(mask m, Quat a, Quat b) {
    return quat(real_select(m, a.x, b.x), real_select(m, a.y, b.y), real_select(m, a.z, b.z), real_select(m, a.w, b.w));
}
KERNEL_FN Quat quat_load(const real *p) {
    return quat(p[0], p[1], p[2], p[3]);
}
KERNEL_FN void quat_store(real *p, Quat q) {
    p[0] = q.x;
    p[1] = q.y;
    p[2] = q.z;
    p[3] = q.w;
}
KERNEL_FN Quat quat_conjugate(Quat q) {
    return quat(-q.x, -q.y, -q.z, q.w);
}
KERNEL_FN real quat_norm2(Quat q) {
    return real_fma(q.w, q.w, real_fma(q.z, q.z, real_fma(q.y, q.y, q.x * q.x)));
}
KERNEL_FN Quat quat_normalise(Quat q) {
    real norm2 = quat_norm2(q);
    real s = K(1.0) / real_sqrt(norm2) + (norm2 - norm2); /* a norm that overflows gives NaN instead of zero */
    return quat(s * q.x, s * q.y, s * q.z, s * q.w);
}
/* a b: first b, then a */
KERNEL_FN Quat quat_mul(Quat a, Quat b) {
    return quat(real_fma(a.w, b.x, real_fma(a.x, b.w, real_fma(a.y, b.z, -(a.z * b.y)))),
                real_fma(a.w, b.y, real_fma(a.y, b.w, real_fma(a.z, b.x, -(a.x * b.z)))),
                real_fma(a.w, b.z, real_fma(a.z, b.w, real_fma(a.x, b.y, -(a.y * b.x)))),
                real_fma(a.w, b.w, -real_fma(a.x, b.x, real_fma(a.y, b.y, a.z * b.z))));
}
/* The rotation of v by the unit quaternion q: v + w t + u x t, t = 2 u x v, u the vector part of q */
KERNEL_FN Vec3 quat_rotate(Quat q, Vec3 v) {
    Vec3 u = vec3(q.x, q.y, q.z);
    Vec3 t = vec3_cross(vec3_add(u, u), v);
    return vec3_cross_add(u, t, vec3_fma(q.w, t, v));
}
/* The rotation matrix of the unit quaternion q. */
KERNEL_FN Mat3 quat_matrix(Quat q) {
    real x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    real xx = q.x * x2, yy = q.y * y2, zz = q.z * z2;
    real one = real_of(1);
    Mat3 R;
    R.x = vec3(one - (yy + zz), real_fma(q.x, y2, q.w * z2), real_fma(q.x, z2, -(q.w * y2)));
    R.y = vec3(real_fma(q.x, y2, -(q.w * z2)), one - (xx + zz), real_fma(q.y, z2, q.w * x2));
    R.z = vec3(real_fma(q.x, z2, q.w * y2), real_fma(q.y, z2, -(q.w * x2)), one - (xx + yy));
    return R;
}
KERNEL_FN Vec3 mat3_mul(Mat3 R, Vec3 v) {
    return vec3_fma(v.z, R.z, vec3_fma(v.y, R.y, vec3_scale(v.x, R.x)));
}

/* a b: pose b, given in the frame of pose a, in the frame of a's parent */
KERNEL_FN Pose pose_mul(Pose a, Pose b) {
    Pose r;
    r.p = vec3_add(a.p, quat_rotate(a.q, b.p));
    r.q = quat_mul(a.q, b.q);
    return r;
}
KERNEL_FN Pose pose_load(const real *p) {
    Pose r;
    r.p = vec3_load(p);
    r.q = quat_load(p + 3);
    return r;
}
KERNEL_FN void pose_store(real *p, Pose a) {
    vec3_store(p, a.p);
    quat_store(p + 3, a.q);
}
