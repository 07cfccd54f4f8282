/* The derivatives of J' gamma of contacts with respect to q and v0, subtracted from the columns of g. docs/gradients.md.
 *
 *   d(J' gamma) = (dJ)' gamma + J' dgamma
 *   dgamma = -G (dJ v) + gamma_vhat dvhat + gamma_w dw        dvhat = -dphi0/(h + tau)
 *
 * A contact frame that follows n by the rotation n x dn gives the same impulse as any other, since the law has no
 * direction in the plane. */

/* A contact at the v of the end. */
typedef struct ContactState {
    Mat3 C;
    Vec3 y[2], u, p;     /* velocity points; relative velocity and impulse in the world */
    Vec3 gamma, by_vhat; /* impulse, and its derivatives */
    Vec3 by_Rt, by_Rn, by_mu, by_w;
    real G[6], near_rigid; /* 1: the bound holds, else 0 */
    real share;            /* of x0 in the velocity points; 1, 0 without midpoint */
} ContactState;

KERNEL_FN real contact_share_0(const Context *ctx, int c) {
    const int *shape = SLOT_SETUP_INTS(shape, c);
    Vec3 one = vec3(real_of(1), real_of(0), real_of(0));
    return contact_midpoint(ctx, shape, one, vec3_zero()).x;
}

/* The derivatives of the impulse in its region. */
KERNEL_FN void contact_law_rates(const ContactLaw *law, const ContactTrial *s, ContactState *at) {
    real zero = real_of(0), g_n = at->gamma.z, eps2 = real_of(SOFT_IMPULSE * SOFT_IMPULSE);
    real R_t = K(1.0) / real_select(law->inv_R_t > zero, law->inv_R_t, real_of(1));
    mask normal = s->stick | s->normal_only;
    /* R_n */
    real n_Rn =
        real_select(normal, -(s->y.z * law->inv_R_n), real_select(s->slide, -(law->f * g_n * law->inv_R_n), zero));
    real t_Rn = real_select(s->slide, law->mu * n_Rn, zero);
    at->by_Rn = vec3(t_Rn * s->t_x, t_Rn * s->t_y, n_Rn);
    /* R_t */
    real soft = eps2 * s->inv_y_r * law->inv_R_t;
    real n_Rt = real_select(s->slide, law->f * (law->mu_hat * soft - law->mu * law->mu * g_n * law->inv_R_n), zero);
    real t_Rt = real_fma(law->mu, n_Rt, -(law->mu * g_n * soft * s->inv_y_r));
    at->by_Rt.x = real_select(s->stick, -(s->y.x * law->inv_R_t), real_select(s->slide, t_Rt * s->t_x, zero));
    at->by_Rt.y = real_select(s->stick, -(s->y.y * law->inv_R_t), real_select(s->slide, t_Rt * s->t_y, zero));
    at->by_Rt.z = n_Rt;
    /* mu */
    real n_mu = real_select(s->slide, law->f * (R_t * s->y_r * law->inv_R_n - K(2.0) * law->mu_hat * g_n), zero);
    real t_mu = real_select(s->slide, real_fma(law->mu, n_mu, g_n), zero);
    at->by_mu = vec3(t_mu * s->t_x, t_mu * s->t_y, n_mu);
    at->by_vhat = vec3(at->G[4], at->G[5], at->G[2]);
}

/* Lowers the margin: the relative distance of the contact from the edges of its region. */
KERNEL_FN void contact_margin(const Gradient *g, const ContactLaw *law, const ContactTrial *s, mask valid) {
    real tiny = real_of(K(1e-300));
    real edge = law->mu * s->y.z, a = real_abs(s->y_r - edge) / real_max(real_max(s->y_r, edge), tiny);
    real low = law->mu_hat * s->y_r;
    real b = real_abs(s->y.z + low) / real_max(real_abs(s->y.z) + low, tiny);
    real least = real_select(law->mu <= FRICTIONLESS, real_of(1), real_min(a, b));
    real *margin = GRAD(margin);
    *margin = real_select(valid, real_min(*margin, least), *margin);
}

