/* The measured peak rate of fused multiply-adds, the reference for fractions of peak. */
#ifndef SAPWOOD_HOST_CLI_BENCH_PEAK_H
#define SAPWOOD_HOST_CLI_BENCH_PEAK_H

#include <sapwood/options.h>

/* Floating-point operations per second (a fused multiply-add counts as two) that `threads` threads reach together with
 * the registers of `isa`, which this machine must support. 0 if the threads cannot be started. */
double cli_peak_flops(SapIsa isa, SapPrecision precision, int threads);

#endif
