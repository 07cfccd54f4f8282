/* Entry file of the derivatives of a step on a CPU, compiled in f64 once per instruction set and lane count as cpu.c is.
 * It exports one table, sap_gradient_kernels_<isa>_x<lanes>. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <sapwood/gradients.h>
#include <sapwood/solver.h>

#include "kernels/data/gradients.h"
#include "kernels/data/table.h"
#include "kernels/target/calls_cpu.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/bits.h"

#include "kernels/sap/stages.h"
#include "kernels/gradient/all.h"

#define PASTE_OF(isa, lanes) sap_gradient_kernels_##isa##_x##lanes
#define PASTE(isa, lanes)    PASTE_OF(isa, lanes)
#define TABLE                PASTE(SAP_ISA_NAME, SAP_LANES)

static Gradient gradient_of(const SapGradientArgs *args, void *scratch) {
    Gradient g = {args, (real *)scratch};
    return g;
}

static void keep(const SapContext *ctx, const SapGradientArgs *args, void *scratch) {
    Gradient g = gradient_of(args, scratch);
    gradient_keep(ctx, &g);
}

static void differentiate(const SapContext *ctx, const SapGradientArgs *args, void *scratch) {
    Gradient g = gradient_of(args, scratch);
    gradient_differentiate(ctx, &g);
}

extern const SapGradientKernels TABLE;
const SapGradientKernels TABLE = {.lanes = SAP_LANES, .keep = keep, .differentiate = differentiate};
