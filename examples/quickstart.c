#include <sapwood/sapwood.h>
#include <stdint.h>
#include <stdio.h>

enum { WORLDS = 1024, EPISODE = 100, SUBSTEPS = 4 };

int main(void) {
    SapScene *scene = NULL;
    SapBatch *batch = NULL;
    SapArray q = {0}, target = {0};
    uint8_t fallen[WORLDS];
    int resets = 0;
    int ok = sap_scene_load("bench/scenes/quadruped.yaml", &scene) == SAP_OK &&
             sap_batch_create(scene->model, WORLDS, &scene->options, &batch) == SAP_OK &&
             sap_batch_array(batch, SAP_BATCH_JOINT_Q, &q) == SAP_OK &&
             sap_batch_array(batch, SAP_BATCH_JOINT_TARGET_POS, &target) == SAP_OK;
    for (int i = 0; i < EPISODE && ok; i++) {
        float *pose = q.data, *action = target.data; /* [world][coordinate], [world][dof]; live */
        for (int w = 0; w < WORLDS; w++)
            action[w * target.shape[1] + 8] += 0.0001f * (float)w; /* a knee; your policy goes here */
        ok = sap_batch_step(batch, scene->dt, SUBSTEPS) == SAP_OK; /* finds contacts, solves, moves */
        for (int w = 0; w < WORLDS; w++)
            resets += fallen[w] = pose[w * q.shape[1] + 2] < 0.38f;
        ok = ok && sap_batch_reset(batch, fallen, 0) == SAP_OK;
    }
    if (ok)
        printf("height of world 0: %g m; %d resets\n", ((float *)q.data)[2], resets);
    else
        fprintf(stderr, "%s\n", sap_error_message());
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    return !ok;
}
