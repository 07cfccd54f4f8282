/* Which build of the kernels runs on this machine. */
#ifndef SAPWOOD_HOST_CPU_DISPATCH_H
#define SAPWOOD_HOST_CPU_DISPATCH_H

#include <sapwood/options.h>

#include "kernels/data/table.h"

/* Whether this library has the kernels of `isa` and this machine can run them. */
bool sap_isa_available(SapIsa isa);

/* "generic", "avx2", "avx512". */
const char *sap_isa_name(SapIsa isa);

/* Resolves auto to the best there is; an instruction set that is not there is SAP_ERROR_DEVICE. */
SapStatus sap_isa_resolve(SapIsa wanted, SapIsa *out);

/* The lane count that options.lanes = 0 stands for. */
int sap_default_lanes(SapIsa isa, SapPrecision precision, int num_worlds);

/* The kernels of a resolved isa, lanes 1, 4 or 8; NULL if there are none. */
const SapKernels *sap_kernels_find(SapIsa isa, int lanes, SapPrecision precision);

#endif
