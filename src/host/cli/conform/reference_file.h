/* JSON files of reference data, plain or compressed with gzip, and arrays of numbers in them. */
#ifndef SAPWOOD_HOST_CLI_CONFORM_REFERENCE_FILE_H
#define SAPWOOD_HOST_CLI_CONFORM_REFERENCE_FILE_H

#include <stddef.h>

#include <jansson.h>

/* Owned by the caller (json_decref). NULL and a line on stderr when the file cannot be read or is not JSON. */
json_t *reference_file_load(const char *path);

/* The numbers of a node in order, nested lists flattened; a {shape, data} object stands for its data. A missing node, or
 * anything but numbers and booleans in it, gives NULL and count 0. The caller frees the array (never NULL on success). */
double *reference_doubles(const json_t *node, size_t *count);
int *reference_ints(const json_t *node, size_t *count);

#endif
