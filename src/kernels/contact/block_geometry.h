/* Errors and Jacobians of the model's constraints and tendons. docs/constraints.md.
 *
 *   ball       g = p_Q - p_P                     J v = V_b(p_Q) - V_a(p_P)
 *   weld       g = (theta k, p_Q - p_P)          J v = (omega_b - omega_a, V_b(m) - V_a(m)), m = (p_P + p_Q)/2
 *   distance   g = |p_Q - p_P| - L               J v = n.(V_b(p_Q) - V_a(p_P)), n = (p_Q - p_P)/|p_Q - p_P|
 *   coupler    g = x0 - ref0 - p(x1 - ref1)      J v = x0' - p'(x1 - ref1) x1'
 *   tendon     g = l                             J v = l'
 *
 * Frame P is fixed to body a, Q to body b. Points are relative to O if both bodies hang on one tree, so that a robot
 * far from the origin keeps its digits; else they are in world coordinates. */

/* The frames of a block, relative to `origin`. */
typedef struct BlockFrames {
    Vec3 origin;
    Pose X[2]; /* P and Q */
} BlockFrames;

KERNEL_FN BlockFrames block_frames(const Context *ctx, const SapModelConstraint *b) {
    const SapLink *link = ctx->args->plan.link;
    SapField field = STAGE_CONSTANTS->constraint_X;
    BlockFrames f;
    bool one_tree = b->link[0] >= 0 && b->link[1] >= 0 && link[b->link[0]].root == link[b->link[1]].root;
    f.origin = one_tree ? view_get_vec3(FM_VIEW(X), 7 * link[b->link[0]].root) : vec3_zero();
    for (int side = 0; side < 2; side++) {
        int at = 14 * b->index + 7 * side;
        Pose F;
        F.p = field_get_vec3(field, at, ctx->pack);
        F.q = field_get_quat(field, at + 3, ctx->pack);
        if (b->link[side] >= 0) {
            Pose X = body_pose(ctx, b->link[side]);
            X.p = vec3_sub(X.p, f.origin);
            F = pose_mul(X, F);
        } else {
            F.p = vec3_sub(F.p, f.origin);
        }
        f.X[side] = F;
    }
    return f;
}

/* The rotation vector of a unit quaternion, of length 0 .. pi. */
KERNEL_FN Vec3 rotation_vector(Quat q) {
    Vec3 u = vec3(q.x, q.y, q.z);
    mask opposite = q.w < K(0.0);
    u = vec3_select(opposite, vec3_scale(real_of(-1), u), u);
    real s = real_sqrt(vec3_dot(u, u)), half = real_atan2_positive(s, real_abs(q.w));
    mask small = s < K(1e-8);
    return vec3_scale(K(2.0) * real_select(small, real_of(1), half / real_select(small, real_of(1), s)), u);
}

/* V_b(y1) - V_a(y0) per unit velocity of dof i; y relative to f->origin. */
KERNEL_FN Vec3 block_relative_velocity(const Context *ctx, const SapModelConstraint *b, const BlockFrames *f, int i,
                                       Vec3 y0, Vec3 y1) {
    Vec3 O = vec3_sub(dof_origin(ctx, i), f->origin), u = vec3_zero();
    if (link_has_dof(&ctx->args->plan, b->link[0], i))
        u = vec3_sub(u, dof_velocity(ctx, i, vec3_sub(y0, O)));
    if (link_has_dof(&ctx->args->plan, b->link[1], i))
        u = vec3_add(u, dof_velocity(ctx, i, vec3_sub(y1, O)));
    return u;
}

KERNEL_FN const int *block_dofs(const Context *ctx, const SapModelConstraint *b) {
    return ctx->args->plan.block_dof + b->columns;
}

STAGE_FN void block_geometry_ball(const Context *ctx, const SapModelConstraint *b) {
    StageView s = BLOCK_VIEW;
    BlockFrames f = block_frames(ctx, b);
    view_put_vec3(s, BLOCK_OFFSET(g, b), vec3_sub(f.X[1].p, f.X[0].p));
    for (int j = 0; j < b->num_columns; j++)
        view_put_vec3(s, BLOCK_OFFSET(J, b) + 3 * j,
                      block_relative_velocity(ctx, b, &f, block_dofs(ctx, b)[j], f.X[0].p, f.X[1].p));
}

