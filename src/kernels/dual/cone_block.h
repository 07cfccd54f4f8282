/* The parts of the method cone that concern one block. docs/dual.md#cone.
 *
 * For a contact, L is the cone of a Jordan algebra: y o y' = (y.y', y_n y'_t + y'_n y_t), and y = y_1 c_1 + y_2 c_2
 * with y_1 = y_n - |y_t|, y_2 = y_n + |y_t|. The scaling matrix S, symmetric with S x = z, is stored as its shape
 *
 *   {t1, t2, a1, a2, a3}   eigenvalues a1 along (-t, 1), a2 along (t, 1), a3 across the unit vector t
 *
 * A scalar row has multipliers of its bounds, z = zl - zu, and the shape {S, zl, zu}, S = zl/(x - lo) + zu/(hi - x).
 * The parameter of the central path is nu: x o z = nu e; zl (x - lo) = zu (hi - x) = nu. */

KERNEL_FN real cone_far(void) {
    return real_of(K(1e30));
}
KERNEL_FN real tangent_length(Vec3 y) {
    return real_sqrt(real_fma(y.y, y.y, y.x * y.x));
}
/* det y = y_1 y_2, positive inside L. The floor keeps points that rounding put on the surface inside. */
KERNEL_FN real cone_det(Vec3 y) {
    real s = tangent_length(y);
    return real_max((y.z - s) * (y.z + s), real_of(K(1e-37)));
}

/* ---- shapes ---- */

typedef struct ConeShape {
    real t1, t2, a1, a2, a3;
} ConeShape;

KERNEL_FN ConeShape cone_shape_load(const real *s) {
    ConeShape shape;
    shape.t1 = s[0];
    shape.t2 = s[1];
    shape.a1 = s[2];
    shape.a2 = s[3];
    shape.a3 = s[4];
    return shape;
}
KERNEL_FN void cone_shape_store(real *s, ConeShape shape) {
    s[0] = shape.t1;
    s[1] = shape.t2;
    s[2] = shape.a1;
    s[3] = shape.a2;
    s[4] = shape.a3;
}
/* S y = (m y_n + d p, (d y_n + m p) t + a3 (y_t - p t)), m = (a1 + a2)/2, d = (a2 - a1)/2, p = t.y_t */
KERNEL_FN Vec3 cone_shape_apply(ConeShape s, Vec3 y) {
    real m = K(0.5) * (s.a1 + s.a2), d = K(0.5) * (s.a2 - s.a1);
    real p = real_fma(s.t2, y.y, s.t1 * y.x), along = real_fma(d, y.z, m * p);
    return vec3(real_fma(along, s.t1, s.a3 * (y.x - p * s.t1)), real_fma(along, s.t2, s.a3 * (y.y - p * s.t2)),
                real_fma(m, y.z, d * p));
}
/* S^1/2 */
KERNEL_FN ConeShape cone_shape_root(ConeShape s) {
    s.a1 = real_sqrt(s.a1);
    s.a2 = real_sqrt(s.a2);
    s.a3 = real_sqrt(s.a3);
    return s;
}
KERNEL_FN ConeShape cone_shape_inverse(ConeShape s) {
    s.a1 = K(1.0) / s.a1;
    s.a2 = K(1.0) / s.a2;
    s.a3 = K(1.0) / s.a3;
    return s;
}
/* The unit vector y_t/|y_t|; (1, 0) where y_t is 0. */
KERNEL_FN void cone_shape_direct(ConeShape *s, Vec3 y) {
    real length = tangent_length(y);
    mask has = length > K(0.0);
    real inverse = K(1.0) / real_select(has, length, real_of(1));
    s->t1 = real_select(has, y.x * inverse, real_of(1));
    s->t2 = real_select(has, y.y * inverse, real_of(0));
}
/* The shape at a point off the central path, by Nesterov and Todd. */
KERNEL_FN ConeShape cone_shape_at(Vec3 x, Vec3 z) {
    real det_x = cone_det(x), det_z = cone_det(z);
    Vec3 xb = vec3_scale(K(1.0) / real_sqrt(det_x), x), zb = vec3_scale(K(1.0) / real_sqrt(det_z), z);
    real g = real_sqrt(K(0.5) * (K(1.0) + vec3_dot(xb, zb))), half = K(0.5) / g;
    Vec3 w = vec3(half * (xb.x - zb.x), half * (xb.y - zb.y), half * (xb.z + zb.z));
    real eta = real_sqrt(det_x / det_z), a = w.z + tangent_length(w);
    ConeShape s;
    cone_shape_direct(&s, w);
    s.a1 = a * a / eta;
    s.a2 = K(1.0) / (a * a * eta);
    s.a3 = K(1.0) / eta;
    return s;
}

/* ---- the central path ---- */

/* p - r = l, p r = nu, p, r > 0, without cancellation. */
KERNEL_FN void split(real l, real nu, real *p, real *r) {
    real large = K(0.5) * (real_abs(l) + real_sqrt(real_fma(l, l, K(4.0) * nu))), small = nu / large;
    mask up = l >= K(0.0);
    *p = real_select(up, large, small);
    *r = real_select(up, small, large);
}

