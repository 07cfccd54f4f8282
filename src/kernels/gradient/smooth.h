/* The derivatives of the smooth part of the equation of a step: inverse dynamics, applied forces, and A_ii.
 * docs/gradients.md.
 *
 *   ID_q[i,j] = S_i.(I Pdd_j + 2B Pd_j) + (S_i.(S_j x* F) unless i is after j)
 *   ID_v[i,j] = S_i.(I (Sdot_j + Pd_j) + 2B S_j)         I, 2B, F of the bodies that both dofs move */

/* Entry (i, j) of the derivatives with respect to q and v0, which have contiguous columns. */
#define G_Q(i, j) (GRAD(g_q)[(j)*ctx->args->plan.nv + (i)])
#define G_V(i, j) (GRAD(g_v)[(j)*ctx->args->plan.nv + (i)])

/* [K ; L] x of the Coriolis matrices of a subtree. */
KERNEL_FN Spatial coriolis_mul(const real *K, Vec3 x) {
    Spatial y;
    y.ang = vec3_fma(x.z, vec3_load(K + 6), vec3_fma(x.y, vec3_load(K + 3), vec3_scale(x.x, vec3_load(K))));
    y.lin = vec3_fma(x.z, vec3_load(K + 15), vec3_fma(x.y, vec3_load(K + 12), vec3_scale(x.x, vec3_load(K + 9))));
    return y;
}
/* The transposed product. */
KERNEL_FN Vec3 coriolis_mul_transposed(const real *K, Spatial y) {
    return vec3(vec3_dot(vec3_load(K), y.ang) + vec3_dot(vec3_load(K + 9), y.lin),
                vec3_dot(vec3_load(K + 3), y.ang) + vec3_dot(vec3_load(K + 12), y.lin),
                vec3_dot(vec3_load(K + 6), y.ang) + vec3_dot(vec3_load(K + 15), y.lin));
}

/* The dofs i and all j on its path: entries (i, j) and (j, i). */
STAGE_FN void smooth_row(const Context *ctx, const Gradient *g, int i) {
    const SapPlan *plan = &ctx->args->plan;
    const SapPatternRow *row = &plan->tree.row[i];
    int l = row->link;
    const SapLink *link = &plan->link[l];
    real h = STAGE_H;
    Vec3 gravity = field_get_vec3(STAGE_CONSTANTS->gravity, 0, ctx->pack);
    Inertia I = inertia_load(GRAD(I) + 10 * l);
    const real *K = GRAD(K) + 18 * l, *weight = GRAD(gravity) + 4 * l;
    Spatial F = spatial_load(GRAD(F) + 6 * l), S = dof_column(ctx, i);
    Spatial Pd = spatial_load(GRAD(Pd) + 6 * i), Pdd = spatial_load(GRAD(Pdd) + 6 * i);
    Spatial Sdot = spatial_load(GRAD(Sdot) + 6 * i);
    /* of column i, for rows j above */
    Vec3 fall = vec3_cross(S.ang, gravity); /* -g x S */
    Spatial of_q = spatial_add(inertia_mul(I, Pdd), coriolis_mul(K, Pd.ang));
    of_q = spatial_add(of_q, spatial(vec3_cross(vec3_load(weight + 1), fall), vec3_scale(weight[0], fall)));
    Spatial of_v = spatial_add(inertia_mul(I, spatial_add(Sdot, Pd)), coriolis_mul(K, S.ang));
    Spatial turned = spatial_cross_force(S, F);
    /* of row i, for columns j above */
    Spatial IS = inertia_mul(I, S);
    Vec3 KS = coriolis_mul_transposed(K, S);
    Vec3 wS = vec3_cross_add(S.ang, vec3_load(weight + 1), vec3_scale(weight[0], S.lin));
    for (int t = 0; t <= row->depth; t++) {
        int at = row->start + t, j = plan->tree.ancestor[at];
        Spatial S_j = dof_column(ctx, j), Pd_j = spatial_load(GRAD(Pd) + 6 * j);
        bool same = dof_link(ctx, j) == link;
        bool up = same && column_turns(link, j, i), down = !same || column_turns(link, i, j);
        real x = spatial_dot(S_j, of_q);
        G_Q(j, i) = h * (up ? x : x + spatial_dot(S_j, turned));
        real A = FM(A)[at];
        G_V(j, i) = real_fma(h, spatial_dot(S_j, of_v), -A);
        GRAD(dA_up)[at] = up ? real_of(0) : K(-2.0) * spatial_dot(spatial_cross(S, S_j), inertia_mul(I, S_j));
        GRAD(dA_down)[at] = real_of(0);
        if (j == i) { /* A has h D, which v0 does not */
            G_V(i, i) = G_V(i, i) + h * formulation_damping(ctx, i);
            continue;
        }
        real y = spatial_dot(IS, spatial_load(GRAD(Pdd) + 6 * j)) + vec3_dot(KS, Pd_j.ang) +
                 vec3_dot(wS, vec3_cross(S_j.ang, gravity));
        G_Q(i, j) = h * (down ? y : y + spatial_dot(S, spatial_cross_force(S_j, F)));
        Spatial rate = spatial_add(spatial_load(GRAD(Sdot) + 6 * j), Pd_j);
        G_V(i, j) = real_fma(h, spatial_dot(IS, rate) + vec3_dot(KS, S_j.ang), -A);
        if (!down)
            GRAD(dA_down)[at] = K(-2.0) * spatial_dot(spatial_cross(S_j, S), IS);
    }
}

