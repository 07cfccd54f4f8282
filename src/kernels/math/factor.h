/* Factorisation A = L' L on the pattern of the tree, and the solution of A x = b. L_ki is nonzero only if i is on the
 * path of k, and elimination from the leaves creates no fill. SapPatternRow defines the storage of rows; a dense matrix
 * is a tree that is one chain. docs/factor.md.
 *
 *   L_ij = (A_ij - sum_{k below i} L_ki L_kj) / L_ii        L_ii^2 = A_ii - sum_{k below i} L_ki^2
 *   y_i  = (b_i  - sum_{k below i} L_ki y_k ) / L_ii        the right-hand side is one more column of the factor
 *   x_i  = (y_i  - sum_{j above i} L_ij x_j ) / L_ii
 *
 * The diagonal is stored as inverse[i] = 1/L_ii; the entry of L_ii itself keeps what it held. Rows of one depth are
 * independent, so the team processes one depth at a time, deepest first. Sums run over the descendants in increasing
 * order for every team size, so the result has the same bits. */

/* A system: its matrix, right-hand side, and where the results go. L may be A, y may be b. */
typedef struct FactorSystem {
    const real *A, *b;
    real *L, *inverse, *y;
} FactorSystem;

/* Most entries that one call computes: the largest FACTOR_COLUMNS. */
enum { FACTOR_MOST = 8 };

/* The sums of n entries of row i; of y_i if the entries end with the pivot (`last`). In a team, another thread has the
 * pivot of other entries: this one computes it again rather than waiting for it. n and `last` are compile-time
 * constants at every call. */
typedef struct FactorSums {
    real s[FACTOR_MOST], pivot, y;
} FactorSums;

#define FACTOR_OWN_PIVOT(last) (!(last) && !TEAM_OF_ONE)

/* Begins the sums with A_ij, A_ii and b_i. */
KERNEL_FN FactorSums factor_begin(const real *A_ij, const real *A_ii, const real *b_i, int n, bool last) {
    FactorSums sums;
    sums.pivot = *A_ii;
    sums.y = last ? *b_i : sums.pivot;
    UNROLLED for (int t = 0; t < n; t++) sums.s[t] = A_ij[t];
    return sums;
}

/* Subtracts the products of row k: L_ki with the entries L_kj of the columns and with y_k. */
KERNEL_FN void factor_subtract(FactorSums *sums, const real *L_ki, const real *L_kj, const real *y_k, int n,
                               bool last) {
    real minus = -*L_ki;
    UNROLLED for (int t = 0; t < n; t++) sums->s[t] = real_fma(minus, L_kj[t], sums->s[t]);
    if (FACTOR_OWN_PIVOT(last))
        sums->pivot = real_fma(minus, *L_ki, sums->pivot);
    if (last)
        sums->y = real_fma(minus, *y_k, sums->y);
}

/* Divides the sums by the pivot and writes them to L_ij; if they end with it, also inverse[i] and y_i. */
KERNEL_FN void factor_end(FactorSystem sys, const FactorSums *sums, int i, real *L_ij, int n, bool last) {
    bool known = !last && !FACTOR_OWN_PIVOT(last);
    real inverse = known ? sys.inverse[i] : K(1.0) / real_sqrt(last ? sums->s[n - 1] : sums->pivot);
    UNROLLED for (int t = 0; t < n - last; t++) L_ij[t] = sums->s[t] * inverse;
    if (last) {
        sys.inverse[i] = inverse;
        sys.y[i] = sums->y * inverse;
    }
}

/* Computes n entries of row i from `column` on; if they end with the pivot (`last`), also inverse[i] and y_i. */
KERNEL_FN void factor_entries(FactorSystem sys, SapPatternRow row, const SapDescendant *below, int i, int column, int n,
                              bool last) {
    const real *A = sys.A + row.start;
    FactorSums sums = factor_begin(A + column, A + row.depth, sys.b + i, n, last);
    UNROLL
    for (int j = 0; j < row.num_desc; j++) {
        const real *L_ki = sys.L + below[j].at;
        factor_subtract(&sums, L_ki, L_ki + (column - row.depth), sys.y + below[j].dof, n, last);
    }
    factor_end(sys, &sums, i, sys.L + row.start + column, n, last);
}

/* One entry of row i in a team, which has a thread for each: entry t is L_it for t < depth, and y_i with the pivot for
 * t = depth. y is one more column, and every thread sums the pivot, so that all of them run the same loop. */
KERNEL_FN void factor_entry(FactorSystem sys, SapPatternRow row, const SapDescendant *below, int i, int t) {
    bool is_y = t == row.depth;
    const real *A = sys.A + row.start, *column = is_y ? sys.y : sys.L + (t - row.depth);
    real pivot = A[row.depth], s = is_y ? sys.b[i] : A[t];
    for (int j = 0; j < row.num_desc; j++) {
        SapDescendant k = below[j];
        real L_ki = sys.L[k.at];
        s = real_fma(-L_ki, column[is_y ? k.dof : k.at], s);
        pivot = real_fma(-L_ki, L_ki, pivot);
    }
    real inverse = K(1.0) / real_sqrt(pivot), *to = is_y ? sys.y + i : sys.L + row.start + t;
    *to = s * inverse;
    if (is_y)
        sys.inverse[i] = inverse;
}

/* Block b of row i, counted from the end of the row: block 0 ends with the pivot and has the entries that are left if
 * the others have FACTOR_COLUMNS. */
