/* Takes the contacts of the caller into the arrays of a batch, with all threads (kernels/step/take_contacts.h). */
#ifndef SAPWOOD_HOST_CPU_TAKE_CONTACTS_H
#define SAPWOOD_HOST_CPU_TAKE_CONTACTS_H

#include "host/cpu/solver.h"
#include "kernels/step/take_contacts.h"

SapStatus sap_solver_take_contacts(SapSolver *solver, const char *what, const SapTakeArgs *args);

#endif
