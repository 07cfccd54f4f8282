/* Small contact problems with known solutions: one and two contacts, projections on friction cones, normals by the
 * active set, and over-relaxed Gauss-Seidel. Contacts are written (n; t1, t2) here and permuted to the (t1, t2, n) of
 * the library. Some widely copied expectations for such problems are wrong; a comment says so where one is
 * corrected. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "support/dual_run.h"

/* ---- problems of contacts ---- */

enum { MAX_CONTACTS = 3, MAX_N = 3 * MAX_CONTACTS };

typedef struct Contacts {
    int count;
    double W[MAX_N * MAX_N], b[MAX_N], mu[MAX_CONTACTS], guess[MAX_N]; /* (n, t1, t2) */
    bool warm;
} Contacts;

/* The library's row of row i. */
static int at(int i) {
    static const int order[3] = {2, 0, 1};
    return i / 3 * 3 + order[i % 3];
}

static DualRun solve_with(const Contacts *c, SapDualOptions options) {
    int n = 3 * c->count;
    double W[MAX_N * MAX_N], b[MAX_N], guess[MAX_N];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            W[at(i) * n + at(j)] = c->W[i * n + j];
        b[at(i)] = c->b[i];
        guess[at(i)] = c->guess[i];
    }
    SapDualProblem problem = {
        .num_problems = 1, .num_blocks = c->count, .W = W, .b = b, .mu = c->mu, .guess = c->warm ? guess : NULL};
    DualRun run = dual_run(&problem, &options), out = run;
    for (int i = 0; i < n; i++) {
        out.impulse[i] = run.impulse[at(i)];
        out.velocity[i] = run.velocity[at(i)];
    }
    return out;
}

static DualRun solve(const Contacts *c, double tolerance) {
    return solve_with(c, dual_options(SAP_DUAL_CONE, tolerance));
}

/* a E + eps E */
static Contacts scaled_identity(int count, double a) {
    Contacts c = {.count = count};
    for (int i = 0; i < 3 * count; i++)
        c.W[i * 3 * count + i] = a;
    return c;
}

static Contacts one(double a, double n, double t1, double t2, double mu) {
    Contacts c = scaled_identity(1, a);
    c.b[0] = n, c.b[1] = t1, c.b[2] = t2, c.mu[0] = mu;
    return c;
}

static void expect_cone(const Contacts *c, const DualRun *run, const char *what) {
    for (int k = 0; k < c->count; k++) {
        const double *l = run->impulse + 3 * k;
        cr_expect_leq(hypot(l[1], l[2]), c->mu[k] * l[0] + 1e-8, "%s: contact %d", what, k);
        cr_expect(isfinite(l[0]) && isfinite(l[1]) && isfinite(l[2]), "%s", what);
    }
}

/* Converged within `most` iterations at a residual of 1e-8, in the cone, finite; and l as given, to `tolerance`. The
 * values are compared at 1e-12: 1e-10 in W decides some of them. */
static void expect_solution(const char *what, const Contacts *c, int most, const double *l, double tolerance) {
    DualRun run = solve(c, 1e-8), exact = solve(c, 1e-12);
    cr_expect(dual_is_optimal(&run), "%s: status %x", what, run.status);
    cr_expect_leq(run.iterations, most, "%s: %d iterations", what, run.iterations);
    cr_expect_lt(run.residual, 1e-8, "%s: %g", what, run.residual);
    expect_cone(c, &run, what);
    for (int i = 0; i < 3 * c->count; i++)
        cr_expect_leq(fabs(exact.impulse[i] - l[i]), tolerance, "%s: l[%d] = %.12g, not %.12g", what, i,
                      exact.impulse[i], l[i]);
}
#define EXPECT(c, most, tolerance, ...) expect_solution(#c, &c, most, (double[]){__VA_ARGS__}, tolerance)

/* ---- seven examples: W = 0.1 E of a 10 kg body, with 1e-10 on the diagonal ---- */

static const double tenth = 0.1 + 1e-10;

Test(dual_light, frictionless_contact_has_no_tangential_impulse) {
    Contacts c = one(tenth, 1.5, 0, 0, 0);
    EXPECT(c, 6, 1e-8, 14.999999985, 0, 0);
}
Test(dual_light, sticking_contact_is_inside_its_cone) {
    Contacts c = one(tenth, 1.5, -0.2, 0, 0.5);
    EXPECT(c, 6, 1e-8, 14.999999985, -1.999999998, 0);
}
Test(dual_light, sliding_contact_is_on_its_cone) {
    Contacts c = one(tenth, 1.5, -3, -4, 0.3);
    EXPECT(c, 6, 1e-8, 27.522935752, -4.954128435, -6.605504581);
}
/* Both contacts end on the surface with z = 0, and 1e-10 alone decides the split, 35 : 10. The often quoted 7.5 : 7.5
 * is not in the cones. */
