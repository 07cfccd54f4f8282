// The kernels of the step for one set of precisions. An entry file (target/cuda.cu, cuda_dual.cu; cuda_thread.cu
// through cuda_presets.cuh) includes this file once per set and defines first
//   STEP_KERNEL      name of the step kernel, if the set has one
//   COLLIDE_KERNEL   name of the collision kernel, if the set has its own
//   KERNEL_SET       its row in data/kernel_sets.h, and the namespace that separates the names of the sets
//   STEP_BLOCKS      blocks of BLOCK_THREADS per multiprocessor: bounds the registers
#include "kernels/target/cuda_stages.cuh"

#ifdef STEP_KERNEL
// Takes steps first_step .. end_step - 1 in every world.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, STEP_BLOCKS)
    STEP_KERNEL(const __grid_constant__ SapStepArgs args) {
    SapPack pack;
    SapContext ctx;
    DECLARE_SCRATCH(scratch);
    for (unsigned round = 0; begin(&args, round, scratch, KERNEL_SET::linear_is_f64(&ctx), &pack, &ctx); round++) {
        if (skip_world(&args, pack.world[0]))
            continue;
        for (ctx.step = args.first_step; ctx.step < args.end_step; ctx.step++)
            KERNEL_SET::step_once(&ctx); // ends with a barrier: the next world overwrites the scratch
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
    for (unsigned round = 0; begin(&args, round, scratch, KERNEL_SET::linear_is_f64(&ctx), &pack, &ctx); round++) {
        if (skip_world(&args, pack.world[0]))
            continue;
        // All have passed its last barrier. After it they read whether pairs are left, and the gaps of records, which
        // the next world overwrites after other barriers.
        KERNEL_SET::collide_once(&ctx);
    }
}
#endif

#undef STEP_KERNEL
#undef COLLIDE_KERNEL
#undef KERNEL_SET
#undef STEP_BLOCKS
