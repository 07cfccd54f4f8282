/* Collision in two passes: pairs of shapes without a closed form wait for a launch of their own. Contacts and states
 * have the bits of the CPU, whatever the order of the list (PTX_ORDER), also where more pairs touch than can wait,
 * where contacts are dropped, and in worlds whose state is not finite. A step has as many launches as its pairs
 * need. */
#include <cuda.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

enum { WORLDS = 33, WARM_UP = 150, STEPS = 3 };

typedef struct Start {
    SapScene *scene;
    SapBatch *batch; /* on the CPU, where shapes touch */
} Start;

static Start start_of(const char *path) {
    Start start = {.scene = backend_scene(path)};
    SapOptions o = start.scene->options;
    NEED(sap_options_set(&o, "preset", "approx64"));
    start.batch = backend_batch(start.scene->model, WORLDS, &o, SAP_DEVICE_CPU);
    backend_disturb(start.batch, 1);
    NEED(sap_batch_step(start.batch, start.scene->dt, WARM_UP));
    return start;
}

static void end(Start *start) {
    sap_batch_destroy(start->batch);
    sap_scene_destroy(start->scene);
}

/* Worlds in which more than `limit` pairs without the plane touch, in a batch with a record for each contact. The plane
 * is shape 0 of its pairs. */
static int worlds_beyond(SapBatch *batch, int limit, int plane) {
    int32_t *count = backend_read(batch, SAP_BATCH_CONTACT_COUNT), *a = backend_read(batch, SAP_BATCH_CONTACT_SHAPE0),
            *b = backend_read(batch, SAP_BATCH_CONTACT_SHAPE1);
    int capacity = (int)(backend_bytes(batch, SAP_BATCH_CONTACT_SHAPE0) / sizeof *a) / WORLDS, worlds = 0;
    for (int w = 0; w < WORLDS; w++) {
        int pairs = 0;
        for (int i = w * capacity; i < w * capacity + count[w]; i++)
            pairs += a[i] != plane && (i == w * capacity || a[i] != a[i - 1] || b[i] != b[i - 1]);
        worlds += pairs > limit;
    }
    free(count);
    free(a);
    free(b);
    return worlds;
}

static long long sum_of(SapBatch *batch, SapBatchField field) {
    int32_t *values = backend_read(batch, field);
    long long sum = 0;
    for (int w = 0; w < WORLDS; w++)
        sum += values[w];
    free(values);
    return sum;
}

/* An infinite velocity: the world has no contacts. */
static void break_world(SapBatch *batch, int world) {
    size_t bytes = backend_bytes(batch, SAP_BATCH_JOINT_QD);
    SapArray view;
    NEED(sap_batch_array(batch, SAP_BATCH_JOINT_QD, &view));
    void *qd = backend_read(batch, SAP_BATCH_JOINT_QD);
    size_t width = bytes / WORLDS / (view.type == SAP_TYPE_F64 ? sizeof(double) : sizeof(float));
    if (view.type == SAP_TYPE_F64)
        ((double *)qd)[(size_t)world * width] = (double)INFINITY;
    else
        ((float *)qd)[(size_t)world * width] = INFINITY;
    NEED(sap_batch_write(batch, SAP_BATCH_JOINT_QD, qd, bytes));
    free(qd);
}

/* Steps of both devices from the start; capacity: of contact records, 0 = the scene's. Returns the contacts
 * dropped. */
static long long check_bits(const Start *start, const char *preset, int capacity, const char *method, bool broken) {
    SapOptions o = start->scene->options;
    SapBatch *pair[2];
    char what[160];
    snprintf(what, sizeof what, "%s, capacity %d, %s%s", preset, capacity, method, broken ? ", a broken world" : "");
    NEED(sap_options_set(&o, "preset", preset));
    NEED(sap_options_set(&o, "broad_phase", method));
    o.max_contacts = capacity ? capacity : o.max_contacts;
    for (int i = 0; i < 2; i++) {
        pair[i] = backend_batch(start->scene->model, WORLDS, &o, (SapDevice)i);
        backend_copy_worlds(start->batch, pair[i]);
        if (broken)
            break_world(pair[i], 5);
        NEED(sap_batch_step(pair[i], start->scene->dt, 1));
        NEED(sap_batch_step(pair[i], start->scene->dt, STEPS - 1));
    }
    backend_same(pair[0], pair[1], what);
    long long dropped = sum_of(pair[1], SAP_BATCH_CONTACT_DROPPED);
    for (int i = 0; i < 2; i++)
        sap_batch_destroy(pair[i]);
    return dropped;
}

