/* The folder of files that can be made again: what is written is read, what is not ours is not believed, its size is
 * bounded, and processes can share it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "host/base/file_cache.h"

static SapFileCache make_cache(long long most_bytes) {
    char folder[] = "/tmp/sapwood_cache_XXXXXX";
    SapFileCache cache = {.most_bytes = most_bytes};
    cr_assert(mkdtemp(folder));
    snprintf(cache.folder, sizeof cache.folder, "%s/a/b", folder); /* the cache makes a and b */
    return cache;
}

static SapCacheKey key_of(const char *text) {
    return (SapCacheKey){text, strlen(text)};
}

/* Names of the files, and their number. */
static int list(const SapFileCache *cache, char path[][1024], int most) {
    int count = 0;
    DIR *folder = opendir(cache->folder);
    for (struct dirent *item; folder && (item = readdir(folder));)
        if (item->d_name[0] != '.' && count < most)
            snprintf(path[count++], sizeof path[0], "%s/%s", cache->folder, item->d_name);
    if (folder)
        closedir(folder);
    return count;
}

static void remove_cache(SapFileCache *cache) {
    char path[64][1024];
    for (int i = list(cache, path, 64); i-- > 0;)
        unlink(path[i]);
    for (int i = 0; i < 3; i++) {
        rmdir(cache->folder);
        *strrchr(cache->folder, '/') = 0;
    }
}

static SapCacheRead read_key(const SapFileCache *cache, const char *key, const char *expected) {
    char *data;
    size_t size;
    SapCacheRead result = sap_file_cache_read(cache, key_of(key), &data, &size);
    cr_expect_eq(result == SAP_CACHE_FOUND, data != NULL);
    if (data && expected)
        cr_expect(size == strlen(expected) && strcmp(data, expected) == 0, "%s: '%s'", key, data);
    free(data);
    return result;
}

static void write_key(const SapFileCache *cache, const char *key, const char *text) {
    cr_assert(sap_file_cache_write(cache, key_of(key), text, strlen(text)), "%s: %s", cache->folder, strerror(errno));
}

Test(file_cache, what_was_written_is_read_and_nothing_else) {
    SapFileCache cache = make_cache(1 << 20);
    cr_expect_eq(read_key(&cache, "one", NULL), SAP_CACHE_ABSENT);
    write_key(&cache, "one", "first");
    write_key(&cache, "two", "second");
    write_key(&cache, "one", "first again");
    cr_expect_eq(read_key(&cache, "one", "first again"), SAP_CACHE_FOUND);
    cr_expect_eq(read_key(&cache, "two", "second"), SAP_CACHE_FOUND);
    cr_expect_eq(read_key(&cache, "three", NULL), SAP_CACHE_ABSENT);
    remove_cache(&cache);
}

/* ---- files that are not believed ---- */

static void truncate_file(const char *path) {
    struct stat info;
    cr_assert_eq(stat(path, &info), 0);
    cr_assert_eq(truncate(path, info.st_size - 1), 0);
}

static void lengthen_file(const char *path) {
    FILE *file = fopen(path, "ab");
    fputc('x', file);
    fclose(file);
}

static void empty_file(const char *path) {
    cr_assert_eq(truncate(path, 0), 0);
}

/* Changes the byte at an offset from the beginning, or from the end if that is negative. */
static void change_byte(const char *path, long offset) {
    FILE *file = fopen(path, "r+b");
    fseek(file, offset, offset < 0 ? SEEK_END : SEEK_SET);
    int byte = fgetc(file);
    fseek(file, -1, SEEK_CUR);
    fputc(byte ^ 1, file);
    fclose(file);
}

static void change_magic(const char *path) {
    change_byte(path, 0);
}

static void change_size(const char *path) {
    change_byte(path, 16);
}

static void change_key(const char *path) {
    change_byte(path, 32);
}

static void change_data(const char *path) {
    change_byte(path, -1);
}

