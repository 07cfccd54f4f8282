/* Runs of sap_dual_solve for tests: one problem, with all results. */
#ifndef SAPWOOD_TESTS_SUPPORT_DUAL_RUN_H
#define SAPWOOD_TESTS_SUPPORT_DUAL_RUN_H

#include <sapwood/dual.h>

#include "support/need.h"

enum { DUAL_MAX_ROWS = 192 };

typedef struct DualRun {
    double impulse[DUAL_MAX_ROWS], velocity[DUAL_MAX_ROWS], cost, residual;
    uint32_t status;
    int32_t iterations, inner_iterations, safeguards, active, region[DUAL_MAX_ROWS];
} DualRun;

static inline SapDualOptions dual_options(SapDualMethod method, double tolerance) {
    SapDualOptions options;
    sap_dual_options_default(&options);
    options.method = method;
    options.optimality_rel_tol = tolerance;
    return options;
}

static inline DualRun dual_run(const SapDualProblem *problem, const SapDualOptions *options) {
    DualRun run = {0};
    SapDualSolution out = {run.impulse,     run.velocity,          &run.cost,       &run.residual, &run.status,
                           &run.iterations, &run.inner_iterations, &run.safeguards, &run.active,   run.region};
    need(sap_dual_solve(problem, options, &out));
    return run;
}

/* Whether the solve ended by its own criterion, and nothing else happened. */
static inline bool dual_is_optimal(const DualRun *run) {
    return run->status == SAP_WORLD_OPTIMAL;
}

#endif
