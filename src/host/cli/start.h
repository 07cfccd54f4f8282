/* What every program does around a command: `sapwood` itself and the separate programs `sapwood-NAME`. */
#ifndef SAPWOOD_HOST_CLI_START_H
#define SAPWOOD_HOST_CLI_START_H

/* The part of the command line from a command on: argv[0] is "sapwood NAME". Returns an exit code. */
typedef int CliCommand(int argc, char **argv);

/* To be called first: notes the start of the program and sets what --version prints. */
void cli_start(void);

/* Runs a command, among the ranks that mpirun started, and returns the exit code of the program. */
int cli_run_command(const char *name, CliCommand *run, int argc, char **argv);

/* Replaces this process by the program `sapwood-NAME`, which is beside this one, in libexec/sapwood of its
 * installation, or in PATH. Returns, with an exit code, only if that fails. */
int cli_run_program(const char *name, char **argv);

/* The program `sapwood-NAME`: main without its commands. */
int cli_main(const char *name, CliCommand *run, int argc, char **argv);

#endif
