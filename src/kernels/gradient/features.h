/* How the points and the normal of a contact move with its two shapes: the class of the features that touch.
 * docs/gradients.md has the table. a0, a1: points of the two cores, which a radius and a margin inflate; e = a1 - a0,
 * s = e.n.
 *
 *   nearest   the nearest points of two vertices or edges
 *   face      a face of one shape (`side`), and a vertex of the other, or its edge where it crosses the side plane m of
 *             the face
 *   corner    a vertex of the face, over a face of the other shape with the normal m
 *   crossed   two boxes with the normal of two of their edges, and points along it: a vertex and a face, or two edges
 *   support   a plane and an ellipsoid
 *   frozen    none of these: the points are fixed to their bodies, and the normal turns with shape 0 */
enum { FEATURE_NEAREST, FEATURE_FACE, FEATURE_CORNER, FEATURE_SUPPORT, FEATURE_CROSSED, FEATURE_FROZEN };

/* Parts of a contact's numbers: class; side of the face, or SIDE_OF_NEITHER; edges of the points; normal of a plane;
 * radii; for crossed boxes the edges that have the normal. */
enum {
    FEATURE_KIND,
    FEATURE_SIDE,
    FEATURE_EDGE0,
    FEATURE_EDGE1 = 5,
    FEATURE_PLANE = 8,
    FEATURE_RADIUS0 = 11,
    FEATURE_RADIUS1,
    FEATURE_NORMAL0,
    FEATURE_NORMAL1 = 16
};
enum { SIDE_OF_NEITHER = 2 };

#define FEATURE(part, c) (GRAD(feature) + (c)*SAP_FEATURE_SIZE + (part))

/* Distance from a limit of a core, relative to its size, within which a point is on it. */
#define FEATURE_TIE K(1e-9)

/* The core of one side at its point a. */
typedef struct Core {
    int type;
    Vec3 size;
    Pose X;
    Vec3 axis[3]; /* of the shape, in the world */
    real radius;  /* with the margin */
    Vec3 a;
    real y[3], at[3];                /* a in the shape; 1 or -1 where it is at a limit of a box, else 0 */
    real limits;                     /* number of these */
    Vec3 edge;                       /* the direction of the edge that a is on, or 0 */
    mask on_vertex, on_edge, on_cap; /* on_cap: of a cylinder, inside its rim */
} Core;

