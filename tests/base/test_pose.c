/* Poses of the host (host/base/pose.h): a product turns as its factors do, one after the other, and stays of unit
 * length. */
#include <math.h>

#include <criterion/criterion.h>

#include "host/base/pose.h"
#include "support/random_model.h"

static void random_pose(Random *random, double *X) {
    for (int k = 0; k < 3; k++)
        X[k] = random_between(random, -2, 2);
    random_quaternion(random, X + 3);
}

static void transform(const double *X, const double *x, double *out) {
    pose_rotate(X + 3, x, out);
    for (int k = 0; k < 3; k++)
        out[k] += X[k];
}

static double norm(const double *q) {
    return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

/* Factors that are off unit length by 1e-3 must not grow from product to product. */
Test(pose, a_product_is_one_pose_after_the_other_with_a_unit_quaternion) {
    Random random = random_seed(5);
    for (int i = 0; i < 100; i++) {
        double X[7], Y[7], XY[7], x[3] = {0.3, -0.7, 1.1}, in_Y[3], expected[3], found[3], off[4];
        random_pose(&random, X);
        random_pose(&random, Y);
        memcpy(XY, X, sizeof XY);
        pose_compose(XY, Y);
        transform(Y, x, in_Y);
        transform(X, in_Y, expected);
        transform(XY, x, found);
        for (int k = 0; k < 3; k++)
            cr_assert_float_eq(found[k], expected[k], 1e-13);
        for (int k = 0; k < 4; k++)
            off[k] = 1.001 * X[3 + k];
        pose_turn(off, Y + 3, off);
        cr_assert_float_eq(norm(off), 1, 1e-14);
    }
}

Test(pose, an_inverse_undoes_its_pose) {
    Random random = random_seed(6);
    for (int i = 0; i < 100; i++) {
        double X[7], inverse[7];
        random_pose(&random, X);
        pose_invert(X, inverse);
        pose_compose(inverse, X);
        for (int k = 0; k < 6; k++)
            cr_assert_float_eq(inverse[k], 0, 1e-14);
        cr_assert_float_eq(fabs(inverse[6]), 1, 1e-14);
    }
}
