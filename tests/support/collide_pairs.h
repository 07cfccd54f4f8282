/* Random pairs of shapes for tests of collision: shapes, poses, models, and the records of a pair's contacts.
 *
 * The draws for the pairs of MuJoCo's shapes equal compare/mujoco_distance.py, number by number. */
#ifndef SAPWOOD_TESTS_SUPPORT_COLLIDE_PAIRS_H
#define SAPWOOD_TESTS_SUPPORT_COLLIDE_PAIRS_H

#include <stdbool.h>

#include <sapwood/sapwood.h>

#include "support/pose.h"
#include "support/random_model.h"

enum { HULL_MOST_VERTICES = 32, FIELD_ROWS = 9, FIELD_COLUMNS = 11 };

typedef struct TestShape {
    SapShapeType type;
    double size[3]; /* as shape_scale; a hull's vertices already have theirs */
    int num_vertices;
    double vertex[HULL_MOST_VERTICES][3];
    double height[FIELD_ROWS][FIELD_COLUMNS];
} TestShape;

typedef struct ShapePair {
    SapShapeType type[2];
} ShapePair;

/* The pairs of MuJoCo's shapes, then those with a cone. */
enum { NUM_MUJOCO_PAIRS = 27, NUM_CONVEX_PAIRS = 35 };
extern const ShapePair convex_pairs[NUM_CONVEX_PAIRS];

const char *shape_type_name(SapShapeType type);

/* Whether distances of the type are found by iteration: it has no corners only, or is not swept from what has. */
bool shape_is_curved(SapShapeType type);

/* ---- draws ---- */

/* One set of sizes of a pair, and a stream of poses for it. */
typedef struct PoseSet {
    TestShape shape[2];
    double plane[7]; /* pose of shape 0 if that is a plane */
    int row;
    Random random;
} PoseSet;

enum { POSE_SETS = 50 };

void pose_set_begin(PoseSet *set, int pair, int index);
/* The next pair of poses, shapes in the world: a third in penetration, a third near touching, a third apart. */
void pose_set_next(PoseSet *set, double X0[7], double X1[7]);

void test_field(TestShape *field, uint64_t seed);

/* ---- geometry ---- */

/* The farthest point along n (not 0), both in the frame of the shape. Not for planes and height fields. */
void support_point(const TestShape *shape, const double n[3], double p[3]);

/* ---- models ---- */

/* Two free bodies, body i with shape i alone at its origin. A shape with a pose in static_pose[i] (not NULL) is static
 * there, and body i has none. All contacts up to a distance of 20 m are made. The caller destroys it. */
SapModel *pair_model(const TestShape *const shape[2], const double *const static_pose[2]);

/* A pair in n worlds. */
typedef struct PairWorlds {
    int n;
    bool is_static[2];
    bool swapped; /* shape 0 is number 1 of the model: height fields come last */
    SapModel *model;
    SapSolver *solver;
    SapState *state;
    SapContacts *contacts;
} PairWorlds;

PairWorlds pair_worlds_create(const TestShape *const shape[2], const double *const static_pose[2], int n);
void pair_worlds_destroy(PairWorlds *worlds);
void pair_worlds_set(PairWorlds *worlds, int world, int body, const double X[7]);
void pair_worlds_collide(PairWorlds *worlds);

/* A record in world axes. side0 is the shape (0 or 1) the normal comes from. */
typedef struct PairContact {
    int side0;
    double x[2][3]; /* witnesses on the surfaces, by shape */
    double n[3];    /* from shape 0 to shape 1 of the model */
    double gap;
} PairContact;

int pair_worlds_count(const PairWorlds *worlds, int world);
PairContact pair_worlds_contact(const PairWorlds *worlds, int world, int slot);
/* The slot with the smallest gap, or -1. */
int pair_worlds_deepest(const PairWorlds *worlds, int world);

#endif
