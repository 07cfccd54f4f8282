/* Springs and dampers of dofs in MuJoCo's law. docs/mujoco.md.
 *
 *   explicit   tau -= D v0 + k (q - q_spring)                 A = M
 *   discrete   the same at the end of the step: tau -= (D + h k) v0 + k (q - q_spring),  A = M + h (D + h k)
 *
 * The discrete step is that of a damper D + h k, which free motion takes as joint damping (mujoco_damping). */

KERNEL_FN real mujoco_dof_get(const Context *ctx, int i, int column) {
    return field_get(ctx->args->mujoco->dof[SAP_PRECISION == 64], SAP_MUJOCO_DOF_SIZE * i + column, ctx->pack);
}

/* The damping of dof i that is part of A. */
KERNEL_FN real mujoco_damping(const Context *ctx, int i) {
    if (!ctx->args->mujoco->discrete)
        return real_of(0);
    real k = ctx->args->plan.dof_coord[i] < 0 ? real_of(0) : mujoco_dof_get(ctx, i, SAP_MUJOCO_STIFFNESS);
    return real_fma(STAGE_H, k, mujoco_dof_get(ctx, i, SAP_MUJOCO_DAMPING));
}

/* The forces of every dof. */
STAGE_FN void mujoco_add_forces(const Context *ctx) {
    bool discrete = ctx->args->mujoco->discrete;
    TEAM_FOR(i, ctx->args->plan.nv) {
        int coord = ctx->args->plan.dof_coord[i];
        real f = FM(f)[i];
        if (!discrete)
            f = real_fma(-mujoco_dof_get(ctx, i, SAP_MUJOCO_DAMPING), FM(v0)[i], f);
        if (coord >= 0) {
            real k = mujoco_dof_get(ctx, i, SAP_MUJOCO_STIFFNESS);
            f = real_fma(-k, FM(q)[coord] - mujoco_dof_get(ctx, i, SAP_MUJOCO_SPRING_REF), f);
        }
        FM(f)[i] = f;
    }
}
