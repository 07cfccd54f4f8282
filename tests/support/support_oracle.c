/* A slow distance of two convex shapes: see support_oracle.h. In long double: f is flat at a minimum, and the direction
 * is known to the root of f's rounding only. */
#include "support/support_oracle.h"

#include <math.h>
#include <stdlib.h>

typedef long double Long;

typedef struct Pose {
    Long R[3][3], p[3];
} Pose;

typedef struct Problem {
    const TestShape *shape[2];
    Pose X[2];
    Long c[3]; /* p1 - p0 */
} Problem;

static Pose pose_of(const double X[7]) {
    Long x = X[3], y = X[4], z = X[5], w = X[6], s = 2 / (x * x + y * y + z * z + w * w);
    return (Pose){{{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                   {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
                   {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}},
                  {X[0], X[1], X[2]}};
}

static Problem problem_of(const TestShape *a, const double X0[7], const TestShape *b, const double X1[7]) {
    Problem problem = {{a, b}, {pose_of(X0), pose_of(X1)}, {0}};
    for (int i = 0; i < 3; i++)
        problem.c[i] = problem.X[1].p[i] - problem.X[0].p[i];
    return problem;
}

static Long hull_support(const TestShape *shape, const Long *n) {
    Long most = -INFINITY;
    for (int v = 0; v < shape->num_vertices; v++) {
        const double *p = shape->vertex[v];
        most = fmaxl(most, p[0] * n[0] + p[1] * n[1] + p[2] * n[2]);
    }
    return most;
}

/* h(n) = max of n.x over the shape, n in its frame. */
static Long support_function(const TestShape *shape, const Long *n) {
    const double *s = shape->size;
    Long rho = sqrtl(n[0] * n[0] + n[1] * n[1]);
    switch (shape->type) {
    case SAP_SHAPE_SPHERE: return s[0] * sqrtl(rho * rho + n[2] * n[2]);
    case SAP_SHAPE_CAPSULE: return s[0] * sqrtl(rho * rho + n[2] * n[2]) + s[1] * fabsl(n[2]);
    case SAP_SHAPE_ELLIPSOID: {
        Long x = s[0] * n[0], y = s[1] * n[1], z = s[2] * n[2];
        return sqrtl(x * x + y * y + z * z);
    }
    case SAP_SHAPE_CYLINDER: return s[0] * rho + s[1] * fabsl(n[2]);
    case SAP_SHAPE_BOX: return s[0] * fabsl(n[0]) + s[1] * fabsl(n[1]) + s[2] * fabsl(n[2]);
    case SAP_SHAPE_CONE: return fmaxl(s[1] * n[2], s[0] * rho - s[1] * n[2]);
    case SAP_SHAPE_HULL: return hull_support(shape, n);
    default: return INFINITY;
    }
}

static Long f(const Problem *problem, const Long *n) {
    Long sum = 0;
    for (int side = 0; side < 2; side++) {
        Long local[3];
        for (int i = 0; i < 3; i++) {
            local[i] = 0;
            for (int j = 0; j < 3; j++)
                local[i] += problem->X[side].R[j][i] * (side == 0 ? n[j] : -n[j]);
        }
        sum += support_function(problem->shape[side], local);
    }
    return sum - n[0] * problem->c[0] - n[1] * problem->c[1] - n[2] * problem->c[2];
}

/* ---- search ---- */

typedef struct Direction {
    Long n[3], value;
} Direction;

static Long along(const Long *a, const Long *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Two unit vectors orthogonal to n and to each other. */
static void tangents(const Long *n, Long *u, Long *v) {
    int least = fabsl(n[0]) <= fabsl(n[1]) ? 0 : 1;
    if (fabsl(n[2]) < fabsl(n[least]))
        least = 2;
    int j = (least + 1) % 3, k = (least + 2) % 3;
    Long size = sqrtl(n[j] * n[j] + n[k] * n[k]);
    u[least] = 0;
    u[j] = n[k] / size;
    u[k] = -n[j] / size;
    for (int i = 0; i < 3; i++)
        v[i] = n[(i + 1) % 3] * u[(i + 2) % 3] - n[(i + 2) % 3] * u[(i + 1) % 3];
}

/* Directions near n: n + a u + b v, made unit. */
typedef struct Chart {
    const Problem *problem;
    Long n[3], u[3], v[3];
} Chart;

static Chart chart_at(const Problem *problem, const Long *n) {
    Chart chart = {.problem = problem, .n = {n[0], n[1], n[2]}};
    tangents(n, chart.u, chart.v);
    return chart;
}

static Direction chart_direction(const Chart *chart, Long a, Long b) {
    Direction out;
    for (int i = 0; i < 3; i++)
        out.n[i] = chart->n[i] + a * chart->u[i] + b * chart->v[i];
    Long norm = sqrtl(along(out.n, out.n));
    for (int i = 0; i < 3; i++)
        out.n[i] /= norm;
    out.value = f(chart->problem, out.n);
    return out;
}

static Direction neighbour(const Problem *problem, const Long *n, Long radius, Long angle) {
    Chart chart = chart_at(problem, n);
    return chart_direction(&chart, radius * cosl(angle), radius * sinl(angle));
}

/* Pattern search: the best of eight neighbours in a frame that turns from round to round; smaller steps where none is
 * better. It finds the basin; in a valley with a sharp bottom it may stop before the end. */
static Direction descend(const Problem *problem, Direction best, Long radius) {
    for (int round = 0; round < 60 && radius > 1e-4L; round++) {
        Direction from = best;
        for (int k = 0; k < 8; k++) {
            Direction trial = neighbour(problem, from.n, radius, k * 0.25L * (Long)M_PI + 0.7L * round);
            if (trial.value < best.value)
                best = trial;
        }
        radius *= best.value < from.value ? 1.2L : 0.6L;
    }
    return best;
}

static const Long golden = 0.6180339887498948482L;

/* The least of f over b in [-radius, radius], for one a, to within floor. */
static Direction least_over_b(const Chart *chart, Long a, Long radius, Long floor) {
    Long low = -radius, high = radius;
    Long left = high - golden * (high - low), right = low + golden * (high - low);
    Direction at_left = chart_direction(chart, a, left), at_right = chart_direction(chart, a, right);
    while (high - low > floor) {
        if (at_left.value < at_right.value) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - golden * (high - low);
            at_left = chart_direction(chart, a, left);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + golden * (high - low);
            at_right = chart_direction(chart, a, right);
        }
    }
    return at_left.value < at_right.value ? at_left : at_right;
}

/* Golden sections within golden sections: sharp bottoms do no harm. The inner ones go on to floor_b, for what they miss
 * is noise to the outer. */
static Direction least_nearby(const Problem *problem, Direction from, Long radius, Long floor, Long floor_b) {
    Chart chart = chart_at(problem, from.n);
    Direction best = from;
    Long low = -radius, high = radius;
    Long left = high - golden * (high - low), right = low + golden * (high - low);
    Direction at_left = least_over_b(&chart, left, radius, floor_b),
              at_right = least_over_b(&chart, right, radius, floor_b);
    while (high - low > floor) {
        if (at_left.value < at_right.value) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - golden * (high - low);
            at_left = least_over_b(&chart, left, radius, floor_b);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + golden * (high - low);
            at_right = least_over_b(&chart, right, radius, floor_b);
        }
        const Direction *better = at_left.value < at_right.value ? &at_left : &at_right;
        if (better->value < best.value)
            best = *better;
    }
    return best;
}

enum { AROUND = 600, STARTS = 14 };

#define RIVAL 1e-4L /* m: another minimum this near makes the normal a matter of luck */

/* The best of AROUND directions spread over the sphere that are about 0.2 rad and more apart. */
static int pick_starts(const Problem *problem, Direction *starts) {
    Direction all[AROUND];
    for (int k = 0; k < AROUND; k++) {
        Long z = 1 - (2 * k + 1) / (Long)AROUND, angle = (Long)M_PI * (1 + sqrtl(5)) * (k + 0.5L), r = sqrtl(1 - z * z);
        all[k] = (Direction){{r * cosl(angle), r * sinl(angle), z}, 0};
        all[k].value = f(problem, all[k].n);
    }
    int count = 0;
    for (bool found = true; count < STARTS && found;) {
        int best = -1;
        for (int k = 0; k < AROUND; k++) {
            bool apart = true;
            for (int s = 0; s < count; s++)
                apart = apart && along(all[k].n, starts[s].n) < 0.98L;
            if (apart && (best < 0 || all[k].value < all[best].value))
                best = k;
        }
        found = best >= 0;
        if (found)
            starts[count++] = all[best];
    }
    return count;
}

static bool is_unique(const Problem *problem, const Direction *best, const Direction *found, int count) {
    for (int s = 0; s < count; s++)
        if (found[s].value < best->value + RIVAL && along(found[s].n, best->n) < cosl(0.01L))
            return false;
    for (int k = 0; k < 16; k++)
        if (neighbour(problem, best->n, 0.02L, k * (Long)M_PI / 8).value < best->value + 1e-6L)
            return false;
    return true;
}

static int by_value(const void *a, const void *b) {
    Long x = ((const Direction *)a)->value, y = ((const Direction *)b)->value;
    return (x > y) - (x < y);
}

static OracleDistance result(const Direction *best, bool unique) {
    OracleDistance out = {.distance = (double)-best->value, .unique = unique};
    for (int i = 0; i < 3; i++)
        out.n[i] = (double)best->n[i];
    return out;
}

OracleDistance oracle_distance(const TestShape *a, const double X0[7], const TestShape *b, const double X1[7]) {
    Problem problem = problem_of(a, X0, b, X1);
    if (a->type == SAP_SHAPE_PLANE) {
        Direction only = {{problem.X[0].R[0][2], problem.X[0].R[1][2], problem.X[0].R[2][2]}, 0};
        TestShape point = {.type = SAP_SHAPE_SPHERE}; /* of radius 0, for the half-space supports 0 along its normal */
        problem.shape[0] = &point;
        only.value = f(&problem, only.n);
        return result(&only, true);
    }
    Direction found[STARTS];
    int count = pick_starts(&problem, found);
    for (int s = 0; s < count; s++)
        found[s] = descend(&problem, found[s], 0.05L);
    qsort(found, (size_t)count, sizeof *found, by_value);
    Long limit = found[0].value + 0.02L;
    for (int s = 0; s < count && found[s].value < limit; s++) /* to the end of the valley, roughly */
        found[s] = least_nearby(&problem, least_nearby(&problem, found[s], 0.1L, 1e-5L, 1e-5L), 0.02L, 1e-5L, 1e-12L);
    qsort(found, (size_t)count, sizeof *found, by_value);
    int best = 0;
    limit = found[0].value + 2 * RIVAL;
    for (int s = 0; s < count && found[s].value < limit; s++) { /* and exactly */
        found[s] = least_nearby(&problem, found[s], 2e-4L, 1e-8L, 1e-15L);
        if (found[s].value < found[best].value)
            best = s;
    }
    return result(&found[best], is_unique(&problem, &found[best], found, count));
}
