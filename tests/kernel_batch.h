/* Runs kernels without a solver: the arguments of a call for a model and a batch, as the host would make them. */
#ifndef SAPWOOD_TESTS_KERNEL_BATCH_H
#define SAPWOOD_TESTS_KERNEL_BATCH_H

#include <stdint.h>
#include <stdlib.h>

#include "hash_worlds.h"
#include "host/plan.h"
#include "kernels/args.h"

typedef struct KernelBatch {
    HashBatch batch;
    SapPlanOwner plan;
    SapConstantsOwner constants;
    uint32_t *status;
    SapStepArgs args; /* in place, midpoint */
} KernelBatch;

static inline SapRows kernel_rows(void *data, int width, SapDtype dtype) {
    SapRows rows = {.data = data, .stride = width, .is_f64 = dtype == SAP_F64};
    return rows;
}

/* World i of the batch holds content i. */
static inline KernelBatch kernel_batch_create(const SapModelArrays *m, int worlds, int precision, double h) {
    SapDtype dtype = precision == 64 ? SAP_F64 : SAP_F32;
    KernelBatch k = {.batch = hash_batch_create(m, worlds, dtype)};
    if (sap_plan_create(m, &k.plan) != SAP_OK ||
        sap_constants_create(m, &k.plan.plan, precision == 64, &k.constants) != SAP_OK)
        abort();
    for (int i = 0; i < worlds; i++)
        hash_fill(&k.batch, i, (uint64_t)i);
    k.status = calloc((size_t)worlds, sizeof *k.status);

    SapState *s = &k.batch.state;
    SapControl *c = &k.batch.control;
    k.args = (SapStepArgs){.plan = k.plan.plan, .constants = k.constants.constants, .h = h, .num_worlds = worlds};
    k.args.q_in = k.args.q_out = kernel_rows(s->joint_q, m->num_coords, dtype);
    k.args.qd_in = k.args.qd_out = kernel_rows(s->joint_qd, m->num_dofs, dtype);
    k.args.joint_f = kernel_rows(c->joint_f, m->num_dofs, dtype);
    k.args.body_f = kernel_rows(c->body_f, 6 * m->num_bodies, dtype);
    k.args.body_q = kernel_rows(s->body_q, 7 * m->num_bodies, dtype);
    k.args.body_qd = kernel_rows(s->body_qd, 6 * m->num_bodies, dtype);
    k.args.status = k.status;
    return k;
}

static inline void kernel_batch_destroy(KernelBatch *k) {
    sap_plan_free(&k->plan);
    sap_constants_free(&k->constants);
    hash_batch_destroy(&k->batch);
    free(k->status);
}

static inline void *kernel_scratch(const KernelBatch *k, const SapKernels *kernels) {
    size_t bytes = (size_t)k->plan.plan.layout.size * (size_t)kernels->real_bytes;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

/* The pack of worlds first .. first + lanes - 1; past the end of the batch the last world is repeated. */
static inline SapPack kernel_pack(int first, int worlds, int lanes) {
    SapPack pack = {.count = worlds - first < lanes ? worlds - first : lanes};
    for (int l = 0; l < lanes; l++)
        pack.world[l] = first + (l < pack.count ? l : pack.count - 1);
    return pack;
}

#endif
