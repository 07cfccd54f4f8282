/* The linear maps between the public state and the equation of a step: load, advance and store. docs/gradients.md.
 *
 *   load     v_O = v_C - w x r            dv_O = dv_C + r x dw + w x (r x dtheta)
 *   advance  dq' = T_q dq + T_u du        u = (v0 + v)/2, or v
 *   store    v_C' = v_O + w x r'          dv_C' = dv_O - r' x dw - w x (r' x dtheta')
 *
 * Tangent vectors have the order of internal dofs inside, of public dofs outside. */

/* T_q and T_u of a rotation that advances with angular velocity u for h seconds (joint_advance_rotation). */
typedef struct Turn {
    Mat3 q, u;
} Turn;

/* [a] b = a x b, as columns, times s, plus the matrix t E. */
KERNEL_FN Mat3 mat3_cross(Vec3 a, real s, real t) {
    Mat3 R;
    R.x = vec3(t, s * a.z, -(s * a.y));
    R.y = vec3(-(s * a.z), t, s * a.x);
    R.z = vec3(s * a.y, -(s * a.x), t);
    return R;
}

/* (theta - sin theta)/theta^3 */
KERNEL_FN real turn_third(real th, real sine) {
    real x = th * th;
    mask small = th < K(0.3);
    real series = real_fma(x, real_of(K(2.505210838544172e-08)), real_of(K(-2.7557319223985893e-06)));
    series = real_fma(x, series, real_of(K(1.984126984126984e-04)));
    series = real_fma(x, series, real_of(K(-8.333333333333333e-03)));
    series = real_fma(x, series, real_of(K(0.16666666666666666)));
    real th3 = real_select(small, real_of(1), x * th);
    return real_select(small, series, (th - sine) / th3);
}

STAGE_FN Turn turn_of(const Context *ctx, Vec3 u, real h) {
    Turn t;
    if (ctx->args->euler) {
        Vec3 a = vec3_scale(K(0.5) * h, u);
        real s = K(1.0) / (K(1.0) + vec3_dot(a, a));
        t.u = mat3_cross(a, h * s, h * s);
        t.q = quat_matrix(quat_normalise(quat(a.x, a.y, a.z, real_of(1))));
        return t;
    }
    Vec3 w = vec3_scale(h, u);
    real x = vec3_dot(w, w), th = real_sqrt(x), s, c, half_s, half_c;
    mask turns = th > K(1e-12);
    real_sincos(th, &s, &c);
    real_sincos(K(0.5) * th, &half_s, &half_c);
    real by = real_select(turns, th, real_of(1)), sinc = real_select(turns, half_s / by, real_of(K(0.5)));
    real second = K(2.0) * sinc * sinc, third = turn_third(th, s); /* (1 - cos)/th^2, (th - sin)/th^3 */
    t.q = quat_matrix(quat_normalise(quat(sinc * w.x, sinc * w.y, sinc * w.z, half_c)));
    /* h (E + second [w] + third [w]^2), [w]^2 = w w' - x E */
    t.u = mat3_cross(w, h * second, h * (K(1.0) - third * x));
    t.u.x = vec3_fma(h * third * w.x, w, t.u.x);
    t.u.y = vec3_fma(h * third * w.y, w, t.u.y);
    t.u.z = vec3_fma(h * third * w.z, w, t.u.z);
    return t;
}

KERNEL_FN bool link_has_quaternion(const SapLink *link) {
    return link->type == SAP_JOINT_FREE || link->type == SAP_JOINT_BALL;
}

/* Whether dof k of a joint advances with v, not with the mean velocity (joint_advance). */
KERNEL_FN bool advances_with_end(const Context *ctx, const SapLink *link, int k) {
    return ctx->args->euler || (ctx->args->implicit_gyroscopic && link_has_quaternion(link) && k < 3);
}

KERNEL_FN Vec3 link_turn_velocity(const Context *ctx, const Gradient *g, const SapLink *link) {
    Vec3 v = vec3_load(GRAD(v) + link->v), v0 = vec3_load(FM(v0) + link->v);
    return advances_with_end(ctx, link, 0) ? v : vec3_scale(real_of(K(0.5)), vec3_add(v0, v));
}

/* T_q and T_u of all rotations. */
STAGE_FN void gradient_turns(const Context *ctx, const Gradient *g) {
    for (int l = 0; l < ctx->args->plan.nl; l++) {
        const SapLink *link = &ctx->args->plan.link[l];
        if (!link_has_quaternion(link))
            continue;
        Turn t = turn_of(ctx, link_turn_velocity(ctx, g, link), STAGE_H);
        mat3_store(GRAD(turn) + 18 * l, t.q);
        mat3_store(GRAD(turn) + 18 * l + 9, t.u);
    }
}

/* ---- forwards ---- */

