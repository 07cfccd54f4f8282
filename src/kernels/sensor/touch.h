/* A contact sensor: the contacts of a body or of one of its shapes, with anything, with static shapes, with one other
 * body or with one other shape. docs/sensors.md. It is measured after every step of a call. Forces are means over the
 * steps of the call.
 *
 * A sensor with a zone, a solid that its body carries, measures the contacts from which a ray along the normal, out of
 * the body, meets the zone. All contacts within the zone are such. */

/* The sum over the contacts of a step. */
typedef struct Touch {
    int found;     /* contacts that push */
    Vec3 force;    /* N, on the body */
    real pressure; /* N, sum of the normal forces */
    real friction; /* N, sum of the magnitudes of the tangential forces */
} Touch;

/* The body of a shape; -1 = static. */
KERNEL_FN int body_of_shape(const SapPlan *plan, int s) {
    int link = s < 0 ? -1 : plan->shape_link[s];
    return link < 0 ? -1 : plan->link[link].body;
}

/* Whether sensor i measures contacts of the shape `own` with the shape `other`. */
KERNEL_FN bool touch_measures(const SapSenseArgs *args, int i, int own, int other) {
    const SapTouchArgs *t = &args->touch;
    bool is_own = body_of_shape(&args->plan, own) == t->body[i] && (t->own_shape[i] < 0 || t->own_shape[i] == own);
    bool is_other = t->with[i] == -2 || t->with[i] == body_of_shape(&args->plan, other);
    return is_own && is_other && (t->other_shape[i] < 0 || t->other_shape[i] == other);
}

/* 1 or -1 if the contact pushes the sensor's body as shape 1 or shape 0, else 0. */
KERNEL_FN int touch_side(const SapSenseArgs *args, int i, long long contact) {
    int s0 = args->touch.shape[0][contact], s1 = args->touch.shape[1][contact];
    if (touch_measures(args, i, s1, s0))
        return 1;
    return touch_measures(args, i, s0, s1) ? -1 : 0;
}

/* Whether the contact is one of the zone of sensor i, if it has one. n: its normal, out of the sensor's body. */
KERNEL_FN bool touch_in_zone(const SapSenseArgs *args, int i, long long contact, Vec3 n, const SapPack *pack) {
    const SapTouchArgs *t = &args->touch;
    int type = t->zone_type[i], at = 10 * i;
    if (type < 0)
        return true;
    const double *p = t->contact_position + 3 * contact;
    Pose X = buffer_get_pose(t->zone, at + 3, pack);
    if (t->body[i] >= 0)
        X = pose_mul(buffer_get_pose(args->start_body, SAP_START_BODY_SIZE * t->body[i], pack), X);
    Quat turn = quat_conjugate(X.q);
    Ray ray;
    ray.o = quat_rotate(turn, vec3_sub(vec3((scalar)p[0], (scalar)p[1], (scalar)p[2]), X.p));
    ray.d = quat_rotate(turn, n);
    Inside inside = inside_solid(type, buffer_get_vec3(t->zone, at, pack), ray);
    return inside.in <= inside.out && inside.out >= K(0.0);
}

KERNEL_FN void touch_add(const SapSenseArgs *args, int i, int c, const SapPack *pack, Touch *sum) {
    long long contact = (long long)pack->world[0] * args->touch.capacity + c;
    int side = touch_side(args, i, contact);
    const double *f = args->touch.contact_force + 3 * contact;
    Vec3 force = vec3((scalar)f[0], (scalar)f[1], (scalar)f[2]);
    Vec3 n = buffer_get_vec3(args->touch.normal, 3 * c, pack);
    real pressure = vec3_dot(force, n);
    if (side == 0 || !(pressure > K(0.0)) || !touch_in_zone(args, i, contact, vec3_scale((scalar)-side, n), pack))
        return;
    Vec3 tangential = vec3_fma(-pressure, n, force);
    sum->found++;
    sum->force = vec3_fma((scalar)side, force, sum->force);
    sum->pressure = sum->pressure + pressure;
    sum->friction = sum->friction + real_sqrt(vec3_dot(tangential, tangential));
}

KERNEL_FN Touch touch_sum(const SapSenseArgs *args, int i, const SapPack *pack) {
    Touch sum;
    sum.found = 0;
    sum.force = vec3_zero();
    sum.pressure = sum.friction = real_of(0);
    int count = args->elapsed > 0 ? args->touch.num_contacts[pack->world[0]] : 0;
    for (int c = 0; c < count; c++)
        touch_add(args, i, c, pack, &sum);
    return sum;
}

/* Adds x/num_steps to element i, which begins at 0 in the first step of a call. */
KERNEL_FN void mean_add(const SapSenseArgs *args, SapBuffer to, int i, real x, const SapPack *pack) {
    real before = args->step == 0 ? real_of(0) : buffer_get(to, i, pack);
    buffer_put(to, i, before + x / (scalar)args->num_steps, mask_all(), pack);
}

/* Times since the contact began or ended; a new contact keeps the time in the air before it. */
KERNEL_FN void touch_times(const SapSenseArgs *args, int i, bool touches, const SapPack *pack) {
    const SapTouchArgs *t = &args->touch;
    bool begins = !(args->elapsed > 0);
    real zero = real_of(0), h = (scalar)args->h;
    real contact = begins ? zero : buffer_get(t->contact_time, i, pack);
    real air = begins ? zero : buffer_get(t->air_time, i, pack);
    real last = begins ? zero : buffer_get(t->last_air_time, i, pack);
    bool lands = touches && !(contact > K(0.0));
    int *first = t->first + (long long)pack->world[0] * t->count + i;
    *first = lands || (args->step > 0 && *first);
    buffer_put(t->last_air_time, i, lands ? air : last, mask_all(), pack);
    buffer_put(t->contact_time, i, touches ? contact + h : zero, mask_all(), pack);
    buffer_put(t->air_time, i, touches || begins ? zero : air + h, mask_all(), pack);
}

/* Measures contact sensor i of a world. */
STAGE_FN void sense_touch(const SapSenseArgs *args, int i, const SapPack *pack) {
    const SapTouchArgs *t = &args->touch;
    Touch touch = touch_sum(args, i, pack);
    real size = real_sqrt(vec3_dot(touch.force, touch.force));
    t->found[(long long)pack->world[0] * t->count + i] = touch.found;
    mean_add(args, t->force, 3 * i, touch.force.x, pack);
    mean_add(args, t->force, 3 * i + 1, touch.force.y, pack);
    mean_add(args, t->force, 3 * i + 2, touch.force.z, pack);
    mean_add(args, t->pressure, i, touch.pressure, pack);
    mean_add(args, t->friction, i, touch.friction, pack);
    real most = args->step == 0 ? real_of(0) : buffer_get(t->most, i, pack);
    buffer_put(t->most, i, real_max(most, size), mask_all(), pack);
    touch_times(args, i, touch.found > 0, pack);
}
