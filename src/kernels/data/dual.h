/* Arguments of the dual solvers (kernels/dual/problem.h), and the table of functions of one build of them. Plain
 * structs, shared by host and kernels. */
#ifndef SAPWOOD_KERNELS_DATA_DUAL_H
#define SAPWOOD_KERNELS_DATA_DUAL_H

#include <stddef.h>
#include <stdint.h>

#include <sapwood/dual.h>

#include "kernels/data/context.h"

/* The blocks of a problem. */
typedef struct SapDualShape {
    int num_blocks, num_rows;
    const int *kind; /* [num_blocks] SapDualKind */
    const int *row;  /* [num_blocks] first row of a block: a contact has 3 rows (t1, t2, n), the others 1 */
} SapDualShape;

/* n problems of the same blocks. Buffers have one row per problem. */
typedef struct SapDualArgs {
    SapDualShape shape;

    SapBuffer W;          /* [num_rows][num_rows] symmetric; the lower triangle is read */
    SapBuffer R;          /* [num_rows] compliance; absent = 0 */
    SapBuffer b;          /* [num_rows] */
    SapBuffer mu, lo, hi; /* [num_blocks] */
    SapBuffer guess;      /* [num_rows] impulses to start from; absent = cold */
    SapDualOptions options;

    SapBuffer impulse, velocity; /* [num_rows] l and z = (W + R) l - b; may be absent */
    SapBuffer cost, residual;    /* one number; may be absent */
    uint32_t *status;            /* SAP_WORLD_... */
    int32_t *iterations, *inner_iterations, *safeguards, *active; /* each may be NULL */
    int32_t *region;                                              /* [num_blocks] SapDualRegion; may be NULL */
} SapDualArgs;

/* The functions that the host calls. */
typedef struct SapDualKernels {
    int lanes;      /* problems per pack */
    int real_bytes; /* size of one real, all lanes */
    /* Number of reals of scratch for one pack. */
    size_t (*scratch)(int num_blocks, int num_rows);
    /* Solves the problems of a pack. scratch: 64-byte aligned. */
    void (*solve)(const SapDualArgs *args, const SapPack *pack, void *scratch);
    /* The stage `solve` of a step (data/table.h), f64 only; NULL in f32. */
    int (*step_solve)(const SapContext *ctx);
} SapDualKernels;

#endif
