/* `conform --knobs`: the effect of a single precision in f32 on the reference cases. */
#ifndef SAPWOOD_LAB_CONFORM_KNOBS_H
#define SAPWOOD_LAB_CONFORM_KNOBS_H

#include "host/cli/common.h"

typedef struct ConformKnobs {
    const CliSettings *settings;
    bool compat, json;
} ConformKnobs;

/* Runs all cases of the files with every knob and prints the table. Returns an exit code. */
int cli_conform_knobs(const ConformKnobs *args, char **files, int num_files);

#endif
