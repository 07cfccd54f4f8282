/* What Python does for the program. The interpreter is python3, or the one that the environment variable
 * SAPWOOD_PYTHON names; its messages go to stderr. */
#ifndef SAPWOOD_HOST_CLI_PYTHON_H
#define SAPWOOD_HOST_CLI_PYTHON_H

#include <stdbool.h>

/* Runs `python -m sapwood ARGUMENTS`, which end with NULL. If it fails, the message is `purpose`, which states what
 * Python is needed for, and the extra of the package that it needs. */
bool cli_python(const char *purpose, const char *extra, const char *const *arguments);

/* Runs a script with arguments, which end with NULL, and calls line(arg, text) for each line that it prints. line
 * returns whether it is the last line of a script that succeeds. */
typedef bool CliPythonLine(void *arg, const char *line);
bool cli_python_script(const char *purpose, const char *extra, const char *script, const char *const *arguments,
                       CliPythonLine *line, void *arg);

#endif
