/* The convex problem of a world, and its value at a velocity. docs/solve.md.
 *
 *   minimise  l(v) = 1/2 (v - v*)' A (v - v*) + sum_c l_c(J_c v) + sum_i l_i(v_i)
 *   gradient  A (v - v*) - sum_c J_c' gamma_c - sum_i gamma_i
 *   Hessian   A + sum_c J_c' G_c J_c + diag(hessian_i)
 *
 * Methods use the terms of the problem only through this file: cost, gradient, Hessian and the value along a line. */

/* ---- setting up ---- */

/* Checks of the problem, per world. */
typedef struct ProblemChecks {
    mask sound, constraints, dofs; /* free motion is finite; constraints are valid; dof terms and guess are finite */
    mask constrained;              /* all three hold and a term is active: the world has a problem to solve */
} ProblemChecks;

/* Reads A, v* and v0 from free motion, and computes w and scale. */
STAGE_FN void problem_load(const Context *ctx) {
    const SapPattern *tree = &ctx->args->plan.tree;
    TEAM_FOR(e, tree->nnz)
        SOLVE(A)[e] = view_get(FM_VIEW(A), e);
    TEAM_FOR(i, ctx->args->plan.nv) {
        real A_ii = view_get(FM_VIEW(A), tree->row[i].start + tree->row[i].depth);
        real a = real_select(A_ii > K(1e-12), A_ii, real_of(K(1e-12)));
        SOLVE(w)[i] = K(1.0) / a;
        SOLVE(scale)[i] = K(1.0) / real_sqrt(a);
        SOLVE(v_star)[i] = view_get(FM_VIEW(v), i);
        SOLVE(v0)[i] = view_get(FM_VIEW(v0), i);
    }
}

/* Links the incidences of dof i, the constraints that move it, in the order of slots. */
KERNEL_FN void problem_link_incidences(const Context *ctx, int i) {
    SapIncidence *last = FIRST_INCIDENCE(i);
    for (int c = 0; c < constraint_count(ctx); c++) {
        int column = constraint_column(ctx, c, i);
        if (column < 0)
            continue;
        last->slot = c;
        last->column = column;
        last = NEXT_INCIDENCE(c, column);
    }
    last->slot = last->column = -1;
}

/* (A x)_i from the sparse rows: ancestors, then descendants. */
KERNEL_FN real problem_A_row(const Context *ctx, int i, const real *x) {
    const SapPattern *tree = &ctx->args->plan.tree;
    const SapPatternRow *row = &tree->row[i];
    const real *A = SOLVE(A);
    real s = real_of(0);
    for (int t = 0; t <= row->depth; t++)
        s = real_fma(A[row->start + t], x[tree->ancestor[row->start + t]], s);
    for (int k = 0; k < row->num_desc; k++) {
        SapDescendant desc = tree->descendant[row->desc_start + k];
        s = real_fma(A[desc.start + row->depth], x[desc.dof], s);
    }
    return s;
}

/* Makes the terms of constraints and dofs, the guess, and A v*. */
STAGE_FN void problem_make_terms(const Context *ctx) {
    TEAM_FOR(c, constraint_count(ctx))
        constraint_make(ctx, c);
    TEAM_FOR(i, ctx->args->plan.nv) {
        problem_link_incidences(ctx, i);
        dof_terms_make(ctx, i);
        SOLVE(guess)[i] = ctx->args->guess.data ? buffer_get(ctx->args->guess, i, ctx->pack) : SOLVE(v0)[i];
        SOLVE(dof_check)[i] = SOLVE(dof_check)[i] + check_of(SOLVE(guess)[i]);
        SOLVE(Av_star)[i] = problem_A_row(ctx, i, SOLVE(v_star));
    }
}

/* Worlds whose free motion is finite. */
STAGE_FN mask problem_is_sound(const Context *ctx) {
    real check = real_of(0);
    for (int i = 0; i < ctx->args->plan.nv; i++)
        check = check + check_of(SOLVE(v_star)[i]) + check_of(SOLVE(w)[i]) + check_of(SOLVE(v0)[i]);
    return check == K(0.0);
}

