/* The derivative of the implicit gyroscopic torque (motion/gyroscopic.h). It depends on the attitude of its body and
 * its angular velocity, and turns with the body, so its rates are a part of the Coriolis matrices. */

/* The rates that the torque of one body depends on. */
typedef struct GyroscopicRates {
    Vec3 w; /* of the angular velocity */
    Mat3 J; /* of the inertia */
    Vec3 r; /* of the centre of mass of a free body */
    real m; /* of its mass */
} GyroscopicRates;

/* The wrench beside the explicit one, about the body's origin, and its rate. */
typedef struct GyroscopicWrench {
    Vec3 moment, force, moment_rate, force_rate;
} GyroscopicWrench;

/* The change d of w in a step, and its rate. */
typedef struct GyroscopicChange {
    Vec3 d, rate;
} GyroscopicChange;

STAGE_FN GyroscopicChange gyroscopic_change_rate(Mat3 J, Vec3 w, real h, const GyroscopicRates *by) {
    real zero = real_of(0), one = real_of(1), half_h = K(0.5) * h;
    Vec3 Jw = mat3_mul(J, w), dJw = vec3_add(mat3_mul(J, by->w), mat3_mul(by->J, w));
    Vec3 x = gyroscopic_column(J.x, vec3_unit(0), w, Jw, half_h);
    Vec3 y = gyroscopic_column(J.y, vec3_unit(1), w, Jw, half_h);
    Vec3 z = gyroscopic_column(J.z, vec3_unit(2), w, Jw, half_h);
    Vec3 yz = vec3_cross(y, z), zx = vec3_cross(z, x), xy = vec3_cross(x, y);
    real det = vec3_dot(x, yz), least = K(0.25) * vec3_dot(J.x, vec3_cross(J.y, J.z));
    mask solvable = det > least;
    real scale = real_select(solvable, one / real_select(solvable, det, one), zero);
    Vec3 b = vec3_scale(-h * scale, vec3_cross(w, Jw));
    Vec3 d = vec3(vec3_dot(yz, b), vec3_dot(zx, b), vec3_dot(xy, b));
    /* M d' = b' - M' d */
    Vec3 Jd = mat3_mul(J, d), dJd = mat3_mul(by->J, d);
    Vec3 turn = vec3_sub(vec3_add(vec3_cross(by->w, Jd), vec3_cross(w, dJd)), vec3_cross(dJw, d));
    Vec3 c = vec3_fma(half_h, turn, dJd);
    c = vec3_fma(-h, vec3_add(vec3_cross(by->w, Jw), vec3_cross(w, dJw)), vec3_scale(real_of(-1), c));
    c = vec3_scale(scale, c);
    Vec3 d_rate = vec3(vec3_dot(yz, c), vec3_dot(zx, c), vec3_dot(xy, c));
    /* the scaling to the energy of w */
    Vec3 m = vec3_fma(real_of(K(0.5)), d, w), m_rate = vec3_fma(real_of(K(0.5)), d_rate, by->w);
    real energy = vec3_dot(w, Jw), r = K(2.0) * vec3_dot(m, Jd) / energy;
    mask near = r > K(-0.75);
    Vec3 Jd_rate = vec3_add(mat3_mul(J, d_rate), dJd);
    real top = vec3_dot(m_rate, Jd) + vec3_dot(m, Jd_rate), energy_rate = vec3_dot(by->w, Jw) + vec3_dot(w, dJw);
    real r_rate = (K(2.0) * top - r * energy_rate) / energy;
    r = real_select(near, r, zero);
    r_rate = real_select(near, r_rate, zero);
    real root = real_sqrt(one + r), s = -r / (one + r + root), s_rate = K(-0.5) * r_rate / ((one + r) * root);
    Vec3 w1 = vec3_add(w, d);
    GyroscopicChange out;
    out.d = vec3_fma(s, w1, d);
    out.rate = vec3_add(vec3_fma(s_rate, w1, d_rate), vec3_scale(s, vec3_add(by->w, d_rate)));
    return out;
}

