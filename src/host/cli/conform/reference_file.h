/* JSON files of reference data, plain or gzip-compressed, and their arrays of numbers. */
#ifndef SAPWOOD_HOST_CLI_CONFORM_REFERENCE_FILE_H
#define SAPWOOD_HOST_CLI_CONFORM_REFERENCE_FILE_H

#include <stddef.h>

#include <jansson.h>

/* Owned by the caller (json_decref). NULL and a message on stderr if the file cannot be read or is not JSON. */
json_t *reference_file_load(const char *path);

/* The numbers of a node in order, with nested lists flattened; a {shape, data} object stands for its data. NULL and
 * count 0 if the node is missing or contains anything but numbers and booleans. The caller frees the array, which is
 * never NULL on success. */
double *reference_doubles(const json_t *node, size_t *count);
int *reference_ints(const json_t *node, size_t *count);

#endif
