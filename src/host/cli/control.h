/* Targets for `bench`: random around the scene's, so that worlds differ and contacts come and go as under a policy. */
#ifndef SAPWOOD_HOST_CLI_CONTROL_H
#define SAPWOOD_HOST_CLI_CONTROL_H

#include "host/cli/batch.h"

/* Steps with the same targets: one call of an RL loop. */
enum { CLI_CONTROL_STEPS = 4 };

/* The target position of every dof with a drive, in every world: the model's plus `noise` times a number in [-1, 1) that depends on
 * seed, world, interval and dof alone; a tenth of that for linear axes (m against rad). */
bool cli_control_noise(CliBatch *batch, uint64_t seed, double noise, int interval);

#endif
