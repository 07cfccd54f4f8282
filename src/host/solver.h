/* What a batch asks of its solver beyond the public header. */
#ifndef SAPWOOD_HOST_SOLVER_H
#define SAPWOOD_HOST_SOLVER_H

#include <sapwood/solver.h>

/* num_steps steps of h in place, each with the contacts that it finds itself and leaves in *contacts; NULL = without collision.
 * The arguments must be right: they are the batch's own. */
SapStatus sap_step_many(SapSolver *solver, SapState *state, const SapControl *control, SapContacts *contacts, double h,
                        int num_steps);

/* Status and counters of one world: as if it had never been stepped. */
void sap_solver_clear_world(SapSolver *solver, int world);

#endif
