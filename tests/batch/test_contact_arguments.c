/* Records of contact: sorting them into slots, and what a step refuses, reports and leaves out. */
#include "support/contact_bench.h"

/* ---- sorting records into slots ---- */

static SapContactRecord record(int world, double gap, double tag) {
    return (SapContactRecord){.world = world,
                              .shape0 = -1,
                              .shape1 = 3,
                              .body0 = -1,
                              .body1 = 2,
                              .point0 = {tag, 1, 2},
                              .point1 = {3, tag, 4},
                              .normal = {0, 0, 1},
                              .margin0 = tag,
                              .margin1 = 2 * tag,
                              .gap = gap,
                              .stiffness = 100 + tag,
                              .tau = NAN,
                              .mu = tag};
}

static void check_slots(const SapContacts *c, int world, int n, const double *tags) {
    cr_assert_eq(c->count[world], n, "world %d has %d contacts, not %d", world, c->count[world], n);
    for (int i = 0; i < n; i++) {
        int slot = world * c->capacity + i;
        cr_assert_eq(vector3(c->point0, slot)[0], tags[i], "slot %d of world %d holds %g, not %g", i, world,
                     vector3(c->point0, slot)[0], tags[i]);
        cr_assert(vector3(c->point1, slot)[1] == tags[i] && vector3(c->normal, slot)[2] == 1);
        cr_assert(((double *)c->margin0)[slot] == tags[i] && ((double *)c->margin1)[slot] == 2 * tags[i]);
        cr_assert(((double *)c->stiffness)[slot] == 100 + tags[i] && isnan(((double *)c->tau)[slot]) &&
                  ((double *)c->mu)[slot] == tags[i]);
        cr_assert(c->shape0[slot] == -1 && c->shape1[slot] == 3 && c->body0[slot] == -1 && c->body1[slot] == 2);
    }
}

Test(contacts_sort, keeps_the_order_of_the_list_within_a_world) {
    SapContacts *c;
    need(sap_contacts_create(3, 4, SAP_F64, &c));
    const SapContactRecord list[] = {record(2, 5, 1), record(0, 1, 2), record(2, -3, 3),
                                     record(0, 0, 4), record(2, 2, 5), record(0, 3, 6)};
    need(sap_contacts_sort(c, list, 6));
    check_slots(c, 0, 3, (const double[]){2, 4, 6});
    check_slots(c, 1, 0, NULL);
    check_slots(c, 2, 3, (const double[]){1, 3, 5});
    for (int w = 0; w < 3; w++)
        cr_assert_eq(c->dropped[w], 0);
    need(sap_contacts_sort(c, list, 1)); /* replaces what was there */
    check_slots(c, 0, 0, NULL);
    check_slots(c, 2, 1, (const double[]){1});
    need(sap_contacts_sort(c, NULL, 0));
    check_slots(c, 2, 0, NULL);
    sap_contacts_destroy(c);
}

Test(contacts_sort, keeps_the_deepest_in_order_and_of_equals_the_earlier) {
    SapContacts *c;
    need(sap_contacts_create(2, 3, SAP_F64, &c));
    const SapContactRecord list[] = {record(1, 0.5, 1), record(1, -1, 2), record(0, 9, 3),  record(1, 0.5, 4),
                                     record(1, -2, 5),  record(1, 2, 6),  record(1, 0.5, 7)};
    need(sap_contacts_sort(c, list, 7));
    check_slots(c, 0, 1, (const double[]){3});
    check_slots(c, 1, 3, (const double[]){1, 2, 5});
    cr_assert_eq(c->dropped[0], 0);
    cr_assert_eq(c->dropped[1], 3);
    sap_contacts_destroy(c);
}

