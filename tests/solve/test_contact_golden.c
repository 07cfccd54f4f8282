/* Steps with known numbers: a body on a plane, and a slider with a drive, a limit and friction. */
#include "support/contact_bench.h"

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

Test(contact_golden, a_body_on_a_plane_has_known_numbers) {
    static const double v_star[6] = {0.31737448125,      -0.2062328125,      0.4952427979166666,
                                     0.4041040090169271, 0.1081131048177083, -0.6786716194335937};
    static const double diagonal[6] = {0.24436640625, 0.20890625, 0.30551640625, 2, 2, 2};
    for (int k = 0; k < 2; k++) {
        const GoldenStep *g = &golden_steps[k];
        Fixture b = golden_bench(g->preset, SAP_EXACT_ROOT);
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

Test(contact_golden, a_body_on_a_plane_takes_known_numbers_of_iterations) {
    static const SapLineSearch search[3] = {SAP_EXACT_ROOT, SAP_ARMIJO_DECAY, SAP_MONOTONE_DECAY};
    for (int k = 0; k < 2; k++)
        for (int s = 0; s < 3; s++) {
            const GoldenStep *g = &golden_steps[k];
            Fixture b = golden_bench(g->preset, search[s]);
            bench_step(&b, 1.0 / 128);
            cr_assert(b.world.iterations[0] == g->counts[s][0] && b.world.line_iterations[0] == g->counts[s][1],
                      "%s with line search %d took %d/%d iterations, not %d/%d", g->preset, (int)search[s],
                      b.world.iterations[0], b.world.line_iterations[0], g->counts[s][0], g->counts[s][1]);
            bench_destroy(&b);
        }
}

Test(contact_golden, monotone_decay_stops_early_at_a_known_velocity) {
    static const double expected[6] = {0.2201944357654719, 0.9094204066073652, 0.5287430313641474,
                                       0.386109684631344,  0.0362199516675098, -0.2479546283203971};
    Fixture b = golden_bench("approx64", SAP_MONOTONE_DECAY);
    double v[6];
    bench_step(&b, 1.0 / 128);
    internal_velocity(&b, 0, v);
    for (int i = 0; i < 6; i++)
        check_digits(v[i], expected[i], "v");
    cr_assert_eq(b.world.status[0], SAP_WORLD_COST_STALLED);
    bench_destroy(&b);
}

/* With the optimality test alone, both searches end at the minimum. */
Test(contact_golden, wolfe_ends_at_the_minimum_that_exact_root_finds) {
    for (uint64_t seed = 0; seed < 40; seed++) {
        SapOptions o = tight_options(seed);
        o.optimality_rel_tol = 1e-11;
        double v[2][64];
        for (int k = 0; k < 2; k++) {
            o.line_search = k == 0 ? SAP_EXACT_ROOT : SAP_WOLFE;
            Fixture b = random_bench(seed, 1, 1, &o, 0.005, true);
            cr_assert_leq(b.w->nv, 64);
            bench_step(&b, 0.005);
            cr_expect(b.world.status[0] & SAP_WORLD_OPTIMAL, "seed %d, search %d: status %d", (int)seed, k,
                      b.world.status[0]);
            internal_velocity(&b, 0, v[k]);
            for (int i = 0; k == 1 && i < b.w->nv; i++)
                check_near(v[1][i], v[0][i], 1e-9, "v");
            bench_destroy(&b);
        }
    }
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

static Fixture slider_step_in(SapCompat compat, const Slider *s, double h) {
    SapOptions o = options_of("drake", SAP_EXACT_ROOT);
    o.compat = compat;
    Fixture b = bench_create(slider_model(s), 1, &o);
    need(sap_free_motion(b.w->solver, b.w->state, b.w->control, h, &b.w->out));
    bench_step(&b, h);
    return b;
}

static Fixture slider_step(const Slider *s, double h) {
    return slider_step_in(SAP_COMPAT_NONE, s, h);
}

Test(contact_golden, a_slider_with_drive_and_limit_has_known_numbers) {
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
        Fixture b = slider_step(&s, 1.0 / 128);
        check_digits(b.w->out.v_star[0], 0.25078125, "v*");
        check_digits(b.w->v[0], rows[r].v, "v");
        if (!isnan(rows[r].drive))
            check_digits(b.report.drive[0], rows[r].drive, "the drive's impulse");
        check_digits(b.report.limit[0], rows[r].limit, "the limit's impulse");
        double a = s.kp * (s.q_d - s.q) + s.act, g = s.kp / 128 + s.kd;
        if (!isnan(rows[r].cost)) /* measured from rest, not from the target of the drive */
            check_near(b.world.cost[0], rows[r].cost - a * a / (2 * 128 * g), 1e-15, "cost");
        bench_destroy(&b);
        b = slider_step_in(SAP_COMPAT_SAP_WARP, &s, 1.0 / 128);
        if (!isnan(rows[r].cost))
            check_digits(b.world.cost[0], rows[r].cost, "cost");
        bench_destroy(&b);
    }
}

Test(contact_golden, a_drive_gives_the_velocity_of_its_closed_form) {
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
        Fixture b = slider_step(&s, h);
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

Test(contact_golden, joint_friction_holds_up_to_its_bound_and_then_brakes) {
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
        Fixture b = bench_create(remade(model, &a), 1, &o);
        bench_step(&b, h);
        check_near(b.w->v[0], rows[r].expected, rows[r].tolerance, "the velocity of a joint with friction");
        bench_destroy(&b);
    }
}
