/* Stores results from scratch: the new state in public order, the old state of failed worlds, and poses and velocities
 * of bodies. */

/* SAP_WORLD_CONTACTS_TRUNCATED where contacts found no slot. */
KERNEL_FN bits truncation_status(const Context *ctx) {
    bits status = real_bits(real_of(0));
    const int *dropped = ctx->args->contacts.dropped;
    FOR_LANES(l) {
        if (dropped && dropped[ctx->pack->world[l]] > 0)
            LANE(status, l) = SAP_WORLD_CONTACTS_TRUNCATED;
    }
    return status;
}

/* SAP_WORLD_NONFINITE_STATE where the input state is not finite. */
KERNEL_FN bits state_status(const Context *ctx) {
    bits none = real_bits(real_of(0));
    return bits_select(checks_pass(FM(state_check), ctx->args->plan.nl), none, none + SAP_WORLD_NONFINITE_STATE);
}

/* Public velocity of a free joint, of the centre of mass: v_O + omega x r, at coordinates q. */
KERNEL_FN Vec3 free_joint_v_C(const Context *ctx, int l, const real *q, const real *v) {
    return vec3_cross_add(vec3_load(v), free_joint_arm(ctx, l, q), vec3_load(v + 3));
}

/* 0, or NaN where a velocity of link l is not finite in the type of the output. */
KERNEL_FN real velocity_check(const Context *ctx, int l, const real *q) {
    const SapLink *link = &ctx->args->plan.link[l];
    const real *v = FM(v) + link->v;
    real check = real_of(0);
    bool is_free = link->type == SAP_JOINT_FREE; /* stores v_C in place of v_O */
    FOR_UP_TO(i, is_free ? 3 : link->nlin + link->nang, 6)
        check = check + check_of(buffer_stored(ctx->args->qd_out, v[i]));
    if (is_free)
        check = check + buffer_check_vec3(ctx->args->qd_out, free_joint_v_C(ctx, l, q, v));
    return check;
}

/* SAP_WORLD_FAST_SPIN where a free or ball joint turns by more than its bound in a step: h |omega| > max_turn. The
 * angular dofs of both types come first. */
KERNEL_FN bits spin_status(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    bits none = real_bits(real_of(0)), status = none;
    UNROLL
    for (int l = 0; l < (ctx->args->implicit_gyroscopic ? 0 : plan->nl); l++) {
        scalar bound = (scalar)plan->link[l].max_turn;
        if (bound > 0) {
            Vec3 turn = vec3_scale(STAGE_H, vec3_load(FM(v) + plan->link[l].v));
            status = status | bits_select(vec3_dot(turn, turn) > bound * bound, none + SAP_WORLD_FAST_SPIN, none);
        }
    }
    return status;
}

/* SAP_WORLD_MAY_TUNNEL where a free body moves by more than its bound in a step: h |v_C| > max_shift. */
KERNEL_FN bits shift_status(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    bits none = real_bits(real_of(0)), status = none;
    UNROLL
    for (int l = 0; l < plan->nl; l++) {
        scalar bound = (scalar)plan->link[l].max_shift;
        if (bound > 0) {
            Vec3 shift = vec3_scale(STAGE_H, free_joint_v_C(ctx, l, FM(q1), FM(v) + plan->link[l].v));
            status = status | bits_select(vec3_dot(shift, shift) > bound * bound, none + SAP_WORLD_MAY_TUNNEL, none);
        }
    }
    return status;
}

/* Whether a dof of link l is faster than max_joint_speed, in public velocities at coordinates q. */
KERNEL_FN mask link_too_fast(const Context *ctx, int l, const real *q) {
    const SapLink *link = &ctx->args->plan.link[l];
    const real *v = FM(v) + link->v;
    real fastest = real_of(0);
    bool is_free = link->type == SAP_JOINT_FREE; /* stores v_C in place of v_O */
    for (int i = 0; i < (is_free ? 3 : link->nlin + link->nang); i++)
        fastest = real_max(fastest, real_abs(v[i]));
    if (is_free) {
        Vec3 v_C = free_joint_v_C(ctx, l, q, v);
        fastest = real_max(fastest, real_max(real_abs(v_C.x), real_max(real_abs(v_C.y), real_abs(v_C.z))));
    }
    return fastest > real_of((scalar)ctx->args->max_joint_speed);
}

/* SAP_WORLD_TOO_FAST where a dof is faster than max_joint_speed at coordinates q. */
STAGE_FN bits speed_status(const Context *ctx, const real *q) {
    bits none = real_bits(real_of(0)), status = none;
    for (int l = 0; l < ctx->args->plan.nl; l++)
        status = status | bits_select(link_too_fast(ctx, l, q), none + SAP_WORLD_TOO_FAST, none);
    return status;
}