Test(contacts_sort, agrees_with_a_simple_selection_on_random_lists) {
    enum { WORLDS = 5, CAPACITY = 4, RECORDS = 60 };
    Random random = random_seed(3);
    SapContacts *c;
    need(sap_contacts_create(WORLDS, CAPACITY, SAP_F64, &c));
    for (int round = 0; round < 50; round++) {
        SapContactRecord list[RECORDS];
        int n = random_below(&random, RECORDS + 1);
        for (int i = 0; i < n; i++)
            list[i] = record(random_below(&random, WORLDS), random_below(&random, 6), i);
        need(sap_contacts_sort(c, list, n));
        for (int w = 0; w < WORLDS; w++) {
            double tags[CAPACITY];
            int kept = 0, total = 0;
            for (int i = 0; i < n; i++) {
                int before = 0; /* records that go first */
                for (int k = 0; k < n; k++)
                    before +=
                        list[k].world == w && (list[k].gap < list[i].gap || (list[k].gap == list[i].gap && k < i));
                total += list[i].world == w;
                if (list[i].world == w && before < CAPACITY)
                    tags[kept++] = i;
            }
            check_slots(c, w, kept, tags);
            cr_assert_eq(c->dropped[w], total - kept);
        }
    }
    sap_contacts_destroy(c);
}

static void check_refused(SapStatus status, const char *part) {
    cr_assert_eq(status, SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), part), "\"%s\" does not say \"%s\"", sap_error_message(), part);
}

Test(contacts_sort, refuses_a_record_of_no_world_and_changes_nothing) {
    SapContacts *c;
    need(sap_contacts_create(2, 3, SAP_F64, &c));
    SapContactRecord list[] = {record(0, 0, 1), record(1, 0, 2)};
    need(sap_contacts_sort(c, list, 2));
    list[0].point0[0] = 7;
    for (int world = -1; world <= 2; world += 3) {
        list[1].world = world;
        check_refused(sap_contacts_sort(c, list, 2), "records[1].world");
        check_slots(c, 0, 1, (const double[]){1});
        check_slots(c, 1, 1, (const double[]){2});
    }
    check_refused(sap_contacts_sort(NULL, list, 1), "NULL");
    check_refused(sap_contacts_sort(c, NULL, 1), "NULL");
    check_refused(sap_contacts_sort(c, list, -1), "num_records is -1");
    sap_contacts_destroy(c);
}

Test(contacts_sort, a_world_that_lost_contacts_says_so) {
    Fixture b = golden_bench("approx64", SAP_EXACT_ROOT);
    b.c->dropped[0] = 2;
    need(sap_step(b.w->solver, b.w->state, b.w->control, b.c, 1.0 / 128, b.w->state));
    cr_assert_eq(sap_solver_world_status(b.w->solver)[0], SAP_WORLD_OPTIMAL | SAP_WORLD_CONTACTS_TRUNCATED);
    bench_destroy(&b);
}

Test(contacts, refuses_sizes_that_cannot_be) {
    SapContacts *c;
    check_refused(sap_contacts_create(0, 1, SAP_F64, &c), "num_worlds is 0");
    check_refused(sap_contacts_create(1, 0, SAP_F64, &c), "capacity is 0");
    check_refused(sap_contacts_create(1, 65536, SAP_F64, &c), "capacity is 65536");
    check_refused(sap_contacts_create(1, 1, (SapDtype)7, &c), "dtype is 7");
    check_refused(sap_contacts_create(1, 1, SAP_F64, NULL), "NULL");
    sap_contacts_destroy(NULL);
}

/* ---- arguments of a step ---- */

static SapStatus step_with(const Fixture *b, const SapContacts *c) {
    return sap_step(b->w->solver, b->w->state, b->w->control, c, 0.01, b->w->state);
}

