/* Steps with contact through the public interface: known numbers, physics with closed answers, and the conditions that
 * define the solution, checked by code of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "model_parts.h"
#include "random_model.h"
#include "work.h"
#include "worlds.h"

static void need(SapStatus status) {
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
}

static int cases(int n) {
    int scaled = (int)(n * work_scale());
    return scaled < 4 ? 4 : scaled;
}

static void check_near(double value, double expected, double tolerance, const char *what) {
    cr_assert(fabs(value - expected) <= tolerance, "%s is %.17g, not %.17g", what, value, expected);
}

/* To the printed digits. */
static void check_digits(double value, double expected, const char *what) {
    check_near(value, expected, 2e-14 * fmax(fabs(expected), 1), what);
}

/* ---- a batch with contacts ---- */

enum { SLOTS = 8 };

typedef struct Bench {
    Worlds *w;
    SapContacts *c;
    SapContactReport report;
    SapWorldReport world;
} Bench;

static SapOptions options_of(const char *preset, SapLineSearch line_search) {
    SapOptions o;
    need(sap_options_preset(preset, &o));
    o.line_search_variant = line_search;
    o.max_rigid_contact = SLOTS;
    o.threads = 1;
    return o;
}

static double *doubles(int n) {
    double *x = calloc((size_t)n, sizeof *x);
    cr_assert_not_null(x);
    return x;
}

/* Takes the model over. */
static Bench bench_create(SapModel *model, int n, const SapOptions *options) {
    Bench b = {.w = worlds_create(model, n, options)};
    int slots = n * SLOTS;
    need(sap_contacts_create(n, SLOTS, SAP_F64, &b.c));
    b.report = (SapContactReport){.impulse = doubles(3 * slots),
                                  .velocity = doubles(3 * slots),
                                  .position = doubles(3 * slots),
                                  .frame = doubles(9 * slots),
                                  .gap = doubles(slots),
                                  .weight = doubles(slots),
                                  .pair = doubles(3 * slots),
                                  .jacobian = doubles(3 * slots * b.w->nv),
                                  .region = calloc((size_t)slots, sizeof(int32_t)),
                                  .drive = doubles(n * b.w->nv),
                                  .limit = doubles(n * b.w->nv),
                                  .friction = doubles(n * b.w->nv)};
    need(sap_solver_record(b.w->solver, &b.report));
    return b;
}

static void bench_destroy(Bench *b) {
    double *const arrays[] = {b->report.impulse, b->report.velocity, b->report.position, b->report.frame,
                              b->report.gap,     b->report.weight,   b->report.pair,     b->report.jacobian,
                              b->report.drive,   b->report.limit,    b->report.friction};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(b->report.region);
    sap_contacts_destroy(b->c);
    worlds_destroy(b->w);
}

/* One step in place; every world must end as it should. */
static void bench_step(Bench *b, double h) {
    need(sap_step(b->w->solver, b->w->state, b->w->control, b->c, h, b->w->state));
    need(sap_solver_report(b->w->solver, &b->world));
    for (int i = 0; i < b->w->n; i++) {
        uint32_t status = b->world.status[i];
        cr_assert(status == SAP_WORLD_OPTIMAL || status == SAP_WORLD_COST_SETTLED ||
                      status == (SAP_WORLD_OPTIMAL | SAP_WORLD_COST_SETTLED),
                  "world %d of %d reports %#x", i, b->w->n, (unsigned)status);
    }
}

static double *vector3(void *array, int slot) {
    return (double *)array + 3 * slot;
}

static void set3(double *v, double x, double y, double z) {
    v[0] = x;
    v[1] = y;
    v[2] = z;
}

/* Slot c of world 0: `point` of body 0 against the static plane through the origin with that normal. */
static void put_plane_contact(Bench *b, int c, const double *point, const double *normal, double k, double tau,
                              double mu) {
    const double *p = b->w->body_q; /* translation only */
    double distance = 0;
    b->c->body0[c] = -1;
    b->c->body1[c] = 0;
    for (int i = 0; i < 3; i++)
        distance += (p[i] + point[i]) * normal[i];
    for (int i = 0; i < 3; i++) {
        vector3(b->c->point0, c)[i] = p[i] + point[i] - distance * normal[i];
        vector3(b->c->point1, c)[i] = point[i];
        vector3(b->c->normal, c)[i] = normal[i];
    }
    ((double *)b->c->stiffness)[c] = k;
    ((double *)b->c->tau)[c] = tau;
    ((double *)b->c->mu)[c] = mu;
    if (b->c->count[0] <= c)
        b->c->count[0] = c + 1;
}

/* ---- rotations and velocities ---- */

static void rotate(const double *q, const double *v, double *out) {
    double t[3] = {2 * (q[1] * v[2] - q[2] * v[1]), 2 * (q[2] * v[0] - q[0] * v[2]), 2 * (q[0] * v[1] - q[1] * v[0])};
    double u[3] = {q[1] * t[2] - q[2] * t[1], q[2] * t[0] - q[0] * t[2], q[0] * t[1] - q[1] * t[0]};
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + q[3] * t[i] + u[i];
}

static void cross(const double *a, const double *b, double *out) {
    double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    memcpy(out, c, sizeof c);
}

/* From the body origin to the centre of mass, world axes. */
static void com_arm(const SapModelArrays *m, int body, const double *q, double *r) {
    rotate(q, m->body_com + 3 * body, r);
}

/* The state's velocities of one world in internal order: a free joint is [omega ; v of the origin]. */
static void internal_velocity(const Bench *b, int world, double *out) {
    const SapModelArrays *m = b->w->m;
    const double *v = b->w->v + world * b->w->nv, *q = b->w->q + world * b->w->nq;
    memcpy(out, v, (size_t)b->w->nv * sizeof *out);
    for (int j = 0; j < m->num_joints; j++) {
        int at = m->joint_qd_start[j];
        if (m->joint_type[j] != SAP_JOINT_FREE)
            continue;
        double r[3], s[3];
        com_arm(m, m->joint_child[j], q + m->joint_q_start[j] + 3, r);
        cross(v + at + 3, r, s);
        for (int i = 0; i < 3; i++) {
            out[at + i] = v[at + 3 + i];
            out[at + 3 + i] = v[at + i] - s[i];
        }
    }
}

/* ---- known numbers: a free body on a plane ---- */

/* The model again with other arrays; frees the old one. */
static SapModel *remade(SapModel *old, const SapModelArrays *a) {
    SapModel *model;
    need(sap_model_create(a, &model));
    sap_model_destroy(old);
    return model;
}

