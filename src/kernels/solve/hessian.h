/* The Hessian of the problem, A + sum_c J_c' G_c J_c + diag(hessian_i), on a pattern of sparse rows or on tiles
 * (math/tiles.h). */

/* Finds the tiles of H: what the model and the constraints of the pack couple, or all, and what elimination fills. */
STAGE_FN void problem_find_tiles(const Context *ctx, bool all) {
    const SapNodes *nodes = &ctx->args->plan.nodes;
    Tiles t = tiles_of(ctx);
    TEAM_FOR(K, t.count)
        tiles_begin_row(&t, nodes->couples, K, all);
    terms_mark_tiles(ctx, &t);
    TEAM_SYNC(); /* one thread reads all rows */
    tiles_complete(&t, ctx->args->plan.nv);
}

/* H = A on a pattern, or on the tiles if that is NULL, with zeros off the tree. */
KERNEL_FN void problem_hessian_A(const Context *ctx, const SapPattern *pattern, bool is_tree, StageView A, real *H) {
    const SapPatternRow *tree_row = ctx->args->plan.tree.row;
    const int *ancestor = ctx->args->plan.tree.ancestor;
    int nv = ctx->args->plan.nv;
    Tiles tiles = tiles_of(ctx);
    if (TEAM_OF_ONE && is_tree) { /* both have the same entries in the same order */
        UNROLL
        for (int t = 0; t < pattern->nnz; t++)
            H[t] = view_get(A, t);
        return;
    }
    TEAM_FOR(i, nv) {
        real *H_i = H + row_start(pattern, i);
        int start = tree_row[i].start;
        if (!pattern)
            tile_clear_row(&tiles, i, H);
        for (int t = 0; pattern && !is_tree && t <= pattern->row[i].depth; t++)
            H_i[t] = real_of(0);
        for (int t = 0; t <= tree_row[i].depth; t++)
            H_i[is_tree ? t : row_column(pattern, ancestor[start + t])] = view_get(A, start + t);
    }
}

/* H on a pattern, or on the tiles if that is NULL; which of them is a compile-time constant. */
KERNEL_FN void problem_hessian_on(const Context *ctx, const SapPattern *pattern, bool is_tree, real *H) {
    StageView A = FM_VIEW(A);
    VIEW_CASES(A, problem_hessian_A(ctx, pattern, is_tree, A, H));
    terms_add_hessian(ctx, pattern, is_tree, H);
    terms_add_dof_hessian(ctx, pattern, H);
}

/* H on the tiles without the contacts, which a library adds. */
STAGE_FN void problem_hessian_without_contacts(const Context *ctx, real *H) {
    StageView A = FM_VIEW(A);
    VIEW_CASES(A, problem_hessian_A(ctx, 0, false, A, H));
    model_add_hessian(ctx, 0, H);
    terms_add_dof_hessian(ctx, 0, H);
}

/* Writes H on `pattern`, the tree's or the closed one, or on the tiles if it is NULL, in the precision of this stage,
 * which may differ from the solve's. Every part is read in the precision that it has. The thread of dof i writes
 * row i. */
STAGE_FN void problem_hessian(const Context *ctx, const SapPattern *pattern, real *H) {
    const SapPlan *plan = &ctx->args->plan;
    if (pattern == &plan->tree && constraints_hessian_on_tree(ctx, H))
        return;
    if (pattern == &plan->tree)
        problem_hessian_on(ctx, &plan->tree, true, H);
    else if (model_has_constraints(ctx) && pattern)
        problem_hessian_on(ctx, &plan->closed, false, H);
    else
        problem_hessian_on(ctx, 0, false, H);
}
