/* Large worlds in a self-test of a GPU: cuSOLVER solves the Newton systems (docs/gpu.md). */
#ifndef SAPWOOD_LAB_SELFTEST_LIBRARY_H
#define SAPWOOD_LAB_SELFTEST_LIBRARY_H

#include "host/cli/common.h"

typedef struct CliLibraryTest {
    bool ran;          /* false: there is no cuSOLVER, or the scene selects another law */
    bool same;         /* the difference is within the bound */
    double difference; /* largest of positions, from factor_plan = sparse */
    char text[640];    /* how the systems were solved and what ran the loop, or why nothing ran */
} CliLibraryTest;

/* Steps some worlds of the scene with factor_plan = library and with sparse. False: the scene cannot be opened. */
bool cli_selftest_library(const CliSettings *settings, const char *scene, CliLibraryTest *out);

#endif
