/* The model constants in the order and precision of the kernels: by link, dofs in internal order. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/number.h"
#include "host/model/shape_types.h"
#include "host/plan/hulls.h"
#include "host/plan/parameters.h"
#include "host/plan/plan.h"

/* The inverse of a pose: (-R' p, q*). A model created as given may have quaternions that are not exactly unit. */
static void invert_pose(const double *X, double *inverse) {
    double length = sqrt(X[3] * X[3] + X[4] * X[4] + X[5] * X[5] + X[6] * X[6]);
    if (fabs(length - 1) <= 4 * DBL_EPSILON)
        length = 1;
    double u[3] = {-X[3] / length, -X[4] / length, -X[5] / length}, w = X[6] / length, p[3] = {-X[0], -X[1], -X[2]};
    /* rot(q, p) = p + w t + u x t, t = 2 u x p */
    double t[3] = {2 * (u[1] * p[2] - u[2] * p[1]), 2 * (u[2] * p[0] - u[0] * p[2]), 2 * (u[0] * p[1] - u[1] * p[0])};
    inverse[0] = p[0] + w * t[0] + (u[1] * t[2] - u[2] * t[1]);
    inverse[1] = p[1] + w * t[1] + (u[2] * t[0] - u[0] * t[2]);
    inverse[2] = p[2] + w * t[2] + (u[0] * t[1] - u[1] * t[0]);
    for (int i = 0; i < 3; i++)
        inverse[3 + i] = u[i];
    inverse[6] = w;
}

static void fill_link(const SapModelArrays *m, const SapConstants *c, int f64, int l) {
    double X_c_inv[7];
    invert_pose(m->joint_X_c + 7 * l, X_c_inv);
    sap_put_numbers((void *)c->X_p.data, f64, 7 * l, m->joint_X_p + 7 * l, 7);
    sap_put_numbers((void *)c->X_c_inv.data, f64, 7 * l, X_c_inv, 7);
}

/* ---- shapes ---- */

/* Rounding must not make a radius smaller. */
static void put_radius(void *data, int f64, int i, double radius) {
    sap_put_number(data, f64, i, radius);
    float *rounded = (float *)data + i;
    if (!f64 && (double)*rounded < radius)
        *rounded = nextafterf(*rounded, INFINITY);
}

static void fill_shape(const SapModelArrays *m, const SapConstants *c, int f64, int s) {
    double bound[4];
    sap_shape_bound(m, s, bound);
    sap_put_numbers((void *)c->shape_pose.data, f64, 7 * s, m->shape_transform + 7 * s, 7);
    sap_put_numbers((void *)c->shape_size.data, f64, 3 * s, m->shape_scale + 3 * s, 3);
    sap_put_numbers((void *)c->shape_bound.data, f64, 4 * s, bound, 3);
    put_radius((void *)c->shape_bound.data, f64, 4 * s + 3, bound[3]);
}

/* Total number of hull vertices. */
static int num_hull_vertices(const SapPlan *p) {
    const SapHull *last = p->num_hulls > 0 ? &p->hull[p->num_hulls - 1] : NULL;
    return last ? last->vertex + last->num_vertices : 0;
}

static int num_hull_faces(const SapPlan *p) {
    const SapHull *last = p->num_hulls > 0 ? &p->hull[p->num_hulls - 1] : NULL;
    return last ? last->face + last->num_faces : 0;
}

/* The vertices, planes, extent and box of the hull of shape s. `vertex` and `plane` are scratch. */
static void fill_hull(const SapModelArrays *m, const SapPlan *p, const SapConstants *c, int f64, int s, double *vertex,
                      double *plane) {
    int k = p->shape_mesh[s];
    const SapHull *hull = &p->hull[k];
    double extent = 0, box[15];
    sap_hull_geometry(m, p, s, vertex, plane);
    for (int i = 0; i < 3 * hull->num_vertices; i++)
        extent = fmax(extent, fabs(vertex[i]));
    sap_hull_box(vertex, hull->num_vertices, plane, hull->num_faces, box);
    sap_put_numbers((void *)c->hull_vertex.data, f64, 3 * hull->vertex, vertex, 3 * hull->num_vertices);
    sap_put_numbers((void *)c->hull_plane.data, f64, 4 * hull->face, plane, 4 * hull->num_faces);
    sap_put_number((void *)c->hull_extent.data, f64, k, extent);
    sap_put_numbers((void *)c->hull_box.data, f64, 15 * k, box, 15);
}

