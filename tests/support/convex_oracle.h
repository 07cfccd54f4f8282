/* Convex shapes and height fields for tests of the narrow phase, and answers of an independent kind: supports and
 * distances to surfaces from their definitions, and the signed distance of two shapes as the largest separation over
 * all directions,
 *   d = max_n  min_{x in 1} n.x - max_{x in 0} n.x
 * by sampling the sphere and then climbing from its best samples. f64 throughout. */
#ifndef SAPWOOD_TESTS_SUPPORT_CONVEX_ORACLE_H
#define SAPWOOD_TESTS_SUPPORT_CONVEX_ORACLE_H

#include "kernels/data/table.h"
#include "support/pose.h"
#include "support/random_model.h"

enum { HULL_VERTICES = 16, HULL_FACES = 64, HULL_CORNERS = 256 };

/* A hull's arrays as the kernels read them, in both precisions. */
typedef struct HullData {
    int num_vertices, num_faces, num_corners;
    double vertex[HULL_VERTICES][3], plane[HULL_FACES][4];
    float vertex32[HULL_VERTICES][3], plane32[HULL_FACES][4];
    SapHullFace face[HULL_FACES];
    int corner[HULL_CORNERS];
} HullData;

typedef struct TestShape {
    int type;
    double size[3];
    const HullData *hull;
} TestShape;

/* The hull of n points, none of them inside it, by trying all planes. */
void hull_make(HullData *hull, const double (*point)[3], int n);
void hull_of_box(HullData *hull, double x, double y, double z);
void hull_random(HullData *hull, Random *random, double size, int n);
void hull_prism(HullData *hull, double radius, double half_height, int sides);

/* A pose at that distance from the origin, in a random direction. */
void pose_random(Random *random, double distance, double *pose);

/* ---- shapes ---- */

double shape_support(const TestShape *s, const double *u, double *x); /* u.x */
double shape_surface(const TestShape *s, const double *x);            /* signed distance of x to the surface, 0 on it */
TestShape shape_random(Random *random, int type, HullData *hull);

/* min over shape 1 of n.x minus max over shape 0; n in the frame of shape 0 */
double separation(const TestShape *a, const TestShape *b, const double *pose, const double *n);
double oracle_distance(const TestShape *a, const TestShape *b, const double *pose, const double *guess);

/* ---- tasks ---- */

/* The parts of SapStepArgs a task reads, for up to two hulls and a height field. */
typedef struct TaskData {
    SapStepArgs args;
    SapHull hull[2];
    SapHullFace face[2 * HULL_FACES];
    int corner[2 * HULL_CORNERS];
    double vertex[2 * HULL_VERTICES][3], plane[2 * HULL_FACES][4];
    float vertex32[2 * HULL_VERTICES][3], plane32[2 * HULL_FACES][4];
    SapHullEdge edge[2 * HULL_CORNERS];
    double extent[2];
    float extent32[2];
    SapHeightField field;
    SapConvexTask task;
} TaskData;

void task_make(TaskData *data, const TestShape *a, const TestShape *b, const double *pose, double reach,
               int max_contacts);

#endif
