/* Regions of contacts and impulses of dofs at v, by their laws. */

KERNEL_FN real report_region(const Context *ctx, int c) {
    return contact_law_region(CONTACT_LAW, SLOT(law, c), vec3_load(SLOT(vc, c)));
}

KERNEL_FN bool report_slip(const Context *ctx, int c, real *impulse, real *width) {
    const HuntCrossleyLaw *law = (const HuntCrossleyLaw *)SLOT(law, c);
    if (CONTACT_LAW == CONTACT_LAW_SAP)
        return false;
    *impulse = law->n0;
    *width = law->eps;
    return true;
}

KERNEL_FN JointTerms report_joint_terms(const Context *ctx, int i) {
    DofTerms all = dof_terms(ctx);
    return dof_terms_at(&all, i, SOLVE(v)[i]);
}
