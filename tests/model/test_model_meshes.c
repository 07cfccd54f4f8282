/* Models: meshes, height fields, keyframes and filters; one test per rule, each with the message it must give. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/model/model.h"
#include "support/model_refusal.h"

TestSuite(model, .init = setup);

static const int32_t mesh_starts[] = {0, 4, 8};
static const int32_t grid_sizes[][2] = {{2, 2}, {2, 3}};
static double mesh_vertices[8][3], grid_heights[10], keyframe_q[2][SAMPLE_NQ];
static int32_t shape_meshes[SAMPLE_NS], some_starts[3], some_sizes[2][2];

/* Shape 3 is a hull of the second tetrahedron, shape 4 the second height field; two keyframes are the initial state. */
static void add_meshes(void) {
    static const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    setup();
    SapModelArrays *a = &sample.arrays;
    memcpy(mesh_vertices, corner, sizeof corner);
    memcpy(mesh_vertices[4], corner, sizeof corner);
    memcpy(some_starts, mesh_starts, sizeof mesh_starts);
    memcpy(some_sizes, grid_sizes, sizeof grid_sizes);
    memset(grid_heights, 0, sizeof grid_heights);
    memset(keyframe_q, 0, sizeof keyframe_q);
    for (int k = 0; k < 2; k++)
        keyframe_q[k][6] = keyframe_q[k][11] = 1;
    for (int s = 0; s < SAMPLE_NS; s++)
        shape_meshes[s] = s == 3 || s == 4 ? 1 : -1;
    sample.shape_type[3] = SAP_SHAPE_HULL;
    sample.shape_type[4] = SAP_SHAPE_HEIGHT_FIELD;
    a->shape_mesh = shape_meshes;
    a->num_meshes = a->num_height_fields = a->num_keyframes = 2;
    a->num_mesh_vertices = 8;
    a->num_heights = 10;
    a->mesh_start = some_starts;
    a->mesh_vertices = mesh_vertices[0];
    a->height_field_size = some_sizes[0];
    a->heights = grid_heights;
    a->keyframe_joint_q = keyframe_q[0];
}

Test(model, meshes_grids_and_keyframes_are_copied) {
    add_meshes();
    grid_heights[9] = 7;
    SapModel *model = create(&sample.arrays), *again;
    const SapModelArrays *a = sap_model_arrays(model);
    cr_assert(a->num_meshes == 2 && a->num_mesh_vertices == 8 && a->num_height_fields == 2 && a->num_heights == 10);
    cr_assert_eq(memcmp(a->mesh_start, mesh_starts, sizeof mesh_starts), 0);
    cr_assert_eq(memcmp(a->mesh_vertices, mesh_vertices, sizeof mesh_vertices), 0);
    cr_assert_eq(memcmp(a->height_field_size, grid_sizes, sizeof grid_sizes), 0);
    cr_assert(a->heights[9] == 7 && a->keyframe_joint_qd[2 * SAMPLE_NV - 1] == 0);
    cr_assert_str_eq(a->keyframe_name[1], "keyframe_1");
    again = create(a);
    cr_assert_null(sap_model_difference(model, again));
    ((double *)sap_model_arrays(again)->heights)[9] = 8;
    cr_assert_str_eq(sap_model_difference(model, again), "heights");
    sap_model_destroy(model);
    sap_model_destroy(again);
}

Test(model, without_meshes_their_arrays_are_empty) {
    SapModel *model = create(&sample.arrays);
    const SapModelArrays *a = sap_model_arrays(model);
    cr_assert(a->num_meshes == 0 && a->mesh_start[0] == 0 && a->num_keyframes == 0);
    for (int s = 0; s < SAMPLE_NS; s++)
        cr_assert_eq(a->shape_mesh[s], -1);
    for (int j = 0; j < SAMPLE_NJ; j++)
        cr_assert_eq(a->joint_filter_parent[j], 1);
    sap_model_destroy(model);
}

Test(model, refuses_missing_arrays_of_meshes_grids_and_keyframes) {
    static const char *const required[] = {"mesh_start", "mesh_vertices", "height_field_size", "heights",
                                           "keyframe_joint_q"};
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        char message[64];
        add_meshes();
        sap_model_field_set(&sample.arrays, sap_model_field(required[i]), NULL);
        snprintf(message, sizeof message, "%s is NULL; ", required[i]);
        REFUSED(message);
    }
    setup();
    sample.arrays.num_shape_filter_pairs = 1;
    REFUSED("shape_filter_pairs is NULL");
}

Test(model, refuses_wrong_mesh_starts) {
    add_meshes();
    some_starts[0] = 1;
    REFUSED("mesh_start[0] is 1", "must be 0");
    add_meshes();
    some_starts[1] = 9;
    REFUSED("mesh_start[2] is 8", "less than the one before, 9");
    add_meshes();
    some_starts[1] = INT_MIN;
    REFUSED("mesh_start[1] is -2147483648");
    add_meshes();
    some_starts[2] = 7;
    REFUSED("mesh_start[2] is 7", "num_mesh_vertices, 8");
}

