/* Scratch: where each stage keeps things, and how much there is. */
#ifndef SAPWOOD_HOST_PLAN_LAYOUT_H
#define SAPWOOD_HOST_PLAN_LAYOUT_H

#include <stddef.h>

#include "kernels/data/args.h"

/* Of free motion; the plan has everything but its layout. */
SapMotionLayout sap_motion_layout(const SapPlan *plan);

/* Fills collide.layout of *args for worlds of up to `capacity` contacts; chunk and max_contacts are set. False if it does not fit an int. */
int sap_collide_layout(const SapPlan *plan, int capacity, SapCollideArgs *args);

/* Fills problem, newton.layout, solve_size, slot, slot_ints and linear of *args for `num_slots` slots of a pack of `lanes`. Returns how many reals, of the solve's
 * precision, a pack needs; or -1 if that does not fit an int. */
long long sap_solve_layout(const SapPlan *plan, int num_slots, int lanes, SapStepArgs *args);

/* The arenas of a world or a pack (SapContext). */
enum {
    SAP_ARENA_FM,
    SAP_ARENA_SOLVE,
    SAP_ARENA_LINEAR32,
    SAP_ARENA_LINEAR64,
    SAP_ARENA_COLLIDE,
    SAP_ARENA_PAIRS,
    SAP_ARENA_INTS,
    SAP_NUM_ARENAS
};

/* Bytes of each; real_bytes: of one real in f32 and in f64, all lanes. One that is never used has none. */
void sap_arena_bytes(const SapStepArgs *args, const int real_bytes[2], size_t bytes[SAP_NUM_ARENAS]);

#endif
