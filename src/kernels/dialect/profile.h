/* The profile of a step on a CPU. One clock reading ends a stage and begins the next, so a stage costs one reading
 * (some ten nanoseconds per pack of worlds). */
#ifndef SAPWOOD_KERNELS_DIALECT_PROFILE_H
#define SAPWOOD_KERNELS_DIALECT_PROFILE_H

#include "kernels/data/context.h"

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <time.h>
#endif

/* A counter with a constant rate that is fast to read. */
static inline unsigned long long profile_now(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    unsigned long long ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1000000000ull * (unsigned long long)t.tv_sec + (unsigned long long)t.tv_nsec;
#endif
}

/* Ends the current stage and begins `stage`. Not inlined, so that the caller contains only the test of ctx->ticks. */
static __attribute__((noinline, unused)) void profile_enter(SapTicks *ticks, int stage) {
    unsigned long long now = profile_now();
    ticks->of[ticks->stage] += now - ticks->last;
    ticks->last = now;
    ticks->stage = stage;
}

#endif
