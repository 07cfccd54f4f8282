/* A stand-in for cuSOLVER and cuBLAS: the batched Cholesky solver and the batched product on the executor's device memory, which the
 * host can read, by LAPACK and BLAS. So the lockstep solve runs in tests with the very arithmetic of the CPU's. Streams are not waited for: without PTX_DEFER all work is done. */
#include <lapacke.h>

#define EXPORT __attribute__((visibility("default")))
enum { SUCCESS = 0, INVALID_VALUE = 3, UPPER = 1 };

EXPORT int cusolverDnCreate(void **handle);
EXPORT int cusolverDnDestroy(void *handle);
EXPORT int cusolverDnSetStream(void *handle, void *stream);

int cusolverDnCreate(void **handle) {
    static int one;
    *handle = &one;
    return SUCCESS;
}

int cusolverDnDestroy(void *handle) {
    return handle ? SUCCESS : INVALID_VALUE;
}

int cusolverDnSetStream(void *handle, void *stream) {
    (void)stream;
    return handle ? SUCCESS : INVALID_VALUE;
}

/* As cuSOLVER does, a matrix that is not positive definite is no error of the call; solutions with it are worthless. */
#define DEFINE(real, factor_name, factor, solve_name, solve)                                                           \
    EXPORT int factor_name(void *handle, int part, int n, real **a, int lda, int *info, int count);                    \
    EXPORT int solve_name(void *handle, int part, int n, int columns, real **a, int lda, real **b, int ldb, int *info, \
                          int count);                                                                                  \
    int factor_name(void *handle, int part, int n, real **a, int lda, int *info, int count) {                          \
        for (int i = 0; i < count; i++)                                                                                \
            info[i] = factor(LAPACK_COL_MAJOR, part == UPPER ? 'U' : 'L', n, a[i], lda);                               \
        return handle ? SUCCESS : INVALID_VALUE;                                                                       \
    }                                                                                                                  \
    int solve_name(void *handle, int part, int n, int columns, real **a, int lda, real **b, int ldb, int *info,        \
                   int count) {                                                                                        \
        if (!handle || columns != 1) /* all that the real one does */                                                  \
            return INVALID_VALUE;                                                                                      \
        *info = 0;                                                                                                     \
        for (int i = 0; i < count; i++)                                                                                \
            solve(LAPACK_COL_MAJOR, part == UPPER ? 'U' : 'L', n, columns, a[i], lda, b[i], ldb);                      \
        return SUCCESS;                                                                                                \
    }
DEFINE(double, cusolverDnDpotrfBatched, LAPACKE_dpotrf, cusolverDnDpotrsBatched, LAPACKE_dpotrs)
DEFINE(float, cusolverDnSpotrfBatched, LAPACKE_spotrf, cusolverDnSpotrsBatched, LAPACKE_spotrs)

/* ---- cuBLAS ---- */

enum { PLAIN = 0, TRANSPOSED = 1 };

EXPORT int cublasCreate_v2(void **handle);
EXPORT int cublasDestroy_v2(void *handle);
EXPORT int cublasSetStream_v2(void *handle, void *stream);

int cublasCreate_v2(void **handle) {
    return cusolverDnCreate(handle);
}

int cublasDestroy_v2(void *handle) {
    return cusolverDnDestroy(handle);
}

int cublasSetStream_v2(void *handle, void *stream) {
    return cusolverDnSetStream(handle, stream);
}

#define DEFINE_PRODUCT(real, name, multiply)                                                                           \
    void multiply(const char *op_a, const char *op_b, const int *m, const int *n, const int *k, const real *alpha,     \
                  const real *a, const int *lda, const real *b, const int *ldb, const real *beta, real *c,             \
                  const int *ldc);                                                                                     \
    EXPORT int name(void *handle, int op_a, int op_b, int m, int n, int k, const real *alpha, real **a, int lda,       \
                    real **b, int ldb, const real *beta, real **c, int ldc, int count);                                \
    int name(void *handle, int op_a, int op_b, int m, int n, int k, const real *alpha, real **a, int lda, real **b,    \
             int ldb, const real *beta, real **c, int ldc, int count) {                                                \
        if (!handle || op_a != PLAIN || op_b != TRANSPOSED) /* all that is used */                                     \
            return INVALID_VALUE;                                                                                      \
        for (int i = 0; i < count; i++)                                                                                \
            multiply("N", "T", &m, &n, &k, alpha, a[i], &lda, b[i], &ldb, beta, c[i], &ldc);                           \
        return SUCCESS;                                                                                                \
    }
DEFINE_PRODUCT(double, cublasDgemmBatched, dgemm_)
DEFINE_PRODUCT(float, cublasSgemmBatched, sgemm_)
