/* Ray casts (sapwood/sensors.h): every shape type against a search along the ray for where it enters or leaves the
 * shape, by an inside test that shares nothing with the kernels; closed forms; frames and filters; the same bits for
 * any batch, thread count and instruction set; and rays that are none. */
#include <float.h>
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/pose.h"
#include "support/random_model.h"
#include "support/shape_model.h"
#include "support/work.h"

enum { MOST = 10000 };

/* ---- rays ---- */

typedef struct Cast {
    double origin[MOST][3], direction[MOST][3], distance[MOST], normal[MOST][3];
    int32_t shape[MOST];
} Cast;

static Cast cast; /* too large for a stack */

static SapRays rays_of(Cast *c, int count) {
    SapRays rays;
    sap_rays_default(&rays);
    rays.num_rays = count;
    rays.shared = 1;
    rays.origin = c->origin;
    rays.direction = c->direction;
    rays.distance = c->distance;
    rays.normal = c->normal;
    rays.shape = c->shape;
    return rays;
}

static void one_ray(Cast *c, double x, double y, double z, double dx, double dy, double dz) {
    memcpy(c->origin[0], (double[3]){x, y, z}, sizeof c->origin[0]);
    memcpy(c->direction[0], (double[3]){dx, dy, dz}, sizeof c->direction[0]);
}

static SapBatch *batch_of(ShapeModel *m, int worlds, const char *preset) {
    SapModel *model = shape_model_create(m);
    SapOptions options;
    SapBatch *batch;
    need(sap_options_preset(preset, &options));
    options.threads = 1;
    options.max_contacts = 4;
    need(sap_batch_create(model, worlds, &options, &batch));
    sap_model_destroy(model);
    return batch;
}

/* ---- the oracle: whether a point is inside a shape ---- */

static double height_at(const ShapeModel *m, int s, double x, double y) {
    const int cells = SHAPE_MODEL_GRID - 1;
    double u = (x / m->size[s][0] + 1) / 2 * cells, v = (y / m->size[s][1] + 1) / 2 * cells;
    int column = (int)fmin(fmax(floor(u), 0), cells - 1), row = (int)fmin(fmax(floor(v), 0), cells - 1);
    u -= column;
    v -= row;
    double near = m->heights[row][column], far = m->heights[row + 1][column + 1];
    double side = u > v ? m->heights[row][column + 1] : m->heights[row + 1][column];
    return u > v ? near + u * (side - near) + v * (far - side) : near + v * (side - near) + u * (far - side);
}

static bool is_inside(const ShapeModel *m, int s, const double *x) {
    const double *a = m->size[s];
    double around = hypot(x[0], x[1]);
    switch (m->type[s]) {
    case SAP_SHAPE_PLANE: return x[2] <= 0;
    case SAP_SHAPE_SPHERE: return length(x, 3) <= a[0];
    case SAP_SHAPE_CAPSULE: return hypot(around, fmax(0, fabs(x[2]) - a[1])) <= a[0];
    case SAP_SHAPE_ELLIPSOID: return pow(x[0] / a[0], 2) + pow(x[1] / a[1], 2) + pow(x[2] / a[2], 2) <= 1;
    case SAP_SHAPE_CYLINDER: return around <= a[0] && fabs(x[2]) <= a[1];
    case SAP_SHAPE_CONE: return fabs(x[2]) <= a[1] && around <= a[0] * (a[1] - x[2]) / (2 * a[1]);
    case SAP_SHAPE_HEIGHT_FIELD: return x[2] <= height_at(m, s, x[0], x[1]);
    default: return fabs(x[0]) <= a[0] && fabs(x[1]) <= a[1] && fabs(x[2]) <= a[2]; /* a box; the hull of a cube */
    }
}

static bool shape_has(const ShapeModel *m, int s, const double *world, bool *over) {
    double from[3], x[3];
    for (int k = 0; k < 3; k++)
        from[k] = world[k] - m->pose[s][k];
    rotate_back(m->pose[s] + 3, from, x);
    *over = m->type[s] != SAP_SHAPE_HEIGHT_FIELD || (fabs(x[0]) <= m->size[s][0] && fabs(x[1]) <= m->size[s][1]);
    return is_inside(m, s, x);
}

static void ray_point(int i, double t, double *x) {
    double unit = length(cast.direction[i], 3);
    for (int k = 0; k < 3; k++)
        x[k] = cast.origin[i][k] + t * cast.direction[i][k] / unit;
}

/* Follows the ray in small steps up to `end`: the surface must not be crossed before. */
static void check_free(const ShapeModel *m, int s, int i, double end) {
    enum { STEPS = 400 };
    bool over, was_over = false, was = false;
    for (int k = 0; k <= STEPS; k++) {
        double x[3];
        ray_point(i, end * k / STEPS, x);
        bool is = shape_has(m, s, x, &over); /* beside a height field there is nothing */
        if (m->type[s] == SAP_SHAPE_PLANE && is)
            return; /* from behind, a plane is not met */
        cr_assert(k == 0 || !over || !was_over || is == was, "type %d, ray %d crosses the surface before %g",
                  m->type[s], i, end);
        was = is;
        was_over = over;
    }
}

