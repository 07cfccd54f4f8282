/* The laws of the model's constraints and tendons, made once per step. docs/constraints.md. */

/* The sum of the laws of a row of block b at velocity v, and at v + a d. A constraint has one law per row. */
KERNEL_FN RowValue block_row_at(const SapModelConstraint *b, const real *data, real v) {
    RowValue out = row_value_none();
    if (b->kind == SAP_BLOCK_TENDON)
        return row_laws_at(data, b->laws, v);
    row_law_add((const RowLaw *)data, v, &out);
    return out;
}
KERNEL_FN RowValue block_row_ahead(const SapModelConstraint *b, const real *data, real v, real a, real d) {
    return block_row_at(b, data, real_fma(a, d, v));
}

/* ---- constraints ---- */

/* The bounds of a one-sided constraint: g >= 0 pushes up, g <= 0 pulls down. */
KERNEL_FN void side_bounds(int side, real *lower, real *upper) {
    *upper = side == SAP_SIDE_UPPER ? real_of(0) : real_infinity();
    *lower = side == SAP_SIDE_LOWER ? real_of(0) : -real_infinity();
}

STAGE_FN void constraint_laws_make(const Context *ctx, const SapModelConstraint *b) {
    const SapConstants *c = STAGE_CONSTANTS;
    mask active = constraint_active(ctx, b);
    real speed = real_of((scalar)ctx->args->constraints.speed), lower, upper;
    side_bounds(b->side, &lower, &upper);
    for (int r = 0; r < b->rows; r++) {
        int which = b->kind == SAP_BLOCK_WELD && r < 3; /* rotation has the second stiffness */
        real ke = field_get(c->constraint_ke, 2 * b->index + which, ctx->pack);
        real kd = field_get(c->constraint_kd, 2 * b->index + which, ctx->pack);
        *BLOCK_LAW(b, r, 0) =
            row_law_error(BLOCK(g, b)[r], ke, kd, BLOCK(w, b)[r], STAGE_H, speed, lower, upper, active);
    }
    *BLOCK(check, b) = real_select(active, *BLOCK(check, b), real_of(0));
    *BLOCK(control_check, b) = real_of(0);
}

/* ---- tendons ---- */

/* A side takes part where it is within reach, gap <= 2 h max(|l'|, |l'*|); or, as in Drake, both do where one of them
 * is violated. */
KERNEL_FN void tendon_limits_make(const Context *ctx, const SapModelConstraint *b, real l, real w) {
    const SapConstants *c = STAGE_CONSTANTS;
    real h = STAGE_H, zero = real_of(0), inf = real_infinity();
    real lower = field_get(c->tendon_limit_lower, b->index, ctx->pack),
         upper = field_get(c->tendon_limit_upper, b->index, ctx->pack);
    real ke = field_get(c->tendon_limit_ke, b->index, ctx->pack),
         kd = field_get(c->tendon_limit_kd, b->index, ctx->pack);
    mask has_lower = real_finite(lower), has_upper = real_finite(upper);
    real g0 = real_select(has_lower, l - lower, zero), g1 = real_select(has_upper, l - upper, zero);
    real v0 = block_J_mul(ctx, b, 0, SOLVE(v0)), v_star = block_J_mul(ctx, b, 0, SOLVE(v_star));
    real window = K(2.0) * h * real_max(real_abs(v0), real_abs(v_star));
    mask near0 = g0 <= window, near1 = -g1 <= window;
    if (ctx->args->constraints.violated)
        near0 = near1 = (has_lower & (g0 < zero)) | (has_upper & (g1 > zero));
    *BLOCK_LAW(b, 0, SAP_TENDON_LOWER) = row_law_error(g0, ke, kd, w, h, inf, zero, inf, has_lower & near0);
    *BLOCK_LAW(b, 0, SAP_TENDON_UPPER) = row_law_error(g1, ke, kd, w, h, inf, -inf, zero, has_upper & near1);
}

