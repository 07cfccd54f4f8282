/* Warnings of `sapwood info` about heavy bodies that may rest on light ones (docs/contact_law.md). */
#ifndef SAPWOOD_HOST_CLI_INFO_LOADS_H
#define SAPWOOD_HOST_CLI_INFO_LOADS_H

#include "host/cli/common.h"

/* Calls `warn` for each body that the heaviest tree of bodies which can touch it would press into its ground by more
 * than half of its thickness. Does nothing where contacts have no near-rigid bound. False with a message on stderr. */
bool cli_loads_warn(const SapScene *scene, void (*warn)(void *to, const char *text), void *to);

#endif
