/* Candidates: the contact points of the pairs of a chunk, before they become records. docs/collision.md. */

/* A candidate: a contact point before it becomes a record. Offsets in reals. */
enum {
    CANDIDATE_POINT0 = 0, /* in the frame of body 0 */
    CANDIDATE_POINT1 = 3, /* in the frame of body 1 */
    CANDIDATE_NORMAL = 6, /* in world axes */
    CANDIDATE_GAP = 9,    /* d - m0 - m1 */
    CANDIDATE_VALID = 10  /* 1 or 0 */
};

/* Candidate k of the pair at `place` in the chunk. */
KERNEL_FN real *candidate_at(const Context *ctx, int place, int k) {
    return COLLIDE(candidate) + (place * ctx->args->collide.max_contacts + k) * SAP_CANDIDATE_SIZE;
}

/* The pairs of the chunk. */
KERNEL_FN SapPair *collide_chunk(const Context *ctx) {
    return (SapPair *)COLLIDE_INTS(chunk);
}

/* ---- points ---- */

KERNEL_FN Solid shape_solid(const Context *ctx, int s) {
    Solid solid;
    solid.type = ctx->args->plan.shape_type[s];
    solid.mesh = ctx->args->plan.shape_mesh[s];
    solid.size = field_get_vec3(STAGE_CONSTANTS->shape_size, 3 * s, ctx->pack);
    return solid;
}

/* The pose b in the frame of the pose a. */
KERNEL_FN Pose pose_relative(Pose a, Pose b) {
    Quat inverse = quat_conjugate(a.q);
    Pose r;
    r.p = quat_rotate(inverse, vec3_sub(b.p, a.p));
    r.q = quat_mul(inverse, b.q);
    return r;
}

/* Orientation of the first shape of a pair. */
KERNEL_FN Quat pair_turn(const Context *ctx, const SapPair *pair) {
    return quat_load(COLLIDE(pose) + 7 * pair->shape[0] + 3);
}

/* Converts a point of the manifold to a candidate, in body frames and world axes. X is the pose of shape 1
 * in shape 0, turn the orientation of shape 0. */
STAGE_FN void candidate_store(const Context *ctx, const SapPair *pair, Pose X, Quat turn, const ContactPoint *at,
                              real reach, mask near, real *candidate) {
    if (SAP_LANES > 1 && !mask_any(near & at->valid & (at->d <= reach))) { /* most pairs are near and do not touch */
        candidate[CANDIDATE_VALID] = real_of(0);
        return;
    }
    Pose body0 = shape_in_body(ctx, pair->shape[0]), body1 = shape_in_body(ctx, pair->shape[1]);
    Quat inverse = quat_conjugate(X.q);
    Vec3 p1 = quat_rotate(inverse, vec3_sub(vec3_fma(at->d, at->n, at->p), X.p));
    vec3_store(candidate + CANDIDATE_POINT0, vec3_add(body0.p, quat_rotate(body0.q, at->p)));
    vec3_store(candidate + CANDIDATE_POINT1, vec3_add(body1.p, quat_rotate(body1.q, p1)));
    vec3_store(candidate + CANDIDATE_NORMAL, quat_rotate(turn, at->n));
    candidate[CANDIDATE_GAP] = at->d - field_get(STAGE_CONSTANTS->shape_margin, pair->shape[0], ctx->pack) -
                               field_get(STAGE_CONSTANTS->shape_margin, pair->shape[1], ctx->pack);
    candidate[CANDIDATE_VALID] = real_select(near & at->valid & (at->d <= reach), real_of(1), real_of(0));
}

/* Reduces the points of a closed form to max_contacts: the deepest, and those that
 * extend farthest (manifold_reduce). */
STAGE_FN void collide_reduce(const Context *ctx, const SapPair *pair, Manifold *m) {
    ContactPoint all[MANIFOLD_MAX];
    FlatPoint flat[MANIFOLD_MAX];
    Measure by;
    int n = m->count;
    for (int k = 0; k < n; k++)
        all[k] = m->at[k];
    by.size = field_get(STAGE_CONSTANTS->shape_bound, 4 * pair->shape[1] + 3, ctx->pack); /* shape 0 may be a plane */
    by.tie = K(NARROW_TIE) * by.size;
    by.turns = false;
    manifold_reduce(all, n, ctx->args->collide.max_contacts, &by, flat, m);
}

/* Finds the points of a pair and writes them as candidates to its place in the chunk. If the pair waits, the place has
 * X, and the number of its candidates is NARROW_DEFERRED. */
STAGE_FN void collide_pair(const Context *ctx, const SapPair *pair, int place) {
    Solid a = shape_solid(ctx, pair->shape[0]), b = shape_solid(ctx, pair->shape[1]);
    Pose X =
        pose_relative(pose_load(COLLIDE(pose) + 7 * pair->shape[0]), pose_load(COLLIDE(pose) + 7 * pair->shape[1]));
    real reach = shape_reach(ctx, pair->shape[0]) + shape_reach(ctx, pair->shape[1]);
    mask near = pair_near(ctx, pair->shape[0], pair->shape[1]);
    Manifold m;
    narrow_phase(ctx, &a, &b, X, reach, near, &m);
    if (m.count > ctx->args->collide.max_contacts)
        collide_reduce(ctx, pair, &m);
    for (int k = 0; k < m.count; k++)
        candidate_store(ctx, pair, X, pair_turn(ctx, pair), &m.at[k], reach, near, candidate_at(ctx, place, k));
    if (CONVEX_DEFERRED && m.count == NARROW_DEFERRED)
        pose_store(candidate_at(ctx, place, 0), X);
    COLLIDE_INTS(num_candidates)[place] = m.count;
}
