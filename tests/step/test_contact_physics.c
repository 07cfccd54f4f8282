/* Contact with closed answers: rest, sliding and rolling on planes, and what contacts may not do to energy and
 * momentum. */
#include "support/contact_bench.h"

/* ---- a box, a block and a ball ---- */

static const double up[3] = {0, 0, 1};

Test(contact_physics, a_box_at_rest_is_carried_by_its_corners) {
    static const double half[3] = {0.2, 0.15, 0.1};
    const double h = 0.005, k = 2e4, m = 2, g = 9.81;
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    parts.mass[0] = m;
    parts_set_inertia(&parts, 0, m / 3 * (half[1] * half[1] + half[2] * half[2]),
                      m / 3 * (half[0] * half[0] + half[2] * half[2]), m / 3 * (half[0] * half[0] + half[1] * half[1]));
    parts.q[2] = half[2] + 1e-3;
    SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
    o.optimality_rel_tol = 1e-12;
    Fixture b = bench_create(parts_model(&parts), 1, &o);
    for (int step = 0; step < 400; step++) {
        for (int c = 0; c < 4; c++) {
            double corner[3] = {c & 1 ? half[0] : -half[0], c & 2 ? half[1] : -half[1], -half[2]};
            put_plane_contact(&b, 0, c, corner, up, k, 0.02, 0.5);
        }
        bench_step(&b, h);
    }
    double sum = 0;
    for (int c = 0; c < 4; c++) {
        double normal = b.report.impulse[3 * c + 2];
        sum += normal;
        check_near(-b.report.gap[c] / (normal / h / k), 1, 1e-9, "depth over force/k");
        cr_assert_eq(b.report.region[c], 1);
    }
    check_near(sum / (m * g * h), 1, 1e-9, "the normal impulse over m g h");
    for (int i = 0; i < 6; i++)
        check_near(b.w->v[i], 0, 1e-10, "a velocity at rest");
    bench_destroy(&b);
}

/* A block that only translates. */
static SapModel *block_model(double mass) {
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_D6, 3, 0);
    parts_set_axis(&parts, 0, 1, 0, 0);
    parts_set_axis(&parts, 1, 0, 1, 0);
    parts.mass[0] = mass;
    return parts_model(&parts);
}

/* How fast a block goes down an incline from rest after some steps, and before the last half of them. */
static double incline_speed(double theta, double mu, double h, int steps, double *halfway) {
    const double n[3] = {sin(theta), 0, cos(theta)}, origin[3] = {0, 0, 0}, k = 1e5, m = 1.5;
    SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
    o.optimality_rel_tol = 1e-10;
    Fixture b = bench_create(block_model(m), 1, &o);
    double depth = m * 9.81 * cos(theta) / k, speed = 0;
    for (int i = 0; i < 3; i++)
        b.w->q[i] = b.w->body_q[i] = -depth * n[i];
    for (int step = 0; step < steps; step++) {
        put_plane_contact(&b, 0, 0, origin, n, k, 0.01, mu);
        bench_step(&b, h);
        speed = b.w->v[0] * cos(theta) - b.w->v[2] * sin(theta);
        if (step == steps / 2 - 1)
            *halfway = speed;
    }
    bench_destroy(&b);
    return speed;
}

Test(contact_physics, a_block_on_an_incline_sticks_below_the_angle_of_friction_and_slides_above_it) {
    const double theta = 0.4, h = 1e-3, g = 9.81;
    const int steps = 1000;
    double halfway;
    /* regularised friction creeps at sigma w gamma_t, here w m = 1 */
    double creep = 1e-3 * g * sin(theta) * h;
    check_near(incline_speed(theta, tan(theta) * (1 + 1e-3), h, steps, &halfway), creep, 1e-3 * creep,
               "the speed of a block that sticks");
    double mu = tan(theta) * (1 - 1e-3), a = g * (sin(theta) - mu * cos(theta));
    double speed = incline_speed(theta, mu, h, steps, &halfway);
    check_near((speed - halfway) / (steps / 2 * h) / a, 1, 1e-3, "a sliding block's acceleration over the right one");
}

Test(contact_physics, a_sliding_block_stops_after_the_right_distance) {
    const double h = 1e-3, mu = 0.5, g = 9.81, k = 1e5, origin[3] = {0, 0, 0};
    for (double speed = 0.5; speed < 4; speed *= 2) {
        SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
        Fixture b = bench_create(block_model(1), 1, &o);
        b.w->q[2] = b.w->body_q[2] = -g / k;
        b.w->v[0] = speed;
        for (int step = 0; step < 1.5 * speed / (mu * g) / h; step++) {
            put_plane_contact(&b, 0, 0, origin, up, k, 0, mu);
            bench_step(&b, h);
        }
        check_near(b.w->v[0], 0, 1e-4, "the speed of a block that stopped");
        check_near(b.w->q[0], speed * speed / (2 * mu * g), 2 * h * speed, "a stopping distance");
        bench_destroy(&b);
    }
}