static SapModel *golden_body(void) {
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    parts.mass[0] = 2;
    parts.gravity[2] = -9.8125;
    parts_set_inertia(&parts, 0, 1.0 / 8, 1.0 / 4, 3.0 / 8);
    parts_set_com(&parts, 0, 1.0 / 64, -1.0 / 32, 1.0 / 32);
    SapModel *model = parts_model(&parts);
    SapModelArrays a = *sap_model_arrays(model);
    a.num_shapes = 2;
    a.shape_type = (const int32_t[]){SAP_SHAPE_SPHERE, SAP_SHAPE_SPHERE};
    a.shape_body = (const int32_t[]){-1, 0};
    a.shape_scale = (const double[]){0.1, 0, 0, 0.1, 0, 0};
    a.shape_material_mu = (const double[]){0.5, 1};
    a.shape_material_ke = (const double[]){1e5, 1e4};
    a.shape_material_tau = (const double[]){1.0 / 64, 1.0 / 32};
    a.shape_transform = NULL;
    a.shape_margin = a.shape_gap = NULL;
    a.shape_collision_group = a.shape_flags = NULL;
    a.shape_name = NULL;
    return remade(model, &a);
}

static Bench golden_bench(const char *preset, SapLineSearch line_search) {
    SapOptions o = options_of(preset, line_search);
    o.compat = SAP_COMPAT_SAP_WARP; /* witnesses on the core */
    Bench b = bench_create(golden_body(), 1, &o);
    static const double q[7] = {0.125, 0.25, 0.5, 0.1, 0.3, 0.3, 0.9}, v[6] = {0.3, -0.2, 0.5, 0.4, 0.1, -0.6},
                        f[6] = {0.5, -0.25, 0.125, 1, 2, -0.5};
    double r[3], wr[3], rf[3];
    memcpy(b.w->q, q, sizeof q);
    com_arm(b.w->m, 0, q + 3, r);
    cross(v, r, wr);
    cross(r, f + 3, rf);
    for (int i = 0; i < 3; i++) {
        b.w->v[i] = v[3 + i] + wr[i];
        b.w->v[3 + i] = v[i];
        b.w->joint_f[i] = f[3 + i];
        b.w->joint_f[3 + i] = f[i] - rf[i];
    }
    b.c->count[0] = 1;
    b.c->shape0[0] = 0;
    b.c->shape1[0] = 1;
    set3(b.c->point0, 0.125, 0.25, 0);
    set3(b.c->point1, 1.0 / 32, -1.0 / 16, -0.5);
    set3(b.c->normal, 0, 0, 1);
    *(double *)b.c->margin0 = 1.0 / 16;
    *(double *)b.c->margin1 = 1.0 / 32;
    return b;
}

typedef struct GoldenStep {
    const char *preset;
    double w, v[6], gamma[3], cost, q[7];
    int counts[3][2]; /* exact, armijo, monotone: Newton, line search */
} GoldenStep;

static const GoldenStep golden_steps[] = {
    {"drake",
     0.7674715075340149,
     {0.056627473358041, 0.6417596909688833, 0.539082305141574, 0.315828311397763, -0.015555739906865,
      0.148221266615564},
     {0.2402423949683183, -0.1645815043441605, 1.58773477204141},
     1.0690891319354963,
     {0.127467408682795, 0.2498784707819776, 0.5011579786454341, 0.1003188659223325, 0.302398777053587,
      0.3017092598172371, 0.8985892428229301},
     {{3, 23}, {4, 55}, {7, 22}}},
    {"approx64",
     1.632921006944444,
     {0.2237136991425237, 1.1346977197025434, 0.5192591877521071, 0.4799271803066404, 0.0321826870774242,
      -0.0166776221606472},
     {0.1485886415936175, 0.1691584864143516, 1.2095834724190448},
     0.7592610519996115,
     {0.1284372155480728, 0.2505163386213962, 0.497591103038435, 0.1008706244370309, 0.3015339804549032,
      0.3019147179137971, 0.898749063345124},
     {{3, 17}, {4, 42}, {5, 16}}},
};

Test(contact_solve, a_body_on_a_plane_has_known_numbers) {
    static const double v_star[6] = {0.31737448125,      -0.2062328125,      0.4952427979166666,
                                     0.4041040090169271, 0.1081131048177083, -0.6786716194335937};
    static const double diagonal[6] = {0.24436640625, 0.20890625, 0.30551640625, 2, 2, 2};
    for (int k = 0; k < 2; k++) {
        const GoldenStep *g = &golden_steps[k];
        Bench b = golden_bench(g->preset, SAP_EXACT_ROOT);
        need(sap_free_motion(b.w->solver, b.w->state, b.w->control, 1.0 / 128, &b.w->out));
        for (int i = 0; i < 6; i++) {
            check_digits(b.w->out.v_star[i], v_star[i], "v*");
            check_digits(b.w->out.A[7 * i], diagonal[i], "A");
        }
        bench_step(&b, 1.0 / 128);
        double v[6];
        internal_velocity(&b, 0, v);
        for (int i = 0; i < 6; i++)
            check_digits(v[i], g->v[i], "v");
        for (int i = 0; i < 7; i++)
            check_digits(b.w->q[i], g->q[i], "q");
        for (int i = 0; i < 3; i++) /* of stiction: v over R_t, so with more rounding */
            check_near(b.report.impulse[i], g->gamma[i], 1e-13, "gamma");
        check_digits(b.world.cost[0], g->cost, "cost");
        check_digits(b.report.weight[0], g->w, "w");
        check_digits(b.report.gap[0], -0.03125, "gap");
        check_digits(b.report.pair[0], 2.0 / 3, "mu");
        check_digits(b.report.pair[1], 1e5 / 11, "k");
        check_digits(b.report.pair[2], 0.046875, "tau");
        bench_destroy(&b);
    }
}

Test(contact_solve, a_body_on_a_plane_takes_known_numbers_of_iterations) {
    static const SapLineSearch search[3] = {SAP_EXACT_ROOT, SAP_ARMIJO_DECAY, SAP_MONOTONE_DECAY};
    for (int k = 0; k < 2; k++)
        for (int s = 0; s < 3; s++) {
            const GoldenStep *g = &golden_steps[k];
            Bench b = golden_bench(g->preset, search[s]);
            bench_step(&b, 1.0 / 128);
            cr_assert(b.world.iterations[0] == g->counts[s][0] && b.world.line_iterations[0] == g->counts[s][1],
                      "%s with line search %d took %d/%d iterations, not %d/%d", g->preset, (int)search[s],
                      b.world.iterations[0], b.world.line_iterations[0], g->counts[s][0], g->counts[s][1]);
            bench_destroy(&b);
        }
}

Test(contact_solve, monotone_decay_stops_early_at_a_known_velocity) {
    static const double expected[6] = {0.2201944357654719, 0.9094204066073652, 0.5287430313641474,
                                       0.386109684631344,  0.0362199516675098, -0.2479546283203971};
    Bench b = golden_bench("approx64", SAP_MONOTONE_DECAY);
    double v[6];
    bench_step(&b, 1.0 / 128);
    internal_velocity(&b, 0, v);
    for (int i = 0; i < 6; i++)
        check_digits(v[i], expected[i], "v");
    cr_assert_eq(b.world.status[0], SAP_WORLD_COST_SETTLED);
    bench_destroy(&b);
}

/* ---- joint terms ---- */

