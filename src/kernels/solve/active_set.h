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
    real scale;            /* tolerance of x and w */
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

/* Solves the active rows with the others at their bounds: x, and image = P x. No gather: the same code for all
 * lanes. */
STAGE_FN void active_set_solve_rows(Dual *dual) {
    const scalar delta = SAP_PRECISION == 64 ? K(1e-10) : K(1e-6); /* for rows that depend on each other */
    real **work = dual->work, zero = real_of(0);
    TEAM_FOR(i, dual->rows) {
        real state = work[SET_STATE][i];
        work[SET_FIXED][i] = real_select(state == K(1.0), zero, real_select(state == K(0.0), dual->lo[i], dual->hi[i]));
    }
    TEAM_SYNC(); /* the product reads the fixed values */
    dual_apply(dual, work[SET_FIXED], dual->image);
    TEAM_FOR(i, dual->rows) {
        mask active = work[SET_STATE][i] == K(1.0);
        for (int j = 0; j < i; j++)
            dual->M[packed_row(i) + j] =
                real_select(active & (work[SET_STATE][j] == K(1.0)), dual->P[packed_row(i) + j], zero);
        dual->M[packed_row(i) + i] = real_select(active, dual->P[packed_row(i) + i] + delta, real_of(1));
        work[SET_R][i] = real_select(active, dual->q[i] - dual->image[i], work[SET_FIXED][i]);
    }
    TEAM_SYNC(); /* the factor reads M, the solve its right-hand side */
    dense_factor(dual->rows, dual->M, dual->inverse, dual_floor(dual));
    dense_solve(dual->rows, dual->M, dual->inverse, work[SET_R], dual->x);
    dual_apply(dual, dual->x, dual->image);
    /* one step of refinement removes the effect of delta */
    TEAM_FOR(i, dual->rows)
        work[SET_R][i] = real_select(work[SET_STATE][i] == K(1.0), dual->q[i] - dual->image[i], zero);
    dense_solve(dual->rows, dual->M, dual->inverse, work[SET_R], work[SET_R]);
    TEAM_FOR(i, dual->rows)
        dual->x[i] = dual->x[i] + work[SET_R][i];
    TEAM_SYNC(); /* the product reads x */
    dual_apply(dual, dual->x, dual->image);
}

/* By how much row i is wrong, and in *to the state that would mend it. leaves: it is active. */
KERNEL_FN real active_set_violation(const Dual *dual, int i, real *to, mask *leaves) {
    real state = dual->work[SET_STATE][i], x = dual->x[i], w = dual->image[i] - dual->q[i], zero = real_of(0);
    *leaves = state == K(1.0);
    real under = dual->lo[i] - x, over = x - dual->hi[i];
    real outside = real_max(under, over), pull = real_select(state == K(0.0), -w, w);
    *to = real_select(*leaves, real_select(under > over, real_of(SET_AT_LO), real_of(SET_AT_HI)), real_of(SET_ACTIVE));
    real wrong = real_select(*leaves, outside, pull);
    return real_select(mask_not(*leaves) & (dual->lo[i] == dual->hi[i]), zero, wrong);
}

/* Chooses the rows to exchange: SET_WRONG is 1 there. Every thread counts; the owner writes. */
STAGE_FN real active_set_choose(Dual *dual, ActiveSet *set) {
    real count = real_of(0), last = real_of(-1), out = real_of(-1), in = real_of(-1);
    real most_out = set->scale, most_in = set->scale, to;
    mask leaves;
    /* the number of wrong rows, the last, and the worst that leave and enter; ties: the smallest index */
    for (int i = 0; i < dual->rows; i++) {
        real wrong = active_set_violation(dual, i, &to, &leaves), index = real_of((scalar)i);
        mask bad = wrong > set->scale;
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
        mask bad = active_set_violation(dual, i, &to, &leaves) > set->scale;
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
        active_set_solve_rows(dual);
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
        mask large = dual_is_large(dual, dual->point);
        dual_offer(dual, set.open);
        mask optimal = done & (dual->residual <= dual->tolerance); /* else rounding is in the way */
        dual->optimal = dual->optimal | optimal;
        dual->unbounded = dual->unbounded | (done & large);
        dual->no_descent = dual->no_descent | (done & mask_not(optimal | large));
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
