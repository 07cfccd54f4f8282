/* Contacts and iterations of a batch, gathered from some of its steps, and what its worlds report of the solve. */
#ifndef SAPWOOD_HOST_CLI_STATISTICS_H
#define SAPWOOD_HOST_CLI_STATISTICS_H

#include "host/cli/batch.h"

/* A number >= 0 counted in many worlds, and how often each value was seen; larger ones share the last place. */
enum { CLI_COUNT_ROOM = 4096 };
typedef struct CliCount {
    double sum, samples;
    int largest;
    long long of[CLI_COUNT_ROOM];
} CliCount;

void cli_count_add(CliCount *count, int value);
/* NaN without samples. */
double cli_count_mean(const CliCount *count);
/* The smallest value that `percent` of the samples do not exceed; 0 without samples. */
int cli_count_quantile(const CliCount *count, int percent);
/* {"mean": ..., "p95": ..., "largest": ...} */
json_t *cli_count_json(const CliCount *count);

/* Gaps of contacts, m. Depths (gaps below 0) are kept to 5 %, those under a nanometre as none. */
enum { CLI_GAP_ROOM = 512 };
typedef struct CliGaps {
    double smallest; /* NaN without samples */
    long long samples;
    long long depth[CLI_GAP_ROOM];
} CliGaps;

void cli_gaps_add(CliGaps *gaps, double gap);
/* The depth >= 0 that `percent` of the contacts do not exceed; NaN without samples. */
double cli_gaps_depth(const CliGaps *gaps, int percent);

/* Ways not to converge; keys and words as of failures. */
enum { CLI_NUM_ENDS = 3 };
extern const CliFailure cli_ends[CLI_NUM_ENDS];

/* What ended the solves of the steps that were looked at. */
enum { CLI_STOP_OPTIMAL, CLI_STOP_COST, CLI_STOP_NOTHING, CLI_STOP_NOT_CONVERGED, CLI_NUM_STOPS };
typedef struct CliStop {
    const char *key, *words;
} CliStop;
extern const CliStop cli_stops[CLI_NUM_STOPS];

typedef struct CliStatistics {
    int steps;                               /* steps that were looked at */
    CliCount contacts, needed, newton, line; /* per world; needed: those without a slot too */
    int not_converged, by_end[CLI_NUM_ENDS]; /* worlds, in any step */
    int truncated;                           /* worlds whose contacts found no slot, in any step */
    double stops[CLI_NUM_STOPS];             /* solves */
    CliGaps gaps;                            /* of the steps they were looked at in */
} CliStatistics;

/* Adds the contacts and iterations of the last step; of worlds that failed none. */
bool cli_statistics_look(CliStatistics *statistics, const CliBatch *batch);

/* Makes steps from now on record gaps. */
bool cli_statistics_record_gaps(CliBatch *batch);
/* Adds the gaps of the last step, which must have been recorded. */
bool cli_statistics_look_at_gaps(CliStatistics *statistics, CliBatch *batch);
/* When all steps are done: counts the worlds. */
void cli_statistics_finish(CliStatistics *statistics, const CliBatch *batch);
/* The part of the solves that ended so; NaN if there were none. */
double cli_statistics_share(const CliStatistics *statistics, int stop);

/* Largest and mean values as lines of a report, `width` columns for the labels. */
void cli_statistics_print(const CliStatistics *statistics, const CliBatch *batch, int width);
/* Adds the keys "contacts", "newton_iterations", "line_search_iterations", "not_converged". */
void cli_statistics_put(const CliStatistics *statistics, const CliBatch *batch, json_t **json);

#endif
