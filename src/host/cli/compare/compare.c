/* `sapwood compare SCENE`: the effect of each option of a preset on a scene. The same worlds run with three presets and
 * with approx64 and one option changed at a time; all runs are compared with approx64. */
#include "host/cli/compare/compare.h"

#include "host/cli/compare/solvers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/interrupt.h"
#include "host/cli/model.h"

const CompareCase compare_cases[COMPARE_CASES] = {
    {"baseline", "contact_preset_variant", "approx64"},     {"precision", "contact_preset_variant", "approx32"},
    {"model", "contact_preset_variant", "drake"},           {"precision", "free_motion_solve_precision", "fp32"},
    {"precision", "contact_solve_precision", "fp32"},       {"precision", "contact_linear_solve_precision", "fp32"},
    {"precision", "sap_contact_weight_precision", "fp32"},  {"precision", "use_f64_boundary_pose", "false"},
    {"model", "contact_weight_mode", "diag_delassus"},      {"model", "contact_point_mode", "contact_midpoint"},
    {"model", "position_integration", "sap_euler"},         {"line search", "line_search_variant", "monotone_decay"},
    {"line search", "line_search_variant", "armijo_decay"}, {"line search", "line_search_variant", "exact_root"},
    {"line search", "line_search_variant", "wolfe"},
};

/* ---- command line ---- */

enum { KEY_WORLDS = 256, KEY_STEPS, KEY_SEED, KEY_NOISE, KEY_JSON, KEY_SOLVERS, KEY_PLOT, MOST = 1000000 };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Worlds:", 1},
    {"worlds", KEY_WORLDS, "N", 0, "Number of worlds; default 64", 1},
    {"steps", KEY_STEPS, "N", 0, "Number of time steps; default 200", 1},
    {"seed", KEY_SEED, "S", 0, "Seed of the noise; default 0", 1},
    {"noise", KEY_NOISE, "X", 0,
     "Amplitude of the noise on the initial joint velocities of worlds 1, 2, ... (m/s, rad/s); default 0.1", 1},
    {NULL, 0, NULL, 0, "Contact solvers:", 3},
    {"solvers", KEY_SOLVERS, "LIST", 0,
     "Compare contact solvers instead of presets: sap, mujoco, cone, coulomb, pgs, pgs_rows, active_set; the first "
     "moves the worlds",
     3},
    {"plot", KEY_PLOT, "FILE.svg", 0, "With --solvers: draw accuracy against processor time", 3},
    {NULL, 0, NULL, 0, "Output:", 4},
    {"json", KEY_JSON, NULL, 0, "Print as JSON", 4},
    {0}};

/* The options of a preset are compared: setting one would change all runs except those that set it themselves. */
static void check_settings(const struct argp_state *state, const CliSettings *settings) {
    SapOptions before, after;
    if (settings->preset)
        argp_error(state, "--preset is '%s'; compare runs all presets", settings->preset);
    if (sap_options_preset(NULL, &before) != SAP_OK)
        return;
    after = before;
    if (!cli_settings_apply(settings, &after))
        return;
    for (int i = 0; i < COMPARE_CASES; i++) {
        const char *name = compare_cases[i].option;
        CliText value = cli_option(&after, name);
        bool fixed = strcmp(name, "line_search_variant") != 0 && strcmp(name, "contact_preset_variant") != 0;
        if (fixed && strcmp(value.text, cli_option(&before, name).text) != 0)
            argp_error(state, "--set %s is '%s'; compare varies the options of the presets itself", name, value.text);
    }
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    CompareArgs *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->settings; return 0;
    case KEY_WORLDS: a->worlds = cli_int(state, "--worlds", arg, 1, MOST); return 0;
    case KEY_STEPS: a->steps = cli_int(state, "--steps", arg, 1, MOST); return 0;
    case KEY_SEED: a->seed = cli_u64(state, "--seed", arg); return 0;
    case KEY_NOISE: a->noise = cli_real(state, "--noise", arg, true); return 0;
    case KEY_JSON: a->json = true; return 0;
    case KEY_SOLVERS: a->solvers = cli_choice_list(state, "--solvers", arg, solver_names); return 0;
    case KEY_PLOT: a->plot = arg; return 0;
    case ARGP_KEY_END:
        if (a->plot && a->solvers.count == 0)
            argp_error(state, "--plot is '%s' without --solvers", a->plot);
        if (a->solvers.count == 0)
            check_settings(state, &a->settings);
        return 0;
    default: return cli_scene_argument(key, arg, state, &a->scene);
    }
}

