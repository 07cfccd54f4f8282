/* Whole files into memory. */
#ifndef SAPWOOD_HOST_BASE_READ_FILE_H
#define SAPWOOD_HOST_BASE_READ_FILE_H

#include <stddef.h>

#include <sapwood/error.h>

/* All bytes of a file, or some more than `most` of it if there are more. The size is not asked for: pipes have none. Free *bytes
 * with free(). */
SapStatus sap_read_file(const char *path, size_t most, char **bytes, size_t *length);

#endif
