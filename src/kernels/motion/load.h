/* Loads state and control into scratch: coordinates (quaternions normalised), velocities and joint forces in internal
 * order, and checks that they are finite. The public velocity of a free joint is [v_C ; omega], its force [f ; tau_C].
 * Internally both are at the body origin O, with r = R com from O to the centre of mass:
 *   [omega ; v_O] = [omega ; v_C - omega x r]          [tau_O ; f] = [tau_C + r x f ; f] */

/* Reads and normalises a quaternion. Adds NaN to *check if it has no direction. */
KERNEL_FN Quat load_quat(const Context *ctx, int i, real *check) {
    SapBuffer buffer = ctx->args->q_in;
    Quat q = quat(buffer_get(buffer, i, ctx->pack), buffer_get(buffer, i + 1, ctx->pack),
                  buffer_get(buffer, i + 2, ctx->pack), buffer_get(buffer, i + 3, ctx->pack));
    Quat given = q;
    q = quat_normalise(q);
    /* The norm is not 1 for zero, overflowing and non-finite quaternions, and for those whose square underflows. For
     * all others the rounding error of the norm is below 1e-6. */
    mask unit = real_abs(quat_norm2(q) - K(1.0)) < K(1e-5);
    *check = *check + real_select(unit, real_of(0), check_of(K(1.0) / real_of(0)));
    return COMPAT ? given : q; /* SAP Warp keeps the length of a quaternion that does not turn */
}

/* 0, or NaN where q is not finite, also in the precision of contact geometry if that is narrower. */
KERNEL_FN real coordinate_check(const Context *ctx, real q) {
    real narrow = q;
    if (SAP_PRECISION == 64 && !GEOMETRY_IS_F64)
        FOR_LANES(l) LANE(narrow, l) = (scalar)(float)LANE(q, l);
    return check_of(narrow);
}

/* Coordinates of a link's joint. */
STAGE_FN void load_coordinates(const Context *ctx, const SapLink *link, real *check) {
    real *q = FM(q);
    int scalars = link->nlin + link->nang, first = link->q;
    if (link->type == SAP_JOINT_BALL) {
        scalars = 0;
        quat_store(q + first, load_quat(ctx, first, check));
    } else if (link->type == SAP_JOINT_FREE) {
        scalars = 3;
        quat_store(q + first + 3, load_quat(ctx, first + 3, check));
    }
    UNROLL
    for (int i = first; i < first + scalars; i++) {
        q[i] = buffer_get(ctx->args->q_in, i, ctx->pack);
        *check = *check + coordinate_check(ctx, q[i]);
        if (i - first >= link->nlin)
            *check = *check + joint_angle_check(q[i]);
    }
}

/* r of a free joint: from the body origin to the centre of mass, world axes. */
KERNEL_FN Vec3 free_joint_arm(const Context *ctx, int l, const real *q) {
    Vec3 com = field_get_vec3(STAGE_CONSTANTS->com, 3 * l, ctx->pack);
    Quat rotation = quat_load(q + ctx->args->plan.link[l].q + 3);
    return quat_rotate(COMPAT ? quat_normalise(rotation) : rotation, com);
}

/* Velocities of link l's joint, in internal order; needs its coordinates. */
STAGE_FN void load_velocity(const Context *ctx, int l, real *check) {
    const SapLink *link = &ctx->args->plan.link[l];
    SapBuffer buffer = ctx->args->qd_in;
    real *v = FM(v0) + link->v;
    UNROLL
    for (int i = 0; i < link->nlin + link->nang; i++) {
        v[i] = buffer_get(buffer, link->v + i, ctx->pack);
        *check = *check + check_of(v[i]);
    }
    if (link->type == SAP_JOINT_FREE) {
        Vec3 v_C = vec3_load(v), omega = vec3_load(v + 3);
        vec3_store(v, omega);
        vec3_store(v + 3, vec3_sub(v_C, vec3_cross(omega, free_joint_arm(ctx, l, FM(q)))));
    }
}

/* Joint forces of link l, in internal order; needs its coordinates. */
STAGE_FN void load_joint_f(const Context *ctx, int l, real *check) {
    const SapLink *link = &ctx->args->plan.link[l];
    SapBuffer buffer = ctx->args->joint_f;
    real *f = FM(f) + link->v;
    UNROLL
    for (int i = 0; i < link->nlin + link->nang; i++) {
        f[i] = buffer.data ? buffer_get(buffer, link->v + i, ctx->pack) : real_of(0);
        *check = *check + check_of(f[i]);
    }
    if (buffer.data && link->type == SAP_JOINT_FREE) {
        Vec3 force = vec3_load(f), tau_C = vec3_load(f + 3);
        vec3_store(f, vec3_cross_add(free_joint_arm(ctx, l, FM(q)), force, tau_C));
        vec3_store(f + 3, force);
    }
}

KERNEL_FN void load_link_state(const Context *ctx, int l) {
    real check = real_of(0);
    load_coordinates(ctx, &ctx->args->plan.link[l], &check);
    load_velocity(ctx, l, &check);
    FM(state_check)[l] = check;
}

/* Loads the state of every link. Needs a barrier before other threads read it. */
STAGE_FN void load_state(const Context *ctx) {
    EACH_LINK(l, ctx->args->plan.nl, load_link_state(ctx, l))
}

KERNEL_FN void load_link_control(const Context *ctx, int l) {
    real check = real_of(0);
    load_joint_f(ctx, l, &check);
    bool forces = l == 0 && NUM_MODEL_CONSTRAINTS > 0 && ctx->args->constraints.f.data;
    for (int t = 0; forces && t < ctx->args->plan.num_tendons; t++)
        check = check + check_of(buffer_get(ctx->args->constraints.f, t, ctx->pack));
    FM(control_check)[l] = check;
}

/* Loads the joint forces of every link. Each thread needs only the coordinates of its own links. */
STAGE_FN void load_control(const Context *ctx) {
    EACH_LINK(l, ctx->args->plan.nl, load_link_control(ctx, l))
}