Test(dual_light, two_contacts_of_one_body_share_the_load) {
    Contacts c = {.count = 2, .b = {1.5, -1, 0, 1.5, -1, 0}, .mu = {0.8, 0.2}};
    for (int i = 0; i < 6; i++)
        c.W[i * 6 + i] = tenth, c.W[i * 6 + (i + 3) % 6] = 0.1;
    EXPECT(c, 8, 1e-4, 35.0 / 3, -28.0 / 3, 0, 10.0 / 3, -2.0 / 3, 0);
    DualRun run = solve(&c, 1e-8);
    cr_expect_leq(fabs(run.impulse[0] + run.impulse[3] - 15), 1e-6);
    cr_expect_leq(fabs(run.impulse[1] + run.impulse[4] + 10), 1e-6);
}
Test(dual_light, warm_start_reaches_the_cold_solution_sooner) {
    Contacts c = one(tenth, 1.5, -5, 0, 0.5);
    EXPECT(c, 6, 1e-6, 32, -16, 0);
    int cold = solve(&c, 1e-8).iterations;
    c.warm = true;
    c.guess[0] = 31, c.guess[1] = -15.5;
    EXPECT(c, 3, 1e-6, 32, -16, 0);
    cr_expect_leq(solve(&c, 1e-8).iterations, cold);
}
/* The convex law lifts a sliding contact: 20 N s, not "near 0". Coulomb's law gives that. */
Test(dual_light, grazing_contact_lifts_off_unless_the_law_is_coulombs) {
    Contacts c = one(tenth, 0.001, -5, 0, 0.5);
    EXPECT(c, 6, 1e-6, 20.008, -10.004, 0);
    SapDualOptions coulomb = dual_options(SAP_DUAL_CONE, 1e-8);
    coulomb.friction_law = SAP_FRICTION_COULOMB;
    DualRun run = solve_with(&c, coulomb);
    cr_expect_eq(run.status, SAP_WORLD_OPTIMAL);
    cr_expect_leq(fabs(run.impulse[0] - 0.01), 1e-6);
    cr_expect_leq(fabs(run.impulse[1] + 0.005), 1e-6);
}
/* With restitution 0.5 the ratio of the target is 1/3, inside the cone; it is not at the friction angle. */
Test(dual_light, stick_and_slide_on_either_side_of_the_friction_angle) {
    Contacts stick = one(tenth, 0.2013, 0.0671, 0, 0.5), slide = one(tenth, 0.2013, 0.2013, 0, 0.5);
    EXPECT(stick, 6, 1e-6, 2.013, 0.671, 0);
    EXPECT(slide, 6, 1e-6, 2.4156, 1.2078, 0);
}

/* ---- seven examples with W = 2 E, and E for the last; 8 checks each ---- */

static Contacts coupled_pair(void) {
    Contacts c = {.count = 2, .b = {30, 20, 5, 25, -15, 10}, .mu = {0.3, 0.5}};
    for (int i = 0; i < 6; i++)
        c.W[i * 6 + i] = 2, c.W[i * 6 + (i + 3) % 6] = 0.5;
    return c;
}
static Contacts friction_angle(void) {
    double a = atan(0.5);
    return one(1, 98.1 * cos(a), 98.1 * sin(a), 0, 0.5);
}

