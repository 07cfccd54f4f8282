/* The arguments of `bench` (bench.c), its measurements (case.c) and its output (print.c, profile.c). */
#ifndef SAPWOOD_HOST_CLI_BENCH_BENCH_H
#define SAPWOOD_HOST_CLI_BENCH_BENCH_H

#include "host/cli/batch.h"
#include "host/cli/statistics.h"

typedef enum BenchFormat { BENCH_HUMAN, BENCH_CSV, BENCH_JSON } BenchFormat;
/* The value of --format. */
BenchFormat bench_format(const struct argp_state *state, const char *text);

typedef enum BenchHostile { BENCH_HOSTILE_NONE, BENCH_HOSTILE_NAN, BENCH_HOSTILE_WILD } BenchHostile;

/* How a case is measured; docs/bench.md. */
typedef struct BenchPlan {
    int steps, warmup, repeat;
    int call; /* most steps of a call, 1 .. CLI_CONTROL_STEPS */
    uint64_t seed;
    double control_noise; /* rad; a tenth of it in m */
    bool bodies;          /* steps also write body_q and body_qd */
    bool processor_time;  /* instead of wall time */
    bool profile;
    BenchHostile hostile;
} BenchPlan;

/* Mean, 95th percentile, and maximum. */
typedef struct BenchCount {
    double mean;
    int p95, largest;
} BenchCount;

/* Time per stage. */
typedef struct BenchProfile {
    double ns[SAP_NUM_SECTIONS]; /* per world-step */
    double overhead;             /* time with the profile over time without */
    double free_motion, factor;  /* fractions of peak; NaN: unknown */
} BenchProfile;

/* One line of the table. */
typedef struct BenchRow {
    int scene_index, preset_index; /* indices in the given order */
    char scene[CLI_TEXT_SIZE];     /* without folder and ".yaml" */
    SapOptions options;
    int worlds, passes; /* passes: number of passes over the steps per measurement */
    SapBatchInfo where;
    SapIsa isa;
    int lanes, threads;        /* in use; 0 on a GPU, which has no isa either */
    double ns, ns_min, ns_max; /* per world-step: median and extremes of the repeats */
    double flops, peak;        /* of free motion per world-step; of the threads in use per second, NaN or 0: unknown */
    BenchCount contacts, newton, line;
    double stops[CLI_NUM_STOPS];         /* fractions */
    int most_slots, capacity;            /* largest number of contacts of a world, and capacity */
    double depth_p95, depth_most;        /* penetration, m; NaN without contacts */
    double bytes, array_bytes, resident; /* per world: batch, its arrays, and growth of the process */
    double start_seconds;                /* time to create the batch and take its first step */
    CliFailures failures;                /* worlds that failed in any step */
    CliFailures truncated;               /* worlds that dropped contacts in any step; no counts by bit */
    CliFailures not_converged;           /* worlds that did not converge in any step; no counts by bit */
    uint64_t hash;                       /* of the final states */
    bool repeatable;                     /* every pass ended with the same bits */
    double hostile_ratio;                /* time with a hostile world over time without; NaN: not measured */
    bool others_same;                    /* the other worlds end with the same bits */
    int hostile_newton;                  /* largest number of its Newton iterations */
    BenchProfile profile;
} BenchRow;

typedef struct BenchRows {
    int count, room;
    BenchRow *row;
} BenchRows;

/* Measures one case. worlds, options, scene and the indices of *row are inputs, the rest is filled in. `is_known` is
 * called when lanes and threads are known; if it returns true, nothing is measured and row->ns stays 0. */
bool bench_case(const BenchPlan *plan, const CliScene *scene, bool (*is_known)(void *arg, const BenchRow *row),
                void *arg, BenchRow *row);

/* Peak rate of fused multiply-adds, measured once per isa, precision and number of threads. */
double bench_peak(SapIsa isa, SapPrecision precision, int threads);

/* Whether a row makes the exit code 1. */
bool bench_row_failed(const BenchRow *row);

/* ---- printing ---- */

const char *bench_hostile_name(BenchHostile hostile);

/* Called before the first row, after each row, and after the last. JSON is written at the end. */
void bench_print_header(BenchFormat format, const BenchPlan *plan);
void bench_print_row(BenchFormat format, const BenchPlan *plan, const BenchRow *row);
bool bench_print_end(BenchFormat format, const BenchPlan *plan, const BenchRows *rows);

/* Prints the stages as lines, as CSV columns (each begins with a comma), and as a JSON object. */
void bench_profile_print(const BenchRow *row);
void bench_profile_csv_header(void);
void bench_profile_csv(const BenchRow *row);
json_t *bench_profile_json(const BenchRow *row);

#endif
