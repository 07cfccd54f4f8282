#include "host/base/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Opens a regular file. O_NONBLOCK: opening a FIFO would wait for its writer. */
static SapStatus open_regular(const char *path, FILE **out) {
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return sap_fail_at(path, 0, SAP_ERROR_IO, "cannot be opened: %s", strerror(errno));
    struct stat info;
    int error = fstat(fd, &info) == 0 ? 0 : errno;
    if (error == 0 && !S_ISREG(info.st_mode)) {
        close(fd);
        return sap_fail_at(path, 0, SAP_ERROR_IO, "not a regular file");
    }
    *out = error == 0 ? fdopen(fd, "rb") : NULL;
    if (*out != NULL)
        return SAP_OK;
    error = error != 0 ? error : errno;
    close(fd);
    return sap_fail_at(path, 0, SAP_ERROR_IO, "cannot be opened: %s", strerror(error));
}

SapStatus sap_read_file(const char *path, size_t most, char **bytes, size_t *length) {
    FILE *file;
    SAP_TRY(open_regular(path, &file));
    SapStatus status = read_stream(file, path, most, bytes, length);
    fclose(file);
    return status;
}

/* ---- folders ---- */

bool sap_file_is_below(const char *path, const char *folder) {
    char *file = realpath(path, NULL), *top = realpath(folder, NULL);
    size_t length = top != NULL ? strlen(top) : 0;
    if (length == 1) /* "/" */
        length = 0;
    bool below = file != NULL && top != NULL && strncmp(file, top, length) == 0 && file[length] == '/';
    free(file);
    free(top);
    return below;
}
