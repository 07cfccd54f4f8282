/* Box and box. 15 directions can separate two boxes: the face normals, and the cross products of one edge of each. The
 * best direction has the largest separation, which is the least penetration if the boxes overlap:
 *
 *   sep(L) = |p.L| - sum a_k |L.e_k| - sum b_k |L.R_k|,   |L| = 1,   e, R the axes of boxes 0 and 1, p the centre of 1
 *
 * A face direction gives the manifold of that face (the reference) and the most opposed face of the other box (the
 * incident face): the corners of their common polygon, projected along the normal. An edge direction gives one point,
 * where the edges cross. */

/* Two boxes that rest on each other are not exactly parallel: the solve and the compliance of their contacts tilt them.
 * An edge direction next to the normals of both faces is then a little better than the faces, and gives one point
 * instead of four. It must be better by this fraction of the sizes, so the depth of a face exceeds the least by at most
 * that. */
#define BOX_EDGE_TIE 1e-5

/* Cosines of the angles between a direction and the face normals. */
#define BOX_PARALLEL 0.99995 /* 0.01 rad: the faces are parallel but for what the solve leaves; BOX_EDGE_TIE applies */
#define BOX_ALONG    0.97    /* 14 degrees: the faces are nearly in contact, and a single point lets the boxes rock */

typedef struct BoxAxis {
    real separation;
    Vec3 n;  /* unit, frame of shape 0, from shape 0 to shape 1 */
    real of; /* 0: face of shape 0, 1: face of shape 1, 2: edges */
    real i;  /* axis of the box with the face, or of shape 0's edge */
    real j;  /* axis of shape 1's edge */
} BoxAxis;

/* Replaces the best direction by the unit vector L where its separation is larger by more than `tie`. */
KERNEL_FN void box_axis_offer(BoxAxis *best, Vec3 L, real separation, mask allowed, real tie, int of, int i, int j) {
    mask better = allowed & (separation > best->separation + tie);
    best->separation = real_select(better, separation, best->separation);
    best->n = vec3_select(better, L, best->n);
    best->of = real_select(better, real_of((scalar)of), best->of);
    best->i = real_select(better, real_of((scalar)i), best->i);
    best->j = real_select(better, real_of((scalar)j), best->j);
}

/* Worlds in which each box has a face normal whose angle to n has at least this cosine. */
KERNEL_FN mask box_faces_look_along(const Mat3 *R, Vec3 n, scalar cosine) {
    Vec3 m = mat3_mul_transposed(*R, n);
    real most_0 = real_max(real_abs(n.x), real_max(real_abs(n.y), real_abs(n.z)));
    real most_1 = real_max(real_abs(m.x), real_max(real_abs(m.y), real_abs(m.z)));
    return real_min(most_0, most_1) > cosine;
}

/* The best of the 15 directions. The earlier direction wins a tie, and a face wins over edges that look along parallel
 * faces and are better by less than BOX_EDGE_TIE. */
STAGE_FN BoxAxis box_axis(Vec3 a, Vec3 b, const Mat3 *R, Vec3 p) {
    Vec3 q = mat3_mul_transposed(*R, p);
    real sizes = a.x + a.y + a.z + b.x + b.y + b.z, tie = K(NARROW_TIE) * sizes;
    Mat3 T; /* R': columns are the axes of box 0 in the frame of box 1 */
    T.x = vec3(R->x.x, R->y.x, R->z.x);
    T.y = vec3(R->x.y, R->y.y, R->z.y);
    T.z = vec3(R->x.z, R->y.z, R->z.z);
    /* faces of box 0 */
    BoxAxis best;
    best.n = vec3_unit_z();
    best.of = best.j = real_of(0);
    best.i = real_of(2);
    best.separation = real_abs(p.z) - a.z - box_radius(b, T.z);
    for (int i = 1; i >= 0; i--) {
        Vec3 e = vec3(real_of(i == 0), real_of(i == 1), real_of(0));
        real separation = real_abs(vec3_component(p, i)) - vec3_component(a, i) - box_radius(b, mat3_column(&T, i));
        box_axis_offer(&best, e, separation, mask_all(), tie, 0, i, 0);
    }
    /* faces of box 1 */
    for (int i = 2; i >= 0; i--) {
        Vec3 axis = mat3_column(R, i);
        real separation = real_abs(vec3_component(q, i)) - vec3_component(b, i) - box_radius(a, axis);
        box_axis_offer(&best, axis, separation, mask_all(), tie, 1, i, 0);
    }
    /* edges: L = e_i x R_j */
    BoxAxis edge = best;
    for (int i = 0; i < 3; i++) {
        Vec3 e = vec3(real_of(i == 0), real_of(i == 1), real_of(i == 2));
        for (int j = 0; j < 3; j++) {
            Vec3 L = vec3_cross(e, mat3_column(R, j));
            real length = vec3_length(L);
            /* The division enlarges the rounding error of L; skipping L costs at most its length. Both errors are equal
             * at length sqrt(epsilon). */
            mask allowed = length * length > K(NARROW_EPSILON);
            L = vec3_scale(K(1.0) / length, L);
            Vec3 M = mat3_mul_transposed(*R, L);
            real separation = real_abs(vec3_dot(L, p)) - box_radius(a, L) - box_radius(b, M);
            box_axis_offer(&edge, L, separation, allowed, tie, 2, i, j);
        }
    }
    mask tied = box_faces_look_along(R, edge.n, K(BOX_PARALLEL)) &
                (edge.separation <= best.separation + K(BOX_EDGE_TIE) * sizes);
    best.separation = real_select(tied, best.separation, edge.separation);
    best.n = vec3_select(tied, best.n, edge.n);
    best.of = real_select(tied, best.of, edge.of);
    best.i = real_select(tied, best.i, edge.i);
    best.j = real_select(tied, best.j, edge.j);
    /* from box 0 to box 1 */
    best.n = vec3_scale(real_sign(vec3_dot(best.n, p)), best.n);
    return best;
}