/* The surface is within the tolerance of the point that was met: a cube around it has corners inside and outside. */
static void check_hit(const ShapeModel *m, int s, int i, double tolerance) {
    double x[3], corner[3];
    int inside = 0;
    bool over;
    ray_point(i, cast.distance[i], x);
    for (int c = 0; c < 8; c++) {
        for (int k = 0; k < 3; k++)
            corner[k] = x[k] + (c >> k & 1 ? tolerance : -tolerance);
        inside += shape_has(m, s, corner, &over);
    }
    cr_assert(inside > 0 && inside < 8, "type %d, ray %d: no surface at %.17g", m->type[s], i, cast.distance[i]);
    cr_assert_float_eq(length(cast.normal[i], 3), 1, 1e-5);
}

/* Whether the normal leads from inside to outside, which it may not do at an edge. */
static bool normal_leads_out(const ShapeModel *m, int s, int i, double tolerance) {
    double x[3], below[3], above[3];
    bool over;
    ray_point(i, cast.distance[i], x);
    for (int k = 0; k < 3; k++) {
        below[k] = x[k] - 2 * tolerance * cast.normal[i][k];
        above[k] = x[k] + 2 * tolerance * cast.normal[i][k];
    }
    return shape_has(m, s, below, &over) && !shape_has(m, s, above, &over);
}

/* ---- every shape type ---- */

static const struct {
    SapShapeType type;
    double size[3];
} subjects[] = {
    {SAP_SHAPE_PLANE, {0, 0, 0}},       {SAP_SHAPE_HEIGHT_FIELD, {1, 0.7, 0}},  {SAP_SHAPE_SPHERE, {0.7, 0, 0}},
    {SAP_SHAPE_CAPSULE, {0.4, 0.6, 0}}, {SAP_SHAPE_ELLIPSOID, {0.9, 0.3, 0.6}}, {SAP_SHAPE_CYLINDER, {0.5, 0.4, 0}},
    {SAP_SHAPE_BOX, {0.6, 0.3, 0.8}},   {SAP_SHAPE_CONE, {0.6, 0.7, 0}},        {SAP_SHAPE_HULL, {0.5, 0.8, 0.3}}};
enum { NUM_SUBJECTS = sizeof subjects / sizeof *subjects };

static void random_pose(Random *random, double *pose) {
    for (int k = 0; k < 7; k++)
        pose[k] = random_between(random, -1, 1);
    double norm = length(pose + 3, 4);
    for (int k = 3; k < 7; k++)
        pose[k] /= norm;
}

static void one_shape(ShapeModel *m, int subject, Random *random) {
    shape_model_init(m);
    shape_model_body(m, 50, 0, 0); /* far away: a model has a body */
    const double *a = subjects[subject].size;
    int s = shape_model_shape(m, -1, subjects[subject].type, a[0], a[1], a[2]);
    random_pose(random, m->pose[s]);
    for (int r = 0; r < SHAPE_MODEL_GRID; r++)
        for (int c = 0; c < SHAPE_MODEL_GRID; c++)
            m->heights[r][c] = random_between(random, -0.4, 0.4);
}

/* From everywhere within 2 m of the shape, half of them towards it. */
static void random_rays(const ShapeModel *m, int count, Random *random) {
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            cast.origin[i][k] = m->pose[0][k] + random_between(random, -2, 2);
            double target = m->pose[0][k] + random_between(random, -0.5, 0.5);
            cast.direction[i][k] = i % 2 ? random_between(random, -1, 1) : target - cast.origin[i][k];
        }
}

/* Subject and precision. */
ParameterizedTestParameters(rays, meet_each_shape_type_where_its_surface_is) {
    static int cases[2 * NUM_SUBJECTS];
    for (int i = 0; i < 2 * NUM_SUBJECTS; i++)
        cases[i] = i;
    return cr_make_param_array(int, cases, 2 * NUM_SUBJECTS);
}

