/* The module sapwood_mpi.so: the only file that includes MPI. Errors of MPI end all ranks with MPI's message, which is
 * its default. */
#include "host/cli/cluster/mpi.h"

#include <mpi.h>

static MPI_Comm node = MPI_COMM_NULL;

static int start(void) {
    int error = MPI_Init(NULL, NULL);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    return error;
}

static void finish(void) {
    MPI_Comm_free(&node);
    MPI_Finalize();
}

static void stop(int code) {
    MPI_Abort(MPI_COMM_WORLD, code);
}

static int rank(void) {
    int out = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &out);
    return out;
}

static int size(void) {
    int out = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &out);
    return out;
}

static void locate(int *local_rank, int *local_size) {
    MPI_Comm_rank(node, local_rank);
    MPI_Comm_size(node, local_size);
}

/* Messages are far below 2 GB. */
static void send(const void *data, size_t bytes, int to) {
    MPI_Send(data, (int)bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

static void receive(void *data, size_t bytes, int from) {
    MPI_Recv(data, (int)bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void broadcast(void *data, size_t bytes, int from) {
    MPI_Bcast(data, (int)bytes, MPI_BYTE, from, MPI_COMM_WORLD);
}

static void gather_local(const void *mine, size_t bytes, void *all) {
    MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, node);
}

extern const CliMpi sapwood_mpi;
__attribute__((visibility("default"))) const CliMpi sapwood_mpi = {.start = start,
                                                                   .finish = finish,
                                                                   .stop = stop,
                                                                   .rank = rank,
                                                                   .size = size,
                                                                   .locate = locate,
                                                                   .send = send,
                                                                   .receive = receive,
                                                                   .broadcast = broadcast,
                                                                   .gather_local = gather_local};
