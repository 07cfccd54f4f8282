/* Rows of MuJoCo's law that are fixed by the model: equalities, and limits and friction of dofs, tendons and ball
 * joints. They are blocks (SapModelConstraint) with the laws of contact/row.h; this file has their geometry and
 * parameters. docs/mujoco.md.
 *
 *   connect      pos = p_Q - p_P                                  as a ball constraint
 *   weld         pos = (p_Q - p_P, s vec(q_P* q_Q))               J = (V_b(p_Q) - V_a(p_P), s/2 vec(q_P* (w_b - w_a) q_Q))
 *   joint, tendon equality                                        as a coupler
 *   dof, tendon  value x: lower side pos = x - lower, upper side pos = upper - x; friction
 *   ball limit   pos = limit - angle                              J = -axis
 *   ball axis    friction about an axis of the body
 *
 * Frame P is fixed to body a, MuJoCo's second, and Q to body b, its first. `bias` is (dJ/dt) v0 of connect and weld. */

/* The bias of row 0, behind the weights. */
#define BIAS_OFFSET(b) (BLOCK_OFFSET(w, b) + (b)->rows)

/* Element i of the parameters of the block. */
KERNEL_FN real mujoco_block_get(const Context *ctx, const SapModelConstraint *b, int i) {
    int k = (int)(b - ctx->args->plan.block);
    return mujoco_get(ctx, SAP_MUJOCO_BLOCKS, SAP_MUJOCO_BLOCK_SIZE * k + i);
}

/* ---- geometry ---- */

/* Velocity and bias acceleration of a link, 0 for the world; about O of its tree. */
KERNEL_FN Spatial mujoco_link_motion(StageView field, int link) {
    return link < 0 ? spatial_zero() : spatial(view_get_vec3(field, 6 * link), view_get_vec3(field, 6 * link + 3));
}

/* The acceleration of the point y of a link at zero joint accelerations, without gravity. */
KERNEL_FN Vec3 mujoco_point_bias(const Context *ctx, int link, Vec3 y) {
    if (link < 0)
        return vec3_zero();
    Spatial V = mujoco_link_motion(FM_VIEW(V), link), a = mujoco_link_motion(FM_VIEW(a), link);
    Vec3 arm = vec3_sub(y, view_get_vec3(FM_VIEW(X), 7 * ctx->args->plan.link[link].root));
    return vec3_cross_add(V.ang, spatial_at(V, arm), spatial_at(a, arm));
}

/* The bias of rows 0..2 of connect and weld. */
KERNEL_FN Vec3 mujoco_points_bias(const Context *ctx, const SapModelConstraint *b, const BlockFrames *f) {
    return vec3_sub(mujoco_point_bias(ctx, b->link[1], vec3_add(f->origin, f->X[1].p)),
                    mujoco_point_bias(ctx, b->link[0], vec3_add(f->origin, f->X[0].p)));
}

STAGE_FN void mujoco_geometry_connect(const Context *ctx, const SapModelConstraint *b) {
    BlockFrames f = block_frames(ctx, b);
    block_geometry_ball(ctx, b);
    view_put_vec3(BLOCK_VIEW, BIAS_OFFSET(b), mujoco_points_bias(ctx, b, &f));
}

/* vec(p* w q), w a pure quaternion */
KERNEL_FN Vec3 mujoco_turned(Quat p, Vec3 w, Quat q) {
    Quat r = quat_mul(quat_mul(quat_conjugate(p), quat(w.x, w.y, w.z, real_of(0))), q);
    return vec3(r.x, r.y, r.z);
}

/* (dJ/dt) v0 of the rotation: vec((p*)' w q + p* alpha q + p* w q'), with q' = w_q q/2, w = w_b - w_a; times s/2. */
KERNEL_FN Vec3 mujoco_turn_bias(const Context *ctx, const SapModelConstraint *b, const BlockFrames *f) {
    Spatial V0 = mujoco_link_motion(FM_VIEW(V), b->link[0]), V1 = mujoco_link_motion(FM_VIEW(V), b->link[1]);
    Spatial a0 = mujoco_link_motion(FM_VIEW(a), b->link[0]), a1 = mujoco_link_motion(FM_VIEW(a), b->link[1]);
    Vec3 w = vec3_sub(V1.ang, V0.ang), alpha = vec3_sub(a1.ang, a0.ang);
    Quat p = f->X[0].q, q = f->X[1].q, dw = quat(w.x, w.y, w.z, real_of(0));
    Quat rate = quat_mul(quat(V1.ang.x, V1.ang.y, V1.ang.z, real_of(0)), q);
    Quat before =
        quat_mul(quat_mul(quat_conjugate(p), quat(V0.ang.x, V0.ang.y, V0.ang.z, real_of(0))), quat_mul(dw, q));
    Quat after = quat_mul(quat_mul(quat_conjugate(p), dw), rate);
    Vec3 turning = vec3(after.x - before.x, after.y - before.y, after.z - before.z);
    return vec3_fma(real_of(K(0.5)), turning, mujoco_turned(p, alpha, q));
}

