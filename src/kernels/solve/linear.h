/* Newton's linear system H d = -grad on a pattern, or on the tiles of the pack if the pattern is NULL, in the precision
 * of this stage. */

/* Writes H to LINEAR(L), without its contacts if a library adds them, and -grad to LINEAR(x). */
KERNEL_FN void linear_assemble(const Context *ctx, const SapPattern *pattern, bool has_contacts) {
    PROFILE(ctx, SAP_SECTION_ASSEMBLY);
    TEAM_SYNC(); /* the norms have read all of the impulse, whose memory H overwrites */
    if (has_contacts)
        problem_hessian(ctx, pattern, LINEAR(L));
    else
        problem_hessian_without_contacts(ctx, LINEAR(L));
    StageView solve = SOLVE_VIEW;
    int nv = ctx->args->plan.nv, grad = ctx->args->problem.grad;
    real *x = LINEAR(x);
    UNROLL
    TEAM_FOR(i, nv)
        x[i] = -view_get(solve, grad + i);
    TEAM_SYNC(); /* the factor reads all rows of H, the solve all of x */
}

/* The system on all tiles, for a library. */
STAGE_FN void stage_linear_assemble(const Context *ctx) {
    linear_assemble(ctx, 0, !ctx->args->library.J.data);
}

/* Assembles and solves the system; d is in LINEAR(x). */
STAGE_FN void stage_linear_solve(const Context *ctx, const SapPattern *pattern) {
    linear_assemble(ctx, pattern, true);
    PROFILE(ctx, SAP_SECTION_FACTOR);
    PROFILE_FACTOR(ctx, !pattern);
    if (pattern) {
        factor_solve(pattern, LINEAR(L), LINEAR(L), LINEAR(inverse), LINEAR(x), LINEAR(x));
        return;
    }
    Tiles tiles = tiles_of(ctx);
    tile_factor_solve(&tiles, ctx->args->plan.nv, LINEAR(L), LINEAR(inverse), LINEAR(x), LINEAR(x));
}

/* The pattern of H: the closed one, which is the tree's if no block adds entries; or NULL, tiles, if a contact couples
 * two branches. */
KERNEL_FN const SapPattern *linear_pattern(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    bool dense = ctx->args->newton.dense != 0;
    if (dense || terms_couple(ctx)) {
        problem_find_tiles(ctx, dense);
        return 0;
    }
    return model_has_constraints(ctx) && plan->closed.row != plan->tree.row ? &plan->closed : &plan->tree;
}

/* grad.d of the direction d in the linear scratch of precision `is_f64`; not finite if d is not. */
STAGE_FN real linear_slope(const Context *ctx, int is_f64) {
    StageView x = LINEAR_VIEW(is_f64);
    real slope = real_of(0);
    UNROLL
    for (int i = 0; i < ctx->args->plan.nv; i++)
        slope = real_fma(view_get(x, ctx->args->linear.x + i), SOLVE(grad)[i], slope);
    return slope;
}
