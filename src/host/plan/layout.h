/* Scratch layouts: the offsets and sizes of the arrays of each stage. */
#ifndef SAPWOOD_HOST_PLAN_LAYOUT_H
#define SAPWOOD_HOST_PLAN_LAYOUT_H

#include <stddef.h>

#include "kernels/data/args.h"

/* Layout of free motion. The plan is complete except for this layout. */
SapMotionLayout sap_motion_layout(const SapPlan *plan);

/* Fills collide.layout of *args for worlds of up to `capacity` contacts; chunk and max_contacts must be set. False if
 * the size does not fit an int. */
int sap_collide_layout(const SapPlan *plan, int capacity, SapCollideArgs *args);

/* Most rows of the problem in impulses of a world with so many contacts. */
long long sap_dual_max_rows(const SapPlan *plan, int contacts);

/* Fills problem, newton.layout, *dual if args->dual is set, solve_size, slot, slot_ints and linear of *args for `num_slots` slots of a pack of
 * `lanes`. Returns the number of reals that a pack needs in the precision of the solve, or -1 if it does not fit an
 * int. */
long long sap_solve_layout(const SapPlan *plan, int num_slots, int lanes, SapStepArgs *args, SapDualLayout *dual);

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

/* Bytes of each arena; 0 if it is not used. real_bytes: size of one real, all lanes, in f32 and in f64. */
void sap_arena_bytes(const SapStepArgs *args, const int real_bytes[2], size_t bytes[SAP_NUM_ARENAS]);

#endif
