/* `sapwood dump-problem SCENE`: the contact problems of chosen worlds in impulses, as JSON that `sapwood conform`
 * reads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/dual.h>

#include "host/cli/batch.h"
#include "host/cli/start.h"

enum { KEY_WORLDS = 256, KEY_STEPS, KEY_SEED, KEY_NOISE, MOST = 1000000 };

static const struct argp_option options[] = {
    {"worlds", KEY_WORLDS, "W,W,...", 0, "Worlds to dump, up to 16; default 0", 1},
    {"steps", KEY_STEPS, "N", 0, "Number of time steps; the problem of the last one is dumped; default 100", 1},
    {"seed", KEY_SEED, "S", 0, "Seed of the noise; default 0", 1},
    {"noise", KEY_NOISE, "X", 0,
     "Amplitude of the noise on the initial joint velocities of worlds 1, 2, ... (m/s, rad/s); default 0.1", 1},
    {0}};

typedef struct DumpArgs {
    CliSettings settings;
    const char *scene;
    CliList worlds;
    int steps;
    uint64_t seed;
    double noise;
} DumpArgs;

static error_t parse(int key, char *arg, struct argp_state *state) {
    DumpArgs *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->settings; return 0;
    case KEY_WORLDS: a->worlds = cli_int_list(state, "--worlds", arg, 0, MOST); return 0;
    case KEY_STEPS: a->steps = cli_int(state, "--steps", arg, 1, MOST); return 0;
    case KEY_SEED: a->seed = cli_u64(state, "--seed", arg); return 0;
    case KEY_NOISE: a->noise = cli_real(state, "--noise", arg, true); return 0;
    default: return cli_scene_argument(key, arg, state, &a->scene);
    }
}

/* ---- the record ---- */

static bool record_create(int worlds, int rows, SapDualRecord *r) {
    size_t n = (size_t)worlds, m = (size_t)rows;
    *r = (SapDualRecord){.max_rows = rows,
                         .num_blocks = cli_allocate(n, sizeof *r->num_blocks),
                         .kind = cli_allocate(n * m, sizeof *r->kind),
                         .W = cli_allocate(n * m * m, sizeof *r->W),
                         .b = cli_allocate(n * m, sizeof *r->b),
                         .mu = cli_allocate(n * m, sizeof *r->mu),
                         .lo = cli_allocate(n * m, sizeof *r->lo),
                         .hi = cli_allocate(n * m, sizeof *r->hi),
                         .impulse = cli_allocate(n * m, sizeof *r->impulse)};
    return r->num_blocks && r->kind && r->W && r->b && r->mu && r->lo && r->hi && r->impulse;
}

static void record_free(SapDualRecord *r) {
    free(r->num_blocks);
    free(r->kind);
    free(r->W);
    free(r->b);
    free(r->mu);
    free(r->lo);
    free(r->hi);
    free(r->impulse);
}

/* ---- one problem ---- */

/* The problem of one world with its solution to 1e-12, which conform compares with. */
typedef struct Problem {
    SapDualProblem problem;
    int rows;
    double *W, *impulse, *velocity; /* W: [rows][rows] */
    double cost;
    uint32_t status;
} Problem;

static bool problem_open(const SapDualRecord *r, int world, Problem *p) {
    size_t at = (size_t)world * (size_t)r->max_rows, most = (size_t)r->max_rows;
    p->problem = (SapDualProblem){.num_problems = 1,
                                  .num_blocks = r->num_blocks[world],
                                  .kind = r->kind + at,
                                  .b = r->b + at,
                                  .mu = r->mu + at,
                                  .lo = r->lo + at,
                                  .hi = r->hi + at,
                                  .guess = r->impulse + at};
    for (int b = 0; b < r->num_blocks[world]; b++)
        p->rows += r->kind[at + (size_t)b] == SAP_DUAL_CONTACT ? 3 : 1;
    size_t n = (size_t)p->rows;
    p->problem.W = p->W = cli_allocate(n * n + 1, sizeof *p->W);
    p->impulse = cli_allocate(n + 1, sizeof *p->impulse);
    p->velocity = cli_allocate(n + 1, sizeof *p->velocity);
    if (!p->W || !p->impulse || !p->velocity)
        return false;
    for (size_t i = 0; i < n; i++)
        memcpy(p->W + i * n, r->W + at * most + i * most, n * sizeof *p->W);
    SapDualOptions o;
    sap_dual_options_default(&o);
    o.optimality_rel_tol = 1e-12;
    SapDualSolution out = {.impulse = p->impulse, .velocity = p->velocity, .cost = &p->cost, .status = &p->status};
    return cli_check(sap_dual_solve(&p->problem, &o, &out));
}

static void problem_close(Problem *p) {
    free(p->W);
    free(p->impulse);
    free(p->velocity);
}

/* JSON has no infinity: a bound that is infinite is a number beyond every impulse. */
static json_t *bound_json(double x) {
    return json_real(fmax(fmin(x, 1e30), -1e30));
}

/* The kind in the file: a box without bounds is a free row, with one at 0 a unilateral one. */
static int kind_of(const SapDualProblem *p, int b) {
    bool box = p->kind[b] == SAP_DUAL_BOX;
    if (box && isinf(p->lo[b]) && isinf(p->hi[b]))
        return SAP_DUAL_FREE;
    return box && p->lo[b] == 0 && isinf(p->hi[b]) ? SAP_DUAL_UNILATERAL : p->kind[b];
}

