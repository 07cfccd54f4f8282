/* Memory: many worlds, more teams than the workspace has room for, and nothing left behind (PTX_LEAKS=fail). What makes
 * no sense on a GPU is refused in words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend.h"

static void check_many_worlds(const SapScene *scene) {
    enum { MANY = 4096, STEPS = 2 };
    SapBatch *pair[2];
    for (int i = 0; i < 2; i++) {
        pair[i] = backend_batch(scene->model, MANY, &scene->options, (SapDevice)i);
        backend_disturb(pair[i], 1);
        NEED(sap_batch_step(pair[i], scene->dt, STEPS));
    }
    backend_same(pair[0], pair[1], "4096 worlds");
    SapBatchInfo info;
    NEED(sap_batch_info(pair[1], &info));
    /* a thread per world has its scratch in local memory, a team in shared memory */
    CHECK(info.device == SAP_DEVICE_CUDA && info.num_worlds == MANY &&
              (info.shared_bytes > 0) == (info.team_size > 1) && info.workspace_bytes > 0,
          "what it runs on: teams of %d, %d bytes of shared memory, %zu of workspace", info.team_size,
          info.shared_bytes, info.workspace_bytes);
    CHECK(sap_batch_bytes(pair[1]) > info.device_bytes && info.device_bytes > (size_t)MANY * 13 * sizeof(float),
          "%zu bytes on the GPU", info.device_bytes);
    for (int i = 0; i < 2; i++)
        sap_batch_destroy(pair[i]);
}

/* The grid is smaller than the batch: teams step one world after the other. */
static void check_rounds(const SapScene *scene) {
    enum { WORLDS = 600 };
    SapOptions o = scene->options;
    SapBatchInfo info;
    SapBatch *pair[2];
    o.shared_memory = 1;
    o.team_size = 32;
    for (int i = 0; i < 2; i++) {
        pair[i] = backend_batch(scene->model, WORLDS, &o, (SapDevice)i);
        backend_disturb(pair[i], 1);
        NEED(sap_batch_step(pair[i], scene->dt, 3));
        NEED(sap_batch_forward_kinematics(pair[i], NULL));
        NEED(sap_batch_step(pair[i], scene->dt, 1));
    }
    NEED(sap_batch_info(pair[1], &info));
    CHECK(info.blocks < WORLDS && info.shared_bytes == 0 && info.workspace_bytes > 0,
          "%d blocks, %d bytes of shared memory", info.blocks, info.shared_bytes);
    backend_same(pair[0], pair[1], "rounds");
    for (int i = 0; i < 2; i++)
        sap_batch_destroy(pair[i]);
}

static void expect_message(const char *part) {
    CHECK(strstr(sap_error_message(), part) != NULL, "'%s' is not in: %s", part, sap_error_message());
}

static void check_refusals(const SapScene *scene) {
    SapOptions o = scene->options;
    SapSolver *solver = NULL;
    SapBatch *gpu = backend_batch(scene->model, 2, &o, SAP_DEVICE_CUDA);
    char few[8];
    SapArray view;
    CHECK(sap_batch_state(gpu) == NULL, "a state in host memory");
    expect_message("sap_batch_state: not on device cuda: the batch is on a GPU");
    CHECK(sap_batch_control(gpu) == NULL && sap_batch_contacts(gpu) == NULL && sap_batch_solver(gpu) == NULL,
          "host memory");
    expect_message("there is no SapSolver");
    CHECK(sap_batch_read(gpu, SAP_BATCH_JOINT_Q, few, sizeof few) == SAP_ERROR_ARGUMENT, "too few bytes");
    expect_message("bytes is 8; field 0 has 56");
    CHECK(sap_batch_write(gpu, SAP_BATCH_JOINT_Q, few, sizeof few) == SAP_ERROR_ARGUMENT, "too few bytes");
    CHECK(sap_batch_read(gpu, SAP_BATCH_JOINT_Q, NULL, 56) == SAP_ERROR_ARGUMENT, "no memory");
    NEED(sap_batch_array(gpu, SAP_BATCH_JOINT_Q, &view));
    CHECK(view.device == SAP_DEVICE_CUDA && view.data != NULL, "an address of the GPU");
    CHECK(sap_batch_step(gpu, 0, 1) == SAP_ERROR_ARGUMENT && sap_batch_step(gpu, 0.01, -1) == SAP_ERROR_ARGUMENT,
          "steps");
    CHECK(sap_batch_reset(gpu, NULL, 1) == SAP_ERROR_ARGUMENT, "a keyframe");
    NEED(sap_batch_step(gpu, 0.01, 0));
    o.device = SAP_DEVICE_CUDA;
    CHECK(sap_solver_create(scene->model, 1, &o, &solver) == SAP_ERROR_UNSUPPORTED && !solver, "a solver on a GPU");
    expect_message("a SapSolver runs on the cpu only, a SapBatch on both");
    sap_batch_destroy(gpu);
    o.cuda_device = 3;
    gpu = (SapBatch *)1;
    CHECK(sap_batch_create(scene->model, 1, &o, &gpu) == SAP_ERROR_DEVICE && gpu == NULL, "GPU 3 of 1");
    expect_message("option cuda_device is '3'");
}

