/* Heavy bodies on light ones. The method cone solves what has a solution, with mass ratios of a million and to tolerances
 * below the rounding of its impulses, and calls nothing else contradictory; active_set finds impulses to the last bits
 * up to a ratio of 1e12. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/dual_run.h"

enum { BOXES = 20, FEET = 4, MAX_ROWS = 3 * FEET * BOXES };

/* Numbers between -1 and 1. */
static double number(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* ---- boxes with friction ---- */

typedef struct Problem {
    int rows;
    double W[MAX_ROWS * MAX_ROWS], b[MAX_ROWS], mu[FEET * BOXES];
} Problem;
static Problem problem_storage;

/* W = J A^-1 J' and b = -J v for a J with `dofs` columns. */
static void assemble(Problem *p, int dofs, const double *J, const double *inverse_mass, const double *v) {
    for (int i = 0; i < p->rows; i++) {
        p->b[i] = 0;
        for (int k = 0; k < dofs; k++)
            p->b[i] -= J[i * dofs + k] * v[k];
        for (int j = 0; j <= i; j++) {
            double w = 0;
            for (int k = 0; k < dofs; k++)
                w += J[i * dofs + k] * inverse_mass[k] * J[j * dofs + k];
            p->W[i * p->rows + j] = p->W[j * p->rows + i] = w;
        }
    }
}

/* Cubes of 0.1 m on each other, the lowest on the ground, in a step of 5 ms. Each stands on four feet, which are moved
 * at random by up to `jitter`. */
static Problem *stack(int count, const double *mass, double jitter, uint64_t *state) {
    static double J[MAX_ROWS * 6 * BOXES];
    Problem *p = &problem_storage;
    double inverse_mass[6 * BOXES], v[6 * BOXES] = {0};
    int dofs = 6 * count;
    memset(J, 0, sizeof J);
    p->rows = 3 * FEET * count;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 6; k++)
            inverse_mass[6 * i + k] = k < 3 ? 1 / mass[i] : 6 / (mass[i] * 0.01);
        v[6 * i + 2] = -9.81 * 0.005;
        for (int foot = 0; foot < FEET; foot++) {
            double x = (foot & 1 ? 0.05 : -0.05) + jitter * number(state),
                   y = (foot & 2 ? 0.05 : -0.05) + jitter * number(state);
            int row = 3 * (FEET * i + foot);
            p->mu[FEET * i + foot] = 0.6;
            for (int below = 0; below <= (i > 0); below++) {
                /* velocity of the foot: v + w x (x, y, z), with the sign of the side */
                double z = below ? 0.05 : -0.05, sign = below ? -1 : 1;
                const double terms[3][6] = {{1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}, {0, 0, 1, y, -x, 0}};
                for (int a = 0; a < 3; a++)
                    for (int k = 0; k < 6; k++)
                        J[(row + a) * dofs + 6 * (i - below) + k] = sign * terms[a][k];
            }
        }
    }
    assemble(p, dofs, J, inverse_mass, v);
    return p;
}

static DualRun solve(const Problem *p, double tolerance) {
    static DualRun run;
    static double impulse[MAX_ROWS], velocity[MAX_ROWS];
    static int32_t region[MAX_ROWS];
    SapDualProblem problem = {.num_problems = 1, .num_blocks = p->rows / 3, .W = p->W, .b = p->b, .mu = p->mu};
    SapDualOptions options = dual_options(SAP_DUAL_CONE, tolerance);
    SapDualSolution out = {
        impulse,         velocity,    &run.cost, &run.residual, &run.status, &run.iterations, &run.inner_iterations,
        &run.safeguards, &run.active, region};
    need(sap_dual_solve(&problem, &options, &out));
    return run;
}

/* One box of 1e6 kg on top of others of 1 kg, masses that rise upwards, or a heavy upper half: the worst orders. */
static void fill_masses(int count, int order, double *mass) {
    for (int i = 0; i < count; i++)
        mass[i] = order == 0   ? (i == count - 1 ? 1e6 : 1)
                  : order == 1 ? pow(10, 6.0 * i / (count - 1))
                  : order == 2 ? (i < count / 2 ? 1 : 1e6)
                               : (i % 2 ? 1e6 : 1);
}

