/* Which shapes may touch: every filter by itself, and the shapes' part of plans and constants.
 *
 *   bodies: 0 free, 1 free, 2 revolute below 0, 3 fixed to 2, 4 fixed to the world, 5 revolute from the world
 *   shapes: one sphere on each body, by its number, then 6: the ground, 7: a box of the world */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "host/model/shape_types.h"
#include "host/plan/pairs.h"
#include "host/plan/plan.h"

enum { NB = 6, NS = 12, GROUND = 6, BOX = 7 };

typedef struct Fixture {
    SapModelArrays a;
    int32_t type[NB], parent[NB], child[NB], filter_parent[NB];
    double axis[14][3], mass[NB], inertia[NB][9];
    int32_t shape_type[NS], shape_body[NS], shape_mesh[NS], group[NS], flags[NS];
    double scale[NS][3], transform[NS][7], margin[NS], gap[NS];
    int32_t body_pairs[2][2], shape_pairs[2][2];
    int32_t mesh_start[3], grid_size[2][2];
    double vertices[9 + 4][3], heights[6 + 4];
    SapModel *model;
} Fixture;

static void init_shapes(Fixture *f) {
    for (int s = 0; s < NS; s++) {
        f->shape_type[s] = SAP_SHAPE_SPHERE;
        f->shape_body[s] = s < NB ? s : -1;
        f->shape_mesh[s] = -1;
        f->group[s] = 1;
        f->flags[s] = SAP_SHAPE_COLLIDES;
        f->scale[s][0] = f->scale[s][1] = f->scale[s][2] = 0.5;
        f->transform[s][6] = 1;
        f->margin[s] = 0.001 * s;
        f->gap[s] = 0.01 * s;
    }
    f->shape_type[GROUND] = SAP_SHAPE_PLANE;
    f->shape_type[BOX] = SAP_SHAPE_BOX;
    f->a.num_shapes = 8;
    f->a.shape_type = f->shape_type;
    f->a.shape_body = f->shape_body;
    f->a.shape_mesh = f->shape_mesh;
    f->a.shape_collision_group = f->group;
    f->a.shape_flags = f->flags;
    f->a.shape_scale = f->scale[0];
    f->a.shape_transform = f->transform[0];
    f->a.shape_margin = f->margin;
    f->a.shape_gap = f->gap;
}

/* Mesh 0: the cube [-1, 1]^3 and its centre. Mesh 1: a tetrahedron. Grid 0 is 2 x 2, grid 1 is 2 x 3. */
static void init_meshes(Fixture *f) {
    static const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const double heights[] = {1, 2, 3, 4, 0.5, 3, -1, 0, 2, 5};
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            f->vertices[i][k] = (i >> k & 1) ? 1 : -1;
    memcpy(f->vertices[9], corner, sizeof corner);
    memcpy(f->heights, heights, sizeof heights);
    f->mesh_start[1] = 9;
    f->mesh_start[2] = 13;
    f->grid_size[0][0] = f->grid_size[1][0] = f->grid_size[1][1] = 2;
    f->grid_size[0][1] = 3; /* 2 x 3, of which the sum is not the product */
    f->a.num_meshes = 2;
    f->a.num_mesh_vertices = 13;
    f->a.mesh_start = f->mesh_start;
    f->a.mesh_vertices = f->vertices[0];
    f->a.num_height_fields = 2;
    f->a.num_heights = 10;
    f->a.height_field_size = f->grid_size[0];
    f->a.heights = f->heights;
}

static void init(Fixture *f) {
    static const int32_t type[] = {SAP_JOINT_FREE,  SAP_JOINT_FREE,  SAP_JOINT_REVOLUTE,
                                   SAP_JOINT_FIXED, SAP_JOINT_FIXED, SAP_JOINT_REVOLUTE};
    static const int32_t parent[] = {-1, -1, 0, 2, -1, -1};
    memset(f, 0, sizeof *f);
    sap_model_arrays_default(&f->a);
    for (int i = 0; i < NB; i++) {
        f->type[i] = type[i];
        f->parent[i] = parent[i];
        f->child[i] = i;
        f->filter_parent[i] = 1;
        f->mass[i] = f->inertia[i][0] = f->inertia[i][4] = f->inertia[i][8] = 1;
    }
    f->axis[12][2] = f->axis[13][2] = 1;
    f->a.num_bodies = f->a.num_joints = NB;
    f->a.num_dofs = 14;
    f->a.num_coords = 16;
    f->a.joint_type = f->type;
    f->a.joint_parent = f->parent;
    f->a.joint_child = f->child;
    f->a.joint_filter_parent = f->filter_parent;
    f->a.joint_axis = f->axis[0];
    f->a.body_mass = f->mass;
    f->a.body_inertia = f->inertia[0];
    f->a.body_filter_pairs = f->body_pairs[0];
    f->a.shape_filter_pairs = f->shape_pairs[0];
    init_shapes(f);
    init_meshes(f);
}

