/* The shape pairs that may touch, found by enumeration. */
#include "host/plan/pairs.h"

#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/model/shape_types.h"

/* ---- the filter ---- */

static uint64_t key_of(int a, int b) {
    uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    return low << 32 | high;
}

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool has_key(const uint64_t *keys, int n, int a, int b) {
    uint64_t key = key_of(a, b);
    return n > 0 && bsearch(&key, keys, (size_t)n, sizeof key, compare_keys) != NULL;
}

static void sort_keys(uint64_t *keys, int n) {
    if (n > 0)
        qsort(keys, (size_t)n, sizeof *keys, compare_keys);
}

/* Parents come before their children. */
static void find_groups(const SapModelArrays *m, int *group) {
    for (int j = 0; j < m->num_joints; j++) {
        int parent = m->joint_parent[j], child = m->joint_child[j];
        bool moves = m->joint_qd_start[j + 1] > m->joint_qd_start[j];
        group[child] = moves ? child : parent < 0 ? -1 : group[parent];
    }
}

static int list_bodies(const SapModelArrays *m, uint64_t *keys) {
    int n = 0;
    for (int i = 0; i < m->num_filter_pairs; i++)
        keys[n++] = key_of(m->body_filter_pairs[2 * i], m->body_filter_pairs[2 * i + 1]);
    for (int j = 0; j < m->num_joints; j++)
        if (m->joint_filter_parent[j] && m->joint_parent[j] >= 0)
            keys[n++] = key_of(m->joint_parent[j], m->joint_child[j]);
    return n;
}

SapStatus sap_pair_filter_create(const SapModelArrays *m, SapPairFilter *out) {
    *out = (SapPairFilter){.model = m};
    SapArena arena = {0};
    int *group = NULL;
    uint64_t *bodies = NULL, *shapes = NULL;
    SAP_TRY(SAP_CARVE_ALL(&arena, "pair filter", SAP_PART(group, m->num_bodies),
                          SAP_PART(bodies, (size_t)m->num_filter_pairs + (size_t)m->num_joints),
                          SAP_PART(shapes, m->num_shape_filter_pairs)));
    out->memory = arena.base;
    find_groups(m, group);
    out->num_bodies = list_bodies(m, bodies);
    out->num_shapes = m->num_shape_filter_pairs;
    for (int i = 0; i < m->num_shape_filter_pairs; i++)
        shapes[i] = key_of(m->shape_filter_pairs[2 * i], m->shape_filter_pairs[2 * i + 1]);
    sort_keys(bodies, out->num_bodies);
    sort_keys(shapes, out->num_shapes);
    out->group = group;
    out->bodies = bodies;
    out->shapes = shapes;
    return SAP_OK;
}

void sap_pair_filter_free(SapPairFilter *filter) {
    free(filter->memory);
    *filter = (SapPairFilter){0};
}

/* ---- the rule for one pair ---- */

bool sap_shape_collides(const SapModelArrays *m, int s) {
    return (m->shape_flags[s] & SAP_SHAPE_COLLIDES) != 0 && m->shape_collision_group[s] != 0;
}

static bool groups_match(int a, int b) {
    return a > 0 && b > 0 ? a == b : a != b;
}

static int group_of(const SapPairFilter *f, int s) {
    int body = f->model->shape_body[s];
    return body < 0 ? -1 : f->group[body];
}

bool sap_shape_moves(const SapPairFilter *filter, int shape) {
    return group_of(filter, shape) >= 0;
}

static bool is_terrain(int32_t type) {
    return sap_shape_type(type)->is_terrain;
}

bool sap_pair_allowed(const SapPairFilter *f, int s0, int s1) {
    const SapModelArrays *m = f->model;
    int b0 = m->shape_body[s0], b1 = m->shape_body[s1];
    return sap_shape_collides(m, s0) && sap_shape_collides(m, s1) &&
           groups_match(m->shape_collision_group[s0], m->shape_collision_group[s1]) &&
           group_of(f, s0) != group_of(f, s1) && !(is_terrain(m->shape_type[s0]) && is_terrain(m->shape_type[s1])) &&
           !(b0 >= 0 && b1 >= 0 && has_key(f->bodies, f->num_bodies, b0, b1)) &&
           !has_key(f->shapes, f->num_shapes, s0, s1);
}

