/* The states that worlds can be reset to: the model's initial state, its keyframes, and its control. */
#ifndef SAPWOOD_HOST_BATCH_STARTS_H
#define SAPWOOD_HOST_BATCH_STARTS_H

#include "host/batch/backend.h"

/* Fills the starts of a new batch and uses its worlds as workspace. Each array starts with the values of the model
 * array of the same name, or zeros; forward kinematics computes the bodies. Where it fails they come from the
 * initial state. */
SapStatus sap_batch_fill_starts(SapBatch *batch, const SapModel *model);

#endif
