/* Convex hulls: known solids, random points, noise, and what is refused; the masses of hulls against closed forms. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/model.h>
#include <sapwood/scene.h>

#include "host/model/hull.h"
#include "host/model/model.h"
#include "host/model/shape_types.h"
#include "support/random_model.h"

enum { MOST = 4000 };
static double points[MOST][3];

static SapHullShape hull_of(int n) {
    SapHullShape hull;
    cr_assert_eq(sap_hull_create(points[0], n, "mesh 7", &hull), SAP_OK, "%s", sap_error_message());
    return hull;
}

static void set_point(int i, double x, double y, double z) {
    points[i][0] = x;
    points[i][1] = y;
    points[i][2] = z;
}

/* The corners of a box, 8 points. */
static void set_box(double hx, double hy, double hz) {
    for (int i = 0; i < 8; i++)
        set_point(i, i & 1 ? hx : -hx, i & 2 ? hy : -hy, i & 4 ? hz : -hz);
}

static int edge_count(const SapHullShape *h, int from, int to) {
    int count = 0;
    for (int f = 0; f < h->num_faces; f++) {
        int begin = h->face_start[f], n = h->face_start[f + 1] - begin;
        for (int i = 0; i < n; i++)
            count += h->corner[begin + i] == from && h->corner[begin + (i + 1) % n] == to;
    }
    return count;
}

/* What every hull of n points is: a closed surface of planar convex faces with all points inside, in the promised
 * order. */
static void check_hull(const SapHullShape *h, int n, double tolerance) {
    double corner[MOST][3];
    cr_assert(h->num_vertices >= 4 && h->num_faces >= 4);
    cr_assert(h->face_start[0] == 0 && h->face_start[h->num_faces] == h->num_corners);
    cr_assert_eq(h->num_vertices - h->num_corners / 2 + h->num_faces, 2, "Euler's formula");
    for (int v = 0; v < h->num_vertices; v++) {
        cr_assert(h->vertex[v] >= 0 && h->vertex[v] < n && (v == 0 || h->vertex[v] > h->vertex[v - 1]));
        memcpy(corner[v], points[h->vertex[v]], sizeof corner[v]);
    }
    for (int f = 0; f < h->num_faces; f++) {
        int begin = h->face_start[f], count = h->face_start[f + 1] - begin;
        double plane[4];
        cr_assert_geq(count, 3);
        sap_face_plane(corner[0], h->corner + begin, count, plane);
        for (int i = 0; i < n; i++) {
            double d = plane[0] * points[i][0] + plane[1] * points[i][1] + plane[2] * points[i][2] - plane[3];
            cr_assert_leq(d, tolerance, "point %d is %g outside of face %d", i, d, f);
        }
        for (int i = 0; i < count; i++) {
            int v = h->corner[begin + i], w = h->corner[begin + (i + 1) % count];
            double d = plane[0] * corner[v][0] + plane[1] * corner[v][1] + plane[2] * corner[v][2] - plane[3];
            cr_assert_geq(d, -tolerance, "corner %d of face %d is %g below its plane", i, f, d);
            cr_assert(i == 0 || v > h->corner[begin], "the smallest corner is first");
            cr_assert(edge_count(h, v, w) == 1 && edge_count(h, w, v) == 1, "edge %d %d", v, w);
        }
        cr_assert(f == 0 || h->corner[begin] >= h->corner[h->face_start[f - 1]], "faces are in order");
    }
}

Test(hull, a_tetrahedron_has_four_triangles) {
    set_point(0, 0, 0, 0), set_point(1, 1, 0, 0), set_point(2, 0, 1, 0), set_point(3, 0, 0, 1);
    SapHullShape h = hull_of(4);
    check_hull(&h, 4, 1e-15);
    cr_assert(h.num_vertices == 4 && h.num_faces == 4 && h.num_corners == 12);
    sap_hull_free(&h);
}

Test(hull, a_box_has_six_faces_of_four_corners) {
    set_box(1, 2, 3);
    SapHullShape h = hull_of(8);
    check_hull(&h, 8, 1e-15);
    cr_assert(h.num_vertices == 8 && h.num_faces == 6 && h.num_corners == 24);
    const int first[] = {0, 1, 5, 4}; /* y = -2, seen from -y */
    for (int i = 0; i < 4; i++)
        cr_assert_eq(h.corner[i], first[i]);
    sap_hull_free(&h);
}

