/* What files with a scene beside them have in common: its state, and comparisons with numbers of the file. */
#ifndef SAPWOOD_LAB_CONFORM_SCENE_CASE_H
#define SAPWOOD_LAB_CONFORM_SCENE_CASE_H

#include <stdbool.h>

#include <jansson.h>

#include <sapwood/sapwood.h>

/* The numbers of passed and failed comparisons. */
typedef struct ConformCount {
    int passed, failed;
} ConformCount;

/* One comparison: the largest error over its tolerance, and what it was. */
typedef struct ConformWorst {
    double ratio, error;
    const char *what;
} ConformWorst;

/* Raises *w to an error, if it is the largest. An error that is NaN counts as infinite. */
void conform_worst(ConformWorst *w, const char *what, double error, double tolerance);

/* Counts a comparison and prints it, if it failed or `verbose`. */
void conform_tally(const char *path, const char *name, const ConformWorst *w, bool verbose, ConformCount *count);

/* Loads the scene that the key `scene` of the file names, beside it. False with a message on stderr. */
bool conform_open_scene(const char *path, const json_t *file, SapScene **out);

/* Sets an f64 state of one world. Velocities v have the angular part of a free joint first, at the body's origin. */
void conform_set_state(const SapModelArrays *m, SapState *state, const double *q, const double *v);

/* The largest difference of coordinates; the sign of a quaternion is free. */
double conform_coordinate_error(const SapModelArrays *m, const double *ours, const double *theirs);

/* The largest difference between numbers of the file and ours, and the same over the largest number of the file or
 * `least`; NaN if the file has another number of them. */
double conform_absolute(const json_t *node, const double *ours, int count);
double conform_relative(const json_t *node, const double *ours, int count, double least);

#endif
