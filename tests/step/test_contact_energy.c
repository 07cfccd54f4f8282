/* Energy over a hundred thousand steps: bodies thrown on a plane, nothing driving them. The energy is kinetic +
 * potential + energy of the contact springs,
 *
 *   E = m v_C^2/2 + I omega^2/2 + m g z + sum_c k min(phi_c, 0)^2/2
 *
 * Bodies are balls and cubes, with the same inertia about all axes, so that free rotation is exact.
 *
 * With sap_euler phi moves by h v_n, which is where the spring's impulse -h k (phi0 + (h + tau) v_n) sees its end:
 * implicit Euler, which only loses energy. Midpoint moves phi by h (v0 + v)/2 instead, and a spring without damping
 * then changes E, beside what it loses, by
 *
 *   k h^2 (v0 + v)(v0 - 3 v)/8 <= k h^2 v0^2/6
 *
 * in the step in which a contact turns from coming to going. It is that much at most that the energy may ever rise. */
#include "support/contact_bench.h"

enum { WORLDS = 16, STEPS = 100000 };

static const double mass = 1.5, gravity = 9.81, up[3] = {0, 0, 1};
static const double reach = 0.1 * 1.7320508075688772; /* of a corner from the centre */

typedef struct Scene {
    double inertia, h;
    double k[WORLDS], tau[WORLDS], mu[WORLDS];
    int num_points;
    double point[SLOTS][3], margin;
} Scene;

/* A radius or half a side, 0.1 m: softer than near-rigid, so that k is the stiffness that acts. */
static Scene make_scene(bool cube, double h) {
    const double r = 0.1;
    Scene s = {.inertia = (cube ? 2.0 / 3 : 0.4) * mass * r * r, .h = h, .num_points = cube ? 8 : 1};
    s.margin = cube ? 0 : r;
    for (int c = 0; c < 8 && cube; c++)
        set3(s.point[c], c & 1 ? r : -r, c & 2 ? r : -r, c & 4 ? r : -r);
    Random random = random_seed(1);
    for (int w = 0; w < WORLDS; w++) {
        s.k[w] = pow(10, random_between(&random, 3, 4));
        s.tau[w] = w % 3 * 0.01;
        s.mu[w] = w % 5 * 0.3;
    }
    return s;
}

static Fixture throw_bodies(const Scene *s, SapPositionIntegration integration) {
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    parts.mass[0] = mass;
    parts_set_inertia(&parts, 0, s->inertia, s->inertia, s->inertia);
    SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
    o.position_integration = integration;
    o.optimality_rel_tol = 1e-12;
    o.cost_abs_tol = o.cost_rel_tol = 0;
    Fixture b = bench_create(parts_model(&parts), WORLDS, &o);
    Random random = random_seed(2);
    for (int w = 0; w < WORLDS; w++) {
        double *q = b.w->q + 7 * w, *v = b.w->v + 6 * w;
        random_quaternion(&random, q + 3);
        q[2] = random_between(&random, 0.15, 0.5);
        random_numbers(&random, 2, v, 3);
        random_numbers(&random, 5, v + 3, 3);
    }
    need(sap_forward_kinematics(b.w->solver, b.w->state));
    return b;
}

static void put_contacts(Fixture *b, const Scene *s) {
    for (int w = 0; w < WORLDS; w++)
        for (int c = 0; c < s->num_points; c++) {
            put_plane_contact(b, w, c, s->point[c], up, s->k[w], s->tau[w], s->mu[w]);
            ((double *)b->c->margin1)[w * SLOTS + c] = s->margin;
        }
}

static double energy(const Fixture *b, const Scene *s, int w) {
    const double *X = b->w->q + 7 * w, *v = b->w->v + 6 * w;
    double E = mass * gravity * X[2];
    for (int i = 0; i < 3; i++)
        E += 0.5 * mass * v[i] * v[i] + 0.5 * s->inertia * v[3 + i] * v[3 + i];
    for (int c = 0; c < s->num_points; c++) {
        double x[3];
        rotate(X + 3, s->point[c], x);
        double depth = fmin(X[2] + x[2] - s->margin, 0);
        E += 0.5 * s->k[w] * depth * depth;
    }
    return E;
}

typedef struct Course {
    double first, last, least, rise; /* rise: the most that the energy was ever above its least value so far */
    double speed;                    /* of any point of the body, the largest ever */
} Course;

static void follow(const Fixture *b, const Scene *s, int w, Course *course) {
    const double *v = b->w->v + 6 * w;
    double E = energy(b, s, w);
    course->last = E;
    course->rise = fmax(course->rise, E - course->least);
    course->least = fmin(course->least, E);
    course->speed = fmax(course->speed, length(v, 3) + reach * length(v + 3, 3));
    for (int c = 0; c < s->num_points; c++) {
        int slot = w * SLOTS + c;
        double compliant = 1 / (s->h * s->k[w] * (s->h + s->tau[w]));
        cr_assert_gt(compliant, b->report.weight[slot] / (4 * M_PI * M_PI), "near-rigid: another k acts");
    }
}

static void run_scene(const Scene *s, SapPositionIntegration integration, Course course[WORLDS]) {
    Fixture b = throw_bodies(s, integration);
    int steps = cases(STEPS);
    for (int w = 0; w < WORLDS; w++) {
        double E = energy(&b, s, w);
        course[w] = (Course){.first = E, .least = E};
    }
    for (int step = 0; step < steps; step++) {
        put_contacts(&b, s);
        bench_step(&b, s->h);
        for (int w = 0; w < WORLDS; w++)
            follow(&b, s, w, &course[w]);
    }
    bench_destroy(&b);
}

static void check_course(const Course *c, double bound, int w, const char *what) {
    cr_assert_leq(c->rise, bound, "%s %d: the energy rises by %g J, of %g J at the start", what, w, c->rise, c->first);
    if (cases(STEPS) >= 2000) /* time to fall */
        cr_assert_leq(c->last, 0.9 * c->first, "%s %d: hardly any contact acted", what, w);
}

Test(contact_energy, never_grows_with_sap_euler) {
    for (int cube = 0; cube < 2; cube++) {
        Scene s = make_scene(cube, 0.002);
        Course course[WORLDS];
        run_scene(&s, SAP_EULER, course);
        for (int w = 0; w < WORLDS; w++) /* but for rounding */
            check_course(&course[w], 1e-13 * course[w].first, w, cube ? "cube" : "ball");
    }
}

Test(contact_energy, grows_by_no_more_than_the_turn_of_its_springs_with_midpoint) {
    for (int cube = 0; cube < 2; cube++) {
        Scene s = make_scene(cube, 0.002);
        Course course[WORLDS];
        run_scene(&s, SAP_MIDPOINT, course);
        for (int w = 0; w < WORLDS; w++)
            check_course(&course[w], s.k[w] * pow(s.h * course[w].speed, 2) / 6, w, cube ? "cube" : "ball");
    }
}
