// What the entry files of the GPU target share: the team of a world, its scratch, and how a step calls its stages. An
// entry file includes it once, before target/cuda_set.cuh, and defines what differs (step/step_list.h, and
// SAP_FORMULATION of target/cuda_stages.cuh).
#define SAP_MAX_LANES 1 // a team has one world
#include <sapwood/solver.h>

#include "kernels/data/table.h"
#include "kernels/step/skip_world.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/bits.h"

// MAX_TEAM: threads of the largest team and of the largest block. COLLIDE_BLOCKS: blocks of this size of the collision
// kernel that must fit a multiprocessor.
enum { MAX_TEAM = 128, COLLIDE_BLOCKS = 3 };

// The scratch of a team is in fast memory and in the workspace, which is global memory. Fast memory is shared memory.
// If a thread has a world (TEAM_OF_ONE) it is local memory: it always has the arena of free motion, which comes first,
// and with it the problem and its linear system; also the slots and their set-up of worlds with few contacts.
//   DECLARE_SCRATCH(name)   declares the team's part of fast memory in a kernel with the parameter `args`
//   TEAM_SCRATCH(ctx)       its address
#if TEAM_OF_ONE
enum { BLOCK_THREADS = 32 };
#ifndef THREAD_SCRATCH // kernels made for a batch have as much as its worlds need
#define THREAD_SCRATCH SAP_THREAD_SCRATCH
#endif
#define DECLARE_SCRATCH(name) __align__(16) unsigned char name[THREAD_SCRATCH]
#define TEAM_SCRATCH(ctx)     ((unsigned char *)(ctx)->fm)
#else
enum { BLOCK_THREADS = MAX_TEAM };
extern __shared__ __align__(16) unsigned char shared_scratch[];
#define TEAM_SCRATCH_OF(args) (shared_scratch + threadIdx.y * (args).arena.size)
#define DECLARE_SCRATCH(name) unsigned char *name = TEAM_SCRATCH_OF(args)
#define TEAM_SCRATCH(ctx)     TEAM_SCRATCH_OF(*(ctx)->args)
#endif

#if TEAM_OF_ONE
// All is inlined, so that a context and its pack are in registers; a function that is called gets a copy of them.
struct ContextCopy {
    SapContext ctx;
    SapPack pack;
    __device__ __forceinline__ explicit ContextCopy(const SapContext *from) : ctx(*from), pack(*from->pack) {
        ctx.pack = &pack;
    }
    __device__ __forceinline__ const SapContext *address() const {
        return &ctx;
    }
};
#endif

// The linear system of either precision, for the solve.
#define LINEAR_ASSEMBLE(ctx, is_f64) ((is_f64) ? f64::stage_linear_assemble(ctx) : f32::stage_linear_assemble(ctx))
#define LINEAR_SOLVE_ANY(ctx, is_f64, pattern)                                                                         \
    ((is_f64) ? f64::stage_linear_solve(ctx, pattern) : f32::stage_linear_solve(ctx, pattern))
#if TEAM_OF_ONE
// On the tree's pattern and in the precision of the options it is inlined; tiles and second attempts are called.
#define LINEAR_SOLVE(ctx, is_f64, pattern)                                                                             \
    ((pattern) && (is_f64) == LINEAR_IS_F64 ? LINEAR_SOLVE_ANY(ctx, LINEAR_IS_F64, &(ctx)->args->plan.tree)            \
                                            : linear_solve_rare(ContextCopy(ctx).address(), is_f64, pattern))
#else
#define LINEAR_SOLVE(ctx, is_f64, pattern) LINEAR_SOLVE_ANY(ctx, is_f64, pattern)
#endif

// A real is one number, so the general narrow phase is called directly. Its workspace is in global memory. In a team,
// pairs that need it wait for a separate launch.
#define CONVEX(ctx, task) ((task)->work = CONVEX_WORK(ctx), stage_convex(task))
#define CONVEX_WORK(ctx)  convex_work(ctx)
#if !TEAM_OF_ONE
#define CONVEX_DEFERRED (!CLOSED_FORMS_ONLY)
#endif

// The list of stages, each in the namespace of its precision. Collision is a part of the step in sets without the
// general narrow phase, for models that do not need it; otherwise it is a separate launch.
#define STEP_COLLIDES (CLOSED_FORMS_ONLY && ctx->args->arena.in_step)
#if TEAM_OF_ONE
#define STEP_FN      static __device__ __forceinline__
#define STEP_RARE_FN static __device__ __noinline__
#define STEP_CALL_RARE(function, ctx)                                                                                  \
    do {                                                                                                               \
        ContextCopy copy(ctx);                                                                                         \
        function(&copy.ctx);                                                                                           \
        (ctx)->retry_f64 = copy.ctx.retry_f64;                                                                         \
    } while (0)
