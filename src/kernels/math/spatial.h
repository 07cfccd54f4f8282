/* Spatial vectors and inertias in world axes, about one reference point O per tree, the origin of the tree's root body.
 *
 *   motion   [ang ; lin]: angular velocity, and the velocity of the body point at O
 *   force    [ang ; lin]: moment about O, and force
 *
 * O is fixed in space for the instant of the step. Velocities and composite inertias of links therefore add without
 * shifts along the tree. O moves with the tree, so f32 stays accurate far from the world's origin. */

typedef struct Spatial {
    Vec3 ang, lin;
} Spatial;

typedef struct Inertia {
    real m;                      /* kg */
    Vec3 mc;                     /* m c, c from O to the centre of mass */
    real xx, yy, zz, xy, xz, yz; /* inertia tensor about O */
} Inertia;

KERNEL_FN Spatial spatial(Vec3 ang, Vec3 lin) {
    Spatial s;
    s.ang = ang;
    s.lin = lin;
    return s;
}
KERNEL_FN Spatial spatial_zero(void) {
    return spatial(vec3_zero(), vec3_zero());
}
KERNEL_FN Spatial spatial_load(const real *p) {
    return spatial(vec3_load(p), vec3_load(p + 3));
}
KERNEL_FN void spatial_store(real *p, Spatial a) {
    vec3_store(p, a.ang);
    vec3_store(p + 3, a.lin);
}
KERNEL_FN Spatial spatial_add(Spatial a, Spatial b) {
    return spatial(vec3_add(a.ang, b.ang), vec3_add(a.lin, b.lin));
}
KERNEL_FN Spatial spatial_sub(Spatial a, Spatial b) {
    return spatial(vec3_sub(a.ang, b.ang), vec3_sub(a.lin, b.lin));
}
/* s a + b */
KERNEL_FN Spatial spatial_fma(real s, Spatial a, Spatial b) {
    return spatial(vec3_fma(s, a.ang, b.ang), vec3_fma(s, a.lin, b.lin));
}
KERNEL_FN real spatial_dot(Spatial a, Spatial b) {
    real d = vec3_dot(a.ang, b.ang);
    return real_fma(a.lin.z, b.lin.z, real_fma(a.lin.y, b.lin.y, real_fma(a.lin.x, b.lin.x, d)));
}
/* The velocity (or acceleration) of the point O + d of a moving body. */
KERNEL_FN Vec3 spatial_at(Spatial V, Vec3 d) {
    return vec3_cross_add(V.ang, d, V.lin);
}
/* V x* f: the rate of change of a force vector that moves with V */
KERNEL_FN Spatial spatial_cross_force(Spatial V, Spatial f) {
    return spatial(vec3_cross_add(V.ang, f.ang, vec3_cross(V.lin, f.lin)), vec3_cross(V.ang, f.lin));
}

KERNEL_FN Inertia inertia_load(const real *p) {
    Inertia I;
    I.m = p[0];
    I.mc = vec3_load(p + 1);
    I.xx = p[4];
    I.yy = p[5];
    I.zz = p[6];
    I.xy = p[7];
    I.xz = p[8];
    I.yz = p[9];
    return I;
}
KERNEL_FN void inertia_store(real *p, Inertia I) {
    p[0] = I.m;
    vec3_store(p + 1, I.mc);
    p[4] = I.xx;
    p[5] = I.yy;
    p[6] = I.zz;
    p[7] = I.xy;
    p[8] = I.xz;
    p[9] = I.yz;
}
/* [ I ang + mc x lin ; m lin - mc x ang ] */
KERNEL_FN Spatial inertia_mul(Inertia I, Spatial a) {
    Vec3 w = a.ang;
    Vec3 Iw =
        vec3(real_fma(I.xz, w.z, real_fma(I.xy, w.y, I.xx * w.x)), real_fma(I.yz, w.z, real_fma(I.yy, w.y, I.xy * w.x)),
             real_fma(I.zz, w.z, real_fma(I.yz, w.y, I.xz * w.x)));
    return spatial(vec3_cross_add(I.mc, a.lin, Iw), vec3_cross_add(w, I.mc, vec3_scale(I.m, a.lin)));
}
/* The inertia about O of a body of mass m with the tensor J, in body axes, about its centre of mass O + c:
 * I = R J R' + m (c.c E - c c'), R the body's rotation. J = xx yy zz xy xz yz. */
KERNEL_FN Inertia inertia_of_body(real m, Vec3 c, Mat3 R, const real J[6]) {
    /* columns of R J */
    Vec3 Jx = vec3_fma(J[4], R.z, vec3_fma(J[3], R.y, vec3_scale(J[0], R.x)));
    Vec3 Jy = vec3_fma(J[5], R.z, vec3_fma(J[1], R.y, vec3_scale(J[3], R.x)));
    Vec3 Jz = vec3_fma(J[2], R.z, vec3_fma(J[5], R.y, vec3_scale(J[4], R.x)));
    Vec3 mc = vec3_scale(m, c);
    real xx = mc.x * c.x, yy = mc.y * c.y, zz = mc.z * c.z;
    Inertia I;
    I.m = m;
    I.mc = mc;
    I.xx = real_fma(Jz.x, R.z.x, real_fma(Jy.x, R.y.x, real_fma(Jx.x, R.x.x, yy + zz)));
    I.yy = real_fma(Jz.y, R.z.y, real_fma(Jy.y, R.y.y, real_fma(Jx.y, R.x.y, xx + zz)));
    I.zz = real_fma(Jz.z, R.z.z, real_fma(Jy.z, R.y.z, real_fma(Jx.z, R.x.z, xx + yy)));
    I.xy = real_fma(Jz.x, R.z.y, real_fma(Jy.x, R.y.y, real_fma(Jx.x, R.x.y, -(mc.x * c.y))));
    I.xz = real_fma(Jz.x, R.z.z, real_fma(Jy.x, R.y.z, real_fma(Jx.x, R.x.z, -(mc.x * c.z))));
    I.yz = real_fma(Jz.y, R.z.z, real_fma(Jy.y, R.y.z, real_fma(Jx.y, R.x.z, -(mc.y * c.z))));
    return I;
}
