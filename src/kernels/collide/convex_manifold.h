/* The manifold for one contact normal n: the features of the two shapes that face n, clipped against each other along
 * n.
 *
 * A feature is a polygon, segment or point of a shape: a face of a box or hull, a cap of a cylinder or base of a cone
 * (an octagon of rim points), the side of a cylinder, cone or capsule (a segment), an edge. Projected along n, the two
 * features are clipped against each other. Each corner of the intersection has its own distance
 *   d = (x_1 - x_0).n,   x_0 on the feature of shape 0, x_1 on shape 1's
 * One feature must be flat: tilted against the plane normal to n by at most MANIFOLD_TIGHT. The other may be tilted by
 * at most MANIFOLD_LOOSE. A box that stands on its edge thus has the points of that edge, and of its face once it
 * is almost flat. */

#define MANIFOLD_TIGHT 0.03 /* sines of the tilt */
#define MANIFOLD_LOOSE 0.35

enum { FEATURE_MAX = 16, CLIP_MAX = 2 * FEATURE_MAX, CANDIDATE_DIRECTIONS = 16 };

typedef struct Feature {
    Vec3 x[FEATURE_MAX]; /* counter-clockwise seen from outside the shape */
    int count;
    Vec3 m;    /* polygons: outward unit normal */
    real tilt; /* sine of the angle between the feature and the plane normal to n */
} Feature;

typedef struct Candidates {
    ContactPoint at[CANDIDATES_MAX];
    int count;
    Measure by;
    void *work; /* of the task, on a GPU */
} Candidates;

/* The farthest points along some directions. */
typedef struct FarPoints {
    ContactPoint at[CANDIDATE_DIRECTIONS];
} FarPoints;

/* Two features, and the corners of their intersection. */
typedef struct FeaturePair {
    Feature a, b;
} FeaturePair;
typedef struct ClipCorners {
    Vec3 x[CLIP_MAX], spare[CLIP_MAX];
} ClipCorners;

/* The places of these data in the workspace. A list is thinned and reduced when there is no polytope. */
enum {
    FLAT_AT = EPA_AT,
    FAR_AT = WORKSPACE_END(FLAT_AT, FlatPoints),
    LIST_AT = EPA_END,
    OVERLAY_AT = WORKSPACE_END(LIST_AT, Candidates),
    CLIP_AT = WORKSPACE_END(OVERLAY_AT, FeaturePair),
    POLISH_AT = WORKSPACE_END(CLIP_AT, ClipCorners),
    PRISM_AT = WORKSPACE_END(POLISH_AT, FeaturePair),
    TASK_AT = WORKSPACE_END(PRISM_AT, FeaturePair),
    MANIFOLD_AT = WORKSPACE_END(TASK_AT, SapConvexTask),
    RESULT_AT = WORKSPACE_END(MANIFOLD_AT, Manifold),
    CONVEX_END = WORKSPACE_END(RESULT_AT, Manifold)
};

static_assert(WORKSPACE_END(FAR_AT, FarPoints) <= EPA_END, "the data of a reduction are larger than a polytope");

/* Reduces the list to a manifold of at most `max` points. */
KERNEL_FN void candidates_reduce(const Candidates *list, int max, Manifold *out) {
    WORKSPACE(FlatPoints, flat, list->work, FLAT_AT);
    manifold_reduce(list->at, list->count, max, &list->by, flat->at, out);
}

/* Thins a full list to its manifold and the farthest points along 16 directions orthogonal to the normal of the deepest
 * point. A point that is farthest along one of these directions in the complete list is therefore not lost. */
STAGE_FN void candidates_thin(Candidates *list) {
    const scalar c = K(0.92387953251128676), s = K(0.38268343236508977); /* cosine and sine of 2 pi/16 */
    Manifold kept;
    candidates_reduce(list, MANIFOLD_MAX, &kept);
    WORKSPACE(FarPoints, far, list->work, FAR_AT);
    Vec3 t = vec3_orthogonal(kept.at[0].n), u = vec3_cross(kept.at[0].n, t);
    for (int i = 0; i < CANDIDATE_DIRECTIONS; i++) {
        int best = 0;
        for (int k = 1; k < list->count; k++)
            if (vec3_dot(t, vec3_sub(list->at[k].p, list->at[best].p)) > list->by.tie)
                best = k;
        far->at[i] = list->at[best];
        Vec3 turned = vec3_fma(s, u, vec3_scale(c, t));
        u = vec3_fma(-s, t, vec3_scale(c, u));
        t = turned;
    }
    list->count = 0;
    for (int i = 0; i < kept.count && kept.at[i].valid; i++)
        list->at[list->count++] = kept.at[i];
    for (int i = 0; i < CANDIDATE_DIRECTIONS; i++)
        list->at[list->count++] = far->at[i];
}

