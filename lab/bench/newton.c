/* `sapwood bench-newton`: the cost of one Newton iteration over numbers of dofs and contacts, precisions and factor
 * plans. docs/cli.md.
 *
 *   cost = (t(ITERATIONS) - t(0)) / ITERATIONS,   t(k) = duration of a step that takes exactly k iterations
 *
 * The tolerances can never be met, so every world of every pack takes as many iterations as allowed. A solve in f32
 * that ends so is repeated in f64 (docs/solve.md): the cost of the same iterations in f64 is subtracted. */
#include <math.h>
#include <stdlib.h>

#include "host/cli/batch.h"
#include "host/cli/bench/bench.h"
#include "host/cli/bench/peak.h"
#include "host/cli/interrupt.h"
#include "host/cli/start.h"
#include "lab/bench/newton_model.h"

enum { ITERATIONS = 4 };
static const double burst_seconds = 0.01;

static const int dof_counts[] = {6, 14, 18, 23, 35, 60, 100}, contact_counts[] = {1, 4, 8, 16, 32, 100};
enum { NUM_DOF_COUNTS = 7, NUM_CONTACT_COUNTS = 6 };

/* ---- command line ---- */

typedef struct NewtonArgs {
    CliSettings settings;
    CliList precisions;
    int worlds, repeat;
    uint64_t seed;
    BenchFormat format;
} NewtonArgs;

enum { KEY_WORLDS = 256, KEY_PRECISION, KEY_THREADS, KEY_LANES, KEY_REPEAT, KEY_SEED, KEY_FORMAT };

