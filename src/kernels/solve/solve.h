/* The contact solve of a step: sets up the problem, minimises it with a method, writes v to free
 * motion's scratch, reports. */

/* The lanes of a mask as bits, and back. */
KERNEL_FN int solve_lane_bits(mask m) {
    int lanes = 0;
    for (int l = 0; l < SAP_LANES; l++)
        lanes |= (int)mask_lane(m, l) << l;
    return lanes;
}
KERNEL_FN mask solve_lanes(int lanes) {
    mask m;
    FOR_LANES(l) LANE(m, l) = -(lanes >> l & 1);
    return m;
}

/* The first solve, or in f64 its repetition in the lanes of ctx->retry_f64. Returns the lanes to repeat: those whose
 * f32 solve does not converge. */
STAGE_FN int stage_solve(const Context *ctx) {
    SolveResult result;
    PROFILE(ctx, SAP_SECTION_SETUP);
    mask which = pack_lanes(ctx->pack), again = mask_none();
    ProblemChecks is = problem_begin(ctx);
    if (SAP_PRECISION == 64 && ctx->retry_f64) {
        which = which & solve_lanes(ctx->retry_f64);
        is.constrained = is.constrained & which;
    }
    formulation_solve(ctx, &is, which, &result);
    if (SAP_PRECISION == 32)
        again = which & is.constrained & solve_unconverged(&result);
    if (SAP_PRECISION == 64 && ctx->retry_f64) /* all systems of a repeated solve count as solved again in f64 */
        result.f64_retries = result.iterations;
    solve_finish(ctx, &is, &result, which & mask_not(again));
    return solve_lane_bits(again);
}
