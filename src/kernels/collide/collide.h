/* Collision: finds the contacts of a world and writes their records. docs/collision.md.
 *
 *   shapes    X_s = X_body X_shape; a bounding sphere around each, widened by its margin and gap
 *   pairs     those whose bounding spheres overlap in some world of the pack (broad_phase.h)
 *   points    the narrow phase of each pair; a point is a contact where d <= reach = m0 + m1 + g0 + g1
 *   records   in the order of pairs; a world with more contacts than slots keeps the deepest (ties: the earlier)
 *
 * Pairs are processed in chunks: first all pairs of the chunk find their points, then the points are added in order.
 * The result therefore depends neither on the number of lanes nor on the number of threads. */

/* Adds the candidates of the chunk, in order, to the records of the worlds in `which`. */
STAGE_FN void collide_add(const Context *ctx, int num_pairs, mask which) {
    for (int place = 0; place < num_pairs; place++) {
        int n = COLLIDE_INTS(num_candidates)[place];
        if (CONVEX_DEFERRED && n == NARROW_DEFERRED)
            n = mask_any(which) ? deferred_add(ctx, place) : 0;
        for (int k = 0; k < n; k++) {
            const real *candidate = candidate_at(ctx, place, k);
            if (SAP_LANES > 1 && !mask_any(candidate[CANDIDATE_VALID] != K(0.0)))
                continue;
            for (int l = 0; l < ctx->pack->count; l++)
                if (mask_lane(which, l) && LANE(candidate[CANDIDATE_VALID], l) != K(0.0))
                    record_add(ctx, &collide_chunk(ctx)[place], candidate, l);
        }
    }
}

/* ---- the stage ---- */

/* Clears the records of the pack's worlds. */
STAGE_FN void collide_clear(const Context *ctx) {
    const SapContactArgs *c = &ctx->args->contacts;
    for (int l = 0; l < ctx->pack->count; l++)
        c->count[ctx->pack->world[l]] = c->dropped[ctx->pack->world[l]] = 0;
    if (CONVEX_DEFERRED && ctx->args->collide.deferred.most > 0)
        ctx->args->collide.deferred.count[ctx->pack->world[0]] = 0;
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
    PROFILE(ctx, SAP_SECTION_BROAD_PHASE);
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
        PROFILE(ctx, SAP_SECTION_BROAD_PHASE);
        TEAM_ONCE() {
            *COLLIDE_INTS(num_chunk) = broad_take(ctx, collide_chunk(ctx), ctx->args->collide.chunk);
        }
        TEAM_SYNC(); /* all threads read the chunk that one thread took; if it is empty, all records are complete */
        int n = *COLLIDE_INTS(num_chunk);
        if (n == 0)
            break;
        /* their candidates, one pair per thread */
        PROFILE(ctx, SAP_SECTION_NARROW_PHASE);
        TEAM_FOR(i, n)
            collide_pair(ctx, &collide_chunk(ctx)[i], i);
        TEAM_SYNC(); /* one thread reads the candidates of all pairs and overwrites the chunk */
        /* their records, in order */
        PROFILE(ctx, SAP_SECTION_RECORDS);
        TEAM_ONCE() {
            collide_add(ctx, n, finite);
        }
    }
    if (CONVEX_DEFERRED)
        deferred_list(ctx);
}