/* ---- edge and edge ---- */

/* The contact of the two edges that face each other along n: the nearest points of their lines. *inside: both points
 * are on the edges. */
STAGE_FN ContactPoint box_edges(Vec3 a, Vec3 b, const Mat3 *R, Vec3 p, const BoxAxis *best, mask *inside) {
    Vec3 u = vec3_zero(), v = vec3_zero(), x0 = vec3_zero(), x1 = p;
    Vec3 m = mat3_mul_transposed(*R, best->n);
    real half_u = real_of(0), half_v = real_of(0), zero = real_of(0);
    /* the edges: directions u, v, half lengths, midpoints x0, x1 */
    for (int k = 0; k < 3; k++) {
        mask along = best->i == (scalar)k;
        Vec3 e = vec3(real_of(k == 0), real_of(k == 1), real_of(k == 2));
        real half = vec3_component(a, k);
        u = vec3_select(along, e, u);
        half_u = real_select(along, half, half_u);
        x0 = vec3_fma(real_select(along, zero, real_sign(vec3_component(best->n, k)) * half), e, x0);
        along = best->j == (scalar)k;
        half = vec3_component(b, k);
        v = vec3_select(along, mat3_column(R, k), v);
        half_v = real_select(along, half, half_v);
        x1 = vec3_fma(real_select(along, zero, -(real_sign(vec3_component(m, k)) * half)), mat3_column(R, k), x1);
    }
    /* nearest points x0 + s u and x1 + t v: their difference is orthogonal to u and v */
    Vec3 w = vec3_sub(x1, x0), c = vec3_cross(u, v);
    real D = vec3_dot(c, c);
    D = real_select(D > K(0.0), D, real_of(1)); /* lanes with a face direction may have parallel edges */
    real uv = vec3_dot(u, v), uw = vec3_dot(u, w), vw = vec3_dot(v, w);
    real s = (uw - uv * vw) / D, t = (uv * uw - vw) / D;
    real tie = K(NARROW_TIE) * (a.x + a.y + a.z + b.x + b.y + b.z);
    *inside = real_max(real_abs(s) - half_u, real_abs(t) - half_v) <= tie;
    ContactPoint point;
    /* clamped: rounding can move the nearest point of almost parallel edges beyond their ends */
    point.p = vec3_fma(real_clamp(s, -half_u, half_u), u, x0);
    point.n = best->n;
    point.d = best->separation;
    point.valid = best->of == K(2.0);
    return point;
}

/* ---- face and face ---- */

/* A face: centre, outward unit normal, directions and half lengths of its edges. */
typedef struct BoxFace {
    Vec3 centre, n, u, v;
    real half_u, half_v;
} BoxFace;

/* The face of a box (centre p, axes R, half extents size) on axis x, y or else z, on the side of `to`. */
KERNEL_FN BoxFace box_face(Vec3 p, const Mat3 *R, Vec3 size, mask use_x, mask use_y, Vec3 to) {
    BoxFace f;
    f.n = vec3_select(use_x, R->x, vec3_select(use_y, R->y, R->z));
    f.u = vec3_select(use_x, R->y, R->x);
    f.v = vec3_select(use_x | use_y, R->z, R->y);
    f.half_u = real_select(use_x, size.y, size.x);
    f.half_v = real_select(use_x | use_y, size.z, size.y);
    f.n = vec3_scale(real_sign(vec3_dot(f.n, to)), f.n);
    f.centre = vec3_fma(real_select(use_x, size.x, real_select(use_y, size.y, size.z)), f.n, p);
    return f;
}

