/* Parameters that worlds have of their own do on a GPU what they do on the CPU: every array has the same bits after
 * writes, bad values, resets, and where worlds are assembled. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

enum { WORLDS = 5 };

/* A factor in (0.5, 1.5) of a world's value. */
static double factor(int round, int p, int64_t at) {
    return 1 + 0.5 * sin(1.7 * round + 12.9898 * p + 78.233 * (double)at);
}

static SapArray expand(SapBatch *batch, int p) {
    SapArray view;
    NEED(sap_batch_expand(batch, (SapParameter)p, &view));
    SapElementType type = p == SAP_PARAMETER_SHAPE_MESH ? SAP_TYPE_I32 : SAP_TYPE_F64;
    CHECK(view.device == SAP_DEVICE_CPU && view.type == type, "parameter %d is not in host memory", p);
    return view;
}

/* Whether values of p bound a range from below or from above. */
static bool is_lower(int p) {
    return p == SAP_PARAMETER_JOINT_LIMIT_LOWER || p == SAP_PARAMETER_TENDON_LIMIT_LOWER ||
           p == SAP_PARAMETER_TENDON_SPRING_LOWER;
}
static bool is_upper(int p) {
    return p == SAP_PARAMETER_JOINT_LIMIT_UPPER || p == SAP_PARAMETER_TENDON_LIMIT_UPPER ||
           p == SAP_PARAMETER_TENDON_SPRING_UPPER;
}

/* Other values of a parameter in the worlds first .. WORLDS - 1. Inertias of a world grow together, limits stay in
 * order, frames keep their rotation. */
static void vary(SapBatch *batch, int p, int first, int round) {
    SapArray view = expand(batch, p);
    if (p == SAP_PARAMETER_SHAPE_MESH)
        return; /* check_grids */
    int64_t size = view.strides[0] / 8;
    for (int64_t w = first; w < view.shape[0]; w++)
        for (int64_t i = 0; i < size; i++) {
            double *x = (double *)view.data + w * size + i;
            bool together = p == SAP_PARAMETER_BODY_INERTIA;
            if (p == SAP_PARAMETER_CONSTRAINT_X && i % 7 >= 3)
                continue;
            if (is_lower(p) || is_upper(p))
                *x += is_lower(p) ? -0.01 : 0.01;
            else if (p == SAP_PARAMETER_JOINT_ARMATURE || p == SAP_PARAMETER_JOINT_FRICTION)
                *x = 0.02 * factor(round, p, w * size + i);
            else
                *x *= factor(round, p, together ? w : w * size + i);
        }
}

static void step_both(SapBatch *const pair[2], int steps, const char *what) {
    for (int i = 0; i < 2; i++)
        NEED(sap_batch_step(pair[i], 0.004, steps));
    backend_same(pair[0], pair[1], what);
}

static void check_bad(SapBatch *const pair[2]) {
    double good = 0;
    for (int i = 0; i < 2; i++) {
        double *mass = expand(pair[i], SAP_PARAMETER_BODY_MASS).data;
        good = mass[0];
        mass[0] = -1;
        CHECK(sap_batch_check_parameters(pair[i]) == SAP_ERROR_MODEL, "a negative mass is told");
    }
    step_both(pair, 2, "a step with a bad world");
    uint32_t *status = backend_read(pair[1], SAP_BATCH_STATUS);
    CHECK(status[0] == SAP_WORLD_BAD_PARAMETERS && !(status[1] & SAP_WORLD_FAILED), "status %#x, %#x", status[0],
          status[1]);
    free(status);
    for (int i = 0; i < 2; i++)
        NEED(sap_batch_forward_kinematics(pair[i], NULL));
    backend_same(pair[0], pair[1], "kinematics with a bad world");
    for (int i = 0; i < 2; i++)
        *(double *)expand(pair[i], SAP_PARAMETER_BODY_MASS).data = good;
    step_both(pair, 2, "a step of the world that was put right");
}

