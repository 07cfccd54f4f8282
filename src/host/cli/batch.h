/* The worlds that `run`, `bench` and `compare` step, how worlds are made to differ, and what can be said of them
 * afterwards. */
#ifndef SAPWOOD_HOST_CLI_BATCH_H
#define SAPWOOD_HOST_CLI_BATCH_H

#include "host/cli/common.h"

typedef struct CliBatch {
    const SapModelArrays *arrays; /* borrowed from the scene */
    double dt;
    SapBatch *batch;
    SapBatchInfo where;
    SapSolver *solver; /* of the batch; of a batch on a GPU, one on the CPU that can say something of its states */
    SapSolverInfo info;
    SapState *state;             /* of the batch, or a copy in host memory: see cli_batch_pull */
    const SapContacts *contacts; /* the same; of a copy, only capacity, count and dropped are there */
    SapWorldReport report;       /* the same */
    struct CliCopy *copy;        /* NULL on the CPU */
    size_t q_bytes, qd_bytes;    /* of joint_q, joint_qd */
    uint32_t *failed;            /* [worlds] FAILED bits that were set in any step so far */
    uint32_t *seen;              /* [worlds] the other status bits */
} CliBatch;

/* The storage that keeps every digit of the free motion: f32 or f64 as it is solved. */
SapDtype cli_default_dtype(const SapOptions *options);

/* All worlds at the scene's initial state. `bodies`: steps write body_q and body_qd too. */
bool cli_batch_create(const SapScene *scene, const SapOptions *options, int worlds, SapDtype dtype, bool bodies,
                      CliBatch *out);
void cli_batch_free(CliBatch *batch); /* a zeroed one is allowed */

/* Adds to every joint velocity of the worlds 1, 2, ... a number in [-noise, noise] that depends on seed, world and dof
 * alone; world 0 stays as the scene has it. */
bool cli_batch_perturb(CliBatch *batch, uint64_t seed, double noise);

/* A number in [-1, 1) that depends on the three arguments alone. */
double cli_random_unit(uint64_t seed, uint64_t world, uint64_t index);

/* Steps, and waits until it is done. */
bool cli_batch_step(CliBatch *batch, int steps);
/* Keeps the status bits of the last call, after a pull. A world that fails repeats its step with the same bits, so this may be left
 * out of some. */
bool cli_batch_gather(CliBatch *batch);

/* Where the batch is on a GPU: its state, report and counts of contacts to host memory; joint_q and joint_qd to the GPU. */
bool cli_batch_pull(CliBatch *batch);
bool cli_batch_push(CliBatch *batch);

/* ---- afterwards ---- */

enum { CLI_NUM_FAILURES = 5, CLI_MAX_SHOWN = 10 };

/* What a status bit means: a key of JSON, and words. */
typedef struct CliFailure {
    uint32_t bit;
    const char *key, *words;
} CliFailure;
extern const CliFailure cli_failures[CLI_NUM_FAILURES];

typedef struct CliFailures {
    int total;                   /* worlds that failed */
    int count[CLI_NUM_FAILURES]; /* by bit, as in cli_failures */
    int num_shown;
    int shown[CLI_MAX_SHOWN]; /* the first of them */
} CliFailures;

CliFailures cli_batch_failures(const CliBatch *batch);

/* Kinetic and potential energy of each world, J; [worlds][2]. Overwrites the solver's status of the last step. */
bool cli_batch_energies(CliBatch *batch, double *energies);

/* Of world 0, and the mean over the worlds that have not failed; NaN if there is none. */
typedef struct CliEnergy {
    double world[2], mean[2];
} CliEnergy;

CliEnergy cli_batch_summarise(const CliBatch *batch, const double *energies);

/* FNV-1a over the bytes of joint_q, then joint_qd, of all worlds. */
uint64_t cli_batch_hash(const CliBatch *batch);
/* That, and status, iteration counts, cost, residual and number of contacts of every world. */
uint64_t cli_batch_hash_all(const CliBatch *batch);

/* ---- where it runs ---- */

/* "avx2, lanes 8, threads 2", or the GPU and how worlds are laid over it. */
void cli_batch_print_where(const CliBatch *batch);
/* Of a batch on a GPU: which one, and how worlds are laid over it. */
void cli_gpu_print(const SapBatchInfo *where);
json_t *cli_gpu_json(const SapBatchInfo *where);
/* Adds the keys "device", "isa", "lanes", "threads" and, on a GPU, "gpu". */
void cli_batch_put_where(const CliBatch *batch, json_t **json);

#endif
