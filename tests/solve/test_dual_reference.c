/* The dual solvers against the 250 problems of tests/data/reference/dual: the method cone reaches every stored
 * solution, cold and warm, within the iterations that docs/dual.md states; active_set solves the normals of all of
 * them; the problems without a solution, and no others, are unbounded. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "lab/conform/dual_file.h"
#include "support/dual_run.h"
#include "support/reference.h"

TestSuite(dual_reference, .timeout = 300);

/* The sets, with the largest median of iterations to 1e-6. */
typedef struct Set {
    char name[16];
    int count, median;
} Set;
static const Set sets[] = {{"articulated", 27, 7},  {"bowl", 14, 7},          {"box", 16, 7},
                           {"chain", 11, 17},       {"contradictory", 7, 40}, {"disc", 4, 17},
                           {"duplicate", 11, 17},   {"grazing", 14, 7},       {"mixed", 12, 17},
                           {"mu0", 16, 7},          {"mu10", 16, 17},         {"pyramid", 6, 17},
                           {"random", 8, 7},        {"random_ill", 8, 17},    {"random_rank", 8, 17},
                           {"restitution", 7, 17},  {"seed", 17, 8},          {"squeeze", 8, 7},
                           {"squeeze_bias", 8, 17}, {"stack", 16, 17},        {"stack_ratio", 16, 17}};
enum { NUM_SETS = sizeof sets / sizeof *sets };

/* Calls `visit` with every problem of a set. */
static void each(const Set *set, void (*visit)(const DualCase *c, void *arg), void *arg) {
    char path[64];
    snprintf(path, sizeof path, "dual/%.40s.json.gz", set->name);
    json_t *root = reference_load(path);
    cr_assert_not_null(root);
    const json_t *problems = json_object_get(root, "problems");
    cr_assert_eq((int)json_array_size(problems), set->count, "%s", set->name);
    for (int i = 0; i < set->count; i++) {
        DualCase c;
        cr_assert(dual_case_open(json_array_get(problems, (size_t)i), &c), "%s %d", set->name, i);
        visit(&c, arg);
        dual_case_close(&c);
    }
    json_decref(root);
}

static uint32_t expected_status(const DualCase *c) {
    return SAP_WORLD_OPTIMAL | (c->solvable ? 0u : (uint32_t)SAP_WORLD_UNBOUNDED);
}

ParameterizedTestParameters(dual_reference, cone_reaches_the_stored_solution) {
    return cr_make_param_array(Set, (void *)sets, NUM_SETS);
}

/* At 1e-10 the bounds on z, cost and impulses hold everywhere; at 1e-8 a mass ratio of 1e6 leaves 2e-5 in z. */
static void check_solution(const DualCase *c, void *arg) {
    (void)arg;
    for (int k = 0; k < 2; k++) {
        SapDualOptions options = dual_options(SAP_DUAL_CONE, k == 0 ? 1e-8 : 1e-10);
        DualRun run = dual_run(&c->problem, &options);
        cr_expect_eq(run.status, expected_status(c), "%s: status %x", c->name, run.status);
        cr_expect_leq(run.residual, options.optimality_rel_tol, "%s: %g", c->name, run.residual);
        if (k == 0)
            continue;
        DualErrors e = dual_case_errors(c, run.impulse, run.velocity, run.cost);
        cr_expect_leq(e.velocity, 1e-6, "%s: z %g", c->name, e.velocity);
        cr_expect_leq(e.cost, 1e-9, "%s: cost %g", c->name, e.cost);
        cr_expect_leq(e.impulse, 1e-5, "%s: impulse %g", c->name, e.impulse);
    }
}

ParameterizedTest(Set *set, dual_reference, cone_reaches_the_stored_solution) {
    each(set, check_solution, NULL);
}

typedef struct Counts {
    int count, safeguards;
    double iterations[300];
} Counts;

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void count_cold(const DualCase *c, void *arg) {
    Counts *counts = arg;
    SapDualOptions options = dual_options(SAP_DUAL_CONE, 1e-6);
    DualRun run = dual_run(&c->problem, &options);
    cr_expect_eq(run.status, expected_status(c), "%s: status %x", c->name, run.status);
    counts->safeguards += run.safeguards > 0;
    counts->iterations[counts->count++] = run.iterations;
}

