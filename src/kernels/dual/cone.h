/* The method cone: an interior-point method that returns to the central path where it can. docs/dual.md#cone.
 *
 *   optimal:       F = P x - q - z = 0,  x o z = 0,  x and z in the cone          on the path: x o z = nu e
 *   affine:        (P + S) dx_a = -z - F,  dz_a = -z - S dx_a                     towards the solution
 *   centring:      (P + S) dx_c = nu x^-1,  dz_c = nu x^-1 - S dx_c               towards the path
 *
 * One factor of P + S per iteration, then one of two updates. The retraction pulls the full step back to the path at
 * sigma nu, for the smallest sigma at which F stays small; it converges fast and can start anywhere. Where no sigma
 * does, the interior step goes a part of the way, with Mehrotra's corrector, and never increases F. */

/* Vectors of dual->work. */
enum { CONE_F, CONE_DXA, CONE_DZA, CONE_DXC, CONE_DZC, CONE_DXK, CONE_DZK, CONE_TX, CONE_TZ, CONE_KX, CONE_KZ, CONE_R };

typedef struct Cone {
    mask open;      /* lanes that are still at work */
    mask on_path;   /* x, z and S are on the central path */
    mask recentred; /* the one return to the path from `best` is used up */
    real nu;        /* path parameter, J */
    real kappa;     /* size of the neighbourhood of the path that retractions stay in */
    real per;       /* |q| per block */
} Cone;

/* ---- one block: points, matrices, directions ---- */

/* The point of the path with rho x - z/rho = u at nu, as x, z and S. rho balances impulses and velocities. */
KERNEL_FN void cone_place(const Dual *dual, int b, Vec3 u, real nu, real rho, real *x, real *z, real *shape) {
    int row = dual_row(dual, b);
    real *s = shape + CONE_SHAPE * b, inverse = K(1.0) / rho, square = rho * rho;
    if (!dual_is_cone(dual, b)) {
        real at = row_retract(dual->kind[b], u.z, nu, rho * dual->lo[row], rho * dual->hi[row], s);
        x[row] = at * inverse;
        s[0] = s[0] * square;
        s[1] = s[1] * rho;
        s[2] = s[2] * rho;
        z[row] = s[1] - s[2];
        return;
    }
    Vec3 at_x, at_z;
    ConeShape found = cone_retract(u, nu, &at_x, &at_z);
    mask used = dual->used[b] > K(0.0);
    real one = real_of(1);
    found.a1 = real_select(used, found.a1 * square, one);
    found.a2 = real_select(used, found.a2 * square, one);
    found.a3 = real_select(used, found.a3 * square, one);
    cone_shape_store(s, found);
    vec3_store(x + row, vec3_select(used, vec3_scale(inverse, at_x), vec3_zero()));
    vec3_store(z + row, vec3_select(used, vec3_scale(rho, at_z), vec3_zero()));
}

/* S y of block b. */
KERNEL_FN Vec3 cone_scale(const Dual *dual, int b, Vec3 y) {
    const real *s = dual->shape[0] + CONE_SHAPE * b;
    return dual_is_cone(dual, b) ? cone_shape_apply(cone_shape_load(s), y) : vec3(y.x, y.y, s[0] * y.z);
}

/* S at a point off the path. */
KERNEL_FN void cone_update_shape(const Dual *dual, const Cone *cone, int b) {
    int row = dual_row(dual, b);
    real *s = dual->shape[0] + CONE_SHAPE * b;
    if (!dual_is_cone(dual, b)) {
        real x = dual->x[row];
        s[0] = s[1] / (x - dual->lo[row]) + s[2] / (dual->hi[row] - x);
        return;
    }
    ConeShape here = cone_shape_at(vec3_load(dual->x + row), vec3_load(dual->z + row)), old = cone_shape_load(s);
    mask keep = cone->on_path | mask_not(dual->used[b] > K(0.0));
    here.t1 = real_select(keep, old.t1, here.t1);
    here.t2 = real_select(keep, old.t2, here.t2);
    here.a1 = real_select(keep, old.a1, here.a1);
    here.a2 = real_select(keep, old.a2, here.a2);
    here.a3 = real_select(keep, old.a3, here.a3);
    cone_shape_store(s, here);
}

