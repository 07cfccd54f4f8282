/* The potential of a contact (sap_contact.h) by itself: known numbers, derivatives against differences on all sides of
 * every boundary, and what a friction cone promises. One lane, f64. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>
#include <lapacke.h>
#undef I /* of complex.h, which lapacke.h brings in */

#include "support/law_check.h"

/* ---- evaluation ---- */

enum { NONE, STICTION, SLIDING, FRICTIONLESS_REGION };
static const char *const region_name[] = {"none", "stiction", "sliding", "frictionless"};

typedef struct Point {
    int region;
    double gamma[3], cost, G[3][3];
} Point;

static Point contact_at(const ContactLaw *law, const double v[3]) {
    Point p;
    real G[6];
    ContactTrial trial = sap_contact_trial(law, vec3(v[0], v[1], v[2]));
    Vec3 gamma = sap_contact_impulse(law, &trial);
    sap_contact_hessian(law, &trial, G);
    p.region = (int)sap_contact_trial_region(&trial);
    p.gamma[0] = gamma.x;
    p.gamma[1] = gamma.y;
    p.gamma[2] = gamma.z;
    p.cost = sap_contact_impulse_cost(law, gamma);
    double full[3][3] = {{G[0], G[3], G[4]}, {G[3], G[1], G[5]}, {G[4], G[5], G[2]}};
    memcpy(p.G, full, sizeof full);
    return p;
}

/* The law in coordinates z = sqrt(R) y, in which it is the projection on a round cone: v = (0, 0, vhat) - sqrt(R) z,
 * the gradient of the cost by z is sqrt(R) gamma and its Hessian sqrt(R) G sqrt(R), whose eigenvalues are in [0, 1]. */
typedef struct Scaled {
    Point point;
    double cost, gradient[3], hessian[3][3];
} Scaled;

static void scales(const ContactLaw *law, double s[3]) {
    s[0] = s[1] = sqrt(law->R_t);
    s[2] = sqrt(law->R_n);
}

static Scaled scaled_at(const ContactLaw *law, const double z[3]) {
    Scaled out;
    double s[3], v[3];
    scales(law, s);
    for (int i = 0; i < 3; i++)
        v[i] = (i == 2 ? law->vhat : 0) - s[i] * z[i];
    out.point = contact_at(law, v);
    out.cost = out.point.cost;
    for (int i = 0; i < 3; i++) {
        out.gradient[i] = s[i] * out.point.gamma[i];
        for (int j = 0; j < 3; j++)
            out.hessian[i][j] = s[i] * s[j] * out.point.G[i][j];
    }
    return out;
}

static ContactLaw random_law(Random *random) {
    double h = random_between(random, 1e-3, 2e-2), w = pow(10, random_between(random, -1, 1));
    double k = pow(10, random_between(random, 3, 9)), tau = random_between(random, 0, 0.05);
    double mu = random_below(random, 4) ? random_between(random, 0.05, 1.5) : random_between(random, 1.5, 5);
    double sigma = random_below(random, 2) ? 1e-3 : pow(10, random_between(random, -4, 0));
    return sap_contact_law(random_between(random, -2e-3, 1e-3), w, k, tau, mu, h, random_between(random, 0, 1.5),
                           sigma);
}

/* Half the opening angle of the cone in z, measured from the normal. */
static double cone_angle(const ContactLaw *law) {
    return atan(law->mu * sqrt(law->R_t / law->R_n));
}

/* A point at an angle from the normal; its impulse is of the order of 1. */
static void point_at_angle(Random *random, const ContactLaw *law, double angle, double z[3]) {
    double size = sqrt(law->R_n) * pow(10, random_between(random, -1, 1)), turn = random_between(random, -M_PI, M_PI);
    z[0] = size * sin(angle) * cos(turn);
    z[1] = size * sin(angle) * sin(turn);
    z[2] = size * cos(angle);
}

static int region_at_angle(const ContactLaw *law, double angle) {
    double cone = cone_angle(law);
    return angle <= cone ? STICTION : angle < M_PI / 2 + cone ? SLIDING : NONE;
}

