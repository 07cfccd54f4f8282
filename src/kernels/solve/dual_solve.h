/* The dual solvers as one function: load, method, results. */

/* Never worse than no impulse at all: lanes whose cost is above 0 take x = Proj(0), if that is 0. */
STAGE_FN void dual_guard(Dual *dual) {
    dual_apply(dual, dual->best, dual->image);
    real cost = dual_cost(dual, dual->best, dual->image);
    mask worse = (dual->limit | dual->no_descent) & mask_not(cost <= K(1e-9) * dual->norm * dual->norm);
    if (!mask_any(worse))
        return;
    dual_forget(dual, worse);
}

/* SAP_WORLD_... */
KERNEL_FN bits dual_status(const Dual *dual) {
    bits none = real_bits(real_of(0)), status = none;
    mask failed = dual->bad_numbers | dual->bad_parameters;
    status = status | bits_select(dual->bad_numbers, none + SAP_WORLD_NONFINITE_STATE, none);
    status = status | bits_select(dual->bad_parameters, none + SAP_WORLD_BAD_PARAMETERS, none);
    bits end = bits_select(dual->optimal, none + SAP_WORLD_OPTIMAL, none);
    end = end | bits_select(dual->settled, none + SAP_WORLD_COST_SETTLED, none);
    end = end | bits_select(dual->limit, none + SAP_WORLD_ITERATION_LIMIT, none);
    end = end | bits_select(dual->no_descent, none + SAP_WORLD_NO_DESCENT, none);
    end = end | bits_select(dual->unbounded, none + SAP_WORLD_UNBOUNDED, none);
    end = end | bits_select(dual->not_coulomb, none + SAP_WORLD_COULOMB_NOT_CONVERGED, none);
    return status | bits_select(failed, none, end);
}

/* What a block does at the answer (SapDualRegion), as a number. image = P best. */
KERNEL_FN real dual_region(const Dual *dual, int b, real largest) {
    const scalar open_part = SAP_PRECISION == 64 ? K(1e-9) : K(1e-5);
    int row = dual_row(dual, b), kind = dual->args->kind[b], normal = dual_is_cone(dual, b) ? row + 2 : row;
    real open = real_of(SAP_DUAL_OPEN), stick = real_of(SAP_DUAL_STICK), slide = real_of(SAP_DUAL_SLIDE);
    real square = real_of(0), still = real_max(real_of(K(1e-8)), dual->tolerance) * dual->norm;
    for (int i = row; i <= normal; i++) {
        real z = dual->image[i] - dual->q[i];
        square = real_fma(z, z, square);
    }
    if (kind == SAP_DUAL_FREE)
        return stick;
    real x = dual->best[normal], region = real_select(real_sqrt(square) <= still, stick, slide);
    if (kind == SAP_DUAL_BOX)
        return real_select((x > dual->lo[normal]) & (x < dual->hi[normal]), stick, region);
    return real_select(mask_not(x > open_part * largest), open, region);
}

/* Writes one integer per problem; NULL = absent. */
KERNEL_FN void dual_put_int(const Dual *dual, int32_t *to, int stride, int i, real value) {
    FOR_LANES(l) {
        if (to && l < dual->pack->count)
            to[(long long)dual->pack->world[l] * stride + i] = (int32_t)LANE(value, l);
    }
}

/* Lanes past the end of the pack repeat its last problem and store nothing. */
KERNEL_FN mask dual_lanes(const Dual *dual) {
    real lane = real_of(0);
    FOR_LANES(l) LANE(lane, l) = (scalar)l;
    return lane < (scalar)dual->pack->count;
}

/* z = (W + R) l - b of row i, with the caller's W, for l in work[0]. */
KERNEL_FN real dual_velocity(const Dual *dual, int i) {
    real s = -buffer_get(dual->args->b, i, dual->pack);
    for (int j = 0; j < dual->rows; j++)
        s = real_fma(j <= i ? dual_W(dual, i, j) : dual_W(dual, j, i), dual->work[0][j], s);
    return s;
}