/* Rows of M = P + S + delta E of block b. delta is proximal: it keeps M definite and moves no solution. */
KERNEL_FN void cone_matrix(const Dual *dual, int b) {
    const scalar delta = SAP_PRECISION == 64 ? K(1e-12) : K(1e-5);
    int row = dual_row(dual, b), rows = dual_is_cone(dual, b) ? 3 : 1;
    for (int i = row; i < row + rows; i++) {
        for (int j = 0; j <= i; j++)
            dual->M[packed_row(i) + j] = dual->P[packed_row(i) + j];
        dual->M[packed_row(i) + i] = dual->M[packed_row(i) + i] + delta;
    }
    for (int k = 0; k < rows; k++) {
        real zero = real_of(0), one = real_of(1);
        Vec3 e = vec3(rows == 3 && k == 0 ? one : zero, k == 1 ? one : zero, rows == 1 || k == 2 ? one : zero);
        Vec3 column = cone_scale(dual, b, e);
        real entry[3] = {rows == 3 ? column.x : column.z, column.y, column.z};
        for (int i = k; i < rows; i++) {
            real *at = dual->M + packed_row(row + i) + row + k;
            *at = *at + entry[i];
        }
    }
}

/* nu x^-1: the right-hand side of centring. On the path it is z. */
KERNEL_FN Vec3 cone_centre(const Dual *dual, const Cone *cone, int b) {
    int row = dual_row(dual, b);
    Vec3 z = block_load(dual, b, dual->z), off;
    if (dual_is_cone(dual, b)) {
        off = cone_inverse(vec3_load(dual->x + row), cone->nu);
        off = vec3_select(dual->used[b] > K(0.0), off, z);
    } else {
        real x = dual->x[row];
        off = vec3(z.x, z.y, cone->nu / (x - dual->lo[row]) - cone->nu / (dual->hi[row] - x));
    }
    return vec3_select(cone->on_path, z, off);
}

/* A direction dx_a + sigma dx_c, + dx_k where corrected. */
typedef struct ConeDirection {
    real sigma;
    mask corrected;
} ConeDirection;

KERNEL_FN Vec3 cone_along(const Dual *dual, int b, int affine, int centring, int corrector, ConeDirection along) {
    Vec3 a = block_load(dual, b, dual->work[affine]), c = block_load(dual, b, dual->work[centring]);
    Vec3 plain = vec3_fma(along.sigma, c, a);
    return vec3_select(along.corrected, vec3_add(plain, block_load(dual, b, dual->work[corrector])), plain);
}
KERNEL_FN Vec3 cone_dx(const Dual *dual, int b, ConeDirection along) {
    return cone_along(dual, b, CONE_DXA, CONE_DXC, CONE_DXK, along);
}
KERNEL_FN Vec3 cone_dz(const Dual *dual, int b, ConeDirection along) {
    return cone_along(dual, b, CONE_DZA, CONE_DZC, CONE_DZK, along);
}
/* Directions of the multipliers of a scalar row:
 *   dzl = sigma nu/gl - zl - zl dx/gl - dx_a dzl_a/gl,  dzu = sigma nu/gu - zu + zu dx/gu + dx_a dzu_a/gu
 * with the distances gl = x - lo, gu = hi - x; the last terms are the corrector. */
KERNEL_FN void cone_dz_bounds(const Dual *dual, const Cone *cone, int b, ConeDirection along, real *dzl, real *dzu) {
    int row = dual_row(dual, b);
    const real *s = dual->shape[0] + CONE_SHAPE * b;
    real gl = dual->x[row] - dual->lo[row], gu = dual->hi[row] - dual->x[row], zl = s[1], zu = s[2];
    real dx = cone_dx(dual, b, along).z, dxa = dual->work[CONE_DXA][row], aim = along.sigma * cone->nu;
    real affine_l = -zl - dxa * zl / gl, affine_u = -zu + dxa * zu / gu;
    real plain_l = aim / gl - zl - dx * zl / gl, plain_u = aim / gu - zu + dx * zu / gu;
    *dzl = real_select(along.corrected, plain_l - dxa * affine_l / gl, plain_l);
    *dzu = real_select(along.corrected, plain_u + dxa * affine_u / gu, plain_u);
}