/* ---- differences ---- */

/* States of the baseline after each step, and its worlds that had failed by then. */
typedef struct Baseline {
    double *q, *v;   /* [steps][worlds][nq], [steps][worlds][nv] */
    uint8_t *failed; /* [steps][worlds] */
} Baseline;

static bool baseline_create(const SapModelArrays *a, const CompareArgs *args, Baseline *out) {
    size_t rows = (size_t)args->worlds * (size_t)args->steps;
    out->q = cli_allocate(rows, (size_t)a->num_coords * sizeof *out->q);
    out->v = cli_allocate(rows, (size_t)a->num_dofs * sizeof *out->v);
    out->failed = cli_allocate(rows, sizeof *out->failed);
    return out->q && out->v && out->failed;
}

static void baseline_free(Baseline *b) {
    free(b->q);
    free(b->v);
    free(b->failed);
}

static void baseline_keep(Baseline *b, const CliBatch *batch, int step) {
    size_t worlds = (size_t)batch->state->num_worlds;
    memcpy(b->q + (size_t)step * worlds * (size_t)batch->arrays->num_coords, batch->state->joint_q, batch->q_bytes);
    memcpy(b->v + (size_t)step * worlds * (size_t)batch->arrays->num_dofs, batch->state->joint_qd, batch->qd_bytes);
    for (size_t w = 0; w < worlds; w++)
        b->failed[(size_t)step * worlds + w] = batch->failed[w] != 0;
}

static double distance2(const double *x, const double *y, int n, double sign) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (x[i] - sign * y[i]) * (x[i] - sign * y[i]);
    return sum;
}

/* Squared distance of two configurations; q and -q are the same rotation. */
static double configuration_distance2(const SapModelArrays *a, const double *x, const double *y) {
    double sum = 0;
    for (int j = 0; j < a->num_joints; j++) {
        int first = a->joint_q_start[j], n = a->joint_q_start[j + 1] - first;
        int quaternion = cli_joint_has_quaternion(a, j) ? 4 : 0;
        const double *p = x + first, *r = y + first;
        int plain = n - quaternion;
        sum += distance2(p, r, plain, 1);
        sum += fmin(distance2(p + plain, r + plain, quaternion, 1), distance2(p + plain, r + plain, quaternion, -1));
    }
    return sum;
}

static void difference_add(CompareDifference *d, double sum, int worlds) {
    d->end = sqrt(sum / worlds); /* NaN if there are no worlds */
    if (!(d->end <= d->largest))
        d->largest = d->end;
}

/* Adds the differences of the worlds that failed in neither run: a failed world does not move. */
static void row_add_differences(CompareRow *row, const Baseline *b, const CliBatch *batch, int step) {
    const SapModelArrays *a = batch->arrays;
    size_t nq = (size_t)a->num_coords, nv = (size_t)a->num_dofs, worlds = (size_t)batch->state->num_worlds;
    const double *q = batch->state->joint_q, *v = batch->state->joint_qd;
    double sum_q = 0, sum_v = 0;
    int count = 0;
    for (size_t w = 0; w < worlds; w++) {
        size_t at = (size_t)step * worlds + w;
        if (b->failed[at] || batch->failed[w])
            continue;
        count++;
        sum_q += configuration_distance2(a, q + w * nq, b->q + at * nq);
        sum_v += distance2(v + w * nv, b->v + at * nv, a->num_dofs, 1);
    }
    difference_add(&row->q, sum_q, count);
    difference_add(&row->v, sum_v, count);
}

/* ---- runs ---- */

/* A running case. */
typedef struct CaseRun {
    CliBatch batch;
    uint8_t *not_converged; /* [worlds] */
} CaseRun;

