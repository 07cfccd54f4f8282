/* The broad phase: finds the pairs of shapes that may touch, as a set of bits in the order of pairs. docs/collision.md.
 *
 *   listed   bit i is pair i of the plan; every pair is tested, in all worlds of the pack at once
 *   sweep    bit (a, b), a < b, of a table of all shapes; for many shapes. In one world at a time, the bounding spheres
 *            are sorted along the axis of their largest variance, and only spheres that overlap along it are tested
 *   tree     moving shapes query a tree of static shapes (static_tree.h); the other pairs are listed
 *
 * A pair is in the set if its bounding spheres overlap in some world of the pack; the narrow phase masks the
 * other worlds. Bits are read in order, so the contacts depend neither on the algorithm nor on the number of
 * lanes or threads. */

/* ---- listed ---- */

/* Word w of the set: tests its pairs. */
STAGE_FN int broad_listed_word(const Context *ctx, int w) {
    const SapPlan *plan = &ctx->args->plan;
    int first = w * WORD_BITS, n = plan->num_pairs - first < WORD_BITS ? plan->num_pairs - first : WORD_BITS;
    unsigned word = 0;
    FOR_UP_TO(i, n, WORD_BITS) {
        const SapPair *pair = &plan->pair[first + i];
        if (mask_any(pair_near(ctx, pair->shape[0], pair->shape[1])))
            word |= 1u << i;
    }
    return (int)word;
}

/* ---- sweep ---- */

/* The bounding spheres of one world along an axis. */
typedef struct Sweep {
    const real *ball; /* [ns][4] */
    int axis, lane;
    int *order; /* [ns] shapes by lower end */
} Sweep;

/* The key of the order. It is a number for every sphere, so the order is total; a sphere at NaN touches nothing. */
KERNEL_FN scalar sweep_low(const Sweep *s, int shape) {
    scalar low = LANE(s->ball[4 * shape + s->axis], s->lane) - LANE(s->ball[4 * shape + 3], s->lane);
    return low == low ? low : K(3e38);
}

KERNEL_FN scalar sweep_high(const Sweep *s, int shape) {
    return LANE(s->ball[4 * shape + s->axis], s->lane) + LANE(s->ball[4 * shape + 3], s->lane);
}

/* The axis with the largest variance of the centres. */
STAGE_FN int sweep_axis(const Sweep *s, int ns) {
    scalar largest = -1;
    int best = 0;
    for (int axis = 0; axis < 3; axis++) {
        scalar sum = 0, square = 0;
        for (int i = 0; i < ns; i++) {
            scalar x = LANE(s->ball[4 * i + axis], s->lane);
            sum = sum + x;
            square = square + x * x;
        }
        scalar variance = square - sum * sum / (scalar)ns;
        if (variance > largest) {
            largest = variance;
            best = axis;
        }
    }
    return best;
}

/* Shell sort of the shapes by their lower end: in place, and fast enough for thousands of shapes. */
STAGE_FN void sweep_sort(const Sweep *s, int ns) {
    int gap = 1;
    for (int i = 0; i < ns; i++)
        s->order[i] = i;
    while (gap < ns / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int i = gap; i < ns; i++) {
            int shape = s->order[i], j = i;
            for (; j >= gap && sweep_low(s, s->order[j - gap]) > sweep_low(s, shape); j -= gap)
                s->order[j] = s->order[j - gap];
            s->order[j] = shape;
        }
}

/* Adds the pair if the plan allows it and its bounding spheres overlap in this lane. */
STAGE_FN void sweep_test(const Context *ctx, int a, int b, int lane) {
    const SapPlan *plan = &ctx->args->plan;
    int low = a < b ? a : b, high = a < b ? b : a;
    if (!pair_is_allowed(plan, low, high))
        return;
    SapPair pair = pair_of(plan, low, high);
    if (mask_lane(pair_near(ctx, pair.shape[0], pair.shape[1]), lane))
        COLLIDE_INTS(near)[low * plan->row_words + high / WORD_BITS] |= (int)(1u << (high % WORD_BITS));
}

/* Planes have no bounding sphere to sort, so each plane is tested with all other shapes. */
STAGE_FN void sweep_planes(const Context *ctx, int lane) {
    const SapPlan *plan = &ctx->args->plan;
    for (int p = 0; p < plan->ns; p++)
        for (int s = 0; s < plan->ns && plan->shape_type[p] == SAP_SHAPE_PLANE; s++)
            if (s != p)
                sweep_test(ctx, p, s, lane);
}