/* The longest step of block b that keeps x and z inside. */
KERNEL_FN real cone_block_step(const Dual *dual, const Cone *cone, int b, ConeDirection along) {
    int row = dual_row(dual, b);
    Vec3 dx = cone_dx(dual, b, along);
    if (dual_is_cone(dual, b))
        return real_min(cone_step(vec3_load(dual->x + row), dx),
                        cone_step(vec3_load(dual->z + row), cone_dz(dual, b, along)));
    const real *s = dual->shape[0] + CONE_SHAPE * b;
    real dzl, dzu;
    cone_dz_bounds(dual, cone, b, along, &dzl, &dzu);
    real primal = real_min(row_step(dual->x[row] - dual->lo[row], dx.z), row_step(dual->hi[row] - dual->x[row], -dx.z));
    return real_min(primal, real_min(row_step(s[1], dzl), row_step(s[2], dzu)));
}

/* Its second-order term for Mehrotra's corrector. */
KERNEL_FN Vec3 cone_block_corrector(const Dual *dual, int b) {
    int row = dual_row(dual, b);
    const real *s = dual->shape[0] + CONE_SHAPE * b;
    if (dual_is_cone(dual, b)) {
        Vec3 r = cone_corrector(cone_shape_load(s), vec3_load(dual->z + row), vec3_load(dual->work[CONE_DXA] + row),
                                vec3_load(dual->work[CONE_DZA] + row));
        return vec3_select(dual->used[b] > K(0.0), r, vec3_zero());
    }
    real gl = dual->x[row] - dual->lo[row], gu = dual->hi[row] - dual->x[row], dxa = dual->work[CONE_DXA][row];
    real affine_l = -s[1] - dxa * s[1] / gl, affine_u = -s[2] + dxa * s[2] / gu;
    return vec3(real_of(0), real_of(0), -dxa * (affine_l / gl + affine_u / gu));
}

/* x.z of block b: nu times its degree. */
KERNEL_FN real cone_block_gap(const Dual *dual, int b) {
    int row = dual_row(dual, b);
    if (dual_is_cone(dual, b))
        return vec3_dot(vec3_load(dual->x + row), vec3_load(dual->z + row));
    const real *s = dual->shape[0] + CONE_SHAPE * b;
    real gl = dual->x[row] - dual->lo[row], gu = dual->hi[row] - dual->x[row], zero = real_of(0);
    return real_select(s[1] > K(0.0), s[1] * gl, zero) + real_select(s[2] > K(0.0), s[2] * gu, zero);
}

/* ---- the whole problem ---- */

/* point = Proj(x - z), as a candidate. */
STAGE_FN real cone_offer(Dual *dual, const real *x, const real *z, mask which) {
    TEAM_FOR(b, dual->blocks) {
        Vec3 p = vec3_sub(block_load(dual, b, x), block_load(dual, b, z));
        int row = dual_row(dual, b);
        block_store(dual, b, dual->point,
                    dual_is_cone(dual, b) ? cone_project(p) : vec3(p.x, p.y, dual_clamp(dual, row, p.z)));
    }
    TEAM_SYNC(); /* the product reads point */
    return dual_offer(dual, which);
}

/* |P x - q - z| with image = P x. */
KERNEL_FN real cone_infeasibility(const Dual *dual, const real *image, const real *z) {
    real s = real_of(0);
    for (int i = 0; i < dual->rows; i++) {
        real f = image[i] - dual->q[i] - z[i];
        s = real_fma(f, f, s);
    }
    return real_sqrt(s);
}

/* Starts on the path at nu: from `best` in the lanes of `warm`, else from q. The first candidate reads a block in the
 * thread that placed it, so there is no barrier. */
STAGE_FN void cone_begin(Dual *dual, mask warm, real nu) {
    dual_apply(dual, dual->best, dual->image);
    TEAM_FOR(b, dual->blocks) {
        Vec3 q = block_load(dual, b, dual->q), best = block_load(dual, b, dual->best);
        Vec3 u = vec3_sub(best, vec3_sub(block_load(dual, b, dual->image), q));
        cone_place(dual, b, vec3_select(warm, u, q), nu, real_of(1), dual->x, dual->z, dual->shape[0]);
    }
}

