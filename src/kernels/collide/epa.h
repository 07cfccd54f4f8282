/* Penetration depth of two overlapping cores: the distance from the origin to the boundary of their difference a - b
 * (expanding polytope algorithm).
 *
 * A polytope of support points that contains the origin grows. The support point w along the normal n of the face
 * nearest to the origin bounds the depth,
 *   n.x_face <= depth <= n.w
 * and replaces the faces that it sees by a fan over their horizon, until the two bounds meet. For polytopes this ends
 * after finitely many steps with the exact depth. On curved shapes the bounds converge by a constant factor per few
 * steps; if the polytope is full, the best face is the answer (convex_polish.h refines it).
 *
 * A difference without volume (two crossing axes, a point on an axis, two points) has depth 0 along a normal to it. */

#undef EPA_GAP
#undef EPA_FLAT
#undef EPA_BIG
#if SAP_PRECISION == 32
#define EPA_GAP  2e-6 /* distance of bounds that meet, relative to the scale */
#define EPA_FLAT 1e-5 /* extents below are rounding, relative to the scale */
#define EPA_BIG  1e30 /* larger than any distance */
#else
#define EPA_GAP  1e-12
#define EPA_FLAT 1e-11
#define EPA_BIG  1e300
#endif

enum { EPA_VERTICES = 96, EPA_FACES = 2 * EPA_VERTICES, EPA_EDGES = 128 };

typedef struct EpaFace {
    short v[3]; /* vertices, counter-clockwise seen from outside */
    Vec3 n;     /* outward unit normal; 0 where the face has no area */
    real d;     /* n.x on the face; EPA_BIG where it has no area */
} EpaFace;

typedef struct Epa {
    CoreVertex at[EPA_VERTICES];
    EpaFace face[EPA_FACES];
    int num_vertices, num_faces;
    int num_edges;
    short edge[EPA_EDGES][2]; /* the horizon */
} Epa;

/* Its place in the workspace. */
enum { EPA_AT = 0, EPA_END = WORKSPACE_END(EPA_AT, Epa) };

/* Adds a face; false if there is no space. The polytope only grows, so a face nearer to the origin than
 * `lowest`, the nearest face before, was folded over by rounding on a flat side. It is treated like a face
 * without area and ignored. */
STAGE_FN bool epa_add_face(Epa *e, int i, int j, int k, real lowest) {
    if (e->num_faces == EPA_FACES)
        return false;
    EpaFace *f = &e->face[e->num_faces++];
    f->v[0] = (short)i;
    f->v[1] = (short)j;
    f->v[2] = (short)k;
    Vec3 a = vec3_sub(e->at[j].w, e->at[i].w), b = vec3_sub(e->at[k].w, e->at[i].w);
    Vec3 n = vec3_cross(a, b);
    real area2 = vec3_dot(n, n);
    f->n = vec3_scale(K(1.0) / real_sqrt(area2), n);
    f->d = vec3_dot(f->n, e->at[i].w);
    if (!(area2 > K(GJK_FLAT) * vec3_dot(a, a) * vec3_dot(b, b)) || !(f->d >= lowest)) {
        f->n = vec3_zero();
        f->d = K(EPA_BIG);
    }
    return true;
}

/* Adds an edge of a removed face to the horizon, or removes it if another removed face shares it. False if there
 * is no space. */
KERNEL_FN bool epa_toggle_edge(Epa *e, int i, int j) {
    for (int k = 0; k < e->num_edges; k++) {
        if (e->edge[k][0] == j && e->edge[k][1] == i) {
            e->num_edges--;
            e->edge[k][0] = e->edge[e->num_edges][0];
            e->edge[k][1] = e->edge[e->num_edges][1];
            return true;
        }
    }
    if (e->num_edges == EPA_EDGES)
        return false;
    e->edge[e->num_edges][0] = (short)i;
    e->edge[e->num_edges++][1] = (short)j;
    return true;
}

