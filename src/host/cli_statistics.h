/* Contacts and iterations of a batch, gathered from some of its steps, and what its worlds report of the solve. */
#ifndef SAPWOOD_HOST_CLI_STATISTICS_H
#define SAPWOOD_HOST_CLI_STATISTICS_H

#include "cli_batch.h"

/* A number counted in many worlds. */
typedef struct CliCount {
    double sum, samples;
    int largest;
} CliCount;

void cli_count_add(CliCount *count, int value);
/* NaN without samples. */
double cli_count_mean(const CliCount *count);
/* {"mean": ..., "largest": ...} */
json_t *cli_count_json(const CliCount *count);

/* Ways not to converge; keys and words as of failures. */
enum { CLI_NUM_ENDS = 3 };
extern const CliFailure cli_ends[CLI_NUM_ENDS];

typedef struct CliStatistics {
    int steps;                               /* steps that were looked at */
    CliCount contacts, needed, newton, line; /* per world; needed: those without a slot too */
    int not_converged, by_end[CLI_NUM_ENDS]; /* worlds, in any step */
    int truncated;                           /* worlds whose contacts found no slot, in any step */
    double deepest;                          /* m, smallest gap; NaN without contacts, or where it was not recorded */
} CliStatistics;

/* Adds the contacts and iterations of the last step; of worlds that failed none. */
bool cli_statistics_look(CliStatistics *statistics, const CliBatch *batch);

/* Makes steps from now on record gaps. */
bool cli_statistics_record_gaps(CliBatch *batch);
/* When all steps are done: counts the worlds, and finds the smallest gap of the last step if `gaps` were recorded. */
bool cli_statistics_finish(CliStatistics *statistics, CliBatch *batch, bool gaps);

/* Largest and mean values as lines of a report, `width` columns for the labels. */
void cli_statistics_print(const CliStatistics *statistics, const CliBatch *batch, int width);
/* Adds the keys "contacts", "newton_iterations", "line_search_iterations", "not_converged". */
void cli_statistics_put(const CliStatistics *statistics, const CliBatch *batch, json_t **json);

#endif
