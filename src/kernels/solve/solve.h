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
    mask solved = is->sound & is->constraints & is->dofs;
    status = status | bits_select(solved & result->optimal, none + SAP_WORLD_OPTIMAL, none);
    status = status | bits_select(solved & result->settled, none + SAP_WORLD_COST_SETTLED, none);
    status = status | bits_select(solved & result->limit, none + SAP_WORLD_ITERATION_LIMIT, none);
    status = status | bits_select(solved & result->line_failed, none + SAP_WORLD_LINE_SEARCH_FAILED, none);
    status = status | bits_select(solved & result->no_descent, none + SAP_WORLD_NO_DESCENT, none);
    return status;
}

/* Writes v to free motion's scratch (v* for worlds without a problem), reports and adds the status. */
STAGE_FN void solve_finish(const Context *ctx, const ProblemChecks *is, const SolveResult *result) {
    PROFILE(ctx, SAP_STAGE_STORE);
    mask mine = pack_lanes(ctx->pack);
    TEAM_FOR(i, ctx->args->plan.nv)
        view_put(FM_VIEW(v), i, real_select(is->constrained, SOLVE(v)[i], SOLVE(v_star)[i]) + K(0.0));
    report_world(ctx, result, mine);
    add_status(ctx, solve_status(is, result));
    TEAM_SYNC(); /* integration reads all of v and the status of the world */
}

STAGE_FN void stage_solve(const Context *ctx) {
    SolveResult result;
    PROFILE(ctx, SAP_STAGE_SETUP);
    ProblemChecks is = problem_begin(ctx);
    method_solve(ctx, is.constrained, &result);
    solve_finish(ctx, &is, &result);
}
