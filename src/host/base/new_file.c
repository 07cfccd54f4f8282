#include "host/base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/fail.h"

enum { USER_MODE = 0666, CACHE_MODE = 0600, PERMISSIONS = 0777 };

static SapStatus fail_with(const char *path, const char *what, int error) {
    SapStatus status = sap_fail_at(path, 0, SAP_ERROR_IO, "%s: %s", what, strerror(error));
    errno = error;
    return status;
}

static void free_names(SapNewFile *f) {
    int error = errno;
    free(f->place);
    free(f->part);
    errno = error;
}

/* ---- opening ---- */

/* The place of a file of the user: behind links, and a regular file if there is one, whose permissions are in *mode. */
static SapStatus find_place(SapNewFile *f, mode_t *mode) {
    f->place = realpath(f->path, NULL);
    struct stat info;
    if (!f->place) {
        if (errno != ENOENT)
            return fail_with(f->path, "cannot be created", errno);
        f->place = strdup(f->path);
        return f->place ? SAP_OK : fail_with(f->path, "cannot be created", ENOMEM);
    }
    if (stat(f->place, &info) != 0 || (S_ISREG(info.st_mode) && access(f->place, W_OK) != 0))
        return fail_with(f->path, "cannot be written", errno);
    if (!S_ISREG(info.st_mode)) {
        errno = ENOTSUP;
        return sap_fail_at(f->path, 0, SAP_ERROR_IO, "not a regular file");
    }
    *mode = info.st_mode & PERMISSIONS;
    return SAP_OK;
}

/* The name of a file beside the place that no other writer has. */
static char *name_part(const char *place) {
    static _Atomic unsigned count;
    size_t size = strlen(place) + sizeof SAP_NEW_FILE_ENDING + 32;
    char *part = malloc(size);
    if (part)
        snprintf(part, size, "%s.%ld.%u%s", place, (long)getpid(), count++, SAP_NEW_FILE_ENDING);
    return part;
}

/* Opens the part; 0 or the reason. */
static int open_part(SapNewFile *f, mode_t mode, bool exists) {
    int file = open(f->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (file < 0)
        return errno;
    bool good = !exists || fchmod(file, mode) == 0;
    f->file = good ? fdopen(file, "wb") : NULL;
    if (f->file)
        return 0;
    int error = errno;
    close(file);
    unlink(f->part);
    return error;
}

static SapStatus open_beside(SapNewFile *f, SapNewFileKind kind) {
    mode_t mode = 0;
    if (kind == SAP_FILE_OF_USER)
        SAP_TRY(find_place(f, &mode));
    else
        f->place = strdup(f->path);
    f->part = f->place ? name_part(f->place) : NULL;
    if (!f->part)
        return fail_with(f->path, "cannot be created", ENOMEM);
    int error = open_part(f, mode ? mode : kind == SAP_FILE_OF_USER ? USER_MODE : CACHE_MODE, mode != 0);
    return error == 0 ? SAP_OK : fail_with(f->path, "cannot be created", error);
}

SapStatus sap_new_file_open(const char *path, SapNewFileKind kind, SapNewFile *out) {
    *out = (SapNewFile){.path = path};
    SapStatus status = open_beside(out, kind);
    if (status != SAP_OK)
        free_names(out);
    return status;
}

/* ---- closing ---- */

/* Writes what is buffered to the disk; 0 or the reason. A file system without fsync is no error. */
static int finish(FILE *file) {
    int error = ferror(file) ? (errno ? errno : EIO) : 0; /* of the last write, if it failed */
    if (error == 0 && fflush(file) != 0)
        error = errno;
    if (error == 0 && fsync(fileno(file)) != 0 && errno != EINVAL && errno != ENOTSUP)
        error = errno;
    if (fclose(file) != 0 && error == 0)
        error = errno;
    return error;
}

/* Makes the new name last; the file itself is on the disk. */
static void sync_folder(char *place) {
    char *slash = strrchr(place, '/');
    if (slash)
        slash[slash == place] = 0;
    int folder = open(slash ? place : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder);
        close(folder);
    }
}

SapStatus sap_new_file_close(SapNewFile *f, bool keep) {
    int error = finish(f->file);
    f->file = NULL;
    if (error == 0 && keep && rename(f->part, f->place) != 0)
        error = errno;
    if (error != 0 || !keep)
        unlink(f->part);
    else
        sync_folder(f->place);
    SapStatus status = error == 0 ? SAP_OK : fail_with(f->path, "cannot be written", error);
    free_names(f);
    return status;
}
