/* What a measurement depends on besides the scene: the machine, the build, and the options that differ from the preset.
 * */
#ifndef SAPWOOD_HOST_CLI_MACHINE_H
#define SAPWOOD_HOST_CLI_MACHINE_H

#include "host/cli/common.h"

/* The model name of the CPU, or "unknown". */
CliText cli_cpu_name(void);
/* Number of CPUs that this process may use. */
int cli_num_cpus(void);
/* "clang 14.0.6" */
const char *cli_compiler(void);
/* The commit of the build, with "-dirty" if files were modified; "unknown" outside a repository. */
const char *cli_commit(void);

/* Resident memory of this process in bytes; 0 if the system does not report it. */
double cli_resident_bytes(void);

/* The options that differ from their preset, or from approx32 if they are "custom". Options of execution are omitted.
 * Printed as "friction_regularization=0.0001 rho=0.5", or "" if there are none; in JSON an object of strings. */
void cli_knobs_print(FILE *file, const SapOptions *options);
json_t *cli_knobs_json(const SapOptions *options);

#endif
