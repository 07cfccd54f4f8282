#include "support/run_program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#ifndef SAPWOOD_PROGRAM
#define SAPWOOD_PROGRAM "" /* built without it: the tests are skipped */
#endif

/* ---- a folder for the files of one test ---- */

static char folder[] = "/tmp/sapwood_cli_XXXXXX";

const char *path_of(const char *name) {
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void make_folder(void) {
    if (SAPWOOD_PROGRAM[0] == '\0')
        cr_skip_test("built without the program");
    cr_assert_not_null(mkdtemp(folder));
}

void remove_folder(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (strstr(folder, "XXXXXX") == NULL && system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", folder);
}

void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
}

void read_text(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    size_t length = fread(text, 1, size - 1, file);
    text[length] = '\0';
    fclose(file);
}

/* ---- running ---- */

char out[1 << 20], err[1 << 16];

int sapwood(const char *format, ...) {
    char arguments[1024], command[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(arguments, sizeof arguments, format, args);
    va_end(args);
    snprintf(command, sizeof command, "cd '%s' && '%s' %s >%s/out 2>%s/err", SAPWOOD_SOURCE_DIR, SAPWOOD_PROGRAM,
             arguments, folder, folder);
    int status = system(command);
    read_text(path_of("out"), out, sizeof out);
    read_text(path_of("err"), err, sizeof err);
    cr_assert(WIFEXITED(status) && strstr(err, "Sanitizer") == NULL, "sapwood %s: %s", arguments, err);
    return WEXITSTATUS(status);
}

json_t *parse_json(void) {
    json_error_t error;
    json_t *json = json_loads(out, 0, &error);
    cr_assert_not_null(json, "%s at line %d of: %s", error.text, error.line, out);
    return json;
}

json_t *member(json_t *json, const char *path) {
    char copy[128], *rest = copy;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key; json && (key = strsep(&rest, "."));)
        json = json_object_get(json, key);
    cr_assert_not_null(json, "no member %s", path);
    return json;
}

double number(json_t *json, const char *path) {
    cr_assert(json_is_number(member(json, path)), "%s is not a number", path);
    return json_number_value(member(json, path));
}

const char *text(json_t *json, const char *path) {
    cr_assert(json_is_string(member(json, path)), "%s is not a text", path);
    return json_string_value(member(json, path));
}

int count_lines(const char *csv) {
    int lines = 0;
    for (; *csv; csv++)
        lines += *csv == '\n';
    return lines;
}
