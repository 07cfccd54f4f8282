/* Problems on the edge of what numbers can hold: mass ratios of 1e9, stiffness 1e12, friction 0 and 1000, hundreds of
 * redundant contacts, mass matrices that are nearly singular, bodies a metre deep in each other, huge velocities. The
 * solve need not converge, but it gives numbers, does not make the cost larger than it was at the guess, and says truly
 * how it ended. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/hash_contacts.h"
#include "support/hash_worlds.h"
#include "support/model_parts.h"
#include "support/need.h"
#include "support/presets.h"
#include "support/random_model.h"

enum { WORLDS = 13, SLOTS = 200 };
static const double H = 0.01;

/* One kind of trouble. Worlds of a case differ in their random numbers. */
typedef struct Case {
    const char *name;
    double heavy, light; /* kg, of the two free bodies */
    double rail;         /* kg, of the first of two parallel rails; the second has 1 kg */
    int contacts;
    int places; /* contacts share this many points */
    double k, mu, tau;
    double depth; /* m */
    double speed; /* m/s and rad/s */
} Case;

static const Case cases[] = {
    {"ordinary", 1, 1, 1, 8, 8, 1e5, 0.5, 0.01, 0.01, 1},
    {"mass ratio 1e9", 1e6, 1e-3, 1, 12, 12, 1e5, 0.5, 0.01, 0.001, 1},
    {"mass ratio 1e-9", 1e-3, 1e6, 1, 12, 12, 1e7, 0.8, 0, 0.001, 1},
    {"stiffness 1e12", 1, 1, 1, 8, 8, 1e12, 0.5, 0, 0.01, 1},
    {"stiffness 1e-12", 1, 1, 1, 8, 8, 1e-12, 0.5, 0, 0.01, 1},
    {"infinite stiffness", 1, 1, 1, 8, 8, INFINITY, 0.5, 0, 0.01, 1},
    {"no friction", 1, 1, 1, 8, 8, 1e12, 0, 0, 0.01, 1},
    {"friction 1000", 1, 1, 1, 8, 8, 1e6, 1000, 0.01, 0.01, 1},
    {"friction 1000, stiffness 1e12", 1, 1, 1, 8, 8, 1e12, 1000, 0, 0.01, 10},
    {"friction 1e-9", 1, 1, 1, 8, 8, 1e8, 1e-9, 0.01, 0.01, 1},
    {"200 contacts", 1, 1, 1, 200, 200, 1e6, 0.5, 0.01, 0.01, 1},
    {"200 redundant contacts", 1, 1, 1, 200, 3, 1e9, 0.9, 0, 0.01, 1},
    {"rails 1e-6", 1, 1, 1e-6, 12, 12, 1e6, 0.5, 0.01, 0.01, 1},
    {"rails 1e-12", 1, 1, 1e-12, 12, 12, 1e6, 0.5, 0.01, 0.01, 1},
    {"a metre deep", 1, 1, 1, 8, 8, 1e6, 0.5, 0, 1, 1},
    {"a metre deep, stiffness 1e12", 1, 1e-3, 1, 8, 8, 1e12, 1, 0, 1, 1},
    {"speed 1e4", 1, 1, 1, 8, 8, 1e6, 0.5, 0.01, 0.01, 1e4},
    {"speed 1e8", 1, 1, 1, 8, 8, 1e6, 0.5, 0.01, 0.01, 1e8},
    {"a kilometre apart", 1, 1, 1, 8, 8, 1e12, 0.5, 0, -1000, 1},
    {"tau 1e6", 1, 1, 1, 8, 8, 1e6, 0.5, 1e6, 0.1, 1},
    {"everything", 1e6, 1e-3, 1e-6, 200, 5, 1e12, 1000, 0, 1, 1e3},
};
enum { NUM_CASES = sizeof cases / sizeof *cases };

/* ---- set-up ---- */

enum { HEAVY, LIGHT, RAIL_0, RAIL_1, NUM_BODIES };

static void set_mass(ModelParts *parts, int body, double mass) {
    parts->mass[body] = mass;
    parts_set_inertia(parts, body, 0.1 * mass, 0.1 * mass, 0.1 * mass);
}

