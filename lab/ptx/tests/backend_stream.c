/* Streams and graphs: steps and resets can be captured and run as often as the graph is launched, a caller's stream can
 * be used, and work that was queued on one stream comes before the next one's. With PTX_DEFER=1 the stand-in runs
 * nothing before somebody waits. */
#include <cuda.h>
#include <stdint.h>
#include <stdlib.h>

#include "backend.h"

#define NEED_CU(call) CHECK((call) == CUDA_SUCCESS, "%s", #call)

enum { WORLDS = 9 };

static SapBatch *create(const SapScene *scene, SapDevice device) {
    SapBatch *batch = backend_batch(scene->model, WORLDS, &scene->options, device);
    backend_disturb(batch, 5);
    return batch;
}

/* One step, three steps and a reset of some worlds, captured; then run four times. */
static void check_graph(const SapScene *scene, CUstream stream) {
    const uint8_t mask[WORLDS] = {0, 0, 1, 0, 0, 0, 0, 1, 0};
    SapBatch *cpu = create(scene, SAP_DEVICE_CPU), *gpu = create(scene, SAP_DEVICE_CUDA);
    CUgraph graph;
    CUgraphExec executable;
    size_t nodes = 0;
    NEED(sap_batch_step(gpu, scene->dt, 60)); /* on the batch's own stream */
    NEED(sap_batch_set_stream(gpu, stream));
    NEED_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    NEED(sap_batch_step(gpu, scene->dt, 1));
    NEED(sap_batch_step(gpu, scene->dt, 3));
    NEED(sap_batch_reset(gpu, mask, 0));
    CHECK(sap_batch_synchronize(gpu) == SAP_ERROR_DEVICE, "waiting is not possible while a graph is captured");
    NEED_CU(cuStreamEndCapture(stream, &graph));
    NEED_CU(cuGraphGetNodes(graph, NULL, &nodes));
    /* a call of one step, one of three, each step 1 to 4 launches or all of a call in one; 2 of a reset with a mask of
     * the host */
    CHECK(nodes >= 1 + 1 + 2 && nodes <= 4 * (1 + 3) + 2, "the graph has %zu nodes", nodes);
    NEED_CU(cuGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 4; i++)
        NEED_CU(cuGraphLaunch(executable, stream));
    NEED(sap_batch_step(cpu, scene->dt, 60));
    for (int i = 0; i < 4; i++) {
        NEED(sap_batch_step(cpu, scene->dt, 1));
        NEED(sap_batch_step(cpu, scene->dt, 3));
        NEED(sap_batch_reset(cpu, mask, 0));
    }
    backend_same(cpu, gpu, "a graph");
    NEED_CU(cuGraphExecDestroy(executable));
    NEED_CU(cuGraphDestroy(graph));
    sap_batch_destroy(cpu);
    sap_batch_destroy(gpu);
}

static void check_streams(const SapScene *scene, CUstream stream) {
    SapBatch *cpu = create(scene, SAP_DEVICE_CPU), *gpu = create(scene, SAP_DEVICE_CUDA);
    void *const streams[] = {stream, NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, stream, stream};
    for (int i = 0; i < 6; i++) {
        NEED(sap_batch_set_stream(gpu, streams[i]));
        NEED(sap_batch_step(gpu, scene->dt, 20));
        NEED(sap_batch_step(cpu, scene->dt, 20));
    }
    NEED(sap_batch_synchronize(gpu));
    backend_same(cpu, gpu, "several streams");
    CHECK(sap_batch_set_stream(cpu, stream) == SAP_ERROR_UNSUPPORTED, "the CPU has no streams");
    NEED(sap_batch_synchronize(cpu));
    sap_batch_destroy(cpu);
    sap_batch_destroy(gpu);
}

int main(void) {
    SapScene *scene = backend_scene("bench/scenes/cube.yaml");
    CUcontext context, current;
    CUstream stream;
    NEED_CU(cuInit(0));
    NEED_CU(cuDevicePrimaryCtxRetain(&context, 0));
    NEED_CU(cuCtxSetCurrent(context));
    NEED_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    check_graph(scene, stream);
    check_streams(scene, stream);
    NEED_CU(cuCtxGetCurrent(&current));
    CHECK(current == context, "the caller's context is current as before");
    NEED_CU(cuStreamDestroy(stream));
    NEED_CU(cuCtxSetCurrent(NULL));
    NEED_CU(cuDevicePrimaryCtxRelease(0));
    sap_scene_destroy(scene);
    return 0;
}
