/* Collision: finds the contacts of a world and writes their records. docs/collision.md.
 *
 *   shapes    X_s = X_body X_shape; a bounding sphere around each, widened by its margin and gap
 *   pairs     those whose bounding spheres overlap in some world of the pack (broad_phase.h)
 *   points    the narrow phase of each pair; a point is a contact where d <= reach = m0 + m1 + g0 + g1
 *   records   in the order of pairs; a world with more contacts than slots keeps the deepest (ties: the earlier)
 *
 * Pairs are processed in chunks: first all pairs of the chunk find their points, then the points are added in order.
 * The result therefore depends neither on the number of lanes nor on the number of threads. */

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

/* Converts a point of the manifold to a candidate, in body frames and world axes. X is the pose of shape 1
 * in shape 0. */
STAGE_FN void candidate_store(const Context *ctx, const SapPair *pair, Pose X, const ContactPoint *at, real reach,
                              mask near, real *candidate) {
    Pose body0 = shape_in_body(ctx, pair->shape[0]), body1 = shape_in_body(ctx, pair->shape[1]);
    Quat inverse = quat_conjugate(X.q);
    Vec3 p1 = quat_rotate(inverse, vec3_sub(vec3_fma(at->d, at->n, at->p), X.p));
    vec3_store(candidate + CANDIDATE_POINT0, vec3_add(body0.p, quat_rotate(body0.q, at->p)));
    vec3_store(candidate + CANDIDATE_POINT1, vec3_add(body1.p, quat_rotate(body1.q, p1)));
    vec3_store(candidate + CANDIDATE_NORMAL, quat_rotate(quat_load(COLLIDE(pose) + 7 * pair->shape[0] + 3), at->n));
    candidate[CANDIDATE_GAP] = at->d - field_get(STAGE_CONSTANTS->shape_margin, pair->shape[0], ctx->pack) -
                               field_get(STAGE_CONSTANTS->shape_margin, pair->shape[1], ctx->pack);
    candidate[CANDIDATE_VALID] = real_select(near & at->valid & (at->d <= reach), real_of(1), real_of(0));
}

/* Reduces the points of a closed form to max_contacts: the deepest, and those that
 * extend farthest (manifold_reduce). */
STAGE_FN void collide_reduce(const Context *ctx, const SapPair *pair, Manifold *m) {
    ContactPoint all[MANIFOLD_MAX];
    Measure by;
    int n = m->count;
    for (int k = 0; k < n; k++)
        all[k] = m->at[k];
    by.size = field_get(STAGE_CONSTANTS->shape_bound, 4 * pair->shape[1] + 3, ctx->pack); /* shape 0 may be a plane */
    by.tie = K(NARROW_TIE) * by.size;
    by.turns = false;
    manifold_reduce(all, n, ctx->args->collide.max_contacts, &by, m);
}

/* Finds the points of a pair and writes them as candidates to its place in the chunk. */
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
        candidate_store(ctx, pair, X, &m.at[k], reach, near, candidate_at(ctx, place, k));
    COLLIDE_INTS(num_candidates)[place] = m.count;
}

/* ---- records ---- */

/* Copies record `from` of a world over record `to`. */
STAGE_FN void record_move(const SapContactArgs *c, long long from, long long to) {
    for (int side = 0; side < 2; side++) {
        c->shape[side][to] = c->shape[side][from];
        if (c->body[side])
            c->body[side][to] = c->body[side][from];
        for (int i = 0; i < 3; i++)
            buffer_write(c->point[side], 3 * to + i, buffer_read(c->point[side], 3 * from + i));
        buffer_write(c->margin[side], to, buffer_read(c->margin[side], from));
    }
    for (int i = 0; i < 3; i++)
        buffer_write(c->normal, 3 * to + i, buffer_read(c->normal, 3 * from + i));
}

KERNEL_FN int shape_body(const SapPlan *plan, int s) {
    return plan->shape_link[s] < 0 ? -1 : plan->link[plan->shape_link[s]].body;
}

/* Writes the candidate of lane l to a record. Parameters NaN: those of the shapes apply. */
STAGE_FN void record_write(const Context *ctx, const SapPair *pair, const real *candidate, int l, long long at) {
    (void)l;
    const SapContactArgs *c = &ctx->args->contacts;
    for (int side = 0; side < 2; side++) {
        int s = pair->shape[side], first = side ? CANDIDATE_POINT1 : CANDIDATE_POINT0;
        c->shape[side][at] = s;
        if (c->body[side])
            c->body[side][at] = shape_body(&ctx->args->plan, s);
        for (int i = 0; i < 3; i++)
            buffer_write(c->point[side], 3 * at + i, (double)LANE(candidate[first + i], l));
        real margin = field_get(STAGE_CONSTANTS->shape_margin, s, ctx->pack);
        buffer_write(c->margin[side], at, (double)LANE(margin, l));
    }
    for (int i = 0; i < 3; i++)
        buffer_write(c->normal, 3 * at + i, (double)LANE(candidate[CANDIDATE_NORMAL + i], l));
    real none = real_nan();
    buffer_write(c->stiffness, at, (double)LANE(none, l));
    buffer_write(c->tau, at, (double)LANE(none, l));
    buffer_write(c->mu, at, (double)LANE(none, l));
}

