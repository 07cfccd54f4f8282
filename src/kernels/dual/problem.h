/* The dual problem of a world, scaled so that masses and units drop out. docs/dual.md.
 *
 *   minimise  1/2 x'P x - q'x   over x of each block in its set;   l = d x,  P = d (W + R) d,  q = d b
 *   d = s / sqrt(w)             contact: s = (mu, mu, 1), w = (W_nn + mu^2 (W_t1t1 + W_t2t2))/3;  row k: s = 1, w = W_kk
 *
 * active_set, and cone with a small tolerance, take the nearest power of 2 for 1/sqrt(w), which rounds nothing.
 * The set of a contact is then L = {|x_t| <= x_n} for every mu, a cone that is its own dual. mu = 0 is no special case:
 * d_t = 0. Scalar rows have bounds [lo, hi]: unilateral [0, inf], free [-inf, inf]. The residual of x is
 *
 *   r = |x - Proj(x - z)| / |q|,   z = P x - q
 *   friction_law = coulomb: z_n + |z_t| stands for z_n, which is de Saxce's form of Coulomb's law
 *
 * A block whose rows of W and b are zero is not used: its x and z stay 0, and it counts nowhere. Blocks are distributed
 * over the team by index, and so are rows. A function whose result depends on elements of other threads, or that writes
 * elements which others read, ends with a barrier. */

/* The method of the options, unless a kernel set of the GPU defines it as a constant (target/cuda_dual.cu). */
#ifndef DUAL_METHOD
#define DUAL_METHOD(dual) ((dual)->options->method)
#endif

/* One pack of problems. Arrays are in scratch and have one element per row unless noted. The code that sets up a
 * problem (dual/call.h, or dual/step.h for a step) writes W + R to P, b to q, mu, the bounds of boxes, the guess and
 * the two masks of lanes, then calls dual_load, which scales them in place. */
typedef struct Dual {
    const SapDualOptions *options;
    int rows, blocks;
    const int *kind, *row; /* [blocks] SapDualKind; first row: a contact has 3 rows (t1, t2, n), the others 1 */
    int coulomb;           /* 1: the residual of Coulomb's law */
    real *P, *M;           /* packed lower triangles: the matrix, and a factor */
    real *inverse;         /* of the diagonal of the factor */
    real *q, *d, *lo, *hi; /* lo, hi: scaled, of scalar rows */
    real *mu;              /* [blocks] of contacts */
    real *guess;           /* impulses to start from; 0 without one */
    real *used;            /* [blocks] 1: takes part; 0: not */
    real *best;            /* the answer so far: of all points seen, the one with the smallest residual */
    real *x, *z;           /* the iterate of a method */
    real *point, *image;   /* a candidate, and P times it */
    real *kept;            /* an answer that another attempt may replace */
    real *bounce;          /* the answer with restitution where it would add energy (dual/bounce.h) */
    real *work[12];        /* for methods */
    real *shape[3];        /* [blocks][CONE_SHAPE] for the method cone */
    real *slip[3];         /* [blocks] for Coulomb's law */

    mask excluded;      /* lanes that are not solved: x = 0 */
    mask warm;          /* lanes that start from the guess */
    real norm;          /* |q|; 1 where it is 0 */
    real count, degree; /* number of used blocks; of used cones and finite bounds */
    real used_rows;     /* rows of used blocks */
    real tolerance;     /* of the residual */
    real residual;      /* of best */
    real iterations, inner_iterations, safeguards;
    mask optimal, settled, limit, no_descent, unbounded, not_coulomb; /* how the solve ended: SAP_WORLD_... */
} Dual;

enum { CONE_SHAPE = 5, DUAL_WORK = 12, DUAL_SHAPES = 3, DUAL_SLIPS = 3, DUAL_VECTORS = 13 + DUAL_WORK };

static_assert(SAP_DUAL_ROW_VECTORS == (int)DUAL_VECTORS, "data/layouts.h has another number of vectors");
static_assert(SAP_DUAL_BLOCK_VECTORS == (int)(DUAL_SHAPES * CONE_SHAPE + DUAL_SLIPS + 2), "the same for blocks");

