// Entry file of kernels made for one batch. NVRTC compiles it when a batch requests it (host/cuda/made.c), with a
// header of constants, made.h, that host/cuda/made_header.c writes from the arguments of the batch: sizes of the model,
// layouts of scratch, choices of the options, and the team. The sources are those of all kernels; kernels/data/fixed.h
// defines how they get the constants. docs/gpu.md.
//
//   sap_kernel_step_made      as sap_kernel_step, or sap_kernel_step_thread_... with SAP_THREAD_PER_WORLD
//   sap_kernel_collide_made   as sap_kernel_collide
#define SAP_MADE_FOR_BATCH
#include <made.h> // written for the batch

#define STEP_HAS_MUJOCO   0
#define STEP_HAS_LOCKSTEP 0
#include "kernels/target/cuda_world.cuh"
static_assert(sizeof(SapStepArgs) == MADE_ARGS_BYTES, "the arguments have another layout than on the host");

#ifdef MADE_COLLIDE
#define COLLIDE_KERNEL sap_kernel_collide_made
#else
#define STEP_KERNEL sap_kernel_step_made
#endif
#define STEP_SET    made
#define METHOD_KIND SAP_METHOD_newton
#define CONTACT_LAW SAP_LAW_sap_contact
#define REPORTS     0
#include "kernels/target/cuda_set.cuh"
