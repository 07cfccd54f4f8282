/* A batch beside a library such as PyTorch, which works on the default stream or on streams of its own and knows nothing of
 * the batch's: what it reads and writes is ordered with steps, its captures take in steps, and replays see parameters.
 * Run with PTX_DEFER=1, with which the stand-in runs work of a stream as late as allowed. */
#include <cuda.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

#define NEED_CU(call) CHECK((call) == CUDA_SUCCESS, "%s", #call)

enum { WORLDS = 3 };

static SapBatch *create(const SapScene *scene, SapDevice device) {
    SapBatch *batch = backend_batch(scene->model, WORLDS, &scene->options, device);
    backend_disturb(batch, 7);
    return batch;
}

static CUdeviceptr address_of(SapBatch *batch, SapBatchField field) {
    SapArray view;
    NEED(sap_batch_array(batch, field, &view));
    return (CUdeviceptr)(uintptr_t)view.data;
}

/* What a library reads in its stream, without a word to the batch; pinned memory, as PyTorch's copies have. */
static void *read_in(CUstream stream, SapBatch *batch, SapBatchField field) {
    void *data;
    NEED_CU(cuMemAllocHost(&data, backend_bytes(batch, field)));
    NEED_CU(cuMemcpyDtoHAsync(data, address_of(batch, field), backend_bytes(batch, field), stream));
    NEED_CU(cuStreamSynchronize(stream));
    return data;
}

static void check_read(CUstream stream, SapBatch *cpu, SapBatch *gpu, const char *what) {
    void *expected = backend_read(cpu, SAP_BATCH_JOINT_Q), *got = read_in(stream, gpu, SAP_BATCH_JOINT_Q);
    CHECK(memcmp(expected, got, backend_bytes(cpu, SAP_BATCH_JOINT_Q)) == 0, "%s: the read did not wait for the step",
          what);
    free(expected);
    NEED_CU(cuMemFreeHost(got));
}

/* The default stream reads after a step, and writes the forces of the next step after it. */
static void check_default_stream(const SapScene *scene) {
    SapBatch *cpu = create(scene, SAP_DEVICE_CPU), *gpu = create(scene, SAP_DEVICE_CUDA);
    NEED(sap_batch_synchronize(gpu));
    NEED(sap_batch_step(cpu, scene->dt, 3));
    NEED(sap_batch_step(gpu, scene->dt, 3));
    check_read(NULL, cpu, gpu, "the default stream");
    size_t bytes = backend_bytes(gpu, SAP_BATCH_JOINT_QD);
    void *zeros = calloc(1, bytes);
    NEED(sap_batch_step(cpu, scene->dt, 2));
    NEED(sap_batch_step(gpu, scene->dt, 2));
    NEED_CU(cuMemsetD8Async(address_of(gpu, SAP_BATCH_JOINT_QD), 0, bytes, NULL)); /* not before the step has read it */
    NEED(sap_batch_write(cpu, SAP_BATCH_JOINT_QD, zeros, bytes));
    NEED(sap_batch_step(cpu, scene->dt, 2));
    NEED(sap_batch_step(gpu, scene->dt, 2));
    check_read(NULL, cpu, gpu, "a write of the default stream");
    free(zeros);
    sap_batch_destroy(cpu);
    sap_batch_destroy(gpu);
}

/* A stream of another library waits if it is told to. */
static void check_order(const SapScene *scene, CUstream stream) {
    SapBatch *cpu = create(scene, SAP_DEVICE_CPU), *gpu = create(scene, SAP_DEVICE_CUDA);
    NEED(sap_batch_synchronize(gpu));
    NEED(sap_batch_step(cpu, scene->dt, 3));
    NEED(sap_batch_step(gpu, scene->dt, 3));
    NEED(sap_batch_order_stream(gpu, stream));
    check_read(stream, cpu, gpu, "another stream");
    CHECK(sap_batch_order_stream(cpu, stream) == SAP_ERROR_UNSUPPORTED, "the CPU has no streams");
    sap_batch_destroy(cpu);
    sap_batch_destroy(gpu);
}

/* ---- graphs ---- */

static CUgraphExec end_capture(CUstream stream) {
    CUgraph graph;
    CUgraphExec executable;
    NEED_CU(cuStreamEndCapture(stream, &graph));
    NEED_CU(cuGraphInstantiate(&executable, graph, 0));
    NEED_CU(cuGraphDestroy(graph));
    return executable;
}

