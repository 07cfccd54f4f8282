/* The methods pgs and pgs_rows: projected Gauss-Seidel with over-relaxation (SOR). docs/dual.md#pgs.
 *
 *   pgs, block c:   g = (P x - q)_c;  y = Proj(x_c - g/L);  x_c = Proj(x_c + omega (y - x_c))
 *                   L: largest eigenvalue of P_cc, so that the cost never rises for omega <= 1
 *   pgs_rows:       x_n = max(x_n - omega g_n/P_nn, 0), then x_t -= omega g_t/P_tt row by row, scaled back to |x_t| <= x_n
 *
 * image = P x is updated by columns within a sweep, and computed afresh between sweeps. */

enum { PGS_L, PGS_OLD, PGS_WORK }; /* indices of Dual.work */

/* An upper bound of the largest eigenvalue of P_cc: Newton's method for the characteristic polynomial falls towards its
 * largest root from Gershgorin's bound and never passes it. */
KERNEL_FN real pgs_bound(const Dual *dual, int row) {
    const real *P = dual->P;
    real a = P[packed_at(row, row)], b = P[packed_at(row + 1, row + 1)], c = P[packed_at(row + 2, row + 2)];
    real d = P[packed_at(row + 1, row)], e = P[packed_at(row + 2, row)], f = P[packed_at(row + 2, row + 1)];
    real trace = a + b + c, minors = a * b + b * c + c * a - d * d - e * e - f * f;
    real det = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e);
    real row_1 = a + real_abs(d) + real_abs(e), row_2 = b + real_abs(d) + real_abs(f),
         row_3 = c + real_abs(e) + real_abs(f);
    real top = real_min(trace, real_max(row_1, real_max(row_2, row_3)));
    for (int k = 0; k < 12; k++) {
        real p = ((top - trace) * top + minors) * top - det, slope = (K(3.0) * top - K(2.0) * trace) * top + minors;
        mask falls = (p > K(0.0)) & (slope > K(0.0));
        top = real_select(falls, top - p / real_select(falls, slope, real_of(1)), top);
    }
    return real_max(top, real_max(a, real_max(b, c)));
}

/* The largest eigenvalue of every block. */
STAGE_FN void pgs_begin(Dual *dual) {
    TEAM_FOR(b, dual->blocks) {
        int row = dual_row(dual, b);
        real L = dual_is_cone(dual, b) ? pgs_bound(dual, row) : dual->P[packed_at(row, row)];
        dual->work[PGS_L][row] = real_select(L > K(0.0), L, real_of(1));
    }
    TEAM_FOR(i, dual->rows)
        dual->x[i] = dual->best[i];
    /* the barrier of the first candidate completes L and x */
}

/* The new x of block b, from the gradient g. */
KERNEL_FN Vec3 pgs_block(const Dual *dual, int b, Vec3 x, Vec3 g) {
    scalar omega = (scalar)dual->options->pgs_omega;
    int row = dual_row(dual, b);
    real inverse = K(1.0) / dual->work[PGS_L][row];
    if (!dual_is_cone(dual, b)) {
        real y = dual_clamp(dual, row, x.z - inverse * g.z);
        return vec3(x.x, x.y, omega == K(1.0) ? y : dual_clamp(dual, row, real_fma(real_of(omega), y - x.z, x.z)));
    }
    if (dual->coulomb)
        g = cone_lift(g);
    Vec3 y = cone_project(vec3_fma(-inverse, g, x));
    return omega == K(1.0) ? y : cone_project(vec3_fma(real_of(omega), vec3_sub(y, x), x));
}

KERNEL_FN real pgs_quotient(real g, real p) {
    mask moves = p > K(0.0);
    return real_select(moves, g / real_select(moves, p, real_of(1)), real_of(0));
}

/* The same row by row: the normal, then both tangents, then the disc of radius x_n. */
KERNEL_FN Vec3 pgs_rows_block(const Dual *dual, int b, Vec3 x, Vec3 g) {
    const real *P = dual->P;
    scalar omega = (scalar)dual->options->pgs_omega;
    int row = dual_row(dual, b);
    if (!dual_is_cone(dual, b))
        return pgs_block(dual, b, x, g);
    Vec3 y = x;
    y.z = real_max(x.z - omega * pgs_quotient(g.z, P[packed_at(row + 2, row + 2)]), real_of(0));
    g.x = real_fma(P[packed_at(row + 2, row)], y.z - x.z, g.x);
    g.y = real_fma(P[packed_at(row + 2, row + 1)], y.z - x.z, g.y);
    y.x = x.x - omega * pgs_quotient(g.x, P[packed_at(row, row)]);
    g.y = real_fma(P[packed_at(row + 1, row)], y.x - x.x, g.y);
    y.y = x.y - omega * pgs_quotient(g.y, P[packed_at(row + 1, row + 1)]);
    real length = tangent_length(y);
    mask outside = length > y.z;
    real shrink = real_select(outside, y.z / real_select(outside, length, real_of(1)), real_of(1));
    return vec3(shrink * y.x, shrink * y.y, y.z);
}

