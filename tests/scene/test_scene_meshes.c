/* Scene files: meshes and height fields, in the scene or in files beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/scene_text.h"

#define CUBE                                                                                                           \
    "[[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1], [-1, -1, 1], [1, -1, 1], [-1, 1, 1], [1, 1, 1], [0, 0, 0]]"
#define GROUND_SHAPE(keys) HEAD BALL FREE "post_build: [{op: add_shape, " keys "}]\n"

/* Writes a file beside the scene; the caller removes it. */
static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

Test(scene, meshes_are_their_convex_hulls_and_weigh_so) {
    SapScene *scene =
        parse(HEAD "bodies:\n"
                   "- {id: a, shapes: [{type: mesh, vertices: " CUBE ", scale: [1, 2, 3], density: 10}]}\n"
                   "- {id: b, shapes: [{type: hull, vertices: " CUBE ", scale: 0.5, transform: {p: [1, 0, 0]}}]}\n"
                   "- {id: c, shapes: [{type: convex_hull, vertices: " CUBE ", is_site: true},\n"
                   "   {type: sphere, radius: 1}]}\n"
                   "joints: [{id: j, type: free, child: a}, {id: k, type: free, child: b}, {id: l, type: "
                   "free, child: c}]\n");
    const SapModelArrays *a = arrays_of(scene);
    cr_assert_eq(a->num_meshes, 3);
    cr_assert_eq(a->num_mesh_vertices, 24, "the point inside is no vertex");
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(a->shape_type[i], SAP_SHAPE_HULL);
        cr_expect_eq(a->shape_mesh[i], i);
        cr_expect_eq(a->mesh_start[i], 8 * i);
    }
    cr_expect(a->shape_scale[0] == 1 && a->shape_scale[1] == 2 && a->shape_scale[2] == 3 && a->shape_scale[5] == 0.5);
    cr_expect(a->shape_scale[6] == 1 && a->shape_mesh[3] == -1);
    cr_expect_float_eq(a->body_mass[0], 10 * 48, 1e-10);
    cr_expect_float_eq(a->body_inertia[0], 10 * 48 * (4 + 9) / 3.0, 1e-9);
    cr_expect_float_eq(a->body_mass[1], 1000, 1e-10);
    cr_expect_float_eq(a->body_com[3], 1, 1e-14);
    cr_expect_float_eq(a->body_mass[2], 1000 * 4 / 3.0 * 3.14159265358979323846, 1e-9, "sites do not weigh");
    sap_scene_destroy(scene);
}

