/* The closed-form narrow phase (src/kernels/narrow_*.h, manifold.h) in every lane count and both precisions.
 *
 * For convex shapes the signed distance is the largest separation over all directions, sep(n) = -h_1(-n) - h_0(n) with
 * h the support function. That is the oracle: a result (n, d) is right if sep(n) = d and no direction gives more.
 * Tolerances are in units of the shapes' size, which is about 1: 1e-12 for f64 and 5e-6 for f32, ten times what was
 * measured. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/model.h>

#include "support/narrow_kernels.h"
#include "support/random_model.h"

enum { CASES = 240, DIRECTIONS = 600, VERTICES = 30 };

typedef struct Vec {
    double x, y, z;
} Vec;

static Vec vec(const double *v) {
    return (Vec){v[0], v[1], v[2]};
}
static Vec plus(Vec a, double s, Vec b) {
    return (Vec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static double dot(Vec a, Vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static Vec cross(Vec a, Vec b) {
    return (Vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static double length(Vec a) {
    return sqrt(dot(a, a));
}
static Vec rotate(const double *q, double sign, Vec v) {
    Vec u = {sign * q[0], sign * q[1], sign * q[2]}, zero = {0, 0, 0};
    Vec t = plus(zero, 2, cross(u, v));
    return plus(plus(v, q[3], t), 1, cross(u, t));
}

/* ---- shapes: support points and distances from the surface ---- */

static double hull_vertex[3 * VERTICES];

static Vec support(int type, const double *s, Vec n) {
    double rho = hypot(n.x, n.y), c = rho > 0 ? n.x / rho : 0, k = rho > 0 ? n.y / rho : 0;
    Vec r = {0, 0, 0}, m = {s[0] * n.x, s[1] * n.y, s[2] * n.z};
    switch (type) {
    case SAP_SHAPE_SPHERE: return plus(r, s[0] / length(n), n);
    case SAP_SHAPE_CAPSULE: r.z = copysign(s[1], n.z); return plus(r, s[0] / length(n), n);
    case SAP_SHAPE_ELLIPSOID: return (Vec){s[0] * m.x / length(m), s[1] * m.y / length(m), s[2] * m.z / length(m)};
    case SAP_SHAPE_CYLINDER: return (Vec){s[0] * c, s[0] * k, copysign(s[1], n.z)};
    case SAP_SHAPE_BOX: return (Vec){copysign(s[0], n.x), copysign(s[1], n.y), copysign(s[2], n.z)};
    case SAP_SHAPE_CONE:
        if (s[1] * n.z > rho * s[0] - s[1] * n.z)
            return (Vec){0, 0, s[1]};
        return (Vec){s[0] * c, s[0] * k, -s[1]};
    case SAP_SHAPE_HULL:
        r = vec(hull_vertex);
        for (int i = 1; i < VERTICES; i++)
            r = dot(vec(&hull_vertex[3 * i]), n) > dot(r, n) ? vec(&hull_vertex[3 * i]) : r;
    }
    return r;
}

static double separation(const NarrowPair *pair, const NarrowCase *c, Vec n) {
    Vec away = {-n.x, -n.y, -n.z};
    Vec x = rotate(c->pose + 3, 1, support(pair->type[1], c->size[1], rotate(c->pose + 3, -1, away)));
    x = plus(x, 1, vec(c->pose));
    if (pair->type[0] != SAP_SHAPE_PLANE)
        x = plus(x, -1, support(pair->type[0], c->size[0], n));
    return dot(x, n);
}

/* How far y is from the surface; a hull's is not known here. */
static double off_surface(int type, const double *s, Vec y) {
    double rho = hypot(y.x, y.y);
    Vec e = {fabs(y.x) - s[0], fabs(y.y) - s[1], fabs(y.z) - s[2]}, m = {y.x / s[0], y.y / s[1], y.z / s[2]};
    switch (type) {
    case SAP_SHAPE_PLANE: return fabs(y.z);
    case SAP_SHAPE_SPHERE: return fabs(length(y) - s[0]);
    case SAP_SHAPE_CAPSULE: return fabs(hypot(rho, fmax(fabs(y.z) - s[1], 0)) - s[0]);
    case SAP_SHAPE_ELLIPSOID: return fabs(length(m) - 1) * fmin(s[0], fmin(s[1], s[2]));
    case SAP_SHAPE_CYLINDER: e = (Vec){rho - s[0], fabs(y.z) - s[1], -1e9}; break;
    case SAP_SHAPE_BOX: break;
    case SAP_SHAPE_CONE:
        e = (Vec){(2 * s[1] * rho + s[0] * (y.z - s[1])) / hypot(s[0], 2 * s[1]), -s[1] - y.z, -1e9};
        break;
    default: return 0;
    }
    return fabs(fmax(e.x, fmax(e.y, e.z)));
}

