/* The team: the threads that step one pack. TEAM_FOR distributes the indices 0 .. n-1 over the threads of the team; the
 * body of index i writes only data that i owns. TEAM_FOR_2 distributes pairs of indices. After TEAM_SYNC, every thread
 * may read everything written before it. The control flow around both must be the same for the whole team. team_or adds
 * bits to an integer that several threads add bits to; the result does not depend on their order. team_take takes n
 * places of a list that all teams fill; its order is arbitrary, so no result may depend on it. TEAM_OF_ONE is 1 if
 * every team has one thread, else 0: a constant, for loops that such a team runs in a better order.
 *
 *   CUDA              the team is one row (threadIdx.y) of a block: up to a warp, or the whole block; with
 *                     SAP_THREAD_PER_WORLD it is one thread, as on a CPU
 *   CPU               the team is one thread: TEAM_FOR is a plain loop, TEAM_SYNC does nothing
 *   SAP_TEAM_THREADS  (tests) the team is real threads with a real barrier, which a sanitizer can check */
#ifndef SAPWOOD_KERNELS_DIALECT_TEAM_H
#define SAPWOOD_KERNELS_DIALECT_TEAM_H

/* TEAM_FN: for functions without reals; lane.h has the others. TEAM_RARE_FN: one that few worlds need, so that kernels
 * call it and have its code once. */
#if defined(__CUDACC__)
#define TEAM_FN      static __device__ inline
#define TEAM_RARE_FN static __device__ __noinline__
#else
#define TEAM_FN      static inline
#define TEAM_RARE_FN static inline
#endif

#if defined(__CUDACC__) && !defined(SAP_THREAD_PER_WORLD)
/* Threads of a team; a constant in kernels made for one batch. */
#ifndef TEAM_THREADS
#define TEAM_THREADS blockDim.x
#endif
static __device__ inline int team_rank(void) {
    return (int)threadIdx.x;
}
static __device__ inline int team_size(void) {
    return (int)TEAM_THREADS;
}
static __device__ inline void team_sync(void) {
    /* Teams smaller than a warp share a warp: each waits for its own lanes only. The team size is a power of two. */
    if (TEAM_THREADS < 32) {
        unsigned first = (threadIdx.y * TEAM_THREADS) & 31u;
        __syncwarp(((1u << TEAM_THREADS) - 1u) << first);
    } else if (TEAM_THREADS == 32) {
        __syncwarp();
    } else {
        __syncthreads();
    }
}
static __device__ inline void team_or(int *word, int bits) {
    atomicOr(word, bits);
}
static __device__ inline int team_take(int *count, int n) {
    return atomicAdd(count, n);
}
#define TEAM_RANK   team_rank()
#define TEAM_SIZE   team_size()
#define TEAM_SYNC() team_sync()
#define TEAM_OF_ONE 0
#elif defined(SAP_TEAM_THREADS)
#include "kernels/dialect/team_threads.h"
static inline void team_or(int *word, int bits) {
    __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
}
static inline int team_take(int *count, int n) {
    return __atomic_fetch_add(count, n, __ATOMIC_RELAXED);
}
#define TEAM_RANK   sap_team_rank
#define TEAM_SIZE   sap_team_size
#define TEAM_SYNC() sap_team_sync()
#define TEAM_OF_ONE 0
#else
TEAM_FN void team_or(int *word, int bits) {
    *word |= bits;
}
TEAM_FN int team_take(int *count, int n) {
    *count += n;
    return *count - n;
}
#define TEAM_FOR(i, n) for (int i = 0; i < (n); i++)
#define TEAM_SYNC()    ((void)0)
#define TEAM_FOR_2(i, m, j, n)                                                                                         \
    for (int i = 0; i < (m); i++)                                                                                      \
        for (int j = 0; j < (n); j++)
#define TEAM_OF_ONE 1
#endif

#ifndef TEAM_FOR
#define TEAM_FOR(i, n) for (int i = TEAM_RANK; i < (n); i += TEAM_SIZE)
#endif
#ifndef TEAM_FOR_2
/* Brings j below n by carrying into i: a team is small, so this takes fewer clocks than a division. False at the
 * end. */
TEAM_FN int team_carry(int *i, int m, int *j, int n) {
    for (; *j >= n && *i < m; *j -= n)
        ++*i;
    return *i < m;
}
#define TEAM_FOR_2(i, m, j, n) for (int i = 0, j = TEAM_RANK; team_carry(&i, m, &j, n); j += TEAM_SIZE)
#endif

/* The body runs once, in one thread of the team. */
#define TEAM_ONCE() TEAM_FOR(team_once_index, 1)

/* PROFILE(ctx, stage) begins a stage of the profile. Only a team of one thread of a CPU is profiled. */
#if TEAM_OF_ONE && !defined(__CUDACC__)
#include "kernels/dialect/profile.h"
#define PROFILE(ctx, stage)                                                                                            \
    do {                                                                                                               \
        if ((ctx)->ticks)                                                                                              \
            profile_enter((ctx)->ticks, stage);                                                                        \
    } while (0)
#define PROFILE_FACTOR(ctx, tiled)                                                                                     \
    do {                                                                                                               \
        if ((ctx)->ticks)                                                                                              \
            (ctx)->ticks->factors[tiled]++;                                                                            \
    } while (0)
#else
#define PROFILE(ctx, stage)        ((void)0)
#define PROFILE_FACTOR(ctx, tiled) ((void)0)
#endif

#endif
