/* The contact solve of a step in impulses. */

KERNEL_FN SolveResult dual_step_result(const Dual *dual, real cost) {
    SolveResult result = solve_result_none();
    result.optimal = dual->optimal;
    result.settled = dual->settled;
    result.limit = dual->limit;
    result.no_descent = dual->no_descent;
    result.cost = cost;
    result.residual = dual->residual;
    result.residual_scale = real_of(1);
    result.iterations = dual->iterations;
    result.inner_iterations = dual->inner_iterations;
    return result;
}

KERNEL_FN void formulation_solve(const Context *ctx, const ProblemChecks *is, mask which, SolveResult *result) {
    const SapDualStepArgs *args = ctx->args->dual;
    mask constrained = is->constrained, lawful = is->sound & is->constraints & is->dofs & is->blocks;
    Dual dual;
    /* v*, the factor of A, and the blocks of the problem */
    dual_step_free_motion(ctx);
    SapDualShape shape = dual_step_shape(ctx);
    dual_open(&dual, &shape, &args->options, DUAL_STEP(scratch));
    dual.excluded = mask_not(constrained);
    /* W, b and sets, the guess, and the scaled problem */
    PROFILE(ctx, SAP_SECTION_ASSEMBLY);
    dual_step_load(ctx, &dual);
    mask overflowed = constrained & dual_step_overflowed(&dual);
    dual.excluded = dual.excluded | overflowed;
    cache_load(ctx, &dual);
    record_problem(ctx, &dual);
    dual_load(&dual);
    PROFILE(ctx, SAP_SECTION_FACTOR);
    dual_solve(&dual);
    /* impulses, the cache, and v */
    PROFILE(ctx, SAP_SECTION_STORE);
    real largest, active = dual_count_active(&dual, &largest);
    dual_step_impulses(ctx, &dual, dual.slip[0], largest);
    real cost = dual_cost(&dual, dual.best, dual.image);
    record_impulses(ctx, &dual, dual.work[0]);
    cache_store(ctx, &dual, dual.work[0], which & lawful & mask_not(overflowed));
    dual_step_velocity(ctx);
    /* status and reports */
    *result = dual_step_result(&dual, cost);
    bits none = real_bits(real_of(0)), status = bits_select(overflowed, none + SAP_WORLD_NONFINITE_RESULT, none);
    status = status | bits_select(dual.unbounded, none + SAP_WORLD_UNBOUNDED, none);
    status = status | bits_select(dual.not_coulomb, none + SAP_WORLD_COULOMB_NOT_CONVERGED, none);
    TEAM_ONCE() {
        report_ints(ctx, ctx->args->report.safeguards, dual.safeguards, which);
        report_ints(ctx, ctx->args->report.active, active, which);
    }
    add_status(ctx, bits_select(which & constrained, status, none));
}
