// What the entry files of the GPU target share: the team of a world, its scratch, and how a step calls its stages. An entry
// file includes it once, before target/cuda_set.cuh, and defines what differs (step/step_list.h).
#include <sapwood/solver.h>

#include "kernels/data/table.h"
#include "kernels/step/skip_world.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/bits.h"

// MAX_TEAM: threads of the largest team and of the largest block. COLLIDE_BLOCKS: blocks of this size of the collision
// kernel that must fit a multiprocessor.
enum { MAX_TEAM = 128, COLLIDE_BLOCKS = 3 };

// The linear system of either precision, for the solve.
#define LINEAR_ASSEMBLE(ctx, is_f64, pattern)                                                                          \
    ((is_f64) ? f64::stage_linear_assemble(ctx, pattern) : f32::stage_linear_assemble(ctx, pattern))
#define LINEAR_SOLVE(ctx, is_f64, pattern)                                                                             \
    ((is_f64) ? f64::stage_linear_solve(ctx, pattern) : f32::stage_linear_solve(ctx, pattern))

// A real is one number, so the general narrow phase is called directly.
#define CONVEX(ctx, task) stage_convex(task)

// The list of stages, each in the namespace of its precision. Collision is a separate launch.
#define STEP_FN             static __device__
#define STAGE(is_f64, name) ((is_f64) ? f64::stage_##name(ctx) : f32::stage_##name(ctx))
#define STEP_COLLIDES       0
#define STEP_PLACE_SLOTS    place_slots(ctx)

extern __shared__ __align__(16) unsigned char shared_scratch[];

// Address of an arena of this team: in the team's part of shared memory, or of the workspace.
static __device__ unsigned char *arena_at(const SapArenas *arenas, int offset) {
    if (offset >= 0)
        return shared_scratch + threadIdx.y * arenas->size + offset;
    return arenas->workspace + (blockIdx.x * blockDim.y + threadIdx.y) * arenas->workspace_size + ~offset;
}

// Sets the memory of the contact slots.
static __device__ void set_slots(SapContext *ctx, const SapSlotArenas *slots) {
    const SapArenas *arena = &ctx->args->arena;
    ctx->slots = arena_at(arena, slots->reals);
    ctx->jacobians = arena_at(arena, slots->jacobians);
    ctx->slot_ints = (int *)arena_at(arena, slots->ints);
}

// Slots of a world with few contacts are in shared memory, those of other worlds in the workspace. A pack is one world,
// so it has a slot for each record.
static __device__ void place_slots(SapContext *ctx) {
    const SapArenas *arena = &ctx->args->arena;
    const int *count = ctx->args->contacts.count;
    bool few = !count || count[ctx->pack->world[0]] <= arena->few_slots;
    set_slots(ctx, few ? &arena->slots : &arena->more);
}

// Sets the world of this team and its scratch; false past the end of the batch. If the grid is smaller than the batch,
// each team processes one world per round.
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
    ctx->solve = arena_at(arena, arena->solve);
    ctx->linear[0] = arena_at(arena, arena->linear[0]);
    ctx->linear[1] = arena_at(arena, arena->linear[1]);
    ctx->ints = (int *)arena_at(arena, arena->ints);
    ctx->blocks = arena_at(arena, arena->blocks);
    ctx->origin = arena_at(arena, arena->origin);
    ctx->origin_ints = (int *)arena_at(arena, arena->origin_ints);
    ctx->tiles = (int *)arena_at(arena, arena->tiles);
    ctx->repeat = arena_at(arena, arena->repeat);
    ctx->repeat_slots = arena_at(arena, arena->repeat_slots);
    ctx->collide = arena_at(arena, arena->collide);
    ctx->pairs = (int *)arena_at(arena, arena->pairs);
    set_slots(ctx, &arena->slots);
    ctx->num_slots = 0;
    ctx->repeats = 0;
    ctx->step = 0;
    return true;
}
