/* A plane and any other shape. The plane is the half-space z <= 0 of frame 0, so n = +z, d is the height of a point of
 * shape 1 and p the point below it. The manifold has the lowest point of the shape and enough others for the shape to
 * rest on any of its sides. */

KERNEL_FN void plane_point(Manifold *m, int i, Vec3 y) {
    manifold_set(m, i, vec3(y.x, y.y, real_of(0)), vec3_unit_z(), y.z, mask_all());
}

STAGE_FN void narrow_plane_sphere(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx, (void)a;
    m->count = 1;
    plane_point(m, 0, vec3(X.p.x, X.p.y, X.p.z - b->size.x));
}

/* The lowest points of both end caps. */
STAGE_FN void narrow_plane_capsule(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx, (void)a;
    Vec3 axis = quat_matrix(X.q).z;
    Vec3 low = vec3(X.p.x, X.p.y, X.p.z - b->size.x);
    m->count = 2;
    plane_point(m, 0, vec3_fma(b->size.y, axis, low));
    plane_point(m, 1, vec3_fma(-b->size.y, axis, low));
}

/* y = c - R S^2 R'z / |S R'z|: the support point in the direction -z */
STAGE_FN void narrow_plane_ellipsoid(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx, (void)a;
    Mat3 R = quat_matrix(X.q);
    Vec3 s = b->size;
    Vec3 v = vec3(s.x * R.x.z, s.y * R.y.z, s.z * R.z.z);
    real scale = K(-1.0) / vec3_length(v);
    Vec3 local = vec3(scale * s.x * v.x, scale * s.y * v.y, scale * s.z * v.z);
    m->count = 1;
    plane_point(m, 0, vec3_add(X.p, mat3_mul(R, local)));
}

/* The corners of the most downward face. The lowest corner belongs to every downward face. */
STAGE_FN void narrow_plane_box(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx, (void)a;
    Mat3 R = quat_matrix(X.q);
    Vec3 x = vec3_scale(b->size.x, R.x), y = vec3_scale(b->size.y, R.y), z = vec3_scale(b->size.z, R.z);
    real ax = real_abs(R.x.z), ay = real_abs(R.y.z), az = real_abs(R.z.z);
    mask use_x = (ax > ay) & (ax > az), use_y = mask_not(use_x) & (ay > az);
    Vec3 face = vec3_select(use_x, x, vec3_select(use_y, y, z));
    Vec3 u = vec3_select(use_x, y, x), v = vec3_select(use_x | use_y, z, y);
    face = vec3_fma(-real_sign(face.z), face, X.p);
    m->count = 4;
    for (int i = 0; i < 4; i++) {
        real su = real_of(i & 1 ? K(1.0) : K(-1.0)), sv = real_of(i & 2 ? K(1.0) : K(-1.0));
        plane_point(m, i, vec3_fma(sv, v, vec3_fma(su, u, face)));
    }
}

/* The most downward direction orthogonal to the axis: -z without its part along the axis; for a vertical axis the x
 * axis of the shape. */
KERNEL_FN Vec3 downward_across(Mat3 R) {
    Vec3 u = vec3(R.z.x * R.z.z, R.z.y * R.z.z, -real_fma(R.z.x, R.z.x, R.z.y * R.z.y));
    real length = vec3_length(u); /* the sine of the tilt; u has no direction if this is rounding */
    return vec3_select(length > K(NARROW_TIE), vec3_scale(K(1.0) / length, u), R.x);
}

/* Four points of a disc of radius r around `centre`, normal to the axis: the lowest point, the two points at its sides,
 * and the lower of the opposite point and `partner`, the other end of the side line through the lowest point. */
KERNEL_FN void plane_disc(Manifold *m, Vec3 centre, Vec3 axis, Vec3 u, real r, Vec3 partner) {
    Vec3 w = vec3_cross(axis, u);
    Vec3 opposite = vec3_fma(-r, u, centre);
    m->count = 4;
    plane_point(m, 0, vec3_fma(r, u, centre));
    plane_point(m, 1, vec3_select(opposite.z < partner.z, opposite, partner));
    plane_point(m, 2, vec3_fma(r, w, centre));
    plane_point(m, 3, vec3_fma(-r, w, centre));
}

/* The lower cap, and the other end of the lowest side line. */
STAGE_FN void narrow_plane_cylinder(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx, (void)a;
    Mat3 R = quat_matrix(X.q);
    Vec3 u = downward_across(R);
    Vec3 down = vec3_scale(-real_sign(R.z.z) * b->size.y, R.z);
    Vec3 partner = vec3_fma(b->size.x, u, vec3_sub(X.p, down));
    plane_disc(m, vec3_add(X.p, down), R.z, u, b->size.x, partner);
}

