/* Entry file of the dual solvers on a CPU, compiled once per instruction set, lane count and precision as cpu.c is. It
 * exports one table, sap_dual_kernels_<isa>_x<lanes>_f<precision>: the solvers, and in f64 their stage of a step. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <sapwood/solver.h>

#include "kernels/data/dual.h"
#include "kernels/data/table.h"
#include "kernels/target/calls_cpu.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/bits.h"

#if SAP_PRECISION == 64 /* a step solves in f64 */
#include "kernels/dual/stages.h"
#else /* the solvers depend on neither models nor steps */
#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/dialect/buffers.h"

#include "kernels/dual/methods.h"
#endif

#define PASTE_OF(isa, lanes, precision) sap_dual_kernels_##isa##_x##lanes##_f##precision
#define PASTE(isa, lanes, precision)    PASTE_OF(isa, lanes, precision)
#define TABLE                           PASTE(SAP_ISA_NAME, SAP_LANES, SAP_PRECISION)

static size_t scratch_reals(int num_blocks, int num_rows) {
    return dual_scratch(num_blocks, num_rows);
}

static void solve_pack(const SapDualArgs *args, const SapPack *pack, void *scratch) {
    dual_call(args, pack, (real *)scratch);
}

extern const SapDualKernels TABLE;
const SapDualKernels TABLE = {
    .lanes = SAP_LANES,
    .real_bytes = sizeof(real),
    .scratch = scratch_reals,
    .solve = solve_pack,
#if SAP_PRECISION == 64
    .step_solve = stage_solve,
#endif
};