Test(contact_arguments, refuses_contacts_that_cannot_be_read_and_names_what) {
    Fixture b = golden_bench("approx64", SAP_EXACT_ROOT);
    double before[7];
    memcpy(before, b.w->q, sizeof before);
    SapContacts c = *b.c;
    c.capacity = 0;
    check_refused(step_with(&b, &c), "capacity is 0");
    c.capacity = SLOTS + 1;
    check_refused(step_with(&b, &c), "capacity is 9");
    c = *b.c;
    c.num_worlds = 2;
    check_refused(step_with(&b, &c), "num_worlds is 2");
    c = *b.c;
    c.dtype = (SapDtype)5;
    check_refused(step_with(&b, &c), "dtype is 5");
    c = *b.c;
    c.count = NULL;
    check_refused(step_with(&b, &c), "count is NULL");
    c = *b.c;
    c.point0 = NULL;
    check_refused(step_with(&b, &c), "point0 is NULL");
    c = *b.c;
    c.point1 = NULL;
    check_refused(step_with(&b, &c), "point1 is NULL");
    c = *b.c;
    c.normal = NULL;
    check_refused(step_with(&b, &c), "normal is NULL");
    b.c->count[0] = -1;
    check_refused(step_with(&b, b.c), "count[0] is -1");
    b.c->count[0] = SLOTS + 1;
    check_refused(step_with(&b, b.c), "count[0] is 9");
    cr_assert_arr_eq(b.w->q, before, sizeof before, "a refused step moves the world");
    bench_destroy(&b);
}

Test(contact_arguments, a_contact_that_is_not_sound_stops_its_world) {
    for (int fault = 0; fault < 12; fault++) {
        Fixture b = golden_bench("approx64", SAP_EXACT_ROOT);
        double before[7];
        memcpy(before, b.w->q, sizeof before);
        switch (fault) {
        case 0: b.c->shape0[0] = 2; break;
        case 1: b.c->shape1[0] = -2; break;
        case 2: b.c->shape1[0] = -1, b.c->body1[0] = 1; break;
        case 3: set3(b.c->normal, 0, 0, 0); break;
        case 4: set3(b.c->normal, 0, NAN, 1); break;
        case 5: set3(b.c->point0, INFINITY, 0, 0); break;
        case 6: *(double *)b.c->margin1 = NAN; break;
        case 7: *(double *)b.c->mu = -1; break;
        case 8: *(double *)b.c->stiffness = 0; break;
        case 9: *(double *)b.c->tau = -1e-3; break;
        case 10: b.c->shape1[0] = 1 << 30; break;
        case 11: b.c->shape1[0] = -1, b.c->body1[0] = 1 << 30; break;
        }
        need(step_with(&b, b.c));
        cr_assert_eq(sap_solver_world_status(b.w->solver)[0], SAP_WORLD_BAD_CONTACT, "fault %d gives %#x", fault,
                     (unsigned)sap_solver_world_status(b.w->solver)[0]);
        cr_assert_arr_eq(b.w->q, before, sizeof before, "fault %d moves its world", fault);
        bench_destroy(&b);
    }
}

Test(contact_arguments, shapes_and_margins_and_own_parameters_may_be_left_out) {
    Fixture b = golden_bench("approx64", SAP_EXACT_ROOT);
    b.c->body1[0] = 0;
    SapContacts c = *b.c;
    c.shape0 = c.shape1 = NULL;
    c.margin0 = c.margin1 = c.stiffness = c.tau = c.mu = NULL;
    c.dropped = NULL;
    need(step_with(&b, &c));
    cr_assert_eq(sap_solver_world_status(b.w->solver)[0], SAP_WORLD_OPTIMAL);
    check_digits(b.report.gap[0], -0.03125 + 3.0 / 32, "gap without margins");
    check_digits(b.report.pair[0], 0.5, "the fallback mu"); /* the smallest of the shapes */
    check_digits(b.report.pair[1], 5e9, "the fallback stiffness");
    check_digits(b.report.pair[2], 2.0 / 64, "the fallback tau"); /* the first shape's */
    bench_destroy(&b);
}

