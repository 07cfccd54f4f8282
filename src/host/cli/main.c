/* The program `sapwood`: finds the command and passes the rest of the command line to it. Manual: docs/cli.md. */
#include <errno.h>
#include <fenv.h>
#include <stdio.h>
#include <string.h>

#include "host/cli/cluster/cluster.h"
#include "host/cli/common.h"
#include "host/cli/machine.h"

typedef struct Command {
    const char *name; /* argv[0] of the command: its name in messages and --help */
    int (*run)(int argc, char **argv);
} Command;

static const Command commands[] = {{"sapwood run", cli_run},           {"sapwood info", cli_info},
                                   {"sapwood bench", cli_bench},       {"sapwood compare", cli_compare},
                                   {"sapwood conform", cli_conform},   {"sapwood replay", cli_replay},
                                   {"sapwood selftest", cli_selftest}, {"sapwood dump-problem", cli_dump_problem}};
static const char *const short_names[] = {"run",    "info",     "bench",        "compare", "conform",
                                          "replay", "selftest", "dump-problem", NULL};
enum { NUM_COMMANDS = sizeof commands / sizeof commands[0] };

static const char *short_name(const Command *command) {
    return command->name + strlen("sapwood ");
}

/* The command line from the command on. */
typedef struct Rest {
    const Command *command;
    int argc;
    char **argv;
} Rest;

static const Command *find_command(const char *name) {
    for (int i = 0; i < NUM_COMMANDS; i++)
        if (strcmp(short_name(&commands[i]), name) == 0)
            return &commands[i];
    return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    Rest *rest = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        rest->command = find_command(arg);
        if (rest->command == NULL)
            argp_error(
                state,
                "the command is '%s'%s; allowed: run, info, bench, compare, conform, replay, selftest, dump-problem",
                arg, cli_hint(arg, short_names).text);
        rest->argc = state->argc - state->next + 1;
        rest->argv = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state,
                   "a command is missing; allowed: run, info, bench, compare, conform, replay, selftest, dump-problem");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void print_version(FILE *stream, struct argp_state *state) {
    (void)state;
    fprintf(stream, "sapwood %s (%s), %s\n", sap_version(), cli_commit(), cli_compiler());
}

static const char doc[] =
    "Simulates thousands of copies of a rigid-body world in parallel."
    "\vCommands:\n"
    "  run SCENE        step worlds and report speed, contacts, failures and energy\n"
    "  info SCENE       show what a scene contains and how many contacts it needs\n"
    "  bench            measure throughput\n"
    "  compare SCENE    show the effect of each option of a preset on a scene\n"
    "  conform FILE...  compare a step with reference cases\n"
    "  replay DUMP      step a world that failed again, and compare every bit\n"
    "  selftest         compare the bits of this CPU or GPU with those of one lane\n"
    "  dump-problem SCENE  write the contact problems of a step, for conform\n"
    "\n"
    "Each command has its own --help. Exit status: 0 success; 1 some worlds failed, or bits differ; "
    "2 bad usage or input, out of memory, or output could not be written; 130 interrupted.";

int main(int argc, char **argv) {
    cli_note_start();
    fesetenv(FE_DFL_ENV); /* a preloaded library may have changed it */
    argp_err_exit_status = CLI_EXIT_BAD;
    argp_program_version_hook = print_version;
    Rest rest = {0};
    const struct argp argp = {.parser = parse, .args_doc = "COMMAND [ARGUMENT...]", .doc = doc};
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &rest) != 0 || rest.command == NULL)
        return CLI_EXIT_BAD;
    rest.argv[0] = (char *)rest.command->name;
    bool joined = cli_cluster_start(short_name(rest.command));
    int code = joined ? rest.command->run(rest.argc, rest.argv) : CLI_EXIT_BAD;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cli_fail("cannot write to standard output: %s", strerror(errno));
        code = CLI_EXIT_BAD;
    }
    return cli_cluster_finish(code);
}
