// Entry file of the GPU target: the programs of the CPU with one team per world. A block has (team size, worlds per
// block) threads and dynamic shared memory for the scratch of its worlds. docs/gpu.md.
//
//   sap_kernel_collide       contact records of the state; launched before each step that does not find them itself
//   sap_kernel_convex_f32, _f64, sap_kernel_merge   contacts of the deferred pairs for them (collide/deferred.h)
//   sap_kernel_step...       free motion, contact solve, integration: steps first_step .. end_step - 1 of a call
//   sap_kernel_kinematics    poses and velocities of bodies
//   sap_kernel_lockstep_...  the stages of a step between which a library solves the Newton systems (sap/lockstep.h)
//   sap_kernel_compact       the list of systems for the library
//   sap_kernel_reset         resets worlds
//   sap_kernel_take_contacts the contacts of the caller into the arrays of the batch
//   sap_kernel_mask          unpacks a mask of worlds
//   sap_kernel_place_shapes, sap_kernel_cast_rays, sap_kernel_sense   rays and sensors (target/sensor.cuh)
//
// Collision is a separate kernel because the general narrow phase needs more registers and a much larger stack than the
// other stages (docs/gpu.md). Its output, the contact records, is in global memory in any case. The steps of presets
// find contacts themselves if all pairs of shapes have closed forms.
#include "kernels/target/cuda_world.cuh"
#include "kernels/step/reset.h"
#include "kernels/step/take_contacts.h"
#include "kernels/target/compact.cuh"

#define SAP_FORMULATION   "kernels/sap/stages.h"
#define STEP_HAS_STAGES   0
#define STEP_HAS_LOCKSTEP 1

// Any precision of each stage, selected by the arguments.
#define STEP_KERNEL    sap_kernel_step
#define COLLIDE_KERNEL sap_kernel_collide
#define KERNEL_SET     any_precision
#define STEP_BLOCKS    3
#include "kernels/target/cuda_set.cuh"

// Collision in the precisions of approx32 and fast32.
#define COLLIDE_KERNEL sap_kernel_collide_approx32
#define KERNEL_SET     collide_approx32
#include "kernels/target/cuda_set.cuh"

#define STEP_OF(preset) sap_kernel_step_##preset
#define BLOCKS_32       4
#define BLOCKS_64       3
#include "kernels/target/cuda_presets.cuh"

// ---- deferred pairs: the general narrow phase, in the precision of collision, and the records of their contacts ----

// Blocks are warps. So few are launched that each thread has a workspace (host/cuda/launch.c); all fit the
// multiprocessors.
enum { WARP = 32, CONVEX_BLOCKS = 8, MERGE_THREADS = 128 };

#define CONVEX_KERNEL(name, precision)                                                                                 \
    extern "C" __global__ void __launch_bounds__(WARP, CONVEX_BLOCKS) name(const __grid_constant__ SapStepArgs args) { \
        const SapDeferredArgs *w = &args.collide.deferred;                                                             \
        int listed = *w->listed;                                                                                       \
        SapPack pack;                                                                                                  \
        SapContext ctx;                                                                                                \
        ctx.args = &args;                                                                                              \
        ctx.pack = &pack;                                                                                              \
        pack.count = 1;                                                                                                \
        for (int i = (int)(blockIdx.x * WARP + threadIdx.y); i < listed; i += (int)(gridDim.x * WARP)) {               \
            pack.world[0] = w->list[i] / w->most;                                                                      \
            any_precision::precision::stage_deferred(&ctx, w->list[i]);                                                \
        }                                                                                                              \
    }
CONVEX_KERNEL(sap_kernel_convex_f32, f32)
CONVEX_KERNEL(sap_kernel_convex_f64, f64)

// Completes the records of the worlds with deferred pairs, and empties the list for the next step.
extern "C" __global__ void __launch_bounds__(MERGE_THREADS) sap_kernel_merge(const __grid_constant__ SapStepArgs args) {
    SapPack pack;
    SapContext ctx;
    int world = (int)(blockIdx.x * blockDim.y + threadIdx.y);
    if (world == 0)
        *args.collide.deferred.listed = 0;
    if (world >= args.num_worlds || (args.skipped && args.skipped[world]) || args.collide.deferred.count[world] == 0)
        return;
    ctx.args = &args;
    ctx.pack = &pack;
    pack.world[0] = world;
    pack.count = 1;
    if (args.geometry_is_f64)
        any_precision::f64::stage_merge(&ctx);
    else
        any_precision::f32::stage_merge(&ctx);
}

// ---- large worlds: the step in lockstep, in any precision; every world has a team and a part of the workspace ----

#define LOCKSTEP_KERNEL(name, function)                                                                                \
    extern "C" __global__ void __launch_bounds__(MAX_TEAM) name(const __grid_constant__ SapStepArgs args) {            \
        SapPack pack;                                                                                                  \
        SapContext ctx;                                                                                                \
        DECLARE_SCRATCH(scratch);                                                                                      \
        if (begin(&args, 0, scratch, false, &pack, &ctx))                                                              \
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
    DECLARE_SCRATCH(scratch);
    for (unsigned round = 0; begin(&args, round, scratch, false, &pack, &ctx); round++) {
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

// Takes the contacts of the caller: one world per team.
extern "C" __global__ void __launch_bounds__(MAX_TEAM)
    sap_kernel_take_contacts(const __grid_constant__ SapTakeArgs args) {
    int world = (int)(blockIdx.x * blockDim.y + threadIdx.y);
    if (world < args.num_worlds)
        take_contacts(&args, world);
}

// Unpacks the bits of a mask to bytes, one per thread.
extern "C" __global__ void sap_kernel_mask(const __grid_constant__ SapMaskArgs args) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < args.count)
        args.to[i] = args.bits[i / 32] >> (i % 32) & 1u;
}

#include "kernels/target/sensor.cuh"
