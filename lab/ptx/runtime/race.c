/* Races: two threads touch the same bytes, at least one writes, and nothing orders the two accesses.
 *
 * Time in a block is counted in epochs, which a barrier of all threads ends, and within one by a clock for each thread,
 * which goes on at every barrier the thread takes part in. knows(a)[b] is the clock of b up to which a has seen what b
 * did; threads that meet exchange it (vector clocks). An access at (epoch, thread, clock) comes before one by thread a
 * now if
 *
 *     epoch < now   or   thread == a   or   clock <= knows(a)[thread].
 *
 * Epochs are never used twice, so stamps of earlier blocks and launches are told by their number and need no clearing.
 * In shared memory they mean nothing; in global memory accesses of other blocks of this launch are unordered.
 *
 * Each word of four bytes keeps its last write and two reads that are not ordered with each other: of many concurrent
 * readers the others are forgotten, which can miss a race, but reports none that is not there. */
#define _GNU_SOURCE
#include "executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

typedef struct Stamp {
    u32 epoch; /* 0 = none */
    u32 clock;
    u32 site;
    u16 thread;
    u8 bytes; /* of the word, a bit each */
    u8 kind;  /* Access */
} Stamp;

typedef struct Cell {
    Stamp write, read[2];
} Cell;

static Cell *global_cells, *shared_cells;
static u32 *knowledge; /* [threads][threads] */
static u32 epoch = 1, first_of_block, first_of_launch;

enum { MAX_SHARED = 256 << 10 };

int ptx_is_race_checked(void) {
    return ptx_executor.module->check >= 2;
}

static void *reserve(u64 size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "ptx: no memory to look for races\n");
        abort();
    }
    return memory;
}

static u32 *known_by(u32 thread) {
    return knowledge + (u64)thread * ptx_executor.threads;
}

void ptx_begin_races_of_launch(void) {
    if (!global_cells) {
        global_cells = reserve(ARENA_SIZE / 4 * sizeof(Cell));
        shared_cells = reserve(MAX_SHARED / 4 * sizeof(Cell));
    }
    free(knowledge);
    knowledge = calloc((u64)ptx_executor.threads * ptx_executor.threads, sizeof *knowledge);
    first_of_launch = epoch;
}

void ptx_begin_races_of_block(void) {
    u32 n = ptx_executor.threads;
    first_of_block = ++epoch;
    memset(knowledge, 0, (u64)n * n * sizeof *knowledge);
    for (u32 i = 0; i < n; i++)
        known_by(i)[i] = 1;
}

void ptx_new_epoch(void) {
    epoch++;
}

void ptx_join_clocks(u32 *joined, u32 thread) {
    const u32 *known = known_by(thread);
    for (u32 i = 0; i < ptx_executor.threads; i++)
        joined[i] = joined[i] > known[i] ? joined[i] : known[i];
}

void ptx_take_clocks(const u32 *joined, u32 thread) {
    u32 *known = known_by(thread);
    for (u32 i = 0; i < ptx_executor.threads; i++)
        known[i] = known[i] > joined[i] ? known[i] : joined[i];
    known[thread]++;
}

void ptx_advance_clock(u32 thread) {
    known_by(thread)[thread]++;
}

static int is_before(const Stamp *s, const Thread *t) {
    if (s->epoch < first_of_block)
        return 0; /* of another block */
    return s->epoch < epoch || s->thread == t->index || s->clock <= known_by(t->index)[s->thread];
}

/* Shared memory of earlier blocks and global memory of earlier launches do not matter. */
static int is_stale(const Stamp *s, Space space) {
    return s->epoch < (space == SPACE_SHARED ? first_of_block : first_of_launch + 1);
}

static void check_against(Thread *t, Space space, u64 address, const Stamp *old, const Stamp *now) {
    if (is_stale(old, space) || !(old->bytes & now->bytes) || is_before(old, t))
        return;
    if (old->kind == ATOMIC && now->kind == ATOMIC)
        return;
    char place[512];
    ptx_describe_site(old->site, place, sizeof place);
    static const char *const verbs[] = {"read", "written", "updated"};
    ptx_report_once(t, now->site, old->site,
                    "race in %s memory at 0x%llx: %s here, and %s by %s %u at %s without a barrier between",
                    space == SPACE_SHARED ? "shared" : "global",
                    (unsigned long long)(space == SPACE_SHARED ? address - SHARED_BASE : address), verbs[now->kind],
                    verbs[old->kind], old->epoch < first_of_block ? "another block's thread" : "thread", old->thread,
                    place);
}

static void note_read(Thread *t, Space space, Cell *cell, const Stamp *now) {
    for (int k = 0; k < 2; k++)
        if (is_stale(&cell->read[k], space) || is_before(&cell->read[k], t)) {
            cell->read[k] = *now;
            return;
        }
    cell->read[1] = *now;
}

static void note_word(Thread *t, Space space, Cell *cell, u64 address, const Stamp *now) {
    check_against(t, space, address, &cell->write, now);
    if (now->kind == READ) {
        note_read(t, space, cell, now);
        return;
    }
    for (int k = 0; k < 2; k++)
        check_against(t, space, address, &cell->read[k], now);
    *cell = (Cell){.write = *now};
}

void ptx_note_access(Thread *t, Space space, u64 address, u32 width, u32 site, Access kind) {
    u64 offset = space == SPACE_SHARED ? address : address - ARENA_BASE;
    Cell *cells = space == SPACE_SHARED ? shared_cells : global_cells;
    Stamp now = {.epoch = epoch,
                 .clock = known_by(t->index)[t->index],
                 .site = site,
                 .thread = (u16)t->index,
                 .bytes = (u8)(width >= 4 ? 15 : ((1u << width) - 1) << (offset % 4)),
                 .kind = (u8)kind};
    for (u64 word = offset / 4; word < (offset + width + 3) / 4; word++)
        note_word(t, space, &cells[word], address, &now);
}
