/* Comparison with reference data for the contact laws: a scene, cases of one step with given contacts under every law,
 * and a trajectory of each; or single contacts. lab/conform/README.md describes the format. */
#ifndef SAPWOOD_LAB_CONFORM_LAWS_H
#define SAPWOOD_LAB_CONFORM_LAWS_H

#include <jansson.h>
#include <stdbool.h>

#include "lab/conform/scene_case.h"

/* Whether a file has this format: it has laws, or points. */
bool conform_is_laws(const json_t *file);

/* Compares all of a file: one comparison per case and law, per trajectory, or per point and law. `verbose` prints every
 * comparison, not only those that differ. False with a message on stderr if the file or its scene cannot be used. */
bool conform_laws(const char *path, const json_t *file, bool verbose, ConformCount *count);

/* Compares single contacts. */
bool conform_law_points(const char *path, const json_t *file, bool verbose, ConformCount *count);

#endif
