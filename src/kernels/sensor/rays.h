/* Rays against the shapes of a world. docs/sensors.md. A real is one number here: an item of work is one shape of one
 * world to place, then one ray of one world. */

/* The rounding of distances to bounds of shapes, relative: it never hides a shape. */
#undef RAY_ROUNDING
#define RAY_ROUNDING (SAP_PRECISION == 64 ? 1e-14 : 1e-5)

/* The nearest meeting so far. */
typedef struct RayHit {
    real t;      /* distance from the origin of the ray */
    int shape;   /* SAP_RAY_MISS = none yet; then t is the largest distance */
    int surface; /* of the shape (Inside), or triangle of a height field */
} RayHit;

/* A ray in the world, and what it may meet. */
typedef struct WorldRay {
    const SapRayArgs *args;
    SapPack pack; /* its world */
    Vec3 origin, d;
    bool valid;
} WorldRay;

/* ---- shapes in the world ---- */

/* Pose of a shape, centre and radius of its bounding sphere, in the world. */
typedef struct ShapePlace {
    Pose X;
    Vec3 centre;
    real radius;
} ShapePlace;

/* A shape in the frame of its body, or of the world. */
KERNEL_FN ShapePlace place_in_body(const SapRayArgs *args, const SapPack *pack, int s) {
    ShapePlace place;
    place.X.p = field_get_vec3(args->constants.shape_pose, 7 * s, pack);
    place.X.q = field_get_quat(args->constants.shape_pose, 7 * s + 3, pack);
    place.centre =
        vec3_add(place.X.p, quat_rotate(place.X.q, field_get_vec3(args->constants.shape_bound, 4 * s, pack)));
    place.radius = field_get(args->constants.shape_bound, 4 * s + 3, pack);
    return place;
}

/* Places one shape of a body in one world; item = world * num_moving + index. */
STAGE_FN void place_shape(const SapRayArgs *args, long long item) {
    int count = args->shapes.num_moving, world = (int)(item / count), s = args->shapes.moving[item % count];
    SapPack pack = pack_of_one(world);
    ShapePlace place = place_in_body(args, &pack, s);
    Pose body = buffer_get_pose(args->body_q, 7 * args->plan.link[args->plan.shape_link[s]].body, &pack);
    real *row = (real *)args->shapes.place + SAP_PLACE_SIZE * item;
    pose_store(row, pose_mul(body, place.X));
    vec3_store(row + 7, vec3_add(body.p, quat_rotate(body.q, place.centre)));
    row[10] = place.radius;
}

KERNEL_FN ShapePlace place_load(const real *row) {
    ShapePlace place;
    place.X = pose_load(row);
    place.centre = vec3_load(row + 7);
    place.radius = row[10];
    return place;
}

/* ---- one shape ---- */

/* Keeps the nearer of the hit and a meeting of shape s at distance t; of two at the same distance, the smaller
 * shape. */
KERNEL_FN void hit_offer(RayHit *hit, real t, int s, int surface) {
    if (t >= K(0.0) && (t < hit->t || (t == hit->t && (hit->shape < 0 || s < hit->shape)))) {
        hit->t = t;
        hit->shape = s;
        hit->surface = surface;
    }
}

/* The ray in the frame X, with its point at distance t as o. */
KERNEL_FN Ray ray_local(const WorldRay *w, Pose X, real t) {
    Quat turn = quat_conjugate(X.q);
    Ray ray;
    ray.o = quat_rotate(turn, vec3_sub(vec3_fma(t, w->d, w->origin), X.p));
    ray.d = quat_rotate(turn, w->d);
    return ray;
}

KERNEL_FN Vec3 shape_size(const SapRayArgs *args, int s, const SapPack *pack) {
    return field_get_vec3(args->constants.shape_size, 3 * s, pack);
}

/* The grid that the world of the ray has chosen for a height field. */
KERNEL_FN int grid_of(const WorldRay *w, int s) {
    return (int)field_get(w->args->constants.shape_mesh, s, &w->pack);
}

/* Whether x is within the half size h of a plane; 0 = infinite. */
KERNEL_FN bool plane_reaches(real x, real h) {
    return !(h > K(0.0)) || real_abs(x) <= h;
}

/* The half-space z <= 0 of X, from its front, where the plane has a size within it. */
KERNEL_FN void meet_plane(const WorldRay *w, Pose X, int s, RayHit *hit) {
    Ray ray = ray_local(w, X, K(0.0));
    if (!(ray.d.z < K(0.0) && ray.o.z >= K(0.0)))
        return;
    real t = -ray.o.z / ray.d.z;
    Vec3 size = shape_size(w->args, s, &w->pack), x = vec3_fma(t, ray.d, ray.o);
    if (plane_reaches(x.x, size.x) && plane_reaches(x.y, size.y))
        hit_offer(hit, t, s, 0);
}

