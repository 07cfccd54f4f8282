/* The potential of a dof (sap_dof.h) by itself: known numbers, and derivatives against differences on all sides of
 * every kink. One lane, f64. */
#include <math.h>

#include <criterion/criterion.h>

#include "support/law_check.h"

typedef enum JointPart { DRIVE = 1, LOWER = 2, UPPER = 4, FRICTION = 8 } JointPart;

static const double joint_h = 0.005;

/* A drive whose effort at velocity v is clamp(a - g v, -e, e). */
static JointLaw drive_law(double a, double g, double e) {
    RowLaw row = row_law_force(a, g, joint_h, e, mask_all());
    return (JointLaw){.drive_vhat = row.vhat, .drive_inv_R = row.inv_R, .drive_R = row.R, .drive_bound = row.upper};
}

static JointLaw random_joint_law(Random *random, int parts) {
    JointLaw t = {0};
    if (parts & DRIVE) {
        double a = random_between(random, -5, 5), g = random_between(random, 0.1, 20);
        t = drive_law(a, g, random_below(random, 4) ? random_between(random, 0.1, 5) : INFINITY);
    }
    if (parts & LOWER) {
        t.lower_vhat = random_between(random, -1, 1);
        t.lower_inv_R = random_between(random, 0.1, 100);
    }
    if (parts & UPPER) {
        t.upper_vhat = random_between(random, -1, 1);
        t.upper_inv_R = random_between(random, 0.1, 100);
    }
    if (parts & FRICTION) {
        t.friction_bound = random_between(random, 0.001, 0.1);
        t.friction_inv_R = random_between(random, 0.1, 100);
    }
    return t;
}

/* Velocities at which a term changes its branch. */
static int joint_kinks(const JointLaw *t, double *kink) {
    int n = 0;
    if (t->drive_inv_R > 0 && isfinite(t->drive_bound)) {
        kink[n++] = t->drive_vhat - t->drive_bound * t->drive_R;
        kink[n++] = t->drive_vhat + t->drive_bound * t->drive_R;
    }
    if (t->lower_inv_R > 0)
        kink[n++] = t->lower_vhat;
    if (t->upper_inv_R > 0)
        kink[n++] = t->upper_vhat;
    if (t->friction_inv_R > 0) {
        kink[n++] = -t->friction_bound / t->friction_inv_R;
        kink[n++] = t->friction_bound / t->friction_inv_R;
    }
    return n;
}

/* Between two kinks the cost is a quadratic, for which central differences are exact whatever their width. */
static void check_joint_derivatives(const JointLaw *t, double v) {
    double kink[6], room = 1;
    int n = joint_kinks(t, kink);
    for (int k = 0; k < n; k++)
        room = fmin(room, fabs(v - kink[k]));
    if (room < 1e-8)
        return;
    double d = 0.5 * room;
    JointTerms below = joint_law_evaluate(t, JOINT_ALL, v - d), above = joint_law_evaluate(t, JOINT_ALL, v + d);
    JointTerms at = joint_law_evaluate(t, JOINT_ALL, v);
    /* Costs round as their parts, which are those at the target of the drive and at rest. */
    JointTerms at_target = joint_law_evaluate(t, JOINT_ALL | JOINT_COST_AT_TARGET, v);
    double size = at_target.cost + joint_law_evaluate(t, JOINT_ALL | JOINT_COST_AT_TARGET, 0).cost;
    double gamma = joint_terms_impulse(&at), rounding = 1e-15 * (1 + fabs(v)) / d;
    double scale = t->drive_inv_R + t->lower_inv_R + t->upper_inv_R + t->friction_inv_R;
    check_near((below.cost - above.cost) / (2 * d), gamma,
               rounding * (size + scale * (1 + v * v)) + 1e-13 * scale * (1 + fabs(v)), "a joint's impulse");
    check_near((joint_terms_impulse(&below) - joint_terms_impulse(&above)) / (2 * d), at.hessian,
               rounding * (fabs(gamma) + scale * (1 + fabs(v))) + 1e-13 * scale, "a joint's curvature");
    cr_assert_geq(at_target.cost, 0);
}

Test(joint_law, impulse_and_curvature_are_derivatives_of_the_cost) {
    Random random = random_seed(10);
    for (int i = 0; i < cases(40000); i++) {
        JointLaw t = random_joint_law(&random, 1 + i % 15);
        check_joint_derivatives(&t, random_between(&random, -2, 2));
    }
}

Test(joint_law, impulse_and_curvature_are_derivatives_of_the_cost_on_both_sides_of_each_kink) {
    Random random = random_seed(11);
    for (int i = 0; i < cases(20000); i++) {
        JointLaw t = random_joint_law(&random, 1 + i % 15);
        double kink[6];
        int n = joint_kinks(&t, kink);
        for (int k = 0; k < n; k++) {
            check_joint_derivatives(&t, kink[k] + 1e-4);
            check_joint_derivatives(&t, kink[k] - 1e-4);
            JointTerms above = joint_law_evaluate(&t, JOINT_ALL, kink[k] + 1e-12);
            JointTerms below = joint_law_evaluate(&t, JOINT_ALL, kink[k] - 1e-12);
            check_near(above.cost, below.cost, 1e-9 * (1 + below.cost), "the cost across a kink");
            check_near(joint_terms_impulse(&above), joint_terms_impulse(&below), 1e-8, "the impulse across a kink");
        }
    }
}