/* The base and the tip. */
STAGE_FN void narrow_plane_cone(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m) {
    (void)ctx, (void)a;
    Mat3 R = quat_matrix(X.q);
    Vec3 base = vec3_fma(-b->size.y, R.z, X.p), tip = vec3_fma(b->size.y, R.z, X.p);
    plane_disc(m, base, R.z, downward_across(R), b->size.x, tip);
}

/* ---- hull ---- */

typedef struct PlaneHull {
    SapField vertex; /* constants.hull_vertex */
    const SapPack *pack;
    int first, count; /* its vertices */
    Mat3 R;           /* pose of the hull in frame 0 */
    Vec3 p;
} PlaneHull;

/* Vertex i as a candidate: d is its height. */
KERNEL_FN FlatPoint plane_hull_point(const PlaneHull *h, int i) {
    Vec3 y = vec3_add(h->p, mat3_mul(h->R, field_get_vec3(h->vertex, 3 * (h->first + i), h->pack)));
    FlatPoint c;
    c.x = y.x;
    c.y = y.y;
    c.d = y.z;
    c.index = real_of(0);
    c.valid = mask_all();
    return c;
}

/* The lowest vertex; *size is the largest coordinate, *highest the largest height. A lower vertex must be lower by more
 * than NARROW_TIE of *size. */
STAGE_FN FlatPoint plane_hull_lowest(const PlaneHull *h, real *size, real *highest) {
    FlatPoint lowest = plane_hull_point(h, 0);
    real s = real_of(0), top = lowest.d;
    for (int i = 0; i < h->count; i++) {
        FlatPoint c = plane_hull_point(h, i);
        s = real_max(s, real_max(real_abs(c.x), real_max(real_abs(c.y), real_abs(c.d))));
        top = real_max(top, c.d);
    }
    for (int i = 1; i < h->count; i++) {
        FlatPoint c = plane_hull_point(h, i);
        mask lower = c.d < lowest.d - K(NARROW_TIE) * s;
        lowest.x = real_select(lower, c.x, lowest.x);
        lowest.y = real_select(lower, c.y, lowest.y);
        lowest.d = real_select(lower, c.d, lowest.d);
    }
    *size = s;
    *highest = top;
    return lowest;
}

/* The largest distance of a vertex from a point, in the plane. */
STAGE_FN real plane_hull_extent(const PlaneHull *h, const FlatPoint *from) {
    real e = real_of(0);
    for (int i = 0; i < h->count; i++) {
        FlatPoint c = plane_hull_point(h, i);
        e = real_max(e, flat_apart2(&c, from));
    }
    return real_sqrt(e);
}

/* reduce_flat over all vertices, which are recomputed for each choice instead of stored. Candidates are the
 * vertices in a band above the lowest one, but none in the upper half of a thin hull, and those in the lower half of
 * the penetration. */
STAGE_FN void narrow_plane_hull(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m,
                                int max_contacts) {
    (void)a;
    const SapHull *hull = &ctx->args->plan.hull[b->mesh];
    PlaneHull h;
    h.vertex = STAGE_CONSTANTS->hull_vertex;
    h.pack = ctx->pack;
    h.first = hull->vertex;
    h.count = hull->num_vertices;
    h.R = quat_matrix(X.q);
    h.p = X.p;
    /* the lowest vertex, and the top of the band of candidates */
    FlatPoint chosen[MANIFOLD_MAX];
    real size, highest;
    chosen[0] = plane_hull_lowest(&h, &size, &highest);
    real extent = plane_hull_extent(&h, &chosen[0]), lowest = chosen[0].d;
    real band = real_min(K(NARROW_BAND) * extent, K(0.5) * (highest - lowest));
    real top = lowest + real_max(band, K(-0.5) * lowest);

    /* the other choices, as in reduce_flat */
    Measure by;
    by.size = extent;
    by.tie = K(NARROW_TIE) * size;
    by.turns = false;
    m->count = h.count < max_contacts ? h.count : max_contacts;
    for (int k = 1; k < m->count; k++) {
        mask going = chosen[k - 1].valid;
        real least = reduce_least(chosen, k, extent, &by);
        Choice c = choice_none(&chosen[k - 1]);
        for (int i = 0; i < h.count; i++) {
            FlatPoint point = plane_hull_point(&h, i);
            choice_offer(&c, &point, reduce_value(chosen, k, &point, &by), least, going & (point.d <= top), false);
        }
        chosen[k] = c.point;
    }
    for (int k = 0; k < m->count; k++)
        manifold_set(m, k, vec3(chosen[k].x, chosen[k].y, real_of(0)), vec3_unit_z(), chosen[k].d, chosen[k].valid);
}