Test(dual_heavy, frictionless_contact) {
    Contacts c = one(2, 30, 5, -3, 0);
    EXPECT(c, 6, 1e-8, 15, 0, 0);
}
Test(dual_heavy, sticking_contact) {
    Contacts c = one(2, 30, -4, 0, 0.5);
    EXPECT(c, 6, 1e-8, 15, -2, 0);
}
Test(dual_heavy, sliding_contact) {
    Contacts c = one(2, 30, 20, 0, 0.3);
    EXPECT(c, 6, 1e-8, 16.513761468, 4.954128440, 0);
}
Test(dual_heavy, two_independent_contacts) {
    Contacts c = scaled_identity(2, 2);
    memcpy(c.b, (double[]){30, -4, 0, 20, 15, 0}, 6 * sizeof(double));
    c.mu[0] = 0.8, c.mu[1] = 0.2;
    EXPECT(c, 6, 1e-8, 15, -2, 0, 11.057692308, 2.211538462, 0);
}
Test(dual_heavy, warm_start_after_a_small_change) {
    Contacts c = one(2, 30.5, 20.5, 0.5, 0.3);
    EXPECT(c, 6, 1e-8, 16.812765595, 5.042330101, 0.122983661);
    c.warm = true;
    c.guess[0] = 16.513761468, c.guess[1] = 4.954128440;
    EXPECT(c, 3, 1e-8, 16.812765595, 5.042330101, 0.122983661);
}
Test(dual_heavy, grazing_contact) {
    Contacts c = one(2, 0.001, 10, 0, 0.3);
    EXPECT(c, 6, 1e-8, 1.376605505, 0.412981651, 0);
    SapDualOptions coulomb = dual_options(SAP_DUAL_CONE, 1e-8);
    coulomb.friction_law = SAP_FRICTION_COULOMB;
    DualRun run = solve_with(&c, coulomb);
    cr_expect_leq(fabs(run.impulse[0] - 0.0005), 1e-6);
    cr_expect_leq(fabs(run.impulse[1] - 0.00015), 1e-6);
}
/* Exactly at the friction angle the linear rate of other methods is real; following the path in sqrt(nu) avoids it. */
Test(dual_heavy, friction_angle_reached_exactly) {
    Contacts c = friction_angle();
    EXPECT(c, 8, 1e-6, 87.743307437, 43.871653719, 0); /* z = 0 on the surface: digits come as sqrt(1e-12) */
    DualRun run = solve(&c, 1e-8);
    for (int i = 0; i < 3; i++)
        cr_expect_leq(fabs(run.velocity[i]), 1e-6);
}

/* ---- beyond the examples ---- */

Test(dual_heavy, coupled_pair_takes_at_most_8_iterations) {
    Contacts c = coupled_pair();
    EXPECT(c, 8, 1e-8, 14.348577603, 4.248830601, 0.690499569, 11.062000650, -4.818005293, 2.716392754);
    cr_expect_leq(solve(&c, 1e-6).iterations, 5);
}
Test(dual_heavy, ill_conditioned_matrix_is_solved) {
    Contacts c = {.count = 1, .b = {21, 0.0105, 0}, .mu = {0.5}};
    c.W[0] = 2, c.W[4] = 0.002, c.W[8] = 2000;
    EXPECT(c, 8, 1e-6, 10.5, 5.25, 0);
}
/* Projecting the unconstrained solution, (2; 1, 0), is right for multiples of E only. */
Test(dual_heavy, projection_of_the_free_solution_is_not_the_solution) {
    Contacts c = {.count = 1, .b = {2, 3, 0}, .mu = {0.5}};
    c.W[0] = 2, c.W[4] = c.W[8] = 1;
    EXPECT(c, 8, 1e-8, 14.0 / 9, 7.0 / 9, 0);
}
/* Three equal contacts: the impulses are not unique, the velocity is, whatever the start. */
Test(dual_heavy, singular_matrix_has_a_unique_velocity) {
    Contacts c = {.count = 3, .mu = {0.5, 0.5, 0.5}};
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            c.W[i * 9 + j] = i % 3 == j % 3 ? 2 : 0;
    for (int k = 0; k < 3; k++)
        memcpy(c.b + 3 * k, (double[]){30, 20, 0}, 3 * sizeof(double));
    DualRun cold = solve(&c, 1e-10);
    c.warm = true;
    c.guess[0] = 12, c.guess[1] = 3;
    DualRun warm = solve(&c, 1e-10);
    cr_expect(dual_is_optimal(&cold) && dual_is_optimal(&warm));
    for (int i = 0; i < 9; i++)
        cr_expect_leq(fabs(cold.velocity[i] - warm.velocity[i]), 1e-7);
    cr_expect_leq(fabs(cold.impulse[0] + cold.impulse[3] + cold.impulse[6] - 16), 1e-7); /* 40/2.5, from 2 (1, 0.5) */
}
Test(dual_heavy, no_iterations_leave_an_admissible_impulse) {
    SapDualOptions none = dual_options(SAP_DUAL_CONE, 1e-8);
    none.max_iterations = 0;
    Contacts c = coupled_pair();
    DualRun run = solve_with(&c, none);
    cr_expect_eq(run.status, SAP_WORLD_ITERATION_LIMIT);
    cr_expect_leq(run.cost, 0);
    expect_cone(&c, &run, "no iterations");
}
/* One contact that must part at 1 m/s from both sides at once has no solution. */
Test(dual_heavy, contradictory_targets_are_unbounded_and_solved_with_compliance) {
    Contacts c = {.count = 2, .b = {1, 0, 0, 1, 0, 0}, .mu = {0.5, 0.5}};
    for (int i = 0; i < 6; i++)
        c.W[i * 6 + i] = 1, c.W[i * 6 + (i + 3) % 6] = -1;
    for (SapDualMethod m = SAP_DUAL_CONE; m <= SAP_DUAL_ACTIVE_SET; m += SAP_DUAL_ACTIVE_SET) {
        DualRun run = solve_with(&c, dual_options(m, 1e-6));
        cr_expect_eq(run.status, SAP_WORLD_OPTIMAL | SAP_WORLD_UNBOUNDED, "%d: %x", (int)m, run.status);
        expect_cone(&c, &run, "contradictory");
    }
}

