/* MuJoCo's law has no potentials of dofs: their limits and friction are blocks, their drives forces. These are the
 * functions of dof_terms.h for it; with HAS_DOF_TERMS 0 the loops over such terms vanish from the problem. */

typedef struct DofTerms {
    const int *acts; /* not read */
} DofTerms;

KERNEL_FN DofTerms dof_terms(const Context *ctx) {
    DofTerms terms;
    terms.acts = &DOF_ACTS(0);
    return terms;
}

KERNEL_FN void dof_terms_make(const Context *ctx, int i) {
    SOLVE(dof_check)[i] = SOLVE(dof_gamma)[i] = SOLVE(dof_cost)[i] = SOLVE(dof_hessian)[i] = real_of(0);
}

KERNEL_FN mask dof_terms_active(const Context *ctx, int i) {
    (void)ctx, (void)i;
    return mask_none();
}

KERNEL_FN JointTerms dof_terms_at(const DofTerms *terms, int i, real v) {
    JointTerms none;
    (void)terms, (void)i, (void)v;
    none.drive = none.limit = none.friction = none.cost = none.hessian = real_of(0);
    return none;
}

KERNEL_FN mask dof_terms_keep(const DofTerms *terms, int i, real v, real u) {
    (void)terms, (void)i, (void)v, (void)u;
    return mask_all();
}
