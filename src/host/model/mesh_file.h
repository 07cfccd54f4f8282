/* Geometry files: the vertices of meshes (OBJ, STL) and the heights of grids (plain text).
 *
 * Only the vertices of a mesh are read, because shapes are convex hulls. A truncated file, a wrong count, or a value
 * that is not a finite number is an error (SAP_ERROR_PARSE) with the file and the line, or the offset in a binary file.
 * The caller owns the results and frees them with free(). */
#ifndef SAPWOOD_HOST_MODEL_MESH_FILE_H
#define SAPWOOD_HOST_MODEL_MESH_FILE_H

#include <stddef.h>

#include <sapwood/error.h>

enum { SAP_MESH_FILE_MAX_BYTES = 1 << 28 };

/* The extension of `name` selects the format: .obj or .stl, in either case. *vertices is [*num_vertices][3]. */
SapStatus sap_mesh_parse(const char *bytes, size_t length, const char *name, double **vertices, int *num_vertices);
SapStatus sap_mesh_load(const char *path, double **vertices, int *num_vertices);

/* One row per line, all of the same length; numbers are separated by spaces, tabs or commas. Empty lines and text after
 * # are ignored. *heights is [*rows][*columns]. */
SapStatus sap_grid_parse(const char *bytes, size_t length, const char *name, double **heights, int *rows, int *columns);
SapStatus sap_grid_load(const char *path, double **heights, int *rows, int *columns);

#endif