/* ---- pairs and cases ---- */

static const int pairs[][2] = {
    {SAP_SHAPE_PLANE, SAP_SHAPE_SPHERE},    {SAP_SHAPE_PLANE, SAP_SHAPE_CAPSULE},
    {SAP_SHAPE_PLANE, SAP_SHAPE_ELLIPSOID}, {SAP_SHAPE_PLANE, SAP_SHAPE_CYLINDER},
    {SAP_SHAPE_PLANE, SAP_SHAPE_BOX},       {SAP_SHAPE_PLANE, SAP_SHAPE_CONE},
    {SAP_SHAPE_PLANE, SAP_SHAPE_HULL},      {SAP_SHAPE_SPHERE, SAP_SHAPE_SPHERE},
    {SAP_SHAPE_SPHERE, SAP_SHAPE_CAPSULE},  {SAP_SHAPE_SPHERE, SAP_SHAPE_ELLIPSOID},
    {SAP_SHAPE_SPHERE, SAP_SHAPE_CYLINDER}, {SAP_SHAPE_SPHERE, SAP_SHAPE_BOX},
    {SAP_SHAPE_SPHERE, SAP_SHAPE_CONE},     {SAP_SHAPE_CAPSULE, SAP_SHAPE_CAPSULE},
    {SAP_SHAPE_CAPSULE, SAP_SHAPE_BOX},     {SAP_SHAPE_BOX, SAP_SHAPE_BOX},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static NarrowFn *const builds[2][3] = {{narrow_x1_f32, narrow_x4_f32, narrow_x8_f32},
                                       {narrow_x1_f64, narrow_x4_f64, narrow_x8_f64}};
static const double tolerance[2] = {5e-6, 1e-12};

static NarrowPair make_pair(int a, int b) {
    Random random = random_seed(7);
    for (int i = 0; i < 3 * VERTICES; i++)
        hull_vertex[i] = random_between(&random, -1, 1);
    return (NarrowPair){{a, b}, 4, hull_vertex, b == SAP_SHAPE_HULL ? VERTICES : 0};
}

static void unit_quaternion(double *q) {
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; k++)
        q[k] /= norm;
}

/* Sizes 0.2 .. 1.5, apart or deep in each other; every sort of special pose is among them when `special`. */
static void fill_cases(NarrowCase *cases, int n, uint64_t seed, bool special) {
    Random random = random_seed(seed);
    for (int i = 0; i < n; i++) {
        NarrowCase *c = &cases[i];
        int sort = special ? i % 8 : 7;
        for (int k = 0; k < 6; k++)
            c->size[k / 3][k % 3] = sort == 0 ? 1 : random_between(&random, 0.2, 1.5);
        for (int k = 0; k < 3; k++)
            c->pose[k] = random_between(&random, -1, 1) * (i % 3 + 0.5);
        for (int k = 0; k < 4; k++) /* 1: quarter turns, 2: almost none */
            c->pose[3 + k] = sort == 1 ? random_below(&random, 2) : random_between(&random, -1, 1);
        if (sort == 2)
            c->pose[6] = 1e6;
        if (sort < 2)
            c->pose[6] = 1;
        if (sort >= 3 && sort <= 5) /* a centre on a plane of symmetry */
            c->pose[sort - 3] = 0;
        unit_quaternion(c->pose + 3);
    }
}

static int deepest(const NarrowResult *r) {
    int best = 0;
    for (int i = 1; i < r->count; i++)
        best = r->d[i] < r->d[best] ? i : best;
    return best;
}