/* Worlds whose constraints are finite and in range. */
STAGE_FN mask problem_constraints_lawful(const Context *ctx) {
    real check = real_of(0);
    for (int c = 0; c < constraint_count(ctx); c++)
        check = check + constraint_check(ctx, c);
    return check == K(0.0);
}

/* Worlds whose drive targets and guess are finite. */
STAGE_FN mask problem_dofs_lawful(const Context *ctx) {
    return checks_pass(SOLVE(dof_check), ctx->args->plan.nv);
}

/* Worlds with a constraint or an active dof term; the others have free motion. */
STAGE_FN mask problem_any_active(const Context *ctx) {
    mask any = mask_none();
    for (int c = 0; c < constraint_count(ctx); c++)
        any = any | constraint_acts(ctx, c);
    for (int i = 0; i < ctx->args->plan.nv; i++)
        any = any | dof_terms_active(ctx, i);
    return any;
}

/* Worlds in which a constraint acts on the articulation. */
KERNEL_FN mask problem_articulation_touched(const Context *ctx, int articulation) {
    mask touched = mask_none();
    for (int c = 0; c < constraint_count(ctx); c++)
        if (constraint_touches(ctx, c, articulation))
            touched = touched | constraint_acts(ctx, c);
    return touched;
}

/* Sets the first v. A dof participates if one of its terms acts or a constraint acts on its articulation. Those dofs
 * start from the guess. The others start from v*, and scale 0 excludes them from the norms. */
STAGE_FN void problem_start(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    int last = -1;
    mask touched = mask_none();
    TEAM_FOR(i, plan->nv) {
        int articulation = plan->link[plan->tree.row[i].link].articulation;
        if (articulation != last) /* the dofs of an articulation are consecutive */
            touched = problem_articulation_touched(ctx, articulation);
        last = articulation;
        mask part = dof_terms_active(ctx, i) | touched;
        SOLVE(v)[i] = real_select(part, SOLVE(guess)[i], SOLVE(v_star)[i]);
        SOLVE(scale)[i] = real_select(part, SOLVE(scale)[i], real_of(0));
    }
}

/* Sets up the problem of each world and its first v. */
STAGE_FN ProblemChecks problem_begin(const Context *ctx) {
    ProblemChecks is;
    problem_load(ctx);
    TEAM_SYNC(); /* dof terms read w and v*, incidences read the columns of all slots */
    problem_make_terms(ctx);
    TEAM_SYNC(); /* every thread reads the checks and activity of all constraints and dofs */
    is.sound = problem_is_sound(ctx);
    is.constraints = problem_constraints_lawful(ctx);
    is.dofs = problem_dofs_lawful(ctx);
    is.constrained = is.sound & is.constraints & is.dofs & problem_any_active(ctx);
    problem_start(ctx);
    TEAM_SYNC(); /* constraints read the v of their dofs */
    return is;
}

/* ---- evaluation ---- */

/* Computes velocities, impulses, costs and curvatures of all terms at v. */
STAGE_FN void problem_evaluate_terms(const Context *ctx) {
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_evaluate(&k, SOLVE(v));
    }
    TEAM_FOR(i, ctx->args->plan.nv) {
        JointTerms terms = dof_terms_at(ctx, i, SOLVE(v)[i]);
        SOLVE(dof_gamma)[i] = joint_terms_impulse(&terms);
        SOLVE(dof_cost)[i] = terms.cost;
        SOLVE(dof_hessian)[i] = terms.hessian;
        SOLVE(dv)[i] = SOLVE(v)[i] - SOLVE(v_star)[i];
    }
}

/* (J' gamma)_i + gamma_i */
KERNEL_FN real problem_Jt_row(const Context *ctx, int i) {
    real impulse = SOLVE(dof_gamma)[i];
    for (SapIncidence t = *FIRST_INCIDENCE(i); t.slot >= 0; t = *NEXT_INCIDENCE(t.slot, t.column)) {
        Constraint k = constraint_at(ctx, t.slot);
        impulse = impulse + vec3_dot(constraint_J(&k, t.column), vec3_load(k.gamma));
    }
    return impulse;
}

