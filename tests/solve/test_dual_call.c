/* The call sap_dual_solve: it names wrong arguments; a bad problem affects no other; results have the same bits in any
 * position, for any number of problems, threads and lanes, and with padding. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "host/cpu/dispatch.h"
#include "support/dual_run.h"

/* ---- random problems of one shape ---- */

enum { BLOCKS = 6, ROWS = 10, PROBLEMS = 37 };
static const int32_t kinds[BLOCKS] = {SAP_DUAL_CONTACT, SAP_DUAL_UNILATERAL, SAP_DUAL_CONTACT,
                                      SAP_DUAL_FREE,    SAP_DUAL_BOX,        SAP_DUAL_UNILATERAL};

typedef struct Problems {
    double W[PROBLEMS][ROWS * ROWS], R[PROBLEMS][ROWS], b[PROBLEMS][ROWS], guess[PROBLEMS][ROWS];
    double mu[PROBLEMS][BLOCKS], lo[PROBLEMS][BLOCKS], hi[PROBLEMS][BLOCKS];
} Problems;

typedef struct Results {
    double impulse[PROBLEMS][ROWS], velocity[PROBLEMS][ROWS], cost[PROBLEMS], residual[PROBLEMS];
    uint32_t status[PROBLEMS];
    int32_t iterations[PROBLEMS], inner[PROBLEMS], safeguards[PROBLEMS], active[PROBLEMS], region[PROBLEMS][BLOCKS];
} Results;

static double random_real(uint64_t *state) { /* -1 .. 1 */
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* W = J J' of rank 7: some rows depend on others. */
static void make_problem(Problems *p, int w, uint64_t seed) {
    double J[ROWS][7];
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 7; k++)
            J[i][k] = random_real(&seed);
    double v[7];
    for (int k = 0; k < 7; k++)
        v[k] = random_real(&seed);
    for (int i = 0; i < ROWS; i++) {
        p->b[w][i] = 0;
        for (int k = 0; k < 7; k++)
            p->b[w][i] -= J[i][k] * v[k];
        for (int j = 0; j < ROWS; j++) {
            double s = 0;
            for (int k = 0; k < 7; k++)
                s += J[i][k] * J[j][k];
            p->W[w][i * ROWS + j] = s;
        }
        p->R[w][i] = 1e-3;
        p->guess[w][i] = 0.1 * random_real(&seed);
    }
    for (int b = 0; b < BLOCKS; b++) {
        p->mu[w][b] = 0.5 + 0.5 * random_real(&seed);
        p->lo[w][b] = -0.2;
        p->hi[w][b] = 0.3;
    }
}

static Problems *make_problems(void) {
    Problems *p = calloc(1, sizeof *p);
    for (int w = 0; w < PROBLEMS; w++)
        make_problem(p, w, (uint64_t)w + 1);
    return p;
}

static SapStatus try_solve(const Problems *p, int first, int count, const SapDualOptions *options, Results *r) {
    SapDualProblem problem = {count,       BLOCKS,       kinds,        p->W[first],  p->R[first],
                              p->b[first], p->mu[first], p->lo[first], p->hi[first], p->guess[first]};
    SapDualSolution out = {r->impulse[first], r->velocity[first],    &r->cost[first],  &r->residual[first],
                           &r->status[first], &r->iterations[first], &r->inner[first], &r->safeguards[first],
                           &r->active[first], r->region[first]};
    return sap_dual_solve(&problem, options, &out);
}

static void solve(const Problems *p, int first, int count, const SapDualOptions *options, Results *r) {
    need(try_solve(p, first, count, options, r));
}

/* ---- the same bits ---- */

typedef struct Way {
    SapDualMethod method;
    SapFrictionLaw law;
    SapPrecision precision;
} Way;
static Way ways[] = {
    {SAP_DUAL_CONE, SAP_FRICTION_CONVEX, SAP_FP64},       {SAP_DUAL_CONE, SAP_FRICTION_COULOMB, SAP_FP64},
    {SAP_DUAL_CONE, SAP_FRICTION_CONVEX, SAP_FP32},       {SAP_DUAL_PGS, SAP_FRICTION_CONVEX, SAP_FP64},
    {SAP_DUAL_PGS, SAP_FRICTION_COULOMB, SAP_FP64},       {SAP_DUAL_PGS_ROWS, SAP_FRICTION_CONVEX, SAP_FP64},
    {SAP_DUAL_ACTIVE_SET, SAP_FRICTION_CONVEX, SAP_FP64}, {SAP_DUAL_ACTIVE_SET_SINGLE, SAP_FRICTION_CONVEX, SAP_FP64}};

