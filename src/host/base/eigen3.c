/* Jacobi's method: rotate in the planes (0,1), (0,2), (1,2) in turn until the off-diagonal entries vanish. Convergence
 * is quadratic, so four or five rounds suffice for 3x3. Unlike the closed formula with the arc cosine it keeps its
 * accuracy when eigenvalues coincide, which is common for inertias of round bodies. */
#include "host/base/eigen3.h"

#include <float.h>
#include <math.h>

enum { MAX_ROUNDS = 30 }; /* far more than needed; guards against an endless loop */

/* The rotation with a'[p][q] = 0: t = tan of its angle is the smaller root of t^2 + 2 theta t - 1 = 0. */
static void rotate(double a[3][3], int p, int q) {
    if (a[p][q] == 0)
        return;
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    int r = 3 - p - q;
    double a_rp = a[r][p], a_rq = a[r][q];
    a[p][p] -= t * a[p][q];
    a[q][q] += t * a[p][q];
    a[p][q] = a[q][p] = 0;
    a[r][p] = a[p][r] = c * a_rp - s * a_rq;
    a[r][q] = a[q][r] = s * a_rp + c * a_rq;
}

static double off_diagonal(double a[3][3]) {
    return fabs(a[0][1]) + fabs(a[0][2]) + fabs(a[1][2]);
}

static void sort_two(double *low, double *high) {
    double a = fmin(*low, *high), b = fmax(*low, *high);
    *low = a;
    *high = b;
}

/* The largest absolute entry, or 1 for the zero matrix. */
static double scale_of(const double m[9]) {
    double scale = 0;
    for (int k = 0; k < 9; k++)
        scale = fmax(scale, fabs(m[k]));
    return scale > 0 ? scale : 1;
}

void sap_eigen3_symmetric(const double m[9], double values[3]) {
    /* Scale the entries to size 1, so that no square overflows or underflows. */
    double scale = scale_of(m), a[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[i][j] = 0.5 * (m[3 * i + j] / scale) + 0.5 * (m[3 * j + i] / scale);

    for (int round = 0; round < MAX_ROUNDS && off_diagonal(a) > DBL_EPSILON * DBL_EPSILON; round++) {
        rotate(a, 0, 1);
        rotate(a, 0, 2);
        rotate(a, 1, 2);
    }

    for (int i = 0; i < 3; i++)
        values[i] = a[i][i] * scale;
    sort_two(&values[0], &values[1]);
    sort_two(&values[1], &values[2]);
    sort_two(&values[0], &values[1]);
}
