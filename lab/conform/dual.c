/* Each problem is solved twice by the method cone: to 1e-6, which gives the iterations, and to 1e-10, which is
 * compared. lab/conform/README.md has the criteria. */
#include "lab/conform/dual.h"

#include <math.h>
#include <stdlib.h>

#include "host/cli/common.h"
#include "lab/conform/dual_file.h"

static const double residual_bound = 1e-8, velocity_bound = 1e-6, cost_bound = 1e-9, impulse_bound = 1e-5;

/* One solve. */
typedef struct Result {
    double *impulse, *velocity; /* [rows] */
    double cost, residual;
    uint32_t status;
    int32_t iterations, safeguards;
} Result;

static bool result_open(int rows, Result *out) {
    *out = (Result){.impulse = cli_allocate((size_t)rows + 1, sizeof(double)),
                    .velocity = cli_allocate((size_t)rows + 1, sizeof(double))};
    return out->impulse && out->velocity;
}

static void result_close(Result *r) {
    free(r->impulse);
    free(r->velocity);
}

static bool solve(const DualCase *c, double tolerance, Result *r) {
    SapDualOptions options;
    sap_dual_options_default(&options);
    options.optimality_rel_tol = tolerance;
    SapDualSolution out = {.impulse = r->impulse,
                           .velocity = r->velocity,
                           .cost = &r->cost,
                           .residual = &r->residual,
                           .status = &r->status,
                           .iterations = &r->iterations,
                           .safeguards = &r->safeguards};
    return cli_check(sap_dual_solve(&c->problem, &options, &out));
}

/* What a set has in common. */
typedef struct Set {
    int count, safeguards;
    double *iterations; /* [count] */
    double residual;
    DualErrors worst;
} Set;

static bool ended_well(const DualCase *c, const Result *r) {
    uint32_t bad = SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED;
    bool unbounded = (r->status & SAP_WORLD_UNBOUNDED) != 0;
    return (r->status & bad) == 0 && (r->status & SAP_WORLD_OPTIMAL) && unbounded == !c->solvable;
}

static bool passes(const DualCase *c, const Result *coarse, const Result *fine, const DualErrors *e) {
    return ended_well(c, coarse) && ended_well(c, fine) && fine->residual <= residual_bound &&
           e->velocity <= velocity_bound && e->cost <= cost_bound && e->impulse <= impulse_bound;
}

static void put_json(json_t *list, const char *path, const DualCase *c, const Result *coarse, const Result *fine,
                     const DualErrors *e, bool passed) {
    json_t *o = json_object();
    cli_json_put(&o, "file", cli_json_text(path));
    cli_json_put(&o, "case", cli_json_text(c->name));
    cli_json_put(&o, "passed", json_boolean(passed));
    cli_json_put(&o, "iterations", json_integer(coarse->iterations));
    cli_json_put(&o, "safeguards", json_integer(coarse->safeguards));
    cli_json_put(&o, "residual", cli_json_real(fine->residual));
    cli_json_put(&o, "status", json_integer((json_int_t)fine->status));
    cli_json_put(&o, "errors", json_pack("{s:f, s:f, s:f}", "z", e->velocity, "cost", e->cost, "lambda", e->impulse));
    json_array_append_new(list, o);
}

static void add(Set *set, const Result *coarse, const Result *fine, const DualErrors *e) {
    set->iterations[set->count++] = coarse->iterations;
    set->safeguards += coarse->safeguards > 0;
    set->residual = fmax(set->residual, fine->residual);
    set->worst.velocity = fmax(set->worst.velocity, e->velocity);
    set->worst.cost = fmax(set->worst.cost, e->cost);
    set->worst.impulse = fmax(set->worst.impulse, e->impulse);
}

static bool run_case(const char *path, const json_t *json, ConformDual *run, Set *set) {
    DualCase c;
    Result coarse = {0}, fine = {0};
    bool ok = dual_case_open(json, &c) || cli_fail("%s: problem '%s' is malformed", path, c.name ? c.name : "?");
    ok = ok && result_open(c.rows, &coarse) && result_open(c.rows, &fine);
    ok = ok && solve(&c, 1e-6, &coarse) && solve(&c, 1e-10, &fine);
    if (ok) {
        DualErrors e = dual_case_errors(&c, fine.impulse, fine.velocity, fine.cost);
        bool passed = passes(&c, &coarse, &fine, &e);
        run->passed += passed;
        run->failed += !passed;
        add(set, &coarse, &fine, &e);
        if (run->json)
            put_json(run->json, path, &c, &coarse, &fine, &e, passed);
        else if (!passed || run->verbose)
            printf("%-4s %-14s iterations %d, residual %.1e status 0x%x z %.1e cost %.1e lambda %.1e\n",
                   passed ? "ok" : "FAIL", c.name, coarse.iterations, fine.residual, (unsigned)fine.status, e.velocity,
                   e.cost, e.impulse);
    }
    result_close(&coarse);
    result_close(&fine);
    dual_case_close(&c);
    return ok;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_set(const json_t *root, Set *set) {
    const char *name = json_string_value(json_object_get(root, "set"));
    qsort(set->iterations, (size_t)set->count, sizeof *set->iterations, by_value);
    printf("%-14s %3d problems, residual %.1e, iterations to 1e-6: median %.0f, largest %.0f, safeguards %d; largest "
           "error z %.1e cost %.1e lambda %.1e\n",
           name ? name : "?", set->count, set->residual, set->iterations[set->count / 2],
           set->iterations[set->count - 1], set->safeguards, set->worst.velocity, set->worst.cost, set->worst.impulse);
}

bool conform_dual(const char *path, const json_t *root, ConformDual *run) {
    const json_t *problems = json_object_get(root, "problems");
    size_t count = json_array_size(problems);
    if (count == 0)
        return cli_fail("%s: has no problems", path);
    Set set = {.iterations = cli_allocate(count, sizeof *set.iterations)};
    bool ok = set.iterations != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = run_case(path, json_array_get(problems, i), run, &set);
    if (ok && !run->json)
        print_set(root, &set);
    free(set.iterations);
    return ok;
}
