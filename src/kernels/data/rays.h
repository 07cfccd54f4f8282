/* Arguments of a ray cast (kernels/sensor/rays.h), and the table of functions of one build of the sensors. Plain
 * structs, shared by host and kernels. Sensors are separate programs that read the state arrays of a batch; the kernels
 * of a step do not contain them. */
#ifndef SAPWOOD_KERNELS_DATA_RAYS_H
#define SAPWOOD_KERNELS_DATA_RAYS_H

#include <assert.h>

#include "kernels/data/args.h"
#include "kernels/data/sensors.h"

/* A shape of a body in the world: pose, bounding sphere (centre, radius). */
enum { SAP_PLACE_SIZE = 11 };

/* The shapes that rays can meet, each list increasing; static shapes of the tree of a plan are not listed. */
typedef struct SapRayShapes {
    int num_static, num_moving;
    const int *fixed;  /* [num_static] shapes of the world */
    const int *moving; /* [num_moving] shapes of bodies */
    void *place;       /* [num_worlds][num_moving][SAP_PLACE_SIZE] in the precision of the call */
} SapRayShapes;

typedef struct SapRayArgs {
    SapPlan plan;
    SapConstants constants; /* in the precision of the call */
    int is_f64;             /* that precision */
    int num_worlds;
    const unsigned char *mask; /* [num_worlds] != 0: worlds whose rays are cast; NULL = all */
    SapBuffer body_q;          /* [num_worlds][nb][7] */
    SapRayShapes shapes;

    int num_rays;   /* per world */
    int body, axes; /* as in SapRays */
    int sees_static, sees_moving;
    int exclude_body; /* -1: none */
    double max_distance;
    SapBuffer origin, direction; /* [num_worlds or 1][num_rays][3] */
    SapBuffer distance, normal;  /* [num_worlds][num_rays], [..][3], rows of any stride; normal may be absent */
    int *shape;                  /* [num_worlds][num_rays], with the stride of distance; NULL = not wanted */
} SapRayArgs;
static_assert(sizeof(SapRayArgs) <= SAP_MAX_LAUNCH_BYTES, "the arguments of a launch are too large");

/* The functions that the host calls, each for a range of items. */
typedef struct SapSensorKernels {
    void (*place_shapes)(const SapRayArgs *args, long long begin, long long end); /* items: worlds x moving shapes */
    void (*cast_rays)(const SapRayArgs *args, long long begin, long long end);    /* items: worlds x rays */
    void (*sense)(const SapSenseArgs *args, long long begin, long long end);      /* items: worlds x args->items */
} SapSensorKernels;

#endif