ParameterizedTest(const int *which, rays, meet_each_shape_type_where_its_surface_is) {
    static ShapeModel m;
    Random random = random_seed(7 + (uint64_t)*which);
    bool f64 = *which % 2;
    int count = (int)(work_scale() * MOST), hits = 0, out = 0;
    one_shape(&m, *which / 2, &random);
    random_rays(&m, count, &random);
    SapBatch *batch = batch_of(&m, 1, f64 ? "approx64" : "approx32");
    SapRays rays = rays_of(&cast, count);
    rays.sees = SAP_RAY_SEES_STATIC;
    need(sap_batch_raycast(batch, &rays));
    for (int i = 0; i < count; i++) {
        bool hit = cast.shape[i] >= 0;
        /* shapes have a size of 1 m; the surface is resolved to the rounding of the distance times the inverse slope */
        double tolerance = (f64 ? 1e-13 : 2e-5) * fmax(1, cast.distance[i]);
        hits += hit;
        cr_assert_eq(cast.shape[i], hit ? 0 : SAP_RAY_MISS);
        cr_assert(hit ? cast.distance[i] >= 0 : cast.distance[i] == -1);
        check_free(&m, 0, i, hit ? cast.distance[i] - 10 * tolerance : 6);
        if (hit) {
            check_hit(&m, 0, i, 10 * tolerance);
            out += normal_leads_out(&m, 0, i, 10 * tolerance);
        }
    }
    cr_assert(out >= 0.99 * hits, "%d of %d normals lead out", out, hits);
    cr_assert(hits > count / 5 && hits < count, "%d of %d rays hit", hits, count);
    sap_batch_destroy(batch);
}

/* ---- closed forms ---- */

static ShapeModel closed; /* a ball of 0.5 m at (1, 0, 0.5) on the plane z = 0, and a box of 0.4 m at (3, 0, 0.4) */

