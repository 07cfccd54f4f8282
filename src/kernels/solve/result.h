/* The result of a solve, for status bits and reports; per lane. */
typedef struct SolveResult {
    mask optimal, settled;                        /* how the method ended: SAP_WORLD_... */
    mask stalled, limit, line_failed, no_descent; /* the same, without a solution */
    real cost;                                    /* l(v), J */
    real residual, residual_scale;                /* |D grad|, max(|D A v|, |D j|) */
    real iterations, inner_iterations;            /* of the method, and of its inner loop (line searches) */
    real f64_retries;                             /* linear systems solved again in f64 */
} SolveResult;

KERNEL_FN SolveResult solve_result_none(void) {
    SolveResult r;
    r.optimal = r.settled = r.stalled = r.limit = r.line_failed = r.no_descent = mask_none();
    r.cost = r.residual = r.residual_scale = r.iterations = r.inner_iterations = r.f64_retries = real_of(0);
    return r;
}

/* Worlds whose solve ended without a solution. */
KERNEL_FN mask solve_unconverged(const SolveResult *r) {
    return r->stalled | r->limit | r->line_failed | r->no_descent;
}