/* Directions evenly over the sphere. */
static Vec direction(int i) {
    double z = 1 - (2 * i + 1.0) / DIRECTIONS, r = sqrt(1 - z * z), turn = i * 2.399963229728653;
    return (Vec){r * cos(turn), r * sin(turn), z};
}

/* ---- claims for every pair ---- */

ParameterizedTestParameters(narrow, the_deepest_point_has_the_signed_distance) {
    static int index[PAIRS];
    for (int i = 0; i < PAIRS; i++)
        index[i] = i;
    return cr_make_param_array(int, index, PAIRS);
}

ParameterizedTest(int *at, narrow, the_deepest_point_has_the_signed_distance) {
    NarrowPair pair = make_pair(pairs[*at][0], pairs[*at][1]);
    static NarrowCase cases[CASES];
    static NarrowResult results[CASES];
    fill_cases(cases, CASES, 1, false);
    for (int f64 = 0; f64 < 2; f64++) {
        builds[f64][2](&pair, cases, CASES, results);
        for (int i = 0; i < CASES; i++) {
            if (results[i].redo)
                continue;
            cr_assert_geq(results[i].count, 1, "pair %d case %d", *at, i);
            int k = deepest(&results[i]);
            double d = results[i].d[k], along = separation(&pair, &cases[i], vec(results[i].n[k]));
            cr_assert(fabs(along - d) < 10 * tolerance[f64], "pair %d case %d: d %g, along n %g", *at, i, d, along);
            for (int j = 0; j < DIRECTIONS && pair.type[0] != SAP_SHAPE_PLANE; j++)
                cr_assert(separation(&pair, &cases[i], direction(j)) < d + tolerance[f64], "pair %d case %d", *at, i);
        }
    }
}

/* The upper end of a steep capsule over a plane is inside it, and points along an overlap are off by the square of the
 * angle. */
static double surface_tolerance(const NarrowPair *pair, int f64) {
    return pair->type[0] == SAP_SHAPE_CAPSULE ? 2e-3 : tolerance[f64];
}

ParameterizedTestParameters(narrow, points_lie_on_both_surfaces) {
    static int index[PAIRS];
    for (int i = 0; i < PAIRS; i++)
        index[i] = i;
    return cr_make_param_array(int, index, PAIRS);
}

ParameterizedTest(int *at, narrow, points_lie_on_both_surfaces) {
    NarrowPair pair = make_pair(pairs[*at][0], pairs[*at][1]);
    static NarrowCase cases[CASES];
    static NarrowResult results[CASES];
    fill_cases(cases, CASES, 2, true);
    for (int f64 = 0; f64 < 2; f64++) {
        builds[f64][2](&pair, cases, CASES, results);
        for (int i = 0; i < CASES; i++) {
            const NarrowResult *r = &results[i];
            int first = 0, last = r->count;
            if (pair.type[0] == SAP_SHAPE_PLANE && pair.type[1] == SAP_SHAPE_CAPSULE)
                first = deepest(r), last = first + 1;
            for (int k = first; k < last && !r->redo; k++) {
                Vec n = vec(r->n[k]), x1 = plus(plus(vec(r->p[k]), r->d[k], n), -1, vec(cases[i].pose));
                cr_assert(fabs(length(n) - 1) < tolerance[f64]);
                double off0 = off_surface(pair.type[0], cases[i].size[0], vec(r->p[k]));
                double off1 = off_surface(pair.type[1], cases[i].size[1], rotate(cases[i].pose + 3, -1, x1));
                cr_assert(off0 < surface_tolerance(&pair, f64), "pair %d case %d point %d: %g", *at, i, k, off0);
                cr_assert(off1 < surface_tolerance(&pair, f64) * 10, "pair %d case %d point %d: %g", *at, i, k, off1);
            }
        }
    }
}

Test(narrow, every_lane_count_gives_the_same_bits) {
    static NarrowCase cases[CASES];
    static NarrowResult one[CASES], other[CASES];
    const int counts[] = {CASES, CASES - 3};
    for (int at = 0; at < PAIRS; at++) {
        NarrowPair pair = make_pair(pairs[at][0], pairs[at][1]);
        fill_cases(cases, CASES, 3, true);
        cases[1].pose[0] = NAN; /* its neighbours must not notice */
        for (int f64 = 0; f64 < 2; f64++) {
            builds[f64][0](&pair, cases, CASES, one);
            for (int lanes = 1; lanes < 3; lanes++) {
                int n = counts[lanes - 1];
                builds[f64][lanes](&pair, cases, n, other);
                for (int i = 2; i < n; i++)
                    cr_assert_arr_eq(&one[i], &other[i], sizeof one[i], "pair %d case %d", at, i);
            }
        }
    }
}