/* The face whose normal is closest to `to`. */
KERNEL_FN BoxFace box_face_towards(Vec3 p, const Mat3 *R, Vec3 size, Vec3 to) {
    Vec3 m = mat3_mul_transposed(*R, to);
    real ax = real_abs(m.x), ay = real_abs(m.y), az = real_abs(m.z);
    mask use_x = (ax > ay) & (ax > az);
    return box_face(p, R, size, use_x, mask_not(use_x) & (ay > az), to);
}

/* The incident face in the coordinates (u, v, n) of the reference face: centre q, half edges e and f. z is the height
 * above the reference face. */
typedef struct Incident {
    Vec3 q, e, f;
    real half_u, half_v; /* half lengths of the reference face */
    real tie;
    mask faces; /* worlds with a face direction */
} Incident;

KERNEL_FN Vec3 face_coordinates(const BoxFace *r, Vec3 v) {
    return vec3(vec3_dot(v, r->u), vec3_dot(v, r->v), vec3_dot(v, r->n));
}

enum { BOX_CANDIDATES = 24 };

/* The candidates that some world has. */
typedef struct BoxCandidates {
    FlatPoint at[BOX_CANDIDATES];
    int count;
} BoxCandidates;

/* Adds a candidate at y, in face coordinates, unless no world has it. */
KERNEL_FN void box_candidate(BoxCandidates *c, const Incident *k, Vec3 y, mask valid) {
    valid = valid & k->faces;
    if (!mask_any(valid))
        return;
    FlatPoint *point = &c->at[c->count++];
    point->x = y.x;
    point->y = y.y;
    point->d = y.z;
    point->index = real_of(0);
    point->valid = valid;
}

/* The four intersections of the edge base + tau along, |tau| <= 1, with the lines x = +-half_u and y = +-half_v. */
KERNEL_FN void box_crossings(const Incident *k, Vec3 base, Vec3 along, BoxCandidates *c) {
    for (int i = 0; i < 4; i++) {
        real sign = real_of(i & 1 ? K(1.0) : K(-1.0));
        real tau = i < 2 ? (sign * k->half_u - base.x) / along.x : (sign * k->half_v - base.y) / along.y;
        mask on = real_abs(tau) <= K(1.0);
        Vec3 y = vec3_fma(real_select(on, tau, real_of(0)), along, base);
        real across = i < 2 ? real_abs(y.y) - k->half_v : real_abs(y.x) - k->half_u;
        box_candidate(c, k, y, on & (across <= k->tie));
    }
}

/* The up to 24 corners of the common polygon: corners of the incident face over the reference face, corners of the
 * reference face under the incident face, and intersections of their edges. */
STAGE_FN void box_candidates(const Incident *k, BoxCandidates *c) {
    real det = k->e.x * k->f.y - k->e.y * k->f.x;
    for (int i = 0; i < 4; i++) {
        real s = real_of(i & 1 ? K(1.0) : K(-1.0)), t = real_of(i & 2 ? K(1.0) : K(-1.0));
        Vec3 y = vec3_fma(t, k->f, vec3_fma(s, k->e, k->q));
        mask over = real_max(real_abs(y.x) - k->half_u, real_abs(y.y) - k->half_v) <= k->tie;
        box_candidate(c, k, y, over);

        /* (x, y) of the corner = q + alpha e + beta f */
        real x = s * k->half_u - k->q.x, z = t * k->half_v - k->q.y;
        real alpha = (x * k->f.y - z * k->f.x) / det, beta = (k->e.x * z - k->e.y * x) / det;
        mask under = real_max(real_abs(alpha), real_abs(beta)) <= K(1.0);
        real height = real_fma(beta, k->f.z, real_fma(alpha, k->e.z, k->q.z));
        box_candidate(c, k, vec3(s * k->half_u, t * k->half_v, height), under);
    }
    box_crossings(k, vec3_sub(k->q, k->f), k->e, c);
    box_crossings(k, vec3_add(k->q, k->f), k->e, c);
    box_crossings(k, vec3_sub(k->q, k->e), k->f, c);
    box_crossings(k, vec3_add(k->q, k->e), k->f, c);
}

/* Converts a point from face coordinates to frame 0. The incident point is at height d; the other is below it on the
 * reference face. */
