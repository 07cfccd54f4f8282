/* The program `sapwood`: finds the command and passes the rest of the command line to it. Manual: docs/cli.md. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host/cli/common.h"
#include "host/cli/start.h"

typedef struct Command {
    const char *name, *arguments, *about;
    CliCommand *run; /* NULL: a separate program */
} Command;

static const Command commands[] = {
    {"demo", "[NAME]", "show worlds in a browser", cli_demo},
    {"run", "SCENE", "step worlds; report speed, contacts, failures, energy", cli_run},
    {"info", "SCENE", "show what a scene contains, and the contacts it needs", cli_info},
    {"bench", "", "measure throughput", cli_bench},
    {"compare", "SCENE", "show the effect of presets, and of each option", cli_compare},
    {"replay", "DUMP", "step a world that failed again, and compare every bit", cli_replay},
    {"compare-solvers", "SCENE", "show the accuracy and time of contact solvers", NULL},
    {"bench-newton", "", "measure one Newton iteration over dofs and contacts", NULL},
    {"bench-collision", "", "measure collision, by pair of shapes and in scenes", NULL},
    {"conform", "FILE...", "compare steps and contact problems with references", NULL},
    {"selftest", "[SCENE...]", "compare the bits of this CPU or GPU with one lane", NULL},
    {"dump-problem", "SCENE", "write the contact problems of a step, for conform", NULL},
};
enum { NUM_COMMANDS = sizeof commands / sizeof commands[0] };

/* The command line from the command on. */
typedef struct Rest {
    const Command *command;
    bool json; /* --json, which belongs to --version */
    int argc;
    char **argv;
} Rest;

/* The command with this name, or an error. */
static const Command *find_command(const struct argp_state *state, const char *name) {
    const char *names[NUM_COMMANDS + 1] = {NULL};
    for (int i = 0; i < NUM_COMMANDS; i++)
        names[i] = commands[i].name;
    return &commands[cli_choice(state, "the command", name, names)];
}

/* `sapwood help`, `sapwood help COMMAND`. */
static void help(struct argp_state *state, Rest *rest) {
    static char *argv[] = {NULL, "--help", NULL};
    const char *name = state->argv[state->next];
    if (name == NULL)
        argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
    *rest = (Rest){.command = find_command(state, name), .argc = 2, .argv = argv};
}

enum { KEY_JSON = 256 };

static error_t parse(int key, char *arg, struct argp_state *state) {
    Rest *rest = state->input;
    switch (key) {
    case KEY_JSON: rest->json = true; return 0;
    case ARGP_KEY_ARG:
        if (rest->json)
            argp_error(state, "--json before the command '%s' is that of --version; the command's own is after it",
                       arg);
        if (strcmp(arg, "help") == 0)
            help(state, rest);
        else
            *rest = (Rest){.command = find_command(state, arg),
                           .argc = state->argc - state->next + 1,
                           .argv = state->argv + state->next - 1};
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "the command is missing; `sapwood help` lists the commands"); return 0;
    default: return cli_short_help(key, state);
    }
}

/* The text of --help. */
static const char *doc(void) {
    static char text[4096] = "Simulates thousands of copies of a rigid-body world in parallel.\vCommands:\n";
    size_t at = strlen(text);
    for (const Command *c = commands; c < commands + NUM_COMMANDS; c++) {
        char usage[CLI_TEXT_SIZE];
        snprintf(usage, sizeof usage, "%s %s", c->name, c->arguments);
        at += (size_t)snprintf(text + at, sizeof text - at, "  %-22s %s\n", usage, c->about);
    }
    snprintf(text + at, sizeof text - at,
             "\n`sapwood help COMMAND` lists the options of a command. Exit status: 0 success; 1 some worlds failed, "
             "or bits differ; 2 bad usage or input, out of memory, or output could not be written; 130 interrupted.");
    return text;
}

int main(int argc, char **argv) {
    cli_start();
    Rest rest = {0};
    static const struct argp_option options[] = {
        CLI_SHORT_HELP, {"json", KEY_JSON, NULL, 0, "With --version: print it as JSON", 0}, {0}};
    const struct argp argp = {.options = options, .parser = parse, .args_doc = "COMMAND [ARGUMENT...]", .doc = doc()};
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &rest) != 0 || rest.command == NULL)
        return CLI_EXIT_BAD;
    const Command *c = rest.command;
    return c->run ? cli_run_command(c->name, c->run, rest.argc, rest.argv) : cli_run_program(c->name, rest.argv);
}