/* The shallowest record of lane l; of equal gaps the latest. */
STAGE_FN int record_shallowest(const real *gap, int n, int l) {
    (void)l;
    int worst = 0;
    for (int i = 1; i < n; i++)
        if (LANE(gap[i], l) >= LANE(gap[worst], l))
            worst = i;
    return worst;
}

/* Adds the candidate to the records of lane l's world. If they are full, drops the shallowest, and the later records
 * move up. */
STAGE_FN void record_add(const Context *ctx, const SapPair *pair, const real *candidate, int l) {
    const SapContactArgs *c = &ctx->args->contacts;
    int world = ctx->pack->world[l], n = c->count[world];
    long long first = (long long)world * c->given_capacity;
    real *gap = COLLIDE(gap);
    if (n == c->given_capacity) {
        int worst = record_shallowest(gap, n, l);
        c->dropped[world]++;
        if (!(LANE(candidate[CANDIDATE_GAP], l) < LANE(gap[worst], l)))
            return;
        for (int i = worst; i < n - 1; i++) {
            record_move(c, first + i + 1, first + i);
            LANE(gap[i], l) = LANE(gap[i + 1], l);
        }
        n--;
    }
    record_write(ctx, pair, candidate, l, first + n);
    LANE(gap[n], l) = LANE(candidate[CANDIDATE_GAP], l);
    c->count[world] = n + 1;
}

/* The pairs of the chunk. */
KERNEL_FN SapPair *collide_chunk(const Context *ctx) {
    return (SapPair *)COLLIDE_INTS(chunk);
}

/* Adds the candidates of the chunk, in order, to the records of the worlds in `which`. */
STAGE_FN void collide_add(const Context *ctx, int num_pairs, mask which) {
    for (int place = 0; place < num_pairs; place++)
        for (int k = 0; k < COLLIDE_INTS(num_candidates)[place]; k++) {
            const real *candidate = candidate_at(ctx, place, k);
            for (int l = 0; l < ctx->pack->count; l++)
                if (mask_lane(which, l) && LANE(candidate[CANDIDATE_VALID], l) != K(0.0))
                    record_add(ctx, &collide_chunk(ctx)[place], candidate, l);
        }
}

/* ---- the stage ---- */

/* Clears the records of the pack's worlds. */
STAGE_FN void collide_clear(const Context *ctx) {
    const SapContactArgs *c = &ctx->args->contacts;
    for (int l = 0; l < ctx->pack->count; l++)
        c->count[ctx->pack->world[l]] = c->dropped[ctx->pack->world[l]] = 0;
}

/* Worlds whose whole state is finite; the others get no contacts at all. */
KERNEL_FN mask collide_finite(const Context *ctx) {
    StageView check = FM_VIEW(state_check);
    real sum = real_of(0);
    UNROLL
    for (int l = 0; l < ctx->args->plan.nl; l++)
        sum = sum + view_get(check, l);
    return sum == K(0.0);
}

/* Finds the contacts of the pack's worlds and writes their records. */
STAGE_FN void stage_collide(const Context *ctx) {
    /* shapes in the world, empty records */
    PROFILE(ctx, SAP_STAGE_BROAD_PHASE);
    const SapPlan *plan = &ctx->args->plan;
    bool tree = plan->broad_phase == SAP_BROAD_PHASE_TREE; /* its shapes are placed when something is near */
    UNROLL
    TEAM_FOR(i, tree ? plan->statics.num_placed : plan->ns)
        collide_shape(ctx, tree ? plan->statics.placed[i] : i);
    TEAM_ONCE() {
        collide_clear(ctx);
    }
    TEAM_SYNC(); /* pairs read the poses and bounding spheres of their shapes */
    mask finite = collide_finite(ctx);
    broad_phase(ctx);
    for (;;) {
        /* the pairs of the next chunk */
        PROFILE(ctx, SAP_STAGE_BROAD_PHASE);
        TEAM_ONCE() {
            *COLLIDE_INTS(num_chunk) = broad_take(ctx, collide_chunk(ctx), ctx->args->collide.chunk);
        }
        TEAM_SYNC(); /* all threads read the chunk that one thread took; if it is empty, all records are complete */
        int n = *COLLIDE_INTS(num_chunk);
        if (n == 0)
            return;
        /* their candidates, one pair per thread */
        PROFILE(ctx, SAP_STAGE_NARROW_PHASE);
        TEAM_FOR(i, n)
            collide_pair(ctx, &collide_chunk(ctx)[i], i);
        TEAM_SYNC(); /* one thread reads the candidates of all pairs and overwrites the chunk */
        /* their records, in order */
        PROFILE(ctx, SAP_STAGE_RECORDS);
        TEAM_ONCE() {
            collide_add(ctx, n, finite);
        }
    }
}
