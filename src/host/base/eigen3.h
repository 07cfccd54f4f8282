/* Eigenvalues of a symmetric 3x3 matrix: the principal moments of an inertia. */
#ifndef SAPWOOD_HOST_BASE_EIGEN3_H
#define SAPWOOD_HOST_BASE_EIGEN3_H

/* The eigenvalues of (m + m') / 2, ascending; m is row-major and finite. The error of each is a few ulps of the largest
 * absolute eigenvalue, at any scale of m. */
void sap_eigen3_symmetric(const double m[9], double values[3]);

#endif