/* Adds a point if d <= reach. */
STAGE_FN void candidate_add(Candidates *list, Vec3 p, Vec3 n, real d, real reach) {
    if (!(d <= reach))
        return;
    if (list->count == CANDIDATES_MAX)
        candidates_thin(list);
    ContactPoint *c = &list->at[list->count++];
    c->p = p;
    c->n = n;
    c->d = d;
    c->valid = real_finite(d);
}

/* ---- features ---- */

STAGE_FN void feature_point(Feature *f, const Convex *c, Vec3 u) {
    f->x[0] = convex_to_frame(c, support_local(c, u));
    f->count = 1;
    f->tilt = K(0.0);
}

STAGE_FN void feature_segment(Feature *f, const Convex *c, Vec3 a, Vec3 b, Vec3 u) {
    f->x[0] = convex_to_frame(c, a);
    f->x[1] = convex_to_frame(c, b);
    f->count = 2;
    f->tilt = real_abs(vec3_dot(vec3_direction(vec3_sub(b, a)), u));
}

KERNEL_FN void feature_polygon(Feature *f, const Convex *c, Vec3 m, Vec3 u) {
    f->m = mat3_mul(c->R, m);
    f->tilt = vec3_norm(vec3_cross(m, u));
}

/* The octagon of radius r at height z with outward normal `side` (1 or -1) times the axis. */
STAGE_FN void feature_disc(Feature *f, const Convex *c, real r, real z, real side, Vec3 u) {
    const scalar half = K(0.70710678118654752);
    real x = r, y = K(0.0);
    for (int i = 0; i < 8; i++) {
        f->x[i] = convex_to_frame(c, vec3(x, y, z));
        real turned = half * (x - side * y);
        y = half * (y + side * x);
        x = turned;
    }
    f->count = 8;
    feature_polygon(f, c, vec3(K(0.0), K(0.0), side), u);
}

KERNEL_FN real vec3_at(Vec3 v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}
/* The vector with component a on the axis, b and c on the next two axes. */
KERNEL_FN Vec3 vec3_of(int axis, real a, real b, real c) {
    return axis == 0 ? vec3(a, b, c) : axis == 1 ? vec3(c, a, b) : vec3(b, c, a);
}

STAGE_FN void feature_box_face(Feature *f, const Convex *c, int k, Vec3 u) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    real side = vec3_at(u, k) < K(0.0) ? K(-1.0) : K(1.0);
    real a = side * vec3_at(c->size, k), b = vec3_at(c->size, i), g = side * vec3_at(c->size, j);
    f->x[0] = convex_to_frame(c, vec3_of(k, a, b, -g));
    f->x[1] = convex_to_frame(c, vec3_of(k, a, b, g));
    f->x[2] = convex_to_frame(c, vec3_of(k, a, -b, g));
    f->x[3] = convex_to_frame(c, vec3_of(k, a, -b, -g));
    f->count = 4;
    feature_polygon(f, c, vec3_of(k, side, K(0.0), K(0.0)), u);
}

KERNEL_FN void feature_box(Feature *f, const Convex *c, Vec3 u, bool polygons) {
    int most = 0, least = 0;
    for (int i = 1; i < 3; i++) {
        if (real_abs(vec3_at(u, i)) > real_abs(vec3_at(u, most)))
            most = i;
        if (real_abs(vec3_at(u, i)) < real_abs(vec3_at(u, least)))
            least = i;
    }
    if (polygons) {
        feature_box_face(f, c, most, u);
        return;
    }
    Vec3 a = support_local(c, u), b = a;
    real half = vec3_at(c->size, least);
    a = vec3_of(least, -half, vec3_at(a, (least + 1) % 3), vec3_at(a, (least + 2) % 3));
    b = vec3_of(least, half, vec3_at(b, (least + 1) % 3), vec3_at(b, (least + 2) % 3));
    feature_segment(f, c, a, b, u);
}