/* One sweep over all blocks in the lanes of `open`. */
STAGE_FN void pgs_sweep(Dual *dual, mask open) {
    int by_rows = DUAL_METHOD(dual) == SAP_DUAL_PGS_ROWS;
    for (int b = 0; b < dual->blocks; b++) {
        /* every thread computes the change */
        int row = dual_row(dual, b), rows = dual_is_cone(dual, b) ? 3 : 1;
        Vec3 x = block_load(dual, b, dual->x);
        Vec3 g = vec3_sub(block_load(dual, b, dual->image), block_load(dual, b, dual->q));
        Vec3 y = by_rows ? pgs_rows_block(dual, b, x, g) : pgs_block(dual, b, x, g);
        y = vec3_select(open, y, x);
        TEAM_SYNC(); /* every thread has read x and the image of the block */
        TEAM_ONCE()
            block_store(dual, b, dual->x, y);
        /* P x follows */
        Vec3 change = vec3_sub(y, x);
        TEAM_FOR(i, dual->rows) {
            real s = dual->image[i];
            if (rows == 3) {
                s = real_fma(dual->P[packed_at(i, row)], change.x, s);
                s = real_fma(dual->P[packed_at(i, row + 1)], change.y, s);
            }
            dual->image[i] = real_fma(dual->P[packed_at(i, row + rows - 1)], change.z, s);
        }
        TEAM_SYNC(); /* the next block reads its image */
    }
}

/* |x - old| <= tolerance |x|: what pgs_rows stops by. */
KERNEL_FN mask pgs_settled(const Dual *dual) {
    real moved = real_of(0);
    for (int i = 0; i < dual->rows; i++) {
        real change = dual->x[i] - dual->work[PGS_OLD][i];
        moved = real_fma(change, change, moved);
    }
    return moved <= dual->tolerance * dual->tolerance * dual_square(dual, dual->x);
}

/* Sweeps in the lanes of `which` until the residual is small, or for pgs_rows until x settles. */
STAGE_FN void pgs_run(Dual *dual, mask which) {
    int by_rows = DUAL_METHOD(dual) == SAP_DUAL_PGS_ROWS, limit = dual_limit(dual, 50);
    mask open = which;
    pgs_begin(dual);
    for (int k = 0;; k++) {
        /* the residual, and what is done; pgs_rows has no optimum, so its last point is the answer */
        TEAM_FOR(i, dual->rows)
            dual->point[i] = dual->x[i];
        TEAM_SYNC(); /* the product reads point */
        mask settled = open & (by_rows && k > 0 ? pgs_settled(dual) : mask_none());
        if (by_rows)
            dual->residual = real_select(open, real_of(K(1.0)) / real_of(0), dual->residual);
        dual_offer(dual, open);
        mask optimal = open & (dual->residual <= dual->tolerance);
        dual->optimal = dual->optimal | optimal;
        dual->settled = dual->settled | (settled & mask_not(optimal));
        open = open & mask_not(optimal | settled);
        if (k == limit || !mask_any(open))
            break;
        TEAM_FOR(i, dual->rows)
            dual->work[PGS_OLD][i] = dual->x[i];
        pgs_sweep(dual, open);
        dual->iterations = dual->iterations + real_select(open, real_of(1), real_of(0));
    }
    dual->limit = dual->limit | open;
}

/* Coulomb's law by the same sweeps; worlds that do not converge keep the convex solution. */
STAGE_FN void pgs_solve(Dual *dual) {
    dual->coulomb = dual->options->friction_law == SAP_FRICTION_COULOMB;
    if (dual->coulomb) {
        dual_start(dual); /* the residual of Coulomb's law */
        pgs_run(dual, mask_all());
        dual->coulomb = 0;
        dual->not_coulomb = mask_not(dual->optimal | dual->settled);
        if (!mask_any(dual->not_coulomb))
            return;
        dual_reopen(dual, dual->not_coulomb);
        dual_forget(dual, dual->not_coulomb);
        pgs_run(dual, dual->not_coulomb);
        return;
    }
    pgs_run(dual, mask_all());
}
