/* The dual solvers on the GPU: every array of a batch has the bits of one on the CPU, for each method, with and without
 * constraints, warm start and Coulomb's law, in several team sizes, from states with contacts. */
#include <stdio.h>
#include <stdlib.h>

#include "backend.h"
#include "plain/end_on_failure.h"

enum { WORLDS = 3, WARM_UP = 100, STEPS = 2, MAX_SETTINGS = 3 };

typedef struct Case {
    const char *scene;
    int team;
    struct {
        const char *name, *value;
    } setting[MAX_SETTINGS];
} Case;

static const Case cases[] = {
    {"bench/scenes/quadruped.yaml", 8, {{"contact_solver", "cone"}}},
    {"bench/scenes/quadruped.yaml", 32, {{"contact_solver", "cone"}, {"friction_law", "coulomb"}}},
    {"bench/scenes/stack5.yaml", 16, {{"contact_solver", "cone"}, {"warm_start", "true"}}},
    {"tests/scenes/linkages.yaml", 8, {{"contact_solver", "cone"}, {"contact_compliance", "sap"}}},
    {"bench/scenes/quadruped.yaml", 16, {{"contact_solver", "pgs"}, {"pgs_omega", "1.3"}}},
    {"bench/scenes/stack5.yaml", 64, {{"contact_solver", "pgs_rows"}, {"preset", "drake"}}},
    {"bench/scenes/gripper.yaml", 8, {{"contact_solver", "active_set"}, {"warm_start", "true"}}},
    {"bench/scenes/stack5.yaml", 32, {{"contact_solver", "active_set"}, {"restitution", "0.5"}}},
};

/* Worlds with contacts, as the case begins. */
static SapBatch *warm_up(const SapScene *scene) {
    SapBatch *batch = backend_batch(scene->model, WORLDS, &scene->options, SAP_DEVICE_CPU);
    backend_disturb(batch, 1);
    NEED(sap_batch_step(batch, scene->dt, WARM_UP));
    return batch;
}

static SapBatch *run_batch(const SapScene *scene, const SapOptions *o, SapDevice device, SapBatch *start) {
    SapBatch *batch = backend_batch(scene->model, WORLDS, o, device);
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++) /* recorded from the first step on */
        if (backend_has(batch, (SapBatchField)f))
            backend_bytes(batch, (SapBatchField)f);
    backend_copy_worlds(start, batch);
    NEED(sap_batch_step(batch, scene->dt, 1));
    NEED(sap_batch_step(batch, scene->dt, STEPS - 1));
    return batch;
}

static long long sum(SapBatch *batch, SapBatchField field) {
    int32_t *values = backend_read(batch, field);
    long long total = 0;
    for (int w = 0; w < WORLDS; w++)
        total += values[w];
    free(values);
    return total;
}

static void check_case(const Case *c) {
    char what[256];
    SapScene *scene = backend_scene(c->scene);
    SapOptions o = scene->options;
    int at = snprintf(what, sizeof what, "%s, team %d", c->scene, c->team);
    for (int i = 0; i < MAX_SETTINGS && c->setting[i].name; i++) {
        NEED(sap_options_set(&o, c->setting[i].name, c->setting[i].value));
        at += snprintf(what + at, sizeof what - (size_t)at, ", %s", c->setting[i].value);
    }
    o.team_size = c->team;
    SapBatch *start = warm_up(scene);
    SapBatch *expected = run_batch(scene, &o, SAP_DEVICE_CPU, start),
             *got = run_batch(scene, &o, SAP_DEVICE_CUDA, start);
    long long contacts = sum(expected, SAP_BATCH_CONTACT_COUNT), iterations = sum(expected, SAP_BATCH_ITERATIONS);
    CHECK(contacts > 0 && iterations > 0, "%s: %lld contacts, %lld iterations", what, contacts, iterations);
    backend_same(expected, got, what);
    printf("%s: same bits (%lld contacts, %lld iterations)\n", what, contacts, iterations);
    fflush(stdout);
    sap_batch_destroy(got);
    sap_batch_destroy(expected);
    sap_batch_destroy(start);
    sap_scene_destroy(scene);
}

int main(void) {
    /* keeps the kernels loaded from one case to the next */
    SapScene *scene = backend_scene("bench/scenes/cube.yaml");
    SapBatch *holder = backend_batch(scene->model, 1, &scene->options, SAP_DEVICE_CUDA);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
    sap_batch_destroy(holder);
    sap_scene_destroy(scene);
    return 0;
}
