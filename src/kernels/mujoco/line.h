/* MuJoCo's exact line search along the Newton direction d: a zero of phi', phi(a) = l(v + a d) (solve/line.h), by
 * Newton's method from both sides of a bracket. docs/mujoco.md.
 *
 *   N(p) = a - phi'/phi''                 the Newton point of p
 *   p1 = N(0), then N(p1) while phi' keeps its sign (one side), then between p1 and p2
 *
 * A point is accepted if |phi'| < tolerance. Every evaluation counts. Each world has its own search, as in
 * sap/line_search.h.
 *
 * f64 has phi(a) - phi(0) as the sum of the changes of all terms. In f32 the rounding of these sums exceeds the changes
 * that matter, those below the tolerance. There it is the trapezoid of phi', a (phi'(0) + phi'(a))/2, which is the same
 * where no term changes its region, as in the last steps of a solve, and a bounded error of a change that is large
 * elsewhere: phi' increases, so that for phi'(a) = 0 both lie between a phi'(0) and 0. */

typedef struct ExactPoint {
    real a, change, slope, curvature; /* change: phi(a) - phi(0) */
} ExactPoint;

typedef struct ExactSearch {
    const Line *line;
    real tolerance; /* of phi' */
    real slope0;    /* phi'(0) */
    real most;      /* evaluations */
    real count;     /* evaluations so far */
    mask open;      /* worlds that still search */
    real a, change; /* the result */
} ExactSearch;

KERNEL_FN ExactPoint exact_select(mask m, const ExactPoint *x, const ExactPoint *y) {
    ExactPoint p;
    p.a = real_select(m, x->a, y->a);
    p.change = real_select(m, x->change, y->change);
    p.slope = real_select(m, x->slope, y->slope);
    p.curvature = real_select(m, x->curvature, y->curvature);
    return p;
}

/* The point of an evaluation at a, which counts in the worlds of `which`. */
KERNEL_FN ExactPoint exact_point(ExactSearch *s, real a, const LinePoint *at, mask which) {
    ExactPoint p;
    p.a = a;
    p.change = SAP_PRECISION == 64 ? at->change : K(0.5) * a * (s->slope0 + at->slope);
    p.slope = at->slope;
    p.curvature = real_select(at->curvature > K(0.0), at->curvature, real_of(K(1e-15)));
    s->count = real_select(which, s->count + K(1.0), s->count);
    return p;
}

/* phi, phi' and phi'' at a. */
STAGE_FN ExactPoint exact_at(const Context *ctx, ExactSearch *s, real a, mask which) {
    LinePoint at = line_evaluate(ctx, s->line, a);
    return exact_point(s, a, &at, which);
}

/* The same at 0. */
STAGE_FN ExactPoint exact_first(const Context *ctx, ExactSearch *s) {
    LinePoint at = problem_line_first(ctx, s->line);
    s->slope0 = at.slope;
    return exact_point(s, real_of(0), &at, s->open);
}

/* The Newton point of p in the worlds of `which`, else `otherwise`. */
KERNEL_FN ExactPoint exact_newton(const Context *ctx, ExactSearch *s, const ExactPoint *p, mask which,
                                  const ExactPoint *otherwise) {
    ExactPoint next = exact_at(ctx, s, p->a - p->slope / p->curvature, which);
    return exact_select(which, &next, otherwise);
}

/* Ends the search at p in the worlds of `which`. */
KERNEL_FN void exact_end(ExactSearch *s, mask which, const ExactPoint *p) {
    which = which & s->open;
    s->a = real_select(which, p->a, s->a);
    s->change = real_select(which, p->change, s->change);
    s->open = s->open & mask_not(which);
}

KERNEL_FN mask exact_is_flat(const ExactSearch *s, const ExactPoint *p) {
    return real_abs(p->slope) < s->tolerance;
}

