/* Tolerance for unit vectors and unit quaternions in models and scenes. */
#ifndef SAPWOOD_HOST_BASE_UNIT_VECTOR_H
#define SAPWOOD_HOST_BASE_UNIT_VECTOR_H

#include <math.h>
#include <stdbool.h>

/* Allowed deviation of a length from 1. Single-precision values and values printed with a few digits less are well
 * within it. */
#define SAP_UNIT_TOLERANCE 1e-6

static inline double sap_length_of(const double *v, int n) {
    double squares = 0;
    for (int i = 0; i < n; i++)
        squares += v[i] * v[i];
    return sqrt(squares);
}

/* False for NaN. */
static inline bool sap_has_length_one(const double *v, int n, double tolerance) {
    return fabs(sap_length_of(v, n) - 1) <= tolerance;
}

#endif
