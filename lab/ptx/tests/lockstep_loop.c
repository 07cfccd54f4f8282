/* factor_plan = library with its loop in a conditional node of a CUDA graph, on the stand-ins for driver and libraries:
 * the bits of the loop that the host runs, no waits, steps that can be captured, and the host's loop where anything of
 * it fails.
 *
 * lockstep_loop SCENE */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../driver/library.h"
#include "backend.h"

#define NEED_CU(call) CHECK((call) == CUDA_SUCCESS, "%s", #call)

enum { WORLDS = 20, STEPS = 3 }; /* graphs for 20, 5 and 2 systems */

static const char of_graph[] = "the loop is a node of a CUDA graph", of_host[] = "the host runs the loop";
static SapScene *scene;

static SapBatch *create(SapDevice device, int worlds) {
    SapOptions options;
    NEED(sap_options_preset("drake", &options));
    options.max_rigid_contact = 32;
    options.factor_plan = SAP_FACTOR_LIBRARY;
    SapBatch *batch = backend_batch(scene->model, worlds, &options, device);
    backend_disturb(batch, 7);
    return batch;
}

static const char *factor_of(SapBatch *batch) {
    SapBatchInfo info;
    NEED(sap_batch_info(batch, &info));
    return info.factor;
}

static void expect(SapBatch *batch, const char *text) {
    CHECK(strstr(factor_of(batch), text), "the factor is '%s', without '%s'", factor_of(batch), text);
}

/* A batch whose loop the host runs, since cuSOLVER refuses to be captured. */
static SapBatch *create_with_host(int worlds) {
    setenv("PTX_LIBRARY", "cusolver-refuses", 1);
    SapBatch *batch = create(SAP_DEVICE_CUDA, worlds);
    unsetenv("PTX_LIBRARY");
    expect(batch, of_host);
    return batch;
}

static void step(SapBatch *batch, double h, int steps) {
    NEED(sap_batch_step(batch, h, steps));
}

/* Several steps in a call, other lengths of steps, one step: the bits of the host's loop and of the CPU. */
static void check_bits(void) {
    SapBatch *cpu = create(SAP_DEVICE_CPU, WORLDS), *host = create_with_host(WORLDS);
    SapBatch *graph = create(SAP_DEVICE_CUDA, WORLDS), *const all[] = {cpu, host, graph};
    expect(graph, of_graph);
    for (int i = 0; i < 3; i++) {
        step(all[i], scene->dt, STEPS);
        step(all[i], 0.5 * scene->dt, 1);
        step(all[i], scene->dt, 1);
    }
    backend_same(host, graph, "the loop of the graph and that of the host");
    backend_same(cpu, graph, "the loop of the graph and the CPU");
    int *iterations = backend_read(graph, SAP_BATCH_ITERATIONS), most = 0, least = 1000;
    for (int w = 0; w < WORLDS; w++) {
        most = iterations[w] > most ? iterations[w] : most;
        least = iterations[w] < least ? iterations[w] : least;
    }
    CHECK(most > 1 && most > least, "the worlds took %d to %d iterations", least, most);
    free(iterations);
    for (int i = 0; i < 3; i++)
        sap_batch_destroy(all[i]);
}

/* After the first step, a step is a launch of a graph and a fixed number of kernels (begin, finish, one or three of
 * collision), whatever its iterations, and nothing waits. */
static void check_calls(void) {
    static const char *const names[] = {"cuGraphLaunch",       "cuLaunchKernel",    "cuGraphInstantiate",
                                        "cuStreamSynchronize", "cuMemcpyDtoHAsync", "library_work"};
    unsigned expected[] = {STEPS, 3 * STEPS, 0, 0, 0, 0};
    unsigned before[6];
    SapBatch *graph = create(SAP_DEVICE_CUDA, WORLDS);
    step(graph, scene->dt, 1);
    for (int i = 0; i < 6; i++)
        before[i] = ptx_num_calls(names[i]);
    step(graph, scene->dt, STEPS);
    if (ptx_num_calls("cuLaunchKernel") - before[1] > expected[1])
        expected[1] = 5 * STEPS;
    for (int i = 0; i < 6; i++)
        CHECK(ptx_num_calls(names[i]) - before[i] == expected[i], "%s: %u calls; expected %u", names[i],
              ptx_num_calls(names[i]) - before[i], expected[i]);
    sap_batch_destroy(graph);
}

/* A step can be captured, and the graph launched as often as one likes. The host's loop waits, which no capture
 * allows. */
static void check_capture(CUstream stream) {
    SapBatch *cpu = create(SAP_DEVICE_CPU, 3), *graph = create(SAP_DEVICE_CUDA, 3), *host = create_with_host(3);
    CUgraph captured;
    CUgraphExec executable;
    NEED(sap_batch_set_stream(graph, stream));
    step(graph, scene->dt, 1);
    NEED_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    step(graph, 0.5 * scene->dt, 1);
    step(graph, scene->dt, 2);
    NEED_CU(cuStreamEndCapture(stream, &captured));
    NEED_CU(cuGraphInstantiate(&executable, captured, 0));
    step(graph, scene->dt, 1); /* its own graph is that of other arguments */
    step(cpu, scene->dt, 2);
    for (int i = 0; i < 2; i++) {
        NEED_CU(cuGraphLaunch(executable, stream));
        step(cpu, 0.5 * scene->dt, 1);
        step(cpu, scene->dt, 2);
    }
    backend_same(cpu, graph, "captured steps");
    NEED_CU(cuGraphExecDestroy(executable));
    NEED_CU(cuGraphDestroy(captured));
    NEED(sap_batch_set_stream(host, stream));
    NEED_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(sap_batch_step(host, scene->dt, 1) == SAP_ERROR_DEVICE, "the host's loop was captured");
    NEED_CU(cuStreamEndCapture(stream, &captured));
    NEED_CU(cuGraphDestroy(captured));
    sap_batch_destroy(cpu);
    sap_batch_destroy(graph);
    sap_batch_destroy(host);
}

