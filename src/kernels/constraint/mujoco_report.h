/* The rows of MuJoCo's law as MuJoCo lists them (SapMujocoRows): equalities; friction of dofs, of tendons; limits of
 * joints, of tendons; contacts. aref = (uref - J v0)/h, force = gamma/h. */

/* The next row of each lane. */
typedef struct RowCursor {
    int next[SAP_LANES];
} RowCursor;

/* A row of some lanes. */
typedef struct RowNumbers {
    int type;
    real state, pos, R, uref, u0, gamma;
} RowNumbers;

/* The place of the lane's next row; -1 if it has none or the arrays are full. */
KERNEL_FN long long row_place(const Context *ctx, const RowCursor *at, mask has, int l) {
    int capacity = MUJOCO->rows.capacity;
    bool fits = mask_lane(has, l) && at->next[l] < capacity;
    return fits ? (long long)ctx->pack->world[l] * capacity + at->next[l] : -1;
}

/* Writes the numbers of a row and a Jacobian of zeros. */
STAGE_FN void row_begin(const Context *ctx, const RowCursor *at, mask has, const RowNumbers *row) {
    const SapMujocoRowReport *to = &MUJOCO->rows;
    int nv = ctx->args->plan.nv;
    real aref = (row->uref - row->u0) / STAGE_H, force = row->gamma / STAGE_H;
    FOR_LANES(l) {
        long long i = row_place(ctx, at, has, l);
        if (i >= 0) {
            to->type[i] = row->type;
            to->state[i] = (int)LANE(row->state, l);
            to->pos[i] = (double)LANE(row->pos, l);
            to->R[i] = (double)LANE(row->R, l);
            to->aref[i] = (double)LANE(aref, l);
            to->force[i] = (double)LANE(force, l);
            for (int k = 0; k < nv; k++)
                to->jacobian[i * nv + k] = 0;
        }
    }
}

/* Sets entry `dof` of the row's Jacobian. */
STAGE_FN void row_put_column(const Context *ctx, const RowCursor *at, mask has, int dof, real value) {
    FOR_LANES(l) {
        long long i = row_place(ctx, at, has, l);
        if (i >= 0)
            MUJOCO->rows.jacobian[i * ctx->args->plan.nv + dof] = (double)LANE(value, l);
    }
}

KERNEL_FN void row_end(RowCursor *at, mask has) {
    FOR_LANES(l) at->next[l] += mask_lane(has, l);
}

/* ---- blocks ---- */

/* Worlds in which some entry of J is not 0. */
KERNEL_FN mask block_moves(const Context *ctx, const SapBlock *b) {
    mask moves = mask_none();
    for (int i = 0; i < b->rows * b->num_columns; i++)
        moves = moves | (BLOCK(J, b)[i] != K(0.0));
    return moves;
}

/* The law of one side of a limit, which is the first that acts (mujoco_blocks.h). */
KERNEL_FN RowLaw block_side(const RowLaw *law, bool upper) {
    RowLaw side;
    mask first = law[LIMIT_LAW].upper > K(0.0), other = row_law_acts(law + OTHER_LIMIT_LAW);
    const real *limit = (const real *)(law + LIMIT_LAW), *second = (const real *)(law + OTHER_LIMIT_LAW);
    for (int i = 0; i < SAP_ROW_LAW_SIZE; i++) {
        real none = real_of(0), own = real_select(first, none, limit[i]);
        ((real *)&side)[i] = upper ? real_select(other, second[i], own) : real_select(first, limit[i], none);
    }
    return side;
}

/* Row r of a block under law i; of a limit its lower side or its upper side, which is the row -J. */
STAGE_FN void block_report_law(const Context *ctx, RowCursor *at, const SapBlock *b, int r, int i, int type,
                               mask moves) {
    bool is_loss = b->laws > 1 && i == SAP_MUJOCO_LAW_LOSS, upper = b->laws > 1 && i == OTHER_LIMIT_LAW;
    RowLaw made = b->laws > 1 && !is_loss ? block_side(BLOCK_LAW(b, r, 0), upper) : *BLOCK_LAW(b, r, i), *law = &made;
    real zero = real_of(0), one = real_of(1), sign = real_of(upper ? -1 : 1), g = BLOCK(g, b)[r];
    mask has = moves & row_law_acts(law);
    RowValue value = row_value_none();
    row_law_add(law, BLOCK(vc, b)[r], &value);
    RowNumbers row;
    row.type = type;
    row.pos = b->laws == 1 ? g
              : is_loss    ? zero
              : upper      ? mujoco_block_get(ctx, b, SAP_MUJOCO_UPPER) - g
                           : g - mujoco_block_get(ctx, b, SAP_MUJOCO_LOWER);
    row.R = law->R;
    row.uref = sign * law->vhat;
    row.u0 = sign * block_J_mul(ctx, b, r, SOLVE(v0));
    row.gamma = sign * value.gamma;
    row.state =
        real_select(value.G > zero, one, !is_loss ? zero : real_select(value.gamma > zero, real_of(2), real_of(3)));
    row_begin(ctx, at, has, &row);
    for (int j = 0; j < b->num_columns; j++)
        row_put_column(ctx, at, has, block_dofs(ctx, b)[j], sign * BLOCK(J, b)[b->rows * j + r]);
    row_end(at, has);
}

