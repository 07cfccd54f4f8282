/* `run` and `bench` in several processes (ranks) under mpirun: each rank steps a contiguous part of the worlds, and the
 * results equal one process's (docs/cluster.md).
 *
 * Without mpirun there is one rank, nothing is loaded, and every function below acts for that one rank. MPI is in a
 * separate module (mpi.c), which is loaded on demand, so the program runs where there is no MPI. */
#ifndef SAPWOOD_HOST_CLI_CLUSTER_CLUSTER_H
#define SAPWOOD_HOST_CLI_CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/cli/cluster/mpi.h"

/* Joins the other ranks, if mpirun or srun started this process. `command` is the command of the program. On ranks
 * other than 0 standard output is discarded. Ranks that share all CPUs of a node are bound to a part of them. */
bool cli_cluster_start(const char *command);

/* To be called with the exit code of the command: ends this rank, or all of them if the code is an error. Returns the
 * code. */
int cli_cluster_finish(int code);

int cli_cluster_rank(void); /* 0 without mpirun */
int cli_cluster_size(void); /* 1 without mpirun */
/* The rank among the ranks of this node. */
int cli_cluster_local_rank(void);
/* The value of the option threads for a rank that does not choose one: 0, or 1 if a node has more ranks than CPUs. */
int cli_cluster_threads(void);

/* The part of `worlds` worlds that this rank has. Fails if a rank would have none. */
bool cli_cluster_part(int worlds, int *first, int *count);

/* Calls add(state, mine) on one rank after the other, from rank 0 on, with the state that the rank before left; then
 * every rank gets the last state. Sums and hashes over worlds thus have the order, and the bits, of one process. Waits
 * for all ranks. */
typedef void CliClusterAdd(void *state, void *mine);
void cli_cluster_chain(void *state, size_t bytes, CliClusterAdd *add, void *mine);

/* The largest of the numbers of all ranks. */
double cli_cluster_max(double mine);
double cli_cluster_sum(double mine);

/* Fails on all ranks if `text` is not the same on all. It has lines "name: value"; the message, which rank 0 prints,
 * has the first line that differs, and the rank. */
bool cli_cluster_check_same(const char *text);

#endif
