/* The narrow phase of one world (src/kernels/collide/convex.h) in both precisions: distances against an independent search over directions,
 * witnesses on both surfaces, symmetries, manifolds of flat contacts, degenerate poses, and height fields. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/model.h>

#include "support/convex_kernels.h"
#include "support/convex_oracle.h"
#include "support/random_model.h"
#include "support/work.h"

static const int types[] = {SAP_SHAPE_SPHERE, SAP_SHAPE_CAPSULE, SAP_SHAPE_ELLIPSOID, SAP_SHAPE_CYLINDER,
                            SAP_SHAPE_BOX,    SAP_SHAPE_CONE,    SAP_SHAPE_HULL};
enum { NUM_TYPES = sizeof types / sizeof *types };

/* What a precision can hold for shapes of about half a metre: distances, and points on curved surfaces under a nearly flat contact,
 * which move much when the normal moves little. Measured maxima are a third of these or less. */
typedef struct Tolerance {
    double distance, surface;
} Tolerance;

static Tolerance tolerance(int precision) {
    return precision == 32 ? (Tolerance){2e-5, 6e-3} : (Tolerance){3e-8, 3e-6};
}

static void run(SapConvexTask *task, int precision) {
    if (precision == 32)
        convex_f32(task);
    else
        convex_f64(task);
}

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Numbers that both precisions hold exactly, and a quaternion that is unit in f64. */
static void round_pose(double *pose) {
    double norm2 = 0;
    for (int k = 0; k < 7; k++)
        pose[k] = (float)pose[k];
    for (int k = 3; k < 7; k++)
        norm2 += pose[k] * pose[k];
    for (int k = 3; k < 7; k++)
        pose[k] /= sqrt(norm2);
}

/* A case: two shapes and a pose. */
typedef struct Case {
    HullData hull[2];
    TestShape shape[2];
    double pose[7];
} Case;

static void random_case(Case *c, Random *random, int type0, int type1) {
    c->shape[0] = shape_random(random, type0, &c->hull[0]);
    c->shape[1] = shape_random(random, type1, &c->hull[1]);
    pose_random(random, random_between(random, 0, 1.2), c->pose);
    round_pose(c->pose);
}

static void solve(TaskData *data, const Case *c, double reach, int max_contacts, int precision) {
    task_make(data, &c->shape[0], &c->shape[1], c->pose, reach, max_contacts);
    run(&data->task, precision);
}

/* The witness on shape 1, in its own frame. */
static void witness(const SapConvexTask *task, int i, const double *pose, double *x) {
    double y[3];
    for (int k = 0; k < 3; k++)
        y[k] = task->p[i][k] + task->d[i] * task->n[i][k] - pose[k];
    pose_unrotate(pose, y, x);
}

/* ---- distance ---- */

static void check_distance(const Case *c, const SapConvexTask *task, int precision) {
    double d = task->d[0], allowed = tolerance(precision).distance;
    cr_assert(fabs(dot(task->n[0], task->n[0]) - 1) < (precision == 32 ? 1e-5 : 1e-12));
    /* no direction parts the shapes more than d */
    double oracle = oracle_distance(&c->shape[0], &c->shape[1], c->pose, task->n[0]);
    cr_assert(oracle - d < allowed, "%d-%d f%d: d %.12g, oracle %.12g", c->shape[0].type, c->shape[1].type, precision,
              d, oracle);
    if (d > 0) /* and points are that near, which check_witnesses proves; the oracle may stop short on curved shapes */
        return;
    double along = separation(&c->shape[0], &c->shape[1], c->pose, task->n[0]);
    cr_assert(fabs(along - d) < allowed, "%d-%d f%d: d %.12g, along n %.12g", c->shape[0].type, c->shape[1].type,
              precision, d, along);
}