/* Factors P + S and computes the affine and centring directions. */
STAGE_FN void cone_directions(Dual *dual, const Cone *cone) {
    real **work = dual->work;
    /* S and the matrix; F = P x - q - z */
    dual_apply_exactly(dual, dual->x, dual->image);
    TEAM_FOR(b, dual->blocks) {
        cone_update_shape(dual, cone, b);
        cone_matrix(dual, b);
        Vec3 z = block_load(dual, b, dual->z), image = block_load(dual, b, dual->image);
        Vec3 F = vec3_sub(vec3_sub(image, block_load(dual, b, dual->q)), z);
        block_store(dual, b, work[CONE_F], F);
        block_store(dual, b, work[CONE_R], vec3_scale(real_of(-1), vec3_add(z, F)));
        block_store(dual, b, work[CONE_DZC], cone_centre(dual, cone, b));
    }
    TEAM_SYNC(); /* the factor reads M, the solves their right-hand sides */
    dense_factor(dual->rows, dual->M, dual->inverse, dual_floor(dual));
    dense_solve(dual->rows, dual->M, dual->inverse, work[CONE_R], work[CONE_DXA]);
    dense_solve(dual->rows, dual->M, dual->inverse, work[CONE_DZC], work[CONE_DXC]);
    /* dz_a = -z - S dx_a, dz_c = r_c - S dx_c */
    TEAM_FOR(b, dual->blocks) {
        Vec3 affine = cone_scale(dual, b, block_load(dual, b, work[CONE_DXA]));
        Vec3 centring = cone_scale(dual, b, block_load(dual, b, work[CONE_DXC]));
        block_store(dual, b, work[CONE_DZA], vec3_scale(real_of(-1), vec3_add(block_load(dual, b, dual->z), affine)));
        block_store(dual, b, work[CONE_DZC], vec3_sub(block_load(dual, b, work[CONE_DZC]), centring));
    }
    TEAM_SYNC(); /* every thread reads the directions */
}

/* The solution of the affine system without the cones, x + dx_a and z + dz_a, as a candidate. */
STAGE_FN void cone_offer_affine(Dual *dual, mask which) {
    real **work = dual->work;
    TEAM_FOR(i, dual->rows) {
        work[CONE_TX][i] = dual->x[i] + work[CONE_DXA][i];
        work[CONE_TZ][i] = dual->z[i] + work[CONE_DZA][i];
    }
    TEAM_SYNC(); /* blocks read their rows */
    cone_offer(dual, work[CONE_TX], work[CONE_TZ], which);
}

/* ---- retraction ---- */

typedef struct ConeTrial {
    real rho, sigma; /* scale of impulses; the reduction of nu that was accepted last */
    mask accepted;
} ConeTrial;

/* Copies the trial point to the kept one in the lanes of `take`. */
STAGE_FN void cone_keep(Dual *dual, mask take) {
    real **work = dual->work;
    TEAM_FOR(i, dual->rows) {
        work[CONE_KX][i] = real_select(take, work[CONE_TX][i], work[CONE_KX][i]);
        work[CONE_KZ][i] = real_select(take, work[CONE_TZ][i], work[CONE_KZ][i]);
    }
    TEAM_FOR(i, CONE_SHAPE * dual->blocks)
        dual->shape[2][i] = real_select(take, dual->shape[1][i], dual->shape[2][i]);
    TEAM_SYNC(); /* the next trial overwrites the trial point */
}

/* Makes the kept point the iterate in the lanes of `take`. */
STAGE_FN void cone_take_kept(Dual *dual, mask take) {
    real **work = dual->work;
    TEAM_FOR(i, dual->rows) {
        dual->x[i] = real_select(take, work[CONE_KX][i], dual->x[i]);
        dual->z[i] = real_select(take, work[CONE_KZ][i], dual->z[i]);
    }
    TEAM_FOR(i, CONE_SHAPE * dual->blocks)
        dual->shape[0][i] = real_select(take, dual->shape[2][i], dual->shape[0][i]);
    TEAM_SYNC(); /* every thread reads x and z */
}

