/* What a program runs with: kernels, scratch and a pack of worlds. */
#ifndef SAPWOOD_HOST_CPU_CONTEXT_H
#define SAPWOOD_HOST_CPU_CONTEXT_H

#include <stddef.h>

#include <sapwood/error.h>

#include "host/plan/layout.h"
#include "kernels/data/table.h"

/* The kernels of a solver, f32 and f64: for packs of worlds, and for one world at a time. */
typedef struct SapKernelSet {
    const SapKernels *pack[2];
    const SapKernels *one_lane[2];
} SapKernelSet;

/* Scratch of one worker. */
typedef struct SapScratch {
    void *arena[SAP_NUM_ARENAS];
    SapSharedScratch shared; /* of the first arena */
    int linear_is_f64;
    SapTicks *ticks; /* borrowed; NULL: no profile is requested */
    size_t bytes;
} SapScratch;

/* The kernels must have the lane count of the layouts in *args. Free also after a failure; a zeroed scratch is allowed.
 * */
SapStatus sap_scratch_create(const SapStepArgs *args, const SapKernelSet *kernels, SapScratch *out);
void sap_scratch_free(SapScratch *scratch);

/* The context of a program on a pack. */
SapContext sap_context(const SapStepArgs *args, const SapPack *pack, const SapKernelSet *kernels,
                       const SapScratch *scratch);

/* The pack that begins with world `first`: `lanes` worlds, or fewer at the end. */
SapPack sap_pack_at(int first, int num_worlds, int lanes);

#endif
