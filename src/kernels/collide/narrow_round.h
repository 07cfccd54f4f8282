/* Spheres and capsules against shapes with a closed form. A round shape is a core, a point or a segment, inflated by a
 * radius. Its distance is the distance of the cores minus the radii, and n is the direction from core to core.
 *
 * The centre of a sphere is transformed to the frame of shape 1, where the signed distance s(y) of a point and the
 * outward normal g of the surface next to it are known; then n = -R g, d = s - r0, p = r0 n, both inside and outside.
 * If the nearest points are not unique, the choice depends only on the axes of the shapes. */

/* ---- distance of cores ---- */

/* Sets point i from the core points x0 and x0 + v and the radii of the shapes; n is `fallback` where v
 * has no direction. */
KERNEL_FN void round_point(Manifold *m, int i, Vec3 x0, Vec3 v, real r0, real r1, Vec3 fallback) {
    real length = vec3_length(v);
    Vec3 n = vec3_unit_or(v, length, fallback);
    manifold_set(m, i, vec3_fma(r0, n, x0), n, length - r0 - r1, mask_all());
}

/* v, without its part along the unit vector `axis` where `within`. The shortest vector to an interior point of a
 * segment is orthogonal to it; the part along it is rounding, which must not change the direction of a short v. */
KERNEL_FN Vec3 across_within(Vec3 v, Vec3 axis, mask within) {
    return vec3_select(within, vec3_fma(-vec3_dot(v, axis), axis, v), v);
}

/* v, or zero where its length is at most `rounding`, so that it has no direction */
KERNEL_FN Vec3 beyond_rounding(Vec3 v, real rounding) {
    return vec3_select(vec3_length(v) > rounding, v, vec3_zero());
}

STAGE_FN void narrow_sphere_sphere(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx;
    m->count = 1;
    round_point(m, 0, vec3_zero(), X.p, a->size.x, b->size.x, vec3_unit_z());
}

STAGE_FN void narrow_sphere_capsule(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx;
    Vec3 axis = quat_matrix(X.q).z;
    real t = real_clamp(-vec3_dot(X.p, axis), -b->size.y, b->size.y);
    Vec3 v = across_within(vec3_fma(t, axis, X.p), axis, real_abs(t) < b->size.y);
    v = beyond_rounding(v, K(4 * NARROW_EPSILON) * (vec3_length(X.p) + b->size.y));
    m->count = 1;
    round_point(m, 0, vec3_zero(), v, a->size.x, b->size.x, vec3_perpendicular(axis));
}

/* ---- sphere and shape 1 ---- */

/* Sets the contact from s(y) and g in the frame of shape 1. */
KERNEL_FN void sphere_point(Manifold *m, Mat3 R, real r0, real s, Vec3 g) {
    Vec3 n = vec3_scale(real_of(K(-1.0)), mat3_mul(R, g));
    m->count = 1;
    manifold_set(m, 0, vec3_scale(r0, n), n, s - r0, mask_all());
}

/* y: the origin of frame 0 in the frame of shape 1 */
KERNEL_FN Vec3 centre_in(Mat3 R, Pose X) {
    return vec3_scale(real_of(K(-1.0)), mat3_mul_transposed(R, X.p));
}

/* e = |y| - size. Outside, the positive parts of e are the offset from the box; inside, the largest e belongs to the
 * nearest face. */
STAGE_FN void narrow_sphere_box(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx;
    Mat3 R = quat_matrix(X.q);
    Vec3 y = centre_in(R, X);
    Vec3 e = vec3(real_abs(y.x) - b->size.x, real_abs(y.y) - b->size.y, real_abs(y.z) - b->size.z);
    real zero = real_of(0), one = real_of(1);
    Vec3 offset = vec3(real_max(e.x, zero), real_max(e.y, zero), real_max(e.z, zero));
    real length = vec3_length(offset);

    mask use_x = (e.x > e.y) & (e.x > e.z), use_y = mask_not(use_x) & (e.y > e.z);
    Vec3 face =
        vec3(real_select(use_x, one, zero), real_select(use_y, one, zero), real_select(use_x | use_y, zero, one));
    real inside = real_max(e.x, real_max(e.y, e.z));
    real s = real_select(length > K(NARROW_SHORTEST), length, inside);
    Vec3 g = vec3_unit_or(offset, length, face);
    sphere_point(m, R, a->size.x, s, vec3(real_sign(y.x) * g.x, real_sign(y.y) * g.y, real_sign(y.z) * g.z));
}