/* ---- projection on the cone K_mu: the problem with W = E, b the point ---- */

typedef struct Point {
    double n, t1, t2;
} Point;

/* The solver's answer; its residual is below 1e-11 for one contact and W = E. */
static Point project(double mu, Point p) {
    Contacts c = one(1, p.n, p.t1, p.t2, mu);
    DualRun run = solve(&c, 1e-12);
    return (Point){run.impulse[0], run.impulse[1], run.impulse[2]};
}
/* The closed form. */
static Point project_exactly(double mu, Point p) {
    double s = hypot(p.t1, p.t2), g = (p.n + mu * s) / (1 + mu * mu);
    if (s <= mu * p.n)
        return p;
    if (mu * s <= -p.n)
        return (Point){0, 0, 0};
    return s > 0 ? (Point){g, mu * g * p.t1 / s, mu * g * p.t2 / s} : (Point){g, 0, 0};
}
static double size_of(Point p) {
    return sqrt(p.n * p.n + p.t1 * p.t1 + p.t2 * p.t2);
}
static void expect_point(double mu, Point p, Point expected, double tolerance) {
    Point got = project(mu, p);
    double scale = fmax(size_of(p), 1e-300);
    cr_expect_leq(size_of((Point){got.n - expected.n, got.t1 - expected.t1, got.t2 - expected.t2}), tolerance * scale,
                  "K_%g of (%g; %g, %g) is (%.12g; %.12g, %.12g)", mu, p.n, p.t1, p.t2, got.n, got.t1, got.t2);
}

Test(dual_projection, points_inside_stay) {
    Point inside[] = {{4, 1, 0}, {4, 1, 1.5}, {2, 1, 0}};
    for (int i = 0; i < 3; i++)
        expect_point(0.5, inside[i], inside[i], i < 2 ? 1e-10 : 1e-6); /* the last is on the surface, with z = 0 */
}
Test(dual_projection, points_in_the_polar_cone_become_0) {
    Point polar[] = {{-4, 1, 0}, {-1, 0, 0}, {-1, 2, 0}};
    for (int i = 0; i < 3; i++)
        expect_point(0.5, polar[i], (Point){0, 0, 0}, i < 2 ? 1e-10 : 1e-6);
}
Test(dual_projection, other_points_move_to_the_surface) {
    expect_point(0.3, (Point){1, 3, 4}, (Point){2.2935779817, 0.4128440367, 0.5504587156}, 1e-10);
    expect_point(0.3, (Point){-1, 3, 4}, (Point){0.4587155963, 0.0825688073, 0.1100917431}, 1e-10);
    expect_point(0.5, (Point){0, 1, 0}, (Point){0.4, 0.2, 0}, 1e-10);
    expect_point(0.3, (Point){15, -30, -40}, (Point){27.5229357798, -4.9541284404, -6.6055045872}, 1e-10);
    Point p = project(0.3, (Point){1, 3, 4});
    cr_expect_leq(fabs(hypot(p.t1, p.t2) - 0.3 * p.n), 1e-10);
}
Test(dual_projection, edges) {
    expect_point(0, (Point){3, 1, 2}, (Point){3, 0, 0}, 1e-10);
    expect_point(0, (Point){-3, 1, 2}, (Point){0, 0, 0}, 1e-10);
    expect_point(0.5, (Point){3, 0, 0}, (Point){3, 0, 0}, 1e-10);
    expect_point(0.5, (Point){-3, 0, 0}, (Point){0, 0, 0}, 1e-10);
    expect_point(0.5, (Point){0, 0, 0}, (Point){0, 0, 0}, 0);
    expect_point(10, (Point){1, 3, 4}, (Point){1, 3, 4}, 1e-10);
    for (double scale = 1e10; scale > 1e-13; scale *= 1e-22)
        expect_point(0.3, (Point){scale, 3 * scale, 4 * scale},
                     (Point){2.2935779817 * scale, 0.4128440367 * scale, 0.5504587156 * scale}, 1e-10);
}

/* Three points of each case, and one more. */
static const Point ten[] = {{4, 1, 0},  {4, 1, 1.5}, {3, 0.5, -1}, {-4, 1, 0},   {-1, 0, 0},
                            {-5, 1, 1}, {1, 3, 4},   {-1, 3, 4},   {0.5, 2, -1}, {2, -3, 0.1}};

