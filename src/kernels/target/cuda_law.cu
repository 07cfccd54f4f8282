// Entry file of the GPU target for the contact laws `similar` and `lagged`: the steps of cuda.cu with these laws. It is
// a separate module, loaded with the first batch of such a law, so the kernels of the law `sap` have nothing of it.
// Collision, kinematics and reset are those of cuda.cu. docs/gpu.md.
//
//   sap_kernel_step_law       any precision of each stage, and reports
//   sap_kernel_step_law_...   the precisions of a preset
#define CONTACT_LAW       CONTACT_LAW_HUNT_CROSSLEY
#define SAP_FORMULATION   "kernels/sap/stages.h"
#define STEP_HAS_STAGES   0
#define STEP_HAS_LOCKSTEP 0
#include "kernels/target/cuda_world.cuh"

#define STEP_KERNEL sap_kernel_step_law
#define KERNEL_SET  any_precision
#define STEP_BLOCKS 3
#include "kernels/target/cuda_set.cuh"

#define STEP_OF(preset) sap_kernel_step_law_##preset
#define BLOCKS_32       4
#define BLOCKS_64       3
#include "kernels/target/cuda_presets.cuh"
