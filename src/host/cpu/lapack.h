/* LAPACK's Cholesky solver, loaded at its first use: Sapwood runs without LAPACK. */
#ifndef SAPWOOD_HOST_CPU_LAPACK_H
#define SAPWOOD_HOST_CPU_LAPACK_H

#include <sapwood/error.h>

/* Returns SAP_ERROR_UNSUPPORTED with the names that were tried if no library is found. */
SapStatus sap_lapack_load(void);

/* Solves H x = b for one world, after sap_lapack_load. The matrix holds the rows of H's lower triangle in an n x n
 * array, f32 or f64, and is overwritten; x replaces b. Returns 0, or LAPACK's code if H is not positive definite or not
 * finite. */
int sap_lapack_solve(int is_f64, int n, void *matrix, void *vector);

/* H += J' (G J) for one world: J and GJ have `rows` rows of n numbers, the matrix is as above. Its other triangle,
 * which nothing reads, receives the same sum. */
void sap_lapack_add_product(int is_f64, int n, int rows, const void *J, const void *GJ, void *matrix);

#endif
