// The kernel sets of the presets, for steps that report counters only. A step finds its contacts itself if all pairs of
// shapes have closed forms; the general narrow phase would cost the other stages registers. The entry file defines
// first
//   STEP_OF(preset)        name of the step kernel
//   BLOCKS_32, BLOCKS_64   STEP_BLOCKS of presets in f32 and in f64

// The preset approx32.
#define STEP_KERNEL STEP_OF(approx32)
#define KERNEL_SET  approx32
#define STEP_BLOCKS BLOCKS_32
#include "kernels/target/cuda_set.cuh"

// The preset fast32, whose solve is repeated in f64 where it does not converge.
#define STEP_KERNEL STEP_OF(fast32)
#define KERNEL_SET  fast32
#define STEP_BLOCKS BLOCKS_32
#include "kernels/target/cuda_set.cuh"

// The presets approx64 and drake, which have the same precisions and differ in modes only.
#define STEP_KERNEL STEP_OF(approx64)
#define KERNEL_SET  approx64
#define STEP_BLOCKS BLOCKS_64
#include "kernels/target/cuda_set.cuh"
