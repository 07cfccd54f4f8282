/* The weight w of a block of rows, which scales their regularisation. docs/constraints.md.
 *
 *   W = J diag(1/A_ii) J',   w = |W|_F / n   for the n rows of the block
 *
 * constraint_weight = split gives rotation and translation of a weld separate weights, so that results do not depend on
 * the unit of length; mixed has one norm for all six rows, as in Drake. */

/* (J diag(1/A_ii) J')_rs of a block. */
KERNEL_FN real block_delassus(const Context *ctx, const SapModelConstraint *b, int r, int s) {
    const SapPattern *tree = &ctx->args->plan.tree;
    real sum = real_of(0);
    for (int j = 0; j < b->num_columns; j++) {
        const SapPatternRow *row = &tree->row[block_dofs(ctx, b)[j]];
        real A_ii = real_max(view_get(FM_VIEW(A), row->start + row->depth), real_of(WEIGHT_FLOOR));
        int at = BLOCK_OFFSET(J, b) + b->rows * j;
        sum = real_fma(view_get(BLOCK_VIEW, at + r) / A_ii, view_get(BLOCK_VIEW, at + s), sum);
    }
    return sum;
}

/* w of rows first .. first + n - 1. */
STAGE_FN void block_weight_rows(const Context *ctx, const SapModelConstraint *b, int first, int n) {
    real squares = real_of(0);
    for (int r = first; r < first + n; r++)
        for (int s = first; s <= r; s++) {
            real W = block_delassus(ctx, b, r, s);
            squares = real_fma(r == s ? W : K(2.0) * W, W, squares);
        }
    real w = real_max(real_sqrt(squares) / (scalar)n, real_of(WEIGHT_FLOOR));
    for (int r = first; r < first + n; r++)
        view_put(BLOCK_VIEW, BLOCK_OFFSET(w, b) + r, w);
}

STAGE_FN void stage_constraint_weight(const Context *ctx) {
    PROFILE(ctx, SAP_SECTION_WEIGHT);
    TEAM_FOR(k, NUM_MODEL_CONSTRAINTS) {
        const SapModelConstraint *b = &ctx->args->plan.block[k];
        bool split = b->kind == SAP_BLOCK_WELD && !ctx->args->constraints.mixed;
        block_weight_rows(ctx, b, 0, split ? 3 : b->rows);
        if (split)
            block_weight_rows(ctx, b, 3, 3);
    }
}
