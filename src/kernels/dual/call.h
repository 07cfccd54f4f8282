/* The call sap_dual_solve: problems from the caller's arrays, results into them. */

typedef struct DualCall {
    const SapDualArgs *args;
    const SapPack *pack;
    mask bad_numbers, bad_parameters; /* problems that cannot be solved */
} DualCall;

/* 0, or NaN if x is not finite. */
KERNEL_FN real nan_unless_finite(real x) {
    return x - x;
}

/* ---- loading ---- */

/* (W + R)_ij */
KERNEL_FN real call_W(const DualCall *call, int i, int j) {
    const SapDualArgs *args = call->args;
    real w = buffer_get(args->W, i * args->shape.num_rows + j, call->pack);
    return i == j && args->R.data ? w + buffer_get(args->R, i, call->pack) : w;
}

/* Copies the problems to scratch. */
STAGE_FN void call_load(const DualCall *call, Dual *dual) {
    const SapDualArgs *args = call->args;
    TEAM_FOR(i, dual->rows) {
        for (int j = 0; j <= i; j++)
            dual->P[packed_row(i) + j] = call_W(call, i, j);
        dual->q[i] = buffer_get(args->b, i, call->pack);
        dual->guess[i] = args->guess.data ? buffer_get(args->guess, i, call->pack) : real_of(0);
    }
    TEAM_FOR(b, dual->blocks) {
        dual->mu[b] = dual_is_cone(dual, b) ? buffer_get(args->mu, b, call->pack) : real_of(0);
        if (dual->kind[b] == SAP_DUAL_BOX) {
            dual->lo[dual_row(dual, b)] = buffer_get(args->lo, b, call->pack);
            dual->hi[dual_row(dual, b)] = buffer_get(args->hi, b, call->pack);
        }
    }
    TEAM_SYNC(); /* every thread checks all numbers, and scales its blocks */
}

/* Finds problems with numbers that are not finite or not allowed. Computed by every thread. */
STAGE_FN void call_check(DualCall *call, Dual *dual) {
    real finite = real_of(0);
    mask bad = mask_none();
    /* rows */
    for (int i = 0; i < dual->rows; i++) {
        for (int j = 0; j <= i; j++)
            finite = finite + nan_unless_finite(dual->P[packed_row(i) + j]);
        finite = finite + nan_unless_finite(dual->q[i]) + nan_unless_finite(dual->guess[i]);
        if (call->args->R.data)
            bad = bad | (buffer_get(call->args->R, i, call->pack) < K(0.0));
        bad = bad | (dual->P[packed_row(i) + i] < K(0.0));
    }
    /* blocks */
    for (int b = 0; b < dual->blocks; b++) {
        int row = dual_row(dual, b);
        finite = finite + nan_unless_finite(dual->mu[b]);
        bad = bad | (dual->mu[b] < K(0.0));
        if (dual->kind[b] == SAP_DUAL_BOX)
            bad = bad | mask_not(dual->lo[row] < dual->hi[row]);
    }
    call->bad_numbers = mask_not(finite == K(0.0));
    call->bad_parameters = bad & mask_not(call->bad_numbers);
    dual->excluded = call->bad_numbers | call->bad_parameters;
    dual->warm = call->args->guess.data ? mask_all() : mask_none();
    TEAM_SYNC(); /* every thread has read what the scaling overwrites */
}

/* ---- results ---- */

/* SAP_WORLD_... */
KERNEL_FN bits call_status(const DualCall *call, const Dual *dual) {
    bits none = real_bits(real_of(0)), status = none;
    status = status | bits_select(call->bad_numbers, none + SAP_WORLD_NONFINITE_STATE, none);
    status = status | bits_select(call->bad_parameters, none + SAP_WORLD_BAD_PARAMETERS, none);
    bits end = bits_select(dual->optimal, none + SAP_WORLD_OPTIMAL, none);
    end = end | bits_select(dual->settled, none + SAP_WORLD_COST_SETTLED, none);
    end = end | bits_select(dual->limit, none + SAP_WORLD_ITERATION_LIMIT, none);
    end = end | bits_select(dual->no_descent, none + SAP_WORLD_NO_DESCENT, none);
    end = end | bits_select(dual->unbounded, none + SAP_WORLD_UNBOUNDED, none);
    end = end | bits_select(dual->not_coulomb, none + SAP_WORLD_COULOMB_NOT_CONVERGED, none);
    return status | bits_select(dual->excluded, none, end);
}

