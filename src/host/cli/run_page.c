/* The page of `sapwood run --replay`: the Python package makes the same run, whose results have the same bits, with its
 * first worlds, and writes what a browser shows. */
#include <stdarg.h>
#include <stdio.h>

#include "host/cli/python.h"
#include "host/cli/run.h"

enum { SHOWN = 4, MAX_OPTIONS = CLI_MAX_SETTINGS + 16, MAX_TEXT = 256 };

typedef struct Arguments {
    int count;
    const char *list[2 * MAX_OPTIONS + 1]; /* ends with NULL */
    char text[MAX_OPTIONS][MAX_TEXT];
} Arguments;

/* Appends --name and its value. */
static void add(Arguments *a, const char *name, const char *value) {
    a->list[a->count++] = name;
    a->list[a->count++] = value;
}

/* The same with a formatted value. */
__attribute__((format(printf, 3, 4))) static void add_as(Arguments *a, const char *name, const char *format, ...) {
    va_list values;
    char *text = a->text[a->count / 2];
    va_start(values, format);
    vsnprintf(text, MAX_TEXT, format, values);
    va_end(values);
    add(a, name, text);
}

bool cli_run_page(const Run *r) {
    const RunArgs *args = r->args;
    const CliSettings *s = &args->settings;
    Arguments a = {.count = 1, .list = {"page"}};
    a.list[a.count++] = r->scene.path;
    a.list[a.count++] = args->replay;
    add_as(&a, "--worlds", "%d", r->batch.total < SHOWN ? r->batch.total : SHOWN);
    add_as(&a, "--steps", "%d", r->done);
    add_as(&a, "--dt", "%.17g", r->scene.scene->dt);
    add_as(&a, "--seed", "%llu", (unsigned long long)args->seed);
    add_as(&a, "--noise", "%.17g", args->noise);
    add(&a, "--dtype", r->batch.state->dtype == SAP_F64 ? "f64" : "f32");
    if (s->preset)
        add(&a, "--preset", s->preset);
    if (s->asset_root)
        add(&a, "--asset-root", s->asset_root);
    for (int i = 0; i < s->count; i++)
        add_as(&a, "--set", "%s=%s", s->set[i].name, s->set[i].value);
    return cli_python("--replay: the page is written by", "view", a.list);
}
