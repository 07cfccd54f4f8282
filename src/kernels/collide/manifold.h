/* The manifold, the result of the narrow phase for one pair of shapes: up to MANIFOLD_MAX contact points.
 * docs/collision.md.
 *
 * All quantities are in the frame of shape 0; shape 1 is at the pose X in it. Each point has its own unit normal n,
 * from shape 0 to shape 1, and signed distance d, negative in penetration. p is on the surface of shape 0 and p + d n
 * on the surface of shape 1. Margins are not included. */

enum { MANIFOLD_MAX = 8 };

/* A shape for the narrow phase. */
typedef struct Solid {
    int type;  /* SapShapeType; uniform */
    int mesh;  /* index of the hull in the plan; height field: its shape; else -1 */
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

/* Extends the manifold to `count` entries; the new ones are invalid in all worlds. */
KERNEL_FN void manifold_extend(Manifold *m, int count) {
    for (; m->count < count; m->count++) {
        ContactPoint *at = &m->at[m->count];
        at->p = at->n = vec3_zero();
        at->d = real_of(0);
        at->valid = mask_none();
    }
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

/* A candidate in the plane orthogonal to the normal of the deepest point. */
typedef struct FlatPoint {
    real x, y;  /* coordinates in the plane, m */
    real d;     /* signed distance, m */
    Vec3 n;     /* unit normal; only if Measure.turns */
    real fade;  /* 0 .. 1, factor of its value (reduce_fade) */
    real index; /* number of the candidate */
    mask valid;
} FlatPoint;

/* A choice among points: the best so far, and its value. */
typedef struct Choice {
    FlatPoint point;
    real value;
} Choice;

/* No point yet; `any` gives it finite numbers. */
KERNEL_FN Choice choice_none(const FlatPoint *any) {
    Choice c;
    c.point = *any;
    c.point.valid = mask_none();
    c.value = real_of(0);
    return c;
}

KERNEL_FN void choice_take(Choice *c, const FlatPoint *point, real value, mask better, bool turns) {
    c->point.x = real_select(better, point->x, c->point.x);
    c->point.y = real_select(better, point->y, c->point.y);
    c->point.d = real_select(better, point->d, c->point.d);
    c->point.index = real_select(better, point->index, c->point.index);
    if (turns)
        c->point.n = vec3_select(better, point->n, c->point.n);
    c->point.valid = c->point.valid | better;
    c->value = real_select(better, value, c->value);
}

/* Chooses the point in the worlds of `allowed` where its value exceeds `least` and, by more than NARROW_EQUAL, the best
 * so far. */
KERNEL_FN void choice_offer(Choice *c, const FlatPoint *point, real value, real least, mask allowed, bool turns) {
    mask better = allowed & (value > least) & (mask_not(c->point.valid) | (value > K(1.0 + NARROW_EQUAL) * c->value));
    choice_take(c, point, value, better, turns);
}

/* The squared distance of two points in the plane. */
KERNEL_FN real flat_apart2(const FlatPoint *a, const FlatPoint *b) {
    real x = a->x - b->x, y = a->y - b->y;
    return real_fma(x, x, y * y);
}

/* Twice the signed area of the triangle a, b, c. */
KERNEL_FN real flat_area(const FlatPoint *a, const FlatPoint *b, const FlatPoint *c) {
    return real_fma(b->x - a->x, c->y - a->y, -((b->y - a->y) * (c->x - a->x)));
}

/* |a - b|^2 of two normals beyond NARROW_TURN, times length^2. */
KERNEL_FN real turned2(Vec3 a, Vec3 b, real length) {
    Vec3 e = vec3_sub(a, b);
    return real_max(vec3_dot(e, e) - K(NARROW_TURN * NARROW_TURN), real_of(0)) * length * length;
}

/* The least over the k chosen points of the squared distance, plus the difference of normals if by->turns. Without
 * `lengths`: the difference of normals only. */
KERNEL_FN real reduce_apart(const FlatPoint *chosen, int k, const FlatPoint *c, const Measure *by, bool lengths) {
    real nearest = real_of(0);
    for (int j = 0; j < k; j++) {
        real apart = lengths ? flat_apart2(c, &chosen[j]) : real_of(0);
        if (by->turns)
            apart = apart + turned2(c->n, chosen[j].n, by->size);
        nearest = j == 0 ? apart : real_min(nearest, apart);
    }
    return nearest;
}

/* The value that choice k maximises:
 *   1  the squared distance from the first point
 *   2  the area with the first two points
 *   3  the area outside the triangle of the first three points, beyond the edge where it is largest
 *   4+ the squared distance from the nearest chosen point
 * plus the difference of its normal from the normals of the chosen points. */
KERNEL_FN real reduce_value(const FlatPoint *chosen, int k, const FlatPoint *c, const Measure *by) {
    if (k != 2 && k != 3)
        return reduce_apart(chosen, k, c, by, true);
    real turned = by->turns ? reduce_apart(chosen, k, c, by, false) : real_of(0);
    const FlatPoint *p0 = &chosen[0], *p1 = &chosen[1], *p2 = &chosen[2];
    real beyond_01 = flat_area(c, p1, p0);
    if (k == 2)
        return real_abs(beyond_01) + turned;
    real turn = real_sign(flat_area(p0, p1, p2));
    real beyond_12 = flat_area(c, p2, p1), beyond_20 = flat_area(c, p0, p2);
    return real_max(turn * beyond_01, real_max(turn * beyond_12, turn * beyond_20)) + turned;
}

/* The value that choice k must exceed. */
KERNEL_FN real reduce_least(const FlatPoint *chosen, int k, real extent, const Measure *by) {
    real same = K(NARROW_SAME) * extent + K(NARROW_POINT) * by->size + by->tie;
    if (k == 2 || k == 3)
        return same * real_sqrt(flat_apart2(&chosen[1], &chosen[0]));
    return same * same;
}

/* The deepest valid candidate. Of equal depths it is the farthest along a fixed oblique direction, so a corner
 * of the manifold. */
KERNEL_FN FlatPoint reduce_deepest(const FlatPoint *candidate, int n, const Measure *by) {
    Choice c = choice_none(&candidate[0]);
    for (int i = 0; i < n; i++)
        choice_take(&c, &candidate[i], c.value,
                    candidate[i].valid & (mask_not(c.point.valid) | (candidate[i].d < c.point.d)), by->turns);
    real limit = c.point.d + by->tie;
    c.value = real_fma(real_of(K(0.8)), c.point.x, K(0.5) * c.point.y);
    for (int i = 0; i < n; i++) {
        real value = real_fma(real_of(K(0.8)), candidate[i].x, K(0.5) * candidate[i].y);
        choice_take(&c, &candidate[i], value,
                    candidate[i].valid & (candidate[i].d <= limit) & (value > c.value + by->tie), by->turns);
    }
    return c.point;
}

/* The largest distance of a valid candidate from the first choice. */
KERNEL_FN real reduce_extent(const FlatPoint *candidate, int n, const FlatPoint *first) {
    real e = real_of(0);
    for (int i = 0; i < n; i++)
        e = real_max(e, real_select(candidate[i].valid, flat_apart2(&candidate[i], first), real_of(0)));
    return real_sqrt(e);
}

/* The factor, 0 .. 1, by which height above the band reduces the value of a candidate. The band ends at `top`. 1 for a
 * candidate with a different normal. */
KERNEL_FN real reduce_fade(const FlatPoint *c, const FlatPoint *first, real top, const Measure *by) {
    real part = (top - first->d + by->tie) / (c->d - first->d + by->tie);
    part = real_select(c->d > top, part * part, real_of(1));
    if (by->turns)
        part = real_select(turned2(c->n, first->n, real_of(1)) > K(0.0), real_of(1), part);
    return part;
}

/* Reduces n >= 1 candidates to `count` (1 .. MANIFOLD_MAX, at most n) that support the same loads: first the deepest,
 * then those with the largest reduce_value. `chosen` is in the order of choice, so the deepest is first. In each lane
 * valid entries come before invalid ones, because a choice that finds no point ends the choices of that lane. */
KERNEL_FN void reduce_flat(FlatPoint *candidate, int n, int count, const Measure *by, FlatPoint *chosen) {
    chosen[0] = reduce_deepest(candidate, n, by);
    real extent = reduce_extent(candidate, n, &chosen[0]);
    real top = real_max(real_of(0), chosen[0].d + K(NARROW_BAND) * extent);
    for (int i = 0; i < n; i++)
        candidate[i].fade = reduce_fade(&candidate[i], &chosen[0], top, by);
    for (int k = 1; k < count; k++) {
        mask going = chosen[k - 1].valid;
        real least = reduce_least(chosen, k, extent, by);
        Choice c = choice_none(&chosen[k - 1]);
        for (int i = 0; i < n; i++) {
            real value = reduce_value(chosen, k, &candidate[i], by) * candidate[i].fade;
            choice_offer(&c, &candidate[i], value, least, going & candidate[i].valid, by->turns);
        }
        chosen[k] = c.point;
    }
}

enum { CANDIDATES_MAX = 64 };

/* Memory for the reduction of a full list of candidates. */
typedef struct FlatPoints {
    FlatPoint at[CANDIDATES_MAX];
} FlatPoints;

/* The normal of the deepest valid candidate. */
KERNEL_FN Vec3 deepest_normal(const ContactPoint *candidate, int n) {
    Vec3 normal = candidate[0].n;
    real d = candidate[0].d;
    mask found = mask_none();
    for (int i = 0; i < n; i++) {
        mask deeper = candidate[i].valid & (mask_not(found) | (candidate[i].d < d));
        normal = vec3_select(deeper, candidate[i].n, normal);
        d = real_select(deeper, candidate[i].d, d);
        found = found | deeper;
    }
    return normal;
}

/* The candidate with the number of a choice. */
KERNEL_FN ContactPoint candidate_chosen(const ContactPoint *candidate, int n, const FlatPoint *chosen) {
    ContactPoint c = candidate[0];
    for (int i = 1; i < n; i++) {
        mask this_one = chosen->index == real_of((scalar)i);
        c.p = vec3_select(this_one, candidate[i].p, c.p);
        c.n = vec3_select(this_one, candidate[i].n, c.n);
        c.d = real_select(this_one, candidate[i].d, c.d);
    }
    c.valid = chosen->valid;
    return c;
}

/* Reduces n candidates to at most max of them (reduce_flat). flat: memory for n of them. */
STAGE_FN void manifold_reduce(const ContactPoint *candidate, int n, int max, const Measure *by, FlatPoint *flat,
                              Manifold *out) {
    out->count = n < max ? n : max;
    if (n <= 0)
        return;
    FlatPoint chosen[MANIFOLD_MAX];
    Vec3 normal = deepest_normal(candidate, n), t = vec3_perpendicular(normal), u = vec3_cross(normal, t);
    for (int i = 0; i < n; i++) {
        flat[i].x = vec3_dot(t, candidate[i].p);
        flat[i].y = vec3_dot(u, candidate[i].p);
        flat[i].d = candidate[i].d;
        flat[i].n = candidate[i].n;
        flat[i].index = real_of((scalar)i);
        flat[i].valid = candidate[i].valid;
    }
    reduce_flat(flat, n, out->count, by, chosen);
    for (int k = 0; k < out->count; k++)
        out->at[k] = candidate_chosen(candidate, n, &chosen[k]);
}