/* Between `nearest` - `reach` and `nearest` + `reach`, where the ray is in the bounding sphere. */
STAGE_FN void meet_height_field(const WorldRay *w, Pose X, int s, real nearest, real reach, RayHit *hit) {
    Ray ray = ray_local(w, X, nearest);
    Vec3 size = shape_size(w->args, s, &w->pack);
    Inside inside = inside_all();
    inside_slab(&inside, ray.o.x, ray.d.x, size.x, 0, 0);
    inside_slab(&inside, ray.o.y, ray.d.y, size.y, 0, 0);
    real low = real_max(inside.in, real_max(-reach, -nearest));
    real high = real_min(inside.out, reach), t;
    int surface = 0;
    RayField f = ray_field(w->args, grid_of(w, s), size, ray);
    if (low <= high && field_meets(&f, low, high, nearest, hit->t, &t, &surface))
        hit_offer(hit, t + nearest, s, surface);
}

KERNEL_FN Inside inside_shape(const SapRayArgs *args, int s, Vec3 size, Ray ray) {
    int type = args->plan.shape_type[s];
    return type == SAP_SHAPE_HULL ? inside_hull(args, args->plan.shape_mesh[s], ray) : inside_solid(type, size, ray);
}

STAGE_FN void meet_convex(const WorldRay *w, Pose X, int s, real nearest, RayHit *hit) {
    Inside inside = inside_shape(w->args, s, shape_size(w->args, s, &w->pack), ray_local(w, X, nearest));
    if (!(inside.in <= inside.out))
        return;
    real in = inside.in + nearest;
    if (in >= K(0.0))
        hit_offer(hit, in, s, inside.in_surface);
    else
        hit_offer(hit, inside.out + nearest, s, inside.out_surface);
}

/* Whether a bound of distances, which has rounding, is at most t. */
KERNEL_FN bool no_farther(real bound, real t) {
    return bound <= t * K(1.0 + RAY_ROUNDING);
}

/* One shape; those whose bounding sphere is passed, behind, or farther than the hit are skipped. */
KERNEL_FN void meet_shape(const WorldRay *w, ShapePlace place, int s, RayHit *hit) {
    const SapPlan *plan = &w->args->plan;
    if (w->args->exclude_body >= 0 && plan->shape_link[s] == plan->body_link[w->args->exclude_body])
        return;
    if (plan->shape_type[s] == SAP_SHAPE_PLANE) {
        meet_plane(w, place.X, s, hit);
        return;
    }
    Vec3 m = vec3_sub(place.centre, w->origin);
    real nearest = vec3_dot(m, w->d), reach = place.radius * K(1.001); /* rounding never hides a shape */
    Vec3 off = vec3_fma(-nearest, w->d, m);
    if (!(vec3_dot(off, off) <= reach * reach && nearest + reach >= K(0.0) && no_farther(nearest - reach, hit->t)))
        return;
    if (plan->shape_type[s] == SAP_SHAPE_HEIGHT_FIELD)
        meet_height_field(w, place.X, s, nearest, reach, hit);
    else
        meet_convex(w, place.X, s, nearest, hit);
}

/* ---- all shapes ---- */

/* 1/x, large where x is 0. */
KERNEL_FN real slope_of(real x) {
    return x == K(0.0) ? K(RAY_FAR) : K(1.0) / x;
}

/* Whether the ray passes through the box low .. high along one axis between *in and *out, which it narrows. */
KERNEL_FN void box_axis(float low, float high, real o, real slope, real *in, real *out) {
    real a = ((scalar)low - o) * slope, b = ((scalar)high - o) * slope;
    *in = real_max(*in, real_min(a, b));
    *out = real_min(*out, real_max(a, b));
}

/* The static shapes in the plan's tree: a node that the ray misses is skipped with all below it. */
STAGE_FN void meet_tree(const WorldRay *w, RayHit *hit) {
    const SapStaticTree *tree = &w->args->plan.statics;
    Vec3 slope = vec3(slope_of(w->d.x), slope_of(w->d.y), slope_of(w->d.z));
    for (int n = 0; n < tree->num_nodes;) {
        const SapStaticNode *node = &tree->node[n];
        real in = real_of(0), out = hit->t;
        box_axis(node->low[0], node->high[0], w->origin.x, slope.x, &in, &out);
        box_axis(node->low[1], node->high[1], w->origin.y, slope.y, &in, &out);
        box_axis(node->low[2], node->high[2], w->origin.z, slope.z, &in, &out);
        bool passes = no_farther(in, out);
        if (passes && node->shape >= 0)
            meet_shape(w, place_in_body(w->args, &w->pack, node->shape), node->shape, hit);
        n = passes ? n + 1 : node->skip;
    }
}

