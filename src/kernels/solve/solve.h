/* The contact solve of a step: sets up the problem, minimises it with a method, writes v to free
 * motion's scratch, reports. */

/* One switch over the rows of data/lists.h, constant while there is only one method. */
KERNEL_FN void method_solve(const Context *ctx, mask constrained, SolveResult *out) {
#define METHOD(name)                                                                                                   \
    case SAP_METHOD_##name: name##_solve(ctx, constrained, out); break;
    switch (SAP_NUM_METHODS == 1 ? 0 : METHOD_KIND) { SAP_METHODS(METHOD) }
#undef METHOD
}

/* Status bits of the solve (solver.h). */
STAGE_FN bits solve_status(const ProblemChecks *is, const SolveResult *result) {
    bits none = real_bits(real_of(0)), status = none;
    status = status | bits_select(is->sound & mask_not(is->constraints), none + SAP_WORLD_BAD_CONTACT, none);
    status = status | bits_select(is->sound & mask_not(is->dofs), none + SAP_WORLD_NONFINITE_CONTROL, none);
    status = status | bits_select(is->sound & mask_not(is->blocks), none + SAP_WORLD_BAD_CONSTRAINT, none);
    mask solved = is->sound & is->constraints & is->dofs & is->blocks;
    status = status | bits_select(solved & result->optimal, none + SAP_WORLD_OPTIMAL, none);
    status = status | bits_select(solved & result->settled, none + SAP_WORLD_COST_SETTLED, none);
    status = status | bits_select(solved & result->limit, none + SAP_WORLD_ITERATION_LIMIT, none);
    status = status | bits_select(solved & result->line_failed, none + SAP_WORLD_LINE_SEARCH_FAILED, none);
    status = status | bits_select(solved & result->no_descent, none + SAP_WORLD_NO_DESCENT, none);
    return status;
}

/* In the worlds of `which`: writes v to free motion's scratch (v* for worlds without a problem), reports and adds the
 * status. */
STAGE_FN void solve_finish(const Context *ctx, const ProblemChecks *is, const SolveResult *result, mask which) {
    PROFILE(ctx, SAP_STAGE_STORE);
    StageView out = FM_VIEW(v);
    bits none = real_bits(real_of(0));
    int nv = ctx->args->plan.nv;
    TEAM_FOR(i, nv) {
        real v = real_select(is->constrained, SOLVE(v)[i], SOLVE(v_star)[i]) + K(0.0);
        view_put(out, i, real_select(which, v, view_get(out, i)));
    }
    report_world(ctx, result, which);
    if (NUM_BLOCKS > 0)
        report_constraints(ctx, which);
    add_status(ctx, bits_select(which, solve_status(is, result), none));
    TEAM_SYNC(); /* integration reads all of v and the status of the world */
}

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

/* The first solve, or in f64 its repetition in the lanes of ctx->repeats. Returns the lanes to repeat: those whose f32
 * solve does not converge. */
STAGE_FN int stage_solve(const Context *ctx) {
    SolveResult result;
    PROFILE(ctx, SAP_STAGE_SETUP);
    mask which = pack_lanes(ctx->pack), again = mask_none();
    ProblemChecks is = problem_begin(ctx);
    if (SAP_PRECISION == 64 && ctx->repeats) {
        which = which & solve_lanes(ctx->repeats);
        is.constrained = is.constrained & which;
    }
    method_solve(ctx, is.constrained, &result);
    if (SAP_PRECISION == 32)
        again = which & is.constrained & (result.limit | result.line_failed | result.no_descent);
    if (SAP_PRECISION == 64 && ctx->repeats) /* all systems of a repeated solve count as solved again in f64 */
        result.refactored = result.iterations;
    solve_finish(ctx, &is, &result, which & mask_not(again));
    return solve_lane_bits(again);
}
