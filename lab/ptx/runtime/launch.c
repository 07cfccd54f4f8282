/* A launch: its blocks one after the other, then the counts of what they did, as one line of JSON in the file
 * PTX_STATS. */
#define _GNU_SOURCE
#include "executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device_memory.h"

Executor ptx_executor;

static u64 read_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (u64)now.tv_sec * 1000000000ull + (u64)now.tv_nsec;
}

const Runtime ptx_runtime_functions = {.sync_block = ptx_sync_block,
                                       .arrive_block = ptx_arrive_block,
                                       .reduce_block = ptx_reduce_block,
                                       .sync_warp = ptx_sync_warp,
                                       .shuffle = ptx_shuffle,
                                       .vote = ptx_vote,
                                       .match = ptx_match,
                                       .reduce_warp = ptx_reduce_warp,
                                       .elect = ptx_elect,
                                       .exit_thread = ptx_exit_thread,
                                       .yield = ptx_yield,
                                       .trap = ptx_trap,
                                       .assert_fail = ptx_assert_fail,
                                       .clock = read_clock,
                                       .fault = ptx_fault,
                                       .note_access = ptx_note_access,
                                       .read_unwritten = ptx_read_unwritten,
                                       .note_local = ptx_note_local};

/* ---- shared memory */

typedef struct SharedWindow {
    u8 *bytes, *states, *fresh_states;
    u32 size, dynamic_offset;
} SharedWindow;

static SharedWindow create_window(const DeviceModule *m, u32 dynamic) {
    SharedWindow w = {.dynamic_offset = (m->shared_top + 31) / 16 * 16};
    w.size = w.dynamic_offset + dynamic;
    u64 room = (w.size + 1024 + 63) / 64 * 64; /* a wide access at the end is looked at as a whole */
    w.bytes = aligned_alloc(1024, (room + 1023) / 1024 * 1024);
    w.states = malloc(room);
    w.fresh_states = calloc(room, 1);
    for (u32 i = 0; i < m->num_shared_variables; i++)
        memset(w.fresh_states + m->shared_variables[2 * i], BYTE_VALID, m->shared_variables[2 * i + 1]);
    memset(w.fresh_states + w.dynamic_offset, BYTE_VALID, dynamic);
    return w;
}

static void clear_window(const SharedWindow *w) {
    memset(w->bytes, 0xff, w->size); /* NaN: what is read unwritten shows */
    memcpy(w->states, w->fresh_states, w->size + 64);
}

static void free_window(SharedWindow *w) {
    free(w->bytes);
    free(w->states);
    free(w->fresh_states);
}

/* ---- counts */

typedef struct Totals {
    u64 *thread_entries,
        *warp_entries; /* [num_blocks]; a warp enters a basic block as often as the lane that does so most */
    u32 *most;         /* [num_blocks] of the warp at hand */
    u64 generic_bytes[NUM_SPACES][2], generic_count[NUM_SPACES][2];
} Totals;

static Totals create_totals(u32 num_blocks) {
    Totals totals = {.thread_entries = calloc(num_blocks, sizeof(u64)),
                     .warp_entries = calloc(num_blocks, sizeof(u64)),
                     .most = calloc(num_blocks, sizeof(u32))};
    return totals;
}

static void free_totals(Totals *totals) {
    free(totals->thread_entries);
    free(totals->warp_entries);
    free(totals->most);
}

static void add_thread(Totals *totals, Thread *t) {
    for (u32 s = 0; s < NUM_SPACES; s++)
        for (u32 k = 0; k < 2; k++) {
            totals->generic_bytes[s][k] += t->generic_bytes[s][k];
            totals->generic_count[s][k] += t->generic_count[s][k];
            t->generic_bytes[s][k] = t->generic_count[s][k] = 0;
        }
}

static void add_warp(Totals *totals, u32 first, u32 last) {
    const Executor *e = &ptx_executor;
    u32 n = e->module->num_blocks;
    memset(totals->most, 0, n * sizeof *totals->most);
    for (u32 i = first; i < last; i++) {
        u32 *counts = e->fibers[i].thread.counts;
        for (u32 b = 0; b < n; b++) {
            totals->thread_entries[b] += counts[b];
            totals->most[b] = counts[b] > totals->most[b] ? counts[b] : totals->most[b];
        }
        memset(counts, 0, n * sizeof *counts);
    }
    for (u32 b = 0; b < n; b++)
        totals->warp_entries[b] += totals->most[b];
}

