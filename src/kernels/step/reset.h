/* Puts worlds back: overwrites their rows of a list of arrays with one row each, or with zeros. Words of 32 bits; no number is looked
 * at. A CPU calls reset_world for each world, a GPU has a team for each. */
#ifndef SAPWOOD_KERNELS_STEP_RESET_H
#define SAPWOOD_KERNELS_STEP_RESET_H

#include "kernels/data/args.h"
#include "kernels/dialect/team.h"

enum { SAP_RESET_MAX_ROWS = 32, SAP_MASK_WORDS = 960 };

typedef struct SapResetRow {
    unsigned *to;         /* [num_worlds][words]; NULL = absent */
    const unsigned *from; /* [words]; NULL = zeros */
    long long words;
} SapResetRow;

typedef struct SapResetArgs {
    int num_worlds;
    int num_rows;
    const unsigned char *mask; /* [num_worlds] != 0: worlds to put back; NULL = all */
    SapResetRow row[SAP_RESET_MAX_ROWS];
} SapResetArgs;
static_assert(sizeof(SapResetArgs) <= SAP_MAX_LAUNCH_BYTES, "the arguments of a launch are too large");

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

/* A mask of the host on its way to a GPU: it travels in the arguments of a launch, as bits, so that nothing is copied from memory that
 * the host may change. */
typedef struct SapMaskArgs {
    int count;
    unsigned char *to;             /* [count] */
    unsigned bits[SAP_MASK_WORDS]; /* bit i % 32 of word i / 32 */
} SapMaskArgs;
static_assert(sizeof(SapMaskArgs) <= SAP_MAX_LAUNCH_BYTES, "the arguments of a launch are too large");

#endif
