#include "host/batch/guard.h"

#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/memory.h"

bool sap_guard_is_input(const SapBatchRow *row) {
    return row->field == SAP_BATCH_JOINT_Q || row->field == SAP_BATCH_JOINT_QD || row->reset == SAP_FIELD_TO_CONTROL;
}

static bool is_kept(const SapBatchRow *row) {
    return sap_guard_is_input(row) || row->field == SAP_BATCH_STATUS;
}

/* Where an array of all worlds begins in the place of a call. */
static char *place_of(const SapGuard *g, long long call, const SapBatchRow *row) {
    return g->memory + (size_t)(call % g->room) * g->place_bytes + g->offset[row - sap_batch_rows];
}

const char *sap_guard_row(const SapBatch *b, long long call, const SapBatchRow *row, int world) {
    return place_of(b->guard, call, row) + (size_t)world * sap_batch_row_bytes(b, row);
}

/* ---- creation ---- */

/* Lays the kept arrays of a call side by side; returns their bytes. */
static size_t lay_out(const SapBatch *b, size_t *offset) {
    size_t bytes = 0;
    for (int i = 0; i < sap_batch_num_rows; i++) {
        offset[i] = bytes;
        if (is_kept(&sap_batch_rows[i]))
            bytes += (size_t)b->num_worlds * sap_batch_row_bytes(b, &sap_batch_rows[i]);
    }
    return bytes;
}

static SapStatus fill_guard(SapBatch *b, int calls) {
    SapGuard *g = b->guard;
    void *memory;
    g->room = calls;
    g->call = sap_allocate((size_t)calls, sizeof *g->call, "guard");
    g->offset = sap_allocate((size_t)sap_batch_num_rows, sizeof *g->offset, "guard");
    if (!g->call || !g->offset)
        return SAP_ERROR_MEMORY;
    g->place_bytes = (lay_out(b, g->offset) + 63) / 64 * 64;
    SAP_TRY(b->backend->allocate(b, (size_t)calls, g->place_bytes, "the guard", &memory));
    g->memory = memory;
    return SAP_OK;
}

SapStatus sap_batch_guard(SapBatch *batch, int calls) {
    SAP_NEED(batch);
    if (calls < 1 || calls > SAP_GUARD_MAX_CALLS)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_guard: calls is %d; it must be in 1 .. %d", calls,
                        SAP_GUARD_MAX_CALLS);
    bool warm = batch->options.warm_start && batch->options.contact_solver != SAP_SOLVER_SAP;
    if (warm || batch->options.sleep_steps > 0)
        return sap_fail(
            SAP_ERROR_UNSUPPORTED,
            "sap_batch_guard: option %s is set, so a step depends on earlier ones, which a dump does not repeat",
            warm ? "warm_start" : "sleep_steps");
    if (batch->guard && batch->guard->room != calls)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_guard: calls is %d; the batch has a guard of %d already", calls,
                        batch->guard->room);
    if (batch->guard)
        return SAP_OK;
    batch->guard = sap_allocate(1, sizeof *batch->guard, "guard");
    if (!batch->guard)
        return SAP_ERROR_MEMORY;
    SapStatus status = fill_guard(batch, calls);
    if (status != SAP_OK) {
        sap_guard_free(batch->guard);
        batch->guard = NULL;
    }
    return status;
}

void sap_guard_free(SapGuard *guard) {
    if (!guard)
        return;
    free(guard->call); /* the places are the backend's */
    free(guard->offset);
    free(guard);
}

/* ---- copies ---- */

/* Copies an array of all worlds into the place of the current call. */
static SapStatus keep(SapBatch *b, const SapBatchRow *row) {
    const void *from = sap_batch_row_get(&b->arrays, row);
    char *to = place_of(b->guard, b->guard->num_calls, row);
    if (!from) /* the caller took the array away: steps read zeros or the model's */
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_step: %s was set to NULL, and the batch has a guard", row->name);
    return b->backend->copy(b, "sap_batch_step", to, from, (size_t)b->num_worlds * sap_batch_row_bytes(b, row));
}

SapStatus sap_guard_begin(SapBatch *b, double h, int num_steps) {
    SapGuard *g = b->guard;
    for (int i = 0; i < sap_batch_num_rows; i++)
        if (sap_guard_is_input(&sap_batch_rows[i]))
            SAP_TRY(keep(b, &sap_batch_rows[i]));
    g->call[g->num_calls % g->room] = (SapGuardCall){h, num_steps};
    return SAP_OK;
}

SapStatus sap_guard_end(SapBatch *b) {
    SAP_TRY(keep(b, sap_batch_row(SAP_BATCH_STATUS)));
    b->guard->num_calls++;
    return SAP_OK;
}
