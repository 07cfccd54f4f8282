/* Eigenvalues of symmetric 3 x 3 matrices. */
#include <math.h>
#include <stdint.h>

#include <criterion/criterion.h>

#include "host/base/eigen3.h"
#include "support/pose.h"

/* R diag(values) R' for the rotation of a quaternion. */
static void rotated(const double values[3], const double q[4], double m[9]) {
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                      {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                      {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            m[3 * i + j] = 0;
            for (int k = 0; k < 3; k++)
                m[3 * i + j] += r[i][k] * values[k] * r[j][k];
        }
}

static double random_unit(void) {
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return state / 4294967296.0 * 2 - 1;
}

Test(eigen3, finds_the_values_of_rotated_diagonal_matrices) {
    static const double sets[][3] = {{1, 2, 3},     {1, 1, 2}, {1, 2, 2}, {5, 5, 5},        {-3, 0, 4},
                                     {1e-12, 1, 1}, {0, 0, 1}, {0, 0, 0}, {1, 1 + 1e-9, 2}, {-2, -1, 0}};
    for (int i = 0; i < 10; i++)
        for (int trial = 0; trial < 200; trial++) {
            double q[4], m[9], found[3], scale = pow(10, 100 * random_unit());
            for (int k = 0; k < 4; k++)
                q[k] = random_unit();
            double size = length(q, 4);
            for (int k = 0; k < 4; k++)
                q[k] /= size;
            rotated(sets[i], q, m);
            for (int k = 0; k < 9; k++)
                m[k] *= scale;
            sap_eigen3_symmetric(m, found);
            double bound = 2e-15 * fmax(fabs(sets[i][0]), fabs(sets[i][2]));
            for (int k = 0; k < 3; k++)
                cr_assert(fabs(found[k] / scale - sets[i][k]) <= bound, "set %d: value %d is %.17g", i, k,
                          found[k] / scale);
        }
}

Test(eigen3, sorts_diagonal_matrices_exactly) {
    double values[3];
    sap_eigen3_symmetric((const double[]){3, 0, 0, 0, 1, 0, 0, 0, 2}, values);
    cr_assert(values[0] == 1 && values[1] == 2 && values[2] == 3);
}
