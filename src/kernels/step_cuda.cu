// The GPU's entry: the same programs, one team per world. Block (team size, worlds per block), dynamic shared memory for the
// scratch of the block's worlds. Both precisions are compiled here; a namespace keeps their names apart.
#include <sapwood/solver.h>

#include "args.h"
#include "reset.h"
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

// Where an arena of this team begins: in its part of shared memory, or of the workspace.
static __device__ unsigned char *arena_at(const SapArenas *arenas, int offset) {
    if (offset >= 0)
        return shared_scratch + threadIdx.y * arenas->size + offset;
    return arenas->workspace + (blockIdx.x * blockDim.y + threadIdx.y) * arenas->workspace_size + ~offset;
}

// The world of this team and its scratch; false past the end of the batch. A grid may be smaller than the batch, whose worlds then
// come to the same teams in several rounds.
static __device__ bool begin(const SapStepArgs *args, unsigned round, SapPack *pack, SapContext *ctx) {
    unsigned world = (round * gridDim.x + blockIdx.x) * blockDim.y + threadIdx.y;
    const SapArenas *arena = &args->arena;
    if (world >= (unsigned)args->num_worlds)
        return false;
    pack->world[0] = (int)world;
    pack->count = 1;
    ctx->args = args;
    ctx->pack = pack;
    ctx->fm = arena_at(arena, arena->fm);
    ctx->collide = arena_at(arena, arena->collide);
    ctx->solve = arena_at(arena, arena->solve);
    ctx->linear[0] = arena_at(arena, arena->linear[0]);
    ctx->linear[1] = arena_at(arena, arena->linear[1]);
    ctx->ints = (int *)arena_at(arena, arena->ints);
    ctx->pairs = (int *)arena_at(arena, arena->pairs);
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
    for (unsigned round = 0; begin(&args, round, &pack, &ctx); round++)
        for (ctx.step = 0; ctx.step < args.num_steps; ctx.step++) {
            step_once(&ctx);
            TEAM_SYNC(); // the next step reads the state that this one stored, and the next world overwrites the scratch
        }
}

extern "C" __global__ void sap_kernel_collide(const __grid_constant__ SapStepArgs args) {
    SapPack pack;
    SapContext ctx;
    for (unsigned round = 0; begin(&args, round, &pack, &ctx); round++) {
        STAGE(args.fm_is_f64, place);
        STAGE(args.geometry_is_f64, collide);
        TEAM_SYNC(); // the next world overwrites the scratch
    }
}

extern "C" __global__ void sap_kernel_kinematics(const __grid_constant__ SapStepArgs args) {
    SapPack pack;
    SapContext ctx;
    for (unsigned round = 0; begin(&args, round, &pack, &ctx); round++) {
        STAGE(args.fm_is_f64, kinematics);
        TEAM_SYNC(); // the next world overwrites the scratch
    }
}

extern "C" __global__ void sap_kernel_reset(const __grid_constant__ SapResetArgs args) {
    int i = (int)(blockIdx.x * blockDim.y + threadIdx.y);
    if (i < args.count)
        reset_world(&args, i);
}