static const SapModel *model_of(Fixture *f) {
    cr_assert_eq(sap_model_create(&f->a, &f->model), SAP_OK, "%s", sap_error_message());
    return f->model;
}

static const SapModelArrays *arrays_of(Fixture *f) {
    return sap_model_arrays(model_of(f));
}

/* Whether the two shapes may touch, in both orders. */
static bool allowed(Fixture *f, int s0, int s1) {
    SapPairFilter filter;
    cr_assert_eq(sap_pair_filter_create(arrays_of(f), &filter), SAP_OK);
    bool result = sap_pair_allowed(&filter, s0, s1);
    cr_assert_eq(sap_pair_allowed(&filter, s1, s0), result, "the order of shapes %d and %d matters", s0, s1);
    sap_pair_filter_free(&filter);
    sap_model_destroy(f->model);
    return result;
}

/* ---- filters ---- */

Test(pairs, bodies_that_move_freely_touch_each_other_and_the_ground) {
    Fixture f;
    init(&f);
    cr_assert(allowed(&f, 0, 1));
    cr_assert(allowed(&f, 0, GROUND));
    cr_assert(allowed(&f, 1, BOX));
}

Test(pairs, a_shape_without_the_flag_touches_nothing) {
    Fixture f;
    init(&f);
    f.flags[1] = SAP_SHAPE_VISIBLE;
    cr_assert_not(allowed(&f, 0, 1));
    cr_assert_not(allowed(&f, 1, GROUND));
    cr_assert(allowed(&f, 0, GROUND));
}

Test(pairs, groups_touch_by_their_rule) {
    static const struct {
        int a, b;
        bool touch;
    } rule[] = {{0, 1, false}, {0, 0, false}, {0, -1, false},  {1, 1, true},   {1, 2, false},
                {-1, 1, true}, {-1, 2, true}, {-1, -1, false}, {-1, -2, true}, {-2, 2, true},
                {3, -3, true}, {7, 7, true},  {-7, -7, false}};
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++) {
        Fixture f;
        init(&f);
        f.group[0] = rule[i].a;
        f.group[1] = rule[i].b;
        cr_assert_eq(allowed(&f, 0, 1), rule[i].touch, "groups %d and %d", rule[i].a, rule[i].b);
    }
}

Test(pairs, shapes_of_one_body_do_not_touch) {
    Fixture f;
    init(&f);
    f.shape_body[1] = 0;
    cr_assert_not(allowed(&f, 0, 1));
}

Test(pairs, static_shapes_do_not_touch) {
    Fixture f;
    init(&f);
    cr_assert_not(allowed(&f, GROUND, BOX));
}

Test(pairs, a_body_fixed_to_the_world_is_static) {
    Fixture f;
    init(&f);
    cr_assert_not(allowed(&f, 4, BOX));
    cr_assert_not(allowed(&f, 4, GROUND));
    cr_assert(allowed(&f, 4, 1));
}

Test(pairs, bodies_joined_by_fixed_joints_do_not_touch) {
    Fixture f;
    init(&f);
    memset(f.filter_parent, 0, sizeof f.filter_parent);
    cr_assert_not(allowed(&f, 2, 3));
    cr_assert(allowed(&f, 0, 3));
}

Test(pairs, parent_and_child_touch_only_if_the_joint_says_so) {
    Fixture f;
    init(&f);
    cr_assert_not(allowed(&f, 0, 2));
    f.filter_parent[2] = 0;
    cr_assert(allowed(&f, 0, 2));
    f.a.joint_filter_parent = NULL;
    cr_assert_not(allowed(&f, 0, 2), "1 is the default");
}

Test(pairs, only_bodies_that_a_joint_joins_are_parent_and_child) {
    Fixture f;
    init(&f);
    cr_assert(allowed(&f, 0, 3), "body 3 is fixed to the child of body 0");
}