/* A grid of 5 x 5 x 5 points in a turned and moved box: all but the corners lie inside, in faces or on edges. */
static int set_turned_grid(double noise) {
    Random random = random_seed(3);
    int n = 0;
    for (int i = 0; i < 125; i++) {
        double x = i % 5 - 2, y = i / 5 % 5 - 2, z = 2 * (i / 25 - 2), c = 0.8, s = 0.6;
        set_point(n++, 7 + c * x - s * y, -3 + s * (s * x + c * y) + c * z, c * (s * x + c * y) - s * z);
    }
    for (int i = 0; i < 3 * n; i++)
        points[i / 3][i % 3] += random_between(&random, -noise, noise);
    return n;
}

Test(hull, points_inside_in_faces_and_on_edges_are_no_vertices) {
    for (int noisy = 0; noisy < 2; noisy++) {
        int n = set_turned_grid(noisy ? 3e-7 : 0);
        SapHullShape h = hull_of(n);
        check_hull(&h, n, noisy ? 1e-5 : 1e-6);
        cr_assert(h.num_vertices == 8 && h.num_faces == 6, "%d vertices, %d faces with noise %d", h.num_vertices,
                  h.num_faces, noisy);
        sap_hull_free(&h);
    }
}

Test(hull, repeated_points_do_not_matter) {
    set_box(1, 1, 1);
    memcpy(points[8], points[0], 8 * sizeof points[0]);
    memcpy(points[16], points[0], 16 * sizeof points[0]);
    SapHullShape h = hull_of(32);
    check_hull(&h, 32, 1e-15);
    cr_assert(h.num_vertices == 8 && h.num_faces == 6);
    sap_hull_free(&h);
}

Test(hull, a_prism_has_its_caps_in_one_piece) {
    enum { SIDES = 64 };
    for (int i = 0; i < SIDES; i++) {
        double angle = 2 * 3.14159265358979323846 * i / SIDES;
        /* as a file in single precision has it */
        set_point(2 * i, (double)(float)cos(angle), (double)(float)sin(angle), (double)0.3f);
        set_point(2 * i + 1, (double)(float)cos(angle), (double)(float)sin(angle), (double)-0.3f);
    }
    SapHullShape h = hull_of(2 * SIDES);
    check_hull(&h, 2 * SIDES, 1e-6);
    cr_assert(h.num_vertices == 2 * SIDES && h.num_faces == SIDES + 2, "%d faces", h.num_faces);
    sap_hull_free(&h);
}

Test(hull, random_points_are_inside_of_their_hull) {
    for (uint64_t seed = 0; seed < 40; seed++) {
        Random random = random_seed(seed);
        int n = 4 + random_below(&random, 300);
        double size = pow(10, random_between(&random, -6, 6)), far = seed % 2 ? 10 * size : 0;
        for (int i = 0; i < 3 * n; i++)
            points[i / 3][i % 3] = far + random_between(&random, -size, size);
        SapHullShape h = hull_of(n);
        check_hull(&h, n, 2e-6 * size);
        sap_hull_free(&h);
    }
}

Test(hull, points_of_a_sphere_are_all_vertices) {
    Random random = random_seed(9);
    enum { N = 600 };
    for (int i = 0; i < N; i++) {
        double q[4];
        random_quaternion(&random, q);
        double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
        set_point(i, q[0] / length, q[1] / length, q[2] / length);
    }
    SapHullShape h = hull_of(N);
    check_hull(&h, N, 1e-6);
    cr_assert_geq(h.num_vertices, N - 2);
    sap_hull_free(&h);
}

Test(hull, the_same_points_give_the_same_hull) {
    Random random = random_seed(5);
    enum { N = 500 };
    for (int i = 0; i < 3 * N; i++)
        points[i / 3][i % 3] = random_between(&random, -1, 1);
    SapHullShape first = hull_of(N);
    for (int repeat = 0; repeat < 5; repeat++) {
        SapHullShape h = hull_of(N);
        cr_assert(h.num_vertices == first.num_vertices && h.num_faces == first.num_faces &&
                  h.num_corners == first.num_corners);
        cr_assert_eq(memcmp(h.vertex, first.vertex, (size_t)h.num_vertices * sizeof(int)), 0);
        cr_assert_eq(memcmp(h.face_start, first.face_start, (size_t)h.num_faces * sizeof(int)), 0);
        cr_assert_eq(memcmp(h.corner, first.corner, (size_t)h.num_corners * sizeof(int)), 0);
        sap_hull_free(&h);
    }
    sap_hull_free(&first);
}