Test(joint_law, a_drive_keeps_its_effort_limit) {
    JointLaw t = drive_law(3, 2, 1.5);
    const int acts = JOINT_ALL | JOINT_COST_AT_TARGET;
    JointTerms inside = joint_law_evaluate(&t, acts, 1.25); /* y = 0.5 */
    check_digits(inside.drive, joint_h * 0.5, "the impulse inside the limit");
    check_digits(inside.cost, joint_h / 2 * 0.125, "the cost inside the limit");
    check_digits(inside.hessian, joint_h * 2, "the curvature inside the limit");
    JointTerms above = joint_law_evaluate(&t, acts, -1); /* y = 5 */
    check_digits(above.drive, joint_h * 1.5, "the impulse above the limit");
    check_digits(above.cost, joint_h / 2 * 1.5 * (5 - 0.75), "the cost above the limit");
    cr_assert_eq(above.hessian, 0);
    check_digits(joint_law_evaluate(&t, JOINT_ALL, 4).drive, -joint_h * 1.5, "the impulse below the limit");
}

/* The two costs differ by a constant, the cost of the drive at rest. */
Test(joint_law, the_cost_of_a_drive_is_0_at_rest_or_with_compat_at_its_target) {
    Random random = random_seed(13);
    for (int i = 0; i < cases(2000); i++) {
        JointLaw t = random_joint_law(&random, DRIVE);
        double v = random_between(&random, -2, 2);
        const int compat = JOINT_ALL | JOINT_COST_AT_TARGET;
        double here = joint_law_evaluate(&t, compat, v).cost, rest = joint_law_evaluate(&t, compat, 0).cost;
        cr_assert_eq(joint_law_evaluate(&t, JOINT_ALL, 0).cost, 0);
        cr_assert_eq(joint_law_evaluate(&t, compat, t.drive_vhat).cost, 0);
        check_near(joint_law_evaluate(&t, JOINT_ALL, v).cost, here - rest, 1e-14 * (here + rest), "the cost from rest");
    }
}

Test(joint_law, limits_only_push_away_and_friction_keeps_its_bound) {
    Random random = random_seed(12);
    for (int i = 0; i < cases(20000); i++) {
        double v = random_between(&random, -2, 2);
        JointLaw t = random_joint_law(&random, LOWER);
        cr_assert_geq(joint_law_evaluate(&t, JOINT_ALL, v).limit, 0);
        t = random_joint_law(&random, UPPER);
        cr_assert_leq(joint_law_evaluate(&t, JOINT_ALL, v).limit, 0);
        t = random_joint_law(&random, FRICTION);
        JointTerms f = joint_law_evaluate(&t, JOINT_ALL, v);
        cr_assert_leq(fabs(f.friction), t.friction_bound);
        cr_assert_leq(f.friction * v, 0);
    }
}

Test(joint_law, a_dof_without_terms_gives_zeros) {
    JointLaw none = {0};
    const double v[] = {0, 1, -1, 1e6};
    for (int i = 0; i < 4; i++) {
        JointTerms t = joint_law_evaluate(&none, JOINT_ALL, v[i]);
        cr_assert(t.drive == 0 && t.limit == 0 && t.friction == 0 && t.cost == 0 && t.hessian == 0);
    }
}

/* Terms that act in another world of the pack are evaluated for all of its worlds. */
Test(joint_law, a_dof_keeps_its_region_at_terms_that_do_not_act) {
    JointLaw none = {0};
    cr_expect(joint_law_keeps(&none, JOINT_ALL, -1, 2));
    JointLaw lower = {.lower_vhat = 0.5, .lower_inv_R = 10};
    cr_expect(joint_law_keeps(&lower, JOINT_ALL, -1, 0.25));
    cr_expect(!joint_law_keeps(&lower, JOINT_ALL, -1, 2));
    JointLaw upper = {.upper_vhat = -0.5, .upper_inv_R = 10};
    cr_expect(joint_law_keeps(&upper, JOINT_ALL, -0.25, 2));
    cr_expect(!joint_law_keeps(&upper, JOINT_ALL, -1, 2));
}

Test(joint_law, a_limit_acts_inside_its_window_and_is_softened_to_near_rigid) {
    real vhat, inv_R;
    joint_limit_make(0.01, 1000, 20, 2, 0.005, 0.011, &vhat, &inv_R);
    check_digits(vhat, -0.01 / 0.025, "vhat");
    check_digits(inv_R, 0.005 * 1000 * 0.025, "1/R");
    joint_limit_make(0.01, 1000, 20, 2, 0.005, 0.009, &vhat, &inv_R);
    cr_assert(vhat == 0 && inv_R == 0, "a limit out of reach acts");
    joint_limit_make(-0.01, 0, 20, 2, 0.005, 1, &vhat, &inv_R);
    cr_assert(vhat == 0 && inv_R == 0, "a limit without stiffness acts");
    joint_limit_make(INFINITY, 1000, 20, 2, 0.005, 1, &vhat, &inv_R);
    cr_assert(vhat == 0 && inv_R == 0, "an infinite limit acts");
    joint_limit_make(-0.01, 1e12, 0, 2, 0.005, 0, &vhat, &inv_R);
    check_digits(inv_R, 4 * M_PI * M_PI / (0.01 * 2), "1/R near rigid");
}
