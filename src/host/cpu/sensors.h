/* Sensors on the CPU: items of work, distributed to the threads of a solver. */
#ifndef SAPWOOD_HOST_CPU_SENSORS_H
#define SAPWOOD_HOST_CPU_SENSORS_H

#include "host/cpu/solver.h"
#include "kernels/data/rays.h"

/* The arguments are complete. Messages begin with `what`. */
SapStatus sap_solver_raycast(SapSolver *solver, const char *what, const SapRayArgs *args);

SapStatus sap_solver_sense(SapSolver *solver, const char *what, const SapSenseArgs *args);

#endif
