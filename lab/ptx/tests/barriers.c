/* What barrier_mutants.py runs without one of the barriers: cases that together need every one of them. Whether one is
 * missing is for the race check to say (PTX_CHECK=2); this program only drives the kernels.
 *
 * barriers CASE */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

typedef struct Case {
    const char *name, *scene;
    int worlds, team;
    int calls, steps;     /* calls, and steps of each */
    const char *settings; /* options: name=value, separated by spaces */
    int failing;          /* the first so many worlds begin with an infinite velocity target */
    int kinematics;       /* calls forward kinematics too */
} Case;

static const Case cases[] = {
    {.name = "robot", .scene = "bench/scenes/quadruped.yaml", .worlds = 1, .team = 64, .calls = 2, .steps = 1},
    {.name = "tiles",
     .scene = "bench/scenes/stack5.yaml",
     .worlds = 1,
     .team = 64,
     .calls = 2,
     .steps = 1,
     .settings = "broad_phase=sweep"},
    {.name = "linkages", .scene = "tests/scenes/linkages.yaml", .worlds = 1, .team = 64, .calls = 2, .steps = 1},
    {.name = "static tree", .scene = "tests/scenes/pebbles.yaml", .worlds = 1, .team = 64, .calls = 1, .steps = 20},
    /* no pairs of shapes: one launch for all steps */
    {.name = "steps of a launch", .scene = "tests/scenes/tumble.yaml", .worlds = 1, .team = 64, .calls = 1, .steps = 3},
    {.name = "failed worlds",
     .scene = "bench/scenes/quadruped.yaml",
     .worlds = 2,
     .team = 64,
     .calls = 1,
     .steps = 2,
     .failing = 1},
    /* more worlds than teams: each team steps several */
    {.name = "worlds of a team",
     .scene = "bench/scenes/arm3.yaml",
     .worlds = 20,
     .team = 128,
     .calls = 1,
     .steps = 1,
     .settings = "shared_memory=1",
     .kinematics = 1},
    {.name = "lockstep",
     .scene = "bench/scenes/stack5.yaml",
     .worlds = 1,
     .team = 64,
     .calls = 1,
     .steps = 2,
     .settings = "factor_plan=library"},
    {.name = "lockstep with products",
     .scene = "tests/scenes/snake.yaml",
     .worlds = 1,
     .team = 64,
     .calls = 1,
     .steps = 2,
     .settings = "factor_plan=library"},
};
enum { NUM_CASES = sizeof cases / sizeof *cases };

static void set_options(SapOptions *o, const char *settings) {
    char copy[256], *rest = copy, *setting;
    snprintf(copy, sizeof copy, "%s", settings ? settings : "");
    while ((setting = strsep(&rest, " ")) && *setting) {
        char *value = strchr(setting, '=');
        *value++ = 0;
        NEED(sap_options_set(o, setting, value));
    }
}

/* An infinite target fails a world after its free motion. */
static void fail_worlds(SapBatch *batch, int count) {
    SapArray view;
    NEED(sap_batch_array(batch, SAP_BATCH_JOINT_TARGET_VEL, &view));
    double *target = backend_read(batch, SAP_BATCH_JOINT_TARGET_VEL);
    for (int64_t i = 0; i < count * (view.strides[0] / (int64_t)sizeof *target); i++)
        target[i] = INFINITY;
    NEED(sap_batch_write(batch, SAP_BATCH_JOINT_TARGET_VEL, target, backend_bytes(batch, SAP_BATCH_JOINT_TARGET_VEL)));
    free(target);
}

static void run_case(const Case *c) {
    SapScene *scene = backend_scene(c->scene);
    SapOptions o = scene->options;
    NEED(sap_options_set(&o, "preset", "drake"));
    set_options(&o, c->settings);
    o.team_size = c->team;
    SapBatch *batch = backend_batch(scene->model, c->worlds, &o, SAP_DEVICE_CUDA);
    backend_disturb(batch, 1);
    fail_worlds(batch, c->failing);
    if (c->kinematics)
        NEED(sap_batch_forward_kinematics(batch, NULL));
    for (int call = 0; call < c->calls; call++)
        NEED(sap_batch_step(batch, scene->dt, c->steps));
    NEED(sap_batch_synchronize(batch));
    uint32_t *status = backend_read(batch, SAP_BATCH_STATUS);
    for (int w = 0; w < c->worlds; w++)
        CHECK(((status[w] & SAP_WORLD_FAILED) != 0) == (w < c->failing), "%s: status %#x of world %d", c->name,
              status[w], w);
    free(status);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

int main(int argc, char **argv) {
    for (int i = 0; argc == 2 && i < NUM_CASES; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            run_case(&cases[i]);
            return 0;
        }
    fprintf(stderr, "usage: barriers CASE; cases:");
    for (int i = 0; i < NUM_CASES; i++)
        fprintf(stderr, "%s %s", i ? "," : "", cases[i].name);
    fprintf(stderr, "\n");
    return 2;
}
