#include "host/cuda/deferred.h"

#include <limits.h>

#include "host/base/fail.h"
#include "host/base/number.h"
#include "host/cuda/arrays.h"
#include "host/cuda/choose.h"

/* Threads of the general narrow phase: warps per multiprocessor. Each thread has a workspace of 13 or 23 kB, and eight
 * warps hide some of the latency of its accesses. */
enum { WARP = 32, WARPS = 8, MERGE_THREADS = 128 };

/* A world can let as many pairs wait as it has contact records, but not more than there are. */
static int choose_most(const SapStepArgs *args) {
    long long pairs = sap_cuda_general_pairs(&args->plan);
    return (int)(pairs < args->contacts.capacity ? pairs : args->contacts.capacity);
}

static int work_bytes(const SapStepArgs *args) {
    return args->geometry_is_f64 ? SAP_CONVEX_BYTES_F64 : SAP_CONVEX_BYTES_F32;
}

/* Adds a workspace of the general narrow phase to a team's. */
static SapStatus add_workspace(SapCudaPhase *p, int bytes) {
    if (p->shape.workspace_size > INT_MAX - bytes)
        return sap_fail(SAP_ERROR_MEMORY, "device cuda: the scratch of a world is too large");
    p->arenas.convex = ~(int)p->shape.workspace_size;
    p->shape.workspace_size += bytes;
    p->arenas.workspace_size = p->shape.workspace_size;
    return SAP_OK;
}

static unsigned blocks_for(long long items, long long per_block) {
    return (unsigned)((items - 1) / per_block + 1);
}

SapStatus sap_cuda_choose_deferred(SapCudaBatch *c, int num_worlds) {
    SapDeferredArgs *w = &c->args.collide.deferred;
    w->most = choose_most(&c->args);
    if (w->most == 0)
        return SAP_OK;
    if (w->most > INT_MAX / num_worlds)
        w->most = INT_MAX / num_worlds; /* the list has integers */
    /* a team needs one if no more pairs of its world can wait */
    SAP_TRY(add_workspace(&c->collide, work_bytes(&c->args)));
    c->convex.kernel = c->device->convex[c->args.geometry_is_f64];
    c->convex.shape = (SapCudaShape){.team = 1, .worlds_per_block = WARP};
    SAP_TRY(add_workspace(&c->convex, work_bytes(&c->args)));
    unsigned all = blocks_for((long long)num_worlds * w->most, WARP),
             resident = (unsigned)(WARPS * c->device->multiprocessors);
    c->convex.blocks = all < resident ? all : resident;
    c->merge.kernel = c->device->merge;
    c->merge.shape = (SapCudaShape){.team = 1, .worlds_per_block = MERGE_THREADS};
    c->merge.blocks = blocks_for(num_worlds, MERGE_THREADS);
    return SAP_OK;
}

static size_t workspace_of(const SapCudaPhase *p) {
    return (size_t)p->blocks * (size_t)p->shape.worlds_per_block * (size_t)p->shape.workspace_size;
}

SapStatus sap_cuda_create_pool(SapCudaBatch *c) {
    enum { NAN_BYTE = 0xff };
    if (c->args.collide.deferred.most == 0)
        return SAP_OK;
    size_t convex = workspace_of(&c->convex), collide = workspace_of(&c->collide);
    c->pool_bytes = convex > collide ? convex : collide;
    SAP_TRY(sap_cuda_take_memory(c, "the general narrow phase", c->pool_bytes, &c->pool));
    c->collide.arenas.workspace = c->convex.arenas.workspace = sap_cuda_pointer(c->pool);
    /* copies of structs also copy members that have not been set */
    SAP_CU_TRY(c->device->cuda, set_bytes, "device cuda", (c->pool, NAN_BYTE, c->pool_bytes, c->stream));
    return SAP_OK;
}

void sap_cuda_carve_deferred(SapArena *arena, SapStepArgs *args, int num_worlds) {
    SapDeferredArgs *w = &args->collide.deferred;
    if (w->most == 0)
        return;
    size_t worlds = (size_t)num_worlds, pairs = worlds * (size_t)w->most;
    size_t real_bytes = sap_real_bytes(args->geometry_is_f64);
    SAP_CARVE(arena, w->count, worlds);
    SAP_CARVE(arena, w->listed, 1);
    SAP_CARVE(arena, w->list, pairs);
    SAP_CARVE(arena, w->ints, pairs * SAP_DEFERRED_INTS);
    size_t points = pairs * (size_t)args->collide.max_contacts * SAP_CANDIDATE_SIZE;
    w->points = sap_arena_carve(arena, points, real_bytes);
    w->gap = sap_arena_carve(arena, worlds * (size_t)args->contacts.capacity, real_bytes);
}