STAGE_FN ContactState contact_state(const Context *ctx, const Gradient *g, int c) {
    ContactState at;
    Constraint k = constraint_at(ctx, c);
    ContactLaw law = *(const ContactLaw *)SLOT(law, c);
    Vec3 vc = constraint_J_mul(&k, GRAD(v));
    ContactTrial trial = sap_contact_trial(&law, vc);
    const SapContactArgs *args = &ctx->args->contacts;
    mask valid = *SLOT_SETUP(valid, c) != K(0.0);
    contact_margin(g, &law, &trial, valid);
    at.gamma = sap_contact_impulse(&law, &trial);
    sap_contact_hessian(&law, &trial, at.G);
    contact_law_rates(&law, &trial, &at);
    at.C = mat3_load(SLOT_SETUP(frame, c));
    at.u = mat3_mul(at.C, vc);
    at.p = mat3_mul(at.C, at.gamma);
    Vec3 x0 = vec3_load(SLOT_SETUP(x0, c)), x1 = vec3_load(SLOT_SETUP(x1, c));
    at.y[0] = x0;
    at.y[1] = x1;
    at.share = real_of(1);
    if (args->midpoint) {
        at.share = contact_share_0(ctx, c);
        at.y[0] = at.y[1] = contact_midpoint(ctx, SLOT_SETUP_INTS(shape, c), x0, x1);
    }
    real *pair = SLOT_SETUP(pair, c), h = STAGE_H, beta = real_of((scalar)args->beta);
    real bound = beta * beta * K(0.025330295910584444) * *SLOT_SETUP(w, c);
    mask near = bound >= K(1.0) / (h * pair[1] * (h + pair[2]));
    at.near_rigid = real_select(valid & near, real_of(1), real_of(0));
    real by_n = at.near_rigid * beta * beta * K(0.025330295910584444);
    at.by_w = vec3_fma(real_of((scalar)args->sigma), at.by_Rt, vec3_scale(by_n, at.by_Rn));
    return at;
}

/* Parts of what weights do to contact c: J' gamma_w, and dw/dA_kk, of each column. */
#define CONTACT_BY_W(c)        (GRAD(contact) + (c)*2 * ctx->args->slot_ints.max_columns)
#define CONTACT_BY_DIAGONAL(c) (CONTACT_BY_W(c) + ctx->args->slot_ints.max_columns)

/* diag_delassus: w = |W|_F/3, so dw = 2 sum_k a_k.dJ_k - sum_k (a_k.J_k) dA_kk/A_kk, a_k = W J_k/(9 w A_kk). a_k in
 * the world. */
STAGE_FN void contact_weight_rates(const Context *ctx, const Gradient *g, int c, const ContactState *at) {
    int n = *SLOT_SHORTS(num_dofs, c);
    const SapDofIndex *dof = SLOT_SHORTS(dof, c);
    const real *J = SLOT_J(c);
    real W[6], w = *SLOT_SETUP(w, c);
    for (int i = 0; i < 6; i++)
        W[i] = real_of(0);
    for (int k = 0; k < n; k++) {
        real A = FM(A)[ctx->args->plan.tree.row[dof[k]].start + ctx->args->plan.tree.row[dof[k]].depth];
        Vec3 x = vec3_load(J + 3 * k), y = vec3_scale(K(1.0) / A, x);
        W[0] = real_fma(x.x, y.x, W[0]);
        W[1] = real_fma(x.y, y.y, W[1]);
        W[2] = real_fma(x.z, y.z, W[2]);
        W[3] = real_fma(x.x, y.y, W[3]);
        W[4] = real_fma(x.x, y.z, W[4]);
        W[5] = real_fma(x.y, y.z, W[5]);
    }
    for (int k = 0; k < n; k++) {
        real A = FM(A)[ctx->args->plan.tree.row[dof[k]].start + ctx->args->plan.tree.row[dof[k]].depth];
        Vec3 x = vec3_load(J + 3 * k), a = vec3_scale(K(1.0) / (K(9.0) * w * A), law_G_mul(W, x));
        vec3_store(GRAD(weight) + 3 * k, mat3_mul(at->C, a));
        CONTACT_BY_DIAGONAL(c)[k] = real_select(*SLOT_SETUP(valid, c) != K(0.0), -(vec3_dot(a, x) / A), real_of(0));
    }
}

/* body_inertia: the rate of the part of body b, whose witness x moves by dx and whose point there by `own`. */
STAGE_FN real body_weight_rate(const Context *ctx, int link, Vec3 x, Vec3 dx, Vec3 own) {
    const SapConstants *k = STAGE_CONSTANTS;
    Pose X = body_pose(ctx, link);
    Quat inverse = quat_conjugate(X.q);
    Vec3 com = field_get_vec3(k->com, 3 * link, ctx->pack), I = field_get_vec3(k->inertia, 6 * link, ctx->pack);
    Vec3 r = vec3_sub(quat_rotate(inverse, vec3_sub(x, X.p)), com), dr = quat_rotate(inverse, vec3_sub(dx, own));
    real dot = vec3_dot(r, dr);
    return K(2.0 / 3.0) * ((dot - r.x * dr.x) / I.x + (dot - r.y * dr.y) / I.y + (dot - r.z * dr.z) / I.z);
}

