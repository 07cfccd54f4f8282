/* JSON files of reference data, plain or gzip-compressed, and their arrays of numbers. */
#ifndef SAPWOOD_LAB_CONFORM_REFERENCE_FILE_H
#define SAPWOOD_LAB_CONFORM_REFERENCE_FILE_H

#include <stddef.h>

#include <jansson.h>

/* Limits on untrusted input: bytes of a file, and of its text after decompression. jansson takes about twenty times the
 * memory of the text. The largest file of tests/data has 0.06 and 0.8 MB. */
enum { REFERENCE_MAX_FILE_BYTES = 16 << 20, REFERENCE_MAX_TEXT_BYTES = 32 << 20 };

/* Owned by the caller (json_decref). NULL and a message on stderr unless `path` is a regular file within the limits
 * that contains JSON. */
json_t *reference_file_load(const char *path);
/* The same from memory; `name` stands for the file in messages. */
json_t *reference_file_parse(const void *bytes, size_t length, const char *name);

/* The numbers of a node in order, with nested lists flattened; a {shape, data} object stands for its data. NULL and
 * count 0 if the node is missing or contains anything but numbers and booleans; for ints also if a number is not an
 * integer of 32 bits. The caller frees the array, which is never NULL on success. */
double *reference_doubles(const json_t *node, size_t *count);
int *reference_ints(const json_t *node, size_t *count);

#endif