/* The rows of one kind in all blocks; coordinates of tendons are those of `tendons`. */
STAGE_FN void blocks_report(const Context *ctx, RowCursor *at, bool equality, bool tendons, int first, int end,
                            int type) {
    for (int k = 0; k < NUM_BLOCKS; k++) {
        const SapBlock *b = BLOCK_AT(k);
        bool is_tendon = b->kind == SAP_BLOCK_TENDON;
        if ((b->laws == 1) != equality || (!equality && is_tendon != tendons))
            continue;
        mask moves = block_moves(ctx, b);
        for (int r = 0; r < b->rows; r++)
            for (int i = first; i < end; i++)
                block_report_law(ctx, at, b, r, i, type, moves);
    }
}

/* ---- contacts ---- */

/* A row of slot c with the Jacobian J_n + mu J_k; components of Six, -1 = none. */
STAGE_FN void contact_report_row(const Context *ctx, RowCursor *at, int c, mask has, int n, int k, real mu,
                                 const RowNumbers *row) {
    row_begin(ctx, at, has, row);
    StageView J = SLOT_J_VIEW(c);
    for (int j = 0; j < *SLOT_SHORTS(num_dofs, c); j++) {
        real value = n < 0 ? real_of(0) : view_get(J, CONTACT_ROWS * j + n);
        if (k >= 0)
            value = real_fma(mu, view_get(J, CONTACT_ROWS * j + k), value);
        row_put_column(ctx, at, has, SLOT_SHORTS(dof, c)[j], value);
    }
    row_end(at, has);
}

/* Directions of friction in MuJoCo's order: slide, slide, spin, roll, roll; component of Six, and place in mu. */
KERNEL_FN int mujoco_direction_row(int k) {
    const int row[5] = {0, 1, 5, 3, 4};
    return row[k];
}
KERNEL_FN int mujoco_direction_mu(int k) {
    const int mu[5] = {0, 1, 4, 2, 3};
    return mu[k];
}

/* The rows of an elliptic or frictionless contact. */
STAGE_FN void contact_report_elliptic(const Context *ctx, RowCursor *at, int c, mask has, const real *u0) {
    MujocoContact law = *(const MujocoContact *)SLOT(law, c);
    real zero = real_of(0), one = real_of(1), region = report_region(ctx, c);
    mask rough = law.mu[0] > zero;
    real state = real_select(region == K(2.0), real_of(4), region);
    /* a frictionless contact is one row of another type; other rows follow where mu > 0 */
    for (int pass = 0; pass < 2; pass++) {
        RowNumbers row = {pass ? SAP_MUJOCO_ROW_ELLIPTIC : SAP_MUJOCO_ROW_FRICTIONLESS,
                          state,
                          *ORIGIN(phi0, c),
                          law.R_n,
                          law.uref[2],
                          u0[2],
                          SLOT(gamma, c)[2]};
        contact_report_row(ctx, at, c, has & (pass ? rough : mask_not(rough)), 2, -1, zero, &row);
    }
    for (int k = 0; k < (CONTACT_ROWS > 3 ? 5 : 2); k++) {
        int i = mujoco_direction_row(k);
        real mu = law.mu[mujoco_direction_mu(k)];
        mask exists = has & (mu > zero);
        RowNumbers row = {
            SAP_MUJOCO_ROW_ELLIPTIC, state, zero, law.rho / real_select(exists, mu * mu, one), law.uref[i], u0[i],
            SLOT(gamma, c)[i]};
        contact_report_row(ctx, at, c, exists, -1, i, one, &row);
    }
}

