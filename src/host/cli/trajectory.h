/* The coordinates and velocities of one world as a CSV file, a row per step. */
#ifndef SAPWOOD_HOST_CLI_TRAJECTORY_H
#define SAPWOOD_HOST_CLI_TRAJECTORY_H

#include <stdio.h>

#include "host/cli/batch.h"

typedef struct CliTrajectory {
    const char *path;
    int world;
    FILE *file;
    bool failed; /* and said so */
} CliTrajectory;

/* Opens the file and writes the header: step, time, then each coordinate and each velocity by joint. */
bool cli_trajectory_open(const char *path, int world, const SapModelArrays *arrays, CliTrajectory *out);
bool cli_trajectory_row(CliTrajectory *trajectory, const CliBatch *batch, int step);
/* Write errors may show only here; each is told once. One that is not open is fine. */
bool cli_trajectory_close(CliTrajectory *trajectory);

#endif
