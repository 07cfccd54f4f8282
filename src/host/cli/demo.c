/* `sapwood demo`: the Python package makes the worlds and shows them in a browser. */
#include <signal.h>
#include <stdio.h>

#include "host/cli/common.h"
#include "host/cli/python.h"

enum { KEY_LIST = 256, KEY_WORLDS, KEY_SECONDS, KEY_PAGE, KEY_PORT, KEY_NO_BROWSER, MOST_ARGUMENTS = 64 };

static const struct argp_option options[] = {
    {"list", KEY_LIST, NULL, 0, "List the demos and exit", 0},
    {"worlds", KEY_WORLDS, "N", 0, "Number of worlds; default: as the list says, 16 for a page", 0},
    {"seconds", KEY_SECONDS, "X", 0, "End after this time of the worlds; default: never, 6 for a page", 0},
    {"page", KEY_PAGE, "FILE.html", 0, "Write a page that plays by itself, instead of a live one", 0},
    {"port", KEY_PORT, "P", 0, "Port of the live page; default 8080", 0},
    {"no-browser", KEY_NO_BROWSER, NULL, 0, "Print the address of the page and do not open it", 0},
    CLI_SHORT_HELP,
    {0}};

/* The command line of Python; it ends with NULL. */
typedef struct Arguments {
    int count;
    const char *list[MOST_ARGUMENTS];
    const char *name; /* of the demo; NULL: not given */
} Arguments;

static void add(Arguments *a, const struct argp_state *state, const char *option, const char *value) {
    if (a->count + 4 > MOST_ARGUMENTS) /* these two, the name and NULL */
        argp_error(state, "%s: more than %d options", option, (MOST_ARGUMENTS - 4) / 2);
    a->list[a->count++] = option;
    if (value != NULL)
        a->list[a->count++] = value;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    Arguments *a = state->input;
    switch (key) {
    case KEY_LIST: add(a, state, "--list", NULL); return 0;
    case KEY_WORLDS:
        cli_int(state, "--worlds", arg, 1, 100000);
        add(a, state, "--worlds", arg);
        return 0;
    case KEY_SECONDS:
        cli_real(state, "--seconds", arg, false);
        add(a, state, "--seconds", arg);
        return 0;
    case KEY_PAGE: add(a, state, "--page", arg); return 0;
    case KEY_PORT:
        cli_int(state, "--port", arg, 1, 65535);
        add(a, state, "--port", arg);
        return 0;
    case KEY_NO_BROWSER: add(a, state, "--no-browser", NULL); return 0;
    case ARGP_KEY_ARG:
        if (a->name != NULL)
            argp_error(state, "'%s' is one argument too many; allowed: one demo, here '%s'", arg, a->name);
        a->name = arg;
        return 0;
    default: return cli_short_help(key, state);
    }
}

/* Ctrl-C reaches Python too, which ends the demo and prints its numbers. */
static void wait_for_python(int signal_number) {
    (void)signal_number;
}

int cli_demo(int argc, char **argv) {
    const struct argp argp = {.options = options,
                              .parser = parse,
                              .args_doc = "[NAME]",
                              .doc =
                                  "Shows worlds in a browser: NAME is a demo of --list, by default `walk`. Needs the "
                                  "Python package: pip install 'sapwood[demo]'."};
    Arguments a = {.count = 1, .list = {"demo"}};
    if (argp_parse(&argp, argc, argv, 0, NULL, &a) != 0)
        return CLI_EXIT_BAD;
    if (a.name != NULL)
        a.list[a.count++] = a.name;
    signal(SIGINT, wait_for_python);
    return cli_python("demo: the worlds are shown by", "demo", a.list) ? CLI_EXIT_OK : CLI_EXIT_BAD;
}
