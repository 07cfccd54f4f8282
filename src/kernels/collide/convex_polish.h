/* Refines the contact normal of curved cores. GJK and EPA stop when their distance bounds agree to a tolerance; the
 * error of n is then of the order of its square root.
 *
 * Both for separated and for overlapping cores the signed distance is d = -min h(n) over unit vectors, h(n) = n.w(n),
 * where w(n) is the support of a - b. At the minimum the part of w orthogonal to n vanishes. h is smooth where each
 * core supports n with one point. It has a kink along the normals of a side or edge, a circle n.axis = tilt, where a
 * segment supports n. The minimum is therefore sought
 *   at the intersection of a circle of a and one of b,  on either circle,  and off both.
 * The first n with a pair of points opposite each other along n is the answer. No n has an h below the minimum, so the
 * h of a wrong candidate is larger and rejects it. */

#undef POLISH_STEP
#undef POLISH_FALL
#undef POLISH_MISS
#if SAP_PRECISION == 32
#define POLISH_STEP 1e-3 /* step of the difference quotients */
#define POLISH_FALL 1e-6 /* tolerance of h, relative to the scale */
#define POLISH_MISS 1e-4 /* tolerance of opposite points, relative to the scale */
#else
#define POLISH_STEP 1e-7
#define POLISH_FALL 1e-11
#define POLISH_MISS 1e-7
#endif
#define POLISH_NEAR 0.1 /* sine of the angle up to which n is near a circle */

enum { POLISH_ITERATIONS = 8 };

/* The normals n of a core's side or edge: n.axis = tilt. */
typedef struct Circle {
    Vec3 axis;
    real tilt;
    bool near; /* the core has a circle near n */
} Circle;

KERNEL_FN bool core_is_curved(const Convex *c) {
    return c->type == SAP_SHAPE_ELLIPSOID || c->type == SAP_SHAPE_CYLINDER || c->type == SAP_SHAPE_CONE;
}

/* The segment of a core that faces `out`. */
KERNEL_FN void core_segment(Feature *f, const Convex *c, Vec3 out) {
    feature_facing(f, c, mat3_transpose_mul(c->R, out), false);
}

/* The circle of the core's side or edge that faces sign n, as a condition on n. */
STAGE_FN Circle circle_facing(const Convex *c, Vec3 n, real sign) {
    Circle k;
    k.axis = c->R.z;
    k.tilt = K(0.0);
    k.near = c->type != SAP_SHAPE_SPHERE && c->type != SAP_SHAPE_ELLIPSOID;
    if (c->type == SAP_SHAPE_CONE)
        k.tilt = sign * c->size.x / real_sqrt(c->size.x * c->size.x + K(4.0) * c->size.y * c->size.y);
    if (c->type == SAP_SHAPE_BOX || c->type == SAP_SHAPE_HULL) {
        Feature f;
        core_segment(&f, c, vec3_scale(sign, n));
        k.near = f.count == 2;
        if (k.near)
            k.axis = vec3_direction(vec3_sub(f.x[1], f.x[0]));
    }
    k.near = k.near && real_abs(vec3_dot(k.axis, n) - k.tilt) <= K(POLISH_NEAR);
    return k;
}

/* The normal on the circle in the direction r, a unit vector orthogonal to the axis: tilt axis + sqrt(1 - tilt^2) r */
KERNEL_FN Vec3 circle_normal(const Circle *k, Vec3 r) {
    return vec3_fma(k->tilt, k->axis, vec3_scale(real_sqrt(K(1.0) - k->tilt * k->tilt), r));
}

/* The intersection of both circles next to n; false if the axes are nearly parallel or the circles do not intersect. */
KERNEL_FN bool circles_cross(const Circle *a, const Circle *b, Vec3 *n) {
    Vec3 c = vec3_cross(a->axis, b->axis);
    real g = vec3_dot(a->axis, b->axis), c2 = vec3_dot(c, c);
    if (!(c2 > K(POLISH_NEAR * POLISH_NEAR)))
        return false;
    real alpha = (a->tilt - g * b->tilt) / c2, beta = (b->tilt - g * a->tilt) / c2;
    Vec3 in_plane = vec3_fma(alpha, a->axis, vec3_scale(beta, b->axis));
    real rest = (K(1.0) - vec3_dot(in_plane, in_plane)) / c2;
    if (!(rest > K(0.0)))
        return false;
    *n = vec3_direction(vec3_fma(vec3_dot(c, *n) < K(0.0) ? -real_sqrt(rest) : real_sqrt(rest), c, in_plane));
    return true;
}

/* Newton's method for the angle around the axis; stops when h does not decrease. */
STAGE_FN void polish_on_circle(const CorePair *pair, const Circle *k, Vec3 *n) {
    Vec3 r = vec3_direction(vec3_fma(-vec3_dot(k->axis, *n), k->axis, *n));
    *n = circle_normal(k, r);
    CoreVertex at = core_support(pair, *n);
    real h = vec3_dot(*n, at.w);
    for (int iteration = 0; iteration < POLISH_ITERATIONS; iteration++) {
        Vec3 u = vec3_cross(k->axis, r), ahead = vec3_direction(vec3_fma(K(POLISH_STEP), u, r));
        real slope = vec3_dot(at.w, u);
        real next_slope = vec3_dot(core_support(pair, circle_normal(k, ahead)).w, vec3_cross(k->axis, ahead));
        real curvature = (next_slope - slope) / K(POLISH_STEP);
        if (!(curvature > K(0.0)))
            return;
        r = vec3_direction(vec3_fma(-slope / curvature, u, r));
        Vec3 m = circle_normal(k, r);
        at = core_support(pair, m);
        real lower = vec3_dot(m, at.w);
        if (!(lower < h))
            return;
        *n = m;
        h = lower;
    }
}

