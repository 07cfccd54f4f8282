/* `sapwood conform --knobs`: reference cases with one precision at a time set to f32. lab/conform/README.md. */
#include "lab/conform/knobs.h"

#include <math.h>
#include <string.h>

#include "lab/conform/conform.h"
#include "lab/conform/constraints.h"
#include "lab/conform/reference_file.h"

/* ---- knobs ---- */

typedef struct Knob {
    const char *option, *value; /* NULL: no option is changed */
} Knob;

static const Knob knobs[] = {{NULL, NULL},
                             {"free_motion_precision", "fp32"},
                             {"contact_geometry_f64", "false"},
                             {"contact_weight_precision", "fp32"},
                             {"contact_solve_precision", "fp32"},
                             {"linear_solve_precision", "fp32"}};
enum { NUM_KNOBS = sizeof knobs / sizeof *knobs };

/* The columns: a selection of the quantities of conform_compare. */
static const char *const columns[] = {"v_star", "A", "phi0", "J", "w", "v", "gamma", "vc", "cost", "q_next"};
enum { NUM_COLUMNS = sizeof columns / sizeof *columns };

typedef struct Row {
    double worst[NUM_COLUMNS];
    int outputs, other_counts, not_converged, failed;
} Row;

/* ---- runs ---- */

static const ConformError *find(const ConformResult *r, const char *name) {
    for (int i = 0; i < CONFORM_QUANTITIES; i++)
        if (strcmp(r->error[i].name, name) == 0)
            return &r->error[i];
    return NULL;
}

/* Errors of velocities are also scaled by v*: the velocity of a body at rest is a small difference of larger numbers,
 * which f32 cannot resolve. */
static double error_of(const ConformResult *r, const char *name) {
    const ConformError *e = find(r, name), *v_star = find(r, "v_star");
    bool velocity = strcmp(name, "v") == 0 || strcmp(name, "vc") == 0;
    if (!velocity || v_star->scale <= e->scale)
        return e->error;
    return e->error * (e->scale > 0 ? e->scale : 1) / v_star->scale;
}

static void add_output(Row *row, const ConformCase *c, const ConformResult *r) {
    row->outputs++;
    row->other_counts += !r->counts_agree;
    row->not_converged += (c->status & SAP_WORLD_NOT_CONVERGED) != 0;
    row->failed += (c->status & SAP_WORLD_FAILED) != 0;
    if (c->status & (SAP_WORLD_NOT_CONVERGED | SAP_WORLD_FAILED))
        return; /* no solution to compare */
    for (int i = 0; i < NUM_COLUMNS; i++) {
        double error = error_of(r, columns[i]);
        if (!(error <= row->worst[i]))
            row->worst[i] = error;
    }
}

/* A stop by the cost test is not a minimum, and f32 may stop one iteration earlier or later: such outputs are not
 * compared. */
static bool is_minimum(const json_t *output) {
    return json_integer_value(json_object_get(output, "by_optimality")) != 0;
}

static bool run_output(const ConformKnobs *a, const ConformFile *file, const json_t *output, ConformCase *c,
                       Row rows[NUM_KNOBS]) {
    for (int k = 0; k < NUM_KNOBS; k++) {
        SapOptions o;
        ConformResult r;
        if (!cli_check(sap_options_preset(json_string_value(json_object_get(output, "preset")), &o)) ||
            !cli_check(sap_options_set(&o, "line_search", json_string_value(json_object_get(output, "line_search")))) ||
            !cli_settings_apply(a->settings, &o))
            return false;
        if (a->compat)
            o.compat = SAP_COMPAT_SAP_WARP;
        if (knobs[k].option && !cli_check(sap_options_set(&o, knobs[k].option, knobs[k].value)))
            return false;
        if (!conform_case_run(file, &o, c) || !conform_compare(file, c, output, &r))
            return false;
        add_output(&rows[k], c, &r);
    }
    return true;
}

static bool run_case(const ConformKnobs *a, const ConformFile *file, const json_t *one, Row rows[NUM_KNOBS]) {
    const json_t *outputs = json_object_get(one, "outputs");
    ConformCase c;
    bool ok = conform_case_open(file, one, &c);
    for (size_t i = 0; ok && i < json_array_size(outputs); i++)
        if (is_minimum(json_array_get(outputs, i)))
            ok = run_output(a, file, json_array_get(outputs, i), &c, rows);
    conform_case_close(&c);
    return ok;
}

/* ---- files of constraints: the precisions of whole presets ---- */

static const char *const presets[] = {"approx64", "approx32", "fast32"};
enum { NUM_PRESETS = sizeof presets / sizeof *presets };

typedef struct ConstraintRows {
    ConformErrors errors[NUM_PRESETS];
    int files;
} ConstraintRows;

