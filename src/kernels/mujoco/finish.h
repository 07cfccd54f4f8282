/* What follows the solve of MuJoCo's law: the warm start of the next step, the impulse that velocity.h integrates, and
 * in a discrete step the gyroscopic force of free bodies that no row touches. RK4 keeps the acceleration of its last
 * stage. docs/mujoco.md. */

/* The quaternion of a free or ball joint; its first three dofs are an angular velocity before this turn. */
KERNEL_FN Quat mujoco_turn_of(const Context *ctx, const SapLink *link) {
    int at = link->q + (link->type == SAP_JOINT_FREE ? 3 : 0);
    StageView q = FM_VIEW(q);
    return quat(view_get(q, at), view_get(q, at + 1), view_get(q, at + 2), view_get(q, at + 3));
}

KERNEL_FN bool mujoco_turns(const SapLink *link) {
    return link->type == SAP_JOINT_FREE || link->type == SAP_JOINT_BALL;
}

/* The accelerations that a batch keeps; data NULL = none. */
KERNEL_FN SapBuffer mujoco_warm(const Context *ctx) {
    return buffer_f64(ctx->args->report.dof_cache, SAP_MUJOCO_WARM_SIZE * ctx->args->plan.nv);
}

/* Keeps (v - v0)/h, angular parts in the axes of the body: they keep their components while the body turns. */
STAGE_FN void mujoco_keep_acceleration(const Context *ctx, int l, mask which) {
    const SapLink *link = &ctx->args->plan.link[l];
    SapBuffer warm = mujoco_warm(ctx);
    real a[6];
    int n = link->nlin + link->nang;
    for (int i = 0; i < n; i++) {
        a[i] = (SOLVE(v)[link->v + i] - SOLVE(v0)[link->v + i]) / STAGE_H;
        which = which & real_finite(a[i]);
    }
    if (mujoco_turns(link))
        vec3_store(a, quat_rotate(quat_conjugate(mujoco_turn_of(ctx, link)), vec3_load(a)));
    for (int i = 0; i < n; i++)
        buffer_put(warm, SAP_MUJOCO_WARM_SIZE * (link->v + i), a[i], which, ctx->pack);
}

/* The first v of the dofs of link l: v0 + h times the last acceleration. */
STAGE_FN void mujoco_guess_link(const Context *ctx, int l) {
    const SapLink *link = &ctx->args->plan.link[l];
    SapBuffer warm = mujoco_warm(ctx);
    real a[6];
    int n = link->nlin + link->nang;
    for (int i = 0; i < n; i++)
        a[i] = buffer_get(warm, SAP_MUJOCO_WARM_SIZE * (link->v + i), ctx->pack);
    if (mujoco_turns(link))
        vec3_store(a, quat_rotate(mujoco_turn_of(ctx, link), vec3_load(a)));
    for (int i = 0; i < n; i++)
        SOLVE(guess)[link->v + i] = real_fma(STAGE_H, a[i], SOLVE(v0)[link->v + i]);
}

/* v of a free body in the worlds of `which` in which no row touches it. */
STAGE_FN void mujoco_turn_free_body(const Context *ctx, int l, mask which) {
    const SapLink *link = &ctx->args->plan.link[l];
    StageView I = FM_VIEW(I), out = FM_VIEW(v);
    MujocoFreeBody b;
    real more[6], numbers[10], change[6];
    for (int i = 0; i < 6; i++) {
        int dof = link->v + i;
        more[i] =
            real_fma(STAGE_H, formulation_damping(ctx, dof), field_get(STAGE_CONSTANTS->armature, dof, ctx->pack));
        change[i] = SOLVE(v)[dof] - SOLVE(v0)[dof];
        which = which & mask_not(terms_act_on(ctx, dof));
    }
    for (int i = 0; i < 10; i++)
        numbers[i] = view_get(I, 10 * l + i);
    b.I = inertia_load(numbers);
    b.w = vec3_load(SOLVE(v0) + link->v);
    b.more_a = vec3_load(more);
    b.more_l = vec3_load(more + 3);
    b.h = STAGE_H;
    Spatial d = free_body_change(&b, spatial_load(change)), v = spatial_add(spatial_load(SOLVE(v0) + link->v), d);
    spatial_store(numbers, v);
    for (int i = 0; i < 6; i++)
        view_put(out, link->v + i, real_select(which, numbers[i], view_get(out, link->v + i)));
}

/* The impulse of the step, h tau + J' gamma, in the memory of tau: of the forces at the last v of the solve, which need
 * not be the minimum. */
STAGE_FN void mujoco_keep_impulse(const Context *ctx, mask which) {
    StageView f = FM_VIEW(f);
    TEAM_FOR(i, ctx->args->plan.nv) {
        real tau = view_get(f, i);
        view_put(f, i, real_select(which, real_fma(STAGE_H, tau, SOLVE(impulse)[i]), tau));
    }
}

/* The end of the solve, as solve.h calls it. */
STAGE_FN void formulation_finish(const Context *ctx, mask which) {
    const SapPlan *plan = &ctx->args->plan;
    TEAM_SYNC(); /* free bodies read and write v of free motion, which other threads wrote */
    if (ctx->args->mujoco->damped || ctx->args->mujoco->implicitfast)
        mujoco_keep_impulse(ctx, which);
    TEAM_FOR(l, plan->nl) {
        if (ctx->args->report.dof_cache && (!plan->rk4 || ctx->rk_stage == 3))
            mujoco_keep_acceleration(ctx, l, which);
        if (ctx->args->mujoco->discrete && free_body_is(&plan->link[l]))
            mujoco_turn_free_body(ctx, l, which);
    }
}