/* The vector of a direction (radial, axial) in the half plane of the z axis and y. For a y on the axis it is the half
 * plane of +x. */
KERNEL_FN Vec3 from_half_plane(Vec3 y, real rho, real radial, real axial) {
    mask off_axis = rho > K(NARROW_SHORTEST);
    real c = real_select(off_axis, y.x / rho, real_of(1)), s = real_select(off_axis, y.y / rho, real_of(0));
    return vec3(radial * c, radial * s, axial);
}

/* As for the box, in the half plane (rho, z). */
STAGE_FN void narrow_sphere_cylinder(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx;
    Mat3 R = quat_matrix(X.q);
    Vec3 y = centre_in(R, X);
    real zero = real_of(0), one = real_of(1);
    real rho = real_sqrt(real_fma(y.x, y.x, y.y * y.y));
    real radial = rho - b->size.x, axial = real_abs(y.z) - b->size.y;
    real out_r = real_max(radial, zero), out_z = real_max(axial, zero);
    real length = real_sqrt(real_fma(out_r, out_r, out_z * out_z));
    mask outside = length > K(NARROW_SHORTEST), side = radial > axial;

    real s = real_select(outside, length, real_max(radial, axial));
    real g_r = real_select(outside, out_r / length, real_select(side, one, zero));
    real g_z = real_select(outside, out_z / length, real_select(side, zero, one));
    sphere_point(m, R, a->size.x, s, from_half_plane(y, rho, g_r, real_sign(y.z) * g_z));
}

/* In the half plane (rho, z) the cone is a triangle: base z = -h, and the slant from the rim (r, -h) to the tip (0, h)
 * with normal (2h, r)/L. Regions: inside, base, slant, rim, tip. */
STAGE_FN void narrow_sphere_cone(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx;
    Mat3 R = quat_matrix(X.q);
    Vec3 y = centre_in(R, X);
    real r = b->size.x, h = b->size.y, zero = real_of(0);
    real rho = real_sqrt(real_fma(y.x, y.x, y.y * y.y));
    real L = real_sqrt(real_fma(r, r, K(4.0) * h * h));
    real slant_r = K(2.0) * h / L, slant_z = r / L;
    real rim_r = rho - r, rim_z = y.z + h, tip_z = y.z - h;
    real slant = real_fma(rim_r, slant_r, rim_z * slant_z), base = -rim_z;
    real along = real_fma(rim_z, slant_r, -(rim_r * slant_z)); /* from the rim, 0 .. L on the slant */

    mask inside = (slant <= K(0.0)) & (base <= K(0.0));
    mask on_base = (inside & (base > slant)) | (mask_not(inside) & (base > K(0.0)) & (rim_r <= K(0.0)));
    mask corner = mask_not(inside | on_base) & ((along < K(0.0)) | (along > L));
    mask tip = corner & (along > L);
    real corner_r = real_select(tip, rho, rim_r), corner_z = real_select(tip, tip_z, rim_z);
    real length = real_sqrt(real_fma(corner_r, corner_r, corner_z * corner_z));
    corner = corner & (length > K(NARROW_SHORTEST));

    real s = real_select(on_base, base, real_select(corner, length, slant));
    real g_r = real_select(on_base, zero, real_select(corner, corner_r / length, slant_r));
    real g_z = real_select(on_base, real_of(K(-1.0)), real_select(corner, corner_z / length, slant_z));
    sphere_point(m, R, a->size.x, s, from_half_plane(y, rho, g_r, g_z));
}

