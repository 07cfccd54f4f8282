/* The derivatives of J' gamma of the model's constraints and tendons. docs/gradients.md.
 *
 *   dgamma = -G (dJ v) + gamma_g dg + gamma_w dw        w = |W|_F/n,  W = J diag(1/A_kk) J'
 *
 * A dof that moves both bodies of a constraint alike turns rows, errors and impulses together and changes nothing:
 * only the constraint's own columns matter. */

enum { BLOCK_MAX_ROWS = 6 };

/* The rows of a block at the v of the end. */
typedef struct BlockState {
    real gamma[BLOCK_MAX_ROWS], G[BLOCK_MAX_ROWS], by_g[BLOCK_MAX_ROWS], by_w[BLOCK_MAX_ROWS];
    real by_v0; /* of the armature of a tendon: dgamma/d(J v0) */
} BlockState;

/* For each of the two parts of a block with weights of their own, and each column k: J' gamma_w, and dw/dA_kk. */
#define BLOCK_BY_W(b, part)        (GRAD(block) + ((b)*4 + (part)) * g->args->layout.block_of)
#define BLOCK_BY_DIAGONAL(b, part) (GRAD(block) + ((b)*4 + 2 + (part)) * g->args->layout.block_of)

/* The two parts of a weld are rotation and translation; other blocks have one. */
KERNEL_FN int block_parts(const Context *ctx, const SapModelConstraint *b) {
    return b->kind == SAP_BLOCK_WELD && !ctx->args->constraints.mixed ? 2 : 1;
}

/* An error with stiffness and damping (row_law_error). */
typedef struct ErrorState {
    LawState at;
    real ke, kd, tau, inv_R;
    mask near_rigid, clamped;
} ErrorState;

KERNEL_FN ErrorState error_state(const RowLaw *law, real v, real ke, real kd, real w, real h, real speed) {
    ErrorState e;
    e.at = law_state(law, v);
    e.ke = ke;
    e.kd = kd;
    e.tau = kd / ke;
    real R_c = row_compliance(ke, e.tau, h);
    e.near_rigid = R_c < ROW_NEAR_RIGID * w;
    e.tau = real_select(e.near_rigid, h, e.tau);
    e.inv_R = law->inv_R;
    e.clamped = real_abs(law->vhat) >= speed;
    return e;
}

KERNEL_FN real error_by_g(const ErrorState *e, real h) {
    return real_select(e->clamped, real_of(0), -e->at.G / (h + e->tau));
}
KERNEL_FN real error_by_w(const ErrorState *e, real w) {
    return real_select(e->at.free & e->near_rigid, -e->at.gamma / w, real_of(0));
}

KERNEL_FN real block_speed(const Context *ctx, const Gradient *g, const SapModelConstraint *b, int r) {
    return block_J_mul(ctx, b, r, GRAD(v));
}

STAGE_FN ErrorState constraint_row_state(const Context *ctx, const Gradient *g, const SapModelConstraint *b, int r) {
    const SapConstants *c = STAGE_CONSTANTS;
    int which = b->kind == SAP_BLOCK_WELD && r < 3;
    return error_state(BLOCK_LAW(b, r, 0), block_speed(ctx, g, b, r),
                       field_get(c->constraint_ke, 2 * b->index + which, ctx->pack),
                       field_get(c->constraint_kd, 2 * b->index + which, ctx->pack), BLOCK(w, b)[r], STAGE_H,
                       real_of((scalar)ctx->args->constraints.speed));
}

/* A spring, damper or drive of a tendon. */
KERNEL_FN void tendon_force_state(BlockState *s, const RowLaw *law, real v, real given_k, real given_d, mask pulls,
                                  real w, real h, real u) {
    LawState at = law_state(law, v);
    real k = given_k, d = given_d, zero = real_of(0);
    drive_effective_gains(h, w, &k, &d);
    mask soft = gains_are_softened(h, w, given_k, given_d);
    s->gamma[0] = s->gamma[0] + at.gamma;
    s->G[0] = s->G[0] + at.G;
    s->by_g[0] = s->by_g[0] + real_select(at.free & pulls, -h * k, zero);
    s->by_w[0] = s->by_w[0] + real_select(at.free & soft, -(at.gamma - h * u) / w, zero);
}

