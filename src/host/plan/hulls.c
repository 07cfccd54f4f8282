#include "host/plan/hulls.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/model/shape_types.h"
#include "host/plan/directions.h"

/* ---- edges ---- */

typedef struct Edge {
    uint64_t key; /* both ends, the smaller first */
    int order;    /* place in the list of all corners */
    SapHullEdge edge;
} Edge;

static int by_key(const void *a, const void *b) {
    const Edge *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int by_order(const void *a, const void *b) {
    const Edge *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

SapStatus sap_hull_edges(const SapHullShape *hull, SapHullEdge *edge, int *num_edges) {
    int n = 0, kept = 0;
    Edge *all = sap_allocate((size_t)hull->num_corners, sizeof *all, "the edges of a hull");
    if (all == NULL)
        return SAP_ERROR_MEMORY;
    for (int f = 0; f < hull->num_faces; f++)
        for (int i = hull->face_start[f]; i < hull->face_start[f + 1]; i++, n++) {
            int from = hull->corner[i > hull->face_start[f] ? i - 1 : hull->face_start[f + 1] - 1];
            int to = hull->corner[i], low = from < to ? from : to, high = from < to ? to : from;
            all[n] = (Edge){(uint64_t)low << 32 | (uint64_t)high, n, {from, to}};
        }
    qsort(all, (size_t)n, sizeof *all, by_key);
    for (int i = 0; i < n; i++)
        if (i == 0 || all[i].key != all[i - 1].key)
            all[kept++] = all[i];
    qsort(all, (size_t)kept, sizeof *all, by_order);
    for (int i = 0; i < kept; i++)
        edge[i] = all[i].edge;
    *num_edges = kept;
    free(all);
    return SAP_OK;
}

/* ---- tables of directions ---- */

void sap_hull_geometry(const SapModelArrays *m, const SapPlan *p, int s, double *vertex, double *plane) {
    const SapHull *hull = &p->hull[p->shape_mesh[s]];
    for (int i = 0; i < 3 * hull->num_vertices; i++)
        vertex[i] = m->shape_scale[3 * s + i % 3] * m->mesh_vertices[3 * p->hull_source[hull->vertex + i / 3] + i % 3];
    for (int i = 0; i < hull->num_faces; i++) {
        const SapHullFace *face = &p->hull_face[hull->face + i];
        sap_face_plane(vertex, p->hull_corner + face->corner, face->num_corners, plane + 4 * i);
    }
}

/* Scratch for the points of one hull. */
typedef struct Work {
    double *vertex, *plane, *point;
} Work;

static SapStatus add_tables(const SapPlan *p, const Work *w, SapHull *hull, SapDirectionLists *lists) {
    SAP_TRY(sap_directions_add(lists, w->vertex, hull->num_vertices, &hull->by_vertex));
    for (int i = 0; i < hull->num_faces; i++)
        memcpy(w->point + 3 * i, w->plane + 4 * i, 3 * sizeof *w->point);
    SAP_TRY(sap_directions_add(lists, w->point, hull->num_faces, &hull->by_face));
    for (int i = 0; i < 3 * hull->num_edges; i++) {
        const SapHullEdge *edge = &p->hull_edge[hull->edge + i / 3];
        w->point[i] = w->vertex[3 * edge->from + i % 3] + w->vertex[3 * edge->to + i % 3];
    }
    return sap_directions_add(lists, w->point, hull->num_edges, &hull->by_edge);
}

static SapStatus add_all_tables(const SapModelArrays *m, const SapPlan *p, const Work *w, SapHull *hull,
                                SapDirectionLists *lists) {
    for (int s = 0; s < p->ns; s++) {
        if (sap_shape_data(p->shape_type[s]) != SAP_SHAPE_DATA_MESH)
            continue;
        sap_hull_geometry(m, p, s, w->vertex, w->plane);
        SAP_TRY(add_tables(p, w, &hull[p->shape_mesh[s]], lists));
    }
    return SAP_OK;
}

/* Moves the lists into one block of the plan. */
static SapStatus own_lists(const SapDirectionLists *lists, SapPlanOwner *out) {
    SapArena arena = {0};
    SapDirectionCell *cell = NULL;
    int *point = NULL;
    SAP_TRY(SAP_CARVE_ALL(&arena, "tables of directions", SAP_PART(cell, lists->num_cells),
                          SAP_PART(point, lists->num_points)));
    sap_plan_own(out, SAP_PLAN_DIRECTIONS, arena.base, arena.used);
    for (size_t i = 0; i < lists->num_cells; i++)
        cell[i] = lists->cell[i];
    for (size_t i = 0; i < lists->num_points; i++)
        point[i] = lists->point[i];
    out->plan.direction_cell = cell;
    out->plan.direction_point = point;
    return SAP_OK;
}

SapStatus sap_plan_add_directions(const SapModelArrays *m, SapHull *hull, SapPlanOwner *out) {
    const SapPlan *p = &out->plan;
    size_t vertices = 0, faces = 0, points = 0;
    for (int i = 0; i < p->num_hulls; i++) {
        size_t v = (size_t)hull[i].num_vertices, f = (size_t)hull[i].num_faces, e = (size_t)hull[i].num_edges;
        vertices = v > vertices ? v : vertices;
        faces = f > faces ? f : faces;
        points = e > points ? e : points;
        points = f > points ? f : points;
    }
    SapArena arena = {0};
    Work w = {0};
    SAP_TRY(SAP_CARVE_ALL(&arena, "tables of directions", SAP_PART(w.vertex, 3 * vertices),
                          SAP_PART(w.plane, 4 * faces), SAP_PART(w.point, 3 * points)));
    SapDirectionLists lists = {0};
    SapStatus status = add_all_tables(m, p, &w, hull, &lists);
    if (status == SAP_OK)
        status = own_lists(&lists, out);
    sap_directions_free(&lists);
    free(arena.base);
    return status;
}

/* ---- box ---- */

enum { TRIED_FACES = 64 };

/* The box with the given axes. Returns its volume. */
static double box_along(const double *vertex, int n, double axes[3][3], double box[15]) {
    double volume = 1;
    memset(box, 0, 3 * sizeof *box);
    for (int k = 0; k < 3; k++) {
        const double *u = axes[k];
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < n; i++) {
            double x = u[0] * vertex[3 * i] + u[1] * vertex[3 * i + 1] + u[2] * vertex[3 * i + 2];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        for (int i = 0; i < 3; i++) {
            box[i] += (low / 2 + high / 2) * u[i];
            box[3 + 3 * k + i] = u[i];
        }
        box[12 + k] = high / 2 - low / 2;
        volume *= box[12 + k];
    }
    return volume;
}

/* Axes with z along the unit normal, x orthogonal to it and to the axis of its smallest component. */
static void axes_of_face(const double *normal, double axes[3][3]) {
    int least = 0;
    for (int k = 1; k < 3; k++)
        least = fabs(normal[k]) < fabs(normal[least]) ? k : least;
    int i = (least + 1) % 3, j = (least + 2) % 3;
    double length = hypot(normal[i], normal[j]);
    memcpy(axes[2], normal, 3 * sizeof *normal);
    axes[0][least] = 0;
    axes[0][i] = -normal[j] / length;
    axes[0][j] = normal[i] / length;
    for (int k = 0; k < 3; k++)
        axes[1][k] = axes[2][(k + 1) % 3] * axes[0][(k + 2) % 3] - axes[2][(k + 2) % 3] * axes[0][(k + 1) % 3];
}

void sap_hull_box(const double *vertex, int n, const double *plane, int num_faces, double box[15]) {
    double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, other[15];
    double least = box_along(vertex, n, axes, box);
    int tried = num_faces < TRIED_FACES ? num_faces : TRIED_FACES;
    for (int k = 0; k < tried; k++) {
        axes_of_face(plane + 4 * ((long long)k * num_faces / tried), axes);
        double volume = box_along(vertex, n, axes, other);
        if (volume < 0.999 * least) { /* the shape frame is exact, so it is preferred */
            least = volume;
            memcpy(box, other, sizeof other);
        }
    }
}