Test(hull, sizes_from_atoms_to_galaxies_give_the_same_faces) {
    static const double sizes[] = {1e-200, 1e-12, 1e12, 1e200};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        set_box(sizes[i], 2 * sizes[i], 3 * sizes[i]);
        SapHullShape h = hull_of(8);
        cr_assert(h.num_vertices == 8 && h.num_faces == 6);
        sap_hull_free(&h);
    }
}

/* ---- refusals ---- */

static void expect_refused(int n, const char *text) {
    SapHullShape h;
    cr_assert_eq(sap_hull_create(points[0], n, "mesh 7", &h), SAP_ERROR_MODEL, "%s is accepted", text);
    cr_expect_not_null(strstr(sap_error_message(), text), "'%s' is not in: %s", text, sap_error_message());
    cr_expect_eq(strncmp(sap_error_message(), "mesh 7", 6), 0, "%s", sap_error_message());
    cr_assert_null(h.memory);
}

Test(hull, refuses_fewer_than_four_points) {
    set_box(1, 1, 1);
    expect_refused(3, "has 3 vertices; a convex hull needs 4 or more");
    expect_refused(1, "has 1 vertex;");
    expect_refused(0, "has 0 vertices;");
}

Test(hull, refuses_coordinates_that_are_not_finite) {
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        set_box(1, 1, 1);
        points[5][2] = bad[i];
        expect_refused(8, "coordinate 2 of vertex 5 is");
    }
}

Test(hull, refuses_a_single_point) {
    set_box(0, 0, 0);
    expect_refused(8, "all 8 vertices are at one point");
}

Test(hull, refuses_points_on_a_line) {
    for (int i = 0; i < 10; i++)
        set_point(i, 0.1 * i, 0.2 * i, -0.3 * i);
    expect_refused(10, "its 10 vertices lie on a line");
}

Test(hull, refuses_points_in_a_plane) {
    Random random = random_seed(1);
    for (int i = 0; i < 100; i++) {
        double x = random_between(&random, -1, 1), y = random_between(&random, -1, 1);
        set_point(i, x, y, 0.3 * x - 0.7 * y + 2 + random_between(&random, -1e-7, 1e-7));
    }
    expect_refused(100, "its 100 vertices lie in a plane");
}

Test(hull, takes_plates_that_are_thicker_than_the_limit) {
    set_box(1, 1, 2 * SAP_HULL_FLAT);
    SapHullShape h = hull_of(8);
    cr_assert(h.num_vertices == 8 && h.num_faces == 6);
    sap_hull_free(&h);
    set_box(1, 1, 0.4 * SAP_HULL_FLAT);
    expect_refused(8, "in a plane");
}

/* ---- mass ---- */

static void expect_mass(const SapMassProperties *a, const SapMassProperties *b, double tolerance) {
    cr_assert_float_eq(a->mass, b->mass, tolerance * b->mass, "mass %g, not %g", a->mass, b->mass);
    for (int i = 0; i < 3; i++)
        cr_assert_float_eq(a->com[i], b->com[i], tolerance, "com[%d]: %g, not %g", i, a->com[i], b->com[i]);
    for (int i = 0; i < 9; i++)
        cr_assert_float_eq(a->inertia[i], b->inertia[i], tolerance * b->inertia[0], "inertia[%d]: %g, not %g", i,
                           a->inertia[i], b->inertia[i]);
}

Test(hull_mass, the_hull_of_a_box_weighs_as_the_box) {
    static const double scale[3] = {0.5, 1, 2}, half[3] = {0.5, 2, 6};
    set_box(1, 2, 3);
    SapHullShape h = hull_of(8);
    SapMassProperties mass = sap_hull_mass(&h, points[0], scale, 700), box = sap_shape_mass(SAP_SHAPE_BOX, half, 700);
    expect_mass(&mass, &box, 1e-14);
    sap_hull_free(&h);
}

/* x, y, z >= 0 and x + y + z <= 1: volume 1/6, centre (1, 1, 1)/4; about it the moments are m 3/40, the products
 * m/80. */
