/* Rates of the columns S of joints when a coordinate moves, and sums over subtrees. docs/gradients.md.
 *
 * Column i turns with coordinate j, "i after j", if it is in a joint below j's, or in the same joint and
 * column_turns(i, j). Moving q_j by dq_j changes every column after j by S_j x S_i dq_j and no other. With nr(j) the
 * dofs on j's path, its own joint included, that are not after j:
 *
 *   Pd_j  = V_nr x S_j                 V_nr = sum over nr(j) of S_i v0_i
 *   Pdd_j = a_nr x S_j + V_nr x Pd_j   a_nr = sum over nr(j) of (S_i a_i + Sdot_i v0_i), gravity apart
 *   Sdot_i = (sum over the i' that i is after, S_i' v0_i') x S_i */

/* V x s: the rate of a motion vector that moves with V */
KERNEL_FN Spatial spatial_cross(Spatial V, Spatial s) {
    return spatial(vec3_cross(V.ang, s.ang), vec3_cross_add(V.ang, s.lin, vec3_cross(V.lin, s.ang)));
}

/* Whether a dof of the link is a rotation: free joints have theirs first, D6 joints last. */
KERNEL_FN bool dof_is_angular(const SapLink *link, int i) {
    int k = i - link->v;
    return link->type == SAP_JOINT_FREE ? k < 3 : k >= link->nlin;
}

/* Whether column i of a joint turns with coordinate j of the same joint. */
KERNEL_FN bool column_turns(const SapLink *link, int i, int j) {
    bool turns = dof_is_angular(link, i);
    if (!dof_is_angular(link, j))
        return turns;
    return turns && link->type == SAP_JOINT_D6 && i > j;
}

/* Whether i is after j, for two dofs of one path. */
KERNEL_FN bool dof_is_after(const Context *ctx, int i, int j) {
    const SapLink *link = dof_link(ctx, i);
    return link == dof_link(ctx, j) ? column_turns(link, i, j) : i > j;
}

/* Rates of the columns of link l, its acceleration, and its twist at the end of the step. */
STAGE_FN void gradient_link_twists(const Context *ctx, const Gradient *g, int l) {
    const SapLink *link = &ctx->args->plan.link[l];
    int p = link->parent, first = link->v, end = link->v + link->nlin + link->nang;
    const real *v0 = FM(v0), *v = GRAD(v), *acc = GRAD(acc);
    Spatial V = spatial_zero(), a = V, Ve = V;
    if (p >= 0) {
        V = spatial_load(FM(V) + 6 * p);
        a = spatial_load(GRAD(a) + 6 * p);
        Ve = spatial_load(GRAD(Ve) + 6 * p);
    }
    for (int i = first; i < end; i++) {
        Spatial W = V;
        for (int k = first; k < end; k++)
            if (column_turns(link, i, k))
                W = spatial_fma(v0[k], dof_column(ctx, k), W);
        spatial_store(GRAD(Sdot) + 6 * i, spatial_cross(W, dof_column(ctx, i)));
    }
    for (int j = first; j < end; j++) {
        Spatial Vn = V, an = a, Vne = Ve, S = dof_column(ctx, j);
        for (int i = first; i < end; i++)
            if (!column_turns(link, i, j)) {
                Spatial S_i = dof_column(ctx, i);
                Vn = spatial_fma(v0[i], S_i, Vn);
                an = spatial_fma(acc[i], S_i, spatial_fma(v0[i], spatial_load(GRAD(Sdot) + 6 * i), an));
                Vne = spatial_fma(v[i], S_i, Vne);
            }
        Spatial Pd = spatial_cross(Vn, S);
        spatial_store(GRAD(Pd) + 6 * j, Pd);
        spatial_store(GRAD(Pdd) + 6 * j, spatial_add(spatial_cross(an, S), spatial_cross(Vn, Pd)));
        spatial_store(GRAD(Pe) + 6 * j, Vne);
    }
    for (int i = first; i < end; i++) {
        Spatial S = dof_column(ctx, i);
        a = spatial_fma(acc[i], S, spatial_fma(v0[i], spatial_load(GRAD(Sdot) + 6 * i), a));
        Ve = spatial_fma(v[i], S, Ve);
    }
    spatial_store(GRAD(a) + 6 * l, a);
    spatial_store(GRAD(Ve) + 6 * l, Ve);
}

