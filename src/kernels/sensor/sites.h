/* Sensors at a site: pose, velocity, gyroscope, accelerometer. docs/sensors.md.
 *
 *   v = v_com + omega x (x - x_com),   gyroscope = R' omega,   accelerometer = R' ((v - v_before)/elapsed - g)
 *
 * The acceleration is the mean over the time since the last measurement. A batch may have the last step's,
 * at the state where the step began:
 *
 *   v' = a_C + alpha x r + omega x (omega x r),   r: from the centre of mass to the site */

typedef struct SiteMotion {
    Pose X;
    Vec3 v, omega; /* of the site, world axes */
} SiteMotion;

/* From the centre of mass of a body with the pose X to the point p in its frame, world axes. */
KERNEL_FN Vec3 site_arm(const SapSenseArgs *args, int body, Pose X, Vec3 p, const SapPack *pack) {
    Vec3 com = field_get_vec3(args->constants.com, 3 * args->plan.body_link[body], pack);
    return quat_rotate(X.q, vec3_sub(p, com));
}

KERNEL_FN SiteMotion site_motion(const SapSenseArgs *args, int i, const SapPack *pack) {
    SiteMotion m;
    int body = args->site.body[i];
    m.X = buffer_get_pose(args->site.pose, 7 * i, pack);
    m.v = m.omega = vec3_zero();
    if (body < 0)
        return m;
    Pose X = buffer_get_pose(args->body_q, 7 * body, pack);
    Vec3 arm = site_arm(args, body, X, m.X.p, pack);
    m.omega = buffer_get_vec3(args->body_qd, 6 * body + 3, pack);
    m.v = vec3_cross_add(m.omega, arm, buffer_get_vec3(args->body_qd, 6 * body, pack));
    m.X = pose_mul(X, m.X);
    return m;
}

/* The acceleration of site i in the last step, and in *q the orientation of the site where the step began. */
KERNEL_FN Vec3 site_acceleration(const SapSenseArgs *args, int i, const SapPack *pack, Quat *q) {
    int body = args->site.body[i], first = SAP_START_BODY_SIZE * body;
    Pose own = buffer_get_pose(args->site.pose, 7 * i, pack), X = buffer_get_pose(args->start_body, first, pack);
    Vec3 omega = buffer_get_vec3(args->start_body, first + 10, pack);
    Vec3 a_C = buffer_get_vec3(args->start_body, first + 13, pack);
    Vec3 alpha = buffer_get_vec3(args->start_body, first + 16, pack), r = site_arm(args, body, X, own.p, pack);
    if (!(quat_norm2(X.q) > K(0.0))) /* no step of this world has had a finite pose */
        return vec3_zero();
    *q = quat_mul(X.q, own.q);
    return vec3_cross_add(omega, vec3_cross(omega, r), vec3_cross_add(alpha, r, a_C));
}

KERNEL_FN void sense_accelerometer(const SapSenseArgs *args, int i, const SiteMotion *m, const SapPack *pack) {
    Vec3 g = field_get_vec3(args->constants.gravity, 0, pack), a = vec3_zero();
    Quat q = m->X.q;
    if (args->elapsed > 0 && args->site.is_exact && args->site.body[i] >= 0)
        a = site_acceleration(args, i, pack, &q);
    else if (args->elapsed > 0 && !args->site.is_exact)
        a = vec3_scale(K(1.0) / (scalar)args->elapsed, vec3_sub(m->v, buffer_get_vec3(args->site.before, 3 * i, pack)));
    Vec3 reading = quat_rotate(quat_conjugate(q), vec3_sub(a, g));
    buffer_put_vec3(args->site.accelerometer, 3 * i, reading, mask_all(), pack);
    buffer_put_vec3(args->site.before, 3 * i, m->v, mask_all(), pack);
}

/* Measures site i of a world. */
STAGE_FN void sense_site(const SapSenseArgs *args, int i, const SapPack *pack) {
    const SapSiteArgs *site = &args->site;
    SiteMotion m = site_motion(args, i, pack);
    if (site->q.data) {
        buffer_put_vec3(site->q, 7 * i, m.X.p, mask_all(), pack);
        buffer_put_quat(site->q, 7 * i + 3, m.X.q, mask_all(), pack);
    }
    if (site->qd.data) {
        buffer_put_vec3(site->qd, 6 * i, m.v, mask_all(), pack);
        buffer_put_vec3(site->qd, 6 * i + 3, m.omega, mask_all(), pack);
    }
    if (site->gyro.data)
        buffer_put_vec3(site->gyro, 3 * i, quat_rotate(quat_conjugate(m.X.q), m.omega), mask_all(), pack);
    if (site->accelerometer.data)
        sense_accelerometer(args, i, &m, pack);
}