STAGE_FN void mujoco_geometry_weld(const Context *ctx, const SapModelConstraint *b) {
    StageView s = BLOCK_VIEW;
    BlockFrames f = block_frames(ctx, b);
    real scale = mujoco_block_get(ctx, b, SAP_MUJOCO_TORQUESCALE), half = K(0.5) * scale;
    Quat turn = quat_mul(quat_conjugate(f.X[0].q), f.X[1].q);
    view_put_vec3(s, BLOCK_OFFSET(g, b), vec3_sub(f.X[1].p, f.X[0].p));
    view_put_vec3(s, BLOCK_OFFSET(g, b) + 3, vec3_scale(scale, vec3(turn.x, turn.y, turn.z)));
    view_put_vec3(s, BIAS_OFFSET(b), mujoco_points_bias(ctx, b, &f));
    view_put_vec3(s, BIAS_OFFSET(b) + 3, vec3_scale(half, mujoco_turn_bias(ctx, b, &f)));
    for (int j = 0; j < b->num_columns; j++) {
        int i = block_dofs(ctx, b)[j], at = BLOCK_OFFSET(J, b) + 6 * j;
        int sign = link_has_dof(&ctx->args->plan, b->link[1], i) - link_has_dof(&ctx->args->plan, b->link[0], i);
        Vec3 w = vec3_scale(real_of((scalar)sign), dof_angular_velocity(ctx, i));
        view_put_vec3(s, at, block_relative_velocity(ctx, b, &f, i, f.X[0].p, f.X[1].p));
        view_put_vec3(s, at + 3, vec3_scale(half, mujoco_turned(f.X[0].q, w, f.X[1].q)));
    }
}

STAGE_FN void mujoco_geometry_dof(const Context *ctx, const SapModelConstraint *b) {
    int coord = ctx->args->plan.dof_coord[b->coordinate[0]];
    view_put(BLOCK_VIEW, BLOCK_OFFSET(g, b), coord < 0 ? real_of(0) : view_get(FM_VIEW(q), coord));
    view_put(BLOCK_VIEW, BLOCK_OFFSET(J, b), real_of(1));
}

/* angle = 2 atan2(|xyz|, w), less 2 pi above pi; a negative angle turns the axis round. With w >= 0 it equals
 * rotation_vector's. */
STAGE_FN void mujoco_geometry_ball_limit(const Context *ctx, const SapModelConstraint *b) {
    int at = ctx->args->plan.link[b->link[1]].q;
    StageView q = FM_VIEW(q);
    Vec3 turn = rotation_vector(quat(view_get(q, at), view_get(q, at + 1), view_get(q, at + 2), view_get(q, at + 3)));
    real angle = real_sqrt(vec3_dot(turn, turn));
    mask still = angle < K(1e-12);
    Vec3 axis = vec3_scale(K(1.0) / real_select(still, real_of(1), angle), turn);
    axis = vec3_select(still, vec3(real_of(1), real_of(0), real_of(0)), axis);
    /* the axis is the same before and after the turn: the coordinates refer to F, as the dofs do */
    const real e[3] = {axis.x, axis.y, axis.z};
    view_put(BLOCK_VIEW, BLOCK_OFFSET(g, b), -angle);
    for (int j = 0; j < 3; j++)
        view_put(BLOCK_VIEW, BLOCK_OFFSET(J, b) + j, -e[j]);
}

/* J_i = (R e_k).S_i: the angular velocity of the joint about axis k of the body. */
STAGE_FN void mujoco_geometry_ball_axis(const Context *ctx, const SapModelConstraint *b) {
    Mat3 R = quat_matrix(body_pose(ctx, b->link[1]).q);
    Vec3 axis = b->side == 0 ? R.x : b->side == 1 ? R.y : R.z;
    view_put(BLOCK_VIEW, BLOCK_OFFSET(g, b), real_of(0));
    for (int j = 0; j < b->num_columns; j++)
        view_put(BLOCK_VIEW, BLOCK_OFFSET(J, b) + j, vec3_dot(axis, dof_angular_velocity(ctx, block_dofs(ctx, b)[j])));
}

