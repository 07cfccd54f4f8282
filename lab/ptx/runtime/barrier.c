/* Barriers of a block. One without a count waits for all threads that have not ended; reaching it from different places
 * is reported, since all threads must agree on the branch that leads to it. */
#include "executor.h"

#include <stdlib.h>

static u32 clocks[NUM_BARRIERS][MAX_THREADS];

void ptx_reset_barriers(void) {
    for (u32 i = 0; i < NUM_BARRIERS; i++)
        ptx_executor.barriers[i] = (Barrier){.clocks = clocks[i]};
    memset(clocks, 0, sizeof clocks);
}

static int is_ready(const Barrier *b) {
    return b->arrived && b->arrived >= (b->expected ? b->expected : ptx_executor.live);
}

/* Releases all waiting threads. If all threads wait, nothing before it can race with anything after it. */
static void open_barrier(u32 index) {
    Executor *e = &ptx_executor;
    Barrier *b = &e->barriers[index];
    int everyone = b->waiting == e->live;
    for (u32 i = 0; i < e->threads; i++) {
        Fiber *f = &e->fibers[i];
        if (f->state != AT_BARRIER || f->barrier != index)
            continue;
        f->state = RUNNING;
        if (ptx_is_race_checked() && !everyone)
            ptx_take_clocks(b->clocks, i);
    }
    if (everyone)
        ptx_new_epoch();
    *b = (Barrier){.result = b->votes, .clocks = b->clocks};
    memset(b->clocks, 0, e->threads * sizeof *b->clocks);
    e->num_barriers++;
}

void ptx_open_ready_barriers(void) {
    for (u32 i = 0; i < NUM_BARRIERS; i++)
        if (is_ready(&ptx_executor.barriers[i]))
            open_barrier(i);
}

static void check_agreement(Thread *t, const Barrier *b, u32 count, u32 site) {
    if (b->expected != count)
        ptx_report(t, site, "a barrier for %u threads that others use for %u (0 = all)", count, b->expected);
    if (b->site == site || count)
        return; /* producers and consumers meet at a counted barrier from different places */
    char other[512];
    ptx_describe_site(b->site, other, sizeof other);
    ptx_report_once(t, site, b->site, "divergent barrier: other threads of the block wait at %s", other);
}

static void arrive(Thread *t, u32 index, u32 count, u32 predicate, u32 site, int waits) {
    Executor *e = &ptx_executor;
    if (index >= NUM_BARRIERS)
        ptx_trap(t, site, "a barrier past the 16 there are");
    Barrier *b = &e->barriers[index];
    count = count == e->threads ? 0 : count;
    if (b->arrived) {
        check_agreement(t, b, count, site);
    } else {
        b->expected = count;
        b->site = site;
    }
    b->arrived++;
    b->waiting += (u32)waits;
    b->votes += predicate != 0;
    if (ptx_is_race_checked()) {
        ptx_join_clocks(b->clocks, t->index);
        ptx_advance_clock(t->index); /* waiting threads have not seen what it does from here on */
    }
    fiber_of(t)->barrier = index;
    if (waits)
        fiber_of(t)->state = AT_BARRIER;
    if (is_ready(b))
        open_barrier(index);
    else if (waits)
        ptx_wait(fiber_of(t), AT_BARRIER, site);
}

static int is_at(u32 file, u32 line, const char *name, size_t length, u32 wanted) {
    const char *path = ptx_executor.module->files[file], *slash;
    if (line != wanted)
        return 0;
    while ((slash = strchr(path, '/')))
        path = slash + 1;
    return strlen(path) == length && !strncmp(path, name, length);
}

/* PTX_SKIP=FILE:LINE leaves out the barriers that stand in that line of CUDA source, or were inlined for a call there:
 * a program that needs one must then be caught. */
int ptx_is_skipped(u32 site) {
    static const char *skip;
    static int known;
    if (!known)
        skip = getenv("PTX_SKIP"), known = 1;
    const char *colon = skip ? strrchr(skip, ':') : NULL;
    if (!colon)
        return 0;
    const Site *s = &ptx_executor.module->sites[site];
    size_t length = (size_t)(colon - skip);
    u32 line = (u32)strtoul(colon + 1, NULL, 10);
    return is_at(s->file, s->source_line, skip, length, line) || is_at(s->call_file, s->call_line, skip, length, line);
}

void ptx_sync_block(Thread *t, u32 barrier, u32 count, u32 site) {
    if (ptx_is_skipped(site))
        return;
    arrive(t, barrier, count, 0, site, 1);
}

void ptx_arrive_block(Thread *t, u32 barrier, u32 count, u32 site) {
    arrive(t, barrier, count, 0, site, 0);
}

u32 ptx_reduce_block(Thread *t, u32 barrier, u32 count, u32 predicate, BlockOperation operation, u32 site) {
    u32 all = count ? count : ptx_executor.live;
    arrive(t, barrier, count, predicate, site, 1);
    u32 votes = ptx_executor.barriers[barrier].result;
    return operation == REDUCE_POPC ? votes : operation == REDUCE_AND ? votes == all : votes != 0;
}
