#include "host/cuda/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/symbol.h"

/* ---- declarations of <cusolverDn.h> and <cublas_v2.h> ---- */

typedef void *Handle;
enum { UPPER = 1 }; /* CUBLAS_FILL_MODE_UPPER: row i of our lower triangle is column i of the upper one */
enum { PLAIN = 0, TRANSPOSED = 1 }; /* CUBLAS_OP_N, CUBLAS_OP_T */

/* X(name here, symbol, parameters) */
#define SOLVER_FUNCTIONS(X)                                                                                            \
    X(create, cusolverDnCreate, (Handle * handle))                                                                     \
    X(destroy, cusolverDnDestroy, (Handle handle))                                                                     \
    X(set_stream, cusolverDnSetStream, (Handle handle, CuStream stream))                                               \
    X(factor32, cusolverDnSpotrfBatched, (Handle handle, int part, int n, float **a, int lda, int *info, int count))   \
    X(factor64, cusolverDnDpotrfBatched, (Handle handle, int part, int n, double **a, int lda, int *info, int count))  \
    X(solve32, cusolverDnSpotrsBatched,                                                                                \
      (Handle handle, int part, int n, int columns, float **a, int lda, float **b, int ldb, int *info, int count))     \
    X(solve64, cusolverDnDpotrsBatched,                                                                                \
      (Handle handle, int part, int n, int columns, double **a, int lda, double **b, int ldb, int *info, int count))

#define PRODUCT_FUNCTIONS(X)                                                                                           \
    X(create, cublasCreate_v2, (Handle * handle))                                                                      \
    X(destroy, cublasDestroy_v2, (Handle handle))                                                                      \
    X(set_stream, cublasSetStream_v2, (Handle handle, CuStream stream))                                                \
    X(multiply32, cublasSgemmBatched,                                                                                  \
      (Handle handle, int op_a, int op_b, int m, int n, int k, const float *alpha, float **a, int lda, float **b,      \
       int ldb, const float *beta, float **c, int ldc, int count))                                                     \
    X(multiply64, cublasDgemmBatched,                                                                                  \
      (Handle handle, int op_a, int op_b, int m, int n, int k, const double *alpha, double **a, int lda, double **b,   \
       int ldb, const double *beta, double **c, int ldc, int count))

#define POINTER(name, symbol, parameters) int(*name) parameters;
static struct { SOLVER_FUNCTIONS(POINTER) } cusolver;
static struct { PRODUCT_FUNCTIONS(POINTER) } cublas;

struct SapCudaLibrary {
    Handle solver, products; /* products: NULL = none */
};