/* The rate of column k of J, in the world, when q_j moves: turn is the rotation n x dn, dy the rates of the points. */
KERNEL_FN Vec3 contact_column_rate(const Context *ctx, int k, int path_k, int j, int path_j, const ContactState *at,
                                   const Vec3 dy[2], Vec3 turn) {
    Vec3 rate = vec3_zero(), O = dof_origin(ctx, k);
    Spatial S = dof_column(ctx, k);
    for (int b = 0; b < 2; b++) {
        if (!(path_k >> b & 1))
            continue;
        Vec3 y = vec3_sub(at->y[b], O), x = vec3_sub(vec3_cross(S.ang, dy[b]), vec3_cross(turn, spatial_at(S, y)));
        if ((path_j >> b & 1) && dof_is_after(ctx, k, j))
            x = vec3_add(x, spatial_at(spatial_cross(dof_column(ctx, j), S), y));
        rate = b ? vec3_add(rate, x) : vec3_sub(rate, x);
    }
    return rate;
}

/* Column j of contact c: dof j is its column number m. */
STAGE_FN void contact_column(const Context *ctx, const Gradient *g, int c, int m, const ContactState *at) {
    const SapContactArgs *args = &ctx->args->contacts;
    const SapDofIndex *dof = SLOT_SHORTS(dof, c);
    const int *path = SLOT_SETUP_INTS(path, c), *link = SLOT_SETUP_INTS(link, c);
    int n = *SLOT_SHORTS(num_dofs, c), j = dof[m];
    real h = STAGE_H, zero = real_of(0);
    Spatial S_j = dof_column(ctx, j), D[2], none = spatial_zero();
    Vec3 O = dof_origin(ctx, j);
    for (int b = 0; b < 2; b++)
        D[b] = path[m] >> b & 1 ? S_j : none;
    FeatureRates r = feature_rates(ctx, g, c, D[0], D[1], O);
    Vec3 dy[2] = {r.x0, r.x1}, turn = vec3_cross(vec3_load(SLOT_SETUP(frame, c) + 6), r.n);
    if (args->midpoint)
        dy[0] = dy[1] = vec3_fma(K(1.0) - at->share, r.x1, vec3_scale(at->share, r.x0));
    /* dJ v in the world */
    Vec3 du = vec3_scale(real_of(-1), vec3_cross(turn, at->u));
    for (int b = 0; b < 2; b++) {
        if (link[b] < 0)
            continue;
        Spatial V = spatial_load(GRAD(Ve) + 6 * link[b]);
        Vec3 x = vec3_cross(V.ang, dy[b]);
        if (path[m] >> b & 1) {
            Spatial rate = spatial_cross(S_j, spatial_sub(V, spatial_load(GRAD(Pe) + 6 * j)));
            x = vec3_add(x, spatial_at(rate, vec3_sub(at->y[b], O)));
        }
        du = b ? vec3_add(du, x) : vec3_sub(du, x);
    }
    /* dw */
    real dw = zero;
    if (args->diag_delassus) {
        for (int k = 0; k < n; k++) {
            Vec3 rate = contact_column_rate(ctx, dof[k], path[k], j, path[m], at, dy, turn);
            dw = real_fma(real_of(2), vec3_dot(vec3_load(GRAD(weight) + 3 * k), rate), dw);
        }
    } else {
        const Vec3 x[2] = {vec3_load(SLOT_SETUP(x0, c)), vec3_load(SLOT_SETUP(x1, c))}, dx[2] = {r.x0, r.x1};
        for (int b = 0; b < 2; b++)
            if (link[b] >= 0)
                dw = dw + body_weight_rate(ctx, link[b], x[b], dx[b], spatial_at(D[b], vec3_sub(x[b], O)));
    }
    /* dgamma, and the wrench of the change */
    real dvhat = -r.phi / (h + SLOT_SETUP(pair, c)[2]);
    Vec3 dgamma = law_G_mul(at->G, mat3_mul_transposed(at->C, du));
    dgamma = vec3_sub(vec3_fma(dvhat, at->by_vhat, vec3_scale(dw, at->by_w)), dgamma);
    Vec3 z = vec3_cross_add(turn, at->p, mat3_mul(at->C, dgamma));
    mask valid = *SLOT_SETUP(valid, c) != K(0.0);
    z = vec3_select(valid, z, vec3_zero());
    Vec3 p = vec3_select(valid, at->p, vec3_zero());
    for (int b = 0; b < 2; b++) {
        if (link[b] < 0)
            continue;
        Vec3 y = vec3_sub(at->y[b], tree_origin(ctx, link[b]));
        Vec3 dy_b = vec3_select(valid, dy[b], vec3_zero());
        Spatial Z = spatial(vec3_add(vec3_cross(dy_b, p), vec3_cross(y, z)), z), after = Z;
        bool moves = path[m] >> b & 1;
        if (moves)
            after = spatial_sub(Z, spatial_cross_force(S_j, spatial(vec3_cross(y, p), p)));
        for (int k = 0; k < n; k++) {
            if (!(path[k] >> b & 1))
                continue;
            bool turns = moves && dof_is_after(ctx, dof[k], j);
            real x = spatial_dot(dof_column(ctx, dof[k]), turns ? after : Z);
            G_Q(dof[k], j) = b ? G_Q(dof[k], j) - x : G_Q(dof[k], j) + x;
        }
    }
}

