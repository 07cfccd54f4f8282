/* The rows of the model's constraints and tendons: laws, velocities, and whether they act. The same for every law. */

#define BLOCK_LAW(b, row, i) ((RowLaw *)BLOCK(law, b) + (row) * (b)->laws + (i))

/* (J x)_r */
KERNEL_FN real block_J_mul(const Context *ctx, const SapModelConstraint *b, int r, const real *x) {
    const real *J = BLOCK(J, b) + r;
    real s = real_of(0);
    for (int j = 0; j < b->num_columns; j++)
        s = real_fma(J[b->rows * j], x[block_dofs(ctx, b)[j]], s);
    return s;
}

/* Worlds in which the control lets the constraint act. */
KERNEL_FN mask constraint_active(const Context *ctx, const SapModelConstraint *b) {
    const SapConstraintArgs *args = &ctx->args->constraints;
    mask active;
    FOR_LANES(l) LANE(active, l) = -(args->active[ctx->pack->world[l] * args->active_stride + b->index] != 0);
    return active;
}

/* The force of a tendon and its parts, N, for reports. */
typedef struct TendonForces {
    real all, limit, spring, damper, friction, drive;
} TendonForces;