KERNEL_FN size_t dual_scratch(int blocks, int rows) {
    return (size_t)SAP_DUAL_SCRATCH(blocks, rows);
}

KERNEL_FN real *dual_take(real **next, int count) {
    real *at = *next;
    *next += count;
    return at;
}

KERNEL_FN void dual_open(Dual *dual, const SapDualShape *shape, const SapDualOptions *options, real *scratch) {
    int rows = shape->num_rows, blocks = shape->num_blocks;
    dual->options = options;
    dual->rows = rows;
    dual->blocks = blocks;
    dual->kind = shape->kind;
    dual->row = shape->row;
    dual->coulomb = 0;
    /* scratch */
    dual->P = dual_take(&scratch, packed_row(rows));
    dual->M = dual_take(&scratch, packed_row(rows));
    dual->inverse = dual_take(&scratch, rows);
    dual->q = dual_take(&scratch, rows);
    dual->d = dual_take(&scratch, rows);
    dual->lo = dual_take(&scratch, rows);
    dual->hi = dual_take(&scratch, rows);
    dual->best = dual_take(&scratch, rows);
    dual->x = dual_take(&scratch, rows);
    dual->z = dual_take(&scratch, rows);
    dual->point = dual_take(&scratch, rows);
    dual->image = dual_take(&scratch, rows);
    dual->kept = dual_take(&scratch, rows);
    dual->bounce = dual_take(&scratch, rows);
    dual->guess = dual_take(&scratch, rows);
    for (int i = 0; i < DUAL_WORK; i++)
        dual->work[i] = dual_take(&scratch, rows);
    dual->used = dual_take(&scratch, blocks);
    dual->mu = dual_take(&scratch, blocks);
    for (int i = 0; i < DUAL_SHAPES; i++)
        dual->shape[i] = dual_take(&scratch, CONE_SHAPE * blocks);
    for (int i = 0; i < DUAL_SLIPS; i++)
        dual->slip[i] = dual_take(&scratch, blocks);
    /* lanes and results */
    dual->excluded = dual->warm = mask_none();
    dual->residual = dual->iterations = dual->inner_iterations = dual->safeguards = real_of(0);
    dual->optimal = dual->settled = dual->limit = dual->no_descent = mask_none();
    dual->unbounded = dual->not_coulomb = mask_none();
}

KERNEL_FN int dual_is_cone(const Dual *dual, int b) {
    return dual->kind[b] == SAP_DUAL_CONTACT;
}
KERNEL_FN int dual_row(const Dual *dual, int b) {
    return dual->row[b];
}
/* Vec3 of a contact, or a scalar row as the normal part. */
KERNEL_FN Vec3 block_load(const Dual *dual, int b, const real *v) {
    int row = dual_row(dual, b);
    return dual_is_cone(dual, b) ? vec3_load(v + row) : vec3(real_of(0), real_of(0), v[row]);
}
KERNEL_FN void block_store(const Dual *dual, int b, real *v, Vec3 a) {
    int row = dual_row(dual, b);
    if (dual_is_cone(dual, b))
        vec3_store(v + row, a);
    else
        v[row] = a.z;
}
/* Methods without friction solve for normals only. */
KERNEL_FN int dual_frictionless(const Dual *dual) {
    return DUAL_METHOD(dual) == SAP_DUAL_ACTIVE_SET || DUAL_METHOD(dual) == SAP_DUAL_ACTIVE_SET_SINGLE;
}

/* ---- scaling ---- */

/* Whether units are powers of 2, so that P of normals and scalar rows has no rounding. */
KERNEL_FN bool dual_has_exact_units(const Dual *dual) {
    return dual_frictionless(dual) || dual->options->optimality_rel_tol < 1e-8;
}

/* d of a block with mean diagonal w: 0 in problems that are not solved. */
KERNEL_FN real dual_unit(const Dual *dual, real w) {
    real d = K(1.0) / real_sqrt(real_max(w, real_of(K(1e-30)))); /* 1e-30: a row without mass */
    if (dual_has_exact_units(dual))
        d = real_power_of_2(K(1.4142135623730951) * d); /* the nearest one, by factors */
    return real_select(dual->excluded, real_of(0), d);
}

