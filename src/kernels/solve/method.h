/* The seam between the step and the methods that solve a world's problem. The step knows of a method what is here; a method knows of the
 * problem what is in problem.h.
 *
 * On entry the scratch holds A, v*, v0, the first v, and all terms with their laws. On exit it holds v, and every term at v. */

/* All that status bits and reports read of a method; per lane. */
typedef struct SolveResult {
    mask optimal, settled, limit, line_failed, no_descent; /* how it ended: SAP_WORLD_... */
    real cost;                                             /* l(v) */
    real residual, residual_scale;                         /* |D grad|, and what it is compared with */
    real iterations, inner_iterations;
    real refactored; /* linear systems solved again in f64 */
} SolveResult;

KERNEL_FN SolveResult solve_result_none(void) {
    SolveResult r;
    r.optimal = r.settled = r.limit = r.line_failed = r.no_descent = mask_none();
    r.cost = r.residual = r.residual_scale = r.iterations = r.inner_iterations = r.refactored = real_of(0);
    return r;
}
