/* The inputs of the last calls of sap_batch_step (sapwood/guard.h), in device memory. */
#ifndef SAPWOOD_HOST_BATCH_GUARD_H
#define SAPWOOD_HOST_BATCH_GUARD_H

#include <sapwood/guard.h>

#include "host/batch/fields.h"

enum { SAP_GUARD_MAX_CALLS = 1024 };

/* Whether a step of a batch with this formulation reads the array: joint_q, joint_qd and the control, and the memory that
 * the formulation has of earlier steps. */
bool sap_guard_is_input(const SapFormulation *formulation, const SapBatchRow *row);

typedef struct SapGuardCall {
    double h;
    int num_steps;
} SapGuardCall;

typedef struct SapGuard {
    int room;            /* calls that fit */
    long long num_calls; /* calls so far; call k is in place k % room */
    SapGuardCall *call;  /* [room] */
    size_t *offset;      /* [sap_batch_num_rows] bytes from the start of a place to an array */
    size_t copied;       /* bytes from the start of a place to SapSnapshot.copied */
    size_t place_bytes;  /* bytes of a place */
    char *memory;        /* [room] places: each input of all worlds, their status, which inputs were copied */
    SapSnapshot kept;    /* of the current call: the inputs in the order of sap_batch_rows */
} SapGuard;

/* Copies the inputs of all worlds, and, after the call, their status. */
SapStatus sap_guard_begin(SapBatch *batch, double h, int num_steps);
SapStatus sap_guard_end(SapBatch *batch);
void sap_guard_free(SapGuard *guard); /* NULL is allowed */

/* Copies the numbers of a world in an array of a kept call to `host`: an input, or the status. */
SapStatus sap_guard_read(SapBatch *batch, const char *what, long long call, const SapBatchRow *row, int world,
                         void *host);

#endif
