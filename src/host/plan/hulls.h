/* What the kernels read of a hull besides its vertices and faces: edges, tables of directions, a box around it. */
#ifndef SAPWOOD_HOST_PLAN_HULLS_H
#define SAPWOOD_HOST_PLAN_HULLS_H

#include "host/model/hull.h"
#include "host/plan/plan.h"

/* The edges of a hull, each once, in the order of faces and corners, from the corner before. `edge` has space for
 * num_corners of them. */
SapStatus sap_hull_edges(const SapHullShape *hull, SapHullEdge *edge, int *num_edges);

/* The scaled vertices [num_vertices][3] and the planes [num_faces][4] of the hull of shape s. */
void sap_hull_geometry(const SapModelArrays *model, const SapPlan *plan, int s, double *vertex, double *plane);

/* Adds the tables of directions of all hulls, in the plan's block SAP_PLAN_DIRECTIONS. */
SapStatus sap_plan_add_directions(const SapModelArrays *model, SapHull *hull, SapPlanOwner *plan);

/* The smallest box around n vertices among those aligned with the shape frame or with one of up to 64 faces: centre,
 * three unit axes, half extents. */
void sap_hull_box(const double *vertex, int n, const double *plane, int num_faces, double box[15]);

#endif
