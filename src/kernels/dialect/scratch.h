/* Access to the parts of a pack's scratch. The macros need a variable `ctx` (const Context *).
 *
 *   FM(x)             part x of free motion's arena
 *   SOLVE(x)          part x of the contact solve's arena: the problem of the world, which every method reads
 *   SLOT(x, c)        part x of contact slot c, in the same arena; SLOT_INTS(x, c) its integers
 *   SLOT_J(c)         the Jacobian of slot c, in the same arena but in the precision of contact geometry
 *   BLOCK(x, b)       part x of a constraint or tendon of the model (SapBlock *b), in the same arena
 *   NEWTON(x)         part x of Newton's scratch, in the same arena
 *   LINEAR(x)         part x of the linear system's arena, in the precision of this stage
 *   FM_VIEW(x) ...    a part of another stage's arena, whose precision may differ (views.h) */

/* The arguments select the precision of a stage, unless the entry file defines it as a constant (target/cuda.cu). */
#include "kernels/dialect/choices.h"

#define FM(part)              ((real *)ctx->fm + ctx->args->plan.layout.part)
#define SOLVE(part)           ((real *)ctx->solve + ctx->args->problem.part)
#define SLOT_OFFSET(part, c)  (ctx->args->problem.slots + (c)*ctx->args->problem.slot_size + ctx->args->slot.part)
#define SLOT(part, c)         ((real *)ctx->solve + SLOT_OFFSET(part, c))
#define SLOT_INTS(part, c)    (ctx->ints + 1 + (c)*ctx->args->slot_ints.size + ctx->args->slot_ints.part)
#define SLOT_J_OFFSET(c)      (ctx->args->problem.J + (c)*3 * ctx->args->slot_ints.max_columns)
#define SLOT_J(c)             ((real *)ctx->solve + SLOT_J_OFFSET(c)) /* in the stage of contact geometry only */
#define NUM_SLOTS             (ctx->ints) /* number of slots in use; the slots follow, then the integers per pack */
#define DOF_ACTS(i)           ((ctx->ints + ctx->args->slot_ints.acts)[i])
#define DOF_LINE_ACTS(i)      ((ctx->ints + ctx->args->slot_ints.line_acts)[i])
#define BLOCK_OFFSET(part, b) (ctx->args->problem.blocks + (b)->part)
#define BLOCK(part, b)        ((real *)ctx->solve + BLOCK_OFFSET(part, b))
#define NEWTON(part)          ((real *)ctx->solve + ctx->args->newton.layout.part)
#define LINEAR(part)          ((real *)ctx->linear[SAP_PRECISION == 64] + ctx->args->linear.part)

#define FM_VIEW(part)       view_at(ctx->fm, FM_IS_F64, ctx->args->plan.layout.part)
#define SOLVE_VIEW          view_at(ctx->solve, SOLVE_IS_F64, 0)
#define SLOT_J_VIEW(c)      view_at(ctx->solve, GEOMETRY_IS_F64, SLOT_J_OFFSET(c))
#define LINEAR_VIEW(is_f64) view_at(ctx->linear[is_f64], is_f64, 0)

/* Model constants and time step in the precision of this stage. */
#define STAGE_CONSTANTS (&ctx->args->constants[SAP_PRECISION == 64])
#define STAGE_H         real_of((scalar)ctx->args->h)
