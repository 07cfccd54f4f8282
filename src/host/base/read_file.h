/* Reading whole files into memory. */
#ifndef SAPWOOD_HOST_BASE_READ_FILE_H
#define SAPWOOD_HOST_BASE_READ_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <sapwood/error.h>

/* Reads all bytes of a regular file, or slightly more than `most` bytes if the file is larger. Other files are refused:
 * reading a FIFO or a device may never end. The size is not queried, because files of the system have none. Free *bytes
 * with free(). */
SapStatus sap_read_file(const char *path, size_t most, char **bytes, size_t *length);

/* Whether the file exists and is in `folder` or a folder below it, after following all links and "..". */
bool sap_file_is_below(const char *path, const char *folder);

#endif
