/* Solves Newton's linear system H d = -grad on a pattern, in the precision of this stage. H and grad are read through a
 * view; d is in LINEAR(x). */
STAGE_FN void stage_linear_solve(const Context *ctx, const SapPattern *pattern) {
    PROFILE(ctx, SAP_STAGE_FACTOR);
    PROFILE_FACTOR(ctx, pattern == &ctx->args->plan.dense);
    StageView solve = SOLVE_VIEW;
    int nv = ctx->args->plan.nv, H = ctx->args->newton.layout.H, grad = ctx->args->problem.grad;
    int nnz = pattern->nnz;
    real *L = LINEAR(L), *x = LINEAR(x);
    TEAM_FOR(e, nnz)
        L[e] = view_get(solve, H + e);
    TEAM_FOR(i, nv)
        x[i] = -view_get(solve, grad + i);
    TEAM_SYNC(); /* the factor reads all rows of L, the solve all of x */
    factor_solve(pattern, LINEAR(L), LINEAR(L), LINEAR(inverse), LINEAR(x), LINEAR(x));
}