/* The point of the path with x - z = u: x o z = nu e. */
KERNEL_FN ConeShape cone_retract(Vec3 u, real nu, Vec3 *x, Vec3 *z) {
    ConeShape s;
    cone_shape_direct(&s, u);
    real length = tangent_length(u), x_1, x_2, z_1, z_2;
    split(u.z - length, nu, &x_1, &z_1);
    split(u.z + length, nu, &x_2, &z_2);
    real x_n = K(0.5) * (x_1 + x_2), z_n = K(0.5) * (z_1 + z_2), ratio = length / (x_n + z_n);
    *x = vec3(s.t1 * (ratio * x_n), s.t2 * (ratio * x_n), x_n);
    *z = vec3(-s.t1 * (ratio * z_n), -s.t2 * (ratio * z_n), z_n);
    s.a1 = z_1 / x_1;
    s.a2 = z_2 / x_2;
    s.a3 = z_n / x_n;
    return s;
}

/* The same for a row with two bounds: x - nu/(x - lo) + nu/(hi - x) = u. The left side increases with x, and the roots
 * with one bound enclose its root. Newton's method in this bracket from the root that belongs to the nearer bound. */
KERNEL_FN real box_retract(real u, real nu, real lo, real hi) {
    real below, above, unused;
    split(u - lo, nu, &above, &unused);
    split(hi - u, nu, &below, &unused);
    real low = real_max(hi - below, lo), high = real_min(lo + above, hi);
    real x = real_select(u - lo < hi - u, high, low), middle = K(0.5) * (lo + hi);
    x = real_select((x > lo) & (x < hi), x, middle);
    for (int k = 0; k < 8; k++) {
        real zl = nu / (x - lo), zu = nu / (hi - x), g = x - zl + zu - u;
        low = real_select(g < K(0.0), x, low);
        high = real_select(g > K(0.0), x, high);
        real next = x - g / (K(1.0) + zl / (x - lo) + zu / (hi - x));
        mask inside = (next > low) & (next < high);
        real half = K(0.5) * (low + high);
        next = real_select(inside, next, half);
        x = real_select((g == K(0.0)) | mask_not((next > lo) & (next < hi)), x, next);
    }
    return x;
}

/* x, and the shape, of a scalar row. */
KERNEL_FN real row_retract(int kind, real u, real nu, real lo, real hi, real *shape) {
    mask below = real_finite(lo), above = real_finite(hi);
    real zero = real_of(0), unused, from_lo, from_hi;
    split(u - real_select(below, lo, zero), nu, &from_lo, &unused);
    split(real_select(above, hi, zero) - u, nu, &from_hi, &unused);
    real x = real_select(below, lo + from_lo, real_select(above, hi - from_hi, u));
    if (kind == SAP_DUAL_BOX) {
        mask both = below & above;
        real two = box_retract(u, nu, real_select(both, lo, zero), real_select(both, hi, real_of(1)));
        x = real_select(both, two, x);
    }
    real zl = nu / (x - lo), zu = nu / (hi - x);
    shape[0] = zl / (x - lo) + zu / (hi - x);
    shape[1] = zl;
    shape[2] = zu;
    return x;
}

/* ---- steps ---- */

/* The largest a with x + a dx in L. */
KERNEL_FN real cone_step(Vec3 x, Vec3 dx) {
    real length = tangent_length(x), square = real_fma(dx.y, dx.y, dx.x * dx.x);
    real A = real_fma(dx.z, dx.z, -square), B = real_fma(x.z, dx.z, -real_fma(x.y, dx.y, x.x * dx.x));
    real C = (x.z - length) * (x.z + length), disc = real_fma(B, B, -(A * C));
    real root = real_sqrt(real_max(disc, real_of(0)));
    mask free = (disc < K(0.0)) | (B >= root), falls = dx.z < K(0.0);
    real step = real_select(free, cone_far(), C / real_select(free, real_of(1), root - B));
    real apex = real_select(falls, -x.z / real_select(falls, dx.z, real_of(-1)), cone_far());
    return real_min(step, apex);
}

/* The largest a with y + a dy >= 0. */
KERNEL_FN real row_step(real y, real dy) {
    mask falls = dy < K(0.0);
    return real_select(falls, -y / real_select(falls, dy, real_of(-1)), cone_far());
}

/* nu x^-1 = nu (x_n, -x_t)/det x */
KERNEL_FN Vec3 cone_inverse(Vec3 x, real nu) {
    real scale = nu / cone_det(x);
    return vec3(-scale * x.x, -scale * x.y, scale * x.z);
}

/* Mehrotra's second-order term of a contact: -V^-1 (lam \ ((V^-1 dx) o (V dz))), V = S^-1/2, lam = V z. */
KERNEL_FN Vec3 cone_corrector(ConeShape s, Vec3 z, Vec3 dx, Vec3 dz) {
    ConeShape root = cone_shape_root(s), inverse = cone_shape_inverse(root);
    Vec3 a = cone_shape_apply(root, dx), b = cone_shape_apply(inverse, dz), lam = cone_shape_apply(inverse, z);
    /* r = a o b */
    Vec3 r = vec3(real_fma(a.z, b.x, b.z * a.x), real_fma(a.z, b.y, b.z * a.y), vec3_dot(a, b));
    /* y with lam o y = r */
    real y_n = real_fma(lam.z, r.z, -real_fma(lam.y, r.y, lam.x * r.x)) / cone_det(lam);
    Vec3 y = vec3((r.x - y_n * lam.x) / lam.z, (r.y - y_n * lam.y) / lam.z, y_n);
    return vec3_scale(real_of(-1), cone_shape_apply(root, y));
}