Test(dual_mass_ratio, stacks_of_one_to_a_million_are_solved_as_asked) {
    uint64_t state = 3;
    for (int k = 0; k < 100; k++) {
        double mass[BOXES];
        int count = 2 + k % 7;
        fill_masses(count, k / 7 % 4, mass);
        DualRun run = solve(stack(count, mass, k % 2 ? 0.01 : 0, &state), 1e-6);
        cr_expect(dual_is_optimal(&run), "stack %d of %d: %#x, residual %g", k, count, (unsigned)run.status,
                  run.residual);
    }
}

/* A correctly rounded solution has a residual of 2e-10 to 3e-9: only impulses whose roundings make up for each other
 * reach 1e-10. */
Test(dual_mass_ratio, a_stack_of_twenty_reaches_a_residual_below_the_rounding_of_its_impulses) {
    uint64_t state = 3;
    for (int order = 0; order < 3; order++) {
        double mass[BOXES];
        fill_masses(BOXES, order, mass);
        DualRun run = solve(stack(BOXES, mass, 0, &state), 1e-10);
        cr_expect(dual_is_optimal(&run), "order %d: %#x", order, (unsigned)run.status);
        cr_expect_leq(run.residual, 1e-10, "order %d: %g", order, run.residual);
        cr_expect_eq(run.safeguards, 0, "order %d", order);
    }
}

/* With feet at random places, and a heavy box on every light one, doubles do not reach 1e-10. The solve ends there, says
 * so, and does not spend the iterations of the safeguards. */
Test(dual_mass_ratio, a_tolerance_below_what_doubles_express_settles_at_their_rounding) {
    uint64_t state = 3;
    double mass[BOXES];
    fill_masses(BOXES, 3, mass);
    DualRun run = solve(stack(BOXES, mass, 0.01, &state), 1e-10);
    cr_expect_eq(run.status, SAP_WORLD_COST_SETTLED, "%#x", (unsigned)run.status);
    cr_expect(run.residual > 1e-10 && run.residual < 1e-8, "%g", run.residual);
    cr_expect_leq(run.iterations, 40, "%d", run.iterations);
}

/* ---- normals only ---- */

/* Two bodies of 1 kg and 1e6 kg on each other. */
Test(dual_mass_ratio, two_rows_of_one_to_a_million_have_their_solution) {
    static const int32_t kinds[] = {SAP_DUAL_UNILATERAL, SAP_DUAL_UNILATERAL};
    const double W[] = {1, -1, -1, 1 + 1e-6}, b[] = {1, 0};
    SapDualProblem problem = {.num_problems = 1, .num_blocks = 2, .kind = kinds, .W = W, .b = b};
    for (double tolerance = 1e-6; tolerance > 1e-11; tolerance *= 1e-2) {
        SapDualOptions options = dual_options(SAP_DUAL_CONE, tolerance);
        DualRun run = dual_run(&problem, &options);
        cr_expect(dual_is_optimal(&run), "%g: %#x", tolerance, (unsigned)run.status);
        cr_expect_float_eq(run.impulse[0] / 1000001, 1, 1e-6, "%.12g", run.impulse[0]);
        cr_expect_float_eq(run.impulse[1] / 1000000, 1, 1e-6, "%.12g", run.impulse[1]);
    }
}

/* Masses are powers of 2, so W and the impulses, b times the mass above, are exact. */
Test(dual_mass_ratio, active_set_is_exact_up_to_a_ratio_of_1e12) {
    int32_t kinds[8];
    for (int i = 0; i < 8; i++)
        kinds[i] = SAP_DUAL_UNILATERAL;
    for (int power = 10; power <= 40; power += 5)
        for (int count = 2; count <= 8; count++)
            for (SapDualMethod m = SAP_DUAL_ACTIVE_SET; m <= SAP_DUAL_ACTIVE_SET_SINGLE; m++) {
                double W[64] = {0}, b[8] = {0.04905}, above = ldexp(1, power) + count - 1;
                for (int i = 0; i < count; i++) {
                    double inverse = i == count - 1 ? ldexp(1, -power) : 1;
                    W[i * count + i] = i ? 1 + inverse : inverse;
                    if (i)
                        W[i * count + i - 1] = W[(i - 1) * count + i] = -1;
                }
                SapDualProblem problem = {.num_problems = 1, .num_blocks = count, .kind = kinds, .W = W, .b = b};
                SapDualOptions options = dual_options(m, 1e-6);
                DualRun run = dual_run(&problem, &options);
                cr_expect_eq(run.status, power <= 30 ? SAP_WORLD_OPTIMAL : SAP_WORLD_COST_SETTLED, "2^%d: %#x", power,
                             (unsigned)run.status);
                for (int i = 0; i < count; i++, above -= 1)
                    cr_expect_leq(fabs(run.impulse[i] / (0.04905 * above) - 1), 1e-15, "2^%d, row %d of %d: %.17g",
                                  power, i, count, run.impulse[i]);
            }
}