static void check_witnesses(const Case *c, const SapConvexTask *task, int precision) {
    double allowed = tolerance(precision).surface;
    for (int i = 0; i < task->count; i++) {
        double x[3];
        witness(task, i, c->pose, x);
        double off[2] = {shape_surface(&c->shape[0], task->p[i]), shape_surface(&c->shape[1], x)};
        cr_assert(fabs(off[0]) < allowed && fabs(off[1]) < allowed, "%d-%d f%d: point %d is %g and %g off",
                  c->shape[0].type, c->shape[1].type, precision, i, off[0], off[1]);
    }
}

typedef struct PairParam {
    int type[2], precision;
} PairParam;

static struct criterion_test_params pair_params(void) {
    static PairParam params[NUM_TYPES * (NUM_TYPES + 1)];
    size_t n = 0;
    for (int i = 0; i < NUM_TYPES; i++)
        for (int j = i; j < NUM_TYPES; j++)
            for (int precision = 32; precision <= 64; precision += 32)
                params[n++] = (PairParam){{types[i], types[j]}, precision};
    return cr_make_param_array(PairParam, params, n);
}

ParameterizedTestParameters(convex, distance_is_the_largest_separation_and_witnesses_are_on_both_surfaces) {
    return pair_params();
}

ParameterizedTest(PairParam *param, convex, distance_is_the_largest_separation_and_witnesses_are_on_both_surfaces) {
    static Case c;
    static TaskData data;
    Random random = random_seed((uint64_t)(100 * param->type[0] + param->type[1]));
    for (int k = 0; k < (int)(100 * work_scale()) + 1; k++) {
        random_case(&c, &random, param->type[0], param->type[1]);
        solve(&data, &c, 10, 1, param->precision);
        cr_assert_eq(data.task.count, 1);
        check_distance(&c, &data.task, param->precision);
        check_witnesses(&c, &data.task, param->precision);
    }
}

ParameterizedTestParameters(convex, exchanged_shapes_have_the_same_distance) {
    return pair_params();
}

ParameterizedTest(PairParam *param, convex, exchanged_shapes_have_the_same_distance) {
    static Case c, swapped;
    static TaskData data, other;
    Random random = random_seed((uint64_t)(1000 + 100 * param->type[0] + param->type[1]));
    for (int k = 0; k < (int)(100 * work_scale()) + 1; k++) {
        random_case(&c, &random, param->type[0], param->type[1]);
        swapped.shape[0] = c.shape[1];
        swapped.shape[1] = c.shape[0];
        pose_invert(c.pose, swapped.pose);
        solve(&data, &c, 10, 1, param->precision);
        solve(&other, &swapped, 10, 1, param->precision);
        cr_assert(fabs(data.task.d[0] - other.task.d[0]) < tolerance(param->precision).distance, "%g %g",
                  data.task.d[0], other.task.d[0]);
    }
}

ParameterizedTestParameters(convex, reach_decides_which_points_there_are) {
    return pair_params();
}

ParameterizedTest(PairParam *param, convex, reach_decides_which_points_there_are) {
    static Case c;
    static TaskData data;
    Random random = random_seed((uint64_t)(2000 + 100 * param->type[0] + param->type[1]));
    for (int k = 0; k < (int)(100 * work_scale()) + 1; k++) {
        random_case(&c, &random, param->type[0], param->type[1]);
        solve(&data, &c, 10, 1, param->precision);
        double d = data.task.d[0];
        solve(&data, &c, d - 1e-3, 8, param->precision);
        cr_assert_eq(data.task.count, 0);
        solve(&data, &c, d + 1e-3, 8, param->precision);
        cr_assert_geq(data.task.count, 1);
        for (int i = 0; i < data.task.count; i++)
            cr_assert(data.task.d[i] <= d + 1e-3 && data.task.d[i] >= d - tolerance(param->precision).distance);
        check_witnesses(&c, &data.task, param->precision);
    }
}

/* ---- closed forms ---- */