/* ---- closed forms and degenerate positions ---- */

typedef struct Known {
    int type[2];
    NarrowCase at;
    int count;
    double d, n[3];
} Known;

#define ROOT_HALF 0.70710678118654752
static const Known known[] = {
    /* touching, apart, and with one centre */
    {{SAP_SHAPE_SPHERE, SAP_SHAPE_SPHERE}, {{{1}, {2}}, {0, 4, 0, 0, 0, 0, 1}}, 1, 1, {0, 1, 0}},
    {{SAP_SHAPE_SPHERE, SAP_SHAPE_SPHERE}, {{{1}, {2}}, {0, 0, 0, 0, 0, 0, 1}}, 1, -3, {0, 0, 1}},
    /* a centre on the axis leaves across it */
    {{SAP_SHAPE_SPHERE, SAP_SHAPE_CAPSULE}, {{{1}, {0.5, 2}}, {0, 0, 1, 0, 0, 0, 1}}, 1, -1.5, {1, 0, 0}},
    {{SAP_SHAPE_SPHERE, SAP_SHAPE_CAPSULE}, {{{1}, {0.5, 2}}, {0, 0, 4, 0, 0, 0, 1}}, 1, 0.5, {0, 0, 1}},
    /* at a box's centre the nearest face counts; of equal ones z */
    {{SAP_SHAPE_SPHERE, SAP_SHAPE_BOX}, {{{1}, {3, 2, 4}}, {0, 0, 0, 0, 0, 0, 1}}, 1, -3, {0, -1, 0}},
    {{SAP_SHAPE_SPHERE, SAP_SHAPE_BOX}, {{{1}, {2, 2, 2}}, {0, 0, 0, 0, 0, 0, 1}}, 1, -3, {0, 0, -1}},
    {{SAP_SHAPE_SPHERE, SAP_SHAPE_CYLINDER}, {{{1}, {2, 3}}, {0, 0, 0, 0, 0, 0, 1}}, 1, -3, {-1, 0, 0}},
    /* over the tip of a cone, and under its base */
    {{SAP_SHAPE_SPHERE, SAP_SHAPE_CONE}, {{{1}, {2, 3}}, {0, 0, -5, 0, 0, 0, 1}}, 1, 1, {0, 0, -1}},
    {{SAP_SHAPE_SPHERE, SAP_SHAPE_CONE}, {{{1}, {2, 3}}, {0, 0, 5, 0, 0, 0, 1}}, 1, 1, {0, 0, 1}},
    /* at an ellipsoid's centre the shortest radius counts */
    {{SAP_SHAPE_SPHERE, SAP_SHAPE_ELLIPSOID}, {{{1}, {3, 0.01, 4}}, {0, 0, 0, 0, 0, 0, 1}}, 1, -1.01, {0, -1, 0}},
    {{SAP_SHAPE_SPHERE, SAP_SHAPE_ELLIPSOID}, {{{1}, {3, 2, 4}}, {0, 0, -7, 0, 0, 0, 1}}, 1, 2, {0, 0, -1}},
    /* crossing, side by side, one behind the other, within each other */
    {{SAP_SHAPE_CAPSULE, SAP_SHAPE_CAPSULE},
     {{{1, 2}, {0.5, 2}}, {3, 0, 0, ROOT_HALF, 0, 0, ROOT_HALF}},
     1,
     1.5,
     {1, 0, 0}},
    {{SAP_SHAPE_CAPSULE, SAP_SHAPE_CAPSULE}, {{{1, 2}, {0.5, 2}}, {0, 3, 1, 0, 0, 0, 1}}, 2, 1.5, {0, 1, 0}},
    {{SAP_SHAPE_CAPSULE, SAP_SHAPE_CAPSULE}, {{{1, 2}, {0.5, 2}}, {0, 0, -6, 0, 0, 0, 1}}, 1, 0.5, {0, 0, -1}},
    {{SAP_SHAPE_CAPSULE, SAP_SHAPE_CAPSULE}, {{{1, 2}, {0.5, 2}}, {0, 0, 1, 0, 0, 0, 1}}, 2, -1.5, {1, 0, 0}},
    {{SAP_SHAPE_CAPSULE, SAP_SHAPE_CAPSULE},
     {{{1, 2}, {0.5, 2}}, {0, 0, 0, ROOT_HALF, 0, 0, ROOT_HALF}},
     1,
     -1.5,
     {1, 0, 0}},
    /* along a face, and through the middle */
    {{SAP_SHAPE_CAPSULE, SAP_SHAPE_BOX}, {{{1, 2}, {3, 3, 3}}, {4, 0, 0, 0, 0, 0, 1}}, 2, 0, {1, 0, 0}},
    {{SAP_SHAPE_CAPSULE, SAP_SHAPE_BOX}, {{{1, 2}, {3, 2, 9}}, {0, 0, 0, 0, 0, 0, 1}}, 2, -3, {0, -1, 0}},
    /* face on face, and two edges across each other */
    {{SAP_SHAPE_BOX, SAP_SHAPE_BOX}, {{{1, 1, 1}, {2, 2, 2}}, {0.5, 0, 2.75, 0, 0, 0, 1}}, 4, -0.25, {0, 0, 1}},
    {{SAP_SHAPE_BOX, SAP_SHAPE_BOX}, {{{1, 1, 1}, {1, 1, 1}}, {0, 0, 0, 0, 0, 0, 1}}, 4, -2, {0, 0, 1}},
    /* standing and lying */
    {{SAP_SHAPE_PLANE, SAP_SHAPE_CYLINDER}, {{{0}, {1, 2}}, {5, 5, 1.5, 0, 0, 0, 1}}, 4, -0.5, {0, 0, 1}},
    {{SAP_SHAPE_PLANE, SAP_SHAPE_CONE}, {{{0}, {1, 2}}, {5, 5, 1.5, 0, 0, 0, 1}}, 4, -0.5, {0, 0, 1}},
    {{SAP_SHAPE_PLANE, SAP_SHAPE_BOX}, {{{0}, {1, 2, 3}}, {5, 5, 2.5, 0, 0, 0, 1}}, 4, -0.5, {0, 0, 1}},
};
enum { NUM_KNOWN = sizeof known / sizeof *known };