static SapBatch *closed_batch(int worlds, const char *preset) {
    shape_model_init(&closed);
    shape_model_shape(&closed, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    shape_model_shape(&closed, shape_model_body(&closed, 1, 0, 0.5), SAP_SHAPE_SPHERE, 0.5, 0, 0);
    shape_model_shape(&closed, shape_model_body(&closed, 3, 0, 0.4), SAP_SHAPE_BOX, 0.4, 0.4, 0.4);
    return batch_of(&closed, worlds, preset);
}

static void expect(SapBatch *batch, const SapRays *rays, double distance, int shape, double nx, double ny, double nz) {
    need(sap_batch_raycast(batch, rays));
    const double n[3] = {nx, ny, nz};
    cr_assert_eq(cast.shape[0], shape, "shape %d", cast.shape[0]);
    cr_assert_float_eq(cast.distance[0], distance, 1e-14, "%.17g", cast.distance[0]);
    for (int k = 0; k < 3; k++)
        cr_assert_float_eq(cast.normal[0][k], n[k], 1e-14, "normal %d is %.17g", k, cast.normal[0][k]);
}

Test(rays, measure_metres_whatever_the_length_of_the_direction) {
    SapBatch *batch = closed_batch(1, "approx64");
    SapRays rays = rays_of(&cast, 1);
    const double lengths[] = {1, 1e-3, 1e200, 1e-200};
    for (int i = 0; i < 4; i++) {
        one_ray(&cast, -1, 0, 0.5, lengths[i], 0, 0);
        expect(batch, &rays, 1.5, 1, -1, 0, 0);
        one_ray(&cast, 5, 0, 0.6, -lengths[i], 0, 0);
        expect(batch, &rays, 1.6, 2, 1, 0, 0);
        one_ray(&cast, -1, 4, 3, 0, -3 * lengths[i], -4 * lengths[i]); /* 3-4-5 */
        expect(batch, &rays, 3.75, 0, 0, 0, 1);
    }
    sap_batch_destroy(batch);
}

Test(rays, that_start_inside_meet_the_surface_where_they_leave) {
    SapBatch *batch = closed_batch(1, "approx64");
    SapRays rays = rays_of(&cast, 1);
    one_ray(&cast, 1, 0, 0.5, 0, 0, 1);
    expect(batch, &rays, 0.5, 1, 0, 0, 1);
    one_ray(&cast, 3.1, 0, 0.4, 1, 0, 0);
    expect(batch, &rays, 0.3, 2, 1, 0, 0);
    one_ray(&cast, 8, 0, -1, 0, 0, 1); /* a plane is met from the front only */
    expect(batch, &rays, -1, SAP_RAY_MISS, 0, 0, 0);
    sap_batch_destroy(batch);
}

Test(rays, end_where_a_plane_does) {
    static ShapeModel planes;
    shape_model_init(&planes);
    int plane = shape_model_shape(&planes, -1, SAP_SHAPE_PLANE, 2, 0, 0); /* 2 m to either side in x, endless in y */
    planes.pose[plane][0] = 1;
    shape_model_shape(&planes, shape_model_body(&planes, 0, 0, 90), SAP_SHAPE_SPHERE, 0.5, 0, 0);
    SapBatch *batch = batch_of(&planes, 1, "approx64");
    SapRays rays = rays_of(&cast, 1);
    const double inside[] = {-1, 0, 3}, outside[] = {-1.001, 3.001, 1e6};
    for (int i = 0; i < 3; i++) {
        one_ray(&cast, inside[i], 1e6, 2, 0, 0, -1);
        expect(batch, &rays, 2, 0, 0, 0, 1);
        one_ray(&cast, outside[i], 0, 2, 0, 0, -1);
        expect(batch, &rays, -1, SAP_RAY_MISS, 0, 0, 0);
    }
    sap_batch_destroy(batch);
}

Test(rays, end_at_their_largest_distance) {
    SapBatch *batch = closed_batch(1, "approx64");
    SapRays rays = rays_of(&cast, 1);
    one_ray(&cast, -1, 0, 0.5, 1, 0, 0);
    rays.max_distance = 1.5;
    expect(batch, &rays, 1.5, 1, -1, 0, 0);
    rays.max_distance = nextafter(1.5, 0);
    expect(batch, &rays, -1, SAP_RAY_MISS, 0, 0, 0);
    sap_batch_destroy(batch);
}

Test(rays, leave_out_a_body_the_world_or_all_bodies) {
    SapBatch *batch = closed_batch(1, "approx64");
    SapRays rays = rays_of(&cast, 1);
    one_ray(&cast, -1, 0, 0.5, 1, 0, 0);
    rays.exclude_body = 0;
    expect(batch, &rays, 3.6, 2, -1, 0, 0);
    rays.sees = SAP_RAY_SEES_STATIC;
    expect(batch, &rays, -1, SAP_RAY_MISS, 0, 0, 0);
    one_ray(&cast, 3, 0, 5, 0, 0, -1);
    expect(batch, &rays, 5, 0, 0, 0, 1);
    rays.sees = SAP_RAY_SEES_BODIES;
    expect(batch, &rays, 4.2, 2, 0, 0, 1);
    rays.exclude_body = 1;
    expect(batch, &rays, -1, SAP_RAY_MISS, 0, 0, 0);
    sap_batch_destroy(batch);
}

Test(rays, do_not_see_shapes_that_do_not_collide) {
    shape_model_init(&closed);
    shape_model_shape(&closed, shape_model_body(&closed, 1, 0, 0), SAP_SHAPE_SPHERE, 0.5, 0, 0);
    shape_model_shape(&closed, shape_model_body(&closed, 3, 0, 0), SAP_SHAPE_SPHERE, 0.5, 0, 0);
    closed.flags[0] = SAP_SHAPE_VISIBLE;
    SapBatch *batch = batch_of(&closed, 1, "approx64");
    SapRays rays = rays_of(&cast, 1);
    one_ray(&cast, 0, 0, 0, 1, 0, 0);
    expect(batch, &rays, 2.5, 1, -1, 0, 0);
    sap_batch_destroy(batch);
}

/* The bounds of a grid are the bounds of its own heights. */
Test(rays, meet_the_second_of_two_grids) {
    enum { FIRST = 4 * 5, SECOND = 3 * 2 };
    static const int32_t sizes[4] = {4, 5, 3, 2};
    double heights[FIRST + SECOND] = {0};
    shape_model_init(&closed);
    shape_model_body(&closed, 50, 0, 0);
    for (int s = 0; s < 2; s++) {
        closed.mesh[shape_model_shape(&closed, -1, SAP_SHAPE_HEIGHT_FIELD, 1, 1, 0)] = s;
        closed.pose[s][0] = 3 * s;
    }
    for (int i = 0; i < SECOND; i++)
        heights[FIRST + i] = 5;
    closed.a.num_height_fields = 2;
    closed.a.num_heights = FIRST + SECOND;
    closed.a.height_field_size = sizes;
    closed.a.heights = heights;
    SapBatch *batch = batch_of(&closed, 1, "approx64");
    SapRays rays = rays_of(&cast, 1);
    one_ray(&cast, 0.3, 0.2, 10, 0, 0, -1);
    expect(batch, &rays, 10, 0, 0, 0, 1);
    one_ray(&cast, 3.3, 0.2, 10, 0, 0, -1);
    expect(batch, &rays, 5, 1, 0, 0, 1);
    sap_batch_destroy(batch);
}

/* Written values count for the next cast, without a step. */
Test(rays, meet_the_grid_that_their_world_chose) {
    enum { CELLS = 2 * 2, GRIDS = 3, WORLDS = 4 };
    static const int32_t sizes[2 * GRIDS] = {2, 2, 2, 2, 2, 2};
    double heights[GRIDS * CELLS], origin[3] = {0.3, 0.2, 10}, direction[3] = {0, 0, -1}, distance[WORLDS];
    for (int i = 0; i < GRIDS * CELLS; i++)
        heights[i] = i / CELLS;
    shape_model_init(&closed);
    shape_model_body(&closed, 50, 0, 0);
    int field = shape_model_shape(&closed, -1, SAP_SHAPE_HEIGHT_FIELD, 1, 1, 0);
    closed.a.num_height_fields = GRIDS;
    closed.a.num_heights = GRIDS * CELLS;
    closed.a.height_field_size = sizes;
    closed.a.heights = heights;
    SapBatch *batch = batch_of(&closed, WORLDS, "approx32");
    SapArray grid;
    need(sap_batch_expand(batch, SAP_PARAMETER_SHAPE_MESH, &grid));
    cr_assert_eq(grid.type, SAP_TYPE_I32);
    SapRays rays = rays_of(&cast, 1);
    rays.origin = origin;
    rays.direction = direction;
    rays.distance = distance;
    for (int round = 0; round < 3; round++) {
        for (int w = 0; w < WORLDS; w++)
            ((int32_t *)grid.data)[w + field] = (w + round) % GRIDS;
        need(sap_batch_raycast(batch, &rays));
        for (int w = 0; w < WORLDS; w++)
            cr_expect_float_eq(distance[w], 10 - (w + round) % GRIDS, 1e-5, "round %d, world %d", round, w);
    }
    ((int32_t *)grid.data)[2] = GRIDS; /* there is none: the last good one stays */
    need(sap_batch_raycast(batch, &rays));
    cr_expect_float_eq(distance[2], 10 - (2 + 2) % GRIDS, 1e-5);
    sap_batch_destroy(batch);
}

/* A second grid follows the first one in memory. A ray leaves the first in a piece as long as a rounding, and heights
 * of 1e12 m there would reach up to it. */
Test(rays, that_leave_a_height_field_do_not_see_the_next_one) {
    enum { RAYS = 300, ROWS = 11, COLUMNS = 9, CELLS = ROWS * COLUMNS };
    static double heights[2 * CELLS];
    const int32_t sizes[4] = {ROWS, COLUMNS, ROWS, COLUMNS};
    shape_model_init(&closed);
    shape_model_body(&closed, 50, 0, 0);
    for (int s = 0; s < 2; s++)
        closed.mesh[shape_model_shape(&closed, -1, SAP_SHAPE_HEIGHT_FIELD, 10, 2.3, 0)] = s;
    closed.flags[1] = SAP_SHAPE_VISIBLE; /* rays do not see it */
    for (int i = 0; i < CELLS; i++)
        heights[CELLS + i] = 1e12;
    closed.a.num_height_fields = 2;
    closed.a.num_heights = 2 * CELLS;
    closed.a.height_field_size = sizes;
    closed.a.heights = heights;
    for (int i = 0; i < RAYS; i++) { /* over the surface to y = 2.3 */
        double angle = acos(-1) * (i + 1) / (RAYS + 1);
        memcpy(cast.origin[i], (double[3]){0.049, 0.19, 1e-9}, sizeof cast.origin[i]);
        memcpy(cast.direction[i], (double[3]){cos(angle), sin(angle), 0}, sizeof cast.direction[i]);
    }
    SapBatch *batch = batch_of(&closed, 1, "approx64");
    SapRays rays = rays_of(&cast, RAYS);
    need(sap_batch_raycast(batch, &rays));
    for (int i = 0; i < RAYS; i++)
        cr_expect_eq(cast.shape[i], SAP_RAY_MISS, "ray %d: %g", i, cast.distance[i]);
    sap_batch_destroy(batch);
}

/* Body 1 is turned by a quarter about z, then pitched: its x axis points to +y and down. */
Test(rays, turn_with_their_body_its_heading_or_not_at_all) {
    SapBatch *batch = closed_batch(1, "approx64");
    SapRays rays = rays_of(&cast, 1);
    double *q = (double *)sap_batch_state(batch)->joint_q + 7, pitch = 0.3, yaw = acos(-1) / 2;
    /* the quaternion of Rz(yaw) Ry(pitch) */
    q[0] = 3, q[1] = 0, q[2] = 2;
    q[3] = -sin(yaw / 2) * sin(pitch / 2);
    q[4] = cos(yaw / 2) * sin(pitch / 2);
    q[5] = sin(yaw / 2) * cos(pitch / 2);
    q[6] = cos(yaw / 2) * cos(pitch / 2);
    need(sap_batch_forward_kinematics(batch, NULL));
    rays.body = rays.exclude_body = 1;
    one_ray(&cast, 0, 0, -1, 0, 0, -1);
    rays.axes = SAP_RAY_AXES_WORLD;
    expect(batch, &rays, 1, 0, 0, 0, 1);
    rays.axes = SAP_RAY_AXES_HEADING; /* down is down, and forward is +y */
    expect(batch, &rays, 1, 0, 0, 0, 1);
    one_ray(&cast, 1, 0, 0, 0, 1, 0); /* from (3, 1, 2) to -x, over the ball */
    expect(batch, &rays, -1, SAP_RAY_MISS, 0, 0, 0);
    one_ray(&cast, 0, 0, -1.5, 0, 1, 0); /* from (3, 0, 0.5) to -x: the ball */
    expect(batch, &rays, 1.5, 1, 1, 0, 0);
    rays.axes = SAP_RAY_AXES_BODY; /* body -z is tilted by the pitch */
    one_ray(&cast, 0, 0, 0, 0, 0, -1);
    expect(batch, &rays, 2 / cos(pitch), 0, 0, 0, 1);
    sap_batch_destroy(batch);
}

/* ---- many shapes, many worlds ---- */

enum { CROWD_WORLDS = 5, CROWD_RAYS = 200 };
typedef struct Crowd {
    double distance[CROWD_WORLDS][CROWD_RAYS], normal[CROWD_WORLDS][CROWD_RAYS][3];
    int32_t shape[CROWD_WORLDS][CROWD_RAYS];
} Crowd;
static ShapeModel crowd;

/* Shapes of every bounded type, static and on bodies. */
static SapModel *crowd_model(int statics) {
    Random random = random_seed(3);
    shape_model_init(&crowd);
    for (int i = 0; i < statics + 16; i++) {
        int body = i < statics ? -1
                               : shape_model_body(&crowd, random_between(&random, -4, 4),
                                                  random_between(&random, -4, 4), random_between(&random, -4, 4));
        int subject = (body < 0 ? 1 : 2) + i % (NUM_SUBJECTS - 2);
        const double *a = subjects[subject].size;
        int s = shape_model_shape(&crowd, body, subjects[subject].type, a[0], a[1], a[2]);
        random_pose(&random, crowd.pose[s]);
        for (int k = 0; k < 3 && body < 0; k++)
            crowd.pose[s][k] *= 6;
    }
    shape_model_shape(&crowd, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    for (int r = 0; r < SHAPE_MODEL_GRID * SHAPE_MODEL_GRID; r++)
        crowd.heights[r / SHAPE_MODEL_GRID][r % SHAPE_MODEL_GRID] = random_between(&random, -0.4, 0.4);
    return shape_model_create(&crowd);
}

/* Worlds 0 .. n - 1, whose bodies and rays differ, as `order` has them. */
static void crowd_cast(const SapModel *model, const SapOptions *options, const int *order, int n, Crowd *out) {
    static double origin[CROWD_WORLDS][CROWD_RAYS][3], direction[CROWD_WORLDS][CROWD_RAYS][3];
    SapBatch *batch;
    need(sap_batch_create_as(model, n, options, SAP_F64, &batch));
    double *q = sap_batch_state(batch)->joint_q;
    int nq = sap_model_arrays(model)->num_coords;
    for (int w = 0; w < n; w++) {
        Random random = random_seed(100 + (uint64_t)order[w]);
        for (int i = 0; i < nq; i++)
            q[w * nq + i] += i % 7 < 3 ? random_between(&random, -1, 1) : 0;
        for (int i = 0; i < 3 * CROWD_RAYS; i++) {
            origin[w][i / 3][i % 3] = random_between(&random, -6, 6);
            direction[w][i / 3][i % 3] = random_between(&random, -1, 1);
        }
    }
    need(sap_batch_forward_kinematics(batch, NULL));
    SapRays rays = rays_of(&cast, CROWD_RAYS);
    rays.shared = 0;
    rays.origin = origin;
    rays.direction = direction;
    rays.distance = out->distance;
    rays.normal = out->normal;
    rays.shape = out->shape[0];
    need(sap_batch_raycast(batch, &rays));
    sap_batch_destroy(batch);
}

static SapOptions crowd_options(const char *preset) {
    SapOptions options;
    need(sap_options_preset(preset, &options));
    options.max_contacts = 4;
    options.threads = 1;
    return options;
}

Test(rays, have_the_same_bits_for_any_thread_lane_batch_and_position) {
    static const int straight[CROWD_WORLDS] = {0, 1, 2, 3, 4}, turned[CROWD_WORLDS] = {4, 3, 2, 1, 0};
    static Crowd expected, got;
    SapModel *model = crowd_model(60);
    for (int preset = 0; preset < 2; preset++) {
        SapOptions options = crowd_options(preset ? "approx64" : "approx32");
        options.isa = SAP_ISA_GENERIC;
        crowd_cast(model, &options, straight, CROWD_WORLDS, &expected);
        for (int threads = 1; threads <= 3; threads++) {
            options = crowd_options(preset ? "approx64" : "approx32");
            options.threads = threads;
            options.lanes = threads == 1 ? 1 : 4;
            crowd_cast(model, &options, turned, CROWD_WORLDS, &got);
            for (int w = 0; w < CROWD_WORLDS; w++) {
                int v = CROWD_WORLDS - 1 - w;
                cr_assert_arr_eq(got.distance[w], expected.distance[v], sizeof got.distance[w]);
                cr_assert_arr_eq(got.normal[w], expected.normal[v], sizeof got.normal[w]);
                cr_assert_arr_eq(got.shape[w], expected.shape[v], sizeof got.shape[w]);
            }
            crowd_cast(model, &options, straight, 1, &got);
            cr_assert_arr_eq(got.distance[0], expected.distance[0], sizeof got.distance[0]);
        }
    }
    sap_model_destroy(model);
}

Test(rays, have_the_same_bits_with_and_without_the_tree_of_static_shapes) {
    static const int order[CROWD_WORLDS] = {0, 1, 2, 3, 4};
    static Crowd expected, got;
    int hits = 0;
    SapModel *model = crowd_model(400);
    for (int preset = 0; preset < 2; preset++) {
        SapOptions options = crowd_options(preset ? "approx64" : "approx32");
        need(sap_options_set(&options, "broad_phase", "listed"));
        crowd_cast(model, &options, order, CROWD_WORLDS, &expected);
        need(sap_options_set(&options, "broad_phase", "tree"));
        crowd_cast(model, &options, order, CROWD_WORLDS, &got);
        cr_assert_arr_eq(&got, &expected, sizeof got);
        for (int i = 0; i < CROWD_WORLDS * CROWD_RAYS; i++)
            hits += (&got.shape[0][0])[i] >= 0 && (&got.shape[0][0])[i] < 400;
    }
    cr_assert(hits > 500, "%d rays met a static shape", hits);
    sap_model_destroy(model);
}

/* Crossing hills, at many distances: what a ray meets does not depend on how far it may go. */
Test(rays, have_the_same_bits_for_any_largest_distance_that_reaches) {
    enum { REACHES = 60 };
    static Cast shorter;
    Random random = random_seed(11);
    SapModel *model = crowd_model(60);
    for (int i = 0; i < 3 * MOST; i++) {
        cast.origin[i / 3][i % 3] = random_between(&random, -6, 6);
        cast.direction[i / 3][i % 3] = random_between(&random, -1, 1);
    }
    memcpy(shorter.origin, cast.origin, sizeof cast.origin);
    memcpy(shorter.direction, cast.direction, sizeof cast.direction);
    for (int preset = 0; preset < 2; preset++) {
        SapOptions options = crowd_options(preset ? "approx64" : "approx32");
        SapBatch *batch;
        int met = 0;
        need(sap_batch_create(model, 1, &options, &batch));
        SapRays rays = rays_of(&cast, MOST);
        need(sap_batch_raycast(batch, &rays));
        rays = rays_of(&shorter, MOST);
        for (int k = 0; k < REACHES; k++) {
            rays.max_distance = cast.distance[k * (MOST / REACHES)];
            if (rays.max_distance <= 0)
                continue;
            need(sap_batch_raycast(batch, &rays));
            for (int i = 0; i < MOST; i++) {
                bool reaches = cast.shape[i] >= 0 && cast.distance[i] <= rays.max_distance;
                met += reaches;
                cr_assert_eq(shorter.distance[i], reaches ? cast.distance[i] : -1, "ray %d: %.17g, not %.17g", i,
                             shorter.distance[i], cast.distance[i]);
                cr_assert_eq(shorter.shape[i], reaches ? cast.shape[i] : SAP_RAY_MISS);
            }
        }
        cr_assert_gt(met, MOST);
        sap_batch_destroy(batch);
    }
    sap_model_destroy(model);
}

/* ---- what is no ray ---- */

Test(rays, that_are_not_finite_or_have_no_direction_are_marked) {
    SapBatch *batch = closed_batch(2, "approx64");
    SapRays rays = rays_of(&cast, 1);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    static const int32_t invalid = SAP_RAY_INVALID;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 3; k++) {
            one_ray(&cast, -1, 0, 0.5, 1, 0, 0);
            (i < 3 ? cast.origin : cast.direction)[0][i % 3] = bad[k];
            expect(batch, &rays, -1, invalid, 0, 0, 0);
        }
    one_ray(&cast, -1, 0, 0.5, 0, 0, 0);
    expect(batch, &rays, -1, invalid, 0, 0, 0);
    sap_batch_destroy(batch);
}

Test(rays, of_extreme_size_end_and_have_a_result) {
    static const double extreme[] = {0, -0.0, DBL_MIN, 5e-324, 1e-30, 1, 1e30, 1e200, DBL_MAX, -DBL_MAX};
    enum { N = sizeof extreme / sizeof *extreme };
    Random random = random_seed(5);
    SapModel *model = crowd_model(40);
    for (int preset = 0; preset < 2; preset++) {
        SapOptions options = crowd_options(preset ? "approx64" : "fast32");
        SapBatch *batch;
        need(sap_batch_create(model, 1, &options, &batch));
        for (int i = 0; i < 3 * MOST; i++) {
            cast.origin[i / 3][i % 3] = extreme[(int)random_between(&random, 0, N)];
            cast.direction[i / 3][i % 3] = extreme[(int)random_between(&random, 0, N)];
        }
        SapRays rays = rays_of(&cast, MOST);
        need(sap_batch_raycast(batch, &rays));
        for (int i = 0; i < MOST; i++)
            cr_assert(cast.shape[i] < 0 ? cast.distance[i] == -1 : cast.distance[i] >= 0 && isfinite(cast.normal[i][0]),
                      "ray %d: %g", i, cast.distance[i]);
        sap_batch_destroy(batch);
    }
    sap_model_destroy(model);
}

Test(rays, of_a_world_that_is_not_finite_do_not_disturb_others) {
    SapBatch *batch = closed_batch(2, "approx64");
    SapRays rays = rays_of(&cast, 1);
    double *body_q = sap_batch_state(batch)->body_q;
    for (int i = 0; i < 14; i++)
        body_q[i] = NAN;
    one_ray(&cast, -1, 0, 0.5, 1, 0, 0);
    need(sap_batch_raycast(batch, &rays));
    cr_assert_eq(cast.shape[0], SAP_RAY_MISS); /* its bodies are not seen */
    cr_assert_eq(cast.shape[1], 1);
    rays.body = 0;
    rays.exclude_body = 0;
    need(sap_batch_raycast(batch, &rays));
    cr_assert_eq(cast.shape[0], SAP_RAY_INVALID);
    cr_assert_eq(cast.distance[0], -1);
    cr_assert_neq(cast.shape[1], SAP_RAY_INVALID);
    sap_batch_destroy(batch);
}

/* ---- arguments ---- */

#define REFUSED(field, value, text)                                                                                    \
    do {                                                                                                               \
        SapRays rays = good;                                                                                           \
        rays.field = value;                                                                                            \
        cr_assert_eq(sap_batch_raycast(batch, &rays), SAP_ERROR_ARGUMENT);                                             \
        cr_assert(strstr(sap_error_message(), text), "%s", sap_error_message());                                       \
    } while (0)

Test(rays, refuse_wrong_arguments_by_name) {
    SapBatch *batch = closed_batch(1, "approx64");
    one_ray(&cast, 0, 0, 1, 1, 0, 0);
    const SapRays good = rays_of(&cast, 1);
    need(sap_batch_raycast(batch, &good));
    cr_assert_eq(sap_batch_raycast(NULL, &good), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_raycast(batch, NULL), SAP_ERROR_ARGUMENT);
    REFUSED(num_rays, 0, "num_rays is 0; it must be in 1 .. 16777216");
    REFUSED(dtype, (SapDtype)2, "dtype is 2");
    REFUSED(origin, NULL, "origin is NULL");
    REFUSED(direction, NULL, "direction is NULL");
    REFUSED(distance, NULL, "distance is NULL");
    REFUSED(shared, 2, "shared is 2");
    REFUSED(body, 2, "body is 2; it must be in -1 .. 1");
    REFUSED(exclude_body, -2, "exclude_body is -2; it must be in -1 .. 1");
    REFUSED(axes, (SapRayAxes)3, "axes is 3");
    REFUSED(sees, (SapRaySight)-1, "sees is -1");
    REFUSED(max_distance, 0, "max_distance is 0; it must be > 0");
    REFUSED(max_distance, NAN, "max_distance is nan");
    sap_batch_state(batch)->body_q = NULL;
    REFUSED(num_rays, 1, "body_q");
    sap_batch_destroy(batch);
}

Test(rays, of_f32_arrays_without_normals_and_shapes_are_those_of_f64) {
    SapBatch *batch = closed_batch(1, "approx32");
    const float origin[3] = {-1, 0, 0.5}, direction[3] = {1, 0, 0};
    float distance = 0;
    SapRays rays = rays_of(&cast, 1);
    rays.dtype = SAP_F32;
    rays.origin = origin;
    rays.direction = direction;
    rays.distance = &distance;
    rays.normal = NULL;
    rays.shape = NULL;
    need(sap_batch_raycast(batch, &rays));
    cr_assert_float_eq(distance, 1.5, 1e-6);
    sap_batch_destroy(batch);
}

Test(rays, change_no_array_of_the_batch_and_allocate_once) {
    SapBatch *batch = closed_batch(3, "approx32");
    need(sap_batch_step(batch, 0.01, 3));
    SapRays rays = rays_of(&cast, 1);
    one_ray(&cast, 0, 0, 1, 1, 0, 0);
    rays.normal = NULL;
    float before[42], *q = sap_batch_state(batch)->joint_q;
    memcpy(before, q, sizeof before);
    need(sap_batch_raycast(batch, &rays));
    size_t bytes = sap_batch_bytes(batch);
    need(sap_batch_raycast(batch, &rays));
    cr_assert_eq(sap_batch_bytes(batch), bytes);
    cr_assert_arr_eq(q, before, sizeof before);
    sap_batch_destroy(batch);
}
