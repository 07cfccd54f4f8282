/* Reading a clock between the stages of a step, on a CPU: each reading ends one stage and begins the next, so a stage costs one
 * reading (some ten nanoseconds for a whole pack of worlds). */
#ifndef SAPWOOD_KERNELS_DIALECT_PROFILE_H
#define SAPWOOD_KERNELS_DIALECT_PROFILE_H

#include "kernels/data/context.h"

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <time.h>
#endif

/* A counter of constant rate that is cheap to read. */
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

/* Not inlined: where it is called, only the test whether to call it stands. */
static __attribute__((noinline, unused)) void profile_enter(SapTicks *ticks, int stage) {
    unsigned long long now = profile_now();
    ticks->of[ticks->stage] += now - ticks->last;
    ticks->last = now;
    ticks->stage = stage;
}

#endif
