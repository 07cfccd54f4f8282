/* The parts of a pack's scratch. All of these need a variable `ctx` (const Context *) where they are used.
 *
 *   FM(x)             free motion's arena
 *   SOLVE(x)          the contact solve's arena: the problem of the world, which every method reads
 *   SLOT(x, c)        in the same arena, the part of contact slot c; SLOT_INTS(x, c) its integers
 *   NEWTON(x)         in the same arena, what Newton's method keeps for itself
 *   LINEAR(x)         the linear system's arena, in the precision of this stage
 *   FM_VIEW(x) ...    the same of another stage, whose precision may differ (views.h) */

/* The precision of a stage is what the arguments say, unless the entry file knows it beforehand (target/cuda.cu). */
#include "kernels/dialect/choices.h"

#define FM(part)             ((real *)ctx->fm + ctx->args->plan.layout.part)
#define SOLVE(part)          ((real *)ctx->solve + ctx->args->problem.part)
#define SLOT_OFFSET(part, c) (ctx->args->problem.slots + (c)*ctx->args->problem.slot_size + ctx->args->slot.part)
#define SLOT(part, c)        ((real *)ctx->solve + SLOT_OFFSET(part, c))
#define SLOT_INTS(part, c)   (ctx->ints + 1 + (c)*ctx->args->slot_ints.size + ctx->args->slot_ints.part)
#define NUM_SLOTS            (ctx->ints) /* how many are in use, then the slots, then what follows them */
#define FIRST_INCIDENCE(i)   ((SapIncidence *)(ctx->ints + ctx->args->slot_ints.first) + (i))
#define NEXT_INCIDENCE(c, k) ((SapIncidence *)SLOT_INTS(next, c) + (k))
#define DOF_ACTS(i)          ((ctx->ints + ctx->args->slot_ints.acts)[i])
#define NEWTON(part)         ((real *)ctx->solve + ctx->args->newton.layout.part)
#define LINEAR(part)         ((real *)ctx->linear[SAP_PRECISION == 64] + ctx->args->linear.part)

#define FM_VIEW(part)       view_at(ctx->fm, FM_IS_F64, ctx->args->plan.layout.part)
#define SOLVE_VIEW          view_at(ctx->solve, SOLVE_IS_F64, 0)
#define LINEAR_VIEW(is_f64) view_at(ctx->linear[is_f64], is_f64, 0)

/* The model's constants and the time step in the precision of this stage. */
#define STAGE_CONSTANTS (&ctx->args->constants[SAP_PRECISION == 64])
#define STAGE_H         real_of((scalar)ctx->args->h)