/* A world's report must not depend on the worlds it shares a pack with, nor on the step before. */
Test(contact_arguments, a_world_with_nothing_to_solve_reports_no_iterations_whoever_shares_its_pack) {
    enum { WORLDS = 5 };
    const int lanes[] = {1, 4, 8};
    for (int k = 0; k < 3; k++) {
        SapOptions o = options_of("approx64", SAP_EXACT_ROOT);
        o.lanes = lanes[k];
        Fixture b = bench_create(golden_body(), WORLDS, &o);
        for (int pass = 0; pass < 2; pass++) {
            for (int w = 0; w < WORLDS; w++) {
                int slot = w * SLOTS;
                b.w->q[7 * w + 2] = 0.5;
                b.c->count[w] = w == (pass ? 4 : 0);
                b.c->body1[slot] = 0;
                set3(vector3(b.c->point1, slot), 0, 0, -0.6);
                set3(vector3(b.c->normal, slot), 0, 0, 1);
            }
            need(step_with(&b, b.c));
            need(sap_solver_report(b.w->solver, &b.world));
            for (int w = 0; w < WORLDS; w++) {
                cr_assert_eq(b.world.status[w], b.c->count[w] ? SAP_WORLD_OPTIMAL : 0, "%d lanes: world %d reports %#x",
                             lanes[k], w, (unsigned)b.world.status[w]);
                cr_assert_eq(b.world.iterations[w] > 0, b.c->count[w] > 0, "%d lanes: world %d took %d iterations",
                             lanes[k], w, b.world.iterations[w]);
                cr_assert_eq(b.world.cost[w] > 0, b.c->count[w] > 0);
            }
        }
        bench_destroy(&b);
    }
}

Test(contact_arguments, a_step_without_contacts_is_free_motion) {
    Fixture b = golden_bench("approx64", SAP_EXACT_ROOT);
    Fixture none = golden_bench("approx64", SAP_EXACT_ROOT);
    b.c->count[0] = 0;
    need(step_with(&b, b.c));
    need(step_with(&none, NULL));
    cr_assert_arr_eq(b.w->v, none.w->v, 6 * sizeof *b.w->v);
    cr_assert_arr_eq(b.w->q, none.w->q, 7 * sizeof *b.w->q);
    cr_assert_eq(sap_solver_world_status(b.w->solver)[0], 0);
    bench_destroy(&b);
    bench_destroy(&none);
}

Test(contact_arguments, a_step_refuses_states_whose_arrays_share_memory_in_part) {
    Fixture b = golden_bench("approx64", SAP_EXACT_ROOT);
    double memory[40] = {0};
    const struct {
        int in_q, in_v, out_q, out_v; /* places in `memory`; 7 coordinates, 6 velocities */
        const char *refused;          /* NULL: allowed */
    } rows[] = {{0, 7, 0, 7, NULL},
                {0, 7, 13, 20, NULL},
                {0, 7, 20, 7, NULL},
                {0, 20, 1, 30, "joint_q of in and out"},
                {0, 20, 30, 21, "joint_qd of in and out"},
                {0, 20, 30, 6, "in->joint_q and out->joint_qd"},
                {20, 0, 5, 30, "in->joint_qd and out->joint_q"},
                {20, 30, 0, 6, "out->joint_q and out->joint_qd"}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        SapState in = {
            .num_worlds = 1, .dtype = SAP_F64, .joint_q = memory + rows[r].in_q, .joint_qd = memory + rows[r].in_v};
        SapState out = {
            .num_worlds = 1, .dtype = SAP_F64, .joint_q = memory + rows[r].out_q, .joint_qd = memory + rows[r].out_v};
        memory[rows[r].in_q + 6] = 1; /* a quaternion */
        SapStatus status = sap_step(b.w->solver, &in, NULL, NULL, 0.01, &out);
        if (rows[r].refused)
            check_refused(status, rows[r].refused);
        else
            need(status);
    }
    bench_destroy(&b);
}
