/* Writing a file that is complete or absent: the bytes go into another file beside it, which takes its place once all of
 * them are on the disk. Until then, and after any failure, the former file stays as it was. */
#ifndef SAPWOOD_HOST_BASE_NEW_FILE_H
#define SAPWOOD_HOST_BASE_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include <sapwood/error.h>

typedef enum SapNewFileKind {
    SAP_FILE_OF_USER, /* takes the place of a regular file, also behind a link, and gets its permissions */
    SAP_FILE_OF_CACHE /* takes the place of anything, for this user only */
} SapNewFileKind;

typedef struct SapNewFile {
    FILE *file;         /* to write to; errors are reported at the end */
    const char *path;   /* in messages; borrowed */
    char *place, *part; /* where it will be, and where it is written */
} SapNewFile;

/* The name of the file that is written ends with a point, the process, a point, a number, and this. */
#define SAP_NEW_FILE_ENDING ".part"

/* Opens a file that will replace `path`. SAP_ERROR_IO and errno if it cannot; then there is nothing to close. */
SapStatus sap_new_file_open(const char *path, SapNewFileKind kind, SapNewFile *out);
/* Puts the file in its place. If `keep` is false, or SAP_ERROR_IO and errno if something cannot be written, it is
 * removed, and `path` has what it had before. */
SapStatus sap_new_file_close(SapNewFile *file, bool keep);

#endif
