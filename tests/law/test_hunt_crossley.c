/* The contact laws `similar` and `lagged` (src/kernels/sap/hunt_crossley.h) by themselves: known numbers, derivatives by
 * differences, convexity, and degenerate data. Compiled once for every lane count and precision, with SAP_LANES,
 * SAP_PRECISION and the name of the suite, HUNT_CROSSLEY_SUITE. docs/contact_law.md. */
#include <math.h>

#include <criterion/criterion.h>

#include <sapwood/solver.h>

#include "kernels/data/args.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/contact/value.h"
#include "kernels/sap/contact.h"
#include "kernels/sap/hunt_crossley.h"
#include "support/random_model.h"
#include "support/work.h"

#define DIGITS (SAP_PRECISION == 64 ? 1e-12 : 1e-5)

/* ---- a law and its values, of lane l ---- */

typedef struct Numbers {
    double phi0, w, k, d, mu, h, sigma, vn0, v_s;
} Numbers;

static const Numbers golden = {
    .phi0 = -4e-4, .w = 0.4, .k = 5e4, .d = 5, .mu = 0.5, .h = 0.005, .sigma = 1e-3, .vn0 = -0.1, .v_s = 1e-4};

static LawInput input_of(const Numbers *n) {
    LawInput in = {0};
    in.phi0 = real_of((scalar)n->phi0);
    in.w = real_of((scalar)n->w);
    in.k = real_of((scalar)n->k);
    in.d = real_of((scalar)n->d);
    in.mu = real_of((scalar)n->mu);
    in.h = real_of((scalar)n->h);
    in.sigma = real_of((scalar)n->sigma);
    in.vn0 = real_of((scalar)n->vn0);
    in.v_s = real_of((scalar)n->v_s);
    return in;
}

static HuntCrossleyLaw law_of(const Numbers *n, bool lagged) {
    LawInput in = input_of(n);
    in.k = hunt_crossley_stiffness(in.k, in.w, in.h);
    return hunt_crossley_law(&in, lagged);
}

typedef struct Value {
    double cost, gamma[3], G[6];
    int region;
} Value;

static Value value_at(const HuntCrossleyLaw *law, const double v[3]) {
    LawValue at;
    Value out;
    const int l = SAP_LANES - 1;
    (void)l; /* one lane: LANE(x, l) is x */
    Vec3 x = vec3(real_of((scalar)v[0]), real_of((scalar)v[1]), real_of((scalar)v[2]));
    hunt_crossley_evaluate(law, x, &at);
    real region = hunt_crossley_region(law, x), cost = hunt_crossley_cost(law, x);
    out.cost = (double)LANE(at.cost, l);
    cr_assert_eq(out.cost, (double)LANE(cost, l), "the cost alone is another");
    out.gamma[0] = (double)LANE(at.gamma.x, l);
    out.gamma[1] = (double)LANE(at.gamma.y, l);
    out.gamma[2] = (double)LANE(at.gamma.z, l);
    for (int i = 0; i < 6; i++)
        out.G[i] = (double)LANE(at.G[i], l);
    out.region = (int)LANE(region, l);
    return out;
}

static double of_real(real x) {
    return (double)LANE(x, 0);
}

static void check(double value, double expected, double size, const char *what) {
    cr_assert(fabs(value - expected) <= DIGITS * size, "%s is %.17g, not %.17g", what, value, expected);
}

/* ---- known numbers ---- */

/* To the printed digits. */
static void check_golden(const Numbers *n, const double v[3], bool lagged, const double expected[10]) {
    HuntCrossleyLaw law = law_of(n, lagged);
    Value at = value_at(&law, v);
    double gamma = 0, G = 0;
    for (int i = 0; i < 3; i++)
        gamma = fmax(gamma, fabs(expected[1 + i]));
    for (int i = 0; i < 6; i++)
        G = fmax(G, fabs(expected[4 + i]));
    double printed = SAP_PRECISION == 64 ? 10 : 1; /* ten to twelve digits */
    check(at.cost, expected[0], printed * expected[0], "the cost");
    for (int i = 0; i < 3; i++)
        check(at.gamma[i], expected[1 + i], printed * gamma, "an impulse");
    for (int i = 0; i < 6; i++)
        check(at.G[i], expected[4 + i], 100 * printed * G, "an entry of G");
}

