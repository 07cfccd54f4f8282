/* The derivatives of the impulses of drives, limits and friction of dofs (sap/dof.h). With R from A_ii, where the step
 * cannot resolve a gain or for friction, an impulse is proportional to A_ii. docs/gradients.md. */

/* Whether a spring kp and a damper kd are softened to what the step can resolve (drive_effective_gains). */
KERNEL_FN mask gains_are_softened(real h, real w, real kp, real kd) {
    real R_nr = ROW_NEAR_RIGID * real_max(w, real_of(K(1e-12)));
    return mask_not(K(1.0) >= R_nr * (h * real_fma(h, kp, kd)));
}

/* One law at velocity v: its impulse, curvature, and whether no bound holds it. */
typedef struct LawState {
    real gamma, G;
    mask free;
} LawState;

KERNEL_FN LawState law_state(const RowLaw *t, real v) {
    RowImpulse at = row_law_impulse(t, t->vhat - v);
    LawState out;
    out.free = at.free & row_law_acts(t);
    out.gamma = at.gamma;
    out.G = real_select(out.free, t->inv_R, real_of(0));
    return out;
}

/* A drive with the effective gains kp and kd. */
typedef struct DriveState {
    LawState at;
    real kp, kd, given_kp, given_kd, error, v_d, u, bound;
    mask softened;
} DriveState;

KERNEL_FN JointLaw gradient_dof_law(const Context *ctx, const Gradient *g, int i) {
    const SapPlan *plan = &ctx->args->plan;
    const real *at = GRAD(dof_law) + plan->dof_law[i];
    JointLaw law = joint_law_none();
    if (plan->dof_driven[i] || plan->dof_limited[i])
        return *(const JointLaw *)at;
    law.friction_inv_R = at[0];
    law.friction_bound = at[1];
    return law;
}

STAGE_FN DriveState dof_drive_state(const Context *ctx, const Gradient *g, int i) {
    const SapStepArgs *args = ctx->args;
    const SapConstants *c = STAGE_CONSTANTS;
    int coord = args->plan.dof_coord[i], place = args->plan.dof_public[i];
    JointLaw law = gradient_dof_law(ctx, g, i);
    RowLaw row = joint_row(&law, JOINT_ROW_DRIVE);
    real w = K(1.0) / FM(A)[args->plan.tree.row[i].start + args->plan.tree.row[i].depth], h = STAGE_H;
    DriveState d;
    d.at = law_state(&row, GRAD(v)[i]);
    d.given_kp = d.kp = field_get(c->target_ke, i, ctx->pack);
    d.given_kd = d.kd = field_get(c->target_kd, i, ctx->pack);
    drive_effective_gains(h, w, &d.kp, &d.kd);
    d.softened = gains_are_softened(h, w, d.given_kp, d.given_kd);
    d.error = coord >= 0 ? buffer_get(args->target_pos, place, ctx->pack) - FM(q)[coord] : real_of(0);
    d.v_d = buffer_get(args->target_vel, place, ctx->pack);
    d.u = buffer_get(args->act, place, ctx->pack);
    d.bound = row.upper;
    return d;
}

/* A limit: its law, tau = kd/ke, and whether R is the near-rigid bound. */
typedef struct LimitState {
    LawState at;
    real ke, kd, tau, inv_R;
    mask near_rigid;
} LimitState;

STAGE_FN LimitState dof_limit_state(const Context *ctx, const Gradient *g, int i, int which) {
    const SapConstants *c = STAGE_CONSTANTS;
    JointLaw law = gradient_dof_law(ctx, g, i);
    RowLaw row = joint_row(&law, which);
    real w = K(1.0) / FM(A)[ctx->args->plan.tree.row[i].start + ctx->args->plan.tree.row[i].depth];
    LimitState d;
    d.at = law_state(&row, GRAD(v)[i]);
    d.ke = field_get(c->limit_ke, i, ctx->pack);
    d.kd = field_get(c->limit_kd, i, ctx->pack);
    real ke = real_select(d.ke > K(0.0), d.ke, real_of(1));
    d.tau = real_select(d.kd > K(0.0), d.kd / ke, real_of(0));
    d.inv_R = row.inv_R;
    d.near_rigid = row_compliance(ke, d.tau, STAGE_H) <= ROW_NEAR_RIGID * w;
    return d;
}

KERNEL_FN LawState dof_friction_state(const Context *ctx, const Gradient *g, int i) {
    (void)ctx;
    JointLaw law = gradient_dof_law(ctx, g, i);
    RowLaw row = joint_row(&law, JOINT_ROW_FRICTION);
    return law_state(&row, GRAD(v)[i]);
}

/* Adds the rows of dof i: curvature to H, the rates with respect to q_i and to A_ii. */
STAGE_FN void gradient_dof(const Context *ctx, const Gradient *g, int i) {
    const SapPlan *plan = &ctx->args->plan;
    int nv = plan->nv;
    real zero = real_of(0), h = STAGE_H, G = zero, by_q = zero, by_A = zero;
    real A = FM(A)[plan->tree.row[i].start + plan->tree.row[i].depth];
    if (plan->dof_driven[i]) {
        DriveState d = dof_drive_state(ctx, g, i);
        G = d.at.G;
        by_q = plan->dof_coord[i] >= 0 ? real_select(d.at.free, -h * d.kp, zero) : zero;
        by_A = real_select(d.at.free & d.softened, (d.at.gamma - h * d.u) / A, zero);
    }
    for (int side = 0; plan->dof_limited[i] && side < 2; side++) {
        LimitState d = dof_limit_state(ctx, g, i, side ? JOINT_ROW_UPPER : JOINT_ROW_LOWER);
        G = G + d.at.G;
        by_q = by_q - d.at.G / (h + d.tau);
        by_A = by_A + real_select(d.at.free & d.near_rigid, d.at.gamma / A, zero);
    }
    LawState friction = dof_friction_state(ctx, g, i);
    G = G + friction.G;
    by_A = by_A + real_select(friction.free, friction.gamma / A, zero);

    GRAD(H)[i * nv + i] = GRAD(H)[i * nv + i] + G;
    G_Q(i, i) = G_Q(i, i) - by_q;
    GRAD(dof_dA)[i] = by_A;
    if (!mask_any(by_A != zero))
        return;
    real *rate = GRAD(dA);
    for (int j = 0; j < nv; j++)
        rate[j] = zero;
    diagonal_rates_add(ctx, g, i, by_A, rate);
    for (int j = 0; j < nv; j++)
        G_Q(i, j) = G_Q(i, j) - rate[j];
}
