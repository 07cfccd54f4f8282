/* The model's constraints and tendons as the problem sees them: blocks of rows with fixed columns (SapBlock). Rows of a
 * block are independent potentials, so its curvature is diagonal. Contacts, whose columns change, are in constraint.h.
 *
 *   v_c = J v      gamma = -dl/dv_c      G = d2l/dv_c2, diagonal */

#define BLOCK_AT(b) (&ctx->args->plan.block[b])

/* Worlds in which a law of the block acts. */
KERNEL_FN mask block_acts(const Context *ctx, const SapBlock *b) {
    return *BLOCK(acts, b) != K(0.0);
}

/* ---- all blocks of a world ---- */

/* Worlds in which a block acts. */
RARE_FN mask blocks_any_act(const Context *ctx) {
    mask any = mask_none();
    for (int b = 0; b < NUM_BLOCKS; b++)
        any = any | block_acts(ctx, BLOCK_AT(b));
    return any;
}

/* Marks the articulations of the dofs that each block moves; in a team, articulation a only. */
RARE_FN void blocks_touch(const Context *ctx, int a) {
    const SapPatternRow *row = ctx->args->plan.tree.row;
    for (int b = 0; b < NUM_BLOCKS; b++)
        for (int j = 0; j < BLOCK_AT(b)->num_columns; j++)
            articulation_touch(ctx, a, row[block_dofs(ctx, BLOCK_AT(b))[j]].link, block_acts(ctx, BLOCK_AT(b)));
}

/* Worlds in which every block has a direction. */
RARE_FN mask blocks_lawful(const Context *ctx) {
    real check = real_of(0);
    for (int b = 0; b < NUM_BLOCKS; b++)
        check = check + *BLOCK(check, BLOCK_AT(b));
    return check == K(0.0);
}

/* Worlds in which the control of every block is finite. */
RARE_FN mask blocks_control_lawful(const Context *ctx) {
    real check = real_of(0);
    for (int b = 0; b < NUM_BLOCKS; b++)
        check = check + *BLOCK(control_check, BLOCK_AT(b));
    return check == K(0.0);
}

/* `cost` and the costs of all blocks, in their order. */
RARE_FN real blocks_add_cost(const Context *ctx, real cost) {
    for (int b = 0; b < NUM_BLOCKS; b++)
        cost = cost + *BLOCK(cost, BLOCK_AT(b));
    return cost;
}

/* ---- values; one thread has all of a block ---- */

RARE_FN void blocks_make(const Context *ctx) {
    TEAM_FOR(k, NUM_BLOCKS)
        block_make(ctx, BLOCK_AT(k));
}

/* v_c = J v in the worlds of `which`. */
RARE_FN void blocks_set_velocity(const Context *ctx, const real *v, mask which) {
    TEAM_FOR(k, NUM_BLOCKS) {
        const SapBlock *b = BLOCK_AT(k);
        real *vc = BLOCK(vc, b);
        for (int r = 0; r < b->rows; r++)
            vc[r] = real_select(which, block_J_mul(ctx, b, r, v), vc[r]);
    }
}

/* v_c += a J d in the worlds of `which`. */
RARE_FN void blocks_move(const Context *ctx, real a, mask which) {
    TEAM_FOR(k, NUM_BLOCKS) {
        const SapBlock *b = BLOCK_AT(k);
        real *vc = BLOCK(vc, b);
        for (int r = 0; r < b->rows; r++)
            vc[r] = real_select(which, real_fma(a, BLOCK(Jd, b)[r], vc[r]), vc[r]);
    }
}

/* Computes impulse, cost and curvature of the rows at v_c. */
STAGE_FN void block_evaluate(const Context *ctx, const SapBlock *b) {
    real cost = real_of(0);
    for (int r = 0; r < b->rows; r++) {
        RowValue at = row_laws_at((const real *)BLOCK_LAW(b, r, 0), b->laws, BLOCK(vc, b)[r]);
        BLOCK(gamma, b)[r] = at.gamma;
        BLOCK(G, b)[r] = at.G;
        cost = cost + at.cost;
    }
    *BLOCK(cost, b) = cost;
}

RARE_FN void blocks_evaluate(const Context *ctx) {
    TEAM_FOR(k, NUM_BLOCKS)
        block_evaluate(ctx, BLOCK_AT(k));
}

