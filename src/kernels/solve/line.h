/* The problem along a line: phi(a) = l(v + a d), at the v of the last evaluation, as a difference from phi(0): it has
 * digits where l has none.
 *
 *   phi(a) - phi(0) = a m1 + a^2 m2/2 + sum of l_c, l_i at v + a d, less those at v      m1 = d' A dv, m2 = d' A d
 *   phi'(a)         = m1 + a m2 - sum_c gamma_c.(J d)_c - sum_i gamma_i d_i
 *   phi''(a)        = m2 + sum_c (J d)' G (J d) + sum_i hessian_i d_i^2
 *
 * The terms of a dof that stay in their regions up to a = LINE_REACH, such as a drive's inside its limits, are
 * parabolas: they are in m1 and m2, not in the sums. */
typedef struct Line {
    const real *d;   /* [nv] direction */
    real m1, m2;     /* the parabola */
    real l0, slope0; /* phi(0), phi'(0) */
} Line;

/* The longest step that a line search tries: 1.5 (exact_root), or 1/rho (armijo_decay). */
KERNEL_FN real line_reach(const Context *ctx) {
    return real_max(real_of(K(1.5)), real_of((scalar)(1.0 / ctx->args->newton.rho)));
}

/* Computes A d, J d and the constants of the line along d for the worlds of `open`; l0 = l(v). */
STAGE_FN Line problem_line_start(const Context *ctx, const real *d, real l0, mask open) {
    int nv = ctx->args->plan.nv;
    problem_A_mul(ctx, d, SOLVE(Ad));
    terms_line_start(ctx, d, line_reach(ctx), open);
    TEAM_SYNC(); /* every thread reads all of Ad and keeps, and later Jd */
    const real *Ad = SOLVE(Ad);
    Parabolas parabolas = terms_parabolas(ctx);
    Line line;
    line.d = d;
    line.m1 = line.m2 = line.slope0 = real_of(0);
    UNROLL
    for (int i = 0; i < nv; i++) {
        real m1 = SOLVE(r)[i], m2 = Ad[i];
        terms_add_parabola(&parabolas, i, d[i], &m1, &m2);
        line.m1 = real_fma(d[i], m1, line.m1);
        line.m2 = real_fma(d[i], m2, line.m2);
        line.slope0 = real_fma(d[i], SOLVE(grad)[i], line.slope0);
    }
    line.l0 = l0;
    return line;
}

/* The parabola at a. */
KERNEL_FN LinePoint line_parabola(const Line *line, real a) {
    LinePoint p;
    p.change = a * real_fma(K(0.5) * a, line->m2, line->m1);
    p.slope = real_fma(a, line->m2, line->m1);
    p.curvature = line->m2;
    return p;
}

/* v += a d in the worlds of `which`. v - v*, r and the velocities of constraints are linear in v: they change by a d,
 * a A d and a J d. Call it after an evaluation at a, whose barriers follow the last use of r by other threads. */
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
    terms_move(ctx, a, which);
}

/* phi(a) - phi(0), and the first `derivatives` of phi' and phi'' at a, a compile-time constant. */
KERNEL_FN LinePoint line_point(const Context *ctx, const Line *line, real a, int derivatives) {
    LinePoint p = terms_line(ctx, line->d, a, derivatives, line_parabola(line, a));
    terms_add_model_line(ctx, a, derivatives, &p);
    return p;
}
STAGE_FN LinePoint line_evaluate(const Context *ctx, const Line *line, real a) {
    return line_point(ctx, line, a, 2);
}
STAGE_FN LinePoint line_slope(const Context *ctx, const Line *line, real a) {
    return line_point(ctx, line, a, 1);
}

/* phi(a) - phi(0), without the model constraints and with them. */
STAGE_FN real line_change_without_model(const Context *ctx, const Line *line, real a) {
    return terms_line(ctx, line->d, a, 0, line_parabola(line, a)).change;
}
KERNEL_FN real line_change(const Context *ctx, const Line *line, real a) {
    return terms_add_model_change(ctx, a, line_change_without_model(ctx, line, a));
}
