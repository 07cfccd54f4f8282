/* What the worlds of a batch can be put back to: the model's initial state and keyframes, and its control. */
#ifndef SAPWOOD_HOST_BATCH_STARTS_H
#define SAPWOOD_HOST_BATCH_STARTS_H

#include "host/batch/backend.h"

/* Fills the starts of a new batch, whose worlds are used for it. An array starts as the model's of the same name, else with zeros; the
 * bodies are where kinematics puts them. */
SapStatus sap_batch_fill_starts(SapBatch *batch, const SapModelArrays *model);

#endif
