/* The worlds that `run`, `bench` and `compare` step, how worlds are made to differ, and what can be said of them
 * afterwards. */
#ifndef SAPWOOD_HOST_CLI_BATCH_H
#define SAPWOOD_HOST_CLI_BATCH_H

#include "cli_common.h"

typedef struct CliBatch {
    const SapModelArrays *arrays; /* borrowed from the scene */
    double dt;
    SapBatch *batch;
    SapSolver *solver; /* of the batch */
    SapSolverInfo info;
    SapState *state;          /* of the batch */
    size_t q_bytes, qd_bytes; /* of joint_q, joint_qd */
    uint32_t *failed;         /* [worlds] FAILED bits that were set in any step so far */
    uint32_t *seen;           /* [worlds] the other status bits */
} CliBatch;

/* The storage that keeps every digit of the free motion: f32 or f64 as it is solved. */
SapDtype cli_default_dtype(const SapOptions *options);

/* All worlds at the scene's initial state. `bodies`: steps write body_q and body_qd too. */
bool cli_batch_create(const SapScene *scene, const SapOptions *options, int worlds, SapDtype dtype, bool bodies,
                      CliBatch *out);
void cli_batch_free(CliBatch *batch); /* a zeroed one is allowed */

/* Adds to every joint velocity of the worlds 1, 2, ... a number in [-noise, noise] that depends on seed, world and dof
 * alone; world 0 stays as the scene has it. */
void cli_batch_perturb(CliBatch *batch, uint64_t seed, double noise);

/* A number in [-1, 1) that depends on the three arguments alone. */
double cli_random_unit(uint64_t seed, uint64_t world, uint64_t index);

bool cli_batch_step(CliBatch *batch, int steps);
/* Keeps the status bits of the last call. A world that fails repeats its step with the same bits, so this may be left
 * out of some. */
void cli_batch_gather(CliBatch *batch);

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

#endif
