/* Makes a weld hold the present pose of its bodies (sap_batch_attach). */
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/base/number.h"
#include "host/base/pose.h"
#include "host/batch/backend.h"
#include "host/options/capabilities.h"

static SapStatus check(const SapModelArrays *m, int constraint) {
    if (constraint < 0 || constraint >= m->num_constraints)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_attach: constraint is %d; the model has %d constraints",
                        constraint, m->num_constraints);
    if (m->constraint_type[constraint] != SAP_CONSTRAINT_WELD)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_attach: constraint %d ('%s') is a %s; it must be a weld",
                        constraint, m->constraint_name[constraint],
                        sap_constraint_type_name(m->constraint_type[constraint]));
    return SAP_OK;
}

/* The pose of a body of world w; -1 = the world. */
static void body_pose(const SapBatch *b, const char *body_q, int w, int body, double *X) {
    memcpy(X, (double[7]){[6] = 1}, 7 * sizeof *X);
    for (int i = 0; i < 7 && body >= 0; i++) {
        size_t at = ((size_t)w * (size_t)b->nb + (size_t)body) * 7 + (size_t)i;
        X[i] = sap_number_at(body_q, b->dtype == SAP_F64, at);
    }
}

/* frame_b = X_b^-1 X_a frame_a */
static void place_frame(const SapBatch *b, const SapModelArrays *m, const char *body_q, int w, int c, double *frames) {
    double X_a[7], X_b[7];
    body_pose(b, body_q, w, m->constraint_body[2 * c], X_a);
    body_pose(b, body_q, w, m->constraint_body[2 * c + 1], X_b);
    pose_invert(X_b, frames + 7);
    pose_compose(frames + 7, X_a);
    pose_compose(frames + 7, frames);
}

static SapStatus attach(SapBatch *b, int constraint, const uint8_t *mask, char *body_q, int32_t *active) {
    const SapModelArrays *m = b->backend->per_world(b)->model;
    size_t n = (size_t)b->num_worlds, nc = (size_t)b->num_constraints;
    size_t pose_bytes = n * (size_t)b->nb * 7 * sap_real_bytes(b->dtype == SAP_F64);
    SapArray frames;
    if (!body_q || !active)
        return SAP_ERROR_MEMORY;
    SAP_TRY(sap_batch_read(b, SAP_BATCH_BODY_Q, body_q, pose_bytes));
    SAP_TRY(sap_batch_read(b, SAP_BATCH_CONSTRAINT_ACTIVE, active, n * nc * sizeof *active));
    SAP_TRY(sap_batch_expand(b, SAP_PARAMETER_CONSTRAINT_X, &frames));
    for (size_t w = 0; w < n; w++)
        if (!mask || mask[w]) {
            size_t row = w * nc + (size_t)constraint;
            place_frame(b, m, body_q, (int)w, constraint, (double *)frames.data + 14 * row);
            active[row] = 1;
        }
    return sap_batch_write(b, SAP_BATCH_CONSTRAINT_ACTIVE, active, n * nc * sizeof *active);
}

SapStatus sap_batch_attach(SapBatch *batch, int constraint, const uint8_t *mask) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    SAP_REQUIRE(&batch->options, SAP_CAN_ATTACH, "sap_batch_attach");
    SAP_TRY(check(batch->backend->per_world(batch)->model, constraint));
    size_t n = (size_t)batch->num_worlds;
    char *body_q = sap_allocate(n * (size_t)batch->nb, 7 * sizeof(double), "body_q");
    int32_t *active = sap_allocate(n, (size_t)batch->num_constraints * sizeof *active, "constraint_active");
    SapStatus status = attach(batch, constraint, mask, body_q, active);
    free(body_q);
    free(active);
    return status;
}
