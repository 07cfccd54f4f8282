// Entry file of the GPU target: the programs of the CPU with one team per world. A block has (team size, worlds per
// block) threads and dynamic shared memory for the scratch of its worlds. docs/gpu.md.
//
//   sap_kernel_collide       contact records of the state; launched before each step if the step finds its contacts
//   sap_kernel_step...       free motion, contact solve, integration: steps first_step .. end_step - 1 of a call
//   sap_kernel_kinematics    poses and velocities of bodies
//   sap_kernel_lockstep_...  the stages of a step between which a library solves the Newton systems (solve/lockstep.h)
//   sap_kernel_compact       the list of systems for the library
//   sap_kernel_reset         resets worlds
//   sap_kernel_mask          unpacks a mask of worlds
//   sap_kernel_place_shapes, sap_kernel_cast_rays, sap_kernel_sense   rays and sensors (target/sensor.cuh)
//
// Collision is a separate kernel because it needs more registers and a much larger stack than the other stages
// (docs/gpu.md). Its output, the contact records, is in global memory in any case.
#include <sapwood/solver.h>

#include "kernels/data/table.h"
#include "kernels/step/skip_world.h"
#include "kernels/step/reset.h"
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
#define STEP_HAS_MUJOCO     0

extern __shared__ __align__(16) unsigned char shared_scratch[];

#include "kernels/target/compact.cuh"

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

// Any precision of each stage, selected by the arguments.
#define STEP_KERNEL      sap_kernel_step
#define COLLIDE_KERNEL   sap_kernel_collide
#define STEP_SET         any_precision
#define STEP_BLOCKS      3
#define FM_IS_F64        ctx->args->fm_is_f64
#define GEOMETRY_IS_F64  ctx->args->geometry_is_f64
#define WEIGHT_IS_F64    ctx->args->weight_is_f64
#define SOLVE_STARTS_F64 ctx->args->solve_is_f64
#define LINEAR_IS_F64    ctx->args->newton.linear_is_f64
#define METHOD_KIND      SAP_METHOD_newton
#define CONTACT_LAW      SAP_LAW_sap_contact
#define NUM_BLOCKS       ctx->args->plan.num_blocks
#define COMPAT           ctx->args->compat
#define REPORTS          1
#include "kernels/target/cuda_set.cuh"

// Those of the preset approx32: the precisions are constants. Sets of presets are for models without constraints and
// tendons, without joints as in SAP Warp and for steps that report counters only.
#define STEP_KERNEL      sap_kernel_step_approx32
#define COLLIDE_KERNEL   sap_kernel_collide_approx32
#define STEP_SET         approx32
#define STEP_BLOCKS      4
#define FM_IS_F64        0
#define GEOMETRY_IS_F64  0
#define WEIGHT_IS_F64    0
#define SOLVE_STARTS_F64 1
#define LINEAR_IS_F64    0
#define METHOD_KIND      SAP_METHOD_newton
#define CONTACT_LAW      SAP_LAW_sap_contact
#define NUM_BLOCKS       0
#define COMPAT           0
#define REPORTS          0
#include "kernels/target/cuda_set.cuh"

// Those of the preset fast32, whose solve is repeated in f64 where it does not converge.
#define STEP_KERNEL      sap_kernel_step_fast32
#define STEP_SET         fast32
#define STEP_BLOCKS      4
#define FM_IS_F64        0
#define GEOMETRY_IS_F64  0
#define WEIGHT_IS_F64    0
#define SOLVE_STARTS_F64 0
#define LINEAR_IS_F64    0
#define METHOD_KIND      SAP_METHOD_newton
#define CONTACT_LAW      SAP_LAW_sap_contact
#define NUM_BLOCKS       0
#define COMPAT           0
#define REPORTS          0
#include "kernels/target/cuda_set.cuh"

// Those of the presets approx64 and drake, which have the same precisions and differ in modes only.
#define STEP_KERNEL      sap_kernel_step_approx64
#define STEP_SET         approx64
#define STEP_BLOCKS      3
#define FM_IS_F64        1
#define GEOMETRY_IS_F64  1
#define WEIGHT_IS_F64    1
#define SOLVE_STARTS_F64 1
#define LINEAR_IS_F64    1
#define METHOD_KIND      SAP_METHOD_newton
#define CONTACT_LAW      SAP_LAW_sap_contact
#define NUM_BLOCKS       0
#define COMPAT           0
#define REPORTS          0
#include "kernels/target/cuda_set.cuh"

// ---- large worlds: the step in lockstep, in any precision; every world has a team and a part of the workspace ----

#define LOCKSTEP_KERNEL(name, function)                                                                                \
    extern "C" __global__ void __launch_bounds__(MAX_TEAM) name(const __grid_constant__ SapStepArgs args) {            \
        SapPack pack;                                                                                                  \
        SapContext ctx;                                                                                                \
        if (begin(&args, 0, &pack, &ctx))                                                                              \
            any_precision::function(&ctx);                                                                             \
    }
LOCKSTEP_KERNEL(sap_kernel_lockstep_begin, lockstep_begin)
LOCKSTEP_KERNEL(sap_kernel_lockstep_assemble, lockstep_assemble)
LOCKSTEP_KERNEL(sap_kernel_lockstep_advance, lockstep_advance)
LOCKSTEP_KERNEL(sap_kernel_lockstep_finish, lockstep_finish)

// ---- the rest ----

// Poses and velocities of the bodies of the worlds with mask[w] != 0; mask NULL = all worlds.
extern "C" __global__ void __launch_bounds__(MAX_TEAM)
    sap_kernel_kinematics(const __grid_constant__ SapStepArgs args, const unsigned char *mask) {
    SapPack pack;
    SapContext ctx;
    for (unsigned round = 0; begin(&args, round, &pack, &ctx); round++) {
        bool chosen = !mask || mask[pack.world[0]];
        if (chosen && !skip_world(&args, pack.world[0])) {
            if (args.fm_is_f64)
                any_precision::f64::stage_kinematics(&ctx);
            else
                any_precision::f32::stage_kinematics(&ctx);
        }
        TEAM_SYNC(); // the next world overwrites the scratch
    }
}

// Resets one world per team.
extern "C" __global__ void sap_kernel_reset(const __grid_constant__ SapResetArgs args) {
    int world = (int)(blockIdx.x * blockDim.y + threadIdx.y);
    if (world < args.num_worlds)
        reset_world(&args, world);
}

// Unpacks the bits of a mask to bytes, one per thread.
extern "C" __global__ void sap_kernel_mask(const __grid_constant__ SapMaskArgs args) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < args.count)
        args.to[i] = args.bits[i / 32] >> (i % 32) & 1u;
}

#include "kernels/target/sensor.cuh"
