/* Coulomb's law on top of the cone problem: a fixed point with Aitken's factor. docs/dual.md#coulombs-law.
 *
 * The cone problem with q_n - s_c for q_n, s_c = |(P x - q)_t| at its own solution x, has a solution that does not part
 * while it slides: its z_n + s_c belongs to the given q. So
 *
 *   solve with s;   e = |(P x - q)_t| - s;   s += omega e,   omega by Aitken from the last two e, in [0.1, 1.5]. */

enum { SLIP, SLIP_ERROR, SLIP_Q };

/* q_n = given - s in the lanes of `which`, and the given q in the others. */
STAGE_FN void coulomb_shift(Dual *dual, mask which) {
    TEAM_FOR(b, dual->blocks) {
        if (!dual_is_cone(dual, b))
            continue;
        real given = dual->slip[SLIP_Q][b];
        dual->q[dual_row(dual, b) + 2] = real_select(which, given - dual->slip[SLIP][b], given);
    }
    TEAM_SYNC(); /* every thread reads q */
    dual_measure(dual);
}

/* The residual of Coulomb's law at `best` for the given q. Leaves image = P best. */
STAGE_FN real coulomb_residual(Dual *dual) {
    dual_apply(dual, dual->best, dual->image);
    dual->coulomb = 1;
    real r = dual_residual(dual, dual->best, dual->image);
    dual->coulomb = 0;
    return r;
}

/* Aitken's factor from the errors e of the slip, and s += omega e. image = P best. */
STAGE_FN real coulomb_update(Dual *dual, real omega, int first) {
    real product = real_of(0), square = real_of(0), **slip = dual->slip;
    for (int b = 0; b < dual->blocks; b++) {
        if (!dual_is_cone(dual, b))
            continue;
        int row = dual_row(dual, b);
        Vec3 z = vec3_sub(vec3_load(dual->image + row), vec3_load(dual->q + row));
        real old = slip[SLIP_ERROR][b], change = tangent_length(z) - slip[SLIP][b] - old;
        product = real_fma(old, change, product);
        square = real_fma(change, change, square);
    }
    real factor = -omega * product / real_select(square > K(0.0), square, real_of(1));
    if (!first)
        omega = real_min(real_max(factor, real_of(K(0.1))), real_of(K(1.5)));
    TEAM_SYNC(); /* every thread has read the errors */
    TEAM_FOR(b, dual->blocks) {
        if (!dual_is_cone(dual, b))
            continue;
        int row = dual_row(dual, b);
        Vec3 z = vec3_sub(vec3_load(dual->image + row), vec3_load(dual->q + row));
        real error = tangent_length(z) - slip[SLIP][b];
        slip[SLIP_ERROR][b] = error;
        slip[SLIP][b] = real_fma(omega, error, slip[SLIP][b]);
    }
    return omega;
}

/* best = kept in the lanes of `which`, or the other way round. */
STAGE_FN void coulomb_copy(Dual *dual, const real *from, real *to, mask which) {
    TEAM_FOR(i, dual->rows)
        to[i] = real_select(which, from[i], to[i]);
    TEAM_SYNC(); /* every thread reads the copy */
}

/* Replaces the convex solution in `best` by one of Coulomb's law where the iteration converges. */
STAGE_FN void coulomb_fixed_point(Dual *dual) {
    mask optimal = dual->optimal, settled = dual->settled, convex = optimal | settled, unbounded = dual->unbounded;
    mask open = convex & mask_not(unbounded), found = mask_none();
    real tolerance = dual->tolerance, residual = dual->residual, omega = real_of(1);
    TEAM_FOR(b, dual->blocks) {
        dual->slip[SLIP][b] = dual->slip[SLIP_ERROR][b] = real_of(0);
        dual->slip[SLIP_Q][b] = dual_is_cone(dual, b) ? dual->q[dual_row(dual, b) + 2] : real_of(0);
    }
    coulomb_copy(dual, dual->best, dual->kept, mask_all());
    for (int outer = 0;; outer++) {
        /* the residual for the given q */
        coulomb_shift(dual, mask_none());
        real r = coulomb_residual(dual);
        mask done = open & (r <= tolerance);
        coulomb_copy(dual, dual->best, dual->kept, done);
        residual = real_select(done, r, residual);
        found = found | done;
        open = open & mask_not(done);
        if (outer == 30 || !mask_any(open))
            break;
        /* the next slip, and the cone problem with it, from the last solution */
        omega = coulomb_update(dual, omega, outer == 0);
        coulomb_shift(dual, open);
        dual_apply(dual, dual->best, dual->image);
        dual->residual = dual_residual(dual, dual->best, dual->image);
        TEAM_SYNC();                          /* every thread has read the image */
        dual->tolerance = K(0.1) * tolerance; /* the fixed point amplifies the error of its steps */
        dual_reopen(dual, open);
        cone_attempts(dual, open, open, dual_limit(dual, 40));
        open = open & (dual->optimal | dual->settled);
    }
    /* the answer: Coulomb's where found, else the convex one */
    coulomb_copy(dual, dual->kept, dual->best, mask_all());
    dual->residual = residual;
    dual->tolerance = tolerance;
    dual->optimal = optimal;
    dual->settled = settled;
    dual->unbounded = unbounded;
    dual->limit = dual->limit & mask_not(convex);
    dual->no_descent = dual->no_descent & mask_not(convex);
    dual->not_coulomb = mask_not(found);
}

STAGE_FN void cone_solve(Dual *dual) {
    cone_convex(dual, mask_all(), dual->warm);
    if (dual->options->friction_law == SAP_FRICTION_COULOMB)
        coulomb_fixed_point(dual);
}