/* ---- ellipsoid ----
 *
 * The nearest point of the surface to y >= 0 is size_i q_i with q_i = k_i z_i/(x + k_i - 1), z_i = y_i/size_i,
 * k_i = (size_i/least)^2, where x > 0 solves |q| = 1. |q(x)| decreases, and 1/|q| is concave and almost linear, even
 * near its pole at x = 0. Newton's method on 1/|q(x)| = 1 therefore converges from below and never passes the root. In
 * the plane normal to the shortest axis the pole has no weight, and for points inside the nearest point leaves that
 * plane. k z of that axis is therefore at least ELLIPSOID_OFF, too little to affect the result. */
#undef ELLIPSOID_OFF
#if SAP_PRECISION == 32
#define ELLIPSOID_OFF 1e-11
#else
#define ELLIPSOID_OFF 1e-20
#endif

enum { ELLIPSOID_STEPS = 40 }; /* most points need 4 to 8 steps; those near the axes of very flat ellipsoids up to 30 */

typedef struct EllipsoidRoot {
    Vec3 kz; /* k_i z_i */
    Vec3 k1; /* k_i - 1 */
} EllipsoidRoot;

KERNEL_FN Vec3 ellipsoid_q(const EllipsoidRoot *e, real x) {
    return vec3(e->kz.x / (x + e->k1.x), e->kz.y / (x + e->k1.y), e->kz.z / (x + e->k1.z));
}

/* Newton's method on 1/|q| = 1 from x: x1 = x + |q|^2 (|q| - 1)/Q, Q = sum q_i^2/(x + k_i - 1) */
STAGE_FN real ellipsoid_root(const EllipsoidRoot *e, real x) {
    mask active = mask_all();
    for (int i = 0; i < ELLIPSOID_STEPS && mask_any(active); i++) {
        Vec3 q = ellipsoid_q(e, x);
        real q2 = vec3_dot(q, q);
        real Q = q.x * q.x / (x + e->k1.x) + q.y * q.y / (x + e->k1.y) + q.z * q.z / (x + e->k1.z);
        real next = x + q2 * (real_sqrt(q2) - K(1.0)) / Q;
        active = active & (next > x);
        x = real_select(active, next, x);
    }
    return x;
}

/* k z and k - 1 of one axis */
KERNEL_FN void ellipsoid_axis(real y, real size, real least, real *kz, real *k1) {
    real ratio = size / least;
    *kz = ratio * ratio * (real_abs(y) / size);
    *k1 = (ratio - K(1.0)) * (ratio + K(1.0));
}

/* q of the nearest point, with signs. */
STAGE_FN Vec3 ellipsoid_nearest(Vec3 y, Vec3 size) {
    real least = real_min(size.x, real_min(size.y, size.z)), off = real_of(K(ELLIPSOID_OFF));
    EllipsoidRoot e;
    ellipsoid_axis(y.x, size.x, least, &e.kz.x, &e.k1.x);
    ellipsoid_axis(y.y, size.y, least, &e.kz.y, &e.k1.y);
    ellipsoid_axis(y.z, size.z, least, &e.kz.z, &e.k1.z);
    mask least_z = size.z == least, least_y = mask_not(least_z) & (size.y == least);
    mask least_x = mask_not(least_z | least_y);
    e.kz.x = real_select(least_x, real_max(e.kz.x, off), e.kz.x);
    e.kz.y = real_select(least_y, real_max(e.kz.y, off), e.kz.y);
    e.kz.z = real_select(least_z, real_max(e.kz.z, off), e.kz.z);

    /* each q_i <= 1 is a lower bound of x, and the bound of the shortest axis is positive */
    real x = real_max(e.kz.x - e.k1.x, real_max(e.kz.y - e.k1.y, e.kz.z - e.k1.z));
    Vec3 q = ellipsoid_q(&e, ellipsoid_root(&e, x));
    q = vec3_scale(K(1.0) / vec3_length(q), q);
    return vec3(real_sign(y.x) * q.x, real_sign(y.y) * q.y, real_sign(y.z) * q.z);
}

