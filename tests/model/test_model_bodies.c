/* Models: inertias of bodies and sizes of shapes; one test per rule, each with the message it must give. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/model_refusal.h"

TestSuite(model, .init = setup);

/* ---- inertia ---- */

Test(model, refuses_inertia_that_is_not_symmetric) {
    sample.inertia[3][1] += 0.24e-9; /* the largest entry is 0.25 */
    sap_model_destroy(create(&sample.arrays));
    sample.inertia[3][1] += 0.02e-9;
    REFUSED("body_inertia[3] of body 3 ('arm')", "row 0, column 1", "symmetric to 1e-9");
    setup();
    sample.inertia[3][2] = 0.01;
    REFUSED("has 0.01 at row 0, column 2 and 0 at row 2, column 0");
    setup();
    sample.inertia[3][7] = 0.01;
    REFUSED("has 0 at row 1, column 2 and 0.01 at row 2, column 1");
}

static void set_diagonal(int body, double xx, double yy, double zz) {
    memset(sample.inertia[body], 0, sizeof sample.inertia[body]);
    sample.inertia[body][0] = xx;
    sample.inertia[body][4] = yy;
    sample.inertia[body][8] = zz;
}

Test(model, refuses_inertia_that_is_not_positive_definite) {
    set_diagonal(2, 1, 0, 1);
    REFUSED("body_inertia[2] of body 2 ('foot')", "0, 1, 1", "positive definite");
    set_diagonal(2, -1, 1, 1);
    REFUSED("body_inertia[2]", "-1, 1, 1", "positive definite");
    set_diagonal(2, 0, 0, 0);
    REFUSED("body_inertia[2]", "0, 0, 0", "positive definite");
    set_diagonal(2, 1, 1, 1);
    sample.inertia[2][1] = sample.inertia[2][3] = 1; /* singular, though its diagonal is not */
    REFUSED("body_inertia[2]", "positive definite");
}

Test(model, refuses_inertia_that_no_mass_can_have) {
    set_diagonal(5, 3.1, 1, 2);
    REFUSED("body_inertia[5] of body 5 ('pole')", "1, 2, 3.1", "triangle inequality");
    set_diagonal(5, 3 * (1 + 2e-9), 1, 2);
    REFUSED("triangle inequality");
}

Test(model, refuses_a_mass_and_an_inertia_of_the_last_body) {
    sample.mass[SAMPLE_NB - 1] = 0;
    REFUSED("body_mass[6] of body 6 ('cart') is 0", "> 0");
    setup();
    set_diagonal(SAMPLE_NB - 1, 3.1, 1, 2);
    REFUSED("body_inertia[6] of body 6 ('cart')", "triangle inequality");
}

Test(model, accepts_flat_thin_small_and_large_bodies) {
    set_diagonal(0, 1, 2, 3);                /* a plate: the bound itself */
    set_diagonal(1, 3 * (1 + 0.5e-9), 2, 1); /* a plate with rounding */
    set_diagonal(2, 1e-9, 1, 1);             /* a rod */
    set_diagonal(3, 1e-200, 2e-200, 2e-200); /* no scale is built in */
    set_diagonal(4, 1e200, 2e200, 2e200);
    sap_model_destroy(create(&sample.arrays));
}

Test(model, the_principal_moments_decide_not_the_diagonal) {
    /* Moments 1, 1, 2.5 turned by 45 degrees about y: the diagonal (1.75, 1, 1.75) alone would pass. */
    set_diagonal(5, 1.75, 1, 1.75);
    sample.inertia[5][2] = sample.inertia[5][6] = 0.75;
    REFUSED("body_inertia[5]", "1, 1, 2.5", "triangle inequality");
}

/* ---- warnings ---- */

/* Body 0 as a ball of 1 kg and 0.1 m; a solid one has 0.004 kg m^2. */
static SapModel *ball_with(double xx, double yy, double zz) {
    sample.shape_type[1] = SAP_SHAPE_SPHERE;
    sample.shape_scale[1][0] = 0.1;
    sample.mass[0] = 1;
    set_diagonal(0, xx, yy, zz);
    return create(&sample.arrays);
}