Test(HUNT_CROSSLEY_SUITE, has_the_golden_numbers) {
    Numbers n = golden;
    const double sliding[3] = {0.3, -0.1, 0.02}, sticking[3] = {3e-5, 1e-5, -0.01}, closing[3] = {1, 0, -0.5};
    HuntCrossleyLaw law = law_of(&n, true);
    check(of_real(law.vhat), 0.08, 1, "vhat");
    check(of_real(law.p), 0.75, 1, "p");
    check(of_real(law.q), 6.25, 10, "q");
    check(of_real(law.n0), 0.15, 1, "n0");
    check(of_real(law.eps), 1e-4, 1e-4, "eps");
    check_golden(&n, sliding, false,
                 (double[]){0.039434747123, -0.218551502864, 0.0728505009547, 0.460747046439, 0.8549051815,
                            0.7425494731, 3.475798636, -0.04213339065, -1.648715974, 0.5495719915});
    check_golden(&n, sliding, true,
                 (double[]){0.0255095836371, -0.0711512437962, 0.0237170812654, 0.0675, 0.02371710261, 0.2134537338,
                            1.5, 0.07115123668, 0, 0});
    n.d = 50;
    law = law_of(&n, true);
    check(of_real(law.n0), 0.6, 1, "n0");
    check(of_real(law.eps), 1.2e-4, 1e-4, "eps");
    check_golden(&n, sticking, false,
                 (double[]){0.00225034567787, -0.0203992507585, -0.00679975025284, 0.168765363024, 640.3458068,
                            675.5717788, 7.500256046, -13.20973951, -0.9065817837, -0.3021939279});
    check_golden(&n, sticking, true,
                 (double[]){0.00225122902094, -0.0725240667623, -0.0241746889208, 0.16875, 2276.188243, 2401.771042,
                            7.5, -47.09354985, 0, 0});
    n = golden;
    n.phi0 = 1e-3;
    n.vn0 = -0.6;
    law = law_of(&n, true);
    cr_assert_eq(of_real(law.n0), 0, "a contact that is open at the start of the step has no friction");
    check_golden(&n, closing, false,
                 (double[]){1.86636669729, -2.99968750844, 0, 5.99937504687, 3.124843757, 2.999687508, 12.49937503, 0,
                            -6.249687484, 0});
    check_golden(&n, closing, true, (double[]){0.16875, 0, 0, 1.3125, 0, 0, 6.25, 0, 0, 0});
}

/* ---- derivatives and convexity ---- */

static Numbers random_numbers_of(Random *random) {
    Numbers n = {.h = random_between(random, 1e-3, 2e-2), .w = pow(10, random_between(random, -1, 1))};
    n.k = pow(10, random_between(random, 3, 7));
    n.d = random_below(random, 4) ? random_between(random, 1, 100) : 0;
    n.mu = random_between(random, 0.05, 1.5);
    n.phi0 = random_between(random, -2e-3, 5e-4);
    n.sigma = 1e-3;
    n.v_s = pow(10, random_between(random, -5, -2));
    n.vn0 = random_between(random, -1, 0.2);
    return n;
}

static void random_velocity(Random *random, const HuntCrossleyLaw *law, double v[3]) {
    double slip = of_real(law->eps) * pow(10, random_between(random, -2, 3)),
           turn = random_between(random, -M_PI, M_PI);
    v[0] = slip * cos(turn);
    v[1] = slip * sin(turn);
    v[2] = of_real(law->vhat) + random_between(random, -1, 0.3);
}