SapPair sap_pair_of(const SapModelArrays *m, int s0, int s1) {
    int low = s0 < s1 ? s0 : s1, high = s0 < s1 ? s1 : s0;
    return m->shape_type[low] <= m->shape_type[high] ? (SapPair){{low, high}} : (SapPair){{high, low}};
}

/* ---- all pairs ---- */

/* Shapes in order. Shapes of one body usually follow each other and do not touch: run[i] is the index after the shapes
 * from i on that cannot move relative to shape i. */
typedef struct Shapes {
    int *shape, *run;
    int num;
} Shapes;

/* Shapes that collide, and the moving ones among them. A static shape is paired with moving ones only. */
typedef struct Candidates {
    Shapes all, moving;
} Candidates;

static void find_runs(const SapPairFilter *f, Shapes *s) {
    for (int i = s->num - 1; i >= 0; i--) {
        bool same = i + 1 < s->num && group_of(f, s->shape[i]) == group_of(f, s->shape[i + 1]);
        s->run[i] = same ? s->run[i + 1] : i + 1;
    }
}

static void find_candidates(const SapPairFilter *f, Candidates *c) {
    for (int s = 0; s < f->model->num_shapes; s++) {
        if (!sap_shape_collides(f->model, s))
            continue;
        c->all.shape[c->all.num++] = s;
        if (sap_shape_moves(f, s))
            c->moving.shape[c->moving.num++] = s;
    }
    find_runs(f, &c->all);
    find_runs(f, &c->moving);
}

/* Ends an enumeration that has seen enough; not a failure. */
static const SapStatus enough = (SapStatus)-1;

/* Called for each pair; any result but SAP_OK ends the enumeration. */
typedef SapStatus Visit(void *arg, const SapModelArrays *model, int s0, int s1);

/* Visits all allowed pairs s0 < s1, in order. */
static SapStatus visit_candidates(const SapPairFilter *f, const Candidates *c, Visit *visit, void *arg) {
    int next_moving = 0;
    for (int i = 0; i < c->all.num; i++) {
        int s = c->all.shape[i], group = group_of(f, s);
        bool moves = group >= 0;
        next_moving += moves;
        const Shapes *others = moves ? &c->all : &c->moving;
        int k = moves ? c->all.run[i] : next_moving;
        while (k < others->num) {
            int other = others->shape[k];
            if (group_of(f, other) == group) {
                k = others->run[k];
                continue;
            }
            if (sap_pair_allowed(f, s, other))
                SAP_TRY(visit(arg, f->model, s, other));
            k++;
        }
    }
    return SAP_OK;
}

static SapStatus visit_filtered(const SapPairFilter *f, Visit *visit, void *arg) {
    SapArena arena = {0};
    Candidates c = {0};
    SAP_TRY(SAP_CARVE_ALL(&arena, "pairs", SAP_PART(c.all.shape, f->model->num_shapes),
                          SAP_PART(c.all.run, f->model->num_shapes), SAP_PART(c.moving.shape, f->model->num_shapes),
                          SAP_PART(c.moving.run, f->model->num_shapes)));
    find_candidates(f, &c);
    SapStatus status = visit_candidates(f, &c, visit, arg);
    free(arena.base);
    return status;
}

static SapStatus visit_pairs(const SapModelArrays *model, Visit *visit, void *arg) {
    SapPairFilter filter;
    SAP_TRY(sap_pair_filter_create(model, &filter));
    SapStatus status = visit_filtered(&filter, visit, arg);
    sap_pair_filter_free(&filter);
    return status;
}

/* ---- list of pairs ---- */

typedef struct List {
    SapPair *pair;
    int num, capacity;
} List;

static SapStatus append(void *arg, const SapModelArrays *m, int s0, int s1) {
    List *list = arg;
    if (list->num == SAP_MAX_PAIRS)
        return sap_fail(
            SAP_ERROR_MODEL,
            "the model has more than %d pairs of shapes that may touch; exclude some by collision groups or filter "
            "pairs",
            SAP_MAX_PAIRS);
    if (list->num == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 64;
        SapPair *larger = realloc(list->pair, (size_t)capacity * sizeof *larger);
        if (larger == NULL)
            return sap_fail(SAP_ERROR_MEMORY, "no memory for %d pairs of shapes", capacity);
        list->pair = larger;
        list->capacity = capacity;
    }
    list->pair[list->num++] = sap_pair_of(m, s0, s1);
    return SAP_OK;
}

