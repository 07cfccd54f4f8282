/* Measures how many contacts the worlds of a scene have, to choose max_contacts. */
#ifndef SAPWOOD_HOST_CLI_PROBE_H
#define SAPWOOD_HOST_CLI_PROBE_H

#include "host/cli/common.h"

typedef struct CliProbe {
    /* input */
    int worlds, steps;
    uint64_t seed;
    double noise;

    /* results: contacts per world and step, with slots for all */
    double mean;
    int most, p95; /* 95 % of the worlds and steps have p95 contacts or fewer */
    int proposal;  /* proposed max_contacts */
    int failed;    /* number of failed worlds, which are excluded from then on */
} CliProbe;

bool cli_probe_run(const SapScene *scene, CliProbe *probe);

/* `slots`: the number of slots that a batch of the scene has. */
void cli_probe_print(const CliProbe *probe, int slots, int width);
json_t *cli_probe_json(const CliProbe *probe);

#endif
