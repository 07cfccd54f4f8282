/* The sparse factor A = L'L and its solve (factor.h) against LAPACK, one random matrix per lane. Compiled once for
 * every lane count and precision, with SAP_LANES, SAP_PRECISION and the name of the suite, FACTOR_SUITE. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <lapacke.h>
#undef I /* of complex.h, which lapacke.h brings in */

#include <sapwood/solver.h>

#include "host/plan/plan.h"
#include "kernels/data/plan.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/math/trig.h"
#include "kernels/dialect/buffers.h"
#include "kernels/math/factor.h"
#include "support/random_model.h"

/* Matrices have condition numbers up to about 1e3; a backward stable solve loses that much. */
#define TOLERANCE (SAP_PRECISION == 32 ? 2e-4 : 1e-12)

typedef struct Problem {
    SapPlanOwner owner;
    int nv, nnz;
    double *dense; /* [SAP_LANES][nv][nv] A */
    real *A, *L, *inverse, *b, *x;
} Problem;

static void *numbers(int n, size_t size) {
    void *p = aligned_alloc(64, ((size_t)n * size + 63) / 64 * 64);
    cr_assert_not_null(p);
    memset(p, 0, ((size_t)n * size + 63) / 64 * 64);
    return p;
}

/* A = L'L with a random L on the pattern: any such matrix has the pattern of the tree. Pivots between 0.5 and 2. */
static void random_matrix(Problem *p, Random *random, int lane) {
    const SapPlan *plan = &p->owner.plan;
    int n = p->nv;
    double *L = numbers(n * n, sizeof *L), *A = p->dense + lane * n * n;
    for (int i = 0; i < n; i++)
        for (int t = 0; t <= plan->tree.row[i].depth; t++)
            L[n * i + plan->tree.ancestor[plan->tree.row[i].start + t]] =
                t == plan->tree.row[i].depth ? random_between(random, 0.5, 2) : random_between(random, -0.2, 0.2);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                A[n * i + j] += L[n * k + i] * L[n * k + j];
    free(L);
}

static void load_matrix(Problem *p, Random *random) {
    const SapPlan *plan = &p->owner.plan;
    int n = p->nv;
    for (int l = 0; l < SAP_LANES; l++) {
        random_matrix(p, random, l);
        double *A = p->dense + l * n * n;
        for (int i = 0; i < n; i++)
            for (int t = 0; t <= plan->tree.row[i].depth; t++) {
                int at = plan->tree.row[i].start + t, j = plan->tree.ancestor[at];
                real r = p->A[at];
                LANE(r, l) = (scalar)A[n * i + j];
                p->A[at] = r;
                A[n * i + j] = A[n * j + i] = (double)LANE(r, l); /* what the kernels see */
            }
    }
    for (int i = 0; i < n; i++) {
        real r = real_of(0);
        FOR_LANES(l) LANE(r, l) = (scalar)random_between(random, -1, 1);
        p->b[i] = r;
    }
}

static Problem *problem_create(SapModel *model, uint64_t seed) {
    Problem *p = calloc(1, sizeof *p);
    Random random = random_seed(seed);
    cr_assert_eq(sap_plan_create(model, 0, &p->owner), SAP_OK, "%s", sap_error_message());
    sap_model_destroy(model);
    p->nv = p->owner.plan.nv;
    p->nnz = p->owner.plan.tree.nnz;
    p->dense = numbers(SAP_LANES * p->nv * p->nv, sizeof *p->dense);
    p->A = numbers(p->nnz, sizeof(real));
    p->L = numbers(p->nnz, sizeof(real));
    p->inverse = numbers(p->nv, sizeof(real));
    p->b = numbers(p->nv, sizeof(real));
    p->x = numbers(p->nv, sizeof(real));
    load_matrix(p, &random);
    return p;
}

static void problem_destroy(Problem *p) {
    sap_plan_free(&p->owner);
    free(p->dense);
    free(p->A);
    free(p->L);
    free(p->inverse);
    free(p->b);
    free(p->x);
    free(p);
}

static double entry(const Problem *p, const real *x, int i, int lane) {
    (void)p;
    (void)lane; /* with one lane */
    return (double)LANE(x[i], lane);
}

/* L of one lane as a dense lower triangle; its diagonal is stored as 1/L_ii. */
static double *dense_factor(const Problem *p, int lane) {
    const SapPlan *plan = &p->owner.plan;
    double *L = numbers(p->nv * p->nv, sizeof *L);
    for (int i = 0; i < p->nv; i++) {
        for (int t = 0; t < plan->tree.row[i].depth; t++)
            L[p->nv * i + plan->tree.ancestor[plan->tree.row[i].start + t]] =
                entry(p, p->L, plan->tree.row[i].start + t, lane);
        L[p->nv * i + i] = 1 / entry(p, p->inverse, i, lane);
    }
    return L;
}

