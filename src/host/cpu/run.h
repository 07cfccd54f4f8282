/* Runs programs on all worlds of a solver: packs of worlds, distributed to the threads. */
#ifndef SAPWOOD_HOST_CPU_RUN_H
#define SAPWOOD_HOST_CPU_RUN_H

#include "host/cpu/solver.h"

/* Runs on the worlds with mask[w] != 0 (NULL = all) and valid parameters. */
void sap_solver_run(SapSolver *solver, const SapStepArgs *args, SapProgram *program, const uint8_t *mask);

/* Takes args->num_steps steps of all worlds. */
void sap_solver_run_step(SapSolver *solver, const SapStepArgs *args);

/* Takes a step of the worlds in a list, in packs of neighbours of the list. */
void sap_solver_run_listed(SapSolver *solver, const SapStepArgs *args, const int *worlds, int count);

#endif
