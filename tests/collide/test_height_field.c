/* Shapes on height fields (src/kernels/collide/height_field.h) in both precisions: planes, edges, valleys, and what
 * lies beside. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/model.h>

#include "support/convex_check.h"
#include "support/pose.h"
#include "support/random_model.h"

enum { ROWS = 21, COLUMNS = 31 };

typedef struct FieldData {
    double height[ROWS * COLUMNS];
    float height32[ROWS * COLUMNS];
} FieldData;

/* A grid over [-1.5, 1.5] x [-1, 1] with cells of 0.1, at the heights z(x, y). */
static void field_make(FieldData *field, double (*z)(double x, double y)) {
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            field->height[r * COLUMNS + c] = field->height32[r * COLUMNS + c] = (float)z(0.1 * c - 1.5, 0.1 * r - 1);
}

static void field_solve(TaskData *data, const FieldData *field, const TestShape *b, const double *pose, double reach,
                        int max, int precision) {
    TestShape ground = {SAP_SHAPE_HEIGHT_FIELD, {1.5, 1, 0}, NULL};
    task_make(data, &ground, b, pose, reach, max);
    data->field = (SapHeightField){0, ROWS, COLUMNS};
    data->task.mesh[0] = 0;
    data->args.plan.height_field = &data->field;
    data->args.constants[0].height.data = field->height32;
    data->args.constants[1].height.data = field->height;
    run(&data->task, precision);
}

static double flat(double x, double y) {
    (void)x;
    (void)y;
    return 0.25;
}
static double slope(double x, double y) {
    return 0.3 * x - 0.2 * y;
}
static double ridge(double x, double y) {
    (void)y;
    return -fabs(x);
}
static double valley(double x, double y) {
    (void)y;
    return fabs(x);
}
static double peak(double x, double y) {
    return fabs(x) < 0.05 && fabs(y) < 0.05 ? 0.1 : 0;
}

