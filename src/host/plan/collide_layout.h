/* Where collision keeps things in scratch. */
#ifndef SAPWOOD_HOST_PLAN_COLLIDE_LAYOUT_H
#define SAPWOOD_HOST_PLAN_COLLIDE_LAYOUT_H

#include "kernels/data/args.h"

/* Fills collide.layout of *args for worlds of up to `capacity` contacts; chunk and max_contacts are set. False if it does not fit an int. */
int sap_collide_layout(const SapPlan *plan, int capacity, SapCollideArgs *args);

#endif
