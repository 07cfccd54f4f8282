/* For tests that run the program as a user would, through a shell, in the project's folder. */
#ifndef SAPWOOD_TESTS_SUPPORT_RUN_PROGRAM_H
#define SAPWOOD_TESTS_SUPPORT_RUN_PROGRAM_H

#include <jansson.h>
#include <stddef.h>

/* A folder for the files of one test: .init and .fini of a suite. Skips the test in a build without the program. */
void make_folder(void);
void remove_folder(void);
const char *path_of(const char *name); /* in that folder; valid for the next three calls */

void write_text(const char *path, const char *text);
void read_text(const char *path, char *text, size_t size);

/* `sapwood ARGUMENTS`; returns how it ended. */
int sapwood(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern char out[1 << 20], err[1 << 16]; /* what it printed */

int count_lines(const char *text);

/* What it printed, as JSON; a member of that at a path such as "energy.mean.start". */
json_t *parse_json(void);
json_t *member(json_t *json, const char *path);
double number(json_t *json, const char *path);
const char *text(json_t *json, const char *path);

#endif
