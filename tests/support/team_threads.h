/* A team of real threads, for kernels built with SAP_TEAM_THREADS (src/kernels/dialect/team_threads.h). */
#ifndef SAPWOOD_TESTS_SUPPORT_TEAM_THREADS_H
#define SAPWOOD_TESTS_SUPPORT_TEAM_THREADS_H

typedef void TeamFn(void *arg);

/* Runs fn(arg) on `size` threads at once, each with its rank. */
void team_run(int size, TeamFn *fn, void *arg);

/* From within fn: waits for the whole team. */
void team_wait(void);

#endif