/* Adds to dv0 what a free joint's velocity changes when its attitude and angular velocity do. */
STAGE_FN void load_forwards(const Context *ctx, const Gradient *g) {
    for (int l = 0; l < ctx->args->plan.nl; l++) {
        const SapLink *link = &ctx->args->plan.link[l];
        if (link->type != SAP_JOINT_FREE)
            continue;
        real *dv0 = GRAD(dv0) + link->v;
        Vec3 r = free_joint_arm(ctx, l, FM(q)), w = vec3_load(FM(v0) + link->v);
        Vec3 turned = vec3_cross(w, vec3_cross(r, vec3_load(GRAD(dq) + link->v)));
        vec3_store(dv0 + 3, vec3_add(vec3_load(dv0 + 3), vec3_cross_add(r, vec3_load(dv0), turned)));
    }
}

/* end = the change of the public state from dq, dv0 and dv. */
STAGE_FN void end_forwards(const Context *ctx, const Gradient *g) {
    const SapPlan *plan = &ctx->args->plan;
    const real *dq = GRAD(dq), *dv0 = GRAD(dv0), *dv = GRAD(dv);
    const int *place = plan->dof_public;
    real *end = GRAD(end), h = STAGE_H;
    for (int l = 0; l < plan->nl; l++) {
        const SapLink *link = &plan->link[l];
        int v = link->v, n = link->nlin + link->nang;
        real du[6], out[6];
        for (int k = 0; k < n; k++) {
            du[k] = advances_with_end(ctx, link, k) ? dv[v + k] : K(0.5) * (dv0[v + k] + dv[v + k]);
            out[k] = real_fma(h, du[k], dq[v + k]);
            end[plan->nv + place[v + k]] = dv[v + k];
        }
        if (link_has_quaternion(link)) {
            Mat3 Tq = mat3_load(GRAD(turn) + 18 * l), Tu = mat3_load(GRAD(turn) + 18 * l + 9);
            vec3_store(out, vec3_add(mat3_mul(Tq, vec3_load(dq + v)), mat3_mul(Tu, vec3_load(du))));
            if (link->type == SAP_JOINT_FREE) {
                Vec3 r = mat3_mul(Tq, free_joint_arm(ctx, l, FM(q))), w = vec3_load(GRAD(v) + v);
                Vec3 moved = vec3_add(vec3_cross(r, vec3_load(dv + v)), vec3_cross(w, vec3_cross(r, vec3_load(out))));
                vec3_store(end + plan->nv + place[v + 3], vec3_sub(vec3_load(dv + v + 3), moved));
            }
        }
        for (int k = 0; k < n; k++)
            end[place[v + k]] = out[k];
    }
}

/* ---- backwards: the transposed maps ---- */

/* dq, dv0, dv = the cotangents that the cotangent `end` of the public state gives. */
STAGE_FN void end_backwards(const Context *ctx, const Gradient *g) {
    const SapPlan *plan = &ctx->args->plan;
    real *dq = GRAD(dq), *dv0 = GRAD(dv0), *dv = GRAD(dv), h = STAGE_H, zero = real_of(0);
    const int *place = plan->dof_public;
    const real *end = GRAD(end);
    for (int l = 0; l < plan->nl; l++) {
        const SapLink *link = &plan->link[l];
        int v = link->v, n = link->nlin + link->nang;
        real out[6], du[6];
        for (int k = 0; k < n; k++) {
            out[k] = dq[v + k] = end[place[v + k]];
            du[k] = h * out[k];
            dv[v + k] = end[plan->nv + place[v + k]];
        }
        if (link_has_quaternion(link)) {
            Mat3 Tq = mat3_load(GRAD(turn) + 18 * l), Tu = mat3_load(GRAD(turn) + 18 * l + 9);
            Vec3 turn = vec3_load(out);
            if (link->type == SAP_JOINT_FREE) {
                Vec3 r = mat3_mul(Tq, free_joint_arm(ctx, l, FM(q))), w = vec3_load(GRAD(v) + v);
                Vec3 x = vec3_load(dv + v + 3);
                vec3_store(dv + v, vec3_cross_add(r, x, vec3_load(dv + v)));
                turn = vec3_sub(turn, vec3_cross(vec3_cross(x, w), r));
            }
            vec3_store(dq + v, mat3_mul_transposed(Tq, turn));
            vec3_store(du, mat3_mul_transposed(Tu, turn));
        }
        for (int k = 0; k < n; k++) {
            bool at_end = advances_with_end(ctx, link, k);
            dv0[v + k] = at_end ? zero : K(0.5) * du[k];
            dv[v + k] = dv[v + k] + (at_end ? du[k] : K(0.5) * du[k]);
        }
    }
}

/* Adds to dq and the angular part of dv0 what the cotangent of v_O gives. */
STAGE_FN void load_backwards(const Context *ctx, const Gradient *g) {
    for (int l = 0; l < ctx->args->plan.nl; l++) {
        const SapLink *link = &ctx->args->plan.link[l];
        if (link->type != SAP_JOINT_FREE)
            continue;
        real *dv0 = GRAD(dv0) + link->v, *dq = GRAD(dq) + link->v;
        Vec3 r = free_joint_arm(ctx, l, FM(q)), w = vec3_load(FM(v0) + link->v), x = vec3_load(dv0 + 3);
        vec3_store(dv0, vec3_cross_add(x, r, vec3_load(dv0)));
        vec3_store(dq, vec3_cross_add(vec3_cross(x, w), r, vec3_load(dq)));
    }
}
