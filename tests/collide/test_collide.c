/* Collision as a whole: which contacts sap_collide finds, in which order, what happens where slots are too few, and that neither the
 * broad phase, nor lanes, threads or neighbours show in the result. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/sapwood.h>

#include "support/random_model.h"
#include "support/rotation.h"
#include "support/shape_model.h"

static void need(SapStatus status) {
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
}

/* ---- worlds ---- */

typedef struct Worlds {
    int n, nq;
    SapSolver *solver;
    SapState *state; /* f64 */
    SapContacts *contacts;
} Worlds;

static SapOptions f64_options(int slots) {
    SapOptions o;
    need(sap_options_preset("approx64", &o));
    o.max_rigid_contact = slots;
    o.threads = 1;
    return o;
}

static Worlds worlds_create(const SapModel *model, int n, const SapOptions *options) {
    Worlds w = {.n = n, .nq = sap_model_arrays(model)->num_coords};
    need(sap_solver_create(model, n, options, &w.solver));
    need(sap_state_create(model, n, SAP_F64, &w.state));
    need(sap_contacts_create(n, options->max_rigid_contact, SAP_F64, &w.contacts));
    return w;
}

static void worlds_destroy(Worlds *w) {
    sap_contacts_destroy(w->contacts);
    sap_state_destroy(w->state);
    sap_solver_destroy(w->solver);
}

static double *worlds_q(const Worlds *w, int world) {
    return (double *)w->state->joint_q + (size_t)world * (size_t)w->nq;
}

static void worlds_collide(Worlds *w) {
    need(sap_collide(w->solver, w->state, w->contacts));
}

static const double *row(const void *array, const SapContacts *c, int world, int slot, int width) {
    return (const double *)array + ((size_t)world * (size_t)c->capacity + (size_t)slot) * (size_t)width;
}

static bool same(const void *x, const void *y, size_t count) {
    return memcmp(x, y, count * sizeof(double)) == 0;
}

/* Whether two records are the same to the bit. */
static bool same_record(const SapContacts *a, int wa, int ca, const SapContacts *b, int wb, int cb) {
    size_t at = (size_t)wa * (size_t)a->capacity + (size_t)ca, bt = (size_t)wb * (size_t)b->capacity + (size_t)cb;
    return a->shape0[at] == b->shape0[bt] && a->shape1[at] == b->shape1[bt] && a->body0[at] == b->body0[bt] &&
           a->body1[at] == b->body1[bt] && same(row(a->point0, a, wa, ca, 3), row(b->point0, b, wb, cb, 3), 3) &&
           same(row(a->point1, a, wa, ca, 3), row(b->point1, b, wb, cb, 3), 3) &&
           same(row(a->normal, a, wa, ca, 3), row(b->normal, b, wb, cb, 3), 3) &&
           same(row(a->margin0, a, wa, ca, 1), row(b->margin0, b, wb, cb, 1), 1) &&
           same(row(a->margin1, a, wa, ca, 1), row(b->margin1, b, wb, cb, 1), 1);
}

static void expect_same_world(const SapContacts *a, int wa, const SapContacts *b, int wb, const char *what) {
    cr_assert_eq(a->count[wa], b->count[wb], "%s: world %d has %d contacts, not %d", what, wa, a->count[wa],
                 b->count[wb]);
    cr_assert_eq(a->dropped[wa], b->dropped[wb], "%s: world %d", what, wa);
    for (int c = 0; c < a->count[wa]; c++)
        cr_assert(same_record(a, wa, c, b, wb, c), "%s: record %d of world %d differs", what, c, wa);
}

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

/* ---- capacity: spheres that sink into a plane ---- */

enum { SPHERES = 12 };
static const double radius = 0.25;
/* Multiples of 1/64, so that gaps are exact and ties are ties. */
static const double depth[SPHERES] = {1, 4, 2, 4, 7, 1, 4, 3, 7, 2, 1, 5};