ParameterizedTestParameters(dual_call, bits_do_not_depend_on_lanes_threads_or_position) {
    return cr_make_param_array(Way, ways, sizeof ways / sizeof *ways);
}
ParameterizedTest(Way *way, dual_call, bits_do_not_depend_on_lanes_threads_or_position) {
    Problems *p = make_problems();
    Results *reference = calloc(1, sizeof *reference), *r = calloc(1, sizeof *r);
    SapDualOptions options = dual_options(way->method, way->precision == SAP_FP32 ? 1e-4 : 1e-8);
    options.friction_law = way->law;
    options.precision = way->precision;
    options.isa = SAP_ISA_GENERIC;
    options.lanes = 1;
    solve(p, 0, PROBLEMS, &options, reference);
    /* other lanes, threads and instruction sets */
    for (int lanes = 1; lanes <= 8; lanes = lanes == 1 ? 4 : 2 * lanes)
        for (int threads = 1; threads <= 3; threads++) {
            options.lanes = lanes;
            options.threads = threads;
            bool generic = threads == 1 && sap_dual_kernels_find(SAP_ISA_GENERIC, lanes, SAP_FP64) != NULL;
            options.isa = generic ? SAP_ISA_GENERIC : SAP_ISA_AUTO;
            memset(r, 0, sizeof *r);
            solve(p, 0, PROBLEMS, &options, r);
            cr_expect(memcmp(r, reference, sizeof *r) == 0, "%d lanes, %d threads", lanes, threads);
        }
    /* in pieces */
    memset(r, 0, sizeof *r);
    for (int first = 0, count = 1; first < PROBLEMS; first += count, count += 2)
        solve(p, first, first + count < PROBLEMS ? count : PROBLEMS - first, &options, r);
    cr_expect(memcmp(r, reference, sizeof *r) == 0, "in pieces");
    free(r);
    free(reference);
    free(p);
}

Test(dual_call, lanes_that_the_library_does_not_have_are_refused_by_name) {
    Problems *p = make_problems();
    Results *r = calloc(1, sizeof *r);
    SapDualOptions options = dual_options(SAP_DUAL_PGS, 1e-8);
    options.isa = SAP_ISA_GENERIC;
    options.lanes = 8;
    if (sap_dual_kernels_find(SAP_ISA_GENERIC, 8, SAP_FP64)) {
        solve(p, 0, 1, &options, r);
    } else {
        cr_assert_eq(try_solve(p, 0, 1, &options, r), SAP_ERROR_UNSUPPORTED);
        bool has_four =
            sap_dual_kernels_find(SAP_ISA_GENERIC, 4, SAP_FP64) != NULL; /* not in a build for this machine */
        cr_assert_str_eq(sap_error_message(),
                         has_four ? "sap_dual_solve: lanes is 8; isa generic in this library allows 0, 1, 4"
                                  : "sap_dual_solve: lanes is 8; isa generic in this library allows 0, 1");
    }
    free(r);
    free(p);
}

/* Blocks without a row in W and b change nothing. */
Test(dual_call, padding_does_not_change_a_problem) {
    enum { N = ROWS + 4 };
    Problems *p = make_problems();
    Results *r = calloc(1, sizeof *r);
    SapDualOptions options = dual_options(SAP_DUAL_CONE, 1e-8);
    solve(p, 0, 1, &options, r);
    int32_t more[BLOCKS + 2] = {SAP_DUAL_CONTACT};
    double W[N * N] = {0}, R[N] = {0}, b[N] = {0}, guess[N] = {0}, mu[BLOCKS + 2] = {0.5}, lo[BLOCKS + 2] = {0},
                 hi[BLOCKS + 2] = {0};
    for (int k = 0; k < BLOCKS; k++)
        more[k + 1] = kinds[k], mu[k + 1] = p->mu[0][k], lo[k + 1] = p->lo[0][k], hi[k + 1] = p->hi[0][k];
    more[BLOCKS + 1] = SAP_DUAL_UNILATERAL;
    for (int i = 0; i < ROWS; i++) {
        R[i + 3] = p->R[0][i], b[i + 3] = p->b[0][i], guess[i + 3] = p->guess[0][i];
        for (int j = 0; j < ROWS; j++)
            W[(i + 3) * N + j + 3] = p->W[0][i * ROWS + j];
    }
    SapDualProblem padded = {1, BLOCKS + 2, more, W, R, b, mu, lo, hi, guess};
    DualRun run = dual_run(&padded, &options);
    cr_expect_eq(run.iterations, r->iterations[0]);
    cr_expect_eq(run.residual, r->residual[0]);
    for (int i = 0; i < ROWS; i++)
        cr_expect_eq(run.impulse[i + 3], r->impulse[0][i], "row %d", i);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(run.impulse[i], 0);
    cr_expect_eq(run.impulse[N - 1], 0);
    free(r);
    free(p);
}

