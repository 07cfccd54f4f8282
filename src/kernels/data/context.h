/* One pack at work: its worlds, arguments and scratch. */
#ifndef SAPWOOD_KERNELS_DATA_CONTEXT_H
#define SAPWOOD_KERNELS_DATA_CONTEXT_H

#include <sapwood/solver.h>

#include "kernels/data/args.h"

/* The worlds that one team or one pack of lanes steps. Lanes past `count` repeat the last world and store nothing. */
enum { SAP_MAX_LANES = 8 };
typedef struct SapPack {
    int world[SAP_MAX_LANES];
    int count;
} SapPack;

/* Where the time of one worker goes (profile.h). Ticks of whatever clock that has; the worker measures how long they are. */
typedef struct SapTicks {
    unsigned long long of[SAP_NUM_STAGES];
    unsigned long long last; /* when the stage at hand began */
    int stage;
    long long factors[2]; /* linear systems: on the tree's pattern, dense */
    double seconds;       /* of all ticks together */
} SapTicks;

/* A pack's work: its scratch, one arena per stage that may have a precision of its own, each 64-byte aligned. */
typedef struct SapContext {
    const SapStepArgs *args;
    const SapPack *pack;
    const struct SapKernels *kernels[2];  /* f32, f64: how a stage calls one of another precision on a CPU */
    const struct SapKernels *one_lane[2]; /* the same for one world at a time */
    void *fm;                             /* free motion */
    void *collide;                        /* collision */
    void *solve;                          /* contact solve */
    void *linear[2];                      /* linear systems, f32 and f64 */
    int *ints;                            /* contact slots */
    int *pairs;                           /* of collision */
    int num_slots;                        /* in use; set by the stage that fills them */
    int step;                             /* of args->num_steps */
    SapTicks *ticks;                      /* NULL = not asked for; not on a GPU */
} SapContext;

#endif