/* The host runs the loop of the batch, for this reason, with the bits of the CPU. */
static void check_host(SapBatch *gpu, const char *reason) {
    SapBatch *cpu = create(SAP_DEVICE_CPU, 3);
    expect(gpu, of_host);
    expect(gpu, reason);
    step(cpu, scene->dt, 2);
    step(gpu, scene->dt, 2);
    backend_same(cpu, gpu, reason);
    sap_batch_destroy(cpu);
    sap_batch_destroy(gpu);
}

/* What libraries may do in a capture. */
static void check_libraries(bool products) {
    static const char *const cases[][2] = {{"cublas-refuses", "cublasDgemmBatched failed: its status is 15"},
                                           {"cusolver-refuses", "cusolverDnDpotrfBatched failed: its status is 15"},
                                           {"cusolver-allocates", "cusolverDnDpotrfBatched failed: its status is 2"},
                                           {"cusolver-replaces", "its solutions differ from those of direct calls"}};
    for (int i = products ? 0 : 1; i < 4; i++) {
        setenv("PTX_LIBRARY", cases[i][0], 1);
        check_host(create(SAP_DEVICE_CUDA, 3), cases[i][1]);
    }
    unsetenv("PTX_LIBRARY");
}

/* Lets call number n of the function fail, from here on. */
static void fail_call(const char *function, unsigned n) {
    char text[96];
    snprintf(text, sizeof text, "%s:%u:999", function, ptx_num_calls(function) + n);
    setenv("PTX_FAIL", text, 1);
}

/* Every call of the driver that only the graph needs fails in turn, while the batch is created. */
static void check_driver(void) {
    static const char *const names[] = {"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate",
                                        "cuGraphLaunch",        "cuGraphCreate",      "cuGraphConditionalHandleCreate",
                                        "cuGraphAddNode"};
    SapBatch *first = create(SAP_DEVICE_CUDA, 3); /* keeps the modules */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unsigned before = ptx_num_calls(names[i]);
        sap_batch_destroy(create(SAP_DEVICE_CUDA, 3));
        unsigned count = ptx_num_calls(names[i]) - before;
        CHECK(count > 0, "%s is not called", names[i]);
        for (unsigned n = 1; n <= count; n++) {
            fail_call(names[i], n);
            SapBatch *batch = create(SAP_DEVICE_CUDA, 3);
            expect(batch, "CUDA_ERROR_UNKNOWN");
            check_host(batch, names[i]);
        }
    }
    unsetenv("PTX_FAIL");
    sap_batch_destroy(first);
}

/* The graph for the first time step cannot be made: the host takes over. */
static void check_first_step(void) {
    SapBatch *cpu = create(SAP_DEVICE_CPU, 3), *gpu = create(SAP_DEVICE_CUDA, 3);
    expect(gpu, of_graph);
    fail_call("cuGraphInstantiate", 1);
    step(gpu, scene->dt, 2);
    unsetenv("PTX_FAIL");
    expect(gpu, of_host);
    expect(gpu, "cuGraphInstantiate");
    step(cpu, scene->dt, 2);
    backend_same(cpu, gpu, "a graph that cannot be made");
    sap_batch_destroy(cpu);
    sap_batch_destroy(gpu);
}

/* The module of the condition cannot be loaded. All other batches are gone, and the modules with them. */
static void check_module(void) {
    setenv("SAPWOOD_CUDA_LOOP_IMAGE", "/nowhere.ptx", 1);
    check_host(create(SAP_DEVICE_CUDA, 3), "/nowhere.ptx");
    unsetenv("SAPWOOD_CUDA_LOOP_IMAGE");
}

int main(int argc, char **argv) {
    CUcontext context;
    CUstream stream;
    if (argc != 2) {
        fprintf(stderr, "usage: lockstep_loop SCENE\n");
        return 2;
    }
    scene = backend_scene(argv[1]);
    NEED_CU(cuInit(0));
    NEED_CU(cuDevicePrimaryCtxRetain(&context, 0));
    NEED_CU(cuCtxSetCurrent(context));
    NEED_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    check_bits();
    check_calls();
    check_capture(stream);
    check_libraries(strstr(argv[1], "snake"));
    check_driver();
    check_first_step();
    check_module();
    NEED_CU(cuStreamDestroy(stream));
    NEED_CU(cuCtxSetCurrent(NULL));
    NEED_CU(cuDevicePrimaryCtxRelease(0));
    sap_scene_destroy(scene);
    puts("ok");
    return 0;
}