/* The face of a hull whose normal is closest to u. */
KERNEL_FN int hull_facing(const Convex *c, Vec3 u) {
    Items items = directions_towards(c, c->hull ? &c->hull->by_face : 0, c->num_faces, u);
    int best = 0;
    real most = K(-2.0);
    for (int k = 0; k < items.count; k++) {
        int i = items_get(&items, k);
        real along = vec3_dot(u, vec3_load(c->plane + 4 * i));
        if (along > most) {
            most = along;
            best = i;
        }
    }
    return best;
}

/* A face with more than FEATURE_MAX corners keeps evenly spaced ones. */
KERNEL_FN void feature_hull_face(Feature *f, const Convex *c, int face, Vec3 u) {
    SapHullFace at = c->face[face];
    f->count = at.num_corners < FEATURE_MAX ? at.num_corners : FEATURE_MAX;
    for (int i = 0; i < f->count; i++) {
        int corner = at.num_corners <= FEATURE_MAX ? i : (int)((long long)i * at.num_corners / FEATURE_MAX);
        f->x[i] = convex_to_frame(c, hull_vertex(c, c->corner[at.corner + corner]));
    }
    feature_polygon(f, c, vec3_load(c->plane + 4 * face), u);
}

/* The edge that is highest along u. All edges are compared: it need not belong to the face whose normal is
 * closest to u. */
KERNEL_FN void feature_hull_edge(Feature *f, const Convex *c, Vec3 u) {
    Items items = directions_towards(c, c->hull ? &c->hull->by_edge : 0, c->num_edges, u);
    Vec3 from = hull_vertex(c, 0), to = from;
    real most = K(-1e30);
    for (int k = 0; k < items.count; k++) {
        SapHullEdge edge = c->edge[items_get(&items, k)];
        Vec3 a = hull_vertex(c, edge.from), b = hull_vertex(c, edge.to);
        real along = vec3_dot(u, vec3_add(a, b));
        if (along > most) {
            most = along;
            from = a;
            to = b;
        }
    }
    feature_segment(f, c, from, to, u);
}

STAGE_FN void feature_hull(Feature *f, const Convex *c, Vec3 u, bool polygons) {
    if (c->num_faces <= 0) {
        feature_point(f, c, u);
        return;
    }
    if (polygons)
        feature_hull_face(f, c, hull_facing(c, u), u);
    else
        feature_hull_edge(f, c, u);
}

KERNEL_FN void feature_cylinder(Feature *f, const Convex *c, Vec3 u, bool polygons) {
    real side = u.z < K(0.0) ? K(-1.0) : K(1.0);
    if (polygons && real_abs(u.z) > K(0.7)) {
        feature_disc(f, c, c->size.x, side * c->size.y, side, u);
        return;
    }
    Vec3 rim = support_circle(c->size.x, c->size.y, u);
    feature_segment(f, c, vec3(rim.x, rim.y, -c->size.y), rim, u);
}

KERNEL_FN void feature_cone(Feature *f, const Convex *c, Vec3 u, bool polygons) {
    if (polygons && u.z < K(-0.7)) {
        feature_disc(f, c, c->size.x, -c->size.y, K(-1.0), u);
        return;
    }
    feature_segment(f, c, support_circle(c->size.x, -c->size.y, u), vec3(K(0.0), K(0.0), c->size.y), u);
}

/* The feature of the core of c that faces u, in the axes of c: a polygon (if `polygons` and there is one), segment or
 * point, of any tilt. */
STAGE_FN void feature_facing(Feature *f, const Convex *c, Vec3 u, bool polygons) {
    switch (c->type) {
    case SAP_SHAPE_CAPSULE:
        feature_segment(f, c, vec3(K(0.0), K(0.0), -c->size.y), vec3(K(0.0), K(0.0), c->size.y), u);
        break;
    case SAP_SHAPE_CYLINDER: feature_cylinder(f, c, u, polygons); break;
    case SAP_SHAPE_CONE: feature_cone(f, c, u, polygons); break;
    case SAP_SHAPE_BOX: feature_box(f, c, u, polygons); break;
    case SAP_SHAPE_HULL: feature_hull(f, c, u, polygons); break;
    default: feature_point(f, c, u); break;
    }
}

