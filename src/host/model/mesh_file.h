/* Files of geometry: the vertices of meshes (OBJ, STL) and the heights of grids (plain text).
 *
 * Only vertices are taken from meshes, for shapes are convex hulls. A file that is cut short, counts wrongly, or holds what is not
 * a finite number is an error (SAP_ERROR_PARSE) with the file and the line, or the offset in a binary file. Results are of the
 * caller, to be freed with free(). */
#ifndef SAPWOOD_HOST_MODEL_MESH_FILE_H
#define SAPWOOD_HOST_MODEL_MESH_FILE_H

#include <stddef.h>

#include <sapwood/error.h>

enum { SAP_MESH_FILE_MAX_BYTES = 1 << 28 };

/* The end of `name` tells the format: .obj or .stl, in any case. *vertices is [*num_vertices][3]. */
SapStatus sap_mesh_parse(const char *bytes, size_t length, const char *name, double **vertices, int *num_vertices);
SapStatus sap_mesh_load(const char *path, double **vertices, int *num_vertices);

/* One row per line, all of the same length, numbers apart by spaces, tabs or commas; empty lines and what follows a # do not
 * count. *heights is [*rows][*columns]. */
SapStatus sap_grid_parse(const char *bytes, size_t length, const char *name, double **heights, int *rows, int *columns);
SapStatus sap_grid_load(const char *path, double **heights, int *rows, int *columns);

#endif
