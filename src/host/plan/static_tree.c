#include "host/plan/static_tree.h"

#include <math.h>
#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/model/shape_types.h"

/* From this number of pairs of static and moving shapes on, queries cost less than a test of each pair; the other pairs
 * are listed, up to a number (docs/collision.md). */
enum { MANY_STATIC_PAIRS = 1 << 10, MANY_OTHER_PAIRS = 1 << 19 };

/* Boxes are enlarged by this fraction of the lengths that place a shape. It exceeds the rounding of f32 constants and
 * positions, so that a box contains the bounding sphere as the kernels compute it. */
static const double widening = 1e-5;

SapTreeRole sap_tree_role(const SapPairFilter *f, int s) {
    const SapModelArrays *m = f->model;
    bool bounded = sap_shape_type(m->shape_type[s])->bound != NULL;
    if (!sap_shape_collides(m, s))
        return SAP_TREE_NONE;
    if (bounded && m->shape_body[s] < 0)
        return SAP_TREE_STATIC;
    return bounded && sap_shape_moves(f, s) ? SAP_TREE_SEEKER : SAP_TREE_PLACED;
}

/* ---- choice ---- */

typedef struct Counts {
    long long in_tree, seekers, placed;
    bool place_all; /* a plane moves: it is listed with the shapes in the tree, which are placed too */
} Counts;

static Counts count_roles(const SapPairFilter *f) {
    Counts c = {0};
    for (int s = 0; s < f->model->num_shapes; s++) {
        SapTreeRole role = sap_tree_role(f, s);
        c.in_tree += role == SAP_TREE_STATIC;
        c.seekers += role == SAP_TREE_SEEKER;
        c.placed += role == SAP_TREE_SEEKER || role == SAP_TREE_PLACED;
        c.place_all = c.place_all || (role == SAP_TREE_PLACED && sap_shape_moves(f, s));
    }
    c.placed += c.place_all ? c.in_tree : 0;
    return c;
}

SapStatus sap_static_tree_pays(const SapModelArrays *model, bool *out) {
    SapPairFilter filter;
    SAP_TRY(sap_pair_filter_create(model, &filter));
    Counts c = count_roles(&filter);
    sap_pair_filter_free(&filter);
    *out = c.in_tree * c.seekers >= MANY_STATIC_PAIRS && c.placed * (c.placed - 1) / 2 <= MANY_OTHER_PAIRS;
    return SAP_OK;
}

/* ---- nodes ---- */

typedef struct Build {
    const SapModelArrays *model;
    int *item;         /* [in_tree] shapes, in the order of leaves */
    double (*low)[3];  /* [ns] boxes of shapes in the tree */
    double (*high)[3]; /* [ns] */
    SapStaticNode *node;
    int num_nodes;
} Build;

static void rotate(const double q[4], const double v[3], double out[3]) {
    double t[3]; /* 2 u x v, u the vector part of q */
    for (int k = 0; k < 3; k++)
        t[k] = 2 * (q[(k + 1) % 3] * v[(k + 2) % 3] - q[(k + 2) % 3] * v[(k + 1) % 3]);
    for (int k = 0; k < 3; k++)
        out[k] = v[k] + q[3] * t[k] + q[(k + 1) % 3] * t[(k + 2) % 3] - q[(k + 2) % 3] * t[(k + 1) % 3];
}

/* The box around the bounding sphere of shape s with its margin and gap. */
static void find_box(const Build *b, int s) {
    const SapModelArrays *m = b->model;
    const double *pose = m->shape_transform + 7 * s;
    double bound[4], centre[3];
    sap_shape_bound(m, s, bound);
    rotate(pose + 3, bound, centre);
    double radius = bound[3] + m->shape_margin[s] + m->shape_gap[s], lengths = radius;
    for (int k = 0; k < 3; k++)
        lengths += fabs(pose[k]) + fabs(bound[k]);
    for (int k = 0; k < 3; k++) {
        b->low[s][k] = pose[k] + centre[k] - radius - widening * lengths;
        b->high[s][k] = pose[k] + centre[k] + radius + widening * lengths;
    }
}

/* Twice the centre of a shape along an axis. */
static double place_of_item(const Build *b, int item, int axis) {
    return b->low[b->item[item]][axis] + b->high[b->item[item]][axis];
}

static bool before(const Build *b, double x, int shape, int item, int axis) {
    double y = place_of_item(b, item, axis);
    return x < y || (x == y && shape < b->item[item]);
}

static void swap(int *a, int *b) {
    int t = *a;
    *a = *b;
    *b = t;
}

/* Orders items first .. last so that none before `middle` is behind it along the axis, and none after it before it:
 * quickselect, equal places by shape. */
static void split(const Build *b, int first, int last, int middle, int axis) {
    while (first < last) {
        int pivot = b->item[first + (last - first) / 2], i = first, j = last;
        double x = b->low[pivot][axis] + b->high[pivot][axis];
        while (i <= j) {
            while (b->item[i] != pivot && !before(b, x, pivot, i, axis))
                i++;
            while (b->item[j] != pivot && before(b, x, pivot, j, axis))
                j--;
            if (i <= j)
                swap(&b->item[i++], &b->item[j--]);
        }
        if (middle > j && middle < i)
            return;
        first = middle >= i ? i : first;
        last = middle <= j ? j : last;
    }
}

/* The axis along which the centres of items first .. last extend farthest. */
static int longest_axis(const Build *b, int first, int last) {
    double longest = -1;
    int best = 0;
    for (int axis = 0; axis < 3; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = first; i <= last; i++) {
            low = fmin(low, place_of_item(b, i, axis));
            high = fmax(high, place_of_item(b, i, axis));
        }
        if (high - low > longest) {
            longest = high - low;
            best = axis;
        }
    }
    return best;
}