/* Replaces the faces that vertex v sees, always including `best`; false if there is no space. */
STAGE_FN bool epa_expand(Epa *e, int v, int best, real slack) {
    Vec3 w = e->at[v].w;
    real lowest = e->face[best].d - K(10.0) * slack;
    e->num_edges = 0;
    int kept = 0;
    for (int f = 0; f < e->num_faces; f++) {
        EpaFace face = e->face[f];
        if (f != best && !(vec3_dot(face.n, w) > face.d - slack)) {
            e->face[kept++] = face;
            continue;
        }
        for (int k = 0; k < 3; k++)
            if (!epa_toggle_edge(e, face.v[k], face.v[k == 2 ? 0 : k + 1]))
                return false;
    }
    e->num_faces = kept;
    for (int k = 0; k < e->num_edges; k++)
        if (!epa_add_face(e, e->edge[k][0], e->edge[k][1], v, lowest))
            return false;
    return true;
}

KERNEL_FN int epa_nearest_face(const Epa *e) {
    int best = 0;
    for (int f = 1; f < e->num_faces; f++)
        if (e->face[f].d < e->face[best].d)
            best = f;
    return best;
}

/* Finds a support point along u or else -u that differs from `from` in that direction; false if there is none. */
KERNEL_FN bool epa_seek(const CorePair *pair, Vec3 from, Vec3 u, CoreVertex *found) {
    for (int side = 0; side < 2; side++) {
        *found = core_support(pair, u);
        if (vec3_dot(u, vec3_sub(found->w, from)) > K(EPA_FLAT) * pair->scale)
            return true;
        u = vec3_scale(K(-1.0), u);
    }
    return false;
}

/* A unit normal of the simplex: of its plane, or a vector orthogonal to its line; +z for a point. */
KERNEL_FN Vec3 simplex_normal(const Simplex *s) {
    if (s->count < 2)
        return vec3(K(0.0), K(0.0), K(1.0));
    Vec3 e = vec3_sub(s->at[1].w, s->at[0].w);
    if (s->count == 2)
        return vec3_orthogonal(vec3_direction(e));
    return vec3_direction(vec3_cross(e, vec3_sub(s->at[2].w, s->at[0].w)));
}

/* The direction of an attempt to find the next vertex of a simplex: point: three axes; line: two normals;
 * triangle: its normal. */
KERNEL_FN Vec3 simplex_outward(const Simplex *s, int attempt) {
    if (s->count == 1)
        return vec3(attempt == 0 ? K(1.0) : K(0.0), attempt == 1 ? K(1.0) : K(0.0), attempt == 2 ? K(1.0) : K(0.0));
    Vec3 n = simplex_normal(s);
    if (s->count == 2 && attempt == 1)
        n = vec3_direction(vec3_cross(n, vec3_sub(s->at[1].w, s->at[0].w)));
    return n;
}

/* Reduces a tetrahedron without volume to the face nearest to the origin. */
KERNEL_FN void simplex_drop_flat(Simplex *s, real flat) {
    if (s->count < 4)
        return;
    Vec3 a = s->at[0].w;
    Vec3 n = vec3_cross(vec3_sub(s->at[1].w, a), vec3_sub(s->at[2].w, a));
    if (real_abs(vec3_dot(n, vec3_sub(s->at[3].w, a))) > flat * vec3_norm(n))
        return;
    Nearest nearest = nearest_of_simplex(s);
    simplex_reduce(s, &nearest);
}

/* Completes the simplex to a tetrahedron; false if the difference has no volume, in which case the simplex spans it. */
STAGE_FN bool simplex_complete(const CorePair *pair, Simplex *s) {
    simplex_drop_flat(s, K(EPA_FLAT) * pair->scale);
    while (s->count < 4) {
        bool found = false;
        for (int attempt = 0; attempt < 4 - s->count && !found; attempt++)
            found = epa_seek(pair, s->at[0].w, simplex_outward(s, attempt), &s->at[s->count]);
        if (!found)
            return false;
        s->weight[s->count++] = K(0.0);
    }
    return true;
}

