// The stages of one kernel set in both precisions, and the step as a list of them, in the namespace KERNEL_SET. The entry
// file defines SAP_FORMULATION, the list of stages of its formulation.
namespace KERNEL_SET {

#if TEAM_OF_ONE
static __device__ void linear_solve_rare(const SapContext *ctx, bool is_f64, const SapPattern *pattern);
#endif

// What stages of the other precision call.
#define DECLARE_STAGES                                                                                                 \
    static __device__ void stage_linear_assemble(const SapContext *ctx);                                               \
    static __device__ void stage_linear_solve(const SapContext *ctx, const SapPattern *pattern);
namespace f32 {
DECLARE_STAGES
} // namespace f32
namespace f64 {
DECLARE_STAGES
} // namespace f64
#undef DECLARE_STAGES

namespace f32 {
#define SAP_PRECISION 32
#include SAP_FORMULATION
#undef SAP_PRECISION
} // namespace f32

namespace f64 {
#define SAP_PRECISION 64
#include SAP_FORMULATION
#undef SAP_PRECISION
} // namespace f64

#include "kernels/step/step_list.h"

#if TEAM_OF_ONE
// A linear system that few worlds have: on tiles, or again in f64.
STEP_RARE_FN void linear_solve_rare(const SapContext *ctx, bool is_f64, const SapPattern *pattern) {
    LINEAR_SOLVE_ANY(ctx, is_f64, pattern);
}
#endif

// The precision of the linear system, where begin needs it as a constant.
STEP_FN bool linear_is_f64(const SapContext *ctx) {
    return TEAM_OF_ONE && LINEAR_IS_F64;
}

} // namespace KERNEL_SET
