/* The peak rate of fused multiply-adds, measured: what a share of peak is a share of. */
#ifndef SAPWOOD_HOST_CLI_BENCH_PEAK_H
#define SAPWOOD_HOST_CLI_BENCH_PEAK_H

#include <sapwood/options.h>

/* Floating-point operations per second (a fused multiply-add is two) that `threads` threads reach together with the
 * registers of `isa`, which this machine must have. 0 if the threads could not be started. */
double cli_peak_flops(SapIsa isa, SapPrecision precision, int threads);

#endif