/* Retracts the full step with centring f to the path at sigma nu, and returns |F| there. */
STAGE_FN real cone_trial(Dual *dual, const Cone *cone, real rho, real sigma, real f) {
    real **work = dual->work;
    TEAM_FOR(b, dual->blocks) {
        Vec3 x = vec3_fma(f, block_load(dual, b, work[CONE_DXC]),
                          vec3_add(block_load(dual, b, dual->x), block_load(dual, b, work[CONE_DXA])));
        Vec3 z = vec3_fma(f, block_load(dual, b, work[CONE_DZC]),
                          vec3_add(block_load(dual, b, dual->z), block_load(dual, b, work[CONE_DZA])));
        Vec3 u = vec3_sub(vec3_scale(rho, x), vec3_scale(K(1.0) / rho, z));
        cone_place(dual, b, u, sigma * cone->nu, rho, work[CONE_TX], work[CONE_TZ], dual->shape[1]);
    }
    TEAM_SYNC(); /* the product reads the trial point */
    dual_apply(dual, work[CONE_TX], dual->image);
    return cone_infeasibility(dual, dual->image, work[CONE_TZ]);
}

/* Tries sigma with two guesses of centring; the better one counts. Returns the lanes that accept it. */
KERNEL_FN mask cone_try(Dual *dual, const Cone *cone, real sigma, ConeTrial *trial) {
    real root = real_sqrt(sigma * cone->nu * dual->count), bound = cone->kappa * trial->rho * root;
    real smallest = real_of(K(1.0)) / real_of(0);
    mask accepted = mask_none();
    for (int guess = 0; guess < 2; guess++) {
        /* 2 sqrt(sigma) - 1 follows the path in sqrt(nu): it matters for contacts that end on the surface with z = 0 */
        real f = guess == 0
                     ? real_select(cone->on_path, real_fma(real_of(K(2.0)), real_sqrt(sigma), real_of(-1)), sigma)
                     : sigma;
        real F = cone_trial(dual, cone, trial->rho, sigma, f);
        mask take = cone->open & (F <= bound) & (F < smallest);
        smallest = real_select(take, F, smallest);
        accepted = accepted | take;
        cone_keep(dual, take);
    }
    trial->sigma = real_select(accepted, sigma, trial->sigma);
    trial->accepted = trial->accepted | accepted;
    dual->inner_iterations = dual->inner_iterations + real_select(cone->open, real_of(1), real_of(0));
    return accepted;
}

/* The smallest sigma of a grid of seven that is accepted, by bisection. Lanes that accept one move there. */
STAGE_FN mask cone_retraction(Dual *dual, Cone *cone) {
    /* rho^2 is the size of velocities against impulses: heavy on light has |x| = 1e6 |q| */
    real **work = dual->work, full = real_of(0);
    for (int i = 0; i < dual->rows; i++) {
        real x = dual->x[i] + work[CONE_DXA][i];
        full = real_fma(x, x, full);
    }
    real size = real_sqrt(real_max(full, dual_square(dual, dual->x)));
    ConeTrial trial;
    trial.rho =
        real_sqrt(real_min(real_max(dual->norm / real_max(size, real_of(K(1e-30))), real_of(K(1e-8))), real_of(1)));
    trial.sigma = real_of(1);
    trial.accepted = mask_none();
    /* the grid 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.3 */
    mask first = cone_try(dual, cone, real_of(K(1e-3)), &trial);
    real sigma = real_select(first, real_of(K(1e-6)), real_of(K(0.1)));
    mask second = cone_try(dual, cone, sigma, &trial);
    real small = real_select(second, real_of(K(1e-8)), real_of(K(1e-4)));
    real large = real_select(second, real_of(K(1e-2)), real_of(K(0.3)));
    cone_try(dual, cone, real_select(first, small, large), &trial);
    /* move */
    cone_take_kept(dual, trial.accepted);
    cone->nu = real_select(trial.accepted, trial.sigma * cone->nu, cone->nu);
    cone->on_path = cone->on_path | trial.accepted;
    return trial.accepted;
}

/* ---- interior step ---- */

KERNEL_FN real cone_longest(const Dual *dual, const Cone *cone, ConeDirection along) {
    real step = cone_far();
    for (int b = 0; b < dual->blocks; b++)
        step = real_min(step, cone_block_step(dual, cone, b, along));
    return step;
}

