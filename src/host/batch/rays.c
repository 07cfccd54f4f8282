/* Ray casts (sensors.h): checks, and the arguments that do not depend on the device. */
#include "host/batch/rays.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/base/number.h"
#include "host/model/shape_types.h"
#include "host/plan/pairs.h"

void sap_rays_default(SapRays *rays) {
    if (rays)
        *rays = (SapRays){.dtype = SAP_F64, .body = -1, .exclude_body = -1, .max_distance = INFINITY};
}

/* ---- checks ---- */

static SapStatus check_index(const char *what, const char *name, int value, int low, int high) {
    if (value >= low && value <= high)
        return SAP_OK;
    return sap_fail(SAP_ERROR_ARGUMENT, "%s: %s is %d; it must be in %d .. %d", what, name, value, low, high);
}

static SapStatus check_array(const char *what, const char *name, const void *data) {
    return data ? SAP_OK : sap_fail(SAP_ERROR_ARGUMENT, "%s: %s is NULL", what, name);
}

SapStatus sap_rays_check(const SapBatch *b, const char *what, const SapRays *r) {
    SAP_TRY(check_index(what, "num_rays", r->num_rays, 1, SAP_MOST_RAYS));
    SAP_TRY(check_index(what, "dtype", (int)r->dtype, SAP_F32, SAP_F64));
    SAP_TRY(check_index(what, "shared", r->shared, 0, 1));
    SAP_TRY(check_index(what, "body", r->body, -1, b->nb - 1));
    SAP_TRY(check_index(what, "axes", (int)r->axes, SAP_RAY_AXES_BODY, SAP_RAY_AXES_WORLD));
    SAP_TRY(check_index(what, "sees", (int)r->sees, SAP_RAY_SEES_ALL, SAP_RAY_SEES_BODIES));
    SAP_TRY(check_index(what, "exclude_body", r->exclude_body, -1, b->nb - 1));
    if (!(r->max_distance > 0))
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: max_distance is %g; it must be > 0", what, r->max_distance);
    SAP_TRY(check_array(what, "origin", r->origin));
    return check_array(what, "direction", r->direction);
}

/* ---- shapes ---- */

/* Whether the plan has the shape in its tree of static shapes, if it has one. */
static bool is_in_tree(const SapModelArrays *m, int s) {
    return m->shape_body[s] < 0 && sap_shape_type(m->shape_type[s])->bound != NULL;
}

/* Lists the shapes that rays can meet: static ones from the front of `list`, shapes of bodies after them. */
static void list_shapes(const SapModelArrays *m, bool has_tree, int *list, SapRayShapes *out) {
    for (int s = 0; s < m->num_shapes; s++)
        if (sap_shape_collides(m, s) && m->shape_body[s] < 0 && !(has_tree && is_in_tree(m, s)))
            list[out->num_static++] = s;
    for (int s = 0; s < m->num_shapes; s++)
        if (sap_shape_collides(m, s) && m->shape_body[s] >= 0)
            list[out->num_static + out->num_moving++] = s;
}

/* One block holds the places of the worlds and the list after them, so that a failure leaves nothing behind. */
static SapStatus upload_shapes(SapBatch *b, const char *what, const SapModelArrays *m, bool has_tree, int *list) {
    SapRayShapes shapes = {.num_static = 0};
    void *memory;
    list_shapes(m, has_tree, list, &shapes);
    size_t list_bytes = ((size_t)shapes.num_static + (size_t)shapes.num_moving) * sizeof *list;
    size_t number = sap_real_bytes(b->options.contact_geometry_f64), n = (size_t)b->num_worlds;
    size_t row = ((size_t)shapes.num_moving * SAP_PLACE_SIZE + 1) * number;
    SAP_TRY(b->backend->allocate(b, n + list_bytes / row + 1, row, "rays", &memory));
    shapes.place = memory;
    shapes.fixed = (const int *)((char *)memory + n * row);
    shapes.moving = shapes.fixed + shapes.num_static;
    SAP_TRY(b->backend->write(b, what, (void *)shapes.fixed, list, list_bytes));
    b->ray_shapes = shapes;
    return SAP_OK;
}

/* Lists the shapes at the first call. */
static SapStatus find_shapes(SapBatch *b, const char *what, bool has_tree) {
    if (b->ray_shapes.place)
        return SAP_OK;
    const SapModelArrays *m = sap_model_arrays(b->model);
    int *list = sap_allocate((size_t)m->num_shapes + 1, sizeof *list, "rays");
    SapStatus status = list ? upload_shapes(b, what, m, has_tree, list) : SAP_ERROR_MEMORY;
    free(list);
    return status;
}

/* ---- the call ---- */

static void set_rays(const SapBatch *b, const SapRays *r, SapRayArgs *args) {
    int stride = r->shared ? 0 : 3 * r->num_rays, is_f64 = r->dtype == SAP_F64;
    args->num_rays = r->num_rays;
    args->body = r->body;
    args->axes = (int)r->axes;
    args->sees_static = r->sees != SAP_RAY_SEES_BODIES;
    args->sees_moving = r->sees != SAP_RAY_SEES_STATIC;
    args->exclude_body = r->exclude_body;
    args->max_distance = r->max_distance;
    args->origin = (SapBuffer){(void *)r->origin, stride, is_f64};
    args->direction = (SapBuffer){(void *)r->direction, stride, is_f64};
    args->body_q = (SapBuffer){b->arrays.state.body_q, 7 * b->nb, b->dtype == SAP_F64};
}

SapStatus sap_rays_cast(SapBatch *b, const char *what, const uint8_t *mask, const SapRays *rays,
                        const SapRayResults *results) {
    if (!b->arrays.state.body_q)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: body_q of the batch was set to NULL; rays need it", what);
    const SapStepArgs *step = b->backend->step_args(b);
    SAP_TRY(find_shapes(b, what, step->plan.statics.num_nodes > 0));
    SapRayArgs args = {.plan = step->plan,
                       .is_f64 = b->options.contact_geometry_f64,
                       .num_worlds = b->num_worlds,
                       .shapes = b->ray_shapes,
                       .distance = results->distance,
                       .normal = results->normal,
                       .shape = results->shape};
    args.constants = step->constants[args.is_f64];
    set_rays(b, rays, &args);
    return b->backend->raycast(b, what, mask, &args);
}

SapStatus sap_batch_raycast(SapBatch *batch, const SapRays *rays) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    SAP_NEED(rays);
    SAP_TRY(sap_rays_check(batch, __func__, rays));
    SAP_TRY(check_array(__func__, "distance", rays->distance));
    int m = rays->num_rays, is_f64 = rays->dtype == SAP_F64;
    SapRayResults results = {{rays->distance, m, is_f64}, {rays->normal, 3 * m, is_f64}, rays->shape};
    return sap_rays_cast(batch, __func__, NULL, rays, &results);
}