static void let_others_write(const char *path) {
    cr_assert_eq(chmod(path, 0622), 0);
}

static void replace_by_link(const char *path) {
    char other[2048];
    snprintf(other, sizeof other, "%s.elsewhere", path);
    cr_assert(rename(path, other) == 0 && symlink(other, path) == 0);
}

static void replace_by_pipe(const char *path) {
    cr_assert(unlink(path) == 0 && mkfifo(path, 0600) == 0);
}

Test(file_cache, a_truncated_changed_or_foreign_file_is_not_believed_and_can_be_replaced) {
    static void (*const damages[])(const char *) = {truncate_file,   lengthen_file,  empty_file,  change_magic,
                                                    change_size,     change_key,     change_data, let_others_write,
                                                    replace_by_link, replace_by_pipe};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        SapFileCache cache = make_cache(1 << 20);
        char path[4][1024];
        write_key(&cache, "the key", "the data");
        cr_assert_eq(list(&cache, path, 4), 1);
        damages[i](path[0]);
        cr_expect_eq(read_key(&cache, "the key", NULL), SAP_CACHE_UNUSABLE, "damage %zu", i);
        write_key(&cache, "the key", "the data");
        cr_expect_eq(read_key(&cache, "the key", "the data"), SAP_CACHE_FOUND, "damage %zu", i);
        remove_cache(&cache);
    }
}

/* ---- folders ---- */

Test(file_cache, a_folder_that_cannot_be_written_says_why) {
    SapFileCache cache = {.folder = "/dev/null/folder", .most_bytes = 1 << 20};
    cr_expect_not(sap_file_cache_write(&cache, key_of("key"), "data", 4));
    cr_expect_eq(errno, ENOTDIR, "%s", strerror(errno));
    cr_expect_neq(read_key(&cache, "key", NULL), SAP_CACHE_FOUND);
}

Test(file_cache, the_folder_is_that_of_the_variable_or_of_the_user) {
    SapFileCache cache;
    char too_long[1024] = "/";
    memset(too_long + 1, 'x', sizeof too_long - 2);
    too_long[sizeof too_long - 1] = 0;
    setenv("HOME", "/home/me", 1);
    setenv("XDG_CACHE_HOME", "/cache", 1);
    setenv("SAPWOOD_TEST_CACHE", "/own", 1);
    cr_expect(sap_file_cache_find("SAPWOOD_TEST_CACHE", "sapwood", &cache) && strcmp(cache.folder, "/own") == 0);
    unsetenv("SAPWOOD_TEST_CACHE");
    cr_expect(sap_file_cache_find("SAPWOOD_TEST_CACHE", "sapwood", &cache) &&
              strcmp(cache.folder, "/cache/sapwood") == 0);
    setenv("XDG_CACHE_HOME", "relative", 1);
    cr_expect(sap_file_cache_find("SAPWOOD_TEST_CACHE", "sapwood", &cache) &&
              strcmp(cache.folder, "/home/me/.cache/sapwood") == 0);
    setenv("SAPWOOD_TEST_CACHE", too_long, 1);
    cr_expect_not(sap_file_cache_find("SAPWOOD_TEST_CACHE", "sapwood", &cache));
    unsetenv("SAPWOOD_TEST_CACHE");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    cr_expect_not(sap_file_cache_find("SAPWOOD_TEST_CACHE", "sapwood", &cache));
}

/* ---- size ---- */

