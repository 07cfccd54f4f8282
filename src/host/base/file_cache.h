/* A folder of files that can be made again: each has the bytes of one key. Processes share it. A file is complete or
 * absent, because it is written under another name first (new_file.h). Only regular files of this user with the names of
 * the cache are removed. A file is used only if it belongs to this user, nobody else
 * can write it, and its key, size and checksum are right. */
#ifndef SAPWOOD_HOST_BASE_FILE_CACHE_H
#define SAPWOOD_HOST_BASE_FILE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct SapFileCache {
    char folder[512];
    long long most_bytes; /* of all files: the ones not used for longest are removed */
} SapFileCache;

/* The key of a file: any bytes. */
typedef struct SapCacheKey {
    const void *bytes;
    size_t size;
} SapCacheKey;

typedef enum SapCacheRead {
    SAP_CACHE_FOUND,
    SAP_CACHE_ABSENT,
    SAP_CACHE_UNUSABLE /* there is a file, which is truncated, changed, of another key or of another user */
} SapCacheRead;

/* FNV-1a; begin with SAP_HASH_START. */
#define SAP_HASH_START 0xcbf29ce484222325u
uint64_t sap_hash(uint64_t hash, const void *data, size_t bytes);

/* The folder for `name`: the environment variable's, or `name` in $XDG_CACHE_HOME, or in $HOME/.cache. False if
 * there is none, or if its path is too long. */
bool sap_file_cache_find(const char *variable, const char *name, SapFileCache *out);

/* Reads the file of a key. Free *data, which is zero-terminated, with free(); it is NULL unless the file is found. */
SapCacheRead sap_file_cache_read(const SapFileCache *cache, SapCacheKey key, char **data, size_t *size);

/* Writes the file of a key; creates the folder if needed. Then removes old files. False if the file cannot be written;
 * errno has the reason. */
bool sap_file_cache_write(const SapFileCache *cache, SapCacheKey key, const void *data, size_t size);

#endif
