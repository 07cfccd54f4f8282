/* Newton's method as MuJoCo has it: another start, stopping test and line search than sap/newton.h, on the same
 * problem, Hessian and factor. docs/mujoco.md.
 *
 *   start    the guess v0 + h qacc of the last step, or v* if that has the smaller cost
 *   repeat   d = -H^-1 grad,  v += a d by the exact search (mujoco/line.h)
 *            stop where 0 < improvement < tol, gradient < tol or decrement < tol
 *
 *   improvement = -(l(v + a d) - l(v))/(h^2 trace A)    gradient = |grad|/(h trace A)
 *   decrement = grad'H^-1 grad/(2 h^2 trace A)
 *
 * These are MuJoCo's numbers, whose unknown is the acceleration: F = l/h^2 and dF/da = grad/h. */

/* What f32 resolves: a smaller tolerance of the stopping tests is this one, and a gradient or a slope along a line
 * below the rounding of its terms, ten times 2^-23 of their size, is 0. */
#define MUJOCO_LEAST_TOLERANCE (SAP_PRECISION == 64 ? K(0.0) : K(SAP_MUJOCO_LEAST_TOLERANCE))
#define MUJOCO_ROUNDING        K(1.2e-6)

/* Whether a factor is used again where H is the same: f32 does not always see that the gradient is 0 after the last
 * step, and then needs one more direction for the decrement. One thread alone, so that a GPU has no code for it. */
#define MUJOCO_KEEPS_FACTOR (SAP_PRECISION == 32 && TEAM_OF_ONE)

typedef struct MujocoNewton {
    mask open;                          /* worlds that still iterate */
    mask changed;                       /* worlds whose H differs from the last factor's */
    real scale;                         /* 1/(h trace A) */
    real tolerance, ls_tolerance, most; /* options of the solve; most: iterations */
    real decrement, improvement;
    mask flat; /* worlds whose gradient is small enough */
    SolveResult *result;
} MujocoNewton;

/* v = guess or v*, whichever has the smaller cost, in all dofs of the worlds of `open`; without warmstart v*. */
STAGE_FN void mujoco_start(const Context *ctx, MujocoNewton *n) {
    int nv = ctx->args->plan.nv;
    real *v = SOLVE(v);
    if (ctx->args->report.dof_cache && !ctx->args->guess.data) {
        TEAM_SYNC(); /* the first v was made of the guess that the problem has */
        TEAM_FOR(l, ctx->args->plan.nl)
            mujoco_guess_link(ctx, l);
    }
    real at_free = problem_start_free(ctx);
    TEAM_FOR(i, nv)
        v[i] = real_select(n->open, SOLVE(guess)[i], SOLVE(v_star)[i]);
    problem_start_from_v(ctx, mask_all());
    problem_take_errors(ctx, mask_all());
    real at_guess = problem_cost_of_v(ctx);
    mask free = MUJOCO->warmstart ? mask_not(at_guess <= at_free) : mask_all(); /* also if the guess is not finite */
    problem_go_free(ctx, n->open & free);
    n->result->cost = problem_evaluate_moved(ctx, mask_none());
}

/* Finds the worlds whose gradient is below the tolerance or, in f32, below the rounding of its terms r and j: no
 * direction improves them. */
STAGE_FN void mujoco_gradient(const Context *ctx, MujocoNewton *n) {
    const real *grad = SOLVE(grad), *r = SOLVE(r), *impulse = SOLVE(impulse);
    real squares = real_of(0), terms = real_of(0);
    for (int i = 0; i < ctx->args->plan.nv; i++) {
        squares = real_fma(grad[i], grad[i], squares);
        if (SAP_PRECISION == 32) {
            real size = real_abs(r[i]) + real_abs(impulse[i]);
            terms = real_fma(size, size, terms);
        }
    }
    n->flat = n->scale * real_sqrt(squares) < n->tolerance;
    if (SAP_PRECISION == 32)
        n->flat = n->flat | (squares < MUJOCO_ROUNDING * MUJOCO_ROUNDING * terms);
}

/* The solution with the factor of the last system. It has the bits of a new factor, whose matrix would be the same. */
STAGE_FN void mujoco_solve_again(const Context *ctx, const SapPattern *pattern) {
    PROFILE(ctx, SAP_SECTION_FACTOR);
    real *x = LINEAR(x);
    for (int i = 0; i < ctx->args->plan.nv; i++)
        x[i] = -SOLVE(grad)[i];
    factor_forward(pattern, LINEAR(L), LINEAR(inverse), x);
    factor_back(pattern, LINEAR(L), LINEAR(inverse), x);
}

/* d = -H^-1 grad, and the decrement. Worlds without a finite direction stop. */
STAGE_FN void mujoco_direction(const Context *ctx, const SapPattern *pattern, MujocoNewton *n) {
    if (MUJOCO_KEEPS_FACTOR && !LINEAR_IS_F64 && pattern && !mask_any(n->open & n->changed))
        mujoco_solve_again(ctx, pattern);
    else
        LINEAR_SOLVE(ctx, LINEAR_IS_F64, pattern);
    StageView x = LINEAR_VIEW(LINEAR_IS_F64);
    int nv = ctx->args->plan.nv, at = ctx->args->linear.x;
    real *d = NEWTON(d), slope = linear_slope(ctx, LINEAR_IS_F64);
    TEAM_FOR(i, nv)
        d[i] = view_get(x, at + i);
    TEAM_SYNC(); /* the line search reads all of d */
    n->decrement = real_max(real_of(0), K(-0.5) * n->scale / STAGE_H * slope);
    mask lost = n->open & mask_not(real_finite(slope));
    n->result->no_descent = n->result->no_descent | lost;
    n->open = n->open & mask_not(lost);
}

