/* A height field (shape 0) and a convex shape, one world at a time. docs/collision.md.
 *
 * The field is the solid below its triangles; it has no walls at the border of the grid. Only the triangles of cells
 * under the shape's bounding box, widened by reach, are visited.
 *
 * If the shape's centre is above the surface, each triangle is treated as a convex shape, with the normal n that
 * separates it from the shape. n is accepted if the surface around the triangle's feature that faces n (vertex, edge or
 * the whole triangle) lies behind that feature:
 *   (u - x).n <= 0   for the vertices u next to the feature at x,  and n points up
 * An edge between coplanar or concave triangles therefore never gives its own normal, while a ridge or peak does. If n
 * is rejected but the triangle cuts the shape, or the shape reaches below the triangle's plane with its centre above
 * it, the triangle's normal m is used, for the part of the shape's face over or under the triangle.
 *
 * If the centre is below the surface, the contacts are those with the plane of the triangle above the centre,
 * along m, so that the shape is pushed up at any depth. The same holds if triangles cut the shape but none of them
 * gives a contact. */

#undef FIELD_POLAR
#if SAP_PRECISION == 32
#define FIELD_POLAR 2e-4 /* sine of the angle by which a neighbour may rise above the plane normal to n */
#else
#define FIELD_POLAR 1e-5
#endif

typedef struct Field {
    const scalar *height; /* [rows][columns] */
    int rows, columns;
    real x, y;   /* half extents */
    real dx, dy; /* size of a cell */
} Field;

typedef struct FieldTriangle {
    int row[3], column[3]; /* vertices, counter-clockwise seen from above */
    Vec3 x[3];             /* their positions */
    Vec3 m;                /* unit normal, upward */
} FieldTriangle;

/* Bounding box of the shape in the frame of the field. */
typedef struct FieldBox {
    Vec3 low, high;
} FieldBox;

KERNEL_FN Field field_load(const SapConvexTask *task) {
    const SapHeightField *h = &task->args->plan.height_field[task->mesh[0]];
    Field f;
    f.height = (const scalar *)task->args->constants[SAP_PRECISION == 64].height.data + h->height;
    f.rows = h->rows;
    f.columns = h->columns;
    f.x = (scalar)task->size[0][0];
    f.y = (scalar)task->size[0][1];
    f.dx = K(2.0) * f.x / (scalar)(f.columns - 1);
    f.dy = K(2.0) * f.y / (scalar)(f.rows - 1);
    return f;
}

KERNEL_FN bool field_has(const Field *f, int row, int column) {
    return row >= 0 && row < f->rows && column >= 0 && column < f->columns;
}

KERNEL_FN Vec3 field_vertex(const Field *f, int row, int column) {
    return vec3((scalar)column * f->dx - f->x, (scalar)row * f->dy - f->y, f->height[row * f->columns + column]);
}

/* The cell, 0 .. cells - 1, that contains the coordinate t, measured in cells; clamped. */
KERNEL_FN int field_cell(real t, int cells) {
    if (!(t > K(0.0)))
        return 0;
    return t < (scalar)cells ? (int)t : cells - 1;
}

/* Triangle 0 of a cell is below its diagonal, 1 above. */
KERNEL_FN FieldTriangle field_triangle(const Field *f, int row, int column, int which) {
    FieldTriangle t;
    t.row[0] = row;
    t.column[0] = column;
    t.row[1] = which ? row + 1 : row;
    t.column[1] = column + 1;
    t.row[2] = row + 1;
    t.column[2] = which ? column : column + 1;
    for (int k = 0; k < 3; k++)
        t.x[k] = field_vertex(f, t.row[k], t.column[k]);
    t.m = vec3_direction(vec3_cross(vec3_sub(t.x[1], t.x[0]), vec3_sub(t.x[2], t.x[0])));
    return t;
}

/* The triangle over the point (x, y), which is clamped to the grid. */
KERNEL_FN FieldTriangle field_triangle_at(const Field *f, real x, real y) {
    real s = (x + f->x) / f->dx, t = (y + f->y) / f->dy;
    int column = field_cell(s, f->columns - 1), row = field_cell(t, f->rows - 1);
    return field_triangle(f, row, column, t - (scalar)row > s - (scalar)column);
}