/* The box of a node contains the boxes of its children, the nodes from `first` on. */
static void enclose(SapStaticNode *node, const SapStaticNode *left, const SapStaticNode *right) {
    for (int k = 0; k < 3; k++) {
        node->low[k] = fminf(left->low[k], right->low[k]);
        node->high[k] = fmaxf(left->high[k], right->high[k]);
    }
}

/* Appends the nodes of items first .. last, halved at the median; the depth is the logarithm of their number. */
static void add_nodes(Build *b, int first, int last) {
    int n = b->num_nodes++, shape = b->item[first];
    SapStaticNode *node = &b->node[n];
    if (first == last) {
        node->shape = shape;
        for (int k = 0; k < 3; k++) {
            node->low[k] = (float)b->low[shape][k];
            node->high[k] = (float)b->high[shape][k];
        }
    } else {
        int middle = first + (last - first) / 2;
        split(b, first, last, middle, longest_axis(b, first, last));
        node->shape = -1;
        add_nodes(b, first, middle);
        int right = b->num_nodes;
        add_nodes(b, middle + 1, last);
        enclose(node, &b->node[n + 1], &b->node[right]);
    }
    node->skip = b->num_nodes;
}

static SapStatus build_nodes(const SapPairFilter *f, int num_items, SapStaticNode *node) {
    SapArena arena = {0};
    Build b = {.model = f->model, .node = node};
    SAP_TRY(SAP_CARVE_ALL(&arena, "tree of static shapes", SAP_PART(b.item, num_items),
                          SAP_PART(b.low, f->model->num_shapes), SAP_PART(b.high, f->model->num_shapes)));
    for (int s = 0, n = 0; s < f->model->num_shapes; s++)
        if (sap_tree_role(f, s) == SAP_TREE_STATIC) {
            b.item[n++] = s;
            find_box(&b, s);
        }
    if (num_items > 0)
        add_nodes(&b, 0, num_items - 1);
    free(arena.base);
    return SAP_OK;
}

/* ---- the plan ---- */

typedef struct Fill {
    SapStaticNode *node;
    int *placed, *seeker, *seekers_before;
    unsigned *member, *allowed;
} Fill;

static SapStatus carve(const SapModelArrays *m, const Counts *c, int row_words, Fill *f, SapPlanOwner *out) {
    SapArena arena = {0};
    SAP_TRY(SAP_CARVE_ALL(&arena, "tree of static shapes", SAP_PART(f->node, c->in_tree > 0 ? 2 * c->in_tree - 1 : 0),
                          SAP_PART(f->placed, c->placed), SAP_PART(f->seeker, c->seekers),
                          SAP_PART(f->seekers_before, m->num_shapes + 1), SAP_PART(f->member, row_words),
                          SAP_PART(f->allowed, c->seekers * row_words)));
    sap_plan_own(out, SAP_PLAN_STATIC, arena.base, arena.used);
    return SAP_OK;
}

static void fill_roles(const SapPairFilter *filter, bool place_all, const Fill *f) {
    int placed = 0, seekers = 0, ns = filter->model->num_shapes;
    for (int s = 0; s < ns; s++) {
        SapTreeRole role = sap_tree_role(filter, s);
        f->seekers_before[s] = seekers;
        if (role == SAP_TREE_STATIC)
            f->member[s / 32] |= 1u << (s % 32);
        if (role == SAP_TREE_SEEKER)
            f->seeker[seekers++] = s;
        if (role == SAP_TREE_SEEKER || role == SAP_TREE_PLACED || (role == SAP_TREE_STATIC && place_all))
            f->placed[placed++] = s;
    }
    f->seekers_before[ns] = seekers;
}

static SapStatus add_tree(const SapPairFilter *filter, SapPlanOwner *out) {
    const SapModelArrays *m = filter->model;
    Counts c = count_roles(filter);
    int row_words = (m->num_shapes + 31) / 32;
    Fill f;
    SAP_TRY(carve(m, &c, row_words, &f, out));
    SAP_TRY(build_nodes(filter, (int)c.in_tree, f.node));
    fill_roles(filter, c.place_all, &f);
    SapPlan *p = &out->plan;
    p->broad_phase = SAP_BROAD_PHASE_TREE;
    p->row_words = row_words;
    p->allowed = f.allowed;
    p->statics = (SapStaticTree){.num_nodes = c.in_tree > 0 ? 2 * (int)c.in_tree - 1 : 0,
                                 .num_placed = (int)c.placed,
                                 .num_seekers = (int)c.seekers,
                                 .node = f.node,
                                 .placed = f.placed,
                                 .seeker = f.seeker,
                                 .seekers_before = f.seekers_before,
                                 .member = f.member};
    SapPair *pair;
    SAP_TRY(sap_pairs_create_split(filter, f.member, f.seekers_before, f.allowed, &p->num_pairs, &pair));
    p->pair = pair;
    sap_plan_own(out, SAP_PLAN_PAIRS, pair, (size_t)p->num_pairs * sizeof *pair);
    return SAP_OK;
}

SapStatus sap_plan_add_static_tree(const SapModelArrays *model, SapPlanOwner *out) {
    SapPairFilter filter;
    SAP_TRY(sap_pair_filter_create(model, &filter));
    SapStatus status = add_tree(&filter, out);
    sap_pair_filter_free(&filter);
    return status;
}