static SapModel *case_model(const Case *c) {
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    parts_add(&parts, -1, SAP_JOINT_PRISMATIC, 0, 0);
    parts_add(&parts, RAIL_0, SAP_JOINT_PRISMATIC, 0, 0);
    set_mass(&parts, HEAVY, c->heavy);
    set_mass(&parts, LIGHT, c->light);
    set_mass(&parts, RAIL_0, c->rail);
    return parts_model(&parts);
}

typedef struct Fixture {
    const Case *c;
    SapModel *model;
    HashBatch batch;
    SapContacts *contacts;
    double *q, *qd; /* the state to start from */
} Fixture;

static void fill_contact(const Fixture *b, Random *random, int world, int slot, const double *place, const double *n) {
    static const int pairs[][2] = {{-1, LIGHT}, {LIGHT, HEAVY}, {-1, HEAVY}, {HEAVY, RAIL_1}, {RAIL_0, -1}};
    const int *pair = pairs[random_below(random, 5)];
    const Case *c = b->c;
    double p1[3], local0[3], local1[3];
    int at = world * SLOTS + slot;
    for (int i = 0; i < 3; i++)
        p1[i] = place[i] - c->depth * n[i];
    hash_to_body(&b->batch, world, pair[0], place, local0);
    hash_to_body(&b->batch, world, pair[1], p1, local1);
    b->contacts->body0[at] = pair[0];
    b->contacts->body1[at] = pair[1];
    hash_put_row(b->contacts->point0, SAP_F64, at, local0, 3);
    hash_put_row(b->contacts->point1, SAP_F64, at, local1, 3);
    hash_put_row(b->contacts->normal, SAP_F64, at, n, 3);
    ((double *)b->contacts->stiffness)[at] = c->k;
    ((double *)b->contacts->mu)[at] = c->mu;
    ((double *)b->contacts->tau)[at] = c->tau;
}

static void fill_world(Fixture *b, int world) {
    const SapModelArrays *m = b->batch.m;
    Random random = random_seed(97 * (uint64_t)(world + 1));
    double place[SLOTS][3], n[SLOTS][3];
    random_numbers(&random, b->c->speed, b->qd + world * m->num_dofs, m->num_dofs);
    b->contacts->count[world] = b->c->contacts;
    for (int s = 0; s < b->c->contacts; s++) {
        int first = s % b->c->places;
        random_numbers(&random, 0.2, place[s], 3);
        random_numbers(&random, 0.3, n[s], 3);
        n[s][2] = 1 - n[s][0] * n[s][0]; /* mostly upwards, as on a floor */
        if (first != s) {
            memcpy(place[s], place[first], sizeof place[s]);
            memcpy(n[s], n[first], sizeof n[s]);
        }
        fill_contact(b, &random, world, s, place[s], n[s]);
    }
}

static void start(Fixture *b) {
    const SapModelArrays *m = b->batch.m;
    memcpy(b->batch.state.joint_q, b->q, (size_t)WORLDS * (size_t)m->num_coords * sizeof *b->q);
    memcpy(b->batch.state.joint_qd, b->qd, (size_t)WORLDS * (size_t)m->num_dofs * sizeof *b->qd);
}

static Fixture bench_create(const Case *c) {
    Fixture b = {.c = c, .model = case_model(c)};
    const SapModelArrays *m = sap_model_arrays(b.model);
    SapOptions options;
    SapSolver *solver;
    need(sap_options_preset("approx64", &options));
    need(sap_solver_create(b.model, WORLDS, &options, &solver));
    b.batch = hash_batch_create(m, WORLDS, SAP_F64);
    need(sap_contacts_create(WORLDS, SLOTS, SAP_F64, &b.contacts));
    b.q = hash_doubles(WORLDS, m->num_coords);
    b.qd = hash_doubles(WORLDS, m->num_dofs);
    for (int w = 0; w < WORLDS; w++)
        memcpy(b.q + w * m->num_coords, m->joint_q, (size_t)m->num_coords * sizeof *b.q);
    for (int w = 0; w < WORLDS; w++)
        for (int j = 0; j < 2; j++)
            b.q[w * m->num_coords + m->joint_q_start[j] + 6] = 1;
    start(&b);
    need(sap_forward_kinematics(solver, &b.batch.state));
    for (int w = 0; w < WORLDS; w++)
        fill_world(&b, w);
    sap_solver_destroy(solver);
    return b;
}