KERNEL_FN FieldBox field_box(const Convex *b) {
    const Vec3 x = vec3(K(1.0), K(0.0), K(0.0)), y = vec3(K(0.0), K(1.0), K(0.0)), z = vec3(K(0.0), K(0.0), K(1.0));
    FieldBox box;
    box.high = vec3(support(b, x).x + b->radius, support(b, y).y + b->radius, support(b, z).z + b->radius);
    box.low = vec3(support(b, vec3_scale(K(-1.0), x)).x - b->radius, support(b, vec3_scale(K(-1.0), y)).y - b->radius,
                   support(b, vec3_scale(K(-1.0), z)).z - b->radius);
    return box;
}

/* ---- the normals of the surface ---- */

/* Whether vertex (row, column), if it exists, is behind the plane through x normal to n. */
KERNEL_FN bool field_is_behind(const Field *f, int row, int column, Vec3 x, Vec3 n) {
    if (!field_has(f, row, column))
        return true;
    Vec3 e = vec3_sub(field_vertex(f, row, column), x);
    return vec3_dot(e, n) <= K(FIELD_POLAR) * vec3_norm(e);
}

/* Whether the six neighbours of vertex k of the triangle are behind the plane through it normal to n. */
KERNEL_FN bool field_accepts_vertex(const Field *f, const FieldTriangle *t, int k, Vec3 n) {
    bool accepted = true;
    for (int i = 0; i < 6; i++) {
        int row = i < 2 ? 0 : 1, column = i >= 2 && i < 4 ? 0 : 1, side = i & 1 ? 1 : -1; /* (0, 1) (1, 0) (1, 1) */
        accepted = accepted && field_is_behind(f, t->row[k] + side * row, t->column[k] + side * column, t->x[k], n);
    }
    return accepted;
}

/* The same for the vertex across the edge opposite vertex k; it completes a parallelogram of the grid. */
KERNEL_FN bool field_accepts_edge(const Field *f, const FieldTriangle *t, int k, Vec3 n) {
    int i = k == 0 ? 1 : 0, j = 3 - k - i;
    return field_is_behind(f, t->row[i] + t->row[j] - t->row[k], t->column[i] + t->column[j] - t->column[k], t->x[i],
                           n);
}

/* Whether n is a normal of the surface at the feature of the triangle that faces it. */
STAGE_FN bool field_accepts(const Field *f, const FieldTriangle *t, Vec3 n) {
    real most = real_max(vec3_dot(n, t->x[0]), real_max(vec3_dot(n, t->x[1]), vec3_dot(n, t->x[2])));
    real slack = K(FIELD_POLAR) * vec3_norm(vec3_sub(t->x[2], t->x[0]));
    int on = 0, last_on = 0, last_off = 0;
    for (int k = 0; k < 3; k++) {
        if (vec3_dot(n, t->x[k]) >= most - slack) {
            on++;
            last_on = k;
        } else {
            last_off = k;
        }
    }
    if (!(n.z > K(0.0)))
        return false;
    if (on == 3)
        return vec3_dot(n, t->m) > K(0.0);
    return on == 2 ? field_accepts_edge(f, t, last_off, n) : field_accepts_vertex(f, t, last_on, n);
}

/* ---- contacts ---- */

/* A triangle as a convex shape with its centre as origin, and the arrays that it points to. */
typedef struct TriangleHull {
    Convex convex;
    scalar vertex[9], plane[4];
    SapHullFace face;
    int corner[3];
    SapHullEdge edge[3];
} TriangleHull;

KERNEL_FN void triangle_hull(TriangleHull *h, const FieldTriangle *t) {
    Vec3 centre = vec3_scale(K(1.0) / K(3.0), vec3_add(t->x[0], vec3_add(t->x[1], t->x[2])));
    /* vertices about the centre, corners and edges; then the face and its plane */
    real extent = real_of(0);
    for (int k = 0; k < 3; k++) {
        Vec3 x = vec3_sub(t->x[k], centre);
        vec3_store(h->vertex + 3 * k, x);
        extent = real_max(extent, real_max(real_abs(x.x), real_max(real_abs(x.y), real_abs(x.z))));
        h->corner[k] = k;
        h->edge[k].from = k == 0 ? 2 : k - 1;
        h->edge[k].to = k;
    }
    vec3_store(h->plane, t->m);
    h->plane[3] = vec3_dot(t->m, vec3_sub(t->x[0], centre));
    h->face.corner = 0;
    h->face.num_corners = 3;
    /* a hull without a rotation that points to these arrays */
    Convex *c = &h->convex;
    c->type = SAP_SHAPE_HULL;
    c->size = vec3_zero();
    c->radius = K(0.0);
    c->p = centre;
    c->R = quat_matrix(quat(K(0.0), K(0.0), K(0.0), K(1.0)));
    c->num_vertices = 3;
    c->vertex = h->vertex;
    c->num_faces = 1;
    c->plane = h->plane;
    c->face = &h->face;
    c->corner = h->corner;
    c->num_edges = 3;
    c->edge = h->edge;
    c->hull = 0;
    c->extent = extent;
}