/* Adds the near pairs of one world. */
STAGE_FN void sweep_lane(const Context *ctx, int lane) {
    int ns = ctx->args->plan.ns;
    Sweep s;
    s.ball = COLLIDE(ball);
    s.lane = lane;
    s.order = COLLIDE_INTS(order);
    s.axis = sweep_axis(&s, ns);
    sweep_sort(&s, ns);
    sweep_planes(ctx, lane);
    for (int i = 0; i < ns; i++) {
        scalar high = sweep_high(&s, s.order[i]);
        for (int j = i + 1; j < ns && sweep_low(&s, s.order[j]) <= high; j++)
            sweep_test(ctx, s.order[i], s.order[j], lane);
    }
}

/* ---- all ---- */

/* Clears the bits and sweeps all worlds. */
STAGE_FN void broad_sweep(const Context *ctx) {
    TEAM_FOR(w, ctx->args->collide.layout.num_words)
        COLLIDE_INTS(near)[w] = 0;
    TEAM_SYNC(); /* all words are zero before one thread adds bits */
    TEAM_ONCE() {
        for (int l = 0; l < ctx->pack->count; l++)
            sweep_lane(ctx, l);
    }
}

/* Finds and places the static shapes near moving ones. */
STAGE_FN void broad_tree(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    bool holds = tree_holds(ctx);
    TEAM_FOR(w, plan->row_words)
        COLLIDE_INTS(near_static)[w] = holds ? 0 : (int)plan->statics.member[w];
    TEAM_SYNC(); /* all words are set before any thread adds bits */
    TEAM_FOR(i, holds ? plan->statics.num_seekers : 0)
        tree_seek(ctx, i);
    TEAM_SYNC(); /* all bits are set before shapes are placed */
    TEAM_FOR(u, ctx->args->collide.layout.num_near_words)
        tree_place(ctx, u);
}

/* Finds the pairs whose bounding spheres overlap in some world. */
STAGE_FN void broad_phase(const Context *ctx) {
    int method = ctx->args->plan.broad_phase;
    if (method == SAP_BROAD_PHASE_SWEEP) {
        broad_sweep(ctx);
    } else {
        UNROLL
        TEAM_FOR(w, ctx->args->collide.layout.num_words)
            COLLIDE_INTS(near)[w] = broad_listed_word(ctx, w);
    }
    if (method == SAP_BROAD_PHASE_TREE)
        broad_tree(ctx);
    TEAM_SYNC(); /* one thread reads all words, and the shapes placed by others */
    TEAM_ONCE() {
        *COLLIDE_INTS(cursor) = 0;
        if (method == SAP_BROAD_PHASE_TREE)
            *tree_cursor(ctx) = tree_first(ctx);
    }
}

/* The pair of bit `bit` of word w. */
KERNEL_FN SapPair broad_pair(const SapPlan *plan, int w, int bit) {
    if (plan->broad_phase != SAP_BROAD_PHASE_SWEEP)
        return plan->pair[w * WORD_BITS + bit];
    return pair_of(plan, w / plan->row_words, w % plan->row_words * WORD_BITS + bit);
}

/* The first pair of the bits from word *w on, and its word; false if none is left. */
KERNEL_FN bool broad_peek(const Context *ctx, int *w, SapPair *pair) {
    int words = ctx->args->collide.layout.num_words;
    const int *near = COLLIDE_INTS(near);
    while (*w < words && near[*w] == 0)
        ++*w;
    if (*w < words)
        *pair = broad_pair(&ctx->args->plan, *w, lowest_bit((unsigned)near[*w]));
    return *w < words;
}

KERNEL_FN bool pair_before(const SapPair *pair, const TreeCursor *at) {
    int a = pair->shape[0], b = pair->shape[1], low = a < b ? a : b;
    return low < at->low || (low == at->low && a + b - low < at->high);
}

/* Removes up to `most` pairs from the set, in order, and returns their number: pairs of the bits and of the tree,
 * merged. Called by one thread. */
STAGE_FN int broad_take(const Context *ctx, SapPair *pair, int most) {
    const SapPlan *plan = &ctx->args->plan;
    bool tree = plan->broad_phase == SAP_BROAD_PHASE_TREE;
    int n = 0, w = *COLLIDE_INTS(cursor), *near = COLLIDE_INTS(near);
    for (; n < most; n++) {
        bool listed = broad_peek(ctx, &w, &pair[n]);
        TreeCursor *at = tree ? tree_cursor(ctx) : NULL;
        if (tree && at->low < plan->ns && !(listed && pair_before(&pair[n], at))) {
            pair[n] = pair_of(plan, at->low, at->high);
            *at = tree_next(ctx, *at);
        } else if (listed) {
            near[w] = (int)((unsigned)near[w] & ((unsigned)near[w] - 1u));
        } else {
            break;
        }
    }
    *COLLIDE_INTS(cursor) = w;
    return n;
}