KERNEL_FN real real_at(Vec3 v, int k) {
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

/* A cylinder is its caps, and around them its axis with a radius: a moves to the axis where n is across it. */
KERNEL_FN void core_find_cylinder(Core *b, Vec3 n, int side) {
    real tie = FEATURE_TIE * (b->size.x + b->size.y), along = vec3_dot(b->axis[2], n), zero = real_of(0);
    mask across = real_abs(along) < K(1e-7);
    real out = real_select(across, b->size.x, zero);
    b->radius = b->radius + out;
    b->a = vec3_fma(side ? out : -out, n, b->a);
    real height = real_abs(b->y[2]), around = real_sqrt(real_fma(b->y[0], b->y[0], b->y[1] * b->y[1]));
    b->on_edge = across & (height < b->size.y - tie);
    b->edge = vec3_select(b->on_edge, b->axis[2], b->edge);
    b->on_cap = mask_not(across) & (real_abs(along) > K(1.0 - 1e-14)) & (height >= b->size.y - tie) &
                (around < b->size.x - tie);
}

/* The point of a box: at how many of its limits, and the direction of its edge. */
KERNEL_FN void core_find_box(Core *b) {
    real tie = FEATURE_TIE * (b->size.x + b->size.y + b->size.z), zero = real_of(0), one = real_of(1);
    b->limits = zero;
    for (int k = 0; k < 3; k++) {
        mask limit = real_abs(b->y[k]) >= real_at(b->size, k) - tie;
        b->at[k] = real_select(limit, real_select(b->y[k] < K(0.0), -one, one), zero);
        b->limits = b->limits + real_select(limit, one, zero);
    }
    b->on_vertex = b->limits > K(2.5);
    b->on_edge = (b->limits > K(1.5)) & (b->limits < K(2.5));
    for (int k = 0; k < 3; k++)
        b->edge = vec3_select(b->on_edge & (b->at[k] == K(0.0)), b->axis[k], b->edge);
}

STAGE_FN Core core_of(const Context *ctx, int c, int side, Vec3 n) {
    int shape = SLOT_SETUP_INTS(shape, c)[side], link = SLOT_SETUP_INTS(link, c)[side];
    const SapConstants *k = STAGE_CONSTANTS;
    Core b;
    b.type = shape < 0 ? -1 : ctx->args->plan.shape_type[shape];
    b.size = vec3_zero();
    b.edge = vec3_zero();
    b.radius = b.limits = real_of(0);
    b.on_vertex = b.on_edge = b.on_cap = mask_none();
    b.X.p = vec3_zero();
    b.X.q = quat(real_of(0), real_of(0), real_of(0), real_of(1));
    if (shape >= 0) {
        b.X = shape_in_body(ctx, shape);
        b.size = field_get_vec3(k->shape_size, 3 * shape, ctx->pack);
        b.radius = field_get(k->shape_margin, shape, ctx->pack);
    }
    if (link >= 0)
        b.X = pose_mul(body_pose(ctx, link), b.X);
    if (b.type == SAP_SHAPE_SPHERE || b.type == SAP_SHAPE_CAPSULE)
        b.radius = b.radius + b.size.x;
    Mat3 R = quat_matrix(b.X.q);
    b.axis[0] = R.x;
    b.axis[1] = R.y;
    b.axis[2] = R.z;
    Vec3 x = vec3_load(side ? SLOT_SETUP(x1, c) : SLOT_SETUP(x0, c));
    b.a = vec3_fma(side ? b.radius : -b.radius, n, x);
    Vec3 y = vec3_sub(b.a, b.X.p);
    for (int i = 0; i < 3; i++) {
        b.y[i] = vec3_dot(b.axis[i], y);
        b.at[i] = real_of(0);
    }
    if (b.type == SAP_SHAPE_SPHERE)
        b.on_vertex = mask_all();
    if (b.type == SAP_SHAPE_CAPSULE) {
        b.on_edge = real_abs(b.y[2]) < b.size.y - FEATURE_TIE * (b.size.x + b.size.y);
        b.on_vertex = mask_not(b.on_edge);
        b.edge = vec3_select(b.on_edge, b.axis[2], b.edge);
    }
    if (b.type == SAP_SHAPE_CYLINDER)
        core_find_cylinder(&b, n, side);
    if (b.type == SAP_SHAPE_BOX)
        core_find_box(&b);
    return b;
}

/* How far n is from a face normal of a box: the length of its part along the face; *face: its axis. */
KERNEL_FN real core_face(const Core *b, Vec3 n, real *face) {
    real best = real_of(2);
    *face = real_of(0);
    for (int k = 0; k < 3; k++) {
        Vec3 off = vec3_cross(b->axis[k], n);
        real across = vec3_dot(off, off);
        mask better = across < best;
        best = real_select(better, across, best);
        *face = real_select(better, real_of((scalar)k), *face);
    }
    return real_sqrt(best);
}

/* What a contact on a face of box r has, whose normal is axis `face`, with the other core b. */
typedef struct FaceFeature {
    real kind;
    Vec3 edge, plane;
} FaceFeature;

KERNEL_FN FaceFeature face_feature(const Core *r, real face, const Core *b) {
    FaceFeature f;
    real frozen = real_of(FEATURE_FROZEN), sides = real_of(0), other = real_of(0);
    f.edge = f.plane = vec3_zero();
    for (int k = 0; k < 3; k++) {
        mask side = (face != (scalar)k) & (r->at[k] != K(0.0));
        sides = sides + real_select(side, real_of(1), real_of(0));
        f.plane = vec3_select(side & b->on_edge, r->axis[k], f.plane);
        other = other + real_abs(b->at[k]);
    }
    mask clipped = b->on_edge & (sides > K(0.5)), corner = (sides > K(1.5)) & (other > K(0.5)) & (other < K(1.5));
    for (int k = 0; k < 3; k++)
        f.plane = vec3_select(corner & (b->at[k] != K(0.0)), b->axis[k], f.plane);
    f.edge = vec3_select(clipped, b->edge, f.edge);
    f.kind = real_select(corner, real_of(FEATURE_CORNER), frozen);
    f.kind = real_select(b->on_vertex | clipped, real_of(FEATURE_FACE), f.kind);
    f.plane = vec3_select(b->on_vertex, vec3_zero(), f.plane);
    return f;
}

KERNEL_FN void feature_put(const Gradient *g, int c, real kind, int side, Vec3 edge0, Vec3 edge1, Vec3 plane) {
    *FEATURE(FEATURE_KIND, c) = kind;
    *FEATURE(FEATURE_SIDE, c) = real_of((scalar)side);
    vec3_store(FEATURE(FEATURE_EDGE0, c), edge0);
    vec3_store(FEATURE(FEATURE_EDGE1, c), edge1);
    vec3_store(FEATURE(FEATURE_PLANE, c), plane);
    vec3_store(FEATURE(FEATURE_NORMAL0, c), vec3_zero());
    vec3_store(FEATURE(FEATURE_NORMAL1, c), vec3_zero());
}

/* Two cores that are points, segments or boxes, away from faces: nearest points, if the difference is along n and
 * the edges are across it. */
KERNEL_FN void feature_find_nearest(const Gradient *g, int c, const Core *a, const Core *b, Vec3 n) {
    Vec3 e = vec3_sub(b->a, a->a), off = vec3_cross(e, n), zero = vec3_zero();
    real size = a->size.x + a->size.y + a->size.z + b->size.x + b->size.y + b->size.z, tie = K(1e-7) * size;
    mask fine = (a->on_vertex | a->on_edge) & (b->on_vertex | b->on_edge) & (vec3_dot(off, off) <= tie * tie);
    fine = fine & (real_abs(vec3_dot(a->edge, n)) < K(1e-6)) & (real_abs(vec3_dot(b->edge, n)) < K(1e-6));
    feature_put(g, c, real_select(fine, real_of(FEATURE_NEAREST), real_of(FEATURE_FROZEN)), 0,
                vec3_select(fine, a->edge, zero), vec3_select(fine, b->edge, zero), zero);
}

/* Replaces the class in the worlds of `which`: box `side` has the reference face. */
KERNEL_FN void feature_put_face(const Gradient *g, int c, mask which, int side, const FaceFeature *f) {
    Vec3 zero = vec3_zero();
    real *kind = FEATURE(FEATURE_KIND, c), *of = FEATURE(FEATURE_SIDE, c);
    *kind = real_select(which, f->kind, *kind);
    *of = real_select(which, real_of((scalar)side), *of);
    real *own = FEATURE(side ? FEATURE_EDGE1 : FEATURE_EDGE0, c),
         *other = FEATURE(side ? FEATURE_EDGE0 : FEATURE_EDGE1, c);
    vec3_store(own, vec3_select(which, zero, vec3_load(own)));
    vec3_store(other, vec3_select(which, f->edge, vec3_load(other)));
    real *plane = FEATURE(FEATURE_PLANE, c);
    vec3_store(plane, vec3_select(which, f->plane, vec3_load(plane)));
}

/* A cylinder and a shape with vertices and edges: side against edge, or cap against vertex. */
STAGE_FN void feature_find_cylinder(const Gradient *g, int c, const Core *a, const Core *b, Vec3 n) {
    FaceFeature f;
    f.kind = real_of(FEATURE_FACE);
    f.edge = f.plane = vec3_zero();
    feature_find_nearest(g, c, a, b, n);
    feature_put_face(g, c, a->on_cap & b->on_vertex, 0, &f);
    feature_put_face(g, c, b->on_cap & a->on_vertex, 1, &f);
}

KERNEL_FN bool core_is_round(const Core *b) {
    return b->type == SAP_SHAPE_SPHERE || b->type == SAP_SHAPE_CAPSULE;
}

KERNEL_FN bool core_has_edges(const Core *b) {
    return core_is_round(b) || b->type == SAP_SHAPE_BOX || b->type == SAP_SHAPE_CYLINDER;
}

/* The axis of the only limit that a point of a box is at. */
KERNEL_FN Vec3 core_face_axis(const Core *b) {
    Vec3 axis = vec3_zero();
    for (int k = 0; k < 3; k++)
        axis = vec3_select(b->at[k] != K(0.0), b->axis[k], axis);
    return axis;
}

/* Two boxes that have no class yet, whose normal is across an axis of each. */
STAGE_FN void feature_find_crossed(const Gradient *g, int c, const Core *a, const Core *b, Vec3 n) {
    Vec3 zero = vec3_zero(), l0 = zero, l1 = zero;
    real best = real_of(K(1e-18));
    mask found = mask_none();
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            Vec3 L = vec3_cross(a->axis[i], b->axis[j]), off = vec3_cross(L, n);
            real length2 = vec3_dot(L, L);
            real away = vec3_dot(off, off) / real_max(length2, real_of(K(1e-300)));
            mask better = (length2 > K(1e-14)) & (away < best);
            best = real_select(better, away, best);
            l0 = vec3_select(better, a->axis[i], l0);
            l1 = vec3_select(better, b->axis[j], l1);
            found = found | better;
        }
    mask a_inside = (a->limits > K(0.5)) & (a->limits < K(1.5)), b_inside = (b->limits > K(0.5)) & (b->limits < K(1.5));
    mask first = b->on_vertex & a_inside, second = a->on_vertex & b_inside, edges = a->on_edge & b->on_edge;
    real *kind = FEATURE(FEATURE_KIND, c), *side = FEATURE(FEATURE_SIDE, c);
    mask which = found & (first | second | edges) & (*kind == (scalar)FEATURE_FROZEN);
    *kind = real_select(which, real_of(FEATURE_CROSSED), *kind);
    real of = real_select(first, real_of(0), real_select(second, real_of(1), real_of(SIDE_OF_NEITHER)));
    *side = real_select(which, of, *side);
    Vec3 plane = vec3_select(first, core_face_axis(a), core_face_axis(b));
    vec3_store(FEATURE(FEATURE_PLANE, c), vec3_select(which, plane, vec3_load(FEATURE(FEATURE_PLANE, c))));
    vec3_store(FEATURE(FEATURE_EDGE0, c), vec3_select(which, a->edge, vec3_load(FEATURE(FEATURE_EDGE0, c))));
    vec3_store(FEATURE(FEATURE_EDGE1, c), vec3_select(which, b->edge, vec3_load(FEATURE(FEATURE_EDGE1, c))));
    vec3_store(FEATURE(FEATURE_NORMAL0, c), l0);
    vec3_store(FEATURE(FEATURE_NORMAL1, c), l1);
}

