#include "host/cli/compare/figure.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static const char grid_colour[] = "#dddddd";

bool cli_figure_open(Figure *f, const char *path, int width, int height, const char *title) {
    f->path = path;
    f->file = fopen(path, "w");
    if (!f->file)
        return cli_fail("%s: cannot be written: %s", path, strerror(errno));
    fprintf(f->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, height, width, height);
    fputs("<g font-size=\"15\" font-weight=\"bold\">\n", f->file);
    cli_figure_text(f, width / 2.0, 24, FIGURE_MIDDLE, "%s", title);
    fputs("</g>\n", f->file);
    return true;
}

bool cli_figure_close(Figure *f) {
    fputs("</svg>\n", f->file);
    bool written = !ferror(f->file);
    return (fclose(f->file) == 0 && written) || cli_fail("%s: cannot be written: %s", f->path, strerror(errno));
}

/* Text of unknown origin: without control characters, and with the characters of markup replaced. */
static void put_escaped(FILE *file, char *text) {
    for (const char *at = cli_printable(text); *at != '\0'; at++)
        switch (*at) {
        case '&': fputs("&amp;", file); break;
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        default: fputc(*at, file);
        }
}

void cli_figure_text(const Figure *f, double x, double y, FigureAnchor anchor, const char *format, ...) {
    static const char *const anchors[] = {"start", "middle", "end"};
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(f->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchors[anchor]);
    put_escaped(f->file, text);
    fputs("</text>\n", f->file);
}

void cli_figure_line(const Figure *f, double x1, double y1, double x2, double y2, const char *colour, double width) {
    fprintf(f->file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%.1f\"/>\n",
            x1, y1, x2, y2, colour, width);
}

void cli_figure_dot(const Figure *f, double x, double y, double radius, const char *colour) {
    fprintf(f->file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y, radius, colour);
}

/* ---- axes ---- */

FigureAxis cli_figure_axis(double from, double to) {
    return (FigureAxis){.low = INT_MAX, .high = INT_MIN, .from = from, .to = to};
}

void cli_figure_axis_add(FigureAxis *a, double value) {
    if (!(value > 0 && isfinite(value)))
        return;
    int low = (int)floor(log10(value)), high = low + 1;
    a->low = low < a->low ? low : a->low;
    a->high = high > a->high ? high : a->high;
}

double cli_figure_axis_at(const FigureAxis *a, double value) {
    if (!(value > 0) || a->low >= a->high)
        return a->from;
    double part = (log10(value) - a->low) / (a->high - a->low);
    return a->from + (a->to - a->from) * fmin(fmax(part, 0), 1);
}

/* The number of decades from one label to the next, so that labels have room. */
static int label_step(const FigureAxis *a, double room) {
    double decade = fabs(a->to - a->from) / (a->high > a->low ? a->high - a->low : 1);
    return (int)ceil(room / decade);
}

static CliText label(int e) {
    CliText text = {"1"};
    if (e != 0)
        snprintf(text.text, sizeof text.text, "1e%d", e);
    return text;
}

void cli_figure_grid_x(const Figure *f, const FigureAxis *a, double top, double bottom) {
    for (int e = a->low; e <= a->high; e++) {
        double x = cli_figure_axis_at(a, pow(10, e));
        cli_figure_line(f, x, top, x, bottom, grid_colour, 1);
        if (e % label_step(a, 48) == 0)
            cli_figure_text(f, x, bottom + 18, FIGURE_MIDDLE, "%s", label(e).text);
    }
}

void cli_figure_grid_y(const Figure *f, const FigureAxis *a, double left, double right) {
    for (int e = a->low; e <= a->high; e++) {
        double y = cli_figure_axis_at(a, pow(10, e));
        cli_figure_line(f, left, y, right, y, grid_colour, 1);
        if (e % label_step(a, 18) == 0)
            cli_figure_text(f, left - 8, y + 4, FIGURE_END, "%s", label(e).text);
    }
}
