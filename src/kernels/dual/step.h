/* The contact solve of a step in impulses: sets up the dual problem of each world, solves it, and computes v from the
 * impulses. docs/dual.md#in-a-step.
 *
 *   minimise  1/2 l'(W + R) l - b'l,   W = J A^-1 J',  b = c - J v*      then  v = v* + A^-1 J' l
 *
 * Blocks of the problem: the contact records of a world, in their order, then the rows of dofs. A world does not share
 * blocks with the others of its pack, as slots do: block k is its record k, whatever the slot. So a pack has as many
 * blocks as the world with most records. Blocks that a world does not use are zero and change no bit of its result. */

/* ---- rows of dofs, constraints and tendons ---- */

#define DUAL_INTS(part) (ctx->ints + ctx->args->dual->layout.part)
/* Results that reports read (report_region, report_joint_terms). */
#define SLOT_REGION(c)  SLOT(line, c)
#define DOF_IMPULSES(i) (SOLVE(line) + 3 * (i)) /* of drive, limits and friction */
/* 1: the world has the contact, and it can move. */
#define SLOT_MOVES(c) SLOT(cost, c)

/* One row: sign times the row of J of its source, target velocity, compliance and bounds. */
typedef struct DualRow {
    real sign; /* 1 or -1; 0: the world does not have the row */
    real c, R, lo, hi;
} DualRow;

/* Worlds in which a drive without effort limit acts: it is a part of A, not a row. */
KERNEL_FN mask drive_in_A(const JointLaw *law) {
    return (law->drive_inv_R > K(0.0)) & mask_not(real_finite(law->drive_bound));
}

/* The impulse at velocity v of a drive that is a part of A. */
KERNEL_FN real drive_impulse(const JointLaw *law, real v) {
    return (law->drive_vhat - v) * law->drive_inv_R;
}

/* Worlds that have the row. A drive whose effort limit is 0 does nothing. */
KERNEL_FN mask dof_row_acts(const JointLaw *law, int term) {
    RowLaw row = joint_row(law, term);
    mask acts = row_law_acts(&row);
    return term == JOINT_ROW_DRIVE ? acts & real_finite(row.upper) & (row.upper > K(0.0)) : acts;
}

/* The target velocity of a rigid row at distance `gap`: it may close the gap, or is pushed out. */
KERNEL_FN real rigid_target(const SapDualStepArgs *dual, real gap, real h) {
    real push = real_min(-(real_of((scalar)dual->push_factor) * gap) / h, real_of((scalar)dual->max_push));
    return real_select(gap > K(0.0), -gap / h, push);
}

/* c and R of a limit: SAP's, or a rigid row's. */
KERNEL_FN void limit_row(const Context *ctx, real gap, real vhat, real inv_R, DualRow *row) {
    bool rigid = ctx->args->dual->compliance == SAP_COMPLIANCE_RIGID;
    row->c = rigid ? rigid_target(ctx->args->dual, gap, STAGE_H) : vhat;
    row->R = rigid ? real_of(0) : K(1.0) / real_select(inv_R > K(0.0), inv_R, real_of(1));
}

KERNEL_FN DualRow dof_row(const Context *ctx, int i, int term) {
    const SapConstants *k = STAGE_CONSTANTS;
    JointLaw joint = dof_law(ctx, i);
    RowLaw law = joint_row(&joint, term);
    real zero = real_of(0), one = real_of(1);
    int coord = ctx->args->plan.dof_coord[i];
    real q0 = coord >= 0 ? view_get(FM_VIEW(q), coord) : zero;
    DualRow row = {one, zero, zero, zero, zero};
    if (term == JOINT_ROW_DRIVE) {
        row.c = law.vhat;
        row.R = law.R;
        row.hi = law.upper;
    } else if (term == JOINT_ROW_LOWER) {
        limit_row(ctx, q0 - field_get(k->limit_lower, i, ctx->pack), law.vhat, law.inv_R, &row);
    } else if (term == JOINT_ROW_UPPER) { /* the row -J, whose impulse is not negative */
        limit_row(ctx, field_get(k->limit_upper, i, ctx->pack) - q0, -law.vhat, law.inv_R, &row);
        row.sign = -one;
    } else {
        row.R = ctx->args->dual->compliance == SAP_COMPLIANCE_SAP ? law.R : zero;
        row.hi = law.upper;
    }
    row.lo = -row.hi;
    row.sign = real_select(dof_row_acts(&joint, term), row.sign, zero);
    return row;
}

