/* The contact solve in stages, for large worlds: between two stages a library solves the Newton systems H d = -grad of all worlds
 * that are still open, in args->library. docs/gpu.md.
 *
 *   begin     the problem and its first v
 *   assemble  evaluates, closes the worlds that are done; of the others H and -grad
 *   advance   the direction that the library left in the place of -grad; line search, v
 *   finish    hands v over, reports
 *
 * In between, a world's part of the solve stands at the end of its scratch. */

typedef struct Lockstep {
    ProblemChecks is;
    Newton newton;
    SolveResult result; /* newton's */
} Lockstep;
static_assert(sizeof(Lockstep) <= SAP_LOCKSTEP_SIZE * sizeof(real), "layouts.h keeps too few reals for a Lockstep");

KERNEL_FN void lockstep_load(const Context *ctx, Lockstep *s) {
    *s = *(const Lockstep *)NEWTON(lockstep);
    s->newton.result = &s->result;
}

/* A barrier stands between the load and the store of every stage: evaluation and direction have some. */
STAGE_FN void lockstep_store(const Context *ctx, const Lockstep *s) {
    TEAM_ONCE() {
        *(Lockstep *)NEWTON(lockstep) = *s;
    }
}

/* Which worlds of the pack take part in the next call of the library. */
STAGE_FN void lockstep_set_active(const Context *ctx, mask which) {
    TEAM_ONCE() {
        for (int l = 0; l < ctx->pack->count; l++)
            ctx->args->library.active[ctx->pack->world[l]] = mask_lane(which, l);
    }
}

/* H by rows of its lower triangle, which are columns of the upper one as LAPACK counts, and -grad. */
STAGE_FN void lockstep_put_system(const Context *ctx, const SapPattern *dense, mask open) {
    const SapLibraryArgs *library = &ctx->args->library;
    mask which = open & pack_lanes(ctx->pack); /* the other lanes are not the world whose number they have */
    int nv = ctx->args->plan.nv;
    TEAM_FOR(i, nv) {
        const real *H = NEWTON(H) + dense->row[i].start;
        for (int j = 0; j <= i; j++)
            buffer_put(library->matrix, i * nv + j, H[j], which, ctx->pack);
        buffer_put(library->vector, i, -SOLVE(grad)[i], which, ctx->pack);
    }
}

/* The library's solution; not a number where its factorisation failed. */
STAGE_FN void lockstep_get_direction(const Context *ctx) {
    const SapLibraryArgs *library = &ctx->args->library;
    StageView x = LINEAR_VIEW(LINEAR_IS_F64);
    real failed = real_of(0);
    FOR_LANES(l) {
        int world = ctx->pack->world[l];
        LANE(failed, l) = (scalar)(library->info[library->place ? library->place[world] : world] != 0);
    }
    TEAM_FOR(i, ctx->args->plan.nv) {
        real d = buffer_get(library->vector, i, ctx->pack);
        view_put(x, ctx->args->linear.x + i, real_select(failed != K(0.0), real_nan(), d));
    }
    TEAM_SYNC(); /* the slope reads all of it */
}

STAGE_FN void stage_lockstep_begin(const Context *ctx) {
    Lockstep s;
    PROFILE(ctx, SAP_STAGE_SETUP);
    s.is = problem_begin(ctx);
    s.newton = newton_begin(s.is.constrained, &s.result);
    lockstep_store(ctx, &s);
}

STAGE_FN void stage_lockstep_assemble(const Context *ctx) {
    Lockstep s;
    lockstep_load(ctx, &s);
    int k = ctx->args->library.iteration;
    if (k == 0 || mask_any(s.newton.open)) {
        if (newton_check(ctx, k, &s.newton))
            lockstep_put_system(ctx, newton_hessian(ctx), s.newton.open);
        lockstep_store(ctx, &s);
    }
    lockstep_set_active(ctx, s.newton.open);
}

STAGE_FN void stage_lockstep_advance(const Context *ctx) {
    Lockstep s;
    lockstep_load(ctx, &s);
    if (!mask_any(s.newton.open))
        return;
    lockstep_get_direction(ctx);
    newton_advance(ctx, &ctx->args->plan.dense, &s.newton);
    lockstep_store(ctx, &s);
}

STAGE_FN void stage_lockstep_finish(const Context *ctx) {
    Lockstep s;
    lockstep_load(ctx, &s);
    solve_finish(ctx, &s.is, &s.result);
}
