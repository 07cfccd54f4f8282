#include "host/cli/start.h"

#include <errno.h>
#include <fenv.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/cluster/cluster.h"
#include "host/cli/common.h"
#include "host/cli/machine.h"
#include "host/cli/machine_report.h"

/* --version, with --json after or before it. */
static void print_version(FILE *stream, struct argp_state *state) {
    for (int i = 1; i < state->argc; i++)
        if (strcmp(state->argv[i], "--json") == 0) {
            cli_json_print(cli_version_json());
            return;
        }
    fprintf(stream, "sapwood %s (%s), %s\n", sap_version(), cli_commit(), cli_compiler());
}

void cli_start(void) {
    cli_note_start();
    fesetenv(FE_DFL_ENV); /* a preloaded library may have changed it */
    argp_err_exit_status = CLI_EXIT_BAD;
    argp_program_version_hook = print_version;
}

/* "sapwood NAME", which messages and --help show. */
static void set_command_name(const char *name, char **argv) {
    static char text[CLI_TEXT_SIZE];
    snprintf(text, sizeof text, "sapwood %s", name);
    argv[0] = text;
}

int cli_run_command(const char *name, CliCommand *run, int argc, char **argv) {
    set_command_name(name, argv);
    int code = cli_cluster_start(name) ? run(argc, argv) : CLI_EXIT_BAD;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cli_fail("cannot write to standard output: %s", strerror(errno));
        code = CLI_EXIT_BAD;
    }
    return cli_cluster_finish(code);
}

int cli_main(const char *name, CliCommand *run, int argc, char **argv) {
    cli_start();
    return cli_run_command(name, run, argc, argv);
}

/* ---- separate programs ---- */

int cli_run_program(const char *name, char **argv) {
    static const char *const folders[] = {"", SAPWOOD_LIBEXEC "/"};
    char here[PATH_MAX], path[2 * PATH_MAX], program[CLI_TEXT_SIZE];
    set_command_name(name, argv);
    cli_program_folder(here);
    snprintf(program, sizeof program, "sapwood-%s", name);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s%s%s", here, folders[i], program);
        if (access(path, F_OK) == 0) {
            execv(path, argv);
            cli_fail("%s cannot be run: %s", path, strerror(errno));
            return CLI_EXIT_BAD;
        }
    }
    execvp(program, argv);
    cli_fail("the command %s is the separate program %s, which is missing: it is not in %s, %s%s or PATH. `make build` "
             "and an installation have it; `make run` builds only this program",
             name, program, here, here, SAPWOOD_LIBEXEC);
    return CLI_EXIT_BAD;
}