Test(model, refuses_wrong_grids) {
    add_meshes();
    some_sizes[1][0] = 1;
    REFUSED("height_field_size[1] is (1, 3)", "2 or more");
    add_meshes();
    some_sizes[0][1] = -5;
    REFUSED("height_field_size[0] is (2, -5)", "2 or more");
    add_meshes();
    some_sizes[1][0] = some_sizes[1][1] = INT_MAX;
    REFUSED("height_field_size[1]", "more than num_heights, 10");
    add_meshes();
    some_sizes[1][1] = 2;
    REFUSED("num_heights is 10", "have 8");
    add_meshes();
    sample.arrays.num_heights = SAP_MAX_HEIGHTS + 1;
    REFUSED("num_heights is 67108865", "0 .. 67108864");
    add_meshes();
    grid_heights[7] = NAN;
    REFUSED("heights[7] of height field 1 is nan", "finite");
}

Test(model, refuses_wrong_meshes_and_names_the_shape) {
    add_meshes();
    mesh_vertices[6][1] = INFINITY;
    REFUSED("mesh_vertices[6][1] of mesh 1 is inf", "finite");
    add_meshes();
    some_starts[1] = 5;
    REFUSED("shape 3 ('shape_3'): mesh 1 has 3 vertices", "4 or more");
    add_meshes();
    mesh_vertices[7][2] = 0;
    REFUSED("shape 3 ('shape_3'): mesh 1: its 4 vertices lie in a plane");
    add_meshes();
    mesh_vertices[6][0] = mesh_vertices[7][0] = 2;
    mesh_vertices[6][1] = mesh_vertices[7][2] = 0;
    REFUSED("shape 3 ('shape_3'): mesh 1: its 4 vertices lie on a line");
}

Test(model, a_mesh_that_no_shape_uses_may_be_anything) {
    add_meshes();
    memset(mesh_vertices[0], 0, 4 * sizeof mesh_vertices[0]);
    sap_model_destroy(create(&sample.arrays));
}

Test(model, refuses_factors_of_a_hull_that_are_not_positive) {
    for (int k = 0; k < 3; k++) {
        char message[64];
        add_meshes();
        sample.shape_scale[3][k] = k == 0 ? 0 : -1;
        snprintf(message, sizeof message, "shape_scale[3][%d] of shape 3 ('shape_3') is ", k);
        REFUSED(message, "must be > 0");
    }
}

Test(model, refuses_shapes_without_their_mesh_and_meshes_without_their_shape) {
    add_meshes();
    shape_meshes[3] = -1;
    REFUSED("shape_mesh[3] of shape 3 ('shape_3') is -1", "a hull needs the index of its mesh", "there are 2");
    add_meshes();
    shape_meshes[3] = 2;
    REFUSED("shape_mesh[3]", "is 2");
    add_meshes();
    shape_meshes[4] = -1;
    REFUSED("shape_mesh[4] of shape 4 ('shape_4') is -1", "a height_field needs the index of its grid");
    add_meshes();
    sample.arrays.shape_mesh = NULL;
    REFUSED("shape_mesh[3] of shape 3 ('shape_3') is -1");
    add_meshes();
    shape_meshes[1] = 0;
    REFUSED("shape_mesh[1] of shape 1 ('shape_1') is 0", "must be -1");
}

Test(model, refuses_wrong_keyframes) {
    static const char *const names[] = {"home", "home"};
    add_meshes();
    sample.arrays.keyframe_name = names;
    REFUSED("keyframe_name[0] and keyframe_name[1] are both 'home'");
    add_meshes();
    keyframe_q[1][2] = NAN;
    REFUSED("keyframe_joint_q[21] of keyframe 1 ('keyframe_1') is nan");
    add_meshes();
    keyframe_q[1][6] = 2;
    REFUSED("keyframe_joint_q[22] of keyframe 1 ('keyframe_1') has the quaternion", "length 2");
}

Test(model, quaternions_of_keyframes_are_normalised) {
    add_meshes();
    keyframe_q[1][6] = 1 + 5e-7;
    SapModel *model = create(&sample.arrays);
    cr_assert_eq(sap_model_arrays(model)->keyframe_joint_q[SAMPLE_NQ + 6], 1);
    sap_model_destroy(model);
}

Test(model, refuses_filters_out_of_range) {
    static int32_t pairs[1][2] = {{0, SAMPLE_NS}}, flags[SAMPLE_NJ] = {[2] = 2};
    sample.arrays.num_shape_filter_pairs = 1;
    sample.arrays.shape_filter_pairs = pairs[0];
    REFUSED("shape_filter_pairs[0][1] of pair 0 is 7", "a shape index, 0 .. 6");
    setup();
    sample.arrays.joint_filter_parent = flags;
    REFUSED("joint_filter_parent[2] of joint 2 ('ankle') is 2", "0 or 1");
}
