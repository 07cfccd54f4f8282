/* `sapwood compare`: arguments, variants and results, passed from compare.c to the table, the JSON and the plot. */
#ifndef SAPWOOD_HOST_CLI_COMPARE_COMPARE_H
#define SAPWOOD_HOST_CLI_COMPARE_COMPARE_H

#include "host/cli/statistics.h"

typedef struct CompareArgs {
    CliSettings settings;
    const char *scene, *reference; /* reference: the preset that moves the worlds */
    int worlds, steps;
    uint64_t seed;
    double noise;
    bool own_stopping; /* --stopping own; else every solve is tight */
    bool json;
    const char *plot; /* --plot */
} CompareArgs;

/* A way to take a step: a preset, or the reference with one option changed. */
typedef struct CompareVariant {
    const char *option; /* preset for a preset */
    CliText value;
    const char *kind; /* what the difference is the effect of; Delta_... between two presets */
    int against;      /* the variant whose steps its steps are compared with; the reference has itself */
    SapOptions options;
} CompareVariant;

/* Differences between two variants, one per world and step: the values that 50, 90 and 99 per cent do not exceed, and
 * the largest; NaN without differences. */
typedef struct CompareSpread {
    double p50, p90, p99, max;
} CompareSpread;

/* A difference during a run, root mean square over worlds; NaN without worlds. */
typedef struct CompareDrift {
    double end;     /* after the last step */
    double largest; /* over all steps */
} CompareDrift;

/* v: norm over dofs; q: norm over coordinates. */
typedef struct CompareRow {
    /* One step from each state of the trajectory. */
    CompareSpread step_v, step_q;
    CliCount newton, line;                   /* iterations of a solve */
    int not_converged, by_end[CLI_NUM_ENDS]; /* solves */
    double residual;                         /* largest relative residual of a solve */
    CliFailures step_failed;
    /* A run from the initial states. */
    CompareDrift run_v, run_q;
    CliFailures run_failed;
    double ns; /* per world and step */
} CompareRow;

/* A preset that the scene cannot run with, and why. */
typedef struct CompareLeftOut {
    const char *preset;
    char reason[512];
} CompareLeftOut;

enum { COMPARE_VARIANTS = 64 };

typedef struct Compare {
    const CompareArgs *args;
    CliScene scene;
    SapModel *law_model; /* of variants with a law of their own, with tight parameters; NULL: the scene's */
    int num_variants, num_left_out;
    CompareVariant variant[COMPARE_VARIANTS]; /* the first is the reference; those to compare with precede the others */
    CompareLeftOut left_out[COMPARE_VARIANTS];
    int num_rows; /* fewer than num_variants after an interruption */
    CompareRow row[COMPARE_VARIANTS];
} Compare;

/* Lists the variants of the scene, which is open. */
bool cli_compare_variants(Compare *compare);
/* The model that the variant steps. */
SapModel *cli_compare_model(const Compare *compare, int variant);
/* The name of an option that --set would change to *value although its values are compared, or NULL. */
const char *cli_compare_fixed_option(const CompareArgs *args, CliText *value);

/* Takes the steps of all variants. Stops early at Ctrl-C. */
bool cli_compare_run(Compare *compare);

/* "approx32", or "contact_point=contact_midpoint". */
typedef struct CompareName {
    char text[2 * CLI_TEXT_SIZE];
} CompareName;
CompareName cli_compare_name(const CompareVariant *variant);
bool cli_compare_is_preset(const CompareVariant *variant);

/* Prints the tables, or JSON, on stdout. */
bool cli_compare_print(const Compare *compare);
/* Draws the differences of one step. */
bool cli_compare_plot(const Compare *compare);

#endif
