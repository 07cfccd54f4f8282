/* The implicit gyroscopic torque of free and ball bodies (option gyroscopic = implicit). docs/free_motion.md derives
 * it.
 *
 * J is the body's inertia at the start of the step in world axes, about its centre of mass (free) or its joint (ball).
 * The midpoint rule of Euler's equation for the change d of the angular velocity w, m = w + d/2,
 *
 *   J d + h m x (J m) = 0
 *
 * gets one Newton step from d = 0:
 *
 *   M d = -h w x (J w)        M = J + h/2 ([w] J - [J w])
 *
 * w + d is scaled to the energy of w. The moment -J d/h replaces w x (J w) in the wrench F.
 *
 * In the second evaluation of velocity_forces = mean, V has the mean velocity u. Half of what other forces change comes
 * before d and half after: d starts from u - d/2, with the d of the first evaluation. That is w for a free body alone.
 *
 * The velocity of a free body refers to its origin. Its centre of mass, at r from there, keeps its velocity over the
 * rotation from r to r1 if the force m (w + d) x (r1 - r)/h replaces the centripetal force m w x (w x r). */

/* From the point that J refers to, to the centre of mass of link l. */
KERNEL_FN Vec3 gyroscopic_arm(const Context *ctx, int l) {
    const SapLink *link = &ctx->args->plan.link[l];
    if (link->type == SAP_JOINT_FREE)
        return vec3_zero();
    /* com - X_c.p in body axes; X_c.p = -R_c (X_c^-1).p */
    const SapConstants *k = STAGE_CONSTANTS;
    Vec3 arm = field_get_vec3(k->com, 3 * l, ctx->pack);
    if (!link->plain_X_c) {
        Quat r = quat_conjugate(field_get_quat(k->X_c_inv, 7 * l + 3, ctx->pack));
        arm = vec3_add(arm, quat_rotate(r, field_get_vec3(k->X_c_inv, 7 * l, ctx->pack)));
    }
    return quat_rotate(quat_load(FM(X) + 7 * l + 3), arm);
}

/* J of link l. */
KERNEL_FN Mat3 gyroscopic_inertia(const Context *ctx, int l) {
    const SapConstants *k = STAGE_CONSTANTS;
    real J[6];
    for (int i = 0; i < 6; i++)
        J[i] = field_get(k->inertia, 6 * l + i, ctx->pack);
    Mat3 R = quat_matrix(quat_load(FM(X) + 7 * l + 3));
    Inertia I = inertia_of_body(field_get(k->mass, l, ctx->pack), gyroscopic_arm(ctx, l), R, J);
    Mat3 out;
    out.x = vec3(I.xx, I.xy, I.xz);
    out.y = vec3(I.xy, I.yy, I.yz);
    out.z = vec3(I.xz, I.yz, I.zz);
    return out;
}

/* Column e of M: J e + h/2 (w x (J e) - (J w) x e), from the column J e. */
KERNEL_FN Vec3 gyroscopic_column(Vec3 Je, Vec3 e, Vec3 w, Vec3 Jw, real half_h) {
    return vec3_fma(half_h, vec3_sub(vec3_cross(w, Je), vec3_cross(Jw, e)), Je);
}

/* The change of w in a step. J may be scaled by any factor. */
KERNEL_FN Vec3 gyroscopic_change(Mat3 J, Vec3 w, real h) {
    real zero = real_of(0), one = real_of(1), half_h = K(0.5) * h;
    Vec3 Jw = mat3_mul(J, w);
    Vec3 x = gyroscopic_column(J.x, vec3(one, zero, zero), w, Jw, half_h);
    Vec3 y = gyroscopic_column(J.y, vec3(zero, one, zero), w, Jw, half_h);
    Vec3 z = gyroscopic_column(J.z, vec3(zero, zero, one), w, Jw, half_h);

    /* Cramer's rule. Only a spin near the middle axis of inertia, by about a radian per step or more, gives a
     * determinant below J's. Where it is nearly singular there is no torque: w keeps its energy. */
    Vec3 yz = vec3_cross(y, z);
    real det = vec3_dot(x, yz), least = K(0.25) * vec3_dot(J.x, vec3_cross(J.y, J.z));
    mask solvable = det > least;
    real scale = real_select(solvable, -h / real_select(solvable, det, one), zero);
    Vec3 b = vec3_scale(scale, vec3_cross(w, Jw));
    Vec3 d = vec3(vec3_dot(yz, b), vec3_dot(vec3_cross(z, x), b), vec3_dot(vec3_cross(x, y), b));

    /* r = (w1'J w1 - w'J w) / w'J w from its own terms, which keeps the digits that a difference of energies loses. w1
     * is scaled by 1/sqrt(1 + r), as the sum d + (1/sqrt(1 + r) - 1) w1. Where the step loses most of the energy, w1 is
     * mostly error and stays; NaN for w = 0 does too. */
    Vec3 m = vec3_fma(real_of(K(0.5)), d, w);
    real r = K(2.0) * vec3_dot(m, mat3_mul(J, d)) / vec3_dot(w, Jw);
    mask near = r > K(-0.75);
    r = real_select(near, r, zero);
    real s = -r / (one + r + real_sqrt(one + r));
    return vec3_fma(s, vec3_add(w, d), d);
}

