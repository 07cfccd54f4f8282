/* Comparison of MuJoCo's law with MuJoCo itself: rows, solution, counts and next states of one-step cases. */
#ifndef SAPWOOD_LAB_CONFORM_MUJOCO_H
#define SAPWOOD_LAB_CONFORM_MUJOCO_H

#include <stdbool.h>

#include <jansson.h>

#include "lab/conform/constraints.h"

/* Runs every case of a file. Prints the worst errors of the file and every comparison that fails; with `verbose` every
 * comparison. False with a message if the file cannot be used. */
bool conform_mujoco(const char *path, const json_t *file, bool verbose, ConformCount *count);

#endif
