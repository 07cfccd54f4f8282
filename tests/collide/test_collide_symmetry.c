/* What contacts must not depend on: the order of the two shapes in the model, and where in the world the pair is.
 *
 * Contacts of two runs are matched by place: each of one run needs one of the other within the tolerance, and the
 * counts agree. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "support/collide_pairs.h"
#include "support/work.h"

enum { ROWS = 60, MOST_CONTACTS = 64 };

static int sets(void) {
    int scaled = (int)(POSE_SETS * work_scale());
    return scaled < 7 ? 7 : scaled;
}

/* m, m, and length of the difference of unit vectors. Where a search over a curved surface ends is known to the root of
 * its tolerance. */
typedef struct Tolerance {
    double gap, point, normal;
} Tolerance;

static Tolerance tolerance_of(SapShapeType a, SapShapeType b) {
    bool curved = shape_is_curved(a) || shape_is_curved(b);
    return curved ? (Tolerance){1e-8, 1e-5, 1e-5} : (Tolerance){1e-10, 1e-9, 1e-10};
}

/* ---- contacts of two runs ---- */

static double distance3(const double *a, const double *b) {
    double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(dot3(d, d));
}

/* The contact seen with the two shapes exchanged. */
static PairContact exchanged(PairContact c) {
    PairContact out = c;
    memcpy(out.x[0], c.x[1], sizeof c.x[1]);
    memcpy(out.x[1], c.x[0], sizeof c.x[0]);
    for (int i = 0; i < 3; i++)
        out.n[i] = -c.n[i];
    return out;
}

/* The contact moved with the pose G. */
static PairContact moved(PairContact c, const double G[7]) {
    PairContact out = c;
    for (int side = 0; side < 2; side++)
        pose_point(G, c.x[side], out.x[side]);
    rotate(G + 3, c.n, out.n);
    return out;
}

static bool same_contact(const PairContact *a, const PairContact *b, Tolerance t) {
    return fabs(a->gap - b->gap) <= t.gap && distance3(a->n, b->n) <= t.normal &&
           distance3(a->x[0], b->x[0]) <= t.point && distance3(a->x[1], b->x[1]) <= t.point;
}

/* Tells of the first contact of `a` that `b` lacks; the text is for the failure. */
static bool all_found(const PairContact *a, const PairContact *b, int n, Tolerance t, char *text, size_t size) {
    for (int i = 0; i < n; i++) {
        bool found = false;
        int nearest = 0;
        for (int j = 0; j < n; j++) {
            found = found || same_contact(&a[i], &b[j], t);
            if (distance3(a[i].x[0], b[j].x[0]) < distance3(a[i].x[0], b[nearest].x[0]))
                nearest = j;
        }
        if (!found) {
            const PairContact *p = &a[i], *q = &b[nearest];
            snprintf(text, size,
                     "%d of %d contacts: gap %.15g, normal %.12f %.12f %.12f, at %.12f %.12f %.12f; the nearest of the "
                     "other "
                     "run: gap %.15g, normal %.12f %.12f %.12f, at %.12f %.12f %.12f",
                     i, n, p->gap, p->n[0], p->n[1], p->n[2], p->x[0][0], p->x[0][1], p->x[0][2], q->gap, q->n[0],
                     q->n[1], q->n[2], q->x[0][0], q->x[0][1], q->x[0][2]);
            return false;
        }
    }
    return true;
}

static void print_pose(char *text, size_t size, const double *X) {
    snprintf(text, size, "[%.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g]", X[0], X[1], X[2], X[3], X[4], X[5], X[6]);
}

/* One world of the first run, its contacts carried over to the second run, and the contacts of the second run. */
typedef struct TwoRuns {
    const char *name;
    int set, world;
    double X[2][7]; /* poses in the first run, for the message */
    PairContact a[MOST_CONTACTS], b[MOST_CONTACTS];
    int count_a, count_b;
} TwoRuns;