STAGE_FN void narrow_sphere_ellipsoid(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx;
    Mat3 R = quat_matrix(X.q);
    Vec3 y = centre_in(R, X), size = b->size;
    Vec3 q = ellipsoid_nearest(y, size);
    Vec3 e = vec3(size.x * q.x, size.y * q.y, size.z * q.z);
    Vec3 g = vec3(q.x / size.x, q.y / size.y, q.z / size.z);
    g = vec3_scale(K(1.0) / vec3_length(g), g);
    sphere_point(m, R, a->size.x, vec3_dot(vec3_sub(y, e), g), g);
}

/* ---- segments along a segment or face ---- */

/* Up to this sine of the angle between a segment and the segment or face along it, the manifold has both ends of the
 * overlap. The farther end is then less than 3% of the length farther away, and its point is off the surface by the
 * square of that times the radius. */
#define NARROW_PARALLEL 0.03125

/* Points 1 and 2 of m are the ends of an overlap, 0 is the nearest point. Point 0 is not needed where an end is as
 * deep, with the same normal. Otherwise it replaces an end that is nearer to it than an eighth of the overlap. */
STAGE_FN void keep_ends(Manifold *m, mask overlap, real size) {
    real tie = K(NARROW_TIE) * size;
    Vec3 middle[3]; /* midway between the surfaces, so that exchanged shapes give the same result */
    for (int i = 0; i < 3; i++)
        middle[i] = vec3_fma(K(0.5) * m->at[i].d, m->at[i].n, m->at[i].p);
    Vec3 span = vec3_sub(middle[2], middle[1]);
    real near2 = vec3_dot(span, span) * K(1.0 / 64);
    mask needed = mask_all();
    for (int i = 1; i <= 2; i++) {
        Vec3 turn = vec3_sub(m->at[i].n, m->at[0].n);
        mask as_deep = real_abs(m->at[i].d - m->at[0].d) <= tie, along = vec3_length(turn) <= K(16 * NARROW_TIE);
        needed = needed & mask_not(overlap & as_deep & along);
    }
    for (int i = 1; i <= 2; i++) {
        Vec3 v = vec3_sub(middle[i], middle[0]);
        m->at[i].valid = overlap & mask_not(needed & (vec3_dot(v, v) < near2));
        /* The normal of an end may be off by the angle, and d by its square. No end may be deeper than
         * the nearest point. */
        m->at[i].d = real_max(m->at[i].d, m->at[0].d);
    }
    m->at[0].valid = needed;
    m->count = 3;
}

/* ---- capsule and capsule ---- */

/* Nearest points s z and p + t v of two segments with half lengths h0 and h1. Projected along z the lines are the
 * origin and p + t v, so t = -(p_x v_x + p_y v_y)/D, D = v_x^2 + v_y^2, without the cancellation of almost parallel
 * lines in general axes. */
KERNEL_FN void segments_nearest(Vec3 p, Vec3 v, real h0, real h1, real *s_out, real *t_out) {
    real D = real_fma(v.x, v.x, v.y * v.y);
    real t = -real_fma(p.x, v.x, p.y * v.y) / D;
    /* parallel lines: t nearest to the centre of the first segment */
    t = real_clamp(real_select(D > K(NARROW_EPSILON * NARROW_EPSILON), t, -vec3_dot(p, v)), -h1, h1);
    real s = real_clamp(real_fma(v.z, t, p.z), -h0, h0);
    /* best t at s: v.(s z - p) */
    t = real_select(real_abs(s) < h0, t, real_clamp(real_fma(v.z, s, -vec3_dot(p, v)), -h1, h1));
    *s_out = real_clamp(real_fma(v.z, t, p.z), -h0, h0);
    *t_out = t;
}

