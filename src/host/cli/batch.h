/* The worlds that `run`, `bench` and `compare` step, their perturbation, and their results. */
#ifndef SAPWOOD_HOST_CLI_BATCH_H
#define SAPWOOD_HOST_CLI_BATCH_H

#include "host/cli/common.h"

typedef struct CliBatch {
    const SapModelArrays *arrays; /* borrowed from the scene */
    double dt;
    int first, total; /* the worlds of this rank begin with `first` of the `total` worlds of all ranks (cluster.h) */
    SapBatch *batch;
    SapBatchInfo where;
    SapSolver
        *solver; /* solver of the batch; for a batch on a GPU, a CPU solver that computes energies of its states */
    SapSolverInfo info;
    SapState *state;             /* state of the batch, or a copy in host memory: see cli_batch_pull */
    const SapContacts *contacts; /* likewise; a copy has only capacity, count and dropped */
    SapWorldReport report;       /* likewise */
    struct CliCopy *copy;        /* NULL on the CPU */
    size_t q_bytes, qd_bytes;    /* size of joint_q and joint_qd */
    uint32_t *failed;            /* [worlds] FAILED bits set in any step so far */
    uint32_t *seen;              /* [worlds] the other status bits */
} CliBatch;

/* The storage type that keeps every digit of the free motion: its precision, f32 or f64. */
SapDtype cli_default_dtype(const SapOptions *options);

/* Creates a batch with all worlds in the scene's initial state; under mpirun, this rank's part of them. `bodies`: steps
 * also write body_q and body_qd. */
bool cli_batch_create(const SapScene *scene, const SapOptions *options, int worlds, SapDtype dtype, bool bodies,
                      CliBatch *out);
void cli_batch_free(CliBatch *batch); /* a zeroed batch is allowed */

/* Adds to every joint velocity of the worlds 1, 2, ... a number in [-noise, noise] that depends only on seed, world and
 * dof. World 0 keeps the state of the scene. */
bool cli_batch_perturb(CliBatch *batch, uint64_t seed, double noise);

/* A number in [-1, 1) that depends only on the three arguments. */
double cli_random_unit(uint64_t seed, uint64_t world, uint64_t index);

/* Takes the steps and waits until they are done. */
bool cli_batch_step(CliBatch *batch, int steps);
/* Collects the status bits of the last call, after a pull. A failed world repeats its step with the same bits, so calls
 * may be skipped. */
bool cli_batch_gather(CliBatch *batch);

/* For a batch on a GPU: pull copies state, report and contact counts to host memory; push copies joint_q and joint_qd
 * to the GPU. */
bool cli_batch_pull(CliBatch *batch);
bool cli_batch_push(CliBatch *batch);

/* ---- results ---- */

enum { CLI_NUM_FAILURES = 7, CLI_MAX_SHOWN = 10 };

/* A status bit: its JSON key, and its description. */
typedef struct CliFailure {
    uint32_t bit;
    const char *key, *words;
} CliFailure;
extern const CliFailure cli_failures[CLI_NUM_FAILURES];

typedef struct CliFailures {
    int total;                   /* number of failed worlds */
    int count[CLI_NUM_FAILURES]; /* by bit, as in cli_failures */
    int num_shown;
    int shown[CLI_MAX_SHOWN]; /* indices of the first failed worlds */
} CliFailures;

/* Under mpirun these functions are called by all ranks, and each gets the result of all worlds. */
CliFailures cli_batch_failures(const CliBatch *batch);
/* The worlds with one of these other bits in any step so far; no counts by bit. */
CliFailures cli_batch_seen(const CliBatch *batch, uint32_t bits);

/* Prints " (result not finite: 2, ...)", or nothing if all counts are 0. */
void cli_counts_print(const CliFailure *bits, const int *count, int n);
/* Prints "2 of 3 (result not finite: 2); worlds 1 2". */
void cli_failures_print(const CliFailures *failures, int worlds);
/* {"count": ..., "by_status": {...}, "first": [...]}; the second function has the first two keys. */
json_t *cli_failures_json(const CliFailures *failures);
json_t *cli_counts_json(int total, const CliFailure *bits, const int *count, int n);

/* Kinetic and potential energy of each world, J; [worlds][2]. Overwrites the solver's status of the last step. */
bool cli_batch_energies(CliBatch *batch, double *energies);

/* Energy of world 0, and the mean over the worlds that have not failed; NaN if there are none. */
typedef struct CliEnergy {
    double world[2], mean[2];
} CliEnergy;

CliEnergy cli_batch_summarise(const CliBatch *batch, const double *energies);

/* Bytes of the batches of all ranks. */
double cli_batch_bytes(const CliBatch *batch);

/* FNV-1a hash of the bytes of joint_q, then joint_qd, of all worlds. */
uint64_t cli_batch_hash(const CliBatch *batch);
/* The same hash including status, iteration counts, cost, residual and number of contacts of every world. */
uint64_t cli_batch_hash_all(const CliBatch *batch);

/* ---- device ---- */

/* Prints "avx2, lanes 8, threads 2", or the GPU and its launch configuration. */
void cli_batch_print_where(const CliBatch *batch);
/* Prints the GPU of a batch and its launch configuration. */
void cli_gpu_print(const SapBatchInfo *where);
json_t *cli_gpu_json(const SapBatchInfo *where);
/* Adds the keys "device", "isa", "lanes", "threads" and, on a GPU, "gpu". */
void cli_batch_put_where(const CliBatch *batch, json_t **json);

#endif