static SapModel *spheres_on_plane(void) {
    ShapeModel m;
    shape_model_init(&m);
    shape_model_shape(&m, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    for (int i = 0; i < SPHERES; i++) {
        double margin = i % 3 * 3 / 64.0; /* which counts as depth */
        int body = shape_model_body(&m, i, 0, radius + margin - depth[i] / 64);
        m.margin[shape_model_shape(&m, body, SAP_SHAPE_SPHERE, radius, 0, 0)] = margin;
    }
    return shape_model_create(&m);
}

/* Whether sphere i is among the `slots` that are kept: fewer than that many are deeper, or as deep and before it. */
static bool is_kept(int i, int slots) {
    int before = 0;
    for (int k = 0; k < SPHERES; k++)
        before += depth[k] > depth[i] || (depth[k] == depth[i] && k < i);
    return before < slots;
}

Test(collide, a_world_without_room_keeps_the_deepest_in_the_order_of_pairs_and_counts_the_others) {
    SapModel *model = spheres_on_plane();
    SapOptions roomy = f64_options(SPHERES + 3);
    Worlds all = worlds_create(model, 1, &roomy);
    worlds_collide(&all);
    cr_assert_eq(all.contacts->count[0], SPHERES);
    cr_assert_eq(all.contacts->dropped[0], 0);
    for (int slots = 1; slots <= SPHERES; slots++) {
        SapOptions o = f64_options(slots);
        Worlds w = worlds_create(model, 1, &o);
        worlds_collide(&w);
        cr_assert_eq(w.contacts->count[0], slots);
        cr_assert_eq(w.contacts->dropped[0], SPHERES - slots);
        for (int i = 0, c = 0; i < SPHERES; i++)
            if (is_kept(i, slots)) {
                cr_assert(same_record(w.contacts, 0, c, all.contacts, 0, i), "%d slots: record %d is not sphere %d",
                          slots, c, i);
                c++;
            }
        worlds_destroy(&w);
    }
    worlds_destroy(&all);
    sap_model_destroy(model);
}

Test(collide, an_overflowing_world_among_64_is_the_same_in_any_lane_and_touches_no_other) {
    enum { N = 64, SLOTS = 5 };
    SapModel *model = spheres_on_plane();
    SapOptions o = f64_options(SLOTS);
    Worlds crowded = worlds_create(model, 1, &o), single = worlds_create(model, N, &o);
    worlds_collide(&crowded);
    /* in world w, sphere i touches if w has the bit i % 6; at most 4 of them do */
    for (int w = 0; w < N; w++)
        for (int i = 0; i < SPHERES; i++)
            worlds_q(&single, w)[7 * i + 2] += i < 4 && (w >> i & 1) ? 0.01 * w / N : 1;
    worlds_collide(&single);
    for (int lanes = 1; lanes <= 8; lanes = lanes == 1 ? 4 : 2 * lanes)
        for (int place = 0; place < N; place += 7) {
            char what[64];
            snprintf(what, sizeof what, "lanes %d, crowded world %d", lanes, place);
            o.lanes = lanes;
            o.threads = 1 + place % 2;
            Worlds w = worlds_create(model, N, &o);
            memcpy(w.state->joint_q, single.state->joint_q, sizeof(double) * N * (size_t)w.nq);
            memcpy(worlds_q(&w, place), crowded.state->joint_q, sizeof(double) * (size_t)w.nq);
            worlds_collide(&w);
            for (int i = 0; i < N; i++)
                expect_same_world(w.contacts, i, i == place ? crowded.contacts : single.contacts, i == place ? 0 : i,
                                  what);
            worlds_destroy(&w);
        }
    worlds_destroy(&single);
    worlds_destroy(&crowded);
    sap_model_destroy(model);
}

/* ---- both broad phases ---- */

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
static void scatter(const Worlds *w, int world, uint64_t seed) {
    Random random = random_seed(seed + (uint64_t)world);
    for (int b = 0; b < BODIES && world > 0; b++) {
        double *q = worlds_q(w, world) + 7 * b;
        for (int k = 0; k < 3; k++)
            q[k] += random_between(&random, -0.3, 0.3);
        random_quaternion(&random, q + 3);
    }
}

static Worlds collide_many(const SapModel *model, int n, SapBroadPhase broad_phase, int lanes, int threads) {
    SapOptions o = f64_options(MANY_SLOTS);
    o.broad_phase = broad_phase;
    o.lanes = lanes;
    o.threads = threads;
    Worlds w = worlds_create(model, n, &o);
    for (int i = 0; i < n; i++)
        scatter(&w, i, 5);
    worlds_collide(&w);
    return w;
}

/* Pairs of types that touch in some world. */
static int count_kinds(const Worlds *w, const SapModelArrays *a) {
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

Test(collide, both_broad_phases_find_the_same_contacts_to_the_bit, .timeout = 120) {
    enum { N = 9 };
    static const int lanes[] = {1, 4, 8};
    SapModel *model = many_shapes(3);
    Worlds expected = collide_many(model, N, SAP_BROAD_PHASE_LISTED, 1, 1);
    cr_assert_gt(expected.contacts->count[0], 50);
    cr_assert_geq(count_kinds(&expected, sap_model_arrays(model)), 30, "of 41 pairs of types %d touch",
                  count_kinds(&expected, sap_model_arrays(model)));
    for (int i = 0; i < N; i++) {
        cr_assert_eq(expected.contacts->dropped[i], 0, "the test has too few slots");
        expect_pair_order(expected.contacts, i);
    }
    for (int l = 0; l < 3; l++)
        for (int phase = SAP_BROAD_PHASE_AUTO; phase <= SAP_BROAD_PHASE_SWEEP; phase++) {
            char what[64];
            snprintf(what, sizeof what, "lanes %d, broad phase %d", lanes[l], phase);
            Worlds w = collide_many(model, N, (SapBroadPhase)phase, lanes[l], 1 + l % 2);
            for (int i = 0; i < N; i++)
                expect_same_world(w.contacts, i, expected.contacts, i, what);
            worlds_destroy(&w);
        }
    worlds_destroy(&expected);
    sap_model_destroy(model);
}

/* A world of few shapes, where the sweep must be asked for. */
Test(collide, a_sweep_of_few_shapes_finds_what_the_list_does) {
    SapModel *model = spheres_on_plane();
    SapOptions o = f64_options(16);
    Worlds listed = worlds_create(model, 3, &o);
    o.broad_phase = SAP_BROAD_PHASE_SWEEP;
    Worlds sweep = worlds_create(model, 3, &o);
    worlds_collide(&listed);
    worlds_collide(&sweep);
    cr_assert_eq(listed.contacts->count[2], SPHERES);
    for (int i = 0; i < 3; i++)
        expect_same_world(sweep.contacts, i, listed.contacts, i, "sweep");
    worlds_destroy(&listed);
    worlds_destroy(&sweep);
    sap_model_destroy(model);
}

/* ---- reach, margins and gaps ---- */

typedef struct Stacked {
    SapShapeType lower, upper;
} Stacked;

static const Stacked stacked[] = {{SAP_SHAPE_PLANE, SAP_SHAPE_SPHERE},
                                  {SAP_SHAPE_PLANE, SAP_SHAPE_BOX},
                                  {SAP_SHAPE_HEIGHT_FIELD, SAP_SHAPE_SPHERE},
                                  {SAP_SHAPE_HEIGHT_FIELD, SAP_SHAPE_BOX},
                                  {SAP_SHAPE_SPHERE, SAP_SHAPE_SPHERE},
                                  {SAP_SHAPE_SPHERE, SAP_SHAPE_BOX},
                                  {SAP_SHAPE_BOX, SAP_SHAPE_BOX},
                                  {SAP_SHAPE_HULL, SAP_SHAPE_BOX},
                                  {SAP_SHAPE_HULL, SAP_SHAPE_HULL},
                                  {SAP_SHAPE_ELLIPSOID, SAP_SHAPE_SPHERE}};
enum { NUM_STACKED = sizeof stacked / sizeof *stacked };

static bool is_terrain(SapShapeType type) {
    return type == SAP_SHAPE_PLANE || type == SAP_SHAPE_HEIGHT_FIELD;
}

/* One shape over another, `distance` apart. All reach 0.5 up and down, terrain 0. */
static SapModel *stacked_model(const Stacked *pair, double distance, const double margin[2], const double gap[2]) {
    ShapeModel m;
    shape_model_init(&m);
    bool terrain = is_terrain(pair->lower);
    int below = terrain ? -1 : shape_model_body(&m, 0, 0, -0.5);
    shape_model_shape(&m, below, pair->lower, terrain ? 2 : 0.5, terrain ? 2 : 0.5, 0.5);
    shape_model_shape(&m, shape_model_body(&m, 0.03, 0.02, 0.5 + distance), pair->upper, 0.5, 0.5, 0.5);
    if (pair->upper == SAP_SHAPE_SPHERE || pair->lower == SAP_SHAPE_SPHERE)
        m.q[m.a.num_bodies - 1][0] = m.q[m.a.num_bodies - 1][1] = 0; /* straight above */
    for (int s = 0; s < 2; s++) {
        m.margin[s] = margin[s];
        m.gap[s] = gap[s];
    }
    return shape_model_create(&m);
}

static int count_stacked(const Stacked *pair, double distance, const double margin[2], const double gap[2]) {
    SapModel *model = stacked_model(pair, distance, margin, gap);
    SapOptions o = f64_options(16);
    Worlds w = worlds_create(model, 1, &o);
    worlds_collide(&w);
    int count = w.contacts->count[0];
    worlds_destroy(&w);
    sap_model_destroy(model);
    return count;
}

Test(collide, contacts_begin_where_the_distance_is_margins_and_gaps_together) {
    static const double cases[][4] = {{0, 0, 0, 0},    {0.01, 0, 0, 0}, {0, 0.02, 0, 0},
                                      {0, 0, 0.03, 0}, {0, 0, 0, 0.05}, {0.01, 0.02, 0.03, 0.05}};
    const double near = 1e-6;
    for (int p = 0; p < NUM_STACKED; p++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const double *margin = cases[i], *gap = cases[i] + 2;
            double reach = margin[0] + margin[1] + gap[0] + gap[1];
            int inside = count_stacked(&stacked[p], reach - near, margin, gap);
            int outside = count_stacked(&stacked[p], reach + near, margin, gap);
            cr_expect(inside > 0 && outside == 0, "types %d, %d, reach %g: %d contacts just inside, %d just outside",
                      (int)stacked[p].lower, (int)stacked[p].upper, reach, inside, outside);
        }
}

Test(collide, margins_move_the_gap_but_not_the_points) {
    enum { SLOTS = 16 };
    const double margin[2] = {0.01, 0.025}, none[2] = {0, 0}, gap[2] = {0.1, 0.1}, distance = 0.05;
    for (int p = 0; p < NUM_STACKED; p++) {
        SapModel *with = stacked_model(&stacked[p], distance, margin, gap);
        SapModel *without = stacked_model(&stacked[p], distance, none, gap);
        SapOptions o = f64_options(SLOTS);
        Worlds a = worlds_create(with, 1, &o), b = worlds_create(without, 1, &o);
        double phi[2][SLOTS];
        for (int i = 0; i < 2; i++) {
            Worlds *w = i ? &b : &a;
            const SapContactReport report = {.gap = phi[i]};
            worlds_collide(w);
            need(sap_solver_record(w->solver, &report));
            need(sap_step(w->solver, w->state, NULL, w->contacts, 1e-3, w->state));
        }
        cr_assert(a.contacts->count[0] > 0 && a.contacts->count[0] == b.contacts->count[0]);
        for (int c = 0; c < a.contacts->count[0]; c++) {
            cr_expect_float_eq(phi[0][c], distance - margin[0] - margin[1], 1e-9, "types %d, %d: gap %.12g",
                               (int)stacked[p].lower, (int)stacked[p].upper, phi[0][c]);
            cr_expect_float_eq(phi[1][c], distance, 1e-9);
            cr_expect(
                same(row(a.contacts->point0, a.contacts, 0, c, 3), row(b.contacts->point0, b.contacts, 0, c, 3), 3));
            cr_expect(
                same(row(a.contacts->point1, a.contacts, 0, c, 3), row(b.contacts->point1, b.contacts, 0, c, 3), 3));
            double m0 = *row(a.contacts->margin0, a.contacts, 0, c, 1),
                   m1 = *row(a.contacts->margin1, a.contacts, 0, c, 1);
            cr_expect(fmin(m0, m1) == margin[0] && fmax(m0, m1) == margin[1], "margins %g, %g", m0, m1);
        }
        worlds_destroy(&a);
        worlds_destroy(&b);
        sap_model_destroy(with);
        sap_model_destroy(without);
    }
}

/* What the solver records of contacts it found itself is what it records of them when they are handed to it. */
Test(collide, a_batch_records_the_gaps_that_collide_and_step_record) {
    SapModel *model = spheres_on_plane();
    SapOptions o = f64_options(SPHERES);
    double gap[SPHERES];
    const SapContactReport report = {.gap = gap};
    Worlds w = worlds_create(model, 1, &o);
    SapBatch *batch;
    SapArray view;
    need(sap_batch_create(model, 1, &o, &batch));
    need(sap_batch_array(batch, SAP_BATCH_CONTACT_GAP, &view));
    need(sap_solver_record(w.solver, &report));
    worlds_collide(&w);
    need(sap_step(w.solver, w.state, NULL, w.contacts, 1e-3, w.state));
    need(sap_batch_step(batch, 1e-3, 1));
    for (int i = 0; i < SPHERES; i++) {
        cr_expect_eq(gap[i], -depth[i] / 64, "sphere %d: %g", i, gap[i]);
        cr_expect_eq(((double *)view.data)[i], gap[i]);
    }
    sap_batch_destroy(batch);
    worlds_destroy(&w);
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
    Worlds w = worlds_create(model, 1, &o);
    worlds_collide(&w);
    int count = w.contacts->count[0];
    o.broad_phase = SAP_BROAD_PHASE_SWEEP;
    Worlds sweep = worlds_create(model, 1, &o);
    worlds_collide(&sweep);
    expect_same_world(sweep.contacts, 0, w.contacts, 0, "sweep");
    worlds_destroy(&sweep);
    worlds_destroy(&w);
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

/* ---- contacts of one pair ---- */

/* Two boxes, the upper turned by 45 degrees: their faces meet in an octagon. */
static SapModel *turned_boxes(void) {
    ShapeModel m;
    shape_model_init(&m);
    shape_model_shape(&m, shape_model_body(&m, 0, 0, 0), SAP_SHAPE_BOX, 0.5, 0.5, 0.5);
    shape_model_shape(&m, shape_model_body(&m, 0, 0, 0.99), SAP_SHAPE_BOX, 0.5, 0.5, 0.5);
    m.q[1][5] = sin(M_PI / 8);
    m.q[1][6] = cos(M_PI / 8);
    return shape_model_create(&m);
}

static const double tilt[4] = {0.02, 0.05, 0, 0.9985489472229191};
static const double tilted_height = 0.4;

/* A box that stands on one of its edges, a little tilted. */
static SapModel *tilted_box(void) {
    ShapeModel m;
    shape_model_init(&m);
    shape_model_shape(&m, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    shape_model_shape(&m, shape_model_body(&m, 0, 0, tilted_height), SAP_SHAPE_BOX, 0.5, 0.5, 0.5);
    memcpy(m.q[0] + 3, tilt, sizeof tilt);
    return shape_model_create(&m);
}

/* Height of a point of the tilted box. */
static double tilted_point_height(const double *point) {
    double p[3];
    rotate(tilt, point, p);
    return tilted_height + p[2];
}

static double lowest_corner(void) {
    double lowest = INFINITY;
    for (int i = 0; i < 8; i++)
        lowest =
            fmin(lowest, tilted_point_height((double[3]){i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5}));
    return lowest;
}

static double lowest_contact(const SapContacts *c) {
    double lowest = INFINITY;
    for (int i = 0; i < c->count[0]; i++)
        lowest = fmin(lowest, tilted_point_height((const double *)c->point1 + 3 * i));
    return lowest;
}

Test(collide, a_pair_has_at_most_max_contacts_per_pair_points_and_the_deepest_among_them) {
    SapModel *octagon = turned_boxes(), *corners = tilted_box();
    for (int most = 1; most <= 8; most++) {
        SapOptions o = f64_options(16);
        o.max_contacts_per_pair = most;
        Worlds w = worlds_create(octagon, 1, &o);
        worlds_collide(&w);
        cr_expect_eq(w.contacts->count[0], most, "octagon, at most %d: %d", most, w.contacts->count[0]);
        worlds_destroy(&w);
        w = worlds_create(corners, 1, &o);
        worlds_collide(&w);
        cr_expect_eq(w.contacts->count[0], most < 4 ? most : 4, "corners, at most %d: %d", most, w.contacts->count[0]);
        cr_expect_eq(w.contacts->dropped[0], 0, "points that are not made are not dropped");
        cr_expect_float_eq(lowest_contact(w.contacts), lowest_corner(), 1e-9, "at most %d: the lowest is missing",
                           most);
        worlds_destroy(&w);
    }
    sap_model_destroy(octagon);
    sap_model_destroy(corners);
}

/* ---- what is not finite ---- */

Test(collide, a_world_whose_state_is_not_finite_has_no_contacts_and_says_so) {
    enum { N = 11 };
    SapModel *model = spheres_on_plane();
    SapOptions o = f64_options(SPHERES);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int lanes = 1; lanes <= 8; lanes = lanes == 1 ? 4 : 2 * lanes) {
        o.lanes = lanes;
        Worlds clean = worlds_create(model, N, &o), w = worlds_create(model, N, &o);
        worlds_collide(&clean);
        for (int i = 0; i < 3; i++)
            worlds_q(&w, 2 + 3 * i)[7 * i + 1] = bad[i];
        worlds_collide(&w);
        for (int i = 0; i < N; i++) {
            bool is_bad = i == 2 || i == 5 || i == 8;
            cr_expect_eq(sap_solver_world_status(w.solver)[i], is_bad ? SAP_WORLD_NONFINITE_STATE : 0u, "world %d: %#x",
                         i, (unsigned)sap_solver_world_status(w.solver)[i]);
            if (is_bad)
                cr_expect(w.contacts->count[i] == 0 && w.contacts->dropped[i] == 0, "world %d", i);
            else
                expect_same_world(w.contacts, i, clean.contacts, i, "beside a bad world");
        }
        worlds_destroy(&w);
        worlds_destroy(&clean);
    }
    sap_model_destroy(model);
}

enum { POISON_WORLDS = 64, POISONED = 37 };

/* A box, a sphere, a capsule and a hull on a plane, in touch with it and with each other. */
static SapModel *small_pile(void) {
    ShapeModel m;
    shape_model_init(&m);
    shape_model_shape(&m, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    shape_model_shape(&m, shape_model_body(&m, 0, 0, 0.099), SAP_SHAPE_BOX, 0.1, 0.1, 0.1);
    shape_model_shape(&m, shape_model_body(&m, 0.195, 0, 0.099), SAP_SHAPE_SPHERE, 0.1, 0, 0);
    shape_model_shape(&m, shape_model_body(&m, 0, 0, 0.245), SAP_SHAPE_CAPSULE, 0.05, 0.1, 0);
    shape_model_shape(&m, shape_model_body(&m, 0, 0.195, 0.099), SAP_SHAPE_HULL, 0.1, 0.1, 0.1);
    return shape_model_create(&m);
}

/* Puts all worlds back, each with velocities of its own. */
static void begin(SapBatch *batch, int nv) {
    SapState *s = sap_batch_state(batch);
    need(sap_batch_reset(batch, NULL, 0));
    for (int i = 0; i < POISON_WORLDS * nv; i++) {
        double v = 0.1 * sin(1.3 * i);
        if (s->dtype == SAP_F64)
            ((double *)s->joint_qd)[i] = v;
        else
            ((float *)s->joint_qd)[i] = (float)v;
    }
}

static void put(void *array, SapDtype dtype, size_t at, double value) {
    if (dtype == SAP_F64)
        ((double *)array)[at] = value;
    else
        ((float *)array)[at] = (float)value;
}

static bool world_is_finite(const SapState *s, size_t nq, size_t nv) {
    for (size_t i = 0; i < nq + nv; i++) {
        const void *array = i < nq ? s->joint_q : s->joint_qd;
        size_t at = i < nq ? POISONED * nq + i : POISONED * nv + i - nq;
        if (!isfinite(s->dtype == SAP_F64 ? ((const double *)array)[at] : (double)((const float *)array)[at]))
            return false;
    }
    return true;
}

/* All worlds but the poisoned one: coordinates, velocities, contacts. */
static void expect_others_same(SapBatch *a, SapBatch *b, const char *what) {
    static const SapBatchField fields[] = {SAP_BATCH_JOINT_Q,    SAP_BATCH_JOINT_QD,      SAP_BATCH_STATUS,
                                           SAP_BATCH_ITERATIONS, SAP_BATCH_CONTACT_COUNT, SAP_BATCH_CONTACT_DROPPED,
                                           SAP_BATCH_COST};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        SapArray x, y;
        need(sap_batch_array(a, fields[f], &x));
        need(sap_batch_array(b, fields[f], &y));
        for (int w = 0; w < POISON_WORLDS; w++)
            cr_assert(w == POISONED || memcmp((char *)x.data + w * x.strides[0], (char *)y.data + w * y.strides[0],
                                              (size_t)x.strides[0]) == 0,
                      "%s: field %d of world %d differs", what, (int)fields[f], w);
    }
}

static void check_poison(const char *preset) {
    static const double poison[] = {NAN, INFINITY, -INFINITY, 1e30, -1e30, 1e-310};
    SapModel *model = small_pile();
    const SapModelArrays *a = sap_model_arrays(model);
    size_t nq = (size_t)a->num_coords, nv = (size_t)a->num_dofs;
    SapOptions o;
    need(sap_options_preset(preset, &o));
    o.max_rigid_contact = 64;
    SapBatch *clean, *batch;
    need(sap_batch_create(model, POISON_WORLDS, &o, &clean));
    need(sap_batch_create(model, POISON_WORLDS, &o, &batch));
    begin(clean, a->num_dofs);
    need(sap_batch_step(clean, 5e-3, 2));
    cr_assert_geq(sap_batch_contacts(clean)->count[0], 10, "the test has %d contacts",
                  sap_batch_contacts(clean)->count[0]);
    SapState *s = sap_batch_state(batch);
    for (size_t i = 0; i < nq + nv; i++)
        for (size_t p = 0; p < sizeof poison / sizeof *poison; p++) {
            char what[96];
            snprintf(what, sizeof what, "%s, %g in %s[%zu]", preset, poison[p], i < nq ? "joint_q" : "joint_qd",
                     i < nq ? i : i - nq);
            begin(batch, a->num_dofs);
            if (i < nq)
                put(s->joint_q, s->dtype, POISONED * nq + i, poison[p]);
            else
                put(s->joint_qd, s->dtype, POISONED * nv + i - nq, poison[p]);
            need(sap_batch_step(batch, 5e-3, 2));
            expect_others_same(batch, clean, what);
            uint32_t status = sap_solver_world_status(sap_batch_solver(batch))[POISONED];
            if (!isfinite(poison[p])) {
                cr_assert_eq(status & SAP_WORLD_FAILED, SAP_WORLD_NONFINITE_STATE, "%s: status %#x", what, status);
                cr_assert_eq(sap_batch_contacts(batch)->count[POISONED], 0, "%s", what);
            } else {
                cr_assert(world_is_finite(s, nq, nv), "%s: status %#x", what, status);
            }
            if (poison[p] == 1e-310 && !(i < nq && i % 7 == 6)) /* but not instead of a quaternion's only component */
                cr_assert_eq(status & SAP_WORLD_FAILED, 0, "%s: status %#x", what, status);
        }
    sap_batch_destroy(batch);
    sap_batch_destroy(clean);
    sap_model_destroy(model);
}

Test(collide, a_poisoned_state_of_one_world_in_approx32_touches_no_other, .timeout = 120) {
    check_poison("approx32");
}

Test(collide, a_poisoned_state_of_one_world_in_approx64_touches_no_other, .timeout = 120) {
    check_poison("approx64");
}

/* ---- arguments ---- */

static void expect_refused(Worlds *w, const SapState *state, SapContacts *contacts, SapStatus status,
                           const char *says) {
    cr_expect_eq(sap_collide(w->solver, state, contacts), status, "%s", says);
    cr_expect(strstr(sap_error_message(), says), "'%s' is not in '%s'", says, sap_error_message());
}

Test(collide, wrong_arguments_are_refused_by_name) {
    SapModel *model = spheres_on_plane();
    SapOptions o = f64_options(SPHERES);
    Worlds w = worlds_create(model, 2, &o);
    cr_expect_eq(sap_collide(NULL, w.state, w.contacts), SAP_ERROR_ARGUMENT);
    cr_expect(strstr(sap_error_message(), "solver"), "%s", sap_error_message());
    expect_refused(&w, NULL, w.contacts, SAP_ERROR_ARGUMENT, "sap_collide: state is NULL");
    expect_refused(&w, w.state, NULL, SAP_ERROR_ARGUMENT, "contacts");
    SapState s = *w.state;
    s.num_worlds = 3;
    expect_refused(&w, &s, w.contacts, SAP_ERROR_ARGUMENT, "sap_collide: state: num_worlds is 3; the solver has 2");
    s = *w.state;
    s.joint_q = NULL;
    expect_refused(&w, &s, w.contacts, SAP_ERROR_ARGUMENT, "joint_q is NULL");
    s = *w.state;
    s.dtype = (SapDtype)9;
    expect_refused(&w, &s, w.contacts, SAP_ERROR_ARGUMENT, "dtype is 9");
    static const char *const names[] = {"count", "dropped", "shape0", "shape1", "point0", "point1", "normal"};
    for (int i = 0; i < 7; i++) {
        SapContacts c = *w.contacts;
        void **const arrays[] = {(void **)&c.count, (void **)&c.dropped, (void **)&c.shape0, (void **)&c.shape1,
                                 &c.point0,         &c.point1,           &c.normal};
        *arrays[i] = NULL;
        char says[32];
        snprintf(says, sizeof says, "contacts: %s is NULL", names[i]);
        expect_refused(&w, w.state, &c, SAP_ERROR_ARGUMENT, says);
    }
    SapContacts c = *w.contacts;
    c.num_worlds = 1;
    expect_refused(&w, w.state, &c, SAP_ERROR_ARGUMENT, "contacts: num_worlds is 1; the solver has 2");
    c = *w.contacts;
    c.capacity = SPHERES + 1;
    expect_refused(&w, w.state, &c, SAP_ERROR_ARGUMENT,
                   "contacts: capacity is 13; it must be in 1 .. max_rigid_contact, which is 12");
    c.capacity = 0;
    expect_refused(&w, w.state, &c, SAP_ERROR_ARGUMENT, "capacity is 0");
    worlds_destroy(&w);
    sap_model_destroy(model);
}

/* Arrays that collision need not write may be absent. */
Test(collide, optional_arrays_of_contacts_may_be_absent) {
    SapModel *model = spheres_on_plane();
    SapOptions o = f64_options(5); /* some records move */
    Worlds all = worlds_create(model, 1, &o), few = worlds_create(model, 1, &o);
    SapContacts c = *few.contacts;
    c.body0 = c.body1 = NULL;
    c.margin0 = c.margin1 = c.stiffness = c.tau = c.mu = NULL;
    worlds_collide(&all);
    need(sap_collide(few.solver, few.state, &c));
    cr_assert_eq(c.count[0], 5);
    for (int i = 0; i < 5; i++)
        cr_expect(c.shape1[i] == all.contacts->shape1[i] &&
                  same(row(c.point1, &c, 0, i, 3), row(all.contacts->point1, all.contacts, 0, i, 3), 3));
    worlds_destroy(&all);
    worlds_destroy(&few);
    sap_model_destroy(model);
}