Test(narrow, known_positions_have_their_known_answers) {
    for (int i = 0; i < NUM_KNOWN; i++) {
        NarrowPair pair = make_pair(known[i].type[0], known[i].type[1]);
        NarrowResult r;
        for (int f64 = 0; f64 < 2; f64++) {
            builds[f64][0](&pair, &known[i].at, 1, &r);
            cr_assert_eq(r.count, known[i].count, "case %d has %d points", i, r.count);
            int k = deepest(&r);
            cr_assert(fabs(r.d[k] - known[i].d) < tolerance[f64], "case %d: d = %g", i, r.d[k]);
            Vec n = vec(r.n[k]);
            cr_assert(length(plus(n, -1, vec(known[i].n))) < tolerance[f64], "case %d: n = %g %g %g", i, n.x, n.y, n.z);
        }
    }
}

/* Axes along z, in the same or the opposite direction, 3 apart in y: the overlap is the common part of their ranges of
 * z. */
Test(narrow, parallel_capsules_touch_at_both_ends_of_their_overlap) {
    static const double half[] = {0.5, 2, 3}, shift[] = {-2.25, -0.75, 0.25, 1.75};
    NarrowPair pair = make_pair(SAP_SHAPE_CAPSULE, SAP_SHAPE_CAPSULE);
    for (int i = 0; i < 3 * 4 * 2 * 2; i++) {
        double h = half[i % 3], z = shift[i / 3 % 4], low = fmax(-2, z - h), high = fmin(2, z + h);
        int turned = i / 12 % 2;
        NarrowCase c = {{{1, 2}, {0.5, h}}, {0, 3, z, turned, 0, 0, !turned}};
        NarrowResult r;
        builds[i / 24][0](&pair, &c, 1, &r);
        cr_assert_eq(r.count, 2, "half length %g at %g: %d points", h, z, r.count);
        cr_expect(fabs(fmin(r.p[0][2], r.p[1][2]) - low) < 5e-6 && fabs(fmax(r.p[0][2], r.p[1][2]) - high) < 5e-6,
                  "half length %g at %g: ends %g and %g, not %g and %g", h, z, r.p[0][2], r.p[1][2], low, high);
    }
}

