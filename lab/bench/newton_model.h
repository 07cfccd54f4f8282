/* The synthetic problems of `bench-newton`: a floating base with branches, and contacts distributed over their ends.
 * */
#ifndef SAPWOOD_LAB_BENCH_NEWTON_MODEL_H
#define SAPWOOD_LAB_BENCH_NEWTON_MODEL_H

#include "host/cli/common.h"

enum { CLI_NEWTON_MAX_DOFS = 128, CLI_NEWTON_BRANCHES = 6 };

/* The model, and the links at the ends of the branches; the base itself if there are none. */
typedef struct CliNewtonModel {
    SapModel *model;
    int nv, num_ends;
    int end[CLI_NEWTON_BRANCHES];       /* bodies */
    int end_depth[CLI_NEWTON_BRANCHES]; /* number of dofs on the path to each */
} CliNewtonModel;

/* A model with nv dofs, 6 .. CLI_NEWTON_MAX_DOFS: a free body and branches of revolute joints that share the remaining
 * dofs evenly; four branches, or six from 30 dofs on. */
bool cli_newton_model(int nv, CliNewtonModel *out);

/* Random joint angles and velocities of all worlds; the caller must then update body_q of `state`. */
void cli_newton_state(const CliNewtonModel *m, uint64_t seed, SapState *state);

/* nc contacts of every world with the ground, distributed over the ends in turn, at the poses of `state`; f64. */
bool cli_newton_contacts(const CliNewtonModel *m, const SapState *state, int nc, uint64_t seed, SapContacts **out);

/* Floating-point operations of one Newton iteration with `evaluations` line search points; docs/cli.md. */
double cli_newton_flops(const CliNewtonModel *m, int nc, double evaluations, bool dense);

#endif
