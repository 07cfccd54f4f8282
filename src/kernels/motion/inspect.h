/* Copies the results of free motion to the caller's f64 arrays, in the layouts of SapFreeMotion. */

STAGE_FN void inspect_vector(const Context *ctx, double *data, const real *x, int n, mask which) {
    if (data)
        TEAM_FOR(i, n)
            buffer_put(buffer_f64(data, n), i, x[i], which, ctx->pack);
}

/* A as a dense symmetric matrix. Entries off the tree's pattern are not written; the host has set them to zero. */
STAGE_FN void inspect_matrix(const Context *ctx, mask which) {
    const SapPlan *plan = &ctx->args->plan;
    int nv = plan->nv;
    SapBuffer buffer = buffer_f64(ctx->args->inspect->A, nv * nv);
    TEAM_FOR(i, nv)
        for (int t = 0; t <= plan->tree.row[i].depth; t++) {
            int at = plan->tree.row[i].start + t, j = plan->tree.ancestor[at];
            buffer_put(buffer, nv * i + j, FM(A)[at], which, ctx->pack);
            buffer_put(buffer, nv * j + i, FM(A)[at], which, ctx->pack);
        }
}

/* Pose, velocity and bias acceleration of the body's origin. With d from O to the origin,
 *   v = V.lin + omega x d,   a_O = a.lin + alpha x d + omega x v
 * where omega x v turns the spatial acceleration into a material point's. */
STAGE_FN void inspect_body(const Context *ctx, int l, mask which) {
    const SapInspectArgs *args = ctx->args->inspect;
    const SapPlan *plan = &ctx->args->plan;
    int body = plan->link[l].body, nb = plan->nb;
    Pose X = pose_load(FM(X) + 7 * l);
    Vec3 d = vec3_sub(X.p, tree_origin(ctx, l));
    Spatial V = spatial_load(FM(V) + 6 * l), a = spatial_load(FM(a) + 6 * l);
    Vec3 v = spatial_at(V, d);
    if (args->body_pose) {
        buffer_put_vec3(buffer_f64(args->body_pose, 7 * nb), 7 * body, X.p, which, ctx->pack);
        buffer_put_quat(buffer_f64(args->body_pose, 7 * nb), 7 * body + 3, X.q, which, ctx->pack);
    }
    if (args->body_velocity) {
        buffer_put_vec3(buffer_f64(args->body_velocity, 6 * nb), 6 * body, V.ang, which, ctx->pack);
        buffer_put_vec3(buffer_f64(args->body_velocity, 6 * nb), 6 * body + 3, v, which, ctx->pack);
    }
    if (args->body_bias) {
        Vec3 a_O = vec3_cross_add(V.ang, v, spatial_at(a, d));
        buffer_put_vec3(buffer_f64(args->body_bias, 6 * nb), 6 * body, a.ang, which, ctx->pack);
        buffer_put_vec3(buffer_f64(args->body_bias, 6 * nb), 6 * body + 3, a_O, which, ctx->pack);
    }
}

STAGE_FN void inspect_free_motion(const Context *ctx, mask which) {
    const SapInspectArgs *args = ctx->args->inspect;
    int nv = ctx->args->plan.nv;
    inspect_vector(ctx, args->v_star, FM(v), nv, which);
    inspect_vector(ctx, args->tau, FM(f), nv, which);
    inspect_vector(ctx, args->v0, FM(v0), nv, which);
    if (args->A)
        inspect_matrix(ctx, which);
    TEAM_FOR(l, ctx->args->plan.nl)
        inspect_body(ctx, l, which);
}

/* Sets the status and copies the results of free motion. */
STAGE_FN void stage_inspect(const Context *ctx) {
    TEAM_FOR(i, ctx->args->plan.nq)
        FM(q1)[i] = FM(q)[i];
    TEAM_SYNC(); /* the status reads all of q1 */
    put_status(ctx, world_status(ctx));
    if (ctx->args->mean_velocity_forces) /* the second evaluation has the twists of the mean velocity */
        forward_kinematics(ctx, FM(q), FM(v0));
    inspect_free_motion(ctx, pack_lanes(ctx->pack));
}
