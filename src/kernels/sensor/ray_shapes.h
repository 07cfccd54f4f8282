/* A ray and one convex shape, in the frame of the shape. docs/sensors.md.
 *
 * The points of a ray inside a convex shape are an interval of t:
 *   in <= t <= out,   x(t) = o + t d,   |d| = 1
 * A shape is an intersection of half-spaces and quadrics, each of which clips the interval; a capsule is the union of
 * three intervals. The ray meets the shape at `in`, or, if it starts inside, at `out`. The number of the surface that
 * clipped last gives the normal, which is computed once, for the nearest shape.
 *
 * o is not where the ray starts but its point nearest to the centre of the shape's bounding sphere. Then all numbers
 * are of the size of the shape, and f32 is accurate at any distance. */

#define RAY_FAR 1e30 /* m: no surface of a shape is as far away; its square is finite in f64 only, and never formed */

typedef struct Ray {
    Vec3 o, d;
} Ray;

/* Surfaces are numbered within a shape: 0 is the curved one. Boxes: 2 k for +axis k, 2 k + 1 for -axis k. Cylinder and
 * cone: 1 above, 2 below. Hulls: faces. */
typedef struct Inside {
    real in, out;
    int in_surface, out_surface;
} Inside;

KERNEL_FN Inside inside_all(void) {
    Inside s;
    s.in = K(-RAY_FAR);
    s.out = K(RAY_FAR);
    s.in_surface = s.out_surface = 0;
    return s;
}

KERNEL_FN void inside_nothing(Inside *s) {
    s->in = K(RAY_FAR);
    s->out = K(-RAY_FAR);
}

KERNEL_FN void inside_from(Inside *s, real t, int surface) {
    if (t > s->in) {
        s->in = t;
        s->in_surface = surface;
    }
}

KERNEL_FN void inside_until(Inside *s, real t, int surface) {
    if (t < s->out) {
        s->out = t;
        s->out_surface = surface;
    }
}

/* Keeps the half-space above + t along <= 0. */
KERNEL_FN void inside_clip(Inside *s, real above, real along, int surface) {
    if (along < K(0.0))
        inside_from(s, -above / along, surface);
    else if (along > K(0.0))
        inside_until(s, -above / along, surface);
    else if (!(above <= K(0.0)))
        inside_nothing(s);
}

/* The slab |x| <= h of a coordinate, with surfaces `high` and `low`. */
KERNEL_FN void inside_slab(Inside *s, real o, real d, real h, int high, int low) {
    inside_clip(s, o - h, d, high);
    inside_clip(s, -o - h, -d, low);
}

/* The roots of a t^2 + 2 b t + c, a != 0, without cancellation: q/a and c/q, q = -(b + sign(b) sqrt(b^2 - a c)). A
 * discriminant below zero counts as zero; returns whether it was not. */
KERNEL_FN bool quadratic_roots(real a, real b, real c, real *low, real *high) {
    real disc = b * b - a * c, root = real_sqrt(real_max(disc, K(0.0)));
    real q = b >= K(0.0) ? -(b + root) : root - b;
    real first = q / a, second = q == K(0.0) ? first : c / q;
    *low = real_min(first, second);
    *high = real_max(first, second);
    return disc >= K(0.0);
}

/* Keeps a t^2 + 2 b t + c <= 0, a >= 0: between the roots. */
KERNEL_FN void inside_quadric(Inside *s, real a, real b, real c) {
    real low, high;
    if (!(a > K(0.0))) {
        inside_clip(s, c, K(0.0), 0);
    } else if (quadratic_roots(a, b, c, &low, &high)) {
        inside_from(s, low, 0);
        inside_until(s, high, 0);
    } else {
        inside_nothing(s);
    }
}

/* ---- shapes ---- */

/* A ball of radius r around c. */
KERNEL_FN Inside inside_ball(Ray ray, Vec3 c, real r) {
    Inside s = inside_all();
    Vec3 o = vec3_sub(ray.o, c);
    inside_quadric(&s, vec3_dot(ray.d, ray.d), vec3_dot(o, ray.d), vec3_dot(o, o) - r * r);
    return s;
}

/* (x/a)^2 + (y/b)^2 + (z/c)^2 <= 1: the unit ball in scaled coordinates. */
KERNEL_FN Inside inside_ellipsoid(Ray ray, Vec3 a) {
    Ray scaled;
    scaled.o = vec3(ray.o.x / a.x, ray.o.y / a.y, ray.o.z / a.z);
    scaled.d = vec3(ray.d.x / a.x, ray.d.y / a.y, ray.d.z / a.z);
    return inside_ball(scaled, vec3_zero(), K(1.0));
}

/* x^2 + y^2 <= r^2, |z| <= h */
KERNEL_FN Inside inside_cylinder(Ray ray, real r, real h) {
    Inside s = inside_all();
    Vec3 o = ray.o, d = ray.d;
    inside_quadric(&s, d.x * d.x + d.y * d.y, o.x * d.x + o.y * d.y, o.x * o.x + o.y * o.y - r * r);
    inside_slab(&s, o.z, d.z, h, 1, 2);
    return s;
}

KERNEL_FN void inside_unite(Inside *s, Inside other) {
    if (other.in <= other.out) {
        s->in = real_min(s->in, other.in);
        s->out = real_max(s->out, other.out);
    }
}