typedef struct Precision {
    int bits;
} Precision;

static struct criterion_test_params precision_params(void) {
    static Precision params[] = {{32}, {64}};
    return cr_make_param_array(Precision, params, 2);
}

static void expect_single(const TaskData *data, const double *p, const double *n, double d, double allowed) {
    cr_assert_eq(data->task.count, 1);
    for (int k = 0; k < 3; k++) {
        cr_assert(fabs(data->task.p[0][k] - p[k]) < allowed, "p[%d] %g", k, data->task.p[0][k]);
        cr_assert(fabs(data->task.n[0][k] - n[k]) < allowed, "n[%d] %g", k, data->task.n[0][k]);
    }
    cr_assert(fabs(data->task.d[0] - d) < allowed, "d %g", data->task.d[0]);
}

static double fine(int precision) {
    return precision == 32 ? 3e-6 : 1e-11;
}

ParameterizedTestParameters(convex, a_ball_against_a_box_has_the_closed_form_inside_and_outside) {
    return precision_params();
}

ParameterizedTest(Precision *param, convex, a_ball_against_a_box_has_the_closed_form_inside_and_outside) {
    static TaskData data;
    TestShape ball = {SAP_SHAPE_SPHERE, {0.1, 0, 0}, NULL}, box = {SAP_SHAPE_BOX, {0.5, 0.4, 0.3}, NULL};
    const double above[7] = {0.1, 0.2, -0.45, 0, 0, 0, 1}, inside[7] = {0.1, 0.2, -0.25, 0, 0, 0, 1};
    task_make(&data, &ball, &box, above, 1, 4); /* the ball is 0.15 above the box's top */
    run(&data.task, param->bits);
    expect_single(&data, (const double[]){0, 0, -0.1}, (const double[]){0, 0, -1}, 0.05, fine(param->bits));
    task_make(&data, &ball, &box, inside, 1, 4); /* its centre is 0.05 below the top */
    run(&data.task, param->bits);
    expect_single(&data, (const double[]){0, 0, -0.1}, (const double[]){0, 0, -1}, -0.15, fine(param->bits));
}

ParameterizedTestParameters(convex, crossing_capsules_part_along_the_common_normal) {
    return precision_params();
}

ParameterizedTest(Precision *param, convex, crossing_capsules_part_along_the_common_normal) {
    static TaskData data;
    TestShape a = {SAP_SHAPE_CAPSULE, {0.1, 0.5, 0}, NULL}, b = {SAP_SHAPE_CAPSULE, {0.2, 0.4, 0}, NULL};
    const double half = 0.70710678118654752;
    for (int i = 0; i < 4; i++) {
        double height = 0.1 * i, pose[7] = {height, 0.1, 0.2, half, 0, 0, half}; /* b's axis is along -y */
        task_make(&data, &a, &b, pose, 1, 4);
        run(&data.task, param->bits);
        double side = i == 0 ? data.task.n[0][0] : 1; /* crossing axes: either side is right */
        expect_single(&data, (const double[]){0.1 * side, 0, 0.2}, (const double[]){side, 0, 0}, height - 0.3,
                      fine(param->bits));
        cr_assert(fabs(fabs(side) - 1) < 1e-6);
    }
}

/* ---- manifolds ---- */

/* Shape b above shape a with the given gap, turned about the vertical; heights are half heights of both. */
static void stack(TaskData *data, const TestShape *a, const TestShape *b, double z, double turn, double reach, int max,
                  int precision) {
    const double pose[7] = {0.05, 0.02, z, 0, 0, sin(turn / 2), cos(turn / 2)};
    task_make(data, a, b, pose, reach, max);
    run(&data->task, precision);
}

