/* The speed of a GPU in a self-test, beside what is predicted (docs/gpu.md). */
#ifndef SAPWOOD_LAB_SELFTEST_SPEED_H
#define SAPWOOD_LAB_SELFTEST_SPEED_H

#include <jansson.h>

#include "host/cli/common.h"

/* Measures the scenes of the predictions under moving targets, as `bench` does, with `worlds` worlds, or with the
 * numbers of the predictions if that is 0. Prints a line per case, or appends an object to `rows` if that is not NULL.
 * device: its name, which selects the prediction. */
bool cli_selftest_speed(const CliSettings *settings, const char *device, int worlds, json_t *rows);

#endif
