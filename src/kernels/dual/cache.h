/* The contact cache: forces of the last step, from which the next one starts. docs/dual.md#warm-start.
 *
 * Entry k of a world is its contact record k: the two sides, the caller's key of the contact or its index within its
 * pair, the normal and the force on side 1 in world axes. A contact finds the entry of the same key whose normal is
 * within 15 degrees of its own. Entries live one step; an entry whose first side is 0 ends the list, so a row of zeros
 * is empty. Rows of dofs are cached per dof. Forces, not impulses, so that a change of h needs no correction. */

enum { CACHE_KEY = 3, CACHE_NUMBERS = 6, CACHE_TERMS = JOINT_ROWS };
#define CACHE_COS_15 0.9659258262890683

KERNEL_FN bool cache_exists(const Context *ctx) {
    const SapReportArgs *r = &ctx->args->report;
    return ctx->args->dual->warm_start && r->cache_key && r->cache && r->dof_cache;
}

/* A side as a number that is not 0: its shape, or its link if it has none. */
KERNEL_FN int cache_side(const Context *ctx, int c, int side) {
    int shape = SLOT_SETUP_INTS(shape, c)[side];
    return shape >= 0 ? shape + 1 : -(SLOT_SETUP_INTS(link, c)[side] + 2);
}

/* The key of slot c in lane l. */
KERNEL_FN void cache_key(const Context *ctx, int c, int l, int key[CACHE_KEY]) {
    key[0] = cache_side(ctx, c, 0);
    key[1] = cache_side(ctx, c, 1);
    key[2] = 0;
    if (ctx->args->dual->contact_key) {
        long long first = (long long)ctx->pack->world[l] * ctx->args->contacts.given_capacity;
        key[2] = ctx->args->dual->contact_key[first + SLOT_SETUP_INTS(record, c)[l]];
        return;
    }
    for (int d = 0; d < c; d++)
        key[2] +=
            cache_side(ctx, d, 0) == key[0] && cache_side(ctx, d, 1) == key[1] && SLOT_SETUP_INTS(record, d)[l] >= 0;
}

KERNEL_FN double cache_dot(const double *a, const double *b) {
    return fma(a[2], b[2], fma(a[1], b[1], a[0] * b[0]));
}

/* The entry of this key and normal in the row of a world, or -1. */
KERNEL_FN int cache_find(const int *keys, const double *numbers, int capacity, const int key[CACHE_KEY],
                         const double *n) {
    for (int e = 0; e < capacity && keys[CACHE_KEY * e] != 0; e++) {
        const int *k = keys + CACHE_KEY * e;
        if (k[0] == key[0] && k[1] == key[1] && k[2] == key[2])
            return cache_dot(numbers + CACHE_NUMBERS * e, n) > CACHE_COS_15 ? e : -1;
    }
    return -1;
}

/* x, or 0 if a caller has written a number that is not finite. */
KERNEL_FN double cache_finite(double x) {
    return x - x == 0 ? x : 0;
}

/* The impulses of slot c in lane l from the cache; 0 without an entry. */
KERNEL_FN void cache_load_contact(const Context *ctx, Dual *dual, int c, int l) {
    const SapReportArgs *r = &ctx->args->report;
    int capacity = ctx->args->contacts.capacity, record = SLOT_SETUP_INTS(record, c)[l], key[CACHE_KEY];
    long long first = (long long)ctx->pack->world[l] * capacity;
    const double *numbers = r->cache + CACHE_NUMBERS * first;
    double frame[9];
    for (int i = 0; i < 9; i++)
        frame[i] = (double)LANE(SLOT_SETUP(frame, c)[i], l);
    cache_key(ctx, c, l, key);
    int entry = cache_find(r->cache_key + CACHE_KEY * first, numbers, capacity, key, frame + 6);
    for (int a = 0; a < 3 && entry >= 0; a++) {
        double force = cache_dot(frame + 3 * a, numbers + CACHE_NUMBERS * entry + 3);
        LANE(dual->guess[3 * record + a], l) = (scalar)cache_finite(ctx->args->h * force);
    }
}

