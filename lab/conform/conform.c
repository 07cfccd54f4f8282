/* `sapwood conform FILE...`: one step against reference cases, in every preset and line search of a file, or contact
 * problems in impulses against their solutions. lab/conform/README.md. */
#include <stdlib.h>
#include <string.h>

#include "host/cli/common.h"
#include "host/cli/python.h"
#include "host/cli/start.h"
#include "lab/conform/conform.h"
#include "lab/conform/constraints.h"
#include "lab/conform/dual.h"
#include "lab/conform/dual_file.h"
#include "lab/conform/knobs.h"
#include "lab/conform/laws.h"
#include "lab/conform/reference_file.h"

/* mujoco_files.py, embedded. */
extern const char *const conform_scripts_texts[];

/* ---- command line ---- */

typedef struct ConformArgs {
    CliSettings settings;
    bool compat, json, verbose, knobs;
    const char *dump;
    int first_file; /* index in argv */
} ConformArgs;

enum { KEY_COMPAT = 256, KEY_JSON, KEY_VERBOSE, KEY_DUMP, KEY_KNOBS };

static const struct argp_option options[] = {
    {"compat", KEY_COMPAT, NULL, 0, "Reproduce the results of SAP Warp to the last digit", 0},
    {"json", KEY_JSON, NULL, 0, "Print as JSON", 0},
    {"verbose", KEY_VERBOSE, NULL, 0, "Print every output, not only those that differ", 0},
    {"dump", KEY_DUMP, "FILE", 0, "Write the computed results in the format of the first FILE", 0},
    {"knobs", KEY_KNOBS, NULL, 0, "Show the effect of each single precision set to f32, instead of pass or fail", 0},
    {0}};

static const char doc[] =
    "Compares one step, or contact problems in impulses, with reference cases."
    "\vFILE is a reference file: JSON, or JSON compressed by gzip (lab/conform/README.md).\n"
    "- A model and cases of it: the state and the contacts before a step, and what the step computes: velocities, "
    "impulses, cost, numbers of iterations.\n"
    "- Cases of a scene with constraints; the scene lies beside the file as NAME.yaml.\n"
    "- Contact problems in impulses and their solutions.\n"
    "- Steps of MuJoCo, which the Python package compares: pip install 'sapwood[test]'; it runs as python3, or as the "
    "interpreter that SAPWOOD_PYTHON names.\n"
    "Files of the project: tests/data/reference.";

