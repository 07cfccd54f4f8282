/* Line search along the Newton direction d: the step length alpha from phi(a) = l(v + a d) (solve/line.h). Four
 * variants with one interface. docs/solve.md.
 *
 * Each world of the pack has its own search. `open` holds the worlds that still search; the others
 * keep their result. */

typedef struct LineResult {
    real alpha;    /* step length */
    real count;    /* evaluations, as the variant counts them */
    mask accepted; /* worlds with an accepted step */
} LineResult;

KERNEL_FN LineResult line_result_none(void) {
    LineResult r;
    r.alpha = real_of(1);
    r.count = real_of(0);
    r.accepted = mask_none();
    return r;
}

/* Accepts step a, after `count` evaluations, in the worlds of `which`. */
KERNEL_FN void line_accept(LineResult *r, mask which, real a, real count) {
    r->alpha = real_select(which, a, r->alpha);
    r->count = real_select(which, count, r->count);
    r->accepted = r->accepted | which;
}

/* Changes of cost up to this fraction of the cost are rounding. */
#define COST_ROUNDING (SAP_PRECISION == 64 ? K(1e-12) : K(1e-7))

/* The largest phi(a) - phi(0) that counts as no rise. */
KERNEL_FN real line_cost_bound(const Line *line) {
    return real_fma(real_of(COST_ROUNDING), real_abs(line->l0), real_of(K(1e-14)));
}