Test(pairs, the_child_of_a_joint_from_the_world_touches_the_world) {
    Fixture f;
    init(&f);
    cr_assert(allowed(&f, 5, GROUND));
    cr_assert(allowed(&f, 5, BOX));
}

Test(pairs, excluded_bodies_do_not_touch) {
    Fixture f;
    init(&f);
    f.a.num_filter_pairs = 2;
    f.body_pairs[0][0] = 5, f.body_pairs[0][1] = 0;
    f.body_pairs[1][0] = 1, f.body_pairs[1][1] = 0;
    cr_assert_not(allowed(&f, 0, 1));
    cr_assert_not(allowed(&f, 0, 5));
    cr_assert(allowed(&f, 1, 5));
    cr_assert(allowed(&f, 0, GROUND));
}

Test(pairs, excluded_shapes_do_not_touch) {
    Fixture f;
    init(&f);
    f.a.num_shape_filter_pairs = 2;
    f.shape_pairs[0][0] = GROUND, f.shape_pairs[0][1] = 0;
    f.shape_pairs[1][0] = 1, f.shape_pairs[1][1] = 5;
    cr_assert_not(allowed(&f, 0, GROUND));
    cr_assert_not(allowed(&f, 1, 5));
    cr_assert(allowed(&f, 1, GROUND));
}

Test(pairs, planes_and_height_fields_do_not_touch_each_other) {
    static const int32_t types[] = {SAP_SHAPE_PLANE, SAP_SHAPE_HEIGHT_FIELD};
    for (int i = 0; i < 4; i++) {
        Fixture f;
        init(&f);
        f.shape_type[0] = types[i / 2];
        f.shape_type[1] = types[i % 2];
        f.shape_mesh[0] = i / 2 ? 0 : -1;
        f.shape_mesh[1] = i % 2 ? 1 : -1;
        cr_assert_not(allowed(&f, 0, 1));
        cr_assert(allowed(&f, 0, 5), "a sphere touches either");
    }
}

/* ---- the list ---- */

Test(pairs, list_holds_every_allowed_pair_once_and_in_order) {
    Fixture f;
    init(&f);
    f.shape_type[1] = SAP_SHAPE_BOX; /* types then are not in the order of shapes */
    f.flags[3] = 0;
    const SapModelArrays *m = arrays_of(&f);
    SapPairFilter filter;
    SapPair *pair;
    int n, k = 0;
    cr_assert_eq(sap_pair_filter_create(m, &filter), SAP_OK);
    cr_assert_eq(sap_pairs_create(m, &n, &pair), SAP_OK);
    for (int s0 = 0; s0 < m->num_shapes; s0++)
        for (int s1 = s0 + 1; s1 < m->num_shapes; s1++) {
            if (!sap_pair_allowed(&filter, s0, s1))
                continue;
            cr_assert_lt(k, n);
            const int *s = pair[k++].shape;
            cr_assert((s[0] == s0 && s[1] == s1) || (s[0] == s1 && s[1] == s0), "pair %d", k - 1);
            int t0 = m->shape_type[s[0]], t1 = m->shape_type[s[1]];
            cr_assert(t0 < t1 || (t0 == t1 && s[0] < s[1]), "pair %d has the types %d, %d", k - 1, t0, t1);
        }
    cr_assert_eq(k, n);
    cr_assert_gt(n, 5);
    free(pair);
    sap_pair_filter_free(&filter);
    sap_model_destroy(f.model);
}

Test(pairs, more_pairs_than_the_limit_are_refused) {
    enum { MANY = 5800 }; /* MANY^2 / 2 is a little more than 2^24 */
    Fixture f;
    init(&f);
    int32_t *type = malloc(2 * MANY * sizeof *type), *body = malloc(2 * MANY * sizeof *body);
    double(*scale)[3] = malloc(2 * MANY * sizeof *scale);
    for (int s = 0; s < 2 * MANY; s++) {
        type[s] = SAP_SHAPE_SPHERE;
        body[s] = s % 2;
        scale[s][0] = scale[s][1] = scale[s][2] = 1;
    }
    f.a.num_shapes = 2 * MANY;
    f.a.shape_type = type;
    f.a.shape_body = body;
    f.a.shape_scale = scale[0];
    f.a.shape_transform = f.a.shape_margin = f.a.shape_gap = NULL;
    f.a.shape_flags = f.a.shape_collision_group = f.a.shape_mesh = NULL;
    const SapModelArrays *m = arrays_of(&f);
    SapPair *pair;
    int n;
    cr_assert_eq(sap_pairs_create(m, &n, &pair), SAP_ERROR_MODEL);
    cr_assert_not_null(strstr(sap_error_message(), "more than 16777216 pairs"), "%s", sap_error_message());
    cr_assert(pair == NULL && n == 0);
    sap_model_destroy(f.model);
    free(type);
    free(body);
    free(scale);
}

