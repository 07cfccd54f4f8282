#include "host/cli/machine.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "commit.h"

CliText cli_cpu_name(void) {
    CliText out = {"unknown"};
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (value == NULL)
            continue;
        value[strcspn(value, "\n")] = '\0';
        snprintf(out.text, sizeof out.text, "%.*s", CLI_TEXT_SIZE - 1, value + strspn(value, ": "));
        break;
    }
    if (file)
        fclose(file);
    return out;
}

int cli_num_cpus(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

const char *cli_compiler(void) {
#if defined(__clang__)
    return "clang " TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__);
#else
    return "gcc " TEXT(__GNUC__) "." TEXT(__GNUC_MINOR__) "." TEXT(__GNUC_PATCHLEVEL__);
#endif
}

const char *cli_commit(void) {
    return SAPWOOD_COMMIT;
}

double cli_resident_bytes(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* ---- knobs ---- */

/* Options of execution: none of them changes a bit of a result, and the reports show the values in use. */
static bool is_about_running(const char *name) {
    static const char *const names[] = {"threads", "lanes", "isa", "device", NULL};
    for (const char *const *n = names; *n; n++)
        if (strcmp(*n, name) == 0)
            return true;
    return false;
}

/* The next option after *name (NULL: the first) whose value differs from the preset's; false at the end. */
static bool next_knob(const SapOptions *options, const char *const **at, CliText *value) {
    CliText preset = cli_option(options, "preset");
    SapOptions base;
    if (sap_options_preset(strcmp(preset.text, "custom") == 0 ? NULL : preset.text, &base) != SAP_OK)
        return false;
    for (*at = *at ? *at + 1 : sap_options_names(); **at; (*at)++) {
        *value = cli_option(options, **at);
        if (!is_about_running(**at) && strcmp(value->text, cli_option(&base, **at).text) != 0)
            return true;
    }
    return false;
}

void cli_knobs_print(FILE *file, const SapOptions *options) {
    CliText value;
    const char *separator = "";
    for (const char *const *at = NULL; next_knob(options, &at, &value); separator = " ")
        fprintf(file, "%s%s=%s", separator, *at, value.text);
}

json_t *cli_knobs_json(const SapOptions *options) {
    json_t *json = json_object();
    CliText value;
    for (const char *const *at = NULL; next_knob(options, &at, &value);)
        cli_json_put(&json, *at, json_string(value.text));
    return json;
}
