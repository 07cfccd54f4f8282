/* What a measurement depends on besides the scene: the machine, the build, and the options that are not the preset's. */
#ifndef SAPWOOD_HOST_CLI_MACHINE_H
#define SAPWOOD_HOST_CLI_MACHINE_H

#include "host/cli/common.h"

/* The CPU by the name it gives itself, or "unknown". */
CliText cli_cpu_name(void);
/* CPUs that this process may use. */
int cli_num_cpus(void);
/* "clang 14.0.6" */
const char *cli_compiler(void);
/* The commit that was built, with "-dirty" where files had changed; "unknown" outside a repository. */
const char *cli_commit(void);

/* Bytes that this process holds in memory; 0 if the system does not tell. */
double cli_resident_bytes(void);

/* The options that differ from the preset they come closest to: from that of their own name, or approx32 if they are "custom". Those that say how to
 * run are left out. "contact_sigma=0.0001 rho=0.5", or "" if none does; as an object of texts. */
void cli_knobs_print(FILE *file, const SapOptions *options);
json_t *cli_knobs_json(const SapOptions *options);

#endif
