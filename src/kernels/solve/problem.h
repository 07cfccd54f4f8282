/* The convex problem of a world, and its value at a velocity. docs/solve.md.
 *
 *   minimise  l(v) = 1/2 (v - v*)' A (v - v*) + sum_c l_c(J_c v) + sum_i l_i(v_i)
 *   gradient  A (v - v*) - sum_c J_c' gamma_c - sum_i gamma_i
 *   Hessian   A + sum_c J_c' G_c J_c + diag(hessian_i)
 *
 * c runs over the constraints and tendons of the model, then over the contacts (solve/terms.h).
 *
 * Methods use the terms only through this file, line.h (the value along a line) and hessian.h. */

/* ---- setting up ---- */

/* Checks of the problem, per world. */
typedef struct ProblemChecks {
    mask sound, constraints, dofs; /* free motion is finite; contacts are valid; control and guess are finite */
    mask blocks;                   /* every block has a direction */
    mask constrained;              /* all four hold and a term is active: the world has a problem to solve */
} ProblemChecks;

/* Reads v* and v0 from free motion, and computes w and scale from the diagonal of A. v - v* and r are 0 until they are
 * computed from v. */
STAGE_FN void problem_load(const Context *ctx) {
    const SapPatternRow *row = ctx->args->plan.tree.row;
    int nv = ctx->args->plan.nv;
    real *w = SOLVE(w), *scale = SOLVE(scale), *v_star = SOLVE(v_star), *v0 = SOLVE(v0);
    real *dv = SOLVE(dv), *r = SOLVE(r);
    StageView A = FM_VIEW(A), fm_v = FM_VIEW(v), fm_v0 = FM_VIEW(v0);
    UNROLL
    TEAM_FOR(i, nv) {
        real A_ii = view_get(A, row[i].start + row[i].depth);
        real a = real_select(A_ii > K(1e-12), A_ii, real_of(K(1e-12)));
        w[i] = K(1.0) / a;
        scale[i] = K(1.0) / real_sqrt(a);
        v_star[i] = view_get(fm_v, i);
        v0[i] = view_get(fm_v0, i);
        dv[i] = r[i] = real_of(0);
    }
}

/* Worlds whose free motion is finite. */
STAGE_FN mask problem_is_sound(const Context *ctx) {
    real check = real_of(0);
    UNROLL
    for (int i = 0; i < ctx->args->plan.nv; i++)
        check = check + check_of(SOLVE(v_star)[i]) + check_of(SOLVE(w)[i]) + check_of(SOLVE(v0)[i]);
    return check == K(0.0);
}

/* Makes all terms, the guess, and A v*. */
STAGE_FN void problem_make(const Context *ctx) {
    terms_make(ctx);
    TEAM_FOR(i, ctx->args->plan.nv) {
        SOLVE(guess)[i] = ctx->args->guess.data ? buffer_get(ctx->args->guess, i, ctx->pack) : SOLVE(v0)[i];
        SOLVE(dof_check)[i] = SOLVE(dof_check)[i] + check_of(SOLVE(guess)[i]);
    }
    if (NORMS_ARE_READ) /* nothing else reads it */
        problem_A_mul(ctx, SOLVE(v_star), SOLVE(Av_star));
}

/* Sets the first v. Dofs that take part start from the guess. The others start from v*, and scale 0 excludes them from
 * the norms. */
STAGE_FN void problem_start(const Context *ctx) {
    terms_touch(ctx);
    TEAM_SYNC(); /* dofs read what their articulation's thread found */
    TEAM_FOR(i, ctx->args->plan.nv) {
        mask part = terms_move_dof(ctx, i);
        SOLVE(v)[i] = real_select(part, SOLVE(guess)[i], SOLVE(v_star)[i]);
        SOLVE(scale)[i] = real_select(part, SOLVE(scale)[i], real_of(0));
    }
}

/* Sets up the problem of each world and its first v. */
STAGE_FN ProblemChecks problem_begin(const Context *ctx) {
    ProblemChecks is;
    TEAM_SYNC(); /* contact geometry has read the S of free motion, whose memory the problem overwrites */
    problem_load(ctx);
    TEAM_SYNC(); /* dof terms read w and v*, A v* reads all of v* and A */
    problem_make(ctx);
    TEAM_SYNC(); /* every thread reads the checks and activity of all constraints and dofs */
    is.sound = problem_is_sound(ctx);
    is.constraints = terms_contacts_lawful(ctx);
    is.dofs = terms_control_lawful(ctx);
    is.blocks = terms_model_lawful(ctx);
    is.constrained = is.sound & is.constraints & is.dofs & is.blocks & terms_any_act(ctx);
    problem_start(ctx);
    return is;
}

/* ---- evaluation ---- */

/* Computes v - v*, r = A (v - v*) and the velocities of constraints from v, in the worlds of `which`. */
STAGE_FN void problem_start_from_v(const Context *ctx, mask which) {
    const real *v = SOLVE(v);
    StageView v_star = FM_VIEW(v);
    real *dv = SOLVE(dv), *r = SOLVE(r), *product = SOLVE(grad); /* grad is free until the gradient is evaluated */
    int nv = ctx->args->plan.nv;
    TEAM_SYNC(); /* constraints read the v of their dofs */
    UNROLL
    TEAM_FOR(i, nv)
        dv[i] = real_select(which, v[i] - view_get(v_star, i), dv[i]);
    terms_set_velocity(ctx, v, which);
    TEAM_SYNC(); /* the product reads all of dv */
    problem_A_mul(ctx, dv, product);
    UNROLL
    TEAM_FOR(i, nv)
        r[i] = real_select(which, product[i], r[i]);
}