/* A round shape or a box, and a box. A normal within 1e-9 of a face's is a face's; of two, the nearer one, and of two
 * parallel faces that of shape 0, which collision prefers. */
STAGE_FN void feature_find_boxes(const Gradient *g, int c, const Core *a, const Core *b, Vec3 n) {
    const scalar along = K(1e-9), same = K(1e-13);
    feature_find_nearest(g, c, a, b, n);
    real face0, face1, off0 = core_face(a, n, &face0), off1 = core_face(b, n, &face1);
    mask on0 = mask_none();
    if (a->type == SAP_SHAPE_BOX) {
        on0 = (off0 < along) & ((off0 <= off1) | (off0 < same));
        FaceFeature f = face_feature(a, face0, b);
        feature_put_face(g, c, on0, 0, &f);
    }
    FaceFeature f = face_feature(b, face1, a);
    feature_put_face(g, c, mask_not(on0) & (off1 < along), 1, &f);
    if (a->type == SAP_SHAPE_BOX)
        feature_find_crossed(g, c, a, b, n);
}

/* The class of contact c in each world. */
STAGE_FN void contact_feature_find(const Context *ctx, const Gradient *g, int c) {
    Vec3 n = vec3_load(SLOT_SETUP(frame, c) + 6), zero = vec3_zero();
    Core a = core_of(ctx, c, 0, n), b = core_of(ctx, c, 1, n);
    *FEATURE(FEATURE_RADIUS0, c) = a.radius;
    *FEATURE(FEATURE_RADIUS1, c) = b.radius;
    feature_put(g, c, real_of(FEATURE_FROZEN), 0, zero, zero, zero);
    if (a.type == SAP_SHAPE_PLANE) {
        if (core_is_round(&b) || b.type == SAP_SHAPE_BOX || b.type == SAP_SHAPE_HULL)
            feature_put(g, c, real_of(FEATURE_FACE), 0, zero, zero, zero);
        if (b.type == SAP_SHAPE_ELLIPSOID)
            feature_put(g, c, real_of(FEATURE_SUPPORT), 0, zero, zero, zero);
    } else if (core_is_round(&a) && core_is_round(&b)) {
        feature_find_nearest(g, c, &a, &b, n);
    } else if ((core_is_round(&a) || a.type == SAP_SHAPE_BOX) && b.type == SAP_SHAPE_BOX) {
        feature_find_boxes(g, c, &a, &b, n);
    } else if (core_has_edges(&a) && core_has_edges(&b)) {
        feature_find_cylinder(g, c, &a, &b, n);
    }
}

