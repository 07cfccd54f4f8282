/* The start of a step as sensors need it: the state that the step was computed at, and the motion of bodies with the
 * acceleration of the solve. docs/sensors.md.
 *
 *   spatial   a = a_bias + sum_i S_i (v - v0)_i/h          over the dofs i on the path to the link
 *   a point   a_C = a.lin + alpha x c + omega x v_C         c: from O to the centre of mass
 *
 * The solve may have overwritten the kinematics, so they are computed again. With RK4 this is the first stage.
 *
 * A row has coordinates, velocities, the motion of bodies, then the activations of actuators. */

KERNEL_FN SapBuffer measure_row(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    return buffer_f64(ctx->args->report.step_start,
                      plan->nq + plan->nv + SAP_START_BODY_SIZE * plan->nb + formulation_num_activations(ctx));
}

/* The place of the motion of link l's body in the row. */
KERNEL_FN int measure_place(const Context *ctx, int l) {
    const SapPlan *plan = &ctx->args->plan;
    return plan->nq + plan->nv + SAP_START_BODY_SIZE * plan->link[l].body;
}

/* The acceleration of link l about O. */
STAGE_FN Spatial measure_acceleration(const Context *ctx, int l) {
    const SapPlan *plan = &ctx->args->plan;
    Spatial a = spatial_load(FM(a) + 6 * l);
    int last = plan->link[l].last_dof, depth = last < 0 ? -1 : plan->tree.row[last].depth;
    for (int t = 0; t <= depth; t++) {
        int i = plan->tree.ancestor[plan->tree.row[last].start + t];
        a = spatial_fma((FM(v)[i] - FM(v0)[i]) / STAGE_H, spatial_load(FM(S) + 6 * i), a);
    }
    return a;
}

/* Pose, velocity and acceleration of the body of link l. Where a velocity or acceleration is not finite they are 0; a
 * pose that is not finite is left out, as body_q leaves it out. */
STAGE_FN void measure_body(const Context *ctx, int l, mask mine) {
    SapBuffer out = measure_row(ctx);
    int at = measure_place(ctx, l);
    Pose X = pose_load(FM(X) + 7 * l);
    Spatial V = spatial_load(FM(V) + 6 * l), a = measure_acceleration(ctx, l);
    Vec3 c = link_com(ctx, l), v_C = spatial_at(V, c), a_C = vec3_cross_add(V.ang, v_C, spatial_at(a, c));
    real motion[12];
    vec3_store(motion, v_C);
    vec3_store(motion + 3, V.ang);
    vec3_store(motion + 6, a_C);
    vec3_store(motion + 9, a.ang);
    mask finite = mine, placed = mine & real_finite(X.p.x + X.p.y + X.p.z) & real_finite(quat_norm2(X.q));
    for (int i = 0; i < 12; i++)
        finite = finite & real_finite(motion[i]);
    buffer_put_vec3(out, at, X.p, placed, ctx->pack);
    buffer_put_quat(out, at + 3, X.q, placed, ctx->pack);
    for (int i = 0; i < 12; i++)
        buffer_put(out, at + 7 + i, real_select(finite, motion[i], real_of(0)), mine, ctx->pack);
}

/* Worlds that fail keep their state, so they have no velocity and no acceleration. */
STAGE_FN void measure_forget(const Context *ctx, mask failed) {
    SapBuffer out = measure_row(ctx);
    if (!mask_any(failed))
        return;
    TEAM_FOR(l, ctx->args->plan.nl) {
        int at = measure_place(ctx, l);
        for (int i = 7; i < SAP_START_BODY_SIZE; i++)
            buffer_put(out, at + i, real_of(0), failed, ctx->pack);
    }
}

STAGE_FN void stage_measure(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    SapBuffer out = measure_row(ctx);
    mask mine = pack_lanes(ctx->pack);
    TEAM_SYNC(); /* the solve is over for all threads: its memory may hold the kinematics */
    TEAM_FOR(i, plan->nq)
        buffer_put(out, i, FM(q)[i], mine, ctx->pack);
    TEAM_FOR(l, plan->nl)
        store_velocity(ctx, out, plan->nq, l, FM(q), FM(v0), mine);
    formulation_measure(ctx, out, mine);
    forward_kinematics(ctx, FM(q), FM(v0));
    TEAM_FOR(l, plan->nl)
        measure_body(ctx, l, mine);
    TEAM_SYNC(); /* the end of the step overwrites what was read */
}
