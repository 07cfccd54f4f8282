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

/* One attempt of the solve, without restitution in the worlds of `calm`: impulses and v. Returns the worlds whose problem
 * has a number that is not finite. */
STAGE_FN mask dual_step_attempt(const Context *ctx, const SapDualShape *shape, mask constrained, mask calm,
                                Dual *dual) {
    /* W, b and sets, the guess, and the scaled problem */
    PROFILE(ctx, SAP_SECTION_ASSEMBLY);
    dual_open(dual, shape, &ctx->args->dual->options, DUAL_STEP(scratch));
    dual->excluded = mask_not(constrained);
    dual_step_load(ctx, dual, calm);
    mask overflowed = constrained & dual_step_overflowed(dual);
    dual->excluded = dual->excluded | overflowed;
    cache_load(ctx, dual);
    record_problem(ctx, dual);
    dual_load(dual);
    PROFILE(ctx, SAP_SECTION_FACTOR);
    dual_solve(dual);
    PROFILE(ctx, SAP_SECTION_STORE);
    real largest;
    dual_count_active(dual, &largest);
    dual_step_impulses(ctx, dual, dual->slip[0], largest);
    dual_step_velocity(ctx);
    return overflowed;
}

KERNEL_FN void formulation_solve(const Context *ctx, const ProblemChecks *is, mask which, SolveResult *result) {
    const SapDualStepArgs *args = ctx->args->dual;
    mask constrained = is->constrained, lawful = is->sound & is->constraints & is->dofs & is->blocks;
    mask calm = mask_none(), overflowed;
    real full = real_of(0), scale, largest;
    Dual dual, first;
    /* v*, the factor of A, and the blocks of the problem */
    dual_step_free_motion(ctx);
    SapDualShape shape = dual_step_shape(ctx);
    /* The solve. Worlds in which restitution would add energy are solved a second time without it; the others get the
     * same answer again. */
    for (int attempt = 0; attempt < 2; attempt++) {
        overflowed = dual_step_attempt(ctx, &shape, constrained, calm, &dual);
        if (!args->bounce_guard)
            break;
        real work = bounce_work(ctx, &scale);
        if (attempt == 1) {
            bounce_reduce(ctx, &dual, work, full, calm);
            bounce_add_end(&dual, &first, calm);
            break;
        }
        calm = bounce_gains(&dual, work, scale, constrained & mask_not(overflowed));
        if (!mask_any(calm))
            break;
        bounce_keep(&dual);
        first = dual;
        full = work;
    }
    /* the cache and the records */
    real active = dual_count_active(&dual, &largest);
    real cost = dual_cost(&dual, dual.best, dual.image);
    record_impulses(ctx, &dual, dual.work[0]);
    cache_store(ctx, &dual, dual.work[0], which & lawful & mask_not(overflowed));
    /* status and reports */
    *result = dual_step_result(&dual, cost);
    bits none = real_bits(real_of(0)), status = bits_select(overflowed, none + SAP_WORLD_NONFINITE_RESULT, none);
    status = status | bits_select(dual.unbounded, none + SAP_WORLD_UNBOUNDED, none);
    status = status | bits_select(dual.not_coulomb, none + SAP_WORLD_COULOMB_NOT_CONVERGED, none);
    status = status | bits_select(calm, none + SAP_WORLD_BOUNCE_REDUCED, none);
    TEAM_ONCE() {
        report_ints(ctx, ctx->args->report.safeguards, dual.safeguards, which);
        report_ints(ctx, ctx->args->report.active, active, which);
    }
    add_status(ctx, bits_select(which & constrained, status, none));
}