/* d, q and `used` of contact b. */
KERNEL_FN void dual_scale_contact(Dual *dual, int b, int row) {
    real mu = dual_frictionless(dual) ? real_of(0) : dual->mu[b];
    real w_1 = dual->P[packed_at(row, row)], w_2 = dual->P[packed_at(row + 1, row + 1)],
         w_n = dual->P[packed_at(row + 2, row + 2)];
    real unit = dual_unit(dual, real_fma(mu * mu, w_1 + w_2, w_n) / K(3.0));
    dual->d[row] = dual->d[row + 1] = real_select(unit > K(0.0), mu * unit, real_of(0));
    dual->d[row + 2] = unit;
    mask used = mask_not(w_1 + w_2 + w_n == K(0.0));
    for (int i = row; i < row + 3; i++) {
        real rhs = dual->q[i];
        dual->q[i] = real_select(dual->d[i] > K(0.0), dual->d[i] * rhs, real_of(0));
        used = used | mask_not(rhs == K(0.0));
    }
    dual->used[b] = real_select(used & (unit > K(0.0)), real_of(1), real_of(0));
}

/* d, q, bounds and `used` of scalar row b. */
KERNEL_FN void dual_scale_row(Dual *dual, int b, int row) {
    real w = dual->P[packed_at(row, row)], rhs = dual->q[row];
    real unit = dual_unit(dual, w), infinite = real_of(K(1.0)) / real_of(0);
    mask used = mask_not((w == K(0.0)) & (rhs == K(0.0))) & (unit > K(0.0));
    dual->d[row] = unit;
    dual->q[row] = real_select(unit > K(0.0), unit * rhs, real_of(0));
    dual->used[b] = real_select(used, real_of(1), real_of(0));
    real lo = -infinite, hi = infinite;
    if (dual->kind[b] == SAP_DUAL_UNILATERAL)
        lo = real_of(0);
    if (dual->kind[b] == SAP_DUAL_BOX) {
        lo = dual->lo[row] / unit;
        hi = dual->hi[row] / unit;
    }
    dual->lo[row] = real_select(used, lo, -infinite);
    dual->hi[row] = real_select(used, hi, infinite);
}

/* |v|^2, summed by every thread. */
KERNEL_FN real dual_square(const Dual *dual, const real *v) {
    real s = real_of(0);
    for (int i = 0; i < dual->rows; i++)
        s = real_fma(v[i], v[i], s);
    return s;
}

/* |q|, and the numbers of blocks and bounds. */
KERNEL_FN void dual_measure(Dual *dual) {
    real square = dual_square(dual, dual->q), zero = real_of(0), one = real_of(1);
    dual->norm = real_select(square > K(0.0), real_sqrt(square), one);
    dual->count = dual->degree = dual->used_rows = zero;
    for (int b = 0; b < dual->blocks; b++) {
        int row = dual_row(dual, b);
        dual->count = dual->count + dual->used[b];
        dual->used_rows = real_fma(real_of(dual_is_cone(dual, b) ? 3 : 1), dual->used[b], dual->used_rows);
        real bounds = dual_is_cone(dual, b) ? dual->used[b]
                                            : real_select(real_finite(dual->lo[row]), one, zero) +
                                                  real_select(real_finite(dual->hi[row]), one, zero);
        dual->degree = dual->degree + bounds;
    }
    dual->count = real_max(dual->count, one);
    dual->degree = real_max(dual->degree, one);
    dual->used_rows = real_max(dual->used_rows, one);
}

