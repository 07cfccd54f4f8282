/* The integrator RK4 of MuJoCo's law: four stages, each with its own kinematics, contacts and solve. docs/mujoco.md.
 *
 *   stage i   q_i = q0 (+) u_i, u_i = h c_i k_{i-1}      v_i = v0 + h c_i a_{i-1}       c = 0, 1/2, 1/2, 1
 *   end       q1 = q0 (+) h (k_1 + 2 k_2 + 2 k_3 + k_4)/6     v1 = v0 + h (a_1 + 2 a_2 + 2 a_3 + a_4)/6
 *
 * k is v. A free or ball joint turns by a rotation vector u in axes of the body, whose rate is
 *   k = w + u x w/2 + kappa u x (u x w),    kappa = (1 - (t/2) cot(t/2))/t^2, t = |u|
 * and the components of its angular velocity w in axes of the body are what a changes. */

/* What stages leave for those after them, in scratch, or in memory of the world if stages are launches on a GPU. */
KERNEL_FN real *rk_memory(const Context *ctx) {
    real *kept = (real *)ctx->args->mujoco->rk;
    return kept ? kept + (long long)ctx->pack->world[0] * 8 * ctx->args->plan.nv : FM(rk);
}

/* Accelerations and rates of stage s, [nv] each. */
#define RK_A(s) (rk_memory(ctx) + (s)*ctx->args->plan.nv)
#define RK_K(s) RK_A(4 + (s))

KERNEL_FN bool rk_turns(const SapLink *link) {
    return link->type == SAP_JOINT_FREE || link->type == SAP_JOINT_BALL;
}

/* The place of the quaternion of a free or ball joint. */
KERNEL_FN int rk_quat(const SapLink *link) {
    return link->q + (link->type == SAP_JOINT_FREE ? 3 : 0);
}

KERNEL_FN real rk_share(int stage) {
    return real_of(stage == 0 ? K(0.0) : stage == 3 ? K(1.0) : K(0.5));
}

/* Coordinates after the displacement u of link l, in place; the angular part of u is a rotation vector of the body. */
KERNEL_FN void rk_displace(const SapLink *link, const real *u, real *q) {
    int turns = rk_turns(link) ? 3 : 0, scalars = link->nlin + link->nang - turns;
    for (int i = 0; i < scalars; i++)
        q[link->q + i] = q[link->q + i] + u[turns + i];
    if (!turns)
        return;
    Vec3 w = vec3_load(u);
    real t = real_sqrt(vec3_dot(w, w)), s, c;
    mask still = t < K(1e-12);
    real_sincos(K(0.5) * t, &s, &c);
    s = real_select(still, real_of(K(0.5)), s / real_select(still, real_of(1), t));
    Quat turn = quat(s * w.x, s * w.y, s * w.z, c);
    quat_store(q + rk_quat(link), quat_normalise(quat_mul(quat_load(q + rk_quat(link)), turn)));
}

/* kappa u x (u x w) + u x w/2 + w */
KERNEL_FN Vec3 rk_rate(Vec3 u, Vec3 w) {
    real z = vec3_dot(u, u), t = real_sqrt(z), s, c;
    mask small = t < K(0.02);
    real_sincos(K(0.5) * real_select(small, real_of(1), t), &s, &c);
    real series =
        real_fma(z, real_fma(z, real_of(K(1.0) / K(30240.0)), real_of(K(1.0) / K(720.0))), real_of(K(1.0) / K(12.0)));
    real exact = (K(1.0) - K(0.5) * t * c / s) / real_select(small, real_of(1), z);
    Vec3 uw = vec3_cross(u, w);
    return vec3_fma(real_select(small, series, exact), vec3_cross(u, uw), vec3_fma(real_of(K(0.5)), uw, w));
}

/* The state of stage ctx->rk_stage of link l, in place of the one at the start. */
STAGE_FN void rk_state(const Context *ctx, int l) {
    const SapLink *link = &ctx->args->plan.link[l];
    int n = link->nlin + link->nang;
    real *q = FM(q), *v = FM(v0) + link->v, hc = STAGE_H * rk_share(ctx->rk_stage), u[6];
    const real *a = RK_A(ctx->rk_stage - 1) + link->v, *k = RK_K(ctx->rk_stage - 1) + link->v;
    if (rk_turns(link)) /* to axes of the body */
        vec3_store(v, quat_rotate(quat_conjugate(quat_load(q + rk_quat(link))), vec3_load(v)));
    for (int i = 0; i < n; i++) {
        v[i] = real_fma(hc, a[i], v[i]);
        u[i] = hc * k[i];
    }
    rk_displace(link, u, q);
    if (rk_turns(link))
        vec3_store(v, quat_rotate(quat_load(q + rk_quat(link)), vec3_load(v)));
}

