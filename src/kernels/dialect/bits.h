/* Sets of small integers as bits of words of 32. */
#ifndef SAPWOOD_KERNELS_DIALECT_BITS_H
#define SAPWOOD_KERNELS_DIALECT_BITS_H

#include "kernels/dialect/team.h"

enum { WORD_BITS = 32 };

/* The number of bits that are set. */
TEAM_FN int count_bits(unsigned word) {
#if defined(__CUDACC__)
    return __popc(word);
#else
    return __builtin_popcount(word);
#endif
}

/* The lowest and the highest bit of a word that is not 0. */
TEAM_FN int lowest_bit(unsigned word) {
#if defined(__CUDACC__)
    return __ffs((int)word) - 1;
#else
    return __builtin_ctz(word);
#endif
}
TEAM_FN int highest_bit(unsigned word) {
#if defined(__CUDACC__)
    return WORD_BITS - 1 - __clz((int)word);
#else
    return WORD_BITS - 1 - __builtin_clz(word);
#endif
}

TEAM_FN bool bit_get(const unsigned *set, int i) {
    return (set[i / WORD_BITS] >> (unsigned)(i % WORD_BITS) & 1u) != 0;
}
TEAM_FN void bit_set(unsigned *set, int i) {
    set[i / WORD_BITS] |= 1u << (unsigned)(i % WORD_BITS);
}

/* Visits the elements i of a set of `words` words in increasing order. */
#define FOR_BITS(i, set, words)                                                                                        \
    for (int bits_word = 0; bits_word < (words); bits_word++)                                                          \
        for (unsigned bits_left = (set)[bits_word]; bits_left != 0; bits_left &= bits_left - 1)                        \
            for (int i = bits_word * WORD_BITS + lowest_bit(bits_left), bits_once = 1; bits_once; bits_once = 0)

#endif
