/* A pool of threads that run one function together and wait for each other. The calling thread is worker 0, so a pool of one
 * has no threads at all. Workers are pinned to the CPUs this process may use when there are enough of them. */
#ifndef SAPWOOD_HOST_CPU_POOL_H
#define SAPWOOD_HOST_CPU_POOL_H

#include <sapwood/error.h>

typedef struct SapPool SapPool;
typedef void SapPoolFn(void *arg, int worker, int num_workers);

/* The number of CPUs in this process's affinity mask; at least 1. */
int sap_pool_cpus(void);

SapStatus sap_pool_create(int num_workers, SapPool **out);
void sap_pool_destroy(SapPool *pool); /* NULL is allowed */

/* Calls fn(arg, w, n) once for every worker w and returns when all have. Allocates nothing. */
void sap_pool_run(SapPool *pool, SapPoolFn *fn, void *arg);

#endif
