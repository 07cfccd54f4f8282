/* The problem along a line of directions: phi(a) = l(v + a d), at the v of the last evaluation, as a difference from phi(0): it has digits where l has none.
 *
 *   phi(a) - phi(0) = a m1 + a^2 m2/2 + sum of l_c, l_i at v + a d, less those at v      m1 = d' A dv, m2 = d' A d
 *   phi'(a)         = m1 + a m2 - sum_c gamma_c.(J d)_c - sum_i gamma_i d_i
 *   phi''(a)        = m2 + sum_c (J d)' G (J d) + sum_i hessian_i d_i^2
 *
 * The terms of a dof that stay in their regions up to a = LINE_REACH, such as those of a drive inside its limits, are
 * parabolas: they are in m1 and m2, not in the sums. */
typedef struct Line {
    const real *d;   /* [nv] direction */
    real m1, m2;     /* the parabola */
    real l0, slope0; /* phi(0), phi'(0) */
} Line;

typedef struct LinePoint {
    real change; /* phi(a) - phi(0) */
    real slope, curvature;
} LinePoint;

/* The longest step that a line search tries: 1.5 (exact_root), or 1/rho (armijo_decay). */
KERNEL_FN real line_reach(const Context *ctx) {
    return real_max(real_of(K(1.5)), real_of((scalar)(1.0 / ctx->args->newton.rho)));
}

/* Finds the worlds in which the terms of dof i are a parabola along the line: keeps[i] is 1 there. One lane, which is
 * open, has the bit of its dof instead. */
KERNEL_FN void line_find_parabolas(const Context *ctx, const real *d, mask open) {
    const real *v = SOLVE(v);
    real *keeps = SOLVE(line_keeps), reach = line_reach(ctx);
    int *acts = &DOF_ACTS(0), nv = ctx->args->plan.nv;
    DofTerms all = dof_terms(ctx);
    UNROLL
    TEAM_FOR(i, HAS_DOF_TERMS ? nv : 0)
        if (acts[i]) {
            mask same = dof_terms_keep(&all, i, v[i], real_fma(reach, d[i], v[i]));
            if (SAP_LANES > 1)
                keeps[i] = real_select(same, real_of(1), real_of(0));
            acts[i] = (acts[i] & ~DOF_LINE_ACTS) | (mask_any(open & mask_not(same)) ? DOF_LINE_ACTS : 0);
        }
}

/* Worlds in which the terms of dof i are a parabola along the line; acts: DOF_ACTS(i). */
KERNEL_FN mask line_keeps(const real *keeps, int i, int acts) {
    if (SAP_LANES == 1)
        return acts & DOF_LINE_ACTS ? mask_none() : mask_all();
    return keeps[i] != K(0.0);
}

/* Computes A d, J d and the constants of the line along d for the worlds of `open`; l0 = l(v). */
STAGE_FN Line problem_line_start(const Context *ctx, const real *d, real l0, mask open) {
    int nv = ctx->args->plan.nv;
    problem_A_mul(ctx, d, SOLVE(Ad));
    if (NUM_MODEL_CONSTRAINTS > 0)
        blocks_line_start(ctx, d);
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_line_start(&k, d);
    }
    line_find_parabolas(ctx, d, open);
    TEAM_SYNC(); /* every thread reads all of Ad and keeps, and later Jd */
    const real *Ad = SOLVE(Ad), *keeps = SOLVE(line_keeps), *gamma = SOLVE(dof_gamma), *hessian = SOLVE(dof_hessian);
    const int *acts = &DOF_ACTS(0);
    real zero = real_of(0);
    Line line;
    line.d = d;
    line.m1 = line.m2 = line.slope0 = zero;
    UNROLL
    for (int i = 0; i < nv; i++) {
        real m1 = SOLVE(r)[i], m2 = Ad[i];
        if (HAS_DOF_TERMS && acts[i]) {
            mask same = line_keeps(keeps, i, acts[i]);
            m1 = m1 - real_select(same, gamma[i], zero);
            m2 = real_fma(real_select(same, hessian[i], zero), d[i], m2);
        }
        line.m1 = real_fma(d[i], m1, line.m1);
        line.m2 = real_fma(d[i], m2, line.m2);
        line.slope0 = real_fma(d[i], SOLVE(grad)[i], line.slope0);
    }
    line.l0 = l0;
    return line;
}

/* The terms of a dof at a: the change of cost, with one of the `derivatives` its slope along d, with two its curvature
 * too; 0 in worlds where they are part of the parabola. */
KERNEL_FN void problem_line_dof(const JointTerms *at_a, mask same, real cost0, real d, int derivatives, real *at) {
    real zero = real_of(0);
    at[0] = real_select(same, zero, at_a->cost - cost0);
    if (derivatives > 0)
        at[1] = real_select(same, zero, joint_terms_impulse(at_a) * d);
    if (derivatives > 1)
        at[2] = real_select(same, zero, at_a->hessian * d * d);
}

