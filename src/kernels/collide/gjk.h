/* Distance of two convex cores: the point v of their difference a - b nearest to the origin (Gilbert, Johnson,
 * Keerthi).
 *
 * The search keeps a simplex of up to four support points; v is its point nearest to the origin. The next support
 * point, along -v,
 *   w = s_a(-v) - s_b(v),      v.w/|v| <= distance <= |v|
 * bounds the distance. The search ends when the lower bound exceeds `reach`, or when the bounds meet. It also ends when
 * w is already in the simplex or |v| does not decrease: the remaining error is rounding.
 *
 * The nearest point of a simplex is found from its faces, and from the edges of a triangle that does not contain the
 * projection of the origin. Every result is a point of the simplex, so a degenerate simplex slows the search but never
 * makes it wrong. The normal of a triangle is a cross product of edges, not a difference of nearly equal points, so it
 * is accurate when the cores nearly touch. */

#undef GJK_GAP
#undef GJK_FLAT
#undef GJK_TOUCH
#if SAP_PRECISION == 32
#define GJK_GAP   1e-6 /* distance of bounds that meet, relative to |v| */
#define GJK_FLAT  1e-7 /* sine squared of a triangle's angle below which its normal is rounding */
#define GJK_TOUCH 1e-5 /* nearer cores overlap, relative to the scale: the direction of v is rounding */
#else
#define GJK_GAP   1e-12
#define GJK_FLAT  1e-24
#define GJK_TOUCH 1e-9
#endif

enum { GJK_ITERATIONS = 128 };

/* Results of gjk. */
enum { GJK_APART, GJK_OVERLAP, GJK_FAR };

typedef struct Simplex {
    CoreVertex at[4];
    real weight[4]; /* v = sum weight w */
    int count;
} Simplex;

/* The nearest point of a part of a simplex, as a combination of its vertices. */
typedef struct Nearest {
    int index[3];   /* vertices */
    real weight[3]; /* their weights */
    int count;
    Vec3 v;     /* the point */
    real norm2; /* |v|^2 */
} Nearest;

KERNEL_FN Nearest nearest_vertex(const Simplex *s, int i) {
    Nearest r;
    r.index[0] = i;
    r.weight[0] = K(1.0);
    r.count = 1;
    r.v = s->at[i].w;
    r.norm2 = vec3_dot(r.v, r.v);
    return r;
}

KERNEL_FN Nearest nearest_of_segment(const Simplex *s, int i, int j) {
    Vec3 wi = s->at[i].w, e = vec3_sub(s->at[j].w, wi);
    real length2 = vec3_dot(e, e), along = -vec3_dot(wi, e);
    if (!(along > K(0.0)))
        return nearest_vertex(s, i);
    if (!(along < length2))
        return nearest_vertex(s, j);
    Nearest r;
    r.index[0] = i;
    r.index[1] = j;
    r.weight[1] = along / length2;
    r.weight[0] = K(1.0) - r.weight[1];
    r.count = 2;
    r.v = vec3_fma(r.weight[1], e, wi);
    r.v = vec3_fma(-(vec3_dot(r.v, e) / length2), e, r.v); /* removes the rounding error along e */
    r.norm2 = vec3_dot(r.v, r.v);
    return r;
}

KERNEL_FN Nearest nearer(Nearest a, Nearest b) {
    return b.norm2 < a.norm2 ? b : a;
}

/* The nearest point of the triangle of vertices i, j, k. */
STAGE_FN Nearest nearest_of_triangle(const Simplex *s, int i, int j, int k) {
    Vec3 wi = s->at[i].w, wj = s->at[j].w, wk = s->at[k].w;
    Vec3 e = vec3_sub(wj, wi), f = vec3_sub(wk, wi);
    Vec3 n = vec3_cross(e, f);
    real area2 = vec3_dot(n, n);
    /* barycentric weights of the projection of the origin, from products with short edges; products of two far
     * vertices would cancel */
    real li = vec3_dot(n, vec3_cross(wj, vec3_sub(wk, wj)));
    real lj = vec3_dot(n, vec3_cross(f, wi));
    real lk = vec3_dot(n, vec3_cross(wi, e));
    /* the projection is inside the triangle */
    if (area2 > K(GJK_FLAT) * vec3_dot(e, e) * vec3_dot(f, f) && li > K(0.0) && lj > K(0.0) && lk > K(0.0)) {
        Nearest r;
        real sum = li + lj + lk, height = vec3_dot(n, wi) / area2;
        r.index[0] = i;
        r.index[1] = j;
        r.index[2] = k;
        r.weight[0] = li / sum;
        r.weight[1] = lj / sum;
        r.weight[2] = lk / sum;
        r.count = 3;
        r.v = vec3_scale(height, n);
        r.norm2 = height * height * area2;
        return r;
    }
    /* otherwise the nearest point is on an edge */
    Nearest r = nearer(nearest_of_segment(s, k, i), nearest_of_segment(s, k, j));
    return nearer(r, nearest_of_segment(s, i, j));
}

