/* How a solve ends: v for free motion, reports, status. The same for every method. */

/* Status bits of the solve (solver.h). */
STAGE_FN bits solve_status(const ProblemChecks *is, const SolveResult *result) {
    bits none = real_bits(real_of(0)), status = none;
    status = status | bits_select(is->sound & mask_not(is->constraints), none + SAP_WORLD_BAD_CONTACT, none);
    status = status | bits_select(is->sound & mask_not(is->dofs), none + SAP_WORLD_NONFINITE_CONTROL, none);
    status = status | bits_select(is->sound & mask_not(is->blocks), none + SAP_WORLD_BAD_CONSTRAINT, none);
    mask solved = is->sound & is->constraints & is->dofs & is->blocks;
    status = status | bits_select(solved & result->optimal, none + SAP_WORLD_OPTIMAL, none);
    status = status | bits_select(solved & result->settled, none + SAP_WORLD_COST_SETTLED, none);
    status = status | bits_select(solved & result->stalled, none + SAP_WORLD_COST_STALLED, none);
    status = status | bits_select(solved & result->limit, none + SAP_WORLD_ITERATION_LIMIT, none);
    status = status | bits_select(solved & result->line_failed, none + SAP_WORLD_LINE_SEARCH_FAILED, none);
    status = status | bits_select(solved & result->no_descent, none + SAP_WORLD_NO_DESCENT, none);
    return status;
}

/* In the worlds of `which`: writes v to free motion's scratch (v* for worlds without a problem), reports and adds the
 * status. */
STAGE_FN void solve_finish(const Context *ctx, const ProblemChecks *is, const SolveResult *result, mask which) {
    PROFILE(ctx, SAP_SECTION_STORE);
    StageView out = FM_VIEW(v);
    bits none = real_bits(real_of(0));
    int nv = ctx->args->plan.nv;
    TEAM_FOR(i, nv) {
        real v = real_select(is->constrained, SOLVE(v)[i], view_get(out, i)) + K(0.0);
        view_put(out, i, real_select(which, v, view_get(out, i)));
    }
    formulation_finish(ctx, which);
    if (IS_LAST_STAGE)
        report_world(ctx, result, is->constrained, which);
    if (IS_LAST_STAGE && (model_has_constraints(ctx) || REPORTS_ROWS))
        report_constraints(ctx, which);
    add_status(ctx, bits_select(which, solve_status(is, result), none));
    add_status(ctx, bits_select(which & is->constrained, report_depths(ctx), none));
    TEAM_SYNC(); /* integration reads all of v and the status of the world */
}
