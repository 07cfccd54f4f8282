/* Contacts and iterations of a batch, sampled in some of its steps, and the solver reports of its worlds. */
#ifndef SAPWOOD_HOST_CLI_STATISTICS_H
#define SAPWOOD_HOST_CLI_STATISTICS_H

#include "host/cli/batch.h"

/* Histogram of a number >= 0 over many worlds; values beyond the range share the last bin. */
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

/* Histogram of contact gaps, m. Depths (negative gaps) have a resolution of 5 %; those below a nanometre count as zero.
 * */
enum { CLI_GAP_ROOM = 512 };
typedef struct CliGaps {
    double smallest; /* NaN without samples */
    long long samples;
    long long depth[CLI_GAP_ROOM];
} CliGaps;

void cli_gaps_add(CliGaps *gaps, double gap);
/* The depth >= 0 that `percent` of the contacts do not exceed; NaN without samples. */
double cli_gaps_depth(const CliGaps *gaps, int percent);

/* Reasons for not converging, with JSON keys and descriptions like the failures. */
enum { CLI_NUM_ENDS = 4 };
extern const CliFailure cli_ends[CLI_NUM_ENDS];

/* Stopping criteria of the solves in the sampled steps. */
enum { CLI_STOP_OPTIMAL, CLI_STOP_COST, CLI_STOP_NOTHING, CLI_STOP_STALLED, CLI_STOP_NOT_CONVERGED, CLI_NUM_STOPS };
typedef struct CliStop {
    const char *key, *words;
} CliStop;
extern const CliStop cli_stops[CLI_NUM_STOPS];

typedef struct CliStatistics {
    int steps;                               /* number of sampled steps */
    CliCount contacts, needed, newton, line; /* per world; needed: including contacts without a slot */
    int not_converged, by_end[CLI_NUM_ENDS]; /* number of worlds, in any step */
    int truncated;                           /* number of worlds with dropped contacts, in any step */
    int tunnels, deep;                       /* number of worlds with MAY_TUNNEL, DEEP_CONTACT in any step */
    int fast_spins;                          /* number of worlds with a body that spins too fast, in any step */
    int unbounded, not_coulomb;              /* number of worlds with these bits of solvers in impulses, in any step */
    double stops[CLI_NUM_STOPS];             /* number of solves */
    CliGaps gaps;                            /* of the steps in which gaps are sampled */
} CliStatistics;

/* Samples the contacts and iterations of the last step; failed worlds are excluded. */
bool cli_statistics_look(CliStatistics *statistics, const CliBatch *batch);

/* Makes later steps record gaps. */
bool cli_statistics_record_gaps(CliBatch *batch);
/* Samples the gaps of the last step, which must have been recorded. */
bool cli_statistics_look_at_gaps(CliStatistics *statistics, CliBatch *batch);
/* To be called after all steps: counts the worlds. */
void cli_statistics_finish(CliStatistics *statistics, const CliBatch *batch);
/* Under mpirun: adds the statistics of all ranks, which all call it. */
void cli_statistics_gather(CliStatistics *statistics);
/* The fraction of the solves that stopped for this reason; NaN without solves. */
double cli_statistics_share(const CliStatistics *statistics, int stop);

/* Prints largest and mean values as lines of a report, `width` columns for the labels. */
void cli_statistics_print(const CliStatistics *statistics, const CliBatch *batch, int width);
/* Adds the keys "contacts", "newton_iterations", "line_search_iterations", "not_converged". */
void cli_statistics_put(const CliStatistics *statistics, const CliBatch *batch, json_t **json);

#endif
