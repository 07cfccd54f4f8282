// The kernel set of one dual method. target/cuda_dual.cu defines STEP_KERNEL, KERNEL_SET and DUAL_METHOD first.
#define STEP_BLOCKS 2
#include "kernels/target/cuda_set.cuh"
#undef DUAL_METHOD
