/* What the Python package does for the program: python -m sapwood ... */
#ifndef SAPWOOD_HOST_CLI_PYTHON_H
#define SAPWOOD_HOST_CLI_PYTHON_H

#include <stdbool.h>

/* Runs `python -m sapwood ARGUMENTS`, which end with NULL; its messages go to stderr. The interpreter is python3, or
 * the one that the environment variable SAPWOOD_PYTHON names. If it fails, the message is `purpose`, which states what
 * Python is needed for and which extra of the package it needs. */
bool cli_python(const char *purpose, const char *extra, const char *const *arguments);

#endif
