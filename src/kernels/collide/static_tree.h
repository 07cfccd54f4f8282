/* The broad phase of static shapes: a tree of boxes, made once by the host (host/plan/static_tree.h), which every
 * moving shape queries in all worlds of the pack at once. docs/collision.md.
 *
 *   seek    from the root down, through the nodes whose box meets the bounding sphere's in some world; the leaves
 *           are static shapes that may touch something: bits in the order of shapes
 *   place   pose and bounding sphere of these shapes, and of no other static shape
 *   next    their pairs with the moving shapes, by the smaller index of the two, then by the larger
 *
 * A box contains the bounding sphere of its shape with a reserve for rounding, and a pair is near by the test of all
 * pairs, pair_near. So the pairs equal a list's, for any number of lanes. */

/* Boxes of queries are enlarged by this fraction of the centre and the radius: more than the rounding of pair_near. */
#define TREE_WIDENING 1e-6

/* The boxes have the margins and gaps of the model. They are not valid in worlds with other margins or gaps. */
KERNEL_FN bool tree_holds(const Context *ctx) {
    return STAGE_CONSTANTS->shape_margin.stride == 0 && STAGE_CONSTANTS->shape_gap.stride == 0;
}

/* ---- seek ---- */

/* The box of a bounding sphere. */
typedef struct TreeQuery {
    Vec3 low, high;
} TreeQuery;

KERNEL_FN void query_extend(real centre, real radius, real *low, real *high) {
    real half = radius + K(TREE_WIDENING) * (real_abs(centre) + radius);
    *low = centre - half;
    *high = centre + half;
}

KERNEL_FN mask query_meets(const TreeQuery *q, const SapStaticNode *node) {
    mask x = (q->low.x <= (scalar)node->high[0]) & (q->high.x >= (scalar)node->low[0]);
    mask y = (q->low.y <= (scalar)node->high[1]) & (q->high.y >= (scalar)node->low[1]);
    mask z = (q->low.z <= (scalar)node->high[2]) & (q->high.z >= (scalar)node->low[2]);
    return x & y & z;
}

/* Adds the static shapes near seeker i. */
STAGE_FN void tree_seek(const Context *ctx, int i) {
    const SapPlan *plan = &ctx->args->plan;
    const SapStaticNode *node = plan->statics.node;
    const real *ball = COLLIDE(ball) + 4 * plan->statics.seeker[i];
    int *near_static = COLLIDE_INTS(near_static), num_nodes = plan->statics.num_nodes;
    TreeQuery q;
    query_extend(ball[0], ball[3], &q.low.x, &q.high.x);
    query_extend(ball[1], ball[3], &q.low.y, &q.high.y);
    query_extend(ball[2], ball[3], &q.low.z, &q.high.z);
    for (int n = 0; n < num_nodes;) {
        bool meets = mask_any(query_meets(&q, &node[n]));
        int s = node[n].shape;
        if (meets && s >= 0 && pair_is_allowed(plan, i, s))
            team_or(&near_static[s / WORD_BITS], (int)(1u << (s % WORD_BITS)));
        n = meets ? n + 1 : node[n].skip;
    }
}

/* ---- place ---- */

/* Places the near shapes of word u of near_words, and sets its bits. */
STAGE_FN void tree_place(const Context *ctx, int u) {
    int first = u * WORD_BITS, words = ctx->args->plan.row_words - first;
    unsigned filled = 0;
    for (int i = 0; i < WORD_BITS && i < words; i++) {
        unsigned word = (unsigned)COLLIDE_INTS(near_static)[first + i];
        filled |= word != 0 ? 1u << i : 0;
        for (; word != 0; word &= word - 1)
            collide_shape(ctx, (first + i) * WORD_BITS + lowest_bit(word));
    }
    COLLIDE_INTS(near_words)[u] = (int)filled;
}

/* ---- next ---- */

/* The first bit at or above `bit`, or -1. */
KERNEL_FN int first_bit(int word, int bit) {
    unsigned left = bit < WORD_BITS ? (unsigned)word >> bit << bit : 0;
    return left != 0 ? lowest_bit(left) : -1;
}

/* The first near static shape from s on, or ns. */
STAGE_FN int tree_static_from(const Context *ctx, int s) {
    const int *near_static = COLLIDE_INTS(near_static), *near_words = COLLIDE_INTS(near_words);
    int ns = ctx->args->plan.ns, num_near_words = ctx->args->collide.layout.num_near_words;
    int w = s / WORD_BITS, bit = s < ns ? first_bit(near_static[w], s % WORD_BITS) : -1;
    if (bit >= 0)
        return w * WORD_BITS + bit;
    for (int u = (w + 1) / WORD_BITS, next = (w + 1) % WORD_BITS; u < num_near_words; u++, next = 0) {
        int i = first_bit(near_words[u], next);
        if (i >= 0)
            return (u * WORD_BITS + i) * WORD_BITS + lowest_bit((unsigned)near_static[u * WORD_BITS + i]);
    }
    return ns;
}

/* The first seeker from shape s on, or ns. */
KERNEL_FN int tree_seeker_from(const SapPlan *plan, int s) {
    int i = plan->statics.seekers_before[s];
    return i < plan->statics.num_seekers ? plan->statics.seeker[i] : plan->ns;
}

KERNEL_FN bool shape_seeks(const SapPlan *plan, int s) {
    return plan->statics.seekers_before[s + 1] > plan->statics.seekers_before[s];
}

/* Whether the pair of a seeker and a static shape is allowed, and near in some world. */
STAGE_FN bool tree_pair_is_near(const Context *ctx, int low, int high) {
    const SapPlan *plan = &ctx->args->plan;
    bool low_seeks = shape_seeks(plan, low);
    int seeker = low_seeks ? low : high, other = low_seeks ? high : low;
    if (!pair_is_allowed(plan, plan->statics.seekers_before[seeker], other))
        return false;
    SapPair pair = pair_of(plan, low, high);
    return mask_any(pair_near(ctx, pair.shape[0], pair.shape[1]));
}

/* A pair of shapes, low < high; low = ns: no pair is left. */
typedef struct TreeCursor {
    int low, high;
} TreeCursor;

KERNEL_FN TreeCursor *tree_cursor(const Context *ctx) {
    return (TreeCursor *)COLLIDE_INTS(tree_cursor);
}

/* The next near pair after `at`. Called by one thread. */
STAGE_FN TreeCursor tree_next(const Context *ctx, TreeCursor at) {
    const SapPlan *plan = &ctx->args->plan;
    while (at.low < plan->ns) {
        at.high = shape_seeks(plan, at.low) ? tree_static_from(ctx, at.high + 1) : tree_seeker_from(plan, at.high + 1);
        if (at.high == plan->ns) {
            int seeker = tree_seeker_from(plan, at.low + 1), fixed = tree_static_from(ctx, at.low + 1);
            at.low = at.high = seeker < fixed ? seeker : fixed;
        } else if (tree_pair_is_near(ctx, at.low, at.high)) {
            return at;
        }
    }
    return at;
}

/* The first near pair. */
KERNEL_FN TreeCursor tree_first(const Context *ctx) {
    int seeker = tree_seeker_from(&ctx->args->plan, 0), fixed = tree_static_from(ctx, 0);
    TreeCursor at;
    at.low = at.high = seeker < fixed ? seeker : fixed;
    return tree_next(ctx, at);
}
