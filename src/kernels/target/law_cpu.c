/* Entry file of the contact laws `similar` and `lagged` on a CPU, compiled once per instruction set, lane count and
 * precision as cpu.c is. It exports one table, sap_law_kernels_<isa>_x<lanes>_f<precision>: the contact solve with these
 * laws, which takes the place of that of the law `sap`. The other stages are the same. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <sapwood/solver.h>

#include "kernels/data/table.h"
#include "kernels/target/calls_cpu.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/bits.h"

#define CONTACT_LAW CONTACT_LAW_HUNT_CROSSLEY
#include "kernels/sap/stages.h"

#define PASTE_OF(isa, lanes, precision) sap_law_kernels_##isa##_x##lanes##_f##precision
#define PASTE(isa, lanes, precision)    PASTE_OF(isa, lanes, precision)
#define TABLE                           PASTE(SAP_ISA_NAME, SAP_LANES, SAP_PRECISION)

extern const SapLawKernels TABLE;
const SapLawKernels TABLE = {.solve = stage_solve};
