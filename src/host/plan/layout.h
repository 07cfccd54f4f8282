/* Where each stage keeps things in scratch: free motion, collision, the contact solve. */
#ifndef SAPWOOD_HOST_PLAN_LAYOUT_H
#define SAPWOOD_HOST_PLAN_LAYOUT_H

#include "kernels/data/args.h"

/* Of free motion; the plan has everything but its layout. */
SapMotionLayout sap_motion_layout(const SapPlan *plan);

/* Fills collide.layout of *args for worlds of up to `capacity` contacts; chunk and max_contacts are set. False if it does not fit an int. */
int sap_collide_layout(const SapPlan *plan, int capacity, SapCollideArgs *args);

/* Fills problem, newton.layout, solve_size, slot, slot_ints and linear of *args for `num_slots` slots of a pack of `lanes`. Returns how many reals, of the solve's
 * precision, a pack needs; or -1 if that does not fit an int. */
long long sap_solve_layout(const SapPlan *plan, int num_slots, int lanes, SapStepArgs *args);

#endif