STAGE_FN void tendon_state(const Context *ctx, const Gradient *g, const SapModelConstraint *b, BlockState *s) {
    const SapConstants *c = STAGE_CONSTANTS;
    int t = b->index;
    real h = STAGE_H, zero = real_of(0), w = *BLOCK(w, b), v = block_speed(ctx, g, b, 0), inf = real_infinity();
    for (int side = 0; side < 2; side++) {
        ErrorState e = error_state(BLOCK_LAW(b, 0, side ? SAP_TENDON_UPPER : SAP_TENDON_LOWER), v,
                                   field_get(c->tendon_limit_ke, t, ctx->pack),
                                   field_get(c->tendon_limit_kd, t, ctx->pack), w, h, inf);
        s->gamma[0] = s->gamma[0] + e.at.gamma;
        s->G[0] = s->G[0] + e.at.G;
        s->by_g[0] = s->by_g[0] + real_select(e.at.free, error_by_g(&e, h), zero);
        s->by_w[0] = s->by_w[0] + error_by_w(&e, w);
    }
    real k = field_get(c->tendon_spring_ke, t, ctx->pack), d = field_get(c->tendon_damping, t, ctx->pack);
    mask point = field_get(c->tendon_spring_lower, t, ctx->pack) == field_get(c->tendon_spring_upper, t, ctx->pack);
    real d1 = real_select(point, d, zero), d2 = real_select(point, zero, d);
    tendon_force_state(s, BLOCK_LAW(b, 0, SAP_TENDON_SPRING), v, k, d1, mask_all(), w, h, zero);
    tendon_force_state(s, BLOCK_LAW(b, 0, SAP_TENDON_SPRING_UPPER), v, k, d1, mask_all(), w, h, zero);
    tendon_force_state(s, BLOCK_LAW(b, 0, SAP_TENDON_DAMPER), v, zero, d2, mask_none(), w, h, zero);
    LawState friction = law_state(BLOCK_LAW(b, 0, SAP_TENDON_FRICTION), v);
    LawState inertia = law_state(BLOCK_LAW(b, 0, SAP_TENDON_ARMATURE), v);
    s->gamma[0] = s->gamma[0] + friction.gamma + inertia.gamma;
    s->G[0] = s->G[0] + friction.G + inertia.G;
    s->by_w[0] = s->by_w[0] + real_select(friction.free, -friction.gamma / w, zero);
    s->by_v0 = inertia.G;
    if (ctx->args->plan.tendon_driven[t]) {
        SapBuffer act = ctx->args->constraints.act;
        real u = act.data ? buffer_get(act, t, ctx->pack) : zero;
        tendon_force_state(s, BLOCK_LAW(b, 0, SAP_TENDON_DRIVE), v, field_get(c->tendon_target_ke, t, ctx->pack),
                           field_get(c->tendon_target_kd, t, ctx->pack), mask_all(), w, h, u);
    }
}

STAGE_FN BlockState block_state(const Context *ctx, const Gradient *g, const SapModelConstraint *b) {
    BlockState s;
    real zero = real_of(0);
    s.by_v0 = zero;
    for (int r = 0; r < BLOCK_MAX_ROWS; r++)
        s.gamma[r] = s.G[r] = s.by_g[r] = s.by_w[r] = zero;
    if (b->kind == SAP_BLOCK_TENDON) {
        tendon_state(ctx, g, b, &s);
        return s;
    }
    for (int r = 0; r < b->rows; r++) {
        ErrorState e = constraint_row_state(ctx, g, b, r);
        s.gamma[r] = e.at.gamma;
        s.G[r] = e.at.G;
        s.by_g[r] = real_select(e.at.free, error_by_g(&e, STAGE_H), zero);
        s.by_w[r] = error_by_w(&e, BLOCK(w, b)[r]);
    }
    return s;
}

