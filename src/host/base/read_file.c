#include "host/base/read_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"

static SapStatus read_stream(FILE *file, const char *path, size_t most, char **out, size_t *length) {
    size_t size = 0, capacity = 0;
    char *bytes = NULL;
    do {
        capacity = capacity == 0 ? 1 << 15 : 2 * capacity;
        char *larger = realloc(bytes, capacity);
        if (larger == NULL) {
            free(bytes);
            return sap_fail_at(path, 0, SAP_ERROR_MEMORY, "out of memory while reading the file");
        }
        bytes = larger;
        size += fread(bytes + size, 1, capacity - size, file);
    } while (size == capacity && size <= most);
    if (ferror(file)) {
        int error = errno;
        free(bytes);
        return sap_fail_at(path, 0, SAP_ERROR_IO, "cannot be read: %s", strerror(error));
    }
    *out = bytes;
    *length = size;
    return SAP_OK;
}

SapStatus sap_read_file(const char *path, size_t most, char **bytes, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return sap_fail_at(path, 0, SAP_ERROR_IO, "cannot be opened: %s", strerror(errno));
    SapStatus status = read_stream(file, path, most, bytes, length);
    fclose(file);
    return status;
}
