/* MuJoCo's laws by themselves: contacts against differences of their cost in every zone, continuity between zones, and
 * the parameters of rows against known numbers. One lane, f64. */
#define SAP_FORMULATION "kernels/mujoco/stages.h"
#include "kernels/mujoco/data.h"
#include "support/law_check.h"

/* ---- powers and impedance ---- */

Test(mujoco_law, powers_are_those_of_libm) {
    Random random = random_seed(3);
    for (int k = 0; k < cases(20000); k++) {
        double t = random_between(&random, 0, 1), p = random_between(&random, 1, 12);
        double expected = pow(t, p);
        double units = 4 + fabs(p * log(t)); /* the error of an exponent is relative */
        check_near(real_power(t, p), expected, 4.5e-16 * units * expected + 1e-300, "t^p");
    }
    cr_assert_eq(real_power(0.25, 1), 0.25);
    cr_assert_eq(real_power(0.25, 2), 0.0625);
    cr_assert_eq(real_power(0, 3.5), 0);
    cr_assert_eq(real_power(1, 3.5), 1);
}

static MujocoImpedance impedance_of(double c, double z, double d0, double dw, double width, double mid, double power) {
    const double solref[2] = {c, z}, solimp[5] = {d0, dw, width, mid, power};
    return mujoco_read_impedance(solref, solimp);
}

static MujocoStep step_of(double h, int discrete) {
    return (MujocoStep){.h = h, .refsafe = 1, .discrete = discrete};
}

Test(mujoco_law, impedance_goes_from_d0_to_dw) {
    for (double power = 1; power < 5; power += 0.5) {
        MujocoImpedance s = impedance_of(0.02, 1, 0.3, 0.9, 0.01, 0.4, power);
        check_digits(mujoco_impedance(&s, 0), 0.3, "at the margin");
        check_digits(mujoco_impedance(&s, 0.01), 0.9, "at the width");
        check_digits(mujoco_impedance(&s, -1), 0.9, "beyond");
        double below = mujoco_impedance(&s, 0.004 * (1 - 1e-12)), above = mujoco_impedance(&s, 0.004 * (1 + 1e-12));
        check_near(above, below, 1e-10, "across the middle");
    }
}

/* Numbers of MuJoCo 4.0: a limit inside its ramp. */
Test(mujoco_law, a_limit_has_the_known_numbers) {
    MujocoImpedance s = impedance_of(0.05, 0.8, 0.6, 0.95, 0.01, 0.5, 2);
    MujocoStep step = step_of(0.01, 0);
    MujocoGains g = mujoco_gains(&s, &step, -0.004, true);
    check_near(g.imp, 0.712, 1e-14, "imp");
    check_near(g.K_imp / g.imp, 692.520775623, 1e-9, "K");
    check_near(g.B, 42.1052631579, 1e-10, "B");
    check_near(mujoco_R(&step, &g, 0.5), 0.202247191011, 1e-12, "R");
    double uref = mujoco_uref(&step, g.B, g.K_imp, -0.3, -0.004, 0);
    check_near((uref + 0.3) / 0.01, 14.6038781163, 1e-9, "aref");
    MujocoStep discrete = step_of(0.01, 1);
    g = mujoco_gains(&s, &discrete, -0.004, true);
    uref = mujoco_uref(&discrete, g.B, g.K_imp, -0.3, -0.004, 0);
    check_near((uref + 0.3) / 0.01, 10.9382064808, 1e-9, "aref of a discrete step");
}

/* solref (-k, -b) is (c, z) with c = 2/b, z = b/(2 sqrt(k)), for dw = 1 but for its clamp. */
Test(mujoco_law, direct_and_standard_solref_agree) {
    MujocoStep step = step_of(0.002, 0);
    MujocoImpedance direct = impedance_of(-500, -10, 0.9, 0.95, 0.001, 0.5, 2),
                    standard = impedance_of(0.2, 0.22360679774997896, 0.9, 0.95, 0.001, 0.5, 2);
    MujocoGains a = mujoco_gains(&direct, &step, 0.002, true), b = mujoco_gains(&standard, &step, 0.002, true);
    check_digits(a.K_imp, b.K_imp, "K imp");
    check_digits(a.B, b.B, "B");
}

Test(mujoco_law, a_solref_of_mixed_signs_is_the_default) {
    MujocoStep step = step_of(0.002, 0);
    MujocoImpedance mixed = impedance_of(0.02, -3, 0.9, 0.95, 0.001, 0.5, 2),
                    usual = impedance_of(0.02, 1, 0.9, 0.95, 0.001, 0.5, 2);
    MujocoGains a = mujoco_gains(&mixed, &step, 0.002, true), b = mujoco_gains(&usual, &step, 0.002, true);
    cr_assert(a.K_imp == b.K_imp && a.B == b.B);
}

/* ---- contacts ---- */

