/* The manifold, the result of the narrow phase for one pair of shapes: up to MANIFOLD_MAX contact points.
 * docs/collision.md.
 *
 * All quantities are in the frame of shape 0; shape 1 is at the pose X in it. Each point has its own unit normal n,
 * from shape 0 to shape 1, and signed distance d, negative in penetration. p is on the surface of shape 0 and p + d n
 * on that of shape 1. Margins are not included. */

enum { MANIFOLD_MAX = 8 };

/* A shape for the narrow phase. */
typedef struct Solid {
    int type;  /* SapShapeType; uniform */
    int mesh;  /* index of the hull or height field in the plan; else -1 */
    Vec3 size; /* shape_scale */
} Solid;

typedef struct ContactPoint {
    Vec3 p;
    Vec3 n;
    real d;
    mask valid; /* worlds that have the point */
} ContactPoint;

typedef struct Manifold {
    ContactPoint at[MANIFOLD_MAX];
    int count; /* entries in use; uniform. An entry may be invalid in some or all worlds */
} Manifold;

/* Machine epsilon of the working precision, and the shortest vector with an accurate direction: the square of a shorter
 * one underflows. */
#undef NARROW_EPSILON
#undef NARROW_SHORTEST
#if SAP_PRECISION == 32
#define NARROW_EPSILON  1.1920928955078125e-7 /* 2^-23 */
#define NARROW_SHORTEST 1e-16
#else
#define NARROW_EPSILON  2.220446049250313e-16 /* 2^-52 */
#define NARROW_SHORTEST 1e-140
#endif

/* Relative tolerance of two numbers that are computed differently from the same geometry: about a hundred roundings,
 * because a point of a manifold is the result of a few dozen operations. Values that differ by less are a tie. */
#define NARROW_TIE (64 * NARROW_EPSILON)

/* ---- helpers of the narrow phase ---- */

KERNEL_FN real real_clamp(real x, real low, real high) {
    return real_min(real_max(x, low), high);
}
/* 1 or -1; 1 for zero */
KERNEL_FN real real_sign(real x) {
    return real_select(x < K(0.0), real_of(K(-1.0)), real_of(1));
}
KERNEL_FN real vec3_length(Vec3 a) {
    return real_sqrt(vec3_dot(a, a));
}
KERNEL_FN Vec3 vec3_unit_z(void) {
    return vec3(real_of(0), real_of(0), real_of(1));
}
/* a / length, or the fallback where a is too short to have a direction */
KERNEL_FN Vec3 vec3_unit_or(Vec3 a, real length, Vec3 fallback) {
    return vec3_select(length > K(NARROW_SHORTEST), vec3_scale(K(1.0) / length, a), fallback);
}
/* R' v */
KERNEL_FN Vec3 mat3_mul_transposed(Mat3 R, Vec3 v) {
    return vec3(vec3_dot(R.x, v), vec3_dot(R.y, v), vec3_dot(R.z, v));
}
/* The unit vector perpendicular to the unit vector a that is nearest to +z, or to +x if a is near the z axis. */
KERNEL_FN Vec3 vec3_perpendicular(Vec3 a) {
    mask steep = real_abs(a.z) > K(0.9);
    Vec3 up = vec3(real_select(steep, real_of(1), real_of(0)), real_of(0), real_select(steep, real_of(0), real_of(1)));
    Vec3 b = vec3_fma(-vec3_dot(up, a), a, up);
    return vec3_scale(K(1.0) / vec3_length(b), b);
}

KERNEL_FN void manifold_set(Manifold *m, int i, Vec3 p, Vec3 n, real d, mask valid) {
    m->at[i].p = p;
    m->at[i].n = n;
    m->at[i].d = d;
    m->at[i].valid = valid;
}

/* ---- reduction to fewer points ---- */

/* Points up to this fraction of the manifold's extent above the deepest point, which is two degrees of tilt, and all
 * points in penetration have full value. The value of higher points fades with their height, so that they fill free
 * places but do not displace a point that touches. */
#define NARROW_BAND 0.03125

/* Points nearer to each other than this fraction of the extent count as one, and an area counts if its height exceeds
 * this fraction of its base. NARROW_POINT is the same fraction of the size of the smaller shape, for any extent. Both
 * are well above the difference of one point computed in two ways, by rounding and by the search for a normal. */
