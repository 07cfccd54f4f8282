/* Batches of the scenes in bench/scenes, with worlds whose content depends on one number alone. */
#ifndef SAPWOOD_TESTS_SUPPORT_SCENE_BATCH_H
#define SAPWOOD_TESTS_SUPPORT_SCENE_BATCH_H

#include <math.h>
#include <stdio.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/number.h"

static inline SapScene *load(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/bench/scenes/%s.yaml", SAPWOOD_SOURCE_DIR, name);
    SapScene *scene = NULL;
    cr_assert_eq(sap_scene_load(path, &scene), SAP_OK, "%s", sap_error_message());
    return scene;
}

static inline SapBatch *create(const SapScene *scene, int worlds, const SapOptions *options) {
    SapBatch *batch = NULL;
    cr_assert_eq(sap_batch_create(scene->model, worlds, options, &batch), SAP_OK, "%s", sap_error_message());
    return batch;
}

/* World w gets the velocities of content `content`: numbers that depend on it alone. */
static inline void set_content(SapBatch *batch, const SapModelArrays *a, int w, int content) {
    SapState *s = sap_batch_state(batch);
    for (int i = 0; i < a->num_dofs; i++) {
        double change = 0.5 * sin(12.9898 * (content + 1) + 78.233 * i);
        size_t at = (size_t)w * (size_t)a->num_dofs + (size_t)i;
        number_put(s->joint_qd, s->dtype, at, a->joint_qd[i] + change);
    }
}

#endif
