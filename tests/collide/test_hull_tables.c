/* Tables of directions (host/plan/directions.h) and boxes around hulls: they find what a search through all vertices,
 * faces and edges finds, to the last bit. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/model.h>

#include "host/plan/directions.h"
#include "host/plan/hulls.h"
#include "host/plan/plan.h"
#include "support/convex_check.h"
#include "support/model_parts.h"
#include "support/need.h"

enum { MOST_POINTS = 600 };

/* Points of several kinds: on a sphere, on a flat cylinder (many with the same height), on a rounded box. */
static int make_points(int kind, Random *random, double (*x)[3]) {
    const int counts[] = {40, 96, MOST_POINTS};
    for (int i = 0; i < counts[kind]; i++) {
        double z = random_between(random, -1, 1), turn = random_between(random, 0, 6.283185307179586);
        double r = sqrt(1 - z * z);
        if (kind == 1) {
            z = i % 2 ? 0.1 : -0.1;
            turn = 6.283185307179586 * (i / 2) / (counts[kind] / 2);
            r = 1;
        }
        const double p[3] = {r * cos(turn), r * sin(turn), z};
        for (int k = 0; k < 3; k++)
            x[i][k] = kind == 2 ? copysign(pow(fabs(p[k]), 0.4), p[k]) * (0.05 + 0.1 * k) : 0.2 * p[k];
    }
    return counts[kind];
}

/* Random directions, axes, diagonals and directions next to the borders of cells. */
static void make_direction(Random *random, int i, double *u) {
    for (int k = 0; k < 3; k++)
        u[k] = i % 4 == 0 ? random_below(random, 3) - 1.0 : random_between(random, -1, 1);
    if (i % 4 == 1)
        u[random_below(random, 3)] = 1e-7 * random_between(random, -1, 1);
    if (i % 4 == 2)
        for (int k = 0; k < 3; k++)
            u[k] = round(8 * u[k]) / 8 + 1e-8 * random_between(random, -1, 1);
}

/* The first point that is farthest along u, in the precision of float or double. */
static int farthest(double (*x)[3], const int *list, int n, const double *u, bool f64) {
    int best = -1;
    double most = 0;
    for (int k = 0; k < n; k++) {
        int i = list ? list[k] : k;
        double along = fma(u[2], x[i][2], fma(u[1], x[i][1], u[0] * x[i][0]));
        if (!f64)
            along = (double)fmaf((float)u[2], (float)x[i][2],
                                 fmaf((float)u[1], (float)x[i][1], (float)u[0] * (float)x[i][0]));
        if (best < 0 || along > most) {
            best = i;
            most = along;
        }
    }
    return best;
}

/* The cell of u, as described at SapDirections. */
static int cell_of(const SapDirections *d, const double *u) {
    int axis = fabs(u[0]) >= fabs(u[1]) && fabs(u[0]) >= fabs(u[2]) ? 0 : fabs(u[1]) >= fabs(u[2]) ? 1 : 2;
    int other[2] = {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2}, place[2];
    for (int k = 0; k < 2; k++) {
        double x = u[other[k]] / fabs(u[axis]);
        place[k] = x >= 1 ? d->resolution - 1 : (int)((x + 1) / 2 * d->resolution);
    }
    return d->cell + ((2 * axis + (u[axis] < 0)) * d->resolution + place[1]) * d->resolution + place[0];
}

Test(hull_tables, the_list_of_a_direction_has_the_farthest_point_in_both_precisions) {
    static double x[MOST_POINTS][3];
    Random random = random_seed(1);
    for (int kind = 0; kind < 3; kind++) {
        SapDirectionLists lists = {0};
        SapDirections table;
        int n = make_points(kind, &random, x);
        long long listed = 0;
        need(sap_directions_add(&lists, &x[0][0], n, &table));
        for (int i = 0; i < 20000; i++) {
            double u[3];
            make_direction(&random, i, u);
            if (u[0] == 0 && u[1] == 0 && u[2] == 0)
                continue;
            SapDirectionCell cell = lists.cell[cell_of(&table, u)];
            listed += cell.count;
            for (int f64 = 0; f64 < 2; f64++)
                cr_assert_eq(farthest(x, lists.point + cell.first, cell.count, u, f64), farthest(x, NULL, n, u, f64),
                             "points %d, direction %g %g %g", kind, u[0], u[1], u[2]);
        }
        cr_assert_lt(listed / 20000, n / 3, "points %d: a list has %lld of %d on average", kind, listed / 20000, n);
        sap_directions_free(&lists);
    }
}