Test(dual_projection, is_idempotent) {
    for (int i = 0; i < 10; i++) {
        Point once = project_exactly(0.5, ten[i]), twice = project_exactly(0.5, once);
        cr_expect_leq(size_of((Point){once.n - twice.n, once.t1 - twice.t1, once.t2 - twice.t2}), 1e-12);
        expect_point(0.5, ten[i], once, 1e-10);
        expect_point(0.5, once, once, 1e-5); /* on the surface with z = 0: digits come as the square root */
    }
}
/* Proj is continuous and 1-Lipschitz across both boundaries. Its derivative is not continuous there, although it is
 * often said to be: at (2; 1, 0) its eigenvalues are 1, 1, 1 from inside and 0, 1, 1 from outside. */
Test(dual_projection, is_continuous_across_both_boundaries) {
    Point boundary[] = {{2, 1, 0}, {-1, 2, 0}};
    for (int i = 0; i < 2; i++) {
        Point p = boundary[i], moved = {p.n, p.t1 + 1e-7, p.t2};
        Point a = project_exactly(0.5, p), b = project_exactly(0.5, moved);
        cr_expect_leq(size_of((Point){a.n - b.n, a.t1 - b.t1, a.t2 - b.t2}), 1e-7 * (1 + 1e-9));
    }
}
/* D of K_0.3 at (1; 3, 4), by central differences of the solver: steps of 1e-3 and a residual of 1e-12 leave 1e-6. */
Test(dual_projection, derivative_is_that_of_the_closed_form) {
    const double D[3][3] = {{0.9174311927, 0.1651376147, 0.2201834862},
                            {0.1651376147, 0.1177981651, -0.0264220183},
                            {0.2201834862, -0.0264220183, 0.1023853211}};
    const double inside[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, polar[3][3] = {{0}};
    const struct {
        Point p;
        const double (*D)[3];
    } cases[] = {{{1, 3, 4}, D},          {{2, 6, 8}, D},      {{4, 0.5, 0.2}, inside},
                 {{3, 0.1, 0.2}, inside}, {{-4, 1, 0}, polar}, {{-3, 0.1, 0.1}, polar}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int j = 0; j < 3; j++) {
            double h = 1e-3, plus[3] = {cases[k].p.n, cases[k].p.t1, cases[k].p.t2}, minus[3];
            memcpy(minus, plus, sizeof minus);
            plus[j] += h, minus[j] -= h;
            Point a = project(0.3, (Point){plus[0], plus[1], plus[2]}),
                  b = project(0.3, (Point){minus[0], minus[1], minus[2]});
            double column[3] = {(a.n - b.n) / (2 * h), (a.t1 - b.t1) / (2 * h), (a.t2 - b.t2) / (2 * h)};
            for (int i = 0; i < 3; i++)
                cr_expect_leq(fabs(column[i] - cases[k].D[i][j]), 1e-6, "case %zu, D[%d][%d] = %g", k, i, j, column[i]);
        }
}
Test(dual_projection, several_contacts_are_projected_one_by_one) {
    const Point p[3] = {{4, 1, 0}, {-4, 1, 0}, {1, 3, 4}};
    for (int turn = 0; turn < 3; turn++) {
        Contacts c = scaled_identity(3, 1);
        for (int k = 0; k < 3; k++) {
            Point at_k = p[(k + turn) % 3];
            c.b[3 * k] = at_k.n, c.b[3 * k + 1] = at_k.t1, c.b[3 * k + 2] = at_k.t2, c.mu[k] = 0.5;
        }
        DualRun run = solve(&c, 1e-12);
        for (int k = 0; k < 3; k++) {
            Point e = project_exactly(0.5, p[(k + turn) % 3]);
            const double *l = run.impulse + 3 * k;
            cr_expect_leq(size_of((Point){l[0] - e.n, l[1] - e.t1, l[2] - e.t2}), 1e-9);
        }
    }
    SapDualProblem none = {.num_problems = 1};
    SapDualOptions options = dual_options(SAP_DUAL_CONE, 1e-8);
    DualRun run = dual_run(&none, &options);
    cr_expect(dual_is_optimal(&run) && run.iterations == 0);
}

/* ---- active set: normals as unilateral rows ---- */

static DualRun normals(int count, const double *A, const double *b, SapDualMethod method, int cap) {
    static const int32_t kinds[] = {SAP_DUAL_UNILATERAL, SAP_DUAL_UNILATERAL, SAP_DUAL_UNILATERAL};
    SapDualProblem problem = {.num_problems = 1, .num_blocks = count, .kind = kinds, .W = A, .b = b};
    SapDualOptions options = dual_options(method, 1e-8);
    options.max_iterations = cap;
    return dual_run(&problem, &options);
}

/* l, the size of the set, the iterations of single and of block exchanges; and complementarity. Where the set of all
 * rows is not the answer, sweeps choose the second, so block exchanges take 2 iterations where plain block pivoting
 * takes 3. */
static void expect_normals(int count, const double *A, const double *b, const double *l, double tolerance, int size,
                           int single, int block) {
    for (int m = 0; m < 2; m++) {
        DualRun run = normals(count, A, b, m == 0 ? SAP_DUAL_ACTIVE_SET_SINGLE : SAP_DUAL_ACTIVE_SET, -1);
        cr_expect(dual_is_optimal(&run), "method %d: status %x", m, run.status);
        cr_expect_eq(run.iterations, m == 0 ? single : block, "method %d: %d iterations", m, run.iterations);
        cr_expect_eq(run.active, size, "method %d: %d active", m, run.active);
        for (int i = 0; i < count; i++) {
            cr_expect_leq(fabs(run.impulse[i] - l[i]), tolerance * fmax(1, fabs(l[i])), "l[%d] = %.15g", i,
                          run.impulse[i]);
            cr_expect_geq(run.impulse[i], 0);
            cr_expect_geq(run.velocity[i], -1e-9);
            cr_expect_leq(fabs(run.impulse[i] * run.velocity[i]), 1e-9);
        }
    }
}

Test(active_set, result_is_zero_without_rows) {
    DualRun run = normals(0, NULL, NULL, SAP_DUAL_ACTIVE_SET_SINGLE, -1);
    cr_expect_eq(run.iterations, 0 + (run.iterations > 0)); /* nothing to exchange: at most the check of an empty set */
    cr_expect_eq(run.active, 0);
    cr_expect_eq(run.cost, 0);
}
Test(active_set, single_contact_is_exact) {
    expect_normals(1, (double[]){2}, (double[]){3}, (double[]){1.5}, 1e-12, 1, 1, 1);
}
Test(active_set, order_of_contacts_does_not_matter) {
    const double A[3][3] = {{4, 1, 0}, {1, 3, 1}, {0, 1, 2}}, b[3] = {1, -2, 3}, l[3] = {0.25, 0, 1.5};
    const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int k = 0; k < 6; k++) {
        double B[9], c[3];
        for (int i = 0; i < 3; i++) {
            c[i] = b[orders[k][i]];
            for (int j = 0; j < 3; j++)
                B[3 * i + j] = A[orders[k][i]][orders[k][j]];
        }
        DualRun run = normals(3, B, c, SAP_DUAL_ACTIVE_SET, -1);
        for (int i = 0; i < 3; i++)
            cr_expect_leq(fabs(run.impulse[i] - l[orders[k][i]]), 1e-12);
    }
}
Test(active_set, mass_ratio_of_a_million) {
    DualRun run = normals(2, (double[]){1.000001, -1, -1, 1000001}, (double[]){1, 2}, SAP_DUAL_ACTIVE_SET, -1);
    cr_expect_leq(fabs(run.impulse[0] / 1.000002 - 1), 1e-6);
    cr_expect_leq(fabs(run.impulse[1] / 2.999999e-6 - 1), 1e-6);
    cr_expect_eq(run.iterations, 1);
}
Test(active_set, all_separating) {
    expect_normals(2, (double[]){2, 1, 1, 2}, (double[]){-1, -2}, (double[]){0, 0}, 0, 0, 3, 2);
}
Test(active_set, all_compressive) {
    expect_normals(2, (double[]){2, 1, 1, 2}, (double[]){3, 3}, (double[]){1, 1}, 1e-12, 2, 1, 1);
}
Test(active_set, mixed) {
    expect_normals(3, (double[]){2, -1, 0, -1, 2, -1, 0, -1, 2}, (double[]){1, -3, 2}, (double[]){0.5, 0, 1}, 1e-12, 2,
                   2, 2);
}
/* The residual |A l - b| is not 0 at a solution with open contacts; the one of the library is. */
Test(active_set, redundant_contacts_share_the_load) {
    DualRun run = normals(2, (double[]){1, 1, 1, 1}, (double[]){1, 1}, SAP_DUAL_ACTIVE_SET, -1);
    cr_expect(dual_is_optimal(&run));
    for (int i = 0; i < 2; i++) {
        cr_expect_leq(fabs(run.impulse[i] - 0.5), 1e-4); /* which split is decided by rounding over delta */
        cr_expect_leq(fabs(run.velocity[i]), 1e-11);
    }
}
Test(active_set, cap_of_iterations_leaves_admissible_impulses) {
    const double A[] = {2, 1, 1, 2}, b[] = {3, 1};
    for (SapDualMethod m = SAP_DUAL_ACTIVE_SET; m <= SAP_DUAL_ACTIVE_SET_SINGLE; m++) {
        DualRun run = normals(2, A, b, m, 1);
        cr_expect_eq(run.status, SAP_WORLD_ITERATION_LIMIT);
        cr_expect(run.impulse[0] >= 0 && run.impulse[1] >= 0);
        run = normals(2, A, b, m, 4);
        cr_expect(dual_is_optimal(&run) && run.iterations == 2);
        cr_expect(fabs(run.impulse[0] - 1.5) < 1e-12 && run.impulse[1] == 0);
    }
}
/* Single exchanges are not Bland's rule and the cost is not monotone, so 2 C is a cap, not a theorem; this problem
 * reaches it. */