/* ---- rates of rows ---- */

/* The rate of the velocity per unit of dof k of a point x of a body, which moves by dx when q_j does; O: of k's tree. */
KERNEL_FN Vec3 point_column_rate(const Context *ctx, int link, int k, int j, Vec3 x, Vec3 dx, Vec3 O) {
    Spatial S = dof_column(ctx, k);
    Vec3 rate = vec3_cross(S.ang, dx);
    if (link_has_dof(&ctx->args->plan, link, j) && dof_is_after(ctx, k, j))
        rate = vec3_add(rate, spatial_at(spatial_cross(dof_column(ctx, j), S), vec3_sub(x, O)));
    return rate;
}

/* The displacement of a point of a body by q_j. */
KERNEL_FN Vec3 point_moved(const Context *ctx, int link, int j, Vec3 x, Vec3 O) {
    if (!link_has_dof(&ctx->args->plan, link, j))
        return vec3_zero();
    return spatial_at(dof_column(ctx, j), vec3_sub(x, O));
}

/* The rate of dl/dv_k of tendon t when q_j moves. */
STAGE_FN real tendon_column_rate(const Context *ctx, int t, int k, int j) {
    const SapPlan *plan = &ctx->args->plan;
    int first = plan->tendon_start[t];
    real sum = real_of(0), share = real_of(1);
    for (int n = first; n < plan->tendon_start[t + 1]; n++) {
        if (plan->tendon_term[n].type == SAP_TENDON_PULLEY)
            share = K(1.0) / field_get(STAGE_CONSTANTS->tendon_term_value, 3 * n, ctx->pack);
        if (!tendon_has_segment(plan, first, n))
            continue;
        TendonSegment s = tendon_segment(ctx, n);
        bool moves0 = link_has_dof(plan, s.link[0], k), moves1 = link_has_dof(plan, s.link[1], k);
        if (moves0 == moves1)
            continue;
        int e = moves1;
        Vec3 O_j = dof_origin(ctx, j), O_k = dof_origin(ctx, k), dx[2];
        for (int i = 0; i < 2; i++)
            dx[i] = point_moved(ctx, s.link[i], j, s.x[i], O_j);
        Vec3 apart = vec3_sub(dx[1], dx[0]);
        real per = K(1.0) / real_select(s.length > K(0.0), s.length, real_of(1));
        Vec3 dn = vec3_scale(per, vec3_fma(-vec3_dot(s.n, apart), s.n, apart));
        Vec3 w = dof_velocity(ctx, k, vec3_sub(s.x[e], O_k));
        Vec3 dw = point_column_rate(ctx, s.link[e], k, j, s.x[e], dx[e], O_k);
        real rate = vec3_dot(dn, w) + vec3_dot(s.n, dw);
        sum = real_fma(moves1 ? share : -share, rate, sum);
    }
    return sum;
}

KERNEL_FN real coordinate_column_rate(const Context *ctx, int x, int k, int j) {
    int nv = ctx->args->plan.nv;
    return x < nv ? real_of(0) : tendon_column_rate(ctx, x - nv, k, j);
}

/* p'' of a coupler. */
KERNEL_FN real coupler_curvature(const Context *ctx, const SapModelConstraint *b, real x) {
    SapField c = STAGE_CONSTANTS->constraint_polynomial;
    real c2 = field_get(c, 5 * b->index + 2, ctx->pack), c3 = field_get(c, 5 * b->index + 3, ctx->pack);
    real c4 = field_get(c, 5 * b->index + 4, ctx->pack);
    return real_fma(real_fma(K(12.0) * c4, x, K(6.0) * c3), x, K(2.0) * c2);
}