KERNEL_FN void factor_block(FactorSystem sys, SapPatternRow row, const SapDescendant *below, int i, int b) {
    int n = row.depth % FACTOR_COLUMNS + 1, column = row.depth + 1 - n;
    if (b > 0) {
        factor_entries(sys, row, below, i, column - b * FACTOR_COLUMNS, FACTOR_COLUMNS, false);
        return;
    }
#define LAST(n)                                                                                                        \
    case n: factor_entries(sys, row, below, i, column, n, true); break;
    switch (n) { LAST(1) LAST(2) LAST(3) LAST(4) LAST(5) LAST(6) LAST(7) LAST(8) }
#undef LAST
}

/* All of row i. */
KERNEL_FN void factor_row(const SapPattern *pattern, FactorSystem sys, int i) {
    SapPatternRow row = pattern->row[i];
    UNROLL
    for (int b = 0; b <= row.depth / FACTOR_COLUMNS; b++)
        factor_block(sys, row, pattern->descendant + row.desc_start, i, b);
}

/* Factors A and computes y = L'^-1 b. factor_succeeded reports whether A is positive definite. */
STAGE_FN void factor(const SapPattern *pattern, FactorSystem sys) {
    if (TABLES_KNOWN) { /* branch after branch, so that registers hold the rows of one */
        EACH_DOF(j, NUM_DOFS, factor_row(pattern, sys, NUM_DOFS - 1 - j))
        return;
    }
    const SapPatternRow *row = pattern->row;
    const SapDescendant *descendant = pattern->descendant;
    const int *depth_start = pattern->depth_start, *depth_dof = pattern->depth_dof;
    for (int depth = pattern->num_depths - 1; depth >= 0; depth--) {
        const int *dof = depth_dof + depth_start[depth];
        int dofs = depth_start[depth + 1] - depth_start[depth];
        TEAM_FOR_2(j, dofs, b, TEAM_OF_ONE ? depth / FACTOR_COLUMNS + 1 : depth + 1) {
            SapPatternRow of = row[dof[j]];
            if (TEAM_OF_ONE)
                factor_block(sys, of, descendant + of.desc_start, dof[j], b);
            else
                factor_entry(sys, of, descendant + of.desc_start, dof[j], b);
        }
        TEAM_SYNC(); /* the depth above reads these rows and their y */
    }
}

/* y = L'^-1 b with a known factor, from the leaves; y holds b on entry. */
KERNEL_FN void factor_forward(const SapPattern *pattern, const real *L, const real *inverse, real *y) {
    const SapPatternRow *row = pattern->row;
    const int *depth_start = pattern->depth_start, *depth_dof = pattern->depth_dof;
    for (int depth = pattern->num_depths - 1; depth >= 0; depth--) {
        int first = depth_start[depth], count = depth_start[depth + 1] - first;
        TEAM_FOR(j, count) {
            int i = depth_dof[first + j];
            const SapDescendant *below = pattern->descendant + row[i].desc_start;
            real s = y[i];
            for (int k = 0; k < row[i].num_desc; k++)
                s = real_fma(-L[below[k].at], y[below[k].dof], s);
            y[i] = s * inverse[i];
        }
        TEAM_SYNC(); /* the depth above reads y */
    }
}

/* x_i of a dof at this depth, from the x of its ancestors. */
KERNEL_FN void factor_back_row(int start, const int *ancestor, const real *L, const real *inverse, real *x, int i,
                               int depth) {
    real s = x[i];
    UNROLL
    for (int t = 0; t < depth; t++)
        s = real_fma(-L[start + t], x[ancestor[start + t]], s);
    x[i] = s * inverse[i];
}

/* Solves L x = y from the root; x holds y on entry. */
STAGE_FN void factor_back(const SapPattern *pattern, const real *L, const real *inverse, real *x) {
    const SapPatternRow *row = pattern->row;
    const int *ancestor = pattern->ancestor, *depth_start = pattern->depth_start, *depth_dof = pattern->depth_dof;
    int num_depths = pattern->num_depths;
    if (TABLES_KNOWN) {
        EACH_DOF(i, NUM_DOFS, factor_back_row(row[i].start, ancestor, L, inverse, x, i, row[i].depth))
        return;
    }
    for (int depth = 0; depth < num_depths; depth++) {
        int first = depth_start[depth], count = depth_start[depth + 1] - first;
        TEAM_FOR(j, count) {
            int i = depth_dof[first + j];
            factor_back_row(row[i].start, ancestor, L, inverse, x, i, depth);
        }
        TEAM_SYNC(); /* the depth below reads x */
    }
}

/* x = A^-1 b, and the factor of A. L may be A, x may be b. */
KERNEL_FN void factor_solve(const SapPattern *pattern, const real *A, real *L, real *inverse, const real *b, real *x) {
    FactorSystem sys;
    sys.A = A;
    sys.b = b;
    sys.L = L;
    sys.inverse = inverse;
    sys.y = x;
    factor(pattern, sys);
    factor_back(pattern, L, inverse, x);
}

/* Worlds in which A is positive definite. */
STAGE_FN mask factor_succeeded(int nv, const real *inverse) {
    mask ok = mask_all();
    UNROLL
    for (int i = 0; i < nv; i++) /* 1/sqrt(s) of the pivot s is finite and positive only for finite s > 0 */
        ok = ok & real_finite(inverse[i]) & (inverse[i] > K(0.0));
    return ok;
}
