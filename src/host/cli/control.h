/* Targets for `bench`: random around the scene's, so that worlds differ and contacts change as under a policy.
 * */
#ifndef SAPWOOD_HOST_CLI_CONTROL_H
#define SAPWOOD_HOST_CLI_CONTROL_H

#include "host/cli/batch.h"

/* Number of steps with the same targets: one call of an RL loop. */
enum { CLI_CONTROL_STEPS = 4 };

/* Sets the target position of every dof with a drive, in every world: the model's target plus `noise` times a number in
 * [-1, 1) that depends only on seed, world, interval and dof; a tenth of that for linear axes (m instead of rad). */
bool cli_control_noise(CliBatch *batch, uint64_t seed, double noise, int interval);

#endif