/* Whether the tetrahedron contains the origin: the origin is on the inner side of all four faces. */
KERNEL_FN bool tetrahedron_holds_origin(const Simplex *s) {
    Vec3 a = s->at[0].w, b = s->at[1].w, c = s->at[2].w, d = s->at[3].w;
    real volume = vec3_dot(vec3_sub(a, d), vec3_cross(vec3_sub(b, d), vec3_sub(c, d)));
    real sign = volume < K(0.0) ? K(-1.0) : K(1.0);
    /* volumes with the origin in place of d, c, b, a */
    real abc = vec3_dot(a, vec3_cross(b, c)), abd = vec3_dot(a, vec3_cross(b, d));
    real acd = vec3_dot(a, vec3_cross(c, d)), bcd = vec3_dot(b, vec3_cross(c, d));
    return volume != K(0.0) && sign * abc >= K(0.0) && sign * abd <= K(0.0) && sign * acd >= K(0.0) &&
           sign * bcd <= K(0.0);
}

/* The nearest point of a simplex whose last vertex is new: it is on a face with that vertex. */
STAGE_FN Nearest nearest_of_simplex(const Simplex *s) {
    if (s->count == 1)
        return nearest_vertex(s, 0);
    if (s->count == 2)
        return nearest_of_segment(s, 0, 1);
    if (s->count == 3)
        return nearest_of_triangle(s, 0, 1, 2);
    Nearest r = nearer(nearest_of_triangle(s, 0, 1, 3), nearest_of_triangle(s, 1, 2, 3));
    return nearer(r, nearest_of_triangle(s, 2, 0, 3));
}

/* Keeps only the vertices of the nearest point. */
KERNEL_FN void simplex_reduce(Simplex *s, const Nearest *nearest) {
    Simplex r;
    for (int i = 0; i < nearest->count; i++) {
        r.at[i] = s->at[nearest->index[i]];
        r.weight[i] = nearest->weight[i];
    }
    r.count = nearest->count;
    *s = r;
}

KERNEL_FN bool simplex_has(const Simplex *s, Vec3 w) {
    for (int i = 0; i < s->count; i++)
        if (s->at[i].w.x == w.x && s->at[i].w.y == w.y && s->at[i].w.z == w.z)
            return true;
    return false;
}

/* The point of core a given by the weights. */
KERNEL_FN Vec3 simplex_point(const Simplex *s) {
    Vec3 p = vec3_zero();
    for (int i = 0; i < s->count; i++)
        p = vec3_fma(s->weight[i], s->at[i].a, p);
    return p;
}

/* GJK_APART: the cores have the distance *d along the unit normal *n from a to b; s is the simplex of v. GJK_OVERLAP: s
 * contains the origin, or is within GJK_TOUCH of it. GJK_FAR: the distance exceeds `reach`. */
STAGE_FN int gjk(const CorePair *pair, real reach, Simplex *s, Vec3 *n, real *d) {
    real touch = K(GJK_TOUCH) * pair->scale;
    Vec3 u = vec3_direction(vec3_sub(pair->b->p, pair->a->p)); /* u = -v/|v|, from a to b */
    s->count = 0;
    for (int iteration = 0; iteration < GJK_ITERATIONS; iteration++) {
        /* support point along u, and the stopping tests */
        CoreVertex next = core_support(pair, u);
        real bound = -vec3_dot(u, next.w);
        if (bound > reach)
            return GJK_FAR;
        if (s->count > 0 && (*d - bound <= K(GJK_GAP) * *d || simplex_has(s, next.w)))
            break;
        /* grow the simplex */
        Simplex grown = *s;
        grown.at[grown.count++] = next;
        if (grown.count == 4 && tetrahedron_holds_origin(&grown)) {
            *s = grown;
            return GJK_OVERLAP;
        }
        /* its nearest point, if that is nearer than before */
        Nearest nearest = nearest_of_simplex(&grown);
        real norm = real_sqrt(nearest.norm2);
        if (s->count > 0 && !(norm < *d))
            break;
        simplex_reduce(&grown, &nearest);
        *s = grown;
        *d = norm;
        if (!(norm > touch))
            return GJK_OVERLAP;
        u = vec3_direction(vec3_scale(K(-1.0), nearest.v));
        *n = u;
    }
    return GJK_APART;
}
