/* Rays on the GPU meet what they meet on the CPU, bit for bit: scenes with every shape type, static trees and height
 * fields, in both precisions, with arrays in host and in device memory. */
#include <cuda.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "plain/end_on_failure.h"
#include "support/random_model.h"

enum { WORLDS = 3, RAYS = 150, MOST = WORLDS * RAYS };
enum { DOUBLES = MOST * 10 }; /* origin, direction, distance, normal */

typedef struct Results {
    double distance[MOST], normal[3 * MOST];
    int32_t shape[MOST];
} Results;

static double origin[3 * MOST], direction[3 * MOST];

static void make_rays(double reach) {
    Random random = random_seed(11);
    for (int i = 0; i < 3 * MOST; i++) {
        origin[i] = random_between(&random, -reach, reach);
        direction[i] = random_between(&random, -1, 1) - (i % 3 == 2) * 0.3;
    }
    direction[0] = NAN; /* one that is no ray */
}

static SapRays rays_to(Results *out) {
    SapRays rays;
    sap_rays_default(&rays);
    rays.num_rays = RAYS;
    rays.origin = origin;
    rays.direction = direction;
    rays.distance = out->distance;
    rays.normal = out->normal;
    rays.shape = out->shape;
    return rays;
}

static void check_same(const Results *a, const Results *b, const char *what) {
    CHECK(memcmp(a->shape, b->shape, sizeof a->shape) == 0, "%s: shapes", what);
    CHECK(memcmp(a->distance, b->distance, sizeof a->distance) == 0, "%s: distances", what);
    CHECK(memcmp(a->normal, b->normal, sizeof a->normal) == 0, "%s: normals", what);
}

/* The same with all arrays in device memory; the call does not wait. */
static void cast_on_device(SapBatch *batch, SapRays rays, Results *out) {
    CUdeviceptr memory;
    CUcontext context;
    CHECK(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS, "context");
    CHECK(cuMemAlloc(&memory, DOUBLES * sizeof(double) + sizeof out->shape) == CUDA_SUCCESS, "memory");
    double *at = (double *)(uintptr_t)memory;
    CHECK(cuMemcpyHtoD(memory, origin, sizeof origin) == CUDA_SUCCESS, "copy");
    CHECK(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)(at + 3 * MOST), direction, sizeof direction) == CUDA_SUCCESS, "copy");
    rays.origin = at;
    rays.direction = at + 3 * MOST;
    rays.distance = at + 6 * MOST;
    rays.normal = at + 7 * MOST;
    CHECK(sap_batch_raycast(batch, &rays) == SAP_ERROR_ARGUMENT &&
              strstr(sap_error_message(), "shape is in host memory"),
          "%s", sap_error_message());
    rays.shape = (int32_t *)(at + 10 * MOST);
    NEED(sap_batch_raycast(batch, &rays));
    NEED(sap_batch_synchronize(batch));
    CHECK(cuMemcpyDtoH(out->distance, (CUdeviceptr)(uintptr_t)rays.distance, sizeof out->distance) == CUDA_SUCCESS, "");
    CHECK(cuMemcpyDtoH(out->normal, (CUdeviceptr)(uintptr_t)rays.normal, sizeof out->normal) == CUDA_SUCCESS, "");
    CHECK(cuMemcpyDtoH(out->shape, (CUdeviceptr)(uintptr_t)rays.shape, sizeof out->shape) == CUDA_SUCCESS, "");
    CHECK(cuMemFree(memory) == CUDA_SUCCESS && cuCtxSetCurrent(NULL) == CUDA_SUCCESS, "memory");
    CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS, "context");
}

/* Every filter and frame in turn. Returns the rays that met something. */
static int check_batch(SapBatch *cpu, SapBatch *gpu, int num_bodies, const char *what) {
    static Results expected, got;
    int hits = 0;
    for (int turn = 0; turn < 3; turn++) {
        SapRays rays = rays_to(&expected);
        rays.sees = (SapRaySight)turn;
        rays.axes = (SapRayAxes)turn;
        rays.body = turn == 2 ? num_bodies - 1 : turn - 1;
        rays.exclude_body = turn == 2 ? 0 : -1;
        NEED(sap_batch_raycast(cpu, &rays));
        SapRays on_gpu = rays;
        on_gpu.distance = got.distance;
        on_gpu.normal = got.normal;
        on_gpu.shape = got.shape;
        memset(&got, 0xff, sizeof got);
        NEED(sap_batch_raycast(gpu, &on_gpu));
        check_same(&expected, &got, what);
        memset(&got, 0xff, sizeof got);
        cast_on_device(gpu, on_gpu, &got);
        check_same(&expected, &got, what);
        for (int i = 0; i < MOST; i++)
            hits += expected.shape[i] >= 0;
    }
    return hits;
}

static void check_scene(const char *path, const char *preset) {
    SapScene *scene = backend_scene(path);
    SapOptions options = scene->options;
    NEED(sap_options_set(&options, "preset", preset));
    SapBatch *cpu = backend_batch(scene->model, WORLDS, &options, SAP_DEVICE_CPU);
    SapBatch *gpu = backend_batch(scene->model, WORLDS, &options, SAP_DEVICE_CUDA);
    backend_disturb(cpu, 5);
    NEED(sap_batch_forward_kinematics(cpu, NULL));
    void *poses = backend_read(cpu, SAP_BATCH_BODY_Q);
    NEED(sap_batch_write(gpu, SAP_BATCH_BODY_Q, poses, backend_bytes(gpu, SAP_BATCH_BODY_Q)));
    free(poses);
    char what[128];
    snprintf(what, sizeof what, "%s, %s", path, preset);
    int hits = check_batch(cpu, gpu, sap_model_arrays(scene->model)->num_bodies, what);
    CHECK(hits > MOST / 10, "%s: %d rays met something", what, hits);
    printf("%s: same bits (%d rays met something)\n", what, hits);
    sap_batch_destroy(cpu);
    sap_batch_destroy(gpu);
    sap_scene_destroy(scene);
}

int main(void) {
    static const char *const scenes[] = {"tests/scenes/ball_on_field.yaml", "tests/scenes/hulls.yaml",
                                         "tests/scenes/pebbles.yaml", "tests/scenes/corner.yaml",
                                         "bench/scenes/quadruped.yaml"};
    static const char *const presets[] = {"fast32", "approx64"};
    make_rays(1);
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++)
        for (int p = 0; p < 2; p++)
            check_scene(scenes[s], presets[p]);
    return 0;
}
