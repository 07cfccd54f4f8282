/* The methods active_set and active_set_single: contact without friction, solved exactly. docs/dual.md#active-set.
 *
 *   w = P x - q;   every row is active (w = 0) or at a bound: x = lo with w >= 0, or x = hi with w <= 0
 *
 * The first set has all rows, which is usually the answer. If it is not, ten sweeps of Gauss-Seidel choose the second
 * set: a sweep costs far less than a factor. Then block pivoting exchanges all wrong rows at once. If their number does
 * not fall for three iterations, it exchanges only the last until it falls below the record. Lanes that reach the limit
 * go on with single exchanges: the active row furthest outside its bounds leaves, or if there is none the row with the
 * largest wrong w enters. */

enum { SET_STATE = PGS_WORK, SET_WRONG, SET_FIXED, SET_R };
enum { SET_AT_LO, SET_ACTIVE, SET_AT_HI };

typedef struct ActiveSet {
    mask open, single;     /* at work; with single exchanges */
    real record, patience; /* smallest number of wrong rows so far; iterations left to fall below it */
    real used;             /* iterations since the last change of rule */
    real scale, rounding;  /* tolerance of x and w; the part of w that is the rounding of x */
} ActiveSet;

/* Bounds of all rows: the tangents of contacts are fixed at 0. Rows start active, or as the guess has them. */
STAGE_FN void active_set_begin(Dual *dual, ActiveSet *set) {
    real zero = real_of(0), infinite = real_of(K(1.0)) / zero;
    TEAM_FOR(b, dual->blocks) {
        int row = dual_row(dual, b), normal = dual_is_cone(dual, b) ? row + 2 : row;
        for (int i = row; i < normal; i++)
            dual->lo[i] = dual->hi[i] = dual->work[SET_STATE][i] = zero;
        mask used = dual->used[b] > K(0.0);
        if (dual_is_cone(dual, b)) {
            dual->lo[normal] = zero;
            dual->hi[normal] = real_select(used, infinite, zero);
        }
        real x = dual->best[normal], state = real_of(SET_ACTIVE);
        state = real_select(dual->warm & (x <= dual->lo[normal]), real_of(SET_AT_LO), state);
        state = real_select(dual->warm & (x >= dual->hi[normal]), real_of(SET_AT_HI), state);
        dual->work[SET_STATE][normal] = real_select(used, state, zero);
        dual->lo[normal] = real_select(used, dual->lo[normal], zero);
        dual->hi[normal] = real_select(used, dual->hi[normal], zero);
    }
    TEAM_SYNC(); /* every thread reads the states */
    real largest = zero;
    for (int i = 0; i < dual->rows; i++)
        largest = real_max(largest, real_abs(dual->q[i]));
    set->scale = largest * (SAP_PRECISION == 64 ? K(1e-10) : K(1e-5));
    set->record = dual->count + K(1.0);
    set->patience = real_of(3);
    set->used = zero;
}

/* Factors the active rows of P, with delta on the diagonal in the lanes of `shifted`. */
STAGE_FN void active_set_factor(Dual *dual, mask shifted) {
    const scalar delta = SAP_PRECISION == 64 ? K(1e-10) : K(1e-6);
    const real *state = dual->work[SET_STATE], zero = real_of(0), shift = real_select(shifted, real_of(delta), zero);
    TEAM_FOR(i, dual->rows) {
        mask active = state[i] == K(1.0);
        for (int j = 0; j < i; j++)
            dual->M[packed_row(i) + j] = real_select(active & (state[j] == K(1.0)), dual->P[packed_row(i) + j], zero);
        dual->M[packed_row(i) + i] = real_select(active, dual->P[packed_row(i) + i] + shift, real_of(1));
    }
    TEAM_SYNC(); /* the factor reads M */
    dense_factor(dual->rows, dual->M, dual->inverse, K(16.0) * dual_epsilon() * dual->count);
}

/* r = q - P x of the active rows, with image = P x. */
KERNEL_FN void active_set_rest(Dual *dual) {
    TEAM_FOR(i, dual->rows)
        dual->work[SET_R][i] = real_select(dual->work[SET_STATE][i] == K(1.0), dual->q[i] - dual->image[i], real_of(0));
    /* the solve has the same owners of rows */
}

/* Repeats x += M^-1 (q - P x) until the correction stops falling to less than half, or is a rounding of x: x is then
 * exact but for its own rounding, and without the effect of delta. Leaves image = P x. */