static MujocoContact random_contact(Random *random, bool elliptic, int dim) {
    static const int needs[5] = {3, 3, 6, 6, 4};
    MujocoContact c = {0};
    for (int i = 0; i < 6; i++)
        c.uref[i] = random_between(random, -1, 1);
    for (int i = 0; i < 5; i++)
        c.mu[i] = dim >= needs[i] ? random_between(random, 0.1, 1.5) : 0;
    double R = random_between(random, 0.1, 2), m2 = c.mu[0] * c.mu[0] / random_between(random, 0.3, 10);
    c.m2 = m2;
    c.f = 1 / (1 + m2);
    c.rho = R * m2;
    c.inv_rho = dim > 1 ? 1 / c.rho : 0;
    c.R_n = elliptic || dim == 1 ? R : 0;
    c.inv_R_n = elliptic || dim == 1 ? 1 / R : 0;
    c.inv_edge = !elliptic && dim > 1 ? 1 / (2 * m2 * R) : 0;
    return c;
}

/* The velocity of a contact with rows (t1, t2, n, roll, roll, spin). */
static ContactVector vector_of(const double *u) {
    return (ContactVector){.lin = {u[0], u[1], u[2]}, .ang = {u[3], u[4], u[5]}};
}

static ContactVector error_at(const MujocoContact *c, const double *u) {
    ContactVector velocity = vector_of(u);
    return mujoco_error((const real *)c, &velocity);
}

static ContactValue value_at(const MujocoContact *c, bool elliptic, const double *u) {
    ContactVector e = error_at(c, u);
    ContactValue at;
    mujoco_contact_evaluate((const real *)c, elliptic, true, &e, &at);
    return at;
}

/* G e_i */
static void G_column(const ContactValue *at, int i, double *out) {
    double e[6] = {0};
    e[i] = 1;
    ContactVector x = vector_of(e), y = contact_vector_G_mul(at->G, &x, true);
    const double column[6] = {y.lin.x, y.lin.y, y.lin.z, y.ang.x, y.ang.y, y.ang.z};
    for (int k = 0; k < 6; k++)
        out[k] = column[k];
}

static void gamma_of(const ContactValue *at, double *out) {
    const double gamma[6] = {at->gamma.lin.x, at->gamma.lin.y, at->gamma.lin.z,
                             at->gamma.ang.x, at->gamma.ang.y, at->gamma.ang.z};
    for (int k = 0; k < 6; k++)
        out[k] = gamma[k];
}

/* The zone as a number: the region of an elliptic contact, the active edges of a pyramid. */
static int zone_of(const MujocoContact *c, bool elliptic, const double *u) {
    ContactVector e = error_at(c, u);
    if (elliptic)
        return (int)mujoco_contact_region((const real *)c, true, true, &e);
    static const int component[5] = {0, 1, 3, 4, 5};
    int zone = c->uref[2] > u[2];
    for (int k = 0; k < 5; k++)
        for (int sign = -1; sign <= 1; sign += 2)
            zone = 2 * zone + (c->uref[2] - u[2] + sign * c->mu[k] * (c->uref[component[k]] - u[component[k]]) > 0);
    return zone;
}

static int check_derivatives(const MujocoContact *c, bool elliptic, double *u) {
    const double d = 1e-5;
    int zone = zone_of(c, elliptic, u);
    ContactValue at = value_at(c, elliptic, u);
    double gamma[6], more[6], less[6], column[6];
    gamma_of(&at, gamma);
    for (int i = 0; i < 6; i++) {
        double kept = u[i];
        u[i] = kept + d;
        ContactValue up = value_at(c, elliptic, u);
        int zone_up = zone_of(c, elliptic, u);
        u[i] = kept - d;
        ContactValue down = value_at(c, elliptic, u);
        int zone_down = zone_of(c, elliptic, u);
        u[i] = kept;
        if (zone_up != zone || zone_down != zone)
            continue;
        check_near((down.cost - up.cost) / (2 * d), gamma[i], 1e-7 * (1 + fabs(gamma[i])), "gamma");
        gamma_of(&up, more);
        gamma_of(&down, less);
        G_column(&at, i, column);
        for (int k = 0; k < 6; k++)
            check_near((less[k] - more[k]) / (2 * d), column[k], 1e-5 * (1 + fabs(column[k])), "G");
    }
    return zone;
}

Test(mujoco_law, derivatives_are_those_of_the_cost_in_every_zone) {
    static const int dims[4] = {1, 3, 4, 6};
    Random random = random_seed(8);
    int seen[3] = {0};
    for (int k = 0; k < cases(4000); k++) {
        bool elliptic = k % 2;
        MujocoContact c = random_contact(&random, elliptic, dims[k / 2 % 4]);
        double u[6];
        for (int i = 0; i < 6; i++)
            u[i] = random_between(&random, -2, 2);
        int zone = check_derivatives(&c, elliptic, u);
        if (elliptic)
            seen[zone]++;
    }
    cr_assert(seen[0] > 0 && seen[1] > 0 && seen[2] > 0, "zones: none %d, stiction %d, sliding %d", seen[0], seen[1],
              seen[2]);
}

