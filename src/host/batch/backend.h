/* What a batch is on every device, and the one table through which batch.c reaches the device it is on: batch_cpu.c, batch_cuda.c.
 *
 * All arrays of a batch are found through state, control, contacts, report and record, whose pointers are addresses of the
 * device. */
#ifndef SAPWOOD_HOST_BATCH_BACKEND_H
#define SAPWOOD_HOST_BATCH_BACKEND_H

#include <sapwood/batch.h>

#include "host/plan/world_parameters.h"
#include "kernels/step/reset.h"

typedef struct SapBatchBackend {
    SapDevice device;
    /* Fills `own` and the pointers named above. What is half done is left to destroy. */
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
    /* Steps from now on fill the arrays of batch->record. */
    SapStatus (*record)(SapBatch *batch);
    SapStatus (*read)(SapBatch *batch, const void *from, void *host, size_t bytes);
    SapStatus (*write)(SapBatch *batch, void *to, const void *host, size_t bytes);
    SapStatus (*set_stream)(SapBatch *batch, void *stream);
    SapStatus (*synchronize)(SapBatch *batch);
    void (*info)(const SapBatch *batch, SapBatchInfo *info); /* adds what the device has to say */
    size_t (*bytes)(const SapBatch *batch);
} SapBatchBackend;

extern const SapBatchBackend sap_batch_cpu, sap_batch_cuda;

/* Arrays that are taken after the creation: reports, and parameters on a GPU. */
enum { SAP_BATCH_MAX_RECORDED = 64 };

struct SapBatch {
    const SapBatchBackend *backend;
    void *own; /* the backend's */
    int num_worlds;
    SapOptions options;
    SapDtype dtype;
    int nq, nv, nb, num_starts;

    SapState *state;
    SapControl *control;
    SapContacts *contacts;
    SapWorldReport report;
    SapContactReport record;  /* arrays that were asked for; NULL the others */
    SapState start;           /* one world per state to return to: the initial one, then the keyframes */
    SapControl start_control; /* one world */

    /* The same two in host memory, from which a backend makes its own. */
    SapState *host_start;
    SapControl *host_start_control;
};

#endif
