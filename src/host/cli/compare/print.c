#include "host/cli/compare/compare.h"

#include <stdio.h>
#include <string.h>

/* ---- as text ---- */

static void print_name(const Compare *c, int i) {
    const CompareVariant *v = &c->variant[i];
    bool preset = cli_compare_is_preset(v);
    printf("%-15s %s%-*s %-9s", v->kind, preset ? "" : "  ", preset ? 38 : 36, cli_compare_name(v).text,
           i == 0 ? "" : c->variant[v->against].value.text);
}

static void print_step_row(const Compare *c, int i) {
    const CompareRow *r = &c->row[i];
    print_name(c, i);
    printf(" %8.1e %8.1e %8.1e %8.1e  %8.1e %8.1e %7.2f %4d %8.1e %8d %6d\n", r->step_v.p50, r->step_v.p90,
           r->step_v.p99, r->step_v.max, r->step_q.p99, r->step_q.max, cli_count_mean(&r->newton), r->newton.largest,
           r->residual, r->not_converged, r->step_failed.total);
}

static void print_steps(const Compare *c) {
    printf("\nONE STEP from the same states: |v' - v'| (m/s, rad/s) and |q' - q'| (m, rad), percentiles over %d worlds "
           "and %d steps\n",
           c->args->worlds, c->args->steps);
    printf("%-15s %-38s %-9s %8s %8s %8s %8s  %8s %8s %12s %8s %8s %6s\n", "effect of", "variant", "against", "v p50",
           "v p90", "v p99", "v max", "q p99", "q max", "newton, max", "residual", "not conv", "failed");
    for (int i = 0; i < c->num_rows; i++)
        print_step_row(c, i);
}

static void print_run_row(const Compare *c, int i) {
    const CompareRow *r = &c->row[i];
    print_name(c, i);
    printf(" %8.1e %8.1e  %8.1e %8.1e %6d %9.0f\n", r->run_v.end, r->run_v.largest, r->run_q.end, r->run_q.largest,
           r->run_failed.total, r->ns);
}

static void print_drift(const Compare *c) {
    printf("\nDRIFT over a run of %d steps, each variant by itself: root mean square over worlds\n", c->args->steps);
    printf("%-15s %-38s %-9s %8s %8s  %8s %8s %6s %9s\n", "effect of", "variant", "against", "v end", "v max", "q end",
           "q max", "failed", "ns/w-step");
    for (int i = 0; i < c->num_rows; i++)
        print_run_row(c, i);
}

static void print_failures(const Compare *c, int i, const char *where, const CliFailures *f) {
    if (f->total == 0)
        return;
    printf("%-16s %s, %s: ", "worlds failed", cli_compare_name(&c->variant[i]).text, where);
    cli_failures_print(f, c->args->worlds);
}

static void print_ends(const Compare *c, int i) {
    const CompareRow *r = &c->row[i];
    if (r->not_converged == 0)
        return;
    printf("%-16s %s, one step: %d of %.0f solves", "not converged", cli_compare_name(&c->variant[i]).text,
           r->not_converged, r->newton.samples);
    cli_counts_print(cli_ends, r->by_end, CLI_NUM_ENDS);
    putchar('\n');
}

static void print_human(const Compare *c) {
    const SapModelArrays *a = c->scene.arrays;
    printf("%-16s %s (%s: bodies %d, dofs %d)\n", "scene", cli_shown(c->scene.path).text, cli_shown(a->name).text,
           a->num_bodies, a->num_dofs);
    printf("%-16s %d worlds, %d steps of %g s\n", "runs", c->args->worlds, c->args->steps, c->scene.scene->dt);
    printf("%-16s %s moves the worlds; indented rows are %s with one option changed\n", "reference", c->args->reference,
           c->args->reference);
    printf("%-16s %s\n", "solves", c->args->own_stopping ? "each by its own stopping rule" : "tight, to rounding");
    for (int i = 0; i < c->num_left_out; i++)
        printf("%-16s %s: %s\n", "left out", c->left_out[i].preset, cli_shown(c->left_out[i].reason).text);
    print_steps(c);
    print_drift(c);
    putchar('\n');
    for (int i = 0; i < c->num_rows; i++)
        print_ends(c, i);
    for (int i = 0; i < c->num_rows; i++) {
        print_failures(c, i, "one step", &c->row[i].step_failed);
        print_failures(c, i, "run", &c->row[i].run_failed);
    }
    if (c->num_rows < c->num_variants)
        printf("%-16s before the last %d of %d variants\n", "INTERRUPTED", c->num_variants - c->num_rows,
               c->num_variants);
}

