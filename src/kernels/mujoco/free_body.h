/* The implicit gyroscopic force of a free body without children, as MuJoCo's implicit integrators have it.
 * docs/mujoco.md.
 *
 *   (M + h B) d1 = M d          d: change of velocity in the step, [angular ; linear] at the body's origin O
 *   B = [ -m [s] X + [w] I_C - [I_C w] , 0 ;  -m X , 0 ],     X = [w x s] + [w] [s]
 *
 * [s] is the matrix of s x, s from O to the centre of mass, w the angular velocity, I_C the inertia about the
 * centre. */

typedef struct MujocoFreeBody {
    Inertia I;           /* about O */
    Vec3 w;              /* angular velocity at the start */
    Vec3 more_a, more_l; /* armature and damping on the diagonal of M */
    real h;
} MujocoFreeBody;

/* X x */
KERNEL_FN Vec3 free_body_X(const MujocoFreeBody *b, Vec3 s, Vec3 x) {
    return vec3_cross_add(vec3_cross(b->w, s), x, vec3_cross(b->w, vec3_cross(s, x)));
}

/* I_C x = I_O x - m (s.s x - s (s.x)) */
KERNEL_FN Vec3 free_body_central(const MujocoFreeBody *b, Vec3 s, Vec3 x) {
    const Inertia *I = &b->I;
    Vec3 Ix = vec3(real_fma(I->xz, x.z, real_fma(I->xy, x.y, I->xx * x.x)),
                   real_fma(I->yz, x.z, real_fma(I->xy, x.x, I->yy * x.y)),
                   real_fma(I->yz, x.y, real_fma(I->xz, x.x, I->zz * x.z)));
    return vec3_add(Ix, vec3_cross(I->mc, vec3_cross(s, x)));
}

/* The angular rows of M x for an angular x, with `more`. */
KERNEL_FN Vec3 free_body_turn(const MujocoFreeBody *b, Vec3 x) {
    const Inertia *I = &b->I;
    return vec3(real_fma(I->xz, x.z, real_fma(I->xy, x.y, (I->xx + b->more_a.x) * x.x)),
                real_fma(I->yz, x.z, real_fma(I->xy, x.x, (I->yy + b->more_a.y) * x.y)),
                real_fma(I->yz, x.y, real_fma(I->xz, x.x, (I->zz + b->more_a.z) * x.z)));
}

/* M_ll^-1 y */
KERNEL_FN Vec3 free_body_lift(const MujocoFreeBody *b, Vec3 y) {
    return vec3(y.x / (b->I.m + b->more_l.x), y.y / (b->I.m + b->more_l.y), y.z / (b->I.m + b->more_l.z));
}

/* The linear change that goes with the angular change x, beside the forces': mc x x + h m X x. */
KERNEL_FN Vec3 free_body_couple(const MujocoFreeBody *b, Vec3 s, Vec3 x) {
    return vec3_fma(b->h * b->I.m, free_body_X(b, s, x), vec3_cross(b->I.mc, x));
}

/* A column of the angular system after the linear change is eliminated. */
KERNEL_FN Vec3 free_body_column(const MujocoFreeBody *b, Vec3 s, Vec3 x) {
    Vec3 gyro = vec3_sub(vec3_cross(b->w, free_body_central(b, s, x)), vec3_cross(free_body_central(b, s, b->w), x));
    gyro = vec3_sub(gyro, vec3_cross(b->I.mc, free_body_X(b, s, x)));
    Vec3 column = vec3_fma(b->h, gyro, free_body_turn(b, x));
    return vec3_cross_add(b->I.mc, free_body_lift(b, free_body_couple(b, s, x)), column);
}

/* d1 from d. */
KERNEL_FN Spatial free_body_change(const MujocoFreeBody *b, Spatial d) {
    real zero = real_of(0), one = real_of(1);
    Vec3 s = vec3_scale(one / b->I.m, b->I.mc);
    /* M d */
    Vec3 y_a = vec3_cross_add(b->I.mc, d.lin, free_body_turn(b, d.ang));
    Vec3 y_l = vec3(b->I.m * d.lin.x, b->I.m * d.lin.y, b->I.m * d.lin.z);
    y_l = vec3_add(y_l, vec3(b->more_l.x * d.lin.x, b->more_l.y * d.lin.y, b->more_l.z * d.lin.z));
    y_l = vec3_sub(y_l, vec3_cross(b->I.mc, d.ang));
    /* N x = y by Cramer's rule */
    Vec3 y = vec3_sub(y_a, vec3_cross(b->I.mc, free_body_lift(b, y_l)));
    Vec3 n0 = free_body_column(b, s, vec3(one, zero, zero)), n1 = free_body_column(b, s, vec3(zero, one, zero)),
         n2 = free_body_column(b, s, vec3(zero, zero, one));
    Vec3 c = vec3_cross(n1, n2);
    real det = vec3_dot(n0, c);
    Spatial out;
    out.ang =
        vec3_scale(one / det, vec3(vec3_dot(y, c), vec3_dot(n0, vec3_cross(y, n2)), vec3_dot(n0, vec3_cross(n1, y))));
    out.lin = free_body_lift(b, vec3_add(y_l, free_body_couple(b, s, out.ang)));
    return out;
}

/* Whether link l is a free body without children. */
KERNEL_FN bool free_body_is(const SapLink *link) {
    return link->type == SAP_JOINT_FREE && link->num_children == 0;
}