Test(hull_mass, a_tetrahedron_has_its_closed_form) {
    static const double one[3] = {1, 1, 1};
    set_point(0, 0, 0, 0), set_point(1, 1, 0, 0), set_point(2, 0, 1, 0), set_point(3, 0, 0, 1);
    SapHullShape h = hull_of(4);
    SapMassProperties mass = sap_hull_mass(&h, points[0], one, 6), exact = {.mass = 1, .com = {0.25, 0.25, 0.25}};
    for (int i = 0; i < 9; i++)
        exact.inertia[i] = i % 4 == 0 ? 3.0 / 40 : 1.0 / 80;
    expect_mass(&mass, &exact, 1e-14);
    sap_hull_free(&h);
}

Test(hull_mass, a_moved_and_turned_hull_has_the_moved_mass) {
    static const double one[3] = {1, 1, 1};
    const double pose[7] = {3, -2, 5, 0, 0, 0.6, 0.8}; /* a turn by the angle with cosine 0.28, sine 0.96 */
    double half[3] = {0.1, 0.2, 0.3};
    set_box(half[0], half[1], half[2]);
    for (int i = 0; i < 8; i++)
        set_point(i, pose[0] + 0.28 * points[i][0] - 0.96 * points[i][1],
                  pose[1] + 0.96 * points[i][0] + 0.28 * points[i][1], pose[2] + points[i][2]);
    SapHullShape h = hull_of(8);
    SapMassProperties mass = sap_hull_mass(&h, points[0], one, 1000), box = sap_shape_mass(SAP_SHAPE_BOX, half, 1000);
    box = sap_mass_moved(&box, pose);
    expect_mass(&mass, &box, 1e-12);
    sap_hull_free(&h);
}

/* ---- hulls of a model ---- */

static bool same_hull(const SapHullShape *a, const SapHullShape *b) {
    return a->num_vertices == b->num_vertices && a->num_faces == b->num_faces && a->num_corners == b->num_corners &&
           memcmp(a->vertex, b->vertex, (size_t)a->num_vertices * sizeof *a->vertex) == 0 &&
           memcmp(a->corner, b->corner, (size_t)a->num_corners * sizeof *a->corner) == 0;
}

Test(hull, a_model_keeps_the_hull_of_every_mesh_that_a_shape_uses) {
    static const double corners[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.1, 0.1, 0.1}};
    const int32_t joint = SAP_JOINT_FREE, parent = -1, child = 0, start[3] = {0, 0, 5};
    const int32_t type[2] = {SAP_SHAPE_HULL, SAP_SHAPE_HULL}, body[2] = {0, 0}, mesh[2] = {1, 1};
    const double mass = 1, inertia[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, scale[6] = {1, 1, 1, 2, 2, 2};
    SapModelArrays a;
    sap_model_arrays_default(&a);
    a.num_bodies = a.num_joints = 1, a.num_dofs = 6, a.num_coords = 7, a.num_shapes = 2;
    a.num_meshes = 2, a.num_mesh_vertices = 5; /* mesh 0 has no points, and no shape uses it */
    a.joint_type = &joint, a.joint_parent = &parent, a.joint_child = &child, a.body_mass = &mass;
    a.body_inertia = inertia, a.shape_type = type, a.shape_body = body, a.shape_scale = scale, a.shape_mesh = mesh;
    a.mesh_start = start, a.mesh_vertices = corners[0];
    SapModel *model;
    cr_assert_eq(sap_model_create(&a, &model), SAP_OK, "%s", sap_error_message());
    SapHullShape h;
    cr_assert_eq(sap_hull_create(corners[0], 5, "mesh 1", &h), SAP_OK);
    cr_assert_eq(h.num_vertices, 4);
    cr_assert(same_hull(sap_model_hull(model, 1), &h));
    cr_assert_eq(sap_model_hull(model, 0)->num_vertices, 0);
    sap_hull_free(&h);
    sap_model_destroy(model);
}

