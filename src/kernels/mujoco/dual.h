/* MuJoCo's law in impulses, one term at a time: a row of a block, or a contact. The updates of projected Gauss-Seidel
 * (mujoco/pgs.h), which changes one term's impulses and keeps all others. docs/mujoco.md.
 *
 *   minimise  1/2 gamma'(W + R) gamma - gamma'(uref - u*)      W = J A^-1 J', u* = J v*
 *   row       gamma += -res/(W + R), clamped,  res = u - uref + R gamma,  u = J v
 *   pyramid   its edges one after the other, as rows
 *   elliptic  z = (gamma_j/mu_j, gamma_n): steps z - grad/w with w above the largest curvature, projected on |z_t| <= z_n
 *
 * Velocities within a term follow its own impulses by W. Impulses are in memory of the term that evaluations
 * overwrite. */

/* What an update does to a term in the worlds of `open`. */
typedef struct DualChange {
    mask open;
    real gain; /* decrease of the dual cost, summed up */
} DualChange;

/* The change of an impulse in one direction with curvature `H` and gradient `res`. */
KERNEL_FN real dual_step(DualChange *to, real gamma, real H, real res, real lower, real upper, mask exists) {
    mask moves = to->open & exists;
    real next = real_min(real_max(gamma - res / real_select(moves, H, real_of(1)), lower), upper);
    real delta = real_select(moves, next - gamma, real_of(0));
    to->gain = to->gain - delta * real_fma(K(0.5) * H, delta, res);
    return delta;
}

/* ---- rows of blocks ---- */

/* The impulses of the laws of row r: of an equality its gamma, of a coordinate those of its three laws. */
KERNEL_FN real *dual_row_impulse(const Context *ctx, const SapModelConstraint *b, int r) {
    return b->laws == 1 ? BLOCK(gamma, b) + r : BLOCK(line, b);
}

/* x = J_r' times `impulse`, 0 elsewhere. */
STAGE_FN void dual_spread_row(const Context *ctx, const SapModelConstraint *b, int r, real impulse, real *x) {
    TEAM_FOR(i, ctx->args->plan.nv)
        x[i] = real_of(0);
    TEAM_SYNC(); /* columns are written over zeros of other threads */
    TEAM_FOR(j, b->num_columns)
        x[block_dofs(ctx, b)[j]] = BLOCK(J, b)[b->rows * j + r] * impulse;
    TEAM_SYNC(); /* the product with A^-1 reads all of x */
}

/* Updates row r; x becomes J' times the change. */
STAGE_FN void dual_update_row(const Context *ctx, const SapModelConstraint *b, int r, DualChange *to, real *x) {
    real u = block_J_mul(ctx, b, r, SOLVE(v)), W = BLOCK(G, b)[r], sum = real_of(0), next[SAP_MUJOCO_LAWS];
    real *gamma = dual_row_impulse(ctx, b, r);
    for (int i = 0; i < b->laws; i++) {
        const RowLaw *law = BLOCK_LAW(b, r, i);
        real res = real_fma(law->R, gamma[i], u - law->vhat);
        real delta = dual_step(to, gamma[i], W + law->R, res, law->lower, law->upper, row_law_acts(law));
        u = real_fma(W, delta, u);
        sum = sum + delta;
        next[i] = gamma[i] + delta;
    }
    TEAM_SYNC(); /* all threads have read the impulses */
    TEAM_ONCE() {
        for (int i = 0; i < b->laws; i++)
            gamma[i] = next[i];
    }
    dual_spread_row(ctx, b, r, sum, x);
}

/* ---- contacts ---- */

/* Impulses of a contact: edges of its pyramid and, behind them, the normal of condim 1; or z of an elliptic cone. They
 * are in vc and gamma, which follow each other and have room for 2 (rows - 1) edges and one more. */
KERNEL_FN real *dual_impulse(const Context *ctx, int c) {
    return SLOT(vc, c);
}

