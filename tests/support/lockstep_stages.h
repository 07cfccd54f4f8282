/* The stages of a step in lockstep on a CPU: lockstep_begin, lockstep_assemble, lockstep_advance, lockstep_finish. */
#ifndef SAPWOOD_TESTS_SUPPORT_LOCKSTEP_STAGES_H
#define SAPWOOD_TESTS_SUPPORT_LOCKSTEP_STAGES_H

#include "kernels/data/table.h"

#define STEP_FN                       static inline
#define STEP_RARE_FN                  static inline
#define STEP_CALL_RARE(function, ctx) function(ctx)
#define STAGE(is_f64, name)           (ctx->kernels[is_f64]->name(ctx))
#define STEP_COLLIDES                 1
#define STEP_PLACE_SLOTS              ((void)0)
#define STEP_HAS_STAGES               0
#define STEP_HAS_LOCKSTEP             1
#include "kernels/step/step_list.h"

#endif