/* The inverse of the left Jacobian of a rotation vector, times x. */
KERNEL_FN Vec3 rotation_vector_rate(Vec3 phi, Vec3 x) {
    real th2 = vec3_dot(phi, phi), th = real_sqrt(th2), s, c, one = real_of(1);
    real_sincos(K(0.5) * th, &s, &c);
    mask small = th < K(0.1);
    real series = real_fma(th2, real_fma(th2, real_of(K(3.306878306878307e-05)), real_of(K(1.388888888888889e-03))),
                           real_of(K(0.08333333333333333)));
    real by = real_select(small, one, th2), sine = real_select(small, one, s);
    real k = real_select(small, series, (one - K(0.5) * th * c / sine) / by);
    Vec3 px = vec3_cross(phi, x);
    return vec3_fma(k, vec3_cross(phi, px), vec3_fma(real_of(K(-0.5)), px, x));
}

/* Column k of dJ[rows] and the rates dg[rows] of the errors, when q_j moves. */
STAGE_FN void block_rates(const Context *ctx, const SapModelConstraint *b, const BlockFrames *f, int j, int m, real *dJ,
                          real *dg) {
    const SapPlan *plan = &ctx->args->plan;
    const int *dof = block_dofs(ctx, b);
    Vec3 O_j = vec3_sub(dof_origin(ctx, j), f->origin), dx[2];
    for (int r = 0; r < b->rows; r++)
        dg[r] = BLOCK(J, b)[b->rows * m + r];
    if (b->kind <= SAP_BLOCK_DISTANCE)
        for (int side = 0; side < 2; side++)
            dx[side] = point_moved(ctx, b->link[side], j, f->X[side].p, O_j);
    Vec3 along = vec3_zero(), n = along, dn = along, middle = along, moved = along;
    if (b->kind == SAP_BLOCK_DISTANCE) {
        along = vec3_sub(f->X[1].p, f->X[0].p);
        real d = real_sqrt(vec3_dot(along, along)), per = K(1.0) / real_select(d > K(0.0), d, real_of(1));
        Vec3 apart = vec3_sub(dx[1], dx[0]);
        n = vec3_scale(per, along);
        dn = vec3_scale(per, vec3_fma(-vec3_dot(n, apart), n, apart));
    }
    if (b->kind == SAP_BLOCK_WELD) {
        middle = vec3_scale(real_of(K(0.5)), vec3_add(f->X[0].p, f->X[1].p));
        moved = vec3_scale(real_of(K(0.5)), vec3_add(dx[0], dx[1]));
        Vec3 phi = vec3_load(BLOCK(g, b)), w = dof_column(ctx, j).ang, turn;
        bool second = link_has_dof(plan, b->link[1], j);
        turn = second ? rotation_vector_rate(phi, w) : rotation_vector_rate(vec3_scale(real_of(-1), phi), w);
        vec3_store(dg, second ? turn : vec3_scale(real_of(-1), turn));
        vec3_store(dg + 3, vec3_sub(dx[1], dx[0]));
    }
    real slope = real_of(0), bend = slope, by_j = slope;
    int x0 = b->coordinate[0], x1 = b->coordinate[1];
    if (b->kind == SAP_BLOCK_COUPLER && x1 >= 0) {
        real x =
            coordinate_value(ctx, x1) - field_get(STAGE_CONSTANTS->constraint_reference, 2 * b->index + 1, ctx->pack);
        coupler_polynomial(ctx, b, x, &slope);
        bend = coupler_curvature(ctx, b, x);
        by_j = coordinate_column(ctx, x1, j);
    }
    for (int c = 0; c < b->num_columns; c++) {
        int k = dof[c];
        real *out = dJ + b->rows * c;
        Vec3 O = vec3_sub(dof_origin(ctx, k), f->origin), rate = vec3_zero(), w = rate;
        bool on[2];
        for (int side = 0; side < 2; side++)
            on[side] = b->kind <= SAP_BLOCK_DISTANCE && link_has_dof(plan, b->link[side], k);
        for (int side = 0; side < 2; side++) {
            if (!on[side])
                continue;
            Vec3 x = b->kind == SAP_BLOCK_WELD ? middle : f->X[side].p,
                 d = b->kind == SAP_BLOCK_WELD ? moved : dx[side];
            real sign = real_of(side ? 1 : -1);
            rate = vec3_fma(sign, point_column_rate(ctx, b->link[side], k, j, x, d, O), rate);
            w = vec3_fma(sign, dof_velocity(ctx, k, vec3_sub(x, O)), w);
        }
        switch (b->kind) {
        case SAP_BLOCK_BALL: vec3_store(out, rate); break;
        case SAP_BLOCK_WELD: {
            int side = on[1];
            bool turns = link_has_dof(plan, b->link[side], j) && dof_is_after(ctx, k, j);
            Vec3 turn = vec3_zero();
            if (turns)
                turn = vec3_scale(real_of(side ? 1 : -1), vec3_cross(dof_column(ctx, j).ang, dof_column(ctx, k).ang));
            vec3_store(out, turn);
            vec3_store(out + 3, rate);
            break;
        }
        case SAP_BLOCK_DISTANCE: out[0] = vec3_dot(dn, w) + vec3_dot(n, rate); break;
        case SAP_BLOCK_COUPLER:
            out[0] = coordinate_column_rate(ctx, x0, k, j);
            if (x1 >= 0) {
                out[0] = out[0] - slope * coordinate_column_rate(ctx, x1, k, j);
                out[0] = out[0] - bend * by_j * coordinate_column(ctx, x1, k);
            }
            break;
        default: out[0] = tendon_column_rate(ctx, b->index, k, j); break;
        }
    }
}