static bool add_report(CaseRun *r, CompareRow *row) {
    const SapWorldReport report = r->batch.report;
    if (!cli_batch_gather(&r->batch))
        return false;
    for (int w = 0; w < r->batch.state->num_worlds; w++) {
        if (report.status[w] & SAP_WORLD_FAILED)
            continue;
        cli_count_add(&row->newton, report.iterations[w]);
        cli_count_add(&row->line, report.line_iterations[w]);
        if (report.status[w] & SAP_WORLD_NOT_CONVERGED)
            r->not_converged[w] = 1;
    }
    return true;
}

static bool step_case(CaseRun *r, bool is_baseline, int steps, Baseline *baseline, CompareRow *row) {
    double seconds = 0;
    int worlds = r->batch.state->num_worlds;
    for (int step = 0; step < steps; step++) {
        if (cli_interrupted())
            return false;
        double start = cli_now();
        if (!cli_batch_step(&r->batch, 1))
            return false;
        seconds += cli_now() - start;
        if (!add_report(r, row))
            return false;
        if (is_baseline)
            baseline_keep(baseline, &r->batch, step);
        row_add_differences(row, baseline, &r->batch, step);
    }
    row->ns = 1e9 * seconds / ((double)worlds * steps);
    row->failed = cli_batch_failures(&r->batch).total;
    for (int w = 0; w < worlds; w++)
        row->not_converged += r->not_converged[w];
    return true;
}

/* All states are f64, so that every run starts from the same numbers. */
static bool run_case(const Compare *c, int index, Baseline *baseline, CompareRow *row) {
    const CompareCase *one = &compare_cases[index];
    const CompareArgs *args = c->args;
    SapOptions o = c->scene.scene->options;
    CaseRun r = {.not_converged = cli_allocate((size_t)args->worlds, sizeof *r.not_converged)};
    bool ok = r.not_converged && cli_check(sap_options_set(&o, compare_cases[0].option, compare_cases[0].value)) &&
              cli_check(sap_options_set(&o, one->option, one->value)) &&
              cli_batch_create(c->scene.scene, &o, args->worlds, SAP_F64, false, &r.batch);
    ok = ok && cli_batch_perturb(&r.batch, args->seed, args->noise) &&
         step_case(&r, index == 0, args->steps, baseline, row);
    cli_batch_free(&r.batch);
    free(r.not_converged);
    return ok;
}

static bool run_cases(Compare *c) {
    Baseline baseline = {0};
    bool ok = cli_scene_open(c->args->scene, &c->args->settings, &c->scene) &&
              baseline_create(c->scene.arrays, c->args, &baseline);
    cli_catch_interrupt();
    for (; ok && c->num_rows < COMPARE_CASES; c->num_rows += ok)
        ok = run_case(c, c->num_rows, &baseline, &c->row[c->num_rows]);
    baseline_free(&baseline);
    return ok || (cli_interrupted() && c->scene.scene != NULL);
}

/* ---- the command ---- */

static bool any_failed(const Compare *c) {
    for (int i = 0; i < c->num_rows; i++)
        if (c->row[i].failed)
            return true;
    return false;
}

int cli_compare(int argc, char **argv) {
    const struct argp_child children[] = {{&cli_settings_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "SCENE",
        .doc = "Runs the same worlds of SCENE, a file or a name in bench/scenes, with approx32, approx64 and drake, "
               "and with approx64 and one option changed at a time, and shows the differences. With "
               "--solvers, runs them with each contact solver instead.",
        .children = children};
    CompareArgs args = {.worlds = 64, .steps = 200, .noise = 0.1};
    if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
        return CLI_EXIT_BAD;
    /* Contact solvers instead of presets. */
    if (args.solvers.count > 0) {
        SolversArgs solvers = {.settings = args.settings,
                               .scene = args.scene,
                               .plot = args.plot,
                               .solvers = args.solvers,
                               .worlds = args.worlds,
                               .steps = args.steps,
                               .seed = args.seed,
                               .noise = args.noise,
                               .json = args.json};
        return cli_compare_solvers(&solvers);
    }
    /* Presets and options. */
    Compare c = {.args = &args};
    bool ok = run_cases(&c) && cli_compare_print(&c);
    int code = !ok                          ? CLI_EXIT_BAD
               : any_failed(&c)             ? CLI_EXIT_WORLDS_FAILED
               : c.num_rows < COMPARE_CASES ? CLI_EXIT_INTERRUPTED
                                            : CLI_EXIT_OK;
    cli_scene_close(&c.scene);
    return code;
}