Test(active_set, single_exchanges_reach_2_C_and_blocks_need_fewer) {
    const double A[] = {17, -8, 1, -8, 10, -11, 1, -11, 22}, b[] = {-5, 3, -3}, l[] = {0, 1.0 / 3, 1.0 / 33};
    DualRun single = normals(3, A, b, SAP_DUAL_ACTIVE_SET_SINGLE, -1),
            block = normals(3, A, b, SAP_DUAL_ACTIVE_SET, -1);
    cr_expect_leq(single.iterations, 6, "%d", single.iterations);
    cr_expect_leq(block.iterations, 5, "%d", block.iterations);
    for (int i = 0; i < 3; i++)
        cr_expect(fabs(block.impulse[i] - l[i]) < 1e-9 && fabs(single.impulse[i] - l[i]) < 1e-9, "%d: %.9g %.9g", i,
                  block.impulse[i], single.impulse[i]);
}
/* Rows with two bounds take part in the exchanges as well. */
Test(active_set, boxes_stop_at_either_bound) {
    static const int32_t kinds[] = {SAP_DUAL_BOX, SAP_DUAL_BOX, SAP_DUAL_FREE};
    const double W[] = {2, 1, 0, 1, 2, 1, 0, 1, 2}, b[] = {9, -9, 1}, lo[] = {-1, -1, 0}, hi[] = {1, 1, 0};
    SapDualProblem problem = {.num_problems = 1, .num_blocks = 3, .kind = kinds, .W = W, .b = b, .lo = lo, .hi = hi};
    for (SapDualMethod m = SAP_DUAL_CONE; m <= SAP_DUAL_ACTIVE_SET_SINGLE; m++) {
        SapDualOptions options = dual_options(m, 1e-9);
        options.max_iterations = 200;
        DualRun run = dual_run(&problem, &options);
        cr_expect(run.status & (SAP_WORLD_OPTIMAL | SAP_WORLD_COST_SETTLED), "%d: %x", (int)m, run.status);
        cr_expect_leq(fabs(run.impulse[0] - 1) + fabs(run.impulse[1] + 1) + fabs(run.impulse[2] - 1), 1e-7, "%d",
                      (int)m);
    }
}

