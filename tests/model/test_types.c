/* The tables of joint and shape types: every type has a row of its own, and its row is complete. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include "host/model/joint_types.h"
#include "host/model/shape_types.h"

Test(types, every_joint_type_has_a_row_found_by_number_and_by_each_of_its_names) {
    for (int i = 0; i < SAP_NUM_JOINT_TYPES; i++) {
        const SapJointTypeRow *row = &sap_joint_types[i];
        cr_assert_eq(sap_joint_type(sap_joint_type_at(i)), row);
        cr_assert_str_eq(sap_joint_type_name((int32_t)row->type), row->names[0]);
        for (int k = 0; row->names[k] != NULL; k++) {
            cr_expect_eq(sap_joint_type_named(row->names[k]), row, "%s", row->names[k]);
            cr_expect(strstr(sap_joint_type_list().text, row->names[k]), "%s", row->names[k]);
        }
    }
    cr_assert_eq(sap_joint_type_at(SAP_NUM_JOINT_TYPES), -1);
    cr_assert_eq(sap_joint_type_at(-1), -1);
    cr_assert_null(sap_joint_type(5));
    cr_assert_null(sap_joint_type_name(99));
    cr_assert_null(sap_joint_type_named("Free"));
}

Test(types, every_shape_type_has_a_row_found_by_number_and_by_each_of_its_names) {
    for (int i = 0; i < SAP_NUM_SHAPE_TYPES; i++) {
        const SapShapeTypeRow *row = &sap_shape_types[i];
        cr_assert_eq(sap_shape_type(sap_shape_type_at(i)), row);
        cr_assert_str_eq(sap_shape_type_name((int32_t)row->type), row->names[0]);
        for (int k = 0; row->names[k] != NULL; k++) {
            cr_expect_eq(sap_shape_type_named(row->names[k]), row, "%s", row->names[k]);
            cr_expect(strstr(sap_shape_type_list().text, row->names[k]), "%s", row->names[k]);
        }
    }
    cr_assert_eq(sap_shape_type_at(SAP_NUM_SHAPE_TYPES), -1);
    cr_assert_eq(sap_shape_type_at(-1), -1);
    cr_assert_null(sap_shape_type(8));
    cr_assert_null(sap_shape_type_name(0));
    cr_assert_null(sap_shape_type_named("torus"));
}

Test(types, lists_have_numbers_and_aliases) {
    cr_assert(strstr(sap_joint_type_list().text, "free, revolute (hinge), ball, prismatic (slide, slider), fixed"));
    cr_assert(strstr(sap_joint_type_numbers().text, "4 free, 1 revolute, 2 ball, 0 prismatic, 3 fixed, 6 d6"));
    cr_assert(strstr(sap_shape_type_list().text, "hull (mesh, convex_hull), height_field (heightfield, hfield)"));
    cr_assert(strstr(sap_shape_type_numbers().text, "1 plane, 7 box, 3 sphere"));
}

Test(types, a_solid_with_sizes_has_keys_a_mass_and_a_bound_and_the_bound_holds_its_sizes) {
    for (int i = 0; i < SAP_NUM_SHAPE_TYPES; i++) {
        const SapShapeTypeRow *row = &sap_shape_types[i];
        cr_assert(row->points >= 1, "%s", row->names[0]);
        if (row->data != SAP_SHAPE_DATA_NONE || row->num_sizes == 0)
            continue;
        int32_t type = (int32_t)row->type;
        const double size[3] = {0.3, 0.2, 0.1};
        SapModelArrays model = {.num_shapes = 1, .shape_type = &type, .shape_scale = size};
        double bound[4];
        sap_shape_bound(&model, 0, bound);
        for (int k = 0; k < row->num_sizes; k++) {
            cr_expect_not_null(row->size_keys[k], "%s", row->names[0]);
            cr_expect(bound[3] + fabs(bound[2]) >= size[k], "%s", row->names[0]);
        }
        cr_expect(sap_shape_mass(row->type, size, 1000).mass > 0, "%s", row->names[0]);
    }
}