static json_t *block_json(const SapDualProblem *p, int b) {
    static const char *const names[] = {"contact", "unilateral", "free", "box"};
    json_t *json = json_object();
    int kind = kind_of(p, b);
    cli_json_put(&json, "kind", json_string(names[kind]));
    if (kind == SAP_DUAL_CONTACT)
        cli_json_put(&json, "mu", json_real(p->mu[b]));
    if (kind == SAP_DUAL_BOX) {
        cli_json_put(&json, "lo", bound_json(p->lo[b]));
        cli_json_put(&json, "hi", bound_json(p->hi[b]));
    }
    return json;
}

static json_t *numbers_json(const double *x, int n) {
    json_t *json = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(json, cli_json_real(x[i]));
    return json;
}

static json_t *problem_json(const Problem *p, const char *name, int world, int step) {
    char text[CLI_TEXT_SIZE];
    json_t *json = json_object(), *rows = json_array(), *W = json_array();
    for (int b = 0; b < p->problem.num_blocks; b++)
        json_array_append_new(rows, block_json(&p->problem, b));
    for (int i = 0; i < p->rows; i++)
        json_array_append_new(W, numbers_json(p->W + (size_t)i * (size_t)p->rows, i + 1));
    snprintf(text, sizeof text, "%.24s world %d step %d", name, world, step);
    cli_json_put(&json, "name", cli_json_text(text));
    cli_json_put(&json, "rows", rows);
    cli_json_put(&json, "b", numbers_json(p->problem.b, p->rows));
    cli_json_put(&json, "W", W);
    if (!(p->status & SAP_WORLD_UNBOUNDED)) { /* contradictory targets have no solution */
        cli_json_put(&json, "lambda", numbers_json(p->impulse, p->rows));
        cli_json_put(&json, "z", numbers_json(p->velocity, p->rows));
        cli_json_put(&json, "cost", cli_json_real(p->cost));
        cli_json_put(&json, "lambda_unique", json_false());
    }
    return json;
}

/* ---- the command ---- */

static bool print_problems(const DumpArgs *args, const CliScene *scene, const SapDualRecord *record) {
    json_t *json = json_object(), *problems = json_array();
    bool ok = true;
    for (int i = 0; ok && i < args->worlds.count; i++) {
        Problem p = {0};
        int world = args->worlds.value[i];
        ok = problem_open(record, world, &p);
        if (ok)
            json_array_append_new(problems, problem_json(&p, scene->arrays->name, world, args->steps));
        problem_close(&p);
    }
    cli_json_put(&json, "format", json_string("sapwood-dual-1"));
    cli_json_put(&json, "order", json_string("t1 t2 n"));
    cli_json_put(&json, "set", cli_json_text(scene->arrays->name));
    cli_json_put(&json, "problems", problems);
    if (ok)
        return cli_json_print(json);
    json_decref(json);
    return false;
}

static bool dump(const DumpArgs *args, CliScene *scene) {
    if (!cli_scene_open(args->scene, &args->settings, scene))
        return false;
    int worlds = 1;
    for (int i = 0; i < args->worlds.count; i++)
        worlds = args->worlds.value[i] >= worlds ? args->worlds.value[i] + 1 : worlds;
    SapOptions o = scene->scene->options;
    o.lanes = 1; /* one world per pack: no blocks of its neighbours */
    if (o.contact_solver == SAP_SOLVER_SAP)
        o.contact_solver = SAP_SOLVER_CONE;
    CliBatch batch = {0};
    SapDualRecord record = {0};
    bool ok = cli_batch_create(scene->scene, &o, worlds, SAP_F64, false, &batch) &&
              cli_batch_perturb(&batch, args->seed, args->noise) &&
              record_create(worlds, sap_solver_problem_rows(batch.solver), &record);
    ok = ok && (args->steps == 1 || cli_batch_step(&batch, args->steps - 1)) &&
         cli_check(sap_solver_record_problem(batch.solver, &record)) && cli_batch_step(&batch, 1) &&
         print_problems(args, scene, &record);
    cli_batch_free(&batch);
    record_free(&record);
    return ok;
}

static int dump_problems(int argc, char **argv) {
    const struct argp_child children[] = {{cli_settings_argp(CLI_PRESET | CLI_ASSET_ROOT), 0, NULL, 0}, {0}};
    const struct argp argp = {.options = options,
                              .parser = parse,
                              .args_doc = "SCENE",
                              .doc = "Writes the contact problem of the last step of chosen worlds, with its solution, "
                                     "as JSON that `sapwood conform` and sap_dual_solve read.",
                              .children = children};
    DumpArgs args = {.worlds = {.count = 1, .value = {0}}, .steps = 100, .noise = 0.1};
    if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
        return CLI_EXIT_BAD;
    CliScene scene = {0};
    bool ok = dump(&args, &scene);
    cli_scene_close(&scene);
    return ok ? CLI_EXIT_OK : CLI_EXIT_BAD;
}

int main(int argc, char **argv) {
    return cli_main("dump-problem", dump_problems, argc, argv);
}
