/* What MuJoCo's method asks of the problem beyond solve/problem.h. It needs the cost of a velocity without its
 * gradient, and the first point of a line, whose terms are known. This law has no terms of dofs. docs/mujoco.md. */

/* ---- the better of two velocities ---- */

/* Computes the costs of all terms. Impulses and curvatures of contacts keep their values. */
STAGE_FN void problem_evaluate_costs(const Context *ctx) {
    model_evaluate(ctx);
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_evaluate_cost(&k);
    }
}

/* l(v), without impulses and gradient. */
STAGE_FN real problem_cost_of_v(const Context *ctx) {
    problem_evaluate_costs(ctx);
    TEAM_SYNC(); /* the sum reads the costs of all terms */
    real cost = problem_cost(ctx);
    TEAM_SYNC(); /* every thread has read them */
    return cost;
}

/* Velocities of blocks, just computed from v in the worlds of `which`, become differences from the reference of their
 * first law, until problem_end. Contacts have theirs already. The rounding of an error is smaller than a
 * velocity's, and so is the impulse's, which f32 needs to see that the gradient is 0. */
STAGE_FN void problem_take_errors(const Context *ctx, mask which) {
    FOR_ACTING(b)
    for (int r = 0; r < b->rows; r++) {
        real *vc = BLOCK(vc, b) + r;
        *vc = real_select(which, *vc - BLOCK_LAW(b, r, 0)->vhat, *vc);
    }
}

/* v = v*, so that v - v* and r are 0. Returns l(v*). Jd keeps the velocities of the terms until problem_go_free. */
STAGE_FN real problem_start_free(const Context *ctx) {
    TEAM_FOR(i, ctx->args->plan.nv) {
        SOLVE(v)[i] = SOLVE(v_star)[i];
        SOLVE(dv)[i] = SOLVE(r)[i] = real_of(0);
    }
    TEAM_SYNC(); /* terms read the v of their dofs */
    model_line_start(ctx, SOLVE(v));
    model_take_Jd(ctx, mask_all());
    problem_take_errors(ctx, mask_all());
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_line_start(&k, SOLVE(v));
        constraint_take_Jd(&k, mask_all());
    }
    return problem_cost_of_v(ctx);
}

/* Goes back to v* in the worlds of `which`. */
STAGE_FN void problem_go_free(const Context *ctx, mask which) {
    real zero = real_of(0);
    TEAM_FOR(i, ctx->args->plan.nv) {
        SOLVE(v)[i] = real_select(which, SOLVE(v_star)[i], SOLVE(v)[i]);
        SOLVE(dv)[i] = real_select(which, zero, SOLVE(dv)[i]);
        SOLVE(r)[i] = real_select(which, zero, SOLVE(r)[i]);
    }
    model_take_Jd(ctx, which);
    problem_take_errors(ctx, which);
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_take_Jd(&k, which);
    }
}

/* Ends the solve: terms have their velocities again, which reports read. */
STAGE_FN void problem_end(const Context *ctx) {
    FOR_ACTING(b)
    for (int r = 0; r < b->rows; r++)
        BLOCK(vc, b)[r] = BLOCK(vc, b)[r] + BLOCK_LAW(b, r, 0)->vhat;
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_end(&k);
    }
    TEAM_SYNC(); /* a report reads the velocities of all terms */
}

/* ---- along a line ---- */

/* phi' and phi'' at 0, from impulses and curvatures at v. */
STAGE_FN LinePoint problem_line_first(const Context *ctx, const Line *line) {
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_line_first(&k);
    }
    model_line_first(ctx);
    TEAM_SYNC(); /* the sums read the values of all terms */
    LinePoint p = line_parabola(line, real_of(0));
    for (int c = 0; c < constraint_count(ctx); c++)
        line_add(&p, constraint_at(ctx, c).line, 2);
    if (model_has_constraints(ctx)) {
        p.slope = p.slope - blocks_line_sum(ctx, 1);
        p.curvature = p.curvature + blocks_line_sum(ctx, 2);
    }
    TEAM_SYNC(); /* the next evaluation overwrites the values that were summed */
    return p;
}

/* ---- curvatures ---- */

/* l(v) after problem_move, with all terms and the gradient. *changes: the worlds in which the curvature of a term may
 * not be what it was before the move. Equalities have always the same; the curvature of a limit or of friction waits in
 * the memory of the line. */
STAGE_FN real problem_evaluate_changes(const Context *ctx, mask *changes) {
    mask any = mask_none();
    for (int c = 0; c < constraint_count(ctx); c++) {
        Constraint k = constraint_at(ctx, c);
        any = any | constraint_changes(&k);
    }
    FOR_ALL_ACTING(b)
    BLOCK(line, b)[0] = BLOCK(G, b)[0];
    real cost = problem_evaluate_moved(ctx, mask_none());
    FOR_ALL_ACTING(b)
    if (b->laws > 1)
        any = any | (BLOCK(line, b)[0] != BLOCK(G, b)[0]);
    *changes = any;
    return cost;
}
