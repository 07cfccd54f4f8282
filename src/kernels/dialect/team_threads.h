/* The team of the test target: rank of this thread, size of its team, and a barrier for the whole team. The tests
 * define them. */
#ifndef SAPWOOD_KERNELS_DIALECT_TEAM_THREADS_H
#define SAPWOOD_KERNELS_DIALECT_TEAM_THREADS_H

extern _Thread_local int sap_team_rank;
extern _Thread_local int sap_team_size;

void sap_team_sync(void);

#endif
