#include "host/plan/directions.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/memory.h"

/* Up to this number, comparing all points costs less than finding the cell. */
enum { FEW_POINTS = 16 };
enum { MAX_RESOLUTION = 64, MAX_DEPTH = 7 };

static const double widening = 1e-5; /* of a cell, and of the differences that exclude a point */

/* ---- lists ---- */

static SapStatus grow(void **items, size_t size, size_t need, size_t *max) {
    if (need <= *max)
        return SAP_OK;
    size_t larger = need > 2 * *max ? need : 2 * *max;
    if (larger > INT_MAX / 2)
        return sap_fail(SAP_ERROR_MODEL,
                        "the tables of directions of the hulls have more than %d entries; reduce the "
                        "vertices of the meshes",
                        INT_MAX / 2);
    void *moved = realloc(*items, larger * size);
    if (moved == NULL)
        return sap_fail(SAP_ERROR_MEMORY, "no memory for %zu entries of a table of directions", larger);
    *items = moved;
    *max = larger;
    return SAP_OK;
}

void sap_directions_free(SapDirectionLists *lists) {
    free(lists->cell);
    free(lists->point);
    *lists = (SapDirectionLists){0};
}

/* ---- one table ---- */

typedef struct Table {
    SapDirectionLists *lists;
    const double *points;
    double slack; /* differences of u.x below this do not exclude */
    int resolution;
    int cell; /* first cell of the table */
    int side;
    int *work[MAX_DEPTH + 1]; /* lists of the cells on the path to a leaf */
} Table;

/* A square of cells: column and row of its first cell, and its width in cells. */
typedef struct Square {
    int column, row, width;
} Square;

/* The direction at (s, t), -1 .. 1, of a side of the cube. */
static void direction_at(int side, double s, double t, double u[3]) {
    int axis = side / 2, first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
    u[axis] = side % 2 ? -1 : 1;
    u[first] = s;
    u[second] = t;
}

static double along(const double *u, const double *x) {
    return u[0] * x[0] + u[1] * x[1] + u[2] * x[2];
}

static int farthest(const Table *t, const int *list, int n, const double *u) {
    int best = list[0];
    for (int i = 1; i < n; i++)
        if (along(u, t->points + 3 * list[i]) > along(u, t->points + 3 * best))
            best = list[i];
    return best;
}

/* Whether point w exceeds point v in the whole cell. */
static bool exceeds(const Table *t, double corner[4][3], int w, int v) {
    for (int k = 0; k < 4; k++)
        if (!(along(corner[k], t->points + 3 * w) > along(corner[k], t->points + 3 * v) + t->slack))
            return false;
    return true;
}

/* Copies the points of `list` that can be the farthest in the square, and returns their number. */
static int filter(const Table *t, Square q, const int *list, int n, int *kept) {
    double corner[4][3], low[2], high[2];
    int best[9], count = 0;
    const int first[2] = {q.column, q.row};
    for (int k = 0; k < 2; k++) {
        low[k] = 2.0 * first[k] / t->resolution - 1 - widening;
        high[k] = 2.0 * (first[k] + q.width) / t->resolution - 1 + widening;
    }
    /* the farthest points at nine directions of the square: they exclude most of the others */
    for (int k = 0; k < 9; k++) {
        double u[3], s = k % 3 / 2.0, r = k / 3 / 2.0;
        direction_at(t->side, low[0] + s * (high[0] - low[0]), low[1] + r * (high[1] - low[1]), u);
        best[k] = farthest(t, list, n, u);
        for (int i = 0; i < 3 && k % 2 == 0 && k != 4; i++)
            corner[k < 3 ? k / 2 : k / 2 - 1][i] = u[i];
    }
    for (int i = 0; i < n; i++) {
        bool excluded = false;
        for (int k = 0; k < 9 && !excluded; k++)
            excluded = exceeds(t, corner, best[k], list[i]);
        if (!excluded)
            kept[count++] = list[i];
    }
    return count;
}

static SapStatus put_cell(const Table *t, Square q, const int *list, int n) {
    SapDirectionLists *l = t->lists;
    SAP_TRY(grow((void **)&l->point, sizeof *l->point, l->num_points + (size_t)n, &l->max_points));
    l->cell[t->cell + (t->side * t->resolution + q.row) * t->resolution + q.column] =
        (SapDirectionCell){(int)l->num_points, n};
    for (int i = 0; i < n; i++)
        l->point[l->num_points++] = list[i];
    return SAP_OK;
}

/* Fills the cells of the square from the list of a larger one. */
static SapStatus fill_square(const Table *t, Square q, int depth, const int *list, int n) {
    int *kept = t->work[depth], count = filter(t, q, list, n, kept);
    if (q.width == 1)
        return put_cell(t, q, kept, count);
    int half = q.width / 2;
    for (int k = 0; k < 4; k++) {
        Square part = {q.column + k % 2 * half, q.row + k / 2 * half, half};
        SAP_TRY(fill_square(t, part, depth + 1, kept, count));
    }
    return SAP_OK;
}

static SapStatus fill_sides(Table *t, int n, int *all) {
    for (int i = 0; i < n; i++)
        all[i] = i;
    for (t->side = 0; t->side < 6; t->side++)
        SAP_TRY(fill_square(t, (Square){0, 0, t->resolution}, 0, all, n));
    return SAP_OK;
}

SapStatus sap_directions_add(SapDirectionLists *lists, const double *points, int n, SapDirections *out) {
    Table t = {.lists = lists, .points = points, .resolution = 2, .cell = (int)lists->num_cells};
    *out = (SapDirections){0};
    if (n <= FEW_POINTS)
        return SAP_OK;
    /* about two points per cell */
    while (t.resolution < MAX_RESOLUTION && 12 * t.resolution * t.resolution < n)
        t.resolution *= 2;
    for (int i = 0; i < 3 * n; i++)
        t.slack = fmax(t.slack, widening * fabs(points[i]));
    size_t cells = (size_t)(6 * t.resolution * t.resolution);
    SAP_TRY(grow((void **)&lists->cell, sizeof *lists->cell, lists->num_cells + cells, &lists->max_cells));
    lists->num_cells += cells;
    int *work = sap_allocate((size_t)n * (MAX_DEPTH + 2), sizeof *work, "a table of directions");
    if (work == NULL)
        return SAP_ERROR_MEMORY;
    for (int i = 0; i <= MAX_DEPTH; i++)
        t.work[i] = work + (size_t)n * (size_t)(i + 1);
    SapStatus status = fill_sides(&t, n, work);
    free(work);
    *out = (SapDirections){t.resolution, t.cell};
    return status;
}
