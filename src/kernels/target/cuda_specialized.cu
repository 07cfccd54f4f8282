// Entry file of kernels made for one batch. NVRTC compiles it when a batch requests it (host/cuda/specialized.c), with
// a header of constants, specialized.h, that host/cuda/specialized_header.c writes from the arguments of the batch:
// sizes of the model, layouts of scratch, choices of the options, and the team. All kernels have these sources;
// kernels/data/fixed.h defines how they get the constants. docs/gpu.md.
//
//   sap_kernel_step_specialized      as sap_kernel_step, or sap_kernel_step_thread_... with SAP_THREAD_PER_WORLD
//   sap_kernel_collide_specialized   as sap_kernel_collide
#define SAP_SPECIALIZED_BUILD
#include <specialized.h> // written for the batch

#define CONTACT_LAW       (ctx->args->contacts.approximation != SAP_APPROXIMATION_SAP) // a constant
#define SAP_FORMULATION   "kernels/sap/stages.h"
#define STEP_HAS_STAGES   0
#define STEP_HAS_LOCKSTEP 0
#include "kernels/target/cuda_world.cuh"
static_assert(sizeof(SapStepArgs) == SPECIALIZED_ARGS_BYTES, "the arguments have another layout than on the host");

#ifdef SPECIALIZED_COLLIDE
#define COLLIDE_KERNEL sap_kernel_collide_specialized
#else
#define STEP_KERNEL sap_kernel_step_specialized
#endif
#define KERNEL_SET specialized
#include "kernels/target/cuda_set.cuh"
