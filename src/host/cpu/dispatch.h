/* Selection of the kernels for this machine. */
#ifndef SAPWOOD_HOST_CPU_DISPATCH_H
#define SAPWOOD_HOST_CPU_DISPATCH_H

#include <sapwood/options.h>

#include "kernels/data/dual.h"
#include "kernels/data/gradients.h"
#include "kernels/data/rays.h"
#include "kernels/data/table.h"

/* Whether this library contains kernels for `isa` and this machine can run them. */
bool sap_isa_available(SapIsa isa);

/* "generic", "avx2", "avx512". */
const char *sap_isa_name(SapIsa isa);

/* Resolves auto to the best available instruction set; an unavailable one is SAP_ERROR_DEVICE. */
SapStatus sap_isa_resolve(SapIsa wanted, SapIsa *out);

/* The lane count selected by options.lanes = 0, for a resolved isa: at most `most`. */
int sap_default_lanes(SapIsa isa, SapPrecision precision, int num_worlds, int most);
/* The values that options.lanes may have for a resolved isa, up to `most`: "0, 1, 4, 8". */
typedef struct SapLanesText {
    char text[32];
} SapLanesText;
SapLanesText sap_lanes_allowed(SapIsa isa, int most);
/* The next smaller lane count. */
int sap_fewer_lanes(int lanes);

/* The kernels of a resolved isa with 1, 4, 8 or 16 lanes, or those of a smaller instruction set where it has none of its
 * own with so few lanes; NULL if there are none. Only avx512 has 16, in builds by clang: gcc keeps vectors wider than a
 * register in memory, as f64 would be. */
const SapKernels *sap_kernels_find(SapIsa isa, int lanes, SapPrecision precision);
/* The kernels of the formulation that has its own stages: SAP's table with these stages in it. The lanes are some that
 * sap_kernels_find has. */
SapKernels sap_own_kernels(SapIsa isa, int lanes, SapPrecision precision);
/* The kernels of the contact laws `similar` and `lagged`: SAP's with their solve in its place. */
SapKernels sap_law_kernels(SapIsa isa, int lanes, SapPrecision precision);
/* The kernels of the dual solvers, with at most SAP_DUAL_LANES, because they compute in f64. */
enum { SAP_DUAL_LANES = 8 };
const SapDualKernels *sap_dual_kernels_find(SapIsa isa, int lanes, SapPrecision precision);
/* The kernels of derivatives, in f64, with the same lanes. */
const SapGradientKernels *sap_gradient_kernels_find(SapIsa isa, int lanes);
/* The kernels of the sensors, with one lane. */
const SapSensorKernels *sap_sensor_kernels_find(SapIsa isa, SapPrecision precision);

#endif
