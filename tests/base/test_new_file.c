/* Files that are complete or absent: whatever fails while one is written, the former file stays as it was. */
#define _GNU_SOURCE /* unshare */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "host/base/new_file.h"

enum { LONG = 1 << 20 };

static char folder[] = "/tmp/sapwood_new_file_XXXXXX", path[64];

static void make_folder(void) {
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
}

static void remove_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(new_file, .init = make_folder, .fini = remove_folder);

/* Writes `size` bytes of a letter in place of the file. */
static SapStatus put(const char *name, SapNewFileKind kind, char letter, size_t size) {
    SapNewFile out;
    SapStatus status = sap_new_file_open(name, kind, &out);
    if (status != SAP_OK)
        return status;
    for (size_t i = 0; i < size; i++)
        fputc(letter, out.file);
    return sap_new_file_close(&out, true);
}

/* The file has `size` times a letter, and is alone in its folder. */
static void expect_file(char letter, size_t size) {
    char text[16] = "", command[128];
    FILE *file = fopen(path, "rb");
    cr_assert(file);
    size_t found = fread(text, 1, sizeof text, file);
    struct stat info;
    fstat(fileno(file), &info);
    fclose(file);
    cr_expect((size_t)info.st_size == size && text[0] == letter, "%zu of '%c'", found, text[0]);
    snprintf(command, sizeof command, "test $(ls %s | wc -l) = 1", folder);
    cr_expect_eq(system(command), 0, "something is left beside the file");
}

/* Runs `work` in a process of its own and returns how it ended. */
static int in_a_process(int (*work)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(work());
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

static bool ended_with(int status, int code) {
    return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

Test(new_file, a_file_is_created_and_replaced_and_keeps_its_permissions) {
    struct stat info;
    cr_expect_eq(put(path, SAP_FILE_OF_USER, 'a', 10), SAP_OK);
    expect_file('a', 10);
    cr_assert_eq(chmod(path, 0640), 0);
    cr_expect_eq(put(path, SAP_FILE_OF_USER, 'b', 20), SAP_OK);
    expect_file('b', 20);
    cr_expect(stat(path, &info) == 0 && (info.st_mode & 0777) == 0640);
}

Test(new_file, a_file_that_is_not_kept_leaves_the_former_one) {
    SapNewFile out;
    put(path, SAP_FILE_OF_USER, 'a', 10);
    cr_assert_eq(sap_new_file_open(path, SAP_FILE_OF_USER, &out), SAP_OK);
    fputs("half", out.file);
    cr_expect_eq(sap_new_file_close(&out, false), SAP_OK);
    expect_file('a', 10);
}

Test(new_file, a_link_stays_and_its_file_is_replaced) {
    char link[80];
    struct stat info;
    snprintf(link, sizeof link, "%s.link", folder);
    put(path, SAP_FILE_OF_USER, 'a', 10);
    cr_assert_eq(symlink(path, link), 0);
    cr_expect_eq(put(link, SAP_FILE_OF_USER, 'b', 20), SAP_OK);
    cr_expect(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    expect_file('b', 20);
    unlink(link);
}

Test(new_file, only_regular_files_are_replaced, .timeout = 20) {
    char message[128];
    cr_assert_eq(mkfifo(path, 0600), 0);
    const char *const places[] = {path, folder, "/dev/null"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct stat before, after;
        cr_assert_eq(stat(places[i], &before), 0);
        cr_expect_eq(put(places[i], SAP_FILE_OF_USER, 'a', 10), SAP_ERROR_IO, "%s", places[i]);
        snprintf(message, sizeof message, "%s: not a regular file", places[i]);
        cr_expect_str_eq(sap_error_message(), message);
        cr_expect(stat(places[i], &after) == 0 && before.st_ino == after.st_ino);
    }
}

Test(new_file, a_cache_replaces_whatever_is_there) {
    struct stat info;
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_expect_eq(put(path, SAP_FILE_OF_CACHE, 'a', 10), SAP_OK);
    expect_file('a', 10);
    cr_expect(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
}

Test(new_file, a_folder_that_is_not_there_is_named_with_the_reason) {
    cr_expect_eq(put("/no/such/folder/x", SAP_FILE_OF_USER, 'a', 1), SAP_ERROR_IO);
    cr_expect_eq(errno, ENOENT);
    cr_expect_str_eq(sap_error_message(), "/no/such/folder/x: cannot be created: No such file or directory");
}

/* ---- failures in the middle ---- */

static int write_beyond_the_limit(void) {
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {LONG / 2, LONG / 2};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    if (put(path, SAP_FILE_OF_USER, 'b', LONG) != SAP_ERROR_IO || errno != EFBIG)
        return 2;
    return strstr(sap_error_message(), "cannot be written: File too large") ? 0 : 3;
}

Test(new_file, a_limit_of_the_size_leaves_the_former_file) {
    put(path, SAP_FILE_OF_USER, 'a', 10);
    int status = in_a_process(write_beyond_the_limit);
    cr_expect(ended_with(status, 0), "%x", (unsigned)status);
    expect_file('a', 10);
}

static int die_in_the_middle(void) {
    SapNewFile out;
    sap_new_file_open(path, SAP_FILE_OF_USER, &out);
    for (int i = 0; i < LONG; i++)
        fputc('b', out.file);
    fflush(out.file);
    return raise(SIGKILL);
}

Test(new_file, a_process_that_dies_in_the_middle_leaves_the_former_file) {
    char command[128];
    put(path, SAP_FILE_OF_USER, 'a', 10);
    int status = in_a_process(die_in_the_middle);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    snprintf(command, sizeof command, "rm %s.*" SAP_NEW_FILE_ENDING, path); /* what it was writing */
    cr_expect_eq(system(command), 0);
    expect_file('a', 10);
}

enum { NOT_PERMITTED = 77 };

/* In a file system of 64 KiB that only this process sees. */
static int fill_a_file_system(void) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", folder, "tmpfs", 0, "size=64k") != 0)
        return NOT_PERMITTED;
    if (put(path, SAP_FILE_OF_USER, 'a', 10) != SAP_OK)
        return 1;
    if (put(path, SAP_FILE_OF_USER, 'b', LONG) != SAP_ERROR_IO || errno != ENOSPC)
        return 2;
    expect_file('a', 10);
    return 0;
}

Test(new_file, a_full_disk_leaves_the_former_file) {
    int status = in_a_process(fill_a_file_system);
    if (ended_with(status, NOT_PERMITTED))
        cr_skip("a file system cannot be mounted here");
    cr_expect(ended_with(status, 0), "%x", (unsigned)status);
}
