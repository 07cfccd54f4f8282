/* Cholesky factorisation M = L L' of a dense matrix that may be singular, for the dual solvers. M is a packed lower
 * triangle stored by rows. docs/dual.md#linear-algebra.
 *
 *   L_ij = (M_ij - sum_{k < j} L_ik L_jk) / L_jj        L_jj^2 = p_j = M_jj - sum_{k < j} L_jk^2
 *
 * A pivot p_j <= floor M_jj is rounding error: row j depends on the rows before it. It is skipped, as if column j of L
 * were zero and the solution's element j were 0. Sums run in the order of k for every team size. */

/* Position of the first entry of row i. */
KERNEL_FN int packed_row(int i) {
    return i * (i + 1) / 2;
}
/* Position of entry (i, j) of a symmetric matrix. */
KERNEL_FN int packed_at(int i, int j) {
    return j <= i ? packed_row(i) + j : packed_row(j) + i;
}

/* Number of groups of FACTOR_COLUMNS rows. The last group may repeat row n - 1. */
KERNEL_FN int row_groups(int n) {
    return (n + FACTOR_COLUMNS - 1) / FACTOR_COLUMNS;
}

/* s - sum_{k < n} a_k b_k */
KERNEL_FN real minus_product(real s, const real *a, const real *b, int n) {
    for (int k = 0; k < n; k++)
        s = real_fma(-a[k], b[k], s);
    return s;
}

/* 1/L_jj, or 0 for a row that is skipped. */
KERNEL_FN real dense_pivot(const real *M, int j, real floor) {
    const real *row = M + packed_row(j);
    real pivot = minus_product(row[j], row, row, j);
    mask skip = mask_not(pivot > floor * row[j]);
    return real_select(skip, real_of(0), K(1.0) / real_sqrt(real_select(skip, real_of(1), pivot)));
}

/* Column j of a group of rows from `first` on. */
KERNEL_FN void dense_column(real *M, int n, int j, int first, real inverse) {
    const real *pivot_row = M + packed_row(j);
    real *row[FACTOR_COLUMNS];
    real s[FACTOR_COLUMNS];
    for (int t = 0; t < FACTOR_COLUMNS; t++) {
        row[t] = M + packed_row(first + t < n ? first + t : n - 1);
        s[t] = row[t][j];
    }
    for (int k = 0; k < j; k++)
        for (int t = 0; t < FACTOR_COLUMNS; t++)
            s[t] = real_fma(-row[t][k], pivot_row[k], s[t]);
    for (int t = 0; t < FACTOR_COLUMNS; t++)
        row[t][j] = s[t] * inverse;
}

/* Factors M in place; its diagonal does not change. inverse: [n] 1/L_jj, or 0 for rows that are skipped. */
STAGE_FN void dense_factor(int n, real *M, real *inverse, real floor) {
    for (int j = 0; j < n; j++) {
        real pivot = dense_pivot(M, j, floor); /* by every thread: cheaper than a barrier */
        TEAM_ONCE()
            inverse[j] = pivot;
        TEAM_FOR(g, row_groups(n - j - 1))
            dense_column(M, n, j, j + 1 + g * FACTOR_COLUMNS, pivot);
        TEAM_SYNC(); /* the next column reads row j + 1 */
    }
}

/* y_i/L_ii of L y = b in x. x and b may be the same array. */
KERNEL_FN void dense_forward(int n, const real *L, const real *inverse, const real *b, real *x) {
    TEAM_FOR(i, n)
        x[i] = b[i];
    TEAM_SYNC(); /* every thread reads x_j of its column */
    /* y_j = (b_j - sum_{k < j} L_jk y_k) / L_jj: column j of L, then the next */
    for (int j = 0; j < n; j++) {
        real y = x[j] * inverse[j];
        TEAM_FOR(i, n)
            if (i > j)
                x[i] = real_fma(-L[packed_row(i) + j], y, x[i]);
        TEAM_SYNC(); /* the next column reads x_(j + 1) */
    }
    TEAM_FOR(i, n)
        x[i] = x[i] * inverse[i];
    TEAM_SYNC(); /* every thread reads y_j of its row */
}