/* dx_k, dz_k */
STAGE_FN void cone_correct(Dual *dual) {
    real **work = dual->work;
    TEAM_FOR(b, dual->blocks)
        block_store(dual, b, work[CONE_R], cone_block_corrector(dual, b));
    TEAM_SYNC(); /* the solve reads its right-hand side */
    dense_solve(dual->rows, dual->M, dual->inverse, work[CONE_R], work[CONE_DXK]);
    TEAM_FOR(b, dual->blocks) {
        Vec3 Sdx = cone_scale(dual, b, block_load(dual, b, work[CONE_DXK]));
        block_store(dual, b, work[CONE_DZK], vec3_sub(block_load(dual, b, work[CONE_R]), Sdx));
    }
    TEAM_SYNC(); /* every thread reads the direction */
}

/* Chooses the direction: the first of sigma, 1, 10, 100, 1e3, 1e4 with a step of at least 0.3, else the longest; the
 * first two with or without corrector. More than 1 raises nu: F is too large for it. */
KERNEL_FN real cone_choose(const Dual *dual, const Cone *cone, real sigma, ConeDirection *chosen) {
    const scalar raised[5] = {K(1.0), K(10.0), K(100.0), K(1e3), K(1e4)};
    real longest = real_of(-1);
    mask found = mask_none();
    for (int i = 0; i < 6; i++) {
        mask enough = found;
        for (int corrected = i < 2; corrected >= 0; corrected--) {
            ConeDirection along;
            along.sigma = i == 0 ? sigma : real_of(raised[i - 1]);
            along.corrected = corrected ? mask_all() : mask_none();
            real step = cone_longest(dual, cone, along);
            mask better = mask_not(found) & (step > longest);
            longest = real_select(better, step, longest);
            chosen->sigma = real_select(better, along.sigma, chosen->sigma);
            chosen->corrected = (better & along.corrected) | (mask_not(better) & chosen->corrected);
            enough = enough | (longest >= K(0.3));
        }
        found = enough;
        if (!mask_any(cone->open & mask_not(found)))
            break;
    }
    return longest;
}

/* Adds a dv to block b of v in the lanes of `which`. A direction of another lane need not be finite. */
KERNEL_FN void cone_add(const Dual *dual, int b, real *v, Vec3 dv, real a, mask which) {
    Vec3 old = block_load(dual, b, v);
    block_store(dual, b, v, vec3_select(which, vec3_fma(a, dv, old), old));
}

/* x += a dx, z += a dz in the lanes of `which`; nu from the new point. */
STAGE_FN void cone_advance(Dual *dual, Cone *cone, ConeDirection along, real a, mask which) {
    TEAM_FOR(b, dual->blocks) {
        Vec3 dx = cone_dx(dual, b, along), dz = cone_dz(dual, b, along);
        if (!dual_is_cone(dual, b)) {
            real *s = dual->shape[0] + CONE_SHAPE * b, dzl, dzu;
            cone_dz_bounds(dual, cone, b, along, &dzl, &dzu);
            s[1] = real_select(which, real_fma(a, dzl, s[1]), s[1]);
            s[2] = real_select(which, real_fma(a, dzu, s[2]), s[2]);
            dual->z[dual_row(dual, b)] = real_select(which, s[1] - s[2], dual->z[dual_row(dual, b)]);
        } else {
            cone_add(dual, b, dual->z, dz, a, which);
        }
        cone_add(dual, b, dual->x, dx, a, which);
    }
    TEAM_SYNC(); /* every thread reads x and z */
    real gap = real_of(0);
    for (int b = 0; b < dual->blocks; b++)
        gap = gap + cone_block_gap(dual, b);
    cone->nu = real_select(which, gap / dual->degree, cone->nu);
    cone->on_path = cone->on_path & mask_not(which);
}