/* The entry of rows i and k in W, which is stored as G is (mujoco/contact_law.h). */
KERNEL_FN int dual_entry(int i, int k) {
    const int square[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    return i < 3 && k < 3 ? square[3 * i + k]
           : i < 3        ? 6 + 3 * i + k - 3
           : k < 3        ? 6 + 3 * k + i - 3
                          : 15 + square[3 * (i - 3) + k - 3];
}

/* Direction k of friction: its row, and its place among the rows. */
KERNEL_FN int dual_direction(int k) {
    return k < 2 ? k : k + 1;
}

/* x = J' gamma, gamma [rows], 0 elsewhere. */
STAGE_FN void dual_spread(const Context *ctx, int c, const real *gamma, real *x) {
    StageView J = SLOT_J_VIEW(c);
    int rows = CONTACT_ROWS;
    TEAM_FOR(i, ctx->args->plan.nv)
        x[i] = real_of(0);
    TEAM_SYNC(); /* as for rows */
    TEAM_FOR(j, *SLOT_SHORTS(num_dofs, c)) {
        real s = real_of(0);
        for (int r = 0; r < rows; r++)
            s = real_fma(view_get(J, rows * j + r), gamma[r], s);
        x[SLOT_SHORTS(dof, c)[j]] = s;
    }
    TEAM_SYNC(); /* as for rows */
}

/* A contact at work: velocities that follow its impulses, and the sum of the changes. */
typedef struct DualContact {
    const MujocoContact *law;
    const real *W;
    int rows;
    real u[6], change[6];
} DualContact;

/* Adds `delta` times the direction n + mu k, or n alone (k < 0). */
KERNEL_FN void dual_add_edge(DualContact *at, int k, real mu, real delta) {
    for (int i = 0; i < at->rows; i++) {
        real w = at->W[dual_entry(i, 2)];
        if (k >= 0)
            w = real_fma(mu, at->W[dual_entry(i, k)], w);
        at->u[i] = real_fma(w, delta, at->u[i]);
    }
    at->change[2] = at->change[2] + delta;
    if (k >= 0)
        at->change[k] = real_fma(mu, delta, at->change[k]);
}

/* The edges of a pyramid, or the normal of condim 1. */
STAGE_FN void dual_update_pyramid(DualContact *at, DualChange *to, const real *gamma, real *next) {
    const MujocoContact *law = at->law;
    real zero = real_of(0), one = real_of(1), inf = real_infinity(), W_n = at->W[dual_entry(2, 2)];
    int edges = 2 * (at->rows - 1);
    for (int e = 0; e < edges; e++) {
        int k = dual_direction(e / 2);
        real mu = e % 2 ? -law->mu[e / 2] : law->mu[e / 2];
        mask exists = (law->inv_edge > zero) & (law->mu[e / 2] > zero);
        real R = one / real_select(exists, law->inv_edge, one), W_k = at->W[dual_entry(k, k)];
        real H = real_fma(mu, real_fma(mu, W_k, K(2.0) * at->W[dual_entry(2, k)]), W_n) + R;
        real res = real_fma(mu, at->u[k] - law->uref[k], at->u[2] - law->uref[2]);
        real delta = dual_step(to, gamma[e], H, real_fma(R, gamma[e], res), zero, inf, exists);
        dual_add_edge(at, k, mu, delta);
        next[e] = gamma[e] + delta;
    }
    mask smooth = law->inv_R_n > zero;
    real res = real_fma(law->R_n, gamma[edges], at->u[2] - law->uref[2]);
    real delta = dual_step(to, gamma[edges], W_n + law->R_n, res, zero, inf, smooth);
    dual_add_edge(at, -1, zero, delta);
    next[edges] = gamma[edges] + delta;
}

/* One step of z, projected on the cone. */
KERNEL_FN void dual_elliptic_step(DualContact *at, DualChange *to, const real *s, real w, real *z) {
    const MujocoContact *law = at->law;
    real zero = real_of(0), squares = zero, g[6], next[6], delta[6];
    next[2] = zero; /* a contact has three rows or more, which gcc does not see */
    for (int i = 0; i < at->rows; i++) {
        g[i] = real_fma(i == 2 ? law->R_n : law->rho, z[i], s[i] * (at->u[i] - law->uref[i]));
        next[i] = z[i] - g[i] / w;
        squares = i == 2 ? squares : real_fma(next[i], next[i], squares);
    }
    real t = real_sqrt(squares), n = next[2], mean = K(0.5) * (n + t);
    mask inside = t <= n, polar = t <= -n;
    real share = real_select(inside, real_of(1), real_select(polar, zero, mean / real_select(t > zero, t, real_of(1))));
    for (int i = 0; i < at->rows; i++) {
        real put = i == 2 ? real_select(inside, n, real_select(polar, zero, mean)) : share * next[i];
        delta[i] = real_select(to->open, put - z[i], zero);
        z[i] = z[i] + delta[i];
        at->change[i] = real_fma(s[i], delta[i], at->change[i]);
    }
    for (int i = 0; i < at->rows; i++) {
        real du = zero, R = i == 2 ? law->R_n : law->rho;
        for (int k = 0; k < at->rows; k++)
            du = real_fma(at->W[dual_entry(i, k)] * s[k], delta[k], du);
        at->u[i] = at->u[i] + du;
        to->gain = to->gain - delta[i] * real_fma(real_of(K(0.5)), real_fma(R, delta[i], s[i] * du), g[i]);
    }
}

STAGE_FN void dual_update_elliptic(DualContact *at, DualChange *to, const real *gamma, real *z) {
    enum { STEPS = 8 };
    const MujocoContact *law = at->law;
    real s[6], w = real_max(law->R_n, law->rho);
    for (int i = 0; i < at->rows; i++) {
        s[i] = i == 2 ? real_of(1) : law->mu[i < 2 ? i : i - 1];
        w = real_fma(s[i] * s[i], at->W[dual_entry(i, i)], w);
        z[i] = gamma[i];
    }
    w = real_select(w > K(0.0), w, real_of(1)); /* no contact */
    for (int k = 0; k < STEPS; k++)
        dual_elliptic_step(at, to, s, w, z);
}

/* Updates contact c; x becomes J' times the change. */
STAGE_FN void dual_update(const Context *ctx, int c, DualChange *to, real *x) {
    DualContact at;
    Constraint k = constraint_at(ctx, c);
    Six u = constraint_J_mul(&k, SOLVE(v));
    real *gamma = dual_impulse(ctx, c), next[12];
    int count = MUJOCO->elliptic ? k.rows : 2 * k.rows - 1;
    at.law = (const MujocoContact *)SLOT(law, c);
    at.W = SLOT(G, c);
    at.rows = k.rows;
    six_store(at.u, &u, true);
    for (int i = 0; i < 6; i++)
        at.change[i] = real_of(0);
    if (MUJOCO->elliptic)
        dual_update_elliptic(&at, to, gamma, next);
    else
        dual_update_pyramid(&at, to, gamma, next);
    TEAM_SYNC(); /* all threads have read the impulses */
    TEAM_ONCE() {
        for (int i = 0; i < count; i++) /* other worlds keep their velocities there */
            gamma[i] = real_select(to->open, next[i], gamma[i]);
    }
    dual_spread(ctx, c, at.change, x);
}