/* The parabola at a. */
KERNEL_FN LinePoint line_parabola(const Line *line, real a) {
    LinePoint p;
    p.change = a * real_fma(K(0.5) * a, line->m2, line->m1);
    p.slope = real_fma(a, line->m2, line->m1);
    p.curvature = line->m2;
    return p;
}

/* Adds the terms of one constraint or dof to p. */
KERNEL_FN void line_add(LinePoint *p, const real *at, int derivatives) {
    p->change = p->change + at[0];
    if (derivatives > 0)
        p->slope = p->slope - at[1];
    if (derivatives > 1)
        p->curvature = p->curvature + at[2];
}

/* phi(a) - phi(0) and as many of phi' and phi'' at a as `derivatives` says, a compile-time constant; without blocks
 * (line_search.h). */
KERNEL_FN LinePoint problem_line_point(const Context *ctx, const Line *line, real a, int derivatives) {
    int nv = ctx->args->plan.nv;
    const real *d = line->d, *v = SOLVE(v), *keeps = SOLVE(line_keeps), *cost0 = SOLVE(dof_cost);
    const int *acts = &DOF_ACTS(0);
    real *at = SOLVE(line);
    DofTerms all = dof_terms(ctx);
    LinePoint p = line_parabola(line, a);
    /* the terms of constraints, then those of dofs; one thread alone adds them as it computes them */
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_line(&k, a, derivatives);
        if (TEAM_OF_ONE)
            line_add(&p, k.line, derivatives);
    }
    UNROLL
    TEAM_FOR(i, HAS_DOF_TERMS ? nv : 0)
        if (acts[i] & DOF_LINE_ACTS) {
            JointTerms terms = dof_terms_at(&all, i, real_fma(a, d[i], v[i]));
            problem_line_dof(&terms, line_keeps(keeps, i, acts[i]), cost0[i], d[i], derivatives, at + 3 * i);
            if (TEAM_OF_ONE)
                line_add(&p, at + 3 * i, derivatives);
        }
    if (TEAM_OF_ONE)
        return p;
    TEAM_SYNC(); /* the sums read the values of all constraints and dofs */
    for (int c = 0; c < constraint_count(ctx); c++)
        line_add(&p, constraint_at(ctx, c).line, derivatives);
    for (int i = 0; HAS_DOF_TERMS && i < nv; i++)
        if (acts[i] & DOF_LINE_ACTS)
            line_add(&p, at + 3 * i, derivatives);
    TEAM_SYNC(); /* the next evaluation overwrites the values that were summed */
    return p;
}

/* v += a d in the worlds of `which`. v - v*, r and the velocities of constraints are linear in v: they change by a d,
 * a A d and a J d. Call it after problem_line_point, whose barriers follow the last use of r by other threads. */
STAGE_FN void problem_move(const Context *ctx, const Line *line, real a, mask which) {
    const real *d = line->d, *Ad = SOLVE(Ad);
    real *v = SOLVE(v), *dv = SOLVE(dv), *r = SOLVE(r);
    int nv = ctx->args->plan.nv;
    UNROLL
    TEAM_FOR(i, nv) {
        v[i] = real_select(which, real_fma(a, d[i], v[i]), v[i]);
        dv[i] = real_select(which, real_fma(a, d[i], dv[i]), dv[i]);
        r[i] = real_select(which, real_fma(a, Ad[i], r[i]), r[i]);
    }
    if (NUM_MODEL_CONSTRAINTS > 0)
        blocks_move(ctx, a, which);
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_move(&k, a, which);
    }
}

/* phi(a) - phi(0), and the first `derivatives` of phi' and phi'' at a. */
KERNEL_FN LinePoint line_point(const Context *ctx, const Line *line, real a, int derivatives) {
    LinePoint p = problem_line_point(ctx, line, a, derivatives);
    if (NUM_MODEL_CONSTRAINTS > 0 && TEAM_OF_ONE) {
        real sum[3];
        blocks_line_sums(ctx, a, sum);
        p.change = p.change + sum[0];
        p.slope = p.slope - sum[1];
        if (derivatives > 1)
            p.curvature = p.curvature + sum[2];
    } else if (NUM_MODEL_CONSTRAINTS > 0) {
        p.change = p.change + blocks_line(ctx, a);
        p.slope = p.slope - blocks_line_sum(ctx, 1);
        if (derivatives > 1)
            p.curvature = p.curvature + blocks_line_sum(ctx, 2);
    }
    return p;
}
STAGE_FN LinePoint line_evaluate(const Context *ctx, const Line *line, real a) {
    return line_point(ctx, line, a, 2);
}
STAGE_FN LinePoint line_slope(const Context *ctx, const Line *line, real a) {
    return line_point(ctx, line, a, 1);
}