/* The vector from the nearest point of the first segment to the second's. If both are interior points and the
 * segments are not nearly parallel, it is along z x v, with the sign of the difference w. It is zero where the segments
 * intersect, up to rounding. *n is the direction to use then: +-z x v, or +-x for parallel segments, on the side of the
 * second centre. */
KERNEL_FN Vec3 segments_apart(Vec3 w, Vec3 p, Vec3 v, mask within_0, mask within_1, real rounding, Vec3 *n) {
    Vec3 c = vec3(-v.y, v.x, real_of(0));
    real length = vec3_length(c);
    c = vec3_scale(K(1.0) / length, c);
    mask angle = length > K(NARROW_TIE);
    *n = vec3_select(angle, c, vec3(real_of(1), real_of(0), real_of(0)));
    *n = vec3_scale(real_sign(vec3_dot(*n, p)), *n);
    w = across_within(w, v, within_1);
    w = across_within(w, vec3_unit_z(), within_0);
    w = vec3_select(within_0 & within_1 & (length > K(NARROW_PARALLEL)), vec3_scale(vec3_dot(w, c), c), w);
    return beyond_rounding(w, rounding);
}

/* Two opposite points of the axes: parameter s on shape 0's, t on shape 1's. */
typedef struct Opposite {
    real s, t;
    Vec3 w; /* from the first point to the second */
} Opposite;

/* The end of the overlap of two nearly parallel axes on the side (1 or -1) of z. The axis that ends first ends the
 * overlap, together with the nearest point of the other axis. */
KERNEL_FN Opposite segments_common_end(Vec3 p, Vec3 v, real h0, real h1, real side, real rounding) {
    real turn = side * real_sign(v.z), end_0 = side * h0, end_1 = turn * h1;
    real t = real_fma(v.z, end_0, -vec3_dot(p, v)), s = real_fma(v.z, end_1, p.z);
    mask of_0 = h1 - turn * t > h0 - side * s;
    Opposite o;
    o.s = real_select(of_0, end_0, real_clamp(s, -h0, h0));
    o.t = real_select(of_0, real_clamp(t, -h1, h1), end_1);
    o.w = vec3_fma(o.t, v, vec3(p.x, p.y, p.z - o.s));
    o.w = across_within(o.w, v, of_0 & (real_abs(o.t) < h1));
    o.w = across_within(o.w, vec3_unit_z(), mask_not(of_0) & (real_abs(o.s) < h0));
    o.w = beyond_rounding(o.w, rounding);
    return o;
}

STAGE_FN void narrow_capsule_capsule(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx;
    Vec3 p = X.p, v = quat_matrix(X.q).z;
    real r0 = a->size.x, r1 = b->size.x, h0 = a->size.y, h1 = b->size.y, s, t;
    segments_nearest(p, v, h0, h1, &s, &t);
    Vec3 x0 = vec3(real_of(0), real_of(0), s), x1 = vec3_fma(t, v, p);
    real size = h0 + h1 + real_abs(p.x) + real_abs(p.y) + real_abs(p.z), rounding = K(4 * NARROW_EPSILON) * size;
    Vec3 n;
    Vec3 w = segments_apart(vec3_sub(x1, x0), p, v, real_abs(s) < h0, real_abs(t) < h1, rounding, &n);
    round_point(m, 0, x0, w, r0, r1, n);

    Opposite end[2];
    for (int i = 0; i < 2; i++) {
        end[i] = segments_common_end(p, v, h0, h1, real_of(i ? K(1.0) : K(-1.0)), rounding);
        round_point(m, 1 + i, vec3(real_of(0), real_of(0), end[i].s), end[i].w, r0, r1, m->at[0].n);
    }
    real common = end[1].s - end[0].s + real_abs(end[1].t - end[0].t);
    mask parallel = real_fma(v.x, v.x, v.y * v.y) < K(NARROW_PARALLEL * NARROW_PARALLEL);
    mask overlap = parallel & (common > K(2 * NARROW_PARALLEL) * real_min(h0, h1));
    keep_ends(m, overlap, size + r0 + r1);
}