static void add_block(Totals *totals) {
    const Executor *e = &ptx_executor;
    for (u32 i = 0; i < e->threads; i++)
        add_thread(totals, &e->fibers[i].thread);
    for (u32 first = 0; first < e->threads; first += WARP_SIZE)
        add_warp(totals, first, first + WARP_SIZE < e->threads ? first + WARP_SIZE : e->threads);
}

static u64 sum_class(const u64 *entries, u32 class) {
    const DeviceModule *m = ptx_executor.module;
    u64 sum = 0;
    for (u32 b = 0; b < m->num_blocks; b++)
        sum += entries[b] * m->block_classes[(u64)b * m->num_classes + class];
    return sum;
}

static int is_bytes(u32 class) {
    return !strncmp(ptx_executor.module->class_names[class], "bytes_", 6);
}

static int is_cost(u32 class) {
    return !strncmp(ptx_executor.module->class_names[class], "cost_", 5);
}

static u64 sum_instructions(const u64 *entries) {
    u64 sum = 0;
    for (u32 c = 0; c < ptx_executor.module->num_classes; c++)
        sum += is_bytes(c) || is_cost(c) ? 0 : sum_class(entries, c);
    return sum;
}

/* Clocks and issue slots of warps (translator/cost.py), and the issue slots of the code that ran at all. */
static void write_costs(FILE *file, const Totals *totals) {
    const DeviceModule *m = ptx_executor.module;
    for (u32 c = 0; c < m->num_classes; c++)
        if (is_cost(c))
            fprintf(file, ", \"warp_%s\": %llu", m->class_names[c] + 5,
                    (unsigned long long)sum_class(totals->warp_entries, c));
    u64 slots = 0;
    for (u32 b = 0; b < m->num_blocks; b++)
        for (u32 c = 0; c < m->num_classes && totals->warp_entries[b]; c++)
            slots += !strcmp(m->class_names[c], "cost_issue") ? m->block_classes[(u64)b * m->num_classes + c] : 0;
    fprintf(file, ", \"touched_issue\": %llu", (unsigned long long)slots);
}

static void write_classes(FILE *file, const Totals *totals) {
    const DeviceModule *m = ptx_executor.module;
    const char *comma = "";
    fprintf(file, ", \"instructions\": {");
    for (u32 c = 0; c < m->num_classes; c++) {
        u64 sum = is_bytes(c) || is_cost(c) ? 0 : sum_class(totals->thread_entries, c);
        if (sum)
            fprintf(file, "%s\"%s\": %llu", comma, m->class_names[c], (unsigned long long)sum), comma = ", ";
    }
    fprintf(file, "}");
}

/* Bytes by space: of instructions that name it, and of generic ones that turned out to mean it. */
static void write_bytes(FILE *file, const Totals *totals) {
    static const char *const names[NUM_SPACES][2] = {{"load_global", "store_global"},
                                                     {"load_shared", "store_shared"},
                                                     {"load_local", "store_local"},
                                                     {"load_param", "store_param"}};
    const DeviceModule *m = ptx_executor.module;
    const char *comma = "";
    fprintf(file, ", \"bytes\": {");
    for (u32 s = 0; s < NUM_SPACES; s++)
        for (u32 k = 0; k < 2; k++) {
            u64 sum = totals->generic_bytes[s][k];
            for (u32 c = 0; c < m->num_classes; c++)
                if (is_bytes(c) && !strcmp(m->class_names[c] + 6, names[s][k]))
                    sum += sum_class(totals->thread_entries, c);
            fprintf(file, "%s\"%s\": %llu", comma, names[s][k], (unsigned long long)sum), comma = ", ";
        }
    fprintf(file, "}, \"generic\": {");
    for (u32 s = 0; s < NUM_SPACES; s++)
        fprintf(file, "%s\"%s\": %llu, \"%s\": %llu", s ? ", " : "", names[s][0],
                (unsigned long long)totals->generic_count[s][0], names[s][1],
                (unsigned long long)totals->generic_count[s][1]);
    fprintf(file, "}");
}

/* How often threads and warps entered each basic block, as one line of JSON in the file PTX_ENTRIES. */
static void write_entries(const Totals *totals) {
    const char *path = getenv("PTX_ENTRIES"), *comma = "";
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "{\"kernel\": \"%s\", \"entries\": {", ptx_executor.kernel->name);
    for (u32 b = 0; b < ptx_executor.module->num_blocks; b++)
        if (totals->thread_entries[b])
            fprintf(file, "%s\"%u\": [%llu, %llu]", comma, b, (unsigned long long)totals->thread_entries[b],
                    (unsigned long long)totals->warp_entries[b]),
                comma = ", ";
    fprintf(file, "}}\n");
    fclose(file);
}

