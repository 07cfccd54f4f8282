/* A batch on the CPU: a solver and arrays in host memory. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/batch/backend.h"
#include "host/batch/contacts.h"
#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/model/model.h"
#include "host/cpu/solver.h"

typedef struct CpuBatch {
    SapSolver *solver;
    void *recorded[SAP_BATCH_MAX_RECORDED];
    int num_recorded;
    size_t recorded_bytes;
} CpuBatch;

static SapStatus create(SapBatch *b, const SapModel *model) {
    CpuBatch *own = b->own = sap_allocate(1, sizeof *own, "batch");
    if (!own)
        return SAP_ERROR_MEMORY;
    SapDtype geometry = b->options.use_f64_boundary_pose ? SAP_F64 : SAP_F32;
    SAP_TRY(sap_solver_create(model, b->num_worlds, &b->options, &own->solver));
    SAP_TRY(sap_state_create(model, b->num_worlds, b->dtype, &b->state));
    SAP_TRY(sap_control_create(model, b->num_worlds, b->dtype, &b->control));
    SAP_TRY(sap_contacts_create_plain(b->num_worlds, b->options.max_rigid_contact, geometry, &b->contacts));
    b->start = *b->host_start;
    b->start_control = *b->host_start_control;
    return sap_solver_report(own->solver, &b->report);
}

static void destroy(SapBatch *b) {
    CpuBatch *own = b->own;
    sap_state_destroy(b->state);
    sap_control_destroy(b->control);
    sap_contacts_destroy(b->contacts);
    if (!own)
        return;
    sap_solver_destroy(own->solver);
    for (int i = 0; i < own->num_recorded; i++)
        free(own->recorded[i]);
    free(own);
}

SapSolver *sap_batch_solver(const SapBatch *b) {
    if (b && b->backend != &sap_batch_cpu)
        sap_fail(SAP_ERROR_UNSUPPORTED, "sap_batch_solver: the batch is on a GPU, where there is no SapSolver");
    return b && b->backend == &sap_batch_cpu ? ((CpuBatch *)b->own)->solver : NULL;
}

static SapStatus step(SapBatch *b, double h, int num_steps) {
    return sap_step_many(((CpuBatch *)b->own)->solver, b->state, b->control, b->contacts, h, num_steps);
}

static SapStatus reset(SapBatch *b, const uint8_t *mask, SapResetArgs *args) {
    args->mask = mask;
    for (int w = 0; w < b->num_worlds; w++)
        reset_world(args, w);
    return SAP_OK;
}

static SapStatus forward_kinematics(SapBatch *b, const uint8_t *mask) {
    return sap_forward_kinematics_of(((CpuBatch *)b->own)->solver, b->state, mask);
}

static SapStatus allocate(SapBatch *b, size_t count, size_t size, const char *what, void **out) {
    CpuBatch *own = b->own;
    *out = sap_allocate(count, size, what);
    if (!*out)
        return SAP_ERROR_MEMORY;
    own->recorded[own->num_recorded++] = *out;
    own->recorded_bytes += count * size;
    return SAP_OK;
}

static SapStatus expand(SapBatch *b, SapParameter parameter) {
    return sap_solver_expand(((CpuBatch *)b->own)->solver, parameter);
}

static SapWorldParameters *expansion(const SapBatch *b) {
    return sap_solver_world_parameters(((CpuBatch *)b->own)->solver);
}

static SapStatus record(SapBatch *b) {
    return sap_solver_record(((CpuBatch *)b->own)->solver, &b->record);
}

static SapStatus read_array(SapBatch *b, const void *from, void *host, size_t bytes) {
    (void)b;
    memcpy(host, from, bytes);
    return SAP_OK;
}

static SapStatus write_array(SapBatch *b, void *to, const void *host, size_t bytes) {
    (void)b;
    memcpy(to, host, bytes);
    return SAP_OK;
}

static SapStatus set_stream(SapBatch *b, void *stream) {
    (void)b, (void)stream;
    return sap_fail(SAP_ERROR_UNSUPPORTED, "sap_batch_set_stream: the batch is on the CPU, which has no streams");
}

static SapStatus synchronize(SapBatch *b) {
    (void)b;
    return SAP_OK;
}

static void info(const SapBatch *b, SapBatchInfo *out) {
    (void)b, (void)out;
}

static size_t bytes(const SapBatch *b) {
    const CpuBatch *own = b->own;
    SapSolverInfo solver;
    if (sap_solver_info(own->solver, &solver) != SAP_OK)
        return 0;
    size_t number = b->dtype == SAP_F64 ? sizeof(double) : sizeof(float), n = (size_t)b->num_worlds;
    size_t state = (size_t)b->nq + (size_t)b->nv + 13 * (size_t)b->nb, control = 4 * (size_t)b->nv + 6 * (size_t)b->nb;
    size_t contact = 11 * (b->contacts->dtype == SAP_F64 ? sizeof(double) : sizeof(float)) + 2 * sizeof(int32_t);
    return solver.total_bytes + n * (state + control) * number + n * (size_t)b->contacts->capacity * contact +
           2 * n * sizeof(int32_t) + own->recorded_bytes;
}

const SapBatchBackend sap_batch_cpu = {.device = SAP_DEVICE_CPU,
                                       .create = create,
                                       .destroy = destroy,
                                       .step = step,
                                       .reset = reset,
                                       .forward_kinematics = forward_kinematics,
                                       .allocate = allocate,
                                       .expand = expand,
                                       .expansion = expansion,
                                       .record = record,
                                       .read = read_array,
                                       .write = write_array,
                                       .set_stream = set_stream,
                                       .synchronize = synchronize,
                                       .info = info,
                                       .bytes = bytes};