STAGE_FN GyroscopicWrench gyroscopic_wrench(const Context *ctx, int l, Mat3 J, Vec3 w, const GyroscopicRates *by) {
    real h = STAGE_H, per_h = K(1.0) / h;
    GyroscopicChange change = gyroscopic_change_rate(J, w, h, by);
    Vec3 Jw = mat3_mul(J, w), dJw = vec3_add(mat3_mul(J, by->w), mat3_mul(by->J, w));
    Vec3 Jd_rate = vec3_add(mat3_mul(J, change.rate), mat3_mul(by->J, change.d));
    GyroscopicWrench out;
    out.moment = vec3_fma(-per_h, mat3_mul(J, change.d), vec3_cross(Jw, w));
    out.moment_rate = vec3_fma(-per_h, Jd_rate, vec3_add(vec3_cross(dJw, w), vec3_cross(Jw, by->w)));
    out.force = out.force_rate = vec3_zero();
    if (ctx->args->plan.link[l].type != SAP_JOINT_FREE)
        return out;
    /* m (w1 x (r1 - r)/h - w x (w x r)) at the centre of mass, about the origin */
    Vec3 w1 = vec3_add(w, change.d), w1_rate = vec3_add(by->w, change.rate);
    Vec3 r = quat_rotate(quat_load(FM(X) + 7 * l + 3), field_get_vec3(STAGE_CONSTANTS->com, 3 * l, ctx->pack));
    Turn t = turn_of(ctx, w1, h);
    Vec3 r1 = mat3_mul(t.q, r), r1_rate = vec3_add(vec3_cross(mat3_mul(t.u, w1_rate), r1), mat3_mul(t.q, by->r));
    Vec3 turned = vec3_scale(per_h, vec3_sub(r1, r)), turned_rate = vec3_scale(per_h, vec3_sub(r1_rate, by->r));
    Vec3 wr = vec3_cross(w, r), wr_rate = vec3_add(vec3_cross(by->w, r), vec3_cross(w, by->r));
    Vec3 f = vec3_sub(vec3_cross(w1, turned), vec3_cross(w, wr));
    Vec3 f_rate = vec3_add(vec3_cross(w1_rate, turned), vec3_cross(w1, turned_rate));
    f_rate = vec3_sub(f_rate, vec3_add(vec3_cross(by->w, wr), vec3_cross(w, wr_rate)));
    real m = field_get(STAGE_CONSTANTS->mass, l, ctx->pack);
    out.force = vec3_scale(m, f);
    out.force_rate = vec3_fma(by->m, f, vec3_scale(m, f_rate));
    out.moment = vec3_cross_add(r, out.force, out.moment);
    out.moment_rate = vec3_add(out.moment_rate, vec3_add(vec3_cross(r, out.force_rate), vec3_cross(by->r, out.force)));
    return out;
}

KERNEL_FN GyroscopicRates gyroscopic_rates_none(void) {
    GyroscopicRates none;
    none.w = none.r = none.J.x = none.J.y = none.J.z = vec3_zero();
    none.m = real_of(0);
    return none;
}

/* Adds the torque of link l to its wrench, and its rates to the Coriolis matrices. */
STAGE_FN void gradient_gyroscopic(const Context *ctx, const Gradient *g, int l) {
    if (!link_has_quaternion(&ctx->args->plan.link[l]))
        return;
    Mat3 J = gyroscopic_inertia(ctx, l);
    Vec3 w = vec3_load(FM(V) + 6 * l);
    real *K = GRAD(K) + 18 * l, *F = GRAD(F) + 6 * l;
    for (int k = 0; k < 3; k++) {
        GyroscopicRates by = gyroscopic_rates_none();
        by.w = vec3_unit(k);
        GyroscopicWrench at = gyroscopic_wrench(ctx, l, J, w, &by);
        vec3_store(K + 3 * k, vec3_add(vec3_load(K + 3 * k), at.moment_rate));
        vec3_store(K + 9 + 3 * k, vec3_add(vec3_load(K + 9 + 3 * k), at.force_rate));
        if (k == 0)
            spatial_store(F, spatial_add(spatial_load(F), spatial(at.moment, at.force)));
    }
}