static void write_statistics(const PtxLaunch *l, const Totals *totals, double seconds) {
    const char *path = getenv("PTX_STATS");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    const Executor *e = &ptx_executor;
    u64 thread = sum_instructions(totals->thread_entries), warp = sum_instructions(totals->warp_entries);
    fprintf(file, "{\"kernel\": \"%s\", \"target\": \"%s\", \"check\": %u, ", e->kernel->name, e->module->target,
            e->module->check);
    fprintf(file, "\"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], ", l->grid[0], l->grid[1], l->grid[2], l->block[0],
            l->block[1], l->block[2]);
    fprintf(file, "\"shared\": %u, \"seconds\": %.6f, \"barriers\": %llu, ",
            l->dynamic_shared + e->module->static_shared, seconds, (unsigned long long)e->num_barriers);
    fprintf(file, "\"thread_instructions\": %llu, \"warp_instructions\": %llu", (unsigned long long)thread,
            (unsigned long long)warp);
    write_costs(file, totals);
    write_classes(file, totals);
    write_bytes(file, totals);
    ptx_write_reuse(file);
    fprintf(file, "}\n");
    fclose(file);
}

/* ---- blocks */

static void begin_block(const PtxLaunch *l, const SharedWindow *window, u64 number) {
    Executor *e = &ptx_executor;
    u32 *ctaid = e->block.ctaid;
    ctaid[0] = (u32)(number % l->grid[0]);
    ctaid[1] = (u32)(number / l->grid[0] % l->grid[1]);
    ctaid[2] = (u32)(number / l->grid[0] / l->grid[1]);
    e->live = e->threads;
    clear_window(window);
    ptx_reset_barriers();
    ptx_reset_warps();
    ptx_begin_reuse_of_block();
    if (ptx_is_race_checked())
        ptx_begin_races_of_block();
    for (u32 i = 0; i < e->threads; i++)
        ptx_start_fiber(&e->fibers[i]);
}

static void set_threads(const PtxLaunch *l, const SharedWindow *window) {
    Executor *e = &ptx_executor;
    ptx_prepare_fibers(e->threads, e->module->num_blocks);
    for (u32 i = 0; i < e->threads; i++) {
        Thread *t = &e->fibers[i].thread;
        t->shared = window->bytes;
        t->shared_states = window->states;
        t->shared_size = window->size;
        t->dynamic_offset = window->dynamic_offset;
        t->params = l->params;
        t->params_size = e->kernel->params_size;
        t->block = &e->block;
        t->tid[0] = i % l->block[0];
        t->tid[1] = i / l->block[0] % l->block[1];
        t->tid[2] = i / l->block[0] / l->block[1];
        t->notes_local = 0;
    }
    if (getenv("PTX_STATS")) {
        const Thread *first = &e->fibers[0].thread;
        ptx_begin_reuse((u32)((first->local_high - first->local_low) / 4));
        e->fibers[0].thread.notes_local = 1;
    }
}

static void set_executor(const DeviceModule *module, const Kernel *kernel, const PtxLaunch *l) {
    Executor *e = &ptx_executor;
    e->module = module;
    e->kernel = kernel;
    e->threads = l->block[0] * l->block[1] * l->block[2];
    e->num_warps = (e->threads + WARP_SIZE - 1) / WARP_SIZE;
    e->failure = PTX_OK;
    e->num_barriers = 0;
    memcpy(e->block.ntid, l->block, sizeof l->block);
    memcpy(e->block.nctaid, l->grid, sizeof l->grid);
    e->block.threads = e->threads;
    e->block.dynamic_shared = l->dynamic_shared;
}

static int has_stopped(void) {
    return ptx_executor.failure != PTX_OK && ptx_executor.failure != PTX_REPORTED;
}

PtxFailure ptx_launch(const DeviceModule *module, const Kernel *kernel, const PtxLaunch *l) {
    u64 start = read_clock(), num_blocks = (u64)l->grid[0] * l->grid[1] * l->grid[2];
    set_executor(module, kernel, l);
    SharedWindow window = create_window(module, l->dynamic_shared);
    set_threads(l, &window);
    ptx_reset_reports();
    if (ptx_is_race_checked())
        ptx_begin_races_of_launch();
    Totals totals = create_totals(module->num_blocks);
    for (u64 i = 0; i < num_blocks && !has_stopped(); i++) {
        begin_block(l, &window, i);
        ptx_run_fibers();
        add_block(&totals);
    }
    write_statistics(l, &totals, 1e-9 * (double)(read_clock() - start));
    write_entries(&totals);
    free_window(&window);
    free_totals(&totals);
    return ptx_executor.failure;
}