/* ---- bad problems ---- */

/* Every number of one problem in turn becomes bad; the problem says so, its neighbours keep their bits. */
static void poison(double *number, double bad, uint32_t expected, Problems *p, const Results *reference, Results *r) {
    double good = *number;
    *number = bad;
    SapDualOptions options = dual_options(SAP_DUAL_CONE, 1e-8);
    options.lanes = 4;
    solve(p, 0, 8, &options, r);
    *number = good;
    cr_expect_eq(r->status[5], expected, "%g becomes %g: status %x", good, bad, r->status[5]);
    for (int w = 0; w < 8; w++)
        for (int i = 0; i < ROWS; i++) {
            double l = w == 5 ? 0 : reference->impulse[w][i];
            cr_expect(r->impulse[w][i] == l, "problem %d, row %d is %g", w, i, r->impulse[w][i]);
        }
}

Test(dual_call, a_bad_problem_gets_a_status_and_affects_no_other) {
    Problems *p = make_problems();
    Results *reference = calloc(1, sizeof *reference), *r = calloc(1, sizeof *r);
    SapDualOptions options = dual_options(SAP_DUAL_CONE, 1e-8);
    solve(p, 0, 8, &options, reference);
    const uint32_t numbers = SAP_WORLD_NONFINITE_STATE, parameters = SAP_WORLD_BAD_PARAMETERS;
    for (int k = 0; k < 2; k++) {
        double bad = k == 0 ? NAN : INFINITY;
        for (int i = 0; i < ROWS; i++) {
            poison(&p->W[5][i * ROWS], bad, numbers, p, reference, r);
            poison(&p->R[5][i], bad, numbers, p, reference, r);
            poison(&p->b[5][i], -bad, numbers, p, reference, r);
            poison(&p->guess[5][i], bad, numbers, p, reference, r);
        }
        poison(&p->mu[5][2], bad, numbers, p, reference, r);
    }
    poison(&p->mu[5][0], -0.1, parameters, p, reference, r);
    poison(&p->R[5][3], -1, parameters, p, reference, r);
    poison(&p->W[5][0], -1, parameters, p, reference, r);
    poison(&p->lo[5][4], 0.3, parameters, p, reference, r);
    poison(&p->hi[5][4], NAN, parameters, p, reference, r);
    free(r);
    free(reference);
    free(p);
}

/* Numbers at the ends of the range end with a status and stay finite. */
Test(dual_call, huge_and_tiny_numbers_stay_finite) {
    const double scales[] = {1e-300, 1e-150, 1e-30, 1e30, 1e150};
    for (int s = 0; s < 5; s++)
        for (SapDualMethod m = SAP_DUAL_CONE; m <= SAP_DUAL_ACTIVE_SET_SINGLE; m++) {
            double W[9] = {scales[s], 0, 0, 0, scales[s], 0, 0, 0, scales[s]}, b[3] = {scales[s], 0, scales[s]},
                   mu = 0.5;
            SapDualProblem problem = {.num_problems = 1, .num_blocks = 1, .W = W, .b = b, .mu = &mu};
            SapDualOptions options = dual_options(m, 1e-8);
            DualRun run = dual_run(&problem, &options);
            cr_expect_neq(run.status, 0, "%g", scales[s]);
            for (int i = 0; i < 3; i++)
                cr_expect(isfinite(run.impulse[i]), "%g: %g", scales[s], run.impulse[i]);
        }
}

/* ---- arguments ---- */

static void expect_refusal(const SapDualProblem *problem, const SapDualOptions *options, const SapDualSolution *out,
                           const char *message) {
    cr_expect_eq(sap_dual_solve(problem, options, out), SAP_ERROR_ARGUMENT, "%s", message);
    cr_expect_str_eq(sap_error_message(), message);
}

