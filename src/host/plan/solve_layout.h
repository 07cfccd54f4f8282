/* Where the contact solve keeps things in scratch. */
#ifndef SAPWOOD_HOST_PLAN_SOLVE_LAYOUT_H
#define SAPWOOD_HOST_PLAN_SOLVE_LAYOUT_H

#include "kernels/data/args.h"

/* Fills solve, slot, slot_ints and linear of *args for `capacity` slots per world and packs of `lanes`. Returns how many reals, of
 * the solve's precision, a pack needs; or -1 if that does not fit an int. */
long long sap_solve_layout(const SapPlan *plan, int capacity, int lanes, SapStepArgs *args);

#endif
