/* Support mapping of the convex shapes, for the narrow phase that processes one world at a time: a real is one number
 * here, and control flow may depend on it.
 *
 * A shape is a core inflated by a radius. The core of a sphere is its centre, of a capsule its axis; every other
 * shape is its own core with radius 0. The support of a core along u is a farthest point of the core along u:
 *   s(u) = argmax_x u.x
 * In a tie, box and capsule take the positive side, hulls the first vertex, and the cap of a cylinder its centre.
 *
 * Hulls have many vertices, faces and edges. A table of directions (SapDirections) gives the few that can be the
 * farthest along u; a search through all of them gives the same result. */

/* A convex shape placed in the frame of shape 0. A triangle of a height field is a hull of three vertices
 * and one face. */
typedef struct Convex {
    int type;                /* SapShapeType */
    Vec3 size;               /* shape_scale */
    real radius;             /* around the core */
    real extent;             /* upper bound of the coordinates of the core */
    Vec3 p;                  /* position in the frame of shape 0 */
    Mat3 R;                  /* rotation */
    int num_vertices;        /* hulls */
    const scalar *vertex;    /* [num_vertices][3] */
    int num_faces;           /* hulls */
    const scalar *plane;     /* [num_faces][4] */
    const SapHullFace *face; /* [num_faces] */
    const int *corner;       /* corners of all faces */
    int num_edges;           /* hulls */
    const SapHullEdge *edge; /* [num_edges] */
    const SapPlan *plan;     /* hulls: the cells and points of the tables */
    const SapHull *hull;     /* hulls: the tables of directions; NULL = a triangle, which has none */
    void *work;              /* of the task, on a GPU; not of a triangle */
} Convex;

/* R' v */
KERNEL_FN Vec3 mat3_transpose_mul(Mat3 R, Vec3 v) {
    return vec3(vec3_dot(R.x, v), vec3_dot(R.y, v), vec3_dot(R.z, v));
}

KERNEL_FN real vec3_norm(Vec3 v) {
    return real_sqrt(vec3_dot(v, v));
}

/* v/|v|, or +z if v is too short to have a direction. */
KERNEL_FN Vec3 vec3_direction(Vec3 v) {
    real norm = vec3_norm(v);
    if (!(norm > K(1e-18)))
        return vec3(K(0.0), K(0.0), K(1.0));
    return vec3_scale(K(1.0) / norm, v);
}

/* A unit vector orthogonal to the unit vector n. */
KERNEL_FN Vec3 vec3_orthogonal(Vec3 n) {
    real x = real_abs(n.x), y = real_abs(n.y), z = real_abs(n.z);
    Vec3 axis = vec3(K(1.0), K(0.0), K(0.0));
    if (y < x && y <= z)
        axis = vec3(K(0.0), K(1.0), K(0.0));
    else if (z < x)
        axis = vec3(K(0.0), K(0.0), K(1.0));
    return vec3_direction(vec3_cross(axis, n));
}

KERNEL_FN Vec3 convex_to_frame(const Convex *c, Vec3 x) {
    return vec3_add(c->p, mat3_mul(c->R, x));
}

KERNEL_FN Vec3 hull_vertex(const Convex *c, int i) {
    return vec3_load(c->vertex + 3 * i);
}

KERNEL_FN Vec3 support_ellipsoid(Vec3 a, Vec3 u) {
    Vec3 au = vec3(a.x * u.x, a.y * u.y, a.z * u.z);
    au = vec3_direction(au);
    return vec3(a.x * au.x, a.y * au.y, a.z * au.z);
}

/* The point of the circle x^2 + y^2 = r^2 at height z farthest along u; its centre where u is vertical. */
KERNEL_FN Vec3 support_circle(real r, real z, Vec3 u) {
    real norm = real_sqrt(u.x * u.x + u.y * u.y);
    real s = norm > K(1e-15) ? r / norm : K(0.0);
    return vec3(s * u.x, s * u.y, z);
}

KERNEL_FN Vec3 support_cone(real r, real h, Vec3 u) {
    Vec3 base = support_circle(r, -h, u);
    return u.z * h > vec3_dot(u, base) ? vec3(K(0.0), K(0.0), h) : base;
}

/* ---- points that can be the farthest along a direction ---- */