/* Status bits of free motion and integration (solver.h), per lane. */
STAGE_FN bits world_status(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    bits none = real_bits(real_of(0)), status = none;
    const real *checks = FM(checks);
    mask state_ok = checks[SAP_MOTION_STATE] == K(0.0), control_ok = checks[SAP_MOTION_CONTROL] == K(0.0);
    mask input_ok = state_ok & control_ok, spd = checks[SAP_MOTION_FACTOR] == K(0.0);
    real assembled = real_of(0), result = real_of(0);
    UNROLL
    for (int i = 0; i < plan->nv; i++)
        assembled = assembled + check_of(FM(A)[plan->tree.row[i].start + plan->tree.row[i].depth]);
    UNROLL
    for (int l = 0; l < plan->nl; l++)
        result = result + velocity_check(ctx, l, FM(q1));
    UNROLL
    for (int i = 0; i < plan->nq; i++)
        result = result + check_of(buffer_stored(ctx->args->q_out, FM(q1)[i]));
    /* an A that overflowed is NONFINITE_RESULT, not NOT_SPD */
    mask A_ok = assembled == K(0.0);
    mask result_ok = A_ok & ((result == K(0.0)) | mask_not(spd));

    status = status | bits_select(state_ok, none, none + SAP_WORLD_NONFINITE_STATE);
    status = status | bits_select(control_ok, none, none + SAP_WORLD_NONFINITE_CONTROL);
    status = status | bits_select(spd | mask_not(A_ok & input_ok), none, none + SAP_WORLD_NOT_SPD);
    status = status | bits_select(result_ok | mask_not(input_ok), none, none + SAP_WORLD_NONFINITE_RESULT);
    return status;
}

/* Stores the public velocity of link l at coordinates q, [v_O + omega x r ; omega] for a free joint, from element
 * `first` of the buffer on. */
STAGE_FN void store_velocity(const Context *ctx, SapBuffer buffer, int first, int l, const real *q, const real *v,
                             mask which) {
    const SapLink *link = &ctx->args->plan.link[l];
    v += link->v;
    first += link->v;
    if (link->type == SAP_JOINT_FREE) {
        buffer_put_vec3(buffer, first, free_joint_v_C(ctx, l, q, v), which, ctx->pack);
        buffer_put_vec3(buffer, first + 3, vec3_load(v), which, ctx->pack);
    } else {
        UNROLL
        for (int i = 0; i < link->nlin + link->nang; i++)
            buffer_put(buffer, first + i, v[i], which, ctx->pack);
    }
}

/* Copies the input state to the output, bit for bit, for worlds that failed on a finite state. */
STAGE_FN void store_unchanged(const Context *ctx, mask which) {
    const SapStepArgs *args = ctx->args;
    if (!mask_any(which))
        return;
    TEAM_FOR(i, args->plan.nq)
        buffer_copy(args->q_out, args->q_in, i, which, ctx->pack);
    TEAM_FOR(i, args->plan.nv)
        buffer_copy(args->qd_out, args->qd_in, i, which, ctx->pack);
}

STAGE_FN void store_state(const Context *ctx, mask which) {
    const SapPlan *plan = &ctx->args->plan;
    const real *q1 = FM(q1);
    UNROLL
    TEAM_FOR(i, plan->nq)
        buffer_put(ctx->args->q_out, i, q1[i], which, ctx->pack);
    EACH_LINK(l, plan->nl, store_velocity(ctx, ctx->args->qd_out, 0, l, q1, FM(v), which))
}

/* 0, or NaN where body_q or body_qd of link l is not finite in the type of the output. */
KERNEL_FN real body_check(const Context *ctx, int l) {
    const SapStepArgs *args = ctx->args;
    Spatial V = spatial_load(FM(V) + 6 * l);
    real check = real_of(0);
    if (args->body_q.data)
        check = check + buffer_check_vec3(args->body_q, vec3_load(FM(X) + 7 * l));
    if (args->body_qd.data)
        check = check + buffer_check_vec3(args->body_qd, V.ang) +
                buffer_check_vec3(args->body_qd, spatial_at(V, link_com(ctx, l)));
    return check;
}

/* Worlds in which all body_q and body_qd are finite. Each thread of a team checks some bodies; the checks of the
 * control are summed by then, so theirs are in that memory. */
STAGE_FN mask bodies_finite(const Context *ctx) {
    int nl = ctx->args->plan.nl;
    real check = real_of(0);
    if (TEAM_OF_ONE) {
        for (int l = 0; l < nl; l++)
            check = check + body_check(ctx, l);
    } else {
        TEAM_FOR(l, nl)
            FM(control_check)[l] = body_check(ctx, l);
        TEAM_SYNC(); /* every thread reads the checks of all bodies */
        check = check_sum(FM(control_check), nl);
    }
    return check == K(0.0);
}

/* Stores body_q and body_qd from X and V; the velocity is the centre of mass's. */
STAGE_FN void store_bodies(const Context *ctx, mask which) {
    const SapStepArgs *args = ctx->args;
    TEAM_FOR(l, args->plan.nl) {
        int body = args->plan.link[l].body;
        Pose X = pose_load(FM(X) + 7 * l);
        if (args->body_q.data) {
            buffer_put_vec3(args->body_q, 7 * body, X.p, which, ctx->pack);
            buffer_put_quat(args->body_q, 7 * body + 3, X.q, which, ctx->pack);
        }
        if (args->body_qd.data) {
            Spatial V = spatial_load(FM(V) + 6 * l);
            buffer_put_vec3(args->body_qd, 6 * body, spatial_at(V, link_com(ctx, l)), which, ctx->pack);
            buffer_put_vec3(args->body_qd, 6 * body + 3, V.ang, which, ctx->pack);
        }
    }
}
