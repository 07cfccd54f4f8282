#include "host/batch/guard.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"

bool sap_guard_is_input(const SapFormulation *formulation, const SapBatchRow *row) {
    bool is_memory = row->field == SAP_BATCH_DOF_CACHE || row->field == SAP_BATCH_ACTUATOR_ACT;
    return row->field == SAP_BATCH_JOINT_Q || row->field == SAP_BATCH_JOINT_QD || row->reset == SAP_FIELD_TO_CONTROL ||
           (formulation->has_memory && is_memory);
}

static bool is_kept(const SapBatch *b, const SapBatchRow *row) {
    return sap_guard_is_input(b->formulation, row) || row->field == SAP_BATCH_STATUS;
}

/* The place of a call, and where an array of all worlds begins there. */
static char *place_of(const SapGuard *g, long long call) {
    return g->memory + (size_t)(call % g->room) * g->place_bytes;
}
static char *array_of(const SapGuard *g, long long call, const SapBatchRow *row) {
    return place_of(g, call) + g->offset[row - sap_batch_rows];
}

/* The bit of an input in SapSnapshot.copied. */
static int bit_of(const SapBatch *b, const SapBatchRow *row) {
    int bit = 0;
    for (const SapBatchRow *before = sap_batch_rows; before < row; before++)
        bit += sap_guard_is_input(b->formulation, before);
    return bit;
}

SapStatus sap_guard_read(SapBatch *b, const char *what, long long call, const SapBatchRow *row, int world, void *host) {
    size_t bytes = sap_batch_row_bytes(b, row);
    uint32_t copied = ~0u;
    if (sap_guard_is_input(b->formulation, row))
        SAP_TRY(b->backend->read(b, what, (uint32_t *)(place_of(b->guard, call) + b->guard->copied) + world, &copied,
                                 sizeof copied));
    if (copied >> bit_of(b, row) & 1)
        return b->backend->read(b, what, array_of(b->guard, call, row) + (size_t)world * bytes, host, bytes);
    memset(host, 0, bytes);
    return SAP_OK;
}

/* ---- creation ---- */

/* Lays the kept arrays of a call side by side. */
static void lay_out(const SapBatch *b, SapGuard *g) {
    size_t bytes = 0, n = (size_t)b->num_worlds;
    for (int i = 0; i < sap_batch_num_rows; i++) {
        g->offset[i] = bytes;
        if (is_kept(b, &sap_batch_rows[i]))
            bytes += n * sap_batch_row_bytes(b, &sap_batch_rows[i]);
    }
    g->copied = bytes;
    g->place_bytes = (bytes + n * sizeof(uint32_t) + 63) / 64 * 64;
}

static SapStatus fill_guard(SapBatch *b, int calls) {
    SapGuard *g = b->guard;
    void *memory;
    g->room = calls;
    g->call = sap_allocate((size_t)calls, sizeof *g->call, "guard");
    g->offset = sap_allocate((size_t)sap_batch_num_rows, sizeof *g->offset, "guard");
    if (!g->call || !g->offset)
        return SAP_ERROR_MEMORY;
    lay_out(b, g);
    SAP_TRY(b->backend->allocate(b, (size_t)calls, g->place_bytes, "the guard", &memory));
    g->memory = memory;
    for (int i = 0; i < calls; i++)
        SAP_TRY(b->backend->fill(b, "sap_batch_guard", place_of(g, i) + g->copied, 0xff,
                                 (size_t)b->num_worlds * sizeof(uint32_t)));
    return SAP_OK;
}

SapStatus sap_batch_guard(SapBatch *batch, int calls) {
    SAP_NEED(batch);
    if (calls < 1 || calls > SAP_GUARD_MAX_CALLS)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_guard: calls is %d; it must be in 1 .. %d", calls,
                        SAP_GUARD_MAX_CALLS);
    /* A step must be a function of the inputs that are kept. */
    SAP_REQUIRE(&batch->options, SAP_CAN_GUARD, "sap_batch_guard");
    if (batch->options.warm_start)
        SAP_REQUIRE(&batch->options, SAP_CAN_GUARD_WARM_START, "sap_batch_guard");
    if (batch->options.sleep_steps > 0)
        SAP_REQUIRE(&batch->options, SAP_CAN_GUARD_SLEEP, "sap_batch_guard");
    /* A batch has one guard. */
    if (batch->guard && batch->guard->room != calls)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_guard: calls is %d; the batch has a guard of %d already", calls,
                        batch->guard->room);
    if (batch->guard)
        return SAP_OK;
    /* Make it; on failure the batch has none. */
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

/* The array of a row, which is copied. */
static SapStatus find_array(const SapBatch *b, const SapBatchRow *row, const void **array) {
    *array = sap_batch_row_get(&b->arrays, row);
    if (!*array) /* the caller set the array to NULL: steps read zeros or the model's values */
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_batch_step: %s was set to NULL, and the batch has a guard", row->name);
    return SAP_OK;
}

SapStatus sap_guard_begin(SapBatch *b, double h, int num_steps) {
    SapGuard *g = b->guard;
    g->kept.num_rows = 0;
    g->kept.copied = (uint32_t *)(place_of(g, g->num_calls) + g->copied);
    for (int i = 0; i < sap_batch_num_rows; i++) {
        const SapBatchRow *row = &sap_batch_rows[i];
        const void *from;
        if (!sap_guard_is_input(b->formulation, row))
            continue;
        SAP_TRY(find_array(b, row, &from));
        g->kept.row[g->kept.num_rows++] =
            (SapSnapshotRow){from, array_of(g, g->num_calls, row), sap_batch_row_bytes(b, row)};
    }
    g->call[g->num_calls % g->room] = (SapGuardCall){h, num_steps};
    return b->backend->keep(b, "sap_batch_step", &g->kept);
}

SapStatus sap_guard_end(SapBatch *b) {
    const SapBatchRow *row = sap_batch_row(SAP_BATCH_STATUS);
    const void *from;
    SAP_TRY(find_array(b, row, &from));
    SAP_TRY(b->backend->copy(b, "sap_batch_step", array_of(b->guard, b->guard->num_calls, row), from,
                             (size_t)b->num_worlds * sap_batch_row_bytes(b, row)));
    b->guard->num_calls++;
    return SAP_OK;
}