#define NARROW_SAME  0.0009765625
#define NARROW_POINT 0.000244140625

/* Two normals at one point are two contacts if they differ by more than this angle (rad). */
#define NARROW_TURN 0.03125

/* If the values of two candidates differ by less than this fraction, the first is chosen. The fraction is small,
 * because a manifold must not depend on the order of its candidates, but above rounding, which would make points of
 * equal value alternate between steps. */
#undef NARROW_EQUAL
#if SAP_PRECISION == 32
#define NARROW_EQUAL 1e-5
#else
#define NARROW_EQUAL 1e-9
#endif

/* Scales for the comparison of candidates. All compared quantities, depths and lengths orthogonal to the normal, stay
 * the same if the shapes are exchanged. */
typedef struct Measure {
    real size;  /* m, size of the smaller shape */
    real tie;   /* m, depths that differ by less are equal */
    bool turns; /* the normals of the candidates differ */
} Measure;

/* A choice among points: the best so far, and its value. */
typedef struct Choice {
    ContactPoint point;
    real value;
    mask found;
} Choice;

KERNEL_FN Choice choice_none(const ContactPoint *any) {
    Choice c;
    c.point = *any;
    c.value = real_of(0);
    c.found = mask_none();
    c.point.valid = c.found;
    return c;
}

KERNEL_FN void choice_take(Choice *c, const ContactPoint *point, real value, mask better) {
    c->point.p = vec3_select(better, point->p, c->point.p);
    c->point.n = vec3_select(better, point->n, c->point.n);
    c->point.d = real_select(better, point->d, c->point.d);
    c->value = real_select(better, value, c->value);
    c->found = c->found | better;
    c->point.valid = c->found;
}

/* Chooses the point in the worlds of `allowed` where its value exceeds `least` and, by more than NARROW_EQUAL, the best
 * so far. */
KERNEL_FN void choice_offer(Choice *c, const ContactPoint *point, real value, real least, mask allowed) {
    mask better = allowed & (value > least) & (mask_not(c->found) | (value > K(1.0 + NARROW_EQUAL) * c->value));
    choice_take(c, point, value, better);
}

/* a - b without its part along n */
KERNEL_FN Vec3 tangential(Vec3 a, Vec3 b, Vec3 n) {
    Vec3 t = vec3_sub(a, b);
    return vec3_fma(-vec3_dot(t, n), n, t);
}

/* |a - b|^2 of two normals beyond NARROW_TURN, times length^2. */
KERNEL_FN real turned2(Vec3 a, Vec3 b, real length) {
    Vec3 e = vec3_sub(a, b);
    return real_max(vec3_dot(e, e) - K(NARROW_TURN * NARROW_TURN), real_of(0)) * length * length;
}

/* The squared distance of a point from the nearest of the k chosen points, orthogonal to the first normal, plus the
 * difference of normals if by->turns. Without `lengths`: the difference of normals only. */
KERNEL_FN real reduce_apart(const Manifold *out, int k, const ContactPoint *c, const Measure *by, bool lengths) {
    real nearest = real_of(0);
    for (int j = 0; j < k; j++) {
        Vec3 t = tangential(c->p, out->at[j].p, out->at[0].n);
        real apart = lengths ? vec3_dot(t, t) : real_of(0);
        if (by->turns)
            apart = apart + turned2(c->n, out->at[j].n, by->size);
        nearest = j == 0 ? apart : real_min(nearest, apart);
    }
    return nearest;
}

/* The value that choice k maximises. `out` holds the k choices before; lengths and areas are orthogonal to the first
 * normal.
 *   1  |t|^2, t from the first point
 *   2  the area with the first two points
 *   3  the area outside the triangle of the first three points, beyond the edge where it is largest
 *   4+ |t|^2 from the nearest chosen point
 * plus the difference of its normal from those of the chosen points. */