/* One law for spring and damper if the rest band is a point, else the two sides of the band and the damper. */
KERNEL_FN void tendon_spring_make(const Context *ctx, const SapModelConstraint *b, real l, real w) {
    const SapConstants *c = STAGE_CONSTANTS;
    real h = STAGE_H, zero = real_of(0), inf = real_infinity();
    real k = field_get(c->tendon_spring_ke, b->index, ctx->pack), d = field_get(c->tendon_damping, b->index, ctx->pack);
    real lower = field_get(c->tendon_spring_lower, b->index, ctx->pack),
         upper = field_get(c->tendon_spring_upper, b->index, ctx->pack);
    mask point = lower == upper;
    /* gains that the step cannot resolve are scaled down, each law separately */
    real k1 = k, d1 = real_select(point, d, zero), k2 = zero, d2 = real_select(point, zero, d);
    drive_effective_gains(h, w, &k1, &d1);
    drive_effective_gains(h, w, &k2, &d2);
    /* a point: vhat = -k (l - l_r)/(h k + d), R = 1/(h (h k + d)); a band: d1 = 0, which leaves -(l - l_r)/h, 1/(h^2
     * k) */
    real g_d = real_fma(h, k1, d1), per = real_select(g_d > zero, g_d, real_of(1));
    *BLOCK_LAW(b, 0, SAP_TENDON_SPRING) =
        row_law(-k1 * (l - lower) / per, h * g_d, real_select(point, -inf, zero), inf, g_d > zero);
    *BLOCK_LAW(b, 0, SAP_TENDON_SPRING_UPPER) =
        row_law(-k1 * (l - upper) / per, h * g_d, -inf, zero, (g_d > zero) & mask_not(point));
    *BLOCK_LAW(b, 0, SAP_TENDON_DAMPER) = row_law_force(zero, d2, h, inf, mask_not(point));
}

/* f = clamp(kp (l_d - l) + kd (v_d - l') + u, -e, e) */
KERNEL_FN void tendon_drive_make(const Context *ctx, const SapModelConstraint *b, real l, real w) {
    const SapConstraintArgs *args = &ctx->args->constraints;
    const SapConstants *c = STAGE_CONSTANTS;
    *BLOCK_LAW(b, 0, SAP_TENDON_DRIVE) = row_law_none();
    if (!ctx->args->plan.tendon_driven[b->index])
        return;
    real kp = field_get(c->tendon_target_ke, b->index, ctx->pack),
         kd = field_get(c->tendon_target_kd, b->index, ctx->pack);
    real l_d = buffer_get(args->target_pos, b->index, ctx->pack),
         v_d = buffer_get(args->target_vel, b->index, ctx->pack);
    real u = args->act.data ? buffer_get(args->act, b->index, ctx->pack) : real_of(0);
    mask acts = (kp > K(0.0)) | (kd > K(0.0));
    *BLOCK(control_check, b) = real_select(acts, check_of(l_d) + check_of(v_d) + check_of(u), real_of(0));
    real e = field_get(c->tendon_effort_limit, b->index, ctx->pack);
    *BLOCK_LAW(b, 0, SAP_TENDON_DRIVE) = row_law_drive(kp, kd, l_d - l, v_d, u, e, w, STAGE_H, acts);
}

STAGE_FN void tendon_laws_make(const Context *ctx, const SapModelConstraint *b) {
    const SapConstants *c = STAGE_CONSTANTS;
    real l = *BLOCK(g, b), w = *BLOCK(w, b), inf = real_infinity(), zero = real_of(0);
    *BLOCK(control_check, b) = zero;
    tendon_limits_make(ctx, b, l, w);
    tendon_spring_make(ctx, b, l, w);
    tendon_drive_make(ctx, b, l, w);
    real F = field_get(c->tendon_friction, b->index, ctx->pack), sigma = real_of((scalar)ctx->args->contacts.sigma);
    *BLOCK_LAW(b, 0, SAP_TENDON_FRICTION) = row_law_friction(F, sigma, w, STAGE_H);
    real I = field_get(c->tendon_armature, b->index, ctx->pack);
    *BLOCK_LAW(b, 0, SAP_TENDON_ARMATURE) = row_law(block_J_mul(ctx, b, 0, SOLVE(v0)), I, -inf, inf, I > zero);
}

/* ---- any block ---- */

/* Makes the laws of a block. Its velocity is 0 until it is computed from v. */
STAGE_FN void block_make(const Context *ctx, const SapModelConstraint *b) {
    for (int r = 0; r < b->rows; r++)
        BLOCK(vc, b)[r] = real_of(0);
    if (b->kind == SAP_BLOCK_TENDON)
        tendon_laws_make(ctx, b);
    else
        constraint_laws_make(ctx, b);
    mask acts = mask_none();
    for (int i = 0; i < b->rows * b->laws; i++)
        acts = acts | row_law_acts((const RowLaw *)BLOCK(law, b) + i);
    *BLOCK(acts, b) = real_select(acts, real_of(1), real_of(0));
}
