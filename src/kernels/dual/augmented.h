/* The second safeguard of the method cone: the augmented Lagrangian, which converges where P is singular.
 * docs/dual.md#safeguards.
 *
 * The proximal problem  min over the sets of  1/2 x'P x - q'x + rho/2 |x - x_k|^2  has the solution gamma = Proj(v),
 * v = x_k - (P (x_k + a) - q)/rho, where h = a + x_k - gamma is 0. h is the gradient, in the metric P, of a convex
 * function of a. Newton's method on it, with D = B^2 the derivative of Proj at v:
 *
 *   (E + D P/rho) da = -h      <=>      (rho E + B P B) c = B P h,  da = -h + B c
 *
 * then x_k = gamma with a smaller rho. P is only multiplied, so its rounding and rank do not matter. */

/* Vectors of dual->work. */
enum { AL_A, AL_V, AL_H, AL_E, AL_DA, AL_PA, AL_PX, AL_PDA, AL_R, AL_B };

/* B = D^1/2 of block b at v, as a shape: 1 inside, 0 in the polar cone; on the surface 0, 1 and (g/s)^1/2. */
KERNEL_FN void augmented_root(const Dual *dual, int b) {
    int row = dual_row(dual, b);
    real *s = dual->shape[0] + CONE_SHAPE * b, zero = real_of(0), one = real_of(1);
    Vec3 v = block_load(dual, b, dual->work[AL_V]);
    if (!dual_is_cone(dual, b)) {
        s[0] = real_select((v.z > dual->lo[row]) & (v.z < dual->hi[row]), one, zero);
        return;
    }
    real length = tangent_length(v), across = K(0.5) * (v.z + length) / real_select(length > K(0.0), length, one);
    mask inside = length <= v.z, polar = length <= -v.z;
    ConeShape shape;
    cone_shape_direct(&shape, v);
    shape.a1 = real_select(inside, one, zero);
    shape.a2 = real_select(polar, zero, one);
    shape.a3 = real_select(inside, one, real_select(polar, zero, real_sqrt(real_max(across, zero))));
    cone_shape_store(s, shape);
}

/* v and gamma at x_k + a. */
STAGE_FN void augmented_evaluate(Dual *dual, real rho) {
    real **work = dual->work;
    dual_apply(dual, work[AL_A], work[AL_PA]);
    dual_apply(dual, dual->x, work[AL_PX]);
    TEAM_FOR(i, dual->rows)
        work[AL_V][i] = dual->x[i] - (work[AL_PX][i] + work[AL_PA][i] - dual->q[i]) / rho;
    TEAM_SYNC(); /* blocks read their rows */
    TEAM_FOR(b, dual->blocks)
        dual_project_block(dual, b, work[AL_V], dual->point);
    TEAM_SYNC(); /* rows read gamma */
    TEAM_FOR(i, dual->rows)
        work[AL_H][i] = work[AL_A][i] + dual->x[i] - dual->point[i];
    /* point is offered next, whose barriers complete h */
}

/* x_k = gamma, a = h in the lanes of `which`: y = x_k + a stays. */
STAGE_FN void augmented_centre(Dual *dual, mask which) {
    TEAM_FOR(i, dual->rows) {
        dual->x[i] = real_select(which, dual->point[i], dual->x[i]);
        dual->work[AL_A][i] = real_select(which, dual->work[AL_H][i], dual->work[AL_A][i]);
    }
    TEAM_SYNC(); /* the products read x and a */
}

/* Entry (k, l) of the block (b, c) of P as a column over the rows of b. */
KERNEL_FN Vec3 augmented_column(const Dual *dual, int b, int column) {
    int row = dual_row(dual, b);
    real last = dual->P[packed_at(row + (dual_is_cone(dual, b) ? 2 : 0), column)];
    if (!dual_is_cone(dual, b))
        return vec3(real_of(0), real_of(0), last);
    return vec3(dual->P[packed_at(row, column)], dual->P[packed_at(row + 1, column)], last);
}