/* The softened norm makes -gamma differ from the gradient by this much, relatively. */
static double softness(const ContactLaw *law, const double z[3]) {
    double ratio = 1e-7 * sqrt(law->R_t) / hypot(z[0], z[1]);
    return 2 * ratio * ratio;
}

/* ---- differences ---- */

/* Fourth-order central differences along axis j. */
static void differences(const ContactLaw *law, const double z[3], int j, double step, int region, double *slope,
                        double column[3]) {
    static const double weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
    static const int at[4] = {-2, -1, 1, 2};
    *slope = column[0] = column[1] = column[2] = 0;
    for (int k = 0; k < 4; k++) {
        double moved[3] = {z[0], z[1], z[2]};
        moved[j] += at[k] * step;
        Scaled s = scaled_at(law, moved);
        cr_assert_eq(s.point.region, region, "a difference leaves the region");
        *slope += weight[k] / step * s.cost;
        for (int i = 0; i < 3; i++)
            column[i] += weight[k] / step * s.gradient[i];
    }
}

/* Gradient and Hessian at a point whose distance from the nearest boundary is at least `room` radians. */
static void check_derivatives(const ContactLaw *law, const double z[3], double room, int region) {
    Scaled s = scaled_at(law, z);
    double size = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]), radius = hypot(z[0], z[1]);
    double step = 0.02 * room * (region == SLIDING ? fmin(radius, size) : size);
    double soft = softness(law, z);
    cr_assert_eq(s.point.region, region, "the region is %s, not %s", region_name[s.point.region], region_name[region]);
    for (int j = 0; j < 3; j++) {
        double slope, column[3];
        differences(law, z, j, step, region, &slope, column);
        /* rounding of the cost, and of v */
        double rounding = 4e-16 * (size + fabs(law->vhat) / sqrt(law->R_n)) / step;
        check_near(slope, s.gradient[j], size * (1e-9 + rounding + soft), "an impulse");
        for (int i = 0; i < 3; i++)
            check_near(column[i], s.hessian[i][j], 1e-8 + 8 * rounding + soft, "an entry of G");
    }
}

/* ---- known numbers ---- */

static ContactLaw golden_law(double k, double mu) {
    return sap_contact_law(-0.001, 2, k, 0.03, mu, 0.005, 1, 1e-3);
}

Test(contact_law, regularisation_and_rest_velocity_have_known_values) {
    ContactLaw law = golden_law(5e4, 0.5);
    check_digits(law.R_n, 0.11428571428571431, "R_n");
    check_digits(law.R_t, 0.002, "R_t");
    check_near(law.vhat, 0.0285714285714, 5e-14, "vhat");
    check_digits(golden_law(1e9, 0.5).R_n, 0.05066059182116889, "R_n near rigid");
}

Test(contact_law, impulses_and_costs_have_known_values) {
    static const struct {
        double v[3], k, mu;
        int region;
        double gamma[3], cost;
    } rows[] = {
        {{1e-4, -5e-5, 0}, 5e4, 0.5, STICTION, {-0.05, 0.025, 0.25}, 0.0035745535714285714},
        {{0.3, -0.1, -0.02},
         5e4,
         0.5,
         SLIDING,
         {-0.854108476252131, 0.284702825417377, 1.800618769208379},
         0.1860807256751777},
        {{1, 0, 0.2}, 5e4, 0.5, SLIDING, {-1.431238332296204, 0, 2.862476664592407}, 0.47026402346875257},
        {{0, 0, 0.1}, 5e4, 0.5, NONE, {0, 0, 0}, 0},
        {{0.3, -0.1, -0.02}, 5e4, 0, FRICTIONLESS_REGION, {0, 0, 0.425}, 0.010321428571428572},
        {{0.3, -0.1, -0.02},
         1e9,
         0.5,
         SLIDING,
         {-1.916308002588778, 0.638769334196259, 4.03993199105892},
         0.41749730116670336},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        ContactLaw law = golden_law(rows[r].k, rows[r].mu);
        Point p = contact_at(&law, rows[r].v);
        cr_assert_eq(p.region, rows[r].region, "row %zu is in the region %s", r, region_name[p.region]);
        for (int i = 0; i < 3; i++)
            check_digits(p.gamma[i], rows[r].gamma[i], "gamma");
        check_digits(p.cost, rows[r].cost, "cost");
    }
}

