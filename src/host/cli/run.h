/* `sapwood run`: arguments and results, passed from run.c to the report in run_report.c. */
#ifndef SAPWOOD_HOST_CLI_RUN_H
#define SAPWOOD_HOST_CLI_RUN_H

#include "host/cli/statistics.h"
#include "host/cli/trajectory.h"

typedef struct RunArgs {
    CliSettings settings;
    const char *scene;
    int worlds; /* 0: the scene's number */
    int steps;
    double dt; /* 0: the scene's time step */
    uint64_t seed;
    double noise;
    int dtype; /* SapDtype; -1: the precision of the free motion */
    const char *trajectory;
    int trajectory_world; /* -1: not given */
    const char *replay;   /* page that shows the run; NULL: none */
    bool json;
} RunArgs;

typedef struct Run {
    const RunArgs *args;
    CliScene scene;
    CliBatch batch;
    CliTrajectory trajectory;
    bool progress; /* stderr is a terminal */
    int done;      /* number of steps taken */
    double seconds;
    double first_step; /* seconds from program start to the end of the first step */
    double bytes;      /* memory of all ranks */
    uint64_t hash;     /* of the states of all worlds */
    double *energies;  /* [2][worlds][2]: at the start, at the end; of this rank */
    CliEnergy start, end;
    CliFailures failures;
    CliStatistics statistics;
} Run;

/* World-steps per second so far; NaN before the first step. */
double cli_run_rate(const Run *run);

/* Prints the report on stdout. */
bool cli_run_report(const Run *run);

/* Writes the page of --replay (run_page.c). */
bool cli_run_page(const Run *run);

#endif
