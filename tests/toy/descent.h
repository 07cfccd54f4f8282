/* A toy method: gradient descent with a fixed step, in the scale of the problem.
 *
 *   v -= t diag(1/A_ii) grad      until |D grad| <= 1e-9 max(|D A v|, |D j|) */

enum { DESCENT_MOST = 200000 };
#define DESCENT_STEP K(0.1)

STAGE_FN void descent_solve(const Context *ctx, mask constrained, SolveResult *out) {
    mask open = constrained;
    *out = solve_result_none();
    for (int k = 0;; k++) {
        out->cost = problem_evaluate(ctx);
        ProblemNorms norms = problem_norms(ctx);
        out->residual = norms.residual;
        out->residual_scale = norms.scale;
        mask optimal = open & (out->residual <= K(1e-9) * out->residual_scale);
        out->optimal = out->optimal | optimal;
        out->iterations = real_select(open, real_of((scalar)k), out->iterations);
        open = open & mask_not(optimal);
        if (!mask_any(open))
            return;
        if (k == DESCENT_MOST) {
            out->limit = open;
            return;
        }
        TEAM_FOR(i, ctx->args->plan.nv) {
            real step = DESCENT_STEP * SOLVE(scale)[i] * SOLVE(scale)[i] * SOLVE(grad)[i];
            SOLVE(v)[i] = real_select(open, SOLVE(v)[i] - step, SOLVE(v)[i]);
        }
        TEAM_SYNC(); /* constraints read the v of their dofs */
    }
}
