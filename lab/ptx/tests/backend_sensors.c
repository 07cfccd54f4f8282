/* Sensors of a batch on the GPU read what they read on the CPU, bit for bit, over calls of several steps, masked resets
 * and in both precisions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

enum { WORLDS = 5, CALLS = 6, WARM_UP = 100, NUM_TOUCH = 3 };

/* The last shape of the world, or of a body. */
static int32_t last_shape(const SapModelArrays *m, int is_static) {
    int s = m->num_shapes - 1;
    while (s > 0 && (m->shape_body[s] < 0) != is_static)
        s--;
    return s;
}

static SapBatch *sensed_batch(const SapScene *scene, const SapOptions *options, SapDevice device) {
    const SapModelArrays *m = sap_model_arrays(scene->model);
    const int32_t foot = last_shape(m, 0), ground = last_shape(m, 1);
    const int32_t touch[NUM_TOUCH] = {m->num_bodies - 1, 0, m->shape_body[foot]};
    const int32_t own[NUM_TOUCH] = {-1, -1, foot}, other[NUM_TOUCH] = {-1, -1, ground};
    static const int32_t body[3] = {0, -1, 0}, with[NUM_TOUCH] = {SAP_TOUCH_ANY, SAP_TOUCH_STATIC, SAP_TOUCH_ANY};
    static const double pose[3][7] = {{0.1, 0.2, 0.3, 0, 0.6, 0, 0.8}, {1, 2, 3, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0, 1}};
    static const double origin[3][3] = {{0.3, 0.1, 1}, {-0.2, 0.4, 1}, {0.1, 0.1, 1}};
    static const double directions[3][3] = {{0, 0, -1}, {0.1, 0, -1}, {0, -0.2, -0.5}};
    static const int32_t zone[NUM_TOUCH] = {SAP_SHAPE_BOX, -1, SAP_SHAPE_SPHERE};
    static const double size[NUM_TOUCH][3] = {{0.3, 0.4, 0.5}, {0}, {0.2}};
    static const double place[NUM_TOUCH][7] = {{0, 0, -0.3, 0, 0.6, 0, 0.8}, {[6] = 1}, {0, 0, -0.2, 0, 0, 0, 1}};
    SapRays rays[2];
    for (int i = 0; i < 2; i++) {
        sap_rays_default(&rays[i]);
        rays[i].num_rays = 3 - i;
        rays[i].shared = 1;
        rays[i].origin = origin;
        rays[i].direction = directions;
        rays[i].body = i - 1;
    }
    SapBatch *batch = backend_batch(scene->model, WORLDS, options, device);
    NEED(sap_batch_set_sensors(batch, &(SapSensors){.num_sites = 3,
                                                    .site_body = body,
                                                    .site_pose = pose[0],
                                                    .num_touch = NUM_TOUCH,
                                                    .touch_body = touch,
                                                    .touch_with = with,
                                                    .touch_shape = own,
                                                    .touch_with_shape = other,
                                                    .touch_zone = zone,
                                                    .touch_zone_size = size[0],
                                                    .touch_zone_pose = place[0],
                                                    .num_ray_sensors = 2,
                                                    .ray_sensor = rays}));
    for (int f = SAP_BATCH_STEP_START; f <= SAP_BATCH_RAY_SHAPE; f++)
        backend_has(batch, (SapBatchField)f); /* the request turns it on */
    return batch;
}

/* The worlds where they have contacts. */
static SapBatch *warm_up(const SapScene *scene, const SapOptions *options) {
    SapBatch *batch = backend_batch(scene->model, WORLDS, options, SAP_DEVICE_CPU);
    backend_disturb(batch, 3);
    NEED(sap_batch_step(batch, scene->dt, WARM_UP));
    return batch;
}

static int touches(SapBatch *batch) {
    int32_t *found = backend_read(batch, SAP_BATCH_TOUCH_FOUND);
    int sum = 0;
    for (int i = 0; i < NUM_TOUCH * WORLDS; i++)
        sum += found[i];
    free(found);
    return sum;
}

static void check_scene(const char *path, const char *preset) {
    static const uint8_t mask[WORLDS] = {0, 1, 0, 0, 1};
    SapScene *scene = backend_scene(path);
    SapOptions options = scene->options;
    char what[128];
    int sum = 0;
    NEED(sap_options_set(&options, "preset", preset));
    SapBatch *start = warm_up(scene, &options);
    SapBatch *pair[2] = {sensed_batch(scene, &options, SAP_DEVICE_CPU), sensed_batch(scene, &options, SAP_DEVICE_CUDA)};
    for (int i = 0; i < 2; i++) {
        backend_copy_worlds(start, pair[i]);
        NEED(sap_batch_forward_kinematics(pair[i], NULL));
    }
    snprintf(what, sizeof what, "%s, %s", path, preset);
    backend_same(pair[0], pair[1], what);
    for (int call = 0; call < CALLS; call++) {
        for (int i = 0; i < 2; i++)
            NEED(sap_batch_step(pair[i], scene->dt, 1 + call % 3));
        backend_same(pair[0], pair[1], what);
        sum += touches(pair[0]);
        for (int i = 0; i < 2 && call == 3; i++)
            NEED(sap_batch_reset(pair[i], mask, 0));
        backend_same(pair[0], pair[1], "after a reset");
    }
    CHECK(sum > 0, "%s: no contacts", what);
    printf("%s: same bits (%d contacts)\n", what, sum);
    sap_batch_destroy(start);
    sap_batch_destroy(pair[0]);
    sap_batch_destroy(pair[1]);
    sap_scene_destroy(scene);
}

int main(void) {
    static const char *const presets[] = {"approx32", "approx64", "mujoco32", "mujoco64"};
    for (int p = 0; p < 4; p++) {
        if (p < 2)
            check_scene("bench/scenes/cube.yaml", presets[p]);
        check_scene("bench/scenes/quadruped.yaml", presets[p]);
    }
    return 0;
}