/* A line search sees the cost, gamma.d and d'G d. The square of y_r as a parabola costs digits near the tip of a
 * cone. */
Test(mujoco_law, values_along_a_line_are_those_of_impulse_and_curvature) {
    static const int dims[4] = {1, 3, 4, 6};
    Random random = random_seed(10);
    for (int k = 0; k < cases(4000); k++) {
        bool elliptic = k % 2;
        MujocoContact c = random_contact(&random, elliptic, dims[k / 2 % 4]);
        double u[6], d[6], gamma[6], column[6], constants[MUJOCO_G_SIZE], slope = 0, curvature = 0;
        double a = random_between(&random, 0, 2);
        for (int i = 0; i < 6; i++) {
            u[i] = random_between(&random, -2, 2);
            d[i] = random_between(&random, -2, 2);
        }
        ContactVector start = error_at(&c, u), along = vector_of(d);
        for (int i = 0; i < 6; i++)
            u[i] += a * d[i];
        ContactVector at = error_at(&c, u);
        LineValue line;
        mujoco_contact_line_make((const real *)&c, elliptic, true, &start, &along, constants);
        mujoco_contact_line((const real *)&c, elliptic, true, constants, a, &line);
        ContactValue value = value_at(&c, elliptic, u);
        gamma_of(&value, gamma);
        for (int i = 0; i < 6; i++) {
            slope += gamma[i] * d[i];
            G_column(&value, i, column);
            for (int j = 0; j < 6; j++)
                curvature += d[i] * column[j] * d[j];
        }
        cr_assert_eq(mujoco_contact_cost((const real *)&c, elliptic, true, &at), value.cost);
        check_near(line.cost, value.cost, 1e-12 * (1 + value.cost), "cost");
        check_near(line.slope, slope, 1e-11 * (1 + fabs(slope)), "slope");
        check_near(line.curvature, curvature, 1e-9 * (1 + fabs(curvature)), "curvature");
    }
}

/* Along a line through all three zones cost and impulse do not jump. */
Test(mujoco_law, cost_and_impulse_are_continuous) {
    Random random = random_seed(9);
    for (int k = 0; k < cases(200); k++) {
        MujocoContact c = random_contact(&random, true, 6);
        double u[6], direction[6], before[6] = {0}, now[6], last = 0;
        for (int i = 0; i < 6; i++) {
            u[i] = random_between(&random, -3, 3);
            direction[i] = -2 * u[i] / 20000;
        }
        for (int s = 0; s <= 20000; s++) {
            ContactValue at = value_at(&c, true, u);
            gamma_of(&at, now);
            double size = 0, jump = 0;
            for (int i = 0; i < 6; i++) {
                size = fmax(size, fabs(now[i]));
                jump = fmax(jump, fabs(now[i] - before[i]));
                before[i] = now[i];
                u[i] += direction[i];
            }
            cr_assert(s == 0 || (jump < 0.2 && fabs(at.cost - last) < 0.01 * (1 + at.cost + size)),
                      "a jump of %g, cost %g to %g", jump, last, at.cost);
            last = at.cost;
        }
    }
}

Test(mujoco_law, no_contact_has_no_cost_impulse_or_curvature) {
    const MujocoContact none = {0};
    const double u[6] = {1, -2, 3, -4, 5, -6};
    for (int elliptic = 0; elliptic < 2; elliptic++) {
        ContactValue at = value_at(&none, elliptic, u);
        double gamma[6];
        gamma_of(&at, gamma);
        cr_assert_eq(at.cost, 0);
        for (int i = 0; i < 6; i++)
            cr_assert_eq(gamma[i], 0);
        for (int i = 0; i < MUJOCO_G_SIZE; i++)
            cr_assert_eq(at.G[i], 0);
    }
}

/* G of the golden sliding contact: condim 3, mu 0.4, impratio 4. */
Test(mujoco_law, a_sliding_contact_has_the_known_curvature) {
    MujocoContact c = {.mu = {0.4, 0.4}, .R_n = 1 / 38.0, .inv_R_n = 38, .m2 = 0.04, .f = 1 / 1.04};
    c.rho = c.R_n * c.m2;
    c.inv_rho = 1 / c.rho;
    /* x = u - uref at the solution, rows t1, t2, n */
    const double u[6] = {-25.372458382, -67.6598890187, 26.4854841122};
    ContactValue at = value_at(&c, true, u);
    check_near(at.gamma.lin.z, 88.3804419086, 1e-8, "normal");
    check_near(at.gamma.lin.x, 12.4129779728, 1e-8, "t1");
    check_near(at.G[2], 36.5384615385, 1e-9, "G_nn");
    check_near(at.G[0], 1.14967301698, 1e-9, "G_11");
    check_near(at.G[1], 5.18571122955, 1e-9, "G_22");
    check_near(at.G[3], 1.76118031094, 1e-9, "G_12");
    check_near(at.G[5], 13.6848110568, 1e-8, "G_n2");
}