/* The computation is on the CPU; the coordinates go there and back. */
static void check_assemble(SapBatch *const pair[2]) {
    const uint8_t mask[WORLDS] = {1, 1, 0, 1, 0};
    double residual[2][WORLDS] = {{0}};
    for (int i = 0; i < 2; i++)
        NEED(sap_batch_assemble(pair[i], mask, residual[i]));
    CHECK(memcmp(residual[0], residual[1], sizeof residual[0]) == 0, "errors that are left");
    backend_same(pair[0], pair[1], "worlds that were assembled");
}

static void check_preset(const SapScene *scene, const char *preset) {
    SapOptions options = scene->options;
    int parameters =
        sap_model_arrays(scene->model)->num_tendons > 0 ? SAP_PARAMETER_MUJOCO_IMPRATIO : SAP_PARAMETER_CONSTRAINT_X;
    SapBatch *pair[2];
    NEED(sap_options_set(&options, "preset", preset));
    for (int i = 0; i < 2; i++) {
        pair[i] = backend_batch(scene->model, WORLDS, &options, (SapDevice)i);
        backend_disturb(pair[i], 4);
    }
    backend_same(pair[0], pair[1], "a new batch"); /* and records everything from now on */
    for (int round = 0; round < 3; round++) {      /* some at first, then all; a world that is not written too */
        for (int p = 0; p < parameters; p++)
            for (int i = 0; i < 2 && (round > 0 || p % 3 == 1); i++)
                vary(pair[i], p, round, round);
        step_both(pair, 2, preset);
    }
    check_bad(pair);
    check_assemble(pair);
    const uint8_t mask[WORLDS] = {1, 0, 0, 1, 1};
    for (int i = 0; i < 2; i++)
        NEED(sap_batch_reset(pair[i], mask, 0));
    backend_same(pair[0], pair[1], "a reset of worlds with their own centres of mass");
    step_both(pair, 2, "a step after a reset");
    for (int i = 0; i < 2; i++)
        sap_batch_destroy(pair[i]);
}

/* Worlds on grids that they choose, again before the third round; rays see them without a step. */
static void check_grids(const char *preset) {
    SapScene *scene = backend_scene("tests/scenes/ball_on_fields.yaml");
    SapOptions options = scene->options;
    SapBatch *pair[2];
    const SapModelArrays *a = sap_model_arrays(scene->model);
    NEED(sap_options_set(&options, "preset", preset));
    for (int i = 0; i < 2; i++)
        pair[i] = backend_batch(scene->model, WORLDS, &options, (SapDevice)i);
    for (int round = 0; round < 4; round++) {
        double origin[3] = {0.1, 0.2, 2}, direction[3] = {0, 0, -1}, distance[2][WORLDS] = {{0}};
        for (int i = 0; i < 2; i++) {
            int32_t *grid = expand(pair[i], SAP_PARAMETER_SHAPE_MESH).data;
            for (int w = 0; w < WORLDS; w++)
                grid[w * a->num_shapes + a->num_shapes - 1] = (w + round / 2) % a->num_height_fields;
            SapRays rays;
            sap_rays_default(&rays);
            rays.num_rays = rays.shared = 1;
            rays.sees = SAP_RAY_SEES_STATIC;
            rays.origin = origin;
            rays.direction = direction;
            rays.distance = distance[i];
            NEED(sap_batch_raycast(pair[i], &rays));
        }
        CHECK(memcmp(distance[0], distance[1], sizeof distance[0]) == 0, "rays of round %d", round);
        CHECK(distance[0][0] != distance[0][1], "worlds 0 and 1 have the same ground");
        step_both(pair, 20, preset);
    }
    for (int i = 0; i < 2; i++)
        sap_batch_destroy(pair[i]);
    sap_scene_destroy(scene);
}

int main(void) {
    check_grids("approx32");
    check_grids("approx64");
    SapScene *scene = backend_scene("bench/scenes/quadruped.yaml");
    check_preset(scene, "approx32");
    check_preset(scene, "approx64");
    check_preset(scene, "drake");
    sap_scene_destroy(scene);
    scene = backend_scene("tests/scenes/linkages.yaml");
    check_preset(scene, "approx32");
    check_preset(scene, "drake");
    sap_scene_destroy(scene);
    return 0;
}