/* Both bodies are pushed at one point m, so angular momentum is kept. */
STAGE_FN void block_geometry_weld(const Context *ctx, const SapModelConstraint *b) {
    StageView s = BLOCK_VIEW;
    BlockFrames f = block_frames(ctx, b);
    Vec3 turn = rotation_vector(quat_mul(quat_conjugate(f.X[0].q), f.X[1].q));
    view_put_vec3(s, BLOCK_OFFSET(g, b), quat_rotate(f.X[0].q, turn));
    view_put_vec3(s, BLOCK_OFFSET(g, b) + 3, vec3_sub(f.X[1].p, f.X[0].p));
    Vec3 m = vec3_scale(real_of(K(0.5)), vec3_add(f.X[0].p, f.X[1].p));
    for (int j = 0; j < b->num_columns; j++) {
        int i = block_dofs(ctx, b)[j];
        real sign = real_of(link_has_dof(&ctx->args->plan, b->link[1], i) ? 1 : -1);
        view_put_vec3(s, BLOCK_OFFSET(J, b) + 6 * j, vec3_scale(sign, dof_angular_velocity(ctx, i)));
        view_put_vec3(s, BLOCK_OFFSET(J, b) + 6 * j + 3, block_relative_velocity(ctx, b, &f, i, m, m));
    }
}

/* Fails the worlds in which the points are so close that n is lost. */
STAGE_FN void block_geometry_distance(const Context *ctx, const SapModelConstraint *b) {
    StageView s = BLOCK_VIEW;
    BlockFrames f = block_frames(ctx, b);
    Vec3 along = vec3_sub(f.X[1].p, f.X[0].p);
    real L = field_get(STAGE_CONSTANTS->constraint_length, b->index, ctx->pack);
    real d = real_sqrt(vec3_dot(along, along));
    mask lost = d < real_fma(real_of(K(0.01)), L, real_of(K(1e-7)));
    Vec3 n = vec3_scale(K(1.0) / real_select(lost, real_of(1), d), along);
    view_put(s, BLOCK_OFFSET(g, b), d - L);
    view_put(s, BLOCK_OFFSET(check, b), real_select(lost, real_nan(), real_of(0)));
    for (int j = 0; j < b->num_columns; j++)
        view_put(s, BLOCK_OFFSET(J, b) + j,
                 vec3_dot(n, block_relative_velocity(ctx, b, &f, block_dofs(ctx, b)[j], f.X[0].p, f.X[1].p)));
}

/* p(x) = c0 + c1 x + .. + c4 x^4, and p'(x). */
KERNEL_FN real coupler_polynomial(const Context *ctx, const SapModelConstraint *b, real x, real *derivative) {
    SapField c = STAGE_CONSTANTS->constraint_polynomial;
    real p = field_get(c, 5 * b->index + 4, ctx->pack), dp = real_of(0);
    for (int k = 3; k >= 0; k--) {
        dp = real_fma(dp, x, p);
        p = real_fma(p, x, field_get(c, 5 * b->index + k, ctx->pack));
    }
    *derivative = dp;
    return p;
}

STAGE_FN void block_geometry_coupler(const Context *ctx, const SapModelConstraint *b) {
    StageView s = BLOCK_VIEW;
    SapField reference = STAGE_CONSTANTS->constraint_reference;
    int x0 = b->coordinate[0], x1 = b->coordinate[1];
    real g = coordinate_value(ctx, x0) - field_get(reference, 2 * b->index, ctx->pack), slope = real_of(0);
    real x = x1 < 0 ? real_of(0) : coordinate_value(ctx, x1) - field_get(reference, 2 * b->index + 1, ctx->pack);
    view_put(s, BLOCK_OFFSET(g, b), g - coupler_polynomial(ctx, b, x, &slope));
    for (int j = 0; j < b->num_columns; j++) {
        int i = block_dofs(ctx, b)[j];
        real column = coordinate_column(ctx, x0, i);
        if (x1 >= 0)
            column = real_fma(-slope, coordinate_column(ctx, x1, i), column);
        view_put(s, BLOCK_OFFSET(J, b) + j, column);
    }
}

STAGE_FN void block_geometry_tendon(const Context *ctx, const SapModelConstraint *b) {
    int x = ctx->args->plan.nv + b->index;
    view_put(BLOCK_VIEW, BLOCK_OFFSET(g, b), coordinate_value(ctx, x));
    for (int j = 0; j < b->num_columns; j++)
        view_put(BLOCK_VIEW, BLOCK_OFFSET(J, b) + j, coordinate_column(ctx, x, block_dofs(ctx, b)[j]));
}