/* ---- rates ---- */

/* The rates of the points on the inflated surfaces, of the normal and of the gap. */
typedef struct FeatureRates {
    Vec3 x0, x1, n;
    real phi;
} FeatureRates;

/* The rates of the core points. */
typedef struct CoreRates {
    Vec3 a0, a1, n;
} CoreRates;

/* m.u / m.l, or 0 where l is no edge. */
KERNEL_FN real feature_slide(Vec3 m, Vec3 u, Vec3 l) {
    real across = vec3_dot(m, l);
    mask none = across == K(0.0);
    return real_select(none, real_of(0), vec3_dot(m, u) / real_select(none, real_of(1), across));
}

KERNEL_FN CoreRates core_rates_select(mask m, CoreRates a, CoreRates b) {
    CoreRates out;
    out.a0 = vec3_select(m, a.a0, b.a0);
    out.a1 = vec3_select(m, a.a1, b.a1);
    out.n = vec3_select(m, a.n, b.n);
    return out;
}

/* m0, m1: displacements of the bodies' points at a0 and a1; w0, w1: rotations. */
STAGE_FN CoreRates nearest_rates(Vec3 l0, Vec3 l1, Vec3 e, Vec3 n, Vec3 m0, Vec3 m1, Vec3 w0, Vec3 w1) {
    Vec3 dl0 = vec3_cross(w0, l0), dl1 = vec3_cross(w1, l1), m = vec3_sub(m1, m0);
    real k = vec3_dot(l0, l1), d = vec3_dot(e, n), one = real_of(1), zero = real_of(0);
    real b0 = vec3_dot(dl0, e) + vec3_dot(l0, m), b1 = vec3_dot(dl1, e) + vec3_dot(l1, m);
    real det = one - k * k;
    mask apart = det > K(1e-12);
    det = real_select(apart, det, one);
    CoreRates r;
    r.a0 = vec3_fma(real_select(apart, (b0 - k * b1) / det, b0), l0, m0);
    r.a1 = vec3_fma(real_select(apart, (k * b0 - b1) / det, zero), l1, m1);
    Vec3 rate = vec3_sub(r.a1, r.a0);
    real per = K(1.0) / real_select(d == zero, one, d);
    rate = vec3_scale(real_select(d == zero, zero, per), rate);
    /* of two edges: n is across both */
    Vec3 across = vec3_cross(l0, l1);
    real length = vec3_dot(across, n);
    mask edges = length * length > K(1e-12);
    Vec3 turn = vec3_add(vec3_cross(dl0, l1), vec3_cross(l0, dl1));
    turn = vec3_scale(one / real_select(edges, length, one), turn);
    rate = vec3_select(edges, turn, rate);
    r.n = vec3_fma(-vec3_dot(n, rate), n, rate);
    return r;
}

