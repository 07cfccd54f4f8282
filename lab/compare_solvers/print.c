#include "lab/compare_solvers/solvers.h"

#include <math.h>
#include <stdio.h>

#include "host/cli/compare/figure.h"

static const char *name_of(const Solvers *s, int i) {
    return solver_choices[s->args->solvers.value[i]].name;
}

/* ---- as text ---- */

static void print_failures(const Solvers *s) {
    for (int i = 0; i < s->args->solvers.count; i++)
        if (s->row[i].failed.total) {
            printf("%-16s %s: ", "worlds failed", name_of(s, i));
            cli_failures_print(&s->row[i].failed, s->args->worlds);
        }
}

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
               r->not_converged, r->ns, r->depth, r->energy, r->slip, r->failed.total);
    }
    print_failures(s);
}

/* ---- as JSON ---- */

static json_t *row_json(const Solvers *s, int i) {
    const SolverRow *r = &s->row[i];
    json_t *json = json_object();
    cli_json_put(&json, "solver", json_string(name_of(s, i)));
    cli_json_put(&json, "v_difference", cli_json_real(r->v));
    cli_json_put(&json, "impulse_difference", cli_json_real(r->impulse));
    cli_json_put(&json, "residual", cli_json_real(r->residual));
    cli_json_put(&json, "own_residual", cli_json_real(r->own_residual));
    cli_json_put(&json, "momentum_error", cli_json_real(r->momentum));
    cli_json_put(&json, "iterations", cli_count_json(&r->iterations));
    cli_json_put(&json, "not_converged", json_integer(r->not_converged));
    cli_json_put(&json, "ns_per_world_step", cli_json_real(r->ns));
    cli_json_put(&json, "depth", cli_json_real(r->depth));
    cli_json_put(&json, "energy_change", cli_json_real(r->energy));
    cli_json_put(&json, "slip", cli_json_real(r->slip));
    cli_json_put(&json, "failed", cli_failures_json(&r->failed));
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

enum { WIDTH = 720, HEIGHT = 460, LEFT = 80, RIGHT = 120, TOP = 70, BOTTOM = 60 };

/* A residual of 0 has no logarithm. */
static double shown(double residual) {
    return fmax(residual, 1e-16);
}

static void draw_solver(const Figure *f, const Solvers *s, int i, double x, double y) {
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888"};
    const char *colour = colours[(size_t)i % (sizeof colours / sizeof *colours)];
    double line = TOP + 10 + 20 * i;
    cli_figure_dot(f, x, y, 5, colour);
    cli_figure_dot(f, WIDTH - RIGHT + 20, line, 5, colour);
    cli_figure_text(f, WIDTH - RIGHT + 32, line + 4, FIGURE_START, "%s", name_of(s, i));
}

/* Residual against processor time, both by decades, one point per solver. Each residual is that of the solver's own
 * problem: beside the one of rigid contact a compliant law has a floor, however well it is solved. */
static bool write_plot(const Solvers *s) {
    Figure f;
    FigureAxis x = cli_figure_axis(LEFT, WIDTH - RIGHT), y = cli_figure_axis(HEIGHT - BOTTOM, TOP);
    for (int i = 0; i < s->args->solvers.count; i++) {
        cli_figure_axis_add(&x, s->row[i].ns);
        cli_figure_axis_add(&y, shown(s->row[i].own_residual));
    }
    if (!cli_figure_open(&f, s->args->plot, WIDTH, HEIGHT, "Accuracy and work of contact solvers"))
        return false;
    cli_figure_text(&f, WIDTH / 2.0, 46, FIGURE_MIDDLE, "%s: %d worlds, %d steps of %g s", s->scene.arrays->name,
                    s->args->worlds, s->args->steps, s->scene.scene->dt);
    cli_figure_grid_x(&f, &x, TOP, HEIGHT - BOTTOM);
    cli_figure_grid_y(&f, &y, LEFT, WIDTH - RIGHT);
    for (int i = 0; i < s->args->solvers.count; i++)
        draw_solver(&f, s, i, cli_figure_axis_at(&x, s->row[i].ns),
                    cli_figure_axis_at(&y, shown(s->row[i].own_residual)));
    cli_figure_text(&f, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 16, FIGURE_MIDDLE, "processor time per world-step, ns");
    cli_figure_text(&f, LEFT, TOP - 8, FIGURE_START, "mean relative residual, each of its own law");
    return cli_figure_close(&f);
}

bool solvers_print(const Solvers *s) {
    if (s->args->plot && !write_plot(s))
        return false;
    if (s->args->json)
        return cli_json_print(report_json(s));
    print_human(s);
    return true;
}
