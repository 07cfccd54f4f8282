/* Newton's method in lockstep, for large worlds. All worlds run one stage; between assemble and advance a library
 * solves the Newton systems H d = -grad of all open worlds, in args->library, and may add the contacts J' G J to H
 * before. docs/gpu.md.
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
    real iteration; /* of Newton's method, from 0: what each launch adds to, so that all can have the same arguments */
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

/* Writes dof i of the three rows of a contact, number place[l] of the world of lane l. */
KERNEL_FN void lockstep_put_rows(const Context *ctx, SapBuffer rows, const int *place, int i, Vec3 x, mask which) {
    int nv = ctx->args->plan.nv;
    buffer_scatter(rows, place, 3 * nv, i, x.x, which, ctx->pack);
    buffer_scatter(rows, place, 3 * nv, nv + i, x.y, which, ctx->pack);
    buffer_scatter(rows, place, 3 * nv, 2 * nv + i, x.z, which, ctx->pack);
}

/* Writes contact c of the worlds of `which`. In the first iteration also J, and the zeros of both. */
KERNEL_FN void lockstep_put_contact(const Context *ctx, int c, const int *place, mask which, bool first) {
    const SapLibraryArgs *library = &ctx->args->library;
    Constraint k = constraint_at(ctx, c);
    int nv = ctx->args->plan.nv;
    TEAM_FOR(i, nv) {
        int column = constraint_column(ctx, c, i);
        if (column < 0 && !first)
            continue;
        Vec3 J = column < 0 ? vec3_zero() : view_get_vec3(k.J, k.rows * column);
        lockstep_put_rows(ctx, library->GJ, place, i, law_G_mul(k.G, J), which);
        if (first)
            lockstep_put_rows(ctx, library->J, place, i, J, which);
    }
}

/* Writes J and G J of the contacts of each world in their order. Rows without a contact are 0: all matrices that the
 * library multiplies have the same size. */
STAGE_FN void lockstep_put_contacts(const Context *ctx, mask which, bool first) {
    const SapLibraryArgs *library = &ctx->args->library;
    int place[SAP_LANES] = {0}, row[SAP_LANES], nv = ctx->args->plan.nv;
    for (int c = 0; c < constraint_count(ctx); c++) {
        mask acts = which & constraint_acts(ctx, c);
        lockstep_put_contact(ctx, c, place, acts, first);
        FOR_LANES(l) place[l] += mask_lane(acts, l) != 0;
    }
    for (int c = 0; first && c < ctx->args->contacts.capacity; c++) {
        mask none = which;
        FOR_LANES(l) {
            row[l] = c;
            LANE(none, l) = c < place[l] ? 0 : LANE(none, l);
        }
        TEAM_FOR(i, nv) {
            lockstep_put_rows(ctx, library->J, row, i, vec3_zero(), none);
            lockstep_put_rows(ctx, library->GJ, row, i, vec3_zero(), none);
        }
    }
}

/* Writes -grad and the lower triangle of H by rows, which is the upper triangle by columns for LAPACK; contacts as
 * above. */
STAGE_FN void lockstep_put_system(const Context *ctx, mask open, bool first) {
    const SapLibraryArgs *library = &ctx->args->library;
    mask which = open & pack_lanes(ctx->pack); /* lanes past the count repeat another lane's world */
    LINEAR_ASSEMBLE(ctx, LINEAR_IS_F64);
    StageView system = LINEAR_VIEW(LINEAR_IS_F64);
    int nv = ctx->args->plan.nv, x = ctx->args->linear.x;
    TEAM_FOR(i, nv) {
        int H = ctx->args->linear.L + tile_row(i);
        for (int j = 0; j <= i; j++)
            buffer_put(library->matrix, i * nv + j, view_get(system, H + j), which, ctx->pack);
        buffer_put(library->vector, i, view_get(system, x + i), which, ctx->pack);
    }
    if (library->J.data)
        lockstep_put_contacts(ctx, which, first);
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
    PROFILE(ctx, SAP_SECTION_SETUP);
    s.is = problem_begin(ctx);
    Newton n = newton_begin(s.is.constrained, &s.result);
    linear_pattern(ctx); /* all tiles: the library's matrices are dense */
    s.iteration = real_of(0);
    lockstep_store(ctx, &n, &s);
}

STAGE_FN void stage_lockstep_assemble(const Context *ctx) {
    Lockstep s;
    Newton n = lockstep_load(ctx, &s);
    int k = (int)LANE(s.iteration, 0); /* the same in all lanes */
    if (k == 0 || mask_any(n.open)) {
        if (newton_check(ctx, k, &n))
            lockstep_put_system(ctx, n.open, k == 0);
        s.iteration = s.iteration + K(1.0);
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