/* ---- plans and constants ---- */

/* Shapes 8, 9 hulls of the cube in two sizes, 10 of the tetrahedron, 11 the second height field. */
static void add_meshes(Fixture *f) {
    f->a.num_shapes = NS;
    f->shape_type[8] = f->shape_type[9] = f->shape_type[10] = SAP_SHAPE_HULL;
    f->shape_mesh[8] = f->shape_mesh[9] = 0;
    f->shape_mesh[10] = 1;
    f->scale[9][0] = 1, f->scale[9][1] = 2, f->scale[9][2] = 3;
    f->shape_type[11] = SAP_SHAPE_HEIGHT_FIELD;
    f->shape_mesh[11] = 1;
    f->scale[11][0] = 3, f->scale[11][1] = 4;
}

static double value(SapField field, int f64, int i) {
    return f64 ? ((const double *)field.data)[i] : (double)((const float *)field.data)[i];
}

Test(plan_shapes, every_hull_shape_has_a_hull_of_its_own) {
    Fixture f;
    init(&f);
    add_meshes(&f);
    SapPlanOwner owner;
    cr_assert_eq(sap_plan_create(model_of(&f), 0, &owner), SAP_OK, "%s", sap_error_message());
    const SapPlan *p = &owner.plan;
    cr_assert(p->num_hulls == 3 && p->num_height_fields == 2);
    cr_assert(p->shape_mesh[8] == 0 && p->shape_mesh[9] == 1 && p->shape_mesh[10] == 2 && p->shape_mesh[11] == 11);
    cr_assert_eq(p->shape_mesh[BOX], -1);
    for (int s = 0; s < NS; s++)
        cr_assert_eq(p->shape_type[s], f.shape_type[s]);
    const int vertices[] = {8, 8, 4}, faces[] = {6, 6, 4};
    for (int i = 0, vertex = 0, face = 0; i < 3; i++) {
        const SapHull *h = &p->hull[i];
        cr_assert(h->vertex == vertex && h->num_vertices == vertices[i] && h->face == face && h->num_faces == faces[i]);
        vertex += vertices[i];
        face += faces[i];
        for (int k = h->face; k < face; k++)
            cr_assert_eq(p->hull_face[k].num_corners, i < 2 ? 4 : 3);
    }
    cr_assert_eq(p->hull_source[16], 9, "the first vertex of the second mesh");
    const SapHeightField *grid = p->height_field;
    cr_assert(grid[0].height == 0 && grid[0].rows == 2 && grid[0].columns == 3);
    cr_assert(grid[1].height == 6 && grid[1].rows == 2 && grid[1].columns == 2);
    sap_plan_free(&owner);
    sap_model_destroy(f.model);
}

/* The vertices and planes of hull `i` as constants: all vertices inside, and the corners of a face on its plane. */
static void check_hull_constants(const SapPlan *p, const SapConstants *c, int f64, int i) {
    double tolerance = 8 * (f64 ? DBL_EPSILON : FLT_EPSILON);
    const SapHull *h = &p->hull[i];
    for (int k = h->face; k < h->face + h->num_faces; k++) {
        double n[4], length = 0;
        for (int j = 0; j < 4; j++)
            n[j] = value(c->hull_plane, f64, 4 * k + j);
        for (int j = 0; j < 3; j++)
            length += n[j] * n[j];
        cr_assert_float_eq(length, 1, tolerance);
        for (int v = 0; v < h->num_vertices; v++) {
            double distance = -n[3];
            for (int j = 0; j < 3; j++)
                distance += n[j] * value(c->hull_vertex, f64, 3 * (h->vertex + v) + j);
            bool corner = false;
            for (int j = 0; j < p->hull_face[k].num_corners; j++)
                corner = corner || p->hull_corner[p->hull_face[k].corner + j] == v;
            cr_assert(corner ? fabs(distance) <= tolerance : distance < -0.1, "hull %d face %d vertex %d: %g", i, k, v,
                      distance);
        }
    }
}

