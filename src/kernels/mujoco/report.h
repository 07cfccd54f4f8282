/* The rows of MuJoCo's law as MuJoCo lists them (SapMujocoRows): equalities; friction of dofs, of tendons; limits of
 * joints, of tendons; contacts. aref = (uref - J v0)/h, force = gamma/h. */

/* The next row of each lane, and the number of those before it that push. */
typedef struct RowCursor {
    int next[SAP_LANES], active[SAP_LANES];
} RowCursor;

/* A row of some lanes. `cost` is the share of the row in l(v). */
typedef struct RowNumbers {
    int type, id;
    const int *record; /* the id of each lane; 0: all have `id` */
    real state, pos, margin, imp, R, uref, u0, gamma, cost;
} RowNumbers;

/* The place of the lane's next row; -1 if it has none or the arrays are full. */
KERNEL_FN long long row_place(const Context *ctx, const RowCursor *at, mask has, int l) {
    int capacity = ctx->args->report.extra->rows.capacity;
    bool fits = mask_lane(has, l) && at->next[l] < capacity;
    return fits ? (long long)ctx->pack->world[l] * capacity + at->next[l] : -1;
}

KERNEL_FN void row_put_int(int *data, long long i, int x) {
    if (data)
        data[i] = x;
}

KERNEL_FN void row_put(double *data, long long i, double x) {
    if (data)
        data[i] = x;
}

/* Writes the numbers of a row and a Jacobian of zeros. */
STAGE_FN void row_begin(const Context *ctx, RowCursor *at, mask has, const RowNumbers *row) {
    const SapRowReport *to = &ctx->args->report.extra->rows;
    int nv = ctx->args->plan.nv;
    real aref = (row->uref - row->u0) / STAGE_H, force = row->gamma / STAGE_H;
    FOR_LANES(l) {
        long long i = row_place(ctx, at, has, l);
        at->active[l] += mask_lane(has, l) && LANE(row->state, l) > 0;
        if (i < 0)
            continue;
        row_put_int(to->type, i, row->type);
        row_put_int(to->id, i, row->record ? row->record[l] : row->id);
        row_put_int(to->state, i, (int)LANE(row->state, l));
        row_put(to->pos, i, (double)LANE(row->pos, l));
        row_put(to->margin, i, (double)LANE(row->margin, l));
        row_put(to->velocity, i, (double)LANE(row->u0, l));
        row_put(to->imp, i, (double)LANE(row->imp, l));
        row_put(to->R, i, (double)LANE(row->R, l));
        row_put(to->aref, i, (double)LANE(aref, l));
        row_put(to->cost, i, (double)LANE(row->cost, l));
        row_put(to->force, i, (double)LANE(force, l));
        for (int k = 0; to->jacobian && k < nv; k++)
            to->jacobian[i * nv + k] = 0;
    }
}

/* Clears row i, which the step before had. */
KERNEL_FN void row_clear(const SapRowReport *to, long long i, int nv) {
    row_put_int(to->type, i, 0);
    row_put_int(to->id, i, 0);
    row_put_int(to->state, i, 0);
    double *const data[8] = {to->pos, to->margin, to->velocity, to->imp, to->R, to->aref, to->cost, to->force};
    for (int k = 0; k < 8; k++)
        row_put(data[k], i, 0);
    for (int k = 0; to->jacobian && k < nv; k++)
        to->jacobian[i * nv + k] = 0;
}

/* Sets entry `dof` of the row's Jacobian. */
STAGE_FN void row_put_column(const Context *ctx, const RowCursor *at, mask has, int dof, real value) {
    FOR_LANES(l) {
        long long i = row_place(ctx, at, has, l);
        if (i >= 0)
            row_put(ctx->args->report.extra->rows.jacobian, i * ctx->args->plan.nv + dof, (double)LANE(value, l));
    }
}

KERNEL_FN void row_end(RowCursor *at, mask has) {
    FOR_LANES(l) at->next[l] += mask_lane(has, l);
}

/* ---- blocks ---- */

