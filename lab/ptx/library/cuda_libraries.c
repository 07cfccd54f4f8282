/* A stand-in for cuSOLVER and cuBLAS: the batched Cholesky solver and the batched product on the executor's device
 * memory, which the host can read, by LAPACK and BLAS. So the lockstep solve runs in tests with the very arithmetic of
 * the CPU's. A call is work of the stream, as the kernels of the real libraries are. */
#include <cuda.h>
#include <lapacke.h>
#include <stdlib.h>

#include "../driver/library.h"

#define EXPORT __attribute__((visibility("default")))
enum { SUCCESS = 0, ALLOC_FAILED = 2, INVALID_VALUE = 3, EXECUTION_FAILED = 6, UPPER = 1 };

typedef struct Library {
    void *stream;
} Library;

/* ---- handles ---- */

static int create(void **handle) {
    *handle = calloc(1, sizeof(Library));
    return *handle ? SUCCESS : ALLOC_FAILED;
}

static int destroy(void *handle) {
    free(handle);
    return handle ? SUCCESS : INVALID_VALUE;
}

static int submit(Library *library, void (*function)(void *), const void *data, size_t size) {
    return ptx_library_work(library->stream, function, data, size) == 0 ? SUCCESS : EXECUTION_FAILED;
}

EXPORT int cusolverDnCreate(void **handle);
EXPORT int cusolverDnDestroy(void *handle);
EXPORT int cusolverDnSetStream(void *handle, void *stream);

int cusolverDnCreate(void **handle) {
    return create(handle);
}

int cusolverDnDestroy(void *handle) {
    return destroy(handle);
}

int cusolverDnSetStream(void *handle, void *stream) {
    if (handle)
        ((Library *)handle)->stream = stream;
    return handle ? SUCCESS : INVALID_VALUE;
}

/* ---- cuSOLVER ---- */

typedef struct Systems {
    int part, n, lda, ldb, count;
    void *a, *b; /* arrays of pointers */
    int *info;
} Systems;

/* As in cuSOLVER, a matrix that is not positive definite is no error of the call; its solution has no meaning. */
#define DEFINE(real, factor_name, factor, solve_name, solve)                                                           \
    EXPORT int factor_name(void *handle, int part, int n, real **a, int lda, int *info, int count);                    \
    EXPORT int solve_name(void *handle, int part, int n, int columns, real **a, int lda, real **b, int ldb, int *info, \
                          int count);                                                                                  \
    static void run_##factor_name(void *data) {                                                                        \
        const Systems *s = data;                                                                                       \
        for (int i = 0; i < s->count; i++)                                                                             \
            s->info[i] = factor(LAPACK_COL_MAJOR, s->part == UPPER ? 'U' : 'L', s->n, ((real **)s->a)[i], s->lda);     \
    }                                                                                                                  \
    static void run_##solve_name(void *data) {                                                                         \
        const Systems *s = data;                                                                                       \
        *s->info = 0;                                                                                                  \
        for (int i = 0; i < s->count; i++)                                                                             \
            solve(LAPACK_COL_MAJOR, s->part == UPPER ? 'U' : 'L', s->n, 1, ((real **)s->a)[i], s->lda,                 \
                  ((real **)s->b)[i], s->ldb);                                                                         \
    }                                                                                                                  \
    int factor_name(void *handle, int part, int n, real **a, int lda, int *info, int count) {                          \
        Library *library = handle;                                                                                     \
        if (!library)                                                                                                  \
            return INVALID_VALUE;                                                                                      \
        Systems s = {part, n, lda, 0, count, a, NULL, info};                                                           \
        return submit(library, run_##factor_name, &s, sizeof s);                                                       \
    }                                                                                                                  \
    int solve_name(void *handle, int part, int n, int columns, real **a, int lda, real **b, int ldb, int *info,        \
                   int count) {                                                                                        \
        Library *library = handle;                                                                                     \
        if (!library || columns != 1) /* all that the real one does */                                                 \
            return INVALID_VALUE;                                                                                      \
        Systems s = {part, n, lda, ldb, count, a, b, info};                                                            \
        return submit(library, run_##solve_name, &s, sizeof s);                                                        \
    }
DEFINE(double, cusolverDnDpotrfBatched, LAPACKE_dpotrf, cusolverDnDpotrsBatched, LAPACKE_dpotrs)
DEFINE(float, cusolverDnSpotrfBatched, LAPACKE_spotrf, cusolverDnSpotrsBatched, LAPACKE_spotrs)

/* ---- cuBLAS ---- */

enum { PLAIN = 0, TRANSPOSED = 1 };

EXPORT int cublasCreate_v2(void **handle);
EXPORT int cublasDestroy_v2(void *handle);
EXPORT int cublasSetStream_v2(void *handle, void *stream);

int cublasCreate_v2(void **handle) {
    return create(handle);
}

int cublasDestroy_v2(void *handle) {
    return destroy(handle);
}

int cublasSetStream_v2(void *handle, void *stream) {
    return cusolverDnSetStream(handle, stream);
}

typedef struct Products {
    int m, n, k, lda, ldb, ldc, count;
    double alpha, beta;
    void *a, *b, *c; /* arrays of pointers */
} Products;

#define DEFINE_PRODUCT(real, name, multiply)                                                                           \
    void multiply(const char *op_a, const char *op_b, const int *m, const int *n, const int *k, const real *alpha,     \
                  const real *a, const int *lda, const real *b, const int *ldb, const real *beta, real *c,             \
                  const int *ldc);                                                                                     \
    EXPORT int name(void *handle, int op_a, int op_b, int m, int n, int k, const real *alpha, real **a, int lda,       \
                    real **b, int ldb, const real *beta, real **c, int ldc, int count);                                \
    static void run_##name(void *data) {                                                                               \
        const Products *p = data;                                                                                      \
        const real alpha = (real)p->alpha, beta = (real)p->beta;                                                       \
        for (int i = 0; i < p->count; i++)                                                                             \
            multiply("N", "T", &p->m, &p->n, &p->k, &alpha, ((real **)p->a)[i], &p->lda, ((real **)p->b)[i], &p->ldb,  \
                     &beta, ((real **)p->c)[i], &p->ldc);                                                              \
    }                                                                                                                  \
    int name(void *handle, int op_a, int op_b, int m, int n, int k, const real *alpha, real **a, int lda, real **b,    \
             int ldb, const real *beta, real **c, int ldc, int count) {                                                \
        Library *library = handle;                                                                                     \
        if (!library || op_a != PLAIN || op_b != TRANSPOSED) /* all that is used */                                    \
            return INVALID_VALUE;                                                                                      \
        Products p = {m, n, k, lda, ldb, ldc, count, (double)*alpha, (double)*beta, a, b, c};                          \
        return submit(library, run_##name, &p, sizeof p);                                                              \
    }
DEFINE_PRODUCT(double, cublasDgemmBatched, dgemm_)
DEFINE_PRODUCT(float, cublasSgemmBatched, sgemm_)
