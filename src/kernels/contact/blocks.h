/* The model's constraints and tendons as the problem sees them: blocks of rows with fixed columns (SapModelConstraint).
 * Rows of a block are independent potentials, so its curvature is diagonal. Contacts, whose columns change, are in
 * columns.h.
 *
 *   v_c = J v      gamma = -dl/dv_c      G = d2l/dv_c2, diagonal */

#define BLOCK_AT(b) (&ctx->args->plan.block[b])

/* Worlds in which a law of the block acts. */
KERNEL_FN mask block_acts(const Context *ctx, const SapModelConstraint *b) {
    return *BLOCK(acts, b) != K(0.0);
}

/* Whether no law of the block acts in any world of the pack. Its values are then 0, and nothing is added to sums. */
KERNEL_FN bool block_idles(const Context *ctx, const SapModelConstraint *b) {
    return !mask_any(block_acts(ctx, b));
}

/* The blocks that act in some world of the pack, in their order. One thread has a list of them, unless the model has no
 * blocks; a thread of a team owns the block k of all blocks, as it does elsewhere. */
#define FIRST_BLOCKS (TEAM_OF_ONE && NUM_MODEL_CONSTRAINTS > 0 ? ACTING_BLOCKS[0] : NUM_MODEL_CONSTRAINTS)
#define ONE_BLOCK(b, k)                                                                                                \
    for (const SapModelConstraint *b = BLOCK_AT(TEAM_OF_ONE ? ACTING_BLOCKS[1 + (k)] : (k)), *b##_left = b;            \
         b##_left && (TEAM_OF_ONE || !block_idles(ctx, b)); b##_left = 0)
/* Loops over all acting blocks (for sums), and over those this thread owns. */
#define FOR_ALL_ACTING(b)                                                                                              \
    for (int b##_k = 0, b##_n = FIRST_BLOCKS; b##_k < b##_n; b##_k++)                                                  \
    ONE_BLOCK(b, b##_k)
#define FOR_ACTING(b)                                                                                                  \
    TEAM_FOR(b##_k, FIRST_BLOCKS)                                                                                      \
    ONE_BLOCK(b, b##_k)
/* Loop over the blocks that have a velocity. */
#define FOR_MOVING(b)                                                                                                  \
    TEAM_FOR(b##_k, IDLE_BLOCKS_MOVE ? NUM_MODEL_CONSTRAINTS : FIRST_BLOCKS)                                           \
        for (const SapModelConstraint *                                                                                \
                 b = BLOCK_AT(TEAM_OF_ONE && !IDLE_BLOCKS_MOVE ? ACTING_BLOCKS[1 + b##_k] : b##_k),                    \
                *b##_left = b;                                                                                         \
             b##_left; b##_left = 0)

/* Lists the blocks that act, for a team of one thread. */
KERNEL_FN void blocks_list(const Context *ctx) {
    int count = 0;
    for (int k = 0; TEAM_OF_ONE && k < NUM_MODEL_CONSTRAINTS; k++)
        if (!block_idles(ctx, BLOCK_AT(k)))
            ACTING_BLOCKS[1 + count++] = k;
    if (TEAM_OF_ONE)
        ACTING_BLOCKS[0] = count;
}

/* ---- all blocks of a world ---- */

/* Worlds in which a block acts. */
RARE_FN mask blocks_any_act(const Context *ctx) {
    mask any = mask_none();
    for (int b = 0; b < NUM_MODEL_CONSTRAINTS; b++)
        any = any | block_acts(ctx, BLOCK_AT(b));
    return any;
}

/* Marks the articulations of the dofs that each block moves; in a team, articulation a only. */
RARE_FN void blocks_touch(const Context *ctx, int a) {
    const SapPatternRow *row = ctx->args->plan.tree.row;
    for (int b = 0; b < NUM_MODEL_CONSTRAINTS; b++)
        for (int j = 0; j < BLOCK_AT(b)->num_columns; j++)
            articulation_touch(ctx, a, row[block_dofs(ctx, BLOCK_AT(b))[j]].link, block_acts(ctx, BLOCK_AT(b)));
}

/* Worlds in which every block has a direction. */
RARE_FN mask blocks_lawful(const Context *ctx) {
    real check = real_of(0);
    for (int b = 0; b < NUM_MODEL_CONSTRAINTS; b++)
        check = check + *BLOCK(check, BLOCK_AT(b));
    return check == K(0.0);
}

/* Worlds in which the control of every block is finite. */
RARE_FN mask blocks_control_lawful(const Context *ctx) {
    real check = real_of(0);
    for (int b = 0; b < NUM_MODEL_CONSTRAINTS; b++)
        check = check + *BLOCK(control_check, BLOCK_AT(b));
    return check == K(0.0);
}

/* `cost` and the costs of all blocks, in their order. */
RARE_FN real blocks_add_cost(const Context *ctx, real cost) {
    FOR_ALL_ACTING(b)
    cost = cost + *BLOCK(cost, b);
    return cost;
}

/* ---- values; one thread has all of a block ---- */

/* The values of a block that idles. */
KERNEL_FN void block_clear(const Context *ctx, const SapModelConstraint *b) {
    for (int r = 0; r < b->rows; r++)
        BLOCK(gamma, b)[r] = BLOCK(G, b)[r] = real_of(0);
    *BLOCK(cost, b) = real_of(0);
}

RARE_FN void blocks_make(const Context *ctx) {
    TEAM_FOR(k, NUM_MODEL_CONSTRAINTS) {
        block_make(ctx, BLOCK_AT(k));
        if (block_idles(ctx, BLOCK_AT(k)))
            block_clear(ctx, BLOCK_AT(k));
    }
    blocks_list(ctx);
}

/* v_c = J v in the worlds of `which`. */
RARE_FN void blocks_set_velocity(const Context *ctx, const real *v, mask which) {
    FOR_MOVING(b) {
        real *vc = BLOCK(vc, b);
        for (int r = 0; r < b->rows; r++)
            vc[r] = real_select(which, block_J_mul(ctx, b, r, v), vc[r]);
    }
}

/* v_c += a J d in the worlds of `which`. */
RARE_FN void blocks_move(const Context *ctx, real a, mask which) {
    FOR_MOVING(b) {
        real *vc = BLOCK(vc, b);
        for (int r = 0; r < b->rows; r++)
            vc[r] = real_select(which, real_fma(a, BLOCK(Jd, b)[r], vc[r]), vc[r]);
    }
}

/* Computes impulse, cost and curvature of the rows at v_c. */
STAGE_FN void block_evaluate(const Context *ctx, const SapModelConstraint *b) {
    real cost = real_of(0);
    for (int r = 0; r < b->rows; r++) {
        RowValue at = block_row_at(b, (const real *)BLOCK_LAW(b, r, 0), BLOCK(vc, b)[r]);
        BLOCK(gamma, b)[r] = at.gamma;
        BLOCK(G, b)[r] = at.G;
        cost = cost + at.cost;
    }
    *BLOCK(cost, b) = cost;
}

RARE_FN void blocks_evaluate(const Context *ctx) {
    FOR_ACTING(b)
    block_evaluate(ctx, b);
}

/* J d along the direction d of a line. */
RARE_FN void blocks_line_start(const Context *ctx, const real *d) {
    FOR_MOVING(b) {
        for (int r = 0; r < b->rows; r++)
            BLOCK(Jd, b)[r] = block_J_mul(ctx, b, r, d);
    }
}

/* v_c = J d in the worlds of `which`. */
RARE_FN void blocks_take_Jd(const Context *ctx, mask which) {
    FOR_MOVING(b) {
        real *vc = BLOCK(vc, b);
        for (int r = 0; r < b->rows; r++)
            vc[r] = real_select(which, BLOCK(Jd, b)[r], vc[r]);
    }
}

/* The terms of the block at v + a d: the change of cost from v, or 0 if the law's search does not read it, gamma.(J d)
 * and (J d)'G (J d). */
STAGE_FN void block_line(const Context *ctx, const SapModelConstraint *b, real a) {
    real cost = real_of(0), slope = real_of(0), curvature = real_of(0);
    for (int r = 0; r < b->rows; r++) {
        real u = BLOCK(Jd, b)[r];
        RowValue at = block_row_ahead(b, (const real *)BLOCK_LAW(b, r, 0), BLOCK(vc, b)[r], a, u);
        cost = cost + at.cost;
        slope = real_fma(at.gamma, u, slope);
        curvature = real_fma(at.G * u, u, curvature);
    }
    real *line = BLOCK(line, b);
    line[0] = LINES_HAVE_COST ? cost - *BLOCK(cost, b) : real_of(0);
    line[1] = slope;
    line[2] = curvature;
}

/* The values of block_line at a = 0, from impulse and curvature at v; the change of cost is 0. */
RARE_FN void blocks_line_first(const Context *ctx) {
    FOR_ACTING(b) {
        real slope = real_of(0), curvature = real_of(0);
        for (int r = 0; r < b->rows; r++) {
            real u = BLOCK(Jd, b)[r];
            slope = real_fma(BLOCK(gamma, b)[r], u, slope);
            curvature = real_fma(BLOCK(G, b)[r] * u, u, curvature);
        }
        BLOCK(line, b)[1] = slope;
        BLOCK(line, b)[2] = curvature;
    }
}

/* The sum of value k of block_line over all blocks. */
RARE_FN real blocks_line_sum(const Context *ctx, int k) {
    real sum = real_of(0);
    FOR_ALL_ACTING(b)
    sum = sum + BLOCK(line, b)[k];
    return sum;
}

/* Evaluates all blocks at v + a d; returns the change of cost. Call it after terms_line, whose barriers follow
 * the last use of the values by other threads. */
RARE_FN real blocks_line(const Context *ctx, real a) {
    FOR_ACTING(b)
    block_line(ctx, b, a);
    TEAM_SYNC(); /* the sums read the values of all blocks */
    return blocks_line_sum(ctx, 0);
}

/* The same for one thread, which has all three sums in one pass. */
RARE_FN void blocks_line_sums(const Context *ctx, real a, real sum[3]) {
    sum[0] = sum[1] = sum[2] = real_of(0);
    FOR_ALL_ACTING(b) {
        block_line(ctx, b, a);
        for (int k = 0; k < 3; k++)
            sum[k] = sum[k] + BLOCK(line, b)[k];
    }
}

/* ---- sums over the blocks that move a dof, in their order ---- */

/* (J' gamma) of column j of the block. */
KERNEL_FN real block_impulse(const Context *ctx, const SapModelConstraint *b, int j) {
    const real *J = BLOCK(J, b) + b->rows * j;
    real s = real_of(0);
    for (int r = 0; r < b->rows; r++)
        s = real_fma(J[r], BLOCK(gamma, b)[r], s);
    return s;
}

/* Visits the columns of the blocks that act: column of block b, whose dof is i. A dof meets its blocks in their order,
 * in the thread that TEAM_FOR gives it. One thread runs through the columns of each block in turn. */
#define FOR_BLOCK_COLUMNS(b, column, i, body)                                                                          \
    do {                                                                                                               \
        if (TEAM_OF_ONE) {                                                                                             \
            FOR_ALL_ACTING(b)                                                                                          \
            for (int column = 0; column < b->num_columns; column++) {                                                  \
                int i = block_dofs(ctx, b)[column];                                                                    \
                body;                                                                                                  \
            }                                                                                                          \
        } else {                                                                                                       \
            const SapPlan *plan = &ctx->args->plan;                                                                    \
            TEAM_FOR(i, plan->nv)                                                                                      \
                for (int t = plan->dof_block_start[i]; t < plan->dof_block_start[i + 1]; t++) {                        \
                    const SapModelConstraint *b = BLOCK_AT(plan->dof_block[t].block);                                  \
                    int column = plan->dof_block[t].column;                                                            \
                    body;                                                                                              \
                }                                                                                                      \
        }                                                                                                              \
    } while (0)

/* impulse_i += (J' gamma)_i of all blocks. */
RARE_FN void blocks_add_impulse(const Context *ctx, real *impulse) {
    FOR_BLOCK_COLUMNS(b, column, i, impulse[i] = impulse[i] + block_impulse(ctx, b, column));
}

/* (J' G J)_ij of columns i and j of the block. The scratch of the solve may have another precision than this stage. */
KERNEL_FN real block_hessian(StageView solve, const SapModelConstraint *b, int i, int j) {
    int G = BLOCK_OFFSET(G, b), J_i = BLOCK_OFFSET(J, b) + b->rows * i, J_j = BLOCK_OFFSET(J, b) + b->rows * j;
    real s = real_of(0);
    for (int r = 0; r < b->rows; r++)
        s = real_fma(view_get(solve, G + r) * view_get(solve, J_i + r), view_get(solve, J_j + r), s);
    return s;
}

/* Adds J' G J of column i = `column` and the columns before it to row H_i. */
KERNEL_FN void block_add_hessian(const Context *ctx, StageView solve, const SapModelConstraint *b, int column,
                                 const SapPattern *pattern, real *H_i) {
    for (int j = 0; j <= column; j++) {
        real *H_ij = H_i + row_column(pattern, block_dofs(ctx, b)[j]);
        *H_ij = *H_ij + block_hessian(solve, b, column, j);
    }
}

/* Adds J' G J of all blocks to H, which is on a pattern or, if that is NULL, on tiles. */
RARE_FN void blocks_add_hessian(const Context *ctx, const SapPattern *pattern, real *H) {
    StageView solve = BLOCK_VIEW;
    FOR_BLOCK_COLUMNS(b, column, i, block_add_hessian(ctx, solve, b, column, pattern, H + row_start(pattern, i)));
}
