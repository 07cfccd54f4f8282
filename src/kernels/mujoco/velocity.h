/* The velocity at the end of a step of MuJoCo's law, from the impulse of the step: damping, and for implicitfast the
 * gyroscopic force of free bodies, implicit.
 *
 *   (M + h D) (v1 - v0) = h tau + J' gamma
 *
 * The right side is M (v - v0) only where the solve has converged. Other integrators keep v; RK4 keeps the acceleration
 * of each stage. docs/mujoco.md. */

/* The change of a free body's velocity with its gyroscopic force, in place of the one without. */
STAGE_FN void velocity_free_body(const Context *ctx, int l, const real *change, real *v) {
    const SapLink *link = &ctx->args->plan.link[l];
    MujocoFreeBody b;
    real more[6];
    for (int i = 0; i < 6; i++)
        more[i] = real_fma(STAGE_H, mujoco_dof_get(ctx, link->v + i, SAP_MUJOCO_DAMPING),
                           field_get(STAGE_CONSTANTS->armature, link->v + i, ctx->pack));
    b.I = inertia_load(FM(I) + 10 * l);
    b.w = vec3_load(FM(v0) + link->v);
    b.more_a = vec3_load(more);
    b.more_l = vec3_load(more + 3);
    b.h = STAGE_H;
    Spatial d = free_body_change(&b, spatial_load(change + link->v)), v0 = spatial_load(FM(v0) + link->v);
    spatial_store(v + link->v, spatial_add(v0, d));
}

/* The state of link l at the end of the step. */
KERNEL_FN void formulation_advance(const Context *ctx, int l) {
    if (ctx->args->plan.rk4)
        rk_advance(ctx, l);
    else
        joint_advance(ctx, &ctx->args->plan.link[l], FM(q), FM(v0), FM(v), STAGE_H, FM(q1));
}

/* v1, and v1 - v0; uses the memory of wrenches, which are not needed any more (6 nl >= nv). */
STAGE_FN const real *velocity_damp(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    real *change = FM(F);
    TEAM_FOR(i, plan->nv) {
        real *A_ii = FM(A) + plan->tree.row[i].start + plan->tree.row[i].depth;
        *A_ii = real_fma(STAGE_H, mujoco_damping_after(ctx, i), *A_ii);
        if (ctx->args->mujoco->couples)
            actuators_couple(ctx, i);
    }
    TEAM_SYNC(); /* the factor reads all rows, the solve all impulses */
    factor_solve(&plan->tree, FM(A), FM(L), FM(inverse), FM(f), change);
    free_motion_keep_checks(ctx);
    TEAM_FOR(i, plan->nv)
        FM(v)[i] = FM(v0)[i] + change[i];
    return change;
}

STAGE_FN void stage_velocity(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    bool damped = ctx->args->mujoco->damped, gyroscopic = ctx->args->mujoco->implicitfast;
    if (ctx->args->plan.rk4) {
        TEAM_FOR(l, plan->nl)
            rk_store(ctx, l);
        put_status(ctx, get_status(ctx));
        TEAM_SYNC(); /* the next stage writes the state that was read, and reads the status */
    }
    if (!damped && !gyroscopic)
        return;
    PROFILE(ctx, SAP_SECTION_INTEGRATE);
    const real *change = velocity_damp(ctx);
    TEAM_SYNC(); /* integration, and free bodies, read all of v and of the changes */
    if (!gyroscopic)
        return;
    TEAM_FOR(l, plan->nl)
        if (free_body_is(&plan->link[l]))
            velocity_free_body(ctx, l, change, FM(v));
    TEAM_SYNC(); /* integration reads all of v */
}
