/* Work ranges: every pack goes to one worker, also where another worker takes a pack between the look at a range and
 * the increment of its counter. The functions are compiled into this file with an increment that lets the other worker
 * go first, so the order of events is always the same. */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include <criterion/criterion.h>

static int overtaking_fetch_add(atomic_int *counter, int n);

#undef atomic_fetch_add_explicit
#define atomic_fetch_add_explicit(counter, n, order) overtaking_fetch_add(counter, n)
#define sap_work_ranges_start                        ranges_start
#define sap_work_ranges_take                         ranges_take
#include "host/cpu/work_ranges.c"

enum { MAX_WORKERS = 4, MAX_PACKS = 9 };

static SapWorkRange ranges[MAX_WORKERS];
static int num_workers, taken[MAX_PACKS + 1];
static int overtaker; /* the worker that goes first at the next increment; -1: none */

/* Worker w takes its next pack. */
static bool take(int w) {
    int from = w, pack = ranges_take(ranges, w, num_workers, &from);
    cr_assert(pack < MAX_PACKS, "pack %d does not exist", pack);
    if (pack >= 0)
        taken[pack]++;
    return pack >= 0;
}

static int overtaking_fetch_add(atomic_int *counter, int n) {
    int other = overtaker;
    overtaker = -1;
    if (other >= 0)
        take(other);
    return atomic_fetch_add(counter, n);
}

/* Workers take packs in turn, each overtaken by the next one, until all are taken. */
static void deal(int workers, int packs) {
    num_workers = workers;
    memset(taken, 0, sizeof taken);
    ranges_start(ranges, workers, packs);
    bool any = true;
    while (any) {
        any = false;
        for (int w = 0; w < workers; w++) {
            overtaker = (w + 1) % workers;
            any |= take(w);
        }
    }
    for (int k = 0; k < packs; k++)
        cr_assert_eq(taken[k], 1, "pack %d of %d was taken %d times by %d workers", k, packs, taken[k], workers);
}

Test(work_ranges, a_worker_that_is_overtaken_takes_no_pack_of_another_range) {
    for (int workers = 1; workers <= MAX_WORKERS; workers++)
        for (int packs = 1; packs <= MAX_PACKS; packs++)
            deal(workers, packs);
}