Test(hull, the_model_of_a_scene_has_the_hulls_of_its_own_vertices) {
    static const char text[] = "schema_version: 1\n"
                               "bodies:\n"
                               "- id: a\n"
                               "  shapes:\n"
                               "  - {type: hull, vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n"
                               "  - {type: hull, vertices: [[0.1, 0.1, 0.1], [0, 0, 0], [1, 0, 0], [0, 1, 0],\n"
                               "                            [0.5, 0.5, 0], [0, 0, 1]]}\n"
                               "joints: [{id: j, type: free, child: a}]\n";
    SapScene *scene;
    cr_assert_eq(sap_scene_parse(text, sizeof text - 1, "scene", &scene), SAP_OK, "%s", sap_error_message());
    const SapModelArrays *a = sap_model_arrays(scene->model);
    cr_assert(a->num_meshes == 2 && a->num_mesh_vertices == 8);
    for (int i = 0; i < 2; i++) {
        SapHullShape h;
        cr_assert_eq(sap_hull_create(a->mesh_vertices + 3 * a->mesh_start[i], 4, "mesh", &h), SAP_OK);
        cr_assert(same_hull(sap_model_hull(scene->model, i), &h));
        sap_hull_free(&h);
    }
    sap_scene_destroy(scene);
}

/* ---- fewer vertices ---- */

/* The largest distance of a point outside the hull of the kept points. */
static double outside(const double *cloud, int n, const int *kept, int num) {
    static double position[3 * 256];
    double largest = 0;
    SapHullShape h;
    for (int i = 0; i < 3 * num; i++)
        position[i] = cloud[3 * kept[i / 3] + i % 3];
    cr_assert_eq(sap_hull_create(position, num, "kept", &h), SAP_OK, "%s", sap_error_message());
    for (int f = 0; f < h.num_faces; f++) {
        int corner[256], first = h.face_start[f], count = h.face_start[f + 1] - first;
        double plane[4];
        for (int k = 0; k < count; k++)
            corner[k] = h.vertex[h.corner[first + k]];
        sap_face_plane(position, corner, count, plane);
        for (int i = 0; i < n; i++)
            largest = fmax(largest, plane[0] * cloud[3 * i] + plane[1] * cloud[3 * i + 1] +
                                        plane[2] * cloud[3 * i + 2] - plane[3]);
    }
    sap_hull_free(&h);
    return largest;
}

Test(hull, a_smaller_hull_has_at_most_the_vertices_asked_for_and_says_how_far_points_are_outside) {
    enum { POINTS = 3000 };
    static double cloud[3 * POINTS];
    for (int i = 0; i < POINTS; i++) { /* a flat ellipsoid */
        double z = -1 + (2 * i + 1.0) / POINTS, r = sqrt(1 - z * z), turn = 2.399963229728653 * i;
        cloud[3 * i] = 0.3 * r * cos(turn);
        cloud[3 * i + 1] = 0.2 * r * sin(turn);
        cloud[3 * i + 2] = 0.01 * z;
    }
    double lost;
    for (int most = 8; most <= 256; most *= 2) {
        int kept[256], num;
        cr_assert_eq(sap_mesh_reduce(cloud, POINTS, most, kept, &num, &lost), SAP_OK, "%s", sap_error_message());
        cr_assert(num == most && lost < (most < 64 ? 0.1 : 0.005), "%d vertices, %g outside", num, lost);
        cr_assert_float_eq(lost, outside(cloud, POINTS, kept, num), 1e-9);
        for (int i = 1; i < num; i++)
            cr_assert_gt(kept[i], kept[i - 1]);
    }
}

Test(hull, a_hull_with_few_vertices_keeps_them_all) {
    static double cloud[3 * 27];
    int kept[8], num;
    double lost;
    for (int i = 0; i < 27; i++) { /* the corners of a cube are its hull */
        cloud[3 * i] = i % 3;
        cloud[3 * i + 1] = i / 3 % 3;
        cloud[3 * i + 2] = i / 9;
    }
    cr_assert_eq(sap_mesh_reduce(cloud, 27, 8, kept, &num, &lost), SAP_OK);
    const int corners[8] = {0, 2, 6, 8, 18, 20, 24, 26};
    cr_assert(num == 8 && lost == 0);
    cr_assert_arr_eq(kept, corners, sizeof corners);
}

Test(hull, a_smaller_hull_refuses_wrong_arguments) {
    double cloud[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0}, lost;
    int kept[8], num;
    cr_assert_eq(sap_mesh_reduce(NULL, 4, 8, kept, &num, &lost), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_mesh_reduce(cloud, 4, 7, kept, &num, &lost), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "most is 7; allowed: 8 or more"), "%s", sap_error_message());
    cr_assert_eq(sap_mesh_reduce(cloud, 4, 8, kept, &num, &lost), SAP_ERROR_MODEL);
    cr_assert(strstr(sap_error_message(), "in a plane"), "%s", sap_error_message());
}