/* ---- weights ---- */

/* Writes a_k = W J_k/(n^2 w A_kk) of rows first .. first + n - 1 to *a, which is as J, and dw/dA_kk. */
STAGE_FN void block_weight_rates(const Context *ctx, const SapModelConstraint *b, int first, int n, real *a,
                                 real *diagonal) {
    const SapPatternRow *row = ctx->args->plan.tree.row;
    real w = BLOCK(w, b)[first], W[BLOCK_MAX_ROWS][BLOCK_MAX_ROWS];
    for (int r = 0; r < n; r++)
        for (int s = 0; s <= r; s++)
            W[r][s] = W[s][r] = block_delassus(ctx, b, first + r, first + s);
    for (int k = 0; k < b->num_columns; k++) {
        const SapPatternRow *of = &row[block_dofs(ctx, b)[k]];
        const real *J = BLOCK(J, b) + b->rows * k + first;
        real A = FM(A)[of->start + of->depth], per = K(1.0) / (real_of((scalar)(n * n)) * w * A), sum = real_of(0);
        for (int r = 0; r < n; r++) {
            real x = real_of(0);
            for (int s = 0; s < n; s++)
                x = real_fma(W[r][s], J[s], x);
            a[b->rows * k + first + r] = per * x;
            sum = real_fma(per * x, J[r], sum);
        }
        diagonal[k] = -(sum / A);
    }
}

/* ---- a block ---- */

