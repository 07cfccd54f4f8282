/* A solver, and what a batch asks of its own beyond the public header. */
#ifndef SAPWOOD_HOST_CPU_SOLVER_H
#define SAPWOOD_HOST_CPU_SOLVER_H

#include <sapwood/batch.h>

#include "host/cpu/lockstep.h"
#include "host/cpu/pool.h"
#include "host/cpu/programs.h"
#include "host/cpu/work_ranges.h"
#include "host/plan/model_plan.h"
#include "host/plan/world_parameters.h"

struct SapSolver {
    SapModel *model; /* held: the caller may let go of it */
    const SapModelPlan *plan;
    SapOptions options;
    SapIsa isa;
    int num_worlds;
    SapKernelSet kernels;
    SapPool *pool;
    int threads;
    SapWorkRange *deal;    /* [threads] */
    SapScratch *scratch;   /* [threads] */
    SapTicks *ticks;       /* [threads]; NULL until a profile is asked for */
    SapLockstep *lockstep; /* NULL unless a library solves the Newton systems */
    SapStepArgs args;      /* all that does not change from call to call */
    SapWorldParameters expansion;
    void *results; /* the memory of args.status and of what args.report has of worlds; NULL: these are a batch's */
};

/* num_steps steps of h in place, each with the contacts that it finds itself and leaves in *contacts; NULL = without collision.
 * The arguments must be right: they are the batch's own. */
SapStatus sap_step_many(SapSolver *solver, SapState *state, const SapControl *control, SapContacts *contacts, double h,
                        int num_steps);

/* body_q and body_qd of the worlds with mask[w] != 0 (NULL = all). */
SapStatus sap_forward_kinematics_of(SapSolver *solver, SapState *state, const uint8_t *mask);

/* Results of steps go to these arrays from now on, in place of the solver's own, which are freed. */
void sap_solver_set_results(SapSolver *solver, uint32_t *status, const SapReportArgs *report);

/* Makes the solver read a parameter world by world; the expansion is where it is written. */
SapStatus sap_solver_expand(SapSolver *solver, SapParameter parameter);
SapWorldParameters *sap_solver_world_parameters(SapSolver *solver);

#endif