#else
#define STEP_FN                       static __device__
#define STEP_RARE_FN                  static __device__
#define STEP_CALL_RARE(function, ctx) function(ctx)
#endif
#define STAGE(is_f64, name) ((is_f64) ? f64::stage_##name(ctx) : f32::stage_##name(ctx))
#define STEP_PLACE_SLOTS    place_slots(ctx)
#define STEP_SOLVES         1

// Address of an arena of this team: in its part of fast memory, or of the workspace. is_fast: it is known to be in fast
// memory, a constant.
static __device__ __forceinline__ unsigned char *arena_at(unsigned char *scratch, const SapArenas *arenas, int offset,
                                                          bool is_fast = false) {
    if (is_fast || offset >= 0)
        return scratch + offset;
    return arenas->workspace + (blockIdx.x * blockDim.y + threadIdx.y) * arenas->workspace_size + ~offset;
}

// The workspace of the general narrow phase, of a thread of the convex kernel or of a team.
static __device__ __forceinline__ unsigned char *convex_work(const SapContext *ctx) {
    return arena_at(NULL, &ctx->args->arena, ctx->args->arena.convex);
}

// The address of an arena. Where offsets are constants, its alignment makes several numbers one access:
// SAP_ARENA_ALIGNMENT is a multiple of 16 bytes.
static __device__ __forceinline__ unsigned char *aligned(unsigned char *arena) {
#ifdef SAP_SPECIALIZED_BUILD
    return (unsigned char *)__builtin_assume_aligned(arena, 16);
#else
    return arena;
#endif
}

// Sets the memory of the contact slots.
static __device__ __forceinline__ void set_slots(SapContext *ctx, unsigned char *scratch, const SapSlotArenas *slots) {
    const SapArenas *arena = &ctx->args->arena;
    ctx->slots = aligned(arena_at(scratch, arena, slots->slots));
    ctx->jacobians = aligned(arena_at(scratch, arena, slots->jacobians));
    ctx->slot_ints = (int *)aligned(arena_at(scratch, arena, slots->slot_ints));
}

// Sets the memory of their set-up.
static __device__ __forceinline__ void set_slot_setup(SapContext *ctx, unsigned char *scratch,
                                                      const SapSlotArenas *slots) {
    const SapArenas *arena = &ctx->args->arena;
    ctx->setup = aligned(arena_at(scratch, arena, slots->setup));
    ctx->setup_ints = (int *)aligned(arena_at(scratch, arena, slots->setup_ints));
}

// Slots of a world with few contacts are in fast memory, slots of other worlds in the workspace. A pack is one world,
// so it has a slot for each record.
static __device__ __forceinline__ void place_slots(SapContext *ctx) {
    const SapArenas *arena = &ctx->args->arena;
    const int *count = ctx->args->contacts.count;
    bool few = !count || count[ctx->pack->world[0]] <= arena->few_slots;
    set_slots(ctx, TEAM_SCRATCH(ctx), few ? &arena->few : &arena->more);
    if (TEAM_OF_ONE)
        set_slot_setup(ctx, TEAM_SCRATCH(ctx), few ? &arena->few : &arena->more);
}

// Sets the world of this team and its scratch; false past the end of the batch. If the grid is smaller than the batch,
// each team processes one world per round. linear_is_f64: the precision of the linear system, if that is a constant.
static __device__ __forceinline__ bool begin(const SapStepArgs *args, unsigned round, unsigned char *scratch,
                                             bool linear_is_f64, SapPack *pack, SapContext *ctx) {
    unsigned world = (round * gridDim.x + blockIdx.x) * blockDim.y + threadIdx.y;
    const SapArenas *arena = &args->arena;
    if (world >= (unsigned)args->num_worlds)
        return false;
    pack->world[0] = (int)world;
    pack->count = 1;
    ctx->args = args;
    ctx->pack = pack;
#define ARENA(name, member, type, is_fast)                                                                             \
    ctx->member = (type *)arena_at(scratch, arena, arena->member, TEAM_OF_ONE && (is_fast));
#define SLOT_ARENA(...)
    SAP_EACH_ARENA(ARENA, SLOT_ARENA)
#undef ARENA
#undef SLOT_ARENA
    ctx->solve = arena_at(scratch, arena, arena->solve, TEAM_OF_ONE);
    ctx->linear[0] = arena_at(scratch, arena, arena->linear[0], TEAM_OF_ONE && !linear_is_f64);
    ctx->linear[1] = arena_at(scratch, arena, arena->linear[1], TEAM_OF_ONE && linear_is_f64);
    set_slots(ctx, scratch, &arena->few);
    set_slot_setup(ctx, scratch, &arena->few);
    ctx->num_slots = 0;
    ctx->retry_f64 = 0;
    ctx->step = 0;
    return true;
}
