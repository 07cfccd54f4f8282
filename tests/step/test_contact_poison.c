/* A bad number in the contacts, the control or the state of one world stops that world only. One element of one input
 * of one world among many is made NaN, infinite, huge, denormal or out of range, element by element: the world says
 * what is wrong and keeps its last good state, and every other world has the same bits as without it.
 * SAPWOOD_TEST_SCALE below 0.1 takes every seventh. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "support/hash_contacts.h"
#include "support/hash_worlds.h"
#include "support/need.h"
#include "support/random_model.h"
#include "support/work.h"

enum { WORLDS = 33 }; /* no multiple of any lane count: the last pack repeats its last world */
static const double H = 0.005;

typedef struct Setup {
    const char *preset;
    SapLineSearch line_search;
    int lanes, threads;
    SapContactSolver solver;
    SapFrictionLaw law;
} Setup;

/* Where a number comes from: what a bad one means differs. */
typedef enum Source { STATE, CONTROL, TARGET, GEOMETRY, NORMAL, STIFFNESS, TAU, MU } Source;

/* An input array of doubles: `slots` elements of `width` numbers per world. */
typedef struct Field {
    const char *name;
    Source source;
    double *data;
    int slots, width;
} Field;

enum { NUM_FIELDS = 16 };

typedef struct Fixture {
    Setup setup;
    SapModel *model;
    const SapModelArrays *m;
    SapSolver *solver;
    HashBatch batch;
    SapContacts *contacts;
    HashReport report;
    Field field[NUM_FIELDS];
    double *clean[NUM_FIELDS]; /* copies of the fields without poison */
    uint64_t clean_hash[WORLDS][NUM_HASHES];
    int num_poisons; /* so far */
} Fixture;

/* ---- the bench ---- */

static size_t field_size(const Field *f) {
    return (size_t)WORLDS * (size_t)f->slots * (size_t)f->width;
}

static double *random_row_per_world(int n, uint64_t seed) {
    double *x = hash_doubles(WORLDS, n);
    Random random = random_seed(seed);
    random_numbers(&random, 0.5, x, WORLDS * n);
    return x;
}

static void bench_fields(Fixture *b) {
    const SapState *s = &b->batch.state;
    const SapControl *u = &b->batch.control;
    const SapContacts *c = b->contacts;
    int nv = b->m->num_dofs, nq = b->m->num_coords;
    const Field field[NUM_FIELDS] = {{"joint_q", STATE, s->joint_q, 1, nq},
                                     {"joint_qd", STATE, s->joint_qd, 1, nv},
                                     {"joint_f", CONTROL, u->joint_f, 1, nv},
                                     {"body_f", CONTROL, u->body_f, 1, 6 * b->m->num_bodies},
                                     {"guess", CONTROL, u->guess, 1, nv},
                                     {"joint_target_pos", TARGET, u->joint_target_pos, 1, nv},
                                     {"joint_target_vel", TARGET, u->joint_target_vel, 1, nv},
                                     {"joint_act", TARGET, u->joint_act, 1, nv},
                                     {"point0", GEOMETRY, c->point0, HASH_SLOTS, 3},
                                     {"point1", GEOMETRY, c->point1, HASH_SLOTS, 3},
                                     {"normal", NORMAL, c->normal, HASH_SLOTS, 3},
                                     {"margin0", GEOMETRY, c->margin0, HASH_SLOTS, 1},
                                     {"margin1", GEOMETRY, c->margin1, HASH_SLOTS, 1},
                                     {"stiffness", STIFFNESS, c->stiffness, HASH_SLOTS, 1},
                                     {"tau", TAU, c->tau, HASH_SLOTS, 1},
                                     {"mu", MU, c->mu, HASH_SLOTS, 1}};
    memcpy(b->field, field, sizeof field);
    for (int f = 0; f < NUM_FIELDS; f++) {
        b->clean[f] = calloc(field_size(&field[f]), sizeof(double));
        memcpy(b->clean[f], field[f].data, field_size(&field[f]) * sizeof(double));
    }
}

static void restore(Fixture *b) {
    for (int f = 0; f < NUM_FIELDS; f++)
        memcpy(b->field[f].data, b->clean[f], field_size(&b->field[f]) * sizeof(double));
}