typedef struct Slider {
    double mass, armature, kp, kd, effort, q_d, v_d, act, upper, limit_ke, limit_kd, f, q, v;
} Slider;

static SapModel *slider_model(const Slider *s) {
    ModelParts parts;
    parts_init(&parts);
    parts.gravity[2] = 0;
    parts_add(&parts, -1, SAP_JOINT_PRISMATIC, 0, 0);
    parts_set_axis(&parts, 0, 1, 0, 0);
    parts.mass[0] = s->mass;
    parts.armature[0] = s->armature;
    SapModel *model = parts_model(&parts);
    SapModelArrays a = *sap_model_arrays(model);
    a.joint_target_mode = (const int32_t[]){SAP_TARGET_POSITION};
    a.joint_target_ke = &s->kp;
    a.joint_target_kd = &s->kd;
    a.joint_effort_limit = &s->effort;
    a.joint_limit_upper = &s->upper;
    a.joint_limit_ke = &s->limit_ke;
    a.joint_limit_kd = &s->limit_kd;
    a.joint_target_pos = &s->q_d;
    a.joint_target_vel = &s->v_d;
    a.joint_act = &s->act;
    a.joint_f = &s->f;
    a.joint_q = &s->q;
    a.joint_qd = &s->v;
    return remade(model, &a);
}

static Bench slider_step(const Slider *s, double h) {
    SapOptions o = options_of("drake", SAP_EXACT_ROOT);
    Bench b = bench_create(slider_model(s), 1, &o);
    need(sap_free_motion(b.w->solver, b.w->state, b.w->control, h, &b.w->out));
    bench_step(&b, h);
    return b;
}

Test(contact_solve, a_slider_with_drive_and_limit_has_known_numbers) {
    /* impulses and costs that are not known are NaN */
    static const struct {
        double kp, kd, effort, limit_ke, limit_kd, v, drive, limit, cost;
    } rows[] = {{100, 2, 3, 0, 0, 0.26953125, 0.0234375, 0, NAN},
                {100, 2, 1e6, 0, 0, 0.5189335765022077, NAN, 0, 2.630313455873029},
                {100, 2, 3, 8192, 64, 0.1775173611111111, 0.0234375, -0.1150173611111111, NAN},
                {1e9, 1e5, 1e6, 0, 0, 55.40171020296784, NAN, 0, NAN}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        Slider s = {1,   0.25,   rows[r].kp,       rows[r].kd,       rows[r].effort, 0.5,          0,
                    0.5, 0.0625, rows[r].limit_ke, rows[r].limit_kd, 0.125,          0.0615234375, 0.25};
        Bench b = slider_step(&s, 1.0 / 128);
        check_digits(b.w->out.v_star[0], 0.25078125, "v*");
        check_digits(b.w->v[0], rows[r].v, "v");
        if (!isnan(rows[r].drive))
            check_digits(b.report.drive[0], rows[r].drive, "the drive's impulse");
        check_digits(b.report.limit[0], rows[r].limit, "the limit's impulse");
        if (!isnan(rows[r].cost))
            check_digits(b.world.cost[0], rows[r].cost, "cost");
        bench_destroy(&b);
    }
}

Test(contact_solve, a_drive_gives_the_velocity_of_its_closed_form) {
    Random random = random_seed(1);
    for (int i = 0; i < cases(100); i++) {
        double h = random_between(&random, 1e-3, 1e-2);
        Slider s = {.mass = random_between(&random, 0.5, 3),
                    .armature = random_between(&random, 0, 0.5),
                    .kp = random_between(&random, 0, 200),
                    .kd = random_between(&random, 0.1, 20),
                    .effort = INFINITY,
                    .q_d = random_between(&random, -1, 1),
                    .v_d = random_between(&random, -1, 1),
                    .act = random_between(&random, -1, 1),
                    .upper = INFINITY,
                    .f = random_between(&random, -1, 1),
                    .q = random_between(&random, -1, 1),
                    .v = random_between(&random, -1, 1)};
        double A = s.mass + s.armature, v_star = s.v + h * s.f / A, g = h * s.kp + s.kd;
        double a = s.kp * (s.q_d - s.q) + s.kd * s.v_d + s.act, v = (A * v_star + h * a) / (A + h * g);
        Bench b = slider_step(&s, h);
        check_near(b.w->v[0], v, 1e-13 * (1 + fabs(v)), "the velocity of a drive");
        check_near(b.report.drive[0], A * (v - v_star), 1e-12 * (1 + fabs(v)), "the drive's impulse");
        bench_destroy(&b);

        s.effort = 0.5 * fabs(a - g * v); /* so it is exceeded */
        v = v_star + h * copysign(s.effort, a - g * v) / A;
        b = slider_step(&s, h);
        check_near(b.w->v[0], v, 1e-13 * (1 + fabs(v)), "the velocity of a clamped drive");
        bench_destroy(&b);
    }
}

Test(contact_solve, joint_friction_holds_up_to_its_bound_and_then_brakes) {
    static const double F = 2, h = 0.01;
    const struct {
        double f, v0, expected, tolerance;
    } rows[] = {
        {1.5, 0, 0, 2e-5}, /* held, but for a creep of sigma/A f h */
        {3, 1, 1 + 0.01 * (3 - 2), 1e-12},
        {0, -1, -1 + 0.01 * 2, 1e-12},
    };
    for (int r = 0; r < 3; r++) {
        Slider s = {.mass = 1, .effort = INFINITY, .upper = INFINITY, .f = rows[r].f, .v = rows[r].v0};
        SapOptions o = options_of("drake", SAP_EXACT_ROOT);
        SapModel *model = slider_model(&s);
        SapModelArrays a = *sap_model_arrays(model);
        a.joint_friction = &F;
        Bench b = bench_create(remade(model, &a), 1, &o);
        bench_step(&b, h);
        check_near(b.w->v[0], rows[r].expected, rows[r].tolerance, "the velocity of a joint with friction");
        bench_destroy(&b);
    }
}

/* ---- a box, a block and a ball ---- */

static const double up[3] = {0, 0, 1};

