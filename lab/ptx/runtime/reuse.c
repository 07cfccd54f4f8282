/* Reuse of local memory: how many other words a thread accesses between two accesses to the same word. A cache of n
 * words with the least recently used word replaced misses the accesses whose distance is n or more, so that one run
 * tells the misses of a cache of any size. The threads of a warp access the same words together, and a line of the
 * hardware's cache is one word of all 32, so the first thread of a block stands for its warp. Words are in a list, the
 * most recent first. */
#include "executor.h"

#include <stdlib.h>

#define NEVER 0xffffffffu

static u32 *recent, num_recent; /* [words of local memory] */
static u64 *reads, *writes;     /* [REUSE_BINS] accesses by distance: bin b has those below 2^b */

static u32 bin_of(u32 distance) {
    u32 bin = 0;
    while (bin < REUSE_BINS - 1 && distance >> bin)
        bin++;
    return bin;
}

/* Moves a word to the front; returns how many were before it. */
static u32 touch(u32 word) {
    u32 at = 0;
    while (at < num_recent && recent[at] != word)
        at++;
    u32 distance = at < num_recent ? at : NEVER;
    num_recent += at == num_recent;
    memmove(recent + 1, recent, at * sizeof *recent);
    recent[0] = word;
    return distance;
}

void ptx_note_local(Thread *t, u64 address, u32 width, Access kind) {
    u32 first = (u32)((address - t->local_low) / 4), last = (u32)((address - t->local_low + width - 1) / 4);
    for (u32 word = first; word <= last; word++)
        (kind == READ ? reads : writes)[bin_of(touch(word))]++;
}

void ptx_begin_reuse(u32 words) {
    free(recent);
    free(reads);
    free(writes);
    recent = calloc(words, sizeof *recent);
    reads = calloc(REUSE_BINS, sizeof *reads);
    writes = calloc(REUSE_BINS, sizeof *writes);
    num_recent = 0;
}

void ptx_begin_reuse_of_block(void) {
    num_recent = 0;
}

void ptx_write_reuse(FILE *file) {
    const u64 *const of[2] = {reads, writes};
    static const char *const names[2] = {"load", "store"};
    fprintf(file, ", \"local_reuse\": {");
    for (u32 k = 0; k < 2; k++) {
        fprintf(file, "%s\"%s\": [", k ? ", " : "", names[k]);
        for (u32 b = 0; b < REUSE_BINS; b++)
            fprintf(file, "%s%llu", b ? ", " : "", (unsigned long long)of[k][b]);
        fprintf(file, "]");
    }
    fprintf(file, "}");
}
