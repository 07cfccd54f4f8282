/* The number of contact slots of a batch whose option max_contacts is 0. */
#ifndef SAPWOOD_HOST_BATCH_PROBE_H
#define SAPWOOD_HOST_BATCH_PROBE_H

#include <sapwood/batch.h>

/* `most`: the largest number of contacts that a world can have. */
SapStatus sap_probe_contacts(const SapModel *model, const SapOptions *options, int most, int *slots);

#endif
