/* How many contacts the worlds of a scene have, tried out: what max_rigid_contact should be. */
#ifndef SAPWOOD_HOST_CLI_PROBE_H
#define SAPWOOD_HOST_CLI_PROBE_H

#include "host/cli/common.h"

typedef struct CliProbe {
    /* what to run */
    int worlds, steps;
    uint64_t seed;
    double noise;

    /* what came of it: contacts per world and step, with room for all */
    double mean;
    int most, p95; /* 95 % of the worlds and steps have p95 contacts or fewer */
    int proposal;  /* for max_rigid_contact */
    int failed;    /* worlds; they are left out from then on */
} CliProbe;

bool cli_probe_run(const SapScene *scene, CliProbe *probe);

void cli_probe_print(const CliProbe *probe, const SapOptions *options, int width);
json_t *cli_probe_json(const CliProbe *probe);

#endif
