/* What a batch asks of its solver beyond the public header. */
#ifndef SAPWOOD_HOST_CPU_SOLVER_H
#define SAPWOOD_HOST_CPU_SOLVER_H

#include <sapwood/batch.h>

#include "host/plan/world_parameters.h"

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
