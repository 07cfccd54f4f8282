/* Collision as a whole: which contacts sap_collide finds, in which order, and what happens where slots are too few. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/collide_worlds.h"
#include "support/pose.h"
#include "support/shape_model.h"

/* ---- capacity: spheres that sink into a plane ---- */

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
    CollideWorlds all = collide_worlds_create(model, 1, &roomy);
    collide_worlds_run(&all);
    cr_assert_eq(all.contacts->count[0], SPHERES);
    cr_assert_eq(all.contacts->dropped[0], 0);
    for (int slots = 1; slots <= SPHERES; slots++) {
        SapOptions o = f64_options(slots);
        CollideWorlds w = collide_worlds_create(model, 1, &o);
        collide_worlds_run(&w);
        cr_assert_eq(w.contacts->count[0], slots);
        cr_assert_eq(w.contacts->dropped[0], SPHERES - slots);
        for (int i = 0, c = 0; i < SPHERES; i++)
            if (is_kept(i, slots)) {
                cr_assert(same_record(w.contacts, 0, c, all.contacts, 0, i), "%d slots: record %d is not sphere %d",
                          slots, c, i);
                c++;
            }
        collide_worlds_destroy(&w);
    }
    collide_worlds_destroy(&all);
    sap_model_destroy(model);
}

