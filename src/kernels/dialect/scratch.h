/* Access to the parts of a pack's scratch. The macros need a variable `ctx` (const Context *).
 *
 *   FM(x)             part x of free motion's arena
 *   SOLVE(x)          part x of the problem of the world, which every method reads
 *   SLOT(x, c)        part x of contact slot c, in the precision of the solve; SLOT_INTS(x, c) its integers of 32 bits,
 *                     SLOT_SHORTS(x, c) its integers of 16 bits
 *   SLOT_SETUP(x, c)      part x of the set-up of slot c, in the same precision; SLOT_SETUP_INTS(x, c) its integers
 *   SLOT_J(c)         the Jacobian of slot c, in the precision of contact geometry
 *   BLOCK(x, b)       part x of a constraint or tendon of the model (SapModelConstraint *b), in the precision of the solve
 *   NEWTON(x)         part x of Newton's scratch, with the problem
 *   LINEAR(x)         part x of the linear system, in the precision of this stage
 *   FM_VIEW(x) ...    a part of another stage's arena, whose precision may differ (views.h) */

/* The arguments select the precision of a stage, unless the entry file defines it as a constant (target/cuda.cu). */
#include "kernels/dialect/choices.h"

#define FM(part)             ((real *)ctx->fm + ctx->args->plan.layout.part)
#define SOLVE(part)          ((real *)ctx->solve + ctx->args->problem.part)
#define SLOT_OFFSET(part, c) ((c)*ctx->args->slot.size + ctx->args->slot.part)
#define SLOT(part, c)        ((real *)ctx->slots + SLOT_OFFSET(part, c))
#define SLOT_INTS(part, c)   (ctx->slot_ints + (c)*ctx->args->slot_ints.size + ctx->args->slot_ints.part)
#define SLOT_SHORTS(part, c)                                                                                           \
    ((SapDofIndex *)(ctx->slot_ints + (c)*ctx->args->slot_ints.size) + ctx->args->slot_ints.part)
#define SLOT_J_OFFSET(c)           ((c)*CONTACT_ROWS * ctx->args->slot_ints.max_columns)
#define SLOT_J(c)                  ((real *)ctx->jacobians + SLOT_J_OFFSET(c)) /* in the stage of contact geometry only */
#define SLOT_SETUP_OFFSET(part, c) ((c)*ctx->args->slot.setup_size + ctx->args->slot.part)
#define SLOT_SETUP(part, c)        ((real *)ctx->setup + SLOT_SETUP_OFFSET(part, c))
#define SLOT_SETUP_INTS(part, c)   (ctx->setup_ints + (c)*ctx->args->slot_ints.setup_size + ctx->args->slot_ints.part)
#define BLOCK_OFFSET(part, b)      ((b)->part)
#define BLOCK(part, b)             ((real *)ctx->blocks + BLOCK_OFFSET(part, b))
#define NUM_SLOTS                  (ctx->ints + ctx->args->pack_ints.num_slots)
#define STATUS(l)                  ((ctx->ints + ctx->args->pack_ints.status)[l])
#define DOF_ACTS(i)                ((ctx->ints + ctx->args->pack_ints.acts)[i])
#define ACTING_BLOCKS              (ctx->ints + ctx->args->pack_ints.acting)
#define NEWTON(part)               ((real *)ctx->solve + ctx->args->newton.layout.part)
#define LINEAR(part)               ((real *)ctx->linear[SAP_PRECISION == 64] + ctx->args->linear.part)

#define FM_VIEW(part)       view_at(ctx->fm, FM_IS_F64, ctx->args->plan.layout.part)
#define SOLVE_VIEW          view_at(ctx->solve, SOLVE_IS_F64, 0)
#define BLOCK_VIEW          view_at(ctx->blocks, SOLVE_IS_F64, 0)
#define SLOT_VIEW           view_at(ctx->slots, SOLVE_IS_F64, 0)
#define SLOT_SETUP_VIEW     view_at(ctx->setup, SOLVE_IS_F64, 0)
#define SLOT_J_VIEW(c)      view_at(ctx->jacobians, GEOMETRY_IS_F64, SLOT_J_OFFSET(c))
#define LINEAR_VIEW(is_f64) view_at(ctx->linear[is_f64], is_f64, 0)

/* Model constants and time step in the precision of this stage. */
#define STAGE_CONSTANTS (&ctx->args->constants[SAP_PRECISION == 64])
#define STAGE_H         real_of((scalar)ctx->args->h)