STAGE_FN real reduce_value(const Manifold *out, int k, const ContactPoint *candidate, const Measure *by) {
    if (k != 2 && k != 3)
        return reduce_apart(out, k, candidate, by, true);
    Vec3 n = out->at[0].n, p = candidate->p;
    Vec3 a = out->at[0].p, b = out->at[1].p, c = k == 3 ? out->at[2].p : p;
    real area = vec3_dot(n, vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
    real turned = by->turns ? reduce_apart(out, k, candidate, by, false) : real_of(0);
    if (k == 2)
        return real_abs(area) + turned;
    real turn = real_sign(area);
    real beyond_ab = vec3_dot(n, vec3_cross(vec3_sub(p, a), vec3_sub(b, a)));
    real beyond_bc = vec3_dot(n, vec3_cross(vec3_sub(p, b), vec3_sub(c, b)));
    real beyond_ca = vec3_dot(n, vec3_cross(vec3_sub(p, c), vec3_sub(a, c)));
    return real_max(turn * beyond_ab, real_max(turn * beyond_bc, turn * beyond_ca)) + turned;
}

/* The value that choice k must exceed. */
KERNEL_FN real reduce_least(const Manifold *out, int k, real extent, const Measure *by) {
    real same = K(NARROW_SAME) * extent + K(NARROW_POINT) * by->size + by->tie;
    if (k == 2 || k == 3)
        return same * vec3_length(tangential(out->at[1].p, out->at[0].p, out->at[0].n));
    return same * same;
}

/* The largest distance of a valid candidate from the first choice, orthogonal to its normal. */
KERNEL_FN real reduce_extent(const ContactPoint *candidate, int num, const ContactPoint *first) {
    real e = real_of(0);
    for (int i = 0; i < num; i++) {
        Vec3 t = tangential(candidate[i].p, first->p, first->n);
        e = real_max(e, real_select(candidate[i].valid, vec3_dot(t, t), real_of(0)));
    }
    return real_sqrt(e);
}

/* The deepest valid candidate. Of equal depths it is the farthest along a fixed oblique direction, so a corner
 * of the manifold. */
STAGE_FN Choice reduce_deepest(const ContactPoint *candidate, int n, real tie) {
    Choice c = choice_none(&candidate[0]);
    for (int i = 0; i < n; i++)
        choice_take(&c, &candidate[i], c.value,
                    candidate[i].valid & (mask_not(c.found) | (candidate[i].d < c.point.d)));
    real limit = c.point.d + tie;
    Vec3 direction = vec3(real_of(K(0.8)), real_of(K(0.5)), real_of(K(0.3)));
    c.value = vec3_dot(direction, c.point.p);
    for (int i = 0; i < n; i++) {
        real value = vec3_dot(direction, candidate[i].p);
        choice_take(&c, &candidate[i], value, candidate[i].valid & (candidate[i].d <= limit) & (value > c.value + tie));
    }
    return c;
}

/* The factor, 0 .. 1, by which height above the band reduces the value of a candidate. The band ends at `top`. 1 for a
 * candidate with a different normal. */
KERNEL_FN real reduce_fade(const ContactPoint *c, const ContactPoint *first, real top, const Measure *by) {
    real part = (top - first->d + by->tie) / (c->d - first->d + by->tie);
    part = real_select(c->d > top, part * part, real_of(1));
    if (by->turns)
        part = real_select(turned2(c->n, first->n, real_of(1)) > K(0.0), real_of(1), part);
    return part;
}

/* Reduces n candidates to at most max (1 .. MANIFOLD_MAX) that support the same loads: first the deepest, then those
 * with the largest reduce_value. Entries of `out` are in the order of choice, so the deepest is first. In each lane
 * valid entries come before invalid ones, because a choice that finds no point ends the choices of that lane. */
STAGE_FN void manifold_reduce(const ContactPoint *candidate, int n, int max, const Measure *by, Manifold *out) {
    out->count = n < max ? n : max;
    if (n <= 0)
        return;
    Choice c = reduce_deepest(candidate, n, by->tie);
    out->at[0] = c.point;
    real extent = reduce_extent(candidate, n, &out->at[0]);
    real top = real_max(real_of(0), c.point.d + K(NARROW_BAND) * extent);
    for (int k = 1; k < out->count; k++) {
        mask going = out->at[k - 1].valid;
        real least = reduce_least(out, k, extent, by);
        c = choice_none(&out->at[k - 1]);
        for (int i = 0; i < n; i++) {
            real value = reduce_value(out, k, &candidate[i], by) * reduce_fade(&candidate[i], &out->at[0], top, by);
            choice_offer(&c, &candidate[i], value, least, going & candidate[i].valid);
        }
        out->at[k] = c.point;
    }
}