static void step(Fixture *b) {
    need(sap_step(b->solver, &b->batch.state, &b->batch.control, b->contacts, H, &b->batch.state));
}

static Fixture *bench_create(const Setup *setup) {
    Fixture *b = calloc(1, sizeof *b);
    SapOptions options;
    need(sap_options_preset(setup->preset, &options));
    options.max_contacts = HASH_SLOTS;
    options.lanes = setup->lanes;
    options.threads = setup->threads;
    options.line_search = setup->line_search;
    options.contact_solver = setup->solver;
    options.friction_law = setup->law;
    b->setup = *setup;
    b->model = hash_model_with_terms(random_forest(5, 7), 3);
    b->m = sap_model_arrays(b->model);
    need(sap_solver_create(b->model, WORLDS, &options, &b->solver));
    need(sap_contacts_create(WORLDS, HASH_SLOTS, SAP_F64, &b->contacts));
    b->batch = hash_batch_create(b->m, WORLDS, SAP_F64);
    b->batch.control.joint_target_pos = random_row_per_world(b->m->num_dofs, 1);
    b->batch.control.joint_target_vel = random_row_per_world(b->m->num_dofs, 2);
    b->batch.control.joint_act = random_row_per_world(b->m->num_dofs, 3);
    b->batch.control.guess = random_row_per_world(b->m->num_dofs, 4);
    b->report = hash_report_create(b->solver, b->m, WORLDS);
    for (int i = 0; i < WORLDS; i++)
        hash_fill(&b->batch, i, (uint64_t)i);
    need(sap_forward_kinematics(b->solver, &b->batch.state));
    for (int i = 0; i < WORLDS; i++)
        hash_fill_contacts(&b->batch, b->contacts, i, (uint64_t)i, 0);
    bench_fields(b);
    step(b);
    for (int i = 0; i < WORLDS; i++) {
        cr_assert_eq(sap_solver_world_status(b->solver)[i] & SAP_WORLD_FAILED, 0);
        hash_step(&b->batch, b->solver, &b->report, i, b->contacts->count[i], b->clean_hash[i]);
    }
    restore(b);
    return b;
}

static void bench_destroy(Fixture *b) {
    for (int f = 0; f < NUM_FIELDS; f++)
        free(b->clean[f]);
    free(b->batch.control.joint_target_pos);
    free(b->batch.control.joint_target_vel);
    free(b->batch.control.joint_act);
    free(b->batch.control.guess);
    hash_report_destroy(&b->report);
    hash_batch_destroy(&b->batch);
    sap_contacts_destroy(b->contacts);
    sap_solver_destroy(b->solver);
    sap_model_destroy(b->model);
    free(b);
}

/* ---- what must hold ---- */

/* The quantity of a world that differs from the clean batch's, or NULL. */
static const char *difference(const Fixture *b, int world) {
    uint64_t hash[NUM_HASHES];
    hash_step(&b->batch, b->solver, &b->report, world, b->contacts->count[world], hash);
    for (int q = 0; q < NUM_HASHES; q++)
        if (hash[q] != b->clean_hash[world][q])
            return hash_names[q];
    return NULL;
}

static void check_others(const Fixture *b, int world, const char *what) {
    for (int i = 0; i < WORLDS; i++) {
        const char *differs = i != world ? difference(b, i) : NULL;
        cr_assert_null(differs, "%s in world %d changed %s of world %d", what, world, differs, i);
    }
}

/* The state that went in is in `before`, [nq] then [nv]. */
static void check_kept(const Fixture *b, int world, const double *before, const char *what) {
    int nq = b->m->num_coords, nv = b->m->num_dofs;
    const double *q = (const double *)b->batch.state.joint_q + world * nq;
    const double *v = (const double *)b->batch.state.joint_qd + world * nv;
    cr_assert(memcmp(q, before, (size_t)nq * sizeof *q) == 0 && memcmp(v, before + nq, (size_t)nv * sizeof *v) == 0,
              "%s: the failed world's state changed", what);
}