/* The first version needs no safeguard at 1e-6 and at most 28 iterations. */
Test(dual_reference, cone_needs_few_iterations_and_no_safeguard) {
    int safeguards = 0;
    for (int s = 0; s < NUM_SETS; s++) {
        Counts counts = {0};
        each(&sets[s], count_cold, &counts);
        qsort(counts.iterations, (size_t)counts.count, sizeof(double), by_value);
        safeguards += counts.safeguards;
        cr_expect_leq(counts.iterations[counts.count / 2], sets[s].median, "%s", sets[s].name);
        cr_expect_leq(counts.iterations[counts.count - 1], 40, "%s", sets[s].name);
    }
    cr_expect_leq(safeguards, 2, "%d of 250", safeguards);
}

/* b moved by 1 % in the range of W, so that degenerate problems keep a solution. */
static void count_warm(const DualCase *c, void *arg) {
    Counts *counts = arg;
    if (!c->solvable)
        return;
    int n = c->rows;
    double moved[DUAL_MAX_ROWS], push[DUAL_MAX_ROWS] = {0}, size = 0, length = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            push[i] += c->problem.W[i * n + j] * sin(13.0 * j + 78.0 * counts->count);
        size += push[i] * push[i];
        length += c->problem.b[i] * c->problem.b[i];
    }
    for (int i = 0; i < n; i++)
        moved[i] = c->problem.b[i] + (size > 0 ? 0.01 * sqrt(length / size) * push[i] : 0);
    SapDualProblem problem = c->problem;
    problem.b = moved;
    problem.guess = c->impulse;
    SapDualOptions options = dual_options(SAP_DUAL_CONE, 1e-6);
    DualRun run = dual_run(&problem, &options);
    cr_expect(dual_is_optimal(&run), "%s: status %x", c->name, run.status);
    counts->iterations[counts->count++] = run.iterations;
}

Test(dual_reference, cone_starts_warm_from_the_last_impulses) {
    Counts counts = {0};
    for (int s = 0; s < NUM_SETS; s++)
        each(&sets[s], count_warm, &counts);
    qsort(counts.iterations, (size_t)counts.count, sizeof(double), by_value);
    cr_expect_leq(counts.iterations[counts.count / 2], 3);
    cr_expect_leq(counts.iterations[counts.count * 95 / 100], 8);
}

/* The stored solution itself is a start that needs no iteration. */
static void check_warm_at_solution(const DualCase *c, void *arg) {
    (void)arg;
    SapDualProblem problem = c->problem;
    problem.guess = c->impulse;
    SapDualOptions options = dual_options(SAP_DUAL_CONE, 1e-6);
    DualRun run = dual_run(&problem, &options);
    cr_expect(dual_is_optimal(&run) && run.iterations == 0, "%s: %d iterations", c->name, run.iterations);
}
Test(dual_reference, a_solution_as_the_guess_takes_no_iteration) {
    each(&sets[2], check_warm_at_solution, NULL);
    each(&sets[11], check_warm_at_solution, NULL);
}

/* ---- Coulomb's law ---- */

/* |x - Proj(x - z)| / |q| of Coulomb's law in scaled form, for problems of contacts only, independent of the
 * kernels. */