STAGE_FN void stage_constraint_geometry(const Context *ctx) {
    PROFILE(ctx, SAP_SECTION_GEOMETRY);
    TEAM_FOR(k, NUM_MODEL_CONSTRAINTS) {
        const SapModelConstraint *b = &ctx->args->plan.block[k];
        view_put(BLOCK_VIEW, BLOCK_OFFSET(check, b), real_of(0));
        for (int r = 0; r < b->rows; r++)
            view_put(BLOCK_VIEW, BIAS_OFFSET(b) + r, real_of(0));
        switch (b->kind) {
        case SAP_BLOCK_BALL: mujoco_geometry_connect(ctx, b); break;
        case SAP_BLOCK_WELD: mujoco_geometry_weld(ctx, b); break;
        case SAP_BLOCK_COUPLER: block_geometry_coupler(ctx, b); break;
        case SAP_BLOCK_DOF: mujoco_geometry_dof(ctx, b); break;
        case SAP_BLOCK_BALL_LIMIT: mujoco_geometry_ball_limit(ctx, b); break;
        case SAP_BLOCK_BALL_AXIS: mujoco_geometry_ball_axis(ctx, b); break;
        default: block_geometry_tendon(ctx, b); break;
        }
    }
}

/* w of each row: a constant of the model. */
STAGE_FN void stage_constraint_weight(const Context *ctx) {
    PROFILE(ctx, SAP_SECTION_WEIGHT);
    TEAM_FOR(k, NUM_MODEL_CONSTRAINTS) {
        const SapModelConstraint *b = &ctx->args->plan.block[k];
        for (int r = 0; r < b->rows; r++)
            view_put(BLOCK_VIEW, BLOCK_OFFSET(w, b) + r, mujoco_block_get(ctx, b, SAP_MUJOCO_WEIGHT + (r >= 3)));
    }
}

/* w of row r in this step. */
KERNEL_FN real mujoco_row_weight(const Context *ctx, const SapModelConstraint *b, int r) {
    real w = BLOCK(w, b)[r];
    if (MUJOCO->discrete)
        w = w * mujoco_spread(ctx, 0, block_dofs(ctx, b), b->num_columns, BLOCK_VIEW, b->rows, BLOCK_OFFSET(J, b) + r,
                              BLOCK_OFFSET(J, b) + r, real_of(0));
    return w;
}

/* ---- laws ---- */

/* The two laws of a limit: the side that acts is the first, so that one law does for all worlds of a pack; the upper
 * side is the other only where both act. */
enum { LIMIT_LAW = SAP_MUJOCO_LAW_LOWER, OTHER_LIMIT_LAW = SAP_MUJOCO_LAW_UPPER };

/* The sum of the laws of a row of block b at v + a d; none of them is a drive. A law that acts in no world of the pack
 * would add 0. The row keeps x = v - vhat of its first law in place of v (problem_take_errors): it rounds like
 * an error. */
KERNEL_FN RowValue block_row_ahead(const SapModelConstraint *b, const real *data, real x, real a, real d) {
    RowValue out = row_value_none();
    const RowLaw *law = (const RowLaw *)data;
    for (int i = 0; i < b->laws; i++) {
        if (mask_any(row_law_acts(law + i)))
            row_law_add_error(law + i, real_fma(-a, d, i == 0 ? -x : law[i].vhat - law[0].vhat - x), &out);
    }
    return out;
}
/* The same at v. */
KERNEL_FN RowValue block_row_at(const SapModelConstraint *b, const real *data, real x) {
    return block_row_ahead(b, data, x, real_of(0), real_of(0));
}

KERNEL_FN MujocoImpedance mujoco_block_impedance(const Context *ctx, const SapModelConstraint *b, int first) {
    real solref[2], solimp[5];
    for (int i = 0; i < 2; i++)
        solref[i] = mujoco_block_get(ctx, b, first + i);
    for (int i = 0; i < 5; i++)
        solimp[i] = mujoco_block_get(ctx, b, first + 2 + i);
    return mujoco_read_impedance(solref, solimp);
}

/* The rows of an equality share one impedance, at the norm of all its errors. */
STAGE_FN void mujoco_equality_make(const Context *ctx, const SapModelConstraint *b) {
    MujocoStep step = mujoco_step(ctx);
    MujocoImpedance impedance = mujoco_block_impedance(ctx, b, SAP_MUJOCO_IMPEDANCE);
    real squares = real_of(0), inf = real_infinity();
    for (int r = 0; r < b->rows; r++)
        squares = real_fma(BLOCK(g, b)[r], BLOCK(g, b)[r], squares);
    MujocoGains gains = mujoco_gains(&impedance, &step, real_sqrt(squares), false);
    mask active = constraint_active(ctx, b);
    for (int r = 0; r < b->rows; r++) {
        real u0 = block_J_mul(ctx, b, r, SOLVE(v0));
        real uref = mujoco_uref(&step, gains.B, gains.K_imp, u0, BLOCK(g, b)[r], BLOCK(w, b)[b->rows + r]);
        *BLOCK_LAW(b, r, 0) =
            row_law(uref, K(1.0) / mujoco_R(&step, &gains, mujoco_row_weight(ctx, b, r)), -inf, inf, active);
    }
}