/* The impulse of row r of the dofs in lane l. A row that acts in other worlds of the pack only is zero and stays 0. */
KERNEL_FN void cache_load_dof(const Context *ctx, Dual *dual, int r, int l) {
    int i = DUAL_INTS(source)[r], row = 3 * *DUAL_INTS(contacts) + r;
    if (i >= ctx->args->plan.nv) /* constraints and tendons start from 0 */
        return;
    if (LANE(dual->P[packed_at(row, row)], l) == K(0.0))
        return;
    long long at = ((long long)ctx->pack->world[l] * ctx->args->plan.nv + i) * CACHE_TERMS + DUAL_INTS(term)[r];
    LANE(dual->guess[row], l) = (scalar)cache_finite(ctx->args->h * ctx->args->report.dof_cache[at]);
}

/* Makes the cached impulses the guess. Worlds that find none start cold. */
STAGE_FN void cache_load(const Context *ctx, Dual *dual) {
    if (!cache_exists(ctx))
        return;
    TEAM_FOR(c, ctx->num_slots)
        FOR_LANES(l) {
            if (SLOT_SETUP_INTS(record, c)[l] >= 0 && LANE(*SLOT_MOVES(c), l) != K(0.0))
                cache_load_contact(ctx, dual, c, l);
        }
    TEAM_FOR(r, dual->blocks - *DUAL_INTS(contacts))
        FOR_LANES(l) {
            if (l < ctx->pack->count)
                cache_load_dof(ctx, dual, r, l);
        }
    TEAM_SYNC(); /* every thread looks at the whole guess */
    real sum = real_of(0);
    for (int i = 0; i < dual->rows; i++)
        sum = sum + real_abs(dual->guess[i]);
    dual->warm = sum > K(0.0);
}

/* Writes the entry of slot c in lane l. */
KERNEL_FN void cache_store_contact(const Context *ctx, int c, int l) {
    const SapReportArgs *r = &ctx->args->report;
    long long at = (long long)ctx->pack->world[l] * ctx->args->contacts.capacity + SLOT_SETUP_INTS(record, c)[l];
    double *numbers = r->cache + CACHE_NUMBERS * at, gamma[3];
    cache_key(ctx, c, l, r->cache_key + CACHE_KEY * at);
    for (int a = 0; a < 3; a++)
        gamma[a] = (double)LANE(SLOT(gamma, c)[a], l);
    for (int i = 0; i < 3; i++) {
        double axis[3] = {(double)LANE(SLOT_SETUP(frame, c)[i], l), (double)LANE(SLOT_SETUP(frame, c)[3 + i], l),
                          (double)LANE(SLOT_SETUP(frame, c)[6 + i], l)};
        numbers[i] = axis[2];
        numbers[3 + i] = cache_dot(axis, gamma) / ctx->args->h;
    }
}

/* Writes the cache of the worlds in `which`; l holds the impulses of the rows. */
STAGE_FN void cache_store(const Context *ctx, const Dual *dual, const real *impulse, mask which) {
    const SapStepArgs *args = ctx->args;
    int nv = args->plan.nv, capacity = args->contacts.capacity, contacts = *DUAL_INTS(contacts);
    if (!cache_exists(ctx))
        return;
    TEAM_FOR(c, ctx->num_slots)
        FOR_LANES(l) {
            if (mask_lane(which, l) && SLOT_SETUP_INTS(record, c)[l] >= 0)
                cache_store_contact(ctx, c, l);
        }
    TEAM_FOR(i, nv)
        FOR_LANES(l) {
            double *row = args->report.dof_cache + ((long long)ctx->pack->world[l] * nv + i) * CACHE_TERMS;
            for (int t = 0; t < CACHE_TERMS && mask_lane(which, l); t++)
                row[t] = 0;
            for (int r = 0; r < dual->blocks - contacts && mask_lane(which, l); r++)
                if (DUAL_INTS(source)[r] == i)
                    row[DUAL_INTS(term)[r]] = (double)LANE(impulse[3 * contacts + r], l) / args->h;
        }
    TEAM_ONCE()
        FOR_LANES(l) {
            int world = ctx->pack->world[l], count = args->contacts.count ? args->contacts.count[world] : 0;
            if (mask_lane(which, l) && count < capacity)
                args->report.cache_key[CACHE_KEY * ((long long)world * capacity + count)] = 0;
        }
}