/* Tilted by a hundredth, one end is nearer than the other; it is the nearest point too, and counts once. */
Test(narrow, nearly_parallel_capsules_touch_at_both_ends_in_the_order_of_z) {
    NarrowPair pair = make_pair(SAP_SHAPE_CAPSULE, SAP_SHAPE_CAPSULE);
    for (int i = 0; i < 4; i++) {
        double tilt = i % 2 ? 0.01 : -0.01;
        NarrowCase c = {{{1, 2}, {0.5, 1.5}}, {0, 3, 0.25, sin(tilt / 2), 0, 0, cos(tilt / 2)}};
        NarrowResult r;
        builds[i / 2][0](&pair, &c, 1, &r);
        cr_assert_eq(r.count, 2, "tilt %g: %d points", tilt, r.count);
        cr_expect(r.p[0][2] < -1 && r.p[1][2] > 1.5, "tilt %g: ends %g and %g", tilt, r.p[0][2], r.p[1][2]);
    }
}

Test(narrow, very_flat_ellipsoids_are_solved_too) {
    NarrowPair pair = make_pair(SAP_SHAPE_SPHERE, SAP_SHAPE_ELLIPSOID);
    static NarrowCase cases[CASES];
    static NarrowResult results[CASES];
    fill_cases(cases, CASES, 4, true);
    for (int i = 0; i < CASES; i++)
        cases[i].size[1][i % 3] *= i % 2 ? 1e-3 : 1e3;
    narrow_x8_f64(&pair, cases, CASES, results);
    for (int i = 0; i < CASES; i++) {
        double along = separation(&pair, &cases[i], vec(results[i].n[0])), d = results[i].d[0];
        cr_assert(fabs(along - d) < 1e-10, "case %d: %g against %g", i, along, d);
        for (int j = 0; j < DIRECTIONS; j++)
            cr_assert(separation(&pair, &cases[i], direction(j)) < d + 1e-10, "case %d", i);
    }
}

Test(narrow, a_lying_cylinder_rests_on_both_ends) {
    NarrowPair pair = make_pair(SAP_SHAPE_PLANE, SAP_SHAPE_CYLINDER);
    NarrowCase c = {{{0}, {1, 2}}, {0, 0, 1, ROOT_HALF, 0, 0, ROOT_HALF}};
    NarrowResult r;
    narrow_x8_f64(&pair, &c, 1, &r);
    cr_assert(fabs(r.d[0]) < 1e-12 && fabs(r.d[1]) < 1e-12 && fabs(fabs(r.p[0][1] - r.p[1][1]) - 4) < 1e-12);
    cr_assert(r.d[2] > 0.9 && r.d[3] > 0.9);
}

/* ---- the manifold of boxes ---- */

/* A square on a square, turned by an eighth: they have an octagon in common. */
Test(narrow, a_manifold_has_as_many_points_as_asked_for) {
    NarrowCase c = {{{1, 1, 1}, {1, 1, 1}}, {0, 0, 1.9, 0, 0, 0.38268343236508977, 0.92387953251128674}};
    NarrowPair pair = make_pair(SAP_SHAPE_BOX, SAP_SHAPE_BOX);
    NarrowResult r;
    for (int max = 1; max <= NARROW_MAX; max++) {
        pair.max_contacts = max;
        for (int f64 = 0; f64 < 2; f64++) {
            builds[f64][2](&pair, &c, 1, &r);
            cr_assert_eq(r.count, max, "%d points of %d", r.count, max);
            for (int i = 0; i < max; i++)
                for (int j = 0; j < i; j++)
                    cr_assert_gt(length(plus(vec(r.p[i]), -1, vec(r.p[j]))), 0.5);
        }
    }
}

