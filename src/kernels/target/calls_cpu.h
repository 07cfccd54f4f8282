/* How a stage calls one that was compiled elsewhere, on a CPU: through the tables of the context. */

/* The linear solver of either precision. */
#define LINEAR_SOLVE(ctx, is_f64, pattern) (ctx)->kernels[is_f64]->linear_solve(ctx, pattern)
/* The general narrow phase, which works on one world at a time: in the build with one lane. */
#define CONVEX(ctx, task) (ctx)->one_lane[SAP_PRECISION == 64]->convex(task)
