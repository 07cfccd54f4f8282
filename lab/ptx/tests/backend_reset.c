/* What is queued besides steps does what it does on the CPU: resets by masks of either memory, to keyframes, the
 * kinematics of chosen worlds, and the copies of a guard. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"

enum { WORLDS = 37 };

/* The cube with a keyframe: turned, with a velocity. */
static SapModel *cube_with_keyframe(const SapScene *scene) {
    SapModelArrays a = *sap_model_arrays(scene->model);
    const double q[7] = {0.5, -0.5, 0.7, 0.6, 0, 0, 0.8}, qd[6] = {0.1, 0.2, 0.3, 1, 2, 3};
    SapModel *model;
    a.num_keyframes = 1;
    a.keyframe_joint_q = q;
    a.keyframe_joint_qd = qd;
    a.keyframe_name = NULL;
    NEED(sap_model_create(&a, &model));
    return model;
}

static void fill_mask(uint8_t *mask, int count, int every) {
    for (int w = 0; w < count; w++)
        mask[w] = w % every == 0 ? (uint8_t)(1 + w % 255) : 0;
}

static CUdeviceptr upload_mask(const uint8_t *mask, int count) {
    CUdeviceptr address;
    CUcontext context;
    CHECK(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS, "context");
    CHECK(cuMemAlloc(&address, (size_t)count) == CUDA_SUCCESS, "memory");
    CHECK(cuMemcpyHtoD(address, mask, (size_t)count) == CUDA_SUCCESS, "copy");
    return address;
}

static void free_mask(CUdeviceptr address) {
    CHECK(cuMemFree(address) == CUDA_SUCCESS && cuCtxSetCurrent(NULL) == CUDA_SUCCESS, "memory");
    CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS, "context");
}

static void step_both(SapBatch *const pair[2], int steps) {
    for (int i = 0; i < 2; i++)
        NEED(sap_batch_step(pair[i], 0.005, steps));
}

static void check_resets(SapBatch *const pair[2]) {
    uint8_t mask[WORLDS];
    for (int keyframe = 0; keyframe < 2; keyframe++)
        for (int every = 1; every <= 5; every++) {
            step_both(pair, 30);
            fill_mask(mask, WORLDS, every);
            for (int i = 0; i < 2; i++)
                NEED(sap_batch_reset(pair[i], mask, keyframe));
            memset(mask, 1, sizeof mask); /* the call has read it */
            backend_same(pair[0], pair[1], "a reset with a mask of the host");
        }
    step_both(pair, 30);
    fill_mask(mask, WORLDS, 3);
    CUdeviceptr address = upload_mask(mask, WORLDS);
    NEED(sap_batch_reset(pair[0], mask, 1));
    NEED(sap_batch_reset(pair[1], (const uint8_t *)address, 1));
    backend_same(pair[0], pair[1], "a reset with a mask of the device");
    free_mask(address);
    for (int i = 0; i < 2; i++)
        NEED(sap_batch_reset(pair[i], NULL, 0));
    backend_same(pair[0], pair[1], "a reset of all worlds");
}

static void check_kinematics(SapBatch *const pair[2]) {
    uint8_t mask[WORLDS];
    fill_mask(mask, WORLDS, 4);
    step_both(pair, 3);
    for (int i = 0; i < 2; i++) {
        backend_disturb(pair[i], 7);
        NEED(sap_batch_forward_kinematics(pair[i], mask));
    }
    backend_same(pair[0], pair[1], "kinematics of chosen worlds");
    for (int i = 0; i < 2; i++)
        NEED(sap_batch_forward_kinematics(pair[i], NULL));
    backend_same(pair[0], pair[1], "kinematics of all worlds");
}

/* A CPU repeats the last call of a world that a GPU has stepped. */
static void check_guard(const SapScene *scene) {
    char path[] = "/tmp/sapwood_gpu_dump_XXXXXX";
    SapBatch *gpu = backend_batch(scene->model, WORLDS, &scene->options, SAP_DEVICE_CUDA), *cpu;
    SapDump *dump;
    int file = mkstemp(path);
    CHECK(file >= 0 && close(file) == 0, "a temporary file");
    NEED(sap_batch_guard(gpu, 2));
    for (int call = 0; call < 3; call++) {
        backend_disturb(gpu, (uint64_t)call);
        NEED(sap_batch_step(gpu, 0.005, 1 + call));
    }
    NEED(sap_batch_dump(gpu, 5, path));
    NEED(sap_dump_load(path, &dump));
    CHECK(dump->num_calls == 2 && dump->calls[1].num_steps == 3, "%d calls", dump->num_calls);
    NEED(sap_dump_batch(dump, 1, 1, NULL, &cpu));
    NEED(sap_batch_step(cpu, dump->calls[1].h, dump->calls[1].num_steps));
    size_t bytes = backend_bytes(cpu, SAP_BATCH_JOINT_Q);
    CHECK(memcmp(sap_batch_state(cpu)->joint_q, dump->results.joint_q, bytes) == 0, "the dump of a GPU");
    sap_dump_destroy(dump);
    sap_batch_destroy(cpu);
    sap_batch_destroy(gpu);
    remove(path);
}

/* More worlds than one launch can carry the mask of. */
static void check_many(const SapScene *scene) {
    enum { MANY = 40001 };
    static uint8_t mask[MANY];
    SapBatch *pair[2];
    for (int i = 0; i < 2; i++)
        pair[i] = backend_batch(scene->model, MANY, &scene->options, (SapDevice)i);
    fill_mask(mask, MANY, 7);
    for (int i = 0; i < 2; i++) {
        backend_disturb(pair[i], 3);
        NEED(sap_batch_reset(pair[i], mask, 0));
    }
    backend_same(pair[0], pair[1], "a reset of many worlds");
    for (int i = 0; i < 2; i++)
        sap_batch_destroy(pair[i]);
}

int main(void) {
    SapScene *scene = backend_scene("bench/scenes/cube.yaml");
    SapModel *model = cube_with_keyframe(scene);
    SapBatch *pair[2];
    for (int i = 0; i < 2; i++) {
        pair[i] = backend_batch(model, WORLDS, &scene->options, (SapDevice)i);
        backend_disturb(pair[i], 2);
    }
    backend_same(pair[0], pair[1], "a new batch");
    check_resets(pair);
    check_kinematics(pair);
    check_guard(scene);
    for (int i = 0; i < 2; i++)
        sap_batch_destroy(pair[i]);
    check_many(scene);
    sap_model_destroy(model);
    sap_scene_destroy(scene);
    return 0;
}