Test(collide, an_overflowing_world_among_64_is_the_same_in_any_lane_and_touches_no_other) {
    enum { N = 64, SLOTS = 5 };
    SapModel *model = spheres_on_plane();
    SapOptions o = f64_options(SLOTS);
    CollideWorlds crowded = collide_worlds_create(model, 1, &o), single = collide_worlds_create(model, N, &o);
    collide_worlds_run(&crowded);
    /* in world w, sphere i touches if w has the bit i % 6; at most 4 of them do */
    for (int w = 0; w < N; w++)
        for (int i = 0; i < SPHERES; i++)
            collide_worlds_q(&single, w)[7 * i + 2] += i < 4 && (w >> i & 1) ? 0.01 * w / N : 1;
    collide_worlds_run(&single);
    for (int lanes = 1; lanes <= 8; lanes = lanes == 1 ? 4 : 2 * lanes)
        for (int place = 0; place < N; place += 7) {
            char what[64];
            snprintf(what, sizeof what, "lanes %d, crowded world %d", lanes, place);
            o.lanes = lanes;
            o.threads = 1 + place % 2;
            CollideWorlds w = collide_worlds_create(model, N, &o);
            memcpy(w.state->joint_q, single.state->joint_q, sizeof(double) * N * (size_t)w.nq);
            memcpy(collide_worlds_q(&w, place), crowded.state->joint_q, sizeof(double) * (size_t)w.nq);
            collide_worlds_run(&w);
            for (int i = 0; i < N; i++)
                expect_same_world(w.contacts, i, i == place ? crowded.contacts : single.contacts, i == place ? 0 : i,
                                  what);
            collide_worlds_destroy(&w);
        }
    collide_worlds_destroy(&single);
    collide_worlds_destroy(&crowded);
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
    CollideWorlds w = collide_worlds_create(model, 1, &o);
    collide_worlds_run(&w);
    int count = w.contacts->count[0];
    collide_worlds_destroy(&w);
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
        CollideWorlds a = collide_worlds_create(with, 1, &o), b = collide_worlds_create(without, 1, &o);
        double phi[2][SLOTS];
        for (int i = 0; i < 2; i++) {
            CollideWorlds *w = i ? &b : &a;
            const SapContactReport report = {.gap = phi[i]};
            collide_worlds_run(w);
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
        collide_worlds_destroy(&a);
        collide_worlds_destroy(&b);
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
    CollideWorlds w = collide_worlds_create(model, 1, &o);
    SapBatch *batch;
    SapArray view;
    need(sap_batch_create(model, 1, &o, &batch));
    need(sap_batch_array(batch, SAP_BATCH_CONTACT_GAP, &view));
    need(sap_solver_record(w.solver, &report));
    collide_worlds_run(&w);
    need(sap_step(w.solver, w.state, NULL, w.contacts, 1e-3, w.state));
    need(sap_batch_step(batch, 1e-3, 1));
    for (int i = 0; i < SPHERES; i++) {
        cr_expect_eq(gap[i], -depth[i] / 64, "sphere %d: %g", i, gap[i]);
        cr_expect_eq(((double *)view.data)[i], gap[i]);
    }
    sap_batch_destroy(batch);
    collide_worlds_destroy(&w);
    sap_model_destroy(model);
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

/* A box, or the hull of its corners, that stands on one of its edges, a little tilted. */
static SapModel *tilted_box(SapShapeType type) {
    ShapeModel m;
    shape_model_init(&m);
    shape_model_shape(&m, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    shape_model_shape(&m, shape_model_body(&m, 0, 0, tilted_height), type, 0.5, 0.5, 0.5);
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
    SapModel *octagon = turned_boxes(), *corners[2] = {tilted_box(SAP_SHAPE_BOX), tilted_box(SAP_SHAPE_HULL)};
    for (int most = 1; most <= 8; most++) {
        SapOptions o = f64_options(16);
        o.max_contacts_per_pair = most;
        CollideWorlds w = collide_worlds_create(octagon, 1, &o);
        collide_worlds_run(&w);
        cr_expect_eq(w.contacts->count[0], most, "octagon, at most %d: %d", most, w.contacts->count[0]);
        collide_worlds_destroy(&w);
        for (int i = 0; i < 2; i++) {
            w = collide_worlds_create(corners[i], 1, &o);
            collide_worlds_run(&w);
            cr_expect_eq(w.contacts->count[0], most < 4 ? most : 4, "corners, at most %d: %d", most,
                         w.contacts->count[0]);
            cr_expect_eq(w.contacts->dropped[0], 0, "points that are not made are not dropped");
            cr_expect_float_eq(lowest_contact(w.contacts), lowest_corner(), 1e-9, "at most %d: the lowest is missing",
                               most);
            collide_worlds_destroy(&w);
        }
    }
    sap_model_destroy(octagon);
    sap_model_destroy(corners[0]);
    sap_model_destroy(corners[1]);
}

/* ---- what is not finite ---- */

Test(collide, a_world_whose_state_is_not_finite_has_no_contacts_and_says_so) {
    enum { N = 11 };
    SapModel *model = spheres_on_plane();
    SapOptions o = f64_options(SPHERES);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int lanes = 1; lanes <= 8; lanes = lanes == 1 ? 4 : 2 * lanes) {
        o.lanes = lanes;
        CollideWorlds clean = collide_worlds_create(model, N, &o), w = collide_worlds_create(model, N, &o);
        collide_worlds_run(&clean);
        for (int i = 0; i < 3; i++)
            collide_worlds_q(&w, 2 + 3 * i)[7 * i + 1] = bad[i];
        collide_worlds_run(&w);
        for (int i = 0; i < N; i++) {
            bool is_bad = i == 2 || i == 5 || i == 8;
            cr_expect_eq(sap_solver_world_status(w.solver)[i], is_bad ? SAP_WORLD_NONFINITE_STATE : 0u, "world %d: %#x",
                         i, (unsigned)sap_solver_world_status(w.solver)[i]);
            if (is_bad)
                cr_expect(w.contacts->count[i] == 0 && w.contacts->dropped[i] == 0, "world %d", i);
            else
                expect_same_world(w.contacts, i, clean.contacts, i, "beside a bad world");
        }
        collide_worlds_destroy(&w);
        collide_worlds_destroy(&clean);
    }
    sap_model_destroy(model);
}

/* ---- arguments ---- */

static void expect_refused(CollideWorlds *w, const SapState *state, SapContacts *contacts, SapStatus status,
                           const char *says) {
    cr_expect_eq(sap_collide(w->solver, state, contacts), status, "%s", says);
    cr_expect(strstr(sap_error_message(), says), "'%s' is not in '%s'", says, sap_error_message());
}

Test(collide, wrong_arguments_are_refused_by_name) {
    SapModel *model = spheres_on_plane();
    SapOptions o = f64_options(SPHERES);
    CollideWorlds w = collide_worlds_create(model, 2, &o);
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
                   "contacts: capacity is 13; it must be in 1 .. max_contacts, which is 12");
    c.capacity = 0;
    expect_refused(&w, w.state, &c, SAP_ERROR_ARGUMENT, "capacity is 0");
    collide_worlds_destroy(&w);
    sap_model_destroy(model);
}

/* Arrays that collision need not write may be absent. */
Test(collide, optional_arrays_of_contacts_may_be_absent) {
    SapModel *model = spheres_on_plane();
    SapOptions o = f64_options(5); /* some records move */
    CollideWorlds all = collide_worlds_create(model, 1, &o), few = collide_worlds_create(model, 1, &o);
    SapContacts c = *few.contacts;
    c.body0 = c.body1 = NULL;
    c.margin0 = c.margin1 = c.stiffness = c.tau = c.mu = NULL;
    collide_worlds_run(&all);
    need(sap_collide(few.solver, few.state, &c));
    cr_assert_eq(c.count[0], 5);
    for (int i = 0; i < 5; i++)
        cr_expect(c.shape1[i] == all.contacts->shape1[i] &&
                  same(row(c.point1, &c, 0, i, 3), row(all.contacts->point1, all.contacts, 0, i, 3), 3));
    collide_worlds_destroy(&all);
    collide_worlds_destroy(&few);
    sap_model_destroy(model);
}
