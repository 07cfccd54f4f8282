/* What all ranks of a run must have in common, besides their part of the worlds. */
#ifndef SAPWOOD_HOST_CLI_CLUSTER_SAME_INPUTS_H
#define SAPWOOD_HOST_CLI_CLUSTER_SAME_INPUTS_H

#include "host/cli/common.h"

/* Fails on all ranks, and names the difference, if the command, the version, the file of the library, the model, an
 * option or a line of `more` ("name: value\n") is not the same on all. */
bool cli_same_inputs(const char *command, const CliScene *scene, const SapOptions *options, const char *more);

#endif
