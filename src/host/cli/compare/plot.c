/* The differences of one step as a figure: a row per variant, a decade per column. */
#include "host/cli/compare/compare.h"
#include "host/cli/compare/figure.h"

static const char ink[] = "#0072b2", presets_ink[] = "#d55e00";

enum { WIDTH = 960, LEFT = 420, RIGHT = 40, TOP = 96, ROW = 22, BELOW = 60 };

/* The rows with a difference to show: all but the reference. */
static FigureAxis axis_of(const Compare *c) {
    FigureAxis axis = cli_figure_axis(LEFT, WIDTH - RIGHT);
    for (int i = 1; i < c->num_rows; i++) {
        const CompareSpread *v = &c->row[i].step_v;
        const double values[] = {v->p50, v->p90, v->p99, v->max};
        for (int k = 0; k < 4; k++)
            cli_figure_axis_add(&axis, values[k]);
    }
    return axis;
}

/* A line from the median to the largest difference, thick up to the 90th percentile, with a tick at the 99th. */
static void draw_spread(const Figure *f, const FigureAxis *axis, const CompareSpread *v, double y, const char *colour) {
    double p50 = cli_figure_axis_at(axis, v->p50), p90 = cli_figure_axis_at(axis, v->p90);
    double p99 = cli_figure_axis_at(axis, v->p99), max = cli_figure_axis_at(axis, v->max);
    cli_figure_line(f, p50, y, max, y, colour, 1);
    cli_figure_line(f, p50, y, p90, y, colour, 5);
    cli_figure_line(f, p99, y - 6, p99, y + 6, colour, 2);
    cli_figure_dot(f, max, y, 3.5, colour);
}

static void draw_row(const Figure *f, const FigureAxis *axis, const Compare *c, int i) {
    const CompareVariant *v = &c->variant[i];
    double y = TOP + ROW * (i - 0.5);
    bool preset = cli_compare_is_preset(v);
    cli_figure_text(f, 12, y + 4, FIGURE_START, "%s", v->kind);
    cli_figure_text(f, LEFT - 12, y + 4, FIGURE_END, "%s%s%s", cli_compare_name(v).text, preset ? " - " : "",
                    preset ? c->variant[v->against].value.text : "");
    if (c->row[i].step_v.max > 0)
        draw_spread(f, axis, &c->row[i].step_v, y, preset ? presets_ink : ink);
    else
        cli_figure_text(f, LEFT + 8, y + 4, FIGURE_START, "0");
}

bool cli_compare_plot(const Compare *c) {
    Figure f;
    FigureAxis axis = axis_of(c);
    double bottom = TOP + ROW * (c->num_rows > 1 ? c->num_rows - 1 : 1);
    if (!cli_figure_open(&f, c->args->plot, WIDTH, (int)bottom + BELOW,
                         "Difference of the velocity after one step from the same states"))
        return false;
    cli_figure_text(&f, WIDTH / 2.0, 46, FIGURE_MIDDLE, "%s: %d worlds, %d steps of %g s along a run of %s; %s",
                    c->scene.arrays->name, c->args->worlds, c->args->steps, c->scene.scene->dt, c->args->reference,
                    c->args->own_stopping ? "each with its own stopping rule" : "solved to rounding");
    cli_figure_text(&f, WIDTH / 2.0, 66, FIGURE_MIDDLE,
                    "thick: median to 90th percentile; tick: 99th percentile; dot: largest. Red: two presets. Blue: %s "
                    "with one option changed",
                    c->args->reference);
    cli_figure_grid_x(&f, &axis, TOP, bottom);
    for (int i = 1; i < c->num_rows; i++)
        draw_row(&f, &axis, c, i);
    cli_figure_line(&f, LEFT, TOP, LEFT, bottom, "#888888", 1);
    cli_figure_text(&f, (LEFT + WIDTH - RIGHT) / 2.0, bottom + 42, FIGURE_MIDDLE,
                    "norm of the difference over the dofs, m/s and rad/s");
    return cli_figure_close(&f);
}
