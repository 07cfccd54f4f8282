#include "host/cli/compare/solvers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *name_of(const Solvers *s, int i) {
    return solver_choices[s->args->solvers.value[i]].name;
}

/* ---- as text ---- */

static void print_human(const Solvers *s) {
    const SolversArgs *args = s->args;
    printf("%-16s %s (%s: bodies %d, dofs %d)\n", "scene", cli_shown(s->scene.path).text,
           cli_shown(s->scene.arrays->name).text, s->scene.arrays->num_bodies, s->scene.arrays->num_dofs);
    printf("%-16s %d worlds, %d steps of %g s\n", "runs", args->worlds, args->steps, s->scene.scene->dt);
    printf(
        "\nfrom the states and contacts of %s: largest difference of v (m/s, rad/s) and of contact impulses (N s), "
        "root\n"
        "mean square over worlds; mean residual of rigid contact; momentum without an impulse; iterations; processor\n"
        "time per world-step. In the solver's own run: deepest overlap (m), change of the energy (J), slip at the end "
        "(m/s)\n",
        name_of(s, 0));
    printf("\n%-11s %9s %9s %9s %9s %12s %8s %9s | %9s %9s %9s %6s\n", "solver", "v", "impulse", "residual", "momentum",
           "iter., max", "not conv", "ns/w-step", "depth", "energy", "slip", "failed");
    for (int i = 0; i < args->solvers.count; i++) {
        const SolverRow *r = &s->row[i];
        printf("%-11s %9.2e %9.2e %9.2e %9.2e %7.2f %4d %8d %9.0f | %9.2e %9.2e %9.2e %6d\n", name_of(s, i), r->v,
               r->impulse, r->residual, r->momentum, cli_count_mean(&r->iterations), r->iterations.largest,
               r->not_converged, r->ns, r->depth, r->energy, r->slip, r->failed);
    }
}

/* ---- as JSON ---- */

static json_t *row_json(const Solvers *s, int i) {
    const SolverRow *r = &s->row[i];
    json_t *json = json_object();
    cli_json_put(&json, "solver", json_string(name_of(s, i)));
    cli_json_put(&json, "v_difference", cli_json_real(r->v));
    cli_json_put(&json, "impulse_difference", cli_json_real(r->impulse));
    cli_json_put(&json, "residual", cli_json_real(r->residual));
    cli_json_put(&json, "momentum_error", cli_json_real(r->momentum));
    cli_json_put(&json, "iterations", cli_count_json(&r->iterations));
    cli_json_put(&json, "not_converged", json_integer(r->not_converged));
    cli_json_put(&json, "ns_per_world_step", cli_json_real(r->ns));
    cli_json_put(&json, "depth", cli_json_real(r->depth));
    cli_json_put(&json, "energy_change", cli_json_real(r->energy));
    cli_json_put(&json, "slip", cli_json_real(r->slip));
    cli_json_put(&json, "failed", json_integer(r->failed));
    return json;
}

static json_t *report_json(const Solvers *s) {
    json_t *json = json_object(), *rows = json_array();
    for (int i = 0; i < s->args->solvers.count; i++)
        json_array_append_new(rows, row_json(s, i));
    cli_json_put(&json, "scene", cli_json_text(s->scene.path));
    cli_json_put(&json, "name", cli_json_text(s->scene.arrays->name));
    cli_json_put(&json, "worlds", json_integer(s->args->worlds));
    cli_json_put(&json, "steps", json_integer(s->args->steps));
    cli_json_put(&json, "dt", cli_json_real(s->scene.scene->dt));
    cli_json_put(&json, "baseline", json_string(name_of(s, 0)));
    cli_json_put(&json, "rows", rows);
    return json;
}

/* ---- as a plot ---- */

enum { WIDTH = 640, HEIGHT = 400, MARGIN = 70 };

/* The decades that hold all values. */
typedef struct Axis {
    int low, high;
} Axis;

static void axis_add(Axis *a, double value) {
    int low = (int)floor(log10(value)), high = (int)ceil(log10(value));
    a->low = low < a->low ? low : a->low;
    a->high = high > a->high ? high : a->high;
}

static double place(const Axis *a, double value, double from, double to) {
    double span = a->high > a->low ? a->high - a->low : 1;
    return from + (to - from) * (log10(value) - a->low) / span;
}

/* A residual of 0 has no logarithm. */
static double shown(double residual) {
    return fmax(residual, 1e-16);
}

static void write_ticks(FILE *file, const Axis *x, const Axis *y) {
    for (int e = x->low; e <= x->high; e++)
        fprintf(file, "<text x=\"%.0f\" y=\"%d\" text-anchor=\"middle\">1e%d</text>\n",
                place(x, pow(10, e), MARGIN, WIDTH - MARGIN), HEIGHT - MARGIN + 20, e);
    for (int e = y->low; e <= y->high; e += 2)
        fprintf(file, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">1e%d</text>\n", MARGIN - 8,
                place(y, pow(10, e), HEIGHT - MARGIN, MARGIN) + 4, e);
}

/* Residual against processor time, both by decades, one point per solver. */
static bool write_plot(const Solvers *s) {
    FILE *file = fopen(s->args->plot, "w");
    if (!file)
        return cli_fail("%s: cannot be written: %s", s->args->plot, strerror(errno));
    Axis x = {99, -99}, y = {99, -99};
    for (int i = 0; i < s->args->solvers.count; i++) {
        axis_add(&x, s->row[i].ns);
        axis_add(&y, shown(s->row[i].residual));
    }
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            WIDTH, HEIGHT);
    fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"black\"/>\n", MARGIN,
            MARGIN, WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN);
    write_ticks(file, &x, &y);
    for (int i = 0; i < s->args->solvers.count; i++) {
        double px = place(&x, s->row[i].ns, MARGIN, WIDTH - MARGIN);
        double py = place(&y, shown(s->row[i].residual), HEIGHT - MARGIN, MARGIN);
        fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", px, py,
                px + 7, py - 6, name_of(s, i));
    }
    fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">processor time per world-step, ns</text>\n",
            WIDTH / 2, HEIGHT - 20);
    fprintf(file, "<text x=\"%d\" y=\"%d\">mean residual of rigid contact</text>\n</svg>\n", MARGIN, MARGIN - 20);
    return fclose(file) == 0 || cli_fail("%s: cannot be written: %s", s->args->plot, strerror(errno));
}

bool cli_solvers_print(const Solvers *s) {
    if (s->args->plot && !write_plot(s))
        return false;
    if (s->args->json)
        return cli_json_print(report_json(s));
    print_human(s);
    return true;
}
