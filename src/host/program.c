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

SapStatus sap_scratch_create(const SapStepArgs *a, const SapKernels *const kernels[2], SapScratch *out) {
    *out = (SapScratch){0};
    SAP_TRY(take(out, &out->fm, a->plan.layout.size, kernels[a->fm_is_f64]->real_bytes));
    SAP_TRY(take(out, &out->solve, a->solve.size, kernels[a->solve_is_f64]->real_bytes));
    for (int f64 = a->newton.linear_is_f64; f64 < 2; f64++) /* f64 also where f32 may need its help */
        SAP_TRY(take(out, &out->linear[f64], a->linear.size, kernels[f64]->real_bytes));
    return take(out, &out->ints, a->slot_ints.size * a->contacts.capacity, sizeof(int));
}

void sap_scratch_free(SapScratch *scratch) {
    free(scratch->fm);
    free(scratch->solve);
    free(scratch->linear[0]);
    free(scratch->linear[1]);
    free(scratch->ints);
    *scratch = (SapScratch){0};
}

void sap_program_kinematics(const SapContext *ctx) {
    ctx->kernels[ctx->args->fm_is_f64]->kinematics(ctx);
}

void sap_program_inspect(const SapContext *ctx) {
    const SapKernels *fm = ctx->kernels[ctx->args->fm_is_f64];
    fm->free_motion(ctx);
    fm->inspect(ctx);
}

void sap_program_step(const SapContext *ctx) {
    const SapStepArgs *a = ctx->args;
    ctx->kernels[a->fm_is_f64]->free_motion(ctx);
    if (a->contacts.count || a->has_joint_terms) { /* of the call, not the pack: a world's status is its own */
        ctx->kernels[a->geometry_is_f64]->contact_geometry(ctx);
        ctx->kernels[a->weight_is_f64]->contact_weight(ctx);
        ctx->kernels[a->solve_is_f64]->solve(ctx);
    }
    ctx->kernels[a->fm_is_f64]->finish(ctx);
}

/* The most contacts any world of the pack has. */
static int count_slots(const SapContactArgs *contacts, const SapPack *pack) {
    int most = 0;
    for (int l = 0; contacts->count && l < pack->count; l++)
        most = contacts->count[pack->world[l]] > most ? contacts->count[pack->world[l]] : most;
    return most;
}

void sap_program_run(SapProgram *program, const SapStepArgs *args, const SapPack *pack,
                     const SapKernels *const kernels[2], const SapScratch *scratch) {
    SapContext ctx = {.args = args,
                      .pack = pack,
                      .kernels = {kernels[0], kernels[1]},
                      .fm = scratch->fm,
                      .solve = scratch->solve,
                      .linear = {scratch->linear[0], scratch->linear[1]},
                      .ints = scratch->ints,
                      .num_slots = count_slots(&args->contacts, pack)};
    program(&ctx);
}

SapPack sap_pack_at(int first, int num_worlds, int lanes) {
    SapPack pack = {.count = num_worlds - first < lanes ? num_worlds - first : lanes};
    for (int l = 0; l < lanes; l++)
        pack.world[l] = first + (l < pack.count ? l : pack.count - 1);
    return pack;
}