/* A law of a constraint or tendon is a row with bounds (contact/row.h). */
KERNEL_FN RowLaw block_row_law(const Context *ctx, int source, int law) {
    int f = source - ctx->args->plan.nv;
    const SapModelConstraint *b = BLOCK_AT(DUAL_INTS(block)[f]);
    return *BLOCK_LAW(b, DUAL_INTS(block_row)[f], law);
}

KERNEL_FN DualRow dual_row_at(const Context *ctx, int source, int term) {
    if (source < ctx->args->plan.nv)
        return dof_row(ctx, source, term);
    RowLaw law = block_row_law(ctx, source, term);
    DualRow row = {real_select(row_law_acts(&law), real_of(1), real_of(0)), law.vhat, law.R, law.lower, law.upper};
    return row;
}

/* Appends a row to the blocks. */
KERNEL_FN void dual_step_add_row(const Context *ctx, int *n, int contacts, int source, int term, int kind) {
    DUAL_INTS(kind)[*n] = kind;
    DUAL_INTS(row)[*n] = 2 * contacts + *n;
    DUAL_INTS(source)[*n - contacts] = source;
    DUAL_INTS(term)[*n - contacts] = term;
    ++*n;
}

/* Numbers the rows of constraints and tendons, and appends their laws that act. */
RARE_FN void dual_step_add_block_rows(const Context *ctx, int *n, int contacts) {
    int f = 0;
    for (int k = 0; k < NUM_MODEL_CONSTRAINTS; k++) {
        const SapModelConstraint *b = BLOCK_AT(k);
        for (int r = 0; r < b->rows; r++, f++) {
            DUAL_INTS(block)[f] = k;
            DUAL_INTS(block_row)[f] = r;
            for (int law = 0; law < b->laws; law++)
                if (mask_any(row_law_acts(BLOCK_LAW(b, r, law))))
                    dual_step_add_row(ctx, n, contacts, ctx->args->plan.nv + f, law, SAP_DUAL_BOX);
        }
    }
    *DUAL_INTS(block_rows) = f;
}

/* Lists the blocks: contacts, then the rows of dofs, constraints and tendons that act in some world of the pack. */
STAGE_FN SapDualShape dual_step_shape(const Context *ctx) {
    int *kind = DUAL_INTS(kind), *first = DUAL_INTS(row);
    TEAM_ONCE() {
        /* contacts: as many blocks as the world with most records has */
        int contacts = 0, n = 0;
        for (int c = 0; c < ctx->num_slots; c++)
            for (int l = 0; l < SAP_LANES; l++)
                contacts = SLOT_SETUP_INTS(record, c)[l] >= contacts ? SLOT_SETUP_INTS(record, c)[l] + 1 : contacts;
        for (; n < contacts; n++) {
            kind[n] = SAP_DUAL_CONTACT;
            first[n] = 3 * n;
        }
        /* rows of dofs, then of constraints and tendons */
        for (int i = 0; i < ctx->args->plan.nv; i++) {
            JointLaw law = dof_law(ctx, i);
            int before = n;
            for (int t = 0; t < JOINT_ROWS && DOF_ACTS(i); t++)
                if (mask_any(dof_row_acts(&law, t)))
                    dual_step_add_row(ctx, &n, contacts, i, t,
                                      t == JOINT_ROW_LOWER || t == JOINT_ROW_UPPER ? SAP_DUAL_UNILATERAL
                                                                                   : SAP_DUAL_BOX);
            DUAL_INTS(has_rows)[i] = n > before;
        }
        dual_step_add_block_rows(ctx, &n, contacts);
        *DUAL_INTS(contacts) = contacts;
        *DUAL_INTS(blocks) = n;
    }
    TEAM_SYNC(); /* every thread reads the blocks, and slots read v* of their dofs */
    SapDualShape shape;
    shape.num_blocks = *DUAL_INTS(blocks);
    shape.num_rows = 2 * *DUAL_INTS(contacts) + shape.num_blocks;
    shape.kind = kind;
    shape.row = first;
    return shape;
}

/* ---- v* and the factor ---- */

/* Drives without effort limit are linear in v: A + diag(1/R) stands for A, and v* + A^-1 (vhat - v*)/R for v*. Factors
 * A; v* stays as it is where no such drive acts. */