static void check_product(const Problem *p, int lane) {
    int n = p->nv;
    double *L = dense_factor(p, lane);
    const double *A = p->dense + lane * n * n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += L[n * k + i] * L[n * k + j];
            cr_assert(fabs(sum - A[n * i + j]) < TOLERANCE * sqrt(A[n * i + i] * A[n * j + j]), "L'L differs at %d, %d",
                      i, j);
        }
    free(L);
}

/* L'L = A is the ordinary factorisation of A with rows and columns in reverse. */
static void check_against_dpotrf(const Problem *p, int lane) {
    int n = p->nv;
    double *L = dense_factor(p, lane), *reverse = numbers(n * n, sizeof *reverse);
    const double *A = p->dense + lane * n * n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            reverse[n * i + j] = A[n * (n - 1 - i) + (n - 1 - j)];
    cr_assert_eq(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, reverse, n), 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            cr_assert(fabs(L[n * i + j] - reverse[n * (n - 1 - j) + (n - 1 - i)]) < TOLERANCE, "L differs at %d, %d", i,
                      j);
    free(L);
    free(reverse);
}

static void check_against_dposv(const Problem *p, int lane) {
    int n = p->nv;
    double *A = numbers(n * n, sizeof *A), *x = numbers(n, sizeof *x), scale = 0, error = 0;
    memcpy(A, p->dense + lane * n * n, (size_t)(n * n) * sizeof *A);
    for (int i = 0; i < n; i++)
        x[i] = entry(p, p->b, i, lane);
    cr_assert_eq(LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', n, 1, A, n, x, 1), 0);
    for (int i = 0; i < n; i++) {
        scale = fmax(scale, fabs(x[i]));
        error = fmax(error, fabs(entry(p, p->x, i, lane) - x[i]));
    }
    cr_assert(error < TOLERANCE * scale, "solution is off by %g of %g", error, scale);
    free(A);
    free(x);
}

/* x = A^-1 b, and the factor. */
static void solve(Problem *p, real *x) {
    factor_solve(&p->owner.plan.tree, p->A, p->L, p->inverse, p->b, x);
}

static void check_model(SapModel *model, uint64_t seed) {
    Problem *p = problem_create(model, seed);
    solve(p, p->x);
    mask ok = factor_succeeded(p->nv, p->inverse);
    for (int l = 0; l < SAP_LANES; l++) {
        cr_assert(mask_lane(ok, l));
        check_product(p, l);
        check_against_dpotrf(p, l);
        check_against_dposv(p, l);
    }
    problem_destroy(p);
}

static SapModel *chain(int links) {
    JointKind kinds[48];
    for (int l = 0; l < links; l++)
        kinds[l] = (JointKind){SAP_JOINT_REVOLUTE, 0, 0};
    return random_chain(1, kinds, links);
}

Test(FACTOR_SUITE, agrees_with_lapack_on_trees) {
    for (uint64_t seed = 0; seed < 12; seed++)
        check_model(random_forest(seed, 1 + (int)(seed * 3 % 17)), seed);
}

Test(FACTOR_SUITE, agrees_with_lapack_on_dense_matrices) {
    for (int n = 1; n <= 41; n += 5)
        check_model(chain(n), (uint64_t)n);
}

Test(FACTOR_SUITE, solves_in_place) {
    Problem *p = problem_create(random_forest(3, 9), 3);
    solve(p, p->x);
    factor_solve(&p->owner.plan.tree, p->A, p->A, p->inverse, p->b, p->b);
    cr_assert_arr_eq(p->b, p->x, sizeof(real) * (size_t)p->nv);
    problem_destroy(p);
}

/* What stands in the way of a factor, put on the diagonal of one lane. */
Test(FACTOR_SUITE, a_matrix_that_is_not_positive_definite_fails_in_its_lane_only) {
    const double bad[] = {0, -1, -1e-30, NAN, INFINITY, -INFINITY};
    Problem *p = problem_create(random_forest(4, 8), 4);
    real *x = numbers(p->nv, sizeof *x);
    solve(p, p->x);
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < p->nv; i++) {
            int lane = i % SAP_LANES, at = p->owner.plan.tree.row[i].start + p->owner.plan.tree.row[i].depth;
            real kept = p->A[at], r = kept;
            LANE(r, lane) = (scalar)bad[k];
            p->A[at] = r;
            solve(p, x);
            mask ok = factor_succeeded(p->nv, p->inverse);
            FOR_LANES(l) {
                cr_assert_eq(mask_lane(ok, l), l != lane, "%g on the diagonal of dof %d", bad[k], i);
                for (int j = 0; j < p->nv && l != lane; j++)
                    cr_assert_eq(entry(p, x, j, l), entry(p, p->x, j, l));
            }
            p->A[at] = kept;
        }
    }
    free(x);
    problem_destroy(p);
}
