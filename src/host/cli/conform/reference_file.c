#include "host/cli/conform/reference_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <zlib.h>

/* The decompressed bytes of a gzip file, or NULL. */
static char *unpack(const char *path, size_t *length) {
    gzFile file = gzopen(path, "rb");
    if (file == NULL)
        return NULL;
    size_t size = 0, capacity = 1 << 16;
    char *bytes = malloc(capacity);
    for (int got = 1; bytes != NULL && got > 0; size += (size_t)got) {
        if (size == capacity) {
            capacity *= 2;
            char *larger = realloc(bytes, capacity);
            if (larger == NULL)
                free(bytes);
            bytes = larger;
        }
        got = bytes == NULL ? -1 : gzread(file, bytes + size, (unsigned)(capacity - size));
        if (got < 0) {
            free(bytes);
            bytes = NULL;
            got = 0;
        }
    }
    gzclose(file);
    *length = size;
    return bytes;
}

json_t *reference_file_load(const char *path) {
    size_t length = 0;
    char *bytes = unpack(path, &length);
    json_error_t error = {0};
    json_t *root = bytes == NULL ? NULL : json_loadb(bytes, length, 0, &error);
    if (root == NULL)
        fprintf(stderr, "%s: %s\n", path, bytes == NULL ? "cannot be read" : error.text);
    free(bytes);
    return root;
}

/* Counts the numbers below a node and, unless `out` is NULL, writes them there. False if there is anything else. */
static bool flatten(const json_t *node, double *out, size_t *count) {
    if (json_is_object(node))
        return flatten(json_object_get(node, "data"), out, count);
    if (json_is_array(node)) {
        for (size_t i = 0; i < json_array_size(node); i++)
            if (!flatten(json_array_get(node, i), out, count))
                return false;
        return true;
    }
    if (!json_is_number(node) && !json_is_boolean(node))
        return false;
    if (out != NULL)
        out[*count] = json_is_boolean(node) ? json_is_true(node) : json_number_value(node);
    ++*count;
    return true;
}

double *reference_doubles(const json_t *node, size_t *count) {
    *count = 0;
    size_t total = 0;
    if (!flatten(node, NULL, &total))
        return NULL;
    double *values = malloc((total + 1) * sizeof *values);
    if (values != NULL)
        flatten(node, values, count);
    return values;
}

int *reference_ints(const json_t *node, size_t *count) {
    double *values = reference_doubles(node, count);
    int *ints = values == NULL ? NULL : malloc((*count + 1) * sizeof *ints);
    for (size_t i = 0; ints != NULL && i < *count; i++)
        ints[i] = (int)values[i];
    free(values);
    return ints;
}
