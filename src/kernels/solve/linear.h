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
