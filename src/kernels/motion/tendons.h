/* Lengths of tendons and their derivatives: the row J of a tendon, ldot = J v. docs/constraints.md.
 *
 *   fixed     l = offset + sum_k c_k q_k
 *   spatial   l = offset + sum_branches (1/divisor) sum_segments |x_{s+1} - x_s|,   points x fixed to bodies
 *
 * A coordinate x of a coupler is a dof's, or the length of tendon x - nv. */

/* The points of a segment, and its direction. */
typedef struct TendonSegment {
    int link[2];
    Vec3 x[2];
    Vec3 n;      /* unit, or 0 for a segment shorter than 1e-12 m */
    real length; /* m */
} TendonSegment;

/* Point k of all terms, in the world. */
KERNEL_FN Vec3 tendon_point(const Context *ctx, int k) {
    int link = ctx->args->plan.tendon_term[k].link;
    Vec3 point = field_get_vec3(STAGE_CONSTANTS->tendon_term_value, 3 * k, ctx->pack);
    if (link < 0)
        return point;
    Pose X = body_pose(ctx, link);
    return vec3_add(X.p, quat_rotate(X.q, point));
}

/* Whether a segment ends at term k. */
KERNEL_FN bool tendon_has_segment(const SapPlan *plan, int first, int k) {
    return k > first && plan->tendon_term[k].type == SAP_TENDON_POINT &&
           plan->tendon_term[k - 1].type == SAP_TENDON_POINT;
}

/* The segment from term k - 1 to term k. */
KERNEL_FN TendonSegment tendon_segment(const Context *ctx, int k) {
    TendonSegment s;
    for (int i = 0; i < 2; i++) {
        s.link[i] = ctx->args->plan.tendon_term[k - 1 + i].link;
        s.x[i] = tendon_point(ctx, k - 1 + i);
    }
    Vec3 along = vec3_sub(s.x[1], s.x[0]);
    s.length = real_sqrt(vec3_dot(along, along));
    mask lost = s.length < K(1e-12);
    s.n = vec3_select(lost, vec3_zero(), vec3_scale(K(1.0) / real_select(lost, real_of(1), s.length), along));
    return s;
}

/* The rate of the segment's length per unit velocity of dof i. A dof that moves both ends does not change it. */
KERNEL_FN real tendon_segment_column(const Context *ctx, const TendonSegment *s, int i) {
    bool moves0 = link_has_dof(&ctx->args->plan, s->link[0], i), moves1 = link_has_dof(&ctx->args->plan, s->link[1], i);
    if (moves0 == moves1)
        return real_of(0);
    Vec3 y = moves1 ? s->x[1] : s->x[0];
    real rate = vec3_dot(s->n, dof_velocity(ctx, i, vec3_sub(y, dof_origin(ctx, i))));
    return moves1 ? rate : -rate;
}

/* l of tendon t if i < 0, else dl/dv_i. */
KERNEL_FN real tendon_sum(const Context *ctx, int t, int i) {
    const SapPlan *plan = &ctx->args->plan;
    const SapConstants *c = STAGE_CONSTANTS;
    int first = plan->tendon_start[t];
    real sum = i < 0 ? field_get(c->tendon_offset, t, ctx->pack) : real_of(0), share = real_of(1);
    for (int k = first; k < plan->tendon_start[t + 1]; k++) {
        const SapTendonTerm *term = &plan->tendon_term[k];
        if (term->type == SAP_TENDON_PULLEY)
            share = K(1.0) / field_get(c->tendon_term_value, 3 * k, ctx->pack);
        if (term->type == SAP_TENDON_JOINT && (i < 0 || i == term->dof)) {
            real x = i < 0 ? view_get(FM_VIEW(q), term->coord) : real_of(1);
            sum = real_fma(field_get(c->tendon_term_value, 3 * k, ctx->pack), x, sum);
        }
        if (tendon_has_segment(plan, first, k)) {
            TendonSegment s = tendon_segment(ctx, k);
            sum = real_fma(share, i < 0 ? s.length : tendon_segment_column(ctx, &s, i), sum);
        }
    }
    return sum;
}

/* The value of a coordinate. */
STAGE_FN real coordinate_value(const Context *ctx, int x) {
    int nv = ctx->args->plan.nv;
    return x < nv ? view_get(FM_VIEW(q), ctx->args->plan.dof_coord[x]) : tendon_sum(ctx, x - nv, -1);
}

/* The rate of a coordinate per unit velocity of dof i. */
STAGE_FN real coordinate_column(const Context *ctx, int x, int i) {
    int nv = ctx->args->plan.nv;
    return x < nv ? real_of(x == i) : tendon_sum(ctx, x - nv, i);
}

/* The generalised force on dof i of the forces along tendons: sum_t J_ti f_t. */
STAGE_FN real tendon_force(const Context *ctx, int i) {
    const SapPlan *plan = &ctx->args->plan;
    real force = real_of(0);
    for (int k = plan->dof_block_start[i]; k < plan->dof_block_start[i + 1]; k++) {
        const SapModelConstraint *b = &plan->block[plan->dof_block[k].block];
        if (b->kind == SAP_BLOCK_TENDON)
            force = real_fma(tendon_sum(ctx, b->index, i), buffer_get(ctx->args->constraints.f, b->index, ctx->pack),
                             force);
    }
    return force;
}

RARE_FN void tendon_forces_add(const Context *ctx, real *tau) {
    TEAM_FOR(i, ctx->args->plan.nv)
        tau[i] = tau[i] + tendon_force(ctx, i);
}
