#include "lab/conform/dual_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/conform/reference_file.h"

bool dual_file_is(const json_t *root) {
    const char *format = json_string_value(json_object_get(root, "format"));
    return format && strncmp(format, "sapwood-dual-", strlen("sapwood-dual-")) == 0;
}

/* Most rows, and most dofs of a problem given by J and A: what the solver accepts. A larger file is not read. */
enum { MAX_ROWS = 3072 };

/* ---- the matrix ---- */

/* W from its lower triangle by rows. */
static bool read_triangle(const json_t *node, int n, double *W) {
    size_t count;
    double *entries = reference_doubles(node, &count);
    bool ok = entries && count == (size_t)n * (size_t)(n + 1) / 2;
    size_t at = 0;
    for (int i = 0; ok && i < n; i++)
        for (int j = 0; j <= i; j++, at++)
            W[i * n + j] = W[j * n + i] = entries[at];
    free(entries);
    return ok;
}

/* Row i of Y with Y L' = J, A = L L'. The factor is in the lower triangle of A. */
static void forward(const long double *L, int nv, const double *J, long double *Y) {
    for (int i = 0; i < nv; i++) {
        long double s = J[i];
        for (int k = 0; k < i; k++)
            s -= L[i * nv + k] * Y[k];
        Y[i] = s / L[i * nv + i];
    }
}

/* L is zero before. A diagonal A takes n operations: a short file can have thousands of dofs. */
static void cholesky(const double *A, int nv, bool diagonal, long double *L) {
    for (int i = 0; i < nv && diagonal; i++)
        L[i * nv + i] = sqrtl(A[i]);
    for (int i = 0; i < nv && !diagonal; i++)
        for (int j = 0; j <= i; j++) {
            long double s = A[i * nv + j];
            for (int k = 0; k < j; k++)
                s -= L[i * nv + k] * L[j * nv + k];
            L[i * nv + j] = i == j ? sqrtl(s) : s / L[j * nv + j];
        }
}

/* W = J A^-1 J' in extended precision: rows of J that depend on each other then give a W whose rows do, to rounding. */
static bool multiply_out(const json_t *json, int n, double *W) {
    size_t j_count, a_count;
    double *J = reference_doubles(json_object_get(json, "J"), &j_count);
    double *A = reference_doubles(json_object_get(json, "A"), &a_count);
    size_t nv = n > 0 ? j_count / (size_t)n : 0;
    bool ok = J && A && nv > 0 && nv <= MAX_ROWS && nv * (size_t)n == j_count;
    ok = ok && (a_count == nv || a_count == nv * nv);
    nv = ok ? nv : 0;
    long double *L = calloc(nv * nv + 1, sizeof *L), *Y = calloc(nv * (size_t)n + 1, sizeof *Y);
    ok = ok && L && Y;
    if (ok)
        cholesky(A, (int)nv, a_count == nv, L);
    for (size_t i = 0; ok && i < (size_t)n; i++) {
        forward(L, (int)nv, J + i * nv, Y + i * nv);
        for (size_t j = 0; j <= i; j++) {
            long double s = 0;
            for (size_t k = 0; k < nv; k++)
                s += Y[i * nv + k] * Y[j * nv + k];
            W[i * (size_t)n + j] = W[j * (size_t)n + i] = (double)s;
        }
    }
    free(Y);
    free(L);
    free(A);
    free(J);
    return ok;
}

/* ---- blocks ---- */

/* Kind and numbers of block b. Returns its number of rows, or 0. */
static int read_block(const json_t *row, int b, int32_t *kind, double *mu, double *lo, double *hi) {
    static const char *const names[] = {"contact", "unilateral", "free", "box"};
    const char *name = json_string_value(json_object_get(row, "kind"));
    int found = -1;
    for (int k = 0; name && k < 4; k++)
        if (strcmp(name, names[k]) == 0)
            found = k;
    if (found < 0)
        return 0;
    kind[b] = found;
    mu[b] = json_number_value(json_object_get(row, "mu"));
    lo[b] = json_number_value(json_object_get(row, "lo"));
    hi[b] = json_number_value(json_object_get(row, "hi"));
    return found == SAP_DUAL_CONTACT ? 3 : 1;
}

