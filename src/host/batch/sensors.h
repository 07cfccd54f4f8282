/* The sensors of a batch: which are on, and when they are measured. */
#ifndef SAPWOOD_HOST_BATCH_SENSORS_H
#define SAPWOOD_HOST_BATCH_SENSORS_H

#include <stdbool.h>

#include "host/batch/fields.h"

/* Whether a row is the reading of a sensor. */
bool sap_sensors_take_part(const SapBatchRow *row);

/* Turns the sensor of a row on and measures at the present state. Messages begin with `what`. */
SapStatus sap_sensors_request(SapBatch *batch, const char *what, const SapBatchRow *row);

bool sap_sensors_are_on(const SapBatch *batch);

/* Takes steps and measures. */
SapStatus sap_sensors_step(SapBatch *batch, const SapBatchSteps *steps);

/* Restarts the measurement of the worlds of a mask (as in sap_batch_reset); does nothing if no sensor is on. */
SapStatus sap_sensors_begin(SapBatch *batch, const char *what, const uint8_t *mask);

#endif
