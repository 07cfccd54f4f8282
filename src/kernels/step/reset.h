/* Resets worlds: overwrites their rows in a list of arrays with one given row per array, or with zeros. Rows are copied
 * as words of 32 bits, whatever their type. A CPU calls reset_world for each world; on a GPU each world has a team. */
#ifndef SAPWOOD_KERNELS_STEP_RESET_H
#define SAPWOOD_KERNELS_STEP_RESET_H

#include "kernels/data/args.h"
#include "kernels/dialect/team.h"

/* Arrays of a reset, and words of a mask, that fit the arguments of a launch. */
enum { SAP_RESET_MAX_ROWS = 80, SAP_MASK_WORDS = 960 };

typedef struct SapResetRow {
    unsigned *to;         /* [num_worlds][words]; NULL = absent */
    const unsigned *from; /* [words]; NULL = zeros */
    long long words;      /* 32-bit words of a row */
} SapResetRow;

typedef struct SapResetArgs {
    int num_worlds;
    int num_rows;              /* entries of row in use */
    const unsigned char *mask; /* [num_worlds] != 0: worlds to reset; NULL = all */
    SapResetRow row[SAP_RESET_MAX_ROWS];
} SapResetArgs;
static_assert(sizeof(SapResetArgs) <= SAP_MAX_LAUNCH_BYTES, "the arguments of a launch are too large");

/* Resets one world, if the mask selects it. */
TEAM_FN void reset_world(const SapResetArgs *args, int world) {
    if (args->mask && !args->mask[world])
        return;
    for (int r = 0; r < args->num_rows; r++) {
        const SapResetRow *row = &args->row[r];
        if (!row->to)
            continue;
        unsigned *to = row->to + world * row->words;
        TEAM_FOR(k, row->words)
            to[k] = row->from ? row->from[k] : 0;
    }
}

/* A mask in host memory, passed to a GPU as bits in the arguments of a launch. The host may change its memory as soon
 * as the call returns. */
typedef struct SapMaskArgs {
    int count;                     /* worlds, up to 32 SAP_MASK_WORDS */
    unsigned char *to;             /* [count] device memory */
    unsigned bits[SAP_MASK_WORDS]; /* world i is bit i % 32 of word i / 32 */
} SapMaskArgs;
static_assert(sizeof(SapMaskArgs) <= SAP_MAX_LAUNCH_BYTES, "the arguments of a launch are too large");

#endif
