/* The programs that run on a pack of worlds: which stages, in which order, and each in the kernels of its precision. */
#ifndef SAPWOOD_HOST_CPU_PROGRAMS_H
#define SAPWOOD_HOST_CPU_PROGRAMS_H

#include <stdbool.h>
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

/* Sets the scratch of a context. */
void sap_scratch_set(const SapScratch *scratch, SapContext *ctx);

/* Whether a call with these arguments has a contact problem to solve. */
bool sap_program_solves(const SapStepArgs *args);

typedef void SapProgram(SapContext *ctx);

void sap_program_step(SapContext *ctx);     /* free motion, collision, contacts, solve, integration */
void sap_program_one_step(SapContext *ctx); /* step args->first_step of them */
void sap_program_collide(SapContext *ctx);  /* contact records */

void sap_program_inspect(SapContext *ctx);    /* free motion, copied out */
void sap_program_kinematics(SapContext *ctx); /* body poses and velocities */

/* Runs a program on the worlds of a pack. */
void sap_program_run(SapProgram *program, const SapStepArgs *args, const SapPack *pack, const SapKernelSet *kernels,
                     const SapScratch *scratch);

/* The pack that begins with world `first`: `lanes` worlds, or fewer at the end. */
SapPack sap_pack_at(int first, int num_worlds, int lanes);

#endif
