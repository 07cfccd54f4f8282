/* The profile of a solver: each worker counts ticks, which are converted to seconds when they are read. */
#ifndef SAPWOOD_HOST_CPU_PROFILE_H
#define SAPWOOD_HOST_CPU_PROFILE_H

#include "kernels/data/context.h"

/* begin and end enclose the work of a worker in one call, and rest follows each pack. NULL ticks are allowed. The
 * result of begin is passed to end. */
double sap_ticks_begin(SapTicks *ticks);
void sap_ticks_rest(SapTicks *ticks);
void sap_ticks_end(SapTicks *ticks, double start);

/* Adds the time of one worker on packs with that many lanes. */
void sap_profile_add(SapProfile *profile, const SapTicks *ticks, int lanes);

#endif