/* A cylinder and the balls at its ends. */
KERNEL_FN Inside inside_capsule(Ray ray, real r, real h) {
    Inside s = inside_all();
    inside_nothing(&s);
    inside_unite(&s, inside_cylinder(ray, r, h));
    inside_unite(&s, inside_ball(ray, vec3(K(0.0), K(0.0), h), r));
    inside_unite(&s, inside_ball(ray, vec3(K(0.0), K(0.0), -h), r));
    s.in_surface = s.out_surface = 0;
    return s;
}

KERNEL_FN Inside inside_box(Ray ray, Vec3 h) {
    Inside s = inside_all();
    inside_slab(&s, ray.o.x, ray.d.x, h.x, 0, 1);
    inside_slab(&s, ray.o.y, ray.d.y, h.y, 2, 3);
    inside_slab(&s, ray.o.z, ray.d.z, h.z, 4, 5);
    return s;
}

/* x^2 + y^2 <= k^2 u^2, u = h - z >= 0, |z| <= h, k = r/(2 h). The quadric is a double cone with its tip at u = 0. A
 * ray flatter than its side (a > 0) is inside between the roots, a steeper one outside; one of its two parts is below
 * the tip. */
KERNEL_FN Inside inside_cone(Ray ray, real r, real h) {
    Inside s = inside_all();
    Vec3 o = ray.o, d = ray.d;
    real k2 = r * r / (K(4.0) * h * h), u = h - o.z, low, high;
    real a = d.x * d.x + d.y * d.y - k2 * d.z * d.z;
    real b = o.x * d.x + o.y * d.y + k2 * u * d.z;
    real c = o.x * o.x + o.y * o.y - k2 * u * u;
    if (a == K(0.0)) {
        inside_clip(&s, c, K(2.0) * b, 0);
    } else if (a > K(0.0)) {
        inside_quadric(&s, a, b, c);
    } else {
        quadratic_roots(a, b, c, &low, &high);
        if (d.z > K(0.0))
            inside_until(&s, low, 0);
        else
            inside_from(&s, high, 0);
    }
    inside_slab(&s, o.z, d.z, h, 0, 2); /* z <= h holds at the tip only */
    return s;
}

/* n.x <= offset for all faces */
KERNEL_FN Inside inside_hull(const SapRayArgs *args, int mesh, Ray ray) {
    const SapHull *hull = &args->plan.hull[mesh];
    const scalar *plane = (const scalar *)args->constants.hull_plane.data + 4LL * hull->face;
    Inside s = inside_all();
    for (int i = 0; i < hull->num_faces && s.in <= s.out; i++, plane += 4) {
        Vec3 n = vec3_load(plane);
        inside_clip(&s, vec3_dot(n, ray.o) - plane[3], vec3_dot(n, ray.d), i);
    }
    return s;
}

/* A solid of these sizes; a type that has none of the forms above is empty. */
KERNEL_FN Inside inside_solid(int type, Vec3 size, Ray ray) {
    Inside s;
    switch (type) {
    case SAP_SHAPE_SPHERE: return inside_ball(ray, vec3_zero(), size.x);
    case SAP_SHAPE_CAPSULE: return inside_capsule(ray, size.x, size.y);
    case SAP_SHAPE_ELLIPSOID: return inside_ellipsoid(ray, size);
    case SAP_SHAPE_CYLINDER: return inside_cylinder(ray, size.x, size.y);
    case SAP_SHAPE_BOX: return inside_box(ray, size);
    case SAP_SHAPE_CONE: return inside_cone(ray, size.x, size.y);
    default:
        s = inside_all();
        inside_nothing(&s);
        return s;
    }
}

/* ---- normals ---- */

/* The outward normal, not of unit length, at the point x of surface number `surface`. */
KERNEL_FN Vec3 surface_normal(const SapRayArgs *args, int s, Vec3 size, Vec3 x, int surface) {
    const real zero = real_of(0), one = real_of(1), side = surface % 2 ? -one : one;
    const int axis = surface / 2;
    switch (args->plan.shape_type[s]) {
    case SAP_SHAPE_SPHERE: return x;
    case SAP_SHAPE_CAPSULE: return vec3(x.x, x.y, x.z - real_max(-size.y, real_min(size.y, x.z)));
    case SAP_SHAPE_ELLIPSOID: return vec3(x.x / (size.x * size.x), x.y / (size.y * size.y), x.z / (size.z * size.z));
    case SAP_SHAPE_CYLINDER: return surface ? vec3(zero, zero, surface == 1 ? one : -one) : vec3(x.x, x.y, zero);
    case SAP_SHAPE_BOX: return vec3(axis == 0 ? side : zero, axis == 1 ? side : zero, axis == 2 ? side : zero);
    case SAP_SHAPE_CONE: /* the gradient of x^2 + y^2 - k^2 (h - z)^2 */
        return surface ? vec3(zero, zero, -one)
                       : vec3(x.x, x.y, size.x * size.x / (K(4.0) * size.y * size.y) * (size.y - x.z));
    case SAP_SHAPE_HULL:
        return vec3_load((const scalar *)args->constants.hull_plane.data +
                         4LL * (args->plan.hull[args->plan.shape_mesh[s]].face + surface));
    default: /* a plane */ return vec3(zero, zero, one);
    }
}
