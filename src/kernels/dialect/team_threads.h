/* The test target's team: each thread knows its rank and the size of its team, and sap_team_sync waits for all of it. Defined
 * by the tests. */
#ifndef SAPWOOD_KERNELS_DIALECT_TEAM_THREADS_H
#define SAPWOOD_KERNELS_DIALECT_TEAM_THREADS_H

extern _Thread_local int sap_team_rank;
extern _Thread_local int sap_team_size;

void sap_team_sync(void);

#endif
