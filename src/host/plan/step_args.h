/* The kernel arguments that depend only on the model and the options: precisions, tolerances, scratch layouts. */
#ifndef SAPWOOD_HOST_PLAN_STEP_ARGS_H
#define SAPWOOD_HOST_PLAN_STEP_ARGS_H

#include <sapwood/contacts.h>
#include <sapwood/options.h>
#include <sapwood/state.h>

#include "kernels/data/args.h"

/* Fills *args; `constants` are the model's in f32 and f64. State, control, contacts, reports, status, num_worlds
 * and h are left 0. *dual becomes a part of *args if contact_solver is in impulses, and must live as long. */
SapStatus sap_step_args_init(const SapModelArrays *model, const SapPlan *plan, const SapConstants constants[2],
                             const SapOptions *options, int lanes, SapDualStepArgs *dual, SapStepArgs *args);

/* Arrays of contacts and dofs that SapContactReport and SapReportArgs have under the same name. */
#define SAP_EACH_CONTACT_REPORT(X)                                                                                     \
    X(impulse)                                                                                                         \
    X(velocity)                                                                                                        \
    X(position)                                                                                                        \
    X(frame)                                                                                                           \
    X(gap)                                                                                                             \
    X(weight)                                                                                                          \
    X(pair)                                                                                                            \
    X(jacobian)                                                                                                        \
    X(region)                                                                                                          \
    X(force)                                                                                                           \
    X(wrench)                                                                                                          \
    X(drive)                                                                                                           \
    X(limit)                                                                                                           \
    X(friction)

/* Friction and dissipation time of a contact side without a shape. */
double sap_fallback_mu(const SapModelArrays *model, const SapOptions *options);
double sap_fallback_tau(const SapModelArrays *model, const SapOptions *options);

/* Rejects a time step that is not finite and greater than 0. The message begins with `what`. */
SapStatus sap_check_timestep(const char *what, double h);

/* Sets the arrays of a call, in any memory. If control or one of its arrays is absent, the model's array in host memory
 * is used instead. */
void sap_step_args_set_input(SapStepArgs *args, const SapState *in);
void sap_step_args_set_output(SapStepArgs *args, const SapState *out); /* including bodies */
void sap_step_args_set_bodies(SapStepArgs *args, const SapState *out);
void sap_step_args_set_control(SapStepArgs *args, const SapControl *control, const SapModelArrays *model);
void sap_step_args_set_contacts(SapStepArgs *args, const SapContacts *contacts);
void sap_step_args_set_parameters(SapStepArgs *args, const SapContacts *contacts); /* of contacts, a part of them */

#endif