/* Starts the polytope with a tetrahedron. */
STAGE_FN void epa_begin(Epa *e, const Simplex *s) {
    Vec3 a = s->at[0].w;
    real volume = vec3_dot(vec3_sub(s->at[3].w, a), vec3_cross(vec3_sub(s->at[1].w, a), vec3_sub(s->at[2].w, a)));
    int j = volume > K(0.0) ? 2 : 1, k = 3 - j; /* vertex 3 is behind the triangle 0 j k */
    for (int i = 0; i < 4; i++)
        e->at[i] = s->at[i];
    e->num_vertices = 4;
    e->num_faces = 0;
    epa_add_face(e, 0, j, k, K(-EPA_BIG));
    epa_add_face(e, 0, k, 3, K(-EPA_BIG));
    epa_add_face(e, k, j, 3, K(-EPA_BIG));
    epa_add_face(e, j, 0, 3, K(-EPA_BIG));
}

/* The squared distance of a face from the origin; `s` becomes the vertices of the nearest point and their weights. */
KERNEL_FN real epa_face_nearest(const Epa *e, const EpaFace *face, Simplex *s) {
    s->count = 3;
    for (int k = 0; k < 3; k++)
        s->at[k] = e->at[face->v[k]];
    Nearest nearest = nearest_of_triangle(s, 0, 1, 2);
    simplex_reduce(s, &nearest);
    return nearest.norm2;
}

/* The point of core a that belongs to the nearest point of the face `best`. A flat side of the difference consists of
 * several faces with the same distance; the one that contains the projection of the origin is used. */
STAGE_FN Vec3 epa_point(const Epa *e, int best, real gap) {
    Simplex s, other;
    real least = epa_face_nearest(e, &e->face[best], &s);
    for (int f = 0; f < e->num_faces; f++) {
        if (f == best || !(e->face[f].d <= e->face[best].d + gap))
            continue;
        real norm2 = epa_face_nearest(e, &e->face[f], &other);
        if (norm2 < least) {
            least = norm2;
            s = other;
        }
    }
    return simplex_point(&s);
}

/* From the simplex of gjk: the unit normal n from a to b with the least depth, the point p of core a, and
 * d = -depth. */
STAGE_FN void epa(const CorePair *pair, Simplex *s, Vec3 *n, Vec3 *p, real *d) {
    /* a difference without volume: depth 0 along its normal, on the side of b */
    if (!simplex_complete(pair, s)) {
        *n = simplex_normal(s);
        if (vec3_dot(*n, vec3_sub(pair->b->p, pair->a->p)) < K(0.0))
            *n = vec3_scale(K(-1.0), *n);
        *p = simplex_point(s);
        *d = K(0.0);
        return;
    }
    WORKSPACE(Epa, e, pair->b->work, EPA_AT);
    epa_begin(e, s);
    real gap = K(EPA_GAP) * pair->scale, upper = K(EPA_BIG);
    for (;;) {
        /* bounds of the depth from the nearest face */
        int best = epa_nearest_face(e);
        Vec3 out = e->face[best].n;
        CoreVertex next = core_support(pair, out);
        real bound = vec3_dot(out, next.w);
        bool met = !(bound > e->face[best].d + gap);
        /* keep the face with the smallest upper bound */
        if (bound < upper && e->face[best].d < K(EPA_BIG)) {
            upper = bound;
            *n = out;
            *d = -bound;
            *p = epa_point(e, best, gap);
        }
        if (met || e->num_vertices == EPA_VERTICES)
            return;
        /* grow the polytope by the support point */
        e->at[e->num_vertices] = next;
        if (!epa_expand(e, e->num_vertices++, best, K(0.5) * gap))
            return;
    }
}
