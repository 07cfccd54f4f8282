/* Projected Gauss-Seidel on the problem in impulses, for worlds whose Newton method does not converge, if the option
 * on_failure asks for it. docs/mujoco.md.
 *
 *   gamma = 0, v = v*
 *   sweep   for every term: update its impulses (mujoco/dual.h), v += A^-1 J' (change)
 *   stop    where the dual cost decreases by less than the tolerance in a sweep, in MuJoCo's unit
 *
 * The terms have the order of the model and of the contacts of each world, so a world's numbers do not depend on its
 * pack. */

enum { PGS_SWEEPS = 10000 };

/* x = A^-1 x; x in the precision of the solve, the product in that of free motion. */
STAGE_FN void pgs_apply_inverse(const Context *ctx, real *x) {
    StageView f = FM_VIEW(f);
    int nv = ctx->args->plan.nv;
    TEAM_FOR(i, nv)
        view_put(f, i, x[i]);
    TEAM_SYNC(); /* the product reads all of f */
    MASS_SOLVE(ctx, FM_IS_F64);
    TEAM_FOR(i, nv)
        x[i] = view_get(f, i);
    TEAM_SYNC(); /* every thread reads x, and the next product overwrites f */
}

/* v += A^-1 x in the worlds of `open`. */
STAGE_FN void pgs_move(const Context *ctx, real *x, mask open) {
    pgs_apply_inverse(ctx, x);
    TEAM_FOR(i, ctx->args->plan.nv)
        SOLVE(v)[i] = real_select(open, SOLVE(v)[i] + x[i], SOLVE(v)[i]);
    TEAM_SYNC(); /* the next term reads v */
}

/* W of the rows of block b; its impulses become 0. */
STAGE_FN void pgs_begin_block(const Context *ctx, const SapModelConstraint *b, real *x) {
    for (int r = 0; r < b->rows; r++) {
        dual_spread_row(ctx, b, r, real_of(1), x);
        pgs_apply_inverse(ctx, x);
        real W = block_J_mul(ctx, b, r, x);
        TEAM_SYNC(); /* all threads have read x */
        TEAM_ONCE() {
            BLOCK(G, b)[r] = W;
            for (int i = 0; i < b->laws; i++)
                dual_row_impulse(ctx, b, r)[i] = real_of(0);
        }
    }
}

/* The same of a constraint with a Jacobian of its own; impulses in the worlds of `which`. */
STAGE_FN void pgs_begin_constraint(const Context *ctx, int c, mask which, real *x) {
    Constraint k = constraint_at(ctx, c);
    for (int r = 0; r < k.rows; r++) {
        real unit[6], column[6];
        for (int i = 0; i < 6; i++)
            unit[i] = real_of(i == r ? 1 : 0);
        dual_spread(ctx, c, unit, x);
        pgs_apply_inverse(ctx, x);
        Six u = constraint_J_mul(&k, x);
        six_store(column, &u, true);
        TEAM_SYNC(); /* all threads have read x */
        TEAM_ONCE() {
            for (int i = r; i < k.rows; i++)
                k.G[dual_entry(i, r)] = column[i];
        }
    }
    TEAM_ONCE() {
        for (int i = 0; i < 2 * k.rows; i++)
            dual_impulse(ctx, c)[i] = real_select(which, real_of(0), dual_impulse(ctx, c)[i]);
    }
}

STAGE_FN void pgs_sweep(const Context *ctx, DualChange *to, real *x) {
    for (int b = 0; b < NUM_MODEL_CONSTRAINTS; b++)
        for (int r = 0; r < BLOCK_AT(b)->rows; r++) {
            dual_update_row(ctx, BLOCK_AT(b), r, to, x);
            pgs_move(ctx, x, to->open);
        }
    for (int c = 0; c < constraint_count(ctx); c++) {
        dual_update(ctx, c, to, x);
        pgs_move(ctx, x, to->open);
    }
}

/* Solves the worlds of `which` from v*. scale: 1/(h^2 trace A). Returns the worlds that converge; `sweeps` is their
 * number, or that of the last. */
STAGE_FN mask pgs_solve(const Context *ctx, mask which, real scale, real tolerance, real *sweeps) {
    real *x = SOLVE(Ad);
    DualChange to;
    to.open = which;
    *sweeps = real_of(0);
    for (int b = 0; b < NUM_MODEL_CONSTRAINTS; b++)
        pgs_begin_block(ctx, BLOCK_AT(b), x);
    for (int c = 0; c < constraint_count(ctx); c++)
        pgs_begin_constraint(ctx, c, which, x);
    TEAM_FOR(i, ctx->args->plan.nv)
        SOLVE(v)[i] = real_select(which, SOLVE(v_star)[i], SOLVE(v)[i]);
    TEAM_SYNC(); /* terms read v, W and impulses */
    for (int k = 0; k < PGS_SWEEPS && mask_any(to.open); k++) {
        to.gain = real_of(0);
        pgs_sweep(ctx, &to, x);
        *sweeps = real_select(to.open, *sweeps + K(1.0), *sweeps);
        to.open = to.open & (scale * to.gain > tolerance);
    }
    return which & mask_not(to.open);
}
