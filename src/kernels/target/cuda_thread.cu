// Entry file of the GPU target with a thread per world: the step of the presets, for models whose scratch fits the
// local memory of a thread and batches that fill the GPU with threads. The threads of a warp step 32 worlds in
// lockstep, as the lanes of a CPU do; the hardware interleaves their local memory, so that the same word of 32 worlds
// is one access. It is a separate module. A step finds its contacts itself if all pairs of shapes have closed forms,
// and one launch takes all steps of a call; other collision and all other kernels have teams (target/cuda.cu).
// docs/gpu.md.
#define SAP_THREAD_PER_WORLD
#define SAP_FORMULATION   "kernels/sap/stages.h"
#define STEP_HAS_STAGES   0
#define STEP_HAS_LOCKSTEP 0
#include "kernels/target/cuda_world.cuh"

#define STEP_OF(preset) sap_kernel_step_thread_##preset
#define BLOCKS_32       16
#define BLOCKS_64       8
#include "kernels/target/cuda_presets.cuh"