/* Writes one integer per problem; NULL = absent. */
KERNEL_FN void call_put_int(const DualCall *call, int32_t *to, int stride, int i, real value) {
    FOR_LANES(l) {
        if (to && l < call->pack->count)
            to[(long long)call->pack->world[l] * stride + i] = (int32_t)LANE(value, l);
    }
}

/* Lanes past the end of the pack repeat its last problem and store nothing. */
KERNEL_FN mask call_lanes(const DualCall *call) {
    real lane = real_of(0);
    FOR_LANES(l) LANE(lane, l) = (scalar)l;
    return lane < (scalar)call->pack->count;
}

/* z = (W + R) l - b of row i, with the caller's W, for l in work[0]. */
KERNEL_FN real call_velocity(const DualCall *call, const Dual *dual, int i) {
    real s = -buffer_get(call->args->b, i, call->pack);
    for (int j = 0; j < dual->rows; j++)
        s = real_fma(j <= i ? call_W(call, i, j) : call_W(call, j, i), dual->work[0][j], s);
    return s;
}

/* Impulses, velocities, cost. */
STAGE_FN void call_store_rows(const DualCall *call, Dual *dual) {
    const SapDualArgs *args = call->args;
    mask lanes = call_lanes(call), failed = dual->excluded;
    real *l = dual->work[0], *z = dual->work[1];
    TEAM_FOR(i, dual->rows)
        l[i] = dual->d[i] * dual->best[i];
    TEAM_SYNC(); /* rows of z read all impulses */
    TEAM_FOR(i, dual->rows) {
        z[i] = real_select(failed, real_of(0), call_velocity(call, dual, i));
        buffer_put(args->impulse, i, l[i], lanes, call->pack);
        if (args->velocity.data)
            buffer_put(args->velocity, i, z[i], lanes, call->pack);
    }
    TEAM_SYNC(); /* the cost reads all rows */
    /* 1/2 l'(W + R) l - b'l = 1/2 l'(z - b) */
    real cost = real_of(0);
    for (int i = 0; i < dual->rows; i++) {
        real b = real_select(failed, real_of(0), buffer_get(args->b, i, call->pack));
        cost = real_fma(K(0.5) * l[i], z[i] - b, cost);
    }
    TEAM_ONCE() {
        if (args->cost.data)
            buffer_put(args->cost, 0, cost, lanes, call->pack);
        if (args->residual.data)
            buffer_put(args->residual, 0, real_select(failed, real_of(0), dual->residual), lanes, call->pack);
    }
}

/* Status, counts, regions. */
STAGE_FN void call_store_report(const DualCall *call, Dual *dual) {
    const SapDualArgs *args = call->args;
    real largest, active = dual_count_active(dual, &largest);
    dual_apply(dual, dual->best, dual->image);
    TEAM_FOR(b, dual->blocks)
        call_put_int(call, args->region, dual->blocks, b, dual_region(dual, b, largest));
    TEAM_ONCE() {
        call_put_int(call, args->iterations, 1, 0, dual->iterations);
        call_put_int(call, args->inner_iterations, 1, 0, dual->inner_iterations);
        call_put_int(call, args->safeguards, 1, 0, dual->safeguards);
        call_put_int(call, args->active, 1, 0, active);
        bits status = call_status(call, dual);
        FOR_LANES(l) {
            if (l < call->pack->count)
                args->status[call->pack->world[l]] = (uint32_t)LANE(status, l);
        }
    }
}

/* Solves the problems of a pack. */
STAGE_FN void dual_call(const SapDualArgs *args, const SapPack *pack, real *scratch) {
    Dual dual;
    DualCall call;
    call.args = args;
    call.pack = pack;
    dual_open(&dual, &args->shape, &args->options, scratch);
    call_load(&call, &dual);
    call_check(&call, &dual);
    dual_load(&dual);
    dual_solve(&dual);
    call_store_rows(&call, &dual);
    call_store_report(&call, &dual);
}