Test(contact_law, the_hessian_of_sliding_has_known_values) {
    static const double expected[3][3] = {{2.244877063127396, 0.200717063682125, -4.132410134631982},
                                          {0.200717063682125, 2.780122566279728, 1.377470044877327},
                                          {-4.132410134631982, 1.377470044877327, 8.711885500933414}};
    ContactLaw law = golden_law(5e4, 0.5);
    Point p = contact_at(&law, (const double[3]){0.3, -0.1, -0.02});
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            check_digits(p.G[i][j], expected[i][j], "G");
}

Test(contact_law, contact_frames_have_known_values) {
    static const struct {
        double n[3], x[3], y[3];
    } rows[] = {
        {{0, 0, 1}, {0, -1, 0}, {1, 0, 0}},
        {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}},
        {{0.6, 0, 0.8}, {0.8, 0, -0.6}, {0, 1, 0}},
        {{0.48, 0.6, 0.64},
         {0, -0.7295372041400852, 0.6839411288813299},
         {0.8772684879784524, -0.3282917418630383, -0.3501778579872408}},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        Mat3 C = contact_frame(vec3(rows[r].n[0], rows[r].n[1], rows[r].n[2]));
        const double x[3] = {C.x.x, C.x.y, C.x.z}, y[3] = {C.y.x, C.y.y, C.y.z}, z[3] = {C.z.x, C.z.y, C.z.z};
        for (int i = 0; i < 3; i++) {
            check_near(x[i], rows[r].x[i], 1e-15, "c_x");
            check_near(y[i], rows[r].y[i], 1e-15, "c_y");
            check_near(z[i], rows[r].n[i], 0, "n");
        }
    }
}

Test(contact_law, contact_frames_are_right_handed_and_orthonormal) {
    Random random = random_seed(1);
    for (int i = 0; i < cases(2000); i++) {
        double q[4], n2 = 0;
        random_quaternion(&random, q);
        for (int k = 0; k < 3; k++)
            n2 += q[k] * q[k];
        Vec3 n = vec3(q[0] / sqrt(n2), q[1] / sqrt(n2), q[2] / sqrt(n2));
        Mat3 C = contact_frame(n);
        Vec3 cross = vec3_cross(C.x, C.y);
        check_near(vec3_dot(C.x, C.x), 1, 1e-14, "|c_x|");
        check_near(vec3_dot(C.y, C.y), 1, 1e-14, "|c_y|");
        check_near(vec3_dot(C.x, C.y), 0, 1e-14, "c_x.c_y");
        check_near(cross.x, n.x, 1e-14, "c_x x c_y");
        check_near(cross.y, n.y, 1e-14, "c_x x c_y");
        check_near(cross.z, n.z, 1e-14, "c_x x c_y");
    }
}

Test(contact_law, effective_gains_have_known_values) {
    static const double rows[][4] = {{200, 5, 200, 5},
                                     {1e9, 1e5, 77408661.96932828, 7740.866196932829},
                                     {1e9, 1e7, 26318945.069571625, 263189.45069571625},
                                     {1e9, 0, 78956835.20871486, 0},
                                     {0, 1e9, 0, 394784.17604357435}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        real kp = rows[r][0], kd = rows[r][1];
        drive_effective_gains(0.005, 2, &kp, &kd);
        check_digits(kp, rows[r][2], "kp");
        check_digits(kd, rows[r][3], "kd");
    }
}

/* ---- derivatives ---- */