/* A world that did not fail is finite, says how the solve ended, and says so truly. */
static void check_truthful(const Fixture *b, int world, const char *what) {
    const uint32_t ends = SAP_WORLD_OPTIMAL | SAP_WORLD_COST_SETTLED | SAP_WORLD_NOT_CONVERGED;
    SapWorldReport w;
    need(sap_solver_report(b->solver, &w));
    const double *q = (const double *)b->batch.state.joint_q + world * b->m->num_coords;
    const double *v = (const double *)b->batch.state.joint_qd + world * b->m->num_dofs;
    for (int i = 0; i < b->m->num_coords; i++)
        cr_assert(isfinite(q[i]), "%s: q[%d] is %g, status %#x", what, i, q[i], (unsigned)w.status[world]);
    for (int i = 0; i < b->m->num_dofs; i++)
        cr_assert(isfinite(v[i]), "%s: v[%d] is %g, status %#x", what, i, v[i], (unsigned)w.status[world]);
    cr_assert(w.status[world] & ends, "%s: status %#x tells no end", what, (unsigned)w.status[world]);
    if (w.status[world] & SAP_WORLD_OPTIMAL)
        cr_assert(w.residual[world] <= 1.01e-6 || w.residual[world] * fabs(w.cost[world]) < 1e-13,
                  "%s: optimal with residual %g, cost %g", what, w.residual[world], w.cost[world]);
    if (w.status[world] & (SAP_WORLD_OPTIMAL | SAP_WORLD_COST_SETTLED))
        cr_assert(isfinite(w.cost[world]), "%s: status %#x with cost %g", what, (unsigned)w.status[world],
                  w.cost[world]);
}

/* Steps with what is in the bench and restores it. Returns the status of `world`, 0 if all its bits are those of the
 * clean one. */
static uint32_t step_poisoned(Fixture *b, int world, const char *what) {
    int nq = b->m->num_coords, nv = b->m->num_dofs;
    double before[512];
    memcpy(before, (double *)b->batch.state.joint_q + world * nq, (size_t)nq * sizeof *before);
    memcpy(before + nq, (double *)b->batch.state.joint_qd + world * nv, (size_t)nv * sizeof *before);
    step(b);
    uint32_t status = sap_solver_world_status(b->solver)[world];
    check_others(b, world, what);
    if (status & SAP_WORLD_FAILED)
        check_kept(b, world, before, what);
    else
        check_truthful(b, world, what);
    status = difference(b, world) ? status : 0;
    restore(b);
    return status;
}

/* ---- poison ---- */

static const double poisons[] = {NAN, INFINITY, -INFINITY, 1e30, 1e-310};
enum { NUM_POISONS = sizeof poisons / sizeof *poisons };

static int link_of(const Fixture *b, const int32_t *shape, const int32_t *body, int world, int c) {
    int at = world * HASH_SLOTS + c;
    return shape[at] >= 0 ? b->m->shape_body[shape[at]] : body[at];
}

/* A contact between two static bodies acts on nothing and need not be looked at. */
static bool acts(const Fixture *b, int world, int c) {
    const SapContacts *k = b->contacts;
    return link_of(b, k->shape0, k->body0, world, c) >= 0 || link_of(b, k->shape1, k->body1, world, c) >= 0;
}

static bool driven(const Fixture *b, int dof) {
    const SapModelArrays *m = b->m;
    int j = 0;
    while (m->joint_qd_start[j + 1] <= dof)
        j++;
    bool scalar = m->joint_type[j] != SAP_JOINT_FREE && m->joint_type[j] != SAP_JOINT_BALL;
    return scalar && m->joint_target_mode[dof] && (m->joint_target_ke[dof] > 0 || m->joint_target_kd[dof] > 0);
}