/* Subtracts J' gamma_w dw for the dw that A_kk cause, which rate[nv] of each dof's diagonal entry gives. */
STAGE_FN void contact_columns_of_diagonal(const Context *ctx, const Gradient *g, int c) {
    const SapDofIndex *dof = SLOT_SHORTS(dof, c);
    int n = *SLOT_SHORTS(num_dofs, c), nv = ctx->args->plan.nv;
    real *rate = GRAD(dA);
    for (int j = 0; j < nv; j++)
        rate[j] = real_of(0);
    for (int k = 0; k < n; k++)
        diagonal_rates_add(ctx, g, dof[k], CONTACT_BY_DIAGONAL(c)[k], rate);
    for (int j = 0; j < nv; j++)
        for (int k = 0; k < n; k++)
            G_Q(dof[k], j) = real_fma(-rate[j], CONTACT_BY_W(c)[k], G_Q(dof[k], j));
}

/* Adds J' G J of contact c to H. */
KERNEL_FN void contact_add_hessian(const Context *ctx, const Gradient *g, int c, const ContactState *at) {
    const SapDofIndex *dof = SLOT_SHORTS(dof, c);
    const real *J = SLOT_J(c);
    int n = *SLOT_SHORTS(num_dofs, c), nv = ctx->args->plan.nv;
    for (int a = 0; a < n; a++) {
        Vec3 GJ = law_G_mul(at->G, vec3_load(J + 3 * a));
        for (int b = 0; b <= a; b++) {
            real *H = GRAD(H) + dof[a] * nv + dof[b];
            *H = *H + vec3_dot(GJ, vec3_load(J + 3 * b));
        }
    }
}

/* Marks worlds with a contact whose points have no class. */
STAGE_FN void gradient_note_frozen(const Context *ctx, const Gradient *g, mask frozen) {
    FOR_LANES(l) {
        if (l < ctx->pack->count && mask_lane(frozen, l))
            g->args->status[ctx->pack->world[l]] |= SAP_GRADIENT_FROZEN;
    }
}

STAGE_FN void gradient_contact(const Context *ctx, const Gradient *g, int c) {
    int n = *SLOT_SHORTS(num_dofs, c);
    contact_feature_find(ctx, g, c);
    ContactState at = contact_state(ctx, g, c);
    mask valid = *SLOT_SETUP(valid, c) != K(0.0);
    for (int k = 0; k < n; k++) {
        CONTACT_BY_W(c)[k] = real_select(valid, vec3_dot(vec3_load(SLOT_J(c) + 3 * k), at.by_w), real_of(0));
        CONTACT_BY_DIAGONAL(c)[k] = real_of(0);
    }
    contact_add_hessian(ctx, g, c, &at);
    if (ctx->args->contacts.diag_delassus)
        contact_weight_rates(ctx, g, c, &at);
    for (int m = 0; m < n; m++)
        contact_column(ctx, g, c, m, &at);
    if (ctx->args->contacts.diag_delassus)
        contact_columns_of_diagonal(ctx, g, c);
    gradient_note_frozen(ctx, g, valid & (*FEATURE(FEATURE_KIND, c) == (scalar)FEATURE_FROZEN));
}

STAGE_FN void gradient_contacts(const Context *ctx, const Gradient *g) {
    for (int c = 0; c < ctx->num_slots; c++)
        if (*SLOT_SHORTS(num_dofs, c) > 0)
            gradient_contact(ctx, g, c);
}
