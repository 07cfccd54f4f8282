/* Mass properties against integrals by summation, and against each other. */
#include <math.h>

#include <criterion/criterion.h>

#include "host/model/shape_types.h"

static const double pi = 3.14159265358979323846;

/* Whether the point (x, y, z) is inside of the shape. */
static bool inside(SapShapeType type, const double *s, double x, double y, double z) {
    double rr = x * x + y * y, cap = fmax(fabs(z) - s[1], 0), cone = s[0] * (s[1] - z) / (2 * s[1]);
    switch (type) {
    case SAP_SHAPE_BOX: return fabs(x) <= s[0] && fabs(y) <= s[1] && fabs(z) <= s[2];
    case SAP_SHAPE_SPHERE: return rr + z * z <= s[0] * s[0];
    case SAP_SHAPE_ELLIPSOID: return x * x / (s[0] * s[0]) + y * y / (s[1] * s[1]) + z * z / (s[2] * s[2]) <= 1;
    case SAP_SHAPE_CYLINDER: return rr <= s[0] * s[0] && fabs(z) <= s[1];
    case SAP_SHAPE_CAPSULE: return rr + cap * cap <= s[0] * s[0];
    case SAP_SHAPE_CONE: return fabs(z) <= s[1] && rr <= cone * cone;
    case SAP_SHAPE_PLANE:
    case SAP_SHAPE_HEIGHT_FIELD:
    case SAP_SHAPE_HULL: break;
    }
    return false;
}

/* The integrals over the shape by the midpoint rule on a grid of cells. */
static SapMassProperties by_summation(SapShapeType type, const double *scale, double density) {
    enum { CELLS = 120 };
    const double reach = 0.5, step = 2 * reach / CELLS;
    double m = 0, first[3] = {0}, second[9] = {0};
    for (int i = 0; i < CELLS; i++)
        for (int j = 0; j < CELLS; j++)
            for (int k = 0; k < CELLS; k++) {
                double r[3] = {(i + 0.5) * step - reach, (j + 0.5) * step - reach, (k + 0.5) * step - reach};
                if (!inside(type, scale, r[0], r[1], r[2]))
                    continue;
                double dm = density * step * step * step;
                m += dm;
                for (int a = 0; a < 3; a++) {
                    first[a] += dm * r[a];
                    for (int b = 0; b < 3; b++)
                        second[3 * a + b] += dm * r[a] * r[b];
                }
            }
    SapMassProperties out = {.mass = m};
    double trace = 0;
    for (int a = 0; a < 3; a++) {
        out.com[a] = first[a] / m;
        trace += second[4 * a] - m * out.com[a] * out.com[a];
    }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            out.inertia[3 * a + b] = (a == b ? trace : 0) - (second[3 * a + b] - m * out.com[a] * out.com[b]);
    return out;
}

static void expect_close(const SapMassProperties *a, const SapMassProperties *b, double tolerance, const char *what) {
    double inertia_scale = b->inertia[0] + b->inertia[4] + b->inertia[8];
    cr_expect_float_eq(a->mass, b->mass, tolerance * b->mass, "%s: mass %g, not %g", what, a->mass, b->mass);
    for (int i = 0; i < 3; i++)
        cr_expect_float_eq(a->com[i], b->com[i], tolerance, "%s: com[%d] %g, not %g", what, i, a->com[i], b->com[i]);
    for (int i = 0; i < 9; i++)
        cr_expect_float_eq(a->inertia[i], b->inertia[i], tolerance * inertia_scale, "%s: inertia[%d] %g, not %g", what,
                           i, a->inertia[i], b->inertia[i]);
}

Test(inertia, of_every_shape_is_the_integral_over_it) {
    const struct {
        const char *name;
        SapShapeType type;
        double scale[3];
    } shapes[] = {
        {"box", SAP_SHAPE_BOX, {0.4, 0.3, 0.2}},
        {"sphere", SAP_SHAPE_SPHERE, {0.4}},
        {"ellipsoid", SAP_SHAPE_ELLIPSOID, {0.4, 0.3, 0.2}},
        {"cylinder", SAP_SHAPE_CYLINDER, {0.3, 0.4}},
        {"capsule", SAP_SHAPE_CAPSULE, {0.2, 0.25}},
        {"cone", SAP_SHAPE_CONE, {0.4, 0.3}},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        SapMassProperties exact = sap_shape_mass(shapes[i].type, shapes[i].scale, 700);
        SapMassProperties sum = by_summation(shapes[i].type, shapes[i].scale, 700);
        /* The sum is off by the cells that the surface cuts: the sides of the box at 0.4 lie on cell borders. */
        expect_close(&exact, &sum, 3e-3, shapes[i].name);
    }
}

