/* The Delassus matrix W = J A^-1 J' through the factor A = L'L of the tree. docs/dual.md#in-a-step.
 *
 *   L' Y_c = J_c'     W_cd = Y_c' Y_d     A^-1 J' l = L^-1 sum_c Y_c l_c
 *
 * A row of J is nonzero on the paths of its bodies. A path contains the ancestors of its dofs, so a column of Y has the
 * nonzeros of its row of J: no fill. The row of one dof i is nonzero on the path of i; its Y is stored as row i of A
 * is. Rows of the model's constraints and tendons have a dense Y. */

#define DUAL_STEP(part) ((real *)ctx->solve + ctx->args->dual->layout.part)
#define SLOT_Y(c)       (DUAL_STEP(Y) + (c)*3 * ctx->args->slot_ints.max_columns)

/* Y of slot c: three reals per column of J, the deepest dofs first. */
STAGE_FN void delassus_slot(const Context *ctx, int c) {
    const SapPattern *tree = &ctx->args->plan.tree;
    const SapDofIndex *dof = SLOT_SHORTS(dof, c);
    const real *L = LINEAR(L), *inverse = LINEAR(inverse);
    real *Y = SLOT_Y(c);
    int n = *SLOT_SHORTS(num_dofs, c);
    for (int k = n - 1; k >= 0; k--) {
        Vec3 y = view_get_vec3(SLOT_J_VIEW(c), 3 * k);
        int depth = tree->row[dof[k]].depth;
        for (int j = k + 1; j < n; j++) {
            SapPatternRow below = tree->row[dof[j]];
            if (below.depth > depth && tree->ancestor[below.start + depth] == dof[k])
                y = vec3_fma(-L[below.start + depth], vec3_load(Y + 3 * j), y);
        }
        vec3_store(Y + 3 * k, vec3_scale(inverse[dof[k]], y));
    }
}

/* Y of the row e_i of dof i: one real per dof on its path. */
STAGE_FN void delassus_dof(const Context *ctx, int i) {
    const SapPattern *tree = &ctx->args->plan.tree;
    SapPatternRow row = tree->row[i];
    const int *path = tree->ancestor + row.start;
    const real *L = LINEAR(L), *inverse = LINEAR(inverse);
    real *Y = DUAL_STEP(Y_dof) + row.start;
    Y[row.depth] = inverse[i];
    for (int t = row.depth - 1; t >= 0; t--) {
        real s = real_of(0);
        for (int u = t + 1; u <= row.depth; u++)
            s = real_fma(-L[tree->row[path[u]].start + t], Y[u], s);
        Y[t] = s * inverse[path[t]];
    }
}

/* W[3 a + b] of row a of slot c and row b of slot d. */
KERNEL_FN void delassus_slots(const Context *ctx, int c, int d, real W[9]) {
    const SapDofIndex *dof = SLOT_SHORTS(dof, d);
    int n = *SLOT_SHORTS(num_dofs, d);
    for (int i = 0; i < 9; i++)
        W[i] = real_of(0);
    for (int j = 0; j < n; j++) {
        int k = constraint_column(ctx, c, dof[j]);
        if (k < 0)
            continue;
        const real *y = SLOT_Y(c) + 3 * k, *u = SLOT_Y(d) + 3 * j;
        UNROLLED for (int i = 0; i < 9; i++) W[i] = real_fma(y[i / 3], u[i % 3], W[i]);
    }
}

/* Y of row f of the model's constraints and tendons: dense, because a coupler joins dofs anywhere in the tree. */
STAGE_FN void delassus_block(const Context *ctx, const SapModelConstraint *b, int r, real *Y) {
    const SapPattern *tree = &ctx->args->plan.tree;
    const real *L = LINEAR(L), *inverse = LINEAR(inverse);
    int nv = ctx->args->plan.nv;
    for (int i = 0; i < nv; i++)
        Y[i] = real_of(0);
    for (int j = 0; j < b->num_columns; j++)
        Y[block_dofs(ctx, b)[j]] = BLOCK(J, b)[b->rows * j + r];
    for (int i = nv - 1; i >= 0; i--) {
        SapPatternRow row = tree->row[i];
        const SapDescendant *below = tree->descendant + row.desc_start;
        for (int k = 0; k < row.num_desc; k++)
            Y[i] = real_fma(-L[below[k].at], Y[below[k].dof], Y[i]);
        Y[i] = Y[i] * inverse[i];
    }
}

/* Y of a row at dof i. Rows are of dofs, 0 .. nv - 1, then of constraints and tendons. */
KERNEL_FN real delassus_at(const Context *ctx, int source, int i) {
    const SapPattern *tree = &ctx->args->plan.tree;
    int nv = ctx->args->plan.nv;
    if (source >= nv)
        return DUAL_STEP(Y_block)[(source - nv) * nv + i];
    SapPatternRow row = tree->row[source];
    int depth = tree->row[i].depth;
    bool on_path = depth <= row.depth && tree->ancestor[row.start + depth] == i;
    return on_path ? DUAL_STEP(Y_dof)[row.start + depth] : real_of(0);
}

/* W of the three rows of slot c and a row. */
KERNEL_FN Vec3 delassus_slot_row(const Context *ctx, int c, int source) {
    const SapDofIndex *dof = SLOT_SHORTS(dof, c);
    int n = *SLOT_SHORTS(num_dofs, c);
    Vec3 W = vec3_zero();
    for (int k = 0; k < n; k++)
        W = vec3_fma(delassus_at(ctx, source, dof[k]), vec3_load(SLOT_Y(c) + 3 * k), W);
    return W;
}

/* W of two rows: over the path of a dof, or over all dofs. */
KERNEL_FN real delassus_rows(const Context *ctx, int a, int b) {
    const SapPattern *tree = &ctx->args->plan.tree;
    int nv = ctx->args->plan.nv, path = a < nv ? a : b;
    real W = real_of(0);
    for (int t = 0; path < nv && t <= tree->row[path].depth; t++) {
        int i = tree->ancestor[tree->row[path].start + t];
        W = real_fma(delassus_at(ctx, a, i), delassus_at(ctx, b, i), W);
    }
    for (int i = 0; path >= nv && i < nv; i++)
        W = real_fma(delassus_at(ctx, a, i), delassus_at(ctx, b, i), W);
    return W;
}
