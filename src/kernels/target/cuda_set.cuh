// The kernels of the step for one set of precisions. target/cuda.cu includes this once per set and defines before
//   STEP_KERNEL                                  the name of the step without collision
//   COLLIDE_KERNEL                               that of collision, if the set has one of its own
//   STEP_SET                                     a namespace, which keeps the names of the sets apart
//   FM_IS_F64, GEOMETRY_IS_F64, WEIGHT_IS_F64,   the precision of each stage: what the arguments say, or a constant, which leaves the
//   SOLVE_IS_F64, LINEAR_IS_F64                  other precision out of the kernel
//   METHOD_KIND, CONTACT_LAW                     the method and the law of contacts, constants
//   STEP_BLOCKS                                  so many blocks of MAX_TEAM threads shall fit a multiprocessor: bounds the registers
namespace STEP_SET {

namespace f32 {
static __device__ void stage_linear_solve(const SapContext *ctx, const SapPattern *pattern);
}
namespace f64 {
static __device__ void stage_linear_solve(const SapContext *ctx, const SapPattern *pattern);
}

// The solve calls the linear solver of either precision.
static __device__ __forceinline__ void linear_solve(const SapContext *ctx, int is_f64, const SapPattern *pattern) {
    if (is_f64)
        f64::stage_linear_solve(ctx, pattern);
    else
        f32::stage_linear_solve(ctx, pattern);
}

namespace f32 {
#define SAP_PRECISION 32
#include "kernels/step/stages.h"
#undef SAP_PRECISION
} // namespace f32

namespace f64 {
#define SAP_PRECISION 64
#include "kernels/step/stages.h"
#undef SAP_PRECISION
} // namespace f64

#include "kernels/step/step_list.h"

} // namespace STEP_SET

extern "C" __global__ void __launch_bounds__(MAX_TEAM, STEP_BLOCKS)
    STEP_KERNEL(const __grid_constant__ SapStepArgs args) {
    SapPack pack;
    SapContext ctx;
    for (unsigned round = 0; begin(&args, round, &pack, &ctx); round++) {
        if (skip_world(&args, pack.world[0]))
            continue;
        for (ctx.step = args.first_step; ctx.step < args.end_step; ctx.step++) {
            STEP_SET::step_once(&ctx);
            TEAM_SYNC(); // the next step reads the state that this one stored, and the next world overwrites the scratch
        }
    }
}

#ifdef COLLIDE_KERNEL
extern "C" __global__ void __launch_bounds__(MAX_TEAM, COLLIDE_BLOCKS)
    COLLIDE_KERNEL(const __grid_constant__ SapStepArgs args) {
    SapPack pack;
    SapContext ctx;
    for (unsigned round = 0; begin(&args, round, &pack, &ctx); round++) {
        if (skip_world(&args, pack.world[0]))
            continue;
        STEP_SET::collide_once(&ctx);
        TEAM_SYNC(); // the next world overwrites the scratch
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
#undef SOLVE_IS_F64
#undef LINEAR_IS_F64
#undef METHOD_KIND
#undef CONTACT_LAW