/* The contacts of one world in both runs, which had the poses X in the first. */
static TwoRuns runs_of(const PairWorlds *a, const PairWorlds *b, const char *name, int set, int world, double X[2][7]) {
    TwoRuns runs = {.name = name, .set = set, .world = world};
    memcpy(runs.X, X, sizeof runs.X);
    runs.count_a = pair_worlds_count(a, world);
    runs.count_b = pair_worlds_count(b, world);
    for (int c = 0; c < runs.count_a; c++)
        runs.a[c] = pair_worlds_contact(a, world, c);
    for (int c = 0; c < runs.count_b; c++)
        runs.b[c] = pair_worlds_contact(b, world, c);
    return runs;
}

static void check_same(const TwoRuns *runs, Tolerance t) {
    char text[1024] = "", X[2][256];
    bool same = runs->count_a == runs->count_b;
    if (!same)
        snprintf(text, sizeof text, "%d contacts and %d", runs->count_a, runs->count_b);
    same = same && all_found(runs->a, runs->b, runs->count_a, t, text, sizeof text) &&
           all_found(runs->b, runs->a, runs->count_a, t, text, sizeof text);
    for (int side = 0; side < 2 && !same; side++)
        print_pose(X[side], sizeof X[side], runs->X[side]);
    cr_assert(same, "%s, set %d, world %d: %s\n  poses %s and %s", runs->name, runs->set, runs->world, text, X[0],
              X[1]);
}

static void pair_name(char *name, size_t size, SapShapeType a, SapShapeType b) {
    snprintf(name, size, "%s-%s", shape_type_name(a), shape_type_name(b));
}

/* ---- the order of the shapes ---- */

/* Both runs in the same poses; in the second the model has the shapes the other way round. */
static void check_exchange(const PoseSet *set, int index, const char *name) {
    bool plane = set->shape[0].type == SAP_SHAPE_PLANE;
    const double *pose = plane ? set->plane : NULL;
    PoseSet stream = *set;
    PairWorlds a = pair_worlds_create((const TestShape *const[]){&set->shape[0], &set->shape[1]},
                                      (const double *const[]){pose, NULL}, ROWS);
    PairWorlds b = pair_worlds_create((const TestShape *const[]){&set->shape[1], &set->shape[0]},
                                      (const double *const[]){NULL, pose}, ROWS);
    double X[ROWS][2][7];
    for (int w = 0; w < ROWS; w++) {
        pose_set_next(&stream, X[w][0], X[w][1]);
        for (int side = 0; side < 2; side++) {
            pair_worlds_set(&a, w, side, X[w][side]);
            pair_worlds_set(&b, w, 1 - side, X[w][side]);
        }
    }
    pair_worlds_collide(&a);
    pair_worlds_collide(&b);
    for (int w = 0; w < ROWS; w++) {
        TwoRuns runs = runs_of(&a, &b, name, index, w, X[w]);
        for (int c = 0; c < runs.count_a; c++)
            runs.a[c] = exchanged(runs.a[c]);
        check_same(&runs, tolerance_of(set->shape[0].type, set->shape[1].type));
    }
    pair_worlds_destroy(&a);
    pair_worlds_destroy(&b);
}

static struct criterion_test_params each_pair(void) {
    static int pairs[NUM_CONVEX_PAIRS];
    for (int pair = 0; pair < NUM_CONVEX_PAIRS; pair++)
        pairs[pair] = pair;
    return cr_make_param_array(int, pairs, NUM_CONVEX_PAIRS);
}

ParameterizedTestParameters(collide_symmetry, exchanging_the_shapes_flips_the_normal_and_nothing_else) {
    return each_pair();
}

ParameterizedTest(const int *pair, collide_symmetry, exchanging_the_shapes_flips_the_normal_and_nothing_else) {
    char name[64];
    pair_name(name, sizeof name, convex_pairs[*pair].type[0], convex_pairs[*pair].type[1]);
    for (int index = 0; index < sets(); index++) {
        PoseSet set;
        pose_set_begin(&set, *pair, index);
        check_exchange(&set, index, name);
    }
}

/* ---- the place of the pair ---- */

static void random_motion(Random *random, double G[7]) {
    for (int i = 0; i < 3; i++)
        G[i] = random_between(random, -1, 1);
    random_quaternion(random, G + 3);
}

