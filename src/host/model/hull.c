/* Convex hulls. Qhull computes triangles; coplanar triangles are merged into one face.
 *
 * The points are first translated and scaled into the box [-1, 1]^3, so that one tolerance fits all sizes. Each face
 * grows from the largest free triangle: a neighbour joins if its corners are within the tolerance of the plane of that
 * first triangle. Vertices in the interior of a face, or on the edge between only two faces, are dropped. */
#include "host/model/hull.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libqhull_r/qhull_ra.h>

#include "host/base/fail.h"
#include "host/base/memory.h"

/* In the box [-1, 1]^3. Larger than the rounding noise of single-precision files, smaller than any detail that matters
 * in a contact. */
static const double merge_tolerance = 1e-6;

static void subtract(const double *a, const double *b, double *out) {
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* ---- the points ---- */

static SapStatus check_points(const double *points, int n, const char *what) {
    if (n < 4)
        return sap_fail(SAP_ERROR_MODEL, "%s has %d vert%s; a convex hull needs 4 or more", what, n,
                        n == 1 ? "ex" : "ices");
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            if (!isfinite(points[3 * i + k]))
                return sap_fail(SAP_ERROR_MODEL, "%s: coordinate %d of vertex %d is %g; it must be finite", what, k, i,
                                points[3 * i + k]);
    return SAP_OK;
}

/* Maps the points into [-1, 1]^3 with one factor for all axes. Halves first, because the difference of two finite
 * numbers may overflow. */
static SapStatus normalise(const double *points, int n, const char *what, double *out) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, extent = 0;
    for (int i = 0; i < 3 * n; i++) {
        low[i % 3] = fmin(low[i % 3], points[i]);
        high[i % 3] = fmax(high[i % 3], points[i]);
    }
    for (int k = 0; k < 3; k++)
        extent = fmax(extent, high[k] / 2 - low[k] / 2);
    if (!(extent > 0 && isfinite(1 / extent)))
        return sap_fail(SAP_ERROR_MODEL, "%s: all %d vertices are at one point; a convex hull needs a volume", what, n);
    for (int i = 0; i < 3 * n; i++)
        out[i] = (points[i] - (low[i % 3] / 2 + high[i % 3] / 2)) / extent;
    return SAP_OK;
}

/* The point with the largest distance |direction x d| from the line, or |direction . d| from the plane, through
 * `origin`. */
static double farthest(const double *p, int n, const double *origin, const double *direction, bool plane, int *at) {
    double best = -1;
    for (int i = 0; i < n; i++) {
        double d[3], c[3];
        subtract(p + 3 * i, origin, d);
        cross(direction, d, c);
        double distance = plane ? fabs(dot(direction, d)) : sqrt(dot(c, c));
        if (distance > best) {
            best = distance;
            *at = i;
        }
    }
    return best;
}

/* Finds four points that span a volume; rejects points on a line or in a plane. The normalised points have extent 2
 * along some axis. */
static SapStatus find_volume(const double *p, int n, const char *what, int four[4]) {
    /* Widest axis, and the two extreme points along it. */
    int low = 0, high = 0, third = 0, fourth = 0;
    double direction[3], side[3], normal[3], widest = 0;
    for (int k = 0; k < 3; k++) {
        int a = 0, b = 0;
        for (int i = 0; i < n; i++) {
            a = p[3 * i + k] < p[3 * a + k] ? i : a;
            b = p[3 * i + k] > p[3 * b + k] ? i : b;
        }
        if (p[3 * b + k] - p[3 * a + k] > widest) {
            widest = p[3 * b + k] - p[3 * a + k];
            low = a;
            high = b;
        }
    }
    /* Distance from the line through these two points. */
    subtract(p + 3 * high, p + 3 * low, direction);
    double length = sqrt(dot(direction, direction));
    for (int k = 0; k < 3; k++)
        direction[k] /= length;
    double width = farthest(p, n, p + 3 * low, direction, false, &third);
    if (width < SAP_HULL_FLAT * widest)
        return sap_fail(SAP_ERROR_MODEL,
                        "%s: its %d vertices lie on a line, to %.3g of its length; a convex hull needs a volume", what,
                        n, width / widest);
    /* Distance from the plane through these three points. */
    subtract(p + 3 * third, p + 3 * low, side);
    cross(direction, side, normal);
    length = sqrt(dot(normal, normal));
    for (int k = 0; k < 3; k++)
        normal[k] /= length;
    double thickness = farthest(p, n, p + 3 * low, normal, true, &fourth);
    if (thickness < SAP_HULL_FLAT * widest)
        return sap_fail(
            SAP_ERROR_MODEL,
            "%s: its %d vertices lie in a plane, to %.3g of its extent; a convex hull needs a volume of thickness "
            "%g or more",
            what, n, thickness / widest, SAP_HULL_FLAT);
    four[0] = low;
    four[1] = high;
    four[2] = third;
    four[3] = fourth;
    return SAP_OK;
}