/* Adds the contacts with the plane through x with normal m: the face of the shape towards the plane, and
 * its deepest point. */
STAGE_FN void field_plane(const Convex *b, Vec3 x, Vec3 m, real reach, Candidates *list) {
    Feature f;
    Vec3 down = vec3_scale(K(-1.0), m);
    feature_find(&f, b, down, true);
    int first = list->count;
    for (int i = 0; i < f.count; i++) {
        real d = vec3_dot(m, vec3_sub(f.x[i], x));
        candidate_add(list, vec3_fma(-d, m, f.x[i]), m, d, reach);
    }
    ContactPoint deepest;
    Vec3 low = vec3_fma(b->radius, down, support(b, down));
    deepest.n = m;
    deepest.d = vec3_dot(m, vec3_sub(low, x));
    deepest.p = vec3_fma(-deepest.d, m, low);
    candidates_with_nearest(list, first, &deepest, K(10.0) * K(CONVEX_SNAP) * b->extent, reach);
}

/* Adds the contacts along the triangle's normal: the part of the shape's facing feature over or under the triangle, and
 * the shape's lowest point `low` if it is over or under it. */
STAGE_FN void triangle_prism(const Convex *triangle, const FieldTriangle *t, const Convex *b, Vec3 low, real reach,
                             real slack, Candidates *list) {
    int first = list->count;
    WORKSPACE(FeaturePair, f, list->work, PRISM_AT);
    Feature *face = &f->a, *point = &f->b;
    ContactPoint deepest;
    manifold_overlay(triangle, b, t->m, reach, slack, list);
    for (int k = 0; k < 3; k++)
        face->x[k] = t->x[k];
    face->count = 3;
    point->x[0] = low;
    point->count = 1;
    if (clip_over(point, face, t->m, slack, 0, &deepest.p) == 0)
        return;
    deepest.n = t->m;
    deepest.d = vec3_dot(t->m, vec3_sub(low, t->x[0]));
    deepest.p = vec3_fma(-deepest.d, t->m, low);
    candidates_with_nearest(list, first, &deepest, slack, reach);
}

/* The distance of a triangle and a sphere, in closed form. */
KERNEL_FN bool triangle_sphere(const FieldTriangle *t, const Convex *b, real reach, ContactPoint *out) {
    Simplex s;
    s.count = 3;
    for (int k = 0; k < 3; k++)
        s.at[k].w = vec3_sub(t->x[k], b->p);
    Nearest nearest = nearest_of_triangle(&s, 0, 1, 2);
    real distance = real_sqrt(nearest.norm2);
    out->n = distance > K(GJK_TOUCH) * b->radius ? vec3_scale(K(-1.0) / distance, nearest.v) : t->m;
    out->p = vec3_add(b->p, nearest.v);
    out->d = distance - b->radius;
    return out->d <= reach;
}

/* Whether x, a point of the triangle's plane, is over the triangle. */
KERNEL_FN bool triangle_contains(const FieldTriangle *t, Vec3 x) {
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        Vec3 from = t->x[k], to = t->x[k == 2 ? 0 : k + 1];
        inside = inside && vec3_dot(t->m, vec3_cross(vec3_sub(to, from), vec3_sub(x, from))) >= K(0.0);
    }
    return inside;
}

/* Adds the contact of one triangle and a sphere, whose lowest point along the triangle's normal is `low`. Returns
 * whether the triangle passes through the sphere's centre. */
STAGE_FN bool triangle_sphere_contact(const Field *f, const FieldTriangle *t, const Convex *b, Vec3 low, real reach,
                                      Candidates *list) {
    ContactPoint nearest;
    if (!triangle_sphere(t, b, reach, &nearest))
        return false;
    real d = vec3_dot(t->m, vec3_sub(low, t->x[0]));
    Vec3 over = vec3_fma(-d, t->m, low);
    bool cut = nearest.d + b->radius <= K(10.0) * K(CONVEX_SNAP) * b->extent;
    if (field_accepts(f, t, nearest.n))
        candidate_add(list, nearest.p, nearest.n, nearest.d, reach);
    else if ((cut || d + b->radius > K(0.0)) && triangle_contains(t, over))
        candidate_add(list, over, t->m, d, reach);
    return cut;
}