STAGE_FN void dual_step_free_motion(const Context *ctx) {
    const SapPattern *tree = &ctx->args->plan.tree;
    real *L = LINEAR(L), *x = LINEAR(x), *v_free = DUAL_STEP(v_free), zero = real_of(0);
    const real *v_star = SOLVE(v_star);
    int nv = ctx->args->plan.nv;
    StageView A = FM_VIEW(A);
    TEAM_FOR(i, nv) {
        SapPatternRow row = tree->row[i];
        JointLaw law = dof_law(ctx, i);
        mask linear = drive_in_A(&law);
        for (int t = 0; t <= row.depth; t++)
            L[row.start + t] = view_get(A, row.start + t);
        L[row.start + row.depth] = L[row.start + row.depth] + real_select(linear, law.drive_inv_R, zero);
        x[i] = real_select(linear, drive_impulse(&law, v_star[i]), zero);
    }
    TEAM_SYNC(); /* the factor reads all rows */
    factor_solve(tree, L, L, LINEAR(inverse), x, x);
    TEAM_FOR(i, nv)
        v_free[i] = v_star[i] + x[i]; /* the barrier of dual_step_shape completes it */
}

/* ---- contacts ---- */

/* Compliance, target velocity and friction of the contact in a slot. */
typedef struct ContactRows {
    Vec3 R;
    real c, mu;
} ContactRows;

/* The target of the normal row: -e v^- for a contact that bounces; c of a contact without bounce otherwise. A contact
 * that has not closed its gap bounces in the step after: until then it may pass at full speed. */
KERNEL_FN real restitution_target(const SapDualStepArgs *dual, real gap, real before, real free, real c) {
    real e = real_of((scalar)dual->restitution), zero = real_of(0);
    mask bounces = (e > zero) & (real_abs(before) > (scalar)dual->restitution_threshold);
    real target = -(e * before);
    mask approaches = before < zero;
    target = real_select(approaches, real_max(target, c), dual->moreau ? target : c);
    target = real_select(gap > zero, real_select(approaches, real_min(c, real_min(before, free)), c), target);
    return real_select(bounces, target, c);
}

/* The rows of slot c at the free velocity u = J v* with J v0 = before. No contact bounces in the worlds of `calm`. */
KERNEL_FN ContactRows contact_rows(const Context *ctx, int c, real before, real free, mask calm) {
    const SapDualStepArgs *dual = ctx->args->dual;
    const ContactLaw *law = (const ContactLaw *)SLOT(law, c);
    real gap = *SLOT_SETUP(phi0, c), k = SLOT_SETUP(pair, c)[1], tau = SLOT_SETUP(pair, c)[2], h = STAGE_H;
    ContactRows rows = {vec3_zero(), law->vhat, law->mu};
    if (dual->compliance == SAP_COMPLIANCE_SAP) {
        rows.R = vec3(law->R_t, law->R_t, law->R_n);
        return rows;
    }
    if (dual->compliance == SAP_COMPLIANCE_MATERIAL) {
        real R = K(1.0) / (h * k * (h + tau)); /* 0 for a rigid contact */
        rows.R = vec3(R, R, R);
    } else {
        rows.c = rigid_target(dual, gap, h);
    }
    rows.c = real_select(calm, rows.c, restitution_target(dual, gap, before, free, rows.c));
    return rows;
}

/* array[n record + i] = x in the worlds of `which`, each at its own record. */
KERNEL_FN void record_put(real *array, const int *record, int n, int i, real x, mask which) {
    FOR_LANES(l) {
        if (mask_lane(which, l) && record[l] >= 0)
            LANE(array[n * record[l] + i], l) = LANE(x, l);
    }
}

/* array[n record + i]; 0 in worlds without a record. */
KERNEL_FN real record_get(const real *array, const int *record, int n, int i) {
    real x = real_of(0);
    FOR_LANES(l) {
        if (record[l] >= 0)
            LANE(x, l) = LANE(array[n * record[l] + i], l);
    }
    return x;
}

/* W of slots c and d into P. A world's records have the order of their slots, so c >= d is the lower triangle. */
KERNEL_FN void dual_step_put_block(const Context *ctx, Dual *dual, int c, int d, const real W[9]) {
    const int *record_c = SLOT_SETUP_INTS(record, c), *record_d = SLOT_SETUP_INTS(record, d);
    mask both = (*SLOT_MOVES(c) != K(0.0)) & (*SLOT_MOVES(d) != K(0.0));
    FOR_LANES(l) {
        if (mask_lane(both, l) && record_c[l] >= 0 && record_d[l] >= 0)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < (c == d ? a + 1 : 3); b++)
                    LANE(dual->P[packed_row(3 * record_c[l] + a) + 3 * record_d[l] + b], l) = LANE(W[3 * a + b], l);
    }
}

