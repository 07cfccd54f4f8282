/* Comparison with reference data for constraints and tendons: a scene, cases of one step each, and a trajectory.
 * lab/conform/README.md describes the format. */
#ifndef SAPWOOD_LAB_CONFORM_CONSTRAINTS_H
#define SAPWOOD_LAB_CONFORM_CONSTRAINTS_H

#include <jansson.h>
#include <stdbool.h>

#include <sapwood/options.h>

#include "lab/conform/scene_case.h"

/* Whether a file has this format: it names a scene. */
bool conform_is_constraints(const json_t *file);

/* Compares all of a file: one comparison per case, per case with split weights, and per trajectory. The scene lies beside it. `verbose` prints every comparison, not only those that differ.
 * False with a message on stderr if the file or its scene cannot be used. */
bool conform_constraints(const char *path, const json_t *file, bool verbose, ConformCount *count);

/* Largest errors: v after one step, m/s or rad/s, and coordinates of trajectories, m or rad. A step of which a world
 * fails has an infinite error. */
typedef struct ConformErrors {
    double v, q;
} ConformErrors;

/* Runs all of a file with the precisions of a preset, and raises *errors to its largest. */
bool conform_constraints_errors(const char *path, const json_t *file, const SapOptions *precisions,
                                ConformErrors *errors);

#endif