/* Closes the worlds that are done after k steps. */
KERNEL_FN void mujoco_close(MujocoNewton *n, int k, mask optimal, mask settled) {
    n->result->optimal = n->result->optimal | (n->open & optimal);
    n->result->settled = n->result->settled | (n->open & settled);
    n->result->iterations = real_select(n->open, real_of((scalar)k), n->result->iterations);
    n->open = n->open & mask_not(optimal | settled);
}

/* The tests of the gradient and of the improvement after k > 0 steps, which need no direction. */
STAGE_FN void mujoco_stop_before(int k, MujocoNewton *n) {
    mask settled = (n->improvement > K(0.0)) & (n->improvement < n->tolerance);
    if (k > 0)
        mujoco_close(n, k, n->flat, settled);
}

/* The test of the decrement. Before the first step the gradient must be small too. */
KERNEL_FN void mujoco_stop(int k, MujocoNewton *n) {
    mask small = n->decrement < n->tolerance;
    mujoco_close(n, k, k == 0 ? n->flat & small : mask_none(), k == 0 ? mask_none() : small);
    mask ends = n->open & (n->most <= real_of((scalar)k));
    n->result->limit = n->result->limit | ends;
    n->open = n->open & mask_not(ends);
}

/* The slope along d that the line search accepts; length = |d|. */
KERNEL_FN real mujoco_line_tolerance(const Context *ctx, const MujocoNewton *n, real length) {
    const real *d = NEWTON(d), *r = SOLVE(r), *impulse = SOLVE(impulse);
    real tolerance = n->tolerance * n->ls_tolerance * length / n->scale, size = real_of(0);
    for (int i = 0; SAP_PRECISION == 32 && i < ctx->args->plan.nv; i++)
        size = real_fma(real_abs(d[i]), real_abs(r[i]) + real_abs(impulse[i]), size);
    return SAP_PRECISION == 32 ? real_max(tolerance, MUJOCO_ROUNDING * size) : tolerance;
}

/* Takes a step in every open world. A world without a step that improves stops: it is optimal if its gradient is. */
STAGE_FN void mujoco_advance(const Context *ctx, MujocoNewton *n) {
    const real *d = NEWTON(d);
    real squares = real_of(0), h = STAGE_H;
    for (int i = 0; i < ctx->args->plan.nv; i++)
        squares = real_fma(d[i], d[i], squares);
    real length = real_sqrt(squares);
    Line line = problem_line_start(ctx, d, n->result->cost, n->open);
    ExactSearch found = exact_search(ctx, &line, length, mujoco_line_tolerance(ctx, n, length), n->open);
    mask stays = n->open & (found.a == K(0.0));
    n->result->inner_iterations =
        real_select(n->open & mask_not(stays), n->result->inner_iterations + found.count, n->result->inner_iterations);
    n->result->optimal = n->result->optimal | (stays & n->flat);
    n->result->line_failed = n->result->line_failed | (stays & mask_not(n->flat));
    n->open = n->open & mask_not(stays);
    n->improvement = -found.change * n->scale / h;
    problem_move(ctx, &line, found.a, n->open);
}

STAGE_FN void mujoco_solve(const Context *ctx, mask constrained, SolveResult *out) {
    MujocoNewton n;
    *out = solve_result_none();
    n.result = out;
    n.open = constrained;
    n.changed = mask_all();
    n.scale = K(1.0) / (STAGE_H * problem_trace(ctx));
    n.tolerance =
        real_max(mujoco_get(ctx, SAP_MUJOCO_OPTIONS, SAP_MUJOCO_OPTION_TOLERANCE), real_of(MUJOCO_LEAST_TOLERANCE));
    n.ls_tolerance = mujoco_get(ctx, SAP_MUJOCO_OPTIONS, SAP_MUJOCO_OPTION_LS_TOLERANCE);
    n.most = mujoco_get(ctx, SAP_MUJOCO_OPTIONS, SAP_MUJOCO_OPTION_ITERATIONS);
    n.improvement = real_of(0);
    const SapPattern *pattern = linear_pattern(ctx);
    PROFILE(ctx, SAP_SECTION_EVALUATE);
    mujoco_start(ctx, &n);
    for (int k = 0;; k++) {
        mujoco_gradient(ctx, &n);
        mujoco_stop_before(k, &n);
        if (!mask_any(n.open))
            break;
        mujoco_direction(ctx, pattern, &n);
        mujoco_stop(k, &n);
        if (!mask_any(n.open))
            break;
        PROFILE(ctx, SAP_SECTION_LINE_SEARCH);
        mujoco_advance(ctx, &n);
        PROFILE(ctx, SAP_SECTION_EVALUATE);
        out->cost =
            MUJOCO_KEEPS_FACTOR ? problem_evaluate_changes(ctx, &n.changed) : problem_evaluate_moved(ctx, mask_none());
        if (!mask_any(n.open))
            break;
    }
    problem_end(ctx);
    if (!NORMS_ARE_READ)
        return;
    ProblemNorms norms = problem_norms(ctx);
    out->residual = norms.residual;
    out->residual_scale = norms.scale;
}

KERNEL_FN void formulation_solve(const Context *ctx, const ProblemChecks *is, mask which, SolveResult *out) {
    (void)which;
    mujoco_solve(ctx, is->constrained, out);
}
