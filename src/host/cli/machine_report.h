/* What a report of a bug or of a measurement says of the program and the machine: `sapwood --version --json` and
 * `sapwood info --machine`. */
#ifndef SAPWOOD_HOST_CLI_MACHINE_REPORT_H
#define SAPWOOD_HOST_CLI_MACHINE_REPORT_H

#include <jansson.h>
#include <stdbool.h>

/* Version, commit and compiler. */
json_t *cli_version_json(void);

/* Prints version, system, CPU, what the library has for it, GPUs, and the variables of the environment that Sapwood
 * reads; as text or as JSON. Returns an exit code. */
int cli_machine_report(bool json);

#endif