/* ---- capsule and box ----
 *
 * In the frame of the box the segment is y = c + t u, |t| <= h. The squared distance from the box is convex in t. Half
 * its derivative, f'(t) = sum u_i (y_i - clamp(y_i)), is linear between the t where y_i = +-size_i; these six and the
 * ends bracket its root. The normal of a segment that intersects the box is the direction of least depth: a face
 * normal, or orthogonal to an edge and to the segment. */

typedef struct SegmentBox {
    Vec3 c, u;
    real h;
    Vec3 size;
} SegmentBox;

KERNEL_FN Vec3 segment_box_at(const SegmentBox *g, real t) {
    return vec3_fma(t, g->u, g->c);
}
KERNEL_FN Vec3 box_clamp(Vec3 y, Vec3 size) {
    return vec3(real_clamp(y.x, -size.x, size.x), real_clamp(y.y, -size.y, size.y), real_clamp(y.z, -size.z, size.z));
}
KERNEL_FN real segment_box_slope(const SegmentBox *g, real t) {
    Vec3 y = segment_box_at(g, t);
    return vec3_dot(g->u, vec3_sub(y, box_clamp(y, g->size)));
}

typedef struct Bracket {
    real low, f_low, high, f_high;
} Bracket;

/* Narrows the bracket by the slope at t; a t outside the bracket, or NaN, is skipped. */
STAGE_FN void bracket_narrow(const SegmentBox *g, Bracket *k, real t) {
    mask in = (t > k->low) & (t < k->high);
    t = real_select(in, t, k->low);
    real f = segment_box_slope(g, t);
    mask left = in & (f < K(0.0)), right = in & (f >= K(0.0));
    k->low = real_select(left, t, k->low);
    k->f_low = real_select(left, f, k->f_low);
    k->high = real_select(right, t, k->high);
    k->f_high = real_select(right, f, k->f_high);
}

/* t of the point nearest to the box; the smallest t if there are several */
STAGE_FN real segment_box_nearest(const SegmentBox *g) {
    Bracket k;
    k.low = -g->h;
    k.high = g->h;
    k.f_low = segment_box_slope(g, k.low);
    k.f_high = segment_box_slope(g, k.high);
    for (int side = 0; side < 2; side++) {
        real s = real_of(side ? K(1.0) : K(-1.0));
        bracket_narrow(g, &k, (s * g->size.x - g->c.x) / g->u.x);
        bracket_narrow(g, &k, (s * g->size.y - g->c.y) / g->u.y);
        bracket_narrow(g, &k, (s * g->size.z - g->c.z) / g->u.z);
    }
    real root = k.low - k.f_low * (k.high - k.low) / (k.f_high - k.f_low);
    root = real_clamp(real_select(k.f_high > k.f_low, root, k.low), k.low, k.high);
    root = real_select(k.f_high <= K(0.0), k.high, root);
    return real_select(k.f_low >= K(0.0), k.low, root);
}

/* The vector from the box to the segment's nearest point at t; zero where they intersect, up to rounding. For an
 * interior point of the segment next to an edge it is orthogonal to both, so the part along u in the directions of the
 * offset is removed. */
KERNEL_FN Vec3 segment_box_apart(const SegmentBox *g, real t, real rounding) {
    Vec3 y = segment_box_at(g, t), v = vec3_sub(y, box_clamp(y, g->size));
    real zero = real_of(0), one = real_of(1);
    Vec3 out = vec3(real_select(v.x == K(0.0), zero, one), real_select(v.y == K(0.0), zero, one),
                    real_select(v.z == K(0.0), zero, one));
    Vec3 u = vec3(out.x * g->u.x, out.y * g->u.y, out.z * g->u.z);
    real u2 = vec3_dot(u, u);
    mask across = (real_abs(t) < g->h) & (out.x + out.y + out.z > K(1.5)) & (u2 > K(NARROW_EPSILON));
    v = vec3_select(across, vec3_fma(-vec3_dot(v, u) / u2, u, v), v);
    return beyond_rounding(v, rounding);
}

