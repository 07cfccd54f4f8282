/* The context of a pack: its worlds, arguments and scratch. */
#ifndef SAPWOOD_KERNELS_DATA_CONTEXT_H
#define SAPWOOD_KERNELS_DATA_CONTEXT_H

#include <sapwood/solver.h>

#include "kernels/data/args.h"

/* The worlds that one team steps, one per lane. Lanes past `count` repeat the last world and store nothing. An entry
 * file whose teams have one world defines SAP_MAX_LANES as 1. */
#ifndef SAP_MAX_LANES
#define SAP_MAX_LANES 16
#endif
typedef struct SapPack {
    int world[SAP_MAX_LANES];
    int count;
} SapPack;

/* Time per stage of one worker (dialect/profile.h), in ticks of an arbitrary clock. The worker measures the length
 * of a tick. */
typedef struct SapTicks {
    unsigned long long of[SAP_NUM_SECTIONS]; /* ticks per stage */
    unsigned long long last;                 /* time at which the current stage began */
    int stage;                               /* the current stage */
    long long factors[2];                    /* linear systems: on the model's pattern, on tiles */
    double seconds;                          /* s, duration of all ticks together */
} SapTicks;

/* The scratch has one arena per stage that may differ in precision, each 64-byte aligned. */
typedef struct SapContext {
    const SapStepArgs *args;
    const SapPack *pack;
    const struct SapKernels *kernels[2];  /* f32, f64: for calls to stages of another precision on a CPU */
    const struct SapKernels *one_lane[2]; /* f32, f64: for calls to stages that process one world at a time */
    void *fm;                             /* arena of free motion */
    void *collide;                        /* arena of collision */
    void *solve;                          /* the contact problem and its method; in the arena of free motion */
    void *slots, *setup;                  /* contact slots, and what they are made of (SapSlotLayout) */
    void *blocks;                         /* constraints and tendons of the model (SapModelConstraint) */
    void *jacobians;                      /* [slots][max_columns][3] */
    void *retry, *retry_slots;            /* solve and slots of the repetition in f64 of an f32 solve */
    void *linear[2];                      /* linear systems, f32 and f64 */
    int *ints;                            /* integers of the pack (SapPackInts) */
    int *slot_ints, *setup_ints;          /* integers of the contact slots (SapSlotInts) */
    int *tiles;                           /* the pattern of tiles (SAP_TILE_INTS) */
    int *pairs;                           /* integers of collision (SapCollideLayout) */
    int num_slots;                        /* slots in use; set after fill_slots */
    int retry_f64;                        /* bit l: the solve of lane l is repeated in f64; 0 = it is the first solve */
    int step;                             /* current step, 0 .. args->num_steps - 1 */
    int rk_stage;                         /* current stage of the step, 0 .. 3 with RK4, else 0 */
    SapTicks *ticks;                      /* NULL = no profile, as always on a GPU */
} SapContext;

#endif