STAGE_FN void active_set_refine(Dual *dual) {
    real *change = dual->work[SET_R], last = real_of(K(1.0)) / real_of(0), zero = real_of(0);
    for (int k = 0;; k++) {
        dense_multiply_exactly(dual->rows, dual->P, dual->x, dual->image, mask_all());
        if (k == 40)
            return;
        active_set_rest(dual);
        dense_solve(dual->rows, dual->M, dual->inverse, change, change);
        real size = dual_square(dual, change), rounding = dual_epsilon() * dual_epsilon() * dual_square(dual, dual->x);
        mask falls = (size < K(0.25) * last) & (size > K(0.25) * rounding);
        last = real_select(falls, size, zero);
        if (!mask_any(falls))
            return;
        TEAM_SYNC(); /* every thread has measured x */
        TEAM_FOR(i, dual->rows)
            dual->x[i] = real_select(falls, dual->x[i] + change[i], dual->x[i]);
        TEAM_SYNC(); /* the product reads x */
    }
}

/* Solves the active rows with the others at their bounds: x, and image = P x. No gather: the same code for all
 * lanes. Rows that depend on each other share their load evenly, by delta. */
STAGE_FN void active_set_solve_rows(Dual *dual, ActiveSet *set) {
    real **work = dual->work, zero = real_of(0);
    TEAM_FOR(i, dual->rows) {
        real state = work[SET_STATE][i];
        work[SET_FIXED][i] = real_select(state == K(1.0), zero, real_select(state == K(0.0), dual->lo[i], dual->hi[i]));
    }
    TEAM_SYNC(); /* the product reads the fixed values */
    dual_apply(dual, work[SET_FIXED], dual->image);
    TEAM_FOR(i, dual->rows)
        work[SET_R][i] = real_select(work[SET_STATE][i] == K(1.0), dual->q[i] - dual->image[i], work[SET_FIXED][i]);
    active_set_factor(dual, mask_none());
    mask singular = mask_none();
    for (int i = 0; i < dual->rows; i++)
        singular = singular | (dual->inverse[i] == K(0.0));
    if (mask_any(singular))
        active_set_factor(dual, singular);
    dense_solve(dual->rows, dual->M, dual->inverse, work[SET_R], dual->x);
    active_set_refine(dual);
    set->rounding = K(4.0) * dual_epsilon() * real_sqrt(dual_square(dual, dual->x));
}

/* Violation of row i, 0 within the tolerances; *to is the state that removes it. leaves: the row is active. */
KERNEL_FN real active_set_violation(const Dual *dual, const ActiveSet *set, int i, real *to, mask *leaves) {
    real state = dual->work[SET_STATE][i], x = dual->x[i], w = dual->image[i] - dual->q[i], zero = real_of(0);
    *leaves = state == K(1.0);
    real under = dual->lo[i] - x, over = x - dual->hi[i];
    real outside = real_max(under, over), pull = real_select(state == K(0.0), -w, w);
    *to = real_select(*leaves, real_select(under > over, real_of(SET_AT_LO), real_of(SET_AT_HI)), real_of(SET_ACTIVE));
    real wrong = real_select(*leaves, outside, pull);
    mask bad = wrong > real_select(*leaves, set->scale, real_max(set->scale, set->rounding));
    return real_select(bad & (*leaves | (dual->lo[i] < dual->hi[i])), wrong, zero);
}

/* Chooses the rows to exchange: SET_WRONG is 1 there. Every thread counts; the owner writes. */
STAGE_FN real active_set_choose(Dual *dual, ActiveSet *set) {
    real count = real_of(0), last = real_of(-1), out = real_of(-1), in = real_of(-1);
    real most_out = real_of(0), most_in = most_out, to;
    mask leaves;
    /* the number of wrong rows, the last, and the worst that leave and enter; ties: the smallest index */
    for (int i = 0; i < dual->rows; i++) {
        real wrong = active_set_violation(dual, set, i, &to, &leaves), index = real_of((scalar)i);
        mask bad = wrong > K(0.0);
        count = count + real_select(bad, real_of(1), real_of(0));
        last = real_select(bad, index, last);
        mask worst_out = leaves & (wrong > most_out), worst_in = mask_not(leaves) & (wrong > most_in);
        out = real_select(worst_out, index, out);
        most_out = real_select(worst_out, wrong, most_out);
        in = real_select(worst_in, index, in);
        most_in = real_select(worst_in, wrong, most_in);
    }
    /* all wrong rows, or one */
    mask fewer = count < set->record, all = mask_not(set->single) & (fewer | (set->patience > K(0.0)));
    set->record = real_select(fewer, count, set->record);
    set->patience = real_select(fewer, real_of(3), set->patience - K(1.0));
    real one = real_select(set->single, real_select(out >= K(0.0), out, in), last);
    TEAM_FOR(i, dual->rows) {
        mask bad = active_set_violation(dual, set, i, &to, &leaves) > K(0.0);
        mask exchange = set->open & bad & (all | (one == (scalar)i));
        dual->work[SET_WRONG][i] = real_select(exchange, to, dual->work[SET_STATE][i]);
    }
    TEAM_SYNC(); /* every thread has read the states */
    return count;
}

