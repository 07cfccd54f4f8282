/* Worlds that a call skips because their parameters break a rule of the model (host/plan/per_world.h). They keep
 * their state, have no contacts and reports of 0, and their status is SAP_WORLD_BAD_PARAMETERS. The functions process
 * one world: a CPU calls them for each world; on a GPU each world has a team. */
#ifndef SAPWOOD_KERNELS_STEP_SKIP_WORLD_H
#define SAPWOOD_KERNELS_STEP_SKIP_WORLD_H

#include "kernels/data/args.h"
#include "kernels/dialect/team.h"
#include "kernels/step/forget_reports.h"

/* Copies row `world` of `from` to `to`; does nothing if they are the same array or `to` is absent. */
TEAM_FN void leave_row(SapBuffer to, SapBuffer from, int world, int width) {
    if (!to.data || to.data == from.data)
        return;
    TEAM_FOR(i, width) {
        long long at = (long long)world * from.stride + i, there = (long long)world * to.stride + i;
        double x = from.is_f64 ? ((const double *)from.data)[at] : (double)((const float *)from.data)[at];
        if (to.is_f64)
            ((double *)to.data)[there] = x;
        else
            ((float *)to.data)[there] = (float)x;
    }
}

/* Returns whether the call skips the world, and writes its outputs if so. */
TEAM_FN bool skip_world(const SapStepArgs *args, int world) {
    if (!args->skipped || !args->skipped[world])
        return false;
    TEAM_ONCE() {
        args->status[world] = SAP_WORLD_BAD_PARAMETERS;
        if (args->collide.enabled)
            args->contacts.count[world] = args->contacts.dropped[world] = 0;
    }
    leave_row(args->q_out, args->q_in, world, args->plan.nq);
    leave_row(args->qd_out, args->qd_in, world, args->plan.nv);
    forget_reports(args, world);
    return true;
}

#endif