/* Right-hand side and friction of slot c; its diagonal block with compliance. */
STAGE_FN void dual_step_contact(const Context *ctx, Dual *dual, int c, mask calm) {
    Constraint k = constraint_at(ctx, c);
    const int *record = SLOT_SETUP_INTS(record, c);
    mask moves = *SLOT_MOVES(c) != K(0.0);
    Vec3 u = constraint_J_mul(&k, DUAL_STEP(v_free));
    real before = ctx->args->dual->restitution > 0 ? constraint_J_mul(&k, SOLVE(v0)).z : real_of(0), W[9];
    ContactRows rows = contact_rows(ctx, c, before, u.z, calm);
    delassus_slots(ctx, c, c, W);
    W[0] = W[0] + rows.R.x;
    W[4] = W[4] + rows.R.y;
    W[8] = W[8] + rows.R.z;
    dual_step_put_block(ctx, dual, c, c, W);
    record_put(dual->q, record, 3, 0, -u.x, moves);
    record_put(dual->q, record, 3, 1, -u.y, moves);
    record_put(dual->q, record, 3, 2, rows.c - u.z, moves);
    record_put(dual->mu, record, 1, 0, rows.mu, moves);
}

/* Whether no dof is between the two bodies of slot c: they are fixed to each other. */
KERNEL_FN bool slot_is_fixed(const Context *ctx, int c) {
    const SapLink *link = ctx->args->plan.link;
    const int *side = SLOT_SETUP_INTS(link, c);
    int last0 = side[0] < 0 ? -1 : link[side[0]].last_dof, last1 = side[1] < 0 ? -1 : link[side[1]].last_dof;
    return last0 == last1;
}

/* Y of slot c, and whether its contact can move. Where it cannot, as at the pivot of a hinge, W is rounding error of J,
 * and no impulse reaches a target. The contact weight is what W would be without joints. */
STAGE_FN void dual_step_slot(const Context *ctx, const Dual *dual, int c) {
    const scalar rounding = GEOMETRY_IS_F64 ? K(1e-12) : K(1e-8);
    real W[9], one = real_of(1), zero = real_of(0);
    real mu = dual_frictionless(dual) ? zero : ((const ContactLaw *)SLOT(law, c))->mu;
    delassus_slot(ctx, c);
    delassus_slots(ctx, c, c, W);
    real w = real_fma(mu * mu, W[0] + W[4], W[8]);
    mask moves = (*SLOT_SETUP(valid, c) != K(0.0)) & (w > rounding * *SLOT_SETUP(w, c));
    *SLOT_MOVES(c) = slot_is_fixed(ctx, c) ? zero : real_select(moves, one, zero);
}

/* ---- the problem ---- */

/* (J v*) of a row, without its sign. */
KERNEL_FN real dual_step_free_velocity(const Context *ctx, int source) {
    int nv = ctx->args->plan.nv;
    if (source < nv)
        return DUAL_STEP(v_free)[source];
    int f = source - nv;
    return block_J_mul(ctx, BLOCK_AT(DUAL_INTS(block)[f]), DUAL_INTS(block_row)[f], DUAL_STEP(v_free));
}

/* Row r after the contacts: its entries of W, right-hand side and bounds. */
STAGE_FN void dual_step_row(const Context *ctx, Dual *dual, int r) {
    const int *source = DUAL_INTS(source), *term = DUAL_INTS(term);
    int first = 3 * *DUAL_INTS(contacts), row = first + r;
    DualRow at = dual_row_at(ctx, source[r], term[r]);
    mask acts = at.sign != K(0.0);
    real zero = real_of(0), *P = dual->P + packed_row(row);
    for (int c = 0; c < ctx->num_slots; c++) {
        Vec3 W = vec3_scale(at.sign, delassus_slot_row(ctx, c, source[r]));
        mask both = acts & (*SLOT_MOVES(c) != K(0.0));
        record_put(P, SLOT_SETUP_INTS(record, c), 3, 0, W.x, both);
        record_put(P, SLOT_SETUP_INTS(record, c), 3, 1, W.y, both);
        record_put(P, SLOT_SETUP_INTS(record, c), 3, 2, W.z, both);
    }
    for (int s = 0; s <= r; s++) {
        real W = at.sign * dual_row_at(ctx, source[s], term[s]).sign * delassus_rows(ctx, source[r], source[s]);
        P[first + s] = real_select(acts, W, zero);
    }
    P[row] = real_select(acts, P[row] + at.R, zero);
    dual->q[row] = real_select(acts, real_fma(-at.sign, dual_step_free_velocity(ctx, source[r]), at.c), zero);
    dual->lo[row] = at.lo;
    dual->hi[row] = at.hi;
}

