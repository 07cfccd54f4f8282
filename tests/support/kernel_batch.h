/* Runs kernels without a solver: the arguments of a call for a model and a batch, as the host would make them. */
#ifndef SAPWOOD_TESTS_SUPPORT_KERNEL_BATCH_H
#define SAPWOOD_TESTS_SUPPORT_KERNEL_BATCH_H

#include <stdint.h>
#include <stdlib.h>

#include "support/hash_worlds.h"
#include "host/plan/plan.h"
#include "host/cpu/run.h"
#include "host/plan/step_args.h"
#include "kernels/data/table.h"

typedef struct KernelBatch {
    HashBatch batch;
    SapPlanOwner plan;
    SapConstantsOwner constants[2];
    const SapKernels *kernels[2]; /* f32, f64 */
    SapScratch scratch;
    uint32_t *status;
    SapStepArgs args; /* in place, midpoint */
    SapDualStepArgs *dual;
} KernelBatch;

static inline SapBuffer kernel_buffer(void *data, int width, SapDtype dtype) {
    SapBuffer rows = {.data = data, .stride = width, .is_f64 = dtype == SAP_F64};
    return rows;
}

/* The defaults of a preset, written out: this header must not need the embedded presets. */
static inline SapOptions kernel_options(int precision) {
    SapPrecision p = precision == 64 ? SAP_FP64 : SAP_FP32;
    SapOptions o = {.free_motion_precision = p,
                    .contact_solve_precision = p,
                    .linear_solve_precision = p,
                    .contact_weight_precision = p,
                    .contact_geometry_f64 = precision == 64,
                    .max_contacts = 16,
                    .max_contacts_per_pair = 4,
                    .fallback_mu = 0.5,
                    .fallback_stiffness = 1e10,
                    .near_rigid = 1,
                    .friction_regularization = 1e-3,
                    .fallback_tau = 0.01,
                    .max_iterations = 100,
                    .optimality_abs_tol = 1e-14,
                    .optimality_rel_tol = precision == 64 ? 1e-6 : 1e-4,
                    .cost_abs_tol = 1e-30,
                    .cost_rel_tol = precision == 64 ? 1e-15 : 1e-7,
                    .line_search = SAP_EXACT_ROOT,
                    .line_search_max_iterations = 0,
                    .armijo_c = 1e-4,
                    .armijo_rho = 0.8,
                    .armijo_slop = 1e-10};
    return o;
}

/* Collision with one world at a time needs kernels of one lane. */
static inline SapKernelSet kernel_set(const SapKernels *const kernels[2]) {
    SapKernelSet set = {.pack = {kernels[0], kernels[1]}, .one_lane = {kernels[0], kernels[1]}};
    return set;
}

/* World i of the batch holds content i, stored as free motion computes. */
static inline KernelBatch kernel_batch_create_with(const SapModel *model, int worlds, const SapOptions *o,
                                                   const SapKernels *const kernels[2], double h) {
    const SapModelArrays *m = sap_model_arrays(model);
    SapDtype dtype = o->free_motion_precision == SAP_FP64 ? SAP_F64 : SAP_F32;
    KernelBatch k = {.batch = hash_batch_create(m, worlds, dtype), .kernels = {kernels[0], kernels[1]}};
    SapKernelSet set = kernel_set(kernels);
    if (sap_plan_create(model, 0, &k.plan) != SAP_OK || sap_plan_set_broad_phase(m, o->broad_phase, &k.plan) != SAP_OK)
        abort();
    for (int f64 = 0; f64 < 2; f64++)
        if (sap_constants_create(m, &k.plan.plan, f64, &k.constants[f64]) != SAP_OK)
            abort();
    for (int i = 0; i < worlds; i++)
        hash_fill(&k.batch, i, (uint64_t)i);
    k.status = calloc((size_t)worlds, sizeof *k.status);

    SapState *s = &k.batch.state;
    SapControl *c = &k.batch.control;
    const SapConstants constants[2] = {k.constants[0].constants, k.constants[1].constants};
    k.dual = calloc(1, sizeof *k.dual);
    if (sap_step_args_init(m, &k.plan.plan, constants, o, kernels[0]->lanes, k.dual, &k.args) != SAP_OK)
        abort();
    k.args.h = h;
    k.args.num_worlds = worlds;
    k.args.q_in = k.args.q_out = kernel_buffer(s->joint_q, m->num_coords, dtype);
    k.args.qd_in = k.args.qd_out = kernel_buffer(s->joint_qd, m->num_dofs, dtype);
    k.args.joint_f = kernel_buffer(c->joint_f, m->num_dofs, dtype);
    k.args.body_f = kernel_buffer(c->body_f, 6 * m->num_bodies, dtype);
    k.args.target_pos = kernel_buffer((void *)m->joint_target_pos, 0, SAP_F64);
    k.args.target_vel = kernel_buffer((void *)m->joint_target_vel, 0, SAP_F64);
    k.args.act = kernel_buffer((void *)m->joint_act, 0, SAP_F64);
    k.args.constraints.target_pos = kernel_buffer((void *)m->tendon_target_pos, 0, SAP_F64);
    k.args.constraints.target_vel = kernel_buffer((void *)m->tendon_target_vel, 0, SAP_F64);
    k.args.body_q = kernel_buffer(s->body_q, 7 * m->num_bodies, dtype);
    k.args.body_qd = kernel_buffer(s->body_qd, 6 * m->num_bodies, dtype);
    k.args.status = k.status;
    if (sap_scratch_create(&k.args, &set, &k.scratch) != SAP_OK)
        abort();
    return k;
}

/* All stages in `precision`. */
static inline KernelBatch kernel_batch_create(const SapModel *model, int worlds, int precision,
                                              const SapKernels *const kernels[2], double h) {
    SapOptions o = kernel_options(precision);
    return kernel_batch_create_with(model, worlds, &o, kernels, h);
}

static inline void kernel_batch_destroy(KernelBatch *k) {
    sap_scratch_free(&k->scratch);
    sap_plan_free(&k->plan);
    for (int f64 = 0; f64 < 2; f64++)
        sap_constants_free(&k->constants[f64]);
    hash_batch_destroy(&k->batch);
    free(k->dual);
    free(k->status);
}

/* Runs a program on the pack that begins with world `first`. */
static inline void kernel_batch_run(const KernelBatch *k, SapProgram *program, int first) {
    SapPack pack = sap_pack_at(first, k->args.num_worlds, k->kernels[0]->lanes);
    SapKernelSet set = kernel_set(k->kernels);
    SapContext ctx = sap_context(&k->args, &pack, &set, &k->scratch);
    program(&ctx);
}

#endif
