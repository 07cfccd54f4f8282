/* cuSOLVER's batched Cholesky solver, loaded at its first use: libcusolver as found by the dynamic linker, or the file
 * named by the environment variable SAPWOOD_CUSOLVER. */
#ifndef SAPWOOD_HOST_CUDA_LIBRARY_H
#define SAPWOOD_HOST_CUDA_LIBRARY_H

#include "host/cuda/driver.h"

typedef struct SapCudaLibrary SapCudaLibrary;

/* Creates a handle for the current context. SAP_ERROR_UNSUPPORTED without cuSOLVER. Destroy accepts NULL. */
SapStatus sap_cuda_library_create(SapCudaLibrary **out);
void sap_cuda_library_destroy(SapCudaLibrary *library);

/* `count` systems of n unknowns: arrays of pointers to matrices (rows of the lower triangle) and right-hand sides, all
 * in device memory. */
typedef struct SapCudaSystems {
    int is_f64, n, count;
    CuAddress matrices, vectors; /* [count] pointers */
    CuAddress info;              /* [count] int: nonzero if the matrix is not positive definite */
    CuAddress scratch;           /* one int */
} SapCudaSystems;

/* Enqueues the solution on the stream; the solutions replace the right-hand sides. */
SapStatus sap_cuda_library_solve(SapCudaLibrary *library, CuStream stream, const SapCudaSystems *systems);

#endif