/* Gradient r - j; needs r and j. */
KERNEL_FN void problem_evaluate_gradient(const Context *ctx) {
    const real *r = SOLVE(r), *impulse = SOLVE(impulse);
    real *grad = SOLVE(grad);
    int nv = ctx->args->plan.nv;
    UNROLL
    TEAM_FOR(i, nv)
        grad[i] = r[i] - impulse[i];
}

/* Adds dof i of 1/2 (v - v*)' r and of the dof terms to the cost. */
KERNEL_FN real cost_add_dof(real cost, real dv, real r, real dof_cost) {
    return cost + real_fma(K(0.5) * dv, r, dof_cost);
}

/* l(v). Every thread computes the same sum in the order of indices. */
STAGE_FN real problem_cost(const Context *ctx) {
    real cost = real_of(0);
    for (int i = 0; i < ctx->args->plan.nv; i++)
        cost = cost_add_dof(cost, SOLVE(dv)[i], SOLVE(r)[i], terms_dof_cost(ctx, i));
    return terms_add_cost(ctx, cost);
}

/* Evaluates all terms and the impulse at the v of problem_move. In the worlds of `drifted`, r and the velocities of
 * constraints are computed from v. */
KERNEL_FN void problem_evaluate_moved_terms(const Context *ctx, mask drifted) {
    if (mask_any(drifted))
        problem_start_from_v(ctx, drifted);
    terms_evaluate(ctx);
    TEAM_SYNC(); /* J' gamma reads all impulses */
    terms_add_impulse(ctx);
}

/* The same with the gradient. Returns l(v). */
KERNEL_FN real problem_evaluate_moved(const Context *ctx, mask drifted) {
    problem_evaluate_moved_terms(ctx, drifted);
    problem_evaluate_gradient(ctx);
    TEAM_SYNC(); /* the sums read all of r, grad, impulse */
    return problem_cost(ctx);
}

/* Evaluates the problem at any v: all terms, r, impulse and gradient. Returns l(v). */
KERNEL_FN real problem_evaluate(const Context *ctx) {
    return problem_evaluate_moved(ctx, mask_all());
}

/* Norms of the last evaluation, D = diag(1/sqrt(A_ii)) over the active dofs. */
typedef struct ProblemNorms {
    real residual, scale; /* |D grad|, max(|D A v|, |D j|) */
    real momentum;        /* |D r| */
} ProblemNorms;

/* Sums of squares. */
typedef struct NormSums {
    real grad, momentum, impulse, r; /* of D grad, D A v, D j, D r */
} NormSums;

KERNEL_FN NormSums norm_sums_none(void) {
    NormSums sums;
    sums.grad = sums.momentum = sums.impulse = sums.r = real_of(0);
    return sums;
}

/* Adds dof i, whose scale is s. */
KERNEL_FN void norm_sums_add(NormSums *sums, real s, real grad, real r, real Av_star, real impulse) {
    real g = s * grad, p = s * (r + Av_star), j = s * impulse, m = s * r;
    sums->grad = real_fma(g, g, sums->grad);
    sums->momentum = real_fma(p, p, sums->momentum);
    sums->impulse = real_fma(j, j, sums->impulse);
    sums->r = real_fma(m, m, sums->r);
}

KERNEL_FN ProblemNorms norms_of(const NormSums *sums) {
    ProblemNorms norms;
    norms.residual = real_sqrt(sums->grad);
    norms.scale = real_sqrt(real_max(sums->momentum, sums->impulse));
    norms.momentum = real_sqrt(sums->r);
    return norms;
}

KERNEL_FN ProblemNorms problem_norms(const Context *ctx) {
    const real *scale = SOLVE(scale), *grad = SOLVE(grad), *r = SOLVE(r), *Av_star = SOLVE(Av_star);
    const real *impulse = SOLVE(impulse);
    int nv = ctx->args->plan.nv;
    NormSums sums = norm_sums_none();
    for (int i = 0; i < nv; i++)
        norm_sums_add(&sums, scale[i], grad[i], r[i], Av_star[i], impulse[i]);
    return norms_of(&sums);
}

/* As problem_evaluate_moved and problem_norms. Returns l(v). One thread alone takes gradient, cost and norms in one
 * pass over the dofs. In a team the gradient is shared work, and cost and norms together would only need more
 * registers. */
KERNEL_FN real problem_evaluate_moved_norms(const Context *ctx, mask drifted, ProblemNorms *norms) {
    if (!TEAM_OF_ONE) {
        real l = problem_evaluate_moved(ctx, drifted);
        *norms = problem_norms(ctx);
        return l;
    }
    problem_evaluate_moved_terms(ctx, drifted);
    const real *scale = SOLVE(scale), *r = SOLVE(r), *Av_star = SOLVE(Av_star), *impulse = SOLVE(impulse);
    const real *dv = SOLVE(dv), *dof_cost = SOLVE(dof_cost);
    real *grad = SOLVE(grad), cost = real_of(0);
    int nv = ctx->args->plan.nv;
    NormSums sums = norm_sums_none();
    UNROLL
    for (int i = 0; i < nv; i++) {
        grad[i] = r[i] - impulse[i];
        cost = cost_add_dof(cost, dv[i], r[i], dof_cost[i]);
        norm_sums_add(&sums, scale[i], grad[i], r[i], Av_star[i], impulse[i]);
    }
    *norms = norms_of(&sums);
    return terms_add_cost(ctx, cost);
}

/* The sum of the diagonal of A. */
KERNEL_FN real problem_trace(const Context *ctx) {
    const SapPatternRow *row = ctx->args->plan.tree.row;
    StageView A = FM_VIEW(A);
    real sum = real_of(0);
    for (int i = 0; i < ctx->args->plan.nv; i++)
        sum = sum + view_get(A, row[i].start + row[i].depth);
    return sum;
}