/* Block (b, c), c <= b, of M = rho E + B P B. */
KERNEL_FN void augmented_block(const Dual *dual, int b, int c, real rho) {
    int row = dual_row(dual, b), column = dual_row(dual, c), zero_row = dual_is_cone(dual, b) ? 0 : 2;
    int columns = dual_is_cone(dual, c) ? 3 : 1;
    Vec3 half[3]; /* columns of B P, a scalar c's last */
    half[0] = half[1] = vec3_zero();
    for (int k = 0; k < columns; k++)
        half[3 - columns + k] = cone_scale(dual, b, augmented_column(dual, b, column + k));
    for (int i = zero_row; i < 3; i++) {
        real one[3] = {i == 0   ? half[0].x
                       : i == 1 ? half[0].y
                                : half[0].z,
                       i == 0   ? half[1].x
                       : i == 1 ? half[1].y
                                : half[1].z,
                       i == 0   ? half[2].x
                       : i == 1 ? half[2].y
                                : half[2].z};
        Vec3 entry = cone_scale(dual, c, vec3(one[0], one[1], one[2]));
        real entries[3] = {entry.x, entry.y, entry.z};
        for (int k = 0; k < columns; k++) {
            int at_row = row + i - zero_row, at_column = column + k;
            real extra = at_row == at_column ? rho : real_of(0);
            if (at_column <= at_row)
                dual->M[packed_at(at_row, at_column)] = entries[3 - columns + k] + extra;
        }
    }
}

/* Adds the solution of (E + D P/rho) y = -h to da, for h in AL_E. */
STAGE_FN void augmented_correct(Dual *dual) {
    real **work = dual->work;
    dual_apply(dual, work[AL_E], work[AL_R]);
    TEAM_FOR(b, dual->blocks)
        block_store(dual, b, work[AL_B], cone_scale(dual, b, block_load(dual, b, work[AL_R])));
    TEAM_SYNC(); /* the solve reads its right-hand side */
    dense_solve(dual->rows, dual->M, dual->inverse, work[AL_B], work[AL_B]);
    TEAM_FOR(b, dual->blocks) {
        Vec3 y = vec3_sub(cone_scale(dual, b, block_load(dual, b, work[AL_B])), block_load(dual, b, work[AL_E]));
        block_store(dual, b, work[AL_DA], vec3_add(block_load(dual, b, work[AL_DA]), y));
    }
    TEAM_SYNC(); /* the product reads da */
    dual_apply(dual, work[AL_DA], work[AL_PDA]);
}

/* da and w = P da, with one step of iterative refinement: a small rho costs digits. */
STAGE_FN void augmented_direction(Dual *dual, real rho) {
    real **work = dual->work;
    TEAM_FOR(b, dual->blocks)
        augmented_root(dual, b);
    TEAM_SYNC(); /* blocks of M read B of two blocks */
    TEAM_FOR(b, dual->blocks) {
        for (int c = 0; c <= b; c++)
            augmented_block(dual, b, c, rho);
    }
    TEAM_FOR(i, dual->rows) {
        work[AL_DA][i] = real_of(0);
        work[AL_E][i] = work[AL_H][i];
    }
    TEAM_SYNC(); /* the factor reads M */
    dense_factor(dual->rows, dual->M, dual->inverse, dual_floor(dual));
    augmented_correct(dual);
    /* what is left of h: h + da + D P da/rho */
    TEAM_FOR(b, dual->blocks) {
        Vec3 w = cone_scale(dual, b, cone_scale(dual, b, block_load(dual, b, work[AL_PDA])));
        Vec3 left = vec3_add(block_load(dual, b, work[AL_H]), block_load(dual, b, work[AL_DA]));
        block_store(dual, b, work[AL_E], vec3_fma(K(1.0) / rho, w, left));
    }
    TEAM_SYNC(); /* the product reads what is left */
    augmented_correct(dual);
}

/* The slope w.(a + s da + x_k - Proj(v - s w/rho)) along the direction, w = P da; it increases with s. */
KERNEL_FN real augmented_slope(const Dual *dual, real rho, real s) {
    real slope = real_of(0);
    for (int b = 0; b < dual->blocks; b++) {
        int row = dual_row(dual, b);
        Vec3 w = block_load(dual, b, dual->work[AL_PDA]), v = block_load(dual, b, dual->work[AL_V]);
        v = vec3_fma(-s / rho, w, v);
        Vec3 gamma = dual_is_cone(dual, b) ? cone_project(v) : vec3(v.x, v.y, dual_clamp(dual, row, v.z));
        Vec3 y = vec3_fma(s, block_load(dual, b, dual->work[AL_DA]), block_load(dual, b, dual->work[AL_A]));
        y = vec3_sub(vec3_add(y, block_load(dual, b, dual->x)), gamma);
        slope = slope + vec3_dot(w, y);
    }
    return slope;
}

