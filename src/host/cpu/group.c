#include "host/cpu/group.h"

#include <stdint.h>

/* Worlds of a block are sorted among themselves, by one thread and in its cache. */
enum { BLOCK = 1024, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* The key: a bit for each contact pair, modulo PAIR_BITS, then the iterations. Neighbours in this order have most pairs in
 * common. */
enum { PAIR_BITS = 24, MOST_ITERATIONS = DIGITS - 1, MOST_CONTACTS = 64 };

typedef struct Entry {
    uint32_t key;
    int world;
} Entry;

bool sap_group_pays(int num_worlds, int lanes) {
    return lanes > 1 && num_worlds > lanes;
}

static int clamp(int x, int most) {
    return x < 0 ? 0 : x < most ? x : most;
}

static uint32_t key_of(const SapStepArgs *args, int world) {
    const SapContactArgs *c = &args->contacts;
    int n = clamp(clamp(c->count[world], c->given_capacity), MOST_CONTACTS);
    size_t first = (size_t)world * (size_t)c->given_capacity;
    uint32_t pairs = 0;
    for (size_t k = first; k < first + (size_t)n; k++)
        pairs |= 1u << (31 * (uint32_t)c->shape[0][k] + (uint32_t)c->shape[1][k]) % PAIR_BITS;
    return pairs << DIGIT_BITS | (uint32_t)clamp(args->report.iterations[world], MOST_ITERATIONS);
}

/* Sorts by one digit, stably. Returns false, and writes nothing, if all have the same. */
static bool sort_by_digit(const Entry *from, int n, int shift, Entry *to) {
    int at[DIGITS] = {0}, sum = 0;
    for (int i = 0; i < n; i++)
        at[from[i].key >> shift & (DIGITS - 1)]++;
    if (at[from[0].key >> shift & (DIGITS - 1)] == n)
        return false;
    for (int d = 0; d < DIGITS; d++) {
        int count = at[d];
        at[d] = sum;
        sum += count;
    }
    for (int i = 0; i < n; i++)
        to[at[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

static void sort_block(const SapStepArgs *args, int first, int n, int *order) {
    Entry entries[2][BLOCK];
    int now = 0;
    for (int i = 0; i < n; i++)
        entries[0][i] = (Entry){key_of(args, first + i), first + i};
    for (int shift = 0; shift < 32; shift += DIGIT_BITS)
        now ^= sort_by_digit(entries[now], n, shift, entries[!now]);
    for (int i = 0; i < n; i++)
        order[first + i] = entries[now][i].world;
}

typedef struct Job {
    const SapStepArgs *args;
    int *order;
} Job;

/* The blocks of one thread. */
static void sort_blocks(void *arg, int worker, int num_workers) {
    const Job *job = arg;
    int worlds = job->args->num_worlds;
    for (int first = worker * BLOCK; first < worlds; first += num_workers * BLOCK)
        sort_block(job->args, first, worlds - first < BLOCK ? worlds - first : BLOCK, job->order);
}

void sap_group_worlds(SapPool *pool, const SapStepArgs *args, int *order) {
    Job job = {args, order};
    if (args->num_worlds > BLOCK)
        sap_pool_run(pool, sort_blocks, &job);
    else
        sort_blocks(&job, 0, 1);
}
