/* Copies inputs of worlds before a step changes them. */
#ifndef SAPWOOD_HOST_CPU_KEEP_H
#define SAPWOOD_HOST_CPU_KEEP_H

#include "host/batch/backend.h"

/* Copies the rows of the worlds first .. first + count - 1. A thread does so just before it steps them: the step reads
 * the same numbers, so they are read from memory once, and threads share the work. */
void sap_snapshot_worlds(const SapSnapshot *kept, int first, int count);

#endif
