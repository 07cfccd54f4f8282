/* Newton's method on l(v): one problem per world, all worlds of a pack together. docs/solve.md.
 *
 *   repeat  evaluate l and its gradient at v
 *           stop where |D grad| <= abs + rel max(|D A v|, |D j|)     D = diag(1/sqrt(A_ii)) over the active dofs
 *           stop where the last accepted step, of at least alpha_min, changed the cost by less than its tolerance and
 *                the relative residual is at most 1e-2, or the change is rounding
 *           solve H d = -grad,  v += alpha d by the line search
 *
 * A world that has stopped keeps its v while the other worlds continue. If the f32 direction of a world is not finite
 * or not a descent direction, its system is solved again in f64. If its line search fails, exact_root is tried. A world
 * that still fails stops, and its status reports it. */

typedef struct Newton {
    mask open;             /* worlds that still iterate */
    real cost_prev, alpha; /* l before the last accepted step, and the length of that step */
    real drift;            /* bound of the rounding in D r since r was last computed from v */
    SolveResult *result;
} Newton;

/* ---- one iteration ---- */

#define NEWTON_ROUNDING (SAP_PRECISION == 64 ? K(2.3e-16) : K(1.2e-7)) /* spacing of numbers at 1 */

/* A relative change of the cost below four ulps counts as none: no further step lowers the residual by it. An f32 solve
 * ends there, whatever the tolerance. */
#define NEWTON_COST_ROUNDING  (SAP_PRECISION == 64 ? K(8.9e-16) : K(4.8e-7))
#define NEWTON_LEAST_COST_TOL (SAP_PRECISION == 64 ? K(0.0) : NEWTON_COST_ROUNDING)

/* The residual that the optimality test accepts. */
KERNEL_FN real newton_tolerance(const Context *ctx, const Newton *n) {
    const SapNewtonArgs *o = &ctx->args->newton;
    return real_fma(real_of((scalar)o->optimality_rel_tol), n->result->residual_scale,
                    real_of((scalar)o->optimality_abs_tol));
}

/* Evaluates the problem after k steps. Each step adds its part to r and to the velocities of constraints, and with it
 * rounding. r is computed from v again where this could exceed what the optimality test accepts. */
STAGE_FN void newton_evaluate(const Context *ctx, int k, Newton *n) {
    mask drifted = k == 0 ? mask_all() : n->open & (n->drift > newton_tolerance(ctx, n));
    ProblemNorms norms;
    n->result->cost = problem_evaluate_moved_norms(ctx, drifted, &norms);
    n->result->residual = norms.residual;
    n->result->residual_scale = norms.scale;
    n->drift = real_fma(real_of(NEWTON_ROUNDING), norms.momentum, real_select(drifted, real_of(0), n->drift));
}

/* The largest relative residual at which the cost test counts as a solution. */
#define NEWTON_SOLVED K(1e-2)

/* Closes the worlds that are done after k steps. */
STAGE_FN void newton_stop(const Context *ctx, int k, Newton *n) {
    const SapNewtonArgs *o = &ctx->args->newton;
    mask optimal = n->result->residual <= newton_tolerance(ctx, n);
    real mean = K(0.5) * (real_abs(n->result->cost) + real_abs(n->cost_prev));
    real rel_tol = real_max(real_of((scalar)o->cost_rel_tol), real_of(NEWTON_LEAST_COST_TOL));
    real cost_tol = real_fma(rel_tol, mean, real_of((scalar)o->cost_abs_tol));
    real change = real_abs(n->result->cost - n->cost_prev);
    mask still = n->open & (n->alpha >= (scalar)o->alpha_min) & (change < cost_tol);
    mask solved = n->result->residual <= NEWTON_SOLVED * n->result->residual_scale;
    mask futile = change <= NEWTON_COST_ROUNDING * mean;
    if (k == 0)
        still = mask_none();
    if (!o->cost_decides)
        still = still & (solved | futile);
    n->result->optimal = n->result->optimal | (n->open & optimal);
    n->result->settled = n->result->settled | (still & solved);
    n->result->stalled = n->result->stalled | (still & mask_not(optimal | solved));
    n->result->iterations = real_select(n->open, real_of((scalar)k), n->result->iterations);
    n->open = n->open & mask_not(optimal | still);
    if (k >= o->max_iterations) {
        n->result->limit = n->open;
        n->open = n->open & mask_not(n->open);
    }
}

/* Sets d of every open world to the solution in the linear scratch. Where that is not a descent direction, solves the
 * system on `pattern` again in f64. */