/* The velocity of a ball after it was launched sliding at 1 m/s: along x, and its spin about y. */
static void launch_ball(SapCompat compat, double *v, double *spin) {
    const double radius = 0.1, m = 0.7, I = 0.4 * m * radius * radius, centre[3] = {0, 0, 0};
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    parts.mass[0] = m;
    parts_set_inertia(&parts, 0, I, I, I);
    parts.q[2] = radius;
    parts.qd[0] = 1;
    SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
    o.compat = compat;
    Fixture b = bench_create(parts_model(&parts), 1, &o);
    for (int step = 0; step < 400; step++) {
        put_plane_contact(&b, 0, 0, centre, up, 1e5, 0.02, 0.5);
        *(double *)b.c->margin1 = radius;
        bench_step(&b, 2e-3);
    }
    *v = b.w->v[0];
    *spin = b.w->v[4];
    bench_destroy(&b);
}

Test(contact_physics, a_ball_launched_sliding_ends_rolling) {
    double v, spin;
    launch_ball(SAP_COMPAT_NONE, &v, &spin);
    check_near(v, 5.0 / 7, 1e-5, "the speed of a rolling ball");
    check_near(spin, 5.0 / 7 / 0.1, 1e-4, "the spin of a rolling ball");
}

Test(contact_physics, with_witnesses_on_the_core_a_ball_gets_no_spin) {
    double v, spin;
    launch_ball(SAP_COMPAT_SAP_WARP, &v, &spin);
    check_near(v, 0, 1e-6, "the speed of a ball without a lever arm");
    check_near(spin, 0, 1e-12, "the spin of a ball without a lever arm");
}

/* ---- energy ---- */

/* v' A v */
static double energy_norm(const Fixture *b, const double *v) {
    double sum = 0;
    for (int i = 0; i < b->w->nv; i++)
        for (int k = 0; k < b->w->nv; k++)
            sum += v[i] * b->w->out.A[i * b->w->nv + k] * v[k];
    return sqrt(sum);
}

Test(contact_physics, contacts_that_just_touch_give_no_energy) {
    const double h = 0.005;
    int lost = 0, n = cases(200);
    for (uint64_t seed = 0; seed < (uint64_t)n; seed++) {
        SapOptions o = tight_options(seed);
        Fixture b = random_bench(seed, 1, 1, &o, h, false);
        Random random = random_seed(seed);
        for (int c = 0, n_c = b.c->count[0]; c < n_c; c++)
            put_random_contact(&b, &random, 0, c, 0);
        bench_step(&b, h);
        double v[PARTS_DOFS], before = energy_norm(&b, b.w->out.v_star), after;
        internal_velocity(&b, 0, v);
        after = energy_norm(&b, v);
        cr_assert_leq(after, before * (1 + 1e-9), "problem %d: the norm of v grows from %.12g to %.12g", (int)seed,
                      before, after);
        lost += after < 0.999 * before;
        bench_destroy(&b);
    }
    cr_assert_gt(lost, n / 4, "hardly any contact acted");
}

/* ---- momentum ---- */

/* Adds a free body's linear momentum and its angular momentum about the world's origin, at the pose before the step. */
static void add_momentum(const Fixture *b, int body, const double *v, double *p, double *L) {
    const SapModelArrays *m = b->w->m;
    const double *X = b->w->out.body_pose + 7 * body, *omega = v, *I = m->body_inertia + 9 * body;
    double r[3], s[3], arm[3], v_c[3], local[3], inverse[4] = {-X[3], -X[4], -X[5], X[6]}, spin[3] = {0};
    com_arm(m, body, X + 3, r);
    cross(omega, r, s);
    for (int i = 0; i < 3; i++) {
        v_c[i] = m->body_mass[body] * (v[3 + i] + s[i]);
        arm[i] = X[i] + r[i];
        p[i] += v_c[i];
    }
    cross(arm, v_c, s);
    rotate(inverse, omega, local);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            spin[i] += I[3 * i + k] * local[k];
    rotate(X + 3, spin, spin);
    for (int i = 0; i < 3; i++)
        L[i] += s[i] + spin[i];
}

