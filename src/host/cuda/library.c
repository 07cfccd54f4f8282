#include "host/cuda/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/symbol.h"

/* ---- declarations of <cusolverDn.h> ---- */

typedef void *Handle;
enum { UPPER = 1 }; /* CUBLAS_FILL_MODE_UPPER: row i of our lower triangle is column i of the upper one */

/* X(name here, symbol, parameters) */
#define FUNCTIONS(X)                                                                                                   \
    X(create, cusolverDnCreate, (Handle * handle))                                                                     \
    X(destroy, cusolverDnDestroy, (Handle handle))                                                                     \
    X(set_stream, cusolverDnSetStream, (Handle handle, CuStream stream))                                               \
    X(factor32, cusolverDnSpotrfBatched, (Handle handle, int part, int n, float **a, int lda, int *info, int count))   \
    X(factor64, cusolverDnDpotrfBatched, (Handle handle, int part, int n, double **a, int lda, int *info, int count))  \
    X(solve32, cusolverDnSpotrsBatched,                                                                                \
      (Handle handle, int part, int n, int columns, float **a, int lda, float **b, int ldb, int *info, int count))     \
    X(solve64, cusolverDnDpotrsBatched,                                                                                \
      (Handle handle, int part, int n, int columns, double **a, int lda, double **b, int ldb, int *info, int count))

#define POINTER(name, symbol, parameters) int(*name) parameters;
static struct { FUNCTIONS(POINTER) } cusolver;

struct SapCudaLibrary {
    Handle handle;
};

/* ---- loading ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool found;

static bool load_from(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
#define FIND(name, symbol, parameters) &&sap_find_symbol(library, #symbol, &cusolver.name)
    return true FUNCTIONS(FIND);
}

static void load(void) {
    const char *path = secure_getenv("SAPWOOD_CUSOLVER");
    found = path && *path ? load_from(path) : load_from("libcusolver.so.12") || load_from("libcusolver.so.11");
}

static SapStatus status_of(int result, const char *function) {
    if (result == 0)
        return SAP_OK;
    return sap_fail(SAP_ERROR_DEVICE, "device cuda: %s failed: cuSOLVER's status is %d", function, result);
}

SapStatus sap_cuda_library_create(SapCudaLibrary **out) {
    *out = NULL;
    pthread_once(&once, load);
    if (!found)
        return sap_fail(
            SAP_ERROR_UNSUPPORTED,
            "factor_plan is 'library', but there is no cuSOLVER: neither libcusolver.so.12 nor "
            "libcusolver.so.11, nor what SAPWOOD_CUSOLVER names, can be loaded; 'sparse' and 'dense' need none");
    SapCudaLibrary *library = sap_allocate(1, sizeof *library, "cuSOLVER");
    if (!library)
        return SAP_ERROR_MEMORY;
    SapStatus status = status_of(cusolver.create(&library->handle), "cusolverDnCreate");
    if (status != SAP_OK) {
        free(library);
        return status;
    }
    *out = library;
    return SAP_OK;
}

void sap_cuda_library_destroy(SapCudaLibrary *library) {
    if (!library)
        return;
    cusolver.destroy(library->handle);
    free(library);
}

/* ---- solving ---- */

static void *pointer_of(CuAddress address) {
    return (void *)(uintptr_t)address;
}

SapStatus sap_cuda_library_solve(SapCudaLibrary *library, CuStream stream, const SapCudaSystems *s) {
    Handle handle = library->handle;
    int *info = pointer_of(s->info), *scratch = pointer_of(s->scratch), n = s->n, count = s->count;
    SAP_TRY(status_of(cusolver.set_stream(handle, stream), "cusolverDnSetStream"));
    if (s->is_f64) {
        double **a = pointer_of(s->matrices), **b = pointer_of(s->vectors);
        SAP_TRY(status_of(cusolver.factor64(handle, UPPER, n, a, n, info, count), "cusolverDnDpotrfBatched"));
        return status_of(cusolver.solve64(handle, UPPER, n, 1, a, n, b, n, scratch, count), "cusolverDnDpotrsBatched");
    }
    float **a = pointer_of(s->matrices), **b = pointer_of(s->vectors);
    SAP_TRY(status_of(cusolver.factor32(handle, UPPER, n, a, n, info, count), "cusolverDnSpotrfBatched"));
    return status_of(cusolver.solve32(handle, UPPER, n, 1, a, n, b, n, scratch, count), "cusolverDnSpotrsBatched");
}
