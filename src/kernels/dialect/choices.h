/* Choices of a kernel set (data/kernel_sets.h), by default all made by the arguments: the precision of each stage,
 * whether joints are those of SAP Warp, whether a step can report contacts, dofs and wrenches, and whether the model has
 * constraints. The macros need a variable `ctx`. Those of a formulation are in its own choices.h
 * (solve/formulation.h). */
#ifndef KERNEL_SET
#define KERNEL_SET any_precision
#endif
#ifndef FM_IS_F64
#include "kernels/data/kernel_sets.h"

/* The entry of a column in the row of KERNEL_SET: 0, 1, or what the arguments say. */
#define CHOICE(column, of_args)                     CHOICE_IN(column, CHOICE_ROW(KERNEL_SET), of_args)
#define CHOICE_ROW(set)                             CHOICE_ROW_OF(set)
#define CHOICE_ROW_OF(set)                          SAP_SET_##set
#define CHOICE_IN(column, row, args)                CHOICE_OF(CHOICE_##column(row), args)
#define CHOICE_OF(value, of_args)                   CHOICE_MADE(value, of_args)
#define CHOICE_MADE(value, of_args)                 CHOICE_IS_##value(of_args)
#define CHOICE_IS_0(of_args)                        0
#define CHOICE_IS_1(of_args)                        1
#define CHOICE_IS_ARG(of_args)                      of_args
#define CHOICE_FM(a, ...)                           a
#define CHOICE_GEOMETRY(a, b, ...)                  b
#define CHOICE_WEIGHT(a, b, c, ...)                 c
#define CHOICE_SOLVE(a, b, c, d, ...)               d
#define CHOICE_LINEAR(a, b, c, d, e, ...)           e
#define CHOICE_CONSTRAINTS(a, b, c, d, e, f, ...)   f
#define CHOICE_COMPAT(a, b, c, d, e, f, g, ...)     g
#define CHOICE_REPORTS(a, b, c, d, e, f, g, h, ...) h
#define CHOICE_CLOSED(a, b, c, d, e, f, g, h, i)    i

#define FM_IS_F64        CHOICE(FM, ctx->args->fm_is_f64)
#define GEOMETRY_IS_F64  CHOICE(GEOMETRY, ctx->args->geometry_is_f64)
#define WEIGHT_IS_F64    CHOICE(WEIGHT, ctx->args->weight_is_f64)
#define SOLVE_STARTS_F64 CHOICE(SOLVE, ctx->args->solve_is_f64)
#define LINEAR_IS_F64    CHOICE(LINEAR, ctx->args->newton.linear_is_f64)
/* The solve is in its own precision, then, where it must be repeated, in f64 (step/step_list.h). */
#define SOLVE_IS_F64 (SOLVE_STARTS_F64 || ctx->retry_f64)
#define COMPAT       CHOICE(COMPAT, ctx->args->compat)
#define REPORTS      CHOICE(REPORTS, 1)
/* Whether every pair of shapes has a closed form, so that a kernel set has no GJK and EPA. */
#define CLOSED_FORMS_ONLY CHOICE(CLOSED, 0)
/* Constraints and tendons of the model (SapModelConstraint): their number, or 0 in a kernel set without them. */
#define NUM_MODEL_CONSTRAINTS CHOICE(CONSTRAINTS, ctx->args->plan.num_blocks)
#endif
/* Whether pairs without a closed form wait for another launch (collide/deferred.h): on a GPU only. */
#ifndef CONVEX_DEFERRED
#define CONVEX_DEFERRED 0
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