Test(contact_law, impulse_and_hessian_are_derivatives_of_the_cost_in_every_region) {
    Random random = random_seed(2);
    int seen[3] = {0};
    for (int i = 0; i < cases(6000); i++) {
        ContactLaw law = random_law(&random);
        double cone = cone_angle(&law), angle = random_between(&random, 0, M_PI), z[3];
        if (random_below(&random, 2))
            angle = random_between(&random, 0, 2 * cone); /* narrow cones are seldom hit */
        double room = fmin(fabs(angle - cone), fabs(angle - cone - M_PI / 2));
        if (room < 1e-3)
            continue;
        int region = region_at_angle(&law, angle);
        point_at_angle(&random, &law, angle, z);
        check_derivatives(&law, z, fmin(room, 0.3), region);
        seen[region]++;
    }
    for (int r = 0; r < 3; r++)
        cr_assert_gt(seen[r], 0, "no case in the region %s", region_name[r]);
}

Test(contact_law, impulse_and_hessian_are_derivatives_of_the_cost_on_both_sides_of_each_boundary) {
    Random random = random_seed(3);
    for (int i = 0; i < cases(6000); i++) {
        ContactLaw law = random_law(&random);
        double z[3], cone = cone_angle(&law), boundary = i & 1 ? cone : cone + M_PI / 2;
        double room = 1e-3 * cone, angle = boundary + (i & 2 ? room : -room);
        point_at_angle(&random, &law, angle, z);
        check_derivatives(&law, z, room, region_at_angle(&law, angle));
    }
}

Test(contact_law, cost_and_impulse_are_continuous_across_the_boundaries) {
    Random random = random_seed(4);
    for (int i = 0; i < cases(4000); i++) {
        ContactLaw law = random_law(&random);
        double z[2][3], boundary = cone_angle(&law) + (i & 1 ? 0 : M_PI / 2);
        Scaled s[2];
        Random same = random;
        for (int side = 0; side < 2; side++) {
            random = same;
            point_at_angle(&random, &law, boundary * (side ? 1 + 1e-6 : 1 - 1e-6), z[side]);
            s[side] = scaled_at(&law, z[side]);
        }
        double size = sqrt(z[0][0] * z[0][0] + z[0][1] * z[0][1] + z[0][2] * z[0][2]);
        cr_assert_neq(s[0].point.region, s[1].point.region, "the two sides are in the same region");
        check_near(s[0].cost, s[1].cost, 1e-5 * size * size, "the cost across a boundary");
        for (int k = 0; k < 3; k++)
            check_near(s[0].gradient[k], s[1].gradient[k], 1e-5 * size, "the impulse across a boundary");
    }
}

/* ---- what the cone promises ---- */

Test(contact_law, the_impulse_is_in_the_friction_cone_and_zero_in_the_polar_region) {
    Random random = random_seed(5);
    for (int i = 0; i < cases(10000); i++) {
        ContactLaw law = random_law(&random);
        double z[3], angle = random_between(&random, 0, M_PI);
        point_at_angle(&random, &law, angle, z);
        Scaled s = scaled_at(&law, z);
        const double *gamma = s.point.gamma;
        cr_assert_geq(gamma[2], 0);
        cr_assert_leq(hypot(gamma[0], gamma[1]), law.mu * gamma[2] * (1 + 1e-12));
        if (angle > M_PI / 2 + cone_angle(&law) + 1e-9)
            cr_assert(gamma[0] == 0 && gamma[1] == 0 && gamma[2] == 0 && s.cost == 0, "an impulse in the polar region");
        else if (angle < M_PI / 2 + cone_angle(&law) - 1e-6)
            cr_assert(gamma[2] > 0 && s.cost > 0, "no impulse outside of the polar region");
    }
}