static void expect_face(const TaskData *data, int count, double d, double radius, int precision) {
    const SapConvexTask *task = &data->task;
    cr_assert_eq(task->count, count, "%d points", task->count);
    double spread = 0;
    for (int i = 0; i < count; i++) {
        cr_assert(fabs(task->n[i][2] - 1) < 1e-6 && fabs(task->d[i] - d) < fine(precision) * 3, "n %g d %g",
                  task->n[i][2], task->d[i]);
        spread = fmax(spread, hypot(task->p[i][0] - task->p[0][0], task->p[i][1] - task->p[0][1]));
    }
    cr_assert(spread > radius, "spread %g", spread);
}

ParameterizedTestParameters(convex, faces_on_faces_give_four_points_at_the_same_distance) {
    return precision_params();
}

ParameterizedTest(Precision *param, convex, faces_on_faces_give_four_points_at_the_same_distance) {
    static TaskData data;
    static HullData prism, cube;
    hull_prism(&prism, 0.3, 0.2, 7);
    hull_of_box(&cube, 0.25, 0.25, 0.25);
    TestShape flat[] = {{SAP_SHAPE_CYLINDER, {0.3, 0.25, 0}, NULL},
                        {SAP_SHAPE_BOX, {0.3, 0.2, 0.25}, NULL},
                        {SAP_SHAPE_HULL, {1, 1, 1}, &prism},
                        {SAP_SHAPE_HULL, {1, 1, 1}, &cube}};
    const double height[] = {0.25, 0.25, (float)0.2, 0.25};
    for (int i = 0; i < 4; i++)
        for (int j = i; j < 4; j++)
            for (int k = 0; k < 12; k++) {
                double gap = (k % 3 - 1) * 1e-3, turn = 0.3 * k;
                stack(&data, &flat[i], &flat[j], height[i] + height[j] + gap, turn, 0.01, 4, param->bits);
                expect_face(&data, 4, gap, 0.3, param->bits);
            }
}

ParameterizedTestParameters(convex, a_lying_cylinder_or_capsule_touches_a_box_at_two_points) {
    return precision_params();
}

ParameterizedTest(Precision *param, convex, a_lying_cylinder_or_capsule_touches_a_box_at_two_points) {
    static TaskData data;
    const double half = 0.70710678118654752;
    TestShape box = {SAP_SHAPE_BOX, {0.5, 0.5, 0.1}, NULL},
              lying[] = {{SAP_SHAPE_CAPSULE, {0.1, 0.3, 0}, NULL}, {SAP_SHAPE_CYLINDER, {0.1, 0.3, 0}, NULL}};
    for (int i = 0; i < 2; i++)
        for (int below = 0; below < 2; below++) {
            /* the box is below the cylinder and above the capsule, since types are in order */
            double z = below ? -0.199 : 0.199, pose[7] = {0, 0, z, 0, half, 0, half}, inverse[7];
            pose_invert(pose, inverse);
            task_make(&data, &lying[i], &box, inverse, 0.01, 4);
            run(&data.task, param->bits);
            cr_assert_eq(data.task.count, 2, "%d points", data.task.count);
            for (int k = 0; k < 2; k++)
                cr_assert(fabs(data.task.d[k] + 1e-3) < 3 * fine(param->bits), "d %g", data.task.d[k]);
            cr_assert(fabs(fabs(data.task.p[0][2] - data.task.p[1][2]) - 0.6) < 1e-5);
        }
}

ParameterizedTestParameters(convex, a_tilted_box_keeps_its_deepest_corner) {
    return precision_params();
}

ParameterizedTest(Precision *param, convex, a_tilted_box_keeps_its_deepest_corner) {
    static TaskData data;
    TestShape box = {SAP_SHAPE_BOX, {0.5, 0.5, 0.5}, NULL}, small = {SAP_SHAPE_BOX, {0.2, 0.2, 0.2}, NULL};
    for (int k = 1; k < 10; k++) {
        double tilt = 0.01 * k, pose[7] = {0.01, 0.02, 0.695, sin(tilt / 2), 0, 0, cos(tilt / 2)};
        task_make(&data, &box, &small, pose, 1, 4);
        run(&data.task, param->bits);
        double low = 0.695 - 0.2 * cos(tilt) - 0.2 * sin(tilt) - 0.5, least = 1;
        cr_assert_eq(data.task.count, 4);
        for (int i = 0; i < 4; i++)
            least = fmin(least, data.task.d[i]);
        cr_assert(fabs(least - low) < 3 * fine(param->bits), "%g %g", least, low);
    }
}