/* Scales the problems of the pack. The caller has completed them with a barrier. */
STAGE_FN void dual_load(Dual *dual) {
    const SapDualOptions *options = dual->options;
    TEAM_FOR(b, dual->blocks) {
        if (dual_is_cone(dual, b))
            dual_scale_contact(dual, b, dual_row(dual, b));
        else
            dual_scale_row(dual, b, dual_row(dual, b));
    }
    TEAM_SYNC(); /* rows of P read d of all rows, and their diagonal was read */
    TEAM_FOR(i, dual->rows) {
        for (int j = 0; j <= i; j++) { /* select: d = 0 in problems with numbers that are not finite */
            real scale = dual->d[i] * dual->d[j], *entry = &dual->P[packed_row(i) + j];
            *entry = real_select(scale == K(0.0), real_of(0), scale * *entry);
        }
        dual->best[i] = real_of(0);
    }
    dual_measure(dual); /* the barriers of dual_start complete P */
    real absolute = real_of((scalar)options->optimality_abs_tol) / dual->norm;
    dual->tolerance = real_max(real_of((scalar)options->optimality_rel_tol), absolute);
}

/* ---- sets ---- */

/* Projection on L = {|p_t| <= p_n}: p inside, 0 in the polar cone, else g (t, 1) with g = (p_n + |p_t|)/2. The three
 * cases are computed, then selected. */
KERNEL_FN Vec3 cone_project(Vec3 p) {
    real s = real_sqrt(real_fma(p.y, p.y, p.x * p.x)), g = K(0.5) * (p.z + s);
    real ratio = g / real_select(s > K(0.0), s, real_of(1));
    Vec3 surface = vec3(ratio * p.x, ratio * p.y, g);
    return vec3_select(s <= p.z, p, vec3_select(s <= -p.z, vec3_zero(), surface));
}

KERNEL_FN real dual_clamp(const Dual *dual, int row, real p) {
    return real_min(real_max(p, dual->lo[row]), dual->hi[row]);
}

/* point = Proj(p) of one block. */
KERNEL_FN void dual_project_block(const Dual *dual, int b, const real *p, real *point) {
    int row = dual_row(dual, b);
    if (dual_is_cone(dual, b))
        vec3_store(point + row, cone_project(vec3_load(p + row)));
    else
        point[row] = dual_clamp(dual, row, p[row]);
}

/* z + |z_t| e_n, de Saxce's correction. */
KERNEL_FN Vec3 cone_lift(Vec3 z) {
    z.z = z.z + real_sqrt(real_fma(z.y, z.y, z.x * z.x));
    return z;
}

/* |x - Proj(x - z)|^2 of block b at x with P x = image. Written so that a z far below x is not lost in x - z. */
KERNEL_FN real dual_block_residual(const Dual *dual, int b, const real *x, const real *image) {
    int row = dual_row(dual, b);
    if (dual_is_cone(dual, b)) {
        Vec3 at = vec3_load(x + row), z = vec3_sub(vec3_load(image + row), vec3_load(dual->q + row));
        if (dual->coulomb)
            z = cone_lift(z);
        Vec3 p = vec3_sub(at, z), error = vec3_sub(at, cone_project(p));
        error = vec3_select(real_sqrt(real_fma(p.y, p.y, p.x * p.x)) <= p.z, z, error);
        return vec3_dot(error, error);
    }
    real error = real_min(x[row] - dual->lo[row], real_max(x[row] - dual->hi[row], image[row] - dual->q[row]));
    return error * error;
}

/* The residual r of x, with image = P x. */
KERNEL_FN real dual_residual(const Dual *dual, const real *x, const real *image) {
    real s = real_of(0);
    for (int b = 0; b < dual->blocks; b++)
        s = s + dual_block_residual(dual, b, x, image);
    return real_sqrt(s) / dual->norm;
}

/* ---- candidates ---- */

KERNEL_FN void dual_apply(const Dual *dual, const real *x, real *image) {
    dense_multiply(dual->rows, dual->P, x, image);
}

KERNEL_FN real dual_epsilon(void) {
    return real_of(SAP_PRECISION == 64 ? K(2.220446049250313e-16) : K(1.1920929e-7));
}

/* Lanes in which the rounding of P x is not far below the tolerance of the residual. */
KERNEL_FN mask dual_is_rough(const Dual *dual, const real *x) {
    return K(64.0) * dual_epsilon() * real_sqrt(dual_square(dual, x)) > dual->tolerance * dual->norm;
}