Test(hull_tables, few_points_have_no_table) {
    double x[16][3] = {{0}};
    SapDirectionLists lists = {0};
    SapDirections table;
    need(sap_directions_add(&lists, &x[0][0], 16, &table));
    cr_assert(table.resolution == 0 && lists.num_cells == 0);
}

/* ---- the narrow phase ---- */

/* Two free bodies with a hull each. */
static SapModel *two_hulls(double (*x)[3], int n, double (*y)[3], int m) {
    static double vertices[2 * MOST_POINTS][3];
    static const double scale[2][3] = {{1, 1, 1}, {0.7, 1.3, 1}};
    static const int32_t type[2] = {SAP_SHAPE_HULL, SAP_SHAPE_HULL}, body[2] = {0, 1}, mesh[2] = {0, 1};
    int32_t start[3] = {0, n, n + m};
    ModelParts parts;
    memcpy(vertices, x, (size_t)n * sizeof *x);
    memcpy(vertices + n, y, (size_t)m * sizeof *y);
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    SapModel *bodies = parts_model(&parts);
    SapModelArrays a = *sap_model_arrays(bodies);
    a.shape_transform = a.shape_margin = a.shape_gap = NULL;
    a.shape_material_mu = a.shape_material_ke = a.shape_material_tau = a.shape_material_dissipation = NULL;
    a.shape_collision_group = a.shape_flags = NULL;
    a.shape_name = NULL;
    a.num_shapes = a.num_meshes = 2;
    a.shape_type = type;
    a.shape_body = body;
    a.shape_mesh = mesh;
    a.shape_scale = &scale[0][0];
    a.mesh_start = start;
    a.num_mesh_vertices = n + m;
    a.mesh_vertices = &vertices[0][0];
    SapModel *model;
    need(sap_model_create(&a, &model));
    sap_model_destroy(bodies);
    return model;
}

ParameterizedTestParameters(hull_tables, change_no_bit_of_a_contact) {
    return precision_params();
}

ParameterizedTest(Precision *param, hull_tables, change_no_bit_of_a_contact) {
    static double x[2][MOST_POINTS][3];
    Random random = random_seed(2);
    int found = 0;
    for (int kind = 0; kind < 3; kind++) {
        int n = make_points(kind, &random, x[0]), m = make_points((kind + 1) % 3, &random, x[1]);
        SapModel *model = two_hulls(x[0], n, x[1], m);
        SapPlanOwner owner;
        SapConstantsOwner constants;
        need(sap_plan_create(model, 0, &owner));
        need(sap_constants_create(sap_model_arrays(model), &owner.plan, param->bits == 64, &constants));
        static SapStepArgs args, plain;
        SapHull hull[2];
        args.plan = owner.plan;
        args.constants[param->bits == 64] = constants.constants;
        plain = args;
        memcpy(hull, owner.plan.hull, sizeof hull);
        cr_assert(hull[0].by_vertex.resolution > 0 && hull[1].by_edge.resolution > 0);
        for (int i = 0; i < 2; i++)
            hull[i].by_vertex.resolution = hull[i].by_face.resolution = hull[i].by_edge.resolution = 0;
        plain.plan.hull = hull;
        for (int i = 0; i < 400; i++) {
            SapConvexTask task = {.args = &args, .reach = 0.02, .max_contacts = 8}, other;
            pose_random(&random, random_between(&random, 0.1, 0.4), task.pose);
            for (int k = 0; k < 2; k++) {
                task.type[k] = SAP_SHAPE_HULL;
                task.mesh[k] = k;
                task.size[k][0] = task.size[k][1] = task.size[k][2] = 1;
            }
            other = task;
            other.args = &plain;
            run(&task, param->bits);
            run(&other, param->bits);
            cr_assert_eq(task.count, other.count);
            found += task.count > 0;
            for (int k = 0; k < task.count; k++)
                cr_assert(memcmp(task.p[k], other.p[k], sizeof task.p[k]) == 0 &&
                          memcmp(task.n[k], other.n[k], sizeof task.n[k]) == 0 && task.d[k] == other.d[k]);
        }
        sap_constants_free(&constants);
        sap_plan_free(&owner);
        sap_model_destroy(model);
    }
    cr_assert_gt(found, 100, "%d poses with contacts", found);
}

