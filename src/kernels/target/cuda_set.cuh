// The kernels of the step for one set of precisions. An entry file (target/cuda.cu, cuda_dual.cu; cuda_thread.cu
// through cuda_presets.cuh) includes this file once per set and defines first
//   STEP_KERNEL                                  name of the step kernel, if the set has one
//   COLLIDE_KERNEL                               name of the collision kernel, if the set has its own
//   STEP_SET                                     namespace that separates the names of the sets
//   FM_IS_F64, GEOMETRY_IS_F64, WEIGHT_IS_F64,   precision of each stage: read from the arguments, or a constant, which
//   SOLVE_STARTS_F64, LINEAR_IS_F64                  removes the other precision from the kernel
//   NUM_MODEL_CONSTRAINTS                        constraints and tendons of the model, or 0 for a set without them
//   COMPAT, REPORTS                              the same for joints as in SAP Warp, and for reports of contacts
//   CLOSED_FORMS_ONLY                            1: the set has no general narrow phase, and its step can find contacts
//   STEP_BLOCKS                                  blocks of BLOCK_THREADS per multiprocessor: bounds the registers
#include "kernels/target/cuda_stages.cuh"

#ifdef STEP_KERNEL
// Takes steps first_step .. end_step - 1 in every world.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, STEP_BLOCKS)
    STEP_KERNEL(const __grid_constant__ SapStepArgs args) {
    SapPack pack;
    SapContext ctx;
    DECLARE_SCRATCH(scratch);
    for (unsigned round = 0; begin(&args, round, scratch, STEP_SET::linear_is_f64(&ctx), &pack, &ctx); round++) {
        if (skip_world(&args, pack.world[0]))
            continue;
        for (ctx.step = args.first_step; ctx.step < args.end_step; ctx.step++)
            STEP_SET::step_once(&ctx); // ends with a barrier: the next world overwrites the scratch
    }
}
#endif

#ifdef COLLIDE_KERNEL
// Finds the contacts of every world at its state.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, COLLIDE_BLOCKS)
    COLLIDE_KERNEL(const __grid_constant__ SapStepArgs args) {
    SapPack pack;
    SapContext ctx;
    DECLARE_SCRATCH(scratch);
    for (unsigned round = 0; begin(&args, round, scratch, STEP_SET::linear_is_f64(&ctx), &pack, &ctx); round++) {
        if (skip_world(&args, pack.world[0]))
            continue;
        // All have passed its last barrier. After it they read whether pairs are left, and the gaps of records, which
        // the next world overwrites after other barriers.
        STEP_SET::collide_once(&ctx);
    }
}
#endif

#undef STEP_KERNEL
#undef COLLIDE_KERNEL
#undef STEP_SET
#undef STEP_BLOCKS
#undef FM_IS_F64
#undef GEOMETRY_IS_F64
#undef WEIGHT_IS_F64
#undef SOLVE_STARTS_F64
#undef LINEAR_IS_F64
#undef NUM_MODEL_CONSTRAINTS
#undef COMPAT
#undef REPORTS
#undef CLOSED_FORMS_ONLY
