/* What `bench` was asked (cli_bench.c), what it measured (cli_bench_case.c), and how that is printed (cli_bench_print.c,
 * cli_bench_profile.c). */
#ifndef SAPWOOD_HOST_CLI_BENCH_BENCH_H
#define SAPWOOD_HOST_CLI_BENCH_BENCH_H

#include "host/cli/batch.h"

typedef enum BenchFormat { BENCH_HUMAN, BENCH_CSV, BENCH_JSON } BenchFormat;
typedef enum BenchHostile { BENCH_HOSTILE_NONE, BENCH_HOSTILE_NAN, BENCH_HOSTILE_WILD } BenchHostile;

/* How a case is measured; docs/bench.md. */
typedef struct BenchPlan {
    int steps, warmup, repeat;
    uint64_t seed;
    double control_noise; /* rad; a tenth of it in m */
    bool bodies;          /* steps write body_q and body_qd too */
    bool processor_time;  /* instead of wall time */
    bool profile;
    BenchHostile hostile;
} BenchPlan;

/* Mean, the value that 95 % do not exceed, and the largest. */
typedef struct BenchCount {
    double mean;
    int p95, largest;
} BenchCount;

enum { BENCH_NUM_STOPS = 4 }; /* cli_stops */

/* Where the time goes. */
typedef struct BenchProfile {
    double ns[SAP_NUM_STAGES];  /* per world-step */
    double overhead;            /* time with the profile over time without */
    double free_motion, factor; /* shares of the peak; NaN: not known */
} BenchProfile;

/* One line of the table. */
typedef struct BenchRow {
    int scene_index, preset_index; /* in the order given */
    char scene[CLI_TEXT_SIZE];     /* without folder and ".yaml" */
    SapOptions options;
    int worlds, passes; /* passes: how often one measurement goes through its steps */
    SapBatchInfo where;
    SapIsa isa;
    int lanes, threads;        /* in use; 0 on a GPU, which has no isa either */
    double ns, ns_min, ns_max; /* per world-step: median and extremes of the repeats */
    double flops, peak; /* of free motion per world-step; per second of the threads in use, NaN or 0: not known */
    BenchCount contacts, newton, line;
    double stops[BENCH_NUM_STOPS];       /* shares */
    int most_slots, capacity;            /* contacts a world needed, and had room for */
    double depth_p95, depth_most;        /* penetration, m; NaN without contacts */
    double bytes, array_bytes, resident; /* per world: of the batch, of its arrays, and what the process grew by */
    double start_seconds;                /* to create the batch and make its first step */
    CliFailures failures;                /* worlds that failed in any step */
    CliFailures truncated;               /* worlds that dropped contacts in any step; no counts by bit */
    CliFailures not_converged;           /* worlds that did not converge in any step; no counts by bit */
    uint64_t hash;                       /* of the states at the end */
    bool repeatable;                     /* every pass ended with these bits */
    double hostile_ratio;                /* time with a hostile world over time without; NaN: not asked */
    bool others_same;                    /* the other worlds ended with the same bits beside it */
    int hostile_newton;                  /* the most iterations that it took */
    BenchProfile profile;
} BenchRow;

typedef struct BenchRows {
    int count, room;
    BenchRow *row;
} BenchRows;

/* Measures one case; worlds, options, scene and the indices of *row are given, the rest is filled in. `is_known` is asked once lanes and threads
 * are: where it says yes, nothing is measured and row->ns stays 0. */
bool bench_case(const BenchPlan *plan, const CliScene *scene, bool (*is_known)(void *arg, const BenchRow *row),
                void *arg, BenchRow *row);

/* The peak of fused multiply-adds, measured once per kind. */
double bench_peak(SapIsa isa, SapPrecision precision, int threads);

/* A row that makes the exit code 1. */
bool bench_row_failed(const BenchRow *row);

/* ---- printing ---- */

const char *bench_hostile_name(BenchHostile hostile);

/* Before the first row, after each, and after the last. JSON is written at the end. */
void bench_print_header(BenchFormat format, const BenchPlan *plan);
void bench_print_row(BenchFormat format, const BenchPlan *plan, const BenchRow *row);
bool bench_print_end(BenchFormat format, const BenchPlan *plan, const BenchRows *rows);

/* The stages as lines, as columns of CSV (each begins with a comma), and as an object. */
void bench_profile_print(const BenchRow *row);
void bench_profile_csv_header(void);
void bench_profile_csv(const BenchRow *row);
json_t *bench_profile_json(const BenchRow *row);

/* ---- --newton: cli_bench_newton.c ---- */

typedef struct BenchNewton {
    const CliSettings *settings;
    const CliList *precisions;
    int worlds, threads, lanes, repeat;
    uint64_t seed;
    BenchFormat format;
} BenchNewton;

/* Measures and prints the grid. Returns an exit code. */
int cli_bench_newton(const BenchNewton *args);

#endif