Test(plan_shapes, constants_hold_the_shapes_in_both_precisions) {
    Fixture f;
    init(&f);
    add_meshes(&f);
    f.transform[8][0] = 7;
    const SapModelArrays *m = arrays_of(&f);
    SapPlanOwner owner;
    cr_assert_eq(sap_plan_create(f.model, 0, &owner), SAP_OK, "%s", sap_error_message());
    for (int f64 = 0; f64 < 2; f64++) {
        SapConstantsOwner constants;
        cr_assert_eq(sap_constants_create(m, &owner.plan, f64, &constants), SAP_OK);
        const SapConstants *c = &constants.constants;
        double tolerance = f64 ? 1e-15 : 1e-6;
        cr_assert(value(c->shape_pose, f64, 7 * 8) == 7 && value(c->shape_pose, f64, 7 * 8 + 6) == 1);
        cr_assert_eq(value(c->shape_size, f64, 3 * 9 + 1), 2);
        cr_assert_float_eq(value(c->shape_margin, f64, 5), 0.005, tolerance);
        cr_assert_float_eq(value(c->shape_gap, f64, 5), 0.05, tolerance);
        for (int i = 0; i < 3; i++)
            check_hull_constants(&owner.plan, c, f64, i);
        cr_assert_eq(value(c->hull_vertex, f64, 3 * 8 + 0), -1);
        cr_assert_eq(value(c->hull_vertex, f64, 3 * 8 + 1), -2);
        cr_assert_eq(value(c->hull_vertex, f64, 3 * 8 + 2), -3);
        for (int i = 0; i < 10; i++)
            cr_assert_eq(value(c->height, f64, i), f.heights[i]);
        for (int s = 0; s < NS; s++) {
            double bound[4];
            sap_shape_bound(m, s, bound);
            cr_assert_float_eq(value(c->shape_bound, f64, 4 * s), bound[0], tolerance);
            double radius = value(c->shape_bound, f64, 4 * s + 3);
            cr_assert(radius >= bound[3] && radius <= bound[3] * (1 + tolerance), "shape %d: %g, %g", s, radius,
                      bound[3]);
        }
        sap_constants_free(&constants);
    }
    sap_plan_free(&owner);
    sap_model_destroy(f.model);
}

Test(bounds, spheres_hold_their_shapes_tightly) {
    static const struct {
        int32_t type;
        int mesh;
        double scale[3], bound[4];
    } cases[] = {
        {SAP_SHAPE_PLANE, -1, {0}, {0}},
        {SAP_SHAPE_SPHERE, -1, {2}, {0, 0, 0, 2}},
        {SAP_SHAPE_CAPSULE, -1, {1, 2}, {0, 0, 0, 3}},
        {SAP_SHAPE_ELLIPSOID, -1, {1, 4, 2}, {0, 0, 0, 4}},
        {SAP_SHAPE_CYLINDER, -1, {3, 4}, {0, 0, 0, 5}},
        {SAP_SHAPE_BOX, -1, {1, 2, 2}, {0, 0, 0, 3}},
        {SAP_SHAPE_CONE, -1, {3, 1}, {0, 0, -1, 3}},
        {SAP_SHAPE_CONE, -1, {2, 2}, {0, 0, -0.5, 2.5}},
        {SAP_SHAPE_HULL, 0, {1, 2, 2}, {0, 0, 0, 3}},
        {SAP_SHAPE_HULL, 1, {2, 2, 2}, {1, 1, 1, 1.7320508075688772}},
        {SAP_SHAPE_HEIGHT_FIELD, 1, {2, 6, 0}, {0, 0, 2, 7}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Fixture f;
        init(&f);
        double bound[4];
        f.shape_type[0] = cases[i].type;
        f.shape_mesh[0] = cases[i].mesh;
        memcpy(f.scale[0], cases[i].scale, sizeof f.scale[0]);
        sap_shape_bound(arrays_of(&f), 0, bound);
        for (int k = 0; k < 4; k++)
            cr_assert_float_eq(bound[k], cases[i].bound[k], 1e-14, "case %zu: bound[%d] is %g", i, k, bound[k]);
        sap_model_destroy(f.model);
    }
}