static bool run_constraints(const char *path, const json_t *file, ConstraintRows *rows) {
    rows->files++;
    for (int p = 0; p < NUM_PRESETS; p++) {
        SapOptions precisions;
        if (!cli_check(sap_options_preset(presets[p], &precisions)) ||
            !conform_constraints_errors(path, file, &precisions, &rows->errors[p]))
            return false;
    }
    return true;
}

static void print_constraint_rows(const ConstraintRows *rows) {
    printf("%-31s %8s %8s\n", "precisions of", "v", "q");
    for (int p = 0; p < NUM_PRESETS; p++)
        printf("%-31s %8.1e %8.1e\n", presets[p], rows->errors[p].v, rows->errors[p].q);
    printf("%d files; v: after one step, m/s or rad/s; q: coordinates of trajectories, m or rad\n", rows->files);
}

static json_t *constraint_rows_json(const ConstraintRows *rows) {
    json_t *list = json_array();
    for (int p = 0; p < NUM_PRESETS; p++) {
        json_t *o = json_object();
        cli_json_put(&o, "precisions", json_string(presets[p]));
        cli_json_put(&o, "v", cli_json_real(rows->errors[p].v));
        cli_json_put(&o, "q", cli_json_real(rows->errors[p].q));
        json_array_append_new(list, o);
    }
    return list;
}

/* ---- all files ---- */

static bool run_file(const ConformKnobs *a, const char *path, Row rows[NUM_KNOBS], ConstraintRows *constraints) {
    json_t *root = reference_file_load(path);
    bool has_constraints = root && conform_is_constraints(root), ran = root != NULL;
    if (has_constraints)
        ran = run_constraints(path, root, constraints);
    json_decref(root);
    if (has_constraints || !ran)
        return ran;
    ConformFile file;
    bool ok = conform_open(path, &file);
    const json_t *cases = ok ? json_object_get(file.json, "cases") : NULL;
    for (size_t i = 0; ok && i < json_array_size(cases); i++)
        ok = run_case(a, &file, json_array_get(cases, i), rows);
    conform_close(&file);
    return ok;
}

/* ---- output ---- */

static const char *knob_name(int k) {
    return knobs[k].option ? knobs[k].option : "none";
}

static void print_rows(const Row *rows) {
    printf("%-31s", "in f32");
    for (int i = 0; i < NUM_COLUMNS; i++)
        printf(" %8s", columns[i]);
    printf(" %8s %8s %6s\n", "counts", "not conv", "failed");
    for (int k = 0; k < NUM_KNOBS; k++) {
        printf("%-31s", knob_name(k));
        for (int i = 0; i < NUM_COLUMNS; i++)
            printf(" %8.1e", rows[k].worst[i]);
        printf(" %8d %8d %6d\n", rows[k].other_counts, rows[k].not_converged, rows[k].failed);
    }
    printf("%d outputs; counts: outputs whose numbers of iterations differ from the reference\n", rows[0].outputs);
}

static json_t *row_json(int k, const Row *row) {
    json_t *o = json_object(), *errors = json_object();
    cli_json_put(&o, "f32", json_string(knob_name(k)));
    for (int i = 0; i < NUM_COLUMNS; i++)
        cli_json_put(&errors, columns[i], cli_json_real(row->worst[i]));
    cli_json_put(&o, "errors", errors);
    cli_json_put(&o, "outputs", json_integer(row->outputs));
    cli_json_put(&o, "other_counts", json_integer(row->other_counts));
    cli_json_put(&o, "not_converged", json_integer(row->not_converged));
    cli_json_put(&o, "failed", json_integer(row->failed));
    return o;
}

static bool print_json(const Row *rows, const ConstraintRows *constraints) {
    json_t *list = json_array();
    for (int k = 0; k < NUM_KNOBS; k++)
        json_array_append_new(list, row_json(k, &rows[k]));
    return cli_json_print(json_pack("{s:o, s:o}", "knobs", list, "constraints", constraint_rows_json(constraints)));
}

int cli_conform_knobs(const ConformKnobs *a, char **files, int num_files) {
    Row rows[NUM_KNOBS] = {0};
    ConstraintRows constraints = {0};
    for (int i = 0; i < num_files; i++)
        if (!run_file(a, files[i], rows, &constraints))
            return CLI_EXIT_BAD;
    if (rows[0].outputs == 0 && constraints.files == 0) {
        cli_fail("--knobs: no output of the files ended by the optimality test");
        return CLI_EXIT_BAD;
    }
    if (!a->json && rows[0].outputs > 0)
        print_rows(rows);
    if (!a->json && constraints.files > 0)
        print_constraint_rows(&constraints);
    if (a->json && !print_json(rows, &constraints))
        return CLI_EXIT_BAD;
    for (int k = 0; k < NUM_KNOBS; k++)
        if (rows[k].failed)
            return CLI_EXIT_WORLDS_FAILED;
    return CLI_EXIT_OK;
}