/* Writes the problems of the pack, without restitution in the worlds of `calm`. */
STAGE_FN void dual_step_load(const Context *ctx, Dual *dual, mask calm) {
    int slots = ctx->num_slots, rows = dual->blocks - *DUAL_INTS(contacts), nv = ctx->args->plan.nv;
    /* Y, and zeros where a world has no record */
    TEAM_FOR(c, slots)
        dual_step_slot(ctx, dual, c);
    TEAM_FOR(i, nv)
        if (DUAL_INTS(has_rows)[i])
            delassus_dof(ctx, i);
    TEAM_FOR(f, *DUAL_INTS(block_rows))
        delassus_block(ctx, BLOCK_AT(DUAL_INTS(block)[f]), DUAL_INTS(block_row)[f], DUAL_STEP(Y_block) + f * nv);
    TEAM_FOR(i, packed_row(dual->rows))
        dual->P[i] = real_of(0);
    TEAM_FOR(i, dual->rows)
        dual->q[i] = dual->guess[i] = dual->lo[i] = dual->hi[i] = real_of(0);
    TEAM_FOR(b, dual->blocks)
        dual->mu[b] = real_of(0);
    TEAM_SYNC(); /* products read Y of other slots and dofs; P and q are zero */
    /* contacts, their products with each other, then the other rows */
    TEAM_FOR(c, slots)
        dual_step_contact(ctx, dual, c, calm);
    TEAM_FOR_2(c, slots, d, slots) {
        real W[9];
        if (d < c) {
            delassus_slots(ctx, c, d, W);
            dual_step_put_block(ctx, dual, c, d, W);
        }
    }
    TEAM_FOR(r, rows)
        dual_step_row(ctx, dual, r);
    TEAM_SYNC(); /* the problem is complete */
}

/* Worlds whose problem has a number that is not finite: an extreme lever arm or mass overflowed. */
STAGE_FN mask dual_step_overflowed(const Dual *dual) {
    TEAM_FOR(i, dual->rows) {
        real check = check_of(dual->q[i]);
        for (int j = 0; j <= i; j++)
            check = check + check_of(dual->P[packed_row(i) + j]);
        dual->work[0][i] = check;
    }
    TEAM_SYNC(); /* every thread reads the checks of all rows */
    return mask_not(checks_pass(dual->work[0], dual->rows));
}

/* ---- results ---- */

/* Impulses of slots and dofs from the answer, and the regions of contacts. */
STAGE_FN void dual_step_impulses(const Context *ctx, Dual *dual, real *region, real largest) {
    int contacts = *DUAL_INTS(contacts);
    const int *source = DUAL_INTS(source), *term = DUAL_INTS(term);
    real *l = dual->work[0], zero = real_of(0);
    /* Impulses l = D x of the best scaled answer x, and the region of each block. */
    TEAM_SYNC(); /* every thread has read the image of dual_guard */
    dual_apply(dual, dual->best, dual->image);
    TEAM_FOR(i, dual->rows)
        l[i] = dual->d[i] * dual->best[i];
    TEAM_FOR(b, dual->blocks)
        region[b] = dual_region(dual, b, largest);
    TEAM_SYNC(); /* slots read rows of other blocks */
    /* A slot takes the impulse of its record. */
    TEAM_FOR(c, ctx->num_slots) {
        const int *record = SLOT_SETUP_INTS(record, c);
        for (int a = 0; a < 3; a++)
            SLOT(gamma, c)[a] = record_get(l, record, 3, a);
        *SLOT_REGION(c) = record_get(region, record, 1, 0);
    }
    /* A dof has the impulses of its drive, its limits and its friction; the upper limit pushes back. */
    TEAM_FOR(i, ctx->args->plan.nv) {
        real *out = DOF_IMPULSES(i);
        out[0] = out[1] = out[2] = zero;
        for (int r = 0; r < dual->blocks - contacts; r++) {
            if (source[r] != i)
                continue;
            int to = term[r] == JOINT_ROW_DRIVE ? 0 : term[r] == JOINT_ROW_FRICTION ? 2 : 1;
            real value = l[3 * contacts + r];
            out[to] = term[r] == JOINT_ROW_UPPER ? out[to] - value : out[to] + value;
        }
    }
    /* A row of a constraint or tendon is the sum of its terms. */
    TEAM_FOR(f, *DUAL_INTS(block_rows)) {
        real *gamma = BLOCK(gamma, BLOCK_AT(DUAL_INTS(block)[f])) + DUAL_INTS(block_row)[f];
        *gamma = zero;
        for (int r = 0; r < dual->blocks - contacts; r++)
            if (source[r] == ctx->args->plan.nv + f)
                *gamma = *gamma + l[3 * contacts + r];
    }
    TEAM_SYNC(); /* the velocity reads all impulses */
}

