/* The narrow phase for any two convex shapes, one world at a time: distance or depth of the cores (gjk.h, epa.h,
 * convex_polish.h), then the radii and the manifold (convex_manifold.h). docs/collision.md.
 *
 * The signed distance is the largest separation over all directions,
 *   d = max_n  -(s_0(n) - s_1(-n)).n
 * A face normal with the same separation as the n that the search found is therefore also a solution. It replaces n,
 * because it has no rounding error of the search. */

#undef CONVEX_SNAP
#if SAP_PRECISION == 32
#define CONVEX_SNAP 3e-6 /* distances that differ by less, relative to the scale, are equal */
#else
#define CONVEX_SNAP 1e-10
#endif

KERNEL_FN real convex_radius(int type, Vec3 size) {
    return type == SAP_SHAPE_SPHERE || type == SAP_SHAPE_CAPSULE ? size.x : K(0.0);
}

KERNEL_FN void convex_hull_load(Convex *c, const SapStepArgs *args, int mesh) {
    const SapHull *hull = &args->plan.hull[mesh];
    const SapConstants *constants = &args->constants[SAP_PRECISION == 64];
    c->num_vertices = hull->num_vertices;
    c->vertex = (const scalar *)constants->hull_vertex.data + 3 * hull->vertex;
    c->num_faces = hull->num_faces;
    c->plane = (const scalar *)constants->hull_plane.data + 4 * hull->face;
    c->face = args->plan.hull_face + hull->face;
    c->corner = args->plan.hull_corner;
    c->num_edges = hull->num_edges;
    c->edge = args->plan.hull_edge + hull->edge;
    c->plan = &args->plan;
    c->hull = hull;
    c->extent = ((const scalar *)constants->hull_extent.data)[mesh];
}

/* Shape `side` of a task at the pose X. */
KERNEL_FN void convex_load(Convex *c, const SapConvexTask *task, int side, Pose X) {
    c->type = task->type[side];
    c->size = vec3((scalar)task->size[side][0], (scalar)task->size[side][1], (scalar)task->size[side][2]);
    c->radius = convex_radius(c->type, c->size);
    c->p = X.p;
    c->R = quat_matrix(X.q);
    c->extent = real_max(c->size.x, real_max(c->size.y, c->size.z));
    c->num_vertices = c->num_faces = 0;
    c->vertex = c->plane = 0;
    c->face = 0;
    c->corner = 0;
    WORKSPACE_PASS(c, task);
    if (c->type == SAP_SHAPE_HULL)
        convex_hull_load(c, task->args, task->mesh[side]);
}

KERNEL_FN CorePair core_pair(const Convex *a, const Convex *b) {
    CorePair pair;
    pair.a = a;
    pair.b = b;
    pair.scale = real_max(a->extent, b->extent);
    return pair;
}

/* Replaces n by the face normal m = sign f->m if m separates the cores equally. */
KERNEL_FN void convex_snap(const CorePair *pair, const Feature *f, real sign, Vec3 *n, real d) {
    if (!feature_is_flat(f))
        return;
    Vec3 m = vec3_scale(sign, f->m);
    if (-vec3_dot(m, core_support(pair, m).w) >= d - K(CONVEX_SNAP) * pair->scale)
        *n = m;
}

/* The distance of two convex shapes: point on a, normal and d; false if d > reach. */
STAGE_FN bool convex_distance(const CorePair *pair, real reach, ContactPoint *out) {
    const Convex *a = pair->a, *b = pair->b;
    Simplex s;
    Vec3 n = vec3_zero(), p = vec3_zero();
    real d = K(0.0), radii = a->radius + b->radius;
    /* distance or depth of the cores: n from a to b, p on the core of a, d */
    int found = gjk(pair, reach + radii, &s, &n, &d);
    if (found == GJK_FAR)
        return false;
    if (found == GJK_OVERLAP) {
        epa(pair, &s, &n, &p, &d);
        /* move p from the chord to the supporting plane of a; the plane of b is then at distance d */
        p = vec3_fma(vec3_dot(n, vec3_sub(support(a, n), p)), n, p);
    } else {
        p = simplex_point(&s);
    }
    polish(pair, &n, &p, &d);
    /* a face normal of a or b in place of n, if it separates equally */
    WORKSPACE(Feature, f, b->work, POLISH_AT);
    feature_facing(f, a, mat3_transpose_mul(a->R, n), true);
    convex_snap(pair, f, K(1.0), &n, d);
    feature_facing(f, b, mat3_transpose_mul(b->R, vec3_scale(K(-1.0), n)), true);
    convex_snap(pair, f, K(-1.0), &n, d);
    /* from the cores to the surfaces */
    out->n = n;
    out->p = vec3_fma(a->radius, n, p);
    out->d = d - radii;
    out->valid = real_finite(out->d + vec3_dot(out->p, out->p)) & real_finite(vec3_dot(n, n));
    return out->valid && out->d <= reach;
}

/* Adds the nearest point, unless a candidate from `first` on is as deep. */
KERNEL_FN void candidates_with_nearest(Candidates *list, int first, const ContactPoint *nearest, real slack,
                                       real reach) {
    for (int i = first; i < list->count; i++)
        if (list->at[i].d <= nearest->d + slack)
            return;
    candidate_add(list, nearest->p, nearest->n, nearest->d, reach);
}

/* Adds the contacts of two convex shapes. */
STAGE_FN void convex_pair(const Convex *a, const Convex *b, real reach, Candidates *list) {
    CorePair pair = core_pair(a, b);
    ContactPoint nearest;
    if (!convex_distance(&pair, reach, &nearest))
        return;
    real slack = K(10.0) * K(CONVEX_SNAP) * pair.scale;
    list->by.size = real_min(a->extent, b->extent);
    list->by.tie = K(2.0) * K(CONVEX_SNAP) * pair.scale;
    manifold_overlay(a, b, nearest.n, reach, slack, list);
    candidates_with_nearest(list, 0, &nearest, slack, reach);
}
