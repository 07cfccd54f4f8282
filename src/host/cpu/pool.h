/* A pool of threads that run one function together and wait for each other. The calling thread is worker 0, so a pool
 * of one has no threads. Workers are pinned if the process may use enough CPUs. They block all signals and compute in
 * the default floating-point mode. */
#ifndef SAPWOOD_HOST_CPU_POOL_H
#define SAPWOOD_HOST_CPU_POOL_H

#include <sapwood/error.h>

typedef struct SapPool SapPool;
typedef void SapPoolFn(void *arg, int worker, int num_workers);

/* The number of CPUs in the affinity mask of this process; at least 1. */
int sap_pool_cpus(void);

SapStatus sap_pool_create(int num_workers, SapPool **out);
void sap_pool_destroy(SapPool *pool); /* NULL is allowed; also in a forked process */

/* Fails on a thread with too small a stack, and in a process that was forked after the pool was created, where its
 * threads do not exist and sap_pool_run would wait for ever. The message begins with `what`. */
SapStatus sap_pool_check(const SapPool *pool, const char *what);

/* Calls fn(arg, w, n) once for every worker w and returns when all calls have returned. Allocates nothing. */
void sap_pool_run(SapPool *pool, SapPoolFn *fn, void *arg);

#endif
