// Entry file of the dual solvers on a GPU: the step with its contact solve in impulses (docs/dual.md), one kernel set
// per method, each with that method alone. It is a separate module, so the kernels of cuda.cu have neither a register
// nor an instruction of it. Collision, kinematics and reset are theirs.
//
//   sap_kernel_step_cone         contact_solver = cone, with friction_law = convex or coulomb
//   sap_kernel_step_pgs          pgs and pgs_rows
//   sap_kernel_step_active_set   active_set
// The arguments select the precisions of the stages before the solve; the solve is in f64.
#define SAP_FORMULATION   "kernels/dual/stages.h"
#define STEP_HAS_STAGES   0
#define STEP_HAS_LOCKSTEP 0
#include "kernels/target/cuda_world.cuh"
#include "kernels/data/dual.h"

#define STEP_KERNEL       sap_kernel_step_cone
#define KERNEL_SET        cone
#define DUAL_METHOD(dual) SAP_DUAL_CONE
#include "kernels/target/cuda_dual_set.cuh"

#define STEP_KERNEL       sap_kernel_step_pgs
#define KERNEL_SET        pgs
#define DUAL_METHOD(dual) ((dual)->options->method == SAP_DUAL_PGS_ROWS ? SAP_DUAL_PGS_ROWS : SAP_DUAL_PGS)
#include "kernels/target/cuda_dual_set.cuh"

#define STEP_KERNEL       sap_kernel_step_active_set
#define KERNEL_SET        active_set
#define DUAL_METHOD(dual) SAP_DUAL_ACTIVE_SET
#include "kernels/target/cuda_dual_set.cuh"