/* Momentum residual r = A (v - v*), impulse j = J' gamma + dof terms, gradient r - j; needs the evaluated terms. */
STAGE_FN void problem_evaluate_gradient(const Context *ctx) {
    TEAM_FOR(i, ctx->args->plan.nv) {
        real impulse = problem_Jt_row(ctx, i);
        real r = problem_A_row(ctx, i, SOLVE(dv));
        SOLVE(r)[i] = r;
        SOLVE(impulse)[i] = impulse;
        SOLVE(grad)[i] = r - impulse;
    }
}

/* l(v). Every thread computes the same sum in the order of indices. */
STAGE_FN real problem_cost(const Context *ctx) {
    real cost = real_of(0);
    for (int i = 0; i < ctx->args->plan.nv; i++)
        cost = cost + real_fma(K(0.5) * SOLVE(dv)[i], SOLVE(r)[i], SOLVE(dof_cost)[i]);
    for (int c = 0; c < constraint_count(ctx); c++)
        cost = cost + *constraint_at(ctx, c).cost;
    return cost;
}

/* Evaluates the problem at v: all terms, r, impulse and gradient. Returns l(v). */
KERNEL_FN real problem_evaluate(const Context *ctx) {
    problem_evaluate_terms(ctx);
    TEAM_SYNC(); /* the gradient reads all impulses and all of dv */
    problem_evaluate_gradient(ctx);
    TEAM_SYNC(); /* the sums read all of r, grad, impulse */
    return problem_cost(ctx);
}

/* |D grad| and max(|D A v|, |D j|) of the last evaluation, D = diag(1/sqrt(A_ii)) over the active dofs. */
KERNEL_FN void problem_residual(const Context *ctx, real *residual, real *scale) {
    real gg = real_of(0), pp = real_of(0), jj = real_of(0);
    for (int i = 0; i < ctx->args->plan.nv; i++) {
        real s = SOLVE(scale)[i];
        real g = s * SOLVE(grad)[i], p = s * (SOLVE(r)[i] + SOLVE(Av_star)[i]), j = s * SOLVE(impulse)[i];
        gg = real_fma(g, g, gg);
        pp = real_fma(p, p, pp);
        jj = real_fma(j, j, jj);
    }
    *residual = real_sqrt(gg);
    *scale = real_sqrt(real_max(pp, jj));
}

/* ---- along a line ---- */

/* phi(a) = l(v + a d), at the v of the last evaluation.
 *
 *   phi(a)   = m0 + a m1 + a^2 m2/2 + potentials(v + a d),   m0 = dv' A dv/2, m1 = d' A dv, m2 = d' A d
 *   phi'(a)  = m1 + a m2 - sum_c gamma_c.(J d)_c - sum_i gamma_i d_i
 *   phi''(a) = m2 + sum_c (J d)' G (J d) + sum_i hessian_i d_i^2 */
typedef struct Line {
    const real *d;   /* [nv] direction */
    real m0, m1, m2; /* quadratic part */
    real l0, slope0; /* phi(0), phi'(0) */
} Line;

typedef struct LinePoint {
    real cost, slope, curvature;
} LinePoint;

/* Computes A d, J d and the constants of the line along d; l0 = l(v). */
STAGE_FN Line problem_line_start(const Context *ctx, const real *d, real l0) {
    TEAM_FOR(i, ctx->args->plan.nv)
        SOLVE(Ad)[i] = problem_A_row(ctx, i, d);
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        vec3_store(k.Jd, constraint_J_mul(&k, d));
    }
    TEAM_SYNC(); /* every thread reads all of Ad, and later Jd */
    Line line;
    line.d = d;
    line.m0 = line.m1 = line.m2 = line.slope0 = real_of(0);
    for (int i = 0; i < ctx->args->plan.nv; i++) {
        line.m0 = real_fma(K(0.5) * SOLVE(dv)[i], SOLVE(r)[i], line.m0);
        line.m1 = real_fma(d[i], SOLVE(r)[i], line.m1);
        line.m2 = real_fma(d[i], SOLVE(Ad)[i], line.m2);
        line.slope0 = real_fma(d[i], SOLVE(grad)[i], line.slope0);
    }
    line.l0 = l0;
    return line;
}