/* Makes the rows active that ten sweeps from the answer so far leave between their bounds, in the lanes of `which`. */
STAGE_FN void active_set_sweep(Dual *dual, mask which) {
    pgs_begin(dual);
    TEAM_SYNC(); /* the product reads x */
    dual_apply(dual, dual->x, dual->image);
    for (int k = 0; k < 10; k++)
        pgs_sweep(dual, which);
    TEAM_FOR(i, dual->rows) {
        real x = dual->x[i], *state = &dual->work[SET_STATE][i], at_lo = real_of(SET_AT_LO);
        real to = real_select(x <= dual->lo[i], at_lo,
                              real_select(x >= dual->hi[i], real_of(SET_AT_HI), real_of(SET_ACTIVE)));
        *state = real_select(which & (dual->lo[i] < dual->hi[i]), to, *state);
    }
}

/* Ends lanes that have the right set and a residual above the tolerance: targets contradict each other, or rounding is
 * in the way. The last correction then makes up for the rounding of its own elements. */
STAGE_FN void active_set_end_rough(Dual *dual, mask which) {
    TEAM_FOR(i, dual->rows)
        dual->x[i] = dual->point[i];
    active_set_rest(dual);
    dense_add_solution(dual->rows, dual->M, dual->inverse, dual->work[SET_R], dual->x);
    TEAM_FOR(i, dual->rows)
        dual->point[i] = dual_clamp(dual, i, dual->x[i]);
    TEAM_SYNC(); /* the product reads point */
    dual_offer(dual, which);
    mask left = dual_end(dual, which), unbounded = mask_any(left) ? dual_contradicts(dual, left) : mask_none();
    dual->unbounded = dual->unbounded | unbounded;
    dual->no_descent = dual->no_descent | (left & mask_not(unbounded));
}

/* Exchanges rows until none is wrong. x of the lanes that end becomes the answer. */
STAGE_FN void active_set_run(Dual *dual, mask which) {
    ActiveSet set;
    int own = dual->options->max_iterations < 0;
    set.open = which;
    set.single = DUAL_METHOD(dual) == SAP_DUAL_ACTIVE_SET_SINGLE ? mask_all() : mask_none();
    active_set_begin(dual, &set);
    real extra = real_select(set.single, real_of(0), real_of(10));
    real limit = own ? real_fma(real_of(2), dual->count, extra) : real_of((scalar)dual->options->max_iterations);
    for (;;) {
        /* lanes at the limit go on with single exchanges, or end */
        mask late = set.open & (set.used >= limit), ends = late & (own ? set.single : mask_all());
        set.single = set.single | late;
        dual->limit = dual->limit | ends;
        set.open = set.open & mask_not(ends);
        set.used = real_select(late, real_of(0), set.used);
        limit = real_select(late, real_fma(real_of(2), dual->count, real_of(0)), limit);
        dual->safeguards = real_select(late & mask_not(ends), real_of(1), dual->safeguards);
        if (!mask_any(set.open))
            break;
        /* solve with this set, and choose the rows to exchange */
        active_set_solve_rows(dual, &set);
        set.used = set.used + K(1.0);
        dual->iterations = dual->iterations + real_select(set.open, real_of(1), real_of(0));
        real count = active_set_choose(dual, &set);
        mask done = set.open & (count == K(0.0));
        TEAM_FOR(i, dual->rows) {
            dual->point[i] = dual_clamp(dual, i, dual->x[i]);
            dual->work[SET_STATE][i] = dual->work[SET_WRONG][i];
        }
        TEAM_SYNC(); /* the product reads point, the next solve the states */
        /* the projected solution as a candidate; lanes without a wrong row end */
        dual->residual = real_select(set.open, real_of(K(1.0)) / real_of(0), dual->residual);
        dual_offer(dual, set.open);
        mask rough = done & (dual->residual > dual->tolerance);
        if (mask_any(rough))
            active_set_end_rough(dual, rough);
        dual->optimal = dual->optimal | (done & mask_not(rough));
        set.open = set.open & mask_not(done);
        /* sweeps choose the second set */
        mask second = set.open & mask_not(set.single | dual->warm) & (set.used == K(1.0));
        if (mask_any(second))
            active_set_sweep(dual, second);
    }
}

STAGE_FN void active_set_solve(Dual *dual) {
    active_set_run(dual, mask_all());
    if (!mask_any(dual->unbounded))
        return;
    dual_reopen(dual, dual->unbounded);
    dual_soften(dual, dual->unbounded);
    active_set_run(dual, dual->unbounded);
}