/* A run of poses X[world][side] and one with everything moved by G; a static shape 0 has the pose fixed (or NULL). */
static void check_motion(const TestShape *const shape[2], const double *fixed, double (*X)[2][7], const double G[7],
                         int index, const char *name) {
    double moved_fixed[7];
    if (fixed != NULL)
        pose_product(G, fixed, moved_fixed);
    PairWorlds a = pair_worlds_create(shape, (const double *const[]){fixed, NULL}, ROWS);
    PairWorlds b = pair_worlds_create(shape, (const double *const[]){fixed ? moved_fixed : NULL, NULL}, ROWS);
    for (int w = 0; w < ROWS; w++)
        for (int side = 0; side < 2; side++) {
            double GX[7];
            pose_product(G, X[w][side], GX);
            pair_worlds_set(&a, w, side, X[w][side]);
            pair_worlds_set(&b, w, side, GX);
        }
    pair_worlds_collide(&a);
    pair_worlds_collide(&b);
    for (int w = 0; w < ROWS; w++) {
        TwoRuns runs = runs_of(&a, &b, name, index, w, X[w]);
        for (int c = 0; c < runs.count_a; c++)
            runs.a[c] = moved(runs.a[c], G);
        check_same(&runs, tolerance_of(shape[0]->type, shape[1]->type));
    }
    pair_worlds_destroy(&a);
    pair_worlds_destroy(&b);
}

ParameterizedTestParameters(collide_symmetry, contacts_move_with_the_pair) {
    return each_pair();
}

ParameterizedTest(const int *pair, collide_symmetry, contacts_move_with_the_pair) {
    char name[64];
    pair_name(name, sizeof name, convex_pairs[*pair].type[0], convex_pairs[*pair].type[1]);
    Random random = random_seed(7);
    for (int index = 0; index < sets(); index++) {
        PoseSet set;
        double X[ROWS][2][7], G[7];
        pose_set_begin(&set, *pair, index);
        random_motion(&random, G);
        for (int w = 0; w < ROWS; w++)
            pose_set_next(&set, X[w][0], X[w][1]);
        const TestShape *const shape[2] = {&set.shape[0], &set.shape[1]};
        check_motion(shape, shape[0]->type == SAP_SHAPE_PLANE ? set.plane : NULL, X, G, index, name);
    }
}

/* The last shape of each of these pairs takes its turn on a height field: every type but the plane. */
static const int field_pairs[] = {6, 12, 17, 21, 24, 26, 33};
enum { NUM_FIELD_PAIRS = sizeof field_pairs / sizeof *field_pairs };

/* In, on and above the ground; the field at the pose X0. */
static void draw_on_field(Random *random, const TestShape *field, const double *X0, double *X1) {
    double local[7];
    for (int i = 0; i < 2; i++)
        local[i] = random_between(random, -0.8, 0.8) * field->size[i];
    local[2] = random_between(random, -0.1, 0.5);
    random_quaternion(random, local + 3);
    pose_product(X0, local, X1);
}

ParameterizedTestParameters(collide_symmetry, contacts_move_with_a_height_field) {
    static int pairs[NUM_FIELD_PAIRS];
    memcpy(pairs, field_pairs, sizeof pairs);
    return cr_make_param_array(int, pairs, NUM_FIELD_PAIRS);
}

ParameterizedTest(const int *pair, collide_symmetry, contacts_move_with_a_height_field) {
    char name[64];
    Random random = random_seed(11);
    pair_name(name, sizeof name, SAP_SHAPE_HEIGHT_FIELD, convex_pairs[*pair].type[1]);
    for (int index = 0; index < sets(); index++) {
        PoseSet set;
        TestShape field;
        double X[ROWS][2][7], G[7], X0[7];
        pose_set_begin(&set, *pair, index);
        test_field(&field, (uint64_t)index);
        random_motion(&random, X0);
        random_motion(&random, G);
        for (int w = 0; w < ROWS; w++) {
            memcpy(X[w][0], X0, sizeof X0);
            draw_on_field(&random, &field, X0, X[w][1]);
        }
        check_motion((const TestShape *const[]){&field, &set.shape[1]}, X0, X, G, index, name);
    }
}
