/* A thread per world takes fewer instructions than a team, but fills a GPU only with many worlds, and its scratch must
 * fit local memory (docs/gpu.md). Otherwise a team steps a world. */
#include "host/cuda/mapping.h"

#include <stdio.h>

#include "host/base/fail.h"
#include "host/cuda/launch.h"

/* Below so many warps per multiprocessor a team per world is predicted to be faster. */
enum { WARP = 32, MIN_WARPS = 6 };

/* Why a thread cannot step a world of the batch; NULL = it can. */
static const char *why_not(const SapCudaBatch *c, const char *suffix) {
    if (c->formulation->own_kernels || c->args.dual)
        return "a team per world: only the solver sap has kernels with a thread per world";
    if (c->lockstep)
        return "a team per world: a library solves the linear systems";
    if (!*suffix)
        return "a team per world: only with a preset, and without constraints, tendons and compat, a thread can step a "
               "world";
    if (c->thread.arenas.size > SAP_THREAD_SCRATCH)
        return "a team per world: its scratch is too large for the local memory of a thread";
    return NULL;
}

/* Whether the narrow phase of two shapes is a closed form for all their poses (kernels/collide/narrow.h). The type of
 * the first is not larger than that of the second. */
static bool has_closed_form(int first, int second) {
    switch (first) {
    case SAP_SHAPE_PLANE: return second != SAP_SHAPE_HEIGHT_FIELD;
    case SAP_SHAPE_SPHERE: return second != SAP_SHAPE_HULL;
    case SAP_SHAPE_CAPSULE: return second == SAP_SHAPE_CAPSULE || second == SAP_SHAPE_BOX;
    default: return false;
    }
}

bool sap_cuda_has_closed_forms(const SapPlan *plan) {
    bool closed = plan->broad_phase == SAP_BROAD_PHASE_LISTED;
    for (int i = 0; closed && i < plan->num_pairs; i++)
        closed = has_closed_form(plan->shape_type[plan->pair[i].shape[0]], plan->shape_type[plan->pair[i].shape[1]]);
    return closed;
}

SapKernelKind sap_cuda_part_of_preset(const SapPlan *plan) {
    return sap_cuda_can_touch(plan) && sap_cuda_has_closed_forms(plan) ? SAP_CUDA_FUSED_STEP : SAP_CUDA_STEP;
}

/* Pairs of a table of bits, in which a plan with a sweep or a tree has them. */
static long long general_pairs_allowed(const SapPlan *plan) {
    long long count = 0;
    for (int a = 0; a < plan->ns; a++)
        for (int b = a + 1; b < plan->ns; b++) {
            int i = plan->shape_type[a], k = plan->shape_type[b];
            count += !has_closed_form(i < k ? i : k, i < k ? k : i);
        }
    return count;
}

long long sap_cuda_general_pairs(const SapPlan *plan) {
    if (plan->broad_phase != SAP_BROAD_PHASE_LISTED)
        return general_pairs_allowed(plan);
    long long count = 0;
    for (int i = 0; i < plan->num_pairs; i++)
        count += !has_closed_form(plan->shape_type[plan->pair[i].shape[0]], plan->shape_type[plan->pair[i].shape[1]]);
    return count;
}

/* Looks for the kernel. Without it, or if the driver cannot load it, a batch can still use teams. */
static const char *find_kernel(SapCudaBatch *c, const char *suffix) {
    char name[64];
    snprintf(name, sizeof name, "sap_kernel_step_thread%s", suffix);
    SapStatus status = sap_cuda_device_find_in(c->device, SAP_CUDA_IMAGE_THREAD, name, &c->thread.kernel);
    return status == SAP_OK && c->thread.kernel ? NULL
                                                : "a team per world: the kernels with a thread per world are missing";
}

static SapStatus refuse(const SapCudaBatch *c, const char *reason) {
    return sap_fail(
        SAP_ERROR_UNSUPPORTED,
        "option team_size is '1', which is not possible here (scratch of a world: %d bytes, of a thread: %d): %s",
        c->thread.arenas.size, SAP_THREAD_SCRATCH, reason);
}

SapStatus sap_cuda_choose_mapping(const SapBatch *b, const char *suffix) {
    SapCudaBatch *c = b->own;
    int wanted = b->options.team_size;
    c->mapping = "by the option team_size";
    if (wanted > 1)
        return SAP_OK;
    SapKernelKind part = sap_cuda_part_of_preset(&c->args.plan);
    SAP_TRY(sap_cuda_thread_shape(part, &c->args, &c->thread.arenas, &c->thread.shape));
    if (part == SAP_CUDA_FUSED_STEP &&
        c->thread.arenas.size > SAP_THREAD_SCRATCH) /* many shapes: collision is a separate kernel */
        SAP_TRY(sap_cuda_thread_shape(SAP_CUDA_STEP, &c->args, &c->thread.arenas, &c->thread.shape));
    const char *reason = why_not(c, suffix);
    if (!reason && wanted == 0 && b->num_worlds < MIN_WARPS * WARP * c->device->multiprocessors)
        reason = "a team per world: too few worlds to fill the GPU with a thread each";
    if (!reason)
        reason = find_kernel(c, suffix);
    if (reason && wanted == 1)
        return refuse(c, reason);
    c->has_threads = !reason;
    if (wanted == 0)
        c->mapping = reason ? reason : "a thread per world: enough worlds fill the GPU";
    return SAP_OK;
}
