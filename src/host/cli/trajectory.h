/* The coordinates and velocities of one world as a CSV file, one row per step. */
#ifndef SAPWOOD_HOST_CLI_TRAJECTORY_H
#define SAPWOOD_HOST_CLI_TRAJECTORY_H

#include <stdio.h>

#include "host/cli/batch.h"

typedef struct CliTrajectory {
    const char *path;
    int world;
    FILE *file;
    bool failed; /* an error was reported */
} CliTrajectory;

/* Opens the file and writes the header: step, time, then each coordinate and each velocity by joint. */
bool cli_trajectory_open(const char *path, int world, const SapModelArrays *arrays, CliTrajectory *out);
bool cli_trajectory_row(CliTrajectory *trajectory, const CliBatch *batch, int step);
/* Closes the file; write errors may be detected only here, and each is reported once. A trajectory that is not open is
 * allowed. */
bool cli_trajectory_close(CliTrajectory *trajectory);

#endif