/* item[0 .. count), or the numbers 0 .. count - 1 if item is NULL. */
typedef struct Items {
    const int *item;
    int count;
} Items;

KERNEL_FN int items_get(const Items *items, int k) {
    return items->item ? items->item[k] : k;
}

/* The cell of the coordinate x, -1 .. 1, among n. */
KERNEL_FN int direction_place(real x, int n) {
    if (!(x > K(-1.0)))
        return 0;
    return x < K(1.0) ? (int)(K(0.5) * (x + K(1.0)) * (scalar)n) : n - 1;
}

/* The points of a table that can be the farthest along u; all n if there is no table (NULL or resolution 0). */
KERNEL_FN Items directions_towards(const Convex *c, const SapDirections *table, int n, Vec3 u) {
    Items items;
    items.item = 0;
    items.count = n;
    if (!table || table->resolution == 0)
        return items;
    const SapPlan *plan = c->plan;
    int cells = table->resolution;
    /* the side of the cube, and the two other coordinates on it */
    real x = real_abs(u.x), y = real_abs(u.y), z = real_abs(u.z);
    int side = 4 + (u.z < K(0.0));
    real most = z, s = u.x, t = u.y;
    if (x >= y && x >= z) {
        side = u.x < K(0.0);
        most = x;
        s = u.y;
        t = u.z;
    } else if (y >= z) {
        side = 2 + (u.y < K(0.0));
        most = y;
        t = u.z;
    }
    int column = direction_place(s / most, cells), row = direction_place(t / most, cells);
    SapDirectionCell cell = plan->direction_cell[table->cell + (side * cells + row) * cells + column];
    items.item = plan->direction_point + cell.first;
    items.count = cell.count;
    return items;
}

/* The first vertex that is farthest along u. */
KERNEL_FN Vec3 support_hull(const Convex *c, Vec3 u) {
    Items items = directions_towards(c, c->hull ? &c->hull->by_vertex : 0, c->num_vertices, u);
    Vec3 best = hull_vertex(c, items_get(&items, 0));
    real most = vec3_dot(u, best);
    for (int k = 1; k < items.count; k++) {
        Vec3 x = hull_vertex(c, items_get(&items, k));
        real along = vec3_dot(u, x);
        if (along > most) {
            most = along;
            best = x;
        }
    }
    return best;
}

/* Support of the core along u, both in the frame of the shape. */
STAGE_FN Vec3 support_local(const Convex *c, Vec3 u) {
    Vec3 size = c->size;
    switch (c->type) {
    case SAP_SHAPE_CAPSULE: return vec3(K(0.0), K(0.0), u.z >= K(0.0) ? size.y : -size.y);
    case SAP_SHAPE_ELLIPSOID: return support_ellipsoid(size, u);
    case SAP_SHAPE_CYLINDER: return support_circle(size.x, u.z >= K(0.0) ? size.y : -size.y, u);
    case SAP_SHAPE_BOX:
        return vec3(u.x >= K(0.0) ? size.x : -size.x, u.y >= K(0.0) ? size.y : -size.y,
                    u.z >= K(0.0) ? size.z : -size.z);
    case SAP_SHAPE_CONE: return support_cone(size.x, size.y, u);
    case SAP_SHAPE_HULL: return support_hull(c, u);
    default: /* a sphere */ return vec3_zero();
    }
}

/* Support of the core along u in the frame of shape 0. */
KERNEL_FN Vec3 support(const Convex *c, Vec3 u) {
    return convex_to_frame(c, support_local(c, mat3_transpose_mul(c->R, u)));
}

/* Two cores, and the larger of their extents, to which rounding errors are relative. */
typedef struct CorePair {
    const Convex *a, *b;
    real scale;
} CorePair;

/* A point w = x_a - x_b of the difference of two cores, and x_a. */
typedef struct CoreVertex {
    Vec3 w, a;
} CoreVertex;

/* Support of a - b along the unit vector u. */
STAGE_FN CoreVertex core_support(const CorePair *pair, Vec3 u) {
    CoreVertex v;
    v.a = support(pair->a, u);
    v.w = vec3_sub(v.a, support(pair->b, vec3_scale(K(-1.0), u)));
    return v;
}