Test(dual_call, names_every_wrong_argument) {
    double one = 1, W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {0}, l[3];
    uint32_t status;
    const SapDualProblem good = {.num_problems = 1, .num_blocks = 1, .W = W, .b = b, .mu = &one};
    const SapDualSolution out = {.impulse = l, .status = &status};
    SapDualProblem p;
    SapDualSolution s;
    SapDualOptions o;
#define PROBLEM(change, message) (p = good, change, expect_refusal(&p, NULL, &out, message))
#define OPTIONS(change, message) (sap_dual_options_default(&o), change, expect_refusal(&good, &o, &out, message))
    expect_refusal(NULL, NULL, &out, "sap_dual_solve: argument 'problem' is NULL");
    expect_refusal(&good, NULL, NULL, "sap_dual_solve: argument 'out' is NULL");
    PROBLEM(p.num_problems = -1, "problem.num_problems is -1; it must be >= 0");
    PROBLEM(p.num_blocks = -1, "problem.num_blocks is -1; allowed: 0 .. 3072");
    PROBLEM(p.num_blocks = 1025, "problem: the blocks have 3075 rows; at most 3072 are allowed");
    PROBLEM(p.kind = (int32_t[]){4}, "problem.kind[0] is 4; allowed: 0 contact, 1 unilateral, 2 free, 3 box");
    PROBLEM(p.W = NULL, "sap_dual_solve: problem.W is NULL");
    PROBLEM(p.b = NULL, "sap_dual_solve: problem.b is NULL");
    PROBLEM(p.mu = NULL, "sap_dual_solve: problem.mu is NULL");
    PROBLEM(p.kind = (int32_t[]){SAP_DUAL_BOX}, "sap_dual_solve: problem.lo is NULL");
    PROBLEM((p.kind = (int32_t[]){SAP_DUAL_BOX}, p.lo = b), "sap_dual_solve: problem.hi is NULL");
    OPTIONS(o.method = (SapDualMethod)5, "options.method is 5; allowed: 0 .. 4");
    OPTIONS(o.friction_law = (SapFrictionLaw)2, "options.friction_law is 2; allowed: 0 .. 1");
    OPTIONS(o.precision = (SapPrecision)2, "options.precision is 2; allowed: 0 .. 1");
    OPTIONS(o.optimality_rel_tol = -1, "options.optimality_rel_tol is -1; it must be finite and >= 0");
    OPTIONS(o.optimality_abs_tol = NAN, "options.optimality_abs_tol is nan; it must be finite and >= 0");
    OPTIONS(o.precision = SAP_FP32, "options.optimality_rel_tol is 1e-06; with precision f32 it must be at least 1e-4");
    OPTIONS(o.max_iterations = -2, "options.max_iterations is -2; allowed: -1 .. 100000");
    OPTIONS(o.threads = 1025, "options.threads is 1025; allowed: 0 .. 1024");
    OPTIONS(o.lanes = 2, "options.lanes is 2; allowed: 0, 1, 4, 8");
    OPTIONS(o.pgs_omega = 2, "options.pgs_omega is 2; it must be > 0 and < 2");
    OPTIONS(o.pgs_omega = 0, "options.pgs_omega is 0; it must be > 0 and < 2");
    OPTIONS((o.friction_law = SAP_FRICTION_COULOMB, o.method = SAP_DUAL_ACTIVE_SET),
            "options.friction_law is coulomb; only the methods cone and pgs have it");
    s = out, s.impulse = NULL;
    expect_refusal(&good, NULL, &s, "sap_dual_solve: out.impulse is NULL");
    s = out, s.status = NULL;
    expect_refusal(&good, NULL, &s, "sap_dual_solve: out.status is NULL");
}

Test(dual_call, no_problems_need_no_arrays) {
    SapDualProblem none = {.num_blocks = 3};
    SapDualSolution out = {0};
    need(sap_dual_solve(&none, NULL, &out));
}

/* f32 reaches 1e-4, and says so where it does not. */
Test(dual_call, f32_agrees_with_f64_to_its_tolerance) {
    Problems *p = make_problems();
    Results *f64 = calloc(1, sizeof *f64), *f32 = calloc(1, sizeof *f32);
    SapDualOptions options = dual_options(SAP_DUAL_CONE, 1e-4);
    solve(p, 0, PROBLEMS, &options, f64);
    options.precision = SAP_FP32;
    solve(p, 0, PROBLEMS, &options, f32);
    for (int w = 0; w < PROBLEMS; w++) {
        cr_expect_eq(f32->status[w], SAP_WORLD_OPTIMAL, "%d: %x", w, f32->status[w]);
        cr_expect_leq(fabs(f32->cost[w] - f64->cost[w]), 1e-3 * fabs(f64->cost[w]), "%d", w);
    }
    free(f32);
    free(f64);
    free(p);
}