static double entry(const Value *at, int i, int j) {
    static const int place[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    return at->G[place[i][j]];
}

Test(HUNT_CROSSLEY_SUITE, impulse_and_curvature_are_derivatives_of_the_cost) {
    Random random = random_seed(41);
    if (SAP_PRECISION == 32) /* differences of f32 have few digits */
        return;
    for (int k = 0; k < work_count(4000, 100); k++) {
        Numbers n = random_numbers_of(&random);
        bool lagged = random_below(&random, 2);
        HuntCrossleyLaw law = law_of(&n, lagged);
        double v[3];
        random_velocity(&random, &law, v);
        Value at = value_at(&law, v);
        double r = hypot(hypot(v[0], v[1]), of_real(law.eps)), mu = lagged ? 0 : n.mu;
        double u = of_real(law.vhat) - v[2] + mu * (r - of_real(law.eps)); /* distance from the kink */
        if (fabs(u) < 1e-2)
            continue;
        for (int j = 0; j < 3; j++) {
            static const double weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}, move[4] = {-2, -1, 1, 2};
            double step = j < 2 ? 1e-3 * r : 1e-4, slope = 0, column[3] = {0};
            for (int i = 0; i < 4; i++) {
                double x[3] = {v[0], v[1], v[2]};
                x[j] += move[i] * step;
                Value near = value_at(&law, x);
                slope += weight[i] / step * near.cost;
                for (int c = 0; c < 3; c++)
                    column[c] += weight[i] / step * near.gamma[c];
            }
            double size = fabs(at.gamma[0]) + fabs(at.gamma[1]) + fabs(at.gamma[2]) + of_real(law.m0);
            double stiff = fabs(at.G[0]) + fabs(at.G[1]) + fabs(at.G[2]) + size / step * 1e-9;
            double rounding = 4e-15 * at.cost / step;
            cr_assert(fabs(slope + at.gamma[j]) <= 1e-8 * size + rounding, "gamma_%d is %.17g, not %.17g", j,
                      at.gamma[j], -slope);
            for (int c = 0; c < 3; c++)
                cr_assert(fabs(column[c] + entry(&at, c, j)) <= 1e-7 * stiff, "G_%d%d is %.17g, not %.17g", c, j,
                          entry(&at, c, j), -column[c]);
        }
    }
}

/* In f32 an eigenvalue may be negative by rounding of the largest. */
Test(HUNT_CROSSLEY_SUITE, the_curvature_is_positive_semidefinite) {
    Random random = random_seed(42);
    for (int k = 0; k < work_count(100000, 1000); k++) {
        Numbers n = random_numbers_of(&random);
        HuntCrossleyLaw law = law_of(&n, random_below(&random, 2));
        double v[3];
        random_velocity(&random, &law, v);
        Value at = value_at(&law, v);
        const double *G = at.G, tiny = 4 * (SAP_PRECISION == 64 ? 2.3e-16 : 1.2e-7);
        double size = fmax(fmax(G[0], G[1]), G[2]);
        cr_assert(G[0] >= -tiny * size && G[1] >= -tiny * size && G[2] >= 0);
        double tangent = G[0] * G[1] - G[3] * G[3];
        double all = G[2] * tangent - G[4] * (G[4] * G[1] - G[5] * G[3]) - G[5] * (G[5] * G[0] - G[4] * G[3]);
        cr_assert(tangent >= -4 * tiny * size * size, "a tangential minor is %g of %g", tangent, size);
        cr_assert(all >= -16 * tiny * size * size * size, "the determinant is %g of %g", all, size);
    }
}

/* ---- degenerate data ---- */

