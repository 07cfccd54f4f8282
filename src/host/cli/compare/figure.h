/* Figures as SVG files: lines, points and text at pixels, and axes by decades. */
#ifndef SAPWOOD_HOST_CLI_COMPARE_FIGURE_H
#define SAPWOOD_HOST_CLI_COMPARE_FIGURE_H

#include "host/cli/common.h"

typedef struct Figure {
    FILE *file;
    const char *path;
} Figure;

/* A white page with a title. */
bool cli_figure_open(Figure *figure, const char *path, int width, int height, const char *title);
/* Reports whether all of the file was written. */
bool cli_figure_close(Figure *figure);

typedef enum FigureAnchor { FIGURE_START, FIGURE_MIDDLE, FIGURE_END } FigureAnchor;
void cli_figure_text(const Figure *figure, double x, double y, FigureAnchor anchor, const char *format, ...)
    SAP_PRINTF(5, 6);
void cli_figure_line(const Figure *figure, double x1, double y1, double x2, double y2, const char *colour,
                     double width);
void cli_figure_dot(const Figure *figure, double x, double y, double radius, const char *colour);

/* The decades that hold all values, along a line of pixels. */
typedef struct FigureAxis {
    int low, high;
    double from, to;
} FigureAxis;

FigureAxis cli_figure_axis(double from, double to);
/* Values of 0 have no logarithm and do not count. */
void cli_figure_axis_add(FigureAxis *axis, double value);
/* The pixel of a value; values outside the decades are moved to their ends. */
double cli_figure_axis_at(const FigureAxis *axis, double value);
/* A grid with a label for every decade: of a horizontal axis at the bottom, of a vertical one on the left. */
void cli_figure_grid_x(const Figure *figure, const FigureAxis *axis, double top, double bottom);
void cli_figure_grid_y(const Figure *figure, const FigureAxis *axis, double left, double right);

#endif
