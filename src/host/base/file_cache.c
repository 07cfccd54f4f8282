#include "host/base/file_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/base/fail.h"
#include "host/base/new_file.h"

/* A file: this header, the key, the data. */
typedef struct Header {
    char magic[8];
    uint64_t key_size, size;
    uint64_t checksum; /* of key and data */
} Header;

static const char magic[8] = "sapwood1", ending[] = ".cache";
enum { PATH = 768, OLD_SECONDS = 3600 };

uint64_t sap_hash(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

/* ---- names ---- */

static bool put_folder(SapFileCache *out, const char *folder, const char *below, const char *name) {
    if (!folder || folder[0] != '/') /* a relative one would depend on the working directory */
        return false;
    int length = snprintf(out->folder, sizeof out->folder, "%s%s%s%s", folder, below, *name ? "/" : "", name);
    return length > 0 && (size_t)length < sizeof out->folder;
}

bool sap_file_cache_find(const char *variable, const char *name, SapFileCache *out) {
    const char *own = secure_getenv(variable);
    if (own && *own)
        return put_folder(out, own, "", "");
    return put_folder(out, secure_getenv("XDG_CACHE_HOME"), "", name) ||
           put_folder(out, secure_getenv("HOME"), "/.cache", name);
}

/* Two hashes of the key: 32 digits. */
static void path_of(const SapFileCache *cache, SapCacheKey key, char path[PATH]) {
    uint64_t first = sap_hash(SAP_HASH_START, key.bytes, key.size), second = sap_hash(first, key.bytes, key.size);
    snprintf(path, PATH, "%s/%016llx%016llx%s", cache->folder, (unsigned long long)first, (unsigned long long)second,
             ending);
}

static uint64_t checksum_of(SapCacheKey key, const void *data, size_t size) {
    return sap_hash(sap_hash(SAP_HASH_START, key.bytes, key.size), data, size);
}

/* ---- reading ---- */

static bool read_all(int file, void *to, size_t size) {
    for (char *at = to; size > 0;) {
        ssize_t got = read(file, at, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

/* Whether the file can be ours: a regular file that only this user can write and that has the length in its header. */
static bool is_ours(int file, SapCacheKey key, Header *header) {
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
        (info.st_mode & (S_IWGRP | S_IWOTH)))
        return false;
    if (!read_all(file, header, sizeof *header) || memcmp(header->magic, magic, sizeof magic) != 0)
        return false;
    uint64_t bytes = (uint64_t)info.st_size;
    return header->key_size == key.size && header->size <= bytes &&
           bytes - header->size == sizeof *header + header->key_size;
}

/* The data, if key and checksum are right; else NULL. */
static char *read_data(int file, SapCacheKey key, const Header *header) {
    size_t size = (size_t)header->size;
    char *own_key = malloc(key.size + 1), *data = malloc(size + 1);
    bool good = own_key && data && read_all(file, own_key, key.size) && memcmp(own_key, key.bytes, key.size) == 0 &&
                read_all(file, data, size) && checksum_of(key, data, size) == header->checksum;
    free(own_key);
    if (good) {
        data[size] = 0;
        return data;
    }
    free(data);
    return NULL;
}

SapCacheRead sap_file_cache_read(const SapFileCache *cache, SapCacheKey key, char **data, size_t *size) {
    char path[PATH];
    Header header;
    *data = NULL;
    path_of(cache, key, path);
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
    if (file < 0)
        return errno == ENOENT ? SAP_CACHE_ABSENT : SAP_CACHE_UNUSABLE;
    if (is_ours(file, key, &header))
        *data = read_data(file, key, &header);
    if (*data) {
        *size = (size_t)header.size;
        futimens(file, NULL); /* used now */
    }
    close(file);
    return *data ? SAP_CACHE_FOUND : SAP_CACHE_UNUSABLE;
}

/* ---- removing ---- */

typedef struct Entry {
    char path[PATH];
    long long bytes;
    struct timespec used;
} Entry;

/* Whether a name belongs to a file of this cache: 32 hexadecimal digits and its ending. *part: of one that is being
 * written, which has the ending of a part behind that. */
static bool is_name(const char *name, bool *part) {
    enum { DIGITS = 32 };
    if (strspn(name, "0123456789abcdef") != DIGITS || strncmp(name + DIGITS, ending, sizeof ending - 1) != 0)
        return false;
    const char *rest = name + DIGITS + sizeof ending - 1;
    size_t length = strlen(rest), n = sizeof SAP_NEW_FILE_ENDING - 1;
    *part = length > n && rest[0] == '.' && strcmp(rest + length - n, SAP_NEW_FILE_ENDING) == 0;
    return length == 0 || (*part && strspn(rest, ".0123456789") == length - n + 1);
}

/* Reads the folder; files of others in it are left alone. Removes files that were never finished. */
static Entry *list(const SapFileCache *cache, size_t *count) {
    DIR *folder = opendir(cache->folder);
    Entry *entries = NULL;
    *count = 0;
    for (struct dirent *item; folder && (item = readdir(folder));) {
        Entry entry;
        struct stat info;
        bool part = false;
        int length = snprintf(entry.path, sizeof entry.path, "%s/%s", cache->folder, item->d_name);
        if (!is_name(item->d_name, &part) || (size_t)length >= sizeof entry.path || lstat(entry.path, &info) != 0 ||
            !S_ISREG(info.st_mode) || info.st_uid != geteuid())
            continue;
        /* An old file that was never finished is removed. */
        if (part) {
            if (info.st_mtime + OLD_SECONDS < time(NULL))
                unlink(entry.path);
            continue;
        }
        /* A complete one is listed; if memory is short, the list ends. */
        entry.bytes = (long long)info.st_size;
        entry.used = info.st_mtim;
        Entry *more = realloc(entries, (*count + 1) * sizeof *entries);
        if (!more)
            break;
        entries = more;
        entries[(*count)++] = entry;
    }
    if (folder)
        closedir(folder);
    return entries;
}

static int by_use(const void *a, const void *b) {
    const struct timespec *x = &((const Entry *)a)->used, *y = &((const Entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Removes the files not used for longest, until the others fit; never `keep`. */
static void remove_old(const SapFileCache *cache, const char *keep) {
    size_t count;
    long long sum = 0;
    Entry *entries = list(cache, &count);
    if (!entries)
        return;
    qsort(entries, count, sizeof *entries, by_use);
    for (size_t i = 0; i < count; i++)
        sum += entries[i].bytes;
    for (size_t i = 0; i < count && sum > cache->most_bytes; i++)
        if (strcmp(entries[i].path, keep) != 0 && unlink(entries[i].path) == 0)
            sum -= entries[i].bytes;
    free(entries);
}

/* ---- writing ---- */

/* Creates the folder and those above it, for this user only. */
static bool make_folder(const char *folder) {
    char path[PATH];
    snprintf(path, sizeof path, "%s", folder);
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            mkdir(path, S_IRWXU);
            *at = '/';
        }
    return mkdir(path, S_IRWXU) == 0 || errno == EEXIST;
}

static SapStatus write_file(const char *path, SapCacheKey key, const void *data, size_t size) {
    Header header = {.key_size = key.size, .size = size, .checksum = checksum_of(key, data, size)};
    memcpy(header.magic, magic, sizeof magic);
    SapNewFile file;
    SAP_TRY(sap_new_file_open(path, SAP_FILE_OF_CACHE, &file));
    fwrite(&header, sizeof header, 1, file.file);
    fwrite(key.bytes, 1, key.size, file.file);
    fwrite(data, 1, size, file.file);
    return sap_new_file_close(&file, true);
}

bool sap_file_cache_write(const SapFileCache *cache, SapCacheKey key, const void *data, size_t size) {
    char path[PATH];
    path_of(cache, key, path);
    if (!make_folder(cache->folder) || write_file(path, key, data, size) != SAP_OK)
        return false;
    remove_old(cache, path);
    return true;
}