static void check_scene(const char *path) {
    static const char *const presets[] = {"approx32", "fast32", "drake"};
    Start start = start_of(path);
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        check_bits(&start, presets[i], 0, "listed", false);
    check_bits(&start, "approx32", 0, "sweep", true);
    printf("%s: same bits\n", path);
    end(&start);
}

/* With so few records few pairs can wait, and contacts are dropped. */
static void check_few_records(void) {
    Start start = start_of("tests/scenes/hulls.yaml");
    int beyond = worlds_beyond(start.batch, 1, 4);
    CHECK(beyond > 0, "no world has more than one pair of hulls that touch");
    long long dropped = 0;
    for (int capacity = 1; capacity < 9; capacity++)
        dropped += check_bits(&start, capacity % 2 ? "approx32" : "drake", capacity, "listed", capacity == 4);
    CHECK(dropped > 0, "no contact was dropped");
    printf("few records: same bits (%d worlds have more pairs than can wait, %lld contacts dropped)\n", beyond,
           dropped);
    end(&start);
}

/* Nodes of a graph of a call of two steps; reports: they report impulses. */
static size_t nodes_of(const char *path, bool reports, int *most) {
    SapScene *scene = backend_scene(path);
    SapOptions o = scene->options;
    CUstream stream;
    CUgraph graph;
    size_t nodes = 0;
    o.team_size = 8;
    SapBatch *batch = backend_batch(scene->model, 3, &o, SAP_DEVICE_CUDA);
    SapBatchInfo info;
    SapArray view;
    NEED(sap_batch_info(batch, &info));
    *most = info.waiting_pairs;
    if (reports)
        NEED(sap_batch_array(batch, SAP_BATCH_CONTACT_IMPULSE, &view));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS, "a stream");
    NEED(sap_batch_set_stream(batch, stream));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS, "a capture");
    NEED(sap_batch_step(batch, scene->dt, 2));
    CHECK(cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS, "the end of a capture");
    CHECK(cuGraphGetNodes(graph, NULL, &nodes) == CUDA_SUCCESS, "nodes");
    cuGraphDestroy(graph);
    NEED(sap_batch_set_stream(batch, NULL));
    cuStreamDestroy(stream);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    return nodes;
}

static void check_launches(void) {
    int most;
    size_t nodes = nodes_of("bench/scenes/quadruped.yaml", false, &most);
    CHECK(nodes == 1 && most == 0, "the quadruped: %zu launches in two steps, %d pairs can wait", nodes, most);
    nodes = nodes_of("bench/scenes/quadruped.yaml", true, &most);
    CHECK(nodes == 4, "the quadruped with reports: %zu launches in two steps", nodes);
    nodes = nodes_of("tests/scenes/hulls.yaml", false, &most);
    CHECK(nodes == 8 && most == 6, "hulls: %zu launches in two steps, %d pairs can wait", nodes, most);
    printf("launches: 1 for all steps with closed forms only, 2 per step with reports, 4 with pairs that may wait\n");
}

/* The context that the library uses, too. */
static void enter_context(void) {
    CUcontext context = NULL;
    CHECK(cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
              cuCtxSetCurrent(context) == CUDA_SUCCESS,
          "no context");
}

int main(void) {
    enter_context();
    check_launches();
    check_scene("tests/scenes/hulls.yaml");
    check_scene("tests/scenes/ball_on_field.yaml");
    check_scene("bench/scenes/stack5.yaml");
    check_few_records();
    CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS, "the context");
    return 0;
}
