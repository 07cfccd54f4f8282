// The kernel set of one dual method. target/cuda_dual.cu defines STEP_KERNEL, STEP_SET and DUAL_METHOD first.
#define STEP_BLOCKS           2
#define FM_IS_F64             ctx->args->fm_is_f64
#define GEOMETRY_IS_F64       ctx->args->geometry_is_f64
#define WEIGHT_IS_F64         ctx->args->weight_is_f64
#define SOLVE_STARTS_F64      1
#define LINEAR_IS_F64         1
#define NUM_MODEL_CONSTRAINTS ctx->args->plan.num_blocks
#define COMPAT                ctx->args->compat
#define REPORTS               1
#include "kernels/target/cuda_set.cuh"
#undef DUAL_METHOD