STAGE_FN RayHit meet_world(const WorldRay *w) {
    const SapRayArgs *args = w->args;
    const SapRayShapes *shapes = &args->shapes;
    RayHit hit;
    hit.t = real_min((scalar)args->max_distance, K(RAY_FAR));
    hit.shape = SAP_RAY_MISS;
    hit.surface = 0;
    if (args->sees_static) {
        for (int i = 0; i < shapes->num_static; i++)
            meet_shape(w, place_in_body(args, &w->pack, shapes->fixed[i]), shapes->fixed[i], &hit);
        meet_tree(w, &hit);
    }
    const real *row = (const real *)shapes->place + (long long)w->pack.world[0] * shapes->num_moving * SAP_PLACE_SIZE;
    for (int i = 0; i < shapes->num_moving && args->sees_moving; i++)
        meet_shape(w, place_load(row + SAP_PLACE_SIZE * i), shapes->moving[i], &hit);
    return hit;
}

/* ---- one ray ---- */

/* The frame with z up and x along the horizontal part of v. */
KERNEL_FN Mat3 heading_of(Vec3 v) {
    real norm = real_sqrt(v.x * v.x + v.y * v.y);
    bool upright = !(norm > K(1e-6)); /* below it the direction is noise */
    real c = upright ? real_of(1) : v.x / norm, s = upright ? real_of(0) : v.y / norm;
    Mat3 R;
    R.x = vec3(c, s, real_of(0));
    R.y = vec3(-s, c, real_of(0));
    R.z = vec3(real_of(0), real_of(0), real_of(1));
    return R;
}

/* Moves the ray from the frame of its body to the world. */
KERNEL_FN void ray_carry(WorldRay *w) {
    const SapRayArgs *args = w->args;
    if (args->body < 0)
        return;
    Pose X = buffer_get_pose(args->body_q, 7 * args->body, &w->pack);
    if (args->axes != SAP_RAY_AXES_WORLD) {
        Mat3 R = quat_matrix(X.q);
        R = args->axes == SAP_RAY_AXES_HEADING ? heading_of(R.x) : R;
        w->origin = mat3_mul(R, w->origin);
        w->d = mat3_mul(R, w->d);
    }
    w->origin = vec3_add(X.p, w->origin);
    w->valid = w->valid && vec3_check(X.p) == K(0.0) && X.q.w == X.q.w;
}

/* Reads ray k of the world. The direction is scaled by its largest component first, so that its square is finite. */
KERNEL_FN WorldRay ray_load(const SapRayArgs *args, int world, int k) {
    WorldRay w;
    w.args = args;
    w.pack = pack_of_one(world);
    w.origin = buffer_get_vec3(args->origin, 3 * k, &w.pack);
    Vec3 d = buffer_get_vec3(args->direction, 3 * k, &w.pack);
    real largest = real_max(real_abs(d.x), real_max(real_abs(d.y), real_abs(d.z)));
    w.valid = vec3_check(w.origin) + vec3_check(d) == K(0.0) && largest > K(0.0);
    d = vec3(d.x / largest, d.y / largest, d.z / largest);
    w.d = vec3_scale(K(1.0) / real_sqrt(vec3_dot(d, d)), d);
    ray_carry(&w);
    w.valid = w.valid && vec3_check(w.origin) == K(0.0);
    return w;
}

/* The unit normal in the world of the surface that the ray met. */
STAGE_FN Vec3 hit_normal(const WorldRay *w, const RayHit *hit) {
    const SapRayArgs *args = w->args;
    int s = hit->shape;
    ShapePlace place = place_in_body(args, &w->pack, s);
    if (args->plan.shape_link[s] >= 0)
        place.X = pose_mul(buffer_get_pose(args->body_q, 7 * args->plan.link[args->plan.shape_link[s]].body, &w->pack),
                           place.X);
    Vec3 size = shape_size(args, s, &w->pack), x = ray_local(w, place.X, hit->t).o;
    Vec3 n = args->plan.shape_type[s] == SAP_SHAPE_HEIGHT_FIELD ? field_normal(args, grid_of(w, s), size, hit->surface)
                                                                : surface_normal(args, s, size, x, hit->surface);
    real norm = real_sqrt(vec3_dot(n, n));
    /* the tip of a cone and the centre of a sphere without radius have no normal: against the ray */
    return norm > K(0.0) ? vec3_scale(K(1.0) / norm, quat_rotate(place.X.q, n)) : vec3_scale(K(-1.0), w->d);
}

/* Casts one ray of one world; item = world * num_rays + ray. */
STAGE_FN void cast_ray(const SapRayArgs *args, long long item) {
    int world = (int)(item / args->num_rays), k = (int)(item % args->num_rays);
    if (args->mask && !args->mask[world])
        return;
    WorldRay w = ray_load(args, world, k);
    RayHit hit;
    hit.t = real_of(-1);
    hit.shape = SAP_RAY_INVALID;
    if (w.valid)
        hit = meet_world(&w);
    bool met = hit.shape >= 0;
    buffer_put(args->distance, k, met ? hit.t : real_of(-1), mask_all(), &w.pack);
    if (args->shape)
        args->shape[(long long)world * args->distance.stride + k] = hit.shape;
    if (!args->normal.data)
        return;
    Vec3 n = met ? hit_normal(&w, &hit) : vec3_zero();
    buffer_put_vec3(args->normal, 3 * k, n, mask_all(), &w.pack);
}
