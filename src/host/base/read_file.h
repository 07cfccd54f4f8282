/* Reading whole files into memory. */
#ifndef SAPWOOD_HOST_BASE_READ_FILE_H
#define SAPWOOD_HOST_BASE_READ_FILE_H

#include <stddef.h>

#include <sapwood/error.h>

/* Reads all bytes of a file, or slightly more than `most` bytes if the file is larger. The size is not queried, because
 * pipes have none. Free *bytes with free(). */
SapStatus sap_read_file(const char *path, size_t most, char **bytes, size_t *length);

#endif