static error_t parse(int key, char *arg, struct argp_state *state) {
    ConformArgs *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->settings; return 0;
    case KEY_COMPAT: a->compat = true; return 0;
    case KEY_JSON: a->json = true; return 0;
    case KEY_VERBOSE: a->verbose = true; return 0;
    case KEY_DUMP: a->dump = arg; return 0;
    case KEY_KNOBS: a->knobs = true; return 0;
    case ARGP_KEY_ARGS: a->first_file = state->next; return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "the reference files are missing"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- output ---- */

typedef struct Tally {
    int passed, failed;
    double worst[CONFORM_QUANTITIES];
    const char *name[CONFORM_QUANTITIES];
    json_t *json;   /* NULL unless requested */
    json_t *dumped; /* outputs of the current case; NULL unless requested */
    int num_mujoco;
    const char **mujoco; /* "--verbose", then the files of MuJoCo, which run after the others */
} Tally;

static const char *text(const json_t *output, const char *key) {
    const char *value = json_string_value(json_object_get(output, key));
    return value ? value : "?";
}

static int number(const json_t *output, const char *key) {
    return (int)json_integer_value(json_object_get(output, key));
}

static void print_output(const char *name, const json_t *output, const ConformCase *c, const ConformResult *r) {
    printf("%-4s %-14s %-9s %-15s newton %d (%d) line search %d (%d)%s residual %.1e status 0x%x",
           r->passed ? "ok" : "FAIL", cli_shown(name).text, cli_shown(text(output, "preset")).text,
           cli_shown(text(output, "line_search")).text, c->iterations, number(output, "newton_iterations"),
           c->line_iterations, number(output, "line_search_iterations"),
           r->reference_converged ? "" : ", reference stalled", c->residual, (unsigned)c->status);
    for (int i = 0; i < CONFORM_QUANTITIES; i++)
        if (r->error[i].stored)
            printf(" %s %.1e", r->error[i].name, r->error[i].error);
    printf("\n");
}

static json_t *output_json(const char *file, const char *name, const json_t *output, const ConformCase *c,
                           const ConformResult *r) {
    json_t *o = json_object();
    cli_json_put(&o, "file", cli_json_text(file));
    cli_json_put(&o, "case", cli_json_text(name));
    cli_json_put(&o, "preset", cli_json_text(text(output, "preset")));
    cli_json_put(&o, "line_search", cli_json_text(text(output, "line_search")));
    cli_json_put(&o, "passed", json_boolean(r->passed));
    cli_json_put(&o, "counts_agree", r->counts_compared ? json_boolean(r->counts_agree) : json_null());
    cli_json_put(&o, "newton_iterations", json_integer(c->iterations));
    cli_json_put(&o, "line_search_iterations", json_integer(c->line_iterations));
    cli_json_put(&o, "f64_retries", json_integer(c->f64_retries));
    cli_json_put(&o, "residual", cli_json_real(c->residual));
    cli_json_put(&o, "status", json_integer((json_int_t)c->status));
    json_t *errors = json_object();
    for (int i = 0; i < CONFORM_QUANTITIES; i++)
        if (r->error[i].stored)
            cli_json_put(&errors, r->error[i].name, cli_json_real(r->error[i].error));
    cli_json_put(&o, "errors", errors);
    return o;
}

static void tally(Tally *t, const ConformResult *r) {
    t->passed += r->passed;
    t->failed += !r->passed;
    for (int i = 0; i < CONFORM_QUANTITIES; i++) {
        t->name[i] = r->error[i].name;
        if (r->error[i].stored && !(r->error[i].error <= t->worst[i]))
            t->worst[i] = r->error[i].error;
    }
}

/* ---- runs ---- */

static bool run_output(const ConformArgs *a, const char *path, const ConformFile *file, const char *name,
                       const json_t *output, ConformCase *c, Tally *t) {
    SapOptions o;
    if (!cli_check(sap_options_preset(text(output, "preset"), &o)) ||
        !cli_check(sap_options_set(&o, "line_search", text(output, "line_search"))) ||
        !cli_settings_apply(&a->settings, &o))
        return false;
    if (a->compat)
        o.compat = SAP_COMPAT_SAP_WARP;
    ConformResult r;
    if (!conform_case_run(file, &o, c) || !conform_compare(file, c, output, &r))
        return false;
    tally(t, &r);
    if (t->json)
        json_array_append_new(t->json, output_json(path, name, output, c, &r));
    else if (!r.passed || a->verbose)
        print_output(name, output, c, &r);
    if (t->dumped)
        json_array_append_new(t->dumped, conform_output(file, c, output));
    return true;
}

/* With `dump`, our outputs replace the case's. */
static bool run_case(const ConformArgs *a, const char *path, const ConformFile *file, json_t *one, bool dump,
                     Tally *t) {
    ConformCase c;
    bool ok = conform_case_open(file, one, &c);
    size_t i;
    json_t *output, *outputs = json_object_get(one, "outputs");
    t->dumped = dump ? json_array() : NULL;
    const char *name = json_string_value(json_object_get(one, "name"));
    json_array_foreach(outputs, i, output) ok = ok && run_output(a, path, file, name ? name : "?", output, &c, t);
    if (t->dumped)
        json_object_set_new(one, "outputs", t->dumped);
    conform_case_close(&c);
    return ok;
}

/* A file of constraints and tendons, which has other quantities. */
static bool run_constraints(const ConformArgs *a, const char *path, const json_t *file, Tally *t) {
    ConformCount count = {0};
    bool ok = !a->dump || cli_fail("--dump: %s has constraints; it needs steps of given contacts", path);
    ok = ok && conform_constraints(path, file, a->verbose, &count);
    t->passed += count.passed;
    t->failed += count.failed;
    return ok;
}

/* A file of contact laws. */
static bool run_laws(const ConformArgs *a, const char *path, const json_t *file, Tally *t) {
    ConformCount count = {0};
    bool ok = !a->dump || cli_fail("--dump: %s has contact laws; it needs steps of given contacts", path);
    ok = ok && conform_laws(path, file, a->verbose, &count);
    t->passed += count.passed;
    t->failed += count.failed;
    return ok;
}

/* Whether a file has cases of MuJoCo, or pairs of its geoms, which the package in Python imports. */
static bool is_of_mujoco(const json_t *json) {
    return json_is_string(json_object_get(json, "mujoco")) &&
           (json_is_object(json_object_get(json, "constants")) || json_is_array(json_object_get(json, "pairs")));
}

/* A line of mujoco_files.py; the last one has the numbers of comparisons. */
static bool read_mujoco(void *arg, const char *line) {
    Tally *t = arg;
    int passed, failed, length = 0;
    bool last = sscanf(line, "%d passed, %d failed%n", &passed, &failed, &length) == 2 && line[length] == '\0';
    if (last) {
        t->passed += passed;
        t->failed += failed;
    } else if (t->json == NULL) {
        cli_put_printable(stdout, line);
        putchar('\n');
    }
    return last;
}

static bool add_mujoco(const ConformArgs *a, const char *path, Tally *t) {
    t->mujoco[1 + t->num_mujoco++] = path;
    return !a->dump || cli_fail("--dump: %s has steps of MuJoCo; it needs steps of given contacts", path);
}

/* Runs the files of MuJoCo: one start of Python for all. */
static bool run_mujoco(const ConformArgs *a, Tally *t) {
    return t->num_mujoco == 0 || cli_python_script("files of MuJoCo are compared by", "test", conform_scripts_texts[0],
                                                   t->mujoco + (a->verbose ? 0 : 1), read_mujoco, t);
}

/* Contact problems in impulses. */
static bool run_dual(const ConformArgs *a, const char *path, json_t *file, Tally *t) {
    if (a->dump)
        return cli_fail("--dump: %s has contact problems in impulses; it needs steps", path);
    ConformDual run = {.verbose = a->verbose, .json = t->json};
    bool ok = conform_dual(path, file, &run);
    t->passed += run.passed;
    t->failed += run.failed;
    return ok;
}

/* Runs a file of another kind than steps; false if it has steps. *ok is whether it could be used. */
static bool run_other(const ConformArgs *a, const char *path, Tally *t, bool *ok) {
    json_t *root = reference_file_load(path);
    bool is_dual = dual_file_is(root), is_mujoco = is_of_mujoco(root), has_laws = root && conform_is_laws(root),
         has_constraints = root && !has_laws && conform_is_constraints(root);
    *ok = is_dual           ? run_dual(a, path, root, t)
          : is_mujoco       ? add_mujoco(a, path, t)
          : has_laws        ? run_laws(a, path, root, t)
          : has_constraints ? run_constraints(a, path, root, t)
                            : false;
    json_decref(root);
    return is_dual || is_mujoco || has_laws || has_constraints || root == NULL;
}

static bool run_file(const ConformArgs *a, const char *path, bool dump, Tally *t) {
    ConformFile file;
    bool other_ok;
    if (run_other(a, path, t, &other_ok))
        return other_ok;
    bool ok = conform_open(path, &file);
    size_t i;
    json_t *one;
    json_array_foreach(ok ? json_object_get(file.json, "cases") : NULL, i, one) ok =
        ok && run_case(a, path, &file, one, dump, t);
    if (ok && dump && json_dump_file(file.json, a->dump, JSON_REAL_PRECISION(17)) != 0)
        ok = cli_fail("%s: cannot be written", a->dump);
    conform_close(&file);
    return ok;
}

static void print_worst(const Tally *t) {
    if (t->name[0])
        printf("largest relative error:");
    for (int i = 0; i < CONFORM_QUANTITIES; i++)
        if (t->name[i])
            printf(" %s %.1e%s", t->name[i], t->worst[i], i + 1 < CONFORM_QUANTITIES ? "" : "\n");
    printf("%d passed, %d failed\n", t->passed, t->failed);
}

static int conform(int argc, char **argv) {
    ConformArgs a = {0};
    const struct argp_child children[] = {{cli_settings_argp(0), 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = options, .parser = parse, .args_doc = "FILE...", .doc = doc, .children = children};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    if (a.knobs)
        return cli_conform_knobs(&(ConformKnobs){&a.settings, a.compat, a.json}, argv + a.first_file,
                                 argc - a.first_file);
    Tally t = {.json = a.json ? json_array() : NULL, .mujoco = cli_allocate((size_t)argc + 2, sizeof *t.mujoco)};
    bool ok = t.mujoco != NULL;
    if (ok)
        t.mujoco[0] = "--verbose";
    for (int i = a.first_file; ok && i < argc; i++)
        ok = run_file(&a, argv[i], a.dump && i == a.first_file, &t);
    ok = ok && run_mujoco(&a, &t);
    free(t.mujoco);
    if (t.json)
        ok = cli_json_print(json_pack("{s:o, s:i, s:i}", "outputs", t.json, "passed", t.passed, "failed", t.failed)) &&
             ok;
    else if (ok)
        print_worst(&t);
    return !ok ? CLI_EXIT_BAD : t.failed ? CLI_EXIT_WORLDS_FAILED : CLI_EXIT_OK;
}

int main(int argc, char **argv) {
    return cli_main("conform", conform, argc, argv);
}
