/* `sapwood info --capabilities`: the table of sapwood/capabilities.h. */
#ifndef SAPWOOD_HOST_CLI_CAPABILITIES_H
#define SAPWOOD_HOST_CLI_CAPABILITIES_H

#include <stdbool.h>

/* Prints the table: as the page docs/capabilities.md, or as JSON. Returns an exit code. */
int cli_capabilities(bool json);

#endif
