/* Sleeping worlds: a world at rest takes no steps until its state, control or parameters change. docs/sleep.md. */
#ifndef SAPWOOD_HOST_CPU_SLEEP_H
#define SAPWOOD_HOST_CPU_SLEEP_H

#include "host/cpu/solver.h"

/* asleep: [num_worlds] 1 = the world sleeps; owned by the batch, which a reset sets to 0. Free also after a failure. */
SapStatus sap_sleep_create(const SapSolver *solver, int32_t *asleep, SapSleep **out);
void sap_sleep_destroy(SapSleep *sleep);
size_t sap_sleep_bytes(const SapSleep *sleep);

/* Writes from now on which trees sleep and for how many seconds each has rested, [num_worlds][num_trees]; NULL: not. */
void sap_sleep_record_trees(SapSleep *sleep, int32_t *tree_asleep, double *tree_rest);

/* Takes num_steps steps of the worlds that are awake, gathered into full packs. */
void sap_sleep_steps(SapSolver *solver, const SapStepArgs *args, int num_steps);

/* What sleeping keeps between calls, for saved states: [num_worlds][row_size] of each world `asleep`, the steps at rest
 * of each tree (-1: it sleeps) and its island. sap_sleep_get gives the rows with which the next call would begin, and
 * wakes nothing; sap_sleep_set is called after the arrays of `args` were restored. */
int sap_sleep_row_size(const SapSleep *sleep);
void sap_sleep_get(SapSolver *solver, const SapStepArgs *args, int32_t *rows);
SapStatus sap_sleep_set(SapSolver *solver, const char *what, const SapStepArgs *args, const uint8_t *mask,
                        const int32_t *rows);

#endif