/* ---- degenerate poses ---- */

ParameterizedTestParameters(convex, concentric_and_touching_shapes_have_a_finite_answer) {
    return pair_params();
}

ParameterizedTest(PairParam *param, convex, concentric_and_touching_shapes_have_a_finite_answer) {
    static Case c;
    static TaskData data;
    Random random = random_seed((uint64_t)(3000 + 100 * param->type[0] + param->type[1]));
    for (int k = 0; k < 200; k++) {
        random_case(&c, &random, param->type[0], param->type[1]);
        const double axes[3] = {c.pose[0], c.pose[1], c.pose[2]};
        if (k % 2) /* parallel axes */
            memcpy(c.pose + 3, (const double[]){0, 0, 0, 1}, 4 * sizeof(double));
        if (k % 4 <
            2) { /* concentric, else on each other along a random or an axis direction, exactly or nearly touching */
            memset(c.pose, 0, 3 * sizeof(double));
        } else {
            double n[3] = {axes[0], axes[1], axes[2]}, norm = sqrt(dot(n, n));
            for (int i = 0; i < 3; i++)
                n[i] = k % 3 ? n[i] / norm : i == k / 4 % 3;
            memset(c.pose, 0, 3 * sizeof(double));
            double d = -separation(&c.shape[0], &c.shape[1], c.pose, n);
            for (int i = 0; i < 3; i++)
                c.pose[i] = d * n[i];
        }
        solve(&data, &c, 10, 8, param->precision);
        cr_assert_geq(data.task.count, 1);
        for (int i = 0; i < data.task.count; i++)
            cr_assert(isfinite(data.task.d[i]) && fabs(dot(data.task.n[i], data.task.n[i]) - 1) < 1e-5);
        double d = separation(&c.shape[0], &c.shape[1], c.pose, data.task.n[0]), least = INFINITY;
        for (int i = 0; i < data.task.count; i++)
            least = fmin(least, data.task.d[i]);
        cr_assert(fabs(least - d) < 10 * tolerance(param->precision).distance, "k %d: %g, along n %g", k, least, d);
    }
}

ParameterizedTestParameters(convex, a_pose_that_is_no_number_has_no_contacts) {
    return pair_params();
}

ParameterizedTest(PairParam *param, convex, a_pose_that_is_no_number_has_no_contacts) {
    static Case c;
    static TaskData data;
    Random random = random_seed(5);
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e308};
    for (int k = 0; k < 7; k++)
        for (int i = 0; i < 4; i++) {
            random_case(&c, &random, param->type[0], param->type[1]);
            c.pose[k] = bad[i];
            solve(&data, &c, 1, 8, param->precision);
            cr_assert_eq(data.task.count, 0, "pose[%d] = %g", k, bad[i]);
        }
}

/* ---- height fields ---- */

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
    pose_unrotate(pose, down, local);
    return dot(n, pose) - shape_support(s, local, x) - offset;
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
                cr_assert(dot(data.task.n[c], n) > 1 - 1e-6, "type %d k %d: normal %g %g %g", shape[i].type, k,
                          data.task.n[c][0], data.task.n[c][1], data.task.n[c][2]);
                cr_assert(fabs(dot(data.task.p[c], n) - offset) < 1e-5);
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
        const double pose[7] = {-0.7 + 0.0031 * k, -0.5 + 0.0017 * k, 0.25 + 0.069, 0, 0, 0, 1};
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