/* ---- over-relaxed Gauss-Seidel ---- */

static int sweeps(double omega) {
    SapDualOptions options = dual_options(SAP_DUAL_PGS, 1e-8);
    options.pgs_omega = omega;
    options.max_iterations = 1000;
    Contacts c = coupled_pair();
    DualRun run = solve_with(&c, options);
    cr_expect(dual_is_optimal(&run), "omega %g: status %x", omega, run.status);
    return run.iterations;
}

Test(pgs, over_relaxation_needs_fewer_sweeps) {
    cr_expect_eq(sweeps(0.7), 88);
    cr_expect_eq(sweeps(1.0), 60);
    cr_expect_eq(sweeps(1.3), 45);
    cr_expect_eq(sweeps(1.5), 38);
}
Test(pgs, the_cost_never_rises_without_over_relaxation) {
    for (double omega = 0.1; omega <= 1; omega += 0.3) {
        double last = 0;
        for (int k = 0; k < 40; k++) {
            SapDualOptions options = dual_options(SAP_DUAL_PGS, 0);
            options.pgs_omega = omega;
            options.max_iterations = k;
            Contacts c = coupled_pair();
            double cost = solve_with(&c, options).cost;
            cr_expect_leq(cost, last + 1e-9, "omega %g, sweep %d", omega, k);
            last = cost;
        }
    }
}
/* omega = 1 is plain Gauss-Seidel, bit for bit: the first sweep from 0 for W = E is the projection, computed here
 * alike. */
