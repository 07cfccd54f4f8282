/* A short life of a batch on the GPU that calls every function the backend has, with a parameter that its worlds have
 * of their own: for test_backend.py, which makes calls of the driver fail. Prints "ok", or the error, and ends with 0:
 * crashes and leaks are what it is about.
 *
 * backend_use [steps]         calls of sap_batch_step; 2 unless given
 * backend_use steps "once"    one call with so many steps; prints the bytes of joint_q */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

enum { WORLDS = 3 };

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        SapStatus status_ = (call);                                                                                    \
        if (status_ != SAP_OK)                                                                                         \
            return status_;                                                                                            \
    } while (0)

/* Masses of each world's own, which the next step takes to the GPU. */
static SapStatus vary_masses(SapBatch *batch) {
    SapArray view;
    TRY(sap_batch_expand(batch, SAP_PARAMETER_BODY_MASS, &view));
    for (int64_t w = 0; w < view.shape[0]; w++)
        *(double *)((char *)view.data + w * view.strides[0]) *= 1 + 0.1 * (double)w;
    return SAP_OK;
}

static SapStatus use(SapBatch *batch, double dt, int steps) {
    const uint8_t mask[WORLDS] = {1, 0, 1};
    static double numbers[1 << 16];
    SapArray view;
    SapDeviceInfo gpu;
    TRY(sap_batch_array(batch, SAP_BATCH_CONTACT_IMPULSE, &view));
    for (int i = 0; i < steps; i++)
        TRY(sap_batch_step(batch, dt, 1));
    TRY(sap_batch_reset(batch, mask, 0));
    TRY(sap_batch_set_stream(batch, (void *)1)); /* CU_STREAM_LEGACY */
    TRY(sap_batch_forward_kinematics(batch, NULL));
    size_t bytes = backend_bytes(batch, SAP_BATCH_JOINT_Q);
    TRY(sap_batch_read(batch, SAP_BATCH_JOINT_Q, numbers, bytes));
    TRY(sap_batch_write(batch, SAP_BATCH_JOINT_Q, numbers, bytes));
    TRY(vary_masses(batch));
    TRY(sap_batch_step(batch, dt, 1));
    TRY(sap_batch_synchronize(batch));
    return sap_device_info(0, &gpu);
}

static SapStatus step_once(SapBatch *batch, double dt, int steps) {
    TRY(sap_batch_step(batch, dt, steps));
    size_t bytes = backend_bytes(batch, SAP_BATCH_JOINT_Q);
    unsigned char *q = backend_read(batch, SAP_BATCH_JOINT_Q);
    for (size_t i = 0; i < bytes; i++)
        printf("%02x", q[i]);
    printf("\n");
    free(q);
    return SAP_OK;
}

/* The workspace is used too. */
static SapStatus live(const SapScene *scene, int steps, bool once) {
    SapOptions o = scene->options;
    SapBatch *batch = NULL;
    o.device = SAP_DEVICE_CUDA;
    o.shared_memory = 1024;
    TRY(sap_batch_create(scene->model, WORLDS, &o, &batch));
    SapStatus status = once ? step_once(batch, scene->dt, steps) : use(batch, scene->dt, steps);
    sap_batch_destroy(batch);
    return status;
}

int main(int argc, char **argv) {
    SapScene *scene = backend_scene("bench/scenes/cube.yaml");
    SapStatus status = live(scene, argc > 1 ? atoi(argv[1]) : 2, argc > 2);
    if (status == SAP_OK)
        printf("ok\n");
    else
        printf("%s: %s\n", sap_status_string(status), sap_error_message());
    sap_scene_destroy(scene);
    return 0;
}
