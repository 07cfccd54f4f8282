/* Copies of the problems that a step solves, for the caller (sap_solver_record_problem): before scaling, so that
 * sap_dual_solve gives the same impulses. */

KERNEL_FN void record_number(const Context *ctx, double *to, long long stride, long long i, real x) {
    FOR_LANES(l) {
        if (l < ctx->pack->count)
            to[(long long)ctx->pack->world[l] * stride + i] = (double)LANE(x, l);
    }
}

/* Rows, sets and W + R of the problems; dual is complete and not yet scaled. */
STAGE_FN void record_problem(const Context *ctx, const Dual *dual) {
    const SapDualRecord *to = ctx->args->dual->record;
    if (!to)
        return;
    long long most = to->max_rows;
    /* kinds and sets of the blocks */
    TEAM_FOR(b, dual->blocks) {
        int row = dual_row(dual, b);
        bool box = dual->kind[b] == SAP_DUAL_BOX;
        FOR_LANES(l) {
            if (l < ctx->pack->count)
                to->kind[(long long)ctx->pack->world[l] * most + b] = dual->kind[b];
        }
        record_number(ctx, to->mu, most, b, dual->mu[b]);
        record_number(ctx, to->lo, most, b, box ? dual->lo[row] : real_of(0));
        record_number(ctx, to->hi, most, b, box ? dual->hi[row] : real_of(0));
    }
    /* rows of b and of W + R */
    TEAM_FOR(i, dual->rows) {
        record_number(ctx, to->b, most, i, dual->q[i]);
        for (int j = 0; j <= i; j++)
            record_number(ctx, to->W, most * most, most * i + j, dual->P[packed_row(i) + j]);
    }
    TEAM_ONCE()
        FOR_LANES(l) {
            if (l < ctx->pack->count)
                to->num_blocks[ctx->pack->world[l]] = dual->blocks;
        }
    TEAM_SYNC(); /* the problem is scaled in place */
}

/* The impulses of the answer. */
STAGE_FN void record_impulses(const Context *ctx, const Dual *dual, const real *impulse) {
    const SapDualRecord *to = ctx->args->dual->record;
    if (to)
        TEAM_FOR(i, dual->rows)
            record_number(ctx, to->impulse, to->max_rows, i, impulse[i]);
}