Test(model, warns_of_inertias_a_hundred_times_less_than_those_of_the_shapes) {
    SapModel *model = ball_with(4e-3, 4e-3, 4e-3);
    cr_expect_null(sap_model_warning(model, 0), "%s", sap_model_warning(model, 0));
    sap_model_destroy(model);
    model = ball_with(4.01e-5, 4.01e-5, 4.01e-5);
    cr_expect_null(sap_model_warning(model, 0), "%s", sap_model_warning(model, 0));
    sap_model_destroy(model);
    model = ball_with(4e-3, 3.99e-5, 4e-3);
    const char *text = sap_model_warning(model, 0);
    cr_assert_not_null(text);
    cr_expect(strstr(text, "body 0 ('torso')") && strstr(text, "about y is 3.99e-05 kg m^2"), "%s", text);
    cr_expect(strstr(text, "100 times less") && strstr(text, "above 100 "), "%s", text);
    cr_expect_null(sap_model_warning(model, 1));
    cr_expect_null(sap_model_warning(model, -1));
    cr_expect_null(sap_model_warning(NULL, 0));
    sap_model_destroy(model);
}

/* The lever of a shape beside the centre of mass counts: 0.4 m for axes across it. */
Test(model, warns_of_small_inertias_of_shapes_far_from_the_centre_of_mass) {
    double transforms[SAMPLE_NS][7] = {0};
    for (int s = 0; s < SAMPLE_NS; s++)
        transforms[s][6] = 1;
    transforms[1][0] = 0.4;
    sample.arrays.shape_transform = transforms[0];
    SapModel *model = ball_with(1e-3, 1e-3, 1e-3);
    cr_assert_not_null(sap_model_warning(model, 0));
    cr_expect(strstr(sap_model_warning(model, 0), "164 times less"), "%s", sap_model_warning(model, 0));
    sap_model_destroy(model);
    int32_t flags[SAMPLE_NS] = {0}; /* what does not collide does not count */
    sample.arrays.shape_flags = flags;
    model = ball_with(1e-3, 1e-3, 1e-3);
    cr_expect_null(sap_model_warning(model, 0));
    sap_model_destroy(model);
}

Test(model, warns_of_nothing_in_a_rod_and_a_plate) {
    sample.shape_type[1] = SAP_SHAPE_CAPSULE;
    sample.shape_scale[1][0] = 0.001;
    sample.shape_scale[1][1] = 1;
    sample.shape_type[2] = SAP_SHAPE_BOX;
    memcpy(sample.shape_scale[2], (double[]){1, 1, 0.001}, sizeof sample.shape_scale[2]);
    sample.mass[0] = sample.mass[1] = 1;
    set_diagonal(0, 1 / 3.0, 1 / 3.0, 5e-7);
    set_diagonal(1, 1 / 3.0, 1 / 3.0, 2 / 3.0);
    SapModel *model = create(&sample.arrays);
    cr_expect_null(sap_model_warning(model, 0), "%s", sap_model_warning(model, 0));
    sap_model_destroy(model);
}

/* ---- shapes ---- */

Test(model, refuses_unknown_shape_types) {
    static const int32_t bad[] = {-1, 0, 8, 11, INT32_MIN, INT32_MAX};
    for (int i = 0; i < 6; i++) {
        char value[64];
        sample.shape_type[3] = bad[i];
        snprintf(value, sizeof value, "shape_type[3] of shape 3 ('shape_3') is %d", bad[i]);
        REFUSED(value, "5 ellipsoid");
    }
}

Test(model, refuses_sizes_that_are_not_positive_where_they_are_used) {
    static const int used[SAMPLE_NS] = {0, 1, 2, 3, 2, 3, 2}; /* plane .. cone */
    for (int s = 0; s < SAMPLE_NS; s++)
        for (int k = 0; k < 3; k++) {
            char place[64];
            setup();
            sample.shape_scale[s][k] = -0.5;
            if (k >= used[s] && (s > 0 || k == 2)) { /* planes have extents */
                sap_model_destroy(create(&sample.arrays));
                continue;
            }
            if (k >= used[s])
                continue;
            snprintf(place, sizeof place, "shape_scale[%d][%d] of shape %d ('shape_%d') is ", s, k, s, s);
            REFUSED(place, " -0.5; ", "> 0");
            sample.shape_scale[s][k] = 0;
            REFUSED(place, " 0; ", "> 0");
        }
}

Test(model, refuses_negative_extents_of_planes) {
    for (int k = 0; k < 2; k++) {
        setup();
        sample.shape_scale[0][k] = -0.5;
        REFUSED(k ? "shape_scale[0][1]" : "shape_scale[0][0]", " -0.5; ", ">= 0");
        sample.shape_scale[0][k] = 0.5;
        sap_model_destroy(create(&sample.arrays));
    }
}