/* x = M^-1 b by L y = b, L' x = y. x and b may be the same array. */
STAGE_FN void dense_solve(int n, const real *L, const real *inverse, const real *b, real *x) {
    dense_forward(n, L, inverse, b, x);
    /* x_j = (y_j - sum_{i > j} L_ij x_i) / L_jj: row j of L, then the one above */
    for (int j = n - 1; j >= 0; j--) {
        real y = x[j] * inverse[j];
        TEAM_FOR(i, j)
            x[i] = real_fma(-L[packed_row(j) + i], y, x[i]);
        TEAM_SYNC(); /* the next row reads x_(j - 1) */
    }
    TEAM_FOR(i, n)
        x[i] = x[i] * inverse[i];
    TEAM_SYNC(); /* the caller reads x */
}

/* x += M^-1 b, in place of b the work. Each row takes into account how rounding has changed the elements of x
 * below it, so that M x is far closer to its target than with an x of rounded elements. */
STAGE_FN void dense_add_solution(int n, const real *L, const real *inverse, real *b, real *x) {
    dense_forward(n, L, inverse, b, b);
    for (int j = n - 1; j >= 0; j--) {
        real moved = real_fma(b[j], inverse[j], x[j]) - x[j];
        TEAM_FOR(i, j)
            b[i] = real_fma(-L[packed_row(j) + i], moved, b[i]);
        TEAM_SYNC(); /* the next row reads b_(j - 1) */
    }
    TEAM_FOR(i, n)
        x[i] = real_fma(b[i], inverse[i], x[i]);
    TEAM_SYNC(); /* the caller reads x */
}

/* y = P x for a packed symmetric P; x and y are different arrays. Sums run in the order of the columns. */
KERNEL_FN void dense_rows(int n, const real *P, int first, const real *x, real *y) {
    const real *row[FACTOR_COLUMNS];
    real s[FACTOR_COLUMNS];
    int last = first + FACTOR_COLUMNS < n ? first + FACTOR_COLUMNS : n;
    for (int t = 0; t < FACTOR_COLUMNS; t++) {
        row[t] = P + packed_row(first + t < n ? first + t : n - 1);
        s[t] = real_of(0);
    }
    for (int j = 0; j < first; j++)
        for (int t = 0; t < FACTOR_COLUMNS; t++)
            s[t] = real_fma(row[t][j], x[j], s[t]);
    for (int j = first; j < last; j++)
        for (int t = 0; t < FACTOR_COLUMNS; t++)
            s[t] = real_fma(P[packed_at(first + t < n ? first + t : n - 1, j)], x[j], s[t]);
    for (int j = last; j < n; j++) { /* only if the group is complete */
        const real *column = P + packed_row(j) + first;
        for (int t = 0; t < FACTOR_COLUMNS; t++)
            s[t] = real_fma(column[t], x[j], s[t]);
    }
    for (int t = 0; first + t < last; t++)
        y[first + t] = s[t];
}

STAGE_FN void dense_multiply(int n, const real *P, const real *x, real *y) {
    TEAM_FOR(g, row_groups(n))
        dense_rows(n, P, g * FACTOR_COLUMNS, x, y);
    TEAM_SYNC(); /* the caller reads y */
}

/* The same in the lanes of `which`, with sums as if in twice the precision; y of the others stays. Each product and sum
 * is split into its rounded value and the error of that, which fma and differences give exactly. */
STAGE_FN void dense_multiply_exactly(int n, const real *P, const real *x, real *y, mask which) {
    TEAM_FOR(i, n) {
        real s = real_of(0), lost = real_of(0);
        for (int j = 0; j < n; j++) {
            real a = P[packed_at(i, j)], product = a * x[j], next = s + product, part = next - s;
            lost = lost + (((s - (next - part)) + (product - part)) + real_fma(a, x[j], -product));
            s = next;
        }
        y[i] = real_select(which, s + lost, y[i]);
    }
    TEAM_SYNC(); /* the caller reads y */
}
