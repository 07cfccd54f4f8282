#define _GNU_SOURCE /* sched_setaffinity */
#include "host/cli/cluster/cluster.h"

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/common.h"

static struct {
    const CliMpi *mpi; /* NULL: one rank */
    int rank, size, local_rank, local_size, threads;
    bool all_failed; /* every rank knows that the run fails */
} cluster = {.size = 1, .local_size = 1};

int cli_cluster_rank(void) {
    return cluster.rank;
}
int cli_cluster_size(void) {
    return cluster.size;
}
int cli_cluster_local_rank(void) {
    return cluster.local_rank;
}
int cli_cluster_threads(void) {
    return cluster.threads;
}

/* ---- start ---- */

/* The number of processes that a launcher says it started; 1 without a launcher. srun sets SLURM_LOCALID, the script of
 * a job has SLURM_NTASKS alone. */
static int launched(void) {
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *text = secure_getenv(variables[i]);
        if (text != NULL)
            return atoi(text);
    }
    const char *tasks = secure_getenv("SLURM_NTASKS");
    return tasks != NULL && secure_getenv("SLURM_LOCALID") != NULL ? atoi(tasks) : 1;
}

#ifdef SAPWOOD_MPI_MODULE
/* The module is beside the program in a build, and in the folder of libraries after an installation. */
static bool load_module(void) {
    static const char *const folders[] = {"", SAPWOOD_MPI_FOLDER};
    char program[PATH_MAX], path[2 * PATH_MAX];
    cli_program_folder(program);
    for (size_t i = 0; i < sizeof folders / sizeof *folders && cluster.mpi == NULL; i++) {
        snprintf(path, sizeof path, "%s%s%s", program, folders[i], SAPWOOD_MPI_MODULE);
        /* global: the plugins of MPI look for its symbols */
        void *module = access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
        cluster.mpi = module != NULL ? dlsym(module, CLI_MPI_SYMBOL) : NULL;
        if (access(path, R_OK) == 0 && cluster.mpi == NULL)
            return cli_fail("%s cannot be loaded: %s", path, dlerror());
    }
    return cluster.mpi != NULL || cli_fail("%s is missing; it belongs beside the program", SAPWOOD_MPI_MODULE);
}
#else
static bool load_module(void) {
    return cli_fail("mpirun or srun started %d processes, and this build has no MPI; install MPI (Debian: "
                    "libopenmpi-dev) and configure again, or run the program without mpirun",
                    launched());
}
#endif

/* Binds the rank to its part of the CPUs if all ranks of the node may use the same ones. mpirun may have bound them
 * already; then the masks differ. */
static void bind(void) {
    cpu_set_t mine, part;
    size_t n = (size_t)cluster.local_size;
    cpu_set_t *all = calloc(n, sizeof *all);
    if (all == NULL || sched_getaffinity(0, sizeof mine, &mine) != 0)
        CPU_ZERO(&mine);
    if (all != NULL)
        cluster.mpi->gather_local(&mine, sizeof mine, all);
    bool shared = all != NULL && n > 1;
    for (size_t i = 0; i < n && shared; i++)
        shared = CPU_EQUAL(&all[i], &mine);
    free(all);
    int cpus = CPU_COUNT(&mine), each = cpus / cluster.local_size, seen = 0;
    if (!shared)
        return;
    cluster.threads = each == 0 ? 1 : 0;
    CPU_ZERO(&part);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &mine) && seen++ / (each > 0 ? each : 1) == cluster.local_rank)
            CPU_SET(cpu, &part);
    if (each > 0)
        sched_setaffinity(0, sizeof part, &part);
}

static bool join(int expected) {
    if (cluster.mpi->start() != 0) {
        cluster.mpi = NULL;
        return cli_fail("MPI cannot be started");
    }
    cluster.rank = cluster.mpi->rank();
    cluster.size = cluster.mpi->size();
    cluster.mpi->locate(&cluster.local_rank, &cluster.local_size);
    char prefix[32];
    snprintf(prefix, sizeof prefix, "rank %d: ", cluster.rank);
    cli_set_fail_prefix(prefix);
    if (cluster.size != expected)
        return cli_fail("the launcher started %d processes, and MPI sees %d; with srun, use --mpi=pmix", expected,
                        cluster.size);
    bind();
    if (cluster.rank > 0 && freopen("/dev/null", "w", stdout) == NULL)
        return cli_fail("/dev/null cannot be opened");
    return true;
}

