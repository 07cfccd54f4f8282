/* What the commands of the program share: exit codes, values on the command line, options of the solver, finding and
 * loading scenes, and how things are printed.
 *
 * A function of the program that can fail says why on stderr and returns false. */
#ifndef SAPWOOD_HOST_CLI_COMMON_H
#define SAPWOOD_HOST_CLI_COMMON_H

#include <argp.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <sapwood/sapwood.h>

/* docs/cli.md promises these. */
enum {
    CLI_EXIT_OK = 0,
    CLI_EXIT_WORLDS_FAILED = 1,
    CLI_EXIT_DIFFERENT = 1,    /* a self-test found other bits */
    CLI_EXIT_BAD = 2,          /* usage, input, memory, output */
    CLI_EXIT_INTERRUPTED = 130 /* as shells have it: 128 + SIGINT */
};

/* The commands. argv[0] is "sapwood COMMAND"; they return an exit code. */
int cli_run(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_conform(int argc, char **argv);
int cli_selftest(int argc, char **argv);

/* ---- failing ---- */

/* Prints "sapwood: MESSAGE" on stderr. Returns false. */
bool cli_fail(const char *format, ...) SAP_PRINTF(1, 2);

/* True if `status` is SAP_OK; otherwise prints the library's message and returns false. */
bool cli_check(SapStatus status);

/* calloc that says so when there is no memory. */
void *cli_allocate(size_t count, size_t size);

/* ---- values on the command line. A bad one ends the program: the message names option, value and what is allowed. ---- */

int cli_int(const struct argp_state *state, const char *option, const char *text, int low, int high);
uint64_t cli_u64(const struct argp_state *state, const char *option, const char *text);
/* A finite number > 0, or >= 0 where zero is allowed. */
double cli_real(const struct argp_state *state, const char *option, const char *text, bool zero_allowed);
/* The index of one of `choices`, which ends with NULL. */
int cli_choice(const struct argp_state *state, const char *option, const char *text, const char *const *choices);

/* Handles the keys of a command whose one argument is a scene; to be called for every key that the command does not know. */
error_t cli_scene_argument(int key, const char *arg, struct argp_state *state, const char **scene);

enum { CLI_LIST_SIZE = 16 };

typedef struct CliList {
    int count;
    int value[CLI_LIST_SIZE];
} CliList;

/* "1,64,4096". */
CliList cli_int_list(const struct argp_state *state, const char *option, const char *text, int low, int high);
/* "f32,f64": indices. */
CliList cli_choice_list(const struct argp_state *state, const char *option, const char *text,
                        const char *const *choices);

/* ---- options of the solver ---- */

enum { CLI_MAX_SETTINGS = 64 };

/* --preset, then all others in the order given: they go over what the scene says. */
typedef struct CliSettings {
    const char *preset; /* NULL: the scene's */
    int count;
    struct {
        const char *name, *value;
    } set[CLI_MAX_SETTINGS];
} CliSettings;

/* The options --preset, --set, --isa and --device, for use as a child; its input is a CliSettings. */
extern const struct argp cli_settings_argp;

/* Appends one, checked by itself; `option` stands for it in the message. */
void cli_settings_add(const struct argp_state *state, CliSettings *settings, const char *option, const char *name,
                      const char *value);
bool cli_settings_apply(const CliSettings *settings, SapOptions *options);

/* ---- scenes ---- */

/* A scene, where it was found, and its options under the settings. */
typedef struct CliScene {
    char path[PATH_MAX];
    SapScene *scene;
    const SapModelArrays *arrays; /* the model's */
} CliScene;

/* `name` is a file, or a scene of bench/scenes, with or without ".yaml". */
bool cli_scene_open(const char *name, const CliSettings *settings, CliScene *out);
void cli_scene_close(CliScene *scene);

/* The folders that bench/scenes may be, in the order they are looked at; ends with NULL. */
const char *const *cli_scene_folders(void);

/* ---- printing ---- */

enum { CLI_TEXT_SIZE = 64 };

typedef struct CliText {
    char text[CLI_TEXT_SIZE];
} CliText;

/* "1.23 M": three digits and a prefix of the SI. */
CliText cli_si(double value);
/* The value of an option, such as the name of a preset ("contact_preset_variant"). */
CliText cli_option(const SapOptions *options, const char *name);
CliText cli_isa(SapIsa isa);

/* A field of CSV: in quotes, quotes doubled, where the text needs it. */
void cli_csv_text(FILE *file, const char *text);

/* JSON has no NaN and no bytes that are not UTF-8: they become null and "?". */
json_t *cli_json_real(double value);
json_t *cli_json_text(const char *text);
/* Adds to *object, which becomes NULL where there is no memory and stays so. Takes `value`. */
void cli_json_put(json_t **object, const char *key, json_t *value);
/* Writes `json` and a newline to stdout and frees it; NULL is taken for lack of memory. */
bool cli_json_print(json_t *json);

/* Seconds on a clock that never goes back. */
double cli_now(void);
/* Seconds since the program was started: main notes when that was, less the processor time it has taken before. */
void cli_note_start(void);
double cli_since_start(void);
/* Seconds of processor time that all threads of this program took: what else runs on the machine does not count. */
double cli_processor_seconds(void);

#endif
