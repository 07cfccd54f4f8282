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

/* The height of vertex i. */
KERNEL_FN real plane_hull_height(const PlaneHull *h, int i) {
    Vec3 v = field_get_vec3(h->vertex, 3 * (h->first + i), h->pack);
    return h->p.z + real_fma(v.z, h->R.z.z, real_fma(v.y, h->R.y.z, v.x * h->R.x.z));
}

/* Vertex i, of height d, as a candidate. */
KERNEL_FN FlatPoint plane_hull_point(const PlaneHull *h, int i, real d, mask valid) {
    Vec3 y = vec3_add(h->p, mat3_mul(h->R, field_get_vec3(h->vertex, 3 * (h->first + i), h->pack)));
    FlatPoint c;
    c.x = y.x;
    c.y = y.y;
    c.d = d;
    c.index = real_of(0);
    c.valid = valid;
    return c;
}

/* The lowest vertex. Of equal heights, to by->tie, it is the farthest along a fixed oblique direction, as in
 * reduce_deepest. *extent: the largest distance in the plane of a candidate, d <= reach, from the lowest vertex. */
STAGE_FN FlatPoint plane_hull_lowest(const PlaneHull *h, real lowest, real reach, const Measure *by, real *extent) {
    Choice c;
    c.point = plane_hull_point(h, 0, lowest, mask_none());
    c.value = real_of(0);
    for (int i = 0; i < h->count; i++) {
        real d = plane_hull_height(h, i);
        mask low = d <= lowest + by->tie;
        if (!mask_any(low))
            continue;
        FlatPoint point = plane_hull_point(h, i, d, low);
        real value = real_fma(real_of(K(0.8)), point.x, K(0.5) * point.y);
        choice_take(&c, &point, value, low & (mask_not(c.point.valid) | (value > c.value + by->tie)), false);
    }
    real e = real_of(0);
    for (int i = 0; i < h->count; i++) {
        real d = plane_hull_height(h, i);
        mask within = d <= reach;
        if (!mask_any(within))
            continue;
        FlatPoint point = plane_hull_point(h, i, d, within);
        e = real_max(e, real_select(within, flat_apart2(&point, &c.point), real_of(0)));
    }
    *extent = real_sqrt(e);
    return c.point;
}

/* Choice k of reduce_flat among the vertices with d <= reach. The value of a vertex above `top` fades. */
STAGE_FN FlatPoint plane_hull_choose(const PlaneHull *h, const FlatPoint *chosen, int k, real reach, real top,
                                     real extent, const Measure *by) {
    mask going = chosen[k - 1].valid;
    real least = reduce_least(chosen, k, extent, by);
    Choice c = choice_none(&chosen[k - 1]);
    for (int i = 0; i < h->count; i++) {
        real d = plane_hull_height(h, i);
        mask within = going & (d <= reach);
        if (!mask_any(within))
            continue;
        FlatPoint point = plane_hull_point(h, i, d, within);
        real value = reduce_value(chosen, k, &point, by) * reduce_fade(&point, &chosen[0], top, by);
        choice_offer(&c, &point, value, least, within, false);
    }
    return c.point;
}

/* The reduction of manifold.h over all vertices within reach, which are recomputed for each choice instead of stored;
 * most are too high in every world, as their height shows. The band of full value is thinner than in reduce_flat: it
 * ends below the middle of a flat hull, and in the middle of the penetration, so that lower vertices are preferred. */
STAGE_FN void narrow_plane_hull(const Context *ctx, const Solid *a, const Solid *b, Pose X, real reach, mask near,
                                Manifold *m, int max_contacts) {
    (void)a;
    const SapHull *hull = &ctx->args->plan.hull[b->mesh];
    PlaneHull h;
    h.vertex = STAGE_CONSTANTS->hull_vertex;
    h.pack = ctx->pack;
    h.first = hull->vertex;
    h.count = hull->num_vertices;
    h.R = quat_matrix(X.q);
    h.p = X.p;
    /* no contact if the box around the hull is out of reach */
    OrientedBox box = solid_box(ctx, b);
    Vec3 z = vec3(h.R.x.z, h.R.y.z, h.R.z.z), along = mat3_mul_transposed(box.R, z);
    real half = box_radius(box.half, along), extent = field_get(STAGE_CONSTANTS->hull_extent, b->mesh, ctx->pack);
    real sizes = extent + real_abs(X.p.x) + real_abs(X.p.y) + real_abs(X.p.z);
    m->count = 0;
    if (!mask_any(near & (X.p.z + vec3_dot(z, box.p) - half <= reach + K(BOX_SLACK) * sizes)))
        return;
    /* heights */
    real lowest = plane_hull_height(&h, 0), highest = lowest;
    for (int i = 1; i < h.count; i++) {
        real d = plane_hull_height(&h, i);
        lowest = real_min(lowest, d);
        highest = real_max(highest, d);
    }
    /* the lowest vertex, and the top of the band of full value */
    FlatPoint chosen[MANIFOLD_MAX];
    Measure by;
    by.size = extent;
    by.tie = K(NARROW_TIE) * sizes;
    by.turns = false;
    real wide;
    chosen[0] = plane_hull_lowest(&h, lowest, real_max(reach, lowest), &by, &wide);
    real band = real_min(K(NARROW_BAND) * wide, K(0.5) * (highest - lowest));
    real top = lowest + real_max(band, K(-0.5) * lowest);
    /* the other choices */
    m->count = h.count < max_contacts ? h.count : max_contacts;
    for (int k = 1; k < m->count; k++)
        chosen[k] = plane_hull_choose(&h, chosen, k, reach, top, wide, &by);
    for (int k = 0; k < m->count; k++)
        manifold_set(m, k, vec3(chosen[k].x, chosen[k].y, real_of(0)), vec3_unit_z(), chosen[k].d, chosen[k].valid);
}