/* Face of side 0; D0_a1 is the displacement of body 0's point at a1. `corner`: a vertex of the face over the plane m. */
STAGE_FN CoreRates face_rates_0(Vec3 l1, Vec3 plane, mask corner, real s, Vec3 n, Vec3 m0, Vec3 m1, Vec3 D0_a1,
                                Vec3 w0) {
    CoreRates r, v;
    r.n = v.n = vec3_cross(w0, n);
    r.a1 = vec3_fma(feature_slide(plane, vec3_sub(D0_a1, m1), l1), l1, m1);
    real ds = vec3_dot(n, vec3_sub(r.a1, D0_a1));
    r.a0 = vec3_sub(vec3_fma(-ds, n, r.a1), vec3_scale(s, r.n));
    v.a0 = m0;
    ds = feature_slide(plane, vec3_sub(vec3_sub(m1, m0), vec3_scale(s, v.n)), n);
    v.a1 = vec3_add(vec3_fma(ds, n, m0), vec3_scale(s, v.n));
    return core_rates_select(corner, v, r);
}

STAGE_FN CoreRates face_rates_1(Vec3 l0, Vec3 plane, mask corner, real s, Vec3 n, Vec3 m0, Vec3 m1, Vec3 D1_a0,
                                Vec3 w1) {
    CoreRates r, v;
    r.n = v.n = vec3_cross(w1, n);
    r.a0 = vec3_fma(feature_slide(plane, vec3_sub(D1_a0, m0), l0), l0, m0);
    real ds = vec3_dot(n, vec3_sub(D1_a0, r.a0));
    r.a1 = vec3_add(vec3_fma(ds, n, r.a0), vec3_scale(s, r.n));
    v.a1 = m1;
    ds = feature_slide(plane, vec3_sub(vec3_sub(m1, vec3_scale(s, v.n)), m0), n);
    v.a0 = vec3_sub(vec3_fma(-ds, n, m1), vec3_scale(s, v.n));
    return core_rates_select(corner, v, r);
}