/* The one failure a number must cause, or 0. */
static uint32_t expected_failure(const Fixture *b, const Field *f, int i, double x) {
    switch (f->source) {
    case STATE: return isfinite(x) ? 0 : SAP_WORLD_NONFINITE_STATE;
    case CONTROL: return isfinite(x) ? 0 : SAP_WORLD_NONFINITE_CONTROL;
    case TARGET: return isfinite(x) || !driven(b, i) ? 0 : SAP_WORLD_NONFINITE_CONTROL;
    case GEOMETRY:
    case NORMAL: return isfinite(x) ? 0 : SAP_WORLD_BAD_CONTACT;
    case STIFFNESS: return x <= 0 ? SAP_WORLD_BAD_CONTACT : 0; /* infinite: rigid */
    case TAU:
    case MU: return x < 0 || isinf(x) ? SAP_WORLD_BAD_CONTACT : 0; /* NaN: the shapes' own */
    }
    return 0;
}

static bool of_slot(const Field *f) {
    return f->slots > 1;
}

/* Whether a short run leaves the next poison out. Seven has no factor in common with the numbers of poisons, worlds and
 * slots. */
static bool left_out(Fixture *b) {
    return b->num_poisons++ % (work_scale() < 0.1 ? 7 : 1) != 0;
}

/* Element i of slot c, poisoned in `world`. */
static void poison_element(Fixture *b, const Field *f, int world, int c, int i, double x) {
    char what[160];
    if (left_out(b))
        return;
    snprintf(what, sizeof what, "%s[%d][%d] = %g, %s, line search %d, %d lanes", f->name, c, i, x, b->setup.preset,
             (int)b->setup.line_search, b->setup.lanes);
    bool read = !of_slot(f) || c < b->contacts->count[world];
    bool idle = !read || (of_slot(f) && !acts(b, world, c));
    f->data[(world * f->slots + c) * f->width + i] = x;
    uint32_t status = step_poisoned(b, world, what), failure = expected_failure(b, f, i, x);
    if (!read)
        cr_assert_eq(status, 0, "%s: a slot past the count was read, status %#x", what, (unsigned)status);
    if (idle)
        return;
    if (failure)
        cr_assert_eq(status & SAP_WORLD_FAILED, failure, "%s: status %#x, not %#x", what, (unsigned)status,
                     (unsigned)failure);
    else if (!isfinite(x) || (fabs(x) < 1 && f->source != NORMAL)) /* a normal may now have no length */
        cr_assert_eq(status & SAP_WORLD_FAILED, 0, "%s: status %#x", what, (unsigned)status);
}

/* A world other than `last`, with slot c in use or not. */
static int find_world(const Fixture *b, int last, int c, bool used) {
    for (int k = 1; k <= WORLDS; k++) {
        int world = (last + 5 * k) % WORLDS;
        if ((c < b->contacts->count[world]) == used)
            return world;
    }
    cr_assert_fail("no world with slot %d %s", c, used ? "in use" : "empty");
    return -1;
}

static void poison_all(const Setup *setup) {
    Fixture *b = bench_create(setup);
    int world = 0;
    for (int k = 0; k < NUM_FIELDS; k++) {
        const Field *f = &b->field[k];
        for (int c = 0; c < f->slots; c++) {
            for (int i = 0; i < f->width; i++) {
                for (int p = 0; p < NUM_POISONS; p++) {
                    world = of_slot(f) ? find_world(b, world, c, true) : (world + 5) % WORLDS;
                    poison_element(b, f, world, c, i, poisons[p]);
                }
                if (of_slot(f))
                    poison_element(b, f, find_world(b, world, c, false), c, i, poisons[i % NUM_POISONS]);
            }
            if (f->source >= STIFFNESS) {
                poison_element(b, f, find_world(b, world, c, true), c, 0, -1);
                poison_element(b, f, find_world(b, world, c, true), c, 0, 0);
            }
        }
    }
    bench_destroy(b);
}

static const Setup setups[] = {{"approx32", SAP_MONOTONE_DECAY, 8, 1, SAP_SOLVER_SAP, SAP_FRICTION_CONVEX},
                               {"approx64", SAP_EXACT_ROOT, 4, 2, SAP_SOLVER_SAP, SAP_FRICTION_CONVEX},
                               {"drake", SAP_ARMIJO_DECAY, 1, 3, SAP_SOLVER_SAP, SAP_FRICTION_CONVEX},
                               {"approx32", SAP_MONOTONE_DECAY, 8, 1, SAP_SOLVER_CONE, SAP_FRICTION_CONVEX},
                               {"drake", SAP_MONOTONE_DECAY, 4, 2, SAP_SOLVER_PGS, SAP_FRICTION_COULOMB},
                               {"approx64", SAP_MONOTONE_DECAY, 1, 3, SAP_SOLVER_ACTIVE_SET, SAP_FRICTION_CONVEX}};