/* Makes a file look as if it was last used so many seconds after 1970. */
static void set_used(const char *path, long seconds) {
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

Test(file_cache, files_not_used_for_longest_are_removed_once_all_are_too_large) {
    SapFileCache cache = make_cache(1 << 20);
    char path[64][1024], text[1001], key[16];
    memset(text, 'x', 1000);
    text[1000] = 0;
    for (int i = 0; i < 8; i++) {
        snprintf(key, sizeof key, "key %d", i);
        write_key(&cache, key, text);
    }
    cr_assert_eq(list(&cache, path, 64), 8);
    for (int i = 0; i < 8; i++)
        set_used(path[i], 1000 + i);
    cr_expect_eq(read_key(&cache, "key 3", text), SAP_CACHE_FOUND); /* now the one used last */
    cache.most_bytes = 4500;
    write_key(&cache, "key 8", text);
    cr_expect_eq(list(&cache, path, 64), 4);
    cr_expect_eq(read_key(&cache, "key 3", text), SAP_CACHE_FOUND);
    cr_expect_eq(read_key(&cache, "key 8", text), SAP_CACHE_FOUND);
    cache.most_bytes = 10; /* the new file stays, however large */
    write_key(&cache, "key 9", text);
    cr_expect_eq(list(&cache, path, 64), 1);
    cr_expect_eq(read_key(&cache, "key 9", text), SAP_CACHE_FOUND);
    remove_cache(&cache);
}

#define DIGITS "0123456789abcdef0123456789abcdef"

Test(file_cache, old_unfinished_files_are_removed_and_files_of_others_stay) {
    static const char *const old[] = {DIGITS ".cache.1.2.part", DIGITS ".cache"};
    static const char *const others[] = {"letter.txt",        "film.part",      "browser.cache",
                                         "x" DIGITS ".cache", DIGITS "0.cache", DIGITS ".cache.txt.part",
                                         "0123.cache"};
    enum { NUM_OTHERS = sizeof others / sizeof *others };
    SapFileCache cache = make_cache(1);
    char path[64][1024], name[1024], young[1024];
    write_key(&cache, "key", "data");
    for (int i = 0; i < 2 + NUM_OTHERS; i++) {
        snprintf(name, sizeof name, "%s/%s", cache.folder, i < 2 ? old[i] : others[i - 2]);
        fclose(fopen(name, "w"));
        set_used(name, 1000);
    }
    snprintf(young, sizeof young, "%s/%s", cache.folder, DIGITS ".cache.3.4.part");
    fclose(fopen(young, "w"));
    write_key(&cache, "key", "data");
    cr_expect_eq(list(&cache, path, 64), 2 + NUM_OTHERS, "the key, the young part and the files of others");
    cr_expect_eq(access(young, F_OK), 0);
    for (int i = 0; i < NUM_OTHERS; i++) {
        snprintf(name, sizeof name, "%s/%s", cache.folder, others[i]);
        cr_expect_eq(access(name, F_OK), 0, "%s", others[i]);
    }
    remove_cache(&cache);
}

/* ---- several processes ---- */

enum { PROCESSES = 6, ROUNDS = 200, LONG = 20000 };

/* Writes and reads three keys whose data are all one letter; 0 if everything read was whole. */
static int hammer(const SapFileCache *cache, int seed) {
    static char text[LONG];
    for (int i = 0; i < ROUNDS; i++) {
        char key[2] = {(char)('a' + (seed + i) % 3), 0}, *data;
        size_t size;
        memset(text, key[0], sizeof text);
        if (i % 4 == 0)
            sap_file_cache_write(cache, key_of(key), text, sizeof text);
        if (sap_file_cache_read(cache, key_of(key), &data, &size) == SAP_CACHE_UNUSABLE)
            return 1;
        if (data && (size != sizeof text || memcmp(data, text, size) != 0))
            return 1;
        free(data);
    }
    return 0;
}

Test(file_cache, processes_that_write_and_remove_the_same_files_read_whole_files_or_none) {
    SapFileCache cache = make_cache(2 * LONG);
    pid_t child[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        if (child[i] == 0)
            _exit(hammer(&cache, i));
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        cr_assert_eq(waitpid(child[i], &status, 0), child[i]);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "process %d: %d", i, status);
    }
    char path[64][1024];
    cr_expect_leq(list(&cache, path, 64), 2);
    remove_cache(&cache);
}
