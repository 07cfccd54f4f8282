/* The programs a pack of worlds runs: which stages, in which order, each in the kernels of its precision. */
#ifndef SAPWOOD_HOST_PROGRAM_H
#define SAPWOOD_HOST_PROGRAM_H

#include <stddef.h>

#include <sapwood/error.h>

#include "kernels/args.h"

/* Scratch of one worker: one arena per stage that may have a precision of its own (SapContext). */
typedef struct SapScratch {
    void *fm, *solve, *linear[2];
    int *ints;
    size_t bytes;
} SapScratch;

/* kernels: f32, f64, of the same lane count as the layouts in *args. Free also what failed to be created; zeroed is fine. */
SapStatus sap_scratch_create(const SapStepArgs *args, const SapKernels *const kernels[2], SapScratch *out);
void sap_scratch_free(SapScratch *scratch);

typedef void SapProgram(const SapContext *ctx);

void sap_program_step(const SapContext *ctx);       /* free motion, contacts, solve, integration */
void sap_program_inspect(const SapContext *ctx);    /* free motion, copied out */
void sap_program_kinematics(const SapContext *ctx); /* body poses and velocities */

/* Runs a program on the worlds of a pack. */
void sap_program_run(SapProgram *program, const SapStepArgs *args, const SapPack *pack,
                     const SapKernels *const kernels[2], const SapScratch *scratch);

/* The pack that begins with world `first`: `lanes` worlds, or as many as there are. */
SapPack sap_pack_at(int first, int num_worlds, int lanes);

#endif