static void bench_destroy(Fixture *b) {
    hash_batch_destroy(&b->batch);
    sap_contacts_destroy(b->contacts);
    sap_model_destroy(b->model);
    free(b->q);
    free(b->qd);
}

/* ---- one solve ---- */

typedef struct Outcome {
    uint32_t status[WORLDS];
    int iterations[WORLDS];
    double cost[WORLDS], residual[WORLDS];
    double impulse[WORLDS][SLOTS][3];
} Outcome;

static void solve(Fixture *b, const SapOptions *options, Outcome *out) {
    SapSolver *solver;
    need(sap_solver_create(b->model, WORLDS, options, &solver));
    SapContactReport report = {.impulse = out->impulse[0][0]};
    memset(out->impulse, 0, sizeof out->impulse);
    need(sap_solver_record(solver, &report));
    start(b);
    need(sap_step(solver, &b->batch.state, NULL, b->contacts, H, &b->batch.state));
    SapWorldReport w;
    need(sap_solver_report(solver, &w));
    for (int i = 0; i < WORLDS; i++) {
        out->status[i] = w.status[i];
        out->iterations[i] = w.iterations[i];
        out->cost[i] = w.cost[i];
        out->residual[i] = w.residual[i];
    }
    sap_solver_destroy(solver);
}

static void check_finite(const Fixture *b, const Outcome *out, int world, const char *what) {
    const SapModelArrays *m = b->batch.m;
    const double *q = (double *)b->batch.state.joint_q + world * m->num_coords;
    const double *v = (double *)b->batch.state.joint_qd + world * m->num_dofs;
    for (int i = 0; i < m->num_coords; i++)
        cr_expect(isfinite(q[i]), "%s: q[%d] is %g", what, i, q[i]);
    for (int i = 0; i < m->num_dofs; i++)
        cr_expect(isfinite(v[i]), "%s: v[%d] is %g", what, i, v[i]);
    if (out->status[world] & SAP_WORLD_FAILED)
        return;
    cr_expect(isfinite(out->cost[world]) && isfinite(out->residual[world]), "%s: cost %g, residual %g", what,
              out->cost[world], out->residual[world]);
    for (int s = 0; s < b->c->contacts; s++)
        for (int i = 0; i < 3; i++)
            cr_expect(isfinite(out->impulse[world][s][i]), "%s: impulse %d of contact %d is %g", what, i, s,
                      out->impulse[world][s][i]);
}

/* `epsilon` is the rounding of a cost in the precision of the solve. */
static void check_world(const Fixture *b, const Outcome *guess, const Outcome *out, int world, double epsilon,
                        const char *config) {
    const uint32_t ends = SAP_WORLD_OPTIMAL | SAP_WORLD_COST_SETTLED | SAP_WORLD_NOT_CONVERGED;
    uint32_t status = out->status[world];
    char what[256];
    snprintf(what, sizeof what, "%s, %s, world %d: status %#x, %d iterations", b->c->name, config, world,
             (unsigned)status, out->iterations[world]);
    check_finite(b, out, world, what);
    if (status & SAP_WORLD_FAILED) {
        const SapModelArrays *m = b->batch.m;
        cr_expect(memcmp((double *)b->batch.state.joint_qd + world * m->num_dofs, b->qd + world * m->num_dofs,
                         (size_t)m->num_dofs * sizeof(double)) == 0,
                  "%s: the failed world's state changed", what);
        return;
    }
    cr_expect(status & ends, "%s: no end is told", what);
    cr_expect(out->cost[world] <= guess->cost[world] + epsilon * fabs(guess->cost[world]),
              "%s: cost %.17g, at the guess %.17g", what, out->cost[world], guess->cost[world]);
    if (status & SAP_WORLD_OPTIMAL)
        cr_expect(out->residual[world] <= 1.0001e-6, "%s: optimal with residual %g", what, out->residual[world]);
    if (status & SAP_WORLD_ITERATION_LIMIT)
        cr_expect_eq(out->iterations[world], 100, "%s", what);
}

/* ---- the table ---- */

typedef struct Tally {
    int iterations[101], optimal, settled, limit, line_failed, no_descent, failed;
} Tally;

