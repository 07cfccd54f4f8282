/* Copies what free motion computed into the caller's f64 arrays, in the layouts of SapFreeMotion. */

KERNEL_FN SapRows inspect_rows(double *data, int n) {
    SapRows rows;
    rows.data = data;
    rows.stride = n;
    rows.is_f64 = 1;
    return rows;
}

STAGE_FN void inspect_vector(const Context *ctx, double *data, const real *x, int n, mask which) {
    if (data)
        TEAM_FOR(i, n)
            row_put(inspect_rows(data, n), i, x[i], which, ctx->pack);
}

/* Dense and symmetric; entries off the tree's pattern are left as they are (zero). */
STAGE_FN void inspect_matrix(const Context *ctx, mask which) {
    const SapPlan *plan = &ctx->args->plan;
    int nv = plan->nv;
    SapRows rows = inspect_rows(ctx->args->A, nv * nv);
    TEAM_FOR(e, plan->tree.nnz) {
        const SapEntry *entry = &plan->tree.entry[e];
        int at = plan->tree.row[entry->row].start + entry->column;
        int i = entry->row, j = plan->tree.ancestor[at];
        row_put(rows, nv * i + j, SCRATCH(A)[at], which, ctx->pack);
        row_put(rows, nv * j + i, SCRATCH(A)[at], which, ctx->pack);
    }
}

/* Velocity and bias acceleration of the body's origin: with d from O to it,
 * v = V.lin + omega x d,  a = a.lin + alpha x d + omega x v (from the spatial to the acceleration of a material point) */
STAGE_FN void inspect_body(const Context *ctx, int l, mask which) {
    const SapStepArgs *args = ctx->args;
    int body = args->plan.link[l].body, nb = args->plan.nb;
    Pose X = pose_load(SCRATCH(X) + 7 * l);
    Vec3 d = vec3_sub(X.p, tree_origin(ctx, l));
    Spatial V = spatial_load(SCRATCH(V) + 6 * l), a = spatial_load(SCRATCH(a) + 6 * l);
    Vec3 v = spatial_at(V, d);
    if (args->body_pose) {
        row_put_vec3(inspect_rows(args->body_pose, 7 * nb), 7 * body, X.p, which, ctx->pack);
        row_put_quat(inspect_rows(args->body_pose, 7 * nb), 7 * body + 3, X.q, which, ctx->pack);
    }
    if (args->body_velocity) {
        row_put_vec3(inspect_rows(args->body_velocity, 6 * nb), 6 * body, V.ang, which, ctx->pack);
        row_put_vec3(inspect_rows(args->body_velocity, 6 * nb), 6 * body + 3, v, which, ctx->pack);
    }
    if (args->body_bias) {
        Vec3 a_O = vec3_cross_add(V.ang, v, spatial_at(a, d));
        row_put_vec3(inspect_rows(args->body_bias, 6 * nb), 6 * body, a.ang, which, ctx->pack);
        row_put_vec3(inspect_rows(args->body_bias, 6 * nb), 6 * body + 3, a_O, which, ctx->pack);
    }
}

STAGE_FN void inspect_free_motion(const Context *ctx, mask which) {
    const SapStepArgs *args = ctx->args;
    inspect_vector(ctx, args->v_star, SCRATCH(v), args->plan.nv, which);
    inspect_vector(ctx, args->tau, SCRATCH(f), args->plan.nv, which);
    inspect_vector(ctx, args->v0, SCRATCH(v0), args->plan.nv, which);
    if (args->A)
        inspect_matrix(ctx, which);
    TEAM_FOR(l, args->plan.nl)
        inspect_body(ctx, l, which);
}