/* A context does not survive fork: in the child a batch is refused, and destroying it frees what is in host memory. */
static void check_fork(const SapScene *scene) {
    SapBatch *gpu = backend_batch(scene->model, 2, &scene->options, SAP_DEVICE_CUDA), *another = NULL;
    SapOptions o = scene->options;
    o.device = SAP_DEVICE_CUDA;
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        CHECK(sap_batch_step(gpu, 0.01, 1) == SAP_ERROR_UNSUPPORTED, "a step in a child: %s", sap_error_message());
        expect_message("sap_batch_step: this process");
        CHECK(sap_batch_create(scene->model, 1, &o, &another) == SAP_ERROR_UNSUPPORTED && !another, "a new batch");
        sap_batch_destroy(gpu);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
    NEED(sap_batch_step(gpu, 0.01, 1));
    sap_batch_destroy(gpu);
}

/* A dump of a world on a GPU: a CPU repeats its calls bit for bit. The speed guard fails the world in both. */
static void check_guard(const SapScene *scene) {
    enum { WORLDS = 5, WORLD = 3 };
    char path[64];
    SapOptions o = scene->options;
    SapDump *dump;
    SapBatch *again;
    snprintf(path, sizeof path, "/tmp/sapwood_ptx_%d.dump", (int)getpid());
    o.max_joint_speed = 1.5;
    SapBatch *gpu = backend_batch(scene->model, WORLDS, &o, SAP_DEVICE_CUDA);
    NEED(sap_batch_guard(gpu, 2));
    backend_disturb(gpu, 1);
    for (int i = 0; i < 40; i++)
        NEED(sap_batch_step(gpu, scene->dt, 2));
    NEED(sap_batch_dump(gpu, WORLD, path));
    NEED(sap_dump_load(path, &dump));
    CHECK(dump->num_calls == 2 && dump->calls[1].status == SAP_WORLD_TOO_FAST, "status %#x",
          (unsigned)dump->calls[1].status);
    for (int k = 0; k < 2; k++) {
        NEED(sap_dump_batch(dump, k, 1, NULL, &again));
        NEED(sap_batch_step(again, dump->calls[k].h, dump->calls[k].num_steps));
        CHECK(sap_solver_world_status(sap_batch_solver(again))[0] == dump->calls[k].status, "status of call %d", k);
        if (k == 1)
            CHECK(memcmp(sap_batch_state(again)->joint_q, dump->results.joint_q, 7 * sizeof(float)) == 0 &&
                      memcmp(sap_batch_state(again)->joint_qd, dump->results.joint_qd, 6 * sizeof(float)) == 0,
                  "the state after the last call");
        sap_batch_destroy(again);
    }
    sap_dump_destroy(dump);
    sap_batch_destroy(gpu);
    remove(path);
}

int main(void) {
    SapScene *scene = backend_scene("bench/scenes/cube.yaml");
    check_many_worlds(scene);
    check_rounds(scene);
    check_refusals(scene);
    check_fork(scene);
    check_guard(scene);
    sap_scene_destroy(scene);
    return 0;
}
