/* Arguments of sap_kernel_compact. */
#ifndef SAPWOOD_KERNELS_TARGET_COMPACT_H
#define SAPWOOD_KERNELS_TARGET_COMPACT_H

/* Threads of the one block, and bytes of its dynamic shared memory. */
enum { SAP_COMPACT_THREADS = 256, SAP_COMPACT_SHARED = 2048 };

typedef struct SapCompactArgs {
    int num_worlds;
    const int *active; /* [num_worlds] */
    char *matrix;      /* [num_worlds][matrix_bytes] */
    char *vector;      /* [num_worlds][vector_bytes] */
    long long matrix_bytes, vector_bytes;
    void **matrices, **vectors; /* [num_worlds] out: those of the active worlds, in order */
    int *place;                 /* [num_worlds] out: where an active world stands in them */
    int *count;                 /* out: how many there are */
} SapCompactArgs;

#endif
