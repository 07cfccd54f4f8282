#include "host/cpu/context.h"

#include <stdlib.h>

#include "host/base/memory.h"

SapStatus sap_scratch_create(const SapStepArgs *a, const SapKernelSet *set, SapScratch *out) {
    const int real_bytes[2] = {set->pack[0]->real_bytes, set->pack[1]->real_bytes};
    size_t bytes[SAP_NUM_ARENAS];
    *out = (SapScratch){0};
    sap_arena_bytes(a, a->contacts.num_slots, real_bytes, bytes);
    for (int i = 0; i < SAP_NUM_ARENAS; i++) {
        out->arena[i] = bytes[i] ? sap_allocate_raw(bytes[i], 1, "solver scratch") : NULL;
        if (bytes[i] && !out->arena[i])
            return SAP_ERROR_MEMORY;
        out->bytes += bytes[i];
    }
    out->shared = sap_shared_scratch(a, real_bytes);
    out->linear_is_f64 = a->newton.linear_is_f64;
    return SAP_OK;
}

void sap_scratch_free(SapScratch *scratch) {
    for (int i = 0; i < SAP_NUM_ARENAS; i++)
        free(scratch->arena[i]);
    *scratch = (SapScratch){0};
}

SapContext sap_context(const SapStepArgs *args, const SapPack *pack, const SapKernelSet *kernels,
                       const SapScratch *scratch) {
    SapContext ctx = {.args = args,
                      .pack = pack,
                      .kernels = {kernels->pack[0], kernels->pack[1]},
                      .one_lane = {kernels->one_lane[0], kernels->one_lane[1]}};
#define X(name, member, ...) ctx.member = scratch->arena[SAP_ARENA_##name];
    SAP_EACH_ARENA(X, X)
#undef X
    char *fm = ctx.fm;
    ctx.solve = fm + scratch->shared.solve;
    ctx.linear[scratch->linear_is_f64] = fm + scratch->shared.linear;
    ctx.ticks = scratch->ticks;
    return ctx;
}

SapPack sap_pack_at(int first, int num_worlds, int lanes) {
    SapPack pack = {.count = num_worlds - first < lanes ? num_worlds - first : lanes};
    for (int l = 0; l < lanes; l++)
        pack.world[l] = first + (l < pack.count ? l : pack.count - 1);
    return pack;
}