/* ---- as JSON ---- */

static json_t *spread_json(const CompareSpread *s) {
    return json_pack("{so so so so}", "p50", cli_json_real(s->p50), "p90", cli_json_real(s->p90), "p99",
                     cli_json_real(s->p99), "max", cli_json_real(s->max));
}

static json_t *drift_json(const CompareDrift *d) {
    return json_pack("{so so}", "end", cli_json_real(d->end), "largest", cli_json_real(d->largest));
}

static json_t *variant_json(const Compare *c, int i) {
    const CompareVariant *v = &c->variant[i];
    json_t *json = json_object();
    cli_json_put(&json, "kind", json_string(v->kind));
    cli_json_put(&json, "option", json_string(v->option));
    cli_json_put(&json, "value", json_string(v->value.text));
    cli_json_put(&json, "against", json_string(c->variant[v->against].value.text));
    return json;
}

static json_t *step_json(const Compare *c, int i) {
    const CompareRow *r = &c->row[i];
    json_t *json = variant_json(c, i);
    cli_json_put(&json, "v_difference", spread_json(&r->step_v));
    cli_json_put(&json, "q_difference", spread_json(&r->step_q));
    cli_json_put(&json, "newton_iterations", cli_count_json(&r->newton));
    cli_json_put(&json, "line_search_iterations", cli_count_json(&r->line));
    cli_json_put(&json, "largest_residual", cli_json_real(r->residual));
    cli_json_put(&json, "not_converged", cli_counts_json(r->not_converged, cli_ends, r->by_end, CLI_NUM_ENDS));
    cli_json_put(&json, "failed", cli_failures_json(&r->step_failed));
    return json;
}

static json_t *run_json(const Compare *c, int i) {
    const CompareRow *r = &c->row[i];
    json_t *json = variant_json(c, i);
    cli_json_put(&json, "v_difference", drift_json(&r->run_v));
    cli_json_put(&json, "q_difference", drift_json(&r->run_q));
    cli_json_put(&json, "failed", cli_failures_json(&r->run_failed));
    cli_json_put(&json, "ns_per_world_step", cli_json_real(r->ns));
    return json;
}

static json_t *report_json(const Compare *c) {
    json_t *json = json_object(), *steps = json_array(), *runs = json_array(), *left_out = json_array();
    for (int i = 0; i < c->num_rows; i++) {
        json_array_append_new(steps, step_json(c, i));
        json_array_append_new(runs, run_json(c, i));
    }
    for (int i = 0; i < c->num_left_out; i++)
        json_array_append_new(left_out, json_pack("{ss so}", "preset", c->left_out[i].preset, "reason",
                                                  cli_json_text(c->left_out[i].reason)));
    cli_json_put(&json, "scene", cli_json_text(c->scene.path));
    cli_json_put(&json, "name", cli_json_text(c->scene.arrays->name));
    cli_json_put(&json, "worlds", json_integer(c->args->worlds));
    cli_json_put(&json, "steps", json_integer(c->args->steps));
    cli_json_put(&json, "dt", cli_json_real(c->scene.scene->dt));
    cli_json_put(&json, "reference", json_string(c->args->reference));
    cli_json_put(&json, "stopping", json_string(c->args->own_stopping ? "own" : "tight"));
    cli_json_put(&json, "interrupted", json_boolean(c->num_rows < c->num_variants));
    cli_json_put(&json, "left_out", left_out);
    cli_json_put(&json, "one_step", steps);
    cli_json_put(&json, "drift", runs);
    return json;
}

bool cli_compare_print(const Compare *c) {
    if (c->args->json)
        return cli_json_print(report_json(c));
    print_human(c);
    return true;
}