/* The edges of a pyramid, or the normal of a frictionless contact. */
STAGE_FN void contact_report_pyramid(const Context *ctx, RowCursor *at, int c, mask has, const real *u0) {
    MujocoContact law = *(const MujocoContact *)SLOT(law, c);
    real zero = real_of(0), one = real_of(1);
    const real *u = SLOT(vc, c);
    /* condim 1 has a normal only */
    mask smooth = law.inv_R_n > zero;
    real pushed = real_max(zero, law.uref[2] - u[2]) * law.inv_R_n;
    RowNumbers normal = {SAP_MUJOCO_ROW_FRICTIONLESS,
                         real_select(pushed > zero, one, zero),
                         *ORIGIN(phi0, c),
                         law.R_n,
                         law.uref[2],
                         u0[2],
                         pushed};
    contact_report_row(ctx, at, c, has & smooth, 2, -1, zero, &normal);
    /* two edges for each direction of friction */
    for (int e = 0; e < (CONTACT_ROWS > 3 ? 10 : 4); e++) {
        int i = mujoco_direction_row(e / 2);
        real given = law.mu[mujoco_direction_mu(e / 2)], mu = e % 2 ? -given : given;
        mask exists = has & (given > zero);
        real uref = real_fma(mu, law.uref[i], law.uref[2]);
        real gamma = real_max(zero, uref - real_fma(mu, u[i], u[2])) * law.inv_edge;
        RowNumbers row = {SAP_MUJOCO_ROW_PYRAMID,
                          real_select(gamma > zero, one, zero),
                          *ORIGIN(phi0, c),
                          one / real_select(exists, law.inv_edge, one),
                          uref,
                          real_fma(mu, u0[i], u0[2]),
                          gamma};
        contact_report_row(ctx, at, c, exists, 2, i, mu, &row);
    }
}

/* Worlds in which a dof moves one body of the contact against the other. */
KERNEL_FN mask contact_moves(const Context *ctx, int c) {
    mask moves = mask_none();
    for (int i = 0; i < CONTACT_ROWS * *SLOT_SHORTS(num_dofs, c); i++)
        moves = moves | (view_get(SLOT_J_VIEW(c), i) != K(0.0));
    return moves;
}

/* ---- all rows ---- */

STAGE_FN void rows_report(const Context *ctx, mask which) {
    RowCursor at;
    FOR_LANES(l) at.next[l] = mask_lane(which, l) ? 0 : MUJOCO->rows.capacity;
    /* rows of the model */
    blocks_report(ctx, &at, true, false, 0, 1, SAP_MUJOCO_ROW_EQUALITY);
    blocks_report(ctx, &at, false, false, SAP_MUJOCO_LAW_LOSS, SAP_MUJOCO_LAWS, SAP_MUJOCO_ROW_DOF_LOSS);
    blocks_report(ctx, &at, false, true, SAP_MUJOCO_LAW_LOSS, SAP_MUJOCO_LAWS, SAP_MUJOCO_ROW_TENDON_LOSS);
    blocks_report(ctx, &at, false, false, 0, SAP_MUJOCO_LAW_LOSS, SAP_MUJOCO_ROW_LIMIT);
    blocks_report(ctx, &at, false, true, 0, SAP_MUJOCO_LAW_LOSS, SAP_MUJOCO_ROW_TENDON_LIMIT);
    /* contacts */
    for (int c = 0; c < ctx->num_slots; c++) {
        Constraint k = constraint_at(ctx, c);
        Six start = constraint_J_mul(&k, SOLVE(v0));
        real u0[6];
        six_store(u0, &start, true);
        mask has = (*ORIGIN(valid, c) != K(0.0)) & contact_moves(ctx, c);
        if (MUJOCO->elliptic)
            contact_report_elliptic(ctx, &at, c, has, u0);
        else
            contact_report_pyramid(ctx, &at, c, has, u0);
    }
    /* their number, and the acceleration */
    FOR_LANES(l) {
        if (mask_lane(which, l))
            MUJOCO->rows.count[ctx->pack->world[l]] = at.next[l];
    }
    int nv = ctx->args->plan.nv;
    for (int i = 0; MUJOCO->rows.qacc && i < nv; i++)
        buffer_put(buffer_f64(MUJOCO->rows.qacc, nv), i, (view_get(FM_VIEW(v), i) - SOLVE(v0)[i]) / STAGE_H, which,
                   ctx->pack);
}

/* The report of constraints as solve.h calls it. */
STAGE_FN void report_constraints(const Context *ctx, mask which) {
    TEAM_ONCE() {
        if (MUJOCO->rows.count)
            rows_report(ctx, which);
    }
}

/* This law has no terms of dofs. */
KERNEL_FN JointTerms report_joint_terms(const Context *ctx, int i) {
    DofTerms all = dof_terms(ctx);
    return dof_terms_at(&all, i, SOLVE(v)[i]);
}
