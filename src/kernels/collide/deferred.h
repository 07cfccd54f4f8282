/* Collision in two passes, on a GPU. The general narrow phase (convex.h) takes many times longer than closed forms and
 * needs a large workspace, so the threads of a team would wait for the one that runs it. A pair that needs it is
 * deferred instead:
 *
 *   collide   a team per world: records of the pairs with closed forms; deferred pairs are listed
 *   convex    a thread per listed pair, over all worlds: its candidates
 *   merge     a thread per world: inserts these candidates into the records, in the order of pairs (merge.h)
 *
 * Deferred pair k of a world, in the order of pairs, is at the fixed place world most + k, so results do not depend on
 * the order of the list. The records that a world keeps are the given_capacity deepest candidates (ties: the earlier)
 * whatever the order in which they are compared, so it does not matter that merge compares some of them later. If more
 * than `most` pairs of a world would be deferred, the others are solved at once. */

/* The integers of a deferred pair. */
enum {
    DEFERRED_SHAPE = 0,  /* [2] */
    DEFERRED_BEFORE = 2, /* records of the world that come before it */
    DEFERRED_COUNT = 3   /* its candidates, some of which may be invalid; set by convex */
};

/* The place of deferred pair k of a world. */
KERNEL_FN long long deferred_place(const Context *ctx, int world, int k) {
    return (long long)world * ctx->args->collide.deferred.most + k;
}

KERNEL_FN int *deferred_ints(const Context *ctx, long long place) {
    return ctx->args->collide.deferred.ints + place * SAP_DEFERRED_INTS;
}

/* Candidate k of the deferred pair at a place. Before they are found, the first has the pose of shape 1 in shape 0 and
 * the orientation of shape 0. */
KERNEL_FN real *deferred_point(const Context *ctx, long long place, int k) {
    return (real *)ctx->args->collide.deferred.points +
           (place * ctx->args->collide.max_contacts + k) * SAP_CANDIDATE_SIZE;
}

KERNEL_FN SapPair deferred_pair(const int *ints) {
    SapPair pair;
    pair.shape[0] = ints[DEFERRED_SHAPE];
    pair.shape[1] = ints[DEFERRED_SHAPE + 1];
    return pair;
}

/* ---- convex ---- */

/* Finds the candidates of a deferred pair; returns their number. */
STAGE_FN int deferred_solve(const Context *ctx, const SapPair *pair, Pose X, Quat turn, real *candidate) {
    Solid a = shape_solid(ctx, pair->shape[0]), b = shape_solid(ctx, pair->shape[1]);
    real reach = shape_reach(ctx, pair->shape[0]) + shape_reach(ctx, pair->shape[1]);
    WORKSPACE(Manifold, m, CONVEX_WORK(ctx), RESULT_AT);
    m->count = 0;
    narrow_solve(ctx, &a, &b, X, reach, mask_all(), m);
    for (int k = 0; k < m->count; k++)
        candidate_store(ctx, pair, X, turn, &m->at[k], reach, mask_all(), candidate + k * SAP_CANDIDATE_SIZE);
    return m->count;
}

/* The same for the deferred pair at a place of the list. */
STAGE_FN void stage_deferred(const Context *ctx, long long place) {
    int *ints = deferred_ints(ctx, place);
    real *point = deferred_point(ctx, place, 0);
    SapPair pair = deferred_pair(ints);
    Pose X = pose_load(point);
    Quat turn = quat_load(point + 7);
    ints[DEFERRED_COUNT] = deferred_solve(ctx, &pair, X, turn, point);
}

/* ---- collide ---- */

/* Defers the pair at a place of the chunk and returns 0. If no more pairs of the world can be deferred, finds its
 * candidates and returns their number. Called by one thread. */
STAGE_FN int deferred_add(const Context *ctx, int place) {
    const SapDeferredArgs *w = &ctx->args->collide.deferred;
    SapPair pair = collide_chunk(ctx)[place];
    real *candidate = candidate_at(ctx, place, 0);
    Pose X = pose_load(candidate);
    Quat turn = pair_turn(ctx, &pair);
    int world = ctx->pack->world[0], n = w->count[world];
    if (n == w->most)
        return deferred_solve(ctx, &pair, X, turn, candidate);
    int *ints = deferred_ints(ctx, deferred_place(ctx, world, n));
    real *point = deferred_point(ctx, deferred_place(ctx, world, n), 0);
    ints[DEFERRED_SHAPE] = pair.shape[0];
    ints[DEFERRED_SHAPE + 1] = pair.shape[1];
    ints[DEFERRED_BEFORE] = ctx->args->contacts.count[world];
    pose_store(point, X);
    quat_store(point + 7, turn);
    w->count[world] = n + 1;
    return 0;
}

/* A record of the world left its place: fewer records come before the later pairs. */
STAGE_FN void deferred_record_left(const Context *ctx, int world, int record) {
    const SapDeferredArgs *w = &ctx->args->collide.deferred;
    for (int k = 0; w->most > 0 && k < w->count[world]; k++) {
        int *before = deferred_ints(ctx, deferred_place(ctx, world, k)) + DEFERRED_BEFORE;
        *before -= *before > record;
    }
}

/* Lists the deferred pairs of the world, and keeps the gaps of its records if merge may need them. */
STAGE_FN void deferred_list(const Context *ctx) {
    const SapDeferredArgs *w = &ctx->args->collide.deferred;
    const SapContactArgs *c = &ctx->args->contacts;
    int world = ctx->pack->world[0], deferred = w->most > 0 ? w->count[world] : 0;
    if (deferred == 0)
        return;
    TEAM_ONCE() {
        int first = team_take(w->listed, deferred);
        for (int k = 0; k < deferred; k++)
            w->list[first + k] = (int)deferred_place(ctx, world, k);
    }
    if (c->count[world] + deferred * ctx->args->collide.max_contacts > c->given_capacity)
        TEAM_FOR(i, c->count[world])
            ((real *)w->gap)[(long long)world * c->given_capacity + i] = COLLIDE(gap)[i];
}