/* Worlds in which some entry of J is not 0. */
KERNEL_FN mask block_moves(const Context *ctx, const SapModelConstraint *b) {
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

/* The impedance of a block's rows: of an equality at the norm of its errors, of a limit at `error` from its margin. */
KERNEL_FN real block_impedance(const Context *ctx, const SapModelConstraint *b, bool is_loss, real error) {
    MujocoImpedance impedance =
        mujoco_block_impedance(ctx, b, is_loss ? SAP_MUJOCO_FRICTIONLOSS_IMPEDANCE : SAP_MUJOCO_IMPEDANCE);
    real squares = real_of(0);
    for (int r = 0; b->laws == 1 && r < b->rows; r++)
        squares = real_fma(BLOCK(g, b)[r], BLOCK(g, b)[r], squares);
    return mujoco_impedance(&impedance, b->laws == 1 ? real_sqrt(squares) : error);
}

/* Row r of a block under law i; of a limit its lower side or its upper side, which is the row -J. */
STAGE_FN void block_report_law(const Context *ctx, RowCursor *at, const SapModelConstraint *b, int r, int i, int type,
                               mask moves) {
    bool is_loss = b->laws > 1 && i == SAP_MUJOCO_LAW_FRICTIONLOSS, upper = b->laws > 1 && i == OTHER_LIMIT_LAW;
    RowLaw made = b->laws > 1 && !is_loss ? block_side(BLOCK_LAW(b, r, 0), upper) : *BLOCK_LAW(b, r, i), *law = &made;
    real zero = real_of(0), one = real_of(1), sign = real_of(upper ? -1 : 1), g = BLOCK(g, b)[r];
    mask has = moves & row_law_acts(law);
    RowValue value = row_value_none();
    row_law_add(law, BLOCK(vc, b)[r], &value);
    RowNumbers row;
    row.type = type;
    row.id = b->index;
    row.record = 0;
    row.margin = b->laws == 1 || is_loss ? zero : mujoco_block_get(ctx, b, SAP_MUJOCO_LIMIT_MARGIN);
    row.pos = b->laws == 1 ? g
              : is_loss    ? zero
              : upper      ? mujoco_block_get(ctx, b, SAP_MUJOCO_UPPER) - g
                           : g - mujoco_block_get(ctx, b, SAP_MUJOCO_LOWER);
    row.imp = block_impedance(ctx, b, is_loss, row.pos - row.margin);
    row.R = law->R;
    row.uref = sign * law->vhat;
    row.u0 = sign * block_J_mul(ctx, b, r, SOLVE(v0));
    row.gamma = sign * value.gamma;
    row.cost = value.cost;
    row.state =
        real_select(value.G > zero, one, !is_loss ? zero : real_select(value.gamma > zero, real_of(2), real_of(3)));
    row_begin(ctx, at, has, &row);
    for (int j = 0; j < b->num_columns; j++)
        row_put_column(ctx, at, has, block_dofs(ctx, b)[j], sign * BLOCK(J, b)[b->rows * j + r]);
    row_end(at, has);
}

/* The rows of one kind in all blocks; coordinates of tendons come from `tendons`. */
STAGE_FN void blocks_report(const Context *ctx, RowCursor *at, bool equality, bool tendons, int first, int end,
                            int type) {
    for (int k = 0; k < NUM_MODEL_CONSTRAINTS; k++) {
        const SapModelConstraint *b = BLOCK_AT(k);
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

/* A row of slot c with the Jacobian J_n + mu J_k; components of ContactVector, -1 = none. */
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

/* Directions of friction in MuJoCo's order: slide, slide, spin, roll, roll; component of ContactVector, and place in
 * mu. */
KERNEL_FN int mujoco_direction_row(int k) {
    const int row[5] = {0, 1, 5, 3, 4};
    return row[k];
}
KERNEL_FN int mujoco_direction_mu(int k) {
    const int mu[5] = {0, 1, 4, 2, 3};
    return mu[k];
}

/* What all rows of slot c share. */
STAGE_FN RowNumbers contact_report_numbers(const Context *ctx, int c) {
    MujocoMaterial m;
    RowNumbers row;
    mujoco_material(ctx, c, &m);
    MujocoImpedance impedance = mujoco_read_impedance(m.solref, m.solimp);
    row.id = -1;
    row.record = SLOT_SETUP_INTS(record, c);
    row.pos = *SLOT_SETUP(phi0, c);
    row.margin = m.margin;
    row.imp = mujoco_impedance(&impedance, row.pos - row.margin);
    return row;
}

/* The rows of an elliptic or frictionless contact. The first has the cost of all. */
STAGE_FN void contact_report_elliptic(const Context *ctx, RowCursor *at, int c, mask has, const real *u0) {
    MujocoContact law = *(const MujocoContact *)SLOT(law, c);
    real zero = real_of(0), one = real_of(1), region = report_region(ctx, c);
    mask rough = law.mu[0] > zero;
    ContactVector u = contact_vector_load(SLOT(vc, c), mujoco_wide(ctx)), error = mujoco_error(SLOT(law, c), &u);
    RowNumbers row = contact_report_numbers(ctx, c);
    row.state = real_select(region == K(2.0), real_of(4), region);
    row.R = law.R_n;
    row.uref = law.uref[2];
    row.u0 = u0[2];
    row.gamma = SLOT(gamma, c)[2];
    row.cost = mujoco_contact_cost(SLOT(law, c), true, mujoco_wide(ctx), &error);
    /* a frictionless contact is one row of another type; other rows follow where mu > 0 */
    row.type = SAP_MUJOCO_ROW_FRICTIONLESS;
    contact_report_row(ctx, at, c, has & mask_not(rough), 2, -1, zero, &row);
    row.type = SAP_MUJOCO_ROW_ELLIPTIC;
    contact_report_row(ctx, at, c, has & rough, 2, -1, zero, &row);
    row.pos = row.margin = row.cost = zero;
    for (int k = 0; k < (CONTACT_ROWS > 3 ? 5 : 2); k++) {
        int i = mujoco_direction_row(k);
        real mu = law.mu[mujoco_direction_mu(k)];
        mask exists = has & (mu > zero);
        row.R = law.rho / real_select(exists, mu * mu, one);
        row.uref = law.uref[i];
        row.u0 = u0[i];
        row.gamma = SLOT(gamma, c)[i];
        contact_report_row(ctx, at, c, exists, -1, i, one, &row);
    }
}

/* A row that pushes by `error` over R, if that is positive. */
KERNEL_FN void row_push(RowNumbers *row, real error, real inv_R) {
    real zero = real_of(0), held = real_max(zero, error);
    row->gamma = held * inv_R;
    row->cost = K(0.5) * row->gamma * held;
    row->state = real_select(row->gamma > zero, real_of(1), zero);
}

/* The edges of a pyramid, or the normal of a frictionless contact. */
STAGE_FN void contact_report_pyramid(const Context *ctx, RowCursor *at, int c, mask has, const real *u0) {
    MujocoContact law = *(const MujocoContact *)SLOT(law, c);
    real zero = real_of(0), one = real_of(1);
    const real *u = SLOT(vc, c);
    RowNumbers row = contact_report_numbers(ctx, c);
    /* condim 1 has a normal only */
    mask smooth = law.inv_R_n > zero;
    row.type = SAP_MUJOCO_ROW_FRICTIONLESS;
    row.R = law.R_n;
    row.uref = law.uref[2];
    row.u0 = u0[2];
    row_push(&row, law.uref[2] - u[2], law.inv_R_n);
    contact_report_row(ctx, at, c, has & smooth, 2, -1, zero, &row);
    /* two edges for each direction of friction */
    row.type = SAP_MUJOCO_ROW_PYRAMID;
    row.R = one / real_select(has & mask_not(smooth), law.inv_edge, one);
    for (int e = 0; e < (CONTACT_ROWS > 3 ? 10 : 4); e++) {
        int i = mujoco_direction_row(e / 2);
        real given = law.mu[mujoco_direction_mu(e / 2)], mu = e % 2 ? -given : given;
        row.uref = real_fma(mu, law.uref[i], law.uref[2]);
        row.u0 = real_fma(mu, u0[i], u0[2]);
        row_push(&row, row.uref - real_fma(mu, u[i], u[2]), law.inv_edge);
        contact_report_row(ctx, at, c, has & (given > zero), 2, i, mu, &row);
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

/* Sets the number of rows of lane l, and clears the rows that the step before had beyond it. */
STAGE_FN void rows_end(const Context *ctx, const RowCursor *at, int l) {
    const SapRowReport *to = &ctx->args->report.extra->rows;
    long long world = ctx->pack->world[l];
    int before = to->count[world] < to->capacity ? to->count[world] : to->capacity;
    for (int i = at->next[l]; i < before; i++)
        row_clear(to, world * to->capacity + i, ctx->args->plan.nv);
    to->count[world] = at->next[l];
    row_put_int(to->active, world, at->active[l]);
}

STAGE_FN void rows_report_all(const Context *ctx, mask which) {
    const SapRowReport *to = &ctx->args->report.extra->rows;
    RowCursor at;
    FOR_LANES(l) {
        at.next[l] = mask_lane(which, l) ? 0 : to->capacity;
        at.active[l] = 0;
    }
    /* rows of the model */
    blocks_report(ctx, &at, true, false, 0, 1, SAP_MUJOCO_ROW_EQUALITY);
    blocks_report(ctx, &at, false, false, SAP_MUJOCO_LAW_FRICTIONLOSS, SAP_MUJOCO_LAWS,
                  SAP_MUJOCO_ROW_DOF_FRICTIONLOSS);
    blocks_report(ctx, &at, false, true, SAP_MUJOCO_LAW_FRICTIONLOSS, SAP_MUJOCO_LAWS,
                  SAP_MUJOCO_ROW_TENDON_FRICTIONLOSS);
    blocks_report(ctx, &at, false, false, 0, SAP_MUJOCO_LAW_FRICTIONLOSS, SAP_MUJOCO_ROW_LIMIT);
    blocks_report(ctx, &at, false, true, 0, SAP_MUJOCO_LAW_FRICTIONLOSS, SAP_MUJOCO_ROW_TENDON_LIMIT);
    /* contacts */
    for (int c = 0; c < ctx->num_slots; c++) {
        Constraint k = constraint_at(ctx, c);
        ContactVector start = constraint_J_mul(&k, SOLVE(v0));
        real u0[6];
        contact_vector_store(u0, &start, true);
        mask has = (*SLOT_SETUP(valid, c) != K(0.0)) & contact_moves(ctx, c);
        if (MUJOCO->elliptic)
            contact_report_elliptic(ctx, &at, c, has, u0);
        else
            contact_report_pyramid(ctx, &at, c, has, u0);
    }
    /* their number, and the acceleration */
    FOR_LANES(l) {
        if (mask_lane(which, l))
            rows_end(ctx, &at, l);
    }
    int nv = ctx->args->plan.nv;
    for (int i = 0; to->qacc && i < nv; i++)
        buffer_put(buffer_f64(to->qacc, nv), i, (view_get(FM_VIEW(v), i) - SOLVE(v0)[i]) / STAGE_H, which, ctx->pack);
}

RARE_FN void formulation_report(const Context *ctx, mask which) {
    TEAM_ONCE() {
        if (ctx->args->report.extra && ctx->args->report.extra->rows.count)
            rows_report_all(ctx, which);
    }
}

/* ---- dofs ---- */

/* The impulse of the laws first .. end - 1 of a block with one row, at the velocity that the solve returns. */
KERNEL_FN real block_laws_impulse(const Context *ctx, const SapModelConstraint *b, int first, int end) {
    RowValue sum = row_value_none();
    for (int i = first; i < end; i++)
        row_law_add(BLOCK_LAW(b, 0, i), *BLOCK(vc, b), &sum);
    return sum.gamma;
}

/* Impulses of servo and actuators at the start of the step, and of limits and friction: all blocks of dof i but
 * equalities and tendons. */
STAGE_FN JointTerms report_joint_terms(const Context *ctx, int i) {
    const SapPlan *plan = &ctx->args->plan;
    JointTerms terms;
    terms.drive = STAGE_H * mujoco_drive(ctx, i).force;
    terms.limit = terms.friction = terms.cost = terms.hessian = real_of(0);
    for (int t = model_first_column(ctx, i); t < model_end_column(ctx, i); t++) {
        const SapModelConstraint *b = BLOCK_AT(plan->dof_block[t].block);
        if (b->laws == 1 || b->kind == SAP_BLOCK_TENDON)
            continue;
        real J = BLOCK(J, b)[plan->dof_block[t].column];
        terms.limit = real_fma(J, block_laws_impulse(ctx, b, 0, SAP_MUJOCO_LAW_FRICTIONLOSS), terms.limit);
        terms.friction =
            real_fma(J, block_laws_impulse(ctx, b, SAP_MUJOCO_LAW_FRICTIONLOSS, SAP_MUJOCO_LAWS), terms.friction);
    }
    return terms;
}

/* ---- constraints and tendons (solve/report_constraints.h) ---- */

/* A weld has its translation first; reports have the rotation first. */
KERNEL_FN int report_block_row(const SapModelConstraint *b, int r) {
    return b->kind == SAP_BLOCK_WELD ? (r + 3) % 6 : r;
}

/* Blocks that do not act have no velocity in the solve. */
KERNEL_FN real report_block_velocity(const Context *ctx, const SapModelConstraint *b, int r) {
    StageView v = FM_VIEW(v);
    real s = real_of(0);
    for (int j = 0; j < b->num_columns; j++)
        s = real_fma(BLOCK(J, b)[b->rows * j + r], view_get(v, block_dofs(ctx, b)[j]), s);
    return s;
}

/* Each body is pushed at its own point. The moment m of the rotation has m.w = gamma.(s/2 vec(q_P* w q_Q)) for all
 * w. */
STAGE_FN void report_weld(const Context *ctx, const SapModelConstraint *b, const BlockFrames *f, int side,
                          Vec3 *impulse, Vec3 *moment, Vec3 *at) {
    real half = K(0.5) * mujoco_block_get(ctx, b, SAP_MUJOCO_TORQUESCALE), zero = real_of(0), one = real_of(1);
    Vec3 gamma = vec3_scale(half, vec3_load(BLOCK(gamma, b) + 3));
    *impulse = vec3_load(BLOCK(gamma, b));
    *moment = vec3(vec3_dot(gamma, mujoco_turned(f->X[0].q, vec3(one, zero, zero), f->X[1].q)),
                   vec3_dot(gamma, mujoco_turned(f->X[0].q, vec3(zero, one, zero), f->X[1].q)),
                   vec3_dot(gamma, mujoco_turned(f->X[0].q, vec3(zero, zero, one), f->X[1].q)));
    *at = f->X[side].p;
}

/* Springs, dampers and servos are forces at the start of the step. */
STAGE_FN TendonForces report_tendon_forces(const Context *ctx, const SapModelConstraint *b) {
    real check = real_of(0);
    MujocoTendon at = mujoco_tendon(ctx, b->index, &check);
    TendonForces out;
    out.limit = block_laws_impulse(ctx, b, 0, SAP_MUJOCO_LAW_FRICTIONLOSS) / STAGE_H;
    out.friction = block_laws_impulse(ctx, b, SAP_MUJOCO_LAW_FRICTIONLOSS, SAP_MUJOCO_LAWS) / STAGE_H;
    out.spring = -at.spring;
    out.damper = -(at.damping * at.rate);
    out.drive = at.drive;
    out.all = out.spring + out.damper + out.drive + out.limit + out.friction;
    return out;
}