/* monotone_decay: halves the step until the cost does not rise, up to rounding; fails below a = 1e-8. */
STAGE_FN LineResult line_monotone_decay(const Context *ctx, const Line *line, mask open) {
    LineResult r = line_result_none();
    real a = real_of(1), count = real_of(0);
    real bound = line_cost_bound(line);
    for (int k = 0; k < ctx->args->newton.line_search_max_iterations && mask_any(open); k++) {
        real change = line_change(ctx, line, a);
        count = real_select(open, count + K(1.0), count);
        mask good = open & (change <= bound);
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

/* armijo_decay: shortens the step from 1/rho by factors rho, past the Armijo condition, until the
 * cost stops falling. */
STAGE_FN LineResult line_armijo_decay(const Context *ctx, const Line *line, mask open) {
    const SapNewtonArgs *o = &ctx->args->newton;
    LineResult r = line_result_none();
    real rho = real_of((scalar)o->rho), c = real_of((scalar)o->armijo_c);
    /* the first step, 1/rho, if the cost still falls there */
    real a = K(1.0) / rho;
    LinePoint p = line_evaluate(ctx, line, a);
    real slop = (scalar)(0.1 * o->relative_slop) *
                real_max(real_of(1), K(0.5) * (real_abs(line->l0 + p.change) + real_abs(line->l0)));
    mask full = open & (p.slope < slop);
    line_accept(&r, full, a, real_of(0));
    open = open & mask_not(full);

    /* shorter steps */
    real a_prev = a, l_prev = p.change; /* l, l_prev: differences from phi(0) */
    for (int k = 1; k < o->line_search_max_iterations && mask_any(open); k++) {
        bool last = k == o->line_search_max_iterations - 1;
        a = rho * a;
        real l = line_change(ctx, line, a);
        real slope = (l - l_prev) / (a - a_prev);
        mask below = l < c * a * line->slope0;
        mask below_prev = l_prev < c * a_prev * line->slope0;
        /* accept where the secant is flat up to rounding */
        mask flat = open & (real_abs(slope) < slop);
        line_accept(&r, flat, a, real_of((scalar)k));
        open = open & mask_not(flat);
        /* accept the previous step where the cost rises again, if it meets the Armijo condition, else this one */
        mask rising = open & (l > l_prev) & below;
        line_accept(&r, rising, real_select(below_prev, a_prev, a), real_of((scalar)k));
        open = open & mask_not(rising);
        /* after the last iteration accept a step that meets the condition */
        if (last) {
            line_accept(&r, open & below, a, real_of((scalar)(k + 1)));
            r.alpha = real_select(open & mask_not(below), a, r.alpha);
        }
        a_prev = real_select(open, a, a_prev);
        l_prev = real_select(open, l, l_prev);
    }
    return r;
}

/* Stop when the bracket is smaller than TOLERANCE times the first Newton step, or than ROUNDING, a few ulps,
 * times the root. */
#define EXACT_ROOT_TOLERANCE (SAP_PRECISION == 64 ? K(1e-8) : K(5e-7))
#define EXACT_ROOT_ROUNDING  (SAP_PRECISION == 64 ? K(1e-15) : K(5e-7))

/* exact_root: the root of phi' on [0, 1.5] by Newton's method with a bracket. f(x) = phi'(x)/(-phi'(0)). */
STAGE_FN LineResult line_exact_root(const Context *ctx, const Line *line, mask open) {
    const SapNewtonArgs *o = &ctx->args->newton;
    int cap = o->line_search_max_iterations;
    LineResult r = line_result_none();
    real upper = real_of(K(1.5)), zero = real_of(0);
    /* accept a = 1.5 where the cost still falls there */
    LinePoint p = line_evaluate(ctx, line, upper);
    mask beyond = open & (p.slope <= zero);
    line_accept(&r, beyond, upper, zero);
    open = open & mask_not(beyond);
    /* accept a = 1 where the slope at 0 is below the cost tolerance */
    real sc = -line->slope0;
    mask done =
        open & (sc < real_fma(real_of((scalar)o->cost_rel_tol), line->l0 + p.change, real_of((scalar)o->cost_abs_tol)));
    line_accept(&r, done, real_of(1), zero);
    open = open & mask_not(done);

    /* first guess: Newton's step from 0 with the curvature at 1.5; worlds without a finite guess > 0 fail */
    real f_up = p.slope / sc;
    open = open & real_finite(f_up) & (f_up > zero);
    real x = real_min(sc / p.curvature, upper);
    open = open & real_finite(x) & (x > zero);
    real x_tol = EXACT_ROOT_TOLERANCE * x;
    real xl = zero, xu = upper, dx = -upper, dx_prev = -upper;
    for (int k = 1; k <= cap && mask_any(open); k++) {
        /* evaluate at x and shrink the bracket [xl, xu] */
        p = line_evaluate(ctx, line, real_select(open, x, r.alpha));
        real f = p.slope / sc, df = p.curvature / sc;
        mask left = (f < zero) != (f_up < zero);
        xl = real_select(left, x, xl);
        xu = real_select(left, xu, x);
        f_up = real_select(left, f_up, f);
        /* accept x where f is 0 */
        mask root = open & (real_abs(f) < K(1e-8));
        line_accept(&r, root, x, real_of((scalar)k));
        open = open & mask_not(root);
        if (k == cap)
            break;
        /* next x: Newton's step, or bisection where that converges slowly or leaves the bracket */
        mask slow = K(2.0) * real_abs(f) > real_abs(dx_prev * df);
        dx_prev = dx;
        real n = real_select(df == zero, zero, f / real_select(df == zero, real_of(1), df));
        real xn = x - n;
        mask newton = mask_not(slow) & (xn >= xl) & (xn <= xu);
        n = real_select(newton, n, K(0.5) * (xl - xu));
        xn = real_select(newton, xn, xl - n);
        /* accept it where the step is below the tolerance */
        mask close = open & (real_abs(n) < real_max(x_tol, EXACT_ROOT_ROUNDING * xn));
        line_accept(&r, close, xn, real_of((scalar)k));
        open = open & mask_not(close);
        x = xn;
        dx = n;
    }
    return r;
}

/* The slope that wolfe accepts, relative to the one at 0. */
#define WOLFE_SLOPE K(0.2)

/* An end of a bracket of the minimum: the slope is negative at the lower end, positive at the upper one. */
typedef struct LineEnd {
    real a, change, slope; /* step length, phi(a) - phi(0), phi'(a) */
} LineEnd;

KERNEL_FN void line_move_end(LineEnd *end, mask which, real a, LinePoint p) {
    end->a = real_select(which, a, end->a);
    end->change = real_select(which, p.change, end->change);
    end->slope = real_select(which, p.slope, end->slope);
}

/* The minimum of the cubic that has the values and slopes of both ends, at least a twentieth of the bracket from
 * each. */
KERNEL_FN real line_cubic_minimum(const LineEnd *low, const LineEnd *high) {
    real width = high->a - low->a, margin = K(0.05) * width;
    real s = low->slope + high->slope - K(3.0) * (high->change - low->change) / width;
    real root = real_sqrt(real_fma(s, s, -low->slope * high->slope));
    real back = width * (high->slope + root - s) / (high->slope - low->slope + K(2.0) * root);
    return real_max(low->a + margin, real_min(high->a - margin, high->a - back));
}

/* wolfe: a = 1 if the cost does not rise and the slope there is small or negative; else narrows [0, 1] by cubics until
 * the slope is small, |phi'(a)| <= WOLFE_SLOPE |phi'(0)|. */
STAGE_FN LineResult line_wolfe(const Context *ctx, const Line *line, mask open) {
    LineResult r = line_result_none();
    real a = real_of(1), small = -WOLFE_SLOPE * line->slope0, bound = line_cost_bound(line);
    LineEnd low, high;
    low.a = low.change = real_of(0);
    low.slope = line->slope0;
    high = low; /* until the slope is positive somewhere; a convex cost that rises has such a point at a = 1 */
    high.a = a;
    for (int k = 1; k <= ctx->args->newton.line_search_max_iterations && mask_any(open); k++) {
        LinePoint p = line_slope(ctx, line, a);
        /* accept a near the minimum; costs that differ by rounding have no better point */
        mask near = (p.slope <= small) & ((p.slope >= -small) | (a == K(1.0)));
        mask flat = real_abs(p.change) <= bound;
        mask good = open & (p.change <= bound) & (near | flat);
        line_accept(&r, good, a, real_of((scalar)k));
        open = open & mask_not(good);
        r.count = real_select(open, real_of((scalar)k), r.count);
        /* narrow the bracket */
        mask rises = p.slope > K(0.0);
        line_move_end(&low, mask_not(rises), a, p);
        line_move_end(&high, rises, a, p);
        a = real_select(open, line_cubic_minimum(&low, &high), a);
    }
    return r;
}

/* The variant that the options select, for the worlds of `which`. d must be a descent direction there. */
STAGE_FN LineResult line_search(const Context *ctx, const Line *line, mask which) {
    switch (ctx->args->newton.line_search) {
    case SAP_ARMIJO_DECAY: return line_armijo_decay(ctx, line, which);
    case SAP_EXACT_ROOT: return line_exact_root(ctx, line, which);
    case SAP_WOLFE: return line_wolfe(ctx, line, which);
    default: return line_monotone_decay(ctx, line, which);
    }
}
