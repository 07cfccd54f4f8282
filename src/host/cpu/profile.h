/* The profile of a solver: each worker has ticks of its own, which become seconds when they are read. */
#ifndef SAPWOOD_HOST_CPU_PROFILE_H
#define SAPWOOD_HOST_CPU_PROFILE_H

#include "kernels/data/context.h"

/* Around the work of a worker in one call, and after each of its packs. NULL ticks are allowed. What begin returns is for end. */
double sap_ticks_begin(SapTicks *ticks);
void sap_ticks_rest(SapTicks *ticks);
void sap_ticks_end(SapTicks *ticks, double start);

/* Adds what one worker has taken, of packs with that many lanes. */
void sap_profile_add(SapProfile *profile, const SapTicks *ticks, int lanes);

#endif
