/* The law of a row (row.h) by itself: known numbers, derivatives against differences on all sides of every bound, and a
 * cost that is continuous across them. One lane, f64. */
#include <math.h>

#include <criterion/criterion.h>

#include "support/law_check.h"

static const double row_h = 0.005, row_w = 2;

static RowValue value_of(RowLaw law, double v) {
    RowValue out = row_value_none();
    row_law_add(&law, v, &out);
    return out;
}

/* As drives and the laws of tendons are evaluated. */
static RowValue value_from_rest(RowLaw law, double v) {
    return row_laws_at((const real *)&law, 1, v);
}

static RowLaw error_law(double g, double k, double tau, double lower, double upper) {
    double c = isinf(k) ? 0 : tau * k;
    return row_law_error(g, k, c, row_w, row_h, INFINITY, lower, upper, mask_all());
}

static void check_value(RowLaw law, double v, double gamma, double cost, const char *what) {
    RowValue at = value_of(law, v);
    check_near(at.gamma, gamma, 4e-14 * fabs(gamma), what);
    check_near(at.cost, cost, 4e-14 * fabs(cost), what);
}

Test(row_law, has_the_known_numbers) {
    RowLaw rigid = error_law(0.003, INFINITY, 0, -INFINITY, INFINITY);
    check_digits(rigid.vhat, -0.3, "vhat");
    check_digits(rigid.R, 0.0005066059182116889, "R");
    check_value(rigid, 0, -592.1762640653615, 88.82643960980421, "equality");
    check_value(rigid, 0.25, -1085.656484119829, 298.5555331329531, "equality");
    RowLaw stiff = error_law(0.003, 1e9, 0.01, -INFINITY, INFINITY);
    check_value(stiff, 0, -592.1762640653615, 88.82643960980421, "an equality that the step cannot resolve");
    RowLaw soft = error_law(0.003, 2e4, 0.01, -INFINITY, INFINITY);
    check_digits(soft.vhat, -0.2, "vhat");
    check_digits(soft.R, 2 / 3.0, "R");
    check_value(soft, -0.7, 0.75, 0.1875, "compliant equality");
    check_value(soft, 0.25, -0.675, 0.151875, "compliant equality");
    check_value(error_law(-0.003, INFINITY, 0, 0, INFINITY), 0.25, 98.69604401089356, 2.467401100272339, "limit");
    RowLaw limit = error_law(0.003, 5e4, 0.01, 0, INFINITY);
    check_value(limit, -0.31, 0.4125, 0.0226875, "soft limit");
    check_value(limit, 0, 0, 0, "soft limit");
    RowLaw friction = row_law(0, 1 / (1e-3 * row_w), -0.02, 0.02, mask_all());
    check_value(friction, 0.25, -0.02, 0.0049996, "friction");
    check_value(friction, 1e-5, -0.005, 2.5e-8, "friction");
    check_value(row_law(0.4, 2, -0.3, 0.3, mask_all()), 0, 0.3, 0.0975, "drive");
}

/* Between bounds the cost is a quadratic, beyond them a line: central differences are exact up to rounding. */
Test(row_law, derivatives_are_those_of_the_cost) {
    Random random = random_seed(7);
    for (int k = 0; k < cases(2000); k++) {
        double lower = random_below(&random, 3) ? -random_between(&random, 0, 3) : -INFINITY;
        double upper = random_below(&random, 3) ? random_between(&random, 0, 3) : INFINITY;
        double vhat = random_between(&random, -1, 1), inv_R = random_between(&random, 0.1, 10);
        RowLaw law = row_law(vhat, inv_R, lower, upper, mask_all());
        double v = random_between(&random, -3, 3), d = 1e-3, y = (vhat - v) * inv_R, room = d * inv_R;
        if (fabs(y - lower) < room || fabs(y - upper) < room)
            continue;
        RowValue at = value_of(law, v), more = value_of(law, v + d), less = value_of(law, v - d);
        check_near(-(more.cost - less.cost) / (2 * d), at.gamma, 1e-11 * (1 + fabs(at.gamma)), "impulse");
        check_near(-(more.gamma - less.gamma) / (2 * d), at.G, 1e-11, "curvature");
        cr_assert(at.gamma >= lower && at.gamma <= upper && at.cost >= 0);
    }
}