/* Whether state and control of the start of the step stay in scratch over its stages: gathering them from the memory of
 * the worlds of a pack costs more than a copy. They are where the last stage leaves its results, and in q1. */
KERNEL_FN bool rk_remembers(const Context *ctx) {
    return TEAM_OF_ONE && ctx->args->plan.rk4 && !ctx->args->mujoco->rk;
}

KERNEL_FN void rk_copy(const real *from, int n, real *to) {
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

STAGE_FN void formulation_remember(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    if (!rk_remembers(ctx))
        return;
    rk_copy(FM(q), plan->nq, FM(q1));
    rk_copy(FM(v0), plan->nv, RK_K(3));
    rk_copy(FM(f), plan->nv, RK_A(3));
}

/* Returns false if they must be loaded. The checks of the first stage stay as they are. */
STAGE_FN bool formulation_recall(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    if (ctx->rk_stage == 0 || !rk_remembers(ctx))
        return false;
    rk_copy(FM(q1), plan->nq, FM(q));
    rk_copy(RK_K(3), plan->nv, FM(v0));
    rk_copy(RK_A(3), plan->nv, FM(f));
    return true;
}

STAGE_FN void formulation_set_state(const Context *ctx) {
    if (ctx->rk_stage == 0)
        return;
    TEAM_FOR(l, ctx->args->plan.nl)
        rk_state(ctx, l);
    TEAM_SYNC(); /* forces and kinematics read the state */
}

/* Keeps acceleration and rate of link l at the end of a stage. */
STAGE_FN void rk_store(const Context *ctx, int l) {
    const SapLink *link = &ctx->args->plan.link[l];
    int n = link->nlin + link->nang;
    const real *v0 = FM(v0) + link->v, *v = FM(v) + link->v;
    real *a = RK_A(ctx->rk_stage) + link->v, *k = RK_K(ctx->rk_stage) + link->v;
    for (int i = 0; i < n; i++) {
        a[i] = (v[i] - v0[i]) / STAGE_H;
        k[i] = v0[i];
    }
    if (!rk_turns(link))
        return;
    Quat back = quat_conjugate(quat_load(FM(q) + rk_quat(link)));
    Vec3 u = ctx->rk_stage == 0
                 ? vec3_zero()
                 : vec3_scale(STAGE_H * rk_share(ctx->rk_stage), vec3_load(RK_K(ctx->rk_stage - 1) + link->v));
    vec3_store(a, quat_rotate(back, vec3_load(a)));
    vec3_store(k, rk_rate(u, quat_rotate(back, vec3_load(v0))));
}

/* (x_1 + 2 x_2 + 2 x_3 + x_4)/6 of element i; `first` is RK_A(0) or RK_K(0). */
KERNEL_FN real rk_mean(const Context *ctx, const real *first, int i) {
    int nv = ctx->args->plan.nv;
    real middle = first[nv + i] + first[2 * nv + i];
    return (real_fma(real_of(2), middle, first[i] + first[3 * nv + i])) / K(6.0);
}

/* The state of link l at the end of the step, from the state at its start, which is taken again. */
STAGE_FN void rk_advance(const Context *ctx, int l) {
    const SapLink *link = &ctx->args->plan.link[l];
    int n = link->nlin + link->nang, coords = n + (rk_turns(link) ? 1 : 0);
    real unused = real_of(0), u[6], *q1 = FM(q1), *v = FM(v) + link->v;
    if (rk_remembers(ctx)) {
        rk_copy(q1 + link->q, coords, FM(q) + link->q);
    } else {
        load_coordinates(ctx, link, &unused);
        rk_copy(FM(q) + link->q, coords, q1 + link->q);
    }
    load_velocity(ctx, l, &unused);
    for (int i = 0; i < n; i++) {
        u[i] = STAGE_H * rk_mean(ctx, RK_K(0), link->v + i);
        v[i] = FM(v0)[link->v + i];
    }
    if (rk_turns(link))
        vec3_store(v, quat_rotate(quat_conjugate(quat_load(FM(q) + rk_quat(link))), vec3_load(v)));
    for (int i = 0; i < n; i++)
        v[i] = real_fma(STAGE_H, rk_mean(ctx, RK_A(0), link->v + i), v[i]);
    rk_displace(link, u, q1);
    if (rk_turns(link))
        vec3_store(v, quat_rotate(quat_load(q1 + rk_quat(link)), vec3_load(v)));
}