Test(scene, mesh_files_are_found_beside_the_scene_and_read_once) {
    char folder[] = "/tmp/sapwood_scene_XXXXXX", scene_path[64], mesh_path[64], grid_path[64];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(scene_path, sizeof scene_path, "%s/scene.yaml", folder);
    snprintf(mesh_path, sizeof mesh_path, "%s/part.obj", folder);
    snprintf(grid_path, sizeof grid_path, "%s/hills.txt", folder);
    write_text(mesh_path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.1 0.1 0.1\n");
    write_text(grid_path, "0 1 2\n3 4 5\n");
    write_text(scene_path,
               HEAD "bodies: [{id: a, shapes: [{type: mesh, file: part.obj}, {type: mesh, file: part.obj, scale: "
                    "2}]}]\njoints: [{id: j, type: free, child: a}]\n"
                    "post_build: [{op: add_shape, type: height_field, hx: 3, hy: 2, file: hills.txt}]\n");
    SapScene *scene = load(scene_path);
    const SapModelArrays *a = arrays_of(scene);
    cr_expect(a->num_meshes == 1 && a->num_mesh_vertices == 4 && a->shape_mesh[0] == 0 && a->shape_mesh[1] == 0);
    cr_expect_float_eq(a->body_mass[0], 1000 / 6.0 * 9, 1e-10);
    cr_expect(a->num_height_fields == 1 && a->height_field_size[0] == 2 && a->height_field_size[1] == 3);
    cr_expect(a->num_heights == 6 && a->heights[5] == 5);
    sap_scene_destroy(scene);
    write_text(mesh_path, "v 0 0 0\nv 1 0 x\n");
    cr_expect_eq(sap_scene_load(scene_path, &scene), SAP_ERROR_PARSE);
    cr_expect_not_null(strstr(sap_error_message(), "/scene.yaml:2: file: "), "%s", sap_error_message());
    cr_expect_not_null(strstr(sap_error_message(), "/part.obj:2: number 3 is not a number"), "%s", sap_error_message());
    remove(mesh_path);
    cr_expect_eq(sap_scene_load(scene_path, &scene), SAP_ERROR_IO);
    cr_expect_not_null(strstr(sap_error_message(), "'part.obj': no such file"), "%s", sap_error_message());
    remove(grid_path);
    remove(scene_path);
    remove(folder);
}

Test(scene, height_fields_have_their_sizes_and_heights) {
    SapScene *scene = parse(GROUND_SHAPE("type: height_field, hx: 4, hy: 3, heights: [[1, 2, 3], [4, 5, 6]], base: 10, "
                                         "height_scale: 2"));
    const SapModelArrays *a = arrays_of(scene);
    cr_assert(a->shape_type[1] == SAP_SHAPE_HEIGHT_FIELD && a->shape_body[1] == -1 && a->shape_mesh[1] == 0);
    cr_expect(a->shape_scale[3] == 4 && a->shape_scale[4] == 3);
    cr_expect(a->height_field_size[0] == 2 && a->height_field_size[1] == 3);
    for (int i = 0; i < 6; i++)
        cr_expect_eq(a->heights[i], 10 + 2 * (i + 1));
    sap_scene_destroy(scene);
}

Test(scene, height_fields_have_grids_to_choose) {
    SapScene *scene =
        parse(GROUND_SHAPE("type: height_field, hx: 4, hy: 3, heights: [[1, 2], [3, 4]], height_scale: 2, "
                           "choices: [[[5, 6, 7], [8, 9, 10]], [[1, 1], [1, 1]]]"));
    const SapModelArrays *a = arrays_of(scene);
    cr_assert(a->num_height_fields == 3 && a->num_heights == 14 && a->shape_mesh[1] == 0);
    cr_expect(a->height_field_size[2] == 2 && a->height_field_size[3] == 3 && a->height_field_size[4] == 2);
    for (int i = 0; i < 10; i++)
        cr_expect_eq(a->heights[i], 2 * (i + 1));
    sap_scene_destroy(scene);
    EXPECT_FAILURES({GROUND_SHAPE("type: height_field, hx: 4, hy: 3, heights: [[1, 2], [3, 4]], choices: 3"),
                     "scene.yaml:4: choices: ",
                     {"'3'", "a list of grids"}},
                    {GROUND_SHAPE("type: height_field, hx: 4, hy: 3, heights: [[1, 2], [3, 4]], choices: [[[1, 2]]]"),
                     "scene.yaml:4: choices[0]: ",
                     {"2 or more rows"}});
}

Test(scene, refuses_wrong_meshes) {
    EXPECT_FAILURES(
        {GROUND_SHAPE("type: mesh"), "scene.yaml:4: post_build[0]: ", {"'file' or 'vertices' is missing"}},
        {GROUND_SHAPE("type: mesh, file: a.obj, vertices: " CUBE), "scene.yaml:4: vertices: ", {"'file' in line 4"}},
        {GROUND_SHAPE("type: mesh, vertices: 3"), "scene.yaml:4: vertices: ", {"'3'", "a list of vectors"}},
        {GROUND_SHAPE("type: mesh, vertices: []"), "scene.yaml:4: vertices: ", {"a list of vectors"}},
        {GROUND_SHAPE("type: mesh, vertices: [[1, 2]]"), "scene.yaml:4: vertices[0]: ", {"3 numbers"}},
        {GROUND_SHAPE("type: mesh, vertices: [[1, 2, 3]]"), "scene.yaml:4: post_build[0]: ", {"1 vertex", "4 or more"}},
        {GROUND_SHAPE("type: mesh, vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]"),
         "scene.yaml:4: post_build[0]: ",
         {"in a plane"}},
        {GROUND_SHAPE("type: mesh, vertices: " CUBE ", scale: 0"), "scene.yaml:4: scale: ", {"of x is 0", "> 0"}},
        {GROUND_SHAPE("type: mesh, vertices: " CUBE ", scale: [1, 2, -3]"), "scene.yaml:4: scale: ", {"of z is -3"}},
        {GROUND_SHAPE("type: mesh, vertices: " CUBE ", scale: [1, 2]"), "scene.yaml:4: scale: ", {"3 numbers"}}, );
}

Test(scene, refuses_unknown_mesh_formats) {
    EXPECT_UNSUPPORTED(
        {GROUND_SHAPE("type: mesh, file: LICENSE"), "scene.yaml:4: file: ", {"LICENSE", ".obj, .stl"}}, );
}

Test(scene, refuses_wrong_height_fields) {
    EXPECT_FAILURES(
        {GROUND_SHAPE("type: hfield, hy: 1, heights: [[1, 2], [3, 4]]"),
         "scene.yaml:4: post_build[0]: ",
         {"'hx' is missing"}},
        {GROUND_SHAPE("type: hfield, hx: 0, hy: 1, heights: [[1, 2], [3, 4]]"), "scene.yaml:4: hx: ", {"'0'", "> 0"}},
        {GROUND_SHAPE("type: hfield, hx: 1, hy: 1"), "scene.yaml:4: post_build[0]: ", {"'file' or 'heights'"}},
        {GROUND_SHAPE("type: hfield, hx: 1, hy: 1, heights: [[1, 2]]"), "scene.yaml:4: heights: ", {"2 or more rows"}},
        {GROUND_SHAPE("type: hfield, hx: 1, hy: 1, heights: [[1], [2]]"),
         "scene.yaml:4: heights[0]: ",
         {"2 or more numbers"}},
        {GROUND_SHAPE("type: hfield, hx: 1, hy: 1, heights: [[1, 2], [3]]"),
         "scene.yaml:4: heights[1]: ",
         {"as many numbers as the first"}},
        {GROUND_SHAPE("type: hfield, hx: 1, hy: 1, heights: [[1, 2], [3, inf]]"), "scene.yaml:4: ", {"'inf'"}},
        {GROUND_SHAPE("type: hfield, hx: 1, hy: 1, file: README.md"),
         "scene.yaml:4: file: README.md:3: ",
         {"number 1 is not a number"}}, );
}
