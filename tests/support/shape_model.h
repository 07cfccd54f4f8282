/* Models of free bodies with shapes on them, put together shape by shape, for tests of collision. The test scenes'
 * sizes are of the order of 0.1 .. 1 m. */
#ifndef SAPWOOD_TESTS_SUPPORT_SHAPE_MODEL_H
#define SAPWOOD_TESTS_SUPPORT_SHAPE_MODEL_H

#include <sapwood/model.h>

enum { SHAPE_MODEL_BODIES = 32, SHAPE_MODEL_SHAPES = 2304, SHAPE_MODEL_GRID = 9 };

/* The arrays in fixed-size storage; tests may write into them, and into `a` before shape_model_create. */
typedef struct ShapeModel {
    SapModelArrays a;
    int32_t joint[SHAPE_MODEL_BODIES], parent[SHAPE_MODEL_BODIES], child[SHAPE_MODEL_BODIES];
    double mass[SHAPE_MODEL_BODIES], inertia[SHAPE_MODEL_BODIES][9], q[SHAPE_MODEL_BODIES][7];
    int32_t type[SHAPE_MODEL_SHAPES], body[SHAPE_MODEL_SHAPES], mesh[SHAPE_MODEL_SHAPES];
    int32_t group[SHAPE_MODEL_SHAPES], flags[SHAPE_MODEL_SHAPES];
    double pose[SHAPE_MODEL_SHAPES][7], size[SHAPE_MODEL_SHAPES][3];
    double margin[SHAPE_MODEL_SHAPES], gap[SHAPE_MODEL_SHAPES];
    double heights[SHAPE_MODEL_GRID][SHAPE_MODEL_GRID]; /* of the one grid, which is flat; tests may change it */
} ShapeModel;

/* No bodies and no shapes; one mesh, the corners of the cube [-1, 1]^3, and one flat grid. */
void shape_model_init(ShapeModel *m);

/* Adds a free body of 1 kg at that place, and returns its number. */
int shape_model_body(ShapeModel *m, double x, double y, double z);

/* Adds a shape at the origin of its body (-1: static), and returns its number. */
int shape_model_shape(ShapeModel *m, int body, SapShapeType type, double sx, double sy, double sz);

/* The model; a test fails where it is refused. The caller destroys it. */
SapModel *shape_model_create(ShapeModel *m);

#endif