/* body_f of link l: the wrench is constant at its centre of mass, which moves. */
STAGE_FN void smooth_applied_wrench(const Context *ctx, const Gradient *g, int l) {
    const int *path;
    int n = link_path(&ctx->args->plan, l, &path), first = 6 * ctx->args->plan.link[l].body;
    Vec3 f = buffer_get_vec3(ctx->args->body_f, first, ctx->pack), c = link_com(ctx, l);
    Vec3 tau = buffer_get_vec3(ctx->args->body_f, first + 3, ctx->pack);
    Spatial W = spatial(vec3_cross_add(c, f, tau), f);
    real h = STAGE_H;
    for (int b = 0; b < n; b++) {
        Spatial S_j = dof_column(ctx, path[b]);
        Spatial moved = spatial(vec3_cross(spatial_at(S_j, c), f), vec3_zero());
        Spatial after = spatial_sub(moved, spatial_cross_force(S_j, W));
        for (int a = 0; a < n; a++) {
            Spatial rate = dof_is_after(ctx, path[a], path[b]) ? after : moved;
            G_Q(path[a], path[b]) = real_fma(-h, spatial_dot(dof_column(ctx, path[a]), rate), G_Q(path[a], path[b]));
        }
    }
}

/* joint_f of a free joint: tau_O = tau_C + r x f, and r turns. */
STAGE_FN void smooth_joint_f(const Context *ctx, const Gradient *g, int l) {
    int v = ctx->args->plan.link[l].v;
    Vec3 f = buffer_get_vec3(ctx->args->joint_f, v, ctx->pack), r = free_joint_arm(ctx, l, FM(q));
    for (int k = 0; k < 3; k++) {
        Vec3 e = vec3_unit(k);
        Vec3 m = vec3_scale(STAGE_H, vec3_cross(vec3_cross(e, r), f));
        G_Q(v, v + k) = G_Q(v, v + k) - m.x;
        G_Q(v + 1, v + k) = G_Q(v + 1, v + k) - m.y;
        G_Q(v + 2, v + k) = G_Q(v + 2, v + k) - m.z;
    }
}

STAGE_FN void gradient_smooth(const Context *ctx, const Gradient *g) {
    const SapPlan *plan = &ctx->args->plan;
    for (int i = 0; i < plan->nv * plan->nv; i++)
        GRAD(g_q)[i] = GRAD(g_v)[i] = real_of(0);
    for (int i = 0; i < plan->nv; i++)
        smooth_row(ctx, g, i);
    for (int l = 0; l < plan->nl; l++) {
        if (ctx->args->body_f.data)
            smooth_applied_wrench(ctx, g, l);
        if (ctx->args->joint_f.data && plan->link[l].type == SAP_JOINT_FREE)
            smooth_joint_f(ctx, g, l);
    }
}

/* The rates of A_kk with respect to all coordinates, added to rate[nv] with the factor s. */
STAGE_FN void diagonal_rates_add(const Context *ctx, const Gradient *g, int k, real s, real *rate) {
    const SapPattern *tree = &ctx->args->plan.tree;
    const SapPatternRow *row = &tree->row[k];
    const SapDescendant *below = tree->descendant + row->desc_start;
    for (int d = 0; d < row->num_desc; d++)
        rate[below[d].dof] = real_fma(s, GRAD(dA_up)[below[d].at], rate[below[d].dof]);
    for (int t = 0; t < row->depth; t++) {
        int j = tree->ancestor[row->start + t];
        rate[j] = real_fma(s, GRAD(dA_down)[row->start + t], rate[j]);
    }
}
