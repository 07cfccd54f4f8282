/* The solve of a problem that dual/problem.h has loaded, and what its answer means; common to the call for problems
 * (dual/call.h) and the step (dual/step.h). */

/* Never worse than no impulse at all: lanes whose cost is above 0 take x = Proj(0), if that is 0. */
STAGE_FN void dual_guard(Dual *dual) {
    dual_apply(dual, dual->best, dual->image);
    real cost = dual_cost(dual, dual->best, dual->image);
    mask worse = (dual->limit | dual->no_descent) & mask_not(cost <= K(1e-9) * dual->norm * dual->norm);
    if (!mask_any(worse))
        return;
    dual_forget(dual, worse);
}

/* Solves the loaded problems; `best` is the answer. */
STAGE_FN void dual_solve(Dual *dual) {
    dual_start(dual);
    switch (DUAL_METHOD(dual)) {
    case SAP_DUAL_CONE: cone_solve(dual); break;
    case SAP_DUAL_PGS:
    case SAP_DUAL_PGS_ROWS: pgs_solve(dual); break;
    case SAP_DUAL_ACTIVE_SET:
    case SAP_DUAL_ACTIVE_SET_SINGLE: active_set_solve(dual); break;
    }
    dual_guard(dual);
}

/* What a block does at the answer (SapDualRegion), as a number. image = P best. */
KERNEL_FN real dual_region(const Dual *dual, int b, real largest) {
    const scalar open_part = SAP_PRECISION == 64 ? K(1e-9) : K(1e-5);
    int row = dual_row(dual, b), kind = dual->kind[b], normal = dual_is_cone(dual, b) ? row + 2 : row;
    real open = real_of(SAP_DUAL_OPEN), stick = real_of(SAP_DUAL_STICK), slide = real_of(SAP_DUAL_SLIDE);
    real square = real_of(0), still = real_max(real_of(K(1e-8)), dual->tolerance) * dual->norm;
    for (int i = row; i <= normal; i++) {
        real z = dual->image[i] - dual->q[i];
        square = real_fma(z, z, square);
    }
    if (kind == SAP_DUAL_FREE)
        return stick;
    real x = dual->best[normal], region = real_select(real_sqrt(square) <= still, stick, slide);
    if (kind == SAP_DUAL_BOX)
        return real_select((x > dual->lo[normal]) & (x < dual->hi[normal]), stick, region);
    return real_select(mask_not(x > open_part * largest), open, region);
}

/* Rows strictly between their bounds, of contacts the normals > 0; and the largest x of a normal or scalar row. */
KERNEL_FN real dual_count_active(const Dual *dual, real *largest) {
    real active = real_of(0), zero = real_of(0), one = real_of(1);
    *largest = zero;
    for (int b = 0; b < dual->blocks; b++) {
        int normal = dual_row(dual, b) + (dual_is_cone(dual, b) ? 2 : 0);
        real x = dual->best[normal], lo = dual_is_cone(dual, b) ? zero : dual->lo[normal];
        mask at_hi = mask_none();
        if (!dual_is_cone(dual, b))
            at_hi = x >= dual->hi[normal];
        active = active + real_select((dual->used[b] > K(0.0)) & (x > lo) & mask_not(at_hi), one, zero);
        *largest = real_max(*largest, x);
    }
    return active;
}