KERNEL_FN Vec3 box_place(const FlatPoint *y, const BoxFace *r, mask of_0) {
    Vec3 on_face = vec3_fma(y->y, r->v, vec3_fma(y->x, r->u, r->centre));
    return vec3_select(of_0, on_face, vec3_fma(y->d, r->n, on_face));
}

/* The manifold of a face direction; its points are invalid in worlds with an edge direction. */
STAGE_FN void box_faces(Vec3 a, Vec3 b, const Mat3 *R, Vec3 p, const BoxAxis *best, int max_contacts, const Measure *by,
                        Manifold *m) {
    Mat3 E = mat3_identity();
    /* axes of the boxes with the reference face, Rr, and with the incident face, Ri */
    mask of_0 = best->of == K(0.0);
    Mat3 Rr, Ri;
    Rr.x = vec3_select(of_0, E.x, R->x);
    Rr.y = vec3_select(of_0, E.y, R->y);
    Rr.z = vec3_select(of_0, E.z, R->z);
    Ri.x = vec3_select(of_0, R->x, E.x);
    Ri.y = vec3_select(of_0, R->y, E.y);
    Ri.z = vec3_select(of_0, R->z, E.z);
    /* reference face r and incident face f */
    Vec3 zero = vec3_zero(), against = vec3_scale(real_of(K(-1.0)), best->n);
    Vec3 outward = vec3_select(of_0, best->n, against), inward = vec3_select(of_0, against, best->n);
    BoxFace r = box_face(vec3_select(of_0, zero, p), &Rr, vec3_select(of_0, a, b), best->i == K(0.0), best->i == K(1.0),
                         outward);
    BoxFace f = box_face_towards(vec3_select(of_0, p, zero), &Ri, vec3_select(of_0, b, a), inward);
    /* f in the coordinates of r */
    Incident k;
    k.q = face_coordinates(&r, vec3_sub(f.centre, r.centre));
    k.e = vec3_scale(f.half_u, face_coordinates(&r, f.u));
    k.f = vec3_scale(f.half_v, face_coordinates(&r, f.v));
    k.half_u = r.half_u;
    k.half_v = r.half_v;
    k.tie = by->tie;
    k.faces = best->of < K(2.0);
    /* corners of the common polygon, reduced, then placed in frame 0 */
    BoxCandidates c;
    FlatPoint chosen[MANIFOLD_MAX];
    c.count = 0;
    box_candidates(&k, &c);
    m->count = c.count < max_contacts ? c.count : max_contacts;
    if (c.count > 0)
        reduce_flat(c.at, c.count, m->count, by, chosen);
    for (int i = 0; i < m->count; i++)
        manifold_set(m, i, box_place(&chosen[i], &r, of_0), best->n, chosen[i].d, chosen[i].valid);
}

/* *redo: worlds that need the general method. The boxes are apart and the nearest pair of points is not in the
 * manifold: it is beside the face or beyond the ends of the edges, and its distance exceeds the separation. Or an
 * edge direction with nearly aligned faces was best. In all other worlds d of the deepest point is the
 * separation, and exact. */
STAGE_FN void narrow_box_box(const Context *ctx, const Solid *a, const Solid *b, Pose X, Manifold *m, int max_contacts,
                             mask *redo) {
    (void)ctx;
    Mat3 R = quat_matrix(X.q);
    BoxAxis best = box_axis(a->size, b->size, &R, X.p);
    real size_a = a->size.x + a->size.y + a->size.z, size_b = b->size.x + b->size.y + b->size.z;
    Measure by;
    by.size = real_min(size_a, size_b);
    by.tie = K(NARROW_TIE) * (size_a + size_b);
    by.turns = false;
    box_faces(a->size, b->size, &R, X.p, &best, max_contacts, &by, m);
    if (m->count == 0) /* all worlds have an edge direction, or a face without an opposite point */
        manifold_extend(m, 1);

    mask exact = m->at[0].valid & (m->at[0].d <= best.separation + K(2.0) * by.tie);
    mask inside, edges = best.of == K(2.0);
    ContactPoint point = box_edges(a->size, b->size, &R, X.p, &best, &inside);
    m->at[0].p = vec3_select(edges, point.p, m->at[0].p);
    m->at[0].n = best.n;
    m->at[0].d = real_select(edges, point.d, m->at[0].d);
    m->at[0].valid = m->at[0].valid | edges;
    exact = (edges & inside) | (mask_not(edges) & exact);
    *redo = ((best.separation > K(0.0)) & mask_not(exact)) | (edges & box_faces_look_along(&R, best.n, K(BOX_ALONG)));
}