static bool read_blocks(const json_t *rows, DualCase *out) {
    size_t n = json_array_size(rows);
    int32_t *kind = calloc(n + 1, sizeof *kind);
    double *mu = calloc(n + 1, sizeof *mu), *lo = calloc(n + 1, sizeof *lo), *hi = calloc(n + 1, sizeof *hi);
    out->problem =
        (SapDualProblem){.num_problems = 1, .num_blocks = (int)n, .kind = kind, .mu = mu, .lo = lo, .hi = hi};
    if (!kind || !mu || !lo || !hi)
        return false;
    for (size_t b = 0; b < n; b++) {
        int added = read_block(json_array_get(rows, b), (int)b, kind, mu, lo, hi);
        if (added == 0)
            return false;
        out->rows += added;
    }
    return out->rows <= MAX_ROWS;
}

/* An array of one number per row, or NULL if it is absent. False if it has another length. */
static bool read_rows(const json_t *json, const char *name, int rows, double **out) {
    size_t count;
    const json_t *node = json_object_get(json, name);
    *out = node ? reference_doubles(node, &count) : NULL;
    return !node || (*out && count == (size_t)rows);
}

bool dual_case_open(const json_t *json, DualCase *out) {
    *out = (DualCase){.name = json_string_value(json_object_get(json, "name"))};
    if (!out->name || !read_blocks(json_object_get(json, "rows"), out))
        return false;
    /* the problem; R is part of a stored W */
    size_t n = (size_t)out->rows;
    const json_t *triangle = json_object_get(json, "W");
    double *W = calloc(n * n + 1, sizeof *W), *b = NULL, *R = NULL;
    bool ok = W && read_rows(json, "b", out->rows, &b) && b;
    ok = ok && (triangle ? read_triangle(triangle, out->rows, W) : multiply_out(json, out->rows, W));
    ok = ok && (triangle || read_rows(json, "R", out->rows, &R));
    out->problem.W = W;
    out->problem.b = b;
    out->problem.R = R;
    /* the solution */
    ok = ok && read_rows(json, "lambda", out->rows, &out->impulse) && read_rows(json, "z", out->rows, &out->velocity);
    ok = ok && read_rows(json_object_get(json, "coulomb"), "lambda", out->rows, &out->coulomb);
    out->solvable = out->impulse && out->velocity;
    out->unique = json_is_true(json_object_get(json, "lambda_unique"));
    out->cost = json_number_value(json_object_get(json, "cost"));
    return ok;
}

/* The arrays of a problem are const for the solver; this struct allocated them. */
static void release(const void *array) {
    free((void *)(uintptr_t)array);
}

void dual_case_close(DualCase *c) {
    const SapDualProblem *p = &c->problem;
    const void *const arrays[] = {p->kind, p->W, p->R, p->b, p->mu, p->lo, p->hi};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        release(arrays[i]);
    free(c->impulse);
    free(c->velocity);
    free(c->coulomb);
    *c = (DualCase){0};
}

DualErrors dual_case_errors(const DualCase *c, const double *impulse, const double *velocity, double cost) {
    double b = 0, l = 0, dz = 0, largest = 0, dl = 0;
    for (int i = 0; c->solvable && i < c->rows; i++) {
        b += c->problem.b[i] * c->problem.b[i];
        l += c->impulse[i] * c->impulse[i];
        dz += (velocity[i] - c->velocity[i]) * (velocity[i] - c->velocity[i]);
        largest = fmax(largest, fabs(c->impulse[i]));
        dl = fmax(dl, fabs(impulse[i] - c->impulse[i]));
    }
    if (!c->solvable)
        return (DualErrors){0};
    double difference = fabs(cost - c->cost), noise = 1e-12 * sqrt(b) * sqrt(l);
    return (DualErrors){.velocity = b > 0 ? sqrt(dz / b) : sqrt(dz),
                        .cost = difference <= noise ? 0 : difference / fabs(c->cost),
                        .impulse = !c->unique    ? 0
                                   : largest > 0 ? dl / largest
                                                 : dl};
}
