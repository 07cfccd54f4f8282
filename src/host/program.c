#include "program.h"

#include <stdlib.h>

#include "fail.h"
#include "host_memory.h"

static SapStatus take(SapScratch *scratch, void *pointer, int count, int size) {
    void **out = pointer;
    *out = sap_allocate((size_t)count, (size_t)size, "solver scratch");
    scratch->bytes += *out ? (size_t)count * (size_t)size : 0;
    return *out ? SAP_OK : SAP_ERROR_MEMORY;
}

SapStatus sap_scratch_create(const SapStepArgs *a, const SapKernelSet *set, SapScratch *out) {
    const SapKernels *const *kernels = set->pack;
    *out = (SapScratch){0};
    SAP_TRY(take(out, &out->fm, a->plan.layout.size, kernels[a->fm_is_f64]->real_bytes));
    SAP_TRY(take(out, &out->solve, a->solve.size, kernels[a->solve_is_f64]->real_bytes));
    for (int f64 = a->newton.linear_is_f64; f64 < 2; f64++) /* f64 also where f32 may need its help */
        SAP_TRY(take(out, &out->linear[f64], a->linear.size, kernels[f64]->real_bytes));
    SAP_TRY(take(out, &out->collide, a->collide.layout.size, kernels[a->geometry_is_f64]->real_bytes));
    SAP_TRY(take(out, &out->pairs, a->collide.layout.ints, sizeof(int)));
    return take(out, &out->ints, a->slot_ints.total, sizeof(int));
}

void sap_scratch_free(SapScratch *scratch) {
    free(scratch->fm);
    free(scratch->solve);
    free(scratch->linear[0]);
    free(scratch->linear[1]);
    free(scratch->collide);
    free(scratch->pairs);
    free(scratch->ints);
    *scratch = (SapScratch){0};
}

void sap_program_kinematics(SapContext *ctx) {
    ctx->kernels[ctx->args->fm_is_f64]->kinematics(ctx);
}

void sap_program_inspect(SapContext *ctx) {
    const SapKernels *fm = ctx->kernels[ctx->args->fm_is_f64];
    fm->free_motion(ctx);
    fm->inspect(ctx);
}

void sap_program_collide(SapContext *ctx) {
    const SapStepArgs *a = ctx->args;
    ctx->kernels[a->fm_is_f64]->place(ctx);
    ctx->kernels[a->geometry_is_f64]->collide(ctx);
}

static void step_once(SapContext *ctx) {
    const SapStepArgs *a = ctx->args;
    ctx->kernels[a->fm_is_f64]->free_motion(ctx);
    if (a->collide.enabled)
        ctx->kernels[a->geometry_is_f64]->collide(ctx);
    if (a->contacts.count || a->has_joint_terms) { /* of the call, not the pack: a world's status is its own */
        ctx->num_slots = ctx->kernels[0]->fill_slots(ctx);
        ctx->kernels[a->geometry_is_f64]->contact_geometry(ctx);
        ctx->kernels[a->weight_is_f64]->contact_weight(ctx);
        ctx->kernels[a->solve_is_f64]->solve(ctx);
    }
    ctx->kernels[a->fm_is_f64]->finish(ctx);
}

void sap_program_step(SapContext *ctx) {
    for (ctx->step = 0; ctx->step < ctx->args->num_steps; ctx->step++)
        step_once(ctx);
}

void sap_program_run(SapProgram *program, const SapStepArgs *args, const SapPack *pack, const SapKernelSet *kernels,
                     const SapScratch *scratch) {
    SapContext ctx = {.args = args,
                      .pack = pack,
                      .kernels = {kernels->pack[0], kernels->pack[1]},
                      .one_lane = {kernels->one_lane[0], kernels->one_lane[1]},
                      .fm = scratch->fm,
                      .collide = scratch->collide,
                      .solve = scratch->solve,
                      .linear = {scratch->linear[0], scratch->linear[1]},
                      .ints = scratch->ints,
                      .pairs = scratch->pairs,
                      .ticks = scratch->ticks};
    program(&ctx);
}

SapPack sap_pack_at(int first, int num_worlds, int lanes) {
    SapPack pack = {.count = num_worlds - first < lanes ? num_worlds - first : lanes};
    for (int l = 0; l < lanes; l++)
        pack.world[l] = first + (l < pack.count ? l : pack.count - 1);
    return pack;
}
