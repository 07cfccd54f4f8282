/* `sapwood compare-solvers SCENE`: contact solvers on the same worlds and contacts. */
#ifndef SAPWOOD_LAB_COMPARE_SOLVERS_SOLVERS_H
#define SAPWOOD_LAB_COMPARE_SOLVERS_SOLVERS_H

#include "host/cli/statistics.h"

/* A solver that can be compared: its name and the options that make it. */
typedef struct SolverChoice {
    const char *name, *contact_solver, *friction_law;
} SolverChoice;

enum { NUM_SOLVER_CHOICES = 7 };
extern const SolverChoice solver_choices[NUM_SOLVER_CHOICES];
extern const char *const solver_names[NUM_SOLVER_CHOICES + 1]; /* NULL-terminated */

typedef struct SolversArgs {
    CliSettings settings;
    const char *scene, *plot; /* plot: SVG file; NULL = none */
    CliList solvers;          /* indices of solver_choices; the first moves the worlds */
    int worlds, steps;
    uint64_t seed;
    double noise;
    bool json;
} SolversArgs;

/* One solver. Differences are to the first, from the same states and contacts, the largest over all steps. */
typedef struct SolverRow {
    double v, impulse;    /* m/s or rad/s; N s: norm over dofs or contacts, root mean square over worlds */
    double residual;      /* mean over steps of the residual of rigid contact (docs/dual.md) */
    double own_residual;  /* mean over steps of the relative residual of the solver's own problem */
    double momentum;      /* largest |A (v - v*) - J' l| / max(|A v|, |J' l|) */
    CliCount iterations;  /* per world and step */
    int not_converged;    /* solves */
    double ns;            /* processor time per world and step */
    double depth, energy; /* from the solver's own run: m, deepest overlap; J, change of the energy, mean over worlds */
    double slip;          /* m/s, largest tangential velocity of a closed contact in its last tenth */
    CliFailures failed;   /* worlds of that run */
} SolverRow;

typedef struct Solvers {
    const SolversArgs *args;
    CliScene scene;
    SolverRow row[CLI_LIST_SIZE];
} Solvers;

/* The table, JSON, and the plot of accuracy against work. */
bool solvers_print(const Solvers *solvers);

#endif