/* A direction that separates the segment from the box. */
typedef struct Exit {
    Vec3 g;        /* outward normal of the box, on the side of the segment */
    real depth, t; /* depth along g, and the deepest point of the segment */
} Exit;

/* The face normal +-axis; c, u and size are the components along the axis. */
KERNEL_FN void exit_face(Exit *e, Vec3 axis, real c, real u, real size, real h) {
    real sign = real_sign(c);
    real depth = size + h * real_abs(u) - real_abs(c);
    mask better = depth < e->depth;
    e->g = vec3_select(better, vec3_scale(sign, axis), e->g);
    e->depth = real_select(better, depth, e->depth);
    e->t = real_select(better, -sign * real_sign(u) * h, e->t);
}

/* The direction orthogonal to the edges along `axis` and to the segment: w = axis x u. Skipped if the segment is
 * parallel to the edges. An edge must be better than a face by more than a tie, so that a segment along a face keeps
 * the face normal. */
STAGE_FN void exit_edge(Exit *e, const SegmentBox *g, Vec3 axis, real tie) {
    Vec3 w = vec3_cross(axis, g->u);
    real length = vec3_length(w);
    real sign = real_sign(vec3_dot(w, g->c));
    w = vec3_scale(sign / length, w);
    Vec3 edge = vec3(real_sign(w.x) * g->size.x, real_sign(w.y) * g->size.y, real_sign(w.z) * g->size.z);
    real depth = vec3_dot(w, vec3_sub(edge, g->c));
    mask better = (length > K(NARROW_TIE)) & (depth < e->depth - tie);
    /* the point next to the edge, projected along it: (edge - c - t u).u = 0 without the parts along the edge */
    Vec3 v = vec3_fma(-vec3_dot(axis, g->u), axis, g->u);
    real t = vec3_dot(vec3_sub(edge, g->c), v) / (length * length);
    e->g = vec3_select(better, w, e->g);
    e->depth = real_select(better, depth, e->depth);
    e->t = real_select(better, real_clamp(t, -g->h, g->h), e->t);
}

/* The direction of least depth for a segment that intersects the box. */
STAGE_FN Exit segment_box_exit(const SegmentBox *g) {
    Vec3 x = vec3(real_of(1), real_of(0), real_of(0)), y = vec3(real_of(0), real_of(1), real_of(0));
    Vec3 z = vec3_unit_z();
    real size = g->size.x + g->size.y + g->size.z + g->h;
    Exit e;
    e.g = z;
    e.depth = K(4.0) * size;
    e.t = real_of(0);
    exit_face(&e, z, g->c.z, g->u.z, g->size.z, g->h);
    exit_face(&e, y, g->c.y, g->u.y, g->size.y, g->h);
    exit_face(&e, x, g->c.x, g->u.x, g->size.x, g->h);
    exit_edge(&e, g, x, K(NARROW_TIE) * size);
    exit_edge(&e, g, y, K(NARROW_TIE) * size);
    exit_edge(&e, g, z, K(NARROW_TIE) * size);
    return e;
}

/* Clips [low, high] to the t with |c + t u| <= size. */
STAGE_FN void clip_slab(real c, real u, real size, real *low, real *high) {
    mask moves = real_abs(u) > K(NARROW_SHORTEST);
    real t0 = (-size - c) / u, t1 = (size - c) / u;
    real outside = real_select(real_abs(c) > size, real_of(1), real_of(0));
    real first = real_select(moves, real_min(t0, t1), *low + outside * (*high - *low));
    real last = real_select(moves, real_max(t0, t1), *high - outside * (*high - *low));
    *low = real_max(*low, first);
    *high = real_min(*high, last);
}

