#include "host/cpu/group.h"

#include <stdint.h>

#include "host/plan/formulation.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* The key, from its highest bits on: a bit for each contact pair, modulo PAIR_BITS; a bit for each dof at a limit,
 * modulo LIMIT_BITS; the iterations. Neighbours in this order have most pairs and limits in common. */
enum { PAIR_BITS = 24, LIMIT_BITS = 24, KEY_BITS = PAIR_BITS + LIMIT_BITS + DIGIT_BITS };
enum { MOST_ITERATIONS = DIGITS - 1, MOST_CONTACTS = 64, MOST_LIMITS = 64 };

typedef struct Entry {
    uint64_t key;
    int world;
} Entry;

/* A dof with limits, and where they begin to act. */
typedef struct Limit {
    int coord, dof;
    double lower, upper;
} Limit;

typedef struct Limits {
    int count;
    Limit at[MOST_LIMITS];
} Limits;

bool sap_group_pays(int num_worlds, int lanes) {
    return lanes > 1 && num_worlds > lanes;
}

static int clamp(int x, int most) {
    return x < 0 ? 0 : x < most ? x : most;
}

static Limits find_limits(const SapStepArgs *args) {
    Limits limits = {0};
    const SapFormulation *f = sap_formulation(args->plan.formulation);
    for (int k = 0; k < args->plan.num_blocks && limits.count < MOST_LIMITS; k++) {
        const SapModelConstraint *b = &args->plan.block[k];
        int coord = b->kind == SAP_BLOCK_DOF ? args->plan.dof_coord[b->coordinate[0]] : -1;
        double range[2];
        if (coord < 0)
            continue;
        f->acting_range(args, k, range);
        limits.at[limits.count++] = (Limit){coord, b->coordinate[0], range[0], range[1]};
    }
    return limits;
}

/* Whether a coordinate is beyond a limit now, or is after a step with its present velocity. */
static uint64_t is_beyond(const Limit *limit, double q, double v, double h) {
    double end = q + h * v;
    return (uint64_t)((q < limit->lower) | (end < limit->lower) | (q > limit->upper) | (end > limit->upper));
}

/* The dofs of which that is so. Both arrays of the state have one type. */
static uint64_t limits_of(const SapStepArgs *args, const Limits *limits, int world) {
    size_t q_at = (size_t)world * (size_t)args->q_in.stride, v_at = (size_t)world * (size_t)args->qd_in.stride;
    uint64_t beyond = 0;
    if (args->q_in.is_f64) {
        const double *q = (const double *)args->q_in.data + q_at, *v = (const double *)args->qd_in.data + v_at;
        for (int k = 0; k < limits->count; k++)
            beyond |= is_beyond(&limits->at[k], q[limits->at[k].coord], v[limits->at[k].dof], args->h)
                      << k % LIMIT_BITS;
    } else {
        const float *q = (const float *)args->q_in.data + q_at, *v = (const float *)args->qd_in.data + v_at;
        for (int k = 0; k < limits->count; k++)
            beyond |= is_beyond(&limits->at[k], (double)q[limits->at[k].coord], (double)v[limits->at[k].dof], args->h)
                      << k % LIMIT_BITS;
    }
    return beyond;
}

static uint64_t pairs_of(const SapContactArgs *c, int world) {
    int n = clamp(clamp(c->count[world], c->given_capacity), MOST_CONTACTS);
    size_t first = (size_t)world * (size_t)c->given_capacity;
    uint64_t pairs = 0;
    for (size_t k = first; k < first + (size_t)n; k++)
        pairs |= 1ull << (31 * (uint32_t)c->shape[0][k] + (uint32_t)c->shape[1][k]) % PAIR_BITS;
    return pairs;
}

static uint64_t key_of(const SapStepArgs *args, const Limits *limits, int world) {
    return (pairs_of(&args->contacts, world) << LIMIT_BITS | limits_of(args, limits, world)) << DIGIT_BITS |
           (uint64_t)clamp(args->report.iterations[world], MOST_ITERATIONS);
}

/* Sorts by one digit, stably. */
static void sort_by_digit(const Entry *from, int n, int shift, Entry *to) {
    int at[DIGITS] = {0}, sum = 0;
    for (int i = 0; i < n; i++)
        at[from[i].key >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        int count = at[d];
        at[d] = sum;
        sum += count;
    }
    for (int i = 0; i < n; i++)
        to[at[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

void sap_group_list(const SapStepArgs *args, int *worlds, int n) {
    Entry entries[2][SAP_GROUP_MOST];
    Limits limits = find_limits(args);
    uint64_t differ = 0;
    int now = 0;
    for (int i = 0; i < n; i++) {
        entries[0][i] = (Entry){key_of(args, &limits, worlds[i]), worlds[i]};
        differ |= entries[0][i].key ^ entries[0][0].key;
    }
    /* a digit that is the same in all worlds changes nothing */
    for (int shift = 0; shift < KEY_BITS; shift += DIGIT_BITS)
        if (differ >> shift & (DIGITS - 1)) {
            sort_by_digit(entries[now], n, shift, entries[!now]);
            now = !now;
        }
    for (int i = 0; i < n; i++)
        worlds[i] = entries[now][i].world;
}

typedef struct Job {
    const SapStepArgs *args;
    int *order;
} Job;

/* The blocks of one thread. */
static void sort_blocks(void *arg, int worker, int num_workers) {
    const Job *job = arg;
    int worlds = job->args->num_worlds;
    for (int first = worker * SAP_GROUP_MOST; first < worlds; first += num_workers * SAP_GROUP_MOST) {
        int n = worlds - first < SAP_GROUP_MOST ? worlds - first : SAP_GROUP_MOST;
        for (int i = first; i < first + n; i++)
            job->order[i] = i;
        sap_group_list(job->args, job->order + first, n);
    }
}

void sap_group_worlds(SapPool *pool, const SapStepArgs *args, int *order) {
    Job job = {args, order};
    if (args->num_worlds > SAP_GROUP_MOST)
        sap_pool_run(pool, sort_blocks, &job);
    else
        sort_blocks(&job, 0, 1);
}