bool cli_cluster_start(const char *command) {
    int expected = launched();
    if (expected <= 1)
        return true;
    if (strcmp(command, "run") != 0 && strcmp(command, "bench") != 0)
        return cli_fail("mpirun is for the commands run and bench; %s runs in one process", command);
    return load_module() && join(expected);
}

int cli_cluster_finish(int code) {
    if (cluster.mpi == NULL)
        return code;
    fflush(stdout);
    if (code == CLI_EXIT_BAD && !cluster.all_failed)
        cluster.mpi->stop(code); /* the other ranks may wait for this one */
    cluster.mpi->finish();
    return code;
}

/* ---- worlds ---- */

bool cli_cluster_part(int worlds, int *first, int *count) {
    int64_t n = worlds, rank = cluster.rank, size = cluster.size;
    *first = (int)(n * rank / size);
    *count = (int)(n * (rank + 1) / size) - *first;
    if (n >= size)
        return true;
    cluster.all_failed = true; /* the ranks have the same number of worlds: cli_same_inputs */
    return cluster.rank != 0
               ? false
               : cli_fail("there are %d worlds and %d ranks; each rank needs a world", worlds, cluster.size);
}

/* ---- chains ---- */

void cli_cluster_chain(void *state, size_t bytes, CliClusterAdd *add, void *mine) {
    if (cluster.rank > 0)
        cluster.mpi->receive(state, bytes, cluster.rank - 1);
    add(state, mine);
    if (cluster.rank + 1 < cluster.size)
        cluster.mpi->send(state, bytes, cluster.rank + 1);
    if (cluster.size > 1)
        cluster.mpi->broadcast(state, bytes, cluster.size - 1);
}

static void add_max(void *state, void *mine) {
    double *most = state, x = *(const double *)mine;
    *most = cluster.rank == 0 || x > *most ? x : *most;
}

double cli_cluster_max(double mine) {
    double most = mine;
    cli_cluster_chain(&most, sizeof most, add_max, &mine);
    return most;
}

static void add_sum(void *state, void *mine) {
    *(double *)state += *(const double *)mine;
}

double cli_cluster_sum(double mine) {
    double sum = 0;
    cli_cluster_chain(&sum, sizeof sum, add_sum, &mine);
    return sum;
}

/* ---- the same inputs ---- */

typedef struct Comparison {
    int rank;           /* that differs; -1: none */
    char line[2][256];  /* of rank 0 and of that rank */
    char text[1 << 14]; /* of rank 0 */
} Comparison;

/* Copies the line at `text`, without its end, and returns the next one. */
static const char *take_line(const char *text, char line[256]) {
    size_t length = strcspn(text, "\n");
    snprintf(line, 256, "%.*s", (int)(length < 255 ? length : 255), text);
    return text + length + (text[length] == '\n');
}

static void compare_lines(void *state, void *mine) {
    Comparison *c = state;
    if (cluster.rank == 0) {
        snprintf(c->text, sizeof c->text, "%s", (const char *)mine);
        c->rank = -1;
    }
    const char *theirs = c->text, *ours = mine;
    while (c->rank < 0 && (*theirs != '\0' || *ours != '\0')) {
        theirs = take_line(theirs, c->line[0]);
        ours = take_line(ours, c->line[1]);
        if (strcmp(c->line[0], c->line[1]) != 0)
            c->rank = cluster.rank;
    }
}

bool cli_cluster_check_same(const char *text) {
    if (cluster.size == 1)
        return true;
    Comparison *c = cli_allocate(1, sizeof *c);
    if (c == NULL || strlen(text) >= sizeof c->text) {
        free(c);
        return cli_fail("the description of the run does not fit %zu bytes", sizeof c->text);
    }
    cli_cluster_chain(c, sizeof *c, compare_lines, (void *)text);
    bool same = c->rank < 0;
    cluster.all_failed = !same;
    if (!same && cluster.rank == 0) {
        cli_set_fail_prefix("");
        cli_fail("the ranks differ: rank 0 has %s; rank %d has %s", c->line[0], c->rank, c->line[1]);
    }
    free(c);
    return same;
}
