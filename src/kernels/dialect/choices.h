/* Choices that the arguments make by default: the precision of each stage, whether joints are SAP Warp's,
 * whether a step can report contacts, dofs and wrenches, and whether the model has constraints. A kernel set of the GPU
 * defines them as constants first, which removes the other choices from its kernels (target/cuda.cu). The macros need a
 * variable `ctx`. A formulation's are in its own choices.h (solve/formulation.h). */
#ifndef FM_IS_F64
#define FM_IS_F64        ctx->args->fm_is_f64
#define GEOMETRY_IS_F64  ctx->args->geometry_is_f64
#define WEIGHT_IS_F64    ctx->args->weight_is_f64
#define SOLVE_STARTS_F64 ctx->args->solve_is_f64
#define LINEAR_IS_F64    ctx->args->newton.linear_is_f64
#endif
/* The solve is in its own precision, then, where it must be repeated, in f64 (step/step_list.h). */
#undef SOLVE_IS_F64
#define SOLVE_IS_F64 (SOLVE_STARTS_F64 || ctx->retry_f64)
#ifndef COMPAT
#define COMPAT  ctx->args->compat
#define REPORTS 1
#endif
/* Whether every pair of shapes has a closed form, so that a kernel set has no GJK and EPA. */
#ifndef CLOSED_FORMS_ONLY
#define CLOSED_FORMS_ONLY 0
#endif
/* Whether pairs without a closed form wait for another launch (collide/deferred.h): on a GPU only. */
#ifndef CONVEX_DEFERRED
#define CONVEX_DEFERRED 0
#endif
/* Constraints and tendons of the model (SapModelConstraint): their number, or 0 in a kernel set without them. */
#ifndef NUM_MODEL_CONSTRAINTS
#define NUM_MODEL_CONSTRAINTS ctx->args->plan.num_blocks
#endif
/* Whether the call has a problem to solve. It does not depend on the world, so every world gets the same stages. A
 * batch on a GPU has contact slots, so it always solves. */
#ifndef STEP_SOLVES
#define STEP_SOLVES (ctx->args->contacts.count || ctx->args->has_dof_terms || NUM_MODEL_CONSTRAINTS > 0)
#endif
/* Whether some two shapes of these types may touch: yes, unless the kernels are made for a batch that has no such
 * pair. */
#ifndef HAS_PAIR
#define HAS_PAIR(first, second) 1
#endif