/* ---- triangles ---- */

typedef struct Triangle {
    int vertex[3];    /* point indices, counter-clockwise seen from outside */
    int neighbour[3]; /* triangle across the edge from vertex i to vertex i + 1 */
    double normal[3]; /* length is twice the area */
    int face;         /* -1: not assigned yet */
} Triangle;

typedef struct Mesh {
    const double *points; /* normalised */
    int num_points, num_triangles;
    Triangle *triangle;
} Mesh;

static double volume_of(const Mesh *m) {
    double sum = 0;
    for (int t = 0; t < m->num_triangles; t++)
        sum += dot(m->triangle[t].normal, m->points + 3 * m->triangle[t].vertex[0]);
    return sum;
}

static void set_normal(const Mesh *m, Triangle *t) {
    double a[3], b[3];
    subtract(m->points + 3 * t->vertex[1], m->points + 3 * t->vertex[0], a);
    subtract(m->points + 3 * t->vertex[2], m->points + 3 * t->vertex[0], b);
    cross(a, b, t->normal);
}

static void turn_around(Triangle *t) {
    int v = t->vertex[1];
    t->vertex[1] = t->vertex[2];
    t->vertex[2] = v;
}

/* Copies the facets of a finished run, all with the same orientation; false if memory is short. */
static bool take_facets(qhT *qh, Mesh *m) {
    facetT *facet;
    vertexT *vertex, **vertexp;
    m->triangle = calloc((size_t)qh->num_facets + 1, sizeof *m->triangle);
    if (m->triangle == NULL)
        return false;
    FORALLfacets {
        Triangle *t = &m->triangle[m->num_triangles++];
        int k = 0;
        FOREACHvertex_(facet->vertices) {
            if (k < 3)
                t->vertex[k++] = qh_pointid(qh, vertex->point);
        }
        if (facet->toporient)
            turn_around(t);
        t->face = -1;
    }
    return true;
}

/* Runs Qhull on the normalised points. Its messages go to `log`. */
static SapStatus run_qhull(Mesh *m, const char *what, FILE *log) {
    char command[] = "qhull Qt";
    qhT qh;
    int curlong, totlong;
    QHULL_LIB_CHECK
    qh_zero(&qh, log);
    int code = qh_new_qhull(&qh, 3, m->num_points, (double *)m->points, False, command, log, log);
    bool taken = code == 0 && take_facets(&qh, m);
    qh_freeqhull(&qh, !qh_ALL);
    if (qh.qhmem.LASTsize == 0) { /* Qhull ran out of memory during setup, and the call below would leak these two */
        free(qh.qhmem.sizetable);
        free(qh.qhmem.freelists);
    }
    qh_memfreeshort(&qh, &curlong, &totlong);
    if (code != 0)
        return sap_fail(code == qh_ERRmem ? SAP_ERROR_MEMORY : SAP_ERROR_MODEL,
                        "%s: Qhull found no convex hull of its %d vertices (error %d)", what, m->num_points, code);
    return taken ? SAP_OK : sap_fail(SAP_ERROR_MEMORY, "%s: no memory for its convex hull", what);
}

static SapStatus make_triangles(Mesh *m, const char *what) {
    errno = 0; /* not every malloc sets errno */
    FILE *log = fopen("/dev/null", "w");
    if (log == NULL && (errno == 0 || errno == ENOMEM))
        return sap_fail(SAP_ERROR_MEMORY, "%s: no memory for its convex hull", what);
    if (log == NULL)
        return sap_fail(SAP_ERROR_IO, "%s: /dev/null cannot be opened: %s", what, strerror(errno));
    SapStatus status = run_qhull(m, what, log);
    fclose(log);
    SAP_TRY(status);
    for (int t = 0; t < m->num_triangles; t++)
        set_normal(m, &m->triangle[t]);
    bool inward = volume_of(m) < 0;
    for (int t = 0; inward && t < m->num_triangles; t++) {
        turn_around(&m->triangle[t]);
        set_normal(m, &m->triangle[t]);
    }
    return SAP_OK;
}

