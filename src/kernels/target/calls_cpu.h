/* Calls between stages of different builds on a CPU: through the function tables of the context. */

/* The linear system in either precision. */
#define LINEAR_ASSEMBLE(ctx, is_f64)       (ctx)->kernels[is_f64]->linear_assemble(ctx)
#define LINEAR_SOLVE(ctx, is_f64, pattern) (ctx)->kernels[is_f64]->linear_solve(ctx, pattern)
/* The general narrow phase, which processes one world at a time, from the build with one lane. */
#define CONVEX(ctx, task) (ctx)->one_lane[SAP_PRECISION == 64]->convex(task)