/* A side of a limit in the worlds of `near`, at distance dist: the lower one, or in the worlds of `upper` the upper
 * one, whose row is -J. */
STAGE_FN RowLaw mujoco_limit(const Context *ctx, const SapModelConstraint *b, real dist, mask upper, real u0, real w,
                             mask near) {
    if (!mask_any(near)) /* the usual case */
        return row_law_none();
    MujocoStep step = mujoco_step(ctx);
    real margin = mujoco_block_get(ctx, b, SAP_MUJOCO_LIMIT_MARGIN), zero = real_of(0), inf = real_infinity();
    real s = real_select(upper, real_of(-1), real_of(1)), error = real_select(near, dist - margin, zero);
    MujocoImpedance impedance = mujoco_block_impedance(ctx, b, SAP_MUJOCO_IMPEDANCE);
    MujocoGains gains = mujoco_gains(&impedance, &step, error, true);
    real uref = s * mujoco_uref(&step, gains.B, gains.K_imp, s * u0, error, zero);
    return row_law(uref, K(1.0) / mujoco_R(&step, &gains, w), real_select(upper, -inf, zero),
                   real_select(upper, zero, inf), near);
}

/* Friction loss: a damper towards u = 0 whose impulse is at most h F. */
STAGE_FN RowLaw mujoco_frictionloss(const Context *ctx, const SapModelConstraint *b, real u0, real w) {
    MujocoStep step = mujoco_step(ctx);
    real zero = real_of(0), F = step.h * mujoco_block_get(ctx, b, SAP_MUJOCO_FRICTIONLOSS);
    if (!mask_any(F > zero))
        return row_law_none();
    MujocoImpedance impedance = mujoco_block_impedance(ctx, b, SAP_MUJOCO_FRICTIONLOSS_IMPEDANCE);
    MujocoGains gains = mujoco_gains(&impedance, &step, zero, false);
    gains.K_imp = zero;
    real uref = mujoco_uref(&step, gains.B, zero, u0, zero, zero);
    return row_law(uref, K(1.0) / mujoco_R(&step, &gains, w), -F, F, F > zero);
}

STAGE_FN void mujoco_coordinate_make(const Context *ctx, const SapModelConstraint *b) {
    real x = *BLOCK(g, b), margin = mujoco_block_get(ctx, b, SAP_MUJOCO_LIMIT_MARGIN);
    real lower = mujoco_block_get(ctx, b, SAP_MUJOCO_LOWER), upper = mujoco_block_get(ctx, b, SAP_MUJOCO_UPPER);
    mask loses = mujoco_block_get(ctx, b, SAP_MUJOCO_FRICTIONLOSS) > K(0.0);
    mask below = x - lower < margin, above = upper - x < margin, other = above & mask_not(below);
    if (!mask_any(below | above | loses)) { /* the usual case */
        for (int i = 0; i < SAP_MUJOCO_LAWS; i++)
            *BLOCK_LAW(b, 0, i) = row_law_none();
        return;
    }
    real u0 = block_J_mul(ctx, b, 0, SOLVE(v0)), w = mujoco_row_weight(ctx, b, 0);
    *BLOCK_LAW(b, 0, LIMIT_LAW) =
        mujoco_limit(ctx, b, real_select(other, upper - x, x - lower), other, u0, w, below | above);
    *BLOCK_LAW(b, 0, OTHER_LIMIT_LAW) = mujoco_limit(ctx, b, upper - x, mask_all(), u0, w, below & above);
    *BLOCK_LAW(b, 0, SAP_MUJOCO_LAW_FRICTIONLOSS) = mujoco_frictionloss(ctx, b, u0, w);
}

/* Makes the laws of a block. Its velocity is 0 until it is computed from v. */
STAGE_FN void block_make(const Context *ctx, const SapModelConstraint *b) {
    for (int r = 0; r < b->rows; r++)
        BLOCK(vc, b)[r] = real_of(0);
    if (b->laws == 1)
        mujoco_equality_make(ctx, b);
    else
        mujoco_coordinate_make(ctx, b);
    mask acts = mask_none();
    for (int i = 0; i < b->rows * b->laws; i++)
        acts = acts | row_law_acts((const RowLaw *)BLOCK(law, b) + i);
    *BLOCK(acts, b) = real_select(acts, real_of(1), real_of(0));
    *BLOCK(control_check, b) = real_of(0);
}
