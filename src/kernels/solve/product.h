/* The product of the mass matrix A of free motion, on the pattern of the tree, with a vector. */

/* (A x)_i from the sparse rows: ancestors, i itself, then descendants. */
KERNEL_FN real problem_A_row(const SapPattern *tree, StageView A, int i, const real *x) {
    SapPatternRow row = tree->row[i];
    int before = row.depth + 1, n = before + row.num_desc;
    const SapDescendant *entry = tree->descendant + (row.desc_start - before);
    real s = real_of(0);
    for (int k = 0; k < n; k++)
        s = real_fma(view_get(A, entry[k].at), x[entry[k].dof], s);
    return s;
}

/* The same product for all rows by one thread, which reads an entry A_ij once: it goes to y_i and to y_j. Every y_i
 * gets its terms in the order of problem_A_row. This is row i, whose y_i is complete but for its descendants. */
KERNEL_FN void problem_A_add_row(const SapPatternRow *row, const int *ancestors, StageView A, const real *x, real *y,
                                 int i) {
    int depth = row[i].depth, start = row[i].start;
    const int *ancestor = ancestors + start;
    real s = real_of(0), x_i = x[i];
    UNROLL
    for (int t = 0; t < depth; t++) {
        real A_ij = view_get(A, start + t);
        s = real_fma(A_ij, x[ancestor[t]], s);
        y[ancestor[t]] = real_fma(A_ij, x_i, y[ancestor[t]]);
    }
    y[i] = real_fma(view_get(A, start + depth), x_i, s);
}

/* The dofs of a free base, which all other dofs of the world move with: where there are registers for them, their x and
 * y stay there for all rows below. */
enum { BASE_DOFS = 6 };
KERNEL_FN bool problem_has_base(const SapPatternRow *row, int nv) {
    return MANY_REGISTERS && nv > BASE_DOFS && row[BASE_DOFS - 1].depth == BASE_DOFS - 1 &&
           row[BASE_DOFS - 1].num_desc == nv - BASE_DOFS;
}

/* The rows below a free base, whose own rows are complete but for their descendants. */
KERNEL_FN void problem_A_add_below_base(const SapPatternRow *row, const int *ancestors, StageView A, const real *x,
                                        real *y, int nv) {
    real base_x[BASE_DOFS], base_y[BASE_DOFS];
    UNROLLED for (int t = 0; t < BASE_DOFS; t++) {
        base_x[t] = x[t];
        base_y[t] = y[t];
    }
    for (int i = BASE_DOFS; i < nv; i++) {
        int depth = row[i].depth, start = row[i].start;
        const int *ancestor = ancestors + start;
        real s = real_of(0), x_i = x[i];
        UNROLLED for (int t = 0; t < BASE_DOFS; t++) {
            real A_ij = view_get(A, start + t);
            s = real_fma(A_ij, base_x[t], s);
            base_y[t] = real_fma(A_ij, x_i, base_y[t]);
        }
        for (int t = BASE_DOFS; t < depth; t++) {
            real A_ij = view_get(A, start + t);
            s = real_fma(A_ij, x[ancestor[t]], s);
            y[ancestor[t]] = real_fma(A_ij, x_i, y[ancestor[t]]);
        }
        y[i] = real_fma(view_get(A, start + depth), x_i, s);
    }
    UNROLLED for (int t = 0; t < BASE_DOFS; t++) y[t] = base_y[t];
}

/* y = A x; thread i of the team owns y_i. */
KERNEL_FN void problem_A_mul_by(const Context *ctx, StageView A, const real *x, real *y) {
    const SapPattern *tree = &ctx->args->plan.tree;
    int nv = ctx->args->plan.nv;
    if (TEAM_OF_ONE) {
        const SapPatternRow *row = tree->row;
        const int *ancestors = tree->ancestor;
        bool base = problem_has_base(row, nv);
        EACH_DOF(i, base ? BASE_DOFS : nv, problem_A_add_row(row, ancestors, A, x, y, i))
        if (base)
            problem_A_add_below_base(row, ancestors, A, x, y, nv);
    } else {
        TEAM_FOR(i, nv)
            y[i] = problem_A_row(tree, A, i, x);
    }
}

STAGE_FN void problem_A_mul(const Context *ctx, const real *x, real *y) {
    StageView A = FM_VIEW(A);
    VIEW_CASES(A, problem_A_mul_by(ctx, A, x, y));
}