/* The change of the centripetal force on a free body of mass m: m (w1 x (r1 - r)/h - w x (w x r)). */
KERNEL_FN Vec3 centripetal_change(const Context *ctx, int l, Vec3 w, Vec3 w1, Vec3 r, real h) {
    Vec3 com = field_get_vec3(STAGE_CONSTANTS->com, 3 * l, ctx->pack);
    Quat q1 = joint_advance_rotation(ctx, quat_load(FM(X) + 7 * l + 3), w1, h);
    Vec3 turned = vec3_scale(K(1.0) / h, vec3_sub(quat_rotate(q1, com), r));
    Vec3 change = vec3_sub(vec3_cross(w1, turned), vec3_cross(w, vec3_cross(w, r)));
    return vec3_scale(field_get(STAGE_CONSTANTS->mass, l, ctx->pack), change);
}

/* The angular velocity of link l at the start of the step: the sum of S v0 over its path. */
KERNEL_FN Vec3 start_rate(const Context *ctx, int l) {
    const SapPlan *plan = &ctx->args->plan;
    const SapLink *link = &plan->link[l];
    const SapPatternRow *row = &plan->tree.row[link->v + link->nlin + link->nang - 1];
    Vec3 w = vec3_zero();
    for (int t = 0; t <= row->depth; t++) {
        int i = plan->tree.ancestor[row->start + t];
        w = vec3_fma(FM(v0)[i], vec3_load(FM(S) + 6 * i), w);
    }
    return w;
}

/* Replaces the explicit gyroscopic torque of link l in its wrench F. */
STAGE_FN void link_implicit_gyroscopic(const Context *ctx, int l, real h, int second) {
    int type = ctx->args->plan.link[l].type;
    if (type != SAP_JOINT_FREE && type != SAP_JOINT_BALL)
        return;
    Mat3 J = gyroscopic_inertia(ctx, l);
    Vec3 w = vec3_load(FM(V) + 6 * l), from = second ? start_rate(ctx, l) : w;

    /* d, with J scaled to trace 1, so that products of three moments stay in the range of f32 */
    real s = K(1.0) / (J.x.x + J.y.y + J.z.z);
    Mat3 unit;
    unit.x = vec3_scale(s, J.x);
    unit.y = vec3_scale(s, J.y);
    unit.z = vec3_scale(s, J.z);
    Vec3 d = gyroscopic_change(unit, from, h);
    if (second) {
        from = vec3_fma(real_of(K(-0.5)), d, w);
        d = gyroscopic_change(unit, from, h);
    }

    /* F += [ -J d/h - w x (J w) ; 0 ], and the force at the centre of mass of a free body, whose origin is O */
    Vec3 moment = vec3_fma(K(-1.0) / h, mat3_mul(J, d), vec3_cross(mat3_mul(J, w), w));
    Spatial F = spatial_add(spatial_load(FM(F) + 6 * l), spatial(moment, vec3_zero()));
    if (type == SAP_JOINT_FREE) {
        Vec3 r = quat_rotate(quat_load(FM(X) + 7 * l + 3), field_get_vec3(STAGE_CONSTANTS->com, 3 * l, ctx->pack));
        Vec3 force = centripetal_change(ctx, l, w, vec3_add(from, d), r, h);
        F = spatial_add(F, spatial(vec3_cross(r, force), force));
    }
    spatial_store(FM(F) + 6 * l, F);
}
