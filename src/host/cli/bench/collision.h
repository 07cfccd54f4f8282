/* `sapwood bench --collision`: the cost of collision detection, by pair of shape types and in scenes. */
#ifndef SAPWOOD_HOST_CLI_BENCH_COLLISION_H
#define SAPWOOD_HOST_CLI_BENCH_COLLISION_H

#include "host/cli/bench/bench.h"

typedef struct BenchCollision {
    const CliSettings *settings;
    int repeat;
    uint64_t seed;
    BenchFormat format;
} BenchCollision;

/* Returns an exit code. */
int cli_bench_collision(const BenchCollision *args);

#endif
