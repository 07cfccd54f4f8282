/* What a batch is on every device, and the one table through which batch.c reaches the device it is on: cpu/backend.c, cuda/backend.c.
 * This is the one header of batch that the rooms of the devices include. */
#ifndef SAPWOOD_HOST_BATCH_BACKEND_H
#define SAPWOOD_HOST_BATCH_BACKEND_H

#include <sapwood/batch.h>

#include "host/base/memory.h"
#include "host/plan/world_parameters.h"
#include "kernels/step/reset.h"

typedef struct SapBatchBackend {
    SapDevice device;
    /* Fills `own`, and the arrays and the starts of the batch through sap_batch_carve, with zeros in them. What is half done is left to
     * destroy. */
    SapStatus (*create)(SapBatch *batch, const SapModel *model);
    void (*destroy)(SapBatch *batch); /* own may be NULL */
    SapStatus (*step)(SapBatch *batch, double h, int num_steps);
    /* The mask is the caller's; args has everything else. */
    SapStatus (*reset)(SapBatch *batch, const uint8_t *mask, SapResetArgs *args);
    SapStatus (*forward_kinematics)(SapBatch *batch, const uint8_t *mask);
    /* Zeroed memory of the device, kept until the batch is destroyed. */
    SapStatus (*allocate)(SapBatch *batch, size_t count, size_t size, const char *what, void **out);
    /* Gives worlds their own values of a parameter, for the calls from now on. They are in host memory: those of the expansion. */
    SapStatus (*expand)(SapBatch *batch, SapParameter parameter);
    SapWorldParameters *(*expansion)(const SapBatch *batch);
    /* Steps from now on fill the arrays of batch->arrays.report. */
    SapStatus (*record)(SapBatch *batch);
    /* Messages begin with `what`. */
    SapStatus (*read)(SapBatch *batch, const char *what, const void *from, void *host, size_t bytes);
    SapStatus (*write)(SapBatch *batch, const char *what, void *to, const void *host, size_t bytes);
    SapStatus (*fill)(SapBatch *batch, const char *what, void *to, uint8_t byte, size_t bytes);
    SapStatus (*set_stream)(SapBatch *batch, void *stream);
    SapStatus (*synchronize)(SapBatch *batch);
    void (*info)(const SapBatch *batch, SapBatchInfo *info); /* adds what the device has to say */
    size_t (*bytes)(const SapBatch *batch);
} SapBatchBackend;

extern const SapBatchBackend sap_batch_cpu, sap_batch_cuda;

/* Arrays that are taken after the creation: reports, and parameters on a GPU. */
enum { SAP_BATCH_MAX_RECORDED = 64 };

/* All arrays of a batch; what they are stands in fields.c, row by row. Addresses of the device; NULL: absent. */
typedef struct SapBatchArrays {
    SapState state;
    SapControl control;
    SapContacts contacts;
    uint32_t *status;
    SapReportArgs report;
} SapBatchArrays;

struct SapBatch {
    const SapBatchBackend *backend;
    void *own; /* the backend's */
    int num_worlds;
    SapOptions options;
    SapDtype dtype;
    int nq, nv, nb;

    SapBatchArrays arrays;
    /* What worlds are put back to: one state for each start, the initial one, then the keyframes; and one control. Nothing else. */
    int num_starts;
    SapBatchArrays starts;
};

/* Takes the memory of the starts and of all arrays but those that are recorded on request. */
void sap_batch_carve(SapArena *arena, SapBatch *batch);

/* Bytes of these arrays, without the starts. */
size_t sap_batch_array_bytes(const SapBatch *batch);

#endif
