#include <sapwood/sapwood.h>
#include <stdint.h>
#include <stdio.h>

enum { WORLDS = 1024, EPISODE = 100, SUBSTEPS = 4, FIRST_JOINT = 6 };

/* A number in [-1, 1): your policy goes here. */
static float action(void) {
    static uint32_t x = 1;
    x = x * 1664525u + 1013904223u;
    return (float)(int32_t)x / 2147483648.0f;
}

/* The trunk is low, or leans by more than 60 degrees. pose: position, quaternion x y z w, joints. */
static uint8_t has_fallen(const float *pose) {
    return pose[2] < 0.25f || 1 - 2 * (pose[3] * pose[3] + pose[4] * pose[4]) < 0.5f;
}

int main(void) {
    SapScene *scene = NULL;
    SapBatch *batch = NULL;
    SapArray q = {0}, target = {0}, count = {0}, impulse = {0};
    uint8_t fallen[WORLDS];
    int resets = 0;
    double force = 0; /* of all contacts in the last step along their normals, N, all worlds */
    int ok = sap_scene_load("bench/scenes/quadruped.yaml", &scene) == SAP_OK &&
             sap_batch_create(scene->model, WORLDS, &scene->options, &batch) == SAP_OK &&
             sap_batch_array(batch, SAP_BATCH_JOINT_Q, &q) == SAP_OK &&
             sap_batch_array(batch, SAP_BATCH_JOINT_TARGET_POS, &target) == SAP_OK &&
             sap_batch_array(batch, SAP_BATCH_CONTACT_COUNT, &count) == SAP_OK &&
             sap_batch_array(batch, SAP_BATCH_CONTACT_IMPULSE, &impulse) == SAP_OK;
    for (int i = 0; i < EPISODE && ok; i++) {
        float *goal = target.data; /* [world][dof], live: what is written here is read by the next step */
        for (int w = 0; w < WORLDS; w++)
            for (int dof = FIRST_JOINT; dof < target.shape[1]; dof++)
                goal[w * target.shape[1] + dof] += 0.15f * action();
        ok = sap_batch_step(batch, scene->dt, SUBSTEPS) == SAP_OK; /* finds contacts, solves, moves */
        force = 0;
        for (int w = 0; w < WORLDS; w++) {
            const double *at = (const double *)impulse.data + w * impulse.shape[1] * 3; /* [contact][t1 t2 n], N s */
            for (int c = 0; c < ((const int32_t *)count.data)[w]; c++)
                force += at[3 * c + 2] / scene->dt;
            resets += fallen[w] = has_fallen((const float *)q.data + w * q.shape[1]);
        }
        ok = ok && sap_batch_reset(batch, fallen, 0) == SAP_OK; /* the worlds of the mask */
    }
    if (ok)
        printf("%d resets; contacts carry %.0f N per world\n", resets, force / WORLDS);
    else
        fprintf(stderr, "%s\n", sap_error_message());
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    return !ok;
}