/* ---- loading ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_solver, has_products;

static bool load_solver(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
#define FIND_SOLVER(name, symbol, parameters) &&sap_find_symbol(library, #symbol, &cusolver.name)
    return library SOLVER_FUNCTIONS(FIND_SOLVER);
}

static bool load_products(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
#define FIND_PRODUCT(name, symbol, parameters) &&sap_find_symbol(library, #symbol, &cublas.name)
    return library PRODUCT_FUNCTIONS(FIND_PRODUCT);
}

static void load_libraries(void) {
    const char *path = secure_getenv("SAPWOOD_CUSOLVER");
    has_solver =
        path && *path ? load_solver(path) : load_solver("libcusolver.so.12") || load_solver("libcusolver.so.11");
    path = secure_getenv("SAPWOOD_CUBLAS");
    has_products =
        path && *path ? load_products(path) : load_products("libcublas.so.13") || load_products("libcublas.so.12");
}

SapStatus sap_cuda_library_find(void) {
    pthread_once(&once, load_libraries);
    if (has_solver)
        return SAP_OK;
    return sap_fail(
        SAP_ERROR_UNSUPPORTED,
        "factor_plan is 'library', but there is no cuSOLVER: neither libcusolver.so.12 nor "
        "libcusolver.so.11, nor what SAPWOOD_CUSOLVER names, can be loaded; 'sparse' and 'dense' need none");
}

bool sap_cuda_library_has_products(void) {
    pthread_once(&once, load_libraries);
    return has_products;
}

static SapStatus status_of(int result, const char *function) {
    if (result == 0)
        return SAP_OK;
    return sap_fail(SAP_ERROR_DEVICE, "device cuda: %s failed: its status is %d", function, result);
}

static SapStatus create_handles(bool products, SapCudaLibrary *library) {
    SAP_TRY(status_of(cusolver.create(&library->solver), "cusolverDnCreate"));
    return products ? status_of(cublas.create(&library->products), "cublasCreate") : SAP_OK;
}

SapStatus sap_cuda_library_create(bool products, SapCudaLibrary **out) {
    *out = NULL;
    SAP_TRY(sap_cuda_library_find());
    SapCudaLibrary *library = sap_allocate(1, sizeof *library, "cuSOLVER");
    if (!library)
        return SAP_ERROR_MEMORY;
    SapStatus status = create_handles(products, library);
    if (status != SAP_OK) {
        sap_cuda_library_destroy(library);
        return status;
    }
    *out = library;
    return SAP_OK;
}

void sap_cuda_library_destroy(SapCudaLibrary *library) {
    if (!library)
        return;
    if (library->products)
        cublas.destroy(library->products);
    if (library->solver)
        cusolver.destroy(library->solver);
    free(library);
}

/* ---- systems ---- */

SapStatus sap_cuda_library_set_stream(SapCudaLibrary *library, CuStream stream) {
    SAP_TRY(status_of(cusolver.set_stream(library->solver, stream), "cusolverDnSetStream"));
    return library->products ? status_of(cublas.set_stream(library->products, stream), "cublasSetStream") : SAP_OK;
}

/* H += J' (G J): by columns J and G J are n x rows. */
static SapStatus add_products(const SapCudaLibrary *library, const SapCudaSystems *s) {
    Handle handle = library->products;
    int n = s->n, rows = s->rows, count = s->count;
    void *J = sap_cuda_pointer(s->Js), *GJ = sap_cuda_pointer(s->GJs), *H = sap_cuda_pointer(s->matrices);
    if (s->is_f64)
        return status_of(cublas.multiply64(handle, PLAIN, TRANSPOSED, n, n, rows, &(double){1}, J, n, GJ, n,
                                           &(double){1}, H, n, count),
                         "cublasDgemmBatched");
    return status_of(
        cublas.multiply32(handle, PLAIN, TRANSPOSED, n, n, rows, &(float){1}, J, n, GJ, n, &(float){1}, H, n, count),
        "cublasSgemmBatched");
}

SapStatus sap_cuda_library_solve(SapCudaLibrary *library, const SapCudaSystems *s) {
    Handle handle = library->solver;
    int *info = sap_cuda_pointer(s->info), *scratch = sap_cuda_pointer(s->scratch), n = s->n, count = s->count;
    if (s->rows > 0)
        SAP_TRY(add_products(library, s));
    if (s->is_f64) {
        double **a = sap_cuda_pointer(s->matrices), **b = sap_cuda_pointer(s->vectors);
        SAP_TRY(status_of(cusolver.factor64(handle, UPPER, n, a, n, info, count), "cusolverDnDpotrfBatched"));
        return status_of(cusolver.solve64(handle, UPPER, n, 1, a, n, b, n, scratch, count), "cusolverDnDpotrsBatched");
    }
    float **a = sap_cuda_pointer(s->matrices), **b = sap_cuda_pointer(s->vectors);
    SAP_TRY(status_of(cusolver.factor32(handle, UPPER, n, a, n, info, count), "cusolverDnSpotrfBatched"));
    return status_of(cusolver.solve32(handle, UPPER, n, 1, a, n, b, n, scratch, count), "cusolverDnSpotrsBatched");
}
