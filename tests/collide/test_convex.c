/* The narrow phase of one world (src/kernels/collide/convex.h) in both precisions: distances against an independent
 * search over directions, witnesses on both surfaces, symmetries, manifolds of flat contacts and degenerate poses. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/model.h>

#include "support/convex_check.h"
#include "support/pose.h"
#include "support/random_model.h"
#include "support/work.h"

static const int types[] = {SAP_SHAPE_SPHERE, SAP_SHAPE_CAPSULE, SAP_SHAPE_ELLIPSOID, SAP_SHAPE_CYLINDER,
                            SAP_SHAPE_BOX,    SAP_SHAPE_CONE,    SAP_SHAPE_HULL};
enum { NUM_TYPES = sizeof types / sizeof *types };

/* What a precision can hold for shapes of about half a metre: distances, and points on curved surfaces under a nearly
 * flat contact, which move much when the normal moves little. Measured maxima are a third of these or less. */
typedef struct Tolerance {
    double distance, surface;
} Tolerance;

static Tolerance tolerance(int precision) {
    return precision == 32 ? (Tolerance){2e-5, 6e-3} : (Tolerance){3e-8, 3e-6};
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

/* ---- distance ---- */

static void check_distance(const Case *c, const SapConvexTask *task, int precision) {
    double d = task->d[0], allowed = tolerance(precision).distance;
    cr_assert(fabs(dot3(task->n[0], task->n[0]) - 1) < (precision == 32 ? 1e-5 : 1e-12));
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

ParameterizedTestParameters(convex, a_face_hardly_wider_than_a_line_has_the_two_ends_of_the_line) {
    return precision_params();
}

/* Points that extend a manifold by less than a thousandth of its length are left out. */
ParameterizedTest(Precision *param, convex, a_face_hardly_wider_than_a_line_has_the_two_ends_of_the_line) {
    static TaskData data;
    TestShape ground = {SAP_SHAPE_BOX, {0.5, 0.5, 0.25}, NULL};
    for (int wide = 0; wide < 2; wide++)
        for (int k = 0; k < 12; k++) {
            TestShape blade = {SAP_SHAPE_BOX, {0.2, wide ? 2e-3 : 5e-5, 0.125}, NULL};
            stack(&data, &ground, &blade, 0.375, 0.3 * k, 0.01, 4, param->bits);
            expect_face(&data, wide ? 4 : 2, 0, 0.399, param->bits);
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
            double n[3] = {axes[0], axes[1], axes[2]}, norm = sqrt(dot3(n, n));
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
            cr_assert(isfinite(data.task.d[i]) && fabs(dot3(data.task.n[i], data.task.n[i]) - 1) < 1e-5);
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

/* The quaternion of a rotation with the columns R[0], R[1], R[2]. */
static void quaternion_of(double R[3][3], double *q) {
    double t = R[0][0] + R[1][1] + R[2][2], m[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            m[i][k] = R[k][i];
    if (t > 0) {
        double s = 2 * sqrt(1 + t);
        q[3] = s / 4;
        q[0] = (m[2][1] - m[1][2]) / s;
        q[1] = (m[0][2] - m[2][0]) / s;
        q[2] = (m[1][0] - m[0][1]) / s;
    } else {
        int i = m[1][1] > m[0][0] ? 1 : 0;
        if (m[2][2] > m[i][i])
            i = 2;
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double s = 2 * sqrt(1 + m[i][i] - m[j][j] - m[k][k]);
        q[i] = s / 4;
        q[j] = (m[j][i] + m[i][j]) / s;
        q[k] = (m[k][i] + m[i][k]) / s;
        q[3] = (m[k][j] - m[j][k]) / s;
    }
}

ParameterizedTestParameters(convex, an_edge_across_the_side_of_a_cone_has_the_closed_form) {
    return precision_params();
}

/* The edge of a box lies across a generator of the cone at its middle, at the angle alpha: the normal is that of the
 * cone there. */
ParameterizedTest(Precision *param, convex, an_edge_across_the_side_of_a_cone_has_the_closed_form) {
    static TaskData data;
    const double r = 0.3, h = 0.4, s = 0.2, L = sqrt(r * r + 4 * h * h), root = sqrt(0.5);
    TestShape box = {SAP_SHAPE_BOX, {s, s, 0.25}, NULL}, cone = {SAP_SHAPE_CONE, {r, h, 0}, NULL};
    for (int i = 0; i < 40; i++) {
        double phi = 0.7 * i, alpha = 0.3 + 0.06 * i, gap = i % 2 ? 0.01 : -0.01;
        double n[3] = {2 * h / L * cos(phi), 2 * h / L * sin(phi), r / L};
        double e[3] = {-r / L * cos(phi), -r / L * sin(phi), 2 * h / L}, t[3] = {-sin(phi), cos(phi), 0};
        double R[3][3], f[3], w[3], at[7], pose[7];
        for (int k = 0; k < 3; k++)
            f[k] = cos(alpha) * e[k] + sin(alpha) * t[k];
        for (int k = 0; k < 3; k++)
            w[k] = -(f[(k + 1) % 3] * n[(k + 2) % 3] - f[(k + 2) % 3] * n[(k + 1) % 3]);
        const double mid[3] = {r / 2 * cos(phi), r / 2 * sin(phi), 0};
        for (int k = 0; k < 3; k++) {
            R[0][k] = root * (-n[k] - w[k]);
            R[1][k] = root * (-n[k] + w[k]);
            R[2][k] = f[k];
            at[k] = mid[k] + gap * n[k] + s / root * n[k];
        }
        quaternion_of(R, at + 3);
        pose_invert(at, pose);
        task_make(&data, &box, &cone, pose, 1, 1);
        run(&data.task, param->bits);
        expect_single(&data, (const double[]){s, s, 0}, (const double[]){root, root, 0}, gap, fine(param->bits));
    }
}

ParameterizedTestParameters(convex, a_corner_on_a_face_has_the_normal_of_the_face) {
    return precision_params();
}

/* b's corner or tip over the inside of a's top face, tilted by up to half a radian, a little above or below it. */
ParameterizedTest(Precision *param, convex, a_corner_on_a_face_has_the_normal_of_the_face) {
    static TaskData data;
    static HullData cube, below;
    hull_of_box(&cube, 0.2, 0.2, 0.2);
    hull_of_box(&below, 0.5, 0.5, 0.25);
    TestShape base[] = {{SAP_SHAPE_BOX, {0.5, 0.5, 0.25}, NULL}, {SAP_SHAPE_HULL, {1, 1, 1}, &below}};
    TestShape top[] = {{SAP_SHAPE_CONE, {0.2, 0.3, 0}, NULL}, {SAP_SHAPE_HULL, {1, 1, 1}, &cube}};
    Random random = random_seed(40);
    for (int i = 0; i < 2000; i++) {
        const TestShape *a = &base[i % 2], *b = &top[i % 2 ? 1 : i / 2 % 2];
        double pose[7], least = 1e-3 * pow(10, -3 * random_between(&random, 0, 1)) * (i / 4 % 2 ? 1 : -1);
        pose_random(&random, 0.1, pose);
        const double up[3] = {0, 0, 1};
        pose[2] = 0;
        pose[2] = least - separation(a, b, pose, up);
        task_make(&data, a, b, pose, 0.1, 1);
        run(&data.task, param->bits);
        cr_assert_eq(data.task.count, 1);
        double across = hypot(data.task.n[0][0], data.task.n[0][1]);
        cr_assert(across < (param->bits == 32 ? 1e-6 : 1e-14), "%d, gap %g: normal is %g off", i, least, across);
    }
}
