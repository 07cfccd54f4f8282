/* Batches of scenes with constraints, in f64 and solved to rounding. */
#ifndef SAPWOOD_TESTS_SUPPORT_LINKAGE_BATCH_H
#define SAPWOOD_TESTS_SUPPORT_LINKAGE_BATCH_H

#include <stdio.h>
#include <string.h>

#include <sapwood/sapwood.h>

#include "support/need.h"

static inline SapScene *parse(const char *text) {
    SapScene *scene = NULL;
    need(sap_scene_parse(text, strlen(text), "scene.yaml", &scene));
    return scene;
}

/* `path` is relative to the project. */
static inline SapScene *load(const char *path) {
    char full[4096];
    SapScene *scene = NULL;
    snprintf(full, sizeof full, "%s/%s.yaml", SAPWOOD_SOURCE_DIR, path);
    need(sap_scene_load(full, &scene));
    return scene;
}

static inline SapBatch *create_with(const SapScene *scene, int worlds, SapOptions o) {
    SapBatch *batch = NULL;
    o.threads = 1;
    o.optimality_rel_tol = 1e-13;
    o.cost_rel_tol = 0;
    o.line_search = SAP_EXACT_ROOT;
    need(sap_batch_create_as(scene->model, worlds, &o, SAP_F64, &batch));
    return batch;
}

static inline SapBatch *create(const SapScene *scene, int worlds, const char *preset) {
    SapOptions o;
    need(sap_options_preset(preset, &o));
    return create_with(scene, worlds, o);
}

static inline void *array_of(SapBatch *batch, SapBatchField field) {
    SapArray view;
    need(sap_batch_array(batch, field, &view));
    return view.data;
}

static inline void step(SapBatch *batch, double h, int n) {
    need(sap_batch_step(batch, h, n));
}

#endif