/* image = P x, with exact sums where their rounding would show in the residual. */
STAGE_FN void dual_apply_exactly(const Dual *dual, const real *x, real *image) {
    mask rough = dual_is_rough(dual, x);
    dual_apply(dual, x, image);
    if (mask_any(rough))
        dense_multiply_exactly(dual->rows, dual->P, x, image, rough);
}

/* Makes `point` the answer in the lanes of `which` where its residual is smaller. Returns its residual. */
STAGE_FN real dual_offer(Dual *dual, mask which) {
    dual_apply_exactly(dual, dual->point, dual->image);
    real r = dual_residual(dual, dual->point, dual->image);
    mask better = which & (r < dual->residual);
    TEAM_FOR(i, dual->rows)
        dual->best[i] = real_select(better, dual->point[i], dual->best[i]);
    TEAM_SYNC(); /* every thread reads best, and may write point again */
    dual->residual = real_select(better, r, dual->residual);
    return r;
}

/* Impulses of this size may belong to targets that contradict each other: no velocity fulfils them. */
KERNEL_FN mask dual_is_large(const Dual *dual, const real *x) {
    real bound = K(1e9) * dual->norm;
    return mask_not(dual_square(dual, x) <= bound * bound);
}

/* Lanes whose residual is as small as the rounding of `best` makes it: no answer in this precision is far better. An x
 * of cone that is large may be on its way to infinity; active_set has the right set. */
KERNEL_FN mask dual_is_rounded(const Dual *dual) {
    real rounding = K(2.0) * dual_epsilon() * real_sqrt(dual_square(dual, dual->best));
    mask small = dual_frictionless(dual) ? mask_all() : mask_not(dual_is_large(dual, dual->best));
    return small & (dual->residual * dual->norm <= rounding) & (dual->residual <= K(1e-2));
}

/* Ends the lanes of `which`: with the answer below the tolerance, or as small as rounding lets it be. Returns the
 * rest. */
KERNEL_FN mask dual_end(Dual *dual, mask which) {
    mask optimal = which & (dual->residual <= dual->tolerance);
    mask settled = which & mask_not(optimal) & dual_is_rounded(dual);
    dual->optimal = dual->optimal | optimal;
    dual->settled = (dual->settled & mask_not(optimal)) | settled;
    return which & mask_not(optimal | settled);
}

/* ---- contradictory targets ---- */

/* Lanes of `which` in which `point` proves that: along a ray p of the sets the cost falls without end if P p = 0 and
 * q'p > 0. For any p in the sets, a solution x has x'P x >= (q'p)^2/p'P p; a bound of 1e9 |q|^2 is a mass ratio of 1e9,
 * for the q of the rows that p moves: others fade out where p is below 1e-4 of its largest element. p'P p below
 * rounding is taken as rounding. Overwrites point and image. In f32 the rounding of P hides such rays: there a large x
 * is all there is to go by. */
STAGE_FN mask dual_contradicts(Dual *dual, mask which) {
    const real zero = real_of(0);
    if (SAP_PRECISION == 32)
        return which & dual_is_large(dual, dual->point);
    /* p, with a largest element of 1, since the square of a large one may overflow */
    real largest = zero;
    for (int i = 0; i < dual->rows; i++)
        largest = real_max(largest, real_abs(dual->point[i]));
    real scale = K(1.0) / real_select(largest > K(0.0), largest, real_of(1));
    TEAM_SYNC(); /* every thread has read point */
    TEAM_FOR(b, dual->blocks) {
        int row = dual_row(dual, b);
        Vec3 p = vec3_scale(scale, block_load(dual, b, dual->point));
        if (!dual_is_cone(dual, b)) {
            p.z = real_select(real_finite(dual->lo[row]), real_max(p.z, zero), p.z);
            p.z = real_select(real_finite(dual->hi[row]), real_min(p.z, zero), p.z);
        }
        block_store(dual, b, dual->point, p);
    }
    TEAM_SYNC(); /* the product reads point */
    dual_apply(dual, dual->point, dual->image);
    real gain = zero, curvature = zero, scale_q = zero;
    for (int i = 0; i < dual->rows; i++) {
        real p = dual->point[i], q = dual->q[i] / dual->norm;
        real part = q * real_min(K(1e4) * real_abs(p), real_of(1));
        gain = real_fma(q, p, gain);
        curvature = real_fma(p, dual->image[i], curvature);
        scale_q = real_fma(part, part, scale_q);
    }
    curvature = real_max(curvature, K(4.0) * dual_epsilon() * dual_square(dual, dual->point));
    TEAM_SYNC(); /* every thread has read point and image */
    return which & (gain > K(0.0)) & (gain * gain > K(1e9) * scale_q * curvature);
}