/* A batch that enters a capture with set_stream, as with torch.cuda.graph, whose capture stream is a new one; and that leaves
 * it the same way. */
static void check_capture(const SapScene *scene, CUstream stream) {
    SapBatch *cpu = create(scene, SAP_DEVICE_CPU), *gpu = create(scene, SAP_DEVICE_CUDA);
    NEED(sap_batch_step(gpu, scene->dt, 1));
    NEED(sap_batch_synchronize(gpu));
    NEED_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(sap_batch_order_stream(gpu, stream) == SAP_ERROR_UNSUPPORTED, "a capture cannot wait for work outside of it");
    NEED(sap_batch_set_stream(gpu, stream));
    NEED(sap_batch_order_stream(gpu, stream));
    NEED(sap_batch_step(gpu, scene->dt, 1));
    NEED(sap_batch_set_stream(gpu, CU_STREAM_LEGACY));
    CUgraphExec executable = end_capture(stream);
    for (int i = 0; i < 3; i++)
        NEED_CU(cuGraphLaunch(executable, stream));
    NEED_CU(cuStreamSynchronize(stream));
    NEED(sap_batch_step(gpu, scene->dt, 1));
    NEED(sap_batch_step(cpu, scene->dt, 5));
    backend_same(cpu, gpu, "a capture that set_stream has entered");
    NEED_CU(cuGraphExecDestroy(executable));
    sap_batch_destroy(cpu);
    sap_batch_destroy(gpu);
}

static double *gravity_of(SapBatch *batch) {
    SapArray view;
    NEED(sap_batch_expand(batch, SAP_PARAMETER_GRAVITY, &view));
    return view.data;
}

/* A graph sees the parameters that were uploaded before its launch; one that is captured with new ones is refused. */
static void check_parameters(const SapScene *scene, CUstream stream) {
    SapBatch *cpu = create(scene, SAP_DEVICE_CPU), *gpu = create(scene, SAP_DEVICE_CUDA);
    double *here = gravity_of(cpu), *there = gravity_of(gpu);
    NEED(sap_batch_set_stream(gpu, stream));
    there[2] = -3;
    NEED_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(sap_batch_step(gpu, scene->dt, 1) == SAP_ERROR_UNSUPPORTED &&
              strstr(sap_error_message(), "sap_batch_upload_parameters before the capture"),
          "%s", sap_error_message());
    CUgraphExec empty = end_capture(stream);
    NEED_CU(cuGraphExecDestroy(empty));
    NEED(sap_batch_upload_parameters(gpu));
    NEED_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    NEED(sap_batch_step(gpu, scene->dt, 1));
    CUgraphExec executable = end_capture(stream);
    here[2] = -3;
    for (int i = 0; i < 2; i++, here[5] = there[5] = 4) {
        NEED(sap_batch_upload_parameters(gpu));
        NEED(sap_batch_upload_parameters(cpu));
        NEED_CU(cuGraphLaunch(executable, stream));
        NEED(sap_batch_step(cpu, scene->dt, 1));
    }
    here[5] = there[5] = NAN;
    NEED(sap_batch_upload_parameters(gpu));
    NEED_CU(cuGraphLaunch(executable, stream));
    NEED(sap_batch_step(cpu, scene->dt, 1));
    backend_same(cpu, gpu, "parameters of a graph");
    NEED_CU(cuGraphExecDestroy(executable));
    sap_batch_destroy(cpu);
    sap_batch_destroy(gpu);
}

int main(void) {
    SapScene *scene = backend_scene("bench/scenes/cube.yaml");
    CUcontext context;
    CUstream stream;
    int gpus = 0;
    NEED(sap_device_count(&gpus));
    CHECK(gpus == 1, "%d GPUs", gpus);
    NEED_CU(cuInit(0));
    NEED_CU(cuDevicePrimaryCtxRetain(&context, 0));
    NEED_CU(cuCtxSetCurrent(context));
    NEED_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    check_default_stream(scene);
    check_order(scene, stream);
    check_capture(scene, stream);
    check_parameters(scene, stream);
    NEED_CU(cuStreamDestroy(stream));
    NEED_CU(cuCtxSetCurrent(NULL));
    NEED_CU(cuDevicePrimaryCtxRelease(0));
    sap_scene_destroy(scene);
    return 0;
}