/* Gravity as it acts on link l: 1 - gravcomp of it. */
KERNEL_FN real link_gravity_share(const Context *ctx, int l) {
    if (!ctx->args->has_gravcomp)
        return real_of(1);
    return K(1.0) - field_get(STAGE_CONSTANTS->gravcomp, l, ctx->pack);
}

KERNEL_FN Inertia link_inertia(const Context *ctx, int l) {
    const SapConstants *k = STAGE_CONSTANTS;
    real J[6];
    for (int i = 0; i < 6; i++)
        J[i] = field_get(k->inertia, 6 * l + i, ctx->pack);
    return inertia_of_body(field_get(k->mass, l, ctx->pack), link_com(ctx, l),
                           quat_matrix(quat_load(FM(X) + 7 * l + 3)), J);
}

KERNEL_FN Vec3 inertia_rotate(Inertia I, Vec3 w) {
    return inertia_mul(I, spatial(w, vec3_zero())).ang;
}

/* The two 3 x 3 matrices of 2B x = V x* (I x) - I (V x x) + x x* (I V), which depends on the angular part of x only:
 * column k of the moment, and of the force 2 e_k x (I V).lin. */
KERNEL_FN void link_coriolis(Inertia I, Spatial V, real *K) {
    Vec3 w = V.ang, u = V.lin;
    Spatial p = inertia_mul(I, V);
    Vec3 Iw = inertia_rotate(I, w);
    for (int k = 0; k < 3; k++) {
        Vec3 e = vec3_unit(k);
        Vec3 m = vec3_cross_add(w, inertia_rotate(I, e), vec3_cross(e, Iw));
        m = vec3_sub(m, inertia_rotate(I, vec3_cross(w, e)));
        m = vec3_fma(real_of(2), vec3_cross(I.mc, vec3_cross(e, u)), m);
        vec3_store(K + 3 * k, m);
        vec3_store(K + 9 + 3 * k, vec3_scale(real_of(2), vec3_cross(e, p.lin)));
    }
}

/* Inertia, Coriolis matrices and wrench of link l, without applied forces. */
STAGE_FN void gradient_link_dynamics(const Context *ctx, const Gradient *g, int l) {
    Inertia I = link_inertia(ctx, l);
    Spatial V = spatial_load(FM(V) + 6 * l);
    real share = link_gravity_share(ctx, l);
    Vec3 gravity = field_get_vec3(STAGE_CONSTANTS->gravity, 0, ctx->pack);
    real *weight = GRAD(gravity) + 4 * l;
    weight[0] = share * I.m;
    vec3_store(weight + 1, vec3_scale(share, I.mc));
    Spatial F = inertia_mul(I, spatial_load(GRAD(a) + 6 * l));
    F = spatial_add(F, spatial_cross_force(V, inertia_mul(I, V)));
    F = spatial_sub(F, spatial(vec3_cross(vec3_load(weight + 1), gravity), vec3_scale(weight[0], gravity)));
    inertia_store(GRAD(I) + 10 * l, I);
    link_coriolis(I, V, GRAD(K) + 18 * l);
    spatial_store(GRAD(F) + 6 * l, F);
    if (ctx->args->implicit_gyroscopic)
        gradient_gyroscopic(ctx, g, l);
}

KERNEL_FN void gather_numbers(real *x, int n, int l, int child) {
    for (int i = 0; i < n; i++)
        x[n * l + i] = x[n * l + i] + x[n * child + i];
}

/* Columns, accelerations, and subtree sums, at (q, v0) and the v of the end. */
STAGE_FN void gradient_twists(const Context *ctx, const Gradient *g) {
    const SapPlan *plan = &ctx->args->plan;
    forward_kinematics(ctx, FM(q), FM(v0));
    for (int i = 0; i < plan->nl; i++)
        gradient_link_twists(ctx, g, plan->level_link[i]);
    for (int l = 0; l < plan->nl; l++)
        gradient_link_dynamics(ctx, g, l);
    for (int i = plan->nl - 1; i >= 0; i--) {
        int l = plan->level_link[i];
        for (int k = 0; k < plan->link[l].num_children; k++) {
            int child = plan->child[plan->link[l].first_child + k];
            gather_numbers(GRAD(I), 10, l, child);
            gather_numbers(GRAD(gravity), 4, l, child);
            gather_numbers(GRAD(K), 18, l, child);
            gather_numbers(GRAD(F), 6, l, child);
        }
    }
}
