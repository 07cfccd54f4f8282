#include "host/cli/common.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/cli/robot_file.h"

/* ---- values ---- */

/* strtoll and related functions skip spaces and accept signs; a value here begins with a digit, or with "-", "+" or "."
 * before one. */
static bool looks_like_number(const char *text) {
    return text[strspn(text, "+-.")] >= '0' && text[strspn(text, "+-.")] <= '9';
}

static bool read_int(const char *text, int low, int high, int *out) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (!looks_like_number(text) || *end != '\0' || errno != 0 || value < low || value > high)
        return false;
    *out = (int)value;
    return true;
}

static bool read_choice(const char *text, const char *const *choices, int *out) {
    for (int i = 0; choices[i] != NULL; i++)
        if (strcmp(text, choices[i]) == 0) {
            *out = i;
            return true;
        }
    return false;
}

CliText cli_hint(const char *word, const char *const *names) {
    CliText out = {""};
    const char *nearest = sap_nearest_name(word, names);
    if (nearest != NULL)
        snprintf(out.text, sizeof out.text, " (did you mean '%s'?)", nearest);
    return out;
}

static void refuse_int(const struct argp_state *state, const char *option, const char *text, int low, int high) {
    argp_error(state, "%s is '%s'; allowed: an integer %d .. %d", option, text, low, high);
}

static void refuse_choice(const struct argp_state *state, const char *option, const char *text,
                          const char *const *choices) {
    char allowed[256] = "";
    for (size_t i = 0, at = 0; choices[i] != NULL && at < sizeof allowed; i++)
        at += (size_t)snprintf(allowed + at, sizeof allowed - at, "%s%s", i ? ", " : "", choices[i]);
    argp_error(state, "%s is '%s'%s; allowed: %s", option, text, cli_hint(text, choices).text, allowed);
}

int cli_int(const struct argp_state *state, const char *option, const char *text, int low, int high) {
    int value = low;
    if (!read_int(text, low, high, &value))
        refuse_int(state, option, text, low, high);
    return value;
}

uint64_t cli_u64(const struct argp_state *state, const char *option, const char *text) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!looks_like_number(text) || text[0] == '-' || *end != '\0' || errno != 0)
        argp_error(state, "%s is '%s'; allowed: an integer 0 .. %llu", option, text, (unsigned long long)UINT64_MAX);
    return value;
}

double cli_real(const struct argp_state *state, const char *option, const char *text, bool zero_allowed) {
    char *end;
    double value = strtod(text, &end);
    bool good = looks_like_number(text) && *end == '\0' && isfinite(value);
    if (!good || value < 0 || (value == 0 && !zero_allowed))
        argp_error(state, "%s is '%s'; allowed: a finite number %s 0", option, text, zero_allowed ? ">=" : ">");
    return value;
}

int cli_choice(const struct argp_state *state, const char *option, const char *text, const char *const *choices) {
    int value = 0;
    if (!read_choice(text, choices, &value))
        refuse_choice(state, option, text, choices);
    return value;
}

error_t cli_short_help(int key, struct argp_state *state) {
    if (key != 'h')
        return ARGP_ERR_UNKNOWN;
    argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
    return 0;
}