/* Sets point i at t of the segment, with the face normal g of the box. */
STAGE_FN void capsule_face_point(Manifold *m, int i, const SegmentBox *s, Vec3 g, real size, real r, real t, Mat3 R) {
    Vec3 n = vec3_scale(real_of(K(-1.0)), mat3_mul(R, g));
    Vec3 x0 = vec3(real_of(0), real_of(0), t);
    manifold_set(m, i, vec3_fma(r, n, x0), n, vec3_dot(g, segment_box_at(s, t)) - size - r, mask_all());
}

/* Sets points 1 and 2: the ends of the part of the segment over the face whose normal is closest to g0. Returns the
 * worlds in which the segment lies along that face. If g0 is the face normal, *t is clamped to that part: of a segment
 * along the face any point over it is a deepest point. */
KERNEL_FN mask capsule_box_ends(Manifold *m, const SegmentBox *s, Vec3 g0, real r, Mat3 R, real *t) {
    real ax = real_abs(g0.x), ay = real_abs(g0.y), az = real_abs(g0.z), zero = real_of(0), far = K(4.0) * s->h;
    mask use_x = (ax > ay) & (ax > az), use_y = mask_not(use_x) & (ay > az), use_z = mask_not(use_x | use_y);
    Vec3 g = vec3(real_select(use_x, real_sign(g0.x), zero), real_select(use_y, real_sign(g0.y), zero),
                  real_select(use_z, real_sign(g0.z), zero));
    real size = real_select(use_x, s->size.x, real_select(use_y, s->size.y, s->size.z));
    real low = -s->h, high = s->h;
    /* the slab of the face's own axis does not clip */
    real wide = s->size.x + s->size.y + s->size.z + real_abs(s->c.x) + real_abs(s->c.y) + real_abs(s->c.z) + far;
    clip_slab(s->c.x, s->u.x, real_select(use_x, wide, s->size.x), &low, &high);
    clip_slab(s->c.y, s->u.y, real_select(use_y, wide, s->size.y), &low, &high);
    clip_slab(s->c.z, s->u.z, real_select(use_z, wide, s->size.z), &low, &high);
    *t = real_select(vec3_dot(g, g0) >= K(1.0), real_clamp(*t, low, real_max(low, high)), *t);
    capsule_face_point(m, 1, s, g, size, r, low, R);
    capsule_face_point(m, 2, s, g, size, r, high, R);
    mask parallel = real_abs(vec3_dot(g, s->u)) < K(NARROW_PARALLEL);
    mask facing = vec3_dot(g, g0) > K(1.0 - NARROW_PARALLEL * NARROW_PARALLEL);
    return parallel & facing & (high - low > K(NARROW_PARALLEL) * s->h);
}

STAGE_FN void narrow_capsule_box(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx;
    Mat3 R = quat_matrix(X.q);
    real r = a->size.x;
    SegmentBox s;
    s.c = centre_in(R, X);
    s.u = vec3(R.x.z, R.y.z, R.z.z);
    s.h = a->size.y;
    s.size = b->size;
    real t = segment_box_nearest(&s);
    real size = s.h + s.size.x + s.size.y + s.size.z;
    Vec3 apart = segment_box_apart(&s, t, K(4 * NARROW_EPSILON) * size);
    real length = vec3_length(apart);
    Exit e = segment_box_exit(&s);
    mask meet = length == K(0.0);
    Vec3 g = vec3_select(meet, e.g, vec3_scale(K(1.0) / length, apart));
    real d = real_select(meet, -e.depth, length) - r;
    t = real_select(meet, e.t, t);
    Vec3 n = vec3_scale(real_of(K(-1.0)), mat3_mul(R, g));
    mask overlap = capsule_box_ends(m, &s, g, r, R, &t);
    manifold_set(m, 0, vec3_fma(r, n, vec3(real_of(0), real_of(0), t)), n, d, mask_all());
    keep_ends(m, overlap, size + r);
}
