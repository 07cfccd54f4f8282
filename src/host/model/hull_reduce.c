#include "host/model/hull_reduce.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/model.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/stack.h"
#include "host/model/hull.h"

/* Points added before the hull is computed again: the farthest outside each of as many faces. */
enum { PER_ROUND = 4 };

typedef struct Reduction {
    const double *points; /* of the vertices of the complete hull */
    int n, most;
    int num;          /* chosen so far */
    int *chosen;      /* [most] in the order of choice */
    double *position; /* [most][3] */
    bool *taken;      /* [n] */
} Reduction;

static double along(const double *u, const double *x) {
    return u[0] * x[0] + u[1] * x[1] + u[2] * x[2];
}

static void take_point(Reduction *r, int i) {
    if (r->taken[i] || r->num == r->most)
        return;
    r->taken[i] = true;
    memcpy(r->position + 3 * r->num, r->points + 3 * i, 3 * sizeof *r->position);
    r->chosen[r->num++] = i;
}

/* Takes the farthest points along the directions to the corners of a cube, then to its faces and edges, while there is
 * space. */
static void take_extremes(Reduction *r) {
    for (int components = 0; components < 3; components++)
        for (int k = 0; k < 27; k++) {
            const double u[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
            int count = (u[0] != 0) + (u[1] != 0) + (u[2] != 0), best = 0;
            if (count != (components == 0 ? 3 : components))
                continue;
            for (int i = 1; i < r->n; i++)
                best = along(u, r->points + 3 * i) > along(u, r->points + 3 * best) ? i : best;
            take_point(r, best);
        }
}

/* The point farthest outside a face, and its distance. */
typedef struct Outside {
    int point;
    double distance;
} Outside;

static int farther_first(const void *a, const void *b) {
    const Outside *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance > y->distance ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

/* Finds the farthest point outside each face of the hull; returns the largest distance. */
static double find_outside(const Reduction *r, const SapHullShape *hull, int *corner, Outside *outside) {
    double largest = 0;
    for (int f = 0; f < hull->num_faces; f++) {
        int first = hull->face_start[f], count = hull->face_start[f + 1] - first;
        double plane[4];
        for (int k = 0; k < count; k++)
            corner[k] = hull->vertex[hull->corner[first + k]];
        sap_face_plane(r->position, corner, count, plane);
        outside[f] = (Outside){-1, 0};
        for (int i = 0; i < r->n; i++) {
            double distance = along(plane, r->points + 3 * i) - plane[3];
            if (distance > outside[f].distance && !r->taken[i])
                outside[f] = (Outside){i, distance};
        }
        largest = fmax(largest, outside[f].distance);
    }
    return largest;
}

/* One round: the hull of the chosen points, and the farthest points outside it. *lost: their largest distance before.
 * Sets *more if points were added. */
static SapStatus add_round(Reduction *r, const char *what, double *lost, bool *more) {
    SapHullShape hull;
    SAP_TRY(sap_hull_create(r->position, r->num, what, &hull));
    Outside *outside = sap_allocate((size_t)hull.num_faces, sizeof *outside, what);
    int *corner = sap_allocate((size_t)hull.num_corners, sizeof *corner, what), before = r->num;
    if (outside != NULL && corner != NULL) {
        *lost = find_outside(r, &hull, corner, outside);
        qsort(outside, (size_t)hull.num_faces, sizeof *outside, farther_first);
        for (int k = 0; k < PER_ROUND && k < hull.num_faces && outside[k].point >= 0; k++)
            take_point(r, outside[k].point);
    }
    bool failed = outside == NULL || corner == NULL;
    *more = r->num > before;
    free(outside);
    free(corner);
    sap_hull_free(&hull);
    return failed ? SAP_ERROR_MEMORY : SAP_OK;
}

static int compare_ints(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* Chooses among the vertices of the complete hull, given in r->points. */
static SapStatus choose(Reduction *r, const char *what, double *lost) {
    bool more = true;
    int four[4];
    SAP_TRY(sap_hull_span(r->points, r->n, what, four));
    for (int k = 0; k < 4; k++)
        take_point(r, four[k]);
    take_extremes(r);
    while (more)
        SAP_TRY(add_round(r, what, lost, &more));
    qsort(r->chosen, (size_t)r->num, sizeof *r->chosen, compare_ints);
    return SAP_OK;
}

static SapStatus reduce(const double *points, const SapHullShape *hull, int most, const char *what, int *kept,
                        int *num_kept, double *lost) {
    int n = hull->num_vertices;
    Reduction r = {.n = n, .most = most, .chosen = kept};
    SapArena arena = {0};
    double *vertex = NULL;
    SAP_TRY(SAP_CARVE_ALL(&arena, what, SAP_PART(vertex, 3 * n), SAP_PART(r.position, 3 * most), SAP_PART(r.taken, n)));
    for (int i = 0; i < 3 * n; i++)
        vertex[i] = points[3 * hull->vertex[i / 3] + i % 3];
    r.points = vertex;
    SapStatus status = choose(&r, what, lost);
    for (int i = 0; i < r.num; i++)
        kept[i] = hull->vertex[kept[i]];
    *num_kept = r.num;
    free(arena.base);
    return status;
}

SapStatus sap_hull_reduce(const double *points, int n, int most, const char *what, int *kept, int *num_kept,
                          double *lost) {
    SapHullShape hull;
    *lost = 0;
    *num_kept = 0;
    SAP_TRY(sap_hull_create(points, n, what, &hull));
    SapStatus status = SAP_OK;
    if (hull.num_vertices > most) {
        status = reduce(points, &hull, most, what, kept, num_kept, lost);
    } else {
        *num_kept = hull.num_vertices;
        memcpy(kept, hull.vertex, (size_t)hull.num_vertices * sizeof *kept);
    }
    sap_hull_free(&hull);
    return status;
}

SapStatus sap_mesh_reduce(const double *vertices, int n, int most, int32_t *kept, int *num_kept, double *lost) {
    SAP_NEED(vertices);
    SAP_NEED(kept);
    SAP_NEED(num_kept);
    SAP_NEED(lost);
    SAP_TRY(sap_stack_check(__func__));
    if (most < SAP_LEAST_HULL_VERTICES)
        return sap_fail(SAP_ERROR_ARGUMENT, "most is %d; allowed: %d or more", most, SAP_LEAST_HULL_VERTICES);
    return sap_hull_reduce(vertices, n, most, "the mesh", kept, num_kept, lost);
}
