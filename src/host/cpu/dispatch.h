/* Selection of the kernels for this machine. */
#ifndef SAPWOOD_HOST_CPU_DISPATCH_H
#define SAPWOOD_HOST_CPU_DISPATCH_H

#include <sapwood/options.h>

#include "kernels/data/dual.h"
#include "kernels/data/rays.h"
#include "kernels/data/table.h"

/* Whether this library contains kernels for `isa` and this machine can run them. */
bool sap_isa_available(SapIsa isa);

/* "generic", "avx2", "avx512". */
const char *sap_isa_name(SapIsa isa);

/* Resolves auto to the best available instruction set; an unavailable one is SAP_ERROR_DEVICE. */
SapStatus sap_isa_resolve(SapIsa wanted, SapIsa *out);

/* The lane count selected by options.lanes = 0, for a resolved isa. */
int sap_default_lanes(SapIsa isa, SapPrecision precision, int num_worlds);

/* The kernels of a resolved isa with 1, 4 or 8 lanes; NULL if there are none. */
const SapKernels *sap_kernels_find(SapIsa isa, int lanes, SapPrecision precision);
/* Those of MuJoCo's law: the kernels of SAP with its own stages in their place. An isa has them with one lane count. */
SapKernels sap_mujoco_kernels(SapIsa isa, SapPrecision precision);
int sap_mujoco_lanes(SapIsa isa);
/* Same for the dual solvers. */
const SapDualKernels *sap_dual_kernels_find(SapIsa isa, int lanes, SapPrecision precision);
/* Same for the sensors, which have one lane. */
const SapSensorKernels *sap_sensor_kernels_find(SapIsa isa, SapPrecision precision);

#endif
