/* The speed of a GPU in a self-test, beside what is predicted (docs/gpu.md). */
#ifndef SAPWOOD_LAB_SELFTEST_SPEED_H
#define SAPWOOD_LAB_SELFTEST_SPEED_H

#include <jansson.h>

#include "host/cli/common.h"

/* Number of scenes, presets and numbers of worlds that have a prediction. */
int selftest_num_speeds(void);

/* Measures one of them under moving targets, as `bench` does, with `worlds` worlds, or with the number of the prediction if
 * that is 0. NULL after a message. */
json_t *selftest_speed(const CliSettings *settings, int index, int worlds);

/* device: the name of the GPU, which selects a prediction. */
void selftest_print_speed_head(const char *device);
void selftest_print_speed(const char *device, const json_t *row);

#endif