/* The rate of the unit normal across the edges l0 and l1, which turn with their bodies. */
KERNEL_FN Vec3 crossed_normal_rate(Vec3 l0, Vec3 l1, Vec3 n, Vec3 w0, Vec3 w1) {
    Vec3 turn = vec3_add(vec3_cross(vec3_cross(w0, l0), l1), vec3_cross(l0, vec3_cross(w1, l1)));
    real length = vec3_dot(vec3_cross(l0, l1), n);
    turn = vec3_scale(K(1.0) / real_select(length == K(0.0), real_of(1), length), turn);
    return vec3_fma(-vec3_dot(n, turn), n, turn);
}

/* Points along a normal with the rate dn: a vertex of side 1 over the plane of side 0 (side = 0), the opposite, or on
 * the edges l0 and l1. */
STAGE_FN CoreRates crossed_rates(real side, Vec3 l0, Vec3 l1, Vec3 plane, real s, Vec3 n, Vec3 dn, Vec3 m0, Vec3 m1) {
    CoreRates first, second, edges;
    Vec3 turned = vec3_scale(s, dn), apart = vec3_sub(vec3_sub(m1, m0), turned);
    real ds = feature_slide(plane, apart, n);
    first.n = second.n = edges.n = dn;
    first.a1 = m1;
    first.a0 = vec3_sub(vec3_fma(-ds, n, m1), turned);
    second.a0 = m0;
    second.a1 = vec3_add(vec3_fma(ds, n, m0), turned);
    /* l1 beta - l0 alpha - n ds = -apart */
    edges.a0 = vec3_fma(feature_slide(vec3_cross(l1, n), apart, l0), l0, m0);
    edges.a1 = vec3_fma(-feature_slide(vec3_cross(l0, n), apart, l1), l1, m1);
    CoreRates vertex = core_rates_select(side < K(0.5), first, second);
    return core_rates_select(side > K(1.5), edges, vertex);
}

