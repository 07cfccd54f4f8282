/* The energy of impacts. docs/dual.md#energy.
 *
 * The contacts of a step do the work P = 1/2 sum_c l_c'(J_c v + J_c v0). Without friction Moreau's rule has P <= 0; with
 * friction an impact can turn a body that slides, and P > 0. Such a world is solved a second time without restitution,
 * whose P is small, and gets the impulses
 *
 *   l = l_0 + s (l_e - l_0),   the largest s of [0, 1] with P(s) <= max(0, P(0))      P(s) is a parabola
 *
 * Cones and bounds are convex, and v is linear in l: the impulses stay in their sets, and no contact approaches faster
 * than with one of the two. */

/* P of each world, and the work of the normal impulses at the velocities before, by which rounding is judged. */
STAGE_FN real bounce_work(const Context *ctx, real *scale) {
    TEAM_SYNC(); /* every thread reads the impulses and velocities of all contacts */
    real work = real_of(0), size = real_of(0);
    for (int c = 0; c < ctx->num_slots; c++) {
        Constraint k = constraint_at(ctx, c);
        mask moves = *SLOT_MOVES(c) != K(0.0);
        Vec3 gamma = vec3_load(SLOT(gamma, c)), before = constraint_J_mul(&k, SOLVE(v0));
        real twice = vec3_dot(gamma, vec3_add(vec3_load(SLOT(vc, c)), before));
        work = work + real_select(moves, K(0.5) * twice, real_of(0));
        size = size + real_select(moves, real_abs(gamma.z * before.z), real_of(0));
    }
    *scale = size;
    return work;
}

/* Impulses and velocities at s between the answers without and with restitution, in the lanes of `which`; the others
 * have `kept`. Returns P. */
STAGE_FN real bounce_at(const Context *ctx, Dual *dual, real s, mask which) {
    real largest, scale;
    TEAM_SYNC(); /* every thread has read best */
    TEAM_FOR(i, dual->rows)
        dual->best[i] = real_select(which, real_fma(s, dual->bounce[i] - dual->kept[i], dual->kept[i]), dual->kept[i]);
    TEAM_SYNC(); /* every thread reads best */
    dual_count_active(dual, &largest);
    dual_step_impulses(ctx, dual, dual->slip[0], largest);
    dual_step_velocity(ctx);
    return bounce_work(ctx, &scale);
}

/* The largest s of [0, 1] with a s^2 + b s + c <= 0, c <= 0 and a + b + c > 0. */
KERNEL_FN real bounce_root(real a, real b, real c) {
    real zero = real_of(0), one = real_of(1);
    real root = real_sqrt(real_max(real_fma(b, b, K(-4.0) * a * c), zero));
    mask rises = b >= zero;
    real divisor = real_select(rises, b + root, K(2.0) * a);
    real s = real_select(rises, K(-2.0) * c, root - b) / real_select(divisor > zero, divisor, one);
    return real_select(real_finite(s), real_min(real_max(s, zero), one), zero);
}

/* Worlds of `which` whose contacts do more work than rounding explains. */
KERNEL_FN mask bounce_gains(const Dual *dual, real work, real scale, mask which) {
    return which & (work > K(10.0) * real_max(dual->tolerance, real_of(K(1e-12))) * scale);
}

/* Keeps the answer with restitution. */
STAGE_FN void bounce_keep(Dual *dual) {
    TEAM_FOR(i, dual->rows)
        dual->bounce[i] = dual->best[i];
    TEAM_SYNC(); /* the next attempt overwrites best */
}

/* Reduces the bounce of the worlds in `which` until P(s) <= max(0, P(0)). `best` is the answer without restitution;
 * none, full: P(0) and P(1). */
STAGE_FN void bounce_reduce(const Context *ctx, Dual *dual, real none, real full, mask which) {
    TEAM_FOR(i, dual->rows)
        dual->kept[i] = dual->best[i];
    real middle = bounce_at(ctx, dual, real_of(K(0.5)), which);
    real a = K(2.0) * (none + full - K(2.0) * middle), b = full - none - a;
    bounce_at(ctx, dual, bounce_root(a, b, real_min(none, real_of(0))), which);
}

/* How the two attempts ended together, in the lanes of `which`: as the worse of them. */
KERNEL_FN void bounce_add_end(Dual *dual, const Dual *first, mask which) {
    mask solved = (first->optimal | first->settled) & (dual->optimal | dual->settled), other = mask_not(which);
    mask optimal = first->optimal & dual->optimal;
    dual->settled = (dual->settled & other) | (solved & mask_not(optimal) & which);
    dual->optimal = dual->optimal & (other | optimal);
    dual->limit = dual->limit | (first->limit & which);
    dual->no_descent = dual->no_descent | (first->no_descent & mask_not(dual->limit) & which);
    dual->unbounded = dual->unbounded | (first->unbounded & which);
    dual->not_coulomb = dual->not_coulomb | (first->not_coulomb & which);
    dual->residual = real_select(which, real_max(dual->residual, first->residual), dual->residual);
    dual->iterations = real_select(which, dual->iterations + first->iterations, dual->iterations);
    dual->inner_iterations =
        real_select(which, dual->inner_iterations + first->inner_iterations, dual->inner_iterations);
    dual->safeguards = real_select(which, real_max(dual->safeguards, first->safeguards), dual->safeguards);
}
