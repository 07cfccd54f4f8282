// Entry file of the GPU target for MuJoCo's law: a separate module, loaded with the first batch of that law, so that
// the kernels of SAP have nothing of it. The other kernels of such a batch come from cuda.cu. docs/gpu.md.
//
//   sap_kernel_mujoco_collide   contact records of the state of a stage
//   sap_kernel_mujoco_step      one stage of a step, the only one or one of the four of RK4; the last one ends it
//
// The stages of RK4 are launches, because each has its own contacts. What one leaves for the next is in
// SapMujocoArgs.rk.
#define SAP_FORMULATION "kernels/mujoco/stages.h"
#include "kernels/target/cuda_world.cuh"
#include "kernels/mujoco/data.h"

// One set, for any precision of each stage.
#define STEP_HAS_STAGES   1
#define STEP_HAS_LOCKSTEP 0
#define SAP_SET_mujoco    ARG, ARG, ARG, ARG, ARG, ARG, 0, 1, 0 // as in data/kernel_sets.h
#define KERNEL_SET        mujoco
#include "kernels/target/cuda_stages.cuh"

// Blocks of MAX_TEAM threads of the step that must fit a multiprocessor: bounds the registers.
enum { STEP_BLOCKS = 3 };

// Takes a stage of steps first_step .. end_step - 1 in every world. Several steps are only for worlds without contacts
// and a single stage.
extern "C" __global__ void __launch_bounds__(MAX_TEAM, STEP_BLOCKS)
    sap_kernel_mujoco_step(const __grid_constant__ SapStepArgs args, int stage) {
    SapPack pack;
    SapContext ctx;
    DECLARE_SCRATCH(scratch);
    for (unsigned round = 0; begin(&args, round, scratch, false, &pack, &ctx); round++) {
        if (skip_world(&args, pack.world[0]))
            continue;
        ctx.rk_stage = stage;
        for (ctx.step = args.first_step; ctx.step < args.end_step; ctx.step++) {
            mujoco::step_stage(&ctx);
            TEAM_SYNC(); // the next step reads the state that this one stored; the next world overwrites the scratch
        }
    }
}

// Finds the contacts of every world at the state of a stage.
extern "C" __global__ void __launch_bounds__(MAX_TEAM, COLLIDE_BLOCKS)
    sap_kernel_mujoco_collide(const __grid_constant__ SapStepArgs args, int stage) {
    SapPack pack;
    SapContext ctx;
    DECLARE_SCRATCH(scratch);
    for (unsigned round = 0; begin(&args, round, scratch, false, &pack, &ctx); round++) {
        if (skip_world(&args, pack.world[0]))
            continue;
        ctx.rk_stage = stage;
        mujoco::collide_once(&ctx);
        TEAM_SYNC(); // the next world overwrites the scratch
    }
}
