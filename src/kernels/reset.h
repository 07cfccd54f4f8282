/* Puts worlds back: overwrites their rows of a list of arrays with one row each, or with zeros. Words of 32 bits; no number is looked
 * at. A CPU calls reset_world for each world, a GPU has a team for each. */
#ifndef SAPWOOD_KERNELS_RESET_H
#define SAPWOOD_KERNELS_RESET_H

#include "team.h"

enum {
    SAP_RESET_MAX_ROWS = 24,
    SAP_RESET_BIT_WORDS = 800 /* with these the arguments still fit the 4 kB that a launch can carry */
};

typedef struct SapResetRow {
    unsigned *to;         /* [num_worlds][words]; NULL = absent */
    const unsigned *from; /* [words]; NULL = zeros */
    long long words;
} SapResetRow;

/* Which worlds: those of first .. first + count - 1 that `mask` has, or `bits`; all where neither is given. */
typedef struct SapResetArgs {
    int first, count;
    int num_rows;
    int has_bits;
    const unsigned char *mask; /* [count], != 0 = chosen; NULL = not given */
    SapResetRow row[SAP_RESET_MAX_ROWS];
    unsigned bits[SAP_RESET_BIT_WORDS]; /* bit i % 32 of word i / 32: world first + i */
} SapResetArgs;

TEAM_FN bool reset_chosen(const SapResetArgs *args, int i) {
    if (args->mask)
        return args->mask[i] != 0;
    return !args->has_bits || (args->bits[i / 32] >> (i % 32) & 1u) != 0;
}

/* World first + i, if it is chosen. */
TEAM_FN void reset_world(const SapResetArgs *args, int i) {
    if (!reset_chosen(args, i))
        return;
    for (int r = 0; r < args->num_rows; r++) {
        const SapResetRow *row = &args->row[r];
        unsigned *to = row->to + (args->first + (long long)i) * row->words;
        if (row->to)
            TEAM_FOR(k, row->words)
                to[k] = row->from ? row->from[k] : 0;
    }
}

#endif
