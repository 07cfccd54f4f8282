#include "lab/selftest/library.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORLDS = 5, STEPS = 4 };
static const double bound = 1e-9; /* of the test `lockstep`, in f64; rounding gives 3e-13 there */

/* Positions after the steps, to be freed; NULL: something failed. text: SapBatchInfo.factor, or what failed. */
static double *positions(const SapScene *scene, const SapOptions *o, size_t *bytes, char *text, size_t size) {
    SapBatch *batch = NULL;
    SapBatchInfo info;
    SapArray view;
    double *q = NULL;
    bool ok = sap_batch_create(scene->model, WORLDS, o, &batch) == SAP_OK &&
              sap_batch_step(batch, scene->dt, STEPS) == SAP_OK &&
              sap_batch_array(batch, SAP_BATCH_JOINT_Q, &view) == SAP_OK && sap_batch_info(batch, &info) == SAP_OK;
    if (ok) {
        *bytes = WORLDS * (size_t)view.strides[0];
        q = malloc(*bytes);
        ok = q && view.type == SAP_TYPE_F64 && sap_batch_read(batch, SAP_BATCH_JOINT_Q, q, *bytes) == SAP_OK;
        snprintf(text, size, "%s", info.factor); /* the text belongs to the batch */
    }
    if (!ok) {
        snprintf(text, size, "%s", sap_error_message());
        free(q);
        q = NULL;
    }
    sap_batch_destroy(batch);
    return q;
}

static double largest_difference(const double *a, const double *b, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fabs(a[i] - b[i]) <= most ? most : fabs(a[i] - b[i]); /* NaN stays */
    return most;
}

static bool run_library(const CliSettings *settings, const CliScene *scene, CliLibraryTest *out) {
    SapOptions library = scene->scene->options, sparse;
    char other[sizeof out->text];
    size_t bytes = 0;
    if (sap_options_set(&library, "preset", "drake") != SAP_OK || !cli_settings_apply(settings, &library))
        return false;
    sparse = library;
    library.factor_plan = SAP_FACTOR_LIBRARY;
    sparse.factor_plan = SAP_FACTOR_SPARSE;
    double *a = positions(scene->scene, &library, &bytes, out->text, sizeof out->text);
    double *b = a ? positions(scene->scene, &sparse, &bytes, other, sizeof other) : NULL;
    out->ran = a && b;
    if (a && !b)
        snprintf(out->text, sizeof out->text, "%s", other);
    if (out->ran)
        out->difference = largest_difference(a, b, bytes / sizeof *a);
    out->same = out->difference <= bound;
    free(a);
    free(b);
    return true;
}

bool cli_selftest_library(const CliSettings *settings, const char *name, CliLibraryTest *out) {
    const CliSettings none = {.asset_root = settings->asset_root};
    CliScene scene = {.scene = NULL};
    *out = (CliLibraryTest){.ran = false};
    bool ok = cli_scene_open(name, &none, &scene) && run_library(settings, &scene, out);
    cli_scene_close(&scene);
    return ok;
}