/* Offers Proj(p), which replaces the answer of the lanes in `which`. */
STAGE_FN void dual_begin_at(Dual *dual, const real *p, mask which) {
    TEAM_FOR(b, dual->blocks)
        dual_project_block(dual, b, p, dual->point);
    TEAM_SYNC(); /* the product reads point */
    dual->residual = real_select(which, real_of(K(1.0)) / real_of(0), dual->residual);
    dual_offer(dual, which);
}

/* Starts from the guess, projected. */
STAGE_FN void dual_start(Dual *dual) {
    real *guess = dual->work[0];
    TEAM_FOR(i, dual->rows) {
        mask moves = dual->d[i] > K(0.0);
        real l = dual->guess[i] / real_select(moves, dual->d[i], real_of(1));
        guess[i] = real_select(moves, l, real_of(0));
    }
    TEAM_SYNC(); /* blocks read their rows */
    dual_begin_at(dual, guess, mask_all());
}

/* Starts the lanes of `which` again from 0. */
STAGE_FN void dual_forget(Dual *dual, mask which) {
    TEAM_FOR(i, dual->rows)
        dual->work[0][i] = real_of(0);
    TEAM_SYNC(); /* blocks read their rows */
    dual_begin_at(dual, dual->work[0], which);
}

/* Adds the compliance R = 1e-3 w to all rows but boxes, in the lanes of `which`: a solution exists then, also for
 * contradictory targets. */
STAGE_FN void dual_soften(Dual *dual, mask which) {
    const real soft = real_select(which, real_of(K(1e-3)), real_of(0));
    TEAM_FOR(b, dual->blocks) {
        int row = dual_row(dual, b), rows = dual_is_cone(dual, b) ? 3 : 1;
        if (dual->kind[b] == SAP_DUAL_BOX)
            continue;
        real unit = dual->d[row + rows - 1]; /* 1/sqrt(w) */
        for (int i = row; i < row + rows; i++) {
            real s = dual->d[i] / real_select(unit > K(0.0), unit, real_of(1));
            dual->P[packed_row(i) + i] = real_fma(soft * s, s, dual->P[packed_row(i) + i]);
        }
    }
    dual_forget(dual, which); /* its barriers complete P */
}

/* Clears how the lanes of `which` ended, for another attempt. */
KERNEL_FN void dual_reopen(Dual *dual, mask which) {
    dual->optimal = dual->optimal & mask_not(which);
    dual->settled = dual->settled & mask_not(which);
    dual->limit = dual->limit & mask_not(which);
    dual->no_descent = dual->no_descent & mask_not(which);
}

/* A pivot of at most this part of its diagonal is rounding error. */
KERNEL_FN real dual_floor(const Dual *dual) {
    return K(16.0) * dual_epsilon() * dual->used_rows;
}

/* The limit of iterations: the option, or the method's own. */
KERNEL_FN int dual_limit(const Dual *dual, int own) {
    int chosen = dual->options->max_iterations;
    return chosen < 0 ? own : chosen;
}

/* 1/2 x'P x - q'x with image = P x. */
KERNEL_FN real dual_cost(const Dual *dual, const real *x, const real *image) {
    real s = real_of(0);
    for (int i = 0; i < dual->rows; i++)
        s = real_fma(x[i], K(0.5) * image[i] - dual->q[i], s);
    return s;
}
