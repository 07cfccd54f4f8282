/* cuSOLVER's batched Cholesky solver, found when it is first wanted: libcusolver as the dynamic linker finds it, or the file that
 * the environment variable SAPWOOD_CUSOLVER names. */
#ifndef SAPWOOD_HOST_CUDA_LIBRARY_H
#define SAPWOOD_HOST_CUDA_LIBRARY_H

#include "host/cuda/driver.h"

typedef struct SapCudaLibrary SapCudaLibrary;

/* For the context that is current. SAP_ERROR_UNSUPPORTED where there is no cuSOLVER. Destroy accepts NULL. */
SapStatus sap_cuda_library_create(SapCudaLibrary **out);
void sap_cuda_library_destroy(SapCudaLibrary *library);

/* Systems of n unknowns whose matrices (rows of the lower triangle) and right-hand sides the arrays point at, all in device memory. */
typedef struct SapCudaSystems {
    int is_f64, n, count;
    CuAddress matrices, vectors; /* [count] pointers */
    CuAddress info;              /* [count] int: 0, or != 0 where a matrix is not positive definite */
    CuAddress scratch;           /* one int */
} SapCudaSystems;

/* Queues the solution on the stream; solutions take the place of the right-hand sides. */
SapStatus sap_cuda_library_solve(SapCudaLibrary *library, CuStream stream, const SapCudaSystems *systems);

#endif