/* Moves a feature from the core to the surface, along `out`; a segment, even if tilted, orthogonally to itself. */
KERNEL_FN void feature_round(Feature *f, real radius, Vec3 out) {
    if (f->count == 2) {
        Vec3 e = vec3_direction(vec3_sub(f->x[1], f->x[0]));
        out = vec3_direction(vec3_fma(-vec3_dot(e, out), e, out));
    }
    for (int i = 0; i < f->count; i++)
        f->x[i] = vec3_fma(radius, out, f->x[i]);
}

/* The largest feature of the surface of c that faces `out` with a tilt up to MANIFOLD_LOOSE. */
STAGE_FN void feature_find(Feature *f, const Convex *c, Vec3 out, bool polygons) {
    Vec3 u = mat3_transpose_mul(c->R, out);
    feature_facing(f, c, u, polygons);
    if (f->count > 2 && f->tilt > K(MANIFOLD_LOOSE))
        feature_facing(f, c, u, false);
    if (f->tilt > K(MANIFOLD_LOOSE))
        feature_point(f, c, u);
    if (c->radius > K(0.0))
        feature_round(f, c->radius, out);
}

/* ---- overlay ---- */

/* The part of the polygon x with q.(x - at) <= 0; returns its number of corners. */
KERNEL_FN int clip_polygon(const Vec3 *x, int n, Vec3 at, Vec3 q, Vec3 *out) {
    int count = 0;
    Vec3 a = x[n - 1];
    real ha = vec3_dot(q, vec3_sub(a, at));
    for (int i = 0; i < n; i++) {
        Vec3 b = x[i];
        real hb = vec3_dot(q, vec3_sub(b, at));
        if ((ha > K(0.0)) != (hb > K(0.0)) && count < CLIP_MAX)
            out[count++] = vec3_fma(ha / (ha - hb), vec3_sub(b, a), a);
        if (!(hb > K(0.0)) && count < CLIP_MAX)
            out[count++] = b;
        a = b;
        ha = hb;
    }
    return count;
}

/* The same for a segment, in place. */
KERNEL_FN int clip_segment(Vec3 *x, Vec3 at, Vec3 q) {
    real ha = vec3_dot(q, vec3_sub(x[0], at)), hb = vec3_dot(q, vec3_sub(x[1], at));
    if (ha > K(0.0) && hb > K(0.0))
        return 0;
    if (ha > K(0.0))
        x[0] = vec3_fma(ha / (ha - hb), vec3_sub(x[1], x[0]), x[0]);
    else if (hb > K(0.0))
        x[1] = vec3_fma(hb / (hb - ha), vec3_sub(x[0], x[1]), x[1]);
    return 2;
}

/* The part of feature s that lies over the polygon r, projected along the unit vector `out`, which is outward of r.
 * Returns the number of its points. spare: memory for CLIP_MAX corners if s is a polygon. */
STAGE_FN int clip_over(const Feature *s, const Feature *r, Vec3 out, real slack, Vec3 *spare, Vec3 *result) {
    int n = s->count;
    for (int i = 0; i < n; i++)
        result[i] = s->x[i];
    for (int i = 0; i < r->count && n > 0; i++) {
        Vec3 at = r->x[i];
        Vec3 q = vec3_cross(vec3_sub(r->x[i + 1 < r->count ? i + 1 : 0], at), out);
        if (n == 1) {
            n = vec3_dot(q, vec3_sub(result[0], at)) > slack * vec3_norm(q) ? 0 : 1;
        } else if (n == 2) {
            n = clip_segment(result, at, q);
        } else {
            n = clip_polygon(result, n, at, q, spare);
            for (int k = 0; k < n; k++)
                result[k] = spare[k];
        }
    }
    return n;
}

/* Adds the points of s over the polygon r. r_is_first: r is a feature of shape 0. */
STAGE_FN void overlay_polygon(const Feature *r, const Feature *s, bool r_is_first, Vec3 n, real reach, real slack,
                              Candidates *list) {
    WORKSPACE(ClipCorners, corners, list->work, CLIP_AT);
    Vec3 *x = corners->x;
    int count = clip_over(s, r, r_is_first ? n : vec3_scale(K(-1.0), n), slack, corners->spare, x);
    for (int i = 0; i < count; i++) {
        real t = vec3_dot(vec3_sub(r->x[0], x[i]), r->m) / vec3_dot(n, r->m); /* x + t n is on r */
        if (r_is_first)
            candidate_add(list, vec3_fma(t, n, x[i]), n, -t, reach);
        else
            candidate_add(list, x[i], n, t, reach);
    }
}

