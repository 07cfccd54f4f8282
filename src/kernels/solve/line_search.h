/* How far to go along the Newton direction d: phi(a) = l(v + a d) (problem.h). Three ways, one interface. docs/solve.md.
 *
 * Every world of the pack searches for itself: `open` are those still looking; the others keep their answer. */

typedef struct LineResult {
    real alpha;
    real count; /* evaluations as the search counts them */
    mask accepted;
} LineResult;

STAGE_FN LinePoint line_evaluate(const Context *ctx, const Line *line, real a) {
    return problem_line_point(ctx, line, a, true);
}

STAGE_FN real line_cost(const Context *ctx, const Line *line, real a) {
    return problem_line_point(ctx, line, a, false).cost;
}

KERNEL_FN LineResult line_result_none(void) {
    LineResult r;
    r.alpha = real_of(1);
    r.count = real_of(0);
    r.accepted = mask_none();
    return r;
}

/* Worlds of `which` take step a after `count` evaluations. */
KERNEL_FN void line_accept(LineResult *r, mask which, real a, real count) {
    r->alpha = real_select(which, a, r->alpha);
    r->count = real_select(which, count, r->count);
    r->accepted = r->accepted | which;
}

/* monotone_decay: halve until the cost does not grow; gives up below 1e-8. */
STAGE_FN LineResult line_monotone_decay(const Context *ctx, const Line *line, mask open) {
    LineResult r = line_result_none();
    real a = real_of(1), count = real_of(0);
    real bound = line->l0 + real_fma(real_of(K(1e-12)), real_abs(line->l0), real_of(K(1e-14)));
    for (int k = 0; k < ctx->args->newton.line_search_max_iterations && mask_any(open); k++) {
        real cost = line_cost(ctx, line, a);
        count = real_select(open, count + K(1.0), count);
        mask good = open & (cost <= bound);
        line_accept(&r, good, a, count);
        open = open & mask_not(good);
        a = real_select(open, K(0.5) * a, a);
        mask gone = open & (a < K(1e-8));
        r.alpha = real_select(open, a, r.alpha);
        r.count = real_select(open, count, r.count);
        open = open & mask_not(gone);
    }
    return r;
}

/* armijo_decay: from 1/rho down by rho, past the Armijo condition to the step where the cost stops falling. */
STAGE_FN LineResult line_armijo_decay(const Context *ctx, const Line *line, mask open) {
    const SapNewtonArgs *o = &ctx->args->newton;
    LineResult r = line_result_none();
    real rho = real_of((scalar)o->rho), c = real_of((scalar)o->armijo_c);
    real a = K(1.0) / rho;
    LinePoint p = line_evaluate(ctx, line, a);
    real slop =
        (scalar)(0.1 * o->relative_slop) * real_max(real_of(1), K(0.5) * (real_abs(p.cost) + real_abs(line->l0)));
    mask full = open & (p.slope < slop);
    line_accept(&r, full, a, real_of(0));
    open = open & mask_not(full);
    real a_prev = a, l_prev = p.cost;
    for (int k = 1; k < o->line_search_max_iterations && mask_any(open); k++) {
        bool last = k == o->line_search_max_iterations - 1;
        a = rho * a;
        real l = line_cost(ctx, line, a);
        real slope = (l - l_prev) / (a - a_prev);
        mask below = l < real_fma(c * a, line->slope0, line->l0);
        mask below_prev = l_prev < real_fma(c * a_prev, line->slope0, line->l0);
        mask flat = open & (real_abs(slope) < slop);
        line_accept(&r, flat, a, real_of((scalar)k));
        open = open & mask_not(flat);
        mask rising = open & (l > l_prev) & below;
        line_accept(&r, rising, real_select(below_prev, a_prev, a), real_of((scalar)k));
        open = open & mask_not(rising);
        if (last) {
            line_accept(&r, open & below, a, real_of((scalar)(k + 1)));
            r.alpha = real_select(open & mask_not(below), a, r.alpha);
        }
        a_prev = real_select(open, a, a_prev);
        l_prev = real_select(open, l, l_prev);
    }
    return r;
}

/* Of the step, relative to Newton's first guess; and to the zero itself, for a bracket cannot get narrower than a few roundings. */
#define EXACT_ROOT_TOLERANCE (SAP_PRECISION == 64 ? K(1e-8) : K(5e-7))
#define EXACT_ROOT_ROUNDING  (SAP_PRECISION == 64 ? K(1e-15) : K(5e-7))

/* exact_root: the zero of phi' on [0, 1.5] by Newton's method kept inside a bracket. f(x) = phi'(x)/(-phi'(0)). */
STAGE_FN LineResult line_exact_root(const Context *ctx, const Line *line, mask open) {
    const SapNewtonArgs *o = &ctx->args->newton;
    int cap = o->line_search_max_iterations == 40 ? 100 : o->line_search_max_iterations; /* Drake's default */
    LineResult r = line_result_none();
    real upper = real_of(K(1.5)), zero = real_of(0);
    LinePoint p = line_evaluate(ctx, line, upper);
    mask beyond = open & (p.slope <= zero);
    line_accept(&r, beyond, upper, zero);
    open = open & mask_not(beyond);
    real sc = -line->slope0;
    mask done = open & (sc < real_fma(real_of((scalar)o->cost_rel_tol), p.cost, real_of((scalar)o->cost_abs_tol)));
    line_accept(&r, done, real_of(1), zero);
    open = open & mask_not(done);

    real f_up = p.slope / sc;
    open = open & real_finite(f_up) & (f_up > zero);
    real x = real_min(sc / p.curvature, upper);
    open = open & real_finite(x) & (x > zero);
    real x_tol = EXACT_ROOT_TOLERANCE * x;
    real xl = zero, xu = upper, dx = -upper, dx_prev = -upper;
    for (int k = 1; k <= cap && mask_any(open); k++) {
        p = line_evaluate(ctx, line, real_select(open, x, r.alpha));
        real f = p.slope / sc, df = p.curvature / sc;
        mask left = (f < zero) != (f_up < zero);
        xl = real_select(left, x, xl);
        xu = real_select(left, xu, x);
        f_up = real_select(left, f_up, f);
        mask root = open & (real_abs(f) < K(1e-8));
        line_accept(&r, root, x, real_of((scalar)k));
        open = open & mask_not(root);
        if (k == cap)
            break;
        mask slow = K(2.0) * real_abs(f) > real_abs(dx_prev * df);
        dx_prev = dx;
        real n = real_select(df == zero, zero, f / real_select(df == zero, real_of(1), df));
        real xn = x - n;
        mask newton = mask_not(slow) & (xn >= xl) & (xn <= xu);
        n = real_select(newton, n, K(0.5) * (xl - xu));
        xn = real_select(newton, xn, xl - n);
        mask close = open & (real_abs(n) < real_max(x_tol, EXACT_ROOT_ROUNDING * xn));
        line_accept(&r, close, xn, real_of((scalar)k));
        open = open & mask_not(close);
        x = xn;
        dx = n;
    }
    return r;
}

/* The search chosen by the options, for worlds of `which`. Only a descent direction is searched. */
STAGE_FN LineResult line_search(const Context *ctx, const Line *line, mask which) {
    switch (ctx->args->newton.line_search) {
    case SAP_ARMIJO_DECAY: return line_armijo_decay(ctx, line, which);
    case SAP_EXACT_ROOT: return line_exact_root(ctx, line, which);
    default: return line_monotone_decay(ctx, line, which);
    }
}
