/* Dealing packs out to workers. Each has a range of its own, so that a world stays with its thread from call to call; who is done
 * helps the others, so that one slow pack does not keep all waiting. */
#ifndef SAPWOOD_HOST_CPU_WORK_RANGES_H
#define SAPWOOD_HOST_CPU_WORK_RANGES_H

#include <stdatomic.h>

/* What is left of a worker's range; a cache line of its own. */
typedef struct SapWorkRange {
    _Alignas(64) atomic_int next;
    int end;
} SapWorkRange;

/* Splits 0 .. num_packs - 1 into ranges of equal length; before the workers start. deal: [num_workers]. */
void sap_work_ranges_start(SapWorkRange *deal, int num_workers, int num_packs);

/* The next pack for this worker, or -1 when all are taken. Every pack is given once. *from is where it looks: the worker itself at
 * first. */
int sap_work_ranges_take(SapWorkRange *deal, int worker, int num_workers, int *from);

#endif
