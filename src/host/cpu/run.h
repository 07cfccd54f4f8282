/* Programs, and how a solver runs them: on packs of worlds, distributed to the threads. A program is a list of stages,
 * each in the kernels of its precision. */
#ifndef SAPWOOD_HOST_CPU_RUN_H
#define SAPWOOD_HOST_CPU_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <sapwood/solver.h>

#include "host/cpu/context.h"

typedef void SapProgram(SapContext *ctx);

void sap_program_step(SapContext *ctx);       /* free motion, collision, contacts, solve, integration */
void sap_program_one_step(SapContext *ctx);   /* step args->first_step of them */
void sap_program_solve(SapContext *ctx);      /* the same up to the solve, */
void sap_program_finish(SapContext *ctx);     /* and the rest, after it */
void sap_program_collide(SapContext *ctx);    /* contact records */
void sap_program_inspect(SapContext *ctx);    /* free motion, copied out */
void sap_program_kinematics(SapContext *ctx); /* body poses and velocities */

/* Whether a call with these arguments has a contact problem to solve. */
bool sap_program_solves(const SapStepArgs *args);

typedef struct SapRun {
    const SapStepArgs *args;
    SapProgram *program;
    const uint8_t *mask; /* [num_worlds] nonzero: the world is processed; NULL = all */
    const int *list;     /* [count] the worlds to process, in packs of neighbours of the list; NULL = all */
    int count;
} SapRun;

/* Runs a program on the worlds with valid parameters. */
void sap_solver_run(SapSolver *solver, const SapRun *run);

#endif