Test(inertia, of_a_plane_is_nothing) {
    SapMassProperties plane = sap_shape_mass(SAP_SHAPE_PLANE, (double[3]){1, 1, 1}, 1000);
    cr_expect_eq(plane.mass, 0);
    cr_expect_eq(plane.inertia[0], 0);
}

Test(inertia, of_a_capsule_without_middle_is_that_of_a_sphere) {
    SapMassProperties capsule = sap_shape_mass(SAP_SHAPE_CAPSULE, (double[3]){0.3, 1e-300}, 1000);
    SapMassProperties sphere = sap_shape_mass(SAP_SHAPE_SPHERE, (double[3]){0.3}, 1000);
    expect_close(&capsule, &sphere, 1e-15, "capsule");
    cr_expect_float_eq(sphere.mass, 4.0 / 3.0 * pi * 27, 1e-12);
    cr_expect_float_eq(sphere.inertia[4], 0.4 * sphere.mass * 0.09, 1e-15);
}

Test(inertia, of_two_half_boxes_is_that_of_the_whole) {
    const double upper[7] = {0, 0, 0.15, 0, 0, 0, 1}, lower[7] = {0, 0, -0.15, 0, 0, 0, 1};
    SapMassProperties whole = sap_shape_mass(SAP_SHAPE_BOX, (double[3]){0.1, 0.2, 0.3}, 1000);
    SapMassProperties half = sap_shape_mass(SAP_SHAPE_BOX, (double[3]){0.1, 0.2, 0.15}, 1000);
    SapMassProperties total = {0}, part = sap_mass_moved(&half, upper);
    sap_mass_add(&total, &part);
    expect_close(&total, &part, 0, "the first part");
    part = sap_mass_moved(&half, lower);
    sap_mass_add(&total, &part);
    expect_close(&total, &whole, 1e-15, "two halves");
}

Test(inertia, does_not_depend_on_the_order_of_the_parts) {
    const double a_pose[7] = {0.1, -0.2, 0.3, 0.5, 0.5, 0.5, 0.5}, b_pose[7] = {-0.3, 0, 0.1, 0.6, 0, 0, 0.8};
    SapMassProperties cone = sap_shape_mass(SAP_SHAPE_CONE, (double[3]){0.1, 0.2}, 500);
    SapMassProperties box = sap_shape_mass(SAP_SHAPE_BOX, (double[3]){0.1, 0.2, 0.3}, 900);
    SapMassProperties a = sap_mass_moved(&cone, a_pose), b = sap_mass_moved(&box, b_pose);
    SapMassProperties ab = a, ba = b;
    sap_mass_add(&ab, &b);
    sap_mass_add(&ba, &a);
    expect_close(&ab, &ba, 1e-14, "cone and box");
}

Test(inertia, turns_with_the_shape) {
    /* A quarter turn about x swaps y and z; the result is symmetric in every bit for any turn. */
    const double s = sqrt(0.5), quarter[7] = {1, 2, 3, s, 0, 0, s}, any[7] = {0, 0, 0, 0.1, 0.7, -0.1, 0.7};
    SapMassProperties cone = sap_shape_mass(SAP_SHAPE_CONE, (double[3]){0.3, 0.2}, 1000);
    SapMassProperties turned = sap_mass_moved(&cone, quarter);
    cr_expect_float_eq(turned.inertia[4], cone.inertia[8], 1e-12);
    cr_expect_float_eq(turned.inertia[8], cone.inertia[4], 1e-12);
    cr_expect_float_eq(turned.com[1], 2 + 0.1, 1e-12);
    cr_expect_float_eq(turned.com[2], 3, 1e-12);
    SapMassProperties odd = sap_shape_mass(SAP_SHAPE_BOX, (double[3]){0.1, 0.2, 0.3}, 1000);
    odd = sap_mass_moved(&odd, any);
    cr_expect_eq(odd.inertia[1], odd.inertia[3]);
    cr_expect_eq(odd.inertia[2], odd.inertia[6]);
    cr_expect_eq(odd.inertia[5], odd.inertia[7]);
    cr_expect_neq(odd.inertia[1], 0);
}

Test(inertia, of_massless_parts_adds_up) {
    SapMassProperties total = {.inertia = {[0] = 1, [4] = 1, [8] = 1}}, part = {.com = {5, 5, 5}};
    sap_mass_add(&total, &part);
    cr_expect_eq(total.mass, 0);
    cr_expect_eq(total.com[0], 0);
    cr_expect_eq(total.inertia[0], 1);
}
