#include "host/cpu/lapack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "host/base/fail.h"
#include "host/base/symbol.h"

/* Constant of LAPACKE. Row i of the lower triangle is column i of the upper one. */
enum { COLUMN_MAJOR = 102 };
typedef int Dpotrf(int layout, char part, int n, double *a, int lda);
typedef int Dpotrs(int layout, char part, int n, int columns, const double *a, int lda, double *b, int ldb);
typedef int Spotrf(int layout, char part, int n, float *a, int lda);
typedef int Spotrs(int layout, char part, int n, int columns, const float *a, int lda, float *b, int ldb);
/* BLAS, on which every LAPACK depends, by the names of its Fortran interface. */
typedef void Dgemm(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
                   const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
                   const double *beta, double *c, const int *ldc);
typedef void Sgemm(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
                   const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
                   const float *beta, float *c, const int *ldc);

static struct {
    Dpotrf *dpotrf;
    Dpotrs *dpotrs;
    Spotrf *spotrf;
    Spotrs *spotrs;
    Dgemm *dgemm;
    Sgemm *sgemm;
} lapack;
static bool found;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *const names[] = {"liblapacke.so.3", "libopenblas.so.0", "liblapacke.so", "libopenblas.so"};
enum { NUM_NAMES = sizeof names / sizeof *names };

/* The library is never closed: its threads may outlive any solver. */
static void load(void) {
    for (int i = 0; i < NUM_NAMES && !found; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        found = library && sap_find_symbol(library, "LAPACKE_dpotrf", &lapack.dpotrf) &&
                sap_find_symbol(library, "LAPACKE_dpotrs", &lapack.dpotrs) &&
                sap_find_symbol(library, "LAPACKE_spotrf", &lapack.spotrf) &&
                sap_find_symbol(library, "LAPACKE_spotrs", &lapack.spotrs) &&
                sap_find_symbol(library, "dgemm_", &lapack.dgemm) && sap_find_symbol(library, "sgemm_", &lapack.sgemm);
    }
}

SapStatus sap_lapack_load(void) {
    pthread_once(&once, load);
    if (!found)
        return sap_fail(SAP_ERROR_UNSUPPORTED,
                        "factor_plan is 'library', but there is no LAPACK: none of %s, %s, %s, %s can be loaded; "
                        "'sparse' and 'dense' need none",
                        names[0], names[1], names[2], names[3]);
    return SAP_OK;
}

int sap_lapack_solve(int is_f64, int n, void *matrix, void *vector) {
    int info;
    if (is_f64) {
        info = lapack.dpotrf(COLUMN_MAJOR, 'U', n, matrix, n);
        return info ? info : lapack.dpotrs(COLUMN_MAJOR, 'U', n, 1, matrix, n, vector, n);
    }
    info = lapack.spotrf(COLUMN_MAJOR, 'U', n, matrix, n);
    return info ? info : lapack.spotrs(COLUMN_MAJOR, 'U', n, 1, matrix, n, vector, n);
}

void sap_lapack_add_product(int is_f64, int n, int rows, const void *J, const void *GJ, void *matrix) {
    if (is_f64)
        lapack.dgemm("N", "T", &n, &n, &rows, &(double){1}, J, &n, GJ, &n, &(double){1}, matrix, &n);
    else
        lapack.sgemm("N", "T", &n, &n, &rows, &(float){1}, J, &n, GJ, &n, &(float){1}, matrix, &n);
}
