#include "host/cpu/programs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"

SapStatus sap_scratch_create(const SapStepArgs *a, const SapKernelSet *set, SapScratch *out) {
    const int real_bytes[2] = {set->pack[0]->real_bytes, set->pack[1]->real_bytes};
    void *const pointers[SAP_NUM_ARENAS] = {&out->fm,      &out->solve, &out->linear[0], &out->linear[1],
                                            &out->collide, &out->pairs, &out->ints};
    size_t bytes[SAP_NUM_ARENAS];
    *out = (SapScratch){0};
    sap_arena_bytes(a, real_bytes, bytes);
    for (int i = 0; i < SAP_NUM_ARENAS; i++) {
        void *arena = bytes[i] ? sap_allocate_raw(bytes[i], 1, "solver scratch") : NULL;
        if (bytes[i] && !arena)
            return SAP_ERROR_MEMORY;
        memcpy(pointers[i], &arena, sizeof arena);
        out->bytes += bytes[i];
    }
    return SAP_OK;
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

/* The list of stages, each called through the kernel table of its precision. */
#define STEP_FN             static
#define STAGE(is_f64, name) (ctx->kernels[is_f64]->name(ctx))
#define STEP_COLLIDES       1
#include "kernels/step/step_list.h"

bool sap_program_solves(const SapStepArgs *args) {
    const SapContext ctx = {.args = args};
    return step_solves(&ctx);
}

void sap_program_collide(SapContext *ctx) {
    collide_once(ctx);
}

void sap_program_step(SapContext *ctx) {
    for (ctx->step = 0; ctx->step < ctx->args->num_steps; ctx->step++)
        step_once(ctx);
}

void sap_program_lockstep_begin(SapContext *ctx) {
    lockstep_begin(ctx);
}

void sap_program_lockstep_assemble(SapContext *ctx) {
    lockstep_assemble(ctx);
}

void sap_program_lockstep_advance(SapContext *ctx) {
    lockstep_advance(ctx);
}

void sap_program_lockstep_finish(SapContext *ctx) {
    lockstep_finish(ctx);
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
