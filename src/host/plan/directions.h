/* Tables of directions: for a set of points x and any direction u, a short list of points that contains the farthest,
 * argmax u.x. Kernels use them for hulls (kernels/collide/support.h).
 *
 * The cells of a table cover the directions to a cube around the origin. A cell is a cone; the functions u.x are
 * linear, so a point that another one exceeds at all four corners of a cell is never the farthest in it. The list of a
 * cell has all points that are not excluded in this way. Cells are enlarged by 1e-5, and a point is excluded only if
 * the other one is better by 1e-5 of the largest coordinate: rounding in f32 cannot move the maximum out of the list,
 * and a search of the list finds the same point as a search of all points. */
#ifndef SAPWOOD_HOST_PLAN_DIRECTIONS_H
#define SAPWOOD_HOST_PLAN_DIRECTIONS_H

#include <stddef.h>

#include <sapwood/error.h>

#include "kernels/data/plan.h"

/* The cells and lists of several tables. */
typedef struct SapDirectionLists {
    SapDirectionCell *cell;
    int *point;
    size_t num_cells, num_points; /* in use */
    size_t max_cells, max_points; /* allocated */
} SapDirectionLists;

/* Appends the table of n points [][3]; few points get none (resolution 0). */
SapStatus sap_directions_add(SapDirectionLists *lists, const double *points, int n, SapDirections *out);
void sap_directions_free(SapDirectionLists *lists);

#endif