Test(contact_solve, a_box_at_rest_is_carried_by_its_corners) {
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
    Bench b = bench_create(parts_model(&parts), 1, &o);
    for (int step = 0; step < 400; step++) {
        for (int c = 0; c < 4; c++) {
            double corner[3] = {c & 1 ? half[0] : -half[0], c & 2 ? half[1] : -half[1], -half[2]};
            put_plane_contact(&b, c, corner, up, k, 0.02, 0.5);
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
    Bench b = bench_create(block_model(m), 1, &o);
    double depth = m * 9.81 * cos(theta) / k, speed = 0;
    for (int i = 0; i < 3; i++)
        b.w->q[i] = b.w->body_q[i] = -depth * n[i];
    for (int step = 0; step < steps; step++) {
        put_plane_contact(&b, 0, origin, n, k, 0.01, mu);
        bench_step(&b, h);
        speed = b.w->v[0] * cos(theta) - b.w->v[2] * sin(theta);
        if (step == steps / 2 - 1)
            *halfway = speed;
    }
    bench_destroy(&b);
    return speed;
}

Test(contact_solve, a_block_on_an_incline_sticks_below_the_angle_of_friction_and_slides_above_it) {
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

Test(contact_solve, a_sliding_block_stops_after_the_right_distance) {
    const double h = 1e-3, mu = 0.5, g = 9.81, k = 1e5, origin[3] = {0, 0, 0};
    for (double speed = 0.5; speed < 4; speed *= 2) {
        SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
        Bench b = bench_create(block_model(1), 1, &o);
        b.w->q[2] = b.w->body_q[2] = -g / k;
        b.w->v[0] = speed;
        for (int step = 0; step < 1.5 * speed / (mu * g) / h; step++) {
            put_plane_contact(&b, 0, origin, up, k, 0, mu);
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
    Bench b = bench_create(parts_model(&parts), 1, &o);
    for (int step = 0; step < 400; step++) {
        put_plane_contact(&b, 0, centre, up, 1e5, 0.02, 0.5);
        *(double *)b.c->margin1 = radius;
        bench_step(&b, 2e-3);
    }
    *v = b.w->v[0];
    *spin = b.w->v[4];
    bench_destroy(&b);
}

Test(contact_solve, a_ball_launched_sliding_ends_rolling) {
    double v, spin;
    launch_ball(SAP_COMPAT_NONE, &v, &spin);
    check_near(v, 5.0 / 7, 1e-5, "the speed of a rolling ball");
    check_near(spin, 5.0 / 7 / 0.1, 1e-4, "the spin of a rolling ball");
}

Test(contact_solve, with_witnesses_on_the_core_a_ball_gets_no_spin) {
    double v, spin;
    launch_ball(SAP_COMPAT_SAP_WARP, &v, &spin);
    check_near(v, 0, 1e-6, "the speed of a ball without a lever arm");
    check_near(spin, 0, 1e-12, "the spin of a ball without a lever arm");
}

/* ---- random problems ---- */

static int random_body(Random *random, int nb) {
    return random_below(random, 3) ? random_below(random, nb) : -1;
}

static void body_pose(const Bench *b, int world, int body, double *pose) {
    static const double identity[7] = {0, 0, 0, 0, 0, 0, 1};
    memcpy(pose, body < 0 ? identity : b->w->out.body_pose + 7 * (world * b->w->nb + body), sizeof identity);
}

static void random_direction(Random *random, double *n) {
    double q[4], norm;
    random_quaternion(random, q);
    norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    for (int i = 0; i < 3; i++)
        n[i] = q[i] / norm;
}

/* A contact in a random place: the witnesses are `gap` apart (margins included) along the normal. Needs the poses of free
 * motion. */
static void put_random_contact(Bench *b, Random *random, int world, int c, double gap) {
    int slot = world * SLOTS + c, body[2];
    double n[3], X0[7], X1[7], x[3], inverse[4], margin[2];
    do {
        body[0] = random_body(random, b->w->nb);
        body[1] = random_body(random, b->w->nb);
    } while (body[0] == body[1]);
    b->c->body0[slot] = body[0];
    b->c->body1[slot] = body[1];
    body_pose(b, world, body[0], X0);
    body_pose(b, world, body[1], X1);
    random_direction(random, n);
    random_numbers(random, 0.05, margin, 2);
    random_numbers(random, 0.5, vector3(b->c->point0, slot), 3);
    rotate(X0 + 3, vector3(b->c->point0, slot), x);
    for (int i = 0; i < 3; i++) {
        x[i] += X0[i] + (gap + margin[0] + margin[1]) * n[i] - X1[i];
        inverse[i] = -X1[3 + i];
        vector3(b->c->normal, slot)[i] = n[i] * 3; /* any length */
    }
    inverse[3] = X1[6];
    rotate(inverse, x, vector3(b->c->point1, slot));
    ((double *)b->c->margin0)[slot] = margin[0];
    ((double *)b->c->margin1)[slot] = margin[1];
    ((double *)b->c->stiffness)[slot] = pow(10, random_between(random, 3, 7));
    ((double *)b->c->tau)[slot] = random_between(random, 0, 0.05);
    ((double *)b->c->mu)[slot] = random_below(random, 5) ? random_between(random, 0, 1.2) : 0;
    b->c->count[world] = c + 1;
}

typedef struct JointNumbers {
    int32_t mode[PARTS_DOFS];
    double ke[PARTS_DOFS], kd[PARTS_DOFS], effort[PARTS_DOFS], lower[PARTS_DOFS], upper[PARTS_DOFS],
        limit_ke[PARTS_DOFS], limit_kd[PARTS_DOFS], friction[PARTS_DOFS], target[PARTS_DOFS], rate[PARTS_DOFS],
        act[PARTS_DOFS];
} JointNumbers;

static int joint_axes(const SapModelArrays *m, int j) {
    return m->joint_qd_start[j + 1] - m->joint_qd_start[j];
}

static bool has_coordinates(const SapModelArrays *m, int j) {
    return m->joint_type[j] != SAP_JOINT_BALL && m->joint_type[j] != SAP_JOINT_FREE;
}

/* Drives, limits and friction on some of the dofs. */
static SapModel *with_joint_terms(SapModel *model, Random *random) {
    JointNumbers *t = calloc(1, sizeof *t);
    SapModelArrays a = *sap_model_arrays(model);
    for (int j = 0; j < a.num_joints; j++)
        for (int i = a.joint_qd_start[j]; i < a.joint_qd_start[j + 1]; i++) {
            t->mode[i] = random_below(random, 3) == 0;
            t->ke[i] = has_coordinates(&a, j) ? pow(10, random_between(random, 0, 6)) : 0;
            t->kd[i] = random_between(random, 0, 5);
            t->effort[i] = random_below(random, 2) ? random_between(random, 0.5, 20) : INFINITY;
            t->lower[i] = -INFINITY;
            t->upper[i] = INFINITY;
            if (joint_axes(&a, j) == 1 && random_below(random, 2)) {
                t->lower[i] = random_between(random, -2, 0);
                t->upper[i] = random_between(random, 0, 2);
                t->limit_ke[i] = pow(10, random_between(random, 2, 7));
                t->limit_kd[i] = random_between(random, 0, 10);
            }
            t->friction[i] = random_below(random, 4) ? 0 : random_between(random, 0, 2);
            t->target[i] = random_between(random, -1, 1);
            t->rate[i] = random_between(random, -1, 1);
            t->act[i] = random_between(random, -1, 1);
        }
    a.joint_target_mode = t->mode;
    a.joint_target_ke = t->ke;
    a.joint_target_kd = t->kd;
    a.joint_effort_limit = t->effort;
    a.joint_limit_lower = t->lower;
    a.joint_limit_upper = t->upper;
    a.joint_limit_ke = t->limit_ke;
    a.joint_limit_kd = t->limit_kd;
    a.joint_friction = t->friction;
    a.joint_target_pos = t->target;
    a.joint_target_vel = t->rate;
    a.joint_act = t->act;
    model = remade(model, &a);
    free(t);
    return model;
}

/* Every world the same random state and contacts. */
static Bench random_bench(uint64_t seed, int n, const SapOptions *o, double h, bool joint_terms) {
    Random random = random_seed(seed);
    SapModel *model = random_forest(seed, 2 + random_below(&random, 4));
    if (joint_terms)
        model = with_joint_terms(model, &random);
    Bench b = bench_create(model, n, o);
    Worlds *w = b.w;
    random_coordinates(&random, w->m, w->q);
    random_numbers(&random, 2, w->v, w->nv);
    random_numbers(&random, 2, w->joint_f, w->nv);
    for (int i = 1; i < n; i++) {
        memcpy(w->q + i * w->nq, w->q, (size_t)w->nq * sizeof *w->q);
        memcpy(w->v + i * w->nv, w->v, (size_t)w->nv * sizeof *w->v);
        memcpy(w->joint_f + i * w->nv, w->joint_f, (size_t)w->nv * sizeof *w->joint_f);
    }
    need(sap_free_motion(w->solver, w->state, w->control, h, &w->out));
    int contacts = 1 + random_below(&random, 5);
    for (int c = 0; c < contacts; c++) {
        double gap = random_between(&random, -1e-2, 2e-3);
        Random same = random;
        for (int i = 0; i < n; i++) {
            random = same;
            put_random_contact(&b, &random, i, c, gap);
        }
    }
    return b;
}

static SapOptions tight_options(uint64_t seed) {
    SapOptions o = options_of(seed % 2 ? "drake" : "approx64", SAP_EXACT_ROOT);
    o.cost_abs_tol = o.cost_rel_tol = 0; /* only the optimality test ends a solve */
    return o;
}

/* The contact's impulse by the law, in long double. */
static void law_impulse(const Bench *b, int slot, double h_, const long double *v, long double *gamma) {
    long double mu = b->report.pair[3 * slot], k = b->report.pair[3 * slot + 1], tau = b->report.pair[3 * slot + 2];
    long double w = b->report.weight[slot], h = h_, pi = acosl(-1), phi = b->report.gap[slot];
    long double R_t = 1e-3L * w, R_n = fmaxl(w / (4 * pi * pi), 1 / (h * k * (h + tau)));
    long double y[3] = {-v[0] / R_t, -v[1] / R_t, (-phi / (h + tau) - v[2]) / R_n};
    long double y_r = sqrtl(y[0] * y[0] + y[1] * y[1] + 1e-14L), mu_hat = mu * R_t / R_n;
    gamma[0] = gamma[1] = gamma[2] = 0;
    if (mu <= 1e-12L) {
        gamma[2] = fmaxl(y[2], 0);
    } else if (y_r <= mu * y[2]) {
        memcpy(gamma, y, sizeof y);
    } else if (y[2] > -mu_hat * y_r) {
        gamma[2] = (y[2] + mu_hat * y_r) / (1 + mu * mu_hat);
        gamma[0] = mu * gamma[2] * y[0] / y_r;
        gamma[1] = mu * gamma[2] * y[1] / y_r;
    }
}

static long double clamp(long double x, long double bound) {
    return x > bound ? bound : x < -bound ? -bound : x;
}

/* The joint terms' impulse on internal dof i of world 0, in long double. q0 and v0 are those before the step. */
static long double joint_impulse(const Bench *b, int j, int i, double h_, const double *q0, double v) {
    const SapModelArrays *m = b->w->m;
    int first = m->joint_qd_start[j], public_dof = i;
    if (m->joint_type[j] == SAP_JOINT_FREE)
        public_dof = first + (i - first + 3) % 6;
    long double h = h_, pi = acosl(-1), w = 1 / (long double)b->w->out.A[i * b->w->nv + i], total = 0;
    long double near_rigid = 0.01L / (4 * pi * pi) * w;
    long double q = has_coordinates(m, j) ? q0[m->joint_q_start[j] + i - first] : 0;
    long double kp = m->joint_target_ke[public_dof], kd = m->joint_target_kd[public_dof];
    if (m->joint_target_mode[public_dof] && (kp > 0 || kd > 0) && (has_coordinates(m, j) || kp == 0)) {
        long double soften = fminl(1, 1 / (h * (h * kp + kd) * near_rigid));
        long double g = soften * (h * kp + kd);
        long double a = soften * (kp * (m->joint_target_pos[public_dof] - q) + kd * m->joint_target_vel[public_dof]) +
                        m->joint_act[public_dof];
        total += h * clamp(a - g * v, m->joint_effort_limit[public_dof]);
    }
    if (joint_axes(m, j) == 1 && m->joint_limit_ke[i] > 0) {
        long double ke = m->joint_limit_ke[i], dissipation = h + m->joint_limit_kd[i] / ke;
        long double R = fmaxl(near_rigid, 1 / (h * ke * dissipation));
        long double window = 2 * h * fmaxl(fabsl(b->w->out.joint_qd[i]), fabsl(b->w->out.v_star[i]));
        long double lower = q - m->joint_limit_lower[i], upper = m->joint_limit_upper[i] - q;
        if (lower <= window)
            total += fmaxl((-lower / dissipation - v) / R, 0);
        if (upper <= window)
            total -= fmaxl((-upper / dissipation + v) / R, 0);
    }
    if (m->joint_friction[public_dof] > 0)
        total += clamp(-v / (1e-3L * w), h * m->joint_friction[public_dof]);
    return total;
}

/* |s (A (v - v*) - J' gamma - joint impulses)| / max(|s A v|, |s j|) of world 0, s = 1/sqrt(A_ii). */
static double optimality_residual(const Bench *b, double h, const double *q0) {
    const SapModelArrays *m = b->w->m;
    int nv = b->w->nv;
    const double *A = b->w->out.A, *v_star = b->w->out.v_star;
    double v[PARTS_DOFS];
    long double j[PARTS_DOFS] = {0}, residual = 0, scale_p = 0, scale_j = 0;
    internal_velocity(b, 0, v);
    for (int c = 0; c < b->c->count[0]; c++) {
        const double *J = b->report.jacobian + 3 * c * nv;
        long double v_c[3] = {0}, gamma[3];
        for (int axis = 0; axis < 3; axis++)
            for (int i = 0; i < nv; i++)
                v_c[axis] += (long double)J[axis * nv + i] * v[i];
        law_impulse(b, c, h, v_c, gamma);
        for (int axis = 0; axis < 3; axis++)
            for (int i = 0; i < nv; i++)
                j[i] += J[axis * nv + i] * gamma[axis];
    }
    for (int k = 0; k < m->num_joints; k++)
        for (int i = m->joint_qd_start[k]; i < m->joint_qd_start[k + 1]; i++)
            j[i] += joint_impulse(b, k, i, h, q0, v[i]);
    for (int i = 0; i < nv; i++) {
        long double r = 0, p = 0, s = 1 / sqrtl(A[i * nv + i]);
        for (int k = 0; k < nv; k++) {
            r += A[i * nv + k] * ((long double)v[k] - v_star[k]);
            p += (long double)A[i * nv + k] * v[k];
        }
        residual += s * s * (r - j[i]) * (r - j[i]);
        scale_p += s * s * p * p;
        scale_j += s * s * j[i] * j[i];
    }
    return (double)sqrtl(residual / fmaxl(scale_p, scale_j));
}

Test(contact_solve, the_solution_balances_momentum) {
    const double h = 0.005;
    int seen[4] = {0}, n = cases(400);
    double terms[3] = {0}; /* largest impulses of drives, limits, friction */
    for (uint64_t seed = 0; seed < (uint64_t)n; seed++) {
        SapOptions o = tight_options(seed);
        Bench b = random_bench(seed, 1, &o, h, true);
        double q0[PARTS_COORDS];
        memcpy(q0, b.w->q, (size_t)b.w->nq * sizeof *q0);
        bench_step(&b, h);
        double residual = optimality_residual(&b, h, q0);
        cr_assert_leq(residual, 1.1e-6, "the momentum of problem %d is off by %g", (int)seed, residual);
        cr_assert_leq(b.world.residual[0], 1e-6);
        for (int c = 0; c < b.c->count[0]; c++)
            seen[b.report.region[c]]++;
        for (int i = 0; i < b.w->nv; i++) {
            terms[0] = fmax(terms[0], fabs(b.report.drive[i]));
            terms[1] = fmax(terms[1], fabs(b.report.limit[i]));
            terms[2] = fmax(terms[2], fabs(b.report.friction[i]));
        }
        bench_destroy(&b);
    }
    for (int r = 0; r < 4 && n >= 40; r++)
        cr_assert_gt(seen[r], 0, "no contact was in region %d", r);
    for (int k = 0; k < 3 && n >= 40; k++)
        cr_assert_gt(terms[k], 0, "no joint had a term of kind %d", k);
}

/* J v0 against the velocities of the bodies' points. */
Test(contact_solve, contact_velocities_are_those_of_the_bodies) {
    const double h = 0.005;
    for (uint64_t seed = 0; seed < (uint64_t)cases(100); seed++) {
        SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
        Bench b = random_bench(seed, 1, &o, h, false);
        bench_step(&b, h);
        for (int c = 0; c < b.c->count[0]; c++) {
            const double *C = b.report.frame + 9 * c, *J = b.report.jacobian + 3 * c * b.w->nv;
            const int32_t body[2] = {b.c->body0[c], b.c->body1[c]};
            double u[3] = {0};
            for (int side = 0; side < 2; side++) {
                double X[7], r[3], s[3], margin = ((double *)(side ? b.c->margin1 : b.c->margin0))[c];
                if (body[side] < 0)
                    continue;
                const double *V = b.w->out.body_velocity + 6 * body[side];
                body_pose(&b, 0, body[side], X);
                rotate(X + 3, vector3(side ? b.c->point1 : b.c->point0, c), r);
                for (int i = 0; i < 3; i++)
                    r[i] += (side ? -margin : margin) * C[6 + i];
                cross(V, r, s);
                for (int i = 0; i < 3; i++)
                    u[i] += (side ? 1 : -1) * (V[3 + i] + s[i]);
            }
            for (int axis = 0; axis < 3; axis++) {
                double expected = 0, v_c = 0;
                for (int i = 0; i < 3; i++)
                    expected += C[3 * axis + i] * u[i];
                for (int i = 0; i < b.w->nv; i++)
                    v_c += J[axis * b.w->nv + i] * b.w->out.joint_qd[i];
                check_near(v_c, expected, 1e-12 * 20, "a contact velocity");
            }
        }
        bench_destroy(&b);
    }
}

Test(contact_solve, the_solution_does_not_depend_on_the_guess) {
    enum { GUESSES = 10 };
    const double h = 0.005;
    for (uint64_t seed = 0; seed < (uint64_t)cases(300); seed++) {
        SapOptions o = tight_options(seed);
        o.optimality_rel_tol = 1e-11;
        Bench b = random_bench(1000 + seed, GUESSES, &o, h, true);
        int nv = b.w->nv;
        Random random = random_seed(seed);
        double guess[GUESSES * PARTS_DOFS];
        random_numbers(&random, 3, guess, GUESSES * nv);
        b.w->control->guess = guess;
        bench_step(&b, h);
        double scale = 1;
        for (int i = 0; i < nv; i++)
            scale = fmax(scale, fabs(b.w->v[i]));
        for (int world = 1; world < GUESSES; world++)
            for (int i = 0; i < nv; i++)
                cr_assert(fabs(b.w->v[world * nv + i] - b.w->v[i]) <= 1e-8 * scale,
                          "problem %d: guess %d leads to v[%d] = %.12g, not %.12g", (int)seed, world, i,
                          b.w->v[world * nv + i], b.w->v[i]);
        bench_destroy(&b);
    }
}

Test(contact_solve, the_solution_as_guess_takes_no_iteration) {
    const double h = 0.005;
    for (uint64_t seed = 0; seed < (uint64_t)cases(50); seed++) {
        SapOptions o = tight_options(seed);
        o.optimality_rel_tol = 1e-9; /* a solution to more digits than the second solve asks for */
        double guess[PARTS_DOFS];
        for (int pass = 0; pass < 2; pass++) {
            Bench b = random_bench(seed, 1, &o, h, true);
            if (pass)
                b.w->control->guess = guess;
            bench_step(&b, h);
            internal_velocity(&b, 0, guess);
            if (pass)
                cr_assert(b.world.iterations[0] == 0 && b.world.line_iterations[0] == 0,
                          "problem %d took %d more iterations", (int)seed, b.world.iterations[0]);
            o.optimality_rel_tol = 1e-6;
            bench_destroy(&b);
        }
    }
}

/* v' A v */
static double energy_norm(const Bench *b, const double *v) {
    double sum = 0;
    for (int i = 0; i < b->w->nv; i++)
        for (int k = 0; k < b->w->nv; k++)
            sum += v[i] * b->w->out.A[i * b->w->nv + k] * v[k];
    return sqrt(sum);
}

Test(contact_solve, contacts_that_just_touch_give_no_energy) {
    const double h = 0.005;
    int lost = 0, n = cases(200);
    for (uint64_t seed = 0; seed < (uint64_t)n; seed++) {
        SapOptions o = tight_options(seed);
        Bench b = random_bench(seed, 1, &o, h, false);
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
static void add_momentum(const Bench *b, int body, const double *v, double *p, double *L) {
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
    o.contact_point_mode = mode;
    Bench b = bench_create(parts_model(&parts), 1, &o);
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

Test(contact_solve, contacts_between_two_bodies_keep_their_momentum) {
    for (uint64_t seed = 0; seed < (uint64_t)cases(50); seed++) {
        double linear, angular;
        momentum_error(SAP_CONTACT_MIDPOINT, seed, &linear, &angular);
        cr_assert(linear <= 1e-10 && angular <= 1e-10, "midpoint: momentum changes by %g, %g", linear, angular);
        momentum_error(SAP_WITNESS_POINT, seed, &linear, &angular);
        cr_assert_leq(linear, 1e-10, "witness points: momentum changes by %g", linear);
        cr_assert_leq(angular, 4 * 2 * 0.02, "witness points: angular momentum changes by %g", angular);
    }
}

/* ---- sorting records into slots ---- */

static SapContactRecord record(int world, double gap, double tag) {
    return (SapContactRecord){.world = world,
                              .shape0 = -1,
                              .shape1 = 3,
                              .body0 = -1,
                              .body1 = 2,
                              .point0 = {tag, 1, 2},
                              .point1 = {3, tag, 4},
                              .normal = {0, 0, 1},
                              .margin0 = tag,
                              .margin1 = 2 * tag,
                              .gap = gap,
                              .stiffness = 100 + tag,
                              .tau = NAN,
                              .mu = tag};
}

static void check_slots(const SapContacts *c, int world, int n, const double *tags) {
    cr_assert_eq(c->count[world], n, "world %d has %d contacts, not %d", world, c->count[world], n);
    for (int i = 0; i < n; i++) {
        int slot = world * c->capacity + i;
        cr_assert_eq(vector3(c->point0, slot)[0], tags[i], "slot %d of world %d holds %g, not %g", i, world,
                     vector3(c->point0, slot)[0], tags[i]);
        cr_assert(vector3(c->point1, slot)[1] == tags[i] && vector3(c->normal, slot)[2] == 1);
        cr_assert(((double *)c->margin0)[slot] == tags[i] && ((double *)c->margin1)[slot] == 2 * tags[i]);
        cr_assert(((double *)c->stiffness)[slot] == 100 + tags[i] && isnan(((double *)c->tau)[slot]) &&
                  ((double *)c->mu)[slot] == tags[i]);
        cr_assert(c->shape0[slot] == -1 && c->shape1[slot] == 3 && c->body0[slot] == -1 && c->body1[slot] == 2);
    }
}

Test(contacts_sort, keeps_the_order_of_the_list_within_a_world) {
    SapContacts *c;
    need(sap_contacts_create(3, 4, SAP_F64, &c));
    const SapContactRecord list[] = {record(2, 5, 1), record(0, 1, 2), record(2, -3, 3),
                                     record(0, 0, 4), record(2, 2, 5), record(0, 3, 6)};
    need(sap_contacts_sort(c, list, 6));
    check_slots(c, 0, 3, (const double[]){2, 4, 6});
    check_slots(c, 1, 0, NULL);
    check_slots(c, 2, 3, (const double[]){1, 3, 5});
    for (int w = 0; w < 3; w++)
        cr_assert_eq(c->dropped[w], 0);
    need(sap_contacts_sort(c, list, 1)); /* replaces what was there */
    check_slots(c, 0, 0, NULL);
    check_slots(c, 2, 1, (const double[]){1});
    need(sap_contacts_sort(c, NULL, 0));
    check_slots(c, 2, 0, NULL);
    sap_contacts_destroy(c);
}

Test(contacts_sort, keeps_the_deepest_in_order_and_of_equals_the_earlier) {
    SapContacts *c;
    need(sap_contacts_create(2, 3, SAP_F64, &c));
    const SapContactRecord list[] = {record(1, 0.5, 1), record(1, -1, 2), record(0, 9, 3),  record(1, 0.5, 4),
                                     record(1, -2, 5),  record(1, 2, 6),  record(1, 0.5, 7)};
    need(sap_contacts_sort(c, list, 7));
    check_slots(c, 0, 1, (const double[]){3});
    check_slots(c, 1, 3, (const double[]){1, 2, 5});
    cr_assert_eq(c->dropped[0], 0);
    cr_assert_eq(c->dropped[1], 3);
    sap_contacts_destroy(c);
}

Test(contacts_sort, agrees_with_a_simple_selection_on_random_lists) {
    enum { WORLDS = 5, CAPACITY = 4, RECORDS = 60 };
    Random random = random_seed(3);
    SapContacts *c;
    need(sap_contacts_create(WORLDS, CAPACITY, SAP_F64, &c));
    for (int round = 0; round < 50; round++) {
        SapContactRecord list[RECORDS];
        int n = random_below(&random, RECORDS + 1);
        for (int i = 0; i < n; i++)
            list[i] = record(random_below(&random, WORLDS), random_below(&random, 6), i);
        need(sap_contacts_sort(c, list, n));
        for (int w = 0; w < WORLDS; w++) {
            double tags[CAPACITY];
            int kept = 0, total = 0;
            for (int i = 0; i < n; i++) {
                int before = 0; /* records that go first */
                for (int k = 0; k < n; k++)
                    before +=
                        list[k].world == w && (list[k].gap < list[i].gap || (list[k].gap == list[i].gap && k < i));
                total += list[i].world == w;
                if (list[i].world == w && before < CAPACITY)
                    tags[kept++] = i;
            }
            check_slots(c, w, kept, tags);
            cr_assert_eq(c->dropped[w], total - kept);
        }
    }
    sap_contacts_destroy(c);
}

static void check_refused(SapStatus status, const char *part) {
    cr_assert_eq(status, SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), part), "\"%s\" does not say \"%s\"", sap_error_message(), part);
}

Test(contacts_sort, refuses_a_record_of_no_world_and_changes_nothing) {
    SapContacts *c;
    need(sap_contacts_create(2, 3, SAP_F64, &c));
    SapContactRecord list[] = {record(0, 0, 1), record(1, 0, 2)};
    need(sap_contacts_sort(c, list, 2));
    list[0].point0[0] = 7;
    for (int world = -1; world <= 2; world += 3) {
        list[1].world = world;
        check_refused(sap_contacts_sort(c, list, 2), "records[1].world");
        check_slots(c, 0, 1, (const double[]){1});
        check_slots(c, 1, 1, (const double[]){2});
    }
    check_refused(sap_contacts_sort(NULL, list, 1), "NULL");
    check_refused(sap_contacts_sort(c, NULL, 1), "NULL");
    check_refused(sap_contacts_sort(c, list, -1), "num_records is -1");
    sap_contacts_destroy(c);
}

Test(contacts_sort, a_world_that_lost_contacts_says_so) {
    Bench b = golden_bench("approx64", SAP_EXACT_ROOT);
    b.c->dropped[0] = 2;
    need(sap_step(b.w->solver, b.w->state, b.w->control, b.c, 1.0 / 128, b.w->state));
    cr_assert_eq(sap_solver_world_status(b.w->solver)[0], SAP_WORLD_OPTIMAL | SAP_WORLD_CONTACTS_TRUNCATED);
    bench_destroy(&b);
}

Test(contacts, refuses_sizes_that_cannot_be) {
    SapContacts *c;
    check_refused(sap_contacts_create(0, 1, SAP_F64, &c), "num_worlds is 0");
    check_refused(sap_contacts_create(1, 0, SAP_F64, &c), "capacity is 0");
    check_refused(sap_contacts_create(1, 65536, SAP_F64, &c), "capacity is 65536");
    check_refused(sap_contacts_create(1, 1, (SapDtype)7, &c), "dtype is 7");
    check_refused(sap_contacts_create(1, 1, SAP_F64, NULL), "NULL");
    sap_contacts_destroy(NULL);
}

/* ---- arguments of a step ---- */

static SapStatus step_with(const Bench *b, const SapContacts *c) {
    return sap_step(b->w->solver, b->w->state, b->w->control, c, 0.01, b->w->state);
}

Test(contact_solve, refuses_contacts_that_cannot_be_read_and_names_what) {
    Bench b = golden_bench("approx64", SAP_EXACT_ROOT);
    double before[7];
    memcpy(before, b.w->q, sizeof before);
    SapContacts c = *b.c;
    c.capacity = 0;
    check_refused(step_with(&b, &c), "capacity is 0");
    c.capacity = SLOTS + 1;
    check_refused(step_with(&b, &c), "capacity is 9");
    c = *b.c;
    c.num_worlds = 2;
    check_refused(step_with(&b, &c), "num_worlds is 2");
    c = *b.c;
    c.dtype = (SapDtype)5;
    check_refused(step_with(&b, &c), "dtype is 5");
    c = *b.c;
    c.count = NULL;
    check_refused(step_with(&b, &c), "count is NULL");
    c = *b.c;
    c.point0 = NULL;
    check_refused(step_with(&b, &c), "point0 is NULL");
    c = *b.c;
    c.point1 = NULL;
    check_refused(step_with(&b, &c), "point1 is NULL");
    c = *b.c;
    c.normal = NULL;
    check_refused(step_with(&b, &c), "normal is NULL");
    b.c->count[0] = -1;
    check_refused(step_with(&b, b.c), "count[0] is -1");
    b.c->count[0] = SLOTS + 1;
    check_refused(step_with(&b, b.c), "count[0] is 9");
    cr_assert_arr_eq(b.w->q, before, sizeof before, "a refused step moves the world");
    bench_destroy(&b);
}

Test(contact_solve, a_contact_that_is_not_sound_stops_its_world) {
    for (int fault = 0; fault < 12; fault++) {
        Bench b = golden_bench("approx64", SAP_EXACT_ROOT);
        double before[7];
        memcpy(before, b.w->q, sizeof before);
        switch (fault) {
        case 0: b.c->shape0[0] = 2; break;
        case 1: b.c->shape1[0] = -2; break;
        case 2: b.c->shape1[0] = -1, b.c->body1[0] = 1; break;
        case 3: set3(b.c->normal, 0, 0, 0); break;
        case 4: set3(b.c->normal, 0, NAN, 1); break;
        case 5: set3(b.c->point0, INFINITY, 0, 0); break;
        case 6: *(double *)b.c->margin1 = NAN; break;
        case 7: *(double *)b.c->mu = -1; break;
        case 8: *(double *)b.c->stiffness = 0; break;
        case 9: *(double *)b.c->tau = -1e-3; break;
        case 10: b.c->shape1[0] = 1 << 30; break;
        case 11: b.c->shape1[0] = -1, b.c->body1[0] = 1 << 30; break;
        }
        need(step_with(&b, b.c));
        cr_assert_eq(sap_solver_world_status(b.w->solver)[0], SAP_WORLD_BAD_CONTACT, "fault %d gives %#x", fault,
                     (unsigned)sap_solver_world_status(b.w->solver)[0]);
        cr_assert_arr_eq(b.w->q, before, sizeof before, "fault %d moves its world", fault);
        bench_destroy(&b);
    }
}

Test(contact_solve, shapes_and_margins_and_own_parameters_may_be_left_out) {
    Bench b = golden_bench("approx64", SAP_EXACT_ROOT);
    b.c->body1[0] = 0;
    SapContacts c = *b.c;
    c.shape0 = c.shape1 = NULL;
    c.margin0 = c.margin1 = c.stiffness = c.tau = c.mu = NULL;
    c.dropped = NULL;
    need(step_with(&b, &c));
    cr_assert_eq(sap_solver_world_status(b.w->solver)[0], SAP_WORLD_OPTIMAL);
    check_digits(b.report.gap[0], -0.03125 + 3.0 / 32, "gap without margins");
    check_digits(b.report.pair[0], 0.5, "the fallback mu"); /* the smallest of the shapes */
    check_digits(b.report.pair[1], 5e9, "the fallback stiffness");
    check_digits(b.report.pair[2], 2.0 / 64, "the fallback tau"); /* the first shape's */
    bench_destroy(&b);
}

/* A world's report must not depend on the worlds it shares a pack with, nor on the step before. */
Test(contact_solve, a_world_with_nothing_to_solve_reports_no_iterations_whoever_shares_its_pack) {
    enum { WORLDS = 5 };
    const int lanes[] = {1, 4, 8};
    for (int k = 0; k < 3; k++) {
        SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
        o.lanes = lanes[k];
        Bench b = bench_create(golden_body(), WORLDS, &o);
        for (int pass = 0; pass < 2; pass++) {
            for (int w = 0; w < WORLDS; w++) {
                int slot = w * SLOTS;
                b.w->q[7 * w + 2] = 0.5;
                b.c->count[w] = w == (pass ? 4 : 0);
                b.c->body1[slot] = 0;
                set3(vector3(b.c->point1, slot), 0, 0, -0.6);
                set3(vector3(b.c->normal, slot), 0, 0, 1);
            }
            need(step_with(&b, b.c));
            need(sap_solver_report(b.w->solver, &b.world));
            for (int w = 0; w < WORLDS; w++) {
                cr_assert_eq(b.world.status[w], b.c->count[w] ? SAP_WORLD_OPTIMAL : 0, "%d lanes: world %d reports %#x", lanes[k], w,
                             (unsigned)b.world.status[w]);
                cr_assert_eq(b.world.iterations[w] > 0, b.c->count[w] > 0, "%d lanes: world %d took %d iterations",
                             lanes[k], w, b.world.iterations[w]);
                cr_assert_eq(b.world.cost[w] > 0, b.c->count[w] > 0);
            }
        }
        bench_destroy(&b);
    }
}

Test(contact_solve, a_step_without_contacts_is_free_motion) {
    Bench b = golden_bench("approx64", SAP_EXACT_ROOT);
    Bench none = golden_bench("approx64", SAP_EXACT_ROOT);
    b.c->count[0] = 0;
    need(step_with(&b, b.c));
    need(step_with(&none, NULL));
    cr_assert_arr_eq(b.w->v, none.w->v, 6 * sizeof *b.w->v);
    cr_assert_arr_eq(b.w->q, none.w->q, 7 * sizeof *b.w->q);
    cr_assert_eq(sap_solver_world_status(b.w->solver)[0], 0);
    bench_destroy(&b);
    bench_destroy(&none);
}
