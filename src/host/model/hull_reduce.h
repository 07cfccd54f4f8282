/* A convex hull with few vertices inside the hull of many points. */
#ifndef SAPWOOD_HOST_MODEL_HULL_REDUCE_H
#define SAPWOOD_HOST_MODEL_HULL_REDUCE_H

#include <sapwood/error.h>

/* Vertices of the hull of an imported mesh unless the import selects another number. */
enum { SAP_DEFAULT_HULL_VERTICES = 64, SAP_LEAST_HULL_VERTICES = 8 };

/* Chooses `*num_kept` <= most of n points [][3], increasing in `kept` ([most] entries); most >= 8. If the hull of all
 * points has at most `most` vertices, they are chosen, and *lost = 0. Else the choice starts with the farthest points
 * along a few directions and adds the point farthest outside the hull of those chosen; *lost is the distance, in the
 * unit of the points, of the farthest point still outside. The message of a failure begins with `what`. */
SapStatus sap_hull_reduce(const double *points, int n, int most, const char *what, int *kept, int *num_kept,
                          double *lost);

#endif