/* J d along the direction d of a line. */
RARE_FN void blocks_line_start(const Context *ctx, const real *d) {
    TEAM_FOR(k, NUM_BLOCKS) {
        const SapBlock *b = BLOCK_AT(k);
        for (int r = 0; r < b->rows; r++)
            BLOCK(Jd, b)[r] = block_J_mul(ctx, b, r, d);
    }
}

/* The terms of the block at v + a d: the change of cost from v, gamma.(J d) and (J d)'G (J d). */
STAGE_FN void block_line(const Context *ctx, const SapBlock *b, real a) {
    real cost = real_of(0), slope = real_of(0), curvature = real_of(0);
    for (int r = 0; r < b->rows; r++) {
        real u = BLOCK(Jd, b)[r];
        RowValue at = row_laws_at((const real *)BLOCK_LAW(b, r, 0), b->laws, real_fma(a, u, BLOCK(vc, b)[r]));
        cost = cost + at.cost;
        slope = real_fma(at.gamma, u, slope);
        curvature = real_fma(at.G * u, u, curvature);
    }
    real *line = BLOCK(line, b);
    line[0] = cost - *BLOCK(cost, b);
    line[1] = slope;
    line[2] = curvature;
}

/* The sum of value k of block_line over all blocks. */
RARE_FN real blocks_line_sum(const Context *ctx, int k) {
    real sum = real_of(0);
    for (int b = 0; b < NUM_BLOCKS; b++)
        sum = sum + BLOCK(line, BLOCK_AT(b))[k];
    return sum;
}

/* Evaluates all blocks at v + a d; returns the change of cost. Call it after problem_line_point, whose barriers follow
 * the last use of the values by other threads. */
RARE_FN real blocks_line(const Context *ctx, real a) {
    TEAM_FOR(k, NUM_BLOCKS)
        block_line(ctx, BLOCK_AT(k), a);
    TEAM_SYNC(); /* the sums read the values of all blocks */
    return blocks_line_sum(ctx, 0);
}

/* ---- sums over the blocks that move a dof, in their order ---- */

/* (J' gamma) of column j of the block. */
KERNEL_FN real block_impulse(const Context *ctx, const SapBlock *b, int j) {
    const real *J = BLOCK(J, b) + b->rows * j;
    real s = real_of(0);
    for (int r = 0; r < b->rows; r++)
        s = real_fma(J[r], BLOCK(gamma, b)[r], s);
    return s;
}

/* impulse_i += (J' gamma)_i of all blocks. */
RARE_FN void blocks_add_impulse(const Context *ctx, real *impulse) {
    const SapPlan *plan = &ctx->args->plan;
    TEAM_FOR(i, plan->nv)
        for (int t = plan->dof_block_start[i]; t < plan->dof_block_start[i + 1]; t++) {
            const SapBlockColumn *at = &plan->dof_block[t];
            impulse[i] = impulse[i] + block_impulse(ctx, BLOCK_AT(at->block), at->column);
        }
}

/* (J' G J)_ij of columns i and j of the block. The scratch of the solve may have another precision than this stage. */
KERNEL_FN real block_hessian(StageView solve, const SapBlock *b, int i, int j) {
    int G = BLOCK_OFFSET(G, b), J_i = BLOCK_OFFSET(J, b) + b->rows * i, J_j = BLOCK_OFFSET(J, b) + b->rows * j;
    real s = real_of(0);
    for (int r = 0; r < b->rows; r++)
        s = real_fma(view_get(solve, G + r) * view_get(solve, J_i + r), view_get(solve, J_j + r), s);
    return s;
}

/* Adds J' G J of all blocks to H, which is on a pattern or, if that is NULL, on tiles. */
RARE_FN void blocks_add_hessian(const Context *ctx, const SapPattern *pattern, real *H) {
    const SapPlan *plan = &ctx->args->plan;
    StageView solve = BLOCK_VIEW;
    TEAM_FOR(i, plan->nv) {
        real *H_i = H + row_start(pattern, i);
        for (int t = plan->dof_block_start[i]; t < plan->dof_block_start[i + 1]; t++) {
            const SapBlock *b = BLOCK_AT(plan->dof_block[t].block);
            int column = plan->dof_block[t].column;
            for (int j = 0; j <= column; j++) {
                real *H_ij = H_i + row_column(pattern, block_dofs(ctx, b)[j]);
                *H_ij = *H_ij + block_hessian(solve, b, column, j);
            }
        }
    }
}