Test(narrow, resting_boxes_have_four_corners_however_little_they_tilt) {
    NarrowPair pair = make_pair(SAP_SHAPE_BOX, SAP_SHAPE_BOX);
    Random random = random_seed(5);
    for (int i = 0; i < CASES; i++) {
        double tilt = pow(10, random_between(&random, -16, -3));
        NarrowCase c = {{{1, 1, 1}, {0.5, 0.5, 0.5}}, {0.1, 0.2, 1.499, 0, 0, 0, 1}};
        c.pose[3] = tilt * random_between(&random, -1, 1);
        c.pose[4] = tilt * random_between(&random, -1, 1);
        unit_quaternion(c.pose + 3);
        NarrowResult r;
        for (int f64 = 0; f64 < 2; f64++) {
            builds[f64][2](&pair, &c, 1, &r);
            cr_assert_eq(r.count, 4, "tilt %g: %d points", tilt, r.count);
            for (int k = 0; k < 4; k++)
                cr_assert(fabs(fabs(r.p[k][0] - 0.1) - 0.5) < 0.01 && fabs(fabs(r.p[k][1] - 0.2) - 0.5) < 0.01);
        }
    }
}

/* The best of the directions of faces, or of edges, in f64. */
typedef struct BestDirection {
    double separation, cosine; /* cosine: of the larger of the angles to the nearest face normals of the two boxes */
} BestDirection;

static double largest_component(Vec n) {
    return fmax(fabs(n.x), fmax(fabs(n.y), fabs(n.z)));
}

static BestDirection best_of_directions(const NarrowPair *pair, const NarrowCase *c, bool edges) {
    const Vec e[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    BestDirection best = {-INFINITY, 0};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < (edges ? 3 : 1); j++) {
            Vec n = i < 3 ? e[i] : rotate(c->pose + 3, 1, e[i - 3]);
            if (edges)
                n = cross(e[i % 3], rotate(c->pose + 3, 1, e[j]));
            double norm = length(n) * (dot(n, vec(c->pose)) < 0 ? -1 : 1);
            if (fabs(norm) <= 1e-7)
                continue;
            n = (Vec){n.x / norm, n.y / norm, n.z / norm};
            double s = separation(pair, c, n);
            if (s > best.separation)
                best = (BestDirection){s, fmin(largest_component(n), largest_component(rotate(c->pose + 3, -1, n)))};
        }
    return best;
}

/* Two unit cubes, one over the other and rocked by about `tilt`. */
static NarrowCase rocked_cubes(Random *random, double tilt) {
    NarrowCase c = {{{1, 1, 1}, {1, 1, 1}}, {0, 0, 1.999, 0, 0, 0, 1}};
    for (int k = 0; k < 2; k++) {
        c.pose[k] = random_between(random, -1.6, 1.6);
        c.pose[3 + k] = tilt * random_between(random, -1, 1);
    }
    c.pose[5] = random_between(random, -0.4, 0.4);
    unit_quaternion(c.pose + 3);
    return c;
}

Test(narrow, an_edge_direction_along_parallel_faces_must_be_better_by_1e_5_of_the_sizes) {
    NarrowPair pair = make_pair(SAP_SHAPE_BOX, SAP_SHAPE_BOX);
    Random random = random_seed(8);
    int faces = 0, edges = 0, without = 0;
    for (int i = 0; i < CASES; i++) {
        double tilt = pow(10, random_between(&random, -9, -1));
        NarrowCase c = rocked_cubes(&random, tilt);
        BestDirection face = best_of_directions(&pair, &c, false), edge = best_of_directions(&pair, &c, true);
        bool parallel = edge.cosine > 0.99995; /* 0.01 rad */
        double least = face.separation + (parallel ? 1e-5 * 6 : 0);
        NarrowResult r;
        narrow_x8_f64(&pair, &c, 1, &r);
        if (edge.separation < least - 1e-12) { /* a polygon, normal to a face */
            bool of_0 = r.n[0][2] == 1;
            Vec n = rotate(c.pose + 3, -1, vec(r.n[0]));
            bool apart = face.separation > 0;
            cr_assert((apart && r.redo) || (!r.redo && (of_0 || fabs(n.z - 1) < 1e-15)), "tilt %g", tilt);
            faces++;
        } else if (edge.separation > least + 1e-12 && edge.cosine > 0.97) { /* the general method */
            cr_assert(r.redo, "tilt %g", tilt);
            edges++;
            without += !parallel && edge.separation < face.separation + 1e-5 * 6;
        }
    }
    cr_assert(faces > 100 && edges > 5, "%d cases of faces and %d of edges", faces, edges);
    cr_assert(without > 0, "no case that the tie would decide if the faces were parallel");
}

