/* Distribution of packs to workers. Each worker has its own range, so that a world stays on the same thread from call
 * to call. A worker that has finished its range takes packs from the others, so that one slow pack does not delay all.
 * */
#ifndef SAPWOOD_HOST_CPU_WORK_RANGES_H
#define SAPWOOD_HOST_CPU_WORK_RANGES_H

#include <stdatomic.h>

/* The rest of a worker's range, on its own cache line. */
typedef struct SapWorkRange {
    _Alignas(64) atomic_int next;
    int end;
} SapWorkRange;

/* Splits 0 .. num_packs - 1 into ranges of equal length, before the workers start. ranges: [num_workers]. */
void sap_work_ranges_start(SapWorkRange *ranges, int num_workers, int num_packs);

/* The next pack for this worker, or -1 when all are taken. Every pack is returned once. *from is the range to search
 * first; initialise it with `worker`. */
int sap_work_ranges_take(SapWorkRange *ranges, int worker, int num_workers, int *from);

#endif