/* The terms of dof i at a: the cost and, if `derivatives`, slope and curvature along d. */
KERNEL_FN void problem_line_dof(const Context *ctx, int i, real d, real a, bool derivatives) {
    JointTerms terms = dof_terms_at(ctx, i, real_fma(a, d, SOLVE(v)[i]));
    real *at = SOLVE(line) + 3 * i;
    at[0] = terms.cost;
    if (!derivatives)
        return;
    at[1] = joint_terms_impulse(&terms) * d;
    at[2] = terms.hessian * d * d;
}

/* Adds the terms of one constraint or dof to p. */
KERNEL_FN void line_add(LinePoint *p, const real *at, bool derivatives) {
    p->cost = p->cost + at[0];
    if (!derivatives)
        return;
    p->slope = p->slope - at[1];
    p->curvature = p->curvature + at[2];
}

/* phi and, if `derivatives`, phi' and phi'' at a. */
KERNEL_FN LinePoint problem_line_point(const Context *ctx, const Line *line, real a, bool derivatives) {
    int nv = ctx->args->plan.nv;
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_line(&k, a, derivatives);
    }
    TEAM_FOR(i, nv)
        if (DOF_ACTS(i))
            problem_line_dof(ctx, i, line->d[i], a, derivatives);
    TEAM_SYNC(); /* the sums read the values of all constraints and dofs */
    LinePoint p;
    p.cost = real_fma(a, real_fma(K(0.5) * a, line->m2, line->m1), line->m0);
    p.slope = real_fma(a, line->m2, line->m1);
    p.curvature = line->m2;
    for (int c = 0; c < constraint_count(ctx); c++)
        line_add(&p, constraint_at(ctx, c).line, derivatives);
    for (int i = 0; i < nv; i++)
        if (DOF_ACTS(i))
            line_add(&p, SOLVE(line) + 3 * i, derivatives);
    TEAM_SYNC(); /* the next evaluation overwrites the values that were summed */
    return p;
}

/* ---- Hessian ---- */

/* Whether a constraint couples two branches of the tree: H then has entries off the tree's pattern. */
KERNEL_FN bool problem_couples(const Context *ctx) {
    bool couples = false;
    for (int c = 0; c < constraint_count(ctx); c++)
        couples |= constraint_couples(ctx, c);
    return couples;
}

/* Writes row i of H on `pattern` (the tree's, or dense): H_ij = A_ij + sum_c J_ci' G_c J_cj,
 * H_ii += hessian_i + diag_shift. */
STAGE_FN void problem_hessian_row(const Context *ctx, const SapPattern *pattern, int i, real *matrix) {
    const SapPatternRow *row = &pattern->row[i], *tree_row = &ctx->args->plan.tree.row[i];
    const int *ancestor = pattern->ancestor + row->start;
    real *H = matrix + row->start;
    const real *A = SOLVE(A) + tree_row->start;
    /* A, with zeros off the tree's pattern */
    for (int t = 0, a = 0; t <= row->depth; t++) {
        bool on_tree = ancestor[t] == ctx->args->plan.tree.ancestor[tree_row->start + a];
        H[t] = on_tree ? A[a] : real_of(0);
        a += on_tree;
    }
    /* constraints that move dof i */
    bool is_tree = pattern == &ctx->args->plan.tree;
    for (SapIncidence t = *FIRST_INCIDENCE(i); t.slot >= 0; t = *NEXT_INCIDENCE(t.slot, t.column)) {
        Constraint k = constraint_at(ctx, t.slot);
        Vec3 GJ = law_G_mul(k.G, constraint_J(&k, t.column));
        for (int j = 0; j <= t.column; j++) { /* on the tree, columns 0 .. t.column are entries 0 .. depth of the row */
            real *H_ij = H + (is_tree ? j : k.dof[j]);
            *H_ij = *H_ij + vec3_dot(GJ, constraint_J(&k, j));
        }
    }
    H[row->depth] = H[row->depth] + SOLVE(dof_hessian)[i] + (scalar)ctx->args->contacts.diag_shift;
}