/* The pose of shape 0 in the frame of shape 1. */
static NarrowCase swapped(const NarrowCase *c) {
    NarrowCase s;
    memcpy(s.size[0], c->size[1], sizeof s.size[0]);
    memcpy(s.size[1], c->size[0], sizeof s.size[1]);
    Vec p = rotate(c->pose + 3, -1, vec(c->pose));
    double pose[7] = {-p.x, -p.y, -p.z, -c->pose[3], -c->pose[4], -c->pose[5], c->pose[6]};
    memcpy(s.pose, pose, sizeof pose);
    return s;
}

static void compare_swapped(const NarrowCase *c, const NarrowResult *r, const NarrowResult *s) {
    cr_assert(r->count == s->count && r->redo == s->redo);
    for (int k = 0; k < r->count && !r->redo; k++) {
        double nearest = INFINITY;
        Vec x1 = plus(vec(r->p[k]), r->d[k], vec(r->n[k]));
        for (int j = 0; j < s->count; j++) {
            Vec p = plus(vec(c->pose), 1, rotate(c->pose + 3, 1, vec(s->p[j])));
            Vec n = rotate(c->pose + 3, 1, vec(s->n[j]));
            double off = length(plus(x1, -1, p)) + length(plus(n, 1, vec(r->n[k]))) + fabs(r->d[k] - s->d[j]);
            nearest = fmin(nearest, off);
        }
        cr_assert_lt(nearest, 1e-10, "a point is off by %g", nearest);
    }
}

Test(narrow, swapping_two_shapes_of_a_kind_turns_the_normal_round) {
    const int types[] = {SAP_SHAPE_SPHERE, SAP_SHAPE_CAPSULE, SAP_SHAPE_BOX};
    static NarrowCase cases[CASES], other[CASES];
    static NarrowResult results[CASES], turned[CASES];
    for (int t = 0; t < 3; t++) {
        NarrowPair pair = make_pair(types[t], types[t]);
        fill_cases(cases, CASES, 6, false);
        for (int i = 0; i < CASES; i++)
            other[i] = swapped(&cases[i]);
        narrow_x8_f64(&pair, cases, CASES, results);
        narrow_x8_f64(&pair, other, CASES, turned);
        for (int i = 0; i < CASES; i++)
            compare_swapped(&cases[i], &results[i], &turned[i]);
    }
}

/* Boxes that are apart: where the face or edge found is not the nearest feature it says so, and only there. */
Test(narrow, boxes_apart_ask_for_another_method_only_where_the_distance_is_more_than_the_separation) {
    NarrowPair pair = make_pair(SAP_SHAPE_BOX, SAP_SHAPE_BOX);
    const NarrowCase cases[] = {
        {{{1, 1, 1}, {1, 1, 1}}, {0, 0, 3, 0, 0, 0, 1}},                       /* face over face */
        {{{1, 1, 1}, {1, 1, 1}}, {3, 0, 3, 0, 0, 0, 1}},                       /* edge beside edge */
        {{{1, 1, 1}, {1, 1, 1}}, {3, 3, 3, 0, 0, 0, 1}},                       /* corner to corner */
        {{{1, 1, 1}, {1, 1, 1}}, {0, 0, 3, 0.3, 0.3, 0, 0.90553851381374166}}, /* corner over face */
        {{{1, 1, 1}, {1, 1, 1}}, {1.5, 1.5, 1.5, 0, 0, 0, 1}},                 /* in each other */
    };
    const int redo[] = {0, 1, 1, 0, 0};
    NarrowResult results[5];
    for (int f64 = 0; f64 < 2; f64++) {
        builds[f64][1](&pair, cases, 5, results);
        for (int i = 0; i < 5; i++)
            cr_assert_eq(results[i].redo, redo[i], "case %d", i);
    }
}
