/* The method cone with its starts and safeguards. docs/dual.md#cone. */

/* Solves the lanes of `which` from `best` (warm) or from nothing. limit: iterations of one run. */
STAGE_FN void cone_attempts(Dual *dual, mask which, mask warm, int limit) {
    real per = dual->norm / real_sqrt(dual->count), zero = real_of(0);
    mask done = which & (dual->residual <= dual->tolerance);
    dual->optimal = dual->optimal | done;
    which = which & mask_not(done);
    /* warm: a world that is not done after 12 iterations starts again cold */
    mask left = which;
    if (mask_any(which & warm)) {
        real size = per * real_min(real_max(dual->residual, real_of(K(1e-4))), real_of(1));
        mask unbounded = dual->unbounded;
        cone_run(dual, which & warm, mask_all(), size * size, limit < 12 ? limit : 12);
        dual->unbounded = unbounded;
        left = which & mask_not(dual->optimal);
        dual_reopen(dual, left);
    }
    if (mask_any(left))
        cone_run(dual, left, mask_none(), per * per, limit);
    /* restart from best, close to the path */
    left = which & (dual->limit | dual->no_descent);
    if (limit > 0 && mask_any(left)) {
        real size = K(1e-3) * per;
        dual_reopen(dual, left);
        cone_run(dual, left, mask_all(), size * size, limit);
        dual->safeguards = real_max(dual->safeguards, real_select(left, real_of(1), zero));
    }
    left = which & (dual->limit | dual->no_descent);
    if (limit > 0 && mask_any(left)) {
        dual_reopen(dual, left);
        augmented_run(dual, left, limit + limit / 2);
        dual->safeguards = real_max(dual->safeguards, real_select(left, real_of(2), zero));
    }
}

/* Solves the lanes of `which`; those with contradictory targets once more with compliance. */
STAGE_FN void cone_convex(Dual *dual, mask which, mask warm) {
    int limit = dual_limit(dual, 40);
    cone_attempts(dual, which, warm, limit);
    mask contradictory = which & dual->unbounded & mask_not(dual->optimal);
    if (!mask_any(contradictory))
        return;
    dual_soften(dual, contradictory);
    cone_attempts(dual, contradictory, mask_none(), limit);
}
