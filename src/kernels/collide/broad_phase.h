/* The broad phase: finds the pairs of shapes that may touch, as a set of bits in the order of pairs. docs/collision.md.
 *
 *   listed   bit i is pair i of the plan; every pair is tested, in all worlds of the pack at once
 *   sweep    bit (a, b), a < b, of a table of all shapes; for many shapes. In one world at a time, the bounding spheres
 *            are sorted along the axis of their largest variance, and only spheres that overlap along it are tested
 *
 * A pair is in the set if its bounding spheres overlap in some world of the pack; the narrow phase masks the
 * other worlds. Bits are read in order, so the contacts depend neither on the algorithm nor on the number of
 * lanes or threads. */

#define COLLIDE(part)      ((real *)ctx->collide + ctx->args->collide.layout.part)
#define COLLIDE_INTS(part) (ctx->pairs + ctx->args->collide.layout.part)

enum { WORD_BITS = 32 };

/* Worlds in which the bounding spheres of two shapes overlap; the bound of a plane is its half-space. The type of a is
 * not larger than that of b. */
KERNEL_FN mask pair_near(const Context *ctx, int a, int b) {
    const real *ball_a = COLLIDE(ball) + 4 * a, *ball_b = COLLIDE(ball) + 4 * b;
    Vec3 d = vec3_sub(vec3_load(ball_b), vec3_load(ball_a));
    real r = ball_a[3] + ball_b[3];
    if (ctx->args->plan.shape_type[a] == SAP_SHAPE_PLANE) {
        Vec3 z = vec3(real_of(0), real_of(0), real_of(1));
        return vec3_dot(quat_rotate(quat_load(COLLIDE(pose) + 7 * a + 3), z), d) <= r;
    }
    return vec3_dot(d, d) <= r * r;
}

/* The pair of shapes a and b, ordered by type. */
KERNEL_FN SapPair pair_of(const SapPlan *plan, int a, int b) {
    bool swap = plan->shape_type[a] > plan->shape_type[b];
    SapPair pair;
    pair.shape[0] = swap ? b : a;
    pair.shape[1] = swap ? a : b;
    return pair;
}

/* ---- listed ---- */

/* Word w of the set: tests its pairs. */
STAGE_FN int broad_listed_word(const Context *ctx, int w) {
    const SapPlan *plan = &ctx->args->plan;
    int first = w * WORD_BITS, n = plan->num_pairs - first < WORD_BITS ? plan->num_pairs - first : WORD_BITS;
    unsigned word = 0;
    for (int i = 0; i < n; i++) {
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

KERNEL_FN scalar sweep_low(const Sweep *s, int shape) {
    return LANE(s->ball[4 * shape + s->axis], s->lane) - LANE(s->ball[4 * shape + 3], s->lane);
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

KERNEL_FN bool pair_is_allowed(const SapPlan *plan, int low, int high) {
    return (plan->allowed[low * plan->row_words + high / WORD_BITS] >> (high % WORD_BITS)) & 1;
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

/* ---- both ---- */

/* Finds the pairs whose bounding spheres overlap in some world. */
STAGE_FN void broad_phase(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    int words = ctx->args->collide.layout.num_words;
    if (!plan->sweep) {
        TEAM_FOR(w, words)
            COLLIDE_INTS(near)[w] = broad_listed_word(ctx, w);
    } else {
        TEAM_FOR(w, words)
            COLLIDE_INTS(near)[w] = 0;
        TEAM_SYNC(); /* all words are zero before one thread adds bits */
        TEAM_ONCE() {
            for (int l = 0; l < ctx->pack->count; l++)
                sweep_lane(ctx, l);
        }
    }
    TEAM_ONCE() {
        *COLLIDE_INTS(cursor) = 0;
    }
    TEAM_SYNC(); /* one thread reads all words and the cursor */
}

/* The pair of bit `bit` of word w. */
KERNEL_FN SapPair broad_pair(const SapPlan *plan, int w, int bit) {
    if (!plan->sweep)
        return plan->pair[w * WORD_BITS + bit];
    return pair_of(plan, w / plan->row_words, w % plan->row_words * WORD_BITS + bit);
}

KERNEL_FN int lowest_bit(unsigned word) {
    int bit = 0;
    for (; !(word & 1u); word >>= 1)
        bit++;
    return bit;
}

/* Removes up to `most` pairs from the set, in order, and returns their number. Called by one thread. */
STAGE_FN int broad_take(const Context *ctx, SapPair *pair, int most) {
    int n = 0, w = *COLLIDE_INTS(cursor), words = ctx->args->collide.layout.num_words;
    while (n < most && w < words) {
        unsigned word = (unsigned)COLLIDE_INTS(near)[w];
        if (word == 0) {
            w++;
            continue;
        }
        pair[n++] = broad_pair(&ctx->args->plan, w, lowest_bit(word));
        COLLIDE_INTS(near)[w] = (int)(word & (word - 1));
    }
    *COLLIDE_INTS(cursor) = w;
    return n;
}
