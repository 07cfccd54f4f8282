/* The functions that the program needs of MPI. */
#ifndef SAPWOOD_HOST_CLI_CLUSTER_MPI_H
#define SAPWOOD_HOST_CLI_CLUSTER_MPI_H

#include <stddef.h>

typedef struct CliMpi {
    int (*start)(void);     /* returns 0, or an error of MPI */
    void (*finish)(void);   /* waits for all ranks */
    void (*stop)(int code); /* ends all ranks; does not return */
    int (*rank)(void);
    int (*size)(void);
    void (*locate)(int *local_rank, int *local_size); /* among the ranks that share memory with this one */
    void (*send)(const void *data, size_t bytes, int to);
    void (*receive)(void *data, size_t bytes, int from);
    void (*broadcast)(void *data, size_t bytes, int from);
    /* Gathers `bytes` bytes of each rank of this node to `all`, in the order of local ranks. */
    void (*gather_local)(const void *mine, size_t bytes, void *all);
} CliMpi;

/* The symbol of the module. */
#define CLI_MPI_SYMBOL "sapwood_mpi"

#endif
