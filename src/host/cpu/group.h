/* The worlds of a pack share its slots and wait for the one with the most iterations. So packs are made of worlds that
 * are alike: those with the same contact pairs, limits and iterations in their last step. A world's results do not
 * depend on its pack. */
#ifndef SAPWOOD_HOST_CPU_GROUP_H
#define SAPWOOD_HOST_CPU_GROUP_H

#include "host/cpu/pool.h"
#include "kernels/data/args.h"

/* Whether packs can be chosen: a batch of one pack has no choice. */
bool sap_group_pays(int num_worlds, int lanes);

/* Worlds that are sorted among themselves, by one thread and in its cache. */
enum { SAP_GROUP_MOST = 1024 };

/* Writes the worlds in the order in which they form packs. Reads the contacts and iterations of the last step, whatever
 * they are. order: [args->num_worlds]. */
void sap_group_worlds(SapPool *pool, const SapStepArgs *args, int *order);

/* Sorts a list of n <= SAP_GROUP_MOST worlds in the same way. */
void sap_group_list(const SapStepArgs *args, int *worlds, int n);

#endif
