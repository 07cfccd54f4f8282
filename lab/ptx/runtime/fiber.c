/* Threads as fibers: each has a stack, and runs until it waits or ends. The scheduler goes round in an order that
 * PTX_ORDER chooses (forward, reverse, random:SEED); a program without races gives the same result in each. */
#define _GNU_SOURCE
#include "executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { STACK_BYTES = 256 << 10, LOCAL_BYTES = 64 << 10 };

static u8 *stacks, *locals, *local_states;
static u32 *counts;
static u32 num_stacks;

/* Saves the registers a function must keep and the stack pointer, and continues where the other left off. */
void ptx_switch(void **save, void *load);
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl ptx_switch\n.hidden ptx_switch\n.type ptx_switch, @function\n"
        "ptx_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".globl ptx_fiber_entry\n.hidden ptx_fiber_entry\n"
        "ptx_fiber_entry:\n"
        "    movq %r12, %rdi\n"
        "    call ptx_fiber_main\n"
        "    ud2\n");
#else
#error "the PTX executor switches stacks in assembly, which is written for x86-64 only"
#endif
void ptx_fiber_entry(void);
void ptx_fiber_main(Fiber *fiber) __attribute__((used, visibility("hidden")));

void ptx_fiber_main(Fiber *fiber) {
    ptx_executor.kernel->function(&fiber->thread);
    ptx_exit_thread(&fiber->thread);
}

static void *map(u64 size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "ptx: no memory for the stacks of threads\n");
        abort();
    }
    return memory;
}

void ptx_prepare_fibers(u32 threads, u32 num_blocks) {
    Executor *e = &ptx_executor;
    if (!stacks) {
        num_stacks = MAX_THREADS;
        stacks = map((u64)num_stacks * STACK_BYTES);
        locals = map((u64)num_stacks * LOCAL_BYTES);
        local_states = map((u64)num_stacks * LOCAL_BYTES);
        for (u32 i = 0; i < num_stacks; i++) /* running over the end of a stack must not reach the next */
            mprotect(stacks + (u64)i * STACK_BYTES, 4096, PROT_NONE);
        e->fibers = calloc(MAX_THREADS, sizeof *e->fibers);
        e->warps = calloc(MAX_THREADS / WARP_SIZE, sizeof *e->warps);
    }
    free(counts);
    counts = calloc((u64)threads * num_blocks, sizeof *counts);
    for (u32 i = 0; i < threads; i++)
        e->fibers[i].thread = (Thread){.counts = counts + (u64)i * num_blocks,
                                       .index = i,
                                       .lane = i % WARP_SIZE,
                                       .warp = i / WARP_SIZE,
                                       .local_low = (u64)(locals + (u64)i * LOCAL_BYTES),
                                       .local_high = (u64)(locals + (u64)(i + 1) * LOCAL_BYTES),
                                       .local_states = local_states + (u64)i * LOCAL_BYTES};
}

void ptx_start_fiber(Fiber *fiber) {
    u64 high = (u64)stacks + ((u64)fiber->thread.index + 1) * STACK_BYTES;
    /* Stacks that begin at the same place of a page share cache lines' sets; spread them. */
    u64 *sp = (u64 *)(high - 64 - 64 * (fiber->thread.index % 61));
    *--sp = (u64)ptx_fiber_entry; /* where ptx_switch returns to */
    *--sp = 0;                    /* rbp */
    *--sp = 0;                    /* rbx */
    *--sp = (u64)fiber;           /* r12 */
    *--sp = 0;                    /* r13 */
    *--sp = 0;                    /* r14 */
    *--sp = 0;                    /* r15 */
    fiber->stack_pointer = sp;
    fiber->state = RUNNING;
    fiber->thread.local_top = fiber->thread.local_low;
    fiber->thread.patience = 0;
}

static void leave(Fiber *fiber) {
    ptx_switch(&fiber->stack_pointer, ptx_executor.stack_pointer);
}

void ptx_wait(Fiber *fiber, FiberState state, u32 site) {
    fiber->state = state;
    fiber->site = site;
    leave(fiber);
}

void ptx_yield(Thread *t) {
    leave(fiber_of(t));
}

void ptx_fail(Thread *t, PtxFailure failure) {
    ptx_executor.failure = failure;
    ptx_wait(fiber_of(t), ENDED, 0);
    abort(); /* a failed launch runs no fiber again */
}

void ptx_exit_thread(Thread *t) {
    ptx_executor.live--;
    fiber_of(t)->state = ENDED;
    ptx_lane_ended(t);
    ptx_open_ready_barriers();
    leave(fiber_of(t));
    abort();
}

/* ---- whose turn it is */

typedef struct Order {
    u32 first, step;
} Order;

static u32 next_random(void) {
    u64 x = ptx_executor.random;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    ptx_executor.random = x;
    return (u32)(x >> 32);
}

/* Round r visits threads first, first + step, ... modulo their number. */
static Order order_of_round(u32 n) {
    const char *text = getenv("PTX_ORDER");
    if (text && !strcmp(text, "reverse"))
        return (Order){n - 1, n - 1};
    if (text && !strncmp(text, "random", 6)) {
        if (!ptx_executor.random)
            ptx_executor.random = 0x9e3779b97f4a7c15ull + (text[6] ? strtoull(text + 7, NULL, 0) : 0);
        return (Order){next_random() % n, next_random() % 2 ? 1 : n - 1};
    }
    return (Order){0, 1};
}

static int run_round(void) {
    Executor *e = &ptx_executor;
    int progress = 0;
    Order order = order_of_round(e->threads);
    for (u32 k = 0, i = order.first; k < e->threads; k++, i = (i + order.step) % e->threads) {
        if (e->fibers[i].state != RUNNING)
            continue;
        progress = 1;
        e->current = &e->fibers[i];
        ptx_switch(&e->stack_pointer, e->fibers[i].stack_pointer);
        if (e->failure != PTX_OK && e->failure != PTX_REPORTED)
            return 0;
    }
    return progress;
}

static void report_deadlock(void) {
    Executor *e = &ptx_executor;
    u32 at_barrier = 0, at_warp = 0;
    Fiber *first[2] = {NULL, NULL};
    for (u32 i = 0; i < e->threads; i++) {
        Fiber *f = &e->fibers[i];
        at_barrier += f->state == AT_BARRIER;
        at_warp += f->state == AT_WARP;
        if (f->state == AT_BARRIER && !first[0])
            first[0] = f;
        if (f->state == AT_WARP && !first[1])
            first[1] = f;
    }
    for (int k = 0; k < 2; k++)
        if (first[k])
            ptx_report(
                &first[k]->thread, first[k]->site,
                "deadlock: waits here; %u threads wait at a block barrier, %u for lanes of their warp, %u have ended",
                at_barrier, at_warp, e->threads - e->live);
    e->failure = PTX_TRAP;
}

void ptx_run_fibers(void) {
    Executor *e = &ptx_executor;
    while (e->live)
        if (!run_round()) {
            if (e->failure == PTX_OK || e->failure == PTX_REPORTED)
                report_deadlock();
            return;
        }
}