static const struct argp_option options[] = {
    {"worlds", KEY_WORLDS, "N", 0, "Number of worlds; default 1024", 1},
    {"precision", KEY_PRECISION, "LIST", 0, "Precisions of the solver; default f32,f64", 1},
    {"threads", KEY_THREADS, "T", 0, "Worker threads; default 1", 1},
    {"lanes", KEY_LANES, "L", 0, "Worlds per SIMD pack: 1, 4, 8, 16 (avx512); 0 (default) selects automatically", 1},
    {"repeat", KEY_REPEAT, "R", 0, "Number of measurements; the fastest is reported; default 5", 1},
    {"seed", KEY_SEED, "S", 0, "Seed of states and contacts; default 0", 1},
    {"format", KEY_FORMAT, "human|csv|json", 0, "Format of the table", 1},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    static const char *const precisions[] = {"f32", "f64", NULL}; /* in the order of SapPrecision */
    NewtonArgs *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->settings; return 0;
    case KEY_WORLDS: a->worlds = cli_int(state, "--worlds", arg, 1, INT_MAX); return 0;
    case KEY_PRECISION: a->precisions = cli_choice_list(state, "--precision", arg, precisions); return 0;
    case KEY_THREADS: cli_settings_add(state, &a->settings, "--threads", "threads", arg); return 0;
    case KEY_LANES: cli_settings_add(state, &a->settings, "--lanes", "lanes", arg); return 0;
    case KEY_REPEAT: a->repeat = cli_int(state, "--repeat", arg, 1, 1000); return 0;
    case KEY_SEED: a->seed = cli_u64(state, "--seed", arg); return 0;
    case KEY_FORMAT: a->format = bench_format(state, arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* One line of the table. */
typedef struct NewtonRow {
    int nv, nc;
    bool dense;
    SapPrecision precision;
    SapSolverInfo info;
    double iterations, evaluations; /* means: iterations per world; points of the line search per iteration */
    double ns, flops, peak;         /* per iteration; flops per second */
} NewtonRow;

/* ---- one case ---- */

/* Solvers without and with iterations; for f32, also solvers of the repetition in f64. */
enum { WITHOUT, WITH, AGAIN_WITHOUT, AGAIN_WITH, NUM_SOLVERS };

static int num_solvers(const NewtonRow *row) {
    return row->precision == SAP_FP64 ? AGAIN_WITHOUT : NUM_SOLVERS;
}

typedef struct NewtonCase {
    SapSolver *solver[NUM_SOLVERS];
    SapState *in, *out;
    SapControl *control;
    SapContacts *contacts;
    double *guess;
} NewtonCase;

static void case_free(NewtonCase *c) {
    for (int k = 0; k < NUM_SOLVERS; k++)
        sap_solver_destroy(c->solver[k]);
    sap_state_destroy(c->in);
    sap_state_destroy(c->out);
    sap_contacts_destroy(c->contacts);
    sap_control_destroy(c->control);
    free(c->guess);
}

static bool make_options(const NewtonArgs *a, const NewtonRow *row, int k, SapOptions *o) {
    if (!cli_check(sap_options_preset(row->precision == SAP_FP64 ? "approx64" : "approx32", o)))
        return false;
    o->threads = 1;
    if (!cli_settings_apply(&a->settings, o))
        return false;
    o->free_motion_precision = o->contact_solve_precision = o->linear_solve_precision = o->contact_weight_precision =
        row->precision;
    if (k >= AGAIN_WITHOUT)
        o->contact_solve_precision = SAP_FP64;
    o->contact_geometry_f64 = row->precision == SAP_FP64;
    o->max_contacts = row->nc;
    o->max_iterations = k == WITH || k == AGAIN_WITH ? ITERATIONS : -1;
    o->optimality_abs_tol = o->optimality_rel_tol = o->cost_abs_tol = o->cost_rel_tol = 0;
    o->factor_plan = row->dense ? SAP_FACTOR_DENSE : SAP_FACTOR_SPARSE;
    return true;
}

static bool case_make(const NewtonArgs *a, const CliNewtonModel *m, const NewtonRow *row, NewtonCase *c) {
    SapDtype dtype = row->precision == SAP_FP64 ? SAP_F64 : SAP_F32;
    for (int k = 0; k < num_solvers(row); k++) {
        SapOptions o;
        if (!make_options(a, row, k, &o) || !cli_check(sap_solver_create(m->model, a->worlds, &o, &c->solver[k])))
            return false;
    }
    if (!cli_check(sap_state_create(m->model, a->worlds, dtype, &c->in)) ||
        !cli_check(sap_state_create(m->model, a->worlds, dtype, &c->out)) ||
        !cli_check(sap_control_create(m->model, a->worlds, SAP_F64, &c->control)))
        return false;
    size_t numbers = (size_t)a->worlds * (size_t)row->nv;
    c->guess = cli_allocate(numbers, sizeof *c->guess);
    if (!c->guess)
        return false;
    for (size_t i = 0; i < numbers; i++) /* start far from the solution, so that several iterations are needed */
        c->guess[i] = 3 * cli_random_unit(a->seed + 2, 0, i);
    c->control->guess = c->guess;
    cli_newton_state(m, a->seed, c->in);
    return cli_check(sap_forward_kinematics(c->solver[WITHOUT], c->in)) &&
           cli_newton_contacts(m, c->in, row->nc, a->seed + 3, &c->contacts);
}

/* Seconds for `steps` steps, all from the same state. */
static bool time_steps(const NewtonCase *c, int which, int steps, double *seconds) {
    double start = cli_processor_seconds();
    for (int i = 0; i < steps; i++)
        if (!cli_check(sap_step(c->solver[which], c->in, c->control, c->contacts, 0.005, c->out)))
            return false;
    *seconds = cli_processor_seconds() - start;
    return true;
}

/* The mean number of iterations, and of line search points per iteration (counted by monotone_decay). */
static bool count(const NewtonCase *c, int worlds, NewtonRow *row) {
    SapWorldReport r;
    if (!cli_check(sap_solver_report(c->solver[WITH], &r)))
        return false;
    double iterations = 0, evaluations = 0;
    for (int w = 0; w < worlds; w++) {
        iterations += r.iterations[w];
        evaluations += r.line_iterations[w];
    }
    row->iterations = iterations / worlds;
    row->evaluations = evaluations / iterations;
    return true;
}

/* Takes the fastest repeat of each: slower ones are disturbed by other processes. */
static bool measure(const NewtonArgs *a, const NewtonCase *c, NewtonRow *row) {
    double seconds, best[NUM_SOLVERS] = {INFINITY, INFINITY, INFINITY, INFINITY};
    int steps = 1;
    for (;; steps *= 2) {
        if (!time_steps(c, WITH, steps, &seconds))
            return false;
        if (seconds > burst_seconds)
            break;
    }
    for (int i = 0; i < a->repeat && (i == 0 || !cli_interrupted()); i++)
        for (int k = 0; k < num_solvers(row); k++) {
            if (!time_steps(c, k, steps, &seconds))
                return false;
            best[k] = fmin(best[k], seconds / steps);
        }
    if (!time_steps(c, WITH, 1, &seconds) || !count(c, a->worlds, row))
        return false;
    if (!cli_check(sap_solver_info(c->solver[WITH], &row->info)))
        return false;
    double net = best[WITH] - best[WITHOUT];
    if (num_solvers(row) == NUM_SOLVERS)
        net -= best[AGAIN_WITH] - best[AGAIN_WITHOUT];
    row->ns = 1e9 * net / (a->worlds * (double)ITERATIONS) / row->info.threads;
    return true;
}

/* ---- output ---- */

static double share_of_peak(const NewtonRow *r) {
    return r->peak > 0 ? r->flops / r->ns * 1e9 / r->peak : (double)NAN;
}

static const char *precision_name(const NewtonRow *r) {
    return r->precision == SAP_FP64 ? "f64" : "f32";
}

static void print_row(BenchFormat format, const NewtonRow *r) {
    const char *plan = r->dense ? "dense" : "sparse";
    if (format == BENCH_HUMAN)
        printf("%4d %4d %4s %7s %5d %7d %7s %6.2f %6.2f %10.1f %9.0f %8.1f%%\n", r->nv, r->nc, precision_name(r),
               cli_isa(r->info.isa).text, r->info.lanes, r->info.threads, plan, r->iterations, r->evaluations, r->ns,
               r->flops, 100 * share_of_peak(r));
    else if (format == BENCH_CSV)
        printf("%d,%d,%s,%s,%d,%d,%s,%.4g,%.4g,%.6g,%.6g,%.6g,%.4g\n", r->nv, r->nc, precision_name(r),
               cli_isa(r->info.isa).text, r->info.lanes, r->info.threads, plan, r->iterations, r->evaluations, r->ns,
               r->flops, r->peak, share_of_peak(r));
    fflush(stdout);
}

static void print_header(BenchFormat format, const NewtonArgs *a) {
    if (format == BENCH_HUMAN) {
        printf("sapwood %s, one Newton iteration, %d worlds\n\n", sap_version(), a->worlds);
        printf("%4s %4s %4s %7s %5s %7s %7s %6s %6s %10s %9s %9s\n", "nv", "nc", "fp", "isa", "lanes", "threads",
               "plan", "taken", "points", "ns/w-iter", "flops", "of peak");
    } else if (format == BENCH_CSV) {
        puts("nv,nc,precision,isa,lanes,threads,plan,iterations,evaluations,ns_per_world_iteration,"
             "flops_per_world_iteration,peak_flops_per_second,share_of_peak");
    }
}

static json_t *row_json(const NewtonRow *r) {
    json_t *json = json_object();
    cli_json_put(&json, "nv", json_integer(r->nv));
    cli_json_put(&json, "nc", json_integer(r->nc));
    cli_json_put(&json, "precision", json_string(precision_name(r)));
    cli_json_put(&json, "isa", json_string(cli_isa(r->info.isa).text));
    cli_json_put(&json, "lanes", json_integer(r->info.lanes));
    cli_json_put(&json, "threads", json_integer(r->info.threads));
    cli_json_put(&json, "plan", json_string(r->dense ? "dense" : "sparse"));
    cli_json_put(&json, "iterations", cli_json_real(r->iterations));
    cli_json_put(&json, "evaluations", cli_json_real(r->evaluations));
    cli_json_put(&json, "ns_per_world_iteration", cli_json_real(r->ns));
    cli_json_put(&json, "flops_per_world_iteration", cli_json_real(r->flops));
    cli_json_put(&json, "peak_flops_per_second", cli_json_real(r->peak));
    cli_json_put(&json, "share_of_peak", cli_json_real(share_of_peak(r)));
    return json;
}

/* ---- all cases ---- */

typedef struct Grid {
    const NewtonArgs *args;
    double peak[2]; /* by precision; measured once */
    json_t *rows;
} Grid;

static bool run_case(Grid *g, const CliNewtonModel *m, NewtonRow row) {
    NewtonCase c = {0};
    bool ok = case_make(g->args, m, &row, &c) && measure(g->args, &c, &row);
    case_free(&c);
    if (!ok)
        return false;
    if (g->peak[row.precision] == 0)
        g->peak[row.precision] = cli_peak_flops(row.info.isa, row.precision, row.info.threads);
    row.peak = g->peak[row.precision];
    row.flops = cli_newton_flops(m, row.nc, row.evaluations, row.dense);
    print_row(g->args->format, &row);
    json_array_append_new(g->rows, row_json(&row));
    return true;
}

static bool run_model(Grid *g, int nv, SapPrecision precision) {
    CliNewtonModel m;
    bool ok = cli_newton_model(nv, &m);
    for (int c = 0; c < NUM_CONTACT_COUNTS && ok; c++)
        for (int dense = 0; dense < 2 && ok && !cli_interrupted(); dense++)
            ok =
                run_case(g, &m, (NewtonRow){.nv = nv, .nc = contact_counts[c], .dense = dense, .precision = precision});
    sap_model_destroy(m.model);
    return ok;
}

static int bench_newton(int argc, char **argv) {
    const struct argp_child children[] = {{cli_settings_argp(0), 0, NULL, 0}, {0}};
    const struct argp argp = {.options = options,
                              .parser = parse,
                              .doc = "Measures the time of one Newton iteration over numbers of dofs and contacts, "
                                     "with the factor plans sparse and dense.",
                              .children = children};
    NewtonArgs args = {.worlds = 1024, .repeat = 5, .precisions = {2, {SAP_FP32, SAP_FP64}}};
    if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
        return CLI_EXIT_BAD;
    Grid g = {.args = &args, .rows = json_array()};
    bool ok = g.rows != NULL;
    cli_catch_interrupt();
    print_header(args.format, &args);
    for (int p = 0; p < args.precisions.count && ok; p++)
        for (int i = 0; i < NUM_DOF_COUNTS && ok && !cli_interrupted(); i++)
            ok = run_model(&g, dof_counts[i], (SapPrecision)args.precisions.value[p]);
    if (ok && args.format == BENCH_JSON)
        ok = cli_json_print(json_pack("{ss si sO}", "version", sap_version(), "worlds", args.worlds, "rows", g.rows));
    json_decref(g.rows);
    return !ok ? CLI_EXIT_BAD : cli_interrupted() ? cli_exit_interrupted() : CLI_EXIT_OK;
}

int main(int argc, char **argv) {
    return cli_main("bench-newton", bench_newton, argc, argv);
}
