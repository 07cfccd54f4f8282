/* A = L' L on the pattern of the tree: L_ki is nonzero only where i is on the path of k, and eliminating leaves first makes no
 * fill. Rows are stored as SapRow tells; a dense matrix is the case of a tree that is one chain. docs/factor.md.
 *
 *   L_ij = (A_ij - sum_{k below i} L_ki L_kj) / L_ii        L_ii^2 = A_ii - sum_{k below i} L_ki^2
 *
 * Rows of one depth do not depend on each other, so a depth is done by the team at once, deepest first; sums run over the
 * descendants in increasing order, whoever computes them. */

KERNEL_FN void factor_entry(const SapPlan *plan, const SapEntry *entry, const real *A, real *L) {
    const SapRow *row = &plan->row[entry->row];
    int at = row->start + entry->column;
    real s = A[at];
    for (int j = 0; j < row->num_desc; j++) {
        const real *L_k = L + plan->descendant[row->desc_start + j].start;
        s = real_fma(-L_k[row->depth], L_k[entry->column], s);
    }
    L[at] = s;
}

/* inverse[i] = 1 / L_ii; not finite where A is not positive definite. */
STAGE_FN void factor(const Context *ctx, const real *A, real *L, real *inverse) {
    const SapPlan *plan = &ctx->args->plan;
    for (int depth = plan->num_depths - 1; depth >= 0; depth--) {
        int first = plan->entry_start[depth], count = plan->entry_start[depth + 1] - first;
        TEAM_FOR(e, count)
            factor_entry(plan, &plan->entry[first + e], A, L);
        TEAM_SYNC(); /* pivots are read by their rows */
        int first_dof = plan->depth_start[depth], dofs = plan->depth_start[depth + 1] - first_dof;
        TEAM_FOR(j, dofs) {
            int i = plan->depth_dof[first_dof + j];
            inverse[i] = K(1.0) / real_sqrt(L[plan->row[i].start + depth]);
        }
        TEAM_SYNC(); /* inverse[i] scales its row */
        TEAM_FOR(e, count) {
            const SapEntry *entry = &plan->entry[first + e];
            int at = plan->row[entry->row].start + entry->column;
            L[at] = L[at] * inverse[entry->row];
        }
        TEAM_SYNC(); /* the next depth reads these rows */
    }
}

/* x = A^-1 b: L' y = b from the leaves, then L x = y from the root. x and b may be the same. */
STAGE_FN void factor_solve(const Context *ctx, const real *L, const real *inverse, const real *b, real *x) {
    const SapPlan *plan = &ctx->args->plan;
    for (int depth = plan->num_depths - 1; depth >= 0; depth--) {
        int first = plan->depth_start[depth], count = plan->depth_start[depth + 1] - first;
        TEAM_FOR(j, count) {
            int i = plan->depth_dof[first + j];
            const SapRow *row = &plan->row[i];
            real s = b[i];
            for (int m = 0; m < row->num_desc; m++) {
                SapDescendant k = plan->descendant[row->desc_start + m];
                s = real_fma(-L[k.start + depth], x[k.dof], s);
            }
            x[i] = s * inverse[i];
        }
        TEAM_SYNC(); /* the depth above reads y */
    }
    for (int depth = 0; depth < plan->num_depths; depth++) {
        int first = plan->depth_start[depth], count = plan->depth_start[depth + 1] - first;
        TEAM_FOR(j, count) {
            int i = plan->depth_dof[first + j];
            const SapRow *row = &plan->row[i];
            real s = x[i];
            for (int t = 0; t < depth; t++)
                s = real_fma(-L[row->start + t], x[plan->ancestor[row->start + t]], s);
            x[i] = s * inverse[i];
        }
        TEAM_SYNC(); /* the depth below reads x */
    }
}

/* Whether A was positive definite. */
STAGE_FN mask factor_succeeded(const Context *ctx, const real *L) {
    const SapPlan *plan = &ctx->args->plan;
    real check = real_of(0);
    for (int i = 0; i < plan->nv; i++) /* L_ii = s / sqrt(s) of the pivot s is a number only for finite s > 0 */
        check = check + check_of(L[plan->row[i].start + plan->row[i].depth]);
    return check == K(0.0);
}