/* What contacts add to the momentum of two free bodies, over the size of an impulse. */
static void momentum_error(SapContactPoint mode, uint64_t seed, double *linear, double *angular) {
    const double h = 0.005;
    Random random = random_seed(seed);
    ModelParts parts;
    parts_init(&parts);
    for (int l = 0; l < 2; l++) {
        parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
        parts.mass[l] = random_between(&random, 0.5, 3);
        random_numbers(&random, 0.2, parts.com[l], 3);
        parts_set_inertia(&parts, l, 0.1, 0.15, 0.2);
    }
    SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
    o.optimality_rel_tol = 1e-12;
    o.contact_point = mode;
    Fixture b = bench_create(parts_model(&parts), 1, &o);
    random_coordinates(&random, b.w->m, b.w->q);
    random_numbers(&random, 2, b.w->v, b.w->nv);
    need(sap_free_motion(b.w->solver, b.w->state, b.w->control, h, &b.w->out));
    for (int c = 0; c < 4; c++)
        do
            put_random_contact(&b, &random, 0, c, -0.02);
        while (b.c->body0[c] < 0 || b.c->body1[c] < 0);
    bench_step(&b, h);
    double v[12], before[6] = {0}, after[6] = {0}, size = 0;
    internal_velocity(&b, 0, v);
    for (int body = 0; body < 2; body++) {
        add_momentum(&b, body, b.w->out.v_star + 6 * body, before, before + 3);
        add_momentum(&b, body, v + 6 * body, after, after + 3);
    }
    for (int c = 0; c < 4; c++)
        size = fmax(size, b.report.impulse[3 * c + 2]);
    cr_assert_gt(size, 0);
    *linear = *angular = 0;
    for (int i = 0; i < 3; i++) {
        *linear = fmax(*linear, fabs(after[i] - before[i]) / size);
        *angular = fmax(*angular, fabs(after[3 + i] - before[3 + i]) / size);
    }
    bench_destroy(&b);
}

Test(contact_physics, contacts_between_two_bodies_keep_their_momentum) {
    for (uint64_t seed = 0; seed < (uint64_t)cases(50); seed++) {
        double linear, angular;
        momentum_error(SAP_CONTACT_MIDPOINT, seed, &linear, &angular);
        cr_assert(linear <= 1e-10 && angular <= 1e-10, "midpoint: momentum changes by %g, %g", linear, angular);
        momentum_error(SAP_WITNESS_POINT, seed, &linear, &angular);
        cr_assert_leq(linear, 1e-10, "witness points: momentum changes by %g", linear);
        cr_assert_leq(angular, 4 * 2 * 0.02, "witness points: angular momentum changes by %g", angular);
    }
}

/* ---- what contacts do to a body ---- */

/* SAP Warp's revolute joints at the root keep the length of a quaternion that is unit only to single precision. The
 * torque about the centre of mass is still the torque of the rotation. */
Test(contact_physics, under_compat_the_torque_on_a_body_is_about_the_centre_of_its_rotated_mass) {
    static const double point[3] = {0.1, -0.2, -0.1};
    const double h = 0.005, size = 1 + 4e-7;
    const double X_p[7] = {0, 0, 0.1, 0.48 * size, -0.36 * size, 0, 0.8 * size};
    static const double unit[4] = {0.48, -0.36, 0, 0.8};
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_REVOLUTE, 0, 1);
    parts_set_com(&parts, 0, 0.5, 1, -0.2);
    SapModel *made = parts_model(&parts), *model;
    SapModelArrays a = *sap_model_arrays(made);
    a.joint_X_p = X_p;
    need(sap_model_copy(&a, &model));
    sap_model_destroy(made);
    SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
    o.compat = SAP_COMPAT_SAP_WARP;
    Fixture b = bench_create(model, 1, &o);
    double wrench[6], centre[3], force[3] = {0}, arm[3], torque[3];
    b.report.wrench = wrench;
    need(sap_solver_record(b.w->solver, &b.report));
    put_plane_contact(&b, 0, 0, point, up, 2e4, 0.02, 0.5);
    vector3(b.c->point0, 0)[2] += 0.05; /* the plane is that much higher: the contact is deep */
    bench_step(&b, h);

    /* (position - centre) x force, with the body where the step began: q = 0 */
    rotate(unit, sap_model_arrays(b.w->model)->body_com, centre);
    for (int i = 0; i < 3; i++) {
        for (int axis = 0; axis < 3; axis++)
            force[i] += b.report.frame[3 * axis + i] * b.report.impulse[axis] / h;
        arm[i] = b.report.position[i] - X_p[i] - centre[i];
    }
    cross(arm, force, torque);
    cr_assert_gt(length(force, 3), 1, "the contact pushes");
    for (int i = 0; i < 3; i++) {
        check_near(wrench[i], force[i], 1e-12 * length(force, 3), "the force");
        check_near(wrench[3 + i], torque[i], 1e-12 * length(force, 3), "the torque");
    }
    bench_destroy(&b);
}
