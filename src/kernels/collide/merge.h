/* The third launch of collision in two passes (deferred.h): inserts the candidates of the pairs that were deferred into
 * the records of a world, in the order of pairs, and drops the shallowest contacts if they are too many. One thread per
 * world. */

/* The shallowest contact of a world: a record, or a candidate of a deferred pair. */
typedef struct Shallowest {
    int record;      /* -1: none yet, or a candidate */
    real *candidate; /* NULL: a record */
    real gap;
} Shallowest;

/* Contacts are offered in order: of equal gaps the latest stays. */
KERNEL_FN void shallowest_offer(Shallowest *s, int record, real *candidate, real gap) {
    if ((s->record >= 0 || s->candidate) && !(LANE(gap, 0) >= LANE(s->gap, 0)))
        return;
    s->record = record;
    s->candidate = candidate;
    s->gap = gap;
}

KERNEL_FN bool candidate_is_valid(const real *candidate) {
    return LANE(candidate[CANDIDATE_VALID], 0) != K(0.0);
}

/* The shallowest of the world's n records and of the candidates of its deferred pairs. */
STAGE_FN Shallowest merge_shallowest(const Context *ctx, int world, int n, const real *gap) {
    Shallowest s = {-1, 0, real_of(0)};
    int record = 0;
    for (int k = 0; k < ctx->args->collide.deferred.count[world]; k++) {
        long long place = deferred_place(ctx, world, k);
        const int *ints = deferred_ints(ctx, place);
        for (; record < ints[DEFERRED_BEFORE]; record++)
            shallowest_offer(&s, record, 0, gap[record]);
        for (int i = 0; i < ints[DEFERRED_COUNT]; i++) {
            real *candidate = deferred_point(ctx, place, i);
            if (candidate_is_valid(candidate))
                shallowest_offer(&s, -1, candidate, candidate[CANDIDATE_GAP]);
        }
    }
    for (; record < n; record++)
        shallowest_offer(&s, record, 0, gap[record]);
    return s;
}

/* Drops the shallowest contact of the world; true if it was a record. */
STAGE_FN bool merge_drop(const Context *ctx, int world, int n) {
    const SapContactArgs *c = &ctx->args->contacts;
    long long first = (long long)world * c->given_capacity;
    real *gap = (real *)ctx->args->collide.deferred.gap + first;
    Shallowest s = merge_shallowest(ctx, world, n, gap);
    c->dropped[world]++;
    if (s.candidate) {
        s.candidate[CANDIDATE_VALID] = real_of(0);
        return false;
    }
    for (int i = s.record; i < n - 1; i++) {
        record_move(c, first + i + 1, first + i);
        gap[i] = gap[i + 1];
    }
    deferred_record_left(ctx, world, s.record);
    return true;
}

/* The number of candidates of the world's deferred pairs. */
STAGE_FN int merge_count(const Context *ctx, int world) {
    int count = 0;
    for (int k = 0; k < ctx->args->collide.deferred.count[world]; k++) {
        long long place = deferred_place(ctx, world, k);
        for (int i = 0; i < deferred_ints(ctx, place)[DEFERRED_COUNT]; i++)
            count += candidate_is_valid(deferred_point(ctx, place, i));
    }
    return count;
}

/* Inserts the `added` candidates of the deferred pairs into the n records of the world, from the last to the first, so
 * that a record moves once. */
STAGE_FN void merge_insert(const Context *ctx, int world, int n, int added) {
    const SapContactArgs *c = &ctx->args->contacts;
    long long first = (long long)world * c->given_capacity;
    int to = n + added;
    for (int k = ctx->args->collide.deferred.count[world] - 1; k >= 0 && to > n; k--) {
        long long place = deferred_place(ctx, world, k);
        const int *ints = deferred_ints(ctx, place);
        SapPair pair = deferred_pair(ints);
        while (n > ints[DEFERRED_BEFORE]) {
            record_move(c, first + --n, first + --to);
            record_leave_law(c, first + to, 0);
        }
        for (int i = ints[DEFERRED_COUNT] - 1; i >= 0; i--)
            if (candidate_is_valid(deferred_point(ctx, place, i)))
                record_write(ctx, &pair, deferred_point(ctx, place, i), 0, first + --to);
    }
}

/* Completes the records of a world with deferred pairs. */
STAGE_FN void stage_merge(const Context *ctx) {
    const SapContactArgs *c = &ctx->args->contacts;
    int world = ctx->pack->world[0], n = c->count[world], added = merge_count(ctx, world);
    while (n + added > c->given_capacity) {
        if (merge_drop(ctx, world, n))
            n--;
        else
            added--;
    }
    merge_insert(ctx, world, n, added);
    c->count[world] = n + added;
}
