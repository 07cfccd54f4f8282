/* cuSOLVER's batched Cholesky solver and cuBLAS's batched product, loaded at their first use: as found by the dynamic
 * linker, or the files named by the environment variables SAPWOOD_CUSOLVER and SAPWOOD_CUBLAS. */
#ifndef SAPWOOD_HOST_CUDA_LIBRARY_H
#define SAPWOOD_HOST_CUDA_LIBRARY_H

#include <stdbool.h>

#include "host/cuda/driver.h"

typedef struct SapCudaLibrary SapCudaLibrary;

/* SAP_ERROR_UNSUPPORTED without cuSOLVER. */
SapStatus sap_cuda_library_find(void);
bool sap_cuda_library_has_products(void); /* there is a cuBLAS */

/* Creates handles for the current context; products: also of cuBLAS, which must be there. Destroy accepts NULL. */
SapStatus sap_cuda_library_create(bool products, SapCudaLibrary **out);
void sap_cuda_library_destroy(SapCudaLibrary *library);

/* `count` systems of n unknowns: arrays of pointers to matrices (rows of the lower triangle) and right-hand sides, all
 * in device memory. */
typedef struct SapCudaSystems {
    int is_f64, n, count;
    CuAddress matrices, vectors; /* [count] pointers */
    int rows;                    /* of J and G J; 0 = the matrices are complete */
    CuAddress Js, GJs;           /* [count] pointers to [rows][n]: J' (G J) is added to the matrix */
    CuAddress info;              /* [count] int: nonzero if the matrix is not positive definite */
    CuAddress scratch;           /* one int */
} SapCudaSystems;

/* Sets the stream of the calls that follow. */
SapStatus sap_cuda_library_set_stream(SapCudaLibrary *library, CuStream stream);

/* Enqueues products and solution; the solutions replace the right-hand sides. */
SapStatus sap_cuda_library_solve(SapCudaLibrary *library, const SapCudaSystems *systems);

#endif