/* Adds the contacts of one triangle. Returns whether it cuts the shape's core. */
STAGE_FN bool field_triangle_contacts(const Field *f, const FieldTriangle *t, const Convex *b, Vec3 centre, real reach,
                                      Candidates *list) {
    Vec3 low = vec3_fma(-b->radius, t->m, support(b, vec3_scale(K(-1.0), t->m)));
    real lowest = vec3_dot(t->m, vec3_sub(low, t->x[0]));
    if (lowest > reach)
        return false;
    if (b->type == SAP_SHAPE_SPHERE)
        return triangle_sphere_contact(f, t, b, low, reach, list);
    TriangleHull hull;
    ContactPoint nearest;
    triangle_hull(&hull, t);
    CorePair pair = core_pair(&hull.convex, b);
    real slack = K(10.0) * K(CONVEX_SNAP) * pair.scale;
    bool near = convex_distance(&pair, reach, &nearest);
    if (!near && lowest >= -reach) /* a point over the triangle, within reach of its plane, would be near */
        return false;
    bool cut = near && nearest.d + b->radius <= slack;
    int first = list->count;
    if (near && field_accepts(f, t, nearest.n)) {
        manifold_overlay(&hull.convex, b, nearest.n, reach, slack, list);
        candidates_with_nearest(list, first, &nearest, slack, reach);
    } else if (cut || vec3_dot(t->m, vec3_sub(centre, t->x[0])) > K(0.0)) {
        triangle_prism(&hull.convex, t, b, low, reach, slack, list);
    }
    return cut;
}

/* Adds the contacts of the cells in the box. Returns whether a triangle cuts the shape's core. */
STAGE_FN bool field_cells(const Field *f, const FieldBox *box, const Convex *b, real reach, Candidates *list) {
    Vec3 centre = vec3_scale(K(0.5), vec3_add(box->low, box->high));
    int row_end = field_cell((box->high.y + reach + f->y) / f->dy, f->rows - 1);
    int column_begin = field_cell((box->low.x - reach + f->x) / f->dx, f->columns - 1);
    int column_end = field_cell((box->high.x + reach + f->x) / f->dx, f->columns - 1);
    bool cut = false;
    for (int row = field_cell((box->low.y - reach + f->y) / f->dy, f->rows - 1); row <= row_end; row++) {
        for (int i = 2 * column_begin; i < 2 * column_end + 2; i++) {
            /* before the triangle's normal, which costs a root and a division */
            const scalar *at = f->height + row * f->columns + i / 2;
            real top = real_max(at[0], real_max(at[i % 2 ? f->columns : 1], at[f->columns + 1]));
            if (!(top >= box->low.z - reach))
                continue;
            FieldTriangle t = field_triangle(f, row, i / 2, i % 2);
            if (field_triangle_contacts(f, &t, b, centre, reach, list))
                cut = true;
        }
    }
    return cut;
}

/* Adds the contacts of a height field and a convex shape. */
STAGE_FN void height_field_pair(const SapConvexTask *task, const Convex *b, real reach, Candidates *list) {
    Field f = field_load(task);
    FieldBox box = field_box(b);
    list->by.size = b->extent;
    list->by.tie = K(2.0) * K(CONVEX_SNAP) * b->extent;
    if (!(box.low.x - reach <= f.x && box.high.x + reach >= -f.x && box.low.y - reach <= f.y &&
          box.high.y + reach >= -f.y))
        return;
    Vec3 centre = vec3_scale(K(0.5), vec3_add(box.low, box.high));
    bool inside = real_abs(centre.x) <= f.x && real_abs(centre.y) <= f.y;
    FieldTriangle t = field_triangle_at(&f, centre.x, centre.y);
    bool below = inside && vec3_dot(t.m, vec3_sub(centre, t.x[0])) < K(0.0);
    bool cut = !below && field_cells(&f, &box, b, reach, list);
    if (below || (inside && cut && list->count == 0))
        field_plane(b, t.x[0], t.m, reach, list);
}
