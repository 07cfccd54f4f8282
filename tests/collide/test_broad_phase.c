/* The pairs of shapes that are looked at: all broad phases give the same contacts to the bit, and filters hold. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/collide_worlds.h"
#include "support/random_model.h"
#include "support/shape_model.h"

/* ---- all broad phases ---- */

/* Records follow the smaller shape of their pair, then the larger. */
static void expect_pair_order(const SapContacts *c, int world) {
    for (int i = 1; i < c->count[world]; i++) {
        const int32_t *s0 = c->shape0 + (size_t)world * (size_t)c->capacity + i,
                      *s1 = c->shape1 + (size_t)world * (size_t)c->capacity + i;
        int low[2], high[2];
        for (int k = 0; k < 2; k++) {
            low[k] = s0[k - 1] < s1[k - 1] ? s0[k - 1] : s1[k - 1];
            high[k] = s0[k - 1] < s1[k - 1] ? s1[k - 1] : s0[k - 1];
        }
        cr_assert(low[0] < low[1] || (low[0] == low[1] && high[0] <= high[1]), "world %d: record %d of shapes %d, %d",
                  world, i, s0[0], s1[0]);
    }
}

enum { BODIES = 20, PER_BODY = 10, MANY_SLOTS = 2048 };

static void random_shape(ShapeModel *m, int body, Random *random) {
    static const SapShapeType types[] = {SAP_SHAPE_SPHERE, SAP_SHAPE_CAPSULE, SAP_SHAPE_ELLIPSOID, SAP_SHAPE_CYLINDER,
                                         SAP_SHAPE_BOX,    SAP_SHAPE_CONE,    SAP_SHAPE_HULL};
    double size[3];
    for (int k = 0; k < 3; k++)
        size[k] = random_between(random, 0.05, 0.15);
    int s = shape_model_shape(m, body, types[random_below(random, 7)], size[0], size[1], size[2]);
    for (int k = 0; k < 3; k++)
        m->pose[s][k] = random_between(random, -0.5, 0.5);
    random_quaternion(random, m->pose[s] + 3);
    m->margin[s] = random_between(random, 0, 0.01);
    m->gap[s] = random_between(random, 0, 0.03);
}

