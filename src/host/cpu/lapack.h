/* LAPACK's Cholesky solver, from a library that is looked for when it is first wanted: Sapwood runs without one. */
#ifndef SAPWOOD_HOST_CPU_LAPACK_H
#define SAPWOOD_HOST_CPU_LAPACK_H

#include <sapwood/error.h>

/* SAP_ERROR_UNSUPPORTED with the names that were tried if there is none. */
SapStatus sap_lapack_load(void);

/* Solves H x = b for one world, after sap_lapack_load: rows of H's lower triangle in an n x n array, f32 or f64; x takes the place of b, and
 * the array is overwritten. 0, or what LAPACK says of a matrix that is not positive definite or not finite. */
int sap_lapack_solve(int is_f64, int n, void *matrix, void *vector);

#endif
