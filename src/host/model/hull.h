/* The convex hull of points: which of them are its vertices, and its planar faces. The numbers stay with the caller, so that one
 * hull serves all shapes that scale the same points. */
#ifndef SAPWOOD_HOST_MODEL_HULL_H
#define SAPWOOD_HOST_MODEL_HULL_H

#include <sapwood/error.h>

/* Points thinner than this part of their largest extent are flat. */
#define SAP_HULL_FLAT 1e-5

typedef struct SapHullShape {
    int num_vertices, num_faces, num_corners;
    int *vertex;     /* [num_vertices] points, increasing */
    int *face_start; /* [num_faces + 1] first corner of each face, last entry num_corners */
    int *
        corner; /* [num_corners] vertices (places in `vertex`): 3 or more per face, counter-clockwise from outside, the smallest
                        first. Faces are in lexicographic order of their corners */
    void *memory; /* holds all of them */
} SapHullShape;

/* The hull of `num_points` points [][3]; free it with sap_hull_free. Refused, as SAP_ERROR_MODEL with `what` (such as
 * "mesh 3") in front of the message: fewer than 4 points, coordinates that are not finite, and flat sets of points. Triangles that
 * lie in one plane to 1e-6 of the extent are one face. The same points give the same hull. */
SapStatus sap_hull_create(const double *points, int num_points, const char *what, SapHullShape *out);
void sap_hull_free(SapHullShape *hull);

/* The outward unit normal and the offset of a face whose corners are at points[3 corner[i] ..]: n.x <= offset inside. */
void sap_face_plane(const double *points, const int *corner, int num_corners, double plane[4]);

#endif
