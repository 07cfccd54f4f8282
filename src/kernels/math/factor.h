/* Factorisation A = L' L on the pattern of the tree. L_ki is nonzero only if i is on the path of k, and elimination
 * from the leaves creates no fill. SapPatternRow defines the storage of rows; a dense matrix is a tree that is one
 * chain. docs/factor.md.
 *
 *   L_ij = (A_ij - sum_{k below i} L_ki L_kj) / L_ii        L_ii^2 = A_ii - sum_{k below i} L_ki^2
 *
 * Rows of one depth are independent, so the team processes one depth at a time, deepest first. Sums run over the
 * descendants in increasing order for every team size, so the result has the same bits. */

/* Computes n entries of row i from `column` on, before the division by the pivot. n is a compile-time constant
 * at every call. */
KERNEL_FN void factor_entries(const SapPattern *pattern, int i, int column, int n, const real *A, real *L) {
    const SapPatternRow *row = &pattern->row[i];
    const SapDescendant *below = pattern->descendant + row->desc_start;
    real s[FACTOR_COLUMNS];
    for (int t = 0; t < n; t++)
        s[t] = A[row->start + column + t];
    for (int j = 0; j < row->num_desc; j++) {
        const real *L_k = L + below[j].start;
        real L_ki = -L_k[row->depth];
        for (int t = 0; t < n; t++)
            s[t] = real_fma(L_ki, L_k[column + t], s[t]);
    }
    for (int t = 0; t < n; t++)
        L[row->start + column + t] = s[t];
}

/* Block b of row i: FACTOR_COLUMNS entries, or at the end of the row the remaining entries, by powers of two. */
KERNEL_FN void factor_block(const SapPattern *pattern, int i, int b, const real *A, real *L) {
    int column = b * FACTOR_COLUMNS, n = pattern->row[i].depth + 1 - column;
    if (n >= FACTOR_COLUMNS) {
        factor_entries(pattern, i, column, FACTOR_COLUMNS, A, L);
        return;
    }
    if (FACTOR_COLUMNS > 4 && n & 4) {
        factor_entries(pattern, i, column, 4 % FACTOR_COLUMNS, A, L);
        column += 4;
    }
    if (FACTOR_COLUMNS > 2 && n & 2) {
        factor_entries(pattern, i, column, 2 % FACTOR_COLUMNS, A, L);
        column += 2;
    }
    if (n & 1)
        factor_entries(pattern, i, column, 1, A, L);
}

/* Factors A into L (which may be A itself) with inverse[i] = 1 / L_ii. factor_succeeded reports whether A
 * is positive definite. */
STAGE_FN void factor(const SapPattern *pattern, const real *A, real *L, real *inverse) {
    for (int depth = pattern->num_depths - 1; depth >= 0; depth--) {
        const int *dof = pattern->depth_dof + pattern->depth_start[depth];
        int dofs = pattern->depth_start[depth + 1] - pattern->depth_start[depth];
        TEAM_FOR_2(j, dofs, b, depth / FACTOR_COLUMNS + 1)
        factor_block(pattern, dof[j], b, A, L);
        TEAM_SYNC(); /* the inverse reads the pivot L_ii of its row */
        TEAM_FOR(j, dofs)
            inverse[dof[j]] = K(1.0) / real_sqrt(L[pattern->row[dof[j]].start + depth]);
        TEAM_SYNC(); /* scaling row i reads inverse[i] */
        TEAM_FOR_2(j, dofs, t, depth + 1) {
            int at = pattern->row[dof[j]].start + t;
            L[at] = L[at] * inverse[dof[j]];
        }
        TEAM_SYNC(); /* the next depth reads these rows */
    }
}

/* x = A^-1 b: L' y = b from the leaves, then L x = y from the root. x and b may be the same array. */
STAGE_FN void factor_solve(const SapPattern *pattern, const real *L, const real *inverse, const real *b, real *x) {
    /* y_i = (b_i - sum_{k below i} L_ki y_k) / L_ii, deepest first */
    for (int depth = pattern->num_depths - 1; depth >= 0; depth--) {
        int first = pattern->depth_start[depth], count = pattern->depth_start[depth + 1] - first;
        TEAM_FOR(j, count) {
            int i = pattern->depth_dof[first + j];
            const SapPatternRow *row = &pattern->row[i];
            real s = b[i];
            for (int m = 0; m < row->num_desc; m++) {
                SapDescendant k = pattern->descendant[row->desc_start + m];
                s = real_fma(-L[k.start + depth], x[k.dof], s);
            }
            x[i] = s * inverse[i];
        }
        TEAM_SYNC(); /* the depth above reads y */
    }

    /* x_i = (y_i - sum_{j above i} L_ij x_j) / L_ii, root first */
    for (int depth = 0; depth < pattern->num_depths; depth++) {
        int first = pattern->depth_start[depth], count = pattern->depth_start[depth + 1] - first;
        TEAM_FOR(j, count) {
            int i = pattern->depth_dof[first + j];
            const SapPatternRow *row = &pattern->row[i];
            real s = x[i];
            for (int t = 0; t < depth; t++)
                s = real_fma(-L[row->start + t], x[pattern->ancestor[row->start + t]], s);
            x[i] = s * inverse[i];
        }
        TEAM_SYNC(); /* the depth below reads x */
    }
}

/* Worlds in which A is positive definite. */
STAGE_FN mask factor_succeeded(const SapPattern *pattern, int nv, const real *L) {
    real check = real_of(0);
    for (int i = 0; i < nv; i++) /* L_ii = s / sqrt(s) of the pivot s is finite only for finite s > 0 */
        check = check + check_of(L[pattern->row[i].start + pattern->row[i].depth]);
    return check == K(0.0);
}
