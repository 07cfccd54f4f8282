/* Counting sort of the indices 0 .. n-1 by key, stable. The indices with key k are order[start[k] .. start[k+1]),
 * increasing. */
#ifndef SAPWOOD_HOST_BASE_SORT_BY_KEY_H
#define SAPWOOD_HOST_BASE_SORT_BY_KEY_H

#include <string.h>

/* key [n], values 0 .. num_keys-1; start [num_keys + 1]; order [n]. */
static inline void sap_sort_by_key(int n, const int *key, int num_keys, int *start, int *order) {
    memset(start, 0, sizeof *start * (size_t)(num_keys + 1));
    for (int i = 0; i < n; i++)
        start[key[i] + 1]++;
    for (int k = 0; k < num_keys; k++)
        start[k + 1] += start[k];
    for (int i = 0; i < n; i++)
        order[start[key[i]]++] = i;
    for (int k = num_keys; k > 0; k--)
        start[k] = start[k - 1];
    start[0] = 0;
}

#endif