STAGE_FN void newton_direction(const Context *ctx, const SapPattern *pattern, Newton *n) {
    int is_f64 = LINEAR_IS_F64;
    real slope = linear_slope(ctx, is_f64);
    mask downhill = real_finite(slope) & (slope < K(0.0));
    mask retry = n->open & mask_not(downhill);
    if (!is_f64 && mask_any(retry)) {
        LINEAR_SOLVE(ctx, 1, pattern);
        slope = linear_slope(ctx, 1);
        downhill = downhill | (retry & real_finite(slope) & (slope < K(0.0)));
        n->result->f64_retries = real_select(retry, n->result->f64_retries + K(1.0), n->result->f64_retries);
    }
    StageView x = LINEAR_VIEW(is_f64), x_f64 = LINEAR_VIEW(1);
    bool retried = !is_f64 && mask_any(retry);
    int nv = ctx->args->plan.nv, at = ctx->args->linear.x;
    real *d = NEWTON(d);
    UNROLL
    TEAM_FOR(i, nv) {
        d[i] = view_get(x, at + i);
        if (retried)
            d[i] = real_select(retry, view_get(x_f64, at + i), d[i]);
    }
    TEAM_SYNC(); /* the line search reads all of d */
    n->result->no_descent = n->result->no_descent | (n->open & mask_not(downhill));
    n->open = n->open & downhill;
}

/* Line search along d, and v += alpha d. Worlds whose line search fails keep their v and are closed. */
STAGE_FN void newton_step(const Context *ctx, Newton *n) {
    Line line = problem_line_start(ctx, NEWTON(d), n->result->cost, n->open);
    LineResult found = line_search(ctx, &line, n->open);
    mask failed = n->open & mask_not(found.accepted);
    if (mask_any(failed) && ctx->args->newton.line_search != SAP_EXACT_ROOT) {
        LineResult exact = line_exact_root(ctx, &line, failed);
        found.alpha = real_select(failed, exact.alpha, found.alpha);
        found.count = real_select(failed, found.count + exact.count, found.count);
        failed = failed & mask_not(exact.accepted);
    }
    n->result->inner_iterations =
        real_select(n->open, n->result->inner_iterations + found.count, n->result->inner_iterations);
    n->result->line_failed = n->result->line_failed | failed;
    n->alpha = real_select(n->open, found.alpha, n->alpha);
    n->cost_prev = real_select(n->open, n->result->cost, n->cost_prev);
    n->open = n->open & mask_not(failed);
    problem_move(ctx, &line, found.alpha, n->open);
}

/* ---- the loop ---- */

KERNEL_FN Newton newton_begin(mask constrained, SolveResult *out) {
    Newton n;
    n.open = constrained;
    n.cost_prev = real_of(0);
    n.alpha = real_of(1);
    n.drift = real_of(0);
    n.result = out;
    *out = solve_result_none();
    return n;
}

/* Evaluates after k steps and closes the worlds that are done. Returns whether a world is open. */
KERNEL_FN bool newton_check(const Context *ctx, int k, Newton *n) {
    PROFILE(ctx, SAP_SECTION_EVALUATE);
    newton_evaluate(ctx, k, n);
    newton_stop(ctx, k, n);
    return mask_any(n->open);
}

/* Takes one step in every open world, whose linear system is solved. Returns whether a world is open; if none is, no v
 * has changed and the last evaluation is valid. */
KERNEL_FN bool newton_advance(const Context *ctx, const SapPattern *pattern, Newton *n) {
    newton_direction(ctx, pattern, n);
    if (!mask_any(n->open))
        return false;
    PROFILE(ctx, SAP_SECTION_LINE_SEARCH);
    newton_step(ctx, n);
    return mask_any(n->open);
}

STAGE_FN void newton_solve(const Context *ctx, mask constrained, SolveResult *out) {
    Newton n = newton_begin(constrained, out);
    const SapPattern *pattern = linear_pattern(ctx);
    for (int k = 0; newton_check(ctx, k, &n); k++) {
        LINEAR_SOLVE(ctx, LINEAR_IS_F64, pattern);
        if (!newton_advance(ctx, pattern, &n))
            return;
    }
}

/* Solves again from the v that was found, with friction by the normal impulses of that solve, in place of those that
 * the state before the step implies. Counts add up, and a solve that ended badly is reported. */
STAGE_FN void newton_pass_again(const Context *ctx, mask constrained, SolveResult *out) {
    SolveResult first = *out;
    TEAM_FOR(c, constraint_count(ctx))
        contact_lag_again(ctx, c);
    newton_solve(ctx, constrained, out);
    out->iterations = out->iterations + first.iterations;
    out->inner_iterations = out->inner_iterations + first.inner_iterations;
    out->f64_retries = out->f64_retries + first.f64_retries;
    out->stalled = out->stalled | first.stalled;
    out->limit = out->limit | first.limit;
    out->line_failed = out->line_failed | first.line_failed;
    out->no_descent = out->no_descent | first.no_descent;
}

KERNEL_FN void formulation_solve(const Context *ctx, const ProblemChecks *is, mask which, SolveResult *out) {
    (void)which;
    newton_solve(ctx, is->constrained, out);
    for (int pass = 1; pass < CONTACT_PASSES; pass++)
        newton_pass_again(ctx, is->constrained, out);
}