static int field_shapes(TestShape *shape, HullData *hull) {
    hull_prism(hull, 0.2, 0.15, 6);
    const TestShape all[] = {{SAP_SHAPE_SPHERE, {0.2, 0, 0}, NULL},
                             {SAP_SHAPE_CAPSULE, {0.1, 0.2, 0}, NULL},
                             {SAP_SHAPE_ELLIPSOID, {0.2, 0.1, 0.15}, NULL},
                             {SAP_SHAPE_CYLINDER, {0.2, 0.15, 0}, NULL},
                             {SAP_SHAPE_BOX, {0.2, 0.15, 0.1}, NULL},
                             {SAP_SHAPE_CONE, {0.15, 0.2, 0}, NULL},
                             {SAP_SHAPE_HULL, {1, 1, 1}, hull}};
    memcpy(shape, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* The lowest separation of the shape from the plane n.x = offset. */
static double above_plane(const TestShape *s, const double *pose, const double *n, double offset) {
    double down[3] = {-n[0], -n[1], -n[2]}, local[3], x[3];
    rotate_back(pose + 3, down, local);
    return dot3(n, pose) - shape_support(s, local, x) - offset;
}

/* Puts the shape with its lowest point at the height d over the plane. */
static void place_over(const TestShape *s, double *pose, const double *n, double offset, double d) {
    double move = d - above_plane(s, pose, n, offset);
    for (int k = 0; k < 3; k++)
        pose[k] += move * n[k];
}

static void check_plane(double (*z)(double, double), const double *n, double offset, int precision) {
    static FieldData field;
    static TaskData data;
    static HullData hull;
    TestShape shape[8];
    Random random = random_seed(6);
    field_make(&field, z);
    int count = field_shapes(shape, &hull);
    const double depth[] = {0.004, 0, -0.001, -0.02, -0.15, -0.5};
    for (int k = 0; k < 60; k++) {
        for (int i = 0; i < count; i++) {
            double pose[7] = {random_between(&random, -0.8, 0.8), random_between(&random, -0.4, 0.4), 0, 0, 0, 0, 1};
            if (k % 3)
                random_quaternion(&random, pose + 3);
            place_over(&shape[i], pose, n, offset, depth[k % 6]);
            field_solve(&data, &field, &shape[i], pose, 0.005, 4, precision);
            cr_assert_geq(data.task.count, 1, "type %d k %d", shape[i].type, k);
            double least = INFINITY;
            for (int c = 0; c < data.task.count; c++) {
                cr_assert(dot3(data.task.n[c], n) > 1 - 1e-6, "type %d k %d: normal %g %g %g", shape[i].type, k,
                          data.task.n[c][0], data.task.n[c][1], data.task.n[c][2]);
                cr_assert(fabs(dot3(data.task.p[c], n) - offset) < 1e-5);
                least = fmin(least, data.task.d[c]);
            }
            cr_assert(fabs(least - depth[k % 6]) < (precision == 32 ? 2e-5 : 1e-7), "type %d k %d: d %g instead of %g",
                      shape[i].type, k, least, depth[k % 6]);
        }
    }
}

ParameterizedTestParameters(convex, a_flat_field_is_a_plane) {
    return precision_params();
}

ParameterizedTest(Precision *param, convex, a_flat_field_is_a_plane) {
    check_plane(flat, (const double[]){0, 0, 1}, 0.25, param->bits);
}

ParameterizedTestParameters(convex, a_sloping_field_is_a_plane) {
    return precision_params();
}

ParameterizedTest(Precision *param, convex, a_sloping_field_is_a_plane) {
    double norm = sqrt(1 + 0.09 + 0.04), n[3] = {-0.3 / norm, 0.2 / norm, 1 / norm};
    check_plane(slope, n, 0, param->bits);
}

ParameterizedTestParameters(convex, a_box_on_a_flat_field_has_its_four_corners) {
    return precision_params();
}

ParameterizedTest(Precision *param, convex, a_box_on_a_flat_field_has_its_four_corners) {
    static FieldData field;
    static TaskData data;
    TestShape box = {SAP_SHAPE_BOX, {0.2, 0.15, 0.1}, NULL};
    field_make(&field, flat);
    for (int k = 0; k < 20; k++) {
        const double pose[7] = {0.013 * k, 0.007 * k, 0.349, 0, 0, sin(0.1 * k), cos(0.1 * k)};
        field_solve(&data, &field, &box, pose, 0.005, 4, param->bits);
        cr_assert_eq(data.task.count, 4);
        for (int i = 0; i < 4; i++) {
            double x[3];
            witness(&data.task, i, pose, x);
            cr_assert(fabs(fabs(x[0]) - 0.2) < 1e-5 && fabs(fabs(x[1]) - 0.15) < 1e-5, "k %d: corner %g %g", k, x[0],
                      x[1]);
        }
    }
}

ParameterizedTestParameters(convex, a_ball_that_crosses_cells_meets_no_edges) {
    return precision_params();
}

ParameterizedTest(Precision *param, convex, a_ball_that_crosses_cells_meets_no_edges) {
    static FieldData field;
    static TaskData data;
    TestShape ball = {SAP_SHAPE_SPHERE, {0.07, 0, 0}, NULL};
    field_make(&field, flat);
    for (int k = 0; k < 500; k++) {
        /* from corner to corner of the grid, along either diagonal */
        const double side = k % 2 ? 1 : -1,
                     pose[7] = {0.00596 * (k - 250), side * 0.00396 * (k - 250), 0.319, 0, 0, 0, 1};
        field_solve(&data, &field, &ball, pose, 0.05, 4, param->bits);
        cr_assert_eq(data.task.count, 1, "k %d: %d points", k, data.task.count);
        cr_assert(data.task.n[0][2] > 1 - 1e-9 && fabs(data.task.d[0] + 0.001) < 1e-6);
    }
}

ParameterizedTestParameters(convex, a_ridge_and_a_peak_carry_the_middle_of_a_face) {
    return precision_params();
}

ParameterizedTest(Precision *param, convex, a_ridge_and_a_peak_carry_the_middle_of_a_face) {
    static FieldData field;
    static TaskData data;
    TestShape box = {SAP_SHAPE_BOX, {0.3, 0.25, 0.1}, NULL};
    const double on_ridge[7] = {0.01, 0.02, 0.098, 0, 0, 0, 1}, on_peak[7] = {0.01, 0.02, 0.198, 0, 0, 0, 1};
    field_make(&field, ridge);
    field_solve(&data, &field, &box, on_ridge, 0.005, 4, param->bits);
    cr_assert_geq(data.task.count, 2);
    for (int i = 0; i < data.task.count; i++)
        cr_assert(data.task.n[i][2] > 1 - 1e-6 && fabs(data.task.d[i] + 0.002) < 1e-5 && fabs(data.task.p[i][0]) < 1e-3,
                  "ridge: n %g d %g", data.task.n[i][2], data.task.d[i]);
    field_make(&field, peak);
    field_solve(&data, &field, &box, on_peak, 0.005, 4, param->bits);
    cr_assert_eq(data.task.count, 1, "%d points", data.task.count);
    expect_single(&data, (const double[]){0, 0, 0.1}, (const double[]){0, 0, 1}, -0.002, 1e-5);
}

ParameterizedTestParameters(convex, a_ball_in_a_valley_touches_both_sides) {
    return precision_params();
}

ParameterizedTest(Precision *param, convex, a_ball_in_a_valley_touches_both_sides) {
    static FieldData field;
    static TaskData data;
    TestShape ball = {SAP_SHAPE_SPHERE, {0.2, 0, 0}, NULL};
    const double half = 0.70710678118654752, pose[7] = {0, 0.03, 0.199 / half, 0, 0, 0, 1};
    field_make(&field, valley);
    field_solve(&data, &field, &ball, pose, 0.005, 4, param->bits);
    cr_assert_eq(data.task.count, 2);
    for (int i = 0; i < 2; i++)
        cr_assert(fabs(data.task.n[i][2] - half) < 1e-5 && fabs(fabs(data.task.n[i][0]) - half) < 1e-5 &&
                  fabs(data.task.d[i] + 0.001) < 1e-5);
    cr_assert(data.task.n[0][0] * data.task.n[1][0] < 0);
}

/* ---- a ball on rough ground ---- */

/* Heights within 0.03 of the plane, without a pattern. */
static double rough(double x, double y) {
    double t = 43758.5453 * sin(127.1 * x + 311.7 * y);
    return 0.06 * (t - floor(t)) - 0.03;
}

/* The distance of p from the segment from a to b. */
static double segment_distance(const double *p, const double *a, const double *b) {
    double ab[3], ap[3], rest[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = b[k] - a[k];
        ap[k] = p[k] - a[k];
    }
    double t = fmin(fmax(dot3(ab, ap) / dot3(ab, ab), 0), 1);
    for (int k = 0; k < 3; k++)
        rest[k] = ap[k] - t * ab[k];
    return sqrt(dot3(rest, rest));
}

/* The distance of p from a triangle: along its normal if p is over it, else the least of its three edges. */
static double triangle_distance(const double *p, const double x[3][3]) {
    double n[3], edge[2][3], to[3];
    for (int k = 0; k < 3; k++) {
        edge[0][k] = x[1][k] - x[0][k];
        edge[1][k] = x[2][k] - x[0][k];
        to[k] = p[k] - x[0][k];
    }
    for (int k = 0; k < 3; k++)
        n[k] = edge[0][(k + 1) % 3] * edge[1][(k + 2) % 3] - edge[0][(k + 2) % 3] * edge[1][(k + 1) % 3];
    /* coordinates of the foot of p along both edges, by Cramer's rule */
    double aa = dot3(edge[0], edge[0]), ab = dot3(edge[0], edge[1]), bb = dot3(edge[1], edge[1]);
    double pa = dot3(to, edge[0]), pb = dot3(to, edge[1]), det = aa * bb - ab * ab;
    double u = (bb * pa - ab * pb) / det, v = (aa * pb - ab * pa) / det;
    if (u >= 0 && v >= 0 && u + v <= 1)
        return fabs(dot3(n, to)) / sqrt(dot3(n, n));
    return fmin(segment_distance(p, x[0], x[1]),
                fmin(segment_distance(p, x[1], x[2]), segment_distance(p, x[2], x[0])));
}

/* The distance of p from the surface: the least of all triangles. */
static double field_distance(const FieldData *field, const double *p) {
    double least = INFINITY;
    for (int cell = 0; cell < (ROWS - 1) * (COLUMNS - 1); cell++) {
        int r = cell / (COLUMNS - 1), c = cell % (COLUMNS - 1);
        double corner[4][3], lower[3][3], upper[3][3];
        for (int i = 0; i < 4; i++) {
            int row = r + i / 2, column = c + i % 2;
            corner[i][0] = 0.1 * column - 1.5;
            corner[i][1] = 0.1 * row - 1;
            corner[i][2] = field->height[row * COLUMNS + column];
        }
        const int of_lower[3] = {0, 1, 3}, of_upper[3] = {0, 3, 2};
        for (int i = 0; i < 3; i++) {
            memcpy(lower[i], corner[of_lower[i]], sizeof lower[i]);
            memcpy(upper[i], corner[of_upper[i]], sizeof upper[i]);
        }
        least = fmin(least, fmin(triangle_distance(p, lower), triangle_distance(p, upper)));
    }
    return least;
}

ParameterizedTestParameters(convex, a_ball_on_rough_ground_is_as_deep_as_its_nearest_triangle) {
    return precision_params();
}

/* Also: all points are on the sphere's normals, and no two are the same. */
ParameterizedTest(Precision *param, convex, a_ball_on_rough_ground_is_as_deep_as_its_nearest_triangle) {
    static FieldData field;
    static TaskData data;
    const double radius = 0.12, allowed = param->bits == 32 ? 1e-6 : 1e-12;
    TestShape ball = {SAP_SHAPE_SPHERE, {radius, 0, 0}, NULL};
    Random random = random_seed(11);
    int touching = 0, several = 0;
    field_make(&field, rough);
    for (int k = 0; k < 1000; k++) {
        double pose[7] = {random_between(&random, -1.2, 1.2),
                          random_between(&random, -0.7, 0.7),
                          random_between(&random, 0.08, 0.16),
                          0,
                          0,
                          0,
                          1};
        field_solve(&data, &field, &ball, pose, 0.005, 8, param->bits);
        double expected = field_distance(&field, pose) - radius, least = INFINITY;
        for (int i = 0; i < data.task.count; i++) {
            double along[3];
            for (int j = 0; j < 3; j++)
                along[j] = pose[j] - data.task.p[i][j];
            least = fmin(least, data.task.d[i]);
            cr_assert(fabs(dot3(along, data.task.n[i]) - radius - data.task.d[i]) < allowed, "k %d point %d", k, i);
            cr_assert(fabs(field_distance(&field, data.task.p[i])) < allowed, "k %d point %d: %g from the surface", k,
                      i, field_distance(&field, data.task.p[i]));
            for (int other = 0; other < i; other++)
                cr_assert(dot3(data.task.n[i], data.task.n[other]) < 1 - 1e-9, "k %d: points %d and %d agree", k, i,
                          other);
        }
        if (expected < 0.005 - allowed)
            cr_assert(fabs(least - expected) < allowed, "k %d: d %g instead of %g", k, least, expected);
        else
            cr_assert(data.task.count == 0 || expected < 0.005 + allowed, "k %d: %d points", k, data.task.count);
        touching += data.task.count > 0;
        several += data.task.count > 1;
    }
    cr_assert(touching > 300 && several > 100, "%d touch, %d at several points", touching, several);
}

/* A slope beside the floor, from x = 0 on. */
static double bank(double x, double y) {
    return x > -0.01 ? fmax(0, y) : 0;
}

ParameterizedTestParameters(convex, of_a_capsule_in_a_gutter_two_points_are_its_ends) {
    return precision_params();
}

/* The capsule is a millimetre deeper in the floor than in the bank. The bank begins nearer to the first end than the
 * other end is, and its other normal does not outweigh that. */
ParameterizedTest(Precision *param, convex, of_a_capsule_in_a_gutter_two_points_are_its_ends) {
    static FieldData field;
    static TaskData data;
    TestShape capsule = {SAP_SHAPE_CAPSULE, {0.1, 0.4, 0}, NULL};
    const double half = 0.70710678118654752, pose[7] = {0, -0.042, 0.098, 0, half, 0, half};
    field_make(&field, bank);
    field_solve(&data, &field, &capsule, pose, 0.005, 2, param->bits);
    cr_assert_eq(data.task.count, 2);
    for (int i = 0; i < 2; i++)
        cr_expect(fabs(data.task.p[i][0] - (i ? -0.4 : 0.4)) < 1e-5 && data.task.n[i][2] > 1 - 1e-6,
                  "point %d at %g, normal %g", i, data.task.p[i][0], data.task.n[i][2]);
}

ParameterizedTestParameters(convex, beside_a_field_and_without_a_pose_there_is_nothing) {
    return precision_params();
}

ParameterizedTest(Precision *param, convex, beside_a_field_and_without_a_pose_there_is_nothing) {
    static FieldData field;
    static TaskData data;
    static HullData hull;
    TestShape shape[8];
    field_make(&field, flat);
    int count = field_shapes(shape, &hull);
    for (int i = 0; i < count; i++) {
        const double beside[7] = {1.9, 0, 0.2, 0, 0, 0, 1}, far[7] = {1e30, 0, 0, 0, 0, 0, 1};
        field_solve(&data, &field, &shape[i], beside, 0.005, 4, param->bits);
        cr_assert_eq(data.task.count, 0);
        field_solve(&data, &field, &shape[i], far, 0.005, 4, param->bits);
        cr_assert_eq(data.task.count, 0);
        for (int k = 0; k < 7; k++) {
            double pose[7] = {0, 0, 0.3, 0, 0, 0, 1};
            pose[k] = NAN;
            field_solve(&data, &field, &shape[i], pose, 0.005, 4, param->bits);
            cr_assert_eq(data.task.count, 0);
        }
    }
}
