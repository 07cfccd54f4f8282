/* Newton's method in lockstep, for large worlds. All worlds run one stage; between assemble and advance a library
 * solves the Newton systems H d = -grad of all open worlds, in args->library. docs/gpu.md.
 *
 *   begin     sets up the problem and its first v
 *   assemble  evaluates, closes the worlds that are done, writes H and -grad of the others
 *   advance   reads the direction, which replaces -grad; line search, new v
 *   finish    stores v, reports
 *
 * Between the stages the state of Newton's method is in NEWTON(lockstep). */

/* Reals and masks only, so that every offset of the arena is aligned for it. */
typedef struct Lockstep {
    ProblemChecks is;
    mask open; /* the state of Newton's method, without its pointer */
    real cost_prev, alpha, drift;
    SolveResult result;
} Lockstep;
static_assert(sizeof(Lockstep) <= SAP_LOCKSTEP_SIZE * sizeof(real), "layouts.h keeps too few reals for a Lockstep");

KERNEL_FN Newton lockstep_load(const Context *ctx, Lockstep *s) {
    Newton n;
    *s = *(const Lockstep *)NEWTON(lockstep);
    n.open = s->open;
    n.cost_prev = s->cost_prev;
    n.alpha = s->alpha;
    n.drift = s->drift;
    n.result = &s->result;
    return n;
}

/* Every stage has a barrier between its load and its store: in the evaluation, or in the direction. */
STAGE_FN void lockstep_store(const Context *ctx, const Newton *n, Lockstep *s) {
    s->open = n->open;
    s->cost_prev = n->cost_prev;
    s->alpha = n->alpha;
    s->drift = n->drift;
    TEAM_ONCE() {
        *(Lockstep *)NEWTON(lockstep) = *s;
    }
}

/* Sets which worlds of the pack have a system for the next call of the library. */
STAGE_FN void lockstep_set_active(const Context *ctx, mask which) {
    TEAM_ONCE() {
        for (int l = 0; l < ctx->pack->count; l++)
            ctx->args->library.active[ctx->pack->world[l]] = mask_lane(which, l);
    }
}

/* Writes -grad and the lower triangle of H by rows, which is the upper triangle by columns for LAPACK. */
STAGE_FN void lockstep_put_system(const Context *ctx, mask open) {
    const SapLibraryArgs *library = &ctx->args->library;
    mask which = open & pack_lanes(ctx->pack); /* lanes past the count repeat another lane's world */
    LINEAR_ASSEMBLE(ctx, LINEAR_IS_F64, 0);
    StageView system = LINEAR_VIEW(LINEAR_IS_F64);
    int nv = ctx->args->plan.nv, x = ctx->args->linear.x;
    TEAM_FOR(i, nv) {
        int H = ctx->args->linear.L + tile_row(i);
        for (int j = 0; j <= i; j++)
            buffer_put(library->matrix, i * nv + j, view_get(system, H + j), which, ctx->pack);
        buffer_put(library->vector, i, view_get(system, x + i), which, ctx->pack);
    }
}

/* Copies the library's solution to LINEAR(x); NaN where its factorisation failed. */
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
    TEAM_SYNC(); /* the slope reads all of the direction */
}

STAGE_FN void stage_lockstep_begin(const Context *ctx) {
    Lockstep s;
    PROFILE(ctx, SAP_STAGE_SETUP);
    s.is = problem_begin(ctx);
    Newton n = newton_begin(s.is.constrained, &s.result);
    newton_pattern(ctx); /* all tiles: the library's matrices are dense */
    lockstep_store(ctx, &n, &s);
}

STAGE_FN void stage_lockstep_assemble(const Context *ctx) {
    Lockstep s;
    Newton n = lockstep_load(ctx, &s);
    int k = ctx->args->library.iteration;
    if (k == 0 || mask_any(n.open)) {
        if (newton_check(ctx, k, &n))
            lockstep_put_system(ctx, n.open);
        lockstep_store(ctx, &n, &s);
    }
    lockstep_set_active(ctx, n.open);
}

STAGE_FN void stage_lockstep_advance(const Context *ctx) {
    Lockstep s;
    Newton n = lockstep_load(ctx, &s);
    if (!mask_any(n.open))
        return;
    lockstep_get_direction(ctx);
    newton_advance(ctx, 0, &n);
    lockstep_store(ctx, &n, &s);
}

STAGE_FN void stage_lockstep_finish(const Context *ctx) {
    Lockstep s;
    lockstep_load(ctx, &s);
    solve_finish(ctx, &s.is, &s.result, pack_lanes(ctx->pack));
}
