/* What `bench` measured, handed from the measuring (cli_bench.c) to the printing (cli_bench_print.c). */
#ifndef SAPWOOD_HOST_CLI_BENCH_H
#define SAPWOOD_HOST_CLI_BENCH_H

#include "cli_common.h"

/* One line of the table. */
typedef struct BenchRow {
    int scene_index;           /* in the order given */
    char scene[CLI_TEXT_SIZE]; /* without folder and ".yaml" */
    int worlds, steps, repeats;
    SapPrecision precision;
    SapIsa isa;
    int lanes, threads;        /* in use */
    double ns, ns_min, ns_max; /* per world-step: median and extremes of the repeats */
    double flops;              /* per world-step */
    double peak;               /* flops per second of the threads in use; 0: not known */
    int failed;                /* worlds */
} BenchRow;

typedef enum BenchFormat { BENCH_HUMAN, BENCH_CSV, BENCH_JSON } BenchFormat;

typedef struct BenchRows {
    int count, room;
    BenchRow *row;
} BenchRows;

/* Before the first row, after each, and after the last. JSON is written at the end. */
void bench_print_header(BenchFormat format);
void bench_print_row(BenchFormat format, const BenchRow *row);
bool bench_print_end(BenchFormat format, const BenchRows *rows);

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
