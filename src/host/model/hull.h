/* The convex hull of points: the indices of its vertices, and its planar faces. The coordinates stay with the caller,
 * so that one hull serves all shapes that scale the same points. */
#ifndef SAPWOOD_HOST_MODEL_HULL_H
#define SAPWOOD_HOST_MODEL_HULL_H

#include <sapwood/error.h>

/* Point sets thinner than this fraction of their largest extent count as flat. */
#define SAP_HULL_FLAT 1e-5

typedef struct SapHullShape {
    int num_vertices, num_faces, num_corners;
    int *vertex;     /* [num_vertices] point indices, increasing */
    int *face_start; /* [num_faces + 1] first corner of each face; the last entry is num_corners */
    /* [num_corners] indices into `vertex`: 3 or more per face, counter-clockwise seen from outside, the smallest first.
     * Faces are in lexicographic order of their corners. */
    int *corner;
    void *memory; /* the block that holds these arrays */
} SapHullShape;

/* Computes the hull of `num_points` points [][3]; free it with sap_hull_free. Fewer than 4 points, coordinates that are
 * not finite and flat point sets are rejected as SAP_ERROR_MODEL; the message begins with `what`, such as "mesh 3".
 * Triangles that lie in one plane to 1e-6 of the extent form one face. The result is deterministic. */
SapStatus sap_hull_create(const double *points, int num_points, const char *what, SapHullShape *out);
void sap_hull_free(SapHullShape *hull);

/* Four of the points, by index, that span a volume; flat points are an error as in sap_hull_create. */
SapStatus sap_hull_span(const double *points, int num_points, const char *what, int four[4]);

/* The outward unit normal n and the offset of a face whose corners are at points[3 corner[i] ..]: n.x <= offset inside.
 * */
void sap_face_plane(const double *points, const int *corner, int num_corners, double plane[4]);

#endif
