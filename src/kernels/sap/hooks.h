/* The hooks of solve/formulation.h under SAP's law: joint damping in A, and a step of one stage whose velocity is that
 * of the solve. There is nothing else to do. */

KERNEL_FN bool formulation_recall(const Context *ctx) {
    (void)ctx;
    return false;
}
KERNEL_FN void formulation_remember(const Context *ctx) {
    (void)ctx;
}
KERNEL_FN void formulation_set_state(const Context *ctx) {
    (void)ctx;
}
KERNEL_FN void formulation_add_forces(const Context *ctx) {
    (void)ctx;
}
KERNEL_FN real formulation_damping(const Context *ctx, int i) {
    return field_get(STAGE_CONSTANTS->damping, i, ctx->pack);
}
STAGE_FN void stage_velocity(const Context *ctx) {
    (void)ctx;
}
KERNEL_FN void formulation_advance(const Context *ctx, int l) {
    joint_advance(ctx, &ctx->args->plan.link[l], FM(q), FM(v0), FM(v), STAGE_H, FM(q1));
}

KERNEL_FN int formulation_num_activations(const Context *ctx) {
    (void)ctx;
    return 0;
}
KERNEL_FN void formulation_measure(const Context *ctx, SapBuffer out, mask mine) {
    (void)ctx, (void)out, (void)mine;
}
KERNEL_FN void formulation_store(const Context *ctx, mask ok, mask unchanged) {
    (void)ctx, (void)ok, (void)unchanged;
}

KERNEL_FN void formulation_finish(const Context *ctx, mask which) {
    (void)ctx, (void)which;
}
KERNEL_FN void formulation_report(const Context *ctx, mask which) {
    (void)ctx, (void)which;
}