/* Where the lowest point of an ellipsoid slides on it: sigma = D^2 u/sqrt(u' D^2 u), u = -R' n. */
STAGE_FN Vec3 support_slide(const Context *ctx, int c, Vec3 n, Vec3 dn, Vec3 w1) {
    Core b = core_of(ctx, c, 1, n);
    Vec3 turn = vec3_add(dn, vec3_cross(n, w1)), out = vec3_zero();
    real u[3], du[3], s2[3], norm = real_of(0), along = norm;
    for (int k = 0; k < 3; k++) {
        real size = real_at(b.size, k);
        u[k] = -vec3_dot(b.axis[k], n);
        du[k] = -vec3_dot(b.axis[k], turn);
        s2[k] = size * size;
        norm = real_fma(s2[k] * u[k], u[k], norm);
        along = real_fma(s2[k] * u[k], du[k], along);
    }
    real per = K(1.0) / real_sqrt(norm);
    for (int k = 0; k < 3; k++)
        out = vec3_fma(s2[k] * per * (du[k] - u[k] * (along / norm)), b.axis[k], out);
    return out;
}

/* The rates of contact c for the displacement twists D0 and D1 of its bodies about O. */
STAGE_FN FeatureRates feature_rates(const Context *ctx, const Gradient *g, int c, Spatial D0, Spatial D1, Vec3 O) {
    Vec3 n = vec3_load(SLOT_SETUP(frame, c) + 6);
    real r0 = *FEATURE(FEATURE_RADIUS0, c), r1 = *FEATURE(FEATURE_RADIUS1, c), kind = *FEATURE(FEATURE_KIND, c);
    Vec3 a0 = vec3_fma(-r0, n, vec3_load(SLOT_SETUP(x0, c))), a1 = vec3_fma(r1, n, vec3_load(SLOT_SETUP(x1, c)));
    Vec3 e = vec3_sub(a1, a0), y0 = vec3_sub(a0, O), y1 = vec3_sub(a1, O);
    Vec3 m0 = spatial_at(D0, y0), m1 = spatial_at(D1, y1);
    Vec3 l0 = vec3_load(FEATURE(FEATURE_EDGE0, c)), l1 = vec3_load(FEATURE(FEATURE_EDGE1, c));
    Vec3 plane = vec3_load(FEATURE(FEATURE_PLANE, c));
    real s = vec3_dot(e, n);
    CoreRates r;
    r.a0 = m0;
    r.a1 = m1;
    r.n = vec3_cross(D0.ang, n);
    mask face = (kind == (scalar)FEATURE_FACE) | (kind == (scalar)FEATURE_CORNER),
         corner = kind == (scalar)FEATURE_CORNER;
    mask first = *FEATURE(FEATURE_SIDE, c) < K(0.5), nearest = kind == (scalar)FEATURE_NEAREST;
    mask support = kind == (scalar)FEATURE_SUPPORT;
    if (mask_any(nearest))
        r = core_rates_select(nearest, nearest_rates(l0, l1, e, n, m0, m1, D0.ang, D1.ang), r);
    if (mask_any(face & first))
        r = core_rates_select(face & first, face_rates_0(l1, plane, corner, s, n, m0, m1, spatial_at(D0, y1), D0.ang),
                              r);
    if (mask_any(face & mask_not(first)))
        r = core_rates_select(face & mask_not(first),
                              face_rates_1(l0, plane, corner, s, n, m0, m1, spatial_at(D1, y0), D1.ang), r);
    mask crossed = kind == (scalar)FEATURE_CROSSED;
    if (mask_any(crossed)) {
        Vec3 dn = crossed_normal_rate(vec3_load(FEATURE(FEATURE_NORMAL0, c)), vec3_load(FEATURE(FEATURE_NORMAL1, c)), n,
                                      D0.ang, D1.ang);
        CoreRates f = crossed_rates(*FEATURE(FEATURE_SIDE, c), l0, l1, plane, s, n, dn, m0, m1);
        r = core_rates_select(crossed, f, r);
    }
    if (mask_any(support)) {
        Vec3 slide = support_slide(ctx, c, n, r.n, D1.ang), lowered = vec3_add(m1, slide);
        CoreRates f = face_rates_0(l1, plane, mask_none(), s, n, m0, lowered, spatial_at(D0, y1), D0.ang);
        r = core_rates_select(support, f, r);
    }
    FeatureRates out;
    out.n = r.n;
    out.x0 = vec3_fma(r0, r.n, r.a0);
    out.x1 = vec3_fma(-r1, r.n, r.a1);
    out.phi = vec3_dot(n, vec3_sub(r.a1, r.a0)) + vec3_dot(e, r.n);
    return out;
}