/* ---- problems that have a solution, and those that have none ---- */

/* W = J J' and b = W l - z for random l and z that are a solution: parting, sticking and sliding contacts. */
static Problem *solvable(int contacts, int columns, double spread, uint64_t *state) {
    Problem *p = &problem_storage;
    double l[MAX_ROWS] = {0}, z[MAX_ROWS] = {0}, scale[MAX_ROWS];
    static double J[MAX_ROWS * MAX_ROWS];
    const double still[MAX_ROWS] = {0};
    p->rows = 3 * contacts;
    for (int k = 0; k < columns; k++)
        scale[k] = pow(10, spread * (number(state) - 1));
    for (int i = 0; i < p->rows * columns; i++)
        J[i] = number(state);
    assemble(p, columns, J, scale, still);
    for (int c = 0; c < contacts; c++) {
        double mu = p->mu[c] = 0.75 * (1 + number(state)), angle = 3.2 * number(state), n = 1 + number(state);
        double t1 = cos(angle), t2 = sin(angle), s = 0.5 * (1 + number(state));
        double *at_l = l + 3 * c, *at_z = z + 3 * c;
        int way = (int)(1.5 * (1 + number(state)));
        if (way == 0) { /* parts */
            at_z[0] = s * t1, at_z[1] = s * t2, at_z[2] = mu * s + n;
        } else { /* sticks, or slides */
            double part = way == 1 ? 0.99 * s : 1, slip = way == 1 ? 0 : s;
            at_l[0] = part * mu * n * t1, at_l[1] = part * mu * n * t2, at_l[2] = n;
            at_z[0] = -slip * t1, at_z[1] = -slip * t2, at_z[2] = mu * slip;
        }
    }
    for (int i = 0; i < p->rows; i++) {
        p->b[i] = -z[i];
        for (int j = 0; j < p->rows; j++)
            p->b[i] += p->W[i * p->rows + j] * l[j];
    }
    return p;
}

Test(dual_mass_ratio, random_problems_with_a_solution_are_solved_as_asked) {
    uint64_t state = 1;
    for (int k = 0; k < 600; k++) {
        int contacts = 1 + k % 12, rows = 3 * contacts;
        const Problem *p = solvable(contacts, k % 3 == 1 ? (2 * rows + 4) / 5 : rows, k % 3 == 2 ? 4 : 0, &state);
        DualRun run = solve(p, 1e-8);
        cr_expect(dual_is_optimal(&run), "problem %d: %#x, residual %g", k, (unsigned)run.status, run.residual);
    }
}

/* A stack at rest, and a body whose two feet are pushed towards each other at a fraction of the other velocities. */
Test(dual_mass_ratio, a_small_contradiction_beside_a_solvable_problem_is_found) {
    uint64_t state = 5;
    const double mass[3] = {1, 1, 1};
    for (double part = 1; part > 5e-4; part /= 10) {
        Problem *p = stack(2, mass, 0, &state), joined = {.rows = 30};
        memcpy(joined.mu, p->mu, sizeof p->mu);
        joined.mu[8] = joined.mu[9] = 0.6;
        for (int i = 0; i < 24; i++) {
            joined.b[i] = p->b[i];
            for (int j = 0; j < 24; j++)
                joined.W[30 * i + j] = p->W[24 * i + j];
        }
        for (int i = 24; i < 30; i++) {
            joined.W[31 * i] = 1;
            joined.W[30 * i + (i < 27 ? i + 3 : i - 3)] = -1;
        }
        joined.b[26] = joined.b[29] = 0.05 * part;
        DualRun run = solve(&joined, 1e-6);
        cr_expect_eq(run.status, SAP_WORLD_OPTIMAL | SAP_WORLD_UNBOUNDED, "%g: %#x", part, (unsigned)run.status);
    }
}
