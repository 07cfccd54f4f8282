/* What a batch asks of its solver beyond the public header. */
#ifndef SAPWOOD_HOST_SOLVER_H
#define SAPWOOD_HOST_SOLVER_H

#include <stdbool.h>

#include <sapwood/batch.h>

/* num_steps steps of h in place, each with the contacts that it finds itself and leaves in *contacts; NULL = without collision.
 * The arguments must be right: they are the batch's own. */
SapStatus sap_step_many(SapSolver *solver, SapState *state, const SapControl *control, SapContacts *contacts, double h,
                        int num_steps);

/* Status and counters of one world: as if it had never been stepped. */
void sap_solver_clear_world(SapSolver *solver, int world);

/* body_q and body_qd of the worlds with mask[w] != 0 (NULL = all). */
SapStatus sap_forward_kinematics_of(SapSolver *solver, SapState *state, const uint8_t *mask);

/* As sap_batch_expand: *values is [num_worlds][*rows][columns of the parameter]. */
SapStatus sap_solver_expand(SapSolver *solver, SapParameter parameter, double **values, int *rows);
bool sap_solver_has_expanded(const SapSolver *solver, SapParameter parameter);
SapStatus sap_solver_check_parameters(const SapSolver *solver);

#endif
