/* Every kind of kernel and of call on a GPU, against the bits of the CPU. */
#ifndef SAPWOOD_LAB_SELFTEST_KINDS_H
#define SAPWOOD_LAB_SELFTEST_KINDS_H

#include <jansson.h>

#include "host/cli/common.h"

int selftest_num_kinds(void);
const char *selftest_kind_name(int kind);

/* Runs a kind: {"same", "scene", "kernel", "mapping", "kernels", "seconds"}, or {"skipped": reason}; "differs" names the array
 * whose bits differ. NULL after a message. */
json_t *selftest_kind(const CliSettings *settings, int kind);

#endif