SapStatus sap_pairs_create(const SapModelArrays *model, int *num_pairs, SapPair **out) {
    List list = {0};
    *num_pairs = 0;
    *out = NULL;
    SapStatus status = visit_pairs(model, append, &list);
    if (status != SAP_OK) {
        free(list.pair);
        return status;
    }
    *num_pairs = list.num;
    *out = list.pair;
    return SAP_OK;
}

/* ---- a list, and bits of the pairs of a tree ---- */

typedef struct Split {
    List list;
    const unsigned *member;
    const int *seekers_before;
    unsigned *bits;
    size_t row_words;
} Split;

/* Sets bit `other` in the row of a seeker; false if the two are not a seeker and a shape in the tree. */
static bool set_seeker_bit(const Split *s, int seeker, int other) {
    int row = s->seekers_before[seeker];
    if (s->seekers_before[seeker + 1] == row || !(s->member[other / 32] >> (other % 32) & 1))
        return false;
    s->bits[(size_t)row * s->row_words + (size_t)other / 32] |= 1u << (other % 32);
    return true;
}

static SapStatus put_split(void *arg, const SapModelArrays *m, int s0, int s1) {
    Split *split = arg;
    if (set_seeker_bit(split, s0, s1) || set_seeker_bit(split, s1, s0))
        return SAP_OK;
    return append(&split->list, m, s0, s1);
}

SapStatus sap_pairs_create_split(const SapPairFilter *filter, const unsigned *member, const int *seekers_before,
                                 unsigned *bits, int *num_pairs, SapPair **out) {
    Split split = {.member = member,
                   .seekers_before = seekers_before,
                   .bits = bits,
                   .row_words = ((size_t)filter->model->num_shapes + 31) / 32};
    *num_pairs = 0;
    *out = NULL;
    SapStatus status = visit_filtered(filter, put_split, &split);
    if (status != SAP_OK) {
        free(split.list.pair);
        return status;
    }
    *num_pairs = split.list.num;
    *out = split.list.pair;
    return SAP_OK;
}

/* ---- bit matrix of pairs ---- */

typedef struct Bits {
    unsigned *row;
    size_t row_words;
} Bits;

static SapStatus set_bit(void *arg, const SapModelArrays *m, int s0, int s1) {
    const Bits *bits = arg;
    (void)m;
    bits->row[(size_t)s0 * bits->row_words + (size_t)s1 / 32] |= 1u << (s1 % 32);
    return SAP_OK;
}

SapStatus sap_pairs_create_bits(const SapModelArrays *model, int *row_words, unsigned **out) {
    Bits bits = {.row_words = ((size_t)model->num_shapes + 31) / 32};
    *out = bits.row = sap_allocate((size_t)model->num_shapes * bits.row_words, sizeof *bits.row, "pairs");
    *row_words = (int)bits.row_words;
    return bits.row ? visit_pairs(model, set_bit, &bits) : SAP_ERROR_MEMORY;
}

/* ---- upper bound on contacts ---- */

enum { MOST_CONTACTS = 65535 };

typedef struct Count {
    int per_pair, most;
} Count;

static SapStatus count_contacts(void *arg, const SapModelArrays *m, int s0, int s1) {
    Count *count = arg;
    int most = count->most + sap_shape_most_points(m->shape_type[s0], m->shape_type[s1], count->per_pair);
    count->most = most < MOST_CONTACTS ? most : MOST_CONTACTS;
    return most < MOST_CONTACTS ? SAP_OK : enough;
}

SapStatus sap_pairs_most_contacts(const SapModelArrays *model, int per_pair, int *out) {
    Count count = {.per_pair = per_pair};
    SapStatus status = visit_pairs(model, count_contacts, &count);
    *out = count.most;
    return status == enough ? SAP_OK : status;
}

/* ---- number of pairs ---- */

typedef struct Number {
    long long count, most;
} Number;

static SapStatus count_pair(void *arg, const SapModelArrays *m, int s0, int s1) {
    Number *number = arg;
    (void)m, (void)s0, (void)s1;
    return ++number->count > number->most ? enough : SAP_OK;
}

SapStatus sap_pairs_are_at_most(const SapModelArrays *model, long long most, bool *out) {
    Number number = {.most = most};
    SapStatus status = visit_pairs(model, count_pair, &number);
    *out = status == SAP_OK;
    return status == enough ? SAP_OK : status;
}
