/* Scenes: any text is an error with a message or a model that steps. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/sapwood.h>

#include "fuzz/fuzz.h"

/* Worlds that are small enough to step thousands of them per second. */
static int is_small(const SapModelArrays *a) {
    return a->num_dofs <= 64 && a->num_shapes <= 64 && a->num_keyframes <= 16;
}

static void step(SapScene *scene) {
    SapOptions *o = &scene->options;
    SapBatch *batch;
    o->isa = SAP_ISA_GENERIC;
    o->device = SAP_DEVICE_CPU;
    o->threads = 1;
    o->max_contacts = o->max_contacts > 0 && o->max_contacts < 32 ? o->max_contacts : 32;
    o->max_iterations = o->max_iterations < 20 ? o->max_iterations : 20;
    o->line_search_max_iterations = o->line_search_max_iterations < 20 ? o->line_search_max_iterations : 20;
    if (fuzz_checked(sap_batch_create(scene->model, 2, o, &batch)) != SAP_OK)
        return;
    FUZZ_REQUIRE(sap_batch_step(batch, scene->dt, 2) == SAP_OK);
    FUZZ_REQUIRE(sap_batch_reset(batch, NULL, sap_model_arrays(scene->model)->num_keyframes) == SAP_OK);
    sap_batch_destroy(batch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    SapScene *scene;
    if (fuzz_checked(sap_scene_parse((const char *)data, size, "/no/such/folder/scene.yaml", &scene)) != SAP_OK) {
        FUZZ_REQUIRE(scene == NULL);
        return 0;
    }
    const SapModelArrays *a = sap_model_arrays(scene->model);
    FUZZ_REQUIRE(scene->dt > 0 && scene->num_worlds >= 1 && a->num_dofs >= 1);
    if (is_small(a))
        step(scene);
    sap_scene_destroy(scene);
    return 0;
}
