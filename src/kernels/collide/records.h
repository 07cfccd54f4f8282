/* The contact records of a world: in the order of pairs, at most given_capacity. docs/collision.md. */

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

/* Parameters NaN: the shapes' apply. */
KERNEL_FN void record_leave_law(const SapContactArgs *c, long long at, int l) {
    (void)l;
    real none = real_nan();
    buffer_write(c->stiffness, at, (double)LANE(none, l));
    buffer_write(c->tau, at, (double)LANE(none, l));
    buffer_write(c->mu, at, (double)LANE(none, l));
    buffer_write(c->dissipation, at, (double)LANE(none, l));
}

/* Writes the candidate of lane l to a record. */
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
    record_leave_law(c, at, l);
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
        if (CONVEX_DEFERRED)
            deferred_record_left(ctx, world, worst);
        n--;
    }
    record_write(ctx, pair, candidate, l, first + n);
    LANE(gap[n], l) = LANE(candidate[CANDIDATE_GAP], l);
    c->count[world] = n + 1;
}
