/* `sapwood compare`: arguments and results, passed from compare.c to the table in print.c. */
#ifndef SAPWOOD_HOST_CLI_COMPARE_COMPARE_H
#define SAPWOOD_HOST_CLI_COMPARE_COMPARE_H

#include "host/cli/statistics.h"

typedef struct CompareArgs {
    CliSettings settings;
    const char *scene;
    int worlds, steps;
    uint64_t seed;
    double noise;
    bool json;
    CliList solvers;  /* --solvers: indices of solver_choices (solvers.h); none: presets are compared */
    const char *plot; /* --plot */
} CompareArgs;

/* One run: approx64 with one option set to another value; for a preset that option is contact_preset_variant. */
typedef struct CompareCase {
    const char *kind; /* cause of the difference to the baseline */
    const char *option, *value;
} CompareCase;

enum { COMPARE_CASES = 15 };
/* The first is the baseline. */
extern const CompareCase compare_cases[COMPARE_CASES];

/* |x - x of the baseline|: norm over coordinates or dofs, root mean square over worlds; NaN without worlds. */
typedef struct CompareDifference {
    double end;     /* after the last step */
    double largest; /* over all steps */
} CompareDifference;

typedef struct CompareRow {
    CompareDifference v, q;
    CliCount newton, line;     /* per world and step */
    int not_converged, failed; /* worlds, in any step */
    double ns;                 /* per world and step */
} CompareRow;

typedef struct Compare {
    const CompareArgs *args;
    CliScene scene;
    int num_rows; /* fewer than COMPARE_CASES after an interruption */
    CompareRow row[COMPARE_CASES];
} Compare;

/* Prints the table, or JSON, on stdout. */
bool cli_compare_print(const Compare *compare);

#endif