Test(pgs, omega_1_is_plain_gauss_seidel) {
    Contacts c = one(1, 1, 3, 4, 1);
    SapDualOptions options = dual_options(SAP_DUAL_PGS, 0);
    options.max_iterations = 1;
    DualRun plain = solve_with(&c, options);
    cr_expect(plain.impulse[0] == 3 && plain.impulse[1] == 3 * (3.0 / 5) && plain.impulse[2] == 3 * 4.0 / 5,
              "%.17g %.17g %.17g", plain.impulse[0], plain.impulse[1], plain.impulse[2]);
}
/* One sweep by hand, inside the cone: each row has the changes of the rows before it. */
Test(pgs, a_row_sees_the_rows_before_it) {
    Contacts c = {.count = 1, .W = {2, 0.5, 0.3, 0.5, 3, 1, 0.3, 1, 4}, .b = {4, 1.5, 1}, .mu = {1}};
    SapDualOptions options = dual_options(SAP_DUAL_PGS_ROWS, 0);
    options.max_iterations = 1;
    DualRun run = solve_with(&c, options);
    double n = 4 / 2.0, t1 = (1.5 - 0.5 * n) / 3, t2 = (1 - 0.3 * n - 1 * t1) / 4;
    cr_expect_leq(fabs(run.impulse[0] - n) + fabs(run.impulse[1] - t1) + fabs(run.impulse[2] - t2), 1e-9,
                  "%.12g %.12g %.12g", run.impulse[0], run.impulse[1], run.impulse[2]);
}
/* Row by row, friction does not push the normal: the limit is near Coulomb's law, and the status says which test ended
 * it. */
Test(pgs, rows_settle_near_coulombs_law) {
    Contacts c = one(2, 30, 20, 0, 0.3);
    SapDualOptions options = dual_options(SAP_DUAL_PGS_ROWS, 1e-8);
    DualRun run = solve_with(&c, options);
    cr_expect_eq(run.status, SAP_WORLD_COST_SETTLED, "%x", run.status);
    cr_expect_leq(fabs(run.impulse[0] - 15) + fabs(run.impulse[1] - 4.5), 1e-6);
}
Test(pgs, coulombs_law_by_blocks) {
    Contacts c = one(2, 30, 20, 0, 0.3);
    SapDualOptions options = dual_options(SAP_DUAL_PGS, 1e-8);
    options.friction_law = SAP_FRICTION_COULOMB;
    options.max_iterations = 1000;
    DualRun run = solve_with(&c, options);
    cr_expect(dual_is_optimal(&run), "%x", run.status);
    cr_expect_leq(fabs(run.impulse[0] - 15) + fabs(run.impulse[1] - 4.5), 1e-6);
}

/* ---- rows with bounds ---- */

/* Rows between bounds only, of which some end at a bound. Mehrotra's corrector saves iterations: the sum over 400
 * problems is stated; it is 2417 without. */
Test(dual_box, the_corrector_of_bounded_rows_saves_iterations) {
    enum { ROWS = 12, PROBLEMS = 400 };
    int32_t kinds[ROWS];
    double lo[ROWS], hi[ROWS], b[ROWS], B[ROWS * ROWS], W[ROWS * ROWS];
    uint64_t state = 7;
    int sum = 0, bounded = 0;
    for (int p = 0; p < PROBLEMS; p++) {
        for (int i = 0; i < ROWS * ROWS + ROWS; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            double x = (double)(state >> 11) * 0x1p-52 - 1;
            *(i < ROWS * ROWS ? &B[i] : &b[i - ROWS * ROWS]) = x;
        }
        for (int i = 0; i < ROWS; i++) {
            kinds[i] = SAP_DUAL_BOX, lo[i] = -0.2 - 0.05 * i, hi[i] = 0.1 + 0.05 * i;
            for (int j = 0; j < ROWS; j++) {
                W[ROWS * i + j] = i == j ? 0.1 : 0;
                for (int k = 0; k < ROWS; k++)
                    W[ROWS * i + j] += B[ROWS * i + k] * B[ROWS * j + k];
            }
        }
        SapDualProblem problem = {
            .num_problems = 1, .num_blocks = ROWS, .kind = kinds, .W = W, .b = b, .lo = lo, .hi = hi};
        SapDualOptions options = dual_options(SAP_DUAL_CONE, 1e-10);
        DualRun run = dual_run(&problem, &options);
        cr_assert(dual_is_optimal(&run), "problem %d: %#x", p, run.status);
        sum += run.iterations;
        for (int i = 0; i < ROWS; i++)
            bounded += run.impulse[i] < lo[i] + 1e-6 || run.impulse[i] > hi[i] - 1e-6;
    }
    cr_expect_gt(bounded, 20);
    cr_expect_leq(sum, 2405, "%d iterations", sum);
}
