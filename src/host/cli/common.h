/* Functions shared by the commands of the program: exit codes, values on the command line, solver options, finding and
 * loading scenes, and printing.
 *
 * A function of the program that can fail prints the reason on stderr and returns false. */
#ifndef SAPWOOD_HOST_CLI_COMMON_H
#define SAPWOOD_HOST_CLI_COMMON_H

#include <argp.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <sapwood/sapwood.h>

#include "host/cli/printable.h"

/* Documented in docs/cli.md. */
enum {
    CLI_EXIT_OK = 0,
    CLI_EXIT_WORLDS_FAILED = 1,
    CLI_EXIT_DIFFERENT = 1, /* the bits of a self-test differ */
    CLI_EXIT_BAD = 2        /* usage, input, memory, output; after a signal: interrupt.h */
};

/* The presets, for help texts. */
#define CLI_PRESETS "fast32, fast64, approx32, approx64, drake, mujoco32, mujoco64"

/* The commands of `sapwood` itself (start.h). */
int cli_demo(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_replay(int argc, char **argv);

/* ---- errors ---- */

/* Prints "sapwood: MESSAGE" on stderr, without control characters. Returns false. */
bool cli_fail(const char *format, ...) SAP_PRINTF(1, 2);

/* Text before every later message, such as "rank 2: "; at most 31 characters. */
void cli_set_fail_prefix(const char *prefix);

/* True if `status` is SAP_OK; otherwise prints the library's message and returns false. */
bool cli_check(SapStatus status);

/* calloc that reports failure on stderr. */
void *cli_allocate(size_t count, size_t size);

/* ---- values on the command line: an invalid value ends the program with option, value and allowed values ---- */

int cli_int(const struct argp_state *state, const char *option, const char *text, int low, int high);
uint64_t cli_u64(const struct argp_state *state, const char *option, const char *text);
/* A finite number > 0, or >= 0 if zero is allowed. */
double cli_real(const struct argp_state *state, const char *option, const char *text, bool zero_allowed);
enum { CLI_TEXT_SIZE = 64 };

typedef struct CliText {
    char text[CLI_TEXT_SIZE];
} CliText;

/* " (did you mean 'bench'?)", or "" if no name is near; names is NULL-terminated. */
CliText cli_hint(const char *word, const char *const *names);

/* The index of one of `choices`, which is NULL-terminated. */
int cli_choice(const struct argp_state *state, const char *option, const char *text, const char *const *choices);

/* An option -h that is --help, and the key of it: the parser of a command has both from its settings. */
#define CLI_SHORT_HELP                                                                                                 \
    { NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0 }
error_t cli_short_help(int key, struct argp_state *state);

/* Handles the keys of a command whose only argument is a scene; call it for every key that the command does not handle.
 * */
error_t cli_scene_argument(int key, const char *arg, struct argp_state *state, const char **scene);

enum { CLI_LIST_SIZE = 16 };

typedef struct CliList {
    int count;
    int value[CLI_LIST_SIZE];
} CliList;

/* Parses "1,64,4096". */
CliList cli_int_list(const struct argp_state *state, const char *option, const char *text, int low, int high);
/* Parses "f32,f64" to indices. */
CliList cli_choice_list(const struct argp_state *state, const char *option, const char *text,
                        const char *const *choices);

/* ---- solver options ---- */

enum { CLI_MAX_SETTINGS = 64 };

/* --preset, then all other options in the given order; they override the options of the scene. */
typedef struct CliSettings {
    const char *preset;     /* NULL: the scene's preset */
    const char *asset_root; /* NULL: the scene's folder only */
    int count;
    struct {
        const char *name, *value;
    } set[CLI_MAX_SETTINGS];
} CliSettings;

/* The options --set, --isa and -h, and of --preset, --device and --asset-root those that a command accepts, for use as
 * an argp child; its input is a CliSettings. A program calls this once. */
enum {
    CLI_PRESET = 1,
    CLI_DEVICE = 2,
    CLI_ASSET_ROOT = 4,
    CLI_SCENE_SETTINGS = CLI_PRESET | CLI_DEVICE | CLI_ASSET_ROOT
};
const struct argp *cli_settings_argp(int accepted);

/* Checks and sets --preset. */
void cli_settings_preset(const struct argp_state *state, CliSettings *settings, const char *preset);

/* Checks and appends one setting; `option` is its name in messages. */
void cli_settings_add(const struct argp_state *state, CliSettings *settings, const char *option, const char *name,
                      const char *value);
bool cli_settings_apply(const CliSettings *settings, SapOptions *options);

/* ---- scenes ---- */

/* A scene, its path, and its options with the settings applied. */
typedef struct CliScene {
    char path[PATH_MAX];
    SapScene *scene;
    const SapModelArrays *arrays; /* of the model */
} CliScene;

/* `name` is a file, or a scene of bench/scenes, with or without ".yaml". MJCF and URDF are converted (robot_file.h). */
bool cli_scene_open(const char *name, const CliSettings *settings, CliScene *out);
void cli_scene_close(CliScene *scene);

/* The folder of the program that runs, with a "/" at its end. */
void cli_program_folder(char folder[PATH_MAX]);

/* The candidate folders of bench/scenes in search order; NULL-terminated. */
const char *const *cli_scene_folders(void);

/* ---- printing ---- */

/* "1.23 M": three digits and an SI prefix. */
CliText cli_si(double value);
/* "1.23 MB" */
CliText cli_bytes(double bytes);
/* The value of an option as text, such as the name of a preset ("preset"). */
CliText cli_option(const SapOptions *options, const char *name);
CliText cli_isa(SapIsa isa);

/* Writes a CSV field, quoted if the text requires it. */
void cli_csv_text(FILE *file, const char *text);

/* JSON has neither NaN nor invalid UTF-8: NaN becomes null, and other bytes become "?". */
json_t *cli_json_real(double value);
json_t *cli_json_text(const char *text);
/* Adds to *object, which becomes and stays NULL if memory is short. Takes ownership of `value`. */
void cli_json_put(json_t **object, const char *key, json_t *value);
/* Writes `json` and a newline to stdout and frees it; NULL is reported as out of memory. */
bool cli_json_print(json_t *json);

/* Seconds of a monotonic clock. */
double cli_now(void);
/* Seconds since the start of the program. main records its start time minus the processor time used before. */
void cli_note_start(void);
double cli_since_start(void);
/* Processor time of all threads of this program in seconds; other processes do not count. */
double cli_processor_seconds(void);

#endif
