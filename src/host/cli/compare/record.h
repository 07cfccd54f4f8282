/* States of the worlds during a run, in memory. */
#ifndef SAPWOOD_HOST_CLI_COMPARE_RECORD_H
#define SAPWOOD_HOST_CLI_COMPARE_RECORD_H

#include "host/cli/batch.h"

/* Row 0 holds initial states, row k the states after step k. States are f64. */
typedef struct Record {
    size_t worlds, q_bytes, v_bytes, act_bytes; /* of a row */
    double *q, *v, *act;                        /* [steps + 1][worlds][nq], [nv], [number of activations] */
    uint8_t *failed;                            /* [steps + 1][worlds] */
} Record;

bool cli_record_create(const SapModel *model, int worlds, int steps, Record *out);
void cli_record_free(Record *record); /* a zeroed one is allowed */

/* Stores the states of the batch. A world has failed if `status` has one of the FAILED bits; [worlds]. */
bool cli_record_keep(Record *record, const CliBatch *batch, const uint32_t *status, int row);
/* Gives the batch the states of a row. */
bool cli_record_restore(const Record *record, CliBatch *batch, int row);
/* Whether the world had failed. */
bool cli_record_failed(const Record *record, int row, int world);

/* Distance of a world of the batch from the recorded one. Of a quaternion and its negative the nearer counts. */
double cli_record_distance_q(const Record *record, const CliBatch *batch, int row, int world);
double cli_record_distance_v(const Record *record, const CliBatch *batch, int row, int world);

#endif