/* L' x = J' l of dof i: the sum over slots, then over the dofs at and below i, then over constraints and tendons. */
KERNEL_FN real dual_step_sum(const Context *ctx, int i) {
    const SapPattern *tree = &ctx->args->plan.tree;
    SapPatternRow row = tree->row[i];
    const SapDescendant *below = tree->descendant + row.desc_start;
    const real *Y = DUAL_STEP(Y_dof);
    real s = real_of(0);
    for (int c = 0; c < ctx->num_slots; c++) {
        int k = constraint_column(ctx, c, i);
        if (k >= 0)
            s = s + vec3_dot(vec3_load(SLOT_Y(c) + 3 * k), vec3_load(SLOT(gamma, c)));
    }
    for (int j = -1; j < row.num_desc; j++) {
        int at = j < 0 ? i : below[j].dof, start = j < 0 ? row.start : below[j].at - row.depth;
        const real *impulse = DOF_IMPULSES(at);
        if (DUAL_INTS(has_rows)[at])
            s = real_fma(Y[start + row.depth], impulse[0] + impulse[1] + impulse[2], s);
    }
    for (int f = 0; f < *DUAL_INTS(block_rows); f++) {
        real gamma = BLOCK(gamma, BLOCK_AT(DUAL_INTS(block)[f]))[DUAL_INTS(block_row)[f]];
        s = real_fma(DUAL_STEP(Y_block)[f * ctx->args->plan.nv + i], gamma, s);
    }
    return s;
}

/* v = v* + A^-1 J' l, and the velocities of contacts. */
STAGE_FN void dual_step_velocity(const Context *ctx) {
    const SapPattern *tree = &ctx->args->plan.tree;
    real *v = SOLVE(v), *x = LINEAR(x), zero = real_of(0);
    int nv = ctx->args->plan.nv;
    TEAM_FOR(i, nv)
        x[i] = dual_step_sum(ctx, i);
    TEAM_SYNC(); /* the solve reads x of the dofs above */
    factor_back(tree, LINEAR(L), LINEAR(inverse), x);
    TEAM_FOR(i, nv) {
        JointLaw law = dof_law(ctx, i);
        v[i] = DUAL_STEP(v_free)[i] + x[i];
        real drive = real_select(drive_in_A(&law), drive_impulse(&law, v[i]), zero);
        DOF_IMPULSES(i)[0] = DOF_IMPULSES(i)[0] + drive;
    }
    TEAM_SYNC(); /* contacts read v of their dofs */
    terms_set_velocity(ctx, v, mask_all());
}

/* What reports show of slot c and dof i (solve/report.h). */
KERNEL_FN real report_region(const Context *ctx, int c) {
    return *SLOT_REGION(c);
}
KERNEL_FN bool report_slip(const Context *ctx, int c, real *impulse, real *width) {
    (void)ctx, (void)c, (void)impulse, (void)width;
    return false;
}
KERNEL_FN JointTerms report_joint_terms(const Context *ctx, int i) {
    JointTerms terms;
    terms.drive = DOF_IMPULSES(i)[0];
    terms.limit = DOF_IMPULSES(i)[1];
    terms.friction = DOF_IMPULSES(i)[2];
    terms.cost = terms.hessian = real_of(0);
    return terms;
}