/* Impulses, velocities, cost. */
STAGE_FN void dual_store_rows(Dual *dual) {
    const SapDualArgs *args = dual->args;
    mask lanes = dual_lanes(dual), failed = dual->bad_numbers | dual->bad_parameters;
    real *l = dual->work[0], *z = dual->work[1];
    TEAM_FOR(i, dual->rows)
        l[i] = dual->d[i] * dual->best[i];
    TEAM_SYNC(); /* rows of z read all impulses */
    TEAM_FOR(i, dual->rows) {
        z[i] = real_select(failed, real_of(0), dual_velocity(dual, i));
        buffer_put(args->impulse, i, l[i], lanes, dual->pack);
        if (args->velocity.data)
            buffer_put(args->velocity, i, z[i], lanes, dual->pack);
    }
    TEAM_SYNC(); /* the cost reads all rows */
    /* 1/2 l'(W + R) l - b'l = 1/2 l'(z - b) */
    real cost = real_of(0);
    for (int i = 0; i < dual->rows; i++) {
        real b = real_select(failed, real_of(0), buffer_get(args->b, i, dual->pack));
        cost = real_fma(K(0.5) * l[i], z[i] - b, cost);
    }
    TEAM_ONCE() {
        if (args->cost.data)
            buffer_put(args->cost, 0, cost, lanes, dual->pack);
        if (args->residual.data)
            buffer_put(args->residual, 0, real_select(failed, real_of(0), dual->residual), lanes, dual->pack);
    }
}

/* Status, counts, regions. */
STAGE_FN void dual_store_report(Dual *dual) {
    const SapDualArgs *args = dual->args;
    real active = real_of(0), largest = real_of(0), zero = real_of(0), one = real_of(1);
    dual_apply(dual, dual->best, dual->image);
    for (int b = 0; b < dual->blocks; b++) {
        int normal = dual_row(dual, b) + (dual_is_cone(dual, b) ? 2 : 0);
        real x = dual->best[normal], lo = dual_is_cone(dual, b) ? zero : dual->lo[normal];
        mask at_hi = dual_is_cone(dual, b) ? mask_none() : x >= dual->hi[normal];
        active = active + real_select((dual->used[b] > K(0.0)) & (x > lo) & mask_not(at_hi), one, zero);
        largest = real_max(largest, x);
    }
    TEAM_FOR(b, dual->blocks)
        dual_put_int(dual, args->region, dual->blocks, b, dual_region(dual, b, largest));
    TEAM_ONCE() {
        dual_put_int(dual, args->iterations, 1, 0, dual->iterations);
        dual_put_int(dual, args->inner_iterations, 1, 0, dual->inner_iterations);
        dual_put_int(dual, args->safeguards, 1, 0, dual->safeguards);
        dual_put_int(dual, args->active, 1, 0, active);
        bits status = dual_status(dual);
        FOR_LANES(l) {
            if (l < dual->pack->count)
                args->status[dual->pack->world[l]] = (uint32_t)LANE(status, l);
        }
    }
}

/* Solves the problems of a pack. */
STAGE_FN void dual_solve(const SapDualArgs *args, const SapPack *pack, real *scratch) {
    Dual dual;
    dual_open(&dual, args, pack, scratch);
    dual_load(&dual);
    dual_start(&dual);
    switch (args->options.method) {
    case SAP_DUAL_CONE: cone_solve(&dual); break;
    case SAP_DUAL_PGS:
    case SAP_DUAL_PGS_ROWS: pgs_solve(&dual); break;
    case SAP_DUAL_ACTIVE_SET:
    case SAP_DUAL_ACTIVE_SET_SINGLE: active_set_solve(&dual); break;
    }
    dual_guard(&dual);
    dual_store_rows(&dual);
    dual_store_report(&dual);
}