Test(HUNT_CROSSLEY_SUITE, a_slot_without_a_contact_has_no_value_at_any_velocity) {
    const HuntCrossleyLaw none = {0};
    const double velocities[][3] = {{0, 0, 0}, {0, 0, -5}, {3, -2, -1e3}, {1e-20, 0, 7}};
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++) {
        Value at = value_at(&none, velocities[i]);
        cr_expect(at.cost == 0, "cost %g", at.cost);
        for (int k = 0; k < 3; k++)
            cr_expect(at.gamma[k] == 0);
        for (int k = 0; k < 6; k++)
            cr_expect(at.G[k] == 0);
    }
}

Test(HUNT_CROSSLEY_SUITE, extreme_parameters_give_finite_values) {
    const double velocities[][3] = {{0, 0, 0}, {0, 0, -1}, {1e-9, 0, -1e-3}, {5, 5, 0.1}, {0, 1e-25, 0}};
    for (int bits = 0; bits < 32; bits++)
        for (int lagged = 0; lagged < 2; lagged++) {
            Numbers n = golden;
            n.k = bits & 1 ? INFINITY : 1e3;
            n.d = bits & 2 ? 0 : 1000;
            n.mu = bits & 4 ? 0 : 1;
            n.phi0 = bits & 8 ? 1e-3 : -1e-3;
            n.vn0 = bits & 16 ? 0 : -3;
            HuntCrossleyLaw law = law_of(&n, lagged);
            for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++) {
                Value at = value_at(&law, velocities[i]);
                cr_expect(isfinite(at.cost) && at.cost >= 0, "cost %g", at.cost);
                cr_expect(isfinite(at.gamma[0]) && isfinite(at.gamma[1]) && at.gamma[2] >= 0 && isfinite(at.gamma[2]));
                for (int k = 0; k < 6; k++)
                    cr_expect(isfinite(at.G[k]));
                if (n.mu == 0)
                    cr_expect(at.gamma[0] == 0 && at.gamma[1] == 0 && (at.region == 0 || at.region == 3));
            }
        }
}

/* A spring with a period of a tenth of a step; it has the impulse of the spring that it replaces, or a smaller one. */
Test(HUNT_CROSSLEY_SUITE, a_rigid_contact_is_a_spring_that_the_step_resolves) {
    Numbers n = golden;
    n.k = INFINITY;
    n.d = 0;
    HuntCrossleyLaw law = law_of(&n, true);
    double period = 2 * M_PI * sqrt(1 / (n.w * of_real(law.p) / (n.h * n.h))); /* p = h^2 k */
    check(period, n.h / 10, n.h / 10, "the period");
}

Test(HUNT_CROSSLEY_SUITE, impulses_of_similar_are_in_the_cone_and_those_of_lagged_below_the_lagged_limit) {
    Random random = random_seed(43);
    for (int k = 0; k < work_count(20000, 500); k++) {
        Numbers n = random_numbers_of(&random);
        bool lagged = random_below(&random, 2);
        HuntCrossleyLaw law = law_of(&n, lagged);
        double v[3];
        random_velocity(&random, &law, v);
        Value at = value_at(&law, v);
        double limit = n.mu * (lagged ? of_real(law.n0) : at.gamma[2]);
        cr_assert(hypot(at.gamma[0], at.gamma[1]) <= limit * (1 + DIGITS), "%g above %g",
                  hypot(at.gamma[0], at.gamma[1]), limit);
        cr_assert(at.gamma[0] * v[0] + at.gamma[1] * v[1] <= 0, "friction accelerates");
    }
}

Test(HUNT_CROSSLEY_SUITE, no_contact_pushes_at_a_separation_above_one_over_d) {
    Random random = random_seed(44);
    for (int k = 0; k < work_count(5000, 500); k++) {
        Numbers n = random_numbers_of(&random);
        n.d = random_between(&random, 1, 100);
        HuntCrossleyLaw law = law_of(&n, true);
        const double v[3] = {0.1, 0, 1.0001 / n.d};
        cr_assert_eq(value_at(&law, v).gamma[2], 0);
    }
}
