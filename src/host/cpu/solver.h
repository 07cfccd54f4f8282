/* A solver, and the calls that a batch needs beyond the public header. */
#ifndef SAPWOOD_HOST_CPU_SOLVER_H
#define SAPWOOD_HOST_CPU_SOLVER_H

#include <sapwood/batch.h>

#include "host/cpu/pool.h"
#include "host/cpu/run.h"
#include "host/cpu/work_ranges.h"
#include "host/plan/model_plan.h"
#include "host/plan/per_world.h"

typedef struct SapSleep SapSleep; /* sleep.h */
struct SapSnapshot;

struct SapSolver {
    SapModel *model; /* held: the caller may destroy it first */
    const SapModelPlan *plan;
    SapOptions options;
    SapIsa isa;
    int num_worlds;
    SapKernelSet kernels;
    SapKernels dual_table; /* the f64 kernels with the solve in impulses, if contact_solver selects it */
    SapDualStepArgs dual;  /* its arguments */
    SapDualRecord record;  /* where it copies its problems */
    SapExtraReport extra;  /* of sap_solver_record and sap_solver_record_rows */
    SapPool *pool;
    int threads;
    SapWorkRange *ranges; /* [threads] */
    int *order;           /* [num_worlds] the order in which worlds form packs (group.h); NULL: their own */
    SapScratch *scratch;  /* [threads] */
    SapTicks *ticks;      /* [threads]; NULL until a profile is requested */
    SapSleep *sleep;      /* NULL unless worlds may sleep */
    SapStepArgs args;     /* arguments that are the same in all calls */
    const SapFormulation *formulation;
    void *law;                 /* its arguments, with the arrays of a call; NULL: none */
    SapKernels own_kernels[2]; /* kernels.pack of a formulation or contact law with its own, f32 and f64 */
    SapPerWorld per_world;
    const struct SapSnapshot *kept; /* what the next step copies first (keep.h); NULL: nothing */
    void *results; /* memory of args.status and of the per-world arrays of args.report; NULL: a batch owns them */
};

/* sap_solver_create for an owner with bytes_per_world of its own arrays, which must fit in memory too. The arguments
 * are not checked. Messages begin with `what`. */
SapStatus sap_solver_create_for(const char *what, const SapModel *model, int num_worlds, const SapOptions *options,
                                size_t bytes_per_world, SapSolver **out);

/* Checks the arrays of a batch, which a caller can change. own_contacts: where steps write their contacts; NULL: not
 * checked. Messages begin with `what`. */
SapStatus sap_solver_check_arrays(const SapSolver *solver, const char *what, const SapState *state,
                                  const SapControl *control, const SapContacts *own_contacts);

/* Computes body_q and body_qd of the worlds with mask[w] != 0 (NULL = all). Messages begin with `what`. */
SapStatus sap_forward_kinematics_of(SapSolver *solver, const char *what, SapState *state, const uint8_t *mask);

/* Redirects the results of steps to these arrays; the solver's own arrays are freed. */
void sap_solver_set_results(SapSolver *solver, uint32_t *status, const SapReportArgs *report);

/* Computes the parameters that the formulation of the options needs beyond the model's arrays, unless the model has
 * them. */
SapStatus sap_solver_complete_model(const SapModel *model, const SapOptions *options);

/* Lets worlds sleep if the option sleep_steps is set. asleep: [num_worlds] 1 = the world sleeps; the caller's. */
SapStatus sap_solver_let_sleep(SapSolver *solver, int32_t *asleep);
/* As sap_sleep_record_trees, if worlds may sleep. */
void sap_solver_record_trees(SapSolver *solver, int32_t *tree_asleep, double *tree_rest);

/* Makes the solver read a parameter per world. */
SapStatus sap_solver_add_per_world(SapSolver *solver, SapParameter parameter);
SapPerWorld *sap_solver_per_world(SapSolver *solver);

#endif