/* The parameter t of the point of segment f nearest to `point`, clamped to 0 .. 1. */
KERNEL_FN real segment_place(const Feature *f, Vec3 point) {
    Vec3 e = vec3_sub(f->x[1], f->x[0]);
    real t = vec3_dot(vec3_sub(point, f->x[0]), e) / vec3_dot(e, e);
    return real_min(real_max(t, real_of(0)), real_of(1));
}

KERNEL_FN Vec3 segment_at(const Feature *f, real t) {
    return vec3_fma(t, vec3_sub(f->x[1], f->x[0]), f->x[0]);
}

/* The end of the overlap of two nearly parallel segments, next to end i of a and end j of b. The segment that ends
 * first ends the overlap, together with the nearest point of the other segment. Returns the midpoint of the two points,
 * and d. */
STAGE_FN Vec3 segments_end(const Feature *a, int i, const Feature *b, int j, Vec3 n, real *d) {
    Vec3 xa = a->x[i], xb = b->x[j];
    real inside_b = vec3_dot(vec3_sub(xb, xa), vec3_direction(vec3_sub(xb, b->x[1 - j])));
    real inside_a = vec3_dot(vec3_sub(xa, xb), vec3_direction(vec3_sub(xa, a->x[1 - i])));
    if (inside_b > inside_a)
        xb = segment_at(b, segment_place(b, xa));
    else
        xa = segment_at(a, segment_place(a, xb));
    *d = vec3_dot(vec3_sub(xb, xa), n);
    return vec3_scale(K(0.5), vec3_add(xa, xb));
}

/* Adds the two ends of the overlap of two nearly parallel segments. Projected along n the segments do not coincide, so
 * the points are midway between them. */
STAGE_FN void overlay_segments(const Feature *a, const Feature *b, Vec3 n, real reach, Candidates *list) {
    Vec3 e = vec3_sub(a->x[1], a->x[0]), f = vec3_sub(b->x[1], b->x[0]), x[2];
    if (vec3_norm(vec3_cross(e, f)) > K(MANIFOLD_TIGHT) * vec3_norm(e) * vec3_norm(f))
        return;
    real d[2];
    bool same_way = vec3_dot(e, f) > K(0.0);
    for (int i = 0; i < 2; i++)
        x[i] = segments_end(a, i, b, same_way ? i : 1 - i, n, &d[i]);
    if (!(vec3_dot(vec3_sub(x[1], x[0]), e) > K(NARROW_SAME) * real_abs(vec3_dot(e, f))))
        return;
    for (int i = 0; i < 2; i++)
        candidate_add(list, vec3_fma(K(-0.5) * d[i], n, x[i]), n, d[i], reach);
}

KERNEL_FN bool feature_is_flat(const Feature *f) {
    return f->count > 2 && f->tilt <= K(MANIFOLD_TIGHT);
}

/* Adds all points where the facing features of a and b overlap along n. */
STAGE_FN void manifold_overlay(const Convex *a, const Convex *b, Vec3 n, real reach, real slack, Candidates *list) {
    WORKSPACE(FeaturePair, f, list->work, OVERLAY_AT);
    Feature *fa = &f->a, *fb = &f->b;
    Vec3 back = vec3_scale(K(-1.0), n);
    feature_find(fa, a, n, true);
    feature_find(fb, b, back, true);
    if (fa->count > 2 && !feature_is_flat(fa) && !feature_is_flat(fb))
        feature_find(fa, a, n, false);
    if (fb->count > 2 && !feature_is_flat(fa) && !feature_is_flat(fb))
        feature_find(fb, b, back, false);
    bool first = feature_is_flat(fa) && !(feature_is_flat(fb) && fb->tilt < fa->tilt);
    if (first)
        overlay_polygon(fa, fb, true, n, reach, slack, list);
    else if (feature_is_flat(fb))
        overlay_polygon(fb, fa, false, n, reach, slack, list);
    else if (fa->count == 2 && fb->count == 2)
        overlay_segments(fa, fb, n, reach, list);
}