/* ---- edges ---- */

/* How often the edges of a hull join two vertices. */
static int count_edges(const SapHullEdge *edge, int num_edges, int a, int b) {
    int count = 0;
    for (int i = 0; i < num_edges; i++)
        count += (edge[i].from == a && edge[i].to == b) || (edge[i].from == b && edge[i].to == a);
    return count;
}

/* A closed surface has half as many edges as its faces have corners. */
Test(hull_tables, the_edges_of_a_hull_are_those_of_its_faces_each_once) {
    static double x[MOST_POINTS][3];
    static SapHullEdge edge[6 * MOST_POINTS];
    Random random = random_seed(9);
    for (int kind = 0; kind < 2; kind++) {
        int n = make_points(kind, &random, x), num_edges;
        SapHullShape hull;
        need(sap_hull_create(&x[0][0], n, "points", &hull));
        need(sap_hull_edges(&hull, edge, &num_edges));
        cr_assert_eq(2 * num_edges, hull.num_corners);
        for (int f = 0; f < hull.num_faces; f++) {
            int last = hull.corner[hull.face_start[f + 1] - 1];
            for (int i = hull.face_start[f]; i < hull.face_start[f + 1]; last = hull.corner[i++])
                cr_assert_eq(count_edges(edge, num_edges, last, hull.corner[i]), 1, "face %d, corner %d", f, i);
        }
        sap_hull_free(&hull);
    }
}

/* ---- boxes ---- */

Test(hull_tables, a_box_around_a_hull_holds_its_vertices_and_touches_them) {
    static double x[MOST_POINTS][3];
    Random random = random_seed(3);
    for (int kind = 0; kind < 3; kind++) {
        int n = make_points(kind, &random, x);
        const double tilted[4] = {0.36, 0.48, 0.8, 0};
        double box[15], touched[3] = {0};
        sap_hull_box(&x[0][0], n, tilted, 1, box);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                double along = 0;
                for (int j = 0; j < 3; j++)
                    along += box[3 + 3 * k + j] * (x[i][j] - box[j]);
                cr_assert_leq(fabs(along), box[12 + k] + 1e-12);
                touched[k] = fmax(touched[k], fabs(along));
            }
        for (int k = 0; k < 3; k++)
            cr_assert_float_eq(touched[k], box[12 + k], 1e-12);
    }
}

/* Along the normal of a face, with an axis in the face: the corners of a box that is turned about z give the box. */
Test(hull_tables, a_box_around_a_turned_box_is_that_box) {
    const double half[3] = {0.1, 0.2, 0.3}, c = cos(0.5), s = sin(0.5), face[4] = {c, s, 0, half[0]};
    double x[8][3], box[15];
    for (int i = 0; i < 8; i++) {
        double a = i & 1 ? half[0] : -half[0], b = i & 2 ? half[1] : -half[1];
        memcpy(x[i], (const double[3]){c * a - s * b, s * a + c * b, i & 4 ? half[2] : -half[2]}, sizeof x[i]);
    }
    sap_hull_box(&x[0][0], 8, face, 1, box);
    for (int k = 0; k < 3; k++)
        cr_expect_float_eq(box[k], 0, 1e-14);
    cr_expect_float_eq(box[12] * box[13] * box[14], half[0] * half[1] * half[2], 1e-14);
}