error_t cli_scene_argument(int key, const char *arg, struct argp_state *state, const char **scene) {
    switch (key) {
    case ARGP_KEY_ARG:
        if (*scene)
            argp_error(state, "'%s' is one argument too many; allowed: one scene, here '%s'", arg, *scene);
        *scene = arg;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "the scene is missing"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Copies the item that begins at text[*at] and moves *at past the following comma; false at the end. An item too long
 * for `item` is truncated, which makes it an invalid value. */
static bool next_item(const char *text, size_t *at, char item[CLI_TEXT_SIZE]) {
    if (*at > strlen(text))
        return false;
    size_t length = strcspn(text + *at, ",");
    snprintf(item, CLI_TEXT_SIZE, "%.*s", length < CLI_TEXT_SIZE ? (int)length : CLI_TEXT_SIZE - 1, text + *at);
    *at += length + 1;
    return true;
}

static void list_add(const struct argp_state *state, const char *option, const char *text, CliList *list, int value) {
    if (list->count == CLI_LIST_SIZE)
        argp_error(state, "%s is '%s'; allowed: at most %d values", option, text, CLI_LIST_SIZE);
    list->value[list->count++] = value;
}

CliList cli_int_list(const struct argp_state *state, const char *option, const char *text, int low, int high) {
    CliList list = {.count = 0};
    char item[CLI_TEXT_SIZE];
    for (size_t at = 0; next_item(text, &at, item);) {
        int value = low;
        if (!read_int(item, low, high, &value))
            argp_error(state, "%s is '%s'; allowed: integers %d .. %d separated by commas", option, text, low, high);
        list_add(state, option, text, &list, value);
    }
    return list;
}

CliList cli_choice_list(const struct argp_state *state, const char *option, const char *text,
                        const char *const *choices) {
    CliList list = {.count = 0};
    char item[CLI_TEXT_SIZE];
    for (size_t at = 0; next_item(text, &at, item);)
        list_add(state, option, text, &list, cli_choice(state, option, item, choices));
    return list;
}

/* ---- solver options ---- */

void cli_settings_add(const struct argp_state *state, CliSettings *settings, const char *option, const char *name,
                      const char *value) {
    SapOptions scratch;
    if (sap_options_preset(NULL, &scratch) != SAP_OK || sap_options_set(&scratch, name, value) != SAP_OK)
        argp_error(state, "%s: %s", option, sap_error_message());
    if (settings->count == CLI_MAX_SETTINGS)
        argp_error(state, "%s %s: more than %d options", option, name, CLI_MAX_SETTINGS);
    settings->set[settings->count].name = name;
    settings->set[settings->count].value = value;
    settings->count++;
}

/* Splits "NAME=VALUE" in place. */
static void add_assignment(const struct argp_state *state, CliSettings *settings, char *text) {
    char *equals = strchr(text, '=');
    if (equals == NULL)
        argp_error(state, "--set is '%s'; allowed: NAME=VALUE", text);
    *equals = '\0';
    cli_settings_add(state, settings, "--set", text, equals + 1);
}

void cli_settings_preset(const struct argp_state *state, CliSettings *settings, const char *preset) {
    SapOptions scratch;
    if (sap_options_preset(preset, &scratch) != SAP_OK)
        argp_error(state, "--preset: %s", sap_error_message());
    settings->preset = preset;
}

enum { KEY_PRESET = 256, KEY_SET, KEY_ISA, KEY_DEVICE, KEY_ASSET_ROOT };

static error_t parse_settings(int key, char *arg, struct argp_state *state) {
    CliSettings *settings = state->input;
    switch (key) {
    case KEY_PRESET: cli_settings_preset(state, settings, arg); return 0;
    case KEY_SET: add_assignment(state, settings, arg); return 0;
    case KEY_ISA: cli_settings_add(state, settings, "--isa", "isa", arg); return 0;
    case KEY_DEVICE: cli_settings_add(state, settings, "--device", "device", arg); return 0;
    case KEY_ASSET_ROOT: settings->asset_root = arg; return 0;
    default: return cli_short_help(key, state);
    }
}

/* `accepted`: the bit that a command must have; 0: all commands have the option. */
static const struct {
    int accepted;
    struct argp_option option;
} settings_options[] = {
    {0, {NULL, 0, NULL, 0, "Solver:", 2}},
    {CLI_PRESET, {"preset", KEY_PRESET, "P", 0, "Preset of solver options: " CLI_PRESETS "; default: the scene's", 2}},
    {0, {"set", KEY_SET, "NAME=VALUE", 0, "Set a solver option; overrides scene and preset; may be repeated", 2}},
    {0, {"isa", KEY_ISA, "I", 0, "Instruction set: auto, generic, avx2, avx512", 2}},
    {CLI_DEVICE, {"device", KEY_DEVICE, "D", 0, "Device: cpu (default) or cuda", 2}},
    {CLI_ASSET_ROOT,
     {"asset-root", KEY_ASSET_ROOT, "DIR", 0,
      "Folder below which the files that a scene names may be, besides the folder of the scene", 2}},
    {0, CLI_SHORT_HELP}};
enum { NUM_SETTINGS = sizeof settings_options / sizeof *settings_options };

const struct argp *cli_settings_argp(int accepted) {
    static struct argp_option options[NUM_SETTINGS + 1]; /* ends with zeros */
    static const struct argp argp = {.options = options, .parser = parse_settings};
    int count = 0;
    for (int i = 0; i < NUM_SETTINGS; i++)
        if ((settings_options[i].accepted & ~accepted) == 0)
            options[count++] = settings_options[i].option;
    return &argp;
}

bool cli_settings_apply(const CliSettings *settings, SapOptions *options) {
    if (settings->preset && !cli_check(sap_options_set(options, "preset", settings->preset)))
        return false;
    for (int i = 0; i < settings->count; i++)
        if (!cli_check(sap_options_set(options, settings->set[i].name, settings->set[i].value)))
            return false;
    return true;
}

/* ---- scenes ---- */

void cli_program_folder(char folder[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    while (length > 0 && folder[length - 1] != '/')
        length--;
    strcpy(folder + (length > 0 ? length : 0), length > 0 ? "" : "./");
}

/* The folder `scenes` beside the program's, as in the Python package. */
static const char *installed_scenes(void) {
    static char path[PATH_MAX + sizeof "scenes"];
    cli_program_folder(path);
    size_t length = strlen(path) - 1; /* without the last "/", and then without the last folder */
    while (length > 0 && path[length - 1] != '/')
        length--;
    strcpy(path + length, "scenes");
    return path;
}

const char *const *cli_scene_folders(void) {
    static const char *folders[] = {"bench/scenes", NULL,
#ifdef SAPWOOD_SOURCE_DIR
                                    SAPWOOD_SOURCE_DIR "/bench/scenes",
#endif
                                    NULL};
    folders[1] = installed_scenes();
    return folders;
}

static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* Names of scenes, for messages. */
typedef struct SceneNames {
    char name[64][CLI_TEXT_SIZE];
    const char *list[64 + 1]; /* NULL-terminated */
    int count;
} SceneNames;

/* Adds the scenes of a folder: its files that end in .yaml, without the ending. */
static void add_scenes(SceneNames *names, const char *folder) {
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return;
    for (struct dirent *entry; names->count < 64 && (entry = readdir(entries)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot == NULL || strcmp(dot, ".yaml") != 0 || dot - entry->d_name >= CLI_TEXT_SIZE)
            continue;
        char *name = names->name[names->count];
        snprintf(name, CLI_TEXT_SIZE, "%.*s", (int)(dot - entry->d_name), entry->d_name);
        names->list[names->count++] = name;
    }
    closedir(entries);
}

/* Fails for a name that is no file: which scene is nearest, and where was looked. */
static bool refuse_scene(const char *name) {
    SceneNames names = {.count = 0};
    char searched[1024] = "";
    size_t at = 0;
    for (const char *const *folder = cli_scene_folders(); *folder; folder++) {
        add_scenes(&names, *folder);
        if (at < sizeof searched)
            at += (size_t)snprintf(searched + at, sizeof searched - at, ", %s", *folder);
    }
    return cli_fail("scene '%s'%s: No such file or directory; searched: the current folder%s", name,
                    cli_hint(name, names.list).text, searched);
}

/* The first that exists of NAME, FOLDER/NAME, FOLDER/NAME.yaml. What exists and is no file is left to the loader. */
static bool find_scene(const char *name, char path[PATH_MAX]) {
    if (strlen(name) >= PATH_MAX)
        return cli_fail("scene: the path has %zu bytes; allowed: at most %d", strlen(name), PATH_MAX - 1);
    strcpy(path, name);
    if (is_file(path))
        return true;
    for (const char *const *folder = cli_scene_folders(); *folder; folder++)
        for (int i = 0; i < 2; i++) {
            int length = snprintf(path, PATH_MAX, "%s/%s%s", *folder, name, i ? ".yaml" : "");
            if (length < PATH_MAX && is_file(path))
                return true;
        }
    strcpy(path, name);
    return access(path, F_OK) == 0 ? true : refuse_scene(name);
}

/* Whether the settings choose MuJoCo's law, whose parameters an import of a robot then keeps. */
static bool wants_mujoco(const CliSettings *settings) {
    SapOptions options;
    return sap_options_preset(NULL, &options) == SAP_OK && cli_settings_apply(settings, &options) &&
           options.contact_solver == SAP_SOLVER_MUJOCO;
}

bool cli_scene_open(const char *name, const CliSettings *settings, CliScene *out) {
    out->scene = NULL;
    if (!find_scene(name, out->path))
        return false;
    bool loaded = cli_is_robot_file(out->path)
                      ? cli_robot_file_load(out->path, wants_mujoco(settings), &out->scene)
                      : cli_check(sap_scene_load_with_root(out->path, settings->asset_root, &out->scene));
    if (!loaded)
        return false;
    out->arrays = sap_model_arrays(out->scene->model);
    const char *warning;
    for (int i = 0; (warning = sap_model_warning(out->scene->model, i)) != NULL; i++)
        fprintf(stderr, "sapwood: warning: %s\n", cli_shown(warning).text);
    if (cli_settings_apply(settings, &out->scene->options))
        return true;
    cli_scene_close(out);
    return false;
}

void cli_scene_close(CliScene *scene) {
    sap_scene_destroy(scene->scene);
    scene->scene = NULL;
}

/* ---- printing ---- */

CliText cli_si(double value) {
    static const char prefixes[] = " kMGT";
    CliText out;
    int i = 0;
    for (; value >= 999.5 && i < 4; i++)
        value /= 1000;
    snprintf(out.text, sizeof out.text, i ? "%.3g %c" : "%.3g", value, prefixes[i]);
    return out;
}

CliText cli_bytes(double bytes) {
    CliText out, number = cli_si(bytes);
    snprintf(out.text, sizeof out.text, "%.32s%sB", number.text, strchr(number.text, ' ') ? "" : " ");
    return out;
}

CliText cli_option(const SapOptions *options, const char *name) {
    CliText out;
    if (sap_options_get(options, name, out.text, sizeof out.text) != SAP_OK)
        strcpy(out.text, "?");
    return out;
}

CliText cli_isa(SapIsa isa) {
    SapOptions options = {.isa = isa};
    return cli_option(&options, "isa");
}

void cli_csv_text(FILE *file, const char *text) {
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

json_t *cli_json_real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_json_text(const char *text) {
    json_t *json = json_string(text);
    char *ascii = json ? NULL : strdup(text);
    if (ascii == NULL)
        return json;
    for (char *c = ascii; *c; c++)
        if (*c & 0x80)
            *c = '?';
    json = json_string(ascii);
    free(ascii);
    return json;
}

void cli_json_put(json_t **object, const char *key, json_t *value) {
    if (json_object_set_new(*object, key, value) == 0)
        return;
    json_decref(*object);
    *object = NULL;
}

bool cli_json_print(json_t *json) {
    if (json == NULL)
        return cli_fail("no memory for the report");
    bool ok = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) == 0 && putchar('\n') != EOF;
    json_decref(json);
    return ok || cli_fail("cannot write the report: %s", strerror(errno));
}

static double read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double cli_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

double cli_processor_seconds(void) {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static double started;

void cli_note_start(void) {
    started = cli_now() - cli_processor_seconds();
}

double cli_since_start(void) {
    return cli_now() - started;
}
