/* J' gamma, and H on the pattern of the tree, of MuJoCo's law by one thread: the same sums as solve/terms.h has, in the
 * same order, with fewer loads and stores. docs/mujoco.md.
 *
 *   H_i = A_i + sum_b (J' G J)_i + sum_c (J' G J)_i
 *
 * The first term that is added to a row reads it from A, so that only rows without any are copied. A contact adds three
 * rows at a time, which share the columns that are read. */

/* ---- J' gamma ---- */

KERNEL_FN void impulse_add_contact(const Constraint *k, StageView J, int rows, real *impulse) {
    ContactVector gamma = contact_vector_load(k->gamma, rows > 3);
    for (int j = 0; j < k->num_dofs; j++) {
        ContactVector column = contact_vector_view(J, rows, j);
        impulse[k->dof[j]] = impulse[k->dof[j]] + contact_vector_dot(&column, &gamma, rows > 3);
    }
}

/* Adds J' gamma of all contacts. Returns false in a team. */
STAGE_FN bool constraints_add_impulse(const Context *ctx, real *impulse) {
    for (int c = 0; TEAM_OF_ONE && c < constraint_count(ctx); c++) {
        Constraint k = constraint_at(ctx, c);
        StageView J = k.J;
        ROW_CASES(k.rows, J, rows, impulse_add_contact(&k, J, rows, impulse));
    }
    return TEAM_OF_ONE;
}

/* ---- H ---- */

/* Where row i is: in A until something is added to it. */
typedef struct HessianRows {
    const SapPatternRow *row;
    const real *A;
    real *H;
    int *begun; /* [nv] whether the row is in H */
} HessianRows;

/* The row as it is so far. It is in H from then on. */
KERNEL_FN const real *hessian_row(const HessianRows *r, int i) {
    const real *from = (r->begun[i] ? r->H : r->A) + r->row[i].start;
    r->begun[i] = 1;
    return from;
}

KERNEL_FN void hessian_copy_row(const HessianRows *r, int i) {
    if (r->begun[i])
        return;
    const real *from = hessian_row(r, i);
    real *to = r->H + r->row[i].start;
    for (int t = 0; t <= r->row[i].depth; t++)
        to[t] = from[t];
}

/* Adds J' G J of n columns from `first` on, whose rows have the columns before them in common. n and `rows` are
 * constants. */
KERNEL_FN void hessian_add_rows(const HessianRows *r, const Curvature *k, StageView J, int rows, int first, int n) {
    enum { MOST = 3 };
    ContactVector GJ[MOST];
    const real *from[MOST];
    real *to[MOST];
    UNROLLED for (int c = 0; c < n; c++) {
        int i = k->dof[first + c];
        ContactVector column = contact_vector_view(J, rows, first + c);
        GJ[c] = contact_vector_G_mul(k->G, &column, rows > 3);
        from[c] = hessian_row(r, i);
        to[c] = r->H + r->row[i].start;
    }
    for (int j = 0; j <= first; j++) {
        ContactVector column = contact_vector_view(J, rows, j);
        UNROLLED for (int c = 0; c < n; c++) to[c][j] = from[c][j] + contact_vector_dot(&GJ[c], &column, rows > 3);
    }
    UNROLLED for (int j = 1; j < n; j++) {
        ContactVector column = contact_vector_view(J, rows, first + j);
        UNROLLED for (int c = j; c < n; c++) to[c][first + j] =
            from[c][first + j] + contact_vector_dot(&GJ[c], &column, rows > 3);
    }
}

/* Adds a contact. Contacts of six rows have no registers for several rows of H. */
KERNEL_FN void hessian_add_contact(const HessianRows *r, const Curvature *k, StageView J, int rows, int num_dofs) {
    int first = 0;
    for (; rows == 3 && first + 3 <= num_dofs; first += 3)
        hessian_add_rows(r, k, J, rows, first, 3);
    for (; first < num_dofs; first++)
        hessian_add_rows(r, k, J, rows, first, 1);
}

/* Writes H, if A is in the precision of this stage. Returns whether it is. */
STAGE_FN bool constraints_hessian_on_tree(const Context *ctx, real *H) {
    const SapPlan *plan = &ctx->args->plan;
    int nv = plan->nv;
    scalar shift = (scalar)ctx->args->contacts.diag_shift;
    HessianRows r;
    if (!TEAM_OF_ONE || FM_IS_F64 != (SAP_PRECISION == 64))
        return false;
    r.row = plan->tree.row;
    r.A = FM(A);
    r.H = H;
    r.begun = &DOF_ACTS(0); /* this law has no terms of dofs */
    for (int i = 0; i < nv; i++)
        r.begun[i] = 0;
    FOR_ALL_ACTING(b)
    for (int column = 0; column < b->num_columns; column++)
        hessian_copy_row(&r, block_dofs(ctx, b)[column]);
    model_add_hessian(ctx, &plan->tree, H);
    for (int c = 0; c < constraint_count(ctx); c++) {
        Curvature k = curvature_at(ctx, c);
        StageView J = k.J;
        int num_dofs = *SLOT_SHORTS(num_dofs, c);
        ROW_CASES(k.rows, J, rows, hessian_add_contact(&r, &k, J, rows, num_dofs));
    }
    for (int i = 0; i < nv; i++)
        hessian_copy_row(&r, i);
    for (int i = 0; shift != 0 && i < nv; i++)
        H[r.row[i].start + r.row[i].depth] = H[r.row[i].start + r.row[i].depth] + shift;
    return true;
}