Test(row_law, cost_is_continuous_across_bounds) {
    RowLaw law = row_law(0.1, 4, -0.3, 0.2, mask_all());
    const double kinks[] = {0.1 + 0.3 / 4, 0.1 - 0.2 / 4};
    for (int i = 0; i < 2; i++)
        check_near(value_of(law, kinks[i] + 1e-12).cost, value_of(law, kinks[i] - 1e-12).cost, 1e-12, "cost");
}

/* gamma (vhat - v) - R gamma^2/2 in more digits than the kernels have. */
static long double cost_of(RowLaw law, double v) {
    long double error = (long double)law.vhat - v, y = error * law.inv_R;
    long double gamma = y < law.lower ? law.lower : y > law.upper ? law.upper : y;
    return gamma * error - gamma * gamma / law.inv_R / 2;
}

/* A target of up to 1e6 m/s, and the cost of about 1 J that is left of one of up to 3e6 J at rest. */
Test(row_law, the_cost_of_a_drive_is_measured_from_rest_without_cancellation) {
    Random random = random_seed(11);
    for (int k = 0; k < cases(2000); k++) {
        double lower = random_below(&random, 3) ? -random_between(&random, 0, 3) : -INFINITY;
        double upper = random_below(&random, 3) ? random_between(&random, 0, 3) : INFINITY;
        double vhat = pow(10, random_between(&random, 2.01, 6)) * (random_below(&random, 2) ? 1 : -1);
        double v = random_between(&random, -300, 300), inv_R = random_between(&random, 0.1, 10) / fabs(vhat);
        RowLaw law = row_law(vhat, inv_R, lower, upper, mask_all());
        double expected = (double)(cost_of(law, v) - cost_of(law, 0));
        check_near(value_from_rest(law, v).cost, expected, 1e-13 * (1 + 10 * fabs(v)), "cost");
    }
}

/* With a gain that vanishes a drive is a force: the cost is minus its work. */
Test(row_law, of_a_drive_whose_gain_vanishes_is_that_of_a_force) {
    for (double gain = 1e-3; gain > 1e-20; gain *= 1e-3) {
        RowLaw drive = row_law_drive(0, gain, 0, 0, 7, 50, row_w, row_h, mask_all());
        RowLaw bounded = row_law_drive(0, gain, 0, 0, 70, 50, row_w, row_h, mask_all());
        for (double v = -2; v <= 2; v += 0.5) {
            check_near(value_from_rest(drive, v).cost, -row_h * 7 * v, row_h * gain * v * v / 2 + 1e-16, "cost");
            check_near(value_from_rest(bounded, v).cost, -row_h * 50 * v, 1e-16, "cost at the effort limit");
        }
    }
}

Test(row_law, that_does_not_act_gives_exact_zeros) {
    RowLaw none = row_law(3, 5, -1, 1, mask_none());
    RowValue at = value_of(none, -2), from_rest = value_from_rest(none, -2);
    cr_expect(at.cost == 0 && at.gamma == 0 && at.G == 0);
    cr_expect(from_rest.cost == 0 && from_rest.gamma == 0 && from_rest.G == 0);
}

Test(row_law, correction_is_no_faster_than_constraint_speed) {
    RowLaw law = row_law_error(0.5, INFINITY, 0, row_w, row_h, 2, -INFINITY, INFINITY, mask_all());
    cr_expect_eq(law.vhat, -2);
    law = row_law_error(-0.5, INFINITY, 0, row_w, row_h, 2, -INFINITY, INFINITY, mask_all());
    cr_expect_eq(law.vhat, 2);
}

/* The vector of a rotation about any axis, for the whole range of angles; to rounding. */
Test(rotation_vector, is_axis_times_angle) {
    Random random = random_seed(3);
    for (int k = 0; k < cases(2000); k++) {
        double angle = k < 20 ? pow(10, -k) : random_between(&random, 0, M_PI), s = sin(angle / 2);
        double a[3] = {random_between(&random, -1, 1), random_between(&random, -1, 1), random_between(&random, -1, 1)};
        double n = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), sign = k % 2 ? 1 : -1;
        Vec3 v =
            rotation_vector(quat(sign * s * a[0] / n, sign * s * a[1] / n, sign * s * a[2] / n, sign * cos(angle / 2)));
        const double got[3] = {v.x, v.y, v.z};
        for (int i = 0; i < 3; i++)
            check_near(got[i], angle * a[i] / n, 1e-15 * (1 + angle), "component");
    }
}
