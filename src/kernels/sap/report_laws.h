/* Regions of contacts and impulses of dofs at v, by their laws. */

KERNEL_FN real report_region(const Context *ctx, int c) {
    return sap_contact_region(SLOT(law, c), vec3_load(SLOT(vc, c)));
}

KERNEL_FN JointTerms report_joint_terms(const Context *ctx, int i) {
    DofTerms all = dof_terms(ctx);
    return dof_terms_at(&all, i, SOLVE(v)[i]);
}