/* Moves p to the candidates on its side of the zero that are nearer to it; returns the worlds in which it moved. */
KERNEL_FN mask exact_move(ExactPoint *p, const ExactPoint candidate[3], mask open) {
    mask moved = mask_none();
    for (int i = 0; i < 3; i++) {
        const ExactPoint *c = &candidate[i];
        mask below = (p->slope < K(0.0)) & (c->slope < K(0.0)) & (p->slope < c->slope);
        mask above = (p->slope > K(0.0)) & (c->slope > K(0.0)) & (p->slope > c->slope);
        mask take = open & (below | above);
        *p = exact_select(take, c, p);
        moved = moved | take;
    }
    return moved;
}

/* Newton steps from p1 while phi' keeps the sign that it has there; p2 is the point before. */
STAGE_FN void exact_one_side(const Context *ctx, ExactSearch *s, ExactPoint *p1, ExactPoint *p2) {
    real direction = real_select(p1->slope < K(0.0), real_of(1), real_of(-1));
    for (;;) {
        mask goes = s->open & (direction * p1->slope <= -s->tolerance) & (s->count < s->most);
        if (!mask_any(goes))
            break;
        *p2 = exact_select(goes, p1, p2);
        *p1 = exact_newton(ctx, s, p1, goes, p1);
        exact_end(s, goes & exact_is_flat(s, p1) & (p1->change < K(0.0)), p1);
    }
    exact_end(s, s->count >= s->most, p1);
}

/* Shrinks the bracket p1, p2 by its middle m and the Newton points n1, n2 of its ends. */
STAGE_FN void exact_bracket(const Context *ctx, ExactSearch *s, ExactPoint p1, ExactPoint p2) {
    ExactPoint none = p1, n2 = p1, n1 = exact_newton(ctx, s, &p1, s->open, &none);
    for (;;) {
        mask goes = s->open & (s->count < s->most);
        if (!mask_any(goes))
            break;
        ExactPoint m = exact_at(ctx, s, K(0.5) * (p1.a + p2.a), goes);
        const ExactPoint candidate[3] = {n1, n2, m};
        /* of the flat candidates the one with the least cost */
        ExactPoint best = m;
        mask any = mask_none();
        for (int i = 0; i < 3; i++) {
            mask better = exact_is_flat(s, &candidate[i]) & (mask_not(any) | (candidate[i].change < best.change));
            best = exact_select(better, &candidate[i], &best);
            any = any | better;
        }
        exact_end(s, goes & any, &best);
        /* the ends of the bracket, and the Newton points of those that moved */
        goes = goes & s->open;
        mask moved1 = exact_move(&p1, candidate, goes);
        if (mask_any(moved1))
            n1 = exact_newton(ctx, s, &p1, moved1, &n1);
        mask moved2 = exact_move(&p2, candidate, goes);
        if (mask_any(moved2))
            n2 = exact_newton(ctx, s, &p2, moved2, &n2);
        exact_end(s, goes & mask_not(moved1 | moved2), &m);
    }
    /* out of evaluations: the better end, if it improves at all */
    ExactPoint best = exact_select(p1.change <= p2.change, &p1, &p2), stay = best;
    stay.a = stay.change = real_of(0);
    best = exact_select(best.change < K(0.0), &best, &stay);
    exact_end(s, s->open, &best);
}

/* Searches in the worlds of `open`; |d| is `length`. The result is a = 0 where no step improves. */
STAGE_FN ExactSearch exact_search(const Context *ctx, const Line *line, real length, real tolerance, mask open) {
    ExactSearch s;
    s.line = line;
    s.tolerance = tolerance;
    s.most = mujoco_get(ctx, SAP_MUJOCO_OPTIONS, SAP_MUJOCO_OPTION_LS_ITERATIONS);
    s.count = s.a = s.change = real_of(0);
    s.open = open & mask_not(length < K(1e-15) * STAGE_H);
    ExactPoint p2 = exact_first(ctx, &s), p1 = exact_newton(ctx, &s, &p2, s.open, &p2);
    exact_end(&s, exact_is_flat(&s, &p1) & ((p1.a == K(0.0)) | (p1.change < K(0.0))), &p1);
    exact_one_side(ctx, &s, &p1, &p2);
    if (mask_any(s.open))
        exact_bracket(ctx, &s, p1, p2);
    return s;
}