/* The zero of the slope, by regula falsi with Illinois' rule. */
KERNEL_FN real augmented_search(const Dual *dual, real rho) {
    real low = real_of(0), high = real_of(1), at_low = augmented_slope(dual, rho, low);
    real at_high = augmented_slope(dual, rho, high), target = K(1e-8) * real_abs(at_low);
    /* a bracket */
    for (int k = 0; k < 10 && mask_any(at_high < -target); k++) {
        mask more = at_high < -target;
        low = real_select(more, high, low);
        at_low = real_select(more, at_high, at_low);
        high = real_select(more, K(4.0) * high, high);
        at_high = augmented_slope(dual, rho, high);
    }
    /* the zero in it */
    real s = high, at = at_high;
    for (int k = 0; k < 40 && mask_any(real_abs(at) > target); k++) {
        mask more = real_abs(at) > target;
        real width = at_high - at_low,
             next = low - at_low * (high - low) / real_select(width > K(0.0), width, real_of(1));
        s = real_select(more, next, s);
        at = real_select(more, augmented_slope(dual, rho, s), at);
        mask right = more & (at > K(0.0)), left = more & mask_not(right);
        at_low = real_select(right, K(0.5) * at_low, real_select(left, at, at_low));
        at_high = real_select(left, K(0.5) * at_high, real_select(right, at, at_high));
        high = real_select(right, s, high);
        low = real_select(left, s, low);
    }
    return s;
}

/* Runs the lanes of `which` from `best` for at most `limit` Newton steps. */
STAGE_FN void augmented_run(Dual *dual, mask which, int limit) {
    real **work = dual->work, rho = real_of(K(0.01)), steps = real_of(0);
    mask open = which;
    TEAM_FOR(i, dual->rows) {
        dual->x[i] = dual->best[i];
        work[AL_A][i] = real_of(0);
    }
    TEAM_SYNC(); /* the products read x and a */
    for (int k = 0;; k++) {
        augmented_evaluate(dual, rho);
        dual_offer(dual, open);
        /* the proximal problem is solved well enough, or for long enough: move its centre */
        dual_apply(dual, work[AL_H], work[AL_R]);
        real gradient = real_of(0), moved = real_of(0);
        for (int i = 0; i < dual->rows; i++) {
            real change = dual->point[i] - dual->x[i];
            gradient = real_fma(work[AL_H][i], work[AL_R][i], gradient);
            moved = real_fma(change, change, moved);
        }
        real bound = K(0.3) * rho;
        mask centre = (gradient <= bound * bound * moved) | (steps >= K(8.0));
        TEAM_SYNC(); /* every thread has read h and x */
        augmented_centre(dual, centre);
        /* a small rho moves far but leaves noise of rounding/rho: once the centre rests, polish with a large one */
        mask rests = (moved <= K(1e-12) * dual_square(dual, dual->best)) & (rho < K(1e-7));
        rho = real_select(centre, real_max(rho / K(10.0), real_of(K(1e-8))), rho);
        rho = real_select(centre & rests, real_of(K(0.01)), rho);
        steps = real_select(centre, real_of(0), steps);
        augmented_evaluate(dual, rho);
        dual_offer(dual, open);
        open = dual_end(dual, open);
        mask large = open & dual_is_large(dual, dual->point);
        mask unbounded = mask_any(large) ? dual_contradicts(dual, large) : mask_none();
        dual->unbounded = dual->unbounded | unbounded;
        open = open & mask_not(unbounded);
        if (k == limit || !mask_any(open))
            break;
        /* a Newton step */
        augmented_direction(dual, rho);
        real s = augmented_search(dual, rho);
        TEAM_SYNC(); /* every thread has searched along a, da and v */
        TEAM_FOR(i, dual->rows)
            work[AL_A][i] = real_fma(s, work[AL_DA][i], work[AL_A][i]);
        TEAM_SYNC(); /* the product reads a */
        steps = steps + K(1.0);
        dual->iterations = dual->iterations + real_select(open, real_of(1), real_of(0));
    }
    dual->limit = dual->limit | open;
}