/* Many shapes of all types, a plane, another on a body of its own, and a hilly field. */
static SapModel *many_shapes(uint64_t seed) {
    Random random = random_seed(seed);
    ShapeModel m;
    shape_model_init(&m);
    for (int b = 0; b < BODIES; b++) {
        shape_model_body(&m, random_between(&random, -1, 1), random_between(&random, -1, 1),
                         random_between(&random, 0, 1.5));
        for (int i = 0; i < PER_BODY; i++)
            random_shape(&m, b, &random);
        if (b == BODIES / 2) /* in the middle of the list, so that indices of pairs go both ways */
            shape_model_shape(&m, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    }
    shape_model_shape(&m, -1, SAP_SHAPE_HEIGHT_FIELD, 2, 2, 0);
    for (int i = 0; i < SHAPE_MODEL_GRID * SHAPE_MODEL_GRID; i++)
        m.heights[i / SHAPE_MODEL_GRID][i % SHAPE_MODEL_GRID] = random_between(&random, -0.1, 0.1);
    int plane = shape_model_shape(&m, shape_model_body(&m, 0, 0, 0), SAP_SHAPE_PLANE, 0, 0, 0);
    m.pose[plane][2] = -0.1;
    return shape_model_create(&m);
}

/* World 0 is the model's; in the others bodies are elsewhere. */
static void scatter(const CollideWorlds *w, int world, uint64_t seed) {
    Random random = random_seed(seed + (uint64_t)world);
    for (int b = 0; b < BODIES && world > 0; b++) {
        double *q = collide_worlds_q(w, world) + 7 * b;
        for (int k = 0; k < 3; k++)
            q[k] += random_between(&random, -0.3, 0.3);
        random_quaternion(&random, q + 3);
    }
}

static CollideWorlds collide_many(const SapModel *model, int n, SapBroadPhase broad_phase, int lanes, int threads) {
    SapOptions o = f64_options(MANY_SLOTS);
    o.broad_phase = broad_phase;
    o.lanes = lanes;
    o.threads = threads;
    CollideWorlds w = collide_worlds_create(model, n, &o);
    for (int i = 0; i < n; i++)
        scatter(&w, i, 5);
    collide_worlds_run(&w);
    return w;
}

/* Pairs of types that touch in some world. */
static int count_kinds(const CollideWorlds *w, const SapModelArrays *a) {
    bool seen[16][16] = {{false}};
    int kinds = 0;
    for (int i = 0; i < w->n; i++)
        for (int c = 0; c < w->contacts->count[i]; c++) {
            size_t at = (size_t)i * MANY_SLOTS + (size_t)c;
            seen[a->shape_type[w->contacts->shape0[at]]][a->shape_type[w->contacts->shape1[at]]] = true;
        }
    for (int i = 0; i < 256; i++)
        kinds += seen[i / 16][i % 16];
    return kinds;
}

Test(collide, all_broad_phases_find_the_same_contacts_to_the_bit, .timeout = 120) {
    enum { N = 9 };
    static const int lanes[] = {1, 4, 8};
    SapModel *model = many_shapes(3);
    CollideWorlds expected = collide_many(model, N, SAP_BROAD_PHASE_LISTED, 1, 1);
    cr_assert_gt(expected.contacts->count[0], 50);
    cr_assert_geq(count_kinds(&expected, sap_model_arrays(model)), 30, "of 41 pairs of types %d touch",
                  count_kinds(&expected, sap_model_arrays(model)));
    for (int i = 0; i < N; i++) {
        cr_assert_eq(expected.contacts->dropped[i], 0, "the test has too few slots");
        expect_pair_order(expected.contacts, i);
    }
    for (int l = 0; l < 3; l++)
        for (int phase = SAP_BROAD_PHASE_AUTO; phase <= SAP_BROAD_PHASE_TREE; phase++) {
            char what[64];
            snprintf(what, sizeof what, "lanes %d, broad phase %d", lanes[l], phase);
            CollideWorlds w = collide_many(model, N, (SapBroadPhase)phase, lanes[l], 1 + l % 2);
            for (int i = 0; i < N; i++)
                expect_same_world(w.contacts, i, expected.contacts, i, what);
            collide_worlds_destroy(&w);
        }
    collide_worlds_destroy(&expected);
    sap_model_destroy(model);
}

/* A world of few shapes, where the others must be asked for. */
Test(collide, a_sweep_or_a_tree_of_few_shapes_finds_what_the_list_does) {
    SapModel *model = spheres_on_plane();
    SapOptions o = f64_options(16);
    CollideWorlds listed = collide_worlds_create(model, 3, &o);
    collide_worlds_run(&listed);
    cr_assert_eq(listed.contacts->count[2], SPHERES);
    for (int phase = SAP_BROAD_PHASE_SWEEP; phase <= SAP_BROAD_PHASE_TREE; phase++) {
        o.broad_phase = (SapBroadPhase)phase;
        CollideWorlds other = collide_worlds_create(model, 3, &o);
        collide_worlds_run(&other);
        for (int i = 0; i < 3; i++)
            expect_same_world(other.contacts, i, listed.contacts, i, phase == SAP_BROAD_PHASE_TREE ? "tree" : "sweep");
        collide_worlds_destroy(&other);
    }
    collide_worlds_destroy(&listed);
    sap_model_destroy(model);
}

/* ---- many static shapes ---- */

enum { STATIC_BODIES = 8, STATIC_FIRST = 60, STATIC_LAST = 2200 }; /* more than 2 x 1024 in all: two words of words */

static void random_static(ShapeModel *m, Random *random) {
    random_shape(m, -1, random);
    double *pose = m->pose[m->a.num_shapes - 1], range = random_below(random, 8) ? 5 : 1.2;
    for (int k = 0; k < 3; k++)
        pose[k] = random_between(random, k < 2 ? -range : -0.3, k < 2 ? range : 1.2);
}

/* Static shapes before and after the shapes of bodies, a plane, a field, and perhaps a plane that moves. */
static SapModel *many_statics(bool plane_moves) {
    static const int32_t no_pair[2] = {5, STATIC_FIRST};
    Random random = random_seed(17);
    ShapeModel m;
    shape_model_init(&m);
    for (int i = 0; i < STATIC_FIRST; i++)
        random_static(&m, &random);
    for (int b = 0; b < STATIC_BODIES; b++) {
        shape_model_body(&m, random_between(&random, -1, 1), random_between(&random, -1, 1),
                         random_between(&random, 0, 1.5));
        random_shape(&m, b, &random);
        random_shape(&m, b, &random);
        random_static(&m, &random);
    }
    shape_model_shape(&m, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    if (plane_moves)
        shape_model_shape(&m, 0, SAP_SHAPE_PLANE, 0, 0, 0);
    shape_model_shape(&m, -1, SAP_SHAPE_HEIGHT_FIELD, 2, 2, 0);
    for (int i = 0; i < STATIC_LAST; i++)
        random_static(&m, &random);
    for (int s = 0; s < m.a.num_shapes; s++) /* some do not collide with some */
        m.group[s] = s % 7 == 0 ? 2 : s % 5 == 0 ? -1 : s % 11 == 0 ? 0 : 1;
    m.a.num_shape_filter_pairs = 1;
    m.a.shape_filter_pairs = no_pair;
    return shape_model_create(&m);
}

static CollideWorlds collide_statics(const SapModel *model, int n, SapOptions o, SapBroadPhase phase) {
    o.broad_phase = phase;
    CollideWorlds w = collide_worlds_create(model, n, &o);
    for (int i = 1; i < n; i++) {
        Random random = random_seed(40 + (uint64_t)i);
        for (int b = 0; b < STATIC_BODIES; b++)
            for (int k = 0; k < 2; k++)
                collide_worlds_q(&w, i)[7 * b + k] = random_between(&random, -1, 1);
    }
    collide_worlds_run(&w);
    return w;
}

Test(collide, a_tree_of_static_shapes_finds_what_the_list_does_to_the_bit) {
    enum { N = 11 };
    for (int i = 0; i < 6; i++) {
        SapModel *model = many_statics(i >= 4);
        SapOptions o = f64_options(8192);
        o.contact_geometry_f64 = i % 2;
        o.lanes = i < 2 ? 1 : i < 4 ? 4 : 8;
        o.threads = 1 + i / 2;
        CollideWorlds listed = collide_statics(model, N, o, SAP_BROAD_PHASE_LISTED);
        CollideWorlds tree = collide_statics(model, N, o, SAP_BROAD_PHASE_TREE);
        SapSolverInfo a, b;
        int contacts = 0;
        need(sap_solver_info(listed.solver, &a));
        need(sap_solver_info(tree.solver, &b));
        cr_assert_eq(a.shape_pairs, b.shape_pairs, "%d pairs by the tree, %d listed", b.shape_pairs, a.shape_pairs);
        for (int w = 0; w < N; w++) {
            contacts += listed.contacts->count[w];
            cr_assert_eq(listed.contacts->dropped[w], 0, "the test has too few slots");
            expect_pair_order(tree.contacts, w);
            expect_same_world(tree.contacts, w, listed.contacts, w, "tree");
        }
        cr_assert_gt(contacts, 10 * N, "%d contacts", contacts);
        collide_worlds_destroy(&listed);
        collide_worlds_destroy(&tree);
        sap_model_destroy(model);
    }
}

/* The boxes of the tree have the margins of the model; worlds may have their own. */
Test(collide, a_tree_finds_contacts_of_worlds_with_margins_of_their_own) {
    enum { N = 5 };
    SapModel *model = many_statics(false);
    int ns = sap_model_arrays(model)->num_shapes, found[2][N];
    for (int i = 0; i < 2; i++) {
        SapOptions o = f64_options(2048);
        o.broad_phase = i ? SAP_BROAD_PHASE_TREE : SAP_BROAD_PHASE_LISTED;
        SapBatch *batch;
        SapArray margin;
        need(sap_batch_create(model, N, &o, &batch));
        need(sap_batch_expand(batch, SAP_PARAMETER_SHAPE_MARGIN, &margin));
        for (int s = 0; s < 2 * ns; s++)
            ((double *)margin.data)[s] = 0.3; /* worlds 0 and 1 */
        need(sap_batch_step(batch, 1e-6, 1));
        memcpy(found[i], sap_batch_contacts(batch)->count, sizeof found[i]);
        sap_batch_destroy(batch);
    }
    cr_assert_gt(found[0][0], 2 * found[0][2], "margins add no contacts");
    for (int w = 0; w < N; w++)
        cr_assert_eq(found[0][w], found[1][w], "world %d: %d contacts by the tree, %d listed", w, found[1][w],
                     found[0][w]);
    sap_model_destroy(model);
}

Test(collide, auto_takes_a_tree_for_many_static_shapes_only) {
    SapModel *models[3] = {many_statics(false), many_shapes(3), spheres_on_plane()};
    for (int i = 0; i < 3; i++) {
        SapOptions o = f64_options(8);
        CollideWorlds w = collide_worlds_create(models[i], 1, &o);
        SapSolverInfo info;
        need(sap_solver_info(w.solver, &info));
        cr_expect_eq(info.broad_phase, i == 0 ? SAP_BROAD_PHASE_TREE : SAP_BROAD_PHASE_LISTED, "model %d", i);
        collide_worlds_destroy(&w);
        sap_model_destroy(models[i]);
    }
}

/* ---- bounds that are not finite ---- */

enum { ROW = 24 };

/* A row of spheres that touch their neighbours, from the last to the first along x. Between them in the order of shapes
 * are spheres of a slider, on a slider on the first body; both slide along (1, 1, 1). */
static SapModel *row_with_sliders(void) {
    const double part = 1 / sqrt(3);
    static double axis[6 * ROW + 2][3];
    ShapeModel m;
    shape_model_init(&m);
    for (int b = 0; b < ROW; b++) {
        shape_model_body(&m, 0.15 * (ROW - b), 0.01 * b, 1);
        shape_model_shape(&m, b, SAP_SHAPE_SPHERE, 0.1, 0, 0);
        shape_model_shape(&m, ROW + 1, SAP_SHAPE_SPHERE, 0.1, 0, 0);
    }
    for (int k = 0; k < 2; k++) {
        int slider = shape_model_body(&m, 0, 0, 0);
        m.joint[slider] = SAP_JOINT_PRISMATIC;
        m.parent[slider] = k == 0 ? 0 : ROW;
        memcpy(axis[6 * ROW + k], (const double[3]){part, part, part}, sizeof *axis);
    }
    m.a.num_coords = 7 * ROW + 2;
    m.a.num_dofs = 6 * ROW + 2;
    m.a.joint_axis = axis[0];
    return shape_model_create(&m);
}

/* A slider at 1.7e308 on a body that is turned by half a turn about an axis across its own is infinitely far, as the turn
 * takes its place twice; one on it that slides back is at NaN. All three coordinates are, so the sweep has no other axis
 * to take. Where geometry is in f32, a place beyond it is a state that is not finite, and its world has no contacts. */
static void check_far_places(const SapModel *model, bool f64_geometry) {
    static const double place[] = {0, 3.3e38, 1e39, -1e39, 1e300, -1e300, 1.7e308, 1.7e308};
    enum { WORLDS = sizeof place / sizeof *place };
    CollideWorlds w[SAP_BROAD_PHASE_TREE + 1];
    for (int phase = SAP_BROAD_PHASE_LISTED; phase <= SAP_BROAD_PHASE_TREE; phase++) {
        SapOptions o = f64_options(256);
        o.contact_geometry_f64 = f64_geometry;
        o.broad_phase = (SapBroadPhase)phase;
        o.lanes = 1; /* a pair that is near in one lane is looked at in all */
        w[phase] = collide_worlds_create(model, WORLDS, &o);
        for (int i = 0; i < WORLDS; i++) {
            double *q = collide_worlds_q(&w[phase], i);
            q[7 * ROW] = place[i];
            q[7 * ROW + 1] = place[i] > 1e308 ? -place[i] : place[i];
            memcpy(q + 3, (const double[4]){sqrt(0.5), -sqrt(0.5), 0, 0}, 4 * sizeof(double));
            if (i % 2) /* and a body of the row */
                q[7 * (ROW / 2) + 1] = place[i];
        }
        collide_worlds_run(&w[phase]);
    }
    for (int i = 0; i < WORLDS; i++) {
        int count = w[SAP_BROAD_PHASE_LISTED].contacts->count[i];
        if (f64_geometry || fabs(place[i]) <= FLT_MAX)
            cr_assert_geq(count, ROW - 3, "world %d: %d", i, count);
        else
            cr_assert_eq(count, 0, "world %d: %d", i, count);
        for (int phase = SAP_BROAD_PHASE_SWEEP; phase <= SAP_BROAD_PHASE_TREE; phase++)
            expect_same_world(w[phase].contacts, i, w[SAP_BROAD_PHASE_LISTED].contacts, i,
                              phase == SAP_BROAD_PHASE_TREE ? "tree" : "sweep");
    }
    for (int phase = SAP_BROAD_PHASE_LISTED; phase <= SAP_BROAD_PHASE_TREE; phase++)
        collide_worlds_destroy(&w[phase]);
}

Test(collide, shapes_whose_bounds_are_not_finite_take_no_contacts_from_others) {
    SapModel *model = row_with_sliders();
    check_far_places(model, false);
    check_far_places(model, true);
    sap_model_destroy(model);
}

/* ---- filters ---- */

/* Two spheres that overlap, on bodies of which the second hangs on the first; contacts that are left. */
typedef void Change(ShapeModel *m);

static int count_of_two(Change *change) {
    ShapeModel m;
    shape_model_init(&m);
    shape_model_body(&m, 0, 0, 1);
    shape_model_body(&m, 0.1, 0, 1);
    m.joint[1] = SAP_JOINT_BALL;
    m.parent[1] = 0;
    memcpy(m.q[1], (const double[4]){0, 0, 0, 1}, 4 * sizeof(double)); /* of the ball joint */
    m.a.num_dofs = 9;
    m.a.num_coords = 11;
    static const int32_t joined[2] = {0, 0};
    m.a.joint_filter_parent = joined;
    shape_model_shape(&m, 0, SAP_SHAPE_SPHERE, 0.1, 0, 0);
    shape_model_shape(&m, 1, SAP_SHAPE_BOX, 0.1, 0.1, 0.1);
    m.pose[1][0] = 0.1;
    if (change)
        change(&m);
    SapModel *model = shape_model_create(&m);
    SapOptions o = f64_options(8);
    CollideWorlds w = collide_worlds_create(model, 1, &o);
    collide_worlds_run(&w);
    int count = w.contacts->count[0];
    for (int phase = SAP_BROAD_PHASE_SWEEP; phase <= SAP_BROAD_PHASE_TREE; phase++) {
        o.broad_phase = (SapBroadPhase)phase;
        CollideWorlds other = collide_worlds_create(model, 1, &o);
        collide_worlds_run(&other);
        expect_same_world(other.contacts, 0, w.contacts, 0, phase == SAP_BROAD_PHASE_TREE ? "tree" : "sweep");
        collide_worlds_destroy(&other);
    }
    collide_worlds_destroy(&w);
    sap_model_destroy(model);
    return count;
}

static const int32_t both_bodies[2] = {1, 0}, both_shapes[2] = {1, 0}, both_joints[2] = {1, 1};

static void group_0(ShapeModel *m) {
    m->group[1] = 0;
}
static void other_groups(ShapeModel *m) {
    m->group[1] = 2;
}
static void negative_group(ShapeModel *m) {
    m->group[1] = -1;
}
static void not_colliding(ShapeModel *m) {
    m->flags[0] = SAP_SHAPE_VISIBLE;
}
static void joined_to_parent(ShapeModel *m) {
    m->a.joint_filter_parent = both_joints;
}
static void bodies_excluded(ShapeModel *m) {
    m->a.num_filter_pairs = 1;
    m->a.body_filter_pairs = both_bodies;
}
static void shapes_excluded(ShapeModel *m) {
    m->a.num_shape_filter_pairs = 1;
    m->a.shape_filter_pairs = both_shapes;
}
static void on_one_body(ShapeModel *m) {
    m->body[1] = 0;
}

Test(collide, filtered_pairs_do_not_touch) {
    cr_expect_eq(count_of_two(NULL), 1);
    cr_expect_eq(count_of_two(negative_group), 1);
    cr_expect_eq(count_of_two(group_0), 0);
    cr_expect_eq(count_of_two(other_groups), 0);
    cr_expect_eq(count_of_two(not_colliding), 0);
    cr_expect_eq(count_of_two(joined_to_parent), 0);
    cr_expect_eq(count_of_two(bodies_excluded), 0);
    cr_expect_eq(count_of_two(shapes_excluded), 0);
    cr_expect_eq(count_of_two(on_one_body), 0);
}