/* Column j, which is column m of the block. */
STAGE_FN void block_column(const Context *ctx, const Gradient *g, int number, const BlockState *s, const BlockFrames *f,
                           const real *a, int m) {
    const SapModelConstraint *b = &ctx->args->plan.block[number];
    const int *dof = block_dofs(ctx, b);
    int rows = b->rows, j = dof[m], parts = block_parts(ctx, b);
    real *dJ = GRAD(dJ), dg[BLOCK_MAX_ROWS], dgamma[BLOCK_MAX_ROWS], dw[2], zero = real_of(0);
    block_rates(ctx, b, f, j, m, dJ, dg);
    dw[0] = dw[1] = zero;
    for (int r = 0; r < rows; r++) {
        real u = zero, u0 = zero;
        int part = parts > 1 && r >= 3;
        for (int k = 0; k < b->num_columns; k++) {
            real x = dJ[rows * k + r];
            u = real_fma(x, GRAD(v)[dof[k]], u);
            u0 = real_fma(x, FM(v0)[dof[k]], u0);
            dw[part] = real_fma(K(2.0) * a[rows * k + r], x, dw[part]);
        }
        dgamma[r] = real_fma(s->by_g[r], dg[r], real_fma(-s->G[r], u, s->by_v0 * u0));
    }
    for (int r = 0; r < rows; r++)
        dgamma[r] = real_fma(s->by_w[r], dw[parts > 1 && r >= 3], dgamma[r]);
    real pull = zero;
    if (b->kind == SAP_BLOCK_TENDON && ctx->args->constraints.f.data)
        pull = STAGE_H * buffer_get(ctx->args->constraints.f, b->index, ctx->pack);
    for (int k = 0; k < b->num_columns; k++) {
        real x = zero;
        for (int r = 0; r < rows; r++) {
            x = real_fma(dJ[rows * k + r], s->gamma[r], x);
            x = real_fma(BLOCK(J, b)[rows * k + r], dgamma[r], x);
        }
        x = real_fma(pull, dJ[rows * k], x);
        G_Q(dof[k], j) = G_Q(dof[k], j) - x;
    }
}

STAGE_FN void gradient_block(const Context *ctx, const Gradient *g, int number) {
    const SapModelConstraint *b = &ctx->args->plan.block[number];
    const int *dof = block_dofs(ctx, b);
    int rows = b->rows, nv = ctx->args->plan.nv, parts = block_parts(ctx, b), n = b->num_columns;
    BlockState s = block_state(ctx, g, b);
    BlockFrames f;
    f.origin = vec3_zero();
    if (b->kind <= SAP_BLOCK_DISTANCE)
        f = block_frames(ctx, b);
    const real *J = BLOCK(J, b);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            real x = real_of(0);
            for (int r = 0; r < rows; r++)
                x = real_fma(s.G[r] * J[rows * i + r], J[rows * j + r], x);
            if (dof[j] <= dof[i])
                GRAD(H)[dof[i] * nv + dof[j]] = GRAD(H)[dof[i] * nv + dof[j]] + x;
            G_V(dof[i], dof[j]) = real_fma(-s.by_v0 * J[rows * i], J[rows * j], G_V(dof[i], dof[j]));
        }
    real *a = GRAD(dJ) + 6 * nv;
    for (int part = 0; part < parts; part++) {
        int first = 3 * part, count = parts > 1 ? 3 : rows;
        block_weight_rates(ctx, b, first, count, a, BLOCK_BY_DIAGONAL(number, part));
        for (int k = 0; k < n; k++) {
            real x = real_of(0);
            for (int r = first; r < first + count; r++)
                x = real_fma(J[rows * k + r], s.by_w[r], x);
            BLOCK_BY_W(number, part)[k] = x;
        }
    }
    for (int m = 0; m < n; m++)
        block_column(ctx, g, number, &s, &f, a, m);
    for (int part = 0; part < parts; part++) {
        real *rate = GRAD(dA);
        for (int j = 0; j < nv; j++)
            rate[j] = real_of(0);
        for (int k = 0; k < n; k++)
            diagonal_rates_add(ctx, g, dof[k], BLOCK_BY_DIAGONAL(number, part)[k], rate);
        for (int j = 0; j < nv; j++)
            for (int k = 0; k < n; k++)
                G_Q(dof[k], j) = real_fma(-rate[j], BLOCK_BY_W(number, part)[k], G_Q(dof[k], j));
    }
}