static SapStatus fill_shapes(const SapModelArrays *m, const SapPlan *p, SapConstants *c, int f64) {
    size_t vertices = 3 * (size_t)num_hull_vertices(p), planes = 4 * (size_t)num_hull_faces(p);
    double *work = sap_allocate(vertices + planes, sizeof *work, "constants");
    if (work == NULL)
        return SAP_ERROR_MEMORY;
    for (int s = 0; s < p->ns; s++) {
        fill_shape(m, c, f64, s);
        if (sap_shape_data(p->shape_type[s]) == SAP_SHAPE_DATA_MESH)
            fill_hull(m, p, c, f64, s, work, work + vertices);
    }
    sap_put_numbers((void *)c->height.data, f64, 0, m->heights, m->num_heights);
    free(work);
    return SAP_OK;
}

/* ---- all constants ---- */

SapStatus sap_constants_create(const SapModelArrays *m, const SapPlan *plan, int f64, SapConstantsOwner *out) {
    /* Allocate: measure, then carve. */
    *out = (SapConstantsOwner){0};
    SapConstants *c = &out->constants;
    size_t size = sap_real_bytes(f64);
    SapArena arena = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (int p = 0; p < SAP_NUM_MODEL_PARAMETERS; p++)
            sap_parameter_constant(c, p)->data = sap_arena_carve(&arena, (size_t)sap_parameter_width(plan, p), size);
        c->X_p.data = sap_arena_carve(&arena, 7 * (size_t)plan->nl, size);
        c->X_c_inv.data = sap_arena_carve(&arena, 7 * (size_t)plan->nl, size);
        c->axis.data = sap_arena_carve(&arena, 3 * (size_t)plan->nv, size);
        c->shape_pose.data = sap_arena_carve(&arena, 7 * (size_t)plan->ns, size);
        c->shape_size.data = sap_arena_carve(&arena, 3 * (size_t)plan->ns, size);
        c->shape_bound.data = sap_arena_carve(&arena, 4 * (size_t)plan->ns, size);
        c->hull_vertex.data = sap_arena_carve(&arena, 3 * (size_t)num_hull_vertices(plan), size);
        c->hull_plane.data = sap_arena_carve(&arena, 4 * (size_t)num_hull_faces(plan), size);
        c->hull_extent.data = sap_arena_carve(&arena, (size_t)plan->num_hulls, size);
        c->hull_box.data = sap_arena_carve(&arena, 15 * (size_t)plan->num_hulls, size);
        c->height.data = sap_arena_carve(&arena, (size_t)m->num_heights, size);
        if (pass == 0)
            SAP_TRY(sap_arena_allocate(&arena, "constants"));
    }
    out->memory = arena.base;
    out->bytes = arena.used;

    /* Fill. */
    const SapNumbers numbers = {.arrays = *m};
    for (int p = 0; p < SAP_NUM_MODEL_PARAMETERS; p++)
        sap_parameter_put(&numbers, plan, p, f64, (void *)sap_parameter_constant(c, p)->data);
    for (int l = 0; l < plan->nl; l++)
        fill_link(m, c, f64, l);
    sap_put_numbers((void *)c->axis.data, f64, 0, m->joint_axis, 3 * plan->nv);
    SapStatus status = fill_shapes(m, plan, c, f64);
    if (status != SAP_OK)
        sap_constants_free(out);
    return status;
}

void sap_constants_free(SapConstantsOwner *constants) {
    free(constants->memory);
    *constants = (SapConstantsOwner){0};
}