static void count(Tally *t, const Outcome *out) {
    for (int w = 0; w < WORLDS; w++) {
        t->iterations[out->iterations[w] < 100 ? out->iterations[w] : 100]++;
        t->optimal += (out->status[w] & SAP_WORLD_OPTIMAL) != 0;
        t->settled += (out->status[w] & (SAP_WORLD_OPTIMAL | SAP_WORLD_COST_SETTLED)) == SAP_WORLD_COST_SETTLED;
        t->limit += (out->status[w] & SAP_WORLD_ITERATION_LIMIT) != 0;
        t->line_failed += (out->status[w] & SAP_WORLD_LINE_SEARCH_FAILED) != 0;
        t->no_descent += (out->status[w] & SAP_WORLD_NO_DESCENT) != 0;
        t->failed += (out->status[w] & SAP_WORLD_FAILED) != 0;
    }
}

static void log_tally(const Tally *t, const char *name, const char *config) {
    char text[700] = "";
    for (int k = 0; k <= 100; k++)
        if (t->iterations[k] && strlen(text) < sizeof text - 32)
            snprintf(text + strlen(text), 32, " %d:%d", k, t->iterations[k]);
    cr_log_info("%-30s %-28s optimal %d settled %d limit %d line %d descent %d failed %d; iterations%s", name, config,
                t->optimal, t->settled, t->limit, t->line_failed, t->no_descent, t->failed, text);
}

static void check_options(const SapOptions *base, const char *preset) {
    static const char *const searches[] = {"monotone_decay", "armijo_decay", "exact_root", "wolfe"};
    static Outcome guess, out;
    Tally all[4] = {{{0}, 0, 0, 0, 0, 0, 0}};
    char config[64];
    SapOptions options = *base;
    options.max_contacts = SLOTS;
    double epsilon = options.contact_solve_precision == SAP_FP64 ? 1e-11 : 1e-5;
    for (int i = 0; i < NUM_CASES; i++) {
        Fixture b = bench_create(&cases[i]);
        for (int variant = SAP_MONOTONE_DECAY; variant <= SAP_WOLFE; variant++) {
            Tally own = {{0}, 0, 0, 0, 0, 0, 0};
            snprintf(config, sizeof config, "%s %s", preset, searches[variant]);
            options.line_search = (SapLineSearch)variant;
            options.max_iterations = -1; /* none */
            solve(&b, &options, &guess);
            options.max_iterations = 100;
            solve(&b, &options, &out);
            for (int w = 0; w < WORLDS; w++)
                check_world(&b, &guess, &out, w, epsilon, config);
            count(&own, &out);
            count(&all[variant], &out);
            if (own.limit + own.line_failed + own.no_descent + own.failed)
                log_tally(&own, cases[i].name, config);
            if (i == 0)
                cr_expect_eq(own.optimal + own.settled, WORLDS, "%s: %d of %d ordinary problems are not solved", config,
                             WORLDS - own.optimal - own.settled, WORLDS);
        }
        bench_destroy(&b);
    }
    for (int variant = SAP_MONOTONE_DECAY; variant <= SAP_WOLFE; variant++) {
        snprintf(config, sizeof config, "%s %s", preset, searches[variant]);
        log_tally(&all[variant], "all cases", config);
    }
}

static void check_preset(const char *preset) {
    SapOptions options;
    need(sap_options_preset(preset, &options));
    check_options(&options, preset);
}

ParameterizedTestParameters(contact_hostile, every_solve_gives_numbers_and_says_truly_how_it_ended) {
    return preset_params();
}

ParameterizedTest(const int *preset, contact_hostile, every_solve_gives_numbers_and_says_truly_how_it_ended) {
    check_preset(preset_names[*preset]);
}

/* Everything in f32, which no preset asks for. */
Test(contact_hostile, a_solve_in_f32_gives_numbers_and_says_truly_how_it_ended) {
    SapOptions options;
    need(sap_options_preset("approx32", &options));
    options.free_motion_precision = options.contact_solve_precision = SAP_FP32;
    options.linear_solve_precision = options.contact_weight_precision = SAP_FP32;
    options.contact_geometry_f64 = false;
    check_options(&options, "f32");
}