/* y = gamma + what is left, and that is normal to the cone: the definition of a projection. */
Test(contact_law, the_impulse_is_the_nearest_point_of_the_cone) {
    Random random = random_seed(6);
    for (int i = 0; i < cases(10000); i++) {
        ContactLaw law = random_law(&random);
        double z[3], slope = tan(cone_angle(&law)), size2 = 0, dot = 0, rest[3];
        point_at_angle(&random, &law, random_between(&random, 0, M_PI), z);
        Scaled s = scaled_at(&law, z);
        for (int k = 0; k < 3; k++) {
            rest[k] = z[k] - s.gradient[k];
            dot += rest[k] * s.gradient[k];
            size2 += z[k] * z[k];
        }
        check_near(dot, 0, (1e-12 + softness(&law, z)) * size2, "what the projection leaves, along it,");
        cr_assert(rest[2] <= -slope * hypot(rest[0], rest[1]) + 1e-8 * sqrt(size2),
                  "the rest is not in the polar cone");
    }
}

Test(contact_law, the_hessian_is_positive_semidefinite) {
    Random random = random_seed(7);
    for (int i = 0; i < cases(10000); i++) {
        ContactLaw law = random_law(&random);
        double z[3], eigenvalues[3];
        point_at_angle(&random, &law, random_between(&random, 0, M_PI), z);
        Scaled s = scaled_at(&law, z);
        cr_assert_eq(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'L', 3, s.hessian[0], 3, eigenvalues), 0);
        cr_assert(eigenvalues[0] >= -1e-14 && eigenvalues[2] <= 1 + 1e-12, "an eigenvalue of the %s region is %g or %g",
                  region_name[s.point.region], eigenvalues[0], eigenvalues[2]);
    }
}

Test(contact_law, nothing_is_undefined_at_rest) {
    ContactLaw law = golden_law(5e4, 0.5);
    for (double v_n = -1; v_n <= 1; v_n += 0.5) {
        Point p = contact_at(&law, (const double[3]){0, 0, v_n});
        cr_assert(isfinite(p.cost) && p.gamma[0] == 0 && p.gamma[1] == 0);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                cr_assert(isfinite(p.G[i][j]));
    }
}

Test(contact_law, without_friction_only_the_normal_acts) {
    Random random = random_seed(8);
    for (int i = 0; i < cases(2000); i++) {
        ContactLaw law =
            sap_contact_law(random_between(&random, -1e-2, 1e-2), 2, 5e4, 0.03, i & 1 ? 0 : 1e-13, 0.005, 1, 1e-3);
        double v[3], y_n, d = 1e-3;
        random_numbers(&random, 1, v, 3);
        y_n = (law.vhat - v[2]) / law.R_n;
        if (fabs(law.vhat - v[2]) < 2 * d)
            continue;
        Point p = contact_at(&law, v);
        cr_assert_eq(p.region, y_n > 0 ? FRICTIONLESS_REGION : NONE);
        cr_assert(p.gamma[0] == 0 && p.gamma[1] == 0);
        check_near(p.gamma[2], fmax(y_n, 0), 1e-13 * fabs(y_n), "gamma_n");
        Point above = contact_at(&law, (const double[3]){v[0], v[1], v[2] + d});
        Point below = contact_at(&law, (const double[3]){v[0], v[1], v[2] - d});
        check_near((below.cost - above.cost) / (2 * d), p.gamma[2], 1e-10 * (1 + fabs(y_n)), "the slope of the cost");
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                check_near(p.G[r][c], r == 2 && c == 2 && y_n > 0 ? 1 / law.R_n : 0, 1e-14 / law.R_n, "G");
    }
}

Test(contact_law, a_slot_without_a_contact_gives_zeros) {
    Random random = random_seed(9);
    ContactLaw none = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < 100; i++) {
        double v[3];
        random_numbers(&random, i % 2 ? 1 : 1e6, v, 3);
        Point p = contact_at(&none, v), zero = {0};
        cr_assert_eq(p.region, NONE);
        cr_assert(p.cost == 0);
        for (int r = 0; r < 3; r++) {
            cr_assert(p.gamma[r] == 0);
            for (int c = 0; c < 3; c++)
                cr_assert(p.G[r][c] == zero.G[r][c]);
        }
    }
}