/* A directed edge and the triangle to its left. */
typedef struct Edge {
    int from, to, triangle, place;
} Edge;

static int compare_edges(const void *a, const void *b) {
    const Edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* In a closed surface every edge occurs once in each direction. */
static bool link_edges(Mesh *m, Edge *edge) {
    int n = 3 * m->num_triangles;
    for (int i = 0; i < n; i++) {
        const Triangle *t = &m->triangle[i / 3];
        edge[i] = (Edge){t->vertex[i % 3], t->vertex[(i + 1) % 3], i / 3, i % 3};
    }
    qsort(edge, (size_t)n, sizeof *edge, compare_edges);
    for (int i = 0; i < n; i++) {
        const Edge back = {edge[i].to, edge[i].from, 0, 0};
        const Edge *other = bsearch(&back, edge, (size_t)n, sizeof *edge, compare_edges);
        if (other == NULL || (i > 0 && compare_edges(&edge[i - 1], &edge[i]) == 0))
            return false;
        m->triangle[edge[i].triangle].neighbour[edge[i].place] = other->triangle;
    }
    return true;
}

static SapStatus find_neighbours(Mesh *m, const char *what) {
    Edge *edge = sap_allocate(3 * (size_t)m->num_triangles, sizeof *edge, what);
    if (edge == NULL)
        return SAP_ERROR_MEMORY;
    bool closed = m->num_triangles >= 4 && link_edges(m, edge);
    free(edge);
    return closed ? SAP_OK
                  : sap_fail(SAP_ERROR_MODEL, "%s: the convex hull of its %d vertices is not a closed surface", what,
                             m->num_points);
}

/* ---- faces ---- */

typedef struct Seed {
    double area;
    int triangle;
} Seed;

static int larger_first(const void *a, const void *b) {
    const Seed *x = a, *y = b;
    if (x->area != y->area)
        return x->area > y->area ? -1 : 1;
    return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

/* Faces under construction: loops of points, stored one after the other. */
typedef struct Faces {
    Seed *seed;
    int *queue;          /* [triangles] triangles of the current face */
    int *next;           /* [points] end of the boundary edge that starts at the point, valid by `stamp` */
    int *stamp;          /* [points] current face + 1 where `next` is valid */
    int *start, *corner; /* [triangles + 1], [3 triangles] */
    int *uses, *place;   /* [points] number of faces at a vertex; its index in the result */
    int num, num_corners;
    void *memory;
} Faces;

/* Whether the triangle lies in the plane and does not face away. The length of its normal is twice its area, so that
 * the arbitrary direction of a sliver does not matter. */
static bool in_plane(const Mesh *m, const Triangle *t, const double *normal, double offset) {
    for (int i = 0; i < 3; i++)
        if (!(fabs(dot(normal, m->points + 3 * t->vertex[i]) - offset) <= merge_tolerance))
            return false;
    return dot(t->normal, normal) >= -merge_tolerance;
}

/* Collects the triangles of face f in f->queue, growing from `seed`. */
static int gather_face(Mesh *m, Faces *f, int seed) {
    double normal[3], length = sqrt(dot(m->triangle[seed].normal, m->triangle[seed].normal));
    for (int k = 0; k < 3; k++)
        normal[k] = length > 0 ? m->triangle[seed].normal[k] / length : 0;
    double offset = dot(normal, m->points + 3 * m->triangle[seed].vertex[0]);
    int count = 0;
    f->queue[count++] = seed;
    m->triangle[seed].face = f->num;
    for (int i = 0; length > 0 && i < count; i++)
        for (int k = 0; k < 3; k++) {
            int other = m->triangle[f->queue[i]].neighbour[k];
            if (m->triangle[other].face >= 0 || !in_plane(m, &m->triangle[other], normal, offset))
                continue;
            m->triangle[other].face = f->num;
            f->queue[count++] = other;
        }
    return count;
}

/* Appends the boundary of the collected triangles as a loop; false if the boundary is not a single loop. */
static bool append_loop(const Mesh *m, Faces *f, int count) {
    /* Boundary edges: next[v] is the end of the edge that starts at v. A vertex with two of them is rejected. */
    int edges = 0, first = INT_MAX;
    for (int i = 0; i < count; i++) {
        const Triangle *t = &m->triangle[f->queue[i]];
        for (int k = 0; k < 3; k++) {
            if (m->triangle[t->neighbour[k]].face == f->num)
                continue;
            int v = t->vertex[k];
            if (f->stamp[v] == f->num + 1)
                return false;
            f->stamp[v] = f->num + 1;
            f->next[v] = t->vertex[(k + 1) % 3];
            first = v < first ? v : first;
            edges++;
        }
    }
    /* Walk around the loop from its smallest vertex. */
    int v = first, length = 0;
    do {
        if (length == edges || f->stamp[v] != f->num + 1)
            return false;
        f->corner[f->num_corners + length++] = v;
        v = f->next[v];
    } while (v != first);
    /* Edges left over belong to a second loop. */
    if (length != edges)
        return false;
    f->num_corners += length;
    f->start[++f->num] = f->num_corners;
    return true;
}

static void make_face(Mesh *m, Faces *f, int seed) {
    if (append_loop(m, f, gather_face(m, f, seed)))
        return;
    /* The boundary of a ring or a pinched patch of slivers is not one loop: undo the attempt and keep the triangle
     * alone. */
    for (int i = 0; i < m->num_triangles; i++)
        if (m->triangle[i].face == f->num) {
            m->triangle[i].face = -1;
            for (int k = 0; k < 3; k++)
                f->stamp[m->triangle[i].vertex[k]] = 0;
        }
    m->triangle[seed].face = f->num;
    f->queue[0] = seed;
    append_loop(m, f, 1);
}

static void make_faces(Mesh *m, Faces *f) {
    for (int t = 0; t < m->num_triangles; t++)
        f->seed[t] = (Seed){dot(m->triangle[t].normal, m->triangle[t].normal), t};
    qsort(f->seed, (size_t)m->num_triangles, sizeof *f->seed, larger_first);
    for (int i = 0; i < m->num_triangles; i++)
        if (m->triangle[f->seed[i].triangle].face < 0)
            make_face(m, f, f->seed[i].triangle);
}

/* A vertex of only two faces lies on their common edge. It is dropped, unless a face would keep fewer than three
 * corners. */
static void drop_points_on_edges(const Mesh *m, Faces *f) {
    for (int i = 0; i < f->num_corners; i++)
        f->uses[f->corner[i]]++;
    for (int k = 0; k < f->num; k++) {
        int plain = 0;
        for (int i = f->start[k]; i < f->start[k + 1]; i++)
            plain += f->uses[f->corner[i]] > 2;
        for (int i = f->start[k]; plain < 3 && i < f->start[k + 1]; i++)
            f->uses[f->corner[i]] = 3;
    }
    for (int v = 0; v < m->num_points; v++)
        f->place[v] = f->uses[v] > 2 ? 0 : -1;
    int kept = 0;
    for (int k = 0, i = 0; k < f->num; k++) {
        for (; i < f->start[k + 1]; i++)
            if (f->place[f->corner[i]] >= 0)
                f->corner[kept++] = f->corner[i];
        f->start[k + 1] = kept;
    }
    f->num_corners = kept;
}

/* ---- the result ---- */

typedef struct Loop {
    const int *corner;
    int count;
} Loop;

static int compare_loops(const void *a, const void *b) {
    const Loop *x = a, *y = b;
    for (int i = 0; i < x->count && i < y->count; i++)
        if (x->corner[i] != y->corner[i])
            return x->corner[i] < y->corner[i] ? -1 : 1;
    return (x->count > y->count) - (x->count < y->count);
}

static void rotate_smallest_first(int *corner, int count, int *scratch) {
    int first = 0;
    for (int i = 1; i < count; i++)
        first = corner[i] < corner[first] ? i : first;
    for (int i = 0; i < count; i++)
        scratch[i] = corner[(first + i) % count];
    memcpy(corner, scratch, (size_t)count * sizeof *corner);
}

static SapStatus emit(const Mesh *m, Faces *f, const char *what, SapHullShape *out) {
    /* Number the vertices that remain. */
    int n = 0;
    for (int v = 0; v < m->num_points; v++)
        if (f->place[v] >= 0)
            f->place[v] = n++;
    /* Allocate the result. */
    *out = (SapHullShape){.num_vertices = n, .num_faces = f->num, .num_corners = f->num_corners};
    SapArena arena = {0};
    Loop *loop = NULL;
    SAP_TRY(SAP_CARVE_ALL(&arena, what, SAP_PART(out->vertex, n), SAP_PART(out->face_start, f->num + 1),
                          SAP_PART(out->corner, f->num_corners), SAP_PART(loop, f->num)));
    out->memory = arena.base;
    /* Vertices, and corners as indices into them. */
    for (int v = 0; v < m->num_points; v++)
        if (f->place[v] >= 0)
            out->vertex[f->place[v]] = v;
    for (int i = 0; i < f->num_corners; i++)
        f->corner[i] = f->place[f->corner[i]];
    /* Faces in lexicographic order, each with its smallest corner first. */
    for (int k = 0; k < f->num; k++) {
        loop[k] = (Loop){f->corner + f->start[k], f->start[k + 1] - f->start[k]};
        rotate_smallest_first(f->corner + f->start[k], loop[k].count, out->corner);
    }
    qsort(loop, (size_t)f->num, sizeof *loop, compare_loops);
    for (int k = 0; k < f->num; k++) {
        memcpy(out->corner + out->face_start[k], loop[k].corner, (size_t)loop[k].count * sizeof *out->corner);
        out->face_start[k + 1] = out->face_start[k] + loop[k].count;
    }
    return SAP_OK;
}

static SapStatus collect_faces(Mesh *m, const char *what, SapHullShape *out) {
    Faces f = {0};
    SapArena arena = {0};
    SAP_TRY(SAP_CARVE_ALL(&arena, what, SAP_PART(f.seed, m->num_triangles), SAP_PART(f.queue, m->num_triangles),
                          SAP_PART(f.next, m->num_points), SAP_PART(f.stamp, m->num_points),
                          SAP_PART(f.start, m->num_triangles + 1), SAP_PART(f.corner, 3 * m->num_triangles),
                          SAP_PART(f.uses, m->num_points), SAP_PART(f.place, m->num_points)));
    make_faces(m, &f);
    drop_points_on_edges(m, &f);
    SapStatus status = emit(m, &f, what, out);
    free(arena.base);
    return status;
}

static SapStatus build(const double *points, Mesh *m, const char *what, SapHullShape *out) {
    SAP_TRY(normalise(points, m->num_points, what, (double *)m->points));
    int four[4];
    SAP_TRY(find_volume(m->points, m->num_points, what, four));
    SAP_TRY(make_triangles(m, what));
    SAP_TRY(find_neighbours(m, what));
    return collect_faces(m, what, out);
}

SapStatus sap_hull_create(const double *points, int num_points, const char *what, SapHullShape *out) {
    *out = (SapHullShape){0};
    SAP_TRY(check_points(points, num_points, what));
    double *normalised = sap_allocate(3 * (size_t)num_points, sizeof *normalised, what);
    if (normalised == NULL)
        return SAP_ERROR_MEMORY;
    Mesh m = {.points = normalised, .num_points = num_points};
    SapStatus status = build(points, &m, what, out);
    free(m.triangle);
    free(normalised);
    return status;
}

SapStatus sap_hull_span(const double *points, int n, const char *what, int four[4]) {
    double *normalised = sap_allocate(3 * (size_t)n, sizeof *normalised, what);
    if (normalised == NULL)
        return SAP_ERROR_MEMORY;
    SapStatus status = normalise(points, n, what, normalised);
    if (status == SAP_OK)
        status = find_volume(normalised, n, what, four);
    free(normalised);
    return status;
}

void sap_hull_free(SapHullShape *hull) {
    free(hull->memory);
    *hull = (SapHullShape){0};
}

void sap_face_plane(const double *points, const int *corner, int num_corners, double plane[4]) {
    /* Twice the area as a vector: the sum over the triangles of the fan around the first corner. */
    const double *origin = points + 3 * corner[0];
    double n[3] = {0};
    for (int i = 1; i + 1 < num_corners; i++) {
        double a[3], b[3], c[3];
        subtract(points + 3 * corner[i], origin, a);
        subtract(points + 3 * corner[i + 1], origin, b);
        cross(a, b, c);
        for (int k = 0; k < 3; k++)
            n[k] += c[k];
    }
    double length = sqrt(dot(n, n));
    for (int k = 0; k < 3; k++)
        plane[k] = n[k] / length;
    plane[3] = -INFINITY;
    for (int i = 0; i < num_corners; i++)
        plane[3] = fmax(plane[3], dot(plane, points + 3 * corner[i]));
}
