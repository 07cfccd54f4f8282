/* FM(f) = A^-1 FM(f) with the factor of free motion, for the law in impulses. */
STAGE_FN void stage_mass_solve(const Context *ctx) {
    const SapPattern *tree = &ctx->args->plan.tree;
    factor_forward(tree, FM(L), FM(inverse), FM(f));
    factor_back(tree, FM(L), FM(inverse), FM(f));
}
