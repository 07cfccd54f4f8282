#include "lab/conform/reference_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "host/cli/printable.h"

/* ---- bytes ---- */

typedef struct Text {
    char *bytes;
    size_t length;
} Text;

static bool fail(const char *name, const char *reason) {
    fprintf(stderr, "%s: %s\n", cli_shown(name).text, reason);
    return false;
}

/* Only regular files: reading a FIFO or a device may never end. O_NONBLOCK: neither may opening one. */
static int open_regular(const char *path, size_t *length) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        fail(path, strerror(errno));
        return -1;
    }
    const char *reason = NULL;
    if (fstat(fd, &info) != 0)
        reason = strerror(errno);
    else if (!S_ISREG(info.st_mode))
        reason = "not a regular file";
    else if (info.st_size > REFERENCE_MAX_FILE_BYTES)
        reason = "more than 16 MiB; fewer are allowed";
    if (reason != NULL) {
        fail(path, reason);
        close(fd);
        return -1;
    }
    *length = (size_t)info.st_size;
    return fd;
}

/* Reads the bytes that the file had when it was opened, or as many as are left. */
static bool read_file(const char *path, Text *out) {
    size_t size;
    int fd = open_regular(path, &size);
    if (fd < 0)
        return false;
    *out = (Text){.bytes = malloc(size + 1)};
    ssize_t got = 1;
    while (out->bytes != NULL && got > 0 && out->length < size) {
        got = read(fd, out->bytes + out->length, size - out->length);
        out->length += got > 0 ? (size_t)got : 0;
    }
    const char *reason = out->bytes == NULL ? "out of memory" : got < 0 ? strerror(errno) : NULL;
    close(fd);
    return reason == NULL || fail(path, reason);
}

/* Doubles the buffer, up to one byte more than the limit. */
static bool grow(Text *text, size_t *capacity) {
    *capacity = *capacity == 0 ? 1 << 16 : 2 * *capacity;
    if (*capacity > REFERENCE_MAX_TEXT_BYTES)
        *capacity = REFERENCE_MAX_TEXT_BYTES + 1;
    char *larger = realloc(text->bytes, *capacity);
    if (larger != NULL)
        text->bytes = larger;
    return larger != NULL;
}

/* Decompresses gzip data. */
static bool unpack(const void *bytes, size_t length, const char *name, Text *out) {
    z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)length};
    size_t capacity = 0;
    int state = inflateInit2(&stream, 16 + MAX_WBITS);
    while (state == Z_OK && out->length <= REFERENCE_MAX_TEXT_BYTES) {
        if (out->length == capacity && !grow(out, &capacity)) {
            state = Z_MEM_ERROR;
            break;
        }
        stream.next_out = (Bytef *)out->bytes + out->length;
        stream.avail_out = (uInt)(capacity - out->length);
        state = inflate(&stream, Z_NO_FLUSH);
        out->length = capacity - stream.avail_out;
    }
    inflateEnd(&stream);
    if (state == Z_STREAM_END && out->length <= REFERENCE_MAX_TEXT_BYTES)
        return true;
    return fail(name, state == Z_MEM_ERROR ? "out of memory"
                      : state == Z_OK      ? "more than 32 MiB after decompression; fewer are allowed"
                                           : "damaged or incomplete gzip data");
}

/* ---- JSON ---- */

static json_t *parse_text(const char *text, size_t length, const char *name) {
    json_error_t error;
    json_t *root = json_loadb(text, length, 0, &error);
    if (root == NULL)
        fprintf(stderr, "%s:%d: not JSON: error at column %d\n", cli_shown(name).text, error.line, error.column);
    return root;
}

json_t *reference_file_parse(const void *bytes, size_t length, const char *name) {
    static const unsigned char gzip[2] = {0x1f, 0x8b};
    if (length < sizeof gzip || memcmp(bytes, gzip, sizeof gzip) != 0)
        return parse_text(length > 0 ? bytes : "", length, name);
    Text text = {0};
    json_t *root = unpack(bytes, length, name, &text) ? parse_text(text.bytes, text.length, name) : NULL;
    free(text.bytes);
    return root;
}

json_t *reference_file_load(const char *path) {
    Text file = {0};
    json_t *root = read_file(path, &file) ? reference_file_parse(file.bytes, file.length, path) : NULL;
    free(file.bytes);
    return root;
}

/* ---- numbers ---- */

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
    for (size_t i = 0; ints != NULL && i < *count; i++) {
        if (!(values[i] >= INT_MIN && values[i] <= INT_MAX) || values[i] != (double)(int)values[i]) {
            free(ints);
            ints = NULL;
            *count = 0;
            break;
        }
        ints[i] = (int)values[i];
    }
    free(values);
    return ints;
}
