// The GPU's entry: the same programs, one team per world. Block (team size, worlds per block), dynamic shared memory for the
// scratch of the block's worlds. Both precisions are compiled here; a namespace keeps their names apart.
#include <sapwood/solver.h>

#include "args.h"
#include "team.h"

namespace f32 {
static __device__ void program_linear_solve(const SapContext *ctx, const SapPattern *pattern);
}
namespace f64 {
static __device__ void program_linear_solve(const SapContext *ctx, const SapPattern *pattern);
}

// The solve calls the linear solver of either precision.
static __device__ void linear_solve(const SapContext *ctx, int is_f64, const SapPattern *pattern) {
    if (is_f64)
        f64::program_linear_solve(ctx, pattern);
    else
        f32::program_linear_solve(ctx, pattern);
}
#define LINEAR_SOLVE(ctx, is_f64, pattern) linear_solve(ctx, is_f64, pattern)

// A real is one number: the general narrow phase is called as it is.
#define CONVEX(ctx, task) program_convex(task)

namespace f32 {
#define SAP_PRECISION 32
#include "stages.h"
#undef SAP_PRECISION
} // namespace f32

namespace f64 {
#define SAP_PRECISION 64
#include "stages.h"
#undef SAP_PRECISION
} // namespace f64

extern __shared__ __align__(16) unsigned char shared_scratch[];

// The world of this team and its part of shared memory; false past the end of the batch.
static __device__ bool begin(const SapStepArgs *args, SapPack *pack, SapContext *ctx) {
    pack->world[0] = (int)(blockIdx.x * blockDim.y + threadIdx.y);
    pack->count = 1;
    if (pack->world[0] >= args->num_worlds)
        return false;
    unsigned char *scratch = shared_scratch + threadIdx.y * args->arena.size;
    ctx->args = args;
    ctx->pack = pack;
    ctx->fm = scratch + args->arena.fm;
    ctx->collide = scratch + args->arena.collide;
    ctx->solve = scratch + args->arena.solve;
    ctx->linear[0] = scratch + args->arena.linear[0];
    ctx->linear[1] = scratch + args->arena.linear[1];
    ctx->ints = (int *)(scratch + args->arena.ints);
    ctx->pairs = (int *)(scratch + args->arena.pairs);
    ctx->num_slots = 0;
    ctx->step = 0;
    return true;
}

#define STAGE(is_f64, program)                                                                                         \
    do {                                                                                                               \
        if (is_f64)                                                                                                    \
            f64::program_##program(&ctx);                                                                              \
        else                                                                                                           \
            f32::program_##program(&ctx);                                                                              \
    } while (0)

static __device__ void step_once(SapContext *context) {
    SapContext &ctx = *context;
    const SapStepArgs &args = *ctx.args;
    STAGE(args.fm_is_f64, free_motion);
    if (args.collide.enabled)
        STAGE(args.geometry_is_f64, collide);
    if (args.contacts.count || args.has_joint_terms) { // of the call: a world's status is its own
        ctx.num_slots = f32::program_fill_slots(&ctx);
        STAGE(args.geometry_is_f64, contact_geometry);
        STAGE(args.weight_is_f64, contact_weight);
        STAGE(args.solve_is_f64, solve);
    }
    STAGE(args.fm_is_f64, finish);
}

extern "C" __global__ void sap_kernel_step(const __grid_constant__ SapStepArgs args) {
    SapPack pack;
    SapContext ctx;
    if (!begin(&args, &pack, &ctx))
        return;
    for (ctx.step = 0; ctx.step < args.num_steps; ctx.step++) {
        step_once(&ctx);
        TEAM_SYNC(); // the next step reads the state that this one stored
    }
}

extern "C" __global__ void sap_kernel_collide(const __grid_constant__ SapStepArgs args) {
    SapPack pack;
    SapContext ctx;
    if (!begin(&args, &pack, &ctx))
        return;
    STAGE(args.fm_is_f64, place);
    STAGE(args.geometry_is_f64, collide);
}

extern "C" __global__ void sap_kernel_kinematics(const __grid_constant__ SapStepArgs args) {
    SapPack pack;
    SapContext ctx;
    if (!begin(&args, &pack, &ctx))
        return;
    STAGE(args.fm_is_f64, kinematics);
}