enum { NUM_SETUPS = sizeof setups / sizeof *setups };

/* The parameter is an index of setups. */
ParameterizedTestParameters(contact_poison, any_bad_number_stops_its_world_only) {
    static int all[] = {0, 1, 2, 3, 4, 5};
    return cr_make_param_array(int, all, NUM_SETUPS);
}

ParameterizedTest(const int *setup, contact_poison, any_bad_number_stops_its_world_only) {
    poison_all(&setups[*setup]);
}

/* ---- indices, normals, counts ---- */

static void poison_index(Fixture *b, const char *name, int32_t *index, int world, int c, int32_t bad, bool is_read) {
    char what[128];
    int at = world * HASH_SLOTS + c;
    int32_t good = index[at];
    if (left_out(b))
        return;
    snprintf(what, sizeof what, "%s[%d] = %d, %s, %d lanes", name, c, (int)bad, b->setup.preset, b->setup.lanes);
    index[at] = bad;
    uint32_t status = step_poisoned(b, world, what);
    index[at] = good;
    cr_assert_eq(status & SAP_WORLD_FAILED, is_read ? SAP_WORLD_BAD_CONTACT : 0, "%s: status %#x", what,
                 (unsigned)status);
}

Test(contact_poison, an_index_out_of_range_is_a_bad_contact) {
    for (int s = 0; s < NUM_SETUPS; s++) {
        Fixture *b = bench_create(&setups[s]);
        SapContacts *k = b->contacts;
        const int32_t shapes[] = {-2, b->m->num_shapes, INT32_MAX, INT32_MIN};
        const int32_t bodies[] = {-2, b->m->num_bodies, INT32_MAX, INT32_MIN};
        int world = 0;
        for (int c = 0; c < HASH_SLOTS; c++) {
            for (int i = 0; i < 4; i++) {
                world = find_world(b, world, c, true);
                int at = world * HASH_SLOTS + c;
                poison_index(b, "shape0", k->shape0, world, c, shapes[i], true);
                poison_index(b, "shape1", k->shape1, world, c, shapes[i], true);
                poison_index(b, "body0", k->body0, world, c, bodies[i], k->shape0[at] < 0);
                poison_index(b, "body1", k->body1, world, c, bodies[i], k->shape1[at] < 0);
                poison_index(b, "shape0", k->shape0, find_world(b, world, c, false), c, shapes[i], false);
            }
        }
        bench_destroy(b);
    }
}

Test(contact_poison, a_zero_normal_is_a_bad_contact) {
    for (int s = 0; s < NUM_SETUPS; s++) {
        Fixture *b = bench_create(&setups[s]);
        for (int world = 0; world < WORLDS; world++) {
            for (int c = 0; c < b->contacts->count[world]; c++) {
                if (left_out(b))
                    continue;
                memset((double *)b->contacts->normal + 3 * (world * HASH_SLOTS + c), 0, 3 * sizeof(double));
                uint32_t status = step_poisoned(b, world, "zero normal");
                if (acts(b, world, c))
                    cr_assert_eq(status & SAP_WORLD_FAILED, SAP_WORLD_BAD_CONTACT, "status %#x", (unsigned)status);
            }
        }
        bench_destroy(b);
    }
}

Test(contact_poison, dropped_contacts_are_told_and_change_nothing_else) {
    for (int s = 0; s < NUM_SETUPS; s++) {
        Fixture *b = bench_create(&setups[s]);
        for (int world = 0; world < WORLDS; world += 4) {
            b->contacts->dropped[world] = 3;
            uint32_t status = step_poisoned(b, world, "dropped");
            b->contacts->dropped[world] = 0;
            cr_assert_eq(status, b->clean_hash[world][HASH_STATUS] | SAP_WORLD_CONTACTS_TRUNCATED);
        }
        bench_destroy(b);
    }
}
