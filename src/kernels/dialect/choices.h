/* Choices that the arguments make by default: the precision of each stage, the method, the contact law, whether joints
 * are those of SAP Warp, whether a step can report contacts, dofs and wrenches, and whether the model has constraints.
 * A kernel set of the GPU defines them as constants first, which removes the other choices from its kernels
 * (target/cuda.cu). The macros need a variable `ctx`. */
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
#undef METHOD_SOLVE
#undef CONTACT_LAW
#ifdef SAP_SET_MUJOCO
#define METHOD_SOLVE mujoco_solve
#define CONTACT_LAW  ctx->args->mujoco->elliptic
#else
#define METHOD_SOLVE newton_solve
#define CONTACT_LAW  0
#endif
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
/* The law of the set of kernels: SAP's, unless the build defines SAP_SET_MUJOCO, which compiles the kernels with the
 * headers of MuJoCo's law (step/stages.h, where the functions are chosen that differ).
 *
 *   CONTACT_ROWS      rows of a contact slot
 *   IS_FIRST_STAGE    whether this is the first or only stage of a step
 *   IS_LAST_STAGE     whether it is the last: its solve is the one that is reported
 *   NORMS_ARE_READ    whether a report has the norms of this solve: true for the last step of a call
 *   ADVANCES_WITH_V   whether coordinates advance with the velocity at the end of the step
 *   REPORTS_ROWS      whether a report of constraints has the rows of contacts too
 *   IDLE_BLOCKS_MOVE  whether blocks that do not act have a velocity too, for reports */
#undef CONTACT_ROWS
#undef IS_FIRST_STAGE
#undef IS_LAST_STAGE
#undef NORMS_ARE_READ
#undef ADVANCES_WITH_V
#undef REPORTS_ROWS
#undef IDLE_BLOCKS_MOVE
#ifdef SAP_SET_MUJOCO
#define CONTACT_ROWS     ctx->args->plan.contact_rows
#define IS_FIRST_STAGE   (ctx->rk_stage == 0)
#define IS_LAST_STAGE    (!ctx->args->plan.rk4 || ctx->rk_stage == 3)
#define NORMS_ARE_READ   (IS_LAST_STAGE && ctx->step == ctx->args->num_steps - 1)
#define ADVANCES_WITH_V  1
#define REPORTS_ROWS     1
#define IDLE_BLOCKS_MOVE 0
#else
#define CONTACT_ROWS     3
#define IS_FIRST_STAGE   1
#define IS_LAST_STAGE    1
#define NORMS_ARE_READ   1
#define ADVANCES_WITH_V  0
#define REPORTS_ROWS     0
#define IDLE_BLOCKS_MOVE 1
#endif