/* Returns to the path from `best`, once per run, if that point is close to the solution and F stays small. */
STAGE_FN void cone_recentre(Dual *dual, Cone *cone, mask which) {
    real **work = dual->work, size = K(10.0) * dual->residual * dual->norm;
    real nu = size * size / dual->count;
    mask may = which & mask_not(cone->recentred) & (dual->residual < K(1e-3)) & (nu < cone->nu);
    if (!mask_any(may))
        return;
    dual_apply(dual, dual->best, dual->image);
    TEAM_FOR(b, dual->blocks) {
        Vec3 z = vec3_sub(block_load(dual, b, dual->image), block_load(dual, b, dual->q));
        Vec3 u = vec3_sub(block_load(dual, b, dual->best), z);
        cone_place(dual, b, u, nu, real_of(1), work[CONE_TX], work[CONE_TZ], dual->shape[1]);
    }
    TEAM_SYNC(); /* the product reads the trial point */
    dual_apply(dual, work[CONE_TX], dual->image);
    mask take = may & (cone_infeasibility(dual, dual->image, work[CONE_TZ]) <= real_sqrt(nu * dual->count));
    cone_keep(dual, take);
    cone_take_kept(dual, take);
    cone->nu = real_select(take, nu, cone->nu);
    cone->on_path = cone->on_path | take;
    cone->recentred = cone->recentred | take;
}

/* The interior step of the lanes in `which`. improved: best got better in this iteration. */
STAGE_FN void cone_interior(Dual *dual, Cone *cone, mask which, mask improved) {
    ConeDirection affine, along;
    affine.sigma = real_of(0);
    affine.corrected = mask_none();
    along = affine;
    /* Mehrotra's sigma: how far the affine direction goes */
    real missing = K(1.0) - real_min(cone_longest(dual, cone, affine), real_of(1));
    real sigma = real_max(missing * missing * missing, real_of(K(1e-8)));
    cone_correct(dual);
    real step = cone_choose(dual, cone, sigma, &along);
    /* retractions that led here were too bold */
    mask stuck = which & ((step < K(0.3)) | (along.sigma > K(1.0)));
    cone->kappa = real_select(stuck, real_max(cone->kappa / K(10.0), real_of(K(1e-3))), cone->kappa);
    TEAM_SYNC(); /* every thread has measured its steps */
    cone_advance(dual, cone, along, real_min(real_of(1), K(0.98) * step), which);
    cone_recentre(dual, cone, which & improved);
}

/* ---- the loop ---- */

/* Ends lanes that are done. best is the answer. r: residual of point, which is overwritten. */
STAGE_FN void cone_stop(Dual *dual, Cone *cone, real r) {
    mask open = dual_end(dual, cone->open);
    mask broken = open & mask_not(real_finite(r + dual_square(dual, dual->x)));
    mask large = open & mask_not(broken) & (dual_is_large(dual, dual->x) | dual_is_large(dual, dual->point));
    mask unbounded = mask_any(large) ? dual_contradicts(dual, large) : mask_none();
    dual->no_descent = dual->no_descent | broken;
    dual->unbounded = dual->unbounded | unbounded;
    cone->open = open & mask_not(broken | unbounded);
}

/* Runs the lanes of `which`, from `best` in the lanes of `warm`, for at most `limit` iterations. */
STAGE_FN void cone_run(Dual *dual, mask which, mask warm, real nu, int limit) {
    Cone cone;
    cone.open = which;
    cone.on_path = mask_all();
    cone.recentred = mask_none();
    cone.nu = nu;
    cone.kappa = real_of(1);
    cone_begin(dual, warm, nu);
    for (int k = 0;; k++) {
        /* the projected iterate as a candidate, and which lanes are done */
        real before = dual->residual;
        cone_stop(dual, &cone, cone_offer(dual, dual->x, dual->z, cone.open));
        if (k == limit || !mask_any(cone.open))
            break;
        dual->iterations = dual->iterations + real_select(cone.open, real_of(1), real_of(0));
        /* directions; the affine one may give the answer at once */
        cone_directions(dual, &cone);
        cone_offer_affine(dual, cone.open);
        mask optimal = cone.open & (dual->residual <= dual->tolerance);
        dual->optimal = dual->optimal | optimal;
        cone.open = cone.open & mask_not(optimal);
        if (!mask_any(cone.open))
            break;
        /* a retraction, or the interior step where none is accepted */
        mask accepted = cone_retraction(dual, &cone), interior = cone.open & mask_not(accepted);
        if (mask_any(interior))
            cone_interior(dual, &cone, interior, dual->residual < before);
    }
    dual->limit = dual->limit | cone.open;
    TEAM_SYNC(); /* every thread has read x */
}