/* Newton's method over unit vectors; stops when h does not decrease. In the tangent plane (t, u) the gradient is w and
 * the Hessian dw/dn - h. */
STAGE_FN void polish_free(const CorePair *pair, Vec3 *n) {
    const scalar step = K(POLISH_STEP);
    CoreVertex at = core_support(pair, *n);
    real h = vec3_dot(*n, at.w);
    for (int iteration = 0; iteration < POLISH_ITERATIONS; iteration++) {
        Vec3 t = vec3_orthogonal(*n), u = vec3_cross(*n, t);
        real gt = vec3_dot(at.w, t), gu = vec3_dot(at.w, u);
        Vec3 dt = vec3_sub(core_support(pair, vec3_direction(vec3_fma(step, t, *n))).w, at.w);
        Vec3 du = vec3_sub(core_support(pair, vec3_direction(vec3_fma(step, u, *n))).w, at.w);
        real tt = vec3_dot(dt, t) / step - h, uu = vec3_dot(du, u) / step - h;
        real tu = K(0.5) * (vec3_dot(dt, u) + vec3_dot(du, t)) / step, det = tt * uu - tu * tu;
        if (!(tt > K(0.0) && det > K(0.0)))
            return;
        Vec3 move = vec3_add(vec3_scale((tu * gu - uu * gt) / det, t), vec3_scale((tu * gt - tt * gu) / det, u));
        Vec3 m = vec3_direction(vec3_add(*n, move));
        at = core_support(pair, m);
        real lower = vec3_dot(m, at.w);
        if (!(lower < h))
            return;
        *n = m;
        h = lower;
    }
}

/* The points of the cores that are opposite each other along n: on the facing segment of a core if `segment`,
 * else its support. */
STAGE_FN Vec3 polish_opposite(const CorePair *pair, Vec3 n, bool segment_a, bool segment_b, Vec3 *xb) {
    WORKSPACE(FeaturePair, f, pair->b->work, POLISH_AT);
    Feature *fa = &f->a, *fb = &f->b;
    Vec3 back = vec3_scale(K(-1.0), n);
    Vec3 xa = support(pair->a, n);
    *xb = support(pair->b, back);
    if (segment_a)
        core_segment(fa, pair->a, n);
    if (segment_b)
        core_segment(fb, pair->b, back);
    if (segment_a && segment_b) {
        /* projected along n, the point of a is the intersection of both lines */
        Vec3 e = vec3_sub(fa->x[1], fa->x[0]), across = vec3_cross(vec3_sub(fb->x[1], fb->x[0]), n);
        real t = vec3_dot(vec3_sub(fb->x[0], fa->x[0]), across) / vec3_dot(e, across);
        xa = vec3_fma(real_min(real_max(t, real_of(0)), real_of(1)), e, fa->x[0]);
        *xb = segment_at(fb, segment_place(fb, xa));
    } else if (segment_a) {
        xa = segment_at(fa, segment_place(fa, *xb));
    } else if (segment_b) {
        *xb = segment_at(fb, segment_place(fb, xa));
    }
    return xa;
}

/* Accepts the normal m if its h is at most *h and the cores have points opposite each other along it. */
STAGE_FN bool polish_take(const CorePair *pair, Vec3 m, bool segment_a, bool segment_b, real *h, Vec3 *n, Vec3 *p) {
    real at_m = vec3_dot(m, core_support(pair, m).w);
    if (!(at_m <= *h + K(POLISH_FALL) * pair->scale))
        return false;
    Vec3 xb, xa = polish_opposite(pair, m, segment_a, segment_b, &xb);
    Vec3 miss = vec3_fma(-at_m, m, vec3_sub(xa, xb));
    if (!(vec3_norm(miss) <= K(POLISH_MISS) * pair->scale))
        return false;
    *h = at_m;
    *n = m;
    *p = xa;
    return true;
}

/* Refines *n, the point *p of core a and the distance *d of the cores, if one of the four candidates succeeds. */
STAGE_FN void polish(const CorePair *pair, Vec3 *n, Vec3 *p, real *d) {
    if (!core_is_curved(pair->a) && !core_is_curved(pair->b))
        return;
    Circle a = circle_facing(pair->a, *n, K(1.0)), b = circle_facing(pair->b, *n, K(-1.0));
    real h = vec3_dot(*n, core_support(pair, *n).w);
    bool taken = false;
    for (int way = 0; way < 4 && !taken; way++) {
        bool on_a = way < 2, on_b = way == 0 || way == 2;
        Vec3 m = *n;
        if ((on_a && !a.near) || (on_b && !b.near))
            continue;
        if (on_a && on_b) {
            if (!circles_cross(&a, &b, &m))
                continue;
        } else if (on_a || on_b) {
            polish_on_circle(pair, on_a ? &a : &b, &m);
        } else {
            polish_free(pair, &m);
        }
        taken = polish_take(pair, m, on_a, on_b, &h, n, p);
    }
    if (taken)
        *d = -h;
}