static double coulomb_residual(const DualCase *c, const double *l) {
    int n = c->rows;
    double error = 0, norm = 0;
    for (int b = 0; b < c->problem.num_blocks; b++) {
        double mu = c->problem.mu[b], z[3], x[3], u[3], w = 0;
        const double *W = c->problem.W;
        for (int k = 0; k < 3; k++) {
            int i = 3 * b + k;
            double s = k == 2 ? 1 : mu, R = c->problem.R ? c->problem.R[i] : 0;
            z[k] = R * l[i] - c->problem.b[i];
            for (int j = 0; j < n; j++)
                z[k] += W[i * n + j] * l[j];
            w += s * s * (W[i * n + i] + R) / 3;
        }
        for (int k = 0; k < 3; k++) {
            double d = (k == 2 ? 1 : mu) / sqrt(w);
            x[k] = d > 0 ? l[3 * b + k] / d : 0;
            z[k] *= d;
            norm += d * d * c->problem.b[3 * b + k] * c->problem.b[3 * b + k];
        }
        z[2] += hypot(z[0], z[1]);
        for (int k = 0; k < 3; k++)
            u[k] = x[k] - z[k];
        double s = hypot(u[0], u[1]), g = (u[2] + s) / 2;
        double p[3] = {s > 0 ? g * u[0] / s : 0, s > 0 ? g * u[1] / s : 0, g};
        for (int k = 0; k < 3; k++) {
            double projected = s <= u[2] ? u[k] : s <= -u[2] ? 0 : p[k];
            error += (x[k] - projected) * (x[k] - projected);
        }
    }
    return norm > 0 ? sqrt(error / norm) : sqrt(error);
}

typedef struct Found {
    int all, found;
} Found;

static void check_coulomb(const DualCase *c, void *arg) {
    Found *found = arg;
    SapDualOptions convex = dual_options(SAP_DUAL_CONE, 1e-6), options = convex;
    options.friction_law = SAP_FRICTION_COULOMB;
    DualRun run = dual_run(&c->problem, &options), base = dual_run(&c->problem, &convex);
    bool converged = !(run.status & SAP_WORLD_COULOMB_NOT_CONVERGED);
    found->all += c->solvable;
    found->found += converged;
    cr_expect(run.status & SAP_WORLD_OPTIMAL, "%s: status %x", c->name, run.status);
    if (converged)
        cr_expect_leq(coulomb_residual(c, run.impulse), 2e-6, "%s", c->name); /* the solver's 1e-6, and rounding */
    for (int i = 0; !converged && i < c->rows; i++)
        cr_expect(run.impulse[i] == base.impulse[i], "%s: not the convex solution", c->name);
}

/* 231 problems of contacts only: the fixed point leaves 6, which keep the convex solution. */
Test(dual_reference, coulombs_law_holds_or_the_convex_solution_is_kept) {
    Found found = {0};
    for (int s = 0; s < NUM_SETS; s++)
        if (strcmp(sets[s].name, "mixed") != 0)
            each(&sets[s], check_coulomb, &found);
    cr_expect_geq(found.found, found.all - 6, "%d of %d", found.found, found.all);
}

/* ---- active set ---- */

/* l >= 0, w >= 0, l w = 0 for the normals, relative to the largest b and l. */
static void check_normals(const DualCase *c, void *arg) {
    SapDualOptions options = dual_options(*(SapDualMethod *)arg, 1e-8);
    DualRun run = dual_run(&c->problem, &options);
    cr_expect(run.status & SAP_WORLD_OPTIMAL, "%s: status %x", c->name, run.status);
    cr_expect_leq(run.residual, 1e-8, "%s: %g", c->name, run.residual);
    if (options.method == SAP_DUAL_ACTIVE_SET)
        cr_expect_leq(run.iterations, 10, "%s: %d iterations", c->name, run.iterations);
    int row = 0, active = 0;
    for (int b = 0; b < c->problem.num_blocks; b++) {
        int kind = c->problem.kind[b];
        if (kind == SAP_DUAL_CONTACT)
            cr_expect(run.impulse[row] == 0 && run.impulse[row + 1] == 0, "%s: friction", c->name);
        row += kind == SAP_DUAL_CONTACT ? 2 : 0;
        if (kind <= SAP_DUAL_UNILATERAL) {
            cr_expect_geq(run.impulse[row], 0, "%s", c->name);
            active += run.impulse[row] > 0;
        }
        row++;
    }
    cr_expect_geq(run.active, active, "%s", c->name);
}

Test(dual_reference, active_set_solves_the_normals_of_every_problem) {
    for (int s = 0; s < NUM_SETS; s++)
        for (SapDualMethod m = SAP_DUAL_ACTIVE_SET; m <= SAP_DUAL_ACTIVE_SET_SINGLE; m++)
            each(&sets[s], check_normals, &m);
}
