/* The method cone with its starts and safeguards. docs/dual.md#cone. */

/* Whether the rows of block b are free to move at x: inside the cone or between the bounds, where z = 0. */
KERNEL_FN mask cone_is_free(const Dual *dual, int b, const real *x) {
    int row = dual_row(dual, b);
    if (!dual_is_cone(dual, b))
        return (x[row] > dual->lo[row]) & (x[row] < dual->hi[row]);
    Vec3 at = vec3_load(x + row);
    return tangent_length(at) < at.z;
}

/* Vectors of dual->work. Those of the system are in its order: the tangents of all contacts, then the other rows. */
enum { POLISH_X, POLISH_FREE, POLISH_R, POLISH_POINT };

/* The place of row k of block b in this order. */
KERNEL_FN int polish_row(const Dual *dual, int b, int k) {
    return dual_is_cone(dual, b) && k < 2 ? dual_row(dual, b) - b + k : dual->rows - dual->blocks + b;
}

/* Rows of block b of P where they and the columns are free, of E elsewhere. */
KERNEL_FN void polish_matrix(const Dual *dual, int b) {
    const real *is_free = dual->work[POLISH_FREE], zero = real_of(0);
    for (int c = 0; c <= b; c++)
        for (int k = 0; k < (dual_is_cone(dual, b) ? 3 : 1); k++)
            for (int l = 0; l < (c == b ? k + 1 : dual_is_cone(dual, c) ? 3 : 1); l++) {
                int i = polish_row(dual, b, k), j = polish_row(dual, c, l);
                mask both = (is_free[i] > K(0.0)) & (is_free[j] > K(0.0));
                real entry = dual->P[packed_at(dual_row(dual, b) + k, dual_row(dual, c) + l)];
                dual->M[packed_at(i, j)] = real_select(both, entry, i == j ? real_of(1) : zero);
            }
}

/* Improves answers that only rounding keeps from the tolerance, in the lanes of `which`: Newton's steps for the rows
 * that are free to move, with exact sums and a solution that makes up for the rounding of its own elements. Tangential
 * impulses are mostly smaller than normal ones, and so are their roundings: they come last in the substitution. */
STAGE_FN void cone_polish(Dual *dual, mask which) {
    real **work = dual->work, zero = real_of(0);
    TEAM_FOR(b, dual->blocks) {
        mask is_free = cone_is_free(dual, b, dual->best);
        for (int k = 0; k < (dual_is_cone(dual, b) ? 3 : 1); k++) {
            work[POLISH_FREE][polish_row(dual, b, k)] = real_select(is_free, real_of(1), zero);
            work[POLISH_X][polish_row(dual, b, k)] = dual->best[dual_row(dual, b) + k];
        }
    }
    TEAM_SYNC(); /* blocks of M read `free` of two blocks */
    TEAM_FOR(b, dual->blocks)
        polish_matrix(dual, b);
    TEAM_SYNC(); /* the factor reads M */
    dense_factor(dual->rows, dual->M, dual->inverse, dual_floor(dual));
    for (int step = 0; step < 3; step++) {
        TEAM_FOR(b, dual->blocks) {
            for (int k = 0; k < (dual_is_cone(dual, b) ? 3 : 1); k++)
                work[POLISH_POINT][dual_row(dual, b) + k] = work[POLISH_X][polish_row(dual, b, k)];
        }
        TEAM_SYNC(); /* the product reads x */
        dual_apply_exactly(dual, work[POLISH_POINT], dual->image);
        TEAM_FOR(b, dual->blocks) {
            for (int k = 0; k < (dual_is_cone(dual, b) ? 3 : 1); k++) {
                int i = dual_row(dual, b) + k, at = polish_row(dual, b, k);
                work[POLISH_R][at] = real_select(work[POLISH_FREE][at] > K(0.0), dual->q[i] - dual->image[i], zero);
            }
        }
        TEAM_SYNC(); /* the solve reads its right-hand side */
        dense_add_solution(dual->rows, dual->M, dual->inverse, work[POLISH_R], work[POLISH_X]);
        TEAM_FOR(b, dual->blocks) {
            for (int k = 0; k < (dual_is_cone(dual, b) ? 3 : 1); k++)
                work[POLISH_POINT][dual_row(dual, b) + k] = work[POLISH_X][polish_row(dual, b, k)];
            dual_project_block(dual, b, work[POLISH_POINT], dual->point);
        }
        TEAM_SYNC(); /* the product reads point */
        dual_offer(dual, which);
    }
    dual_end(dual, which);
}

/* Solves the lanes of `which` from `best` (warm) or from nothing. limit: iterations of one run. */
STAGE_FN void cone_attempts(Dual *dual, mask which, mask warm, int limit) {
    real per = dual->norm / real_sqrt(dual->count), zero = real_of(0);
    mask done = which & (dual->residual <= dual->tolerance);
    dual->optimal = dual->optimal | done;
    which = which & mask_not(done);
    /* warm: a world that is not done after 12 iterations starts again cold */
    mask left = which;
    if (mask_any(which & warm)) {
        real size = per * real_min(real_max(dual->residual, real_of(K(1e-4))), real_of(1));
        mask unbounded = dual->unbounded;
        cone_run(dual, which & warm, mask_all(), size * size, limit < 12 ? limit : 12);
        dual->unbounded = unbounded;
        left = which & mask_not(dual->optimal | dual->settled);
        dual_reopen(dual, left);
    }
    if (mask_any(left))
        cone_run(dual, left, mask_none(), per * per, limit);
    /* restart from best, close to the path */
    left = which & (dual->limit | dual->no_descent);
    if (limit > 0 && mask_any(left)) {
        real size = K(1e-3) * per;
        dual_reopen(dual, left);
        cone_run(dual, left, mask_all(), size * size, limit);
        dual->safeguards = real_max(dual->safeguards, real_select(left, real_of(1), zero));
    }
    left = which & (dual->limit | dual->no_descent);
    if (limit > 0 && mask_any(left)) {
        dual_reopen(dual, left);
        augmented_run(dual, left, limit + limit / 2);
        dual->safeguards = real_max(dual->safeguards, real_select(left, real_of(2), zero));
    }
    left = which & dual->settled;
    if (mask_any(left))
        cone_polish(dual, left);
}

/* Solves the lanes of `which`; those with contradictory targets once more with compliance. */
STAGE_FN void cone_convex(Dual *dual, mask which, mask warm) {
    int limit = dual_limit(dual, 40);
    cone_attempts(dual, which, warm, limit);
    mask contradictory = which & dual->unbounded & mask_not(dual->optimal | dual->settled);
    if (!mask_any(contradictory))
        return;
    dual_soften(dual, contradictory);
    cone_attempts(dual, contradictory, mask_none(), limit);
}
