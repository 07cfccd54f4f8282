#include "host/cli/compare/compare.h"

#include <stdio.h>
#include <string.h>

static bool is_preset(const CompareCase *one) {
    return strcmp(one->option, "contact_preset_variant") == 0;
}

/* ---- as text ---- */

static void print_row(const CompareCase *one, const CompareRow *r) {
    char name[2 * CLI_TEXT_SIZE];
    if (is_preset(one))
        snprintf(name, sizeof name, "%s", one->value);
    else
        snprintf(name, sizeof name, "  %s=%s", one->option, one->value);
    printf("%-12s %-38s %9.2e %9.2e %9.2e %9.2e %7.2f %4d %7.2f %4d %8d %6d %9.0f\n", one->kind, name, r->v.end,
           r->v.largest, r->q.end, r->q.largest, cli_count_mean(&r->newton), r->newton.largest,
           cli_count_mean(&r->line), r->line.largest, r->not_converged, r->failed, r->ns);
}

static void print_human(const Compare *c) {
    const SapModelArrays *a = c->scene.arrays;
    printf("%-16s %s (%s: bodies %d, dofs %d)\n", "scene", cli_shown(c->scene.path).text, cli_shown(a->name).text,
           a->num_bodies, a->num_dofs);
    printf("%-16s %d worlds, %d steps of %g s\n", "runs", c->args->worlds, c->args->steps, c->scene.scene->dt);
    printf("%-16s approx64; indented rows are approx64 with one option changed\n", "baseline");
    puts("\ndifference from the baseline: norm of v (m/s, rad/s) and of q (m, rad), root mean square over worlds,\n"
         "after the last step and maximum over all steps; iterations per step; worlds not converged or failed in any "
         "step");
    printf("\n%-12s %-38s %9s %9s %9s %9s %12s %12s %8s %6s %9s\n", "effect of", "run", "v end", "v max", "q end",
           "q max", "newton, max", "line s., max", "not conv", "failed", "ns/w-step");
    for (int i = 0; i < c->num_rows; i++)
        print_row(&compare_cases[i], &c->row[i]);
}

/* ---- as JSON ---- */

static json_t *difference_json(const CompareDifference *d) {
    return json_pack("{so so}", "end", cli_json_real(d->end), "largest", cli_json_real(d->largest));
}

static json_t *row_json(const CompareCase *one, const CompareRow *r) {
    json_t *json = json_object();
    cli_json_put(&json, "kind", json_string(one->kind));
    cli_json_put(&json, "option", json_string(one->option));
    cli_json_put(&json, "value", json_string(one->value));
    cli_json_put(&json, "v_difference", difference_json(&r->v));
    cli_json_put(&json, "q_difference", difference_json(&r->q));
    cli_json_put(&json, "newton_iterations", cli_count_json(&r->newton));
    cli_json_put(&json, "line_search_iterations", cli_count_json(&r->line));
    cli_json_put(&json, "not_converged", json_integer(r->not_converged));
    cli_json_put(&json, "failed", json_integer(r->failed));
    cli_json_put(&json, "ns_per_world_step", cli_json_real(r->ns));
    return json;
}

static json_t *report_json(const Compare *c) {
    json_t *json = json_object(), *rows = json_array();
    for (int i = 0; i < c->num_rows; i++)
        json_array_append_new(rows, row_json(&compare_cases[i], &c->row[i]));
    cli_json_put(&json, "scene", cli_json_text(c->scene.path));
    cli_json_put(&json, "name", cli_json_text(c->scene.arrays->name));
    cli_json_put(&json, "worlds", json_integer(c->args->worlds));
    cli_json_put(&json, "steps", json_integer(c->args->steps));
    cli_json_put(&json, "dt", cli_json_real(c->scene.scene->dt));
    cli_json_put(&json, "baseline", json_string(compare_cases[0].value));
    cli_json_put(&json, "interrupted", json_boolean(c->num_rows < COMPARE_CASES));
    cli_json_put(&json, "rows", rows);
    return json;
}

bool cli_compare_print(const Compare *c) {
    if (c->args->json)
        return cli_json_print(report_json(c));
    print_human(c);
    return true;
}
